"""Reads and makes the elements of tensors of any dtype.

The *contents* of a tensor are its elements as bytes: an array of uint8 whose last axis has the
bytes of one element. In elements of less than 8 bits, these are the low bits of a byte. Values of
bfloat16 and of narrower floats become float32, which holds each of them exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, TypeAlias

from ffi_builder import spec
from ffi_builder.extending import DataType, abi, parse_dtype
from ffi_builder.testing.make.arrays import needed, numpy

np: Final = numpy()

Generator: TypeAlias = Any
"""A ``numpy.random.Generator``."""
CONTENTS: Final = ("ones", "counting", "limits", "random")
"""The contents that :func:`make` gives a tensor, the simplest first.

The limits are NaN, infinities, zeros of both signs, and the least and the greatest ints.
"""

_CODES: Final = {code: name for name, code in abi.DTYPE_CODES.items()}
_GREATEST: Final = 4
"""Greatest magnitude of a random float; ints are up to twice as large, unless they are narrow."""
_FINE: Final = 2**24
"""Fine floats are multiples of 1 by this: float32 has too few bits for them, float64 enough for the
sum of many, and of their products with others, which do not depend on the order then."""
_NARROW: Final = 16
"""In half of all tensors, ints of at most this many bits (pixels, samples) have any value."""
_HUGE: Final = 2**40
"""The limit for the product of the sizes that NumPy gets, where a size of 0 counts as 1."""
_OFTEN: Final = 8
"""One in this many random elements is a limit, if limits are requested."""


def element_dtype(tensor: spec.Tensor, stored: DataType) -> DataType:
    """Return the type of one stored element as the kernel sees it: packed elements are lanes."""
    if tensor.packing == 1:
        return stored
    dtype = parse_dtype(tensor.dtypes[0])
    return dtype._replace(lanes=dtype.lanes * tensor.packing)


def tolerance(dtype: DataType) -> float:
    """Return the default tolerance for values of a type; 0 for ints, bools and others.

    It is 1e-9 for float64, 1e-5 for float32, and for other floats the distance from 1 to the next
    value.
    """
    name = _CODES.get(dtype.code, "")
    if name in abi.FIXED_BITS:
        return float(_ml_dtypes().finfo(name).eps)
    if name == "bfloat":
        return 2.0**-7
    return {64: 1e-9, 32: 1e-5, 16: 2.0**-10, 0: 0.0}[float_bits(dtype)]


def float_bits(dtype: DataType) -> int:
    """Return the bits of a float, or of each of a complex number's two; 0 for other types."""
    name = _CODES.get(dtype.code, "")
    if name in ("float", "bfloat") or name in abi.FIXED_BITS:
        return dtype.bits
    return dtype.bits // 2 if name == "complex" else 0


def _ml_dtypes() -> Any:
    """Import the package with floats of 8 bits and fewer, which NumPy lacks."""
    return needed("ml_dtypes", "ml_dtypes", extra="testing")


@cache
def _table(name: str) -> Any:
    """Return the value of every code of a narrow float, as float32."""
    codes = np.arange(2 ** abi.FIXED_BITS[name], dtype="uint8")
    return codes.view(getattr(_ml_dtypes(), name)).astype("float32")


# ---- reading


def values(dtype: DataType, contents: Any, packed_axis: int | None = None) -> Any:
    """Return the values in the contents of a tensor, as a NumPy array.

    Several lanes become the last axis of the result, or are joined with ``packed_axis``.
    """
    lanes = _lanes(dtype, contents)
    scalars = _scalars(dtype, np.ascontiguousarray(lanes))
    if packed_axis is None:
        return scalars if dtype.lanes > 1 else scalars[..., 0]
    shape = list(contents.shape[:-1])
    shape[packed_axis] *= dtype.lanes
    return np.moveaxis(scalars, -1, packed_axis + 1).reshape(shape)


