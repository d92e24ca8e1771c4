"""Metadata that is damaged, unknown or of another version: never an error."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ffi_builder import attach, runtime
from ffi_builder.providers import NopCallProvider
from ffi_builder.runtime.metadata import read
from ffi_builder.spec import Array, Signature
from tests.runtime.describing import described
from tests.runtime.samples import TORCH_IR
from tests.support.printed import name_of, operations
from tests.support.wrapping import new_module

A = {"name": "a", "type": "int32", "kind": "int32"}
B = {**A, "name": "b"}
GOOD = {"ffi_builder": {"name": "f", "format": 1, "params": [A]}}


def with_own(**changed: Any) -> str:
    return json.dumps({"ffi_builder": {**GOOD["ffi_builder"], **changed}})


def with_a(**changed: Any) -> str:
    return with_own(params=[{**A, **changed}])


DAMAGED = [
    "",
    "{",
    "[]",
    "1",
    "null",
    '"x"',
    "{}",
    '{"ffi_builder": []}',
    '{"ffi_builder": null}',
    '{"ffi_builder": {"name": "f", "format": 1}}',
    "[" * 100_000,
    with_own(name=5),
    with_own(params=5),
    with_own(params=[5]),
    with_own(params=[[]]),
    with_own(params=[{}]),
    with_own(params={"name": "a"}),
    with_own(params=[A, A]),
    with_own(params=[{**A, "default": 1}, B]),
    with_own(returns=5),
    with_own(returns=[A, A]),
    with_own(where=5),
    with_own(doc=5),
    with_a(name=[]),
    with_a(name="a b"),
    with_a(name="a): pass #"),
    with_a(type=5),
    with_a(kind=None),
    with_a(choices=5),
    with_a(choices=[5]),
    with_a(elements=[5]),
    with_a(elements=[{"kind": "int8"}]),
    with_a(doc=5),
    with_a(value={}),
    with_a(default={"what": 1}),
    with_a(default={}),
    with_a(default={"tuple": 5}),
    with_a(default={"float": "x"}),
    with_a(default={"bytes": "x"}),
    with_a(default={"dict": [[[], 1]]}),
    with_a(default={"repr": 1}),
]


@pytest.mark.parametrize("text", DAMAGED, ids=range(len(DAMAGED)))
def test_damage_is_never_an_error(text: str) -> None:
    assert read("f", text) is None


def test_the_same_undamaged() -> None:
    info = read("f", json.dumps(GOOD))
    assert info is not None
    assert info.text == "f(a: int32)"


def test_a_kind_that_is_not_known_is_passed_on() -> None:
    """So that a new kind of parameter needs no change of the runtime."""
    module = new_module()
    attach(module, Signature("f", [Array("a")]), NopCallProvider())
    replacing(with_a(kind="Ring", type="Ring(8)"))(module)
    call = runtime.compile(module).callable("f")
    call(a=[1])
    assert str(inspect.signature(call)) == "(a: Ring(8))"


@pytest.mark.parametrize("version", ["0", None])
def test_metadata_of_another_version(version: str | None) -> None:
    compiled = runtime.compile(
        described(), post_compile_hooks=[replacing(with_own(format=version))]
    )
    words = "attached by another version of ffi_builder, .*: attach and export it again with this"
    with pytest.raises(TypeError, match=words):
        compiled.callable("f")
    assert compiled["f"].__doc__ is None


@pytest.mark.parametrize("text", ["", "{", "é", '{"ffi_builder": 5}', "\\", "\x00"])
def test_a_function_with_damaged_metadata_is_called(text: str) -> None:
    compiled = runtime.compile(described(), post_compile_hooks=[replacing(text)])
    arguments = (np.zeros((2, 4), "float32"), "{d}", (1.5, (2,)), 4)
    for again in (compiled, runtime.compile(compiled.llvm_ir)):
        again["f"](*arguments)
        assert repr(again["f"]) == "<function f(…)>"
        with pytest.raises(TypeError, match="says nothing of its parameters"):
            again.callable("f")


def replacing(text: str) -> Callable[[Any], None]:
    """A hook that replaces the metadata of `f`."""

    def hook(module: Any) -> None:
        string = TORCH_IR.StringAttr.get
        with module.context:
            for operation in operations(module):
                if name_of(operation) == "__tvm_ffi_f":
                    pair = [string("ffi-builder-metadata"), string(text)]
                    array = TORCH_IR.ArrayAttr.get
                    operation.attributes["passthrough"] = array([array(pair)])

    return hook
