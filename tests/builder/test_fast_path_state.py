"""Branches of the fast path: what they add to its state is not known before and beside them."""

from __future__ import annotations

from ffi_builder.builder.fast_path.state import State


def test_a_branch_does_not_change_the_state_before_it():
    before = State()
    before.products[(1, 2)] = 2
    branch = before.fork()
    branch.products[(3, 4)] = 12
    branch.unsized.append((0,))
    assert before.products == {(1, 2): 2}
    assert before.unsized == []
    assert branch.products == {(1, 2): 2, (3, 4): 12}
