"""Compile a module, or take one that is compiled, and call its functions.

    compiled = runtime.compile(module, pipeline="builtin.module(…)")
    compiled["matmul"](a, b, c)

`compile_cached` looks a compiled module up before it builds it. `export_object` and
`export_library` of a compiled module write it to files, and `load` gives the functions of such a
library.

MLIR, LLVM and the JIT are imported when they are first used, and so is each name of this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.lazy import lazy
from ffi_builder.runtime import _system as _system  # it refuses other systems

if TYPE_CHECKING:
    from ffi_builder.runtime.allocator.install import InstalledAllocator, install_allocator
    from ffi_builder.runtime.compiled import CompiledModule
    from ffi_builder.runtime.compiler import compile, compile_cached, llvm_ir, lower
    from ffi_builder.runtime.embedded_modules import CustomModule
    from ffi_builder.runtime.loaded import LoadedLibrary, load
    from ffi_builder.runtime.lowered import LoweredModule
    from ffi_builder.runtime.python.address import callable, function
    from ffi_builder.runtime.python.table import UnknownFunctionError

__all__ = [
    "CompiledModule",
    "CustomModule",
    "InstalledAllocator",
    "LoadedLibrary",
    "LoweredModule",
    "UnknownFunctionError",
    "callable",
    "compile",
    "compile_cached",
    "function",
    "install_allocator",
    "llvm_ir",
    "load",
    "lower",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        **dict.fromkeys(("InstalledAllocator", "install_allocator"), "allocator.install"),
        **dict.fromkeys(("compile", "compile_cached", "llvm_ir", "lower"), "compiler"),
        **dict.fromkeys(("LoadedLibrary", "load"), "loaded"),
        **dict.fromkeys(("callable", "function"), "python.address"),
        "CompiledModule": "compiled",
        "CustomModule": "embedded_modules",
        "LoweredModule": "lowered",
        "UnknownFunctionError": "python.table",
    },
    __all__,
)
