"""Export a function of CuTe DSL as a shared library."""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import tvm_ffi
from cutlass.cute.runtime import find_runtime_libraries

from ffi_builder import runtime


def exported(function: Any, folder: Path, name: str) -> tvm_ffi.Function:
    """Export a function that CuTe DSL has compiled to a library, and load it from there.

    CuTe DSL writes the object file. The library needs libtvm_ffi, and CuTe DSL's runtime if the
    function has GPU code.
    """
    function.export_to_c(str(folder / f"{name}.o"), function_name=name)
    libraries = [Path(path) for path in find_runtime_libraries(enable_tvm_ffi=True)]
    where = [f"-Wl,-rpath,{path.parent}" for path in libraries]
    command = [*shlex.split(os.environ.get("CC", "cc")), "-shared", "-o", f"{name}.so"]
    command += [f"{name}.o", "-Wl,--as-needed", *map(str, libraries), *where]
    subprocess.run(command, cwd=folder, check=True)
    return runtime.load(folder / f"{name}.so")[name]
