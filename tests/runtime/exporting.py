"""Modules to export, and looking at what was exported."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
import tvm_ffi
from tvm_ffi import libinfo

from ffi_builder import attach, providers, runtime, spec
from ffi_builder.spec.numbers import FLOAT_DTYPES
from tests.support.loops import loop
from tests.support.wrapping import new_module

LIBRARY = Path(libinfo.find_libtvm_ffi())
INCLUDES = [f"-I{path}" for path in dict.fromkeys(libinfo.include_paths())]

load_module = cast("Any", tvm_ffi).load_module
"""Its type is not complete."""

_KERNEL = loop(
    "kernel",
    "%x: !llvm.ptr, %n: i64, %factor: f32",
    """
  %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %old = llvm.load %at : !llvm.ptr -> f32
  %weight = llvm.mlir.constant(WEIGHT : f32) : f32
  %by = llvm.fmul %factor, %weight : f32
  %new = llvm.fmul %old, %by : f32
  llvm.store %new, %at : f32, !llvm.ptr""",
)

_n = spec.Var("n", "int64")
_x = spec.Tensor("x", [_n], "float32", device_type="cpu")


def scaling(*names: str, weight: float = 1.0) -> Any:
    """A module with `@kernel`, and `scale`, or wrappers of these names, that multiply an array."""
    module = new_module(_KERNEL.replace("WEIGHT", str(weight)))
    factor = spec.Var("factor", "float32", default=2.0, doc="what x is multiplied by")
    for name in names or ("scale",):
        signature = spec.Signature(name, [_x, factor], doc="Multiply x in place.")
        attach(module, signature, providers.DirectCallProvider("kernel", args=["x", "n", "factor"]))
    return module


def every_kind() -> spec.Signature:
    """All kinds of parameters, with names and values that languages stumble over."""
    choice = {"relu": 1, "*/": 2}
    with spec.DefaultConfig(device_type="cpu"):
        params = [
            spec.Tensor("x", [_n], "float32", strides=[spec.Var("pitch", "int64")]),
            *(spec.Var(f"v_{dtype}", dtype) for dtype in ("int32", "uint64", "bool", "handle")),
            *(spec.Var(f"v_{dtype}", dtype) for dtype in FLOAT_DTYPES),
            spec.Shape("shape", [2, _n]),
            spec.DataPointer("pointer"),
            spec.Stream("stream"),
            spec.TupleParam("pair", [spec.Tensor("t", [_n], "int8"), spec.Var("k", "int64")]),
            spec.Struct("cfg", [spec.Var("a", "float32"), spec.Choice("act", choice)]),
            spec.Optional(spec.String("maybe_text")),
            spec.Optional(spec.Tensor("maybe_x", [_n], "float32")),
            spec.Optional(spec.Var("maybe_n", "int64")),
            spec.ConstNone("none"),
            spec.ConstInt("least", -(2**63)),
            spec.ConstInt("three", 3),
            spec.ConstBool("true", True),
            spec.ConstFloat("infinite", float("-inf")),
            spec.ConstFloat("nan", float("nan")),
            spec.ConstFloat("half", 0.5),
            spec.Choice("act", choice),
            spec.String("new"),  # a keyword of C++
            spec.Bytes("class"),  # and of Python
            spec.DType("dtype"),
            spec.Device("device"),
            spec.Object("any_object"),
            spec.Object("module", "ffi.Module"),
            spec.Function("function", doc='"""ends */ with a quote"'),
            spec.Array("array"),
            spec.Map("map"),
            spec.Any("anything"),
            spec.Variant([spec.Var("either", "float64"), spec.Tensor("either", [_n], "int8")]),
            spec.Optional(spec.Variant([spec.String("or_none"), spec.Device("or_none")])),
            spec.Tensor("any_rank", ..., ("float32", "float16"), device_type="any"),
            spec.Var("rate", "float32", default=float("inf"), kw_only=True),
            spec.Choice("mode", choice, default="relu", kw_only=True),
        ]
    return spec.Signature("every_kind", params, doc="Backslash \\, quotes \"'.\n\nMore.\\")


def every_kind_module() -> Any:
    """A wrapper of `every_kind`, which calls nothing."""
    module = new_module()
    attach(module, every_kind(), providers.NopCallProvider())
    return module


def run(*command: object) -> str:
    """Run a command, and return its output."""
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pyright(folder: Path, *files: str) -> str:
    """What pyright says of files of a folder. Skips the test if it is not installed."""
    checker = Path(sys.executable).with_name("pyright")
    if not checker.exists():
        pytest.skip("needs pyright")
    command = [checker, "--pythonpath", sys.executable, *files]
    env = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.stdout


def run_in_c(program: str, compiled: runtime.CompiledModule, folder: Path) -> list[str]:
    """Link a program in C with a module's object, run it, and return the lines that it prints."""
    source, code, out = (folder / name for name in ("main.c", "code.o", "main"))
    compiled.export_object(code)
    source.write_text(program)
    run("gcc", *INCLUDES, source, code, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}", "-o", out)
    return run(out).splitlines()


def visible(path: Path) -> set[str]:
    """The symbols that a library or an object defines for others, as binutils sees them."""
    flags = ["--dyn-syms"] if path.suffix == ".so" else ["-s"]
    found = re.findall(
        r"(?:GLOBAL|WEAK)\s+DEFAULT\s+(?:\d+|COM)\s+(\S+)", run("readelf", "-W", *flags, path)
    )
    return set(found)


def needed(path: Path) -> set[str]:
    """The libraries that a library needs."""
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", path)))
