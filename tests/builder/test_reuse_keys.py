"""Differences that give reused wrappers different keys."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ffi_builder import attach, spec
from ffi_builder.builder import reuse
from ffi_builder.providers import CallProvider, CheckStatus, DirectCallProvider
from tests.support.printed import printed_wrapper
from tests.support.wrapping import new_module

pytestmark = pytest.mark.usefixtures("nothing_kept")


def attached(params: Sequence[spec.Param], provider: CallProvider, name: str = "f") -> str:
    module = new_module()
    attach(module, spec.Signature(name, params), provider)
    return printed_wrapper(module)


def test_no_arguments_are_not_all_of_them() -> None:
    params = [spec.Var("n", "int64"), spec.Var("m", "int64")]
    nothing = [attached(params, DirectCallProvider("g", args=[])) for _ in range(3)]
    assert "llvm.call @g()" in nothing[-1]
    everything = attached(params, DirectCallProvider("g"))
    assert "llvm.call @g()" not in everything
    assert "llvm.call @g(" in everything


@pytest.mark.parametrize("optional", [False, True])
def test_equal_parameters_are_told_apart(optional: bool) -> None:
    """Choices of one name in two tuples are equal, and `args=` means the object."""
    first, second = (spec.Choice("c", {"a": 1, "b": 2}) for _ in range(2))
    params: list[spec.Param] = [spec.TupleParam("t", [first]), spec.TupleParam("u", [second])]
    if optional:
        params = [spec.Optional(first), spec.TupleParam("u", [second])]
    texts = [attached(params, DirectCallProvider("g", args=[first])) for _ in range(3)]
    assert len(set(texts)) == 1
    assert attached(params, DirectCallProvider("g", args=[second])) != texts[0]


def test_each_name_has_one_entry_where_the_name_is_in_the_code() -> None:
    provider = CheckStatus(DirectCallProvider("g"), message="{callee}: {status}")
    for name in ("f", "g1", "h", "g1"):
        attached([spec.Var("n", "int64")], provider, name)
    assert len(reuse._KEPT) == 1 + 3  # pyright: ignore[reportPrivateUsage]
