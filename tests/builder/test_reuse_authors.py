"""Reuse of the wrappers of authors' own providers."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pytest

from ffi_builder import attach_ffi_func, spec
from ffi_builder.providers import (
    CallContext,
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    ModuleContext,
)
from tests.support.wrapping import new_module

n = spec.Var("n", "int64")
X = spec.Tensor("x", [n], "float32", device_type="cpu")

pytestmark = pytest.mark.usefixtures("nothing_kept")


def attached(
    params: list[spec.Param], provider: CallProvider, text: str = "", *, distribution: str
) -> Any:
    module = new_module(text, distribution)
    attach_ffi_func(module, "f", params, provider)
    return module


def test_a_provider_of_ones_own_is_always_asked() -> None:
    calls: list[int] = []

    class Counting(DirectCallProvider):
        def __call__(self, current_block: Any, context: CallContext) -> Any:
            calls.append(1)
            return super().__call__(current_block, context)

    for provider in (Counting("callee"), CheckStatus(Counting("callee"))):
        for _ in range(4):
            attached([X], provider, distribution="torch_mlir")
    assert len(calls) == 8


class Scaled:
    """An author's provider that passes the length times a factor, and says what it depends on."""

    callee = "callee"

    def __init__(self, factor: int, adds: str = "") -> None:
        self.factor, self.adds = factor, adds
        self.calls = 0

    def cache_key(self, context: ModuleContext) -> Hashable | None:
        return self.factor or None

    def prepare(self, context: ModuleContext) -> None:
        t = context.symbols.types
        if self.adds == "function" and "own" not in context.symbols:
            context.define("own", t.void, []).ret()
        if self.adds == "variable" and "own" not in context.symbols:
            context.symbols.variable("own", bytes(8))

    def __call__(self, current_block: Any, context: CallContext) -> Any:
        self.calls += 1
        b = context.builder
        scaled = b.mul(context.value(n), b.i64(self.factor))
        if self.adds == "function":
            b.call("own", [], b.types.void)
        if self.adds in ("variable", "constant"):
            b.address_of("own" if self.adds == "variable" else context.symbols.text(b"own"))
        context.symbols.declare("callee", b.types.void, [b.types.i64])
        b.call("callee", [scaled], b.types.void)
        return b.block


def test_a_provider_of_ones_own_may_be_reused() -> None:
    def make(provider: Scaled, name: str = "f", text: str = "") -> str:
        module = new_module(text)
        attach_ffi_func(module, name, [X], provider)
        assert module.operation.verify()
        return str(module)

    provider, other = Scaled(2), Scaled(2)
    texts = {make(provider) for _ in range(4)} | {make(other) for _ in range(4)}
    assert (len(texts), provider.calls, other.calls) == (1, 2, 0)
    for changed, name, text in (
        (Scaled(3), "f", ""),  # another key
        (provider, "g", ""),  # another name, which the code may have in it
        (provider, "f", "llvm.func @callee(i64)"),  # another callee
    ):
        changed.calls = 0
        made = {make(changed, name, text) for _ in range(3)}
        assert (len(made), changed.calls) == (1, 2)
        assert made.isdisjoint(texts)


@pytest.mark.parametrize(("adds", "calls"), [("function", 8), ("variable", 8), ("constant", 4)])
def test_what_is_added_with_a_wrapper_is_there_in_each_module(adds: str, calls: int) -> None:
    """A provider that adds definitions is always called; constants are kept with the wrapper."""
    provider = Scaled(2, adds)
    texts: set[str] = set()
    for _ in range(4):
        module = new_module()
        for name in ("f", "g"):  # the second finds what the first has added
            attach_ffi_func(module, name, [X], provider)
        assert module.operation.verify()
        texts.add(str(module))
    assert (len(texts), provider.calls) == (1, calls)


def test_a_key_of_a_class_is_not_that_of_its_subclass() -> None:
    class More(Scaled):
        pass

    class Open(Scaled):
        def cache_key(self, context: ModuleContext) -> Hashable | None:
            return [self.factor]  # pyright: ignore

    for provider in (Scaled(0), More(2), Open(2)):
        for _ in range(4):
            attached([X], provider, distribution="torch_mlir")
        assert provider.calls == 4
