"""Every row of the tables has a test, and a function in C."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from ffi_builder.ptx.build import interpreter
from ffi_builder.ptx.forms import FORMS
from ffi_builder.ptx.table import Form, decoded
from tests.ptx.running import TESTED


@pytest.fixture(scope="module")
def opcodes() -> set[str]:
    """What the tests of this folder execute."""
    for file in Path(__file__).parent.glob("test_*.py"):
        importlib.import_module(f"tests.ptx.{file.stem}")
    return set(TESTED)


@pytest.mark.parametrize("row", FORMS, ids=lambda row: row.text)
def test_each_row_has_a_test_and_a_function(row: Form, opcodes: set[str]) -> None:
    found = [each for opcode in opcodes if (each := decoded(row, opcode)) is not None]
    assert found, "no test executes it"
    for each in found:
        assert hasattr(interpreter(), f"op_{each.handler}")
