"""Each integer instruction against its meaning in Python's integers, and NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

import numpy as np
import pytest

from tests.ptx.running import Case, Meaning, checks, draw, evaluate, tested

SIZES: Final = (16, 32, 64)
TYPES: Final = tuple(f"{kind}{size}" for kind in "us" for size in SIZES)


def each(meaning: Meaning) -> Callable[..., Any]:
    """Return the meaning for arrays, of one for Python's integers; it may exceed the type."""
    called = cast("Callable[..., int]", meaning)

    def of_arrays(*operands: Any) -> Any:
        values = (called(*map(int, row)) for row in zip(*operands, strict=True))
        bits = np.fromiter((value & (2**64 - 1) for value in values), "uint64", len(operands[0]))
        return bits.astype("uint64")

    return of_arrays


def chosen(which: Any, a: Any, b: Any) -> Any:
    found = a.copy()
    found[~which] = b[~which]
    return found


def bits_of(kind: str) -> int:
    return int(kind[1:])


def signed(value: int, size: int) -> int:
    value &= (1 << size) - 1
    return value - (1 << size) if value >> (size - 1) else value


def saturated(value: int) -> int:
    return max(-(2**31), min(2**31 - 1, value))


def quotient(a: int, b: int) -> int:
    if b == 0:
        return -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    return a if b == 0 else a - b * quotient(a, b)


def of_24(value: int, kind: str) -> int:
    return signed(value, 24) if kind == "s32" else value & 0xFFFFFF


def halves(meaning: Callable[[int, int], int], sign: bool) -> Callable[..., Any]:
    def both(a: int, b: int) -> int:
        found = 0
        for at in (0, 16):
            one, other = a >> at & 0xFFFF, b >> at & 0xFFFF
            if sign:
                one, other = signed(one, 16), signed(other, 16)
            found |= (meaning(one, other) & 0xFFFF) << at
        return found

    return each(both)


def relu(meaning: Callable[[int, int], int]) -> Callable[[int, int], int]:
    return lambda a, b: max(0, meaning(a, b))


def width(kind: str) -> Case:
    """Return mul.wide of a type."""
    wide = f"{kind[0]}{2 * bits_of(kind)}"
    return Case(f"mul.wide.{kind}", f"{wide}: {kind} {kind}", each(lambda a, b: a * b))


def mad_wide(kind: str) -> Case:
    wide = f"{kind[0]}{2 * bits_of(kind)}"
    meaning = each(lambda a, b, c: a * b + c)
    return Case(f"mad.wide.{kind}", f"{wide}: {kind} {kind} {wide}", meaning)


def high(kind: str) -> tuple[Case, Case]:
    size = bits_of(kind)
    return (
        Case(f"mul.hi.{kind}", f"{kind}: {kind} {kind}", each(lambda a, b: a * b >> size)),
        Case(
            f"mad.hi.{kind}",
            f"{kind}: {kind} {kind} {kind}",
            each(lambda a, b, c: (a * b >> size) + c),
        ),
    )


def by_24(kind: str) -> tuple[Case, ...]:
    def product(a: int, b: int) -> int:
        return of_24(a, kind) * of_24(b, kind)

    two, three = f"{kind}: {kind} {kind}", f"{kind}: {kind} {kind} {kind}"
    return (
        Case(f"mul24.lo.{kind}", two, each(product)),
        Case(f"mul24.hi.{kind}", two, each(lambda a, b: product(a, b) >> 16)),
        Case(f"mad24.lo.{kind}", three, each(lambda a, b, c: product(a, b) + c)),
        Case(f"mad24.hi.{kind}", three, each(lambda a, b, c: (product(a, b) >> 16) + c)),
    )


COMPARES: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
}
COMBINES: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}


def near(a: Any, b: Any, *more: Any) -> tuple[Any, ...]:
    """Make half of the operands equal."""
    b = b.copy()
    b[::2] = a[::2]
    return (a, b, *more)


def compares(kind: str) -> list[Case]:
    names = ["eq", "ne"] if kind[0] == "b" else list(COMPARES)
    names = [name for name in names if kind[0] != "s" or name not in ("lo", "ls", "hi", "hs")]
    return [
        Case(f"setp.{name}.{kind}", f"pred: {kind} {kind}", COMPARES[name], prepare=near)
        for name in names
    ]


