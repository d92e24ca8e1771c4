"""Each rule of the table, by the oracle, by a wrapper and by ``testing.check_raw``."""

from __future__ import annotations

from pathlib import Path

import pytest

from ffi_builder import attach, runtime
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Signature
from tests.oracle import Accepted
from tests.rules.calls import verdict
from tests.rules.table import FOLDER, arguments, in_short, read, said
from tests.support.wrapping import RawWrapper, new_module


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_each_call(path: Path) -> None:
    rules, module = list(read(path)), new_module()
    for number, rule in enumerate(rules):
        attach(module, rule.signature, NopCallProvider(), symbol_name=f"f{number}")
    compiled = runtime.compile(module)
    found = [
        (
            rule.line,
            call,
            outcome_of(rule.signature, RawWrapper(compiled, f"f{number}"), call, outcome),
        )
        for number, rule in enumerate(rules)
        for call, outcome in rule.calls
    ]
    assert found == [(rule.line, *each) for rule in rules for each in rule.calls]


def outcome_of(signature: Signature, wrapper: RawWrapper, call: str, outcome: str) -> str:
    """What comes of a call, in which all agree, with those facts of tensors that the table says."""
    found = verdict(signature, wrapper, arguments(call))
    if not isinstance(found, Accepted):
        return in_short(found.kind, found.message)
    always, of_tensors = said(found)
    facts = [each for each in outcome.split("; ") if each in of_tensors]
    return "; ".join([*always, *facts]) or "right"
