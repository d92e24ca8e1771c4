"""A handle or DataPointer may be NULL, unless a condition says that it is present."""

from __future__ import annotations

import re
from typing import Final

import pytest

from ffi_builder.abi import TypeIndex
from ffi_builder.spec import Signature
from tests.differential.description import (
    NONE,
    Arguments,
    Elements,
    Object,
    Plain,
    Value,
    of_int,
    of_pointer,
)
from tests.oracle import Rejected
from tests.rules.calls import judge_call

POINTER: Final = of_pointer(0x40)
HIGH: Final = of_pointer(-8)


def cfg(*values: Value) -> Value:
    return Object(TypeIndex.ARRAY, Elements(values))


def wrong(text: str, *values: Value) -> str | None:
    """Return an error of ``f(text)`` as ``c on #0: c = None``; None for a call that is right."""
    found = judge_call(Signature.parse(f"f({text}"), Arguments(values))
    if not isinstance(found, Rejected):
        return None
    match = re.fullmatch(
        r"Mismatched (.*) on argument (#\d) when calling: .*, expected .* but got (.*)",
        found.message,
    )
    assert match is not None
    assert found.kind == "ValueError"
    return f"{match[1]} on {match[2]}: {match[3]}"


@pytest.mark.parametrize("kind", ["handle", "DataPointer"])
def test_alone(kind: str) -> None:
    for null, shown in (
        (NONE, "None"),
        (Plain(TypeIndex.NONE, 77), "None"),
        (of_pointer(0), "0x0"),
    ):
        assert wrong(f"c: {kind})", null) is None
        assert wrong(f"c: {kind}) where c.present", null) == f"c on #0: c = {shown}"
        assert wrong(f"c: {kind}) where not c.present", null) is None
    for pointer, shown in ((POINTER, "0x40"), (HIGH, "0xfffffffffffffff8")):
        assert wrong(f"c: {kind}) where c.present", pointer) is None
        assert wrong(f"c: {kind}) where not c.present", pointer) == f"c on #0: c = {shown}"


def test_an_int() -> None:
    text = "p: DataPointer) where p.present"
    assert wrong(text, of_int(0)) == "p on #0: p = 0x0"
    assert wrong(text, of_int(1)) is None


def test_beside_others() -> None:
    text = "p: DataPointer, n: int32) where p.present or n == 0"
    assert wrong(text, NONE, of_int(0)) is None
    assert wrong(text, POINTER, of_int(3)) is None
    assert wrong(text, NONE, of_int(3)) == "n on #1: p = None, n = 3 from n"
    text = "p: DataPointer) where p.present and p % 16 == 0"
    assert wrong(text, NONE) == "p on #0: p = None"
    assert wrong(text, of_int(8)) == "p on #0: p = 0x8"
    assert wrong(text, of_int(16)) is None


def test_in_structs() -> None:
    text = "cfg: Struct(c: handle, p: DataPointer)) where c.present, cfg.p.present"
    assert wrong(text, cfg(POINTER, POINTER)) is None
    assert wrong(text, cfg(NONE, POINTER)) == "cfg.c on #0: c = None"
    assert wrong(text, cfg(POINTER, of_int(0))) == "cfg.p on #0: cfg.p = 0x0"


def test_in_optionals() -> None:
    text = "cfg: Optional(Tuple(c: handle, p: DataPointer))) where c.present and cfg[1].present"
    assert wrong(text, NONE) is None
    assert wrong(text, cfg(POINTER, POINTER)) is None
    assert wrong(text, cfg(POINTER, NONE)) == "cfg[1] on #0: c = 0x40, cfg[1] = None"