def combined(name: str, logic: str, kind: str) -> list[Case]:
    def both(a: Any, b: Any, with_: Any) -> Any:
        found = COMPARES[name](a, b)
        return COMBINES[logic](found, with_), COMBINES[logic](~found, with_)

    def number(yes: int) -> Meaning:
        return lambda a, b, with_: np.where(both(a, b, ~with_)[0], yes, 0).astype("uint32")

    types = f"{kind} {kind} pred"
    return [
        Case(
            f"setp.{name}.{logic}.{kind}",
            f"pred pred: {types}",
            both,
            "%d0|%d1, %s0, %s1, %s2",
            prepare=near,
        ),
        *(
            Case(
                f"set.{name}.{logic}.{result}.{kind}",
                f"b32: {types}",
                number(yes),
                "%d0, %s0, %s1, !%s2",
                prepare=near,
            )
            for result, yes in (("u32", 2**32 - 1), ("f32", 0x3F800000))
        ),
    ]


def sets(kind: str) -> list[Case]:
    def number(yes: int) -> Meaning:
        return lambda a, b: np.where(a == b, yes, 0).astype("uint32")

    return [
        Case(f"set.eq.{result}.{kind}", f"b32: {kind} {kind}", number(yes), prepare=near)
        for result, yes in (("s32", 2**32 - 1), ("f32", 0x3F800000))
    ]


def found_at(kind: str, amount: bool, value: int) -> int:
    size = bits_of(kind)
    value = ~value if value < 0 else value
    at = value.bit_length() - 1
    return 2**32 - 1 if at < 0 else size - 1 - at if amount else at


def zeros_before(size: int, value: int) -> int:
    return size - value.bit_length()


def nth_set(mask: int, base: int, offset: int) -> int:
    offset = signed(offset, 32)
    if base > 31:
        return -1
    if offset == 0:
        return base if mask >> base & 1 else -1
    among = range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [at for at in among if mask >> at & 1]
    return found[abs(offset) - 1] if abs(offset) <= len(found) else -1


def small(mask: Any, base: Any, offset: Any) -> tuple[Any, ...]:
    return mask, base % 40, (offset % 21 - 10).view("uint32")


def dot(parts: int, signs: tuple[bool, bool], high_: bool = False) -> Callable[..., Any]:
    def of(value: int, at: int, size: int, sign: bool) -> int:
        value = value >> (size * at) & ((1 << size) - 1)
        return signed(value, size) if sign else value

    def meaning(a: int, b: int, c: int) -> int:
        size, skipped = 32 // parts, 2 if high_ else 0
        return c + sum(
            of(a, at, size, signs[0]) * of(b, at + skipped, 8, signs[1]) for at in range(parts)
        )

    return each(meaning)


