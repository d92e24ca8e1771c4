"""Checks of results, after all arguments: sizes and devices of the tensors to allocate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ffi_builder import spec
from ffi_builder.plan import steps as s
from ffi_builder.plan.path import SIZES, Part, Place
from ffi_builder.spec.expr import Expr
from ffi_builder.spec.numbers import INT_RANGES
from ffi_builder.spec.results import Result, sizes

OVERFLOW: Final = "The value of {dim} does not fit int64"
SIZE: Final = "The size {path} = {dim} of the {noun} would be {{}}"
DEVICE_ID: Final = "The device id {given} of the {noun} {name} is out of range: {{}}"
"""Messages of these checks; the remaining braces stand for the value."""
MOST_DEVICES: Final = 1 << 31


def checked_range(place: Place, symbol: spec.Var) -> tuple[int, int]:
    """Return the checked range of a symbol that this place binds. A free stride has no limits."""
    low, high = INT_RANGES.get(symbol.dtype, (0, 0))
    if place.part is Part.STRIDES:
        return low, high
    low = low if symbol.min is None else symbol.min
    if place.part in SIZES and place.solved is None:
        low = max(low, 0)
    return low, high if symbol.max is None else symbol.max


def is_size(low: int, high: int) -> bool:
    """Return whether every value of this range is a valid dimension."""
    return low >= 0 and high < 2**63


def noun_of(result: Result) -> str:
    """Return the word for a tensor that the wrapper makes."""
    return "workspace" if isinstance(result, spec.Workspace) else "result"


def result_rows(
    results: Sequence[Result], checks: Sequence[s.AnyCheck]
) -> Iterator[tuple[str, str, str]]:
    """Yield a row for each check of results or Workspaces: subject, expected value, error.

    Results that the provider hands over are not checked here.
    """
    for result in results:
        for path, dim in sizes(result):
            if isinstance(dim, Expr) or (
                isinstance(dim, spec.Var) and not is_size(*_range_of(checks, dim))
            ):
                yield path, f"{dim}, at least 0", "ValueError"
        if isinstance(result, spec.Tensor):
            yield from _allocation_rows(result)


def _allocation_rows(tensor: spec.Tensor) -> Iterator[tuple[str, str, str]]:
    if isinstance(tensor.device_id, spec.Var):
        expected = f"{tensor.device_id}, 0 to {MOST_DEVICES - 1}"
        yield f"{tensor.name}.device_id", expected, "ValueError"
    yield tensor.name, _allocated(tensor), "RuntimeError, or the allocator's"
    if (tensor.data_alignment or 1) > 1:
        expected = f"aligned to {tensor.data_alignment} bytes by the allocator"
        yield f"{tensor.name}.data", expected, "RuntimeError"
    if isinstance(tensor, spec.Workspace) and tensor.zero:
        error = "" if tensor.device == "cpu" else "RuntimeError"
        yield f"{tensor.name}.data", "filled with zeros", error


def _allocated(tensor: spec.Tensor) -> str:
    taken = ", ".join(str(getattr(tensor, name)) for name in tensor.references)
    return f"allocated with {taken}" if taken else "allocated"


def _range_of(checks: Sequence[s.AnyCheck], var: spec.Var) -> tuple[int, int]:
    """Return the range of a symbol over all places that bind it, also provisionally."""
    ranges = [
        checked_range(step.place, var)
        if isinstance(step, s.Bind)
        else INT_RANGES.get(var.dtype, (0, 0))
        for step in checks
        if isinstance(step, (s.Bind, s.BindOrEqual)) and step.symbol == var
    ]
    return min(low for low, _ in ranges), max(high for _, high in ranges)
