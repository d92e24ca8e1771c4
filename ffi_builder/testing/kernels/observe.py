"""Calls a function twice, and finds out what it reads and writes.

All memory that a kernel must not read holds garbage: the elements of ``intent="out"``, and the
bytes around the elements of any tensor. The kernel is called with two kinds of garbage:

- An output element that holds the garbage after both calls was not written.
- Any other output that differs between the calls depends on memory that the kernel must not read.
  Further calls, which change the garbage in one place at a time, find the place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ffi_builder import spec
from ffi_builder.extending import DataType, Result, dataclass, parse_dtype
from ffi_builder.testing.kernels.elements import encode, values
from ffi_builder.testing.kernels.finding import Finding, of_all, place
from ffi_builder.testing.kernels.frame import Frame, call
from ffi_builder.testing.kernels.guarded import Guarded, read
from ffi_builder.testing.make.arrays import numpy

np: Final = numpy()

Place: TypeAlias = tuple[int, str]
"""A place with garbage: the number of a tensor, and ``"elements"`` or ``"outside"``."""

_READS: Final = {
    "elements": (
        "what {name} held before the call, but {name} is declared intent='out': the kernel reads "
        "it, or writes a part of an element; declare intent='inout' if that is meant"
    ),
    "outside": "bytes outside of the elements of {name}: the kernel reads beyond them",
}


@dataclass(frozen=True)
class Output:
    """A tensor that a call may write, or a result, with its ``contents`` after the call."""

    dtype: DataType
    contents: Any
    packed_axis: int | None = None

    def values(self) -> Any:
        """Return the values, as a NumPy array in the kernel's shape."""
        return values(self.dtype, self.contents, self.packed_axis)

    def shown(self, index: tuple[int, ...]) -> str:
        """Return the value of one stored element, as text."""
        return str(values(self.dtype, self.contents[index][None])[0])


Outputs: TypeAlias = Mapping[str, Output]
"""Outputs by name. The name of a tensor is its path."""
Kept: TypeAlias = Mapping[str, Any]
"""Which elements of an output held the garbage after each of two calls, by its path."""


def observe(function: Callable[..., Any], frame: Frame) -> Outputs:
    """Call the function twice, and return the outputs of the first call.

    Raises:
        Finding: the function does not read and write as declared.
    """
    first = _called(function, frame, set())
    second = _called(function, frame, {*_places(frame)})
    kept = {
        tensor.path: (
            (first[tensor.path].contents == tensor.garbage(0))
            & (second[tensor.path].contents == tensor.garbage(1))
        ).all(axis=-1)
        for tensor in frame.outputs
        if tensor.intent == "out"
    }
    # A kernel that adds 0 to unwritten elements seems not to write them. Its other elements show
    # that it reads them, so look for that first.
    if _difference(kept, first, second) and _repeats(function, frame, kept, first, set()):
        _check_influence(function, frame, kept, first)
    for path, which in kept.items():
        if which.any():
            index = first_index(which)
            words = (
                f"{path} is declared intent='out', but the call does not write "
                f"{place(path, index)}, which holds {first[path].shown(index)} as before"
                f"{of_all(int(which.sum()), which.size)}; declare intent='inout' if it may keep a "
                f"part"
            )
            raise Finding("unwritten", path, words, index)
    return first


def _places(frame: Frame) -> Iterator[Place]:
    for number, tensor in enumerate(frame.tensors):
        yield number, "outside"
        if tensor.intent == "out":
            yield number, "elements"


# ---- one call


def _called(function: Callable[..., Any], frame: Frame, changed: set[Place]) -> Outputs:
    """Call the function with the second kind of garbage in these places, the first elsewhere."""
    for number, tensor in enumerate(frame.tensors):
        elements = (number, "elements") in changed
        contents = tensor.garbage(elements) if tensor.intent == "out" else tensor.given
        tensor.prepare(contents, (number, "outside") in changed)
    returned = call(function, frame.signature, frame.arguments)
    several = isinstance(frame.signature.returns, Sequence)
    results = zip(frame.signature.results, returned if several else [returned], strict=False)
    made = {result.name: _result(result, value) for result, value in results}
    for number, tensor in enumerate(frame.tensors):
        tensor.check_outside((number, "outside") in changed)
        if tensor.intent == "in":
            _check_unchanged(tensor)
    written = {
        tensor.path: Output(tensor.dtype, tensor.read(), tensor.spec.packed_axis)
        for tensor in frame.outputs
    }
    return {**written, **{name: output for name, output in made.items() if output}}


def _result(result: Result, value: Any) -> Output | None:
    """Copy a result; None for pointers and objects, which are not compared."""
    match result:
        case spec.Tensor():
            array, contents = read(result.name, value)
            return Output(array.dtype, contents)
        case spec.Shape():
            dtype, value = parse_dtype("int64"), list(value)
        case spec.Var(dtype=name) if name != "handle":
            dtype = parse_dtype(name)
        case spec.String() | spec.Bytes():
            given = value.encode() if isinstance(value, str) else value
            dtype, value = parse_dtype("uint8"), list(given)
        case _:
            return None
    return Output(dtype, encode(dtype, value))


def _check_unchanged(tensor: Guarded) -> None:
    after = tensor.read()
    different = (tensor.given != after).any(axis=-1)
    if different.any():
        index = first_index(different)
        was, now = (Output(tensor.dtype, each).shown(index) for each in (tensor.given, after))
        words = (
            f"{tensor.path} is declared intent='in', but the call changes "
            f"{place(tensor.path, index)} from {was} to {now}"
            f"{of_all(int(different.sum()), different.size)}"
        )
        raise Finding("changed", tensor.path, words, index)


# ---- several calls


def _check_influence(
    function: Callable[..., Any], frame: Frame, kept: Kept, first: Outputs
) -> None:
    """Find the memory that makes outputs differ between two calls."""
    # Kernels read elements by mistake more often than the bytes around them.
    for changed in sorted(_places(frame), key=lambda at: at[1]):
        other = _called(function, frame, {changed})
        difference = _difference(kept, first, other)
        if difference and _repeats(function, frame, kept, other, {changed}):
            number, kind = changed
            name, index, one, two = difference
            words = (
                f"{place(name, index)} depends on "
                f"{_READS[kind].format(name=frame.tensors[number].path)} (it is {one} in one call "
                f"and {two} in another)"
            )
            raise Finding(f"reads {kind}", name, words, index)


def _repeats(
    function: Callable[..., Any], frame: Frame, kept: Kept, outputs: Outputs, changed: set[Place]
) -> bool:
    """Call the function again, and return whether the outputs repeat.

    If they do not, a difference between calls means nothing.
    """
    return _difference(kept, outputs, _called(function, frame, changed)) is None


def _difference(
    kept: Kept, first: Outputs, second: Outputs
) -> tuple[str, tuple[int, ...], str, str] | None:
    """Return the first output that differs, the index, and both values as text.

    Elements that both calls left unwritten may differ.
    """
    for name, one in first.items():
        two = second[name]
        if one.contents.shape != two.contents.shape:
            shapes = [f"an array of shape {each.contents.shape[:-1]}" for each in (one, two)]
            return name, (), shapes[0], shapes[1]
        different = (one.contents != two.contents).any(axis=-1)
        different &= np.logical_not(kept.get(name, False))
        if different.any():
            index = first_index(different)
            return name, index, one.shown(index), two.shown(index)
    return None


def first_index(chosen: Any) -> tuple[int, ...]:
    """Return the index of the first element that is true."""
    flat = int(chosen.argmax())
    return tuple(int(at) for at in np.unravel_index(flat, chosen.shape))
