"""Lists of tensors: the arrays that a kernel gets of them, and the memory that these are in."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, spec
from ffi_builder.providers import (
    CallProvider,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    NestedTensorCallProvider,
    NopCallProvider,
)
from tests.providers.listing import compiled, packing
from tests.support.wrapping import attached

ROOM: Final = 700
COPY: Final = f"""
llvm.func @k(%pointers: !llvm.ptr, %shapes: !llvm.ptr, %strides: !llvm.ptr, %n: i64,
             %out: !llvm.ptr) {{
  %one = llvm.mlir.constant(8 : i64) : i64
  %two = llvm.mlir.constant(16 : i64) : i64
  %small = llvm.mul %n, %one : i64
  %large = llvm.mul %n, %two : i64
  %second = llvm.getelementptr %out[{ROOM}] : (!llvm.ptr) -> !llvm.ptr, i64
  %third = llvm.getelementptr %out[{2 * ROOM}] : (!llvm.ptr) -> !llvm.ptr, i64
  "llvm.intr.memcpy"(%out, %pointers, %small) <{{isVolatile = false}}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  "llvm.intr.memcpy"(%second, %shapes, %large) <{{isVolatile = false}}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  "llvm.intr.memcpy"(%third, %strides, %large) <{{isVolatile = false}}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
}}
""" + packing("k", 3)
"""Copies the arrays of a list of matrices to the rows of ``out``."""
LIST: Final = f"f(xs: TensorList(Tensor([m, None], int8{{}})), out: Tensor([3, {ROOM}], int64))"


def copied(out: Any, count: int) -> tuple[list[int], list[list[int]], list[list[int]]]:
    pointers, shapes, strides = (row.tolist() for row in out)
    pairs = [[row[2 * i : 2 * i + 2] for i in range(count)] for row in (shapes, strides)]
    return pointers[:count], pairs[0], pairs[1]


def matrices(count: int, width: int = 3) -> list[Any]:
    return [np.zeros((4, width + i % 5), "int8") for i in range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 51, 52, 300])
@pytest.mark.parametrize(
    "provider", [DirectCallProvider("k"), DynamicParamPackCallProvider("pack")]
)
def test_a_kernel_gets_arrays(provider: CallProvider, count: int) -> None:
    function = compiled(COPY, (LIST.format(""), provider))["f"]
    xs, out = matrices(count), np.full((3, ROOM), -1)
    function(xs, out)
    pointers, shapes, strides = copied(out, count)
    assert pointers == [x.ctypes.data for x in xs]
    assert shapes == [list(x.shape) for x in xs]
    assert strides == [[x.shape[1], 1] for x in xs]
    assert (out[:, 2 * count :] == -1).all()


WHOLE: Final[Any] = np.zeros((6, 6), "int8")


@pytest.mark.parametrize(
    ("option", "x", "strides"),
    [
        ("strides=F", WHOLE.T, [1, 6]),
        ("strides=any", WHOLE[::2, ::-3], [12, -3]),
        ("strides=[s, 1]", WHOLE[::2], [12, 1]),
        ("strides=[None, None]", WHOLE, [6, 1]),
    ],
)
def test_strides_are_those_that_came(option: str, x: Any, strides: list[int]) -> None:
    function = compiled(COPY, (LIST.format(f", {option}"), DirectCallProvider("k")))["f"]
    out = np.zeros((3, ROOM), "int64")
    function([x] * 60, out)
    assert copied(out, 60) == ([x.ctypes.data] * 60, [list(x.shape)] * 60, [strides] * 60)


def test_packed_elements_are_counted_apart() -> None:
    text = LIST.format("").replace("int8", "int4, storage_dtype=int8")
    function = compiled(COPY, (text, DirectCallProvider("k")))["f"]
    out = np.zeros((3, ROOM), "int64")
    function([np.zeros((4, 3), "int8")], out)
    assert copied(out, 1)[1:] == ([[4, 6]], [[6, 1]])


def test_elements_may_come_in_every_form() -> None:
    function = compiled(COPY, (LIST.format(""), DirectCallProvider("k")))["f"]
    xs, out = matrices(3), np.zeros((3, ROOM), "int64")
    for given in (tuple(xs), tvm_ffi.convert(xs), [tvm_ffi.from_dlpack(x) for x in xs]):
        out[:] = 0
        function(given, out)
        assert copied(out, 3)[0] == [x.ctypes.data for x in xs]


def callee_type(provider: CallProvider, text: str) -> str:
    module = attached(spec.Signature.parse(text, device="cpu").params, provider)
    found = [op for op in module.body.operations if "callee" in str(op.attributes["sym_name"])]
    return str(found[0].attributes["function_type"])


def test_what_the_callee_is_declared_as() -> None:
    text = "f(xs: TensorList(Tensor([m], int8), length=g, each=[m]), g: int32)"
    wanted = "!llvm.func<void (ptr, ptr, ptr, i64, i32)>"
    for provider in (DirectCallProvider, NestedTensorCallProvider):
        assert callee_type(provider("callee"), text) == wanted
    packed = DynamicParamPackCallProvider("callee", struct_call=True)
    assert callee_type(packed, text) == "!llvm.func<void (struct<(ptr, ptr, ptr, i64)>, i32)>"
    args = ["xs.length", "xs.pointers", "g", "xs.strides", "g * 2"]
    chosen = DirectCallProvider("callee", args=args)
    assert callee_type(chosen, text) == "!llvm.func<void (i64, ptr, i32, ptr, i64)>"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["m"], "args= has 'm', which has a value for each element of xs"),
        ([spec.Var("m", "int64")], "symbol 'm' has a value for each element of xs"),
        (["xs.data"], "the parts of xs, a TensorList, are pointers, shapes, strides, length"),
        (["m * 2"], "there is no symbol 'm'"),
    ],
)
def test_what_a_list_has_not(args: list[Any], words: str) -> None:
    text = "f(xs: TensorList(Tensor([m], int8), each=[m]))"
    params = spec.Signature.parse(text, device="cpu").params
    with pytest.raises(BuildError, match=words.replace(".", r"\.")):
        attached(params, DirectCallProvider("callee", args=args))


@pytest.mark.usefixtures("allocator")
def test_results_may_have_the_length_of_a_list() -> None:
    text = (
        "f(xs: TensorList(Tensor([k], int8), length=g), w: Workspace([g, 3], int32)) "
        "-> y: Tensor([g], float32)"
    )
    function = compiled("", (text, NopCallProvider()))["f"]
    for count in (0, 3):
        assert tuple(function([np.zeros(2, "int8")] * count).shape) == (count,)
