"""Runs the diagnosis of wrappers from Python, without MLIR.

The diagnosis is C code of :mod:`ffi_builder.support`, in its shared library.
"""

from __future__ import annotations

import ctypes
import struct
from ctypes import c_char_p, c_int32, c_int64, c_void_p
from functools import cache
from typing import Any, Final

from ffi_builder import importing, support
from ffi_builder.diagnosis.table import Head
from ffi_builder.diagnosis.writing import Table
from ffi_builder.errors import BuildError
from ffi_builder.records import dataclass

_PASSED: Final = -1


@dataclass(frozen=True)
class Diagnosis:
    """The error that ended the diagnosis, and the values found until then."""

    kind: str
    """``"TypeError"`` or ``"ValueError"``; empty if all checks hold."""
    message: str
    slots: tuple[int, ...]
    """The value in each slot of the table, as an int64. The first slots are the symbols', which are
    0 if unbound."""


def diagnose(table: Table, name: str, args: int, num_args: int) -> Diagnosis:
    """Run the checks of a wrapper on raw arguments.

    Args:
        table: the wrapper's table.
        name: the function's name, which errors show.
        args: address of an array of ``TVMFFIAny``.
        num_args: how many elements the array has.

    Raises:
        BuildError: this installation has no shared library, or one of another version.
        MemoryError: there is no memory for the slots.
    """
    data = table.named(name, backtrace="")
    (room,) = struct.unpack_from("<I", data, Head.FRAME)
    slots, kind, message = (c_int64 * table.slots)(), c_char_p(), ctypes.create_string_buffer(room)
    where = slots, ctypes.byref(kind), message, room
    size = _find()(args, num_args, data, table.overlaps, *where)
    if size < _PASSED:
        raise MemoryError("there is no memory to check the arguments")
    if size == _PASSED:
        return Diagnosis("", "", tuple(slots))
    assert kind.value is not None
    text = message.raw[:size].decode(errors="replace")
    return Diagnosis(kind.value.decode(), text, tuple(slots))


@cache
def _find() -> Any:
    # The library asks tvm-ffi's library for the names of types.
    importing.load("tvm_ffi")
    path = support.library()
    try:
        find = ctypes.CDLL(str(path))[support.symbol("find")]
    except AttributeError:  # the checkout was updated, but not the library
        raise BuildError(
            f"support: expected the functions of this version in {path} but got those of another; "
            "install ffi_builder again"
        ) from None
    find.restype = c_int64
    find.argtypes = [
        *(c_void_p, c_int32, c_char_p, c_int32),
        *(ctypes.POINTER(c_int64), ctypes.POINTER(c_char_p), c_char_p, c_int64),
    ]
    return find
