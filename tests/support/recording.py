"""Callees that record every byte of their arguments: one in the LLVM dialect, and some in C."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from tests.support.native import loaded

SLOT = 64
"""Bytes of a recording that are reserved for each argument."""
POISON = 0xEE
CODES: Final[dict[str, str]] = dict(
    zip(("i1", "i8", "i16", "i32", "i64", "f16", "f32", "f64"), "bbhiqefd", strict=True)
)
"""What struct calls the types of numbers in the LLVM dialect."""


class Recording:
    """A callee in the LLVM dialect that stores each argument in a slot of its own."""

    def __init__(self, name: str, types: Sequence[str]) -> None:
        self._types = types
        self._buffer = ctypes.create_string_buffer(SLOT * (len(types) + 1))
        base = ctypes.addressof(self._buffer)
        parameters = ", ".join(f"%a{i}: {type_}" for i, type_ in enumerate(types))
        lines: list[str] = []
        for i, type_ in enumerate(types):
            lines += [
                f"%i{i} = llvm.mlir.constant({base + SLOT * i} : i64) : i64",
                f"%p{i} = llvm.inttoptr %i{i} : i64 to !llvm.ptr",
                f"llvm.store %a{i}, %p{i} {{alignment = 1 : i64}} : {type_}, !llvm.ptr",
            ]
        body = "\n".join(lines)
        self.text = f"llvm.func @{name}({parameters}) {{\n{body}\nllvm.return\n}}"
        self.clear()

    def clear(self) -> None:
        """Forget the last call."""
        ctypes.memset(self._buffer, POISON, len(self._buffer))

    def read(self, index: int, size: int) -> bytes:
        """Return the bytes of an argument, and check that those behind it were not written."""
        content = self._buffer.raw[SLOT * index :][:SLOT]
        assert content[size:] == bytes([POISON]) * (SLOT - size)
        return content[:size]

    def unsigned(self, index: int, size: int = 8) -> int:
        """Return an argument as an unsigned number."""
        return int.from_bytes(self.read(index, size), "little")

    def signed(self, index: int, size: int = 8) -> int:
        """Return an argument as a signed number."""
        return int.from_bytes(self.read(index, size), "little", signed=True)

    @property
    def values(self) -> list[Any]:
        """The arguments, which are numbers, and pointers as unsigned ones."""
        codes = ["Q" if type_.startswith("!llvm.ptr") else CODES[type_] for type_ in self._types]
        sizes = [struct.calcsize(code) for code in codes]
        return [struct.unpack(f"<{c}", self.read(i, sizes[i]))[0] for i, c in enumerate(codes)]


C_SOURCE = """
#include <stdint.h>
#include <string.h>
uint8_t ffib_test_bytes[4096];
int32_t ffib_test_sizes[64];   /* how much to copy of what each pointer points to */
int32_t ffib_test_status, ffib_test_count, ffib_test_calls;
int32_t ffib_test_nulls;       /* a bit for each pointer that was NULL */

static void copy(void** params) {
  ffib_test_calls++;
  for (int i = 0; ffib_test_sizes[i]; i++)
    if (params[i]) memcpy(ffib_test_bytes + 64 * i, params[i], ffib_test_sizes[i]);
    else ffib_test_nulls |= 1 << i;
}
void ffib_test_pack(void** params) { copy(params); }
void ffib_test_pack_n(void** params, int32_t count) { ffib_test_count = count; copy(params); }
int32_t ffib_test_pack_status(void** params) { copy(params); return ffib_test_status; }
int32_t ffib_test_pack_n_status(void** params, int32_t count) {
  ffib_test_count = count;
  copy(params);
  return ffib_test_status;
}
/* Parameters wider than what is passed: they show how the caller widened it. */
void ffib_test_wide(int32_t a, int32_t b, int32_t c, int32_t d, int32_t e) {
  int32_t all[] = {a, b, c, d, e};
  ffib_test_calls++;
  memcpy(ffib_test_bytes, all, sizeof all);
}
/* 8 integers: the last two are on the stack, as narrow as they are declared. */
void ffib_test_stack(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int8_t g,
                     uint16_t h, float x, double y) {
  struct { int64_t a[6]; int32_t g, h; float x; double y; } all = {{a, b, c, d, e, f}, g, h, x, y};
  ffib_test_calls++;
  memcpy(ffib_test_bytes, &all, sizeof all);
}
"""


class CCallees:
    """A library of C functions, loaded so that compiled modules find them."""

    def __init__(self) -> None:
        self._library = loaded(C_SOURCE)
        self._bytes = (ctypes.c_uint8 * 4096).in_dll(self._library, "ffib_test_bytes")
        self._sizes = (ctypes.c_int32 * 64).in_dll(self._library, "ffib_test_sizes")

    def expect(self, *sizes: int, status: int = 0) -> None:
        """Forget the last call, and set how many bytes are copied from behind each pointer."""
        ctypes.memset(self._bytes, POISON, 4096)
        for index, size in enumerate([*sizes, 0]):
            self._sizes[index] = size
        self._number("status").value = status
        self._number("count").value = -1
        self._number("calls").value = 0
        self._number("nulls").value = 0

    @property
    def calls(self) -> int:
        """The number of calls of any function."""
        return self._number("calls").value

    @property
    def count(self) -> int:
        """The count that the last call was given, or -1."""
        return self._number("count").value

    @property
    def nulls(self) -> list[int]:
        """The indices of the recorded pointers that were NULL."""
        bits = self._number("nulls").value
        return [index for index in range(32) if bits >> index & 1]

    def read(self, index: int, size: int) -> bytes:
        """Return the bytes that a pointer pointed to, and check that no more were copied."""
        content = bytes(self._bytes[SLOT * index : SLOT * (index + 1)])
        assert content[size:] == bytes([POISON]) * (SLOT - size)
        return content[:size]

    def all(self, size: int) -> bytes:
        """Return the first bytes of the whole recording."""
        return bytes(self._bytes[:size])

    def _number(self, name: str) -> ctypes.c_int32:
        return ctypes.c_int32.in_dll(self._library, f"ffib_test_{name}")


@cache
def c_callees() -> CCallees:
    """Return the library, which is compiled once per process."""
    return CCallees()
