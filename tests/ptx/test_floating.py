"""Each instruction for f32 and f64 against exact arithmetic that is rounded once."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import partial, reduce
from typing import Any, Final

import numpy as np

from tests.ptx import exact
from tests.ptx.exact import F32, F64, MODES, of_f32, of_f64
from tests.ptx.running import Case, Meaning, checks
from tests.ptx.test_integer import COMBINES, chosen, near

ARITHMETIC: Final[dict[str, Callable[..., float]]] = {
    "add": exact.added,
    "sub": exact.subtracted,
    "mul": exact.multiplied,
}
WAYS: Final = (
    *(("", "rn", False, False), (".rn.ftz", "rn", True, False), (".rz", "rz", False, False)),
    *(
        (".rm.sat", "rm", False, True),
        (".rp.ftz.sat", "rp", True, True),
        (".rm", "rm", False, False),
    ),
    (".rp", "rp", False, False),
)
"""What stands behind an opcode, and the rounding, flushing and saturation that it means."""


def close(a: Any, b: Any, *more: Any) -> tuple[Any, ...]:
    """Make most operands of one size, so that they cancel, and some of them the same but for a bit."""
    b = b.copy()
    size = b.dtype.itemsize * 8
    bits, other = b.view(f"uint{size}"), a.view(f"uint{size}")
    bits[::3] = other[::3] ^ np.array(1 << (size - 1), bits.dtype)
    bits[1::3] ^= (bits[1::3] ^ other[1::3]) & np.array(0x7F << (size - 9), bits.dtype)
    return (a, b, *more)


def fused_close(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    """Make the third about the product of the others."""
    c = c.copy()
    with np.errstate(all="ignore"):
        c[::2] = -(a * b)[::2]
    return a, b, c


def as_drawn(*operands: Any) -> tuple[Any, ...]:
    return operands


def singles(name: str, meaning: Callable[..., float], operands: int, prepare: Any) -> list[Case]:
    return [
        Case(
            f"{name}{ending}.f32",
            f"f32: {' '.join(['f32'] * operands)}",
            of_f32(partial(meaning, to=F32, mode=mode), ftz, sat),
            prepare=prepare,
        )
        for ending, mode, ftz, sat in WAYS
        if name != "fma" or ending
    ]


def doubles(name: str, meaning: Callable[..., float], operands: int, prepare: Any) -> list[Case]:
    types = f"f64: {' '.join(['f64'] * operands)}"
    return [
        Case(
            f"{name}.{mode}.f64",
            types,
            of_f64(partial(meaning, to=F64, mode=mode)),
            prepare=prepare,
        )
        for mode in MODES
    ]


def halves(meaning: Meaning) -> Callable[..., Any]:
    """Return the meaning for two f32 in 64 bits."""

    def both(*operands: Any) -> Any:
        parts = [each.view("float32").reshape(-1, 2) for each in operands]
        found: Any = np.stack([meaning(*(part[:, at] for part in parts)) for at in (0, 1)], axis=1)
        return found.reshape(-1).view("uint64")

    return both


def pairs(name: str, meaning: Callable[..., float], operands: int) -> list[Case]:
    return [
        Case(
            f"{name}{ending}.f32x2",
            f"b64: {' '.join(['b64'] * operands)}",
            halves(of_f32(partial(meaning, to=F32, mode=mode), ftz, sat)),
        )
        for ending, mode, ftz, sat in WAYS
        if not sat and (name != "fma" or ending)
    ]


def divided_approximately(a: float, b: float) -> float:
    """Lose quotients by more than 2**126, as PTX says."""
    if 2.0**126 < abs(b) < math.inf and not math.isnan(a):
        sign = math.copysign(1.0, a) * math.copysign(1.0, b)
        return math.nan if math.isinf(a) else sign * 0.0
    return exact.divided(a, b, F32)


def inverse(a: float, to: exact.Format = F32, mode: str = "rn") -> float:
    return exact.divided(1.0, a, to, mode)


def inverse_root(a: float) -> float:
    if a == 0:
        return math.copysign(math.inf, a)
    return math.nan if not a >= 0 else 0.0 if math.isinf(a) else float(np.float64(1) / math.sqrt(a))


def single(meaning: Callable[[float], float]) -> Callable[[float], float]:
    """Return a function of numbers, rounded to f32."""

    def of_number(a: float) -> float:
        with np.errstate(all="ignore"):
            return float(np.float32(meaning(a)))

    return of_number


def sine(meaning: Callable[[float], float]) -> Callable[[float], float]:
    return lambda a: math.nan if not math.isfinite(a) else meaning(a)


def power(a: float) -> float:
    return math.nan if math.isnan(a) else math.inf if a > 200 else 0.0 if a < -200 else 2.0**a


def logarithm(a: float) -> float:
    return -math.inf if a == 0 else math.nan if not a >= 0 else math.log2(a)


def moderate(a: Any) -> tuple[Any]:
    """Make half of the operands such that results are neither infinite nor zero."""
    a = a.copy()
    a[::2] = a.view("uint32")[::2] % 4000 / 100 - 20
    return (a,)


def coarse(meaning: Callable[[float], float]) -> Callable[..., Any]:
    """Take and give the upper 32 bits of f64, without subnormals."""

    def cut(x: float) -> float:
        bits = struct.pack("<d", x)
        found: float = struct.unpack("<d", bytes(4) + bits[4:])[0]
        return math.copysign(0.0, x) if abs(x) < 2.0**-1022 else found

    def one(a: float) -> float:
        return a if math.isnan(a) else cut(meaning(cut(a)))

    return of_f64(one)


def extreme(name: str, *, nan: bool, absolute: bool, xor: bool) -> Callable[..., float]:
    """Return min or max: -0 is less than 0, and a NaN loses, or wins."""
    best = min if name == "min" else max

    def of_two(a: float, b: float) -> float:
        if math.isnan(a) or math.isnan(b):
            return math.nan if nan else b if math.isnan(a) else a
        return best(a, b, key=lambda x: (x, math.copysign(1.0, x)))

    def meaning(*operands: float) -> float:
        sign = math.prod(math.copysign(1.0, each) for each in operands)
        found = reduce(of_two, (abs(each) if absolute else each for each in operands))
        return -found if xor and sign < 0 else found

    return meaning


def extremes(name: str) -> list[Case]:
    cases = [
        Case(
            f"{name}{'.ftz' * ftz}{'.NaN' * nan}{'.xorsign.abs' * xor}.f32",
            "f32: f32 f32",
            of_f32(extreme(name, nan=nan, absolute=xor, xor=xor), ftz),
        )
        for ftz in (False, True)
        for nan in (False, True)
        for xor in (False, True)
    ]
    cases += [
        Case(
            f"{name}{'.ftz' * nan}{'.NaN' * nan}{'.abs' * absolute}.f32",
            "f32: f32 f32 f32",
            of_f32(extreme(name, nan=nan, absolute=absolute, xor=False), nan),
        )
        for nan in (False, True)
        for absolute in (False, True)
    ]
    double = of_f64(extreme(name, nan=False, absolute=False, xor=False))
    return [*cases, Case(f"{name}.f64", "f64: f64 f64", double)]


def unordered(a: Any, b: Any) -> Any:
    return np.isnan(a) | np.isnan(b)


def or_unordered(name: str, a: Any, b: Any) -> Any:
    return ORDERED[name](a, b) | unordered(a, b)


ORDERED: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "eq": np.equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "ne": lambda a, b: (a != b) & ~unordered(a, b),
    "num": lambda a, b: ~unordered(a, b),
    "nan": unordered,
}
COMPARES: Final[dict[str, Callable[[Any, Any], Any]]] = {
    **ORDERED,
    **{f"{name}u": partial(or_unordered, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
}


def flushed(a: Any) -> Any:
    """Make zeros of subnormals."""
    return chosen(np.abs(a) < 2.0**-126, np.copysign(np.float32(0), a), a)


def compares(name: str, kind: str) -> list[Case]:
    """Return setp and set by one comparison, with each way to combine it in turn."""
    at = list(COMPARES).index(name)
    logic = list(COMBINES)[at % 3]
    ftz = ".ftz" if kind == "f32" and at % 2 else ""

    def compared(a: Any, b: Any) -> Any:
        return COMPARES[name](flushed(a), flushed(b)) if ftz else COMPARES[name](a, b)

    def both(a: Any, b: Any, p: Any) -> Any:
        return COMBINES[logic](compared(a, b), p), COMBINES[logic](~compared(a, b), p)

    def number(a: Any, b: Any, yes: int) -> Any:
        return np.where(compared(a, b), yes, 0).astype("uint32")

    ones, one = partial(number, yes=2**32 - 1), partial(number, yes=0x3F800000)
    types, more = f"{kind} {kind}", f"{kind} {kind} pred"
    setp = "%d0|%d1, %s0, %s1, %s2"
    return [
        Case(f"setp.{name}{ftz}.{kind}", f"pred: {types}", compared, prepare=mostly),
        Case(f"setp.{name}.{logic}{ftz}.{kind}", f"pred pred: {more}", both, setp, prepare=mostly),
        Case(f"set.{name}{ftz}.u32.{kind}", f"b32: {types}", ones, prepare=mostly),
        Case(f"set.{name}{ftz}.f32.{kind}", f"b32: {types}", one, prepare=mostly),
        *(
            Case(
                f"set.{name}.{logic}{ftz}.{result}.{kind}",
                f"b32: {more}",
                lambda a, b, p, yes=yes: np.where(both(a, b, ~p)[0], yes, 0).astype("uint32"),
                "%d0, %s0, %s1, !%s2",
                prepare=mostly,
            )
            for result, yes in (("s32", 2**32 - 1), ("f32", 0x3F800000))
        ),
    ]


def mostly(a: Any, b: Any, *more: Any) -> tuple[Any, ...]:
    """Make some operands equal, and some others subnormal."""
    a, b = near(a, b)
    size = 8 * a.dtype.itemsize
    b.view(f"uint{size}")[5::7] &= np.array(0x8000_000F << (size - 32), f"uint{size}")
    return (a, b, *more)


def is_normal(a: Any) -> Any:
    return np.isfinite(a) & (np.abs(a) >= np.finfo(a.dtype).tiny)


TESTS: Final[dict[str, Callable[[Any], Any]]] = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "number": lambda a: ~np.isnan(a),
    "notanumber": np.isnan,
    "normal": is_normal,
    "subnormal": lambda a: np.isfinite(a) & (a != 0) & ~is_normal(a),
}


def signs(kind: str, meaning: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """Return a meaning of bits, which gets those of the sign."""
    dtype = "uint32" if kind == "f32" else "uint64"
    top = np.array(1 << (31 if kind == "f32" else 63), dtype)
    return lambda a: meaning(a.view(dtype), top).view(a.dtype)


SIGNS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "abs": lambda a, top: a & ~top,
    "neg": lambda a, top: a ^ top,
}

CASES: Final = [
    *(case for name, meaning in ARITHMETIC.items() for case in singles(name, meaning, 2, close)),
    *(case for name, meaning in ARITHMETIC.items() for case in doubles(name, meaning, 2, close)),
    *(case for name, meaning in ARITHMETIC.items() for case in pairs(name, meaning, 2)),
    *(
        Case(f"{name}.f64", "f64: f64 f64", of_f64(partial(meaning, to=F64)))
        for name, meaning in ARITHMETIC.items()
    ),
    *singles("fma", exact.fused, 3, fused_close),
    *doubles("fma", exact.fused, 3, fused_close),
    *pairs("fma", exact.fused, 3),
    Case("mad.rn.ftz.f32", "f32: f32 f32 f32", of_f32(partial(exact.fused, to=F32), ftz=True)),
    Case("mad.rz.f64", "f64: f64 f64 f64", of_f64(partial(exact.fused, to=F64, mode="rz"))),
    *(
        Case(
            f"div.{mode}{'.ftz' * ftz}.f32",
            "f32: f32 f32",
            of_f32(partial(exact.divided, to=F32, mode=mode), ftz),
        )
        for mode in MODES
        for ftz in (False, True)
    ),
    *doubles("div", exact.divided, 2, as_drawn),
    *(
        Case(f"div.{name}.f32", "f32: f32 f32", of_f32(meaning, ".ftz" in name), ulps=2)
        for name, meaning in (
            ("full", partial(exact.divided, to=F32)),
            ("full.ftz", partial(exact.divided, to=F32)),
            ("approx", divided_approximately),
            ("approx.ftz", divided_approximately),
        )
    ),
    *(
        Case(f"{name}.{mode}.f32", "f32: f32", of_f32(partial(meaning, to=F32, mode=mode)))
        for name, meaning in (("rcp", inverse), ("sqrt", exact.rooted))
        for mode in MODES
    ),
    *(
        Case(f"{name}.{mode}.f64", "f64: f64", of_f64(partial(meaning, to=F64, mode=mode)))
        for name, meaning in (("rcp", inverse), ("sqrt", exact.rooted))
        for mode in MODES
    ),
    *(
        Case(
            f"{name}.approx{'.ftz' * ftz}.f32",
            "f32: f32",
            of_f32(meaning, ftz),
            prepare=moderate,
            ulps=1,
        )
        for name, meaning in (
            ("rcp", inverse),
            ("sqrt", partial(exact.rooted, to=F32)),
            ("rsqrt", single(inverse_root)),
            ("sin", single(sine(math.sin))),
            ("cos", single(sine(math.cos))),
            ("ex2", single(power)),
            ("lg2", single(logarithm)),
        )
        for ftz in (False, True)
    ),
    Case("tanh.approx.f32", "f32: f32", of_f32(single(math.tanh)), prepare=moderate, ulps=1),
    Case("rcp.approx.ftz.f64", "f64: f64", coarse(partial(inverse, to=F64)), ulps=1),
    Case("rsqrt.approx.ftz.f64", "f64: f64", coarse(inverse_root), ulps=1),
    Case("rsqrt.approx.f64", "f64: f64", of_f64(inverse_root), ulps=1),
    *(
        Case(f"{name}.{kind}", f"{kind}: {kind}", signs(kind, meaning))
        for name, meaning in SIGNS.items()
        for kind in ("f32", "f64")
    ),
    Case("abs.ftz.f32", "f32: f32", lambda a: abs(flushed(a))),
    Case("neg.ftz.f32", "f32: f32", lambda a: -flushed(a)),
    *(
        Case(f"copysign.{kind}", f"{kind}: {kind} {kind}", lambda a, b: np.copysign(b, a))
        for kind in ("f32", "f64")
    ),
    *(case for name in ("min", "max") for case in extremes(name)),
    *(case for kind in ("f32", "f64") for name in COMPARES for case in compares(name, kind)),
    *(
        Case(f"slct.{kind}.f32", f"{kind}: {kind} {kind} f32", lambda a, b, c: chosen(c >= 0, a, b))
        for kind in ("b16", "u32", "f32", "b64", "f64")
    ),
    Case("slct.ftz.s32.f32", "s32: s32 s32 f32", lambda a, b, c: chosen(flushed(c) >= 0, a, b)),
    *(
        Case(f"testp.{name}.{kind}", f"pred: {kind}", meaning)
        for name, meaning in TESTS.items()
        for kind in ("f32", "f64")
    ),
]


test_as_it_means = checks(CASES)
