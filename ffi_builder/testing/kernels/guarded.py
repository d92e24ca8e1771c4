"""Tensors in separate memory, between guard zones, of which every byte is checked.

    | guard | elements, and bytes between them if strided | guard |

Before a call every byte gets a known value; after it, the bytes tell what the call has written.
The bytes around elements vary by place and by tensor, so a kernel that copies them to another place
changes bytes there.
"""

from __future__ import annotations

import ctypes
from functools import cache
from random import Random
from typing import Any, Final

from ffi_builder import spec
from ffi_builder.extending import importing, parse_dtype
from ffi_builder.testing.kernels.elements import element_dtype, empty, values
from ffi_builder.testing.kernels.finding import Finding
from ffi_builder.testing.make import devices
from ffi_builder.testing.make.arrays import NUMPY_NAMES, Array, described, numpy

np: Final = numpy()

GUARD: Final = 4096
"""The size of each guard zone, in bytes."""
GARBAGE: Final = (0x3F, 0xFF)
"""The bytes of memory that nobody has written, in the first and the second call.

As floats, they are about 1 and NaN. If a kernel adds to them, or multiplies them by 0, its results
differ between the calls.
"""
_AROUND: Final = (3, 61)
"""The least byte around elements in the first call, and the number of different bytes.

As floats, they are between 0 and 2. In the second call, they are NaN.
"""
_PERIOD: Final = 65521
"""The bytes around elements repeat after so many bytes, which is no usual length of a row."""
_BITS: Final = (0x55, 0xAA)
"""The bytes of unwritten elements that are smaller than a byte: every bit differs between calls."""
_BOOLS: Final = (0, 1)


