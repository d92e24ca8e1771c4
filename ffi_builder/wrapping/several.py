"""What the options for a list of signatures say of each of its functions: what fits it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, cast

from ffi_builder import BuildError, spec
from ffi_builder.extending import did_you_mean
from ffi_builder.providers import CallProvider, CheckStatus
from ffi_builder.wrapping.c_types import Prototype
from ffi_builder.wrapping.calls import returned, symbols

OF_RESULTS: Final = ("errors", "success", "errno", "free")
"""The options that say something of what a function returns."""
STATUSES: Final = ("int32", "uint32", "int64", "uint64")


def args_of(args: Any, declared: Prototype, signature: spec.Signature) -> Any:
    """Return what of ``args=`` as a dict goes with a function.

    Where its signature has the name of a parameter, too, that is what the parameter gets, unless
    the entry uses names of this signature, and no results that it lacks.
    """
    known = {path for path, _ in spec.with_paths(signature.params)} | {*symbols(signature)}
    known |= {name for each in signature.results for name in (each.name, f"-> {each.name}")}
    names = {name for name, _ in declared.params}

    def goes(name: str, entry: object) -> bool:
        words = {*_words(entry)}
        lacks = any(each.startswith("->") for each in words - known)
        return name in names and (name not in known or (not lacks and bool(words & known)))

    entries: Mapping[str, Any] = args or {}
    return {name: entry for name, entry in entries.items() if goes(name, entry)} or None


def _words(entry: object) -> list[str]:
    """Return the names in an entry of ``args=``, or in those of the fields of a struct.

    Those that the kernel overwrites with results begin with ``->``.
    """
    if isinstance(entry, Mapping):
        fields = cast("Mapping[str, object]", entry)
        return [word for field in fields.values() for word in _words(field)]
    found = re.findall(r"(->)?\s*([A-Za-z_]\w*)", entry) if isinstance(entry, str) else []
    return [f"{arrow} {name}".strip() for arrow, name in found]


def returns_text(signature: spec.Signature) -> bool:
    """Return whether a result is a text, which ``free=`` may free."""
    return any(isinstance(each, (spec.String, spec.Bytes)) for each in signature.results)


def taken(
    signature: spec.Signature, declared: Prototype, provider: CallProvider, is_own: bool
) -> list[str]:
    """Return the options of results that go with a function; errors= is not of a destroyer."""
    if isinstance(provider, CheckStatus):
        return ["success", "errno", *["errors"] * is_own]
    result = declared.result
    has_errno = result is not None and (result.is_pointer or result.dtype in STATUSES)
    return [
        *["errno"] * (has_errno and bool(signature.results)),
        *["free"] * returns_text(signature),
    ]


def without_status(name: str, signature: spec.Signature, args: Any) -> str:
    """Return why a function that gets ``args`` has no status: what it returns is a result."""
    own = returned(signature, args)
    numbers = [each for each in signature.results if getattr(each, "dtype", "") in STATUSES]
    if not numbers or len(own) > 1:
        return f"`{name}` returns none"
    if own == numbers[:1]:
        return f"the signature has it as the result {own[0].name!r} of `{name}`: leave that out"
    return (
        f"`{name}` returns none: {numbers[0].name!r} is a result that it writes by a pointer; "
        f"check it in Python, or in a function in C around `{name}` that returns it"
    )


def _by_pointer(functions: Iterable[Prototype]) -> str:
    """Return what to do if a function writes its status by a pointer; nothing if none can."""
    for each in functions:
        for name, type_ in each.params:
            if type_.is_out and type_.dtype in STATUSES:
                result = ", T **made" if each.result and each.result.is_pointer else ""
                return (
                    f"; if `{each.name}` writes its status to `{name}`, let a function in C around "
                    f"it return that, as `int call(…{result})`"
                )
    return ""


def check_taken(options: Collection[str], args: object, functions: Collection[Prototype]) -> None:
    """Raise BuildError for options and entries of ``args=`` that go with no function."""
    listed = ", ".join(f"`{each.name}`" for each in functions)
    for option in options:
        what = "a text as result" if option == "free" else "a status"
        raise BuildError(
            f"wrap: {option}= needs {what}, but none of {listed} returns one"
            f"{_by_pointer(functions) if option in ('errors', 'success') else ''}"
        )
    names = [name for each in functions for name, _ in each.params]
    for name in cast("Mapping[str, object]", args) if isinstance(args, Mapping) else ():
        if name not in names:
            raise BuildError(
                f"args= has {name!r}, but none of {listed} has such a parameter"
                f"{did_you_mean(name, names)}"
            )
