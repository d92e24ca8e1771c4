"""Each instruction for 16-bit floats against its meaning: exact, and rounded once."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy

from tests.ptx.exact import (
    F32,
    FORMATS,
    added,
    flush,
    fused,
    multiplied,
    rounded,
    saturate,
    subtracted,
)
from tests.ptx.halves import NAN, as_numbers, bits_of, each, values
from tests.ptx.running import Case, checks, evaluate
from tests.ptx.test_floating import COMPARES
from tests.ptx.test_integer import COMBINES

np: Any = numpy  # its stubs leave open what views are

_KINDS: Final = ("f16", "bf16", "f16x2", "bf16x2")


def arithmetic(opcode: str, operation: Callable[..., Any], count: int) -> Case:
    """An operation that is rounded once; its modifiers clamp and flush."""
    _, *modifiers, kind = opcode.split(".")
    base = kind.removesuffix("x2")
    ftz = "ftz" in modifiers

    def meaning(*bits: int) -> int:
        found = operation(*as_numbers(base, bits, ftz), to=FORMATS[base])
        found = saturate(found, "sat" in modifiers)
        if "relu" in modifiers and found <= 0:
            found = 0.0
        return bits_of(base, flush(found, ftz, FORMATS[base]))

    return Case(opcode, f"{kind}: {' '.join([kind] * count)}", each(kind, meaning))


def approximate(opcode: str, function: Callable[[float], Any]) -> Case:
    """A function, of which the nearest number is returned."""
    _, *modifiers, kind = opcode.split(".")
    base = kind.removesuffix("x2")
    ftz = "ftz" in modifiers

    def meaning(bits: int) -> int:
        found = float(function(as_numbers(base, (bits,), ftz)[0]))
        if math.isfinite(found):
            found = rounded(Fraction(found), FORMATS[base], zero=found)
        return bits_of(base, flush(found, ftz, FORMATS[base]))

    return Case(opcode, f"{kind}: {kind}", each(kind, meaning))


def extreme(opcode: str) -> Case:
    """The smaller or larger number: -0 is smaller than +0, and a NaN is none."""
    name, *modifiers, kind = opcode.split(".")
    base = kind.removesuffix("x2")

    def meaning(*bits: int) -> int:
        numbers = as_numbers(base, bits, "ftz" in modifiers)
        sign = 1.0
        if "xorsign" in modifiers:
            sign = math.copysign(1, numbers[0]) * math.copysign(1, numbers[1])
            numbers = [abs(number) for number in numbers]
        ordered = [number for number in numbers if not math.isnan(number)]
        if not ordered or ("NaN" in modifiers and len(ordered) < 2):
            return NAN
        choose = min if name == "min" else max
        found = choose(ordered, key=lambda number: (number, math.copysign(1, number)))
        return bits_of(base, math.copysign(found, math.copysign(1, found) * sign))

    return Case(opcode, f"{kind}: {kind} {kind}", each(kind, meaning))


def of_bits(opcode: str, operation: Callable[[int], int]) -> Case:
    """A change of the sign, of NaNs too."""
    _, *modifiers, kind = opcode.split(".")
    base = kind.removesuffix("x2")

    def meaning(bits: int) -> int:
        (number,) = as_numbers(base, (bits,), "ftz" in modifiers)
        return operation(bits if math.isnan(number) else bits_of(base, number))

    return Case(opcode, f"{kind}: {kind}", each(kind, meaning))


def relation(words: list[str], kind: str, a: Any, b: Any) -> Any:
    """Whether numbers compare as the first word of a modifier says."""
    numbers = [values(kind, bits) for bits in (a, b)]
    if "ftz" in words:
        least = 2.0 ** FORMATS[kind].least
        numbers = [np.where(abs(each) < least, 0.0, each) for each in numbers]
    return COMPARES[words[0]](*numbers)


def predicates(opcode: str, negated: bool = False) -> Case:
    """A comparison; of a pair, it has two results."""
    _, *words, kind = opcode.split(".")
    base = kind.removesuffix("x2")
    combined = COMBINES.get(words[1]) if len(words) > 1 else None
    count = 1 if kind == base else 2

    def meaning(a: Any, b: Any, *given: Any) -> tuple[Any, ...]:
        halves = [each.view("uint16").reshape(-1, count) for each in (a, b)]
        found = [relation(words, base, *(each[:, at] for each in halves)) for at in range(count)]
        if combined is not None:
            other = ~given[0] if negated else given[0]
            found = [combined(each, other) for each in found]
        return tuple(found)

    results = "|".join(f"%d{at}" for at in range(count))
    third = " pred" if combined else ""
    arguments = f"{results}, %s0, %s1" + (f", {'!' * negated}%s2" if combined else "")
    return Case(opcode, f"{'pred ' * count}: {kind} {kind}{third}", meaning, arguments)


def numbers(opcode: str) -> Case:
    """A comparison whose result is a number: one, or all bits."""
    _, *words, to, kind = opcode.split(".")
    base = kind.removesuffix("x2")
    combined = COMBINES.get(words[1]) if len(words) > 1 else None
    is_pair = kind != base

    def meaning(a: Any, b: Any, *given: Any) -> Any:
        shape = (-1, 2) if is_pair else (-1, 1)
        halves = [each.view("uint16").reshape(shape) for each in (a, b)]
        found = relation(words, base, *halves)
        if combined is not None:
            found = combined(found, given[0][:, None])
        bits = bits_of(base, 1.0) if to == kind else 0xFFFF
        made = np.where(found, bits, 0).astype("uint16")
        if to in ("u32", "s32") and not is_pair:
            return np.where(found[:, 0], 0xFFFFFFFF, 0)
        return (
            np.ascontiguousarray(made)
            .reshape(-1)
            .view(
                {"f16": "float16", "s32": "int32", "s16": "int16"}.get(
                    to, "uint32" if is_pair else "uint16"
                )
            )
        )

    third = " pred" if combined else ""
    return Case(opcode, f"{to}: {kind} {kind}{third}", meaning)


def mixed(opcode: str, operation: Callable[..., float], mode: str) -> Case:
    """An operation for f32, some of whose operands are smaller."""
    name, *modifiers, kind = opcode.split(".")
    narrow = 1 if name != "fma" else 2

    def meaning(*operands: Any) -> Any:
        wide = [values(kind, each) for each in operands[:narrow]]
        wide += [each.astype(float) for each in operands[narrow:]]
        made = (operation(*map(float, row), to=F32, mode=mode) for row in zip(*wide, strict=True))
        found = np.array([saturate(each, "sat" in modifiers) for each in made], "float32")
        found.view("uint32")[np.isnan(found)] = 0x7FFFFFFF
        return found

    return Case(opcode, f"f32: {' '.join([kind] * narrow + ['f32'])}", meaning)


def _negative(bits: int) -> int:
    return bits ^ 0x8000


def _absolute(bits: int) -> int:
    return bits & 0x7FFF


def _exp2(number: float) -> Any:
    with np.errstate(all="ignore"):
        return np.exp2(number)


CASES: Final = [
    *(
        arithmetic(f"{name}{modifiers}.{kind}", operation, 2)
        for name, operation in (("add", added), ("sub", subtracted), ("mul", multiplied))
        for kind in _KINDS
        for modifiers in (("", ".rn") if kind[0] == "b" else ("", ".rn.ftz", ".sat", ".ftz.sat"))
    ),
    *(
        arithmetic(f"fma.rn{modifiers}.{kind}", fused, 3)
        for kind in _KINDS
        for modifiers in (
            ("", ".relu") if kind[0] == "b" else ("", ".ftz", ".sat", ".relu", ".ftz.relu")
        )
    ),
    *(
        extreme(f"{name}{ftz}{modifiers}.{kind}")
        for name in ("min", "max")
        for kind in _KINDS
        for ftz in (("",) if kind[0] == "b" else ("", ".ftz"))
        for modifiers in ("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs")
    ),
    *(
        of_bits(f"{name}{ftz}.{kind}", operation)
        for name, operation in (("neg", _negative), ("abs", _absolute))
        for kind in _KINDS
        for ftz in (("",) if kind[0] == "b" else ("", ".ftz"))
    ),
    *(approximate(f"ex2.approx.{kind}", _exp2) for kind in ("f16", "f16x2")),
    *(approximate(f"ex2.approx.ftz.{kind}", _exp2) for kind in ("bf16", "bf16x2")),
    *(approximate(f"tanh.approx.{kind}", math.tanh) for kind in _KINDS),
    *(predicates(f"setp.{name}.f16") for name in COMPARES),
    *(predicates(f"setp.{name}.bf16x2") for name in COMPARES),
    *(predicates(f"setp.{name}.{kind}") for name in ("lt", "neu") for kind in ("bf16", "f16x2")),
    *(
        predicates(f"setp.le.{combine}.{kind}", negated=combine == "or")
        for combine in COMBINES
        for kind in _KINDS
    ),
    *(predicates(f"setp.eq.ftz.{kind}") for kind in ("f16", "f16x2")),
    *(
        numbers(f"set.{name}.{to}.{kind}")
        for kind in _KINDS
        for name in ("gt", "nan", "ltu.and", "ge.xor")
        for to in (kind, "u32", "s32", *(() if kind.endswith("x2") else ("u16", "s16")))
    ),
    numbers("set.eq.ftz.f16x2.f16x2"),
    *(
        mixed(f"{name}{modifiers}.f32.{kind}", operation, modifiers[1:3] or "rn")
        for name, operation in (("add", added), ("sub", subtracted), ("fma", fused))
        for kind in ("f16", "bf16")
        for modifiers in (
            *((".rn.sat",) if name == "fma" else ("", ".rn.sat")),
            ".rz",
            ".rm",
            ".rp",
        )
    ),
]


test_as_it_means = checks(CASES)


def test_fma_of_bf16_rounds_once_where_a_double_loses_the_last_term() -> None:
    factors = np.array([0x3F81] * 3, "uint16"), np.array([0x3FC0] * 3, "uint16")
    term = np.array([0x0D80, 0x8D80, 0x0000], "uint16")  # 2**-100, -2**-100, 0

    (found,) = evaluate(
        "fma.rn.bf16 %d0, %s0, %s1, %s2;",
        ["bf16"],
        [("bf16", factors[0]), ("bf16", factors[1]), ("bf16", term)],
    )

    # 1.5 + 2**-7 + 2**-8, a tie between 1.5 + 2**-7 and 1.5 + 2**-6
    assert found.tolist() == [0x3FC2, 0x3FC1, 0x3FC2]
