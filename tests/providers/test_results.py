"""Results of wrappers: scalars of every dtype, tensors that are allocated, tuples."""

from __future__ import annotations

import ctypes
import inspect
import math
import re
import struct
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, attach, attach_ffi_func, explain, runtime, wrap
from ffi_builder.ir import Block
from ffi_builder.providers import (
    CallContext,
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
    NopCallProvider,
    PackedCallProvider,
)
from ffi_builder.spec import Signature, Var
from ffi_builder.spec.expr import Expr
from ffi_builder.spec.results import Result
from tests.providers.returning import FILL, Devices, X, array, n, returning, tensor
from tests.providers.values import LLVM
from tests.runtime.samples import c_object, needs_cc
from tests.support.wrapping import new_module, refused, wrapped

BASE: Final[Any] = import_module("tvm_ffi.testing").create_object(
    "testing.TestObjectBase", v_i64=1, v_f64=1.0, v_str="a"
)

VALUES: Final[list[tuple[str, Any]]] = [
    ("int8", -128), ("int16", -2), ("int32", 2**31 - 1), ("int64", -(2**63)),
    ("uint8", 255), ("uint16", 65535), ("uint32", 2**32 - 1), ("uint64", 2**63 - 1), ("uint64", 2**64 - 1),
    ("bool", True), ("bool", False),
    ("float16", 1.5), ("bfloat16", -2.0), ("bfloat16", 2.0**-130),
    ("float32", struct.unpack("<f", struct.pack("<f", 0.1))[0]), ("float64", 0.1), ("float64", math.inf),
    ("DType", tvm_ffi.dtype("bfloat16x4")), ("DType", tvm_ffi.dtype("float8_e4m3fn")),
    ("Device", tvm_ffi.device("cuda", 3)), ("Device", tvm_ffi.device("cpu")),
]  # fmt: skip
TYPES: Final = {**LLVM, "DType": "i32", "Device": "i64"}


@pytest.mark.parametrize(("kind", "value"), VALUES)
def test_a_value_of_every_kind(kind: str, value: Any) -> None:
    """The callee returns its argument, or writes it to a pointer."""
    type_ = TYPES[kind]
    text = f"""
    llvm.func @f(%v: {type_}) -> {type_} {{ llvm.return %v : {type_} }}
    llvm.func @g(%v: {type_}, %r: !llvm.ptr) {{
      llvm.store %v, %r : {type_}, !llvm.ptr
      llvm.return
    }}"""
    got = wrapped(f"f(v: {kind}) -> r: {kind}", DirectCallProvider("f"), text)(value)
    assert (got, type(got)) == (value, type(value))
    provider = DirectCallProvider("g", args=["v", "r"])
    assert list(wrapped(f"f(v: {kind}) -> (r: {kind})", provider, text)(value)) == [value]


def test_a_handle() -> None:
    text = "llvm.func @k(%v: !llvm.ptr) -> !llvm.ptr { llvm.return %v : !llvm.ptr }"
    function = wrapped("f(v: handle) -> r: handle", DirectCallProvider("k"), text)
    assert function(ctypes.c_void_p(0x1234)).value == 0x1234
    assert function(None).value is None


@pytest.mark.parametrize(("kind", "type_"), [("DType", "i32"), ("Device", "i64")])
def test_a_dtype_or_a_device_of_another_type(kind: str, type_: str) -> None:
    text = "llvm.func @k(%v: i16) -> i16 { llvm.return %v : i16 }"
    words = refused(f"f(v: int16) -> r: {kind}", DirectCallProvider("k"), text)
    assert re.search(f"returns i16, .* must return {type_}", words)


