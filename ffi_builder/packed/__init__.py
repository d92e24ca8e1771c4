"""Calls of functions of the TVM-FFI C ABI, from any function of a module.

:func:`ffi_builder.call_packed` emits such a call, and ``PackedCallProvider`` calls the kernel in
this way. A callee is one of:

- :class:`Symbol`: ``__tvm_ffi_<name>``, in the module or linked with it.
- :class:`GlobalFunction`: a function that is registered with tvm-ffi under a name.
- :class:`FunctionObject`: the value of a ``spec.Function``, or any other ``ffi.Function``.
- :class:`ImportedFunction`: a function of the modules that the library imports.

Arguments are integers and floats of the IR, Python constants, and pointers in one of the classes
:class:`Tensor`, :class:`Object`, … that say what they point to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.lazy import lazy

if TYPE_CHECKING:
    from ffi_builder.packed.arguments import (
        AnyValue,
        Bytes,
        CString,
        Device,
        DType,
        Object,
        Pointer,
        String,
        Tensor,
        Unsigned,
    )
    from ffi_builder.packed.callees import FunctionObject, GlobalFunction, ImportedFunction, Symbol

__all__ = [
    "AnyValue",
    "Bytes",
    "CString",
    "DType",
    "Device",
    "FunctionObject",
    "GlobalFunction",
    "ImportedFunction",
    "Object",
    "Pointer",
    "String",
    "Symbol",
    "Tensor",
    "Unsigned",
]

_CALLEES = ("FunctionObject", "GlobalFunction", "ImportedFunction", "Symbol")

__getattr__, __dir__ = lazy(
    __name__, {name: "callees" if name in _CALLEES else "arguments" for name in __all__}, __all__
)
