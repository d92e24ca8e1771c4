"""NestedTensorCallProvider: ``{data, {shape, strides}}``, byte by byte."""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import attach_ffi_func, runtime, spec
from ffi_builder.providers import NestedTensorCallProvider
from ffi_builder.spec import Optional, Tensor, Var, dims
from tests.differential.description import NONE, DLTensor, Value, of_int, shape, tensor
from tests.providers.arriving import recorded
from tests.support.printed import symbol_names
from tests.support.wrapping import refused, wrap

n, m, k = dims("n m k", "int32")
wide, s = dims("wide s")
u8 = Var("u8", "uint8")
CALLEE: Final = NestedTensorCallProvider("callee")


def gpu(name: str, entries: Any, strides: Any = None, **more: Any) -> Tensor:
    return Tensor(name, entries, "float32", device_type="cuda", strides=strides, **more)


def on_gpu(*sizes: int, strides: tuple[int, ...] | None = None) -> Value:
    return tensor(DLTensor(sizes, strides, 0x1000, device_type=2, byte_offset=8))


Layout = tuple[list[Any], Any, str, str, tuple[int, ...], tuple[int, ...] | None, tuple[int, ...]]
LAYOUTS: Final[dict[str, Layout]] = {
    # shape, strides, what stands behind the pointer, as struct reads it, given, expected
    "no dimensions": ([], None, "struct<()>, struct<()>", "", (), None, ()),
    "ints": ([4, 8], None, "struct<()>, struct<()>", "", (4, 8), None, ()),
    "ints, strided": ([4, 8], [16, 1], "struct<()>, struct<()>", "", (4, 8), (16, 1), ()),
    "one": ([n], None, "i32, struct<()>", "i", (5,), None, (5,)),
    "outermost": ([n, 8], None, "i32, struct<()>", "i", (5, 8), None, (5,)),
    "two": ([n, m], None, "struct<(i32, i32)>, i64", "iiq", (5, 7), None, (5, 7, 7)),
    "three": ([n, m, k], "C", "struct<(i32, i32, i32)>, struct<(i64, i64)>", "iiixxxxqq", (5, 7, 3), None, (5, 7, 3, 21, 3)),
    "inner int": ([n, m, 4], None, "struct<(i32, i32)>, i64", "iiq", (5, 7, 4), None, (5, 7, 28)),
    "column-major": ([n, m], "F", "struct<(i32, i32)>, i64", "iiq", (5, 7), (1, 5), (5, 7, 5)),
    "column-major, int": ([4, m], "F", "i32, struct<()>", "i", (4, 7), (1, 4), (7,)),
    "symbols": ([n, u8], [s, u8], "struct<(i32, i8)>, struct<(i64, i8)>", "iBxxxqB", (5, 200), (-9, 200), (5, 200, -9, 200)),
    "expressions": ([n, n * 2], [wide, None], "struct<(i32, i64)>, struct<(i64, i64)>", "ixxxxqqq", (5, 10), (11, 3), (5, 10, 11, 3)),
    "any": ([4, None], "any", "i64, struct<(i64, i64)>", "qqq", (4, 6), (0, -2), (6, 0, -2)),
    "repeats": ([n, n], [n, 1], "struct<(i32, i32)>, i32", "iii", (5, 5), (5, 1), (5, 5, 5)),
}  # fmt: skip


@pytest.mark.parametrize("case", LAYOUTS)
def test_layouts(case: str) -> None:
    entries, strides, type_, code, sizes, given, expected = LAYOUTS[case]
    params: list[spec.Param] = [gpu("x", entries, strides), Var("after", "int8")]
    types = [f"!llvm.struct<(ptr<1>, struct<({type_})>)>", "i8"]
    call, recording = recorded(params, types, CALLEE)
    assert call(on_gpu(*sizes, strides=given), of_int(-7)) is None
    raw = recording._buffer.raw[:64]  # pyright: ignore[reportPrivateUsage] # padding is not written
    assert struct.unpack_from("<Q", raw) == (0x1008,)
    layout = "<" + code
    assert struct.unpack_from(layout, raw, 8) == expected
    end = 8 + struct.calcsize(layout)
    assert raw[end:] == b"\xee" * (64 - end)
    assert recording.signed(1, 1) == -7


