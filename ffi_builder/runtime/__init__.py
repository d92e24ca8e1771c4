"""Compile a module, or take one that is compiled, and call its functions.

    compiled = runtime.compile(module, pipeline="builtin.module(…)")
    compiled["matmul"](a, b, c)

MLIR, LLVM and the JIT are imported when they are first used, so importing this package loads none
of them.
"""

from ffi_builder.runtime.compiled import CompiledModule, UnknownFunctionError
from ffi_builder.runtime.compiler import compile
from ffi_builder.runtime.functions import function

__all__ = ["CompiledModule", "UnknownFunctionError", "compile", "function"]
