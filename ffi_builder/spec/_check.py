"""Small guards that the specs share: each returns the value it accepts or raises SpecError."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar

from ffi_builder.errors import SpecError
from ffi_builder.suggest import did_you_mean

Given = TypeVar("Given")
Parsed = TypeVar("Parsed")

_PLAIN: Final = (str, int, bool)


def make_plain(made: object) -> None:
    """Turn members of enums, and others of a subclass of str or int, into a plain str or int.

    They may print otherwise, and texts have to be read back. A default stays what callers see.
    """
    for name, value in vars(made).items():
        if isinstance(value, (str, int)) and type(value) not in _PLAIN and name != "default":
            object.__setattr__(made, name, plain(value))


def plain(value: Parsed) -> Parsed:
    """The str or int itself where ``value`` is of a subclass; all else as it is."""
    if isinstance(value, str):
        return str.__str__(value)  # pyright: ignore[reportReturnType] # a str is one
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__int__(value)  # pyright: ignore[reportReturnType]
    return value


def one_of(what: str, given: object, allowed: Mapping[str, object] | Iterable[str]) -> str:
    """``given`` if it is one of the allowed strings."""
    names = list(allowed)
    if isinstance(given, str) and given in names:
        return given
    raise SpecError(
        f"{what}: expected one of {', '.join(names)} but got {given!r}{did_you_mean(given, names)}"
    )


def identifier(what: str, name: object) -> str:
    """``name`` if it is a non-empty identifier, as error messages and C symbols need."""
    if isinstance(name, str) and name.isidentifier() and name.isascii():
        return name
    raise SpecError(
        f"{what}: expected a name of ASCII letters, digits and underscores that does not start "
        f"with a digit but got {name!r}"
    )


def integer(what: str, value: object, *, at_least: int | None = None) -> int:
    """``value`` as a plain int, if it is one that fits int64 and is not below ``at_least``."""
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


def with_context(prefix: str, parse: Callable[[Given], Parsed], given: Given) -> Parsed:
    """``parse(given)``, with a prefix before the words of its SpecError."""
    try:
        return parse(given)
    except SpecError as error:
        raise SpecError(f"{prefix}{error}") from None


def power_of_two(what: str, value: object) -> int:
    """``value`` if it is a positive power of two, as alignments are."""
    number = integer(what, value, at_least=1)
    if number & (number - 1):
        raise SpecError(f"{what}: expected a power of two but got {number}")
    return number


def documentation(what: str, value: object) -> str:
    """``value`` if it is a string; None is none."""
    return "" if value is None else text(what, value)


def text(what: str, value: object) -> str:
    """``value`` if it is a string that files can hold: one of whole letters."""
    if not isinstance(value, str):
        raise SpecError(f"{what}: expected a str but got {value!r} ({type(value).__name__})")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise SpecError(
            f"{what}: expected a str that UTF-8 can encode but got {value!r}, which has half of a "
            f"letter (a surrogate) at {error.start}"
        ) from None
    return value
