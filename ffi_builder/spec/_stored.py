"""The types of fields that accept more types than they store, for type checkers.

``Tensor("x", [n], np.float32).dtype`` is a str: ``__post_init__`` replaces the given value. A type
checker treats the annotation ``Stored[Given, Kept]`` as a descriptor, so that callers may pass
``Given`` and readers get ``Kept``. It has no effect at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

Given = TypeVar("Given", contravariant=True)
Kept = TypeVar("Kept", covariant=True)


class Stored(Generic[Given, Kept]):
    """The annotation of a field that callers pass as one type and that is stored as another."""

    if TYPE_CHECKING:

        def __get__(self, instance: object, owner: object = None) -> Kept: ...

        def __set__(self, instance: object, value: Given) -> None: ...


DocField: TypeAlias = Stored["str | None", str]
"""Documentation; None is stored as the empty string."""
NO_DOC: Final[Any] = ""
