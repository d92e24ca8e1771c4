"""Reads ``errors=``: the class and the words of the errors of statuses.

An error that lacks its class or its words has those of all other statuses, whose key is ``...``.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

from ffi_builder.extending import ERROR_KINDS, did_you_mean

Error: TypeAlias = "str | tuple[str, str] | None"
"""A class, or a function in C that says the text; both, as class and words; None: the kernel's."""
Errors: TypeAlias = "Mapping[Any, Error] | str | tuple[str, str]"
"""By the status, an int, by what the prototype calls it, or ``...``; or one error for all."""
_TEXT_OF: Final = r"(?<!\{)\{([A-Za-z_]\w*)\((status)?\)\}"
_FUNCTION: Final = r"([A-Za-z_]\w*)(?:\((status)?\))?"
_FAILED: Final = "{callee} failed with status {status}"
_CLASSES: Final = {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}


def by_status(errors: Errors | None) -> dict[Any, Error]:
    """Return errors by their statuses; one error is that of ``...``, all others."""
    if isinstance(errors, Mapping):
        return {**errors}
    return {} if errors is None else {...: errors}


def functions(errors: Errors | None) -> Iterator[tuple[str, str | None]]:
    """Yield the functions that say texts, and what each takes: a status, ``""``, or None: either.

    Examples:
        >>> from ffi_builder.wrapping.statuses import functions
        >>> [*functions({2: ("ValueError", "no {f(status)}"), ...: "g"})]
        [('f', 'status'), ('g', None)]
    """
    for error in by_status(errors).values():
        if isinstance(error, tuple):
            yield from re.findall(_TEXT_OF, error[1])
        elif error not in (None, *ERROR_KINDS) and (match := re.fullmatch(_FUNCTION, error)):
            yield match[1], match[2] if match[2] or "(" not in error else ""


def of_last_error(errors: Errors | None, last: Collection[str]) -> dict[Any, Error] | None:
    """Return errors in which those functions that take no status are called so."""
    called = {key: f"{e}()" if e in last else e for key, e in by_status(errors).items()}
    return None if errors is None else called


def of_provider(errors: Errors | None) -> dict[str, Any]:
    """Return the options of a CheckStatus that raises these errors.

    Examples:
        >>> from ffi_builder.wrapping.statuses import of_provider
        >>> of_provider({2: "KeyError", ...: ("ValueError", "no")})
        {'errors': {2: ('KeyError', 'no')}, 'error': 'ValueError', 'message': 'no'}
    """
    if errors is None:
        return {}
    given = by_status(errors)
    usual = "RuntimeError", _FAILED
    rest = _filled(given[...], *usual) if ... in given else usual
    own = {key: _filled(e, *(rest or usual)) for key, e in given.items() if key is not ...}
    if ... not in given:
        return {"errors": own}
    return {"errors": own} | ({"error": rest[0], "message": rest[1]} if rest else {"error": None})


def _filled(error: Error, kind: str, words: str) -> tuple[str, str] | None:
    """Return the class and the words of an error, of which it may leave out one."""
    if error is None or isinstance(error, tuple):
        return error
    if error in ERROR_KINDS:
        return error, words
    return kind, f"{_FAILED}: {{{error if error.endswith(')') else f'{error}(status)'}}}"


def check(errors: Errors | None, *, errno: bool) -> None:
    """Raise TypeError for what is no error, with what to write."""
    error: object
    kind: Any
    for status, error in by_status(errors).items():
        where = "errors=" if status is ... else f"errors= for {status!r}"
        pair = [*cast("tuple[object, ...]", error)] if isinstance(error, tuple) else []
        is_pair = len(pair) == 2 and isinstance(pair[1], str)
        kind = pair[0] if is_pair else error
        is_class = is_pair or isinstance(kind, type) or (isinstance(kind, str) and kind in _CLASSES)
        if status == "...":
            raise TypeError("wrap: errors= has '...': write ..., without quotes, for all others")
        if is_class and kind not in ERROR_KINDS:
            meant = "; errno=True makes it of errno" if kind == "OSError" else ""
            raise TypeError(
                f"wrap: {where} has the class {kind!r}: expected the name of one, "
                f"{', '.join(ERROR_KINDS)}{meant or did_you_mean(kind, ERROR_KINDS)}"
            )
        if status is ... and errno and (is_class or error is None):
            raise TypeError(
                f"wrap: errno=True makes an OSError of each status that errors= does not name, but "
                f"errors= has {error!r} for these: leave one of the two out"
            )
        if not (is_class or error is None or re.fullmatch(_FUNCTION, f"{error}")):
            raise TypeError(
                f"wrap: {where}: expected a class, as 'ValueError', the name of a function that "
                f"says the text of a status, as 'zError', both, as in ('ValueError', "
                f"'{{zError(status)}}'), or None if the kernel sets the error, but got {error!r}"
            )
