"""Modules for the tests, written by hand: nothing here comes from the rest of ffi_builder."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from ffi_builder.ir.distribution import named
from tests.support.absent import needed
from tests.support.contexts import shared_context

needs_cc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
needs_cxx = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
needs_x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="is about x86-64")
needs_aarch64 = pytest.mark.skipif(platform.machine() != "aarch64", reason="is about AArch64")

TORCH_IR: ModuleType = import_module("torch_mlir.ir")


def mlir_entry(name: str, value: str = "%x = llvm.add %v, %one : i64") -> str:
    """MLIR of a function that returns `%x`, computed by `value` from the int argument `%v`."""
    return f"""
      llvm.func @__tvm_ffi_{name}(%handle: !llvm.ptr, %args: !llvm.ptr, %num_args: i32,
                                  %result: !llvm.ptr) -> i32 {{
        %from = llvm.getelementptr %args[8] : (!llvm.ptr) -> !llvm.ptr, i8
        %v = llvm.load %from : !llvm.ptr -> i64
        %one = llvm.mlir.constant(1 : i64) : i64
        %zero = llvm.mlir.constant(0 : i32) : i32
        {value}
        llvm.store %one, %result : i64, !llvm.ptr
        %to = llvm.getelementptr %result[8] : (!llvm.ptr) -> !llvm.ptr, i8
        llvm.store %x, %to : i64, !llvm.ptr
        llvm.return %zero : i32
      }}"""


ADD_ONE = mlir_entry("add_one")

SIGNATURE = "(ptr %handle, ptr %args, i32 %num_args, ptr %result)"


def llvm_entry(name: str, value: str = "%x = add i64 %v, 1") -> str:
    """LLVM IR of the same function."""
    return f"""
define i32 @__tvm_ffi_{name}{SIGNATURE} {{
  %from = getelementptr i8, ptr %args, i64 8
  %v = load i64, ptr %from
  {value}
  store i64 1, ptr %result
  %to = getelementptr i8, ptr %result, i64 8
  store i64 %x, ptr %to
  ret i32 0
}}
"""


def by_assembly(number: int | str, before: str = "") -> str:
    """LLVM IR that sets `%x` to a number.

    Inline assembly of any architecture does that, after the instructions `before`. So a child
    process generates the code.
    """
    return f'%x = call i64 asm sideeffect "{before}", "=r,0"(i64 {number})'


C_ENTRY = """
#include <stdint.h>
#define ENTRY(name) int32_t __tvm_ffi_##name(void* handle, const int64_t* args, int32_t n, int64_t* result)
#define RETURN(value) return result[0] = 1, result[1] = (value), 0
"""


_OBJECTS: Final[dict[tuple[str, tuple[str, ...], str], bytes]] = {}


def c_object(directory: Path, source: str, *flags: str, compiler: str = "gcc") -> bytes:
    """The object that a C or C++ compiler makes of `source`, with C_ENTRY in front of it.

    Tests of one process that compile the same share it, unless it has headers of its directory.
    """
    suffix = "cc" if compiler == "g++" else "c"
    (directory / f"part.{suffix}").write_text(C_ENTRY + source)
    key = (source, flags, compiler)
    if key in _OBJECTS and '#include "' not in source:
        (directory / "part.o").write_bytes(_OBJECTS[key])
        return _OBJECTS[key]
    command = [compiler, "-O1", "-fPIC", *flags, "-c", f"part.{suffix}", "-o", "part.o"]
    subprocess.run(command, cwd=directory, check=True, timeout=60)
    _OBJECTS[key] = (directory / "part.o").read_bytes()
    return _OBJECTS[key]


def c_library(directory: Path, source: str, name: str, *flags: object) -> Path:
    """The shared library that gcc makes of `source`, as :func:`c_object` compiles it."""
    c_object(directory, source)
    path = directory / name
    subprocess.run(
        ["gcc", "-shared", directory / "part.o", "-o", path, *map(str, flags)], check=True
    )
    return path


def parse(text: str) -> Any:
    """A module of torch-mlir."""
    return TORCH_IR.Module.parse(text, shared_context())


def parse_with_jaxlib(text: str) -> Any:
    """A module of jaxlib, whose contexts know no dialect by themselves. Skips the test without it."""
    pytest.importorskip("jaxlib")
    ir = import_module("jaxlib.mlir.ir")
    context = ir.Context()
    named("jaxlib.mlir").load_llvm(context)
    return ir.Module.parse(text, context)


def run_child(
    code: str, *arguments: object, seconds: float = 120, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `code` in a process of its own, from the repository root.

    Skips the test if that process needs an add-on that is not here.
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code), *map(str, arguments)],
        cwd=Path(__file__).parents[2],
        env=env,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    if words := needed(done.stderr):
        pytest.skip(words)
    return done
