"""Interpreters beside the main one: they call by the general way, and leave the main one alone.

tvm-ffi itself can be imported by one interpreter of a process alone, and by none that has a GIL of
its own.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Final

import pytest

from tests.entry.functions import needs_extension

MODULE: Final = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
pytestmark = pytest.mark.slow
pytest.importorskip(MODULE)

PRELUDE: Final = f"""
import sys
import {MODULE} as interpreters


def interpreter(own):
    if sys.version_info >= (3, 13):
        return interpreters.create("isolated" if own else "legacy")
    return interpreters.create(isolated=own)


def run(own, code):
    made = interpreter(own)
    try:
        # Up to 3.12 it raises, later it returns what was raised.
        failed = interpreters.run_string(made, f"import sys; sys.path[:] = {{sys.path}}\\n{{code}}")
        if failed is not None:
            raise RuntimeError(failed.formatted)
    finally:
        interpreters.destroy(made)
"""

FUNCTION: Final = """
from torch_mlir import ir

from ffi_builder import attach, runtime
from ffi_builder.providers import NopCallProvider
from ffi_builder.runtime.python import functions
from ffi_builder.spec import Signature, Var

module = ir.Module.parse("", ir.Context())
attach(module, Signature("f", [Var("a", "int32", default=1)]), NopCallProvider())
compiled = runtime.compile(module)
f = compiled["f"]
"""


def output(code: str) -> str:
    """Return the output of a new process, as making an interpreter changes CPython for good."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_extension
@pytest.mark.parametrize("own_gil", [False, True])
def test_only_the_main_interpreter_loads_the_extension(own_gil: bool) -> None:
    inner = (
        "try:\n import ffi_builder.entry._entry\n"
        "except ImportError as error: print(error)\nelse: print('it was loaded')"
    )
    first, second, calls = output(
        f"run({own_gil}, {inner!r})\n"
        f"{FUNCTION}\n"
        "f(1)\n"
        f"run({own_gil}, {inner!r})\n"
        "f(); f(a=2)\n"
        "print(type(f).__name__, f._general_calls)\n"
    ).splitlines()
    assert first == second
    assert "subinterpreter" in first
    assert calls == "Entry 0"


@needs_extension
@pytest.mark.skipif(sys.version_info < (3, 12), reason="importing tvm-ffi does not return there")
def test_a_subinterpreter_calls_the_general_way() -> None:
    # PyTorch, which tvm-ffi imports, does not come up in one.
    inner = (
        "sys.modules['torch'] = None\n"
        f"{FUNCTION}\n"
        "f(1); compiled.callable('f')()\n"
        "print(type(f).__name__, functions.extension().reason)\n"
    )
    found = output(f"run(False, {inner!r})")
    assert found == ("WrappedFunction the extension cannot be loaded: this is a subinterpreter\n")