def test_packed_elements_are_as_the_kernel_sees_them() -> None:
    x = Tensor("x", [n, m], "float4_e2m1fn", device_type="cuda")
    packed = spec.create_map_tensor_dtype_f4x2_to_f4_spec(x)
    types = ["!llvm.struct<(ptr<1>, struct<(struct<(i32, i32)>, i64)>)>"]
    call, recording = recorded([packed], types, CALLEE)
    body = DLTensor((3, 8), None, 0x40, (17, 4, 2), 2)
    assert call(tensor(body)) is None
    assert struct.unpack("<Qiiq", recording.read(0, 24)) == (0x40, 3, 16, 16)


@pytest.mark.parametrize(
    ("device", "given", "space"),
    [
        ("cpu", None, 0),
        ("cpu", 1, 1),
        ("cpu", 3, 3),
        ("cuda", None, 1),
        ("cuda", 0, 0),
        ("rocm", None, 1),
        ("cuda_managed", None, 1),
        ("any", 0, 0),
        ("any", 1, 1),
    ],
)
def test_address_spaces(device: str, given: int | None, space: int) -> None:
    x = Tensor("x", [n], "float32", device_type=device)
    pointer = f"ptr<{space}>" if space else "ptr"
    types = [f"!llvm.struct<({pointer}, struct<(i32, struct<()>)>)>"]
    provider = NestedTensorCallProvider("callee", address_space=given)
    call, recording = recorded([x], types, provider)
    code = {"cpu": 1, "rocm": 10, "cuda_managed": 13}.get(device, 2)
    assert call(tensor(DLTensor((3,), None, 2**63 + 4, device_type=code))) is None
    assert struct.unpack("<Qi", recording.read(0, 12)) == (2**63 + 4, 3)


def test_a_tensor_on_any_device_needs_an_address_space() -> None:
    assert refused("f(t: Tuple(x: Tensor([n], float32, device_type=any)))", CALLEE) == (
        "NestedTensorCallProvider: 't[0]' may be on any device, so give the address space of its "
        "pointer: address_space=0, or 1 for device memory"
    )


@pytest.mark.parametrize("space", [-1, 1 << 24, True, "1"])
def test_no_address_space(space: Any) -> None:
    words = f"NestedTensorCallProvider: address_space: expected 0 to 16777215 but got {space!r}"
    provider = NestedTensorCallProvider("callee", address_space=space)
    assert refused("f(n: int64)", provider) == words


def test_entries_of_shapes_are_arguments_each() -> None:
    params = "a: Shape([2, n, w]), b: Shape([2, 3]), c: Shape([n, 4]) where n: int32"
    call, recording = recorded(params, "i32 i64 i32", CALLEE)
    assert call(shape(2, 5, 6), shape(2, 3), shape(5, 4)) is None
    assert recording.values == [5, 6, 5]


def test_an_optional() -> None:
    x = Optional(gpu("x", [n, None, 4], "any"))
    types = ["!llvm.struct<(ptr<1>, struct<(struct<(i32, i64)>, struct<(i64, i64, i64)>)>)>", "i32"]
    call, recording = recorded([x, Optional(n)], types, CALLEE)

    def fields() -> tuple[int, ...]:
        raw = recording._buffer.raw[:64]  # pyright: ignore[reportPrivateUsage]
        return struct.unpack_from("<Qixxxx4q", raw)

    assert call(on_gpu(5, 3, 4, strides=(-1, 2, 7)), NONE) is None
    assert fields() == (0x1008, 5, 3, -1, 2, 7)
    assert call(NONE, of_int(9)) is None
    # A symbol that something else binds has that value.
    assert fields() == (0, 9, 0, 0, 0, 0)
    assert call(NONE, NONE) is None
    assert fields() == (0, 0, 0, 0, 0, 0)


