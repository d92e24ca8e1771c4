"""MemRefCallProvider: the expanded descriptors, word by word."""

from __future__ import annotations

from typing import Any, Final

import pytest

from ffi_builder import spec
from ffi_builder.providers import MemRefCallProvider
from ffi_builder.spec import Tensor, dims
from tests.differential.description import NONE, DLTensor, Value, array, of_int, shape, tensor
from tests.providers.arriving import recorded
from tests.support.wrapping import refused

n, m = dims("n m")
CALLEE: Final = MemRefCallProvider("callee")
DESCRIPTORS: Final = {rank: "ptr ptr i64" + " i64" * (2 * rank) for rank in range(5)}
"""Both pointers, the offset, sizes, strides."""


def given(sizes: tuple[int, ...], strides: tuple[int, ...] | None = None, **more: Any) -> Value:
    more.setdefault("data", 0x40)
    return tensor(DLTensor(sizes, strides, **more))


def packed(entries: list[Any], strides: Any) -> list[spec.Param]:
    x = Tensor("w", entries, "float4_e2m1fn", device_type="cpu", strides=strides)
    return [spec.create_map_tensor_dtype_f4x2_to_f4_spec(x)]


PACKED: Final = (17, 4, 2)
FREE: Final = "Tensor([n, m, k], float32)"
ANY: Final = "Tensor([n, m], float32, strides=any)"
COLUMNS: Final = "Tensor([n, m], float32, strides=F)"
SECOND: Final = "Tensor([n, m], float32, strides=[None, s])"
ARRIVES: Final[list[tuple[Any, Value, list[int]]]] = [
    # a parameter, an argument, and sizes and strides of what arrives
    *(("Tensor([n, 4, m, None], float32)", given((2, 4, 5, 3), strides), [2, 4, 5, 3, 60, 15, 3, 1]) for strides in (None, (60, 15, 3, 1))),
    # Free strides of a row-major tensor are computed.
    (FREE, given((3, 1, 5), (5, 999, 1)), [3, 1, 5, 5, 5, 1]),
    (FREE, given((3, 0, 5), (-7, -8, -9)), [3, 0, 5, 0, 5, 1]),
    *((SECOND, given((3, 2), strides), [3, 2, *(strides or (2, 1))]) for strides in ((1, 3), None)),
    ("Tensor([4], float32, strides=[s]) where s: int32", given((4,), (-2,)), [4, -2]),
    *((f"Tensor([d, 2], float32, strides=[d, 1]) where d: {dtype}", given((value, 2), (value, 1)), [value, 2, value, 1]) for dtype, value in (("uint8", 200), ("uint16", 60000), ("uint32", 3_000_000_000), ("int8", 100), ("int32", 9))),
    ("Tensor([], float32)", given(()), []),
    ("Tensor([n * 2, n], float32, device_type=cuda)", given((6, 3), device_type=2, device_id=1), [6, 3, 3, 1]),
    (packed([n, m], None), given((3, 8), dtype=PACKED), [3, 16, 16, 1]),
    (packed([n, m], [None, 1]), given((3, 8), (20, 1), dtype=PACKED), [3, 16, 40, 1]),
    (packed([m, n], [1, None]), given((4, 3), (1, 5), dtype=PACKED), [8, 3, 1, 10]),
    ("Tensor([n, m], float4_e2m1fn, storage_dtype=float4_e2m1fnx2, strides=F)", given((2, 3), (1, 2), dtype=PACKED), [4, 3, 1, 4]),
    (COLUMNS, given((2, 3), (1, 2)), [2, 3, 1, 2]),
    (COLUMNS, given((1, 3), (99, 1)), [1, 3, 1, 1]),
    (COLUMNS, given((2, 0), (9, 9)), [2, 0, 1, 2]),
    (COLUMNS, given((2, 1)), [2, 1, 1, 2]),
    (ANY, given((2, 3), (-7, 0)), [2, 3, -7, 0]),
    ("Tensor([n, 3], float32, strides=any)", given((2, 3)), [2, 3, 3, 1]),
    # For an absent tensor, symbols that nothing binds are 0, and ints keep their value.
    *((f"Optional({type_})", given((5, 3), (1, 5)), [5, 3, 1, 5]) for type_ in (COLUMNS, ANY)),
    (f"Optional({COLUMNS})", NONE, [0, 0, 1, 0]),
    (f"Optional({ANY})", NONE, [0, 0, 0, 0]),
]  # fmt: skip


@pytest.mark.parametrize(("param", "argument", "expected"), ARRIVES)
def test_sizes_and_strides(param: Any, argument: Value, expected: list[int]) -> None:
    params = f"x: {param}" if isinstance(param, str) else param
    call, recording = recorded(params, DESCRIPTORS[len(expected) // 2], CALLEE)
    assert call(argument) is None
    start = 0 if argument == NONE else 0x40
    assert recording.values == [start, start, 0, *expected]


def test_all_else_is_as_by_the_direct_provider() -> None:
    params = """one: Literal[1], t: Tuple(x: Tensor([n], float32), a: int8), s: Shape([n, 3, m]),
        y: Tensor([], float32), flag: bool"""
    types = f"{DESCRIPTORS[1]} i8 i64 i64 {DESCRIPTORS[0]} i1"
    call, recording = recorded(params, types, CALLEE)
    pair = array(given((7,), byte_offset=8), of_int(-1))
    assert call(of_int(1), pair, shape(7, 3, 8), given((), data=0x20), of_int(1)) is None
    assert recording.values == [0x48, 0x48, 0, 7, 1, -1, 7, 8, 0x20, 0x20, 0, 1]


def test_a_symbol_of_an_absent_tensor_that_another_binds() -> None:
    params = "y: Tensor([n], float32), x: Optional(Tensor([n, None, 4], float32))"
    call, recording = recorded(params, f"{DESCRIPTORS[1]} {DESCRIPTORS[3]}", CALLEE)
    y, words = given((5,), data=0x80), [0x80, 0x80, 0, 5, 1]
    assert call(y, given((5, 3, 4))) is None
    assert recording.values == [*words, 0x40, 0x40, 0, 5, 3, 4, 12, 4, 1]
    assert call(y, NONE) is None
    assert recording.values == [*words, 0, 0, 0, 5, 0, 4, 0, 0, 1]


RESULT: Final = "!llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>"


@pytest.mark.parametrize(
    ("params", "result", "words"),
    [
        ("x: Tensor([n], float32)", "i64", "@callee returns i64; "),
        ("x: Tensor([n], float32)", "i64", "returns=spec.Var('y', 'int64')"),
        # It is said before the arguments are compared.
        ("x: Tensor([n], float32), out: Tensor([n], float32)", RESULT, "@callee returns a memref "),
        ("x: Tensor([n], float32), out: Tensor([n], float32)", RESULT, "modify-public-functions=1"),
    ],
)
def test_a_callee_that_returns_something_is_refused(params: str, result: str, words: str) -> None:
    types = DESCRIPTORS[1].replace("ptr", "!llvm.ptr").replace(" ", ", ")
    assert words in refused(f"f({params})", CALLEE, f"llvm.func @callee({types}) -> {result}")
