"""Places: the position of a value in the arguments, and its name in error messages."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from ffi_builder.records import dataclass


class Part(IntEnum):
    """A part of an argument. The encoded table uses these numbers.

    Examples:
        >>> from ffi_builder import plan, spec
        >>> from ffi_builder.plan import make_plan
        >>> x = spec.Tensor("x", [4], "float32", device_type="cpu")
        >>> steps = make_plan(spec.Signature("relu", [x]))
        >>> [step.place.part.name for step in steps if isinstance(step.place, plan.Place)][2:6]
        ['VALUE', 'VALUE', 'NDIM', 'DTYPE']
    """

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
    LENGTH = 15
    CONTIGUOUS = 16
    PRESENT = 17

    # Enum's own __hash__ is Python code, and places are keys of frequently read dicts.
    __hash__ = int.__hash__


SUFFIXES: Final[dict[Part, str]] = {
    **{part: f".{part.name.lower()}" for part in Part if Part.NDIM <= part <= Part.DATA},
    Part.CONTIGUOUS: ".contiguous",
    Part.PRESENT: ".present",
    Part.COUNT: "number of arguments",
    Part.ARGUMENTS: "argument array",
}
"""Text that a part adds to the path. COUNT and ARGUMENTS belong to no argument."""
LENGTH_OF: Final = "length of "
"""Text before the path of LENGTH, the number of elements of a list."""
SIZES: Final = (Part.SHAPE, Part.ENTRY, Part.LENGTH)
"""Parts whose values are checked not to be negative."""
EACH: Final = -2
"""The last number of a position that stands for each element of a list."""
_EACH: Final = ("[i]", "[j]")
"""What stands for an element of a list, and for one of an element that is a list itself."""


@dataclass(frozen=True)
class Place:
    """A value that can be read from the arguments.

    ``position`` leads to the ``TVMFFIAny``: ``(1,)`` is argument 1, ``(2, 0)`` the first element
    of the tuple that is argument 2, and ``(3, EACH)`` each element of the list that is argument 3.
    ``path`` is the text of the position: ``B``, ``cfg[0]``, ``xs[i]``. ``index`` is the axis of a
    shape or strides, or the index of an entry of a Shape. If ``solved`` names a symbol, the value
    is that of the symbol, found by solving the expression at this place. ``packing`` is the factor
    of a stored dimension or stride (see ``storage_dtype``).

    Examples:
        >>> from ffi_builder import plan
        >>> B = plan.Place((1,), "B")
        >>> print(B.at(plan.Part.SHAPE, 0), B.argument)
        B.shape[0] 1
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

    @property
    def each(self) -> Place:
        """Each element of the list at this place."""
        return Place((*self.position, EACH), self.path + _EACH[self.is_each])

    def within(self, index: int, name: str) -> Place:
        """The field ``name`` of a struct at this place, or the same value as one of a Variant."""
        return Place((*self.position, index), f"{self.path}.{name}")

    @property
    def first(self) -> Place:
        """The first element of the list at this place."""
        return Place((*self.position, 0), f"{self.path}[0]")

    @property
    def is_each(self) -> bool:
        """Whether the place is in each element of a list."""
        return self.position[-1] == EACH

    @property
    def fixed_path(self) -> str:
        """The part of the path that is known before a call: ``xs`` for ``xs[i]``."""
        return self.path.removesuffix("".join(_EACH[: self.position.count(EACH)]))

    def __str__(self) -> str:
        before = LENGTH_OF if self.part is Part.LENGTH else ""
        index = "" if self.index is None else f"[{self.index}]"
        solved = "" if self.solved is None else f"{self.solved} in "
        return f"{solved}{before}{self.path}{SUFFIXES.get(self.part, '')}{index}"
