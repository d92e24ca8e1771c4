"""Elements of matrices: their bits, and the numbers that these are."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import numpy

from tests.ptx.halves import values

np: Any = numpy  # its stubs leave open what views are

BITS: Final = {
    "f16": 16,
    "bf16": 16,
    "tf32": 32,
    "e4m3": 8,
    "e5m2": 8,
    "e3m2": 8,
    "e2m3": 8,
    "e2m1": 8,
    "f64": 64,
    "f32": 32,
    "s8": 8,
    "u8": 8,
    "s4": 4,
    "u4": 4,
    "b1": 1,
    "s32": 32,
}


def _small_float(bits: Any, mantissa: int, exponent: int) -> Any:
    """The value of each float without infinities, by its definition."""
    bits = bits.astype("int64")
    fraction = (bits & (1 << mantissa) - 1) / (1 << mantissa)
    power = bits >> mantissa & (1 << exponent) - 1
    bias = (1 << exponent - 1) - 1
    size = np.where(
        power == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (power - bias)
    )
    return np.where(bits >> mantissa + exponent & 1, -size, size)


def value(kind: str, bits: Any) -> Any:
    """The numbers that elements are."""
    match kind:
        case "f16" | "bf16":
            return values(kind, bits.astype("uint16"))
        case "e5m2":
            return values("f16", bits.astype("uint16") << 8)
        case "e4m3":
            return np.where(bits & 0x7F == 0x7F, np.nan, _small_float(bits, 3, 4))
        case "e3m2":
            return _small_float(bits & 0x3F, 2, 3)
        case "e2m3":
            return _small_float(bits & 0x3F, 3, 2)
        case "e2m1":
            return _small_float(bits >> 2 & 0xF, 1, 2)
        case "tf32":
            return (bits & 0xFFFFE000).astype("uint32").view("float32").astype(float)
        case "f32":
            return bits.astype("uint32").view("float32").astype(float)
        case "f64":
            return bits.view("float64")
        case "s4":
            return (bits.astype("int64") ^ 8) - 8
        case "s8" | "s32":
            return (
                bits.astype("uint32").view("int32")
                if kind == "s32"
                else bits.astype("int8").astype("int64")
            )
        case _:
            return bits.astype("int64")


def bits_of(kind: str, numbers: Any, *, saturates: bool = False) -> Any:
    """The bits of elements that are numbers: floats are rounded, integers limited or cut."""
    match kind:
        case "f16":
            return numbers.astype("float16").view("uint16")
        case "f32":
            return numbers.astype("float32").view("uint32")
        case "f64":
            return numbers.view("uint64")
        case _:
            found = numbers.clip(-(2**31), 2**31 - 1) if saturates else numbers
            return found.astype("int64").astype("uint32")


def small(kind: str, shape: tuple[int, ...], generator: Any) -> Any:
    """Draw the bits of elements whose products and sums are exact in every order."""
    numbers = generator.integers(-4, 5, shape)
    match kind:
        case "f16":
            return (numbers / 2).astype("float16").view("uint16")
        case "bf16":
            return ((numbers / 2).astype("float32").view("uint32") >> 16).astype("uint16")
        case "tf32":  # with digits that are not read
            noise = generator.integers(0, 1 << 13, shape).astype("uint32")
            return (numbers / 4).astype("float32").view("uint32") | noise
        case "f32":
            return (numbers / 4).astype("float32").view("uint32")
        case "f64":
            return generator.standard_normal(shape).view("uint64")
        case "e4m3" | "e5m2":
            codes = [0x00, 0x30, 0x38, 0x3C, 0x40, 0x44, 0x80, 0xB8, 0xC0, 0xB4]
            return generator.choice(codes, shape).astype("uint8")
        case "s32":
            return generator.integers(0, 2**32, shape).astype("uint32")
        case _:
            return generator.integers(0, 1 << BITS[kind], shape).astype("uint8")


def drawn(kind: str, count: int, size: int, generator: Any) -> list[Any]:
    """Draw registers of small elements."""
    bits = BITS[kind]
    if bits < 8:
        return [generator.integers(0, 2**32, size).astype("uint32") for _ in range(count)]
    found = small(kind, (count, size, max(32 // bits, 1)), generator)
    return list(np.ascontiguousarray(found).view(f"uint{max(bits, 32)}")[..., 0])


def fused(a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c of doubles, rounded once."""

    def one(x: float, y: float, z: float) -> float:
        return float(Fraction(x) * Fraction(y) + Fraction(z))

    return np.vectorize(one, otypes=[float])(a, b, c)
