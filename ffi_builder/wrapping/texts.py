"""Strs and bytes for a kernel in C: a pointer and a length, or text that ends in a NUL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ffi_builder import BuildError, spec
from ffi_builder.extending import INT_RANGES
from ffi_builder.wrapping.c_types import CType, Prototype
from ffi_builder.wrapping.elements import BYTES

_TEXTS: Final = (spec.String, spec.Bytes)
Pairs: TypeAlias = "Sequence[tuple[object, object]]"
"""The names and the items that are passed for an entry of ``args=``."""
Groups: TypeAlias = "Sequence[tuple[Any, Pairs]]"
"""Entries of ``args=``, each with what is passed for it."""


def advice(params: Mapping[str, spec.Param]) -> str:
    """Return how errors say what a str or bytes is passed as; nothing if there is none."""
    texts = (path for path, each in params.items() if isinstance(spec.required(each), _TEXTS))
    path = next(texts, None)
    if path is None:
        return ""
    return (
        f"; of {path}, '{path}.c_str' is text that ends in a NUL, '{path}.data' and "
        f"'{path}.length' are its bytes and how many they are"
    )


def said(declared: Prototype, groups: Groups) -> list[Any]:
    """Return entries of ``args=`` that say which parts of a str or bytes are passed.

    With as many parameters as pointers and lengths, both are passed. With a parameter less for
    each, its bytes are passed alone: as text that ends in a NUL, unless ``args=`` has its length.
    With other numbers, which are an error, entries stay as they are.

    Args:
        declared: the kernel.
        groups: each entry, with the names and the items that are passed for it.

    Raises:
        BuildError: nothing says whether bytes that are passed alone end in a NUL.
    """
    passed = [pair for _, pairs in groups for pair in pairs]
    texts = [f"{name}" for name, item in passed if isinstance(item, _TEXTS)]
    spare = len(passed) - len(declared.params)
    if spare not in (0, len(texts)):
        return [entry for entry, _ in groups]
    types, names = iter(declared.params), [f"{name}" for name, _ in passed]
    entries = list[Any]()
    for entry, pairs in groups:
        parts = list(_parts(declared.name, pairs, types, names, is_whole=spare == 0))
        is_said = any(isinstance(item, _TEXTS) or _is_length(item) for _, item in pairs)
        entries += parts if is_said else [entry]
    return entries


def _parts(
    function: str,
    pairs: Pairs,
    types: Iterator[tuple[str, CType]],
    names: Sequence[str],
    *,
    is_whole: bool,
) -> Iterator[object]:
    """Yield an entry for each parameter that gets one of the pairs."""
    rest = iter(pairs)
    for name, item in rest:
        own, type_ = next(types)
        if isinstance(item, spec.Field) and _is_length(item):
            yield _length(item.param, type_)
        elif not isinstance(item, _TEXTS):
            is_named = isinstance(name, str) and not name.endswith("]")
            yield name if is_named and item is not None else item
        else:
            next(rest)  # its length
            is_alone = not is_whole and f"{name}.length" not in names
            if is_alone:
                _check_end(f"{function}: parameter {own or name} is {type_}", type_, f"{name}")
            yield f"{name}.{'c_str' if is_alone else 'data'}"
            if is_whole:
                yield _length(item, next(types)[1])


def _is_length(item: object) -> bool:
    return isinstance(item, spec.Field) and item.part == "length"


def check_returned(function: str, result: CType, text: spec.String | spec.Bytes) -> None:
    """Raise BuildError unless a function returns the address of bytes for a text."""
    if result.is_char or (result.is_pointer and result.to in BYTES and not result.row):
        return
    kind = type(text).__name__
    cure = f"declare `-> {text.name}: {'handle' if result.is_pointer else result.dtype}`"
    if result.is_pointer and result.to is None:
        cure = "say in prototype= that it returns `const char *`"
    raise BuildError(
        f"{function} returns {result}, but the result {text.name!r} is a {kind}, text that ends in "
        f"a NUL, which a `const char *` is: {cure}"
    )


def _length(param: spec.Param, type_: CType) -> spec.Field:
    """Return a length as the kernel takes it; what is no integer is refused later."""
    is_int = type_.dtype in INT_RANGES and not type_.is_pointer
    return spec.Field(param, "length", f"{type_.dtype}" if is_int else "int64")


def _check_end(what: str, type_: CType, path: str) -> None:
    if type_.is_pointer and not type_.is_char and type_.to in (None, *BYTES):
        raise BuildError(
            f"{what}, and nothing says where the bytes of {path!r} end: write args=[…], with "
            f"'{path}.c_str' if they end in a NUL, or '{path}.data' there and '{path}.length' for "
            f"the parameter that is their number"
        )
