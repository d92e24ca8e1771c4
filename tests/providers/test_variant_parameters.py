"""Variants: what kernels get of a value that is of one of several types, with every provider."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, attach, runtime, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.providers import (
    CallProvider,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
    PackedCallProvider,
)
from ffi_builder.spec import Optional, Tensor, Var, Variant
from tests.differential.description import (
    NONE,
    DLTensor,
    Plain,
    bytes_,
    of_bool,
    of_float,
    of_int,
    str_,
    tensor,
)
from tests.support.recording import Recording, c_callees
from tests.support.wrapping import RawWrapper, attached, new_module, wrap_raw

(n,) = spec.dims("n")
SCALE: Final = Variant(
    [Var("scale", "float64"), Tensor("scale", [n], "float32", device_type="cpu")]
)
EVERY: Final = Variant(
    [
        *(Var("v", dtype) for dtype in ("int8", "bool", "bfloat16")),
        Tensor("v", [n, 2], "float32", device_type="cpu"),
        *(kind("v") for kind in (spec.String, spec.Bytes, spec.DType, spec.Device)),
    ]
)
SCALE_X: Final = Tensor("x", [n], "float32", device_type="cpu")
TYPES: Final = (
    "i32",
    "i8",
    "i1",
    "bf16",
    *["!llvm.ptr"] * 2,
    "i64",
    "!llvm.ptr",
    "i64",
    "i32",
    "i64",
)
SIZES: Final = (4, 1, 1, 2, 8, 8, 8, 8, 8, 4, 8)
X: Final = tensor(DLTensor((3, 2), data=0x1000))


def recorded(
    param: spec.Param, provider: CallProvider, *types: str
) -> tuple[RawWrapper, Recording]:
    recording = Recording("k", types)
    return wrap_raw([param], provider, recording.text), recording


@pytest.mark.parametrize("optional", [False, True])
def test_a_direct_call_gets_which_and_each_parameter(optional: bool) -> None:
    param = Optional(EVERY) if optional else EVERY
    call, recording = recorded(param, DirectCallProvider("k"), *TYPES)
    text, data = str_(b"a longer text"), bytes_(b"longer bytes")
    given = {
        of_int(-2): (0, {1: b"\xfe"}),
        of_bool(True): (1, {2: b"\1"}),
        of_float(1.0): (2, {3: b"\x80\x3f"}),
        X: (3, {4: struct.pack("<q", 0x1000)}),
        text: (4, {6: struct.pack("<q", 13)}),
        data: (5, {8: struct.pack("<q", 12)}),
        dtype(): (6, {9: struct.pack("<BBH", 2, 32, 1)}),
        device(): (7, {10: struct.pack("<2i", 1, 3)}),
    }
    if optional:
        given[NONE] = (-1, {})
    for value, (which, content) in given.items():
        recording.clear()
        assert call(value) is None
        found = [recording.read(at, size) for at, size in enumerate(SIZES)]
        assert struct.unpack("<i", found[0]) == (which,)
        for at, size in enumerate(SIZES[1:], 1):
            if at + 1 in content and at in (5, 7):  # the address of a text
                expected = b"a longer text" if at == 5 else b"longer bytes"
                pointer = int.from_bytes(found[at], "little")
                assert ctypes.string_at(pointer, len(expected)) == expected
            else:
                assert found[at] == content.get(at, bytes(size))


def dtype() -> Any:
    return Plain(TypeIndex.DATA_TYPE, 0x00012002)


def device() -> Any:
    return Plain(TypeIndex.DEVICE, 3 << 32 | 1)


def test_args() -> None:
    args = ["scale.tensor.data", "scale.which", "n", "scale.float", "scale.tensor.ndim"]
    types = ("!llvm.ptr", "i32", "i64", "f64", "i32")
    call, recording = recorded(SCALE, DirectCallProvider("k", args=args), *types)
    assert call(of_int(2)) is None
    assert (recording.unsigned(0), recording.signed(1, 4)) == (0, 0)
    assert struct.unpack("<d", recording.read(3, 8)) == (2.0,)
    assert call(tensor(DLTensor((5,), data=0x1000))) is None
    assert (recording.unsigned(0), recording.signed(1, 4)) == (0x1000, 1)
    assert (recording.signed(2), recording.signed(4, 4)) == (5, 1)
    by_objects = [spec.Field(SCALE, "which"), SCALE.params[1], spec.Field(SCALE, "float")]
    call, recording = recorded(
        SCALE, DirectCallProvider("k", args=by_objects), "i32", "!llvm.ptr", "f64"
    )
    assert call(tensor(DLTensor((5,), data=0x1000))) is None
    assert (recording.signed(0, 4), recording.unsigned(1)) == (1, 0x1000)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["scale.int"], "but the parts of scale, a Variant, are which, float|scale has scale.tensor"),
        (["scale.present"], "scale is not an Optional"),
        (["scale.tensor.present"], "scale.tensor is not an Optional"),
    ],
)  # fmt: skip
def test_args_that_are_refused(args: Sequence[str], words: str) -> None:
    with pytest.raises(BuildError, match=words):
        attached([SCALE], DirectCallProvider("k", args=args))


def test_other_conventions() -> None:
    callees = c_callees()
    pack = wrap_raw(
        [SCALE], DynamicParamPackCallProvider("ffib_test_pack_n", include_num_args=True)
    )
    callees.expect(4, 8, 16)
    assert pack(of_float(0.5)) is None
    assert (callees.count, callees.nulls) == (3, [2])
    assert struct.unpack("<id", callees.read(0, 4) + callees.read(1, 8)) == (0, 0.5)
    callees.expect(4, 8, 16)
    assert pack(tensor(DLTensor((5,), data=0x1000))) is None
    assert callees.nulls == []
    assert struct.unpack("<2q", callees.read(2, 16)) == (0x1000, 5)
    memref = ("i32", "f64", "!llvm.ptr", "!llvm.ptr", "i64", "i64", "i64")
    call, recording = recorded(SCALE, MemRefCallProvider("k"), *memref)
    assert call(tensor(DLTensor((5,), data=0x1000))) is None
    assert [recording.unsigned(at) for at in (2, 3, 4, 5, 6)] == [0x1000, 0x1000, 0, 5, 1]
    attached([SCALE], NestedTensorCallProvider("k"))


def test_a_packed_function_gets_the_value_itself() -> None:
    seen: list[Any] = []
    tvm_ffi.register_global_func("tests.variant", lambda *args: seen.append(args), override=True)
    args = ["scale", "scale.which", "scale.float", "scale.tensor"]
    module = new_module()
    signature = spec.Signature("f", [Optional(SCALE)])
    attach(module, signature, PackedCallProvider(global_function="tests.variant", args=args))
    f = runtime.compile(module)["f"]
    f(3)
    f(None)
    f(np.ones(2, "float32"))
    assert seen[:2] == [(3, 0, 3, None), (None, None, None, None)]
    whole, which, number, alone = seen[2]
    assert (np.from_dlpack(whole).tolist(), which, number) == ([1.0, 1.0], 1, None)
    assert np.from_dlpack(alone).tolist() == [1.0, 1.0]


def test_a_callable_takes_what_each_parameter_takes() -> None:
    module = new_module()
    signature = spec.Signature("f", [Variant([Var("x", "bool"), SCALE_X])])
    attach(module, signature, PackedCallProvider(global_function="tests.variant", args=["x.which"]))
    found: list[object] = []
    tvm_ffi.register_global_func("tests.variant", found.append, override=True)
    f = runtime.compile(module)
    for value in (True, np.bool_(False), 1, np.ones(2, "float32")):
        f(value)
    assert found == [0, 0, 0, 1]