@needs_cc
def test_a_dtype_and_a_device_of_c(tmp_path: Path) -> None:
    code = """
    #include <stdint.h>
    typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
    typedef struct { int device_type; int32_t device_id; } DLDevice;
    DLDataType half(void) { return (DLDataType){2, 16, 1}; }
    DLDevice gpu(int id) { return (DLDevice){2, id}; }
    void both(DLDataType *t, DLDevice *d) { *t = half(); *d = gpu(1); }
    """
    data, half, gpu = (c_object(tmp_path, code), tvm_ffi.dtype("float16"), tvm_ffi.device)
    both, declared = "both() -> (t: DType, d: Device)", "void both(DLDataType *{}, DLDevice *{});"
    assert wrap(data, "half() -> t: DType", prototype="DLDataType half(void);")() == half
    wrapper = wrap(data, "gpu(id: int32) -> d: Device", prototype="DLDevice gpu(int id);")
    assert wrapper(5) == gpu("cuda", 5)
    wrapper = wrap(data, both, prototype=declared.format("t", "d"))
    assert list(wrapper()) == [half, gpu("cuda", 1)]
    for wrong in (declared.format("d", "t"), "void both(float *t, DLDevice *d);"):
        with pytest.raises(BuildError, match=r"writes the result '[td]', a struct DL"):
            wrap(data, both, prototype=wrong)


PAIR: Final = """
llvm.func @k(%n: i64) -> !llvm.struct<(i64, f32)> {
  %none = llvm.mlir.undef : !llvm.struct<(i64, f32)>
  %half = llvm.mlir.constant(0.5 : f32) : f32
  %one = llvm.insertvalue %n, %none[0] : !llvm.struct<(i64, f32)>
  %two = llvm.insertvalue %half, %one[1] : !llvm.struct<(i64, f32)>
  llvm.return %two : !llvm.struct<(i64, f32)>
}
"""


@pytest.mark.parametrize("provider", [DirectCallProvider, MemRefCallProvider])
def test_several_scalars_are_the_members_of_a_struct(provider: Any) -> None:
    results: list[Result] = [Var("a", "int64"), Var("b", "float32")]
    got = returning(results, provider("k", args=["n"]), PAIR)(np.zeros(7, "float32"))
    assert isinstance(got, tuple)
    assert tuple(cast("Any", got)) == (7, 0.5)


def test_a_list_of_one_is_a_tuple_of_one() -> None:
    text = "llvm.func @k(%n: i64) -> i64 { llvm.return %n : i64 }"
    function = returning([Var("r", "int64")], DirectCallProvider("k", args=["n"]), text)
    assert list(function(np.zeros(3, "float32"))) == [3]


# ---- the other conventions


PACKED: Final = """
llvm.func @k(%p: !llvm.ptr, %count: i32) -> i32 {
  %y_at = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %y = llvm.load %y_at : !llvm.ptr -> !llvm.ptr
  %data = llvm.load %y : !llvm.ptr -> !llvm.ptr
  %size_at = llvm.getelementptr %y[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %size = llvm.load %size_at : !llvm.ptr -> i64
  %v = llvm.mlir.constant(4.0 : f32) : f32
  llvm.store %v, %data : f32, !llvm.ptr
  %t_at = llvm.getelementptr %p[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %t = llvm.load %t_at : !llvm.ptr -> !llvm.ptr
  llvm.store %size, %t : i64, !llvm.ptr
  %b_at = llvm.getelementptr %p[3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %b = llvm.load %b_at : !llvm.ptr -> !llvm.ptr
  %true = llvm.mlir.constant(1 : i8) : i8
  llvm.store %true, %b : i8, !llvm.ptr
  %expected = llvm.mlir.constant(4 : i32) : i32
  %status = llvm.sub %count, %expected : i32
  llvm.return %status : i32
}
"""


@pytest.mark.usefixtures("allocator")
def test_packed_results_are_pointers_to_write_to() -> None:
    results: list[Result] = [tensor("y", n), Var("t", "int64"), Var("b", "bool")]
    provider = DynamicParamPackCallProvider("k", include_num_args=True)
    y, t, b = returning(results, provider, PACKED)(np.zeros(6, "float32"))
    assert (array(y)[0], t, b) == (4.0, 6, True)
    # One that it does not write to is zero.
    y, t, b, rest = returning([*results, Var("rest", "float16")], _without_count(), PACKED)(
        np.zeros(6, "float32")
    )
    assert (t, b, rest) == (6, True, 0.0)


def _without_count() -> CallProvider:
    class Provider(DynamicParamPackCallProvider):
        def __call__(self, current_block: Block, context: CallContext) -> Block:
            context.status_wanted = True
            return super().__call__(current_block, context)

    return Provider("k", include_num_args=True)


