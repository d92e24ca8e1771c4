"""The cost of a signature of many parameters is in proportion to their number."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from ffi_builder import runtime
from ffi_builder.abi import TypeIndex
from ffi_builder.providers import DirectCallProvider
from ffi_builder.spec import Optional, Param, Shape, String, Struct, Tensor, TupleParam, Var
from tests.differential.description import DLTensor, Object
from tests.support.wrapping import RawWrapper, attached


def tensors(count: int) -> list[Param]:
    return [
        Tensor(f"x{i}", [Var(f"n{i}", "int64")], "float32", device_type="cpu") for i in range(count)
    ]


def sharing(count: int) -> list[Param]:
    k = Var("k", "int64")
    layouts = [[Var(f"s{i}", "int64"), 1] for i in range(count)]
    return [
        Tensor(f"x{i}", [k, k * 2], "float32", device_type="cpu", strides=strides)
        for i, strides in enumerate(layouts)
    ]


def optionals(count: int) -> list[Param]:
    """Each on a device that is said: else it is that of the first which is there, of all."""
    return [
        Optional(
            Tensor(f"x{i}", [Var(f"n{i}", "int64")], "float32", device_type="cpu", device_id=0)
        )
        for i in range(count)
    ]


SIGNATURES: dict[str, Callable[[int], list[Param]]] = {
    "sharing": sharing,
    "optionals": optionals,
    "scalars": lambda count: [Var(f"x{i}", "int64") for i in range(count)],
    "tuple": lambda count: [TupleParam("t", tensors(count))],
    "struct": lambda count: [Struct("t", [String(f"x{i}") for i in range(count)])],
}


def calls(run: Callable[[], object]) -> int:
    """How many functions of Python and C are called."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


def takes_twice_the_calls(lower: Callable[[int], object]) -> bool:
    lower(80)  # what is made once
    return calls(lambda: lower(160)) < 2.1 * calls(lambda: lower(80))


@pytest.mark.slow
@pytest.mark.parametrize("name", SIGNATURES)
def test_twice_the_parameters_take_twice_the_calls(name: str) -> None:
    make = SIGNATURES[name]
    assert takes_twice_the_calls(lambda count: runtime.lower(attached(make(count))).mlir)


@pytest.mark.slow
@pytest.mark.parametrize("each", [None, "x{}", "x{}.data"])
def test_twice_the_arguments_take_twice_the_calls(each: str | None) -> None:
    def lower(count: int) -> object:
        args = None if each is None else [each.format(i) for i in range(count)]
        return runtime.lower(attached(tensors(count), DirectCallProvider("k", args=args))).mlir

    assert takes_twice_the_calls(lower)


def farthest_use(module: Any) -> int:
    """Over how many blocks the values of a wrapper are live, but for a few that all share.

    LLVM's register allocation takes time for each value in each of these blocks.
    """
    [function] = [
        op.operation for op in module.body.operations if str(op.sym_name) == '"__tvm_ffi_f"'
    ]
    blocks = list(function.regions[0].blocks)
    defined: dict[Any, int] = {}
    distances: dict[Any, int] = {}
    for number, block in enumerate(blocks):
        values = [*block.arguments, *(v for op in block.operations for v in op.operation.results)]
        defined.update((value, number) for value in values)
    for number, block in enumerate(blocks):
        for operation in block.operations:
            for value in operation.operation.operands:
                distance = abs(number - defined[value])
                distances[value] = max(distances.get(value, 0), distance)
    # The four arguments of the function, and the device of the first tensor.
    return sorted(distances.values())[-6]


def test_no_value_waits_for_the_end_of_a_long_signature() -> None:
    short, long = (farthest_use(attached(tensors(count))) for count in (64, 256))
    assert long < 1.1 * short  # groups differ by a few blocks


COUNT = 40


@pytest.fixture(scope="module")
def forty() -> RawWrapper:
    shapes = [[Var(f"n{i}", "int64"), Var(f"m{i}", "int64")] for i in range(COUNT)]
    params = [
        Tensor(f"x{i}", shape, "float32", device_type="cpu", strides=[None, None])
        for i, shape in enumerate(shapes)
    ]
    return RawWrapper(runtime.compile(attached(params)), "f", slots=4 * COUNT)


@pytest.mark.parametrize("wrong", [0, 14, 15, 16, 17, 31, 32, 39])
def test_the_sizes_of_each_are_checked(forty: RawWrapper, wrong: int) -> None:
    """They are checked in groups."""

    def call(shape: tuple[int, int]) -> tuple[str, str] | None:
        good = [Object(TypeIndex.TENSOR, DLTensor((3, 4), (4, 1))) for _ in range(COUNT)]
        good[wrong] = Object(TypeIndex.TENSOR, DLTensor(shape, (1, 1)))
        return forty(*good)

    assert call((2**31, 2**31)) is None
    for shape, place, words in (
        ((2**32, 2**31), "shape", "a product of dimensions that fits int64 but got [4294967296, "),
        ((3, -1), "shape[1]", "a non-negative value but got -1"),
    ):
        failed = call(shape)
        assert failed is not None
        assert failed[1].startswith(f"Mismatched x{wrong}.{place} on argument #{wrong} ")
        assert words in failed[1]


def test_names_far_behind_in_a_long_signature() -> None:
    """Messages take them out of the text of the signature."""
    names = [f"symbol_{i}_of_a_name_that_is_rather_long" for i in range(600)]
    params = [Var(name, "int64", min=1) for name in names]
    function = runtime.compile(attached([*params, Shape("s", [params[-2], params[3]])]))["f"]
    good = [1] * 600
    assert function(*good, [1, 1]) is None
    for wrong in (0, 299, 599):
        given = [*good[:wrong], 0, *good[wrong + 1 :]]
        with pytest.raises(ValueError, match=rf"at least 1 \(min of {names[wrong]}\) but got 0"):
            function(*given, [1, 1])
    for entries, name in (([2, 1], names[-2]), ([1, 2], names[3])):
        with pytest.raises(ValueError, match=rf"expected 1 \({name} = {name}\) but got 2"):
            function(*good, entries)
