"""Errors carry a frame that points to the author's file and line."""

from __future__ import annotations

import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import attach_ffi_func, runtime
from ffi_builder.ir import Block
from ffi_builder.providers import CallContext, DirectCallProvider, NopCallProvider
from ffi_builder.spec import Var
from tests.support.wrapping import new_module

N = [Var("n", "int32")]
SOURCE = "@kernel\ndef add(n):\n    return n + 1\n"


def frames(function: Any, *args: object) -> list[tuple[str, int | None, str]]:
    with pytest.raises((TypeError, ValueError)) as caught:
        function(*args)
    summary = traceback.extract_tb(caught.value.__traceback__)
    return [(frame.filename, frame.lineno, frame.name) for frame in summary]


def locations(distribution: str, module: Any, file: str) -> dict[str, Any]:
    location = import_module(f"{distribution}.ir").Location
    context = module.context
    at = location.file(file, 2, 5, context)
    other = location.file("other.py", 9, 1, context)
    return {
        "file": at,
        "name": location.name("kernel", at, context),
        "call": location.callsite(at, [other], context),
        "fused": location.fused([location.unknown(context), at, other], context=context),
    }


@pytest.mark.parametrize("kind", ["file", "name", "call", "fused"])
def test_the_first_place_in_a_file(distribution: str, kind: str, tmp_path: Path) -> None:
    file = tmp_path / "author.py"
    file.write_text(SOURCE)
    module = new_module(distribution=distribution)
    location = locations(distribution, module, str(file))[kind]
    attach_ffi_func(module, "f", N, NopCallProvider(), "add", location=location)
    function = runtime.compile(module)["f"]
    assert frames(function, 1.5)[-1] == (str(file), 2, "add")
    assert frames(function, 2**40)[-1] == (str(file), 2, "add")


@pytest.mark.parametrize("name", ["é.py", "back\\slash.py", "with space.py", "percent%d{}.py"])
def test_file_names_that_mlir_escapes(distribution: str, name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(SOURCE)
    module = new_module(distribution=distribution)
    location = locations(distribution, module, str(file))["file"]
    attach_ffi_func(module, "f", N, NopCallProvider(), location=location)
    assert frames(runtime.compile(module)["f"], 1.5)[-1] == (str(file), 2, "f")


@pytest.mark.parametrize("name", ['quote".py', "line\n.py", "-"])
def test_file_names_that_no_frame_can_hold(name: str) -> None:
    module = new_module()
    location = import_module("torch_mlir.ir").Location
    first = location.file(name, 1, 1, module.context)
    attach_ffi_func(module, "f", N, NopCallProvider(), location=first)
    assert "line 1, in f" not in str(module)
    second = location.file("b.py", 3, 4, module.context)
    both = location.fused([first, second], context=module.context)
    attach_ffi_func(module, "g", N, NopCallProvider(), location=both)
    assert "b.py\\22, line 3, in g" in str(module)


def test_the_place_of_the_callee(distribution: str) -> None:
    text = 'llvm.func @k(%n: i32) { llvm.return } loc("kernels/author.py":7:1)'
    module = new_module(text, distribution=distribution)
    attach_ffi_func(module, "f", N, DirectCallProvider("k"))
    assert "File \\22kernels/author.py\\22, line 7, in f" in str(module)


def test_an_error_of_a_provider(tmp_path: Path) -> None:
    file = tmp_path / "author.py"
    file.write_text(SOURCE)

    def provider(current_block: Block, context: CallContext) -> Block:
        b = context.builder
        b.check(b.i1(False), "ValueError", "not today")
        return b.block

    module = new_module()
    location = locations("torch_mlir", module, str(file))["file"]
    attach_ffi_func(module, "f", N, provider, location=location)
    assert frames(runtime.compile(module)["f"], 1)[-1] == (str(file), 2, "f")


def test_no_frame_without_a_file() -> None:
    """Nor for what was parsed from a string, whose file is called "-"."""
    module = new_module("llvm.func @k(%n: i32) { llvm.return }")
    attach_ffi_func(module, "f", N, DirectCallProvider("k"))
    names = [name for _, _, name in frames(runtime.compile(module)["f"], 1.5)]
    assert "f" not in names