@pytest.mark.usefixtures("allocator")
def test_a_failing_callee_releases_what_was_allocated() -> None:
    text = PACKED.replace("constant(4 : i32)", "constant(9 : i32)")
    results: list[Result] = [tensor("y", n), Var("t", "int64"), Var("b", "bool")]
    provider = DynamicParamPackCallProvider("k", include_num_args=True)
    function = returning(results, provider, text)
    big = np.zeros(1 << 20, "float32")
    before = _reserved()
    for _ in range(200):
        with pytest.raises(RuntimeError, match="k failed with status -5 when calling"):
            function(big)
    assert _reserved() - before < 100 << 20  # of 800 MB


def _reserved() -> int:
    # The address space: pages need not be touched.
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * 4096


NESTED: Final = """
llvm.func @k(%x: !llvm.struct<(ptr, struct<(i64, struct<()>)>)>,
             %y: !llvm.struct<(ptr, struct<(i64, struct<()>)>)>) -> i32 {
  %data = llvm.extractvalue %y[0] : !llvm.struct<(ptr, struct<(i64, struct<()>)>)>
  %v = llvm.mlir.constant(8.0 : f32) : f32
  llvm.store %v, %data : f32, !llvm.ptr
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}
"""
MEMREF: Final = """
llvm.func @k(%xa: !llvm.ptr, %x: !llvm.ptr, %xo: i64, %xn: i64, %xs: i64,
             %ya: !llvm.ptr, %y: !llvm.ptr, %yo: i64, %yn: i64, %ys: i64) {
  %v = llvm.mlir.constant(8.0 : f32) : f32
  llvm.store %v, %y : f32, !llvm.ptr
  llvm.return
}
"""


@pytest.mark.usefixtures("allocator")
@pytest.mark.parametrize(
    ("provider", "text"),
    [
        (CheckStatus(NestedTensorCallProvider("k")), NESTED),
        (MemRefCallProvider("k"), MEMREF),
    ],
)
def test_other_conventions_take_the_tensor_as_they_take_arguments(
    provider: CallProvider, text: str
) -> None:
    got = returning(tensor("y", n), provider, text)(np.zeros(3, "float32"))
    assert array(got)[0] == 8.0


# ---- packed callees


def _register(came: object) -> None:
    """A global function that returns this."""

    def give(_x: object) -> object:
        return came

    tvm_ffi.register_global_func("ffib.tests.result", give, override=True)


@pytest.mark.parametrize(
    ("dtype", "came", "expected"),
    [
        ("int64", -7, -7), ("int8", 127, 127), ("uint8", True, 1), ("bool", True, True),
        ("float32", 1.5, 1.5), ("float64", 3, 3.0), ("float16", 0.5, 0.5),
        *((kind, value, value) for kind, value in VALUES if kind.startswith("D")),
    ],
)  # fmt: skip
def test_what_a_packed_callee_returns_is_converted(dtype: str, came: Any, expected: Any) -> None:
    _register(came)
    provider = PackedCallProvider(global_function="ffib.tests.result")
    got = wrapped(f"f(n: int64) -> r: {dtype}", provider)(1)
    assert (got, type(got)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("dtype", "came", "error", "words"),
    [
        ("int64", 1.5, TypeError, "A value of another kind than int64 was returned for r: float when calling: `f"),
        ("int64", "a long string", TypeError, "for r: str when"),
        ("bool", 1, TypeError, "another kind than bool was returned for r: int when"),
        ("int64", "short", TypeError, "for r: str when"),
        ("float32", None, TypeError, "for r: None when"),
        ("int32", [1], TypeError, "for r: list when"),
        ("int32", np.zeros(2, "float32"), TypeError, "for r: ffi.Tensor when"),
        ("bool", b"0123456789", TypeError, "for r: bytes when"),
        ("int32", object(), TypeError, "for r: Python object when"),
        ("int32", BASE, TypeError, "for r: testing.TestObjectBase when"),
        ("handle", 3, TypeError, "another kind than handle was returned for r"),
        ("int8", 128, ValueError, "value that was returned for r does not fit int8: 128"),
        ("uint64", -1, ValueError, "does not fit uint64: -1"),
        *(
            (kind, value, TypeError, f"A value of another kind than {kind} was returned for r: ")
            for kind in ("DType", "Device")
            for value in (3, None, "float32")
        ),
    ],
)  # fmt: skip
def test_what_a_packed_callee_may_not_return(
    dtype: str, came: Any, error: type[Exception], words: str
) -> None:
    _register(came)
    provider = PackedCallProvider(global_function="ffib.tests.result")
    with pytest.raises(error, match=words):
        wrapped(f"f(n: int64) -> r: {dtype}", provider)(1)


