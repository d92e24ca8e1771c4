"""Entries of shapes and strides, and lengths: checked when a spec is made, and shown in texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ffi_builder.errors import SpecError
from ffi_builder.spec._check import integer, listed
from ffi_builder.spec.expr import Dim, Expr, Var, check_dim

MOST_ELEMENTS: Final = 2**31 - 1
"""The most elements of a list. Kernels may count them with an int32.

Examples:
    >>> from ffi_builder import spec
    >>> from ffi_builder.spec.tensors.entries import MOST_ELEMENTS
    >>> spec.List("pages", "int64", MOST_ELEMENTS + 1)
    Traceback (most recent call last):
    ...
    ffi_builder.errors.SpecError: List 'pages': length: expected at most 2147483647 but got
        2147483648
"""


def check_entries(
    what: str, entries: object, *, at_least: int | None = 0, optional: bool = True
) -> tuple[Dim | None, ...]:
    """Return the entries of a shape, or of strides, as a tuple.

    Args:
        what: where the entries were given; error messages begin with it.
        entries: a list or tuple.
        at_least: the least int that is allowed; None for strides, which may be negative.
        optional: whether None is an entry.

    Raises:
        SpecError: ``entries`` is no list or tuple, or one of them cannot be a dimension.
    """
    meant = f", did you mean [{entries}]?" if isinstance(entries, (int, Var, Expr)) else ""
    expected = "a list or tuple with one entry a dimension"
    every = listed(what, entries, expected, (bytes,), meant)
    dims: list[Dim | None] = []
    for index, entry in enumerate(every):
        if entry is None and optional:
            dims.append(None)
            continue
        if entry is Ellipsis:
            raise SpecError(
                f"{what}[{index}]: ... is the whole shape of a Tensor and cannot be an entry"
            )
        value = check_dim(f"{what}[{index}]", entry)
        if isinstance(value, int):
            if value == -1 and at_least == 0:
                raise SpecError(
                    f"{what}[{index}]: expected a non-negative int but got -1; a dimension of any "
                    f"size is a Var{', or None' if optional else ''}"
                )
            integer(f"{what}[{index}]", value, at_least=at_least)
        dims.append(value)
    return tuple(dims)


def check_length(what: str, length: object) -> Dim:
    """Return ``length`` if it can be the number of elements of a list.

    Raises:
        SpecError: it is no dimension, negative, or more than an int32 can count.

    Examples:
        >>> from ffi_builder.spec.tensors.entries import check_length
        >>> check_length("pages: length", 4)
        4
    """
    dim = check_dim(what, length)
    if isinstance(dim, int):
        integer(what, dim, at_least=0)
        if dim > MOST_ELEMENTS:
            raise SpecError(f"{what}: expected at most {MOST_ELEMENTS} but got {dim}")
    return dim


def show_entries(entries: Sequence[Dim | None]) -> str:
    """Return ``[n, k * 2, 4]``, as error messages show shapes and strides."""
    return f"[{', '.join(map(str, entries))}]"


def entry_text(entry: Dim | None) -> str:
    """Return an entry as canonical texts show it; a symbol named None is quoted."""
    return "'None'" if isinstance(entry, Var) and entry.name == "None" else str(entry)


def entries_text(entries: Sequence[Dim | None]) -> str:
    """Return ``[n, k * 2, 4]``, as canonical texts show shapes and strides."""
    return f"[{', '.join(map(entry_text, entries))}]"
