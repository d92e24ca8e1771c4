"""Each conversion against exact numbers that are rounded once, and the formats of ml_dtypes."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, Final

import ml_dtypes
import numpy as np
import pytest

from ffi_builder.ptx.errors import PtxError
from tests.ptx.exact import FORMATS, MODES, flush, rounded, saturate
from tests.ptx.running import Case, checks, run
from tests.ptx.test_integer import each, signed

INTEGERS: Final = tuple(f"{kind}{size}" for size in (8, 16, 32, 64) for kind in "us")
DTYPES: Final[dict[str, Any]] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
}
BITS: Final = {"f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8, "e2m3": 6, "e3m2": 6, "e2m1": 4}
NANS: Final = {"f16": 0x7FFF, "bf16": 0x7FFF, "e4m3": 0x7F, "e5m2": 0x7F}


# Numbers and their bits.


@cache
def numbers(kind: str) -> list[float]:
    """Return the number of each code of a format."""
    bits = BITS[kind]
    codes: Any = np.arange(1 << bits, dtype="uint16" if bits == 16 else "uint8")
    return [float(each_) for each_ in codes.view(DTYPES[kind]).astype("float64")]


@cache
def codes(kind: str) -> dict[tuple[float, float], int]:
    """Return the code of each number, by its sign and size."""
    return {
        (math.copysign(1, value), abs(value)): code
        for code, value in enumerate(numbers(kind))
        if not math.isnan(value)
    }


def code_of(x: float, kind: str) -> int:
    """Return the bits of a number that the format has; a NaN without bits is the largest number."""
    if math.isnan(x):
        return NANS.get(kind, codes(kind)[1.0, FORMATS[kind].top] if kind not in NANS else 0)
    return codes(kind)[math.copysign(1, x), abs(x)]


def values(operand: Any, kind: str) -> list[float]:
    """Return the numbers of an array."""
    if kind == "bf16":
        return [numbers("bf16")[int(bits)] for bits in operand]
    return [float(each_) for each_ in operand]


def array(found: list[float], kind: str) -> Any:
    """Return numbers as an array of a type, as :data:`tests.ptx.running.DTYPES` says."""
    match kind:
        case "f16":
            codes: Any = np.array([code_of(x, kind) for x in found], "uint16")
            return codes.view("float16")
        case "bf16":
            return np.array([code_of(x, kind) for x in found], "uint16")
        case "f32":
            result: Any = np.array(found, "float32")
            result.view("uint32")[np.isnan(result)] = 0x7FFFFFFF
            return result
        case _:
            return np.array(found, "float64")


def limited(x: float, *, sat: bool = False, relu: bool = False) -> float:
    x = saturate(x, sat)
    return 0.0 if relu and x <= 0 else x


def narrowed(x: float, kind: str, mode: str = "rn", *, finite: bool = False) -> float:
    """Return the number of a format that is next; ``finite``: at most the largest."""
    if math.isnan(x):
        return x
    to = FORMATS[kind]
    finite = finite or not to.infinite
    if math.isinf(x):
        return math.copysign(to.top, x) if finite else x
    found = rounded(Fraction(x), to, mode, x)
    return math.copysign(to.top, x) if finite and math.isinf(found) else found


# What is drawn.


def ranged(*operands: Any) -> tuple[Any, ...]:
    """Make half of the floats small, with ties among them, and some about the limits of integers."""
    return tuple(_ranged(operand) for operand in operands)


def _ranged(operand: Any) -> Any:
    if operand.dtype.kind != "f":
        return operand
    operand = operand.copy()
    bits = operand.view(f"uint{8 * operand.dtype.itemsize}").astype("uint64")
    small = (bits % 4096).astype("float64") - 2048
    limits = [2.0**size + offset for size in (7, 8, 15, 16, 31, 32, 63, 64) for offset in (-0.5, 0)]
    near = np.array([*limits, *(-each_ for each_ in limits)])[bits[1::8] % 32]
    with np.errstate(over="ignore"):
        operand[::2] = (small / 2.0 ** (bits % 17).astype("float64"))[::2]
        operand[1::8] = near
    return operand


# Conversions of integers.


def register(kind: str, other: str = "") -> str:
    """Return the type of the register for a type: narrow ones are in wider ones, but with bf16."""
    return kind if other == "bf16" else f"{kind[0]}{max(int(kind[1:]), 32)}"


def integer(a: int, kind: str) -> int:
    size = int(kind[1:])
    return signed(a, size) if kind[0] == "s" else a & ((1 << size) - 1)


def bounds(kind: str) -> tuple[int, int]:
    size = int(kind[1:])
    return (-(1 << size - 1), (1 << size - 1) - 1) if kind[0] == "s" else (0, (1 << size) - 1)


def between(to: str, source: str, sat: bool) -> Case:
    least, most = bounds(to)

    def meaning(a: int) -> int:
        a = integer(a, source)
        return max(least, min(most, a)) if sat else integer(a, to)

    name = f"cvt{'.sat' * sat}.{to}.{source}"
    return Case(name, f"{register(to)}: {register(source)}", each(meaning))


WHOLE: Final[dict[str, Callable[[float], int]]] = {
    "rni": round,
    "rzi": math.trunc,
    "rmi": math.floor,
    "rpi": math.ceil,
}


def to_integer(to: str, source: str, mode: str, words: str = "") -> Case:
    least, most = bounds(to)
    size = int(to[1:])
    nan = 1 << (size - 1) if source == "f64" or size == 64 else 0

    def one(x: float) -> int:
        x = flush(x, ".ftz" in words)
        if math.isnan(x):
            return integer(nan, to)
        if math.isinf(x):
            return most if x > 0 else least
        return max(least, min(most, WHOLE[mode](x)))

    def meaning(a: Any) -> Any:
        return np.array([one(x) & (2**64 - 1) for x in values(a, source)], "uint64")

    name = f"cvt.{mode}{words}.{to}.{source}"
    return Case(name, f"{register(to, source)}: {source}", meaning, prepare=ranged)


def from_integer(to: str, source: str, mode: str, words: str = "") -> Case:
    def one(a: int) -> float:
        x = rounded(Fraction(integer(a, source)), FORMATS[to], mode)
        return saturate(x, ".sat" in words)

    def meaning(a: Any) -> Any:
        return array([one(int(x)) for x in a], to)

    return Case(f"cvt.{mode}{words}.{to}.{source}", f"{to}: {register(source, to)}", meaning)


# Conversions of floats.


def between_floats(to: str, source: str, words: str = "") -> Case:
    """Return a conversion; ``words`` are its modifiers, such as ``.rn.ftz``."""
    mode = next((mode for mode in MODES if f".{mode}" in words), "rn")
    whole = next((WHOLE[mode] for mode in WHOLE if f".{mode}" in words), None)
    ftz = ".ftz" in words

    def one(x: float) -> float:
        x = flush(x, ftz and source == "f32")
        if whole is not None and math.isfinite(x):
            x = math.copysign(float(whole(x)), x)
        x = limited(x, sat=".sat." in f"{words}.", relu=".relu" in words)
        x = narrowed(x, to, mode, finite=".satfinite" in words)
        return flush(x, ftz and to == "f32")

    def meaning(a: Any) -> Any:
        found = array([one(x) for x in values(a, source)], to)
        if to == "f64":  # the NaN of the operand
            nans = np.isnan(found)
            given: Any = (
                a.astype("float64") if source in ("f32", "f64") else np.full(len(a), np.nan)
            )
            found.view("uint64")[nans] = given.view("uint64")[nans] | np.uint64(1 << 51)
        return found

    return Case(f"cvt{words}.{to}.{source}", f"{to}: {source}", meaning, prepare=ranged)


def to_tf32(words: str) -> Case:
    mode = words.split(".")[1]

    def one(x: float) -> float:
        x = limited(x, relu=".relu" in words)
        return narrowed(x, "tf32", mode, finite=".satfinite" in words)

    def meaning(a: Any) -> Any:
        return array([one(float(x)) for x in a], "f32").view("uint32")

    return Case(f"cvt{words}.tf32.f32", "b32: f32", meaning)


def joined(upper: list[int], lower: list[int], bits: int) -> Any:
    return np.array([a << bits | b for a, b in zip(upper, lower, strict=True)], "uint64")


def limits(words: str, kind: str) -> Callable[[float], int]:
    """Return the code of a number that a conversion with these modifiers makes."""
    mode = words.split(".")[1]

    def of_number(x: float) -> int:
        x = limited(x, relu=".relu" in words)
        return code_of(narrowed(x, kind, mode, finite=".satfinite" in words), kind)

    return of_number


def room(kind: str) -> int:
    """Return the bits that a format has in a pair."""
    return 8 if BITS[kind] == 6 else BITS[kind]


def pair(words: str, kind: str) -> Case:
    bits = room(kind)
    code = limits(words, kind)

    def meaning(a: Any, b: Any) -> Any:
        return joined([code(float(x)) for x in a], [code(float(x)) for x in b], bits)

    return Case(f"cvt{words}.{kind}x2.f32", f"b{2 * bits}: f32 f32", meaning, prepare=ranged)


def repaired(words: str, to: str, source: str) -> Case:
    bits, given = room(to), room(source)
    code = limits(words, to)
    mask = (1 << BITS[source]) - 1

    def meaning(a: Any) -> Any:
        upper = [code(numbers(source)[int(x) >> given & mask]) for x in a]
        return joined(upper, [code(numbers(source)[int(x) & mask]) for x in a], bits)

    return Case(f"cvt{words}.{to}x2.{source}x2", f"b{2 * bits}: b{2 * given}", meaning)


def power(x: float, words: str) -> int:
    """Return the exponent of the next power of two, from -127 on, plus 127."""
    if math.isnan(x):
        return 255
    most = 254 if ".satfinite" in words else 255
    if math.isinf(x):
        return most
    if abs(x) <= 2.0**-127:
        return 0
    fraction, exponent = math.frexp(abs(x))
    up = ".rp" in words and fraction != 0.5
    return min(most, exponent - 1 + up + 127)


def powers(words: str) -> tuple[Case, Case]:
    def of_two(a: Any, b: Any) -> Any:
        return joined([power(float(x), words) for x in a], [power(float(x), words) for x in b], 8)

    def of_pair(a: Any) -> Any:
        upper, lower = (
            [power(numbers("bf16")[int(x) >> at & 0xFFFF], words) for x in a] for at in (16, 0)
        )
        return joined(upper, lower, 8)

    return (
        Case(f"cvt{words}.ue8m0x2.f32", "b16: f32 f32", of_two),
        Case(f"cvt{words}.ue8m0x2.bf16x2", "b16: b32", of_pair),
    )


def of_powers(a: Any) -> Any:
    def one(code: int) -> int:
        return NANS["bf16"] if code == 255 else code_of(2.0 ** (code - 127), "bf16")

    return joined([one(int(x) >> 8) for x in a], [one(int(x) & 255) for x in a], 16)


def packed(kind: str) -> Case:
    least, most = bounds(kind)
    size = int(kind[1:])

    def meaning(a: int, b: int, c: int = 0) -> int:
        parts = [max(least, min(most, x)) & ((1 << size) - 1) for x in (a, b)]
        return (c << 2 * size | parts[0] << size | parts[1]) & (2**32 - 1)

    more = size < 16
    name = f"cvt.pack.sat.{kind}.s32{'.b32' * more}"
    return Case(name, f"b32: s32 s32{' b32' * more}", each(meaning), prepare=small)


def small(a: Any, b: Any, *more: Any) -> tuple[Any, ...]:
    a, b = a.copy(), b.copy()
    a[::2] %= 200
    b[::2] = -(b[::2] % 40000)
    b[::3] = b[::3] % 5 - 2
    return (a, b, *more)


CASES: Final = [
    *(
        between(to, source, sat)
        for to in INTEGERS
        for source in INTEGERS
        for sat in (False, True)
        if not (sat and to == source)
    ),
    *(
        to_integer(to, source, mode)
        for source in ("f16", "bf16", "f32", "f64")
        for at, to in enumerate(INTEGERS)
        for mode in (list(WHOLE)[at % 4], list(WHOLE)[(at + 1) % 4])
    ),
    to_integer("s32", "f32", "rni", ".ftz.sat"),
    to_integer("u32", "f32", "rpi", ".ftz"),
    to_integer("u8", "f64", "rmi", ".sat"),
    *(
        from_integer(to, source, MODES[(at + more) % 4])
        for to in ("f16", "bf16", "f32", "f64")
        for at, source in enumerate(INTEGERS)
        for more in (0, 1)
    ),
    from_integer("f32", "s32", "rn", ".sat"),
    from_integer("f64", "u64", "rn", ".sat"),
    from_integer("f16", "s64", "rn", ".sat"),
    *(
        between_floats(kind, kind, f".{mode}{words}")
        for kind, words in (
            ("f16", ""),
            ("f16", ".sat"),
            ("bf16", ""),
            ("f32", ""),
            ("f64", ".sat"),
        )
        for mode in WHOLE
    ),
    between_floats("f32", "f32", ".rni.ftz.sat"),
    *(
        between_floats(to, source, words)
        for to, source, words in (
            *(("f16", "f16", ""), ("f16", "f16", ".sat"), ("bf16", "bf16", "")),
            *(("f32", "f32", ""), ("f32", "f32", ".sat"), ("f32", "f32", ".ftz")),
            *(("f32", "f16", ""), ("f32", "f16", ".ftz.sat"), ("f32", "bf16", "")),
            *(("f64", "f16", ""), ("f64", "bf16", ""), ("f64", "f32", "")),
            *(("f64", "f32", ".ftz.sat"), ("f64", "f64", ""), ("f64", "f64", ".sat")),
            *(("f16", "f32", ".rn.ftz"), ("f16", "f32", ".rp.sat"), ("f16", "f64", ".rn.sat")),
            *(("f32", "f64", ".rn.ftz.sat"), ("f32", "f64", ".rp.ftz"), ("bf16", "f32", ".rn.ftz")),
        )
    ),
    *(
        between_floats(to, source, f".{mode}")
        for to, source in (
            *(("f16", "f32"), ("f16", "f64"), ("f16", "bf16"), ("bf16", "f16")),
            *(("bf16", "f32"), ("bf16", "f64"), ("f32", "f64")),
        )
        for mode in MODES
    ),
    *(
        between_floats(kind, "f32", f".{mode}{words}")
        for kind in ("f16", "bf16")
        for mode, words in (
            *(("rn", ".relu"), ("rz", ".relu"), ("rn", ".satfinite")),
            *(("rn", ".relu.satfinite"), ("rz", ".satfinite.relu")),
        )
    ),
    *(
        pair(f".{mode}{words}", kind)
        for kind in ("f16", "bf16")
        for mode in ("rn", "rz")
        for words in ("", ".relu", ".relu.satfinite")
    ),
    *(to_tf32(words) for words in (".rna", ".rna.satfinite", ".rn", ".rz", ".rn.relu.satfinite")),
    *(
        pair(f".rn{words}", kind)
        for kind in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
        for words in (".satfinite", ".satfinite.relu", ".relu.satfinite")
    ),
    *(
        repaired(f".rn{words}", kind, half)
        for half in ("f16", "bf16")
        for kind in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
        for words in (".satfinite", ".satfinite.relu", ".relu.satfinite")
    ),
    *(
        repaired(f".rn{words}", half, kind)
        for half in ("f16", "bf16")
        for kind in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
        for words in ("", ".relu")
    ),
    *(case for words in (".rz", ".rp.satfinite", ".rp", ".rz.satfinite") for case in powers(words)),
    Case("cvt.rn.bf16x2.ue8m0x2", "b32: b16", of_powers),
    *(packed(f"{kind}{size}") for kind in "us" for size in (16, 8, 4, 2)),
]


test_as_it_means = checks(CASES)


def test_no_register_of_128_bits_is_a_wider_one() -> None:
    ptx = ".visible .entry k()\n{ .reg .b128 %w; cvt.u32.u8 %w, 5; ret; }"
    with pytest.raises(PtxError, match=r"the register %w is \.b128, and \.u32 is expected"):
        run(ptx, "k", [])
