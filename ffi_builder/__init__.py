"""Compiled, validating TVM-FFI entry points for kernels in MLIR modules.

Public names are loaded on first use, so that importing ``ffi_builder.spec`` loads neither MLIR nor
LLVM.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from ffi_builder.errors import BuildError, CompileError, LinkError, SpecError

if TYPE_CHECKING:
    from ffi_builder import cuda, packed, plan, providers, runtime, spec, testing
    from ffi_builder.builder import (
        attach,
        attach_ffi_func,
        call_packed,
        record_memref_types,
        release_packed,
        rename_tvm_ffi_function,
        signature_of,
    )
    from ffi_builder.plan import Plan, Sanitize, explain, make_plan

__version__ = "0.1.0"

__all__ = [
    "BuildError",
    "CompileError",
    "LinkError",
    "Plan",
    "Sanitize",
    "SpecError",
    "__version__",
    "attach",
    "attach_ffi_func",
    "call_packed",
    "cuda",
    "explain",
    "make_plan",
    "packed",
    "plan",
    "providers",
    "record_memref_types",
    "release_packed",
    "rename_tvm_ffi_function",
    "runtime",
    "signature_of",
    "spec",
    "testing",
]

_MODULES: Final = ("cuda", "packed", "plan", "providers", "runtime", "spec", "testing")
_HOMES: Final = {
    "Plan": "plan",
    "Sanitize": "plan",
    "attach": "builder",
    "attach_ffi_func": "builder",
    "call_packed": "builder",
    "explain": "plan",
    "make_plan": "plan",
    "record_memref_types": "builder",
    "release_packed": "builder",
    "rename_tvm_ffi_function": "builder",
    "signature_of": "builder",
}
"""The subpackage that defines each lazily loaded name."""


def __getattr__(name: str) -> object:
    """Load a public name (PEP 562)."""
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
