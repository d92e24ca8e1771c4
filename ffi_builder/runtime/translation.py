"""Translate MLIR modules to LLVM IR with MLIR's C API, and find out which distributions can.

The bindings' own `translate_module_to_llvmir` leaks the text that the C API returns. So the C
function is called here, if its library can be found, and the text is freed.
"""

from __future__ import annotations

import ctypes
import enum
import functools
from collections.abc import Callable
from typing import Final

from ffi_builder.errors import CompileError
from ffi_builder.runtime import _optional, capi
from ffi_builder.runtime.protocols import Operation
from ffi_builder.runtime.safety import worker

TRANSLATE: Final = "mlirTranslateModuleToLLVMIRToString"
FREE: Final = "LLVMDisposeMessage"
_PROBE: Final = "llvm.func @probe(%x: i64) -> i64 {\n  llvm.return %x : i64\n}"


class Way(enum.Enum):
    """A way in which a module of a distribution becomes LLVM IR."""

    OWN = enum.auto()
    """Its own bindings translate it."""
    TORCH_MLIR = enum.auto()
    """torch-mlir, in this process, translates its generic text."""
    CHILD = enum.auto()
    """torch-mlir translates its generic text in a child process: both may not fit into one."""


WAYS: Final[dict[str, Way]] = {
    "torch_mlir": Way.OWN,
    "iree.compiler": Way.OWN,
    "flydsl._mlir": Way.OWN,
    "cutlass._mlir": Way.OWN,
    # Its bindings have the function too, which ends the process: it registers no translations.
    "jaxlib.mlir": Way.TORCH_MLIR,
}
"""The distributions in tests/distributions; any other is tried when it is first used."""


def way_of(root: str) -> Way:
    """Return the way in which modules of distribution `root` become LLVM IR.

    For an unknown one, a child process, which may crash, tries to translate a small module. That
    takes half a second, once per process.
    """
    return WAYS.get(root) or _tried(root)


@functools.cache
def _tried(root: str) -> Way:
    try:
        worker.translate(_PROBE, root, None)
    except CompileError:
        return Way.CHILD
    return Way.OWN


def to_llvm_ir(module: Operation, root: str) -> str:
    """Translate `module`, whose bindings are those of distribution `root`, to LLVM IR text.

    The process ends if LLVM's verifier refuses it: see `safety.allowlist_mlir`.
    """
    functions, address = _functions(root), capi.address(module)
    if functions is None or address is None:
        return _optional.load(f"{root}.dialects.llvm").translate_module_to_llvmir(module)
    translate, free = functions
    text = translate(address)
    try:
        return ctypes.string_at(text).decode()
    finally:
        free(text)


@functools.cache
def _functions(root: str) -> tuple[Callable[[int], int], Callable[[int], None]] | None:
    """The function that the bindings call, and the one that frees its text, if found."""
    library = capi.library(root, TRANSLATE)
    if library is None:
        return None
    translate = library[TRANSLATE]
    # Not every library exports it, but in all it is libc's free, of what strdup gave.
    free = library[FREE] if hasattr(library, FREE) else ctypes.CDLL(None).free
    # An MlirOperation is a struct of one pointer, which is passed like that.
    translate.argtypes, translate.restype = [ctypes.c_void_p], ctypes.c_void_p
    free.argtypes, free.restype = [ctypes.c_void_p], None
    return translate, free
