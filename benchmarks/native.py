"""The C side: building it, and arguments as C callers pass them."""

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

from ffi_builder import abi

HERE = Path(__file__).parent


class Any16(ctypes.Structure):
    """A ``TVMFFIAny``."""

    _fields_ = (
        ("type_index", ctypes.c_int32),
        ("padding", ctypes.c_uint32),
        ("payload", ctypes.c_int64),
    )


class Arguments:
    """An array of ``TVMFFIAny``, which keeps alive what it refers to."""

    def __init__(self, values: Sequence[object]) -> None:
        self._owned = [as_tensor(value) for value in values]
        self._array = (Any16 * len(values))(*map(_any, self._owned))
        self.address = ctypes.addressof(self._array)
        self.count = len(values)


def as_tensor(value: object) -> object:
    """An array as a ``tvm_ffi.Tensor``, all else as it is."""
    return value if isinstance(value, int) else tvm_ffi.from_dlpack(value)


def _any(value: Any) -> Any16:
    if isinstance(value, int):
        return Any16(abi.TypeIndex.INT, 0, value)
    return Any16(abi.TypeIndex.TENSOR, 0, value.__chandle__())


class Native:
    """The hand-written functions, and loops that call any function from C."""

    def __init__(self, folder: Path) -> None:
        library = libinfo.find_libtvm_ffi()
        kernels, shared = folder / "kernels.o", folder / "bench.so"
        _cc("-c", str(HERE / "kernels.c"), "-o", str(kernels))
        sources = [str(HERE / name) for name in ("handwritten.c", "driver.c")]
        _cc("-shared", "-Wl,-Bsymbolic", *sources, str(kernels), library, "-o", str(shared))
        self.kernels = kernels.read_bytes()
        self._library = ctypes.CDLL(str(shared))

    def address(self, name: str) -> int:
        """The address of a function of handwritten.c."""
        address = ctypes.cast(getattr(self._library, name), ctypes.c_void_p).value
        assert address is not None
        return address

    def seconds(self, loop: str, function: int, args: Arguments, calls: int) -> float:
        """What ``time_calls`` or ``time_errors`` of driver.c says."""
        call = self._library[loop]
        call.restype = ctypes.c_double
        pointer, int32, int64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64
        result = call(pointer(function), pointer(args.address), int32(args.count), int64(calls))
        assert result >= 0, f"{loop}: the call did not end as expected"
        return result


def compiler() -> str:
    """Which C compiler this is."""
    done = subprocess.run([*_command(), "--version"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0]


def _command() -> list[str]:
    return shlex.split(os.environ.get("CC", "cc"))


def _cc(*arguments: str) -> None:
    includes = [f"-I{path}" for path in libinfo.include_paths()]
    subprocess.run([*_command(), "-O2", "-fPIC", *includes, *arguments], check=True)
