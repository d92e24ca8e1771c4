"""A function of the TVM-FFI C ABI, in C, that records its arguments and returns a chosen result.

Compiled modules find it as ``__tvm_ffi_ffib_packed``.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from tvm_ffi import libinfo

from ffi_builder import abi

SOURCE = """
#include <string.h>
#include <tvm/ffi/c_api.h>
struct { int64_t calls, handle, address, count, status; TVMFFIAny result, args[32]; } ffib_packed;

int __tvm_ffi_ffib_packed(void *handle, const TVMFFIAny *args, int32_t count, TVMFFIAny *result) {
  ffib_packed.calls++;
  ffib_packed.handle = (int64_t)handle;
  ffib_packed.address = (int64_t)args;
  ffib_packed.count = count;
  memcpy(ffib_packed.args, args, count * sizeof(TVMFFIAny));
  if (result->type_index != kTVMFFINone || result->v_int64) return -99;
  if (ffib_packed.status == -1) TVMFFIErrorSetRaisedFromCStr("KeyError", "the callee's own");
  else *result = ffib_packed.result;
  return ffib_packed.status;
}
"""
_HEAD = 5 * 8


class Packed:
    """The function, and the record of its last call."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        size = _HEAD + 33 * abi.ANY_SIZE
        self._memory = (ctypes.c_uint8 * size).in_dll(self._library, "ffib_packed")
        self._head = (ctypes.c_int64 * 7).in_dll(self._library, "ffib_packed")

    def expect(self, *, status: int = 0, result: tuple[int, int] = (0, 0)) -> None:
        """Forget the last call, and set the type index and payload that the next one returns."""
        ctypes.memset(self._memory, 0, len(self._memory))
        self._head[4] = status
        self._head[5], self._head[6] = result

    @property
    def calls(self) -> int:
        """The number of calls."""
        return self._head[0]

    @property
    def handle(self) -> int:
        """The first argument of the last call."""
        return self._head[1]

    @property
    def address(self) -> int:
        """The address of the arguments of the last call."""
        return self._head[2]

    @property
    def count(self) -> int:
        """The number of arguments of the last call."""
        return self._head[3]

    @property
    def args(self) -> list[tuple[int, int, int]]:
        """Type index, padding and payload (all unsigned) of each argument of the last call."""
        raw = bytes(self._memory)[_HEAD + abi.ANY_SIZE :]
        sizes = ((0, 4), (4, 4), (8, 8))
        starts = range(0, self.count * abi.ANY_SIZE, abi.ANY_SIZE)
        return [  # pyright: ignore[reportReturnType] # three each
            tuple(int.from_bytes(raw[s + at :][:n], "little") for at, n in sizes) for s in starts
        ]


@cache
def packed_callee() -> Packed:
    """Return the library, which is compiled once per process."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "packed.c"), Path(folder, "libpacked.so")
        source.write_text(SOURCE)
        flags = [f"-I{path}" for path in libinfo.include_paths()]
        command = ["cc", "-O1", "-shared", "-fPIC", *flags, str(source), "-o", str(library)]
        subprocess.run(command, check=True, timeout=60)
        return Packed(library)
