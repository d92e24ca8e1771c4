"""Functions of a JIT of one's own that know their signature."""

from __future__ import annotations

import inspect

import pytest

from ffi_builder import attach, runtime
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Signature, Var
from tests.support.wrapping import new_module


def test_a_function_that_is_described_by_its_module() -> None:
    module = new_module()
    attach(module, Signature("f", [Var("a", "int32", doc="a number")]), NopCallProvider())
    compiled = runtime.compile(module)
    for source in (module, compiled.llvm_ir):
        for name in ("f", None):
            f = runtime.function(compiled.address("f"), owner=compiled, module=source, name=name)
            assert list(inspect.signature(f).parameters) == ["a"]
            assert "a: a number" in str(f.__doc__)
            f(1)
            with pytest.raises(TypeError, match="expected int but got str"):
                f("x")
    with pytest.raises(KeyError, match="No function `g` in the module, which has: f"):
        runtime.function(compiled.address("f"), owner=compiled, module=module, name="g")
    with pytest.raises(KeyError):
        runtime.function(compiled.address("f"), owner=compiled, module=new_module())