BINARY: Final[dict[str, Callable[[int, int], int]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul.lo": lambda a, b: a * b,
    "div": quotient,
    "rem": remainder,
    "min": min,
    "max": max,
}
TERNARY: Final[dict[str, Meaning]] = {
    "mad.lo": lambda a, b, c: a * b + c,
    "sad": lambda a, b, c: c + abs(a - b),
}
EXTREMES: Final[dict[str, Callable[[int, int], int]]] = {"min": min, "max": max}


def distances(sign: bool, add: bool) -> Callable[[int, int, int], int]:
    """Return the distances of bytes, or their sum and c."""

    def meaning(a: int, b: int, c: int) -> int:
        pairs = list(zip(a.to_bytes(4, "little"), b.to_bytes(4, "little"), strict=True))
        if sign:
            pairs = [(signed(x, 8), signed(y, 8)) for x, y in pairs]
        apart = [abs(x - y) for x, y in pairs]
        return c + sum(apart) if add else int.from_bytes(apart, "little")

    return meaning


CASES: Final = [
    *(
        Case(f"{name}.{kind}", f"{kind}: {kind} {kind}", each(meaning))
        for name, meaning in BINARY.items()
        for kind in TYPES
    ),
    *(
        Case(f"{name}.{kind}", f"{kind}: {kind} {kind} {kind}", each(meaning))
        for name, meaning in TERNARY.items()
        for kind in TYPES
    ),
    *(case for kind in TYPES for case in high(kind)),
    *(case for kind in ("u16", "s16", "u32", "s32") for case in (width(kind), mad_wide(kind))),
    *(case for kind in ("u32", "s32") for case in by_24(kind)),
    Case("add.sat.s32", "s32: s32 s32", each(lambda a, b: saturated(a + b))),
    Case("sub.sat.s32", "s32: s32 s32", each(lambda a, b: saturated(a - b))),
    Case("mad.hi.sat.s32", "s32: s32 s32 s32", each(lambda a, b, c: saturated((a * b >> 32) + c))),
    Case(
        "mad24.hi.sat.s32",
        "s32: s32 s32 s32",
        each(lambda a, b, c: saturated((of_24(a, "s32") * of_24(b, "s32") >> 16) + c)),
    ),
    *(Case(f"abs.s{size}", f"s{size}: s{size}", each(abs)) for size in SIZES),
    *(Case(f"neg.s{size}", f"s{size}: s{size}", each(lambda a: -a)) for size in SIZES),
    *(
        Case(f"{name}.relu.s32", "s32: s32 s32", each(relu(meaning)))
        for name, meaning in EXTREMES.items()
    ),
    *(
        Case(f"{name}.{kind}16x2", "b32: b32 b32", halves(meaning, kind == "s"))
        for name, meaning in BINARY.items()
        for kind in "us"
        if name in ("add", "min", "max")
    ),
    *(
        Case(f"{name}.relu.s16x2", "b32: b32 b32", halves(relu(meaning), sign=True))
        for name, meaning in EXTREMES.items()
    ),
    Case("max.s16x2.relu", "b32: b32 b32", halves(relu(max), sign=True)),
    Case("min.s32.relu", "s32: s32 s32", each(relu(min))),
    *(
        Case(
            f"vabsdiff4.u32.{kind}.{kind}{'.add' * add}",
            "u32: u32 u32 u32",
            each(distances(kind == "s32", add)),
        )
        for kind in ("u32", "s32")
        for add in (False, True)
    ),
    *(case for kind in (*TYPES, "b16", "b32", "b64") for case in compares(kind)),
    *combined("lt", "and", "s32"),
    *combined("ge", "or", "u64"),
    *combined("ls", "xor", "u16"),
    *combined("ne", "and", "b32"),
    *combined("eq", "xor", "b16"),
    *combined("eq", "or", "b64"),
    *combined("gt", "and", "s16"),
    *(case for kind in ("u16", "s32", "u64", "b16", "b32", "b64") for case in sets(kind)),
    *(
        Case(f"selp.{kind}", f"{kind}: {kind} {kind} pred", lambda a, b, p: chosen(p, a, b))
        for kind in (*TYPES, "b16", "b32", "b64", "f32", "f64")
    ),
    Case("selp.b32", "b32: b32 b32 pred", lambda a, b, p: chosen(p, b, a), "%d0, %s0, %s1, !%s2"),
    *(
        Case(f"slct.{kind}.s32", f"{kind}: {kind} {kind} s32", lambda a, b, c: chosen(c >= 0, a, b))
        for kind in ("b16", "u32", "f32", "s64", "f64")
    ),
    *(Case(f"popc.b{size}", f"b32: b{size}", each(int.bit_count)) for size in (32, 64)),
    *(
        Case(f"clz.b{size}", f"b32: b{size}", each(partial(zeros_before, size)))
        for size in (32, 64)
    ),
    *(
        Case(f"bfind{name}.{kind}", f"b32: {kind}", each(partial(found_at, kind, bool(name))))
        for kind in ("u32", "s32", "u64", "s64")
        for name in ("", ".shiftamt")
    ),
    Case("fns.b32", "b32: b32 b32 b32", each(nth_set), prepare=small),
    *(
        Case(f"dp4a.{one}.{other}", "b32: b32 b32 b32", dot(4, (one == "s32", other == "s32")))
        for one in ("u32", "s32")
        for other in ("u32", "s32")
    ),
    *(
        Case(
            f"dp2a.{part}.{one}.{other}",
            "b32: b32 b32 b32",
            dot(2, (one == "s32", other == "s32"), part == "hi"),
        )
        for part in ("lo", "hi")
        for one in ("u32", "s32")
        for other in ("u32", "s32")
    ),
]


test_as_it_means = checks(CASES)


def listed(body: str) -> str:
    """Return instructions, which have a test now."""
    tested(f".visible .entry k()\n{{{body}}}")
    return body


CARRIED: Final = ("u32", "s32", "u64", "s64")
CHAINS: Final = {
    (name, kind): listed(
        f"{name}.cc.{kind} %d0, %s0, %s3; {name}c.cc.{kind} %d1, %s1, %s4;"
        f"{name}c.{kind} %d2, %s2, %s5;"
    )
    for name in ("add", "sub")
    for kind in CARRIED
}
PRODUCTS: Final = {
    kind: listed(
        f"mad.lo.cc.{kind} %d0, %s0, %s1, %s2; madc.hi.cc.{kind} %d1, %s0, %s1, %s3;"
        f"madc.lo.cc.{kind} %d2, %s0, %s1, %s4; madc.hi.{kind} %d3, %s0, %s1, %s5;"
        f"mad.hi.cc.{kind} %d4, %s0, %s1, %s2; madc.lo.{kind} %d5, %s0, %s1, %s3;"
    )
    for kind in CARRIED
}


def joined(parts: Any, size: int) -> list[int]:
    return [
        sum(int(part) << (size * at) for at, part in enumerate(row))
        for row in zip(*parts, strict=True)
    ]


@pytest.mark.parametrize(("name", "kind"), CHAINS)
def test_a_chain_carries(name: str, kind: str) -> None:
    size = bits_of(kind)
    generator = np.random.default_rng(size)
    operands = [draw(f"u{size}", generator) for _ in range(6)]
    results = evaluate(
        CHAINS[name, kind], [f"u{size}"] * 3, [(f"u{size}", each_) for each_ in operands]
    )
    one, other = joined(operands[:3], size), joined(operands[3:], size)
    expected = [(a + b if name == "add" else a - b) for a, b in zip(one, other, strict=True)]
    assert joined(results, size) == [value % (1 << 3 * size) for value in expected]


@pytest.mark.parametrize("kind", PRODUCTS)
def test_a_product_of_two_words_carries(kind: str) -> None:
    """Add the product of two words to four: low and high parts, with carries between them."""
    size = bits_of(kind)
    generator = np.random.default_rng(size + 1)
    operands = [draw(kind, generator) for _ in range(2)]
    added = [draw(f"u{size}", generator) for _ in range(4)]
    given = [*((kind, each_) for each_ in operands), *((f"u{size}", each_) for each_ in added)]
    results = evaluate(PRODUCTS[kind], [f"u{size}"] * 6, given)
    mask = (1 << size) - 1
    for a, b, c0, c1, c2, c3, *found in zip(*operands, *added, *results, strict=True):
        product = int(a) * int(b)
        low, high_ = product & mask, product >> size & mask
        carry, expected = 0, list[int]()
        for part, more in ((low, c0), (high_, c1), (low, c2), (high_, c3)):
            total = part + int(more) + carry
            carry = total >> size
            expected.append(total & mask)
        total = high_ + int(c0)
        expected += total & mask, (low + int(c1) + (total >> size)) & mask
        assert [int(value) for value in found] == expected


def test_lanes_keep_their_carry_apart() -> None:
    """Let half of the lanes add in a branch; the other half's carries stay."""
    operands = [np.full(64, 2**32 - 1, "uint32"), np.arange(64, dtype="uint32") % 2]
    body = (
        "add.cc.u32 %d0, %s0, 1; setp.eq.u32 %q, %s1, 0; @%q bra skip; add.cc.u32 %d0, 0, 0;"
        "skip: addc.u32 %d0, 0, 0;"
    )
    (found,) = evaluate(body, ["u32"], [("u32", each_) for each_ in operands])
    assert found.tolist() == [1, 0] * 32
