"""Where a branch of the fast path begins and ends, no field of its state can be forgotten."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass

import pytest

from ffi_builder.builder.fast_path import state
from ffi_builder.builder.fast_path.state import State

CLASSES = [
    item
    for item in vars(state).values()
    if is_dataclass(item) and item.__module__ == state.__name__
]


@pytest.mark.parametrize("kind", CLASSES)
def test_no_field_has_a_default(kind: type):
    assert is_dataclass(kind)
    for field in fields(kind):
        assert field.default is MISSING
        assert field.default_factory is MISSING


def test_a_branch_does_not_change_the_state_before_it():
    before = State.empty()
    before.products[(1, 2)] = 2
    branch = before.fork()
    branch.products[(3, 4)] = 12
    branch.unsized.append((0,))
    assert before.products == {(1, 2): 2}
    assert before.unsized == []
    assert branch.products == {(1, 2): 2, (3, 4): 12}
