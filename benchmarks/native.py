"""Builds the C code, and passes arguments as C callers do; needs no ffi_builder."""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tvm_ffi
from tvm_ffi import libinfo

HERE = Path(__file__).parent
SOURCES = ("handwritten.c", "unchecked.c", "driver.c")


class Any16(ctypes.Structure):
    """A ``TVMFFIAny``."""

    _fields_ = (
        ("type_index", ctypes.c_int32),
        ("padding", ctypes.c_uint32),
        ("payload", ctypes.c_int64),
    )


INT, OPAQUE_POINTER = 1, 4
"""Type indices of values that are not objects; objects hold their own."""


class Arguments:
    """An array of ``TVMFFIAny`` that keeps its objects alive."""

    def __init__(self, values: Sequence[object]) -> None:
        self._owned = [as_object(value) for value in values]
        self._array = (Any16 * len(values))(*map(_any, self._owned))
        self.address = ctypes.addressof(self._array)
        self.count = len(values)


def as_tensor(value: object) -> object:
    """Convert arrays to ``tvm_ffi.Tensor``, in tuples too; return anything else unchanged.

    Of a ``tvm_ffi.Shape`` that is its object: as a tuple it would become an Array.
    """
    if isinstance(value, tvm_ffi.Shape):  # a tuple too
        return value._tvm_ffi_cached_object  # pyright: ignore[reportPrivateUsage]
    if isinstance(value, tuple):
        return tuple(as_tensor(item) for item in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, int | ctypes.c_void_p | tvm_ffi.Object):
        return value
    return tvm_ffi.from_dlpack(value)


def as_object(value: object) -> object:
    """Convert values that are objects in C to ``tvm_ffi.Object``; return others unchanged."""
    value = as_tensor(value)
    return tvm_ffi.convert(value) if isinstance(value, tuple) else value


def _any(value: Any) -> Any16:
    if isinstance(value, int):
        return Any16(INT, 0, value)
    if isinstance(value, ctypes.c_void_p):
        return Any16(OPAQUE_POINTER, 0, value.value or 0)
    handle = value.__chandle__()
    return Any16(ctypes.c_int32.from_address(handle + 8).value, 0, handle)


def build(folder: Path) -> Path:
    """Compile kernels.c to ``kernels.o``, and everything to the library that is returned."""
    kernels, shared = folder / "kernels.o", folder / "bench.so"
    cc("-c", str(HERE / "kernels.c"), "-o", str(kernels))
    sources = [str(HERE / name) for name in SOURCES]
    library = libinfo.find_libtvm_ffi()
    cc("-shared", "-Wl,-Bsymbolic", *sources, str(kernels), library, "-o", str(shared))
    return shared


class Native:
    """The hand-written functions, and loops that call any function from C.

    They are compiled to `folder` unless it has them. The kernels become symbols of the process, so
    a JIT finds them.
    """

    def __init__(self, folder: Path) -> None:
        shared = folder / "bench.so"
        if not shared.exists():
            build(folder)
        self.folder = folder
        self.kernels = (folder / "kernels.o").read_bytes()
        self._library = ctypes.CDLL(str(shared), mode=ctypes.RTLD_GLOBAL)

    def address(self, name: str) -> int:
        """Return the address of a function of handwritten.c or unchecked.c."""
        address = ctypes.cast(getattr(self._library, name), ctypes.c_void_p).value
        assert address is not None
        return address

    def seconds(self, loop: str, function: int, args: Arguments, calls: int) -> float:
        """Return the seconds that ``time_calls`` or ``time_errors`` of driver.c measures."""
        call = self._library[loop]
        call.restype = ctypes.c_double
        pointer, int32, int64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64
        result = call(pointer(function), pointer(args.address), int32(args.count), int64(calls))
        assert result >= 0, f"{loop}: the call did not end as expected"
        return result


def compiler() -> str:
    """Return the version of the C compiler."""
    done = subprocess.run([*command(), "--version"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0]


def command() -> list[str]:
    """Return the command of the C compiler."""
    return shlex.split(os.environ.get("CC", "cc"))


def cc(*arguments: str) -> None:
    """Run the C compiler, with the headers of tvm-ffi."""
    includes = [f"-I{path}" for path in libinfo.include_paths()]
    subprocess.run([*command(), "-O2", "-fPIC", *includes, *arguments], check=True)