def _lanes(dtype: DataType, contents: Any) -> Any:
    """Return bytes of shape ``(*shape, lanes, bytes of a lane)``."""
    shape = contents.shape[:-1]
    if dtype.bits % 8 == 0:
        return contents.reshape((*shape, dtype.lanes, dtype.bits // 8))
    bits = np.unpackbits(contents, axis=-1, bitorder="little")[..., : dtype.total_bits]
    bits = bits.reshape((*shape, dtype.lanes, dtype.bits))
    return np.packbits(bits, axis=-1, bitorder="little")


def _scalars(dtype: DataType, lanes: Any) -> Any:
    name, bits = _CODES.get(dtype.code, ""), dtype.bits
    if name in abi.FIXED_BITS:
        return _table(name)[lanes[..., 0]]
    if name in ("int", "uint") and bits < 8:
        codes = lanes[..., 0].astype("int16")
        negative = (codes >> (bits - 1)) & 1 if name == "int" else 0
        return (codes - (negative << bits)).astype(f"{name}8")
    if name == "bfloat":
        widened = lanes.view("<u2")[..., 0].astype("uint32") << 16
        return widened.view("float32")
    if name == "bool":
        # If a byte is neither 0 nor 1, show the bytes as numbers.
        return lanes[..., 0] if lanes.max(initial=0) > 1 else lanes[..., 0].view("bool")
    if name == "complex" and bits == 32:
        return lanes.view("<f2").astype("float32").view("complex64")[..., 0]
    letter = {"int": "i", "float": "f", "complex": "c"}.get(name, "u")
    return lanes.view(f"<{letter}{bits // 8}")[..., 0]


# ---- making


def empty(shape: Sequence[int], count: int) -> Any:
    """Return the contents of a tensor without elements, of ``count`` bytes or bits each.

    NumPy refuses huge sizes even if another size is 0. All other sizes are then 1.
    """
    huge = math.prod(max(size, 1) for size in shape) > _HUGE
    return np.zeros((*(min(size, 1) if huge else size for size in shape), count), "uint8")


def make(
    dtype: DataType,
    shape: Sequence[int],
    kind: str,
    random: Generator,
    *,
    limits: bool,
    fine: bool = False,
) -> Any:
    """Make the contents of a tensor.

    Args:
        dtype: the type of one element, with its lanes.
        shape: in elements.
        kind: one of :data:`CONTENTS`. Random floats are multiples of 1/8 of at most 4.
        random: makes the random numbers.
        limits: put limits among random elements.
        fine: half of the random floats, which must have 64 bits, are multiples of 2**-24 instead.
    """
    if 0 in shape:
        return empty(shape, -(-dtype.total_bits // 8))
    scalars = _made(dtype, (*shape, dtype.lanes), kind, random, fine=fine)
    if kind == "random" and limits:
        chosen = random.integers(_OFTEN, size=scalars.shape[:-1]) == 0
        limit_values = _limits(dtype)
        scalars[chosen] = limit_values[random.integers(len(limit_values), size=int(chosen.sum()))]
    if dtype.bits % 8 == 0:
        return scalars.reshape((*shape, dtype.total_bits // 8))
    bits = np.unpackbits(scalars, axis=-1, bitorder="little")[..., : dtype.bits]
    return np.packbits(bits.reshape((*shape, dtype.total_bits)), axis=-1, bitorder="little")


def _made(
    dtype: DataType, shape: tuple[int, ...], kind: str, random: Generator, *, fine: bool
) -> Any:
    """Return scalars as bytes, of shape ``(*shape, bytes of a scalar)``."""
    if kind == "limits":
        return np.resize(_limits(dtype), (*shape, max(dtype.bits // 8, 1)))
    if _CODES.get(dtype.code) == "complex":
        shape = (*shape, 2)
    plain = _plain(dtype, random if kind == "random" else None)
    if kind == "random":
        numbers = plain[random.integers(len(plain), size=shape)]
        if fine:
            part = random.integers(_FINE // 8, size=shape) / _FINE
            numbers = numbers + part * random.integers(2, size=shape)
        return encode(dtype, numbers)
    if kind == "counting":
        above = plain[(plain >= 1) & (plain % 1 == 0)]
        return encode(dtype, np.resize(above if above.size else plain[-1:], shape))
    return encode(dtype, np.full(shape, plain[np.abs(plain - 1).argmin()]))


def _plain(dtype: DataType, random: Generator | None) -> Any:
    """Return numbers near 0 in their order; in half of random cases, all values of a narrow int."""
    name = _CODES.get(dtype.code, "")
    if name in ("float", "bfloat", "complex"):
        return np.arange(-8 * _GREATEST, 8 * _GREATEST + 1) / 8
    if name in abi.FIXED_BITS:
        sizes = np.abs(_table(name))
        return np.unique(_table(name)[((sizes >= 1 / 8) & (sizes <= _GREATEST)) | (sizes == 0)])
    low, high = _int_range(dtype)
    if random is None or dtype.bits > _NARROW or random.integers(2):
        low, high = max(low, -2 * _GREATEST), min(high, 2 * _GREATEST)
    return np.arange(low, high + 1)


def _int_range(dtype: DataType) -> tuple[int, int]:
    """Return the least and the greatest int; bools are ints of one bit."""
    name = _CODES.get(dtype.code, "")
    if name == "int":
        return -(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1
    return 0, 1 if name == "bool" else 2**dtype.bits - 1


def _limits(dtype: DataType) -> Any:
    """Return the limits of a type, as bytes of shape ``(count, bytes of a scalar)``."""
    name = _CODES.get(dtype.code, "")
    if name in abi.FIXED_BITS:
        table = _table(name)
        odd = ~np.isfinite(table) | (np.abs(table) == np.nanmax(np.abs(table))) | (table == 0)
        return np.flatnonzero(odd).astype("uint8")[:, np.newaxis]
    if name not in ("float", "bfloat", "complex"):
        low, high = _int_range(dtype)
        return encode(dtype, np.array([low % 2**64, high, 0], "uint64"))
    numbers = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0])
    return encode(dtype, numbers[:, np.newaxis].repeat(2, 1) if name == "complex" else numbers)


def encode(dtype: DataType, numbers: Any) -> Any:
    """Return numbers as bytes along a new last axis. A complex number is given as two numbers."""
    name, size = _CODES.get(dtype.code, ""), max(dtype.bits // 8, 1)
    if name in abi.FIXED_BITS:
        encoded = np.asarray(numbers, "float32").astype(getattr(_ml_dtypes(), name))
    elif name == "bfloat":
        encoded = (np.asarray(numbers, "float32").view("uint32") >> 16).astype("<u2")
    elif name == "complex":
        encoded = np.asarray(numbers, f"<f{size // 2}").view(f"S{size}")[..., 0]
    elif name == "float":
        encoded = np.asarray(numbers, f"<f{size}")
    else:
        encoded = np.asarray(numbers).astype(f"<i{size}")
    encoded = np.ascontiguousarray(encoded[..., np.newaxis]).view("uint8")
    return encoded & (2**dtype.bits - 1) if name in ("int", "uint") and dtype.bits < 8 else encoded
