"""Every row of the tables has a test, and a function in C."""

from __future__ import annotations

import importlib
from collections import defaultdict
from pathlib import Path

from ffi_builder.ptx.build import interpreter
from ffi_builder.ptx.forms import FORMS
from ffi_builder.ptx.table import decoded
from tests.ptx.running import TESTED


def test_each_row_has_a_test_and_a_function() -> None:
    for file in Path(__file__).parent.glob("test_*.py"):
        importlib.import_module(f"tests.ptx.{file.stem}")
    by_word: dict[str, set[str]] = defaultdict(set)
    for opcode in TESTED:
        by_word[opcode.partition(".")[0]].add(opcode)
    untested: list[str] = []
    for row in FORMS:
        opcodes = (opcode for word in row.words for opcode in by_word[word])
        found = [each for opcode in opcodes if (each := decoded(row, opcode)) is not None]
        if not found:
            untested.append(row.text)
        for each in found:
            assert hasattr(interpreter(), f"op_{each.handler}"), row.text
    assert not untested