@pytest.mark.usefixtures("allocator")
def test_a_packed_callee_gets_the_tensor_as_an_argument() -> None:
    def fill(x: Any, y: Any) -> Any:
        array(y)[:] = array(x) * 2
        return "which nobody asked for"

    tvm_ffi.register_global_func("ffib.tests.fill", fill, override=True)
    for provider in (
        PackedCallProvider(global_function="ffib.tests.fill"),
        PackedCallProvider(global_function="ffib.tests.fill", args=["x"]),
        PackedCallProvider(global_function="ffib.tests.fill", args=["x", "y"]),
    ):
        got = returning(tensor("y", n), provider)(np.full(2, 1.5, "float32"))
        assert array(got).tolist() == [3.0, 3.0]


# ---- what authors get wrong


@pytest.mark.parametrize(
    ("returns", "provider", "words"),
    [
        ("r: int64", NopCallProvider(), "NopCallProvider: 'f' returns r: int64, so context.results needs a value for each result that is not a tensor (r: i64), but it has none"),
        ("r: int32", DirectCallProvider("k", args=["n"]), "DirectCallProvider: the callee @k returns !llvm.struct<(i64, f32)>, but 'f' returns r: int32, for which it must return i32"),
        ("(a: int64, b: float32)", DirectCallProvider("unknown"), "DirectCallProvider: the callee @unknown is not in the module, and C functions return structs in another way than LLVM does, so it cannot return a, b; with a, b in args=, it gets a pointer to write each result to"),
        ("r: int32", CheckStatus(DirectCallProvider("unknown")), "CheckStatus: the callee @unknown returns the result r, so it cannot return a status; with r in args=, it gets a pointer to write each result to"),
        ("(y: Tensor([n], float32), a: int32)", Devices(), "Devices: 'f' returns (y: Tensor([n], float32), a: int32), so context.results needs a value for each result that is not a tensor (a: i32), but it has i32, i32, i32"),
    ],
)  # fmt: skip
def test_what_is_refused(returns: str, provider: CallProvider, words: str) -> None:
    assert refused(f"f(x: Tensor([n], float32)) -> {returns}", provider, PAIR) == words


def test_a_signature_that_returns_nothing_takes_no_results() -> None:
    class Provider(NopCallProvider):
        def __call__(self, current_block: Block, context: CallContext) -> Block:
            context.results = [context.value(n)]
            return current_block

    with pytest.raises(BuildError, match=r"'f' returns None, so .* but it has i64"):
        attach_ffi_func(new_module(), "f", [X], Provider())


# ---- what others see of it


def test_python_sees_the_results() -> None:
    module = new_module(FILL)
    y = tensor("y", Expr("+", n, 1))
    attach(module, Signature("f", [X], y), DirectCallProvider("k"))
    function = runtime.compile(module).callable("f")
    shown = "f(x: Tensor([n], float32, device_type=cpu)) -> y: Tensor([n + 1], float32, device_type=cpu)"
    assert shown in repr(function)
    assert shown in (function.__doc__ or "")
    assert str(inspect.signature(function)).endswith(shown[shown.index(" -> ") :])
    with runtime.install_allocator():
        assert function(x=np.zeros(2, "float32")).shape == (3,)


def test_the_plan_names_them() -> None:
    signature = Signature("f", [X], [tensor("y", n + 1), Var("t", "float32")])
    assert (
        explain(signature).splitlines()[-1] == "Returns (y: Tensor([n + 1], float32), t: float32)."
    )
    assert "Returns" not in explain(Signature("f", [X]))
