"""LLVM IR of an MLIR module, by MLIR's C API.

The bindings' own `translate_module_to_llvmir` never frees the text that the C API gives it: as many
bytes with every call as the module has in LLVM IR. So the function that they call is called here,
where the library that it is in can be found, and the text is freed.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

from ffi_builder.runtime import _optional
from ffi_builder.runtime.protocols import Operation

_TRANSLATE: Final = "mlirTranslateModuleToLLVMIRToString"
_FREE: Final = "LLVMDisposeMessage"


def to_llvm_ir(module: Operation, root: str) -> str:
    """LLVM IR text of `module`, whose bindings are those of distribution `root`.

    The process ends if LLVM's verifier refuses it: see `screen_mlir`.
    """
    functions = _functions(root)
    if functions is None:
        return _optional.load(f"{root}.dialects.llvm").translate_module_to_llvmir(module)
    translate, free = functions
    capsule = cast("Any", module)._CAPIPtr
    text = translate(_pointer(capsule, _capsule_name(capsule)))
    try:
        return ctypes.string_at(text).decode()
    finally:
        free(text)


@functools.cache
def _functions(root: str) -> tuple[Callable[[int], int], Callable[[int], None]] | None:
    """What the bindings call, in a library beside them, and what frees its text, if found."""
    for folder in _optional.load(f"{root}._mlir_libs").__path__:
        for path in sorted(Path(folder).glob("lib*.so*")):
            try:
                # It is loaded, or it is another one. PyDLL: as the bindings do, this keeps the GIL.
                library = ctypes.PyDLL(str(path), mode=os.RTLD_NOLOAD)
                translate, free = library[_TRANSLATE], library[_FREE]
            except (OSError, AttributeError):
                continue
            # An MlirOperation is a struct of one pointer, which is passed like that.
            translate.argtypes, translate.restype = [ctypes.c_void_p], ctypes.c_void_p
            free.argtypes, free.restype = [ctypes.c_void_p], None
            return translate, free
    return None


def _pointer(capsule: Any, name: bytes) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.argtypes, get.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    return get(capsule, name)


def _capsule_name(capsule: Any) -> bytes:
    get = ctypes.pythonapi.PyCapsule_GetName
    get.argtypes, get.restype = [ctypes.py_object], ctypes.c_char_p
    return get(capsule)
