"""MemRefCallProvider: the expanded descriptors, word by word."""

from __future__ import annotations

import pytest

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.providers import MemRefCallProvider
from ffi_builder.spec import Shape, Tensor, TupleParam, Var, dims
from tests.differential.description import DLTensor, array, of_int, shape, tensor
from tests.support.recording import Recording
from tests.support.wrapping import RawWrapper, attached, wrap_raw

n, m, k = dims("n m k")
DESCRIPTORS = {rank: ["!llvm.ptr"] * 2 + ["i64"] * (1 + 2 * rank) for rank in range(5)}


def recorded(params: list[spec.Param], *types: str) -> tuple[RawWrapper, Recording]:
    recording = Recording("callee", types)
    return wrap_raw(params, MemRefCallProvider("callee"), recording.text), recording


def words(recording: Recording, start: int, rank: int) -> list[int]:
    """A descriptor: both pointers, the offset, sizes, strides."""
    return [recording.signed(start + i) for i in range(3 + 2 * rank)]


def cpu(
    name: str,
    entries: list[spec.Dim | None],
    strides: list[spec.Dim | None] | None = None,
    dtype: str = "float32",
) -> Tensor:
    return Tensor(name, entries, dtype, device_type="cpu", strides=strides)


def test_a_row_major_tensors_strides_are_computed() -> None:
    call, recording = recorded([cpu("x", [n, 4, m, None])], *DESCRIPTORS[4])
    body = DLTensor((2, 4, 5, 3), None, data=0x100, byte_offset=0x20)
    expected = [0x120, 0x120, 0, 2, 4, 5, 3, 60, 15, 3, 1]
    assert call(tensor(body)) is None
    assert words(recording, 0, 4) == expected
    given = DLTensor((2, 4, 5, 3), (60, 15, 3, 1), data=0x100, byte_offset=0x20)
    assert call(tensor(given)) is None
    assert words(recording, 0, 4) == expected


def test_free_strides_of_a_row_major_tensor_are_computed_too() -> None:
    call, recording = recorded([cpu("x", [n, m, k])], *DESCRIPTORS[3])
    assert call(tensor(DLTensor((3, 1, 5), (5, 999, 1)))) is None
    assert words(recording, 0, 3)[3:] == [3, 1, 5, 5, 5, 1]
    assert call(tensor(DLTensor((3, 0, 5), (-7, -8, -9), data=0))) is None
    assert words(recording, 0, 3) == [0, 0, 0, 3, 0, 5, 0, 5, 1]


@pytest.mark.parametrize("strides", [(1, 3), None])
def test_given_strides(strides: tuple[int, int] | None) -> None:
    s = Var("s", "int64")
    call, recording = recorded([cpu("x", [n, m], [None, s])], *DESCRIPTORS[2])
    assert call(tensor(DLTensor((3, 2), strides))) is None
    assert words(recording, 0, 2)[3:] == [3, 2, *(strides or (2, 1))]


def test_negative_strides() -> None:
    s = Var("s", "int32")
    call, recording = recorded([cpu("x", [4], [s])], *DESCRIPTORS[1])
    assert call(tensor(DLTensor((4,), (-2,)))) is None
    assert words(recording, 0, 1)[3:] == [4, -2]


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("uint8", 200), ("uint16", 60000), ("uint32", 3_000_000_000), ("int8", 100), ("int32", 9)],
)
def test_symbols_of_narrow_dtypes_keep_their_value(dtype: str, value: int) -> None:
    d = Var("d", dtype)
    call, recording = recorded([cpu("x", [d, 2], [d, 1])], *DESCRIPTORS[2])
    assert call(tensor(DLTensor((value, 2), (value, 1)))) is None
    assert words(recording, 0, 2)[3:] == [value, 2, value, 1]


def test_a_tensor_without_dimensions() -> None:
    call, recording = recorded([cpu("x", [])], *DESCRIPTORS[0])
    assert call(tensor(DLTensor((), data=0x40))) is None
    assert words(recording, 0, 0) == [0x40, 0x40, 0]


def test_all_else_is_as_by_the_direct_provider() -> None:
    params: list[spec.Param] = [
        spec.ConstInt("one", 1),
        TupleParam("t", [cpu("x", [n]), Var("a", "int8")]),
        Shape("s", [n, 3, m]),
        cpu("y", []),
        Var("flag", "bool"),
    ]
    types = [*DESCRIPTORS[1], "i8", "i64", "i64", *DESCRIPTORS[0], "i1"]
    call, recording = recorded(params, *types)
    pair = array(tensor(DLTensor((7,), data=0x10)), of_int(-1))
    assert call(of_int(1), pair, shape(7, 3, 8), tensor(DLTensor((), data=0x20)), of_int(1)) is None
    assert words(recording, 0, 1) == [0x10, 0x10, 0, 7, 1]
    assert recording.signed(5, 1) == -1
    assert [recording.signed(6), recording.signed(7)] == [7, 8]
    assert words(recording, 8, 0) == [0x20, 0x20, 0]
    assert recording.read(11, 1) == b"\x01"


def test_expressions_and_device_tensors() -> None:
    x = Tensor("x", [n * 2, n], "float32", device_type="cuda")
    call, recording = recorded([x], *DESCRIPTORS[2])
    assert call(tensor(DLTensor((6, 3), device_type=2, device_id=1))) is None
    assert words(recording, 0, 2)[3:] == [6, 3, 3, 1]


@pytest.mark.parametrize("given", [None, (20, 1)])
def test_a_packed_tensor_gives_what_the_kernel_sees(given: tuple[int, int] | None) -> None:
    strides: list[spec.Dim | None] | None = None if given is None else [None, 1]
    x = cpu("w", [n, m], strides, "float4_e2m1fn")
    packed = spec.create_map_tensor_dtype_f4x2_to_f4_spec(x)
    call, recording = recorded([packed], *DESCRIPTORS[2])
    assert call(tensor(DLTensor((3, 8), given, dtype=(17, 4, 2)))) is None
    assert words(recording, 0, 2)[3:] == [3, 16, 16 if given is None else 40, 1]


def test_a_packed_first_dimension() -> None:
    x = cpu("w", [m, n], [1, None], "float4_e2m1fn")
    packed = spec.create_map_tensor_dtype_f4x2_to_f4_spec(x)
    call, recording = recorded([packed], *DESCRIPTORS[2])
    assert call(tensor(DLTensor((4, 3), (1, 5), dtype=(17, 4, 2)))) is None
    assert words(recording, 0, 2)[3:] == [8, 3, 1, 10]


def test_a_callee_that_returns_something_is_refused() -> None:
    text = f"llvm.func @callee({', '.join(DESCRIPTORS[1])}) -> i64"
    words = r"@callee returns i64; .*returns=spec.Var\('y', 'int64'\)"
    with pytest.raises(BuildError, match=words):
        attached([cpu("x", [n])], MemRefCallProvider("callee"), text)


def test_a_callee_that_returns_its_result_is_told_so_before_its_arguments_are_compared() -> None:
    result = "!llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>"
    text = f"llvm.func @callee({', '.join(DESCRIPTORS[1])}) -> {result}"
    with pytest.raises(BuildError, match=r"@callee returns a memref .* modify-public-functions=1"):
        attached([cpu("x", [n]), cpu("out", [n])], MemRefCallProvider("callee"), text)
