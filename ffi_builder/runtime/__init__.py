"""Compiles modules, loads compiled ones, and calls their functions.

    compiled = runtime.compile(module, pipeline="builtin.module(…)")
    compiled["matmul"](a, b, c)

`compile_cached` looks a compiled module up in the cache before it builds the module. The methods
`export_object` and `export_library` of a compiled module write it to files, and `load` loads a
library and returns its functions. `compile_many` compiles modules on all cores.

MLIR, LLVM, the JIT and the names of this package are imported on first use.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ffi_builder.lazy import lazy

if TYPE_CHECKING:
    from ffi_builder.runtime.compiler.compile import compile, compile_cached, llvm_ir, lower
    from ffi_builder.runtime.compiler.compiled import CompiledModule, LoweredModule
    from ffi_builder.runtime.compiler.many import compile_many
    from ffi_builder.runtime.files.embedded_modules import CustomModule
    from ffi_builder.runtime.python.allocator import install_allocator
    from ffi_builder.runtime.python.loaded import callable_at, function_at, load

__all__ = [
    "CompiledModule",
    "CustomModule",
    "LoweredModule",
    "callable_at",
    "compile",
    "compile_cached",
    "compile_many",
    "function_at",
    "install_allocator",
    "llvm_ir",
    "load",
    "lower",
]

if sys.platform != "linux":
    raise ImportError(
        f"ffi_builder.runtime needs Linux, and this is {sys.platform}: it compiles to ELF objects, "
        "and keeps faults of LLVM in child processes of POSIX. ffi_builder.spec, plan and "
        "explain work on every system, testing.check on macOS too, and builder where there are "
        "MLIR bindings (docs/systems.md)"
    )

__getattr__, __dir__ = lazy(
    __name__,
    {
        **dict.fromkeys(("compile", "compile_cached", "llvm_ir", "lower"), "compiler.compile"),
        **dict.fromkeys(("callable_at", "function_at", "load"), "python.loaded"),
        **dict.fromkeys(("CompiledModule", "LoweredModule"), "compiler.compiled"),
        "CustomModule": "files.embedded_modules",
        "compile_many": "compiler.many",
        "install_allocator": "python.allocator",
    },
    __all__,
)
