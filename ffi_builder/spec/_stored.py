"""Fields that take more types than they keep, told to type checkers.

``Tensor("x", [n], np.float32).dtype`` is a str: ``__post_init__`` replaces what was given. A type
checker reads the annotation ``Stored[Given, Kept]`` as a descriptor, so it lets a caller pass
``Given`` and gives readers ``Kept``. At run time nothing of this is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

Given = TypeVar("Given", contravariant=True)
Kept = TypeVar("Kept", covariant=True)


class Stored(Generic[Given, Kept]):
    """The annotation of a field that is given as one type and kept as another."""

    if TYPE_CHECKING:

        def __get__(self, instance: object, owner: object = None) -> Kept: ...

        def __set__(self, instance: object, value: Given) -> None: ...


DocField: TypeAlias = Stored["str | None", str]
"""Documentation; None is none."""
NO_DOC: Final[Any] = ""
