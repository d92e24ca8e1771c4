"""A function of CuTe DSL as a shared library."""

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
    """Export ``function``, which CuTe DSL has compiled, to a library, and load it from there.

    CuTe DSL writes the object. It needs libtvm_ffi and, for GPU code alone, CuTe DSL's runtime.
    """
    function.export_to_c(str(folder / f"{name}.o"), function_name=name)
    libraries = [Path(path) for path in find_runtime_libraries(enable_tvm_ffi=True)]
    where = [f"-Wl,-rpath,{path.parent}" for path in libraries]
    command = [*shlex.split(os.environ.get("CC", "cc")), "-shared", "-o", f"{name}.so"]
    command += [f"{name}.o", "-Wl,--as-needed", *map(str, libraries), *where]
    subprocess.run(command, cwd=folder, check=True)
    return runtime.load(folder / f"{name}.so")[name]