def read(path: str, given: Any, alignment: int | None = None) -> tuple[Array, Any]:
    """Describe a tensor of any framework, and copy its contents.

    Raises:
        ValueError: it is neither on the CPU nor on a fake device.
    """
    alignment = alignment or 1
    if _is_numpy(given):
        # DLPack does not export read-only arrays.
        strides = tuple(stride // given.itemsize for stride in given.strides)
        dtype = parse_dtype(given.dtype.name)
        array = Array(path, dtype, given.shape, strides, alignment)
        return array, _Elements(array, given.ctypes.data).read()
    tvm_ffi = importing.load("tvm_ffi")
    tensor = given if isinstance(given, tvm_ffi.Tensor) else tvm_ffi.from_dlpack(given)
    memory = devices.active(tensor.device.type)
    if tensor.device.type != "cpu" and memory is None:
        raise ValueError(f"{path} is on {tensor.device}, and only tensors on the CPU are looked at")
    array, address = described(path, tensor, alignment)
    if memory is not None and array.extent != (0, 0):
        address = memory.host(address, 1, array.device_id)
    return array, _Elements(array, address).read()


def _is_numpy(given: Any) -> bool:
    if not isinstance(given, np.ndarray) or str(given.dtype) not in NUMPY_NAMES:
        return False
    return not any(stride % given.itemsize for stride in given.strides)


class Guarded:
    """A tensor between guard zones.

    Args:
        tensor: what the signature says of it.
        array: its dtype, shape and strides.
        given: its contents before a call. With ``intent="out"`` it holds garbage instead.
        framework: makes the tensor: ``"numpy"``, ``"torch"`` or ``"tvm_ffi"``.
        number: its number among the tensors of a call.
    """

    def __init__(
        self, tensor: spec.Tensor, array: Array, given: Any, framework: str, number: int
    ) -> None:
        self.spec, self.array = tensor, array
        self.path, self.intent = array.path, tensor.intent
        self._memory = array.allocate(GUARD)
        self.tensor = array.place(framework, self._memory)
        self._elements = _Elements(array, self._memory.bytes.ctypes.data + self._memory.offset)
        self.dtype = element_dtype(tensor, array.dtype)
        self._outside = self._find_outside(given)
        self._around = _around(self._memory.bytes.size, self._memory.offset, number), GARBAGE[1]
        self.give(given)

    def garbage(self, call: int) -> Any:
        """Return the contents of unwritten memory in call 0 or 1."""
        patterns = GARBAGE
        if self.array.dtype.total_bits % 8:
            patterns = _BITS
        elif self.dtype == parse_dtype("bool"):
            patterns = _BOOLS
        made = np.full_like(self.given, patterns[call])
        made[..., -1] &= 255 >> -self.array.dtype.total_bits % 8
        return made

    def give(self, contents: Any) -> None:
        """Set the given contents. Among elements that share memory, the last one counts."""
        self._elements.write(contents)
        self.given = self.read()

    def prepare(self, contents: Any, call: int) -> None:
        """Write these contents, and the bytes of call 0 or 1 around them."""
        np.copyto(self._memory.bytes, self._around[call], where=self._outside)
        self._elements.write(contents)

    def read(self) -> Any:
        """Copy the contents."""
        return self._elements.read()

    def values(self, contents: Any) -> Any:
        """Return the values of contents, as a NumPy array in the kernel's shape."""
        return values(self.dtype, contents, self.spec.packed_axis)

    def check_outside(self, call: int) -> None:
        """Check that the bytes around the elements are still those of the call.

        Raises:
            Finding: they are not.
        """
        before, after = self._around[call], self._memory.bytes
        changed = np.flatnonzero(self._outside & (after != before))
        if not changed.size:
            return
        first = int(changed[0])
        was, byte = int(np.broadcast_to(before, after.shape)[first]), int(after[first])
        inside = np.flatnonzero(~self._outside) - self._memory.offset
        where = f"elements in bytes {inside[0]} to {inside[-1]}" if inside.size else "no elements"
        words = (
            f"the call writes outside of the elements of {self.path}: byte "
            f"{first - self._memory.offset} from its data was 0x{was:02x} and is 0x{byte:02x} now "
            f"({changed.size} bytes in all; {self.path} has {where})"
        )
        raise Finding("outside", self.path, words)

    def _find_outside(self, contents: Any) -> Any:
        """Return which bytes of the memory, which is still zeros, belong to no element."""
        self._elements.write(np.full_like(contents, 255))
        return self._memory.bytes == 0


def _around(size: int, offset: int, number: int) -> Any:
    """Return the bytes around a tensor in the first call.

    The first element is at ``offset``. At the same distance from it, any two of up to 61 tensors
    have different bytes.
    """
    least, count = _AROUND
    places = np.arange(-offset, size - offset) % _PERIOD
    return (_table()[places] + number % count) % count + least


@cache
def _table() -> Any:
    """Return random numbers, so that bytes copied to another place are likely to differ there."""
    return np.frombuffer(Random(0).randbytes(_PERIOD), "uint8") % _AROUND[1]


class _Elements:
    """The elements of a tensor in memory, which the caller keeps alive."""

    def __init__(self, array: Array, address: int) -> None:
        self._shape, self._strides = array.shape, array.strides
        self._bits = array.dtype.total_bits
        before, after = array.extent
        self._before, self._size, self._address = before, before + after, address

    def read(self) -> Any:
        """Copy the contents."""
        if self._bits % 8:
            bits = self._view(np.unpackbits(self._bytes(), bitorder="little"), self._bits, 8)
            return np.packbits(bits, axis=-1, bitorder="little")
        return self._view(self._bytes(), self._bits // 8, 1).copy()

    def write(self, contents: Any) -> None:
        """Write the contents, and change no other bit."""
        memory = self._bytes()
        if not self._bits % 8:
            self._view(memory, self._bits // 8, 1)[...] = contents
            return
        bits = np.unpackbits(memory, bitorder="little")
        new = np.unpackbits(contents, axis=-1, bitorder="little")
        self._view(bits, self._bits, 8)[...] = new[..., : self._bits]
        memory[:] = np.packbits(bits, bitorder="little")

    def _bytes(self) -> Any:
        """Return the memory from the element with the lowest address to that with the highest."""
        if not self._size:
            return np.zeros(0, "uint8")
        first = self._address - self._before
        return np.frombuffer((ctypes.c_uint8 * self._size).from_address(first), "uint8")

    def _view(self, units: Any, count: int, per_byte: int) -> Any:
        """Return an array of shape ``(*shape, count)``, where an element has ``count`` units."""
        if not self._size:
            return empty(self._shape, count)
        # The stride of a dimension of size 1 may be any number, even one that NumPy refuses.
        pairs = zip(self._shape, self._strides, strict=True)
        strides = [*(stride * count if size > 1 else 0 for size, stride in pairs), 1]
        offset = self._before * per_byte
        return np.ndarray((*self._shape, count), "uint8", units, offset, strides)
