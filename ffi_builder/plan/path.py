"""Places: the position of a value in the arguments, and its name in error messages."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from ffi_builder.records import dataclass


class Part(IntEnum):
    """A part of an argument. The encoded table uses these numbers."""

    VALUE = 0
    NDIM = 1
    DTYPE = 2
    DEVICE_TYPE = 3
    DEVICE_ID = 4
    SHAPE = 5
    STRIDES = 6
    BYTE_OFFSET = 7
    DATA = 8
    ENTRY = 9
    COUNT = 10
    ARGUMENTS = 11

    # Enum's own __hash__ is Python code, and places are keys of dicts that are read often.
    __hash__ = int.__hash__


SUFFIXES: Final[dict[Part, str]] = {
    Part.NDIM: ".ndim",
    Part.DTYPE: ".dtype",
    Part.DEVICE_TYPE: ".device_type",
    Part.DEVICE_ID: ".device_id",
    Part.SHAPE: ".shape",
    Part.STRIDES: ".strides",
    Part.BYTE_OFFSET: ".byte_offset",
    Part.DATA: ".data",
    Part.COUNT: "number of arguments",
    Part.ARGUMENTS: "argument array",
}
"""Text that a part adds to the path. COUNT and ARGUMENTS belong to no argument."""


@dataclass(frozen=True)
class Place:
    """A value that can be read from the arguments.

    ``position`` leads to the ``TVMFFIAny``: ``(1,)`` is argument 1, ``(2, 0)`` the first element
    of the tuple that is argument 2. ``path`` is how that is written: ``B``, ``cfg[0]``. ``index``
    is the axis of a shape or strides, or the entry of a Shape. ``solved`` names the symbol whose
    value, found by solving the expression at this place, is meant in place of the value there.
    ``packing`` is what a stored dimension or stride is multiplied with (see ``storage_dtype``).
    """

    position: tuple[int, ...]
    path: str
    part: Part = Part.VALUE
    index: int | None = None
    solved: str | None = None
    packing: int = 1

    @property
    def argument(self) -> int:
        """The index of the argument."""
        return self.position[0]

    def at(self, part: Part, index: int | None = None) -> Place:
        """Another part of the same argument."""
        return Place(self.position, self.path, part, index)

    def __str__(self) -> str:
        index = "" if self.index is None else f"[{self.index}]"
        solved = "" if self.solved is None else f"{self.solved} in "
        return f"{solved}{self.path}{SUFFIXES.get(self.part, '')}{index}"
