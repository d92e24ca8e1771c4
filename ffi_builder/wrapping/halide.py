"""What code that Halide compiled ahead of time says of its parameters.

Beside a function ``f`` there is ``f_metadata``, which returns a ``halide_filter_metadata_t``. The
layouts are those of ``HalideRuntime.h``.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Final

from ffi_builder import attach, runtime, spec
from ffi_builder.ir import PlainModule
from ffi_builder.providers import DirectCallProvider
from ffi_builder.runtime.extending import Item, symbols_of
from ffi_builder.wrapping.c_types import HALIDE_BUFFER, CType, Prototype

_VERSION: Final = 1
_SCALAR: Final = 0
_INPUT: Final = 1
_CODES: Final = {0: "int", 1: "uint", 2: "float", 4: "bfloat"}
"""``halide_type_code_t``."""


class _Argument(ctypes.Structure):
    """A ``halide_filter_argument_t``."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("values", ctypes.c_void_p * 4),
        ("estimates", ctypes.c_void_p),
    )


class _Metadata(ctypes.Structure):
    """The beginning of a ``halide_filter_metadata_t``."""

    _fields_ = (
        ("version", ctypes.c_int32),
        ("count", ctypes.c_int32),
        ("arguments", ctypes.POINTER(_Argument)),
    )


def symbol_of(function: str) -> str:
    """Return the name of the function that returns the metadata of a function."""
    return f"{function}_metadata"


def has_metadata(code: Item, function: str) -> bool:
    """Return whether code has the metadata of a function."""
    symbols = symbols_of(code) or ()
    return any(each.defined and each.name == symbol_of(function) for each in symbols)


def declared_by(items: Sequence[Any], function: str) -> Prototype | None:
    """Return the types of a function in code to link, which has its metadata.

    None for metadata of another version. The metadata are read by calling the code.

    Raises:
        LinkError: a symbol is missing.
    """
    module = PlainModule()
    provider = DirectCallProvider(symbol_of(function))
    attach(module, spec.Signature.parse("metadata() -> p: handle"), provider)
    compiled = runtime.compile(module, link=list(items))
    metadata = _Metadata.from_address(compiled["metadata"]().value)
    if metadata.version != _VERSION:
        return None
    params = [
        (bytes(each.name).decode(), _type(each)) for each in metadata.arguments[: metadata.count]
    ]
    return Prototype(function, tuple(params), CType("int32"))


def _type(argument: Any) -> CType:
    dtype = f"{_CODES.get(argument.code)}{argument.bits}"
    dtype = None if argument.code not in _CODES else "bool" if argument.bits == 1 else dtype
    if argument.kind == _SCALAR:
        return CType(dtype, is_pointer=dtype is None)
    is_const = argument.kind == _INPUT
    return CType(dtype, True, is_const, HALIDE_BUFFER, rank=argument.dimensions)
