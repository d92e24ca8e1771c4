"""Checks that the specs share, and the types of fields that accept more types than they store.

Each check returns the value that it accepts, or raises SpecError.

``Tensor("x", [n], np.float32).dtype`` is a str: ``__post_init__`` replaces the given value. A type
checker treats the annotation ``Stored[Given, Kept]`` as a descriptor, so that callers may pass
``Given`` and readers get ``Kept``. It has no effect at run time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar, cast

from ffi_builder.errors import SpecError
from ffi_builder.suggest import did_you_mean

_Value = TypeVar("_Value")

_PLAIN: Final = (str, int, bool)


def make_plain(made: object) -> None:
    """Replace fields of a subclass of str or int, such as members of enums, by a plain str or int.

    Members of enums may print differently, and printed signatures must parse. A default stays as it
    is, since Python callers see it.
    """
    for name, value in vars(made).items():
        if isinstance(value, (str, int)) and type(value) not in _PLAIN and name != "default":
            object.__setattr__(made, name, plain(value))


def plain(value: _Value) -> _Value:
    """Return a plain str or int where ``value`` is of a subclass, else ``value``."""
    if isinstance(value, str):
        return str.__str__(value)  # pyright: ignore[reportReturnType] # a str is one
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__int__(value)  # pyright: ignore[reportReturnType]
    return value


def one_of(what: str, given: object, allowed: Mapping[str, object] | Iterable[str]) -> str:
    """Return ``given`` if it is one of the allowed strings."""
    names = list(allowed)
    if isinstance(given, str) and given in names:
        return given
    raise SpecError(
        f"{what}: expected one of {', '.join(names)} but got {given!r}{did_you_mean(given, names)}"
    )


def identifier(what: str, name: object) -> str:
    """Return ``name`` if it is an ASCII identifier, as error messages and C symbols need."""
    if isinstance(name, str) and name.isidentifier() and name.isascii():
        return name
    raise SpecError(
        f"{what}: expected a name of ASCII letters, digits and underscores that does not start "
        f"with a digit but got {name!r}"
    )


def integer(what: str, value: object, *, at_least: int | None = None) -> int:
    """Return ``value`` as a plain int, if it fits int64 and is not below ``at_least``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise SpecError(f"{what}: expected an int but got {value!r} ({type(value).__name__})")
    if at_least is not None and value < at_least:
        words = {0: "a non-negative int", 1: "a positive int"}.get(
            at_least, f"an int >= {at_least}"
        )
        raise SpecError(f"{what}: expected {words} but got {value}")
    if not -(2**63) <= value < 2**63:
        raise SpecError(f"{what}: expected an int that fits int64 but got {value}")
    return plain(value)


def listed(
    what: str, value: object, expected: str, but: tuple[type, ...] = (), hint: str = ""
) -> Sequence[object]:
    """Return ``value`` if it is a list, a tuple or the like: no str, and none of ``but``."""
    if isinstance(value, (str, *but)) or not isinstance(value, Sequence):
        raise SpecError(f"{what}: expected {expected} but got {value!r}{hint}")
    return cast("Sequence[object]", value)


def boolean(what: str, value: object) -> None:
    """Raise a SpecError unless ``value`` is a bool."""
    if not isinstance(value, bool):
        raise SpecError(f"{what}: expected True or False but got {value!r}")


def power_of_two(what: str, value: object) -> int:
    """Return ``value`` if it is a positive power of two, as alignments are."""
    number = integer(what, value, at_least=1)
    if number & (number - 1):
        raise SpecError(f"{what}: expected a power of two but got {number}")
    return number


def documentation(what: str, value: object) -> str:
    """Return ``value`` if it is a string; None becomes the empty one."""
    return "" if value is None else text(what, value)


def text(what: str, value: object) -> str:
    """Return ``value`` if it is a string that UTF-8 can encode."""
    if not isinstance(value, str):
        raise SpecError(f"{what}: expected a str but got {value!r} ({type(value).__name__})")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise SpecError(
            f"{what}: expected a str that UTF-8 can encode but got {value!r}, which has a lone "
            f"surrogate at index {error.start}"
        ) from None
    return value


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
