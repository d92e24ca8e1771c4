"""Mistakes of new users of ``runtime``, and errors that lead to the fix."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffi_builder import CompileError, LinkError, attach, runtime
from ffi_builder.providers import (
    DirectCallProvider,
    DynamicParamPackCallProvider,
    NopCallProvider,
    PackedCallProvider,
)
from ffi_builder.runtime.codegen import progress
from ffi_builder.spec import Signature
from tests.runtime.samples import ADD_ONE, c_object, needs_cc
from tests.support.wrapping import new_module

KERNEL = """
llvm.func @square(%x: !llvm.ptr) { llvm.return }
llvm.func @cube(%x: !llvm.ptr) { llvm.return }
"""
SIGNATURE = Signature.parse("f(x: Tensor([n], float32))", device="cpu")


def compiled(text: str = KERNEL) -> runtime.CompiledModule:
    module = new_module(text)
    attach(module, SIGNATURE, NopCallProvider())
    return runtime.compile(module)


# ---- hooks


@pytest.mark.parametrize("operation", [False, True])
def test_a_hook_that_attaches_to_the_module_that_was_given(operation: bool) -> None:
    module = new_module(KERNEL)

    def hook(lowered: Any) -> None:
        attach(module, SIGNATURE, DirectCallProvider("square"))

    for use in (runtime.compile, runtime.lower):
        module = new_module(KERNEL)
        given = module.operation if operation else module
        with pytest.raises(CompileError) as raised:
            use(given, post_compile_hooks=[hook])
        assert str(raised.value) == (
            "A hook attached `f` to the module that was given to compile, which is not the one "
            "that is compiled: attach to the module that the hook is called with, as in "
            "`def hook(lowered): attach(lowered, …)`"
        )


def test_a_module_that_had_a_wrapper_already() -> None:
    module = new_module(KERNEL)
    attach(module, SIGNATURE, DirectCallProvider("square"))

    def hook(lowered: Any) -> None:
        attach(lowered, SIGNATURE, DirectCallProvider("cube"), symbol_name="g")

    assert runtime.compile(module, post_compile_hooks=[hook]).functions == ("f", "g")


def test_a_hook_that_attaches_to_yet_another_module() -> None:
    def hook(lowered: Any) -> None:
        attach(new_module(KERNEL), SIGNATURE, DirectCallProvider("square"))

    made = runtime.compile(KERNEL, post_compile_hooks=[hook])
    words = (
        "which has none: .*; a hook of compile attaches them, to the module that it is called with"
    )
    with pytest.raises(KeyError, match=words):
        made["f"]


def test_what_a_hook_returned() -> None:
    module = new_module(KERNEL)
    hooks: Any = [attach(module, SIGNATURE, NopCallProvider())]
    with pytest.raises(
        TypeError, match=r"but got None: each is called with the lowered module, as"
    ):
        runtime.compile(module, post_compile_hooks=hooks)


# ---- what is compiled


@pytest.mark.parametrize("given", ["kernel.mlir", "my kernels/k.ll", Path("k.mlir")])
@pytest.mark.parametrize("hooks", [(), (print,)])
def test_a_path(given: Any, hooks: Any) -> None:
    read = f"give that: pathlib.Path({str(given)!r}).read_text()"
    with pytest.raises(TypeError) as raised:
        runtime.compile(given, post_compile_hooks=hooks)
    assert (
        str(raised.value) == f"Expected a module, not the path {given!r}: read the file, and {read}"
    )


def test_a_path_of_an_object() -> None:
    with pytest.raises(TypeError, match=r"pathlib.Path\('k.o'\).read_bytes\(\)$"):
        runtime.compile("k.o")


@pytest.mark.parametrize("text", ["module {}", "// k.mlir\nmodule {}", "; k.ll\n"])
def test_text_that_is_none(text: str) -> None:
    runtime.compile(text)


def test_source_code_to_link(tmp_path: Path) -> None:
    source = tmp_path / "k.c"
    source.write_text("int f;")
    with pytest.raises(CompileError) as raised:
        runtime.compile(KERNEL, link=[source])
    assert str(raised.value).startswith(f"{source}: Expected an ELF object file, but")
    assert str(raised.value).endswith("; compile the source code to an object")


# ---- names


def calling(callee: str, **options: Any) -> Any:
    """A module whose wrapper `f` calls a function."""
    module = new_module(KERNEL)
    attach(module, SIGNATURE, DirectCallProvider(callee, **options))
    return module


def misspelt(make: Callable[[str], Any]) -> Any:
    module = new_module(KERNEL)
    attach(module, SIGNATURE, make("sqare"))
    attach(module, SIGNATURE, make("sqare"), symbol_name="g")
    return module


def packed() -> Any:
    module = new_module()
    attach(module, SIGNATURE, PackedCallProvider("g"))
    return module


NOWHERE = "llvm.func @nowhere()\nllvm.func @k() { llvm.call @nowhere() : () -> ()\n llvm.return }"
SQUARE = r"define: `sqare`; pass what defines them with link=: LLVM IR, an object, an archive or a library \(`sqare` is what the call provider of `f`, `g` calls, did you mean `square`\?\)$"
MISSING: list[tuple[Callable[[], Any], str]] = [
    (lambda: misspelt(DirectCallProvider), SQUARE),
    (lambda: misspelt(DynamicParamPackCallProvider), SQUARE),
    (lambda: calling("elsewhere"), r"\(`elsewhere` is what the call provider of `f` calls\)$"),
    (packed, r"\(`__tvm_ffi_g` is what the call provider of `f` calls\)$"),
    (lambda: NOWHERE, r"an archive or a library$"),
]


@pytest.mark.parametrize(("make", "words"), MISSING)
def test_a_function_that_is_missing(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(LinkError, match=words):
        runtime.compile(make())


@needs_cc
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("__kmpc_no_such", r'define: `__kmpc_no_such`; pass the library .*: link=\["-lomp"\]'),
        ("halide_no_such", "they are Halide's runtime: pass the object that hl"),
    ],
)
def test_a_library_of_a_compiler_that_is_missing(tmp_path: Path, name: str, words: str) -> None:
    code = c_object(tmp_path, f"void {name}(void); void linked(void) {{ {name}(); }}")
    module = calling("linked", args=[])
    with pytest.raises(LinkError, match=words):
        runtime.compile(module, link=[code])
    with pytest.raises(LinkError, match=words):
        runtime.lower(module, link=[code]).export_library(tmp_path / "f.so")


@pytest.mark.parametrize("given", ["gomp", "libgomp.so.1", "libgomp"])
def test_a_library_without_its_option(given: str) -> None:
    with pytest.raises(FileNotFoundError, match="a library of the system is '-lgomp'"):
        runtime.compile(KERNEL, link=[given])
    with pytest.raises(TypeError, match="only `-lname`: '-fopenmp'; OpenMP is '-lgomp'"):
        runtime.compile(KERNEL, link=["-fopenmp"])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("F", "which has: f, did you mean `f`?"),
        ("__tvm_ffi_f", "whose names are without `__tvm_ffi_`: `f`"),
        ("square", "which has: f"),
    ],
)
def test_functions_that_are_not_there(name: str, words: str) -> None:
    with pytest.raises(KeyError) as raised:
        compiled()[name]
    assert str(raised.value) == f"No function `{name}` in the compiled module, {words}"


def test_a_function_as_an_attribute() -> None:
    made: Any = compiled()
    with pytest.raises(
        AttributeError, match=r"attribute 'f'; its function is \['f'\], or .callable"
    ):
        made.f()
    with pytest.raises(AttributeError, match=r"attribute 'square'$"):
        made.square()
    assert not hasattr(made, "_nothing")


# ---- NumPy's bools


def test_numpy_bools_are_bools_in_a_callable() -> None:
    signature = Signature.parse(
        "f(a: bool, b: Optional(bool), t: Tuple(c: bool, s: Struct(d: bool)), e: Literal[True], "
        "i: int32, g: float32)"
    )
    module = new_module()
    attach(module, signature, NopCallProvider())
    f = runtime.compile(module).callable("f")
    yes, no = np.True_, np.False_
    f(yes, no, (yes, (no,)), yes, no, yes)
    f(a=no, b=None, t=[no, [yes]], e=yes, i=yes, g=no)
    with pytest.raises(
        ValueError, match=r"Mismatched e on argument #3 .* expected True but got False"
    ):
        f(yes, no, (yes, (no,)), no, 1, 1)
    with pytest.raises(TypeError, match=r"expected bool but got ffi.Tensor"):
        f(np.zeros(2, "bool"), no, (yes, (no,)), yes, 1, 1)


def test_a_long_step_is_named_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = ADD_ONE.replace("add_one", "add_slowly")
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    runtime.compile(module)
    assert capsys.readouterr().err == ""  # no terminal
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    runtime.compile(module, pipeline="builtin.module(cse)")
    shown = capsys.readouterr().err
    for step in ("MLIR's passes", "LLVM (emit_object; a lower opt_level takes less)"):
        assert re.search(rf"ffi_builder: {re.escape(step)} took \d+\.\d s", shown)
