"""Functions of a JIT of one's own that know their signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import attach, runtime
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Signature, Tensor, Var
from tests.entry.functions import needs_extension
from tests.support.wrapping import new_module

A = Var("a", "int32", doc="a number")
SCALE = Signature(
    "f", [A, Var("b", "int32", default=2), Var("c", "int32", default=3, kw_only=True)], doc="Scale."
)


def compiled_of(signature: Signature) -> runtime.CompiledModule:
    module = new_module()
    attach(module, signature, NopCallProvider())
    return runtime.compile(module)


def test_a_function_that_is_described_by_its_module() -> None:
    module = new_module()
    attach(module, Signature("f", [A]), NopCallProvider())
    compiled = runtime.compile(module)
    for source in (module, compiled.llvm_ir):
        for name in ("f", None):
            f = runtime.function_at(compiled.address("f"), owner=compiled, module=source, name=name)
            assert list(inspect.signature(f).parameters) == ["a"]
            assert "a: a number" in str(f.__doc__)
            f(1)
            with pytest.raises(TypeError, match="expected int but got str"):
                f("x")
    with pytest.raises(KeyError, match="No function `g` in the module, which has: f"):
        runtime.function_at(compiled.address("f"), owner=compiled, module=module, name="g")
    with pytest.raises(KeyError, match="No function in the module, which has none: it defines no"):
        runtime.function_at(compiled.address("f"), owner=compiled, module=new_module())
    attach(module, Signature("g", [A]), NopCallProvider())
    with pytest.raises(TypeError, match="several functions: pass name=, one of f, g"):
        runtime.function_at(compiled.address("f"), owner=compiled, module=module)


def test_a_signature_makes_what_the_compiled_module_has() -> None:
    compiled = compiled_of(SCALE)
    address = compiled.address("f")
    function = runtime.function_at(address, owner=compiled, signature=SCALE)
    assert isinstance(function, tvm_ffi.Function)
    assert type(function) is type(compiled["f"])
    called = runtime.callable_at(address, owner=compiled, signature=SCALE)
    for made, own in ((function, compiled["f"]), (called, compiled.callable("f"))):
        assert inspect.signature(made) == inspect.signature(own)
        assert repr(made).partition(" at 0x")[0] == repr(own).partition(" at 0x")[0]
        assert made.__doc__ == own.__doc__
    function(1, 2, 3)
    called(1, c=4)
    with pytest.raises(TypeError, match="unexpected keyword argument 'd'"):
        called(1, d=4)
    with pytest.raises(TypeError, match="expected int but got str"):
        called("x")


def test_a_callable_that_is_described_by_its_module() -> None:
    module = new_module()
    attach(module, SCALE, NopCallProvider())
    compiled = runtime.compile(module)
    f = runtime.callable_at(compiled.address("f"), owner=compiled, module=module)
    f(1, c=4)
    assert inspect.signature(f) == inspect.signature(compiled.callable("f"))


def test_another_name_is_shown_and_errors_keep_the_signatures() -> None:
    compiled = compiled_of(SCALE)
    f = runtime.function_at(compiled.address("f"), owner=compiled, signature=SCALE, name="scale_v2")
    assert repr(f).startswith("<function scale_v2(a: int32")
    assert getattr(f, "__name__", None) == "scale_v2"
    with pytest.raises(TypeError, match=r"when calling: `f\(a: int32"):
        f("x", 2, 3)


def test_the_owner_is_kept_alive() -> None:
    compiled = compiled_of(SCALE)
    f = runtime.callable_at(compiled.address("f"), owner=compiled, signature=SCALE)
    del compiled
    f(1)


X = Tensor("x", [Var("n", "int64")], "float32", device_type="cpu")


@needs_extension
@pytest.mark.parametrize("borrows", [False, True])
def test_arrays_are_borrowed_only_where_that_is_said(borrows: bool) -> None:
    """The kernel might keep them; so an array is converted to a tensor unless it is said."""
    signature = Signature("f", [X])
    compiled = compiled_of(signature)
    f: Any = runtime.function_at(
        compiled.address("f"), owner=compiled, signature=signature, borrows_tensors=borrows
    )
    f(np.ones(3, "float32"))
    f(tvm_ffi.from_dlpack(np.ones(3, "float32")))
    assert f._general_calls == (0 if borrows else 1)


@pytest.mark.parametrize("make", [runtime.function_at, runtime.callable_at])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"module": "", "signature": SCALE}, "Pass module= or signature=, not both"),
        (
            {"signature": str(SCALE)},
            "expected a spec.Signature but got a str: spec.Signature.parse",
        ),
        ({"signature": 5}, "signature: expected a spec.Signature but got int"),
        ({"borrows_tensors": True}, "borrows_tensors= goes with signature=: a module says it"),
        (
            {"borrows_tensors": True, "module": ""},
            "borrows_tensors= goes with signature=: a module says it",
        ),
    ],
    ids=["both", "text", "int", "borrows alone", "borrows with a module"],
)
def test_what_does_not_go_together(
    make: Callable[..., Any], given: dict[str, Any], words: str
) -> None:
    with pytest.raises(TypeError, match=words):
        make(1, owner=None, **given)


def test_a_callable_of_nothing_but_an_address() -> None:
    with pytest.raises(TypeError, match="needs the names of its parameters: pass signature= or"):
        runtime.callable_at(1, owner=None)


def test_a_callable_whose_default_cannot_travel() -> None:
    default = np.ones(3, "float32")
    signature = Signature("f", [replace(X, default=default)])
    with pytest.raises(TypeError, match="The default of `x` in `f` is or has array"):
        runtime.callable_at(1, owner=None, signature=signature)