def test_args_choose_order_and_repeat() -> None:
    x = gpu("x", [n])
    tensor_ = "!llvm.struct<(ptr<1>, struct<(i32, struct<()>)>)>"
    provider = NestedTensorCallProvider("callee", args=["n", x, x.data, n * 2, "x.device_id", x])
    call, recording = recorded([x], ["i32", tensor_, "ptr", "i64", "i32", tensor_], provider)
    assert call(on_gpu(3)) is None
    assert [recording.signed(0, 4), recording.signed(3), recording.signed(4, 4)] == [3, 6, 0]
    assert struct.unpack("<Qi", recording.read(1, 12)) == (0x1008, 3)
    assert recording.unsigned(2) == 0x1008
    assert recording.read(5, 12) == recording.read(1, 12)


STATUS: Final = """
llvm.func @callee(%x: !llvm.struct<(ptr, struct<(i32, struct<()>)>)>, %code: i32) -> i32 {
  llvm.return %code : i32
}
"""


def test_a_status_is_an_error() -> None:
    x, code = Tensor("x", [n], "float32", device_type="cpu"), Var("code", "int32")
    function = wrap([x, code], CALLEE, STATUS)
    data = np.zeros(3, "float32")
    function(data, 0)
    with pytest.raises(RuntimeError, match=r"callee failed with status -2 when calling: `f\("):
        function(data, -2)


def test_a_callee_of_another_type() -> None:
    assert refused("f(x: Tensor([n, m], float32), n: int32) where m: int32", CALLEE, STATUS) == (
        "NestedTensorCallProvider: the callee @callee takes arguments of other types than 'f' "
        "passes:\n"
        "       expected                                  passed\n"
        ">  #0  struct<(ptr, struct<(i32, struct<()>)>)>  "
        "struct<(ptr, struct<(struct<(i32, i32)>, i64)>)> (x)\n"
        "   #1  i32                                       i32 (n)\n"
        "Choose and order them with args=, or change the signature or the callee"
    )
    words = "the callee @callee returns f32; expected nothing or a status of type i32"
    assert refused("f()", CALLEE, "llvm.func @callee() -> f32") == words


TENSOR: Final = "!llvm.struct<(ptr, struct<(struct<(i32, i32)>, i64)>)>"
KERNEL: Final = f"""
llvm.func @callee(%x: {TENSOR}, %value: f32) -> i32 {{
  %data = llvm.extractvalue %x[0] : {TENSOR}
  %rows = llvm.extractvalue %x[1, 0, 0] : {TENSOR}
  %cols = llvm.extractvalue %x[1, 0, 1] : {TENSOR}
  %pitch = llvm.extractvalue %x[1, 1] : {TENSOR}
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  scf.for %i = %zero to %rows step %one : i32 {{
    %wide = llvm.sext %i : i32 to i64
    %start = llvm.mul %wide, %pitch : i64
    %row = llvm.getelementptr %data[%start] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    scf.for %j = %zero to %cols step %one : i32 {{
      %at = llvm.getelementptr %row[%j] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      llvm.store %value, %at : f32, !llvm.ptr
    }}
  }}
  llvm.return %zero : i32
}}
"""


@pytest.mark.parametrize("strides", [None, [s, 1]])
def test_a_kernel(strides: list[spec.Dim] | None) -> None:
    x = Tensor("x", [n, m], "float32", device_type="cpu", strides=strides)

    def hook(module: Any) -> None:
        attach_ffi_func(module, "fill", [x, Var("value", "float32")], CALLEE)
        assert symbol_names(module).count("callee") == 1

    lowering = "builtin.module(convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)"
    compiled = runtime.compile(KERNEL, pipeline=lowering, post_compile_hooks=[hook])
    data = np.zeros((4, 6), "float32")
    view = data if strides is None else data[1:3, :4]
    compiled["fill"](view, 2.5)
    expected = np.zeros((4, 6), "float32")
    expected[(slice(None), slice(None)) if strides is None else (slice(1, 3), slice(4))] = 2.5
    assert (data == expected).all()


def test_with_jaxlibs_bindings() -> None:
    types = [TENSOR.replace("(ptr", "(ptr<1>"), "i32"]
    params = [gpu("x", [n, m]), n]
    call, recording = recorded(params, types, CALLEE, distribution="jaxlib.mlir")
    assert call(on_gpu(5, 7), of_int(5)) is None
    assert struct.unpack("<Qiiq", recording.read(0, 24)) == (0x1008, 5, 7, 7)
