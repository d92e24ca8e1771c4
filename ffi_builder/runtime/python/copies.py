"""Copies of what has its code in this process, which are that itself, and no pickles."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from typing_extensions import Self


class OfThisProcess:
    """A function, or a module of functions. Copies are the object itself, as of Python's."""

    __slots__ = ()
    _instead = (
        "its code is in this process; compile the module again, or export it, where it is needed"
    )
    """Why it is not pickled, and what to do where it is needed."""

    def __copy__(self) -> Self:
        """Return itself, as Python's functions do."""
        return self

    def __deepcopy__(self, memo: object) -> Self:
        """Return itself, as Python's functions do."""
        return self

    def __reduce__(self) -> NoReturn:
        """Raise TypeError: the code is in this process."""
        raise TypeError(f"cannot pickle {self!r}: {self._instead}")
