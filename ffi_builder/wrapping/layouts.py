"""The fields of structs in C, as libclang lays them out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from ffi_builder.wrapping.c_types import CType, Layout, Member
from ffi_builder.wrapping.libclang import Unit, element

_COMPLEX, _RECORD, _ARRAY = 100, 105, 112
"""Kinds of types, as ``CXTypeKind`` of libclang numbers them."""
_UNION, _BASE = 3, 44
"""Kinds of cursors: ``CXCursorKind``."""
_MOST: Final = 16
"""The most elements of an array that are fields of their own."""


def layout_of(
    unit: Unit, type_: Any, words: str, read: Callable[[Any], CType | None]
) -> Layout | None:
    """Return the layout of a struct or complex number; None if its fields are not known.

    Args:
        unit: what was read.
        type_: a canonical type.
        words: what errors call it.
        read: returns the type of a field; None if no dtype or pointer is it.
    """
    size = type_.get_size()
    known = _is_plain(unit, type_) if type_._kind_id == _RECORD else read(element(type_))
    if size <= 0 or not known:
        return None
    members = tuple(_members(unit, type_, "", 0, read))
    return Layout(words, members, size, type_.get_align())


def _is_plain(unit: Unit, type_: Any) -> bool:
    """Return whether a struct was read without errors, and has no bases or constructors."""
    declared = type_.get_declaration()
    kinds = [each._kind_id for each in unit.parts(declared)]
    return _BASE not in kinds and type_.is_pod() and not unit.errors_at(declared)


def _members(
    unit: Unit, type_: Any, name: str, offset: int, read: Callable[[Any], CType | None]
) -> Iterator[Member]:
    """Yield the fields of a type that is at an offset: itself, or what it contains."""
    kind = type_._kind_id
    if kind == _COMPLEX and (part := read(element(type_))) is not None:
        half = type_.get_size() // 2
        before = f"{name}." if name else ""
        yield Member(f"{before}re", part, offset)
        yield Member(f"{before}im", part, offset + half)
    elif kind == _ARRAY and type_.element_count <= _MOST:
        one = element(type_)
        for at in range(type_.element_count):
            here = offset + at * one.get_size()
            yield from _members(unit, one, f"{name}[{at}]", here, read)
    elif kind == _RECORD and _is_plain(unit, type_):
        is_union = type_.get_declaration()._kind_id == _UNION
        for field in type_.get_fields():
            inner, bits = field.type.get_canonical(), field.get_field_offsetof()
            own = "" if "(" in field.spelling else field.spelling  # one without a name
            path = f"{name}{'.' if name and own else ''}{own}"
            here = offset + max(bits, 0) // 8
            inside = _members(unit, inner, path, here, read)
            if field.is_bitfield():
                inside = [Member(path, CType(None), here, "a bit field")]
            yield from (replace(each, is_shared=is_union or each.is_shared) for each in inside)
    else:
        c_type = read(type_)
        lacks = "an array" if kind == _ARRAY else f"a {type_.spelling}"
        if kind == _RECORD:
            lacks = "a struct of unknown fields"
        if c_type and offset % type_.get_size():
            c_type, lacks = None, "at an odd address"
        yield Member(name, c_type or CType(None), offset, "" if c_type else lacks)
