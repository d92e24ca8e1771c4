"""Reads and makes the elements of tensors of any dtype, with NumPy alone.

The *contents* of a tensor are its elements as bytes: an array of uint8 whose last axis has the
bytes of one element. In elements of less than 8 bits, these are the low bits of a byte. Values of
bfloat16 and of narrower floats become float32, which holds each of them exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, TypeAlias

from ffi_builder import abi, spec
from ffi_builder.records import dataclass
from ffi_builder.testing.make.arrays import numpy

Generator: TypeAlias = Any
"""A ``numpy.random.Generator``."""
CONTENTS: Final = ("ones", "counting", "limits", "random")
"""The contents that :func:`make` gives a tensor, the simplest first.

The limits are NaN, infinities, zeros of both signs, and the least and the greatest ints.
"""

_CODES: Final = {code: name for name, code in abi.DTYPE_CODES.items()}
_GREATEST: Final = 4
"""Greatest magnitude of a random float; ints are up to twice as large, unless they are narrow."""
_NARROW: Final = 16
"""Ints of up to so many bits, such as pixels and samples, have any value in half of all tensors."""
_HUGE: Final = 2**40
"""More elements than NumPy is asked for, even if one size is 0."""
_OFTEN: Final = 8
"""One in this many random elements is a limit, if limits are asked for."""


@dataclass(frozen=True)
class _Float:
    """A float of 8 bits or fewer: its fields, and which codes are not finite.

    ``special`` is ``"ieee"`` (infinities and NaNs have the greatest exponent), ``"fn"`` (all ones
    are NaN), ``"fnuz"`` (the code of -0 is NaN), ``"finite"``, or ``"scale"`` (powers of two
    without a sign; all ones are NaN).
    """

    exponent: int
    mantissa: int
    bias: int
    special: str


_FLOATS: Final = {
    "float8_e3m4": _Float(3, 4, 3, "ieee"),
    "float8_e4m3": _Float(4, 3, 7, "ieee"),
    "float8_e4m3b11fnuz": _Float(4, 3, 11, "fnuz"),
    "float8_e4m3fn": _Float(4, 3, 7, "fn"),
    "float8_e4m3fnuz": _Float(4, 3, 8, "fnuz"),
    "float8_e5m2": _Float(5, 2, 15, "ieee"),
    "float8_e5m2fnuz": _Float(5, 2, 16, "fnuz"),
    "float8_e8m0fnu": _Float(8, 0, 127, "scale"),
    "float6_e2m3fn": _Float(2, 3, 1, "finite"),
    "float6_e3m2fn": _Float(3, 2, 3, "finite"),
    "float4_e2m1fn": _Float(2, 1, 1, "finite"),
}
"""The formats of the OCP specifications (OFP8, MX) and of ml_dtypes."""


def element_dtype(tensor: spec.Tensor, stored: spec.DataType) -> spec.DataType:
    """Return the type of one stored element as the kernel sees it; packed ones become lanes."""
    if tensor.packing == 1:
        return stored
    dtype = spec.parse_dtype(tensor.dtypes[0])
    return dtype._replace(lanes=dtype.lanes * tensor.packing)


# ---- reading


def values(dtype: spec.DataType, contents: Any, packed_axis: int | None = None) -> Any:
    """Return the values in the contents of a tensor, as a NumPy array.

    Several lanes are the last axis of the result, or are joined with ``packed_axis``.
    """
    np = numpy()
    lanes = _lanes(dtype, contents)
    found = _scalars(dtype, np.ascontiguousarray(lanes))
    if packed_axis is None:
        return found if dtype.lanes > 1 else found[..., 0]
    shape = list(contents.shape[:-1])
    shape[packed_axis] *= dtype.lanes
    return np.moveaxis(found, -1, packed_axis + 1).reshape(shape)


def _lanes(dtype: spec.DataType, contents: Any) -> Any:
    """Return bytes of shape ``(*shape, lanes, bytes of a lane)``."""
    np = numpy()
    shape = contents.shape[:-1]
    if dtype.bits % 8 == 0:
        return contents.reshape((*shape, dtype.lanes, dtype.bits // 8))
    bits = np.unpackbits(contents, axis=-1, bitorder="little")[..., : dtype.total_bits]
    bits = bits.reshape((*shape, dtype.lanes, dtype.bits))
    return np.packbits(bits, axis=-1, bitorder="little")


def _scalars(dtype: spec.DataType, lanes: Any) -> Any:
    name, bits = _CODES.get(dtype.code, ""), dtype.bits
    if name in _FLOATS:
        return _table(name)[lanes[..., 0]]
    if name in ("int", "uint") and bits < 8:
        codes = lanes[..., 0].astype("int16")
        negative = (codes >> (bits - 1)) & 1 if name == "int" else 0
        return (codes - (negative << bits)).astype(f"{name}8")
    if name == "bfloat":
        widened = lanes.view("<u2")[..., 0].astype("uint32") << 16
        return widened.view("float32")
    if name == "bool":
        # Anything but 0 and 1 is not a bool, and is shown as it is.
        return lanes[..., 0] if lanes.max(initial=0) > 1 else lanes[..., 0].view("bool")
    if name == "complex" and bits == 32:
        return lanes.view("<f2").astype("float32").view("complex64")[..., 0]
    letter = {"int": "i", "float": "f", "complex": "c"}.get(name, "u")
    return lanes.view(f"<{letter}{bits // 8}")[..., 0]


@cache
def _table(name: str) -> Any:
    """Return the value of every code of a narrow float, as float32."""
    np = numpy()
    form = _FLOATS[name]
    codes = np.arange(2 ** abi.FIXED_BITS[name])
    if form.special == "scale":
        powers = np.ldexp(1.0, codes - form.bias)
        return np.where(codes == 255, np.float32("nan"), powers).astype("float32")
    fraction = codes & (2**form.mantissa - 1)
    exponent = (codes >> form.mantissa) & (2**form.exponent - 1)
    sign = codes >> (form.mantissa + form.exponent)
    significand = fraction + np.where(exponent > 0, 2**form.mantissa, 0)
    scale = np.maximum(exponent, 1) - form.bias - form.mantissa
    found = np.ldexp(significand.astype("float32"), scale) * np.where(sign, -1, 1)
    if form.special == "ieee":
        last = exponent == 2**form.exponent - 1
        limits = np.where(fraction, np.nan, np.where(sign, -np.inf, np.inf))
        found = np.where(last, limits, found)
    if form.special == "fn":
        found[(codes & 127) == 127] = np.nan
    if form.special == "fnuz":
        found[128] = np.nan
    return found.astype("float32")


# ---- making


def empty(shape: Sequence[int], count: int) -> Any:
    """Return the contents of a tensor without elements, of ``count`` bytes or bits each.

    NumPy has no arrays of huge sizes, even if one size is 0. All other sizes are 1 then.
    """
    huge = math.prod(max(size, 1) for size in shape) > _HUGE
    return numpy().zeros((*(min(size, 1) if huge else size for size in shape), count), "uint8")


def make(
    dtype: spec.DataType, shape: Sequence[int], kind: str, random: Generator, *, limits: bool
) -> Any:
    """Make the contents of a tensor.

    Args:
        dtype: the type of one element, with its lanes.
        shape: in elements.
        kind: one of :data:`CONTENTS`. Random floats are multiples of 1/8 of at most 4.
        random: makes the random numbers.
        limits: put limits among random elements.
    """
    np = numpy()
    if 0 in shape:
        return empty(shape, -(-dtype.total_bits // 8))
    scalars = _made(dtype, (*shape, dtype.lanes), kind, random)
    if kind == "random" and limits:
        chosen = random.integers(_OFTEN, size=scalars.shape[:-1]) == 0
        found = _limits(dtype)
        scalars[chosen] = found[random.integers(len(found), size=int(chosen.sum()))]
    if dtype.bits % 8 == 0:
        return scalars.reshape((*shape, dtype.total_bits // 8))
    bits = np.unpackbits(scalars, axis=-1, bitorder="little")[..., : dtype.bits]
    return np.packbits(bits.reshape((*shape, dtype.total_bits)), axis=-1, bitorder="little")


def _made(dtype: spec.DataType, shape: tuple[int, ...], kind: str, random: Generator) -> Any:
    """Return scalars as bytes, of shape ``(*shape, bytes of a scalar)``."""
    np = numpy()
    name = _CODES.get(dtype.code, "")
    if kind == "limits":
        return numpy().resize(_limits(dtype), (*shape, max(dtype.bits // 8, 1)))
    if name in _FLOATS:
        codes = _plain_codes(name, at_least=1 if kind == "counting" else -_GREATEST)
        one = np.abs(_table(name)[codes] - 1).argmin()
        picked = _indices(kind, int(one), 0, len(codes), shape, random)
        return codes[picked][..., np.newaxis].astype("uint8")
    if name in ("float", "bfloat", "complex"):
        parts = (*shape, 2) if name == "complex" else shape
        numbers = _indices(kind, 8, -8 * _GREATEST, 8 * _GREATEST + 1, parts, random) / 8
        return _float_bytes(dtype, numbers * (8 if kind == "counting" else 1))
    low, high = _int_range(dtype)
    if kind != "random" or dtype.bits > _NARROW or random.integers(2):
        low, high = max(low, -2 * _GREATEST), min(high, 2 * _GREATEST)
    numbers = _indices(kind, min(1, high), low, high + 1, shape, random)
    return _int_bytes(dtype, numbers)


def _indices(
    kind: str, one: int, low: int, end: int, shape: tuple[int, ...], random: Generator
) -> Any:
    """Return ints from ``low`` on, below ``end``: ``one``, counting up from there, or random."""
    np = numpy()
    if kind == "random":
        return random.integers(low, end, size=shape)
    if kind == "ones":
        return np.full(shape, one)
    first = min(max(low, 1), end - 1)
    return (np.arange(np.prod(shape, dtype="int64")) % (end - first) + first).reshape(shape)


@cache
def _plain_codes(name: str, at_least: float) -> Any:
    """Return the codes of 0 and of values from 1/8 to 4, of both signs, in their order."""
    np = numpy()
    table = _table(name)
    magnitude = np.abs(np.nan_to_num(table, nan=np.inf))
    plain = (magnitude <= _GREATEST) & ((magnitude >= 1 / 8) | (magnitude == 0))
    codes = np.flatnonzero(plain & (table >= at_least))
    return codes[np.argsort(table[codes], kind="stable")]


def _float_bytes(dtype: spec.DataType, numbers: Any) -> Any:
    """Return floats, or pairs of them for complex numbers, as bytes."""
    np = numpy()
    if _CODES[dtype.code] == "bfloat":
        return _bytes((np.asarray(numbers, "float32").view("uint32") >> 16).astype("<u2"))
    if _CODES[dtype.code] == "complex":
        pairs = _bytes(np.asarray(numbers, f"<f{dtype.bits // 16}"))
        return pairs.reshape((*numbers.shape[:-1], dtype.bits // 8))
    return _bytes(np.asarray(numbers, f"<f{dtype.bits // 8}"))


def _int_bytes(dtype: spec.DataType, numbers: Any) -> Any:
    size = max(dtype.bits // 8, 1)
    codes = numpy().asarray(numbers).astype(f"<i{size}") if size <= 8 else numbers
    return _bytes(codes) & (2**dtype.bits - 1 if dtype.bits < 8 else 255)


def _bytes(array: Any) -> Any:
    """Return the bytes of each element along a new last axis, in memory of their own."""
    np = numpy()
    return np.ascontiguousarray(array[..., np.newaxis]).view("uint8")


def _int_range(dtype: spec.DataType) -> tuple[int, int]:
    """Return the least and the greatest int; bools are ints of one bit."""
    name = _CODES.get(dtype.code, "")
    if name == "bool":
        return 0, 1
    return (
        (-(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1)
        if name == "int"
        else (
            0,
            2**dtype.bits - 1,
        )
    )


def _limits(dtype: spec.DataType) -> Any:
    """Return the limits of a type, as bytes of shape ``(count, bytes of a scalar)``."""
    np = numpy()
    name = _CODES.get(dtype.code, "")
    if name in _FLOATS:
        table = _table(name)
        odd = ~np.isfinite(table) | (np.abs(table) == np.nanmax(np.abs(table))) | (table == 0)
        return np.flatnonzero(odd).astype("uint8")[:, np.newaxis]
    if name in ("float", "bfloat", "complex"):
        numbers = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0])
        return _float_bytes(
            dtype, numbers if name != "complex" else numbers[:, np.newaxis].repeat(2, 1)
        )
    low, high = _int_range(dtype)
    limits = [
        int.to_bytes(limit % 2**dtype.bits, max(dtype.bits // 8, 1), "little")
        for limit in (low, high, 0)
    ]
    return np.frombuffer(b"".join(limits), "uint8").reshape((3, -1))


# ---- comparing


def tolerance(dtype: spec.DataType) -> float:
    """Return the default tolerance for values of a type; 0 for ints, bools and others.

    It is 1e-9 for float64, 1e-5 for float32, and the distance of 1 to the next value for the rest.
    """
    name = _CODES.get(dtype.code, "")
    bits = dtype.bits // 2 if name == "complex" else dtype.bits
    if name in _FLOATS:
        return 2.0 ** -_FLOATS[name].mantissa
    if name == "bfloat":
        return 2.0**-7
    return {64: 1e-9, 32: 1e-5, 16: 2.0**-10}[bits] if name in ("float", "complex") else 0.0
