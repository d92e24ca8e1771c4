"""Calls a function twice, and finds out what it reads and writes.

All memory that a kernel has no business to read is garbage: the elements of ``intent="out"``, and
whatever lies around the elements of any tensor. A kernel is called with two kinds of garbage:

- An output element that still has both was not written.
- An output that differs otherwise depends on memory that should not be read. Further calls, with
  the garbage of one place changed at a time, find which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from ffi_builder import spec
from ffi_builder.records import dataclass
from ffi_builder.testing.kernels.elements import values
from ffi_builder.testing.kernels.finding import Finding, of_all, place
from ffi_builder.testing.kernels.frame import Frame, call
from ffi_builder.testing.kernels.guarded import Guarded, contents_at, describe
from ffi_builder.testing.make.arrays import numpy

Place: TypeAlias = tuple[int, str]
"""The number of a tensor, and ``"elements"`` or ``"outside"``: memory that holds garbage."""

_READS: Final = {
    "elements": (
        "what {name} held before the call, but {name} is declared intent='out': the kernel reads "
        "it, or writes a part of an element; declare intent='inout' if that is meant"
    ),
    "outside": "bytes outside of the elements of {name}: the kernel reads beyond them",
}


@dataclass(frozen=True)
class Outcome:
    """The contents of all tensors after one call, and the values of the results."""

    tensors: list[Any]
    results: list[Any]


def observe(function: Callable[..., Any], frame: Frame) -> Outcome | Finding:
    """Call the function twice, and return what it does, or what is wrong with it."""
    everywhere = set(_places(frame))
    first = _called(function, frame, set())
    if isinstance(first, Finding):
        return first
    second = _called(function, frame, everywhere)
    if isinstance(second, Finding):
        return second
    pairs = zip(frame.tensors, first.tensors, second.tensors, strict=True)
    kept = [_kept(*each) for each in pairs]
    # Adding 0 to what was there looks like not writing, so that is said of other elements first.
    return (
        _influence(function, frame, kept, first, second) or _unwritten(frame, kept, first) or first
    )


def _places(frame: Frame) -> Iterator[Place]:
    for number, tensor in enumerate(frame.tensors):
        yield number, "outside"
        if tensor.intent == "out":
            yield number, "elements"


def _called(function: Callable[..., Any], frame: Frame, changed: set[Place]) -> Outcome | Finding:
    """Call the function with the second kind of garbage at these places, the first elsewhere."""
    for number, tensor in enumerate(frame.tensors):
        elements = (number, "elements") in changed
        contents = tensor.garbage(elements) if tensor.intent == "out" else tensor.given
        tensor.prepare(contents, (number, "outside") in changed)
    returned = call(function, frame.signature, frame.arguments)
    results = _results(frame.signature, returned)
    after = [tensor.read() for tensor in frame.tensors]
    for number, tensor in enumerate(frame.tensors):
        found = _misplaced(tensor, (number, "outside") in changed)
        if found is None and tensor.intent == "in":
            found = _changed(tensor, after[number])
        if found is not None:
            return found
    return Outcome(after, results)


def _results(signature: spec.Signature, returned: Any) -> list[Any]:
    """Copy the results as NumPy arrays; pointers and objects, which are not compared, become 0."""
    np = numpy()
    returns = signature.results
    several = isinstance(signature.returns, Sequence)
    found: list[Any] = []
    for result, value in zip(returns, returned if several else [returned], strict=False):
        match result:
            case spec.Tensor():
                array, address = describe(result.name, value)
                found.append(values(array.dtype, contents_at(array, address)))
            case spec.Shape():
                found.append(np.asarray(list(value), "int64"))
            case spec.Var(dtype=dtype) if dtype != "handle":
                found.append(np.asarray(value))
            case spec.String() | spec.Bytes():
                found.append(np.asarray(value))
            case _:
                found.append(np.asarray(0))
    return found


# ---- one call


def _misplaced(tensor: Guarded, call: int) -> Finding | None:
    written = tensor.written_outside(call)
    if written is None:
        return None
    first, last = tensor.span()
    where = "no elements" if first > last else f"elements in bytes {first} to {last}"
    words = (
        f"the call writes outside of the elements of {tensor.path}: byte {written.at} from its "
        f"data was 0x{written.was:02x} and is 0x{written.byte:02x} now ({written.count} "
        f"bytes in all; {tensor.path} has {where})"
    )
    return Finding("outside", tensor.path, words)


def _changed(tensor: Guarded, after: Any) -> Finding | None:
    different = (tensor.given != after).any(axis=-1)
    if not different.any():
        return None
    index = first_index(different)
    was, now = (value_at(tensor, contents, index) for contents in (tensor.given, after))
    words = (
        f"{tensor.path} is declared intent='in', but the call changes {place(tensor.path, index)} "
        f"from {was} to {now}{of_all(int(different.sum()), different.size)}"
    )
    return Finding("changed", tensor.path, words, index)


# ---- two calls


def _kept(tensor: Guarded, first: Any, second: Any) -> Any:
    """Return which elements of an output hold the garbage of both calls still."""
    if tensor.intent != "out":
        return numpy().zeros(tensor.given.shape[:-1], "bool")
    return ((first == tensor.garbage(0)) & (second == tensor.garbage(1))).all(axis=-1)


def _unwritten(frame: Frame, kept: list[Any], first: Outcome) -> Finding | None:
    for tensor, which, contents in zip(frame.tensors, kept, first.tensors, strict=True):
        if which.any():
            index = first_index(which)
            words = (
                f"{tensor.path} is declared intent='out', but the call does not write "
                f"{place(tensor.path, index)}, which holds {value_at(tensor, contents, index)} as "
                f"before{of_all(int(which.sum()), which.size)}; declare "
                f"intent='inout' if it may keep a part"
            )
            return Finding("unwritten", tensor.path, words, index)
    return None


def _influence(
    function: Callable[..., Any], frame: Frame, kept: list[Any], first: Outcome, second: Outcome
) -> Finding | None:
    """Find the memory that makes outputs differ between two calls."""
    if _difference(frame, kept, first, second) is None:
        return None
    if not _repeats(function, frame, kept, first, set()):
        return None
    # Elements are read by mistake more often than what lies around them.
    for changed in sorted(_places(frame), key=lambda at: at[1]):
        other = _called(function, frame, {changed})
        if isinstance(other, Finding):
            return other
        difference = _difference(frame, kept, first, other)
        if difference is not None and _repeats(function, frame, kept, other, {changed}):
            number, kind = changed
            read = _READS[kind].format(name=frame.tensors[number].path)
            at = place(difference.name, difference.index)
            words = (
                f"{at} depends on {read} (it is {difference.first} in one call and "
                f"{difference.second} in another)"
            )
            return Finding(f"reads {kind}", difference.name, words, difference.index)
    return None


def _repeats(
    function: Callable[..., Any],
    frame: Frame,
    kept: list[Any],
    outcome: Outcome,
    changed: set[Place],
) -> bool:
    """Call once more; if the outcome is another one, a difference between calls has no meaning."""
    again = _called(function, frame, changed)
    return isinstance(again, Outcome) and _difference(frame, kept, outcome, again) is None


@dataclass(frozen=True)
class _Difference:
    """An output or result that differs between two calls, and its values as text."""

    name: str
    index: tuple[int, ...]
    first: str
    second: str


def _difference(
    frame: Frame, kept: list[Any], first: Outcome, second: Outcome
) -> _Difference | None:
    """Return the first difference, if there is one in another element than those ``kept``."""
    for number, tensor in enumerate(frame.tensors):
        pair = first.tensors[number], second.tensors[number]
        different = (pair[0] != pair[1]).any(axis=-1) & ~kept[number]
        if tensor.intent in ("out", "inout") and different.any():
            index = first_index(different)
            return _Difference(
                tensor.path, index, *(value_at(tensor, contents, index) for contents in pair)
            )
    for result, *pair in zip(frame.signature.results, first.results, second.results, strict=False):
        if pair[0].shape != pair[1].shape:
            shapes = [f"an array of shape {array.shape}" for array in pair]
            return _Difference(result.name, (), *shapes)
        different = (pair[0] != pair[1]) & ((pair[0] == pair[0]) | (pair[1] == pair[1]))  # not NaN
        if different.any():
            index = first_index(different)
            return _Difference(result.name, index, *(str(array[index]) for array in pair))
    return None


def first_index(chosen: Any) -> tuple[int, ...]:
    """Return the index of the first element that is true."""
    flat = int(chosen.argmax())
    return tuple(int(at) for at in numpy().unravel_index(flat, chosen.shape))


def value_at(tensor: Guarded, contents: Any, index: tuple[int, ...]) -> str:
    """Return the value of one stored element, as text."""
    return str(values(tensor.dtype, contents[index][None])[0])
