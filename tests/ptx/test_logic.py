"""Each instruction for bits against its meaning in Python's integers, and NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tests.ptx.running import Case, Meaning, checks
from tests.ptx.test_integer import COMBINES, each, signed

SIZES: Final = (16, 32, 64)
ONES: Final = 2**32 - 1


def shifted(name: str, size: int, sign: bool) -> Callable[..., Any]:
    def meaning(a: int, by: int) -> int:
        by = min(by, 128)
        if name == "shl":
            return (a << by) & ((1 << size) - 1)
        return (signed(a, size) if sign else a) >> by

    return each(meaning)


def funnel(right: bool, clamp: bool) -> Callable[..., Any]:
    def meaning(a: int, b: int, by: int) -> int:
        by = min(by, 32) if clamp else by % 32
        both = b << 32 | a
        return (both >> by if right else both << by >> 32) & ONES

    return each(meaning)


def table_of(number: int) -> Callable[..., Any]:
    """Look each bit up: those of a, b and c are the number of a bit in the table."""

    def meaning(a: int, b: int, c: int) -> int:
        found = 0
        for at in range(32):
            place = (a >> at & 1) << 2 | (b >> at & 1) << 1 | (c >> at & 1)
            found |= (number >> place & 1) << at
        return found

    return each(meaning)


def with_predicate(number: int, combine: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def meaning(a: Any, b: Any, c: Any, p: Any) -> tuple[Any, Any]:
        found = table_of(number)(a, b, c)
        return found, combine(found != 0, ~p)

    return meaning


def extracted(size: int, sign: bool) -> Callable[..., Any]:
    """Take bits one by one: those behind the last are copies of the sign."""

    def meaning(a: int, at: int, count: int) -> int:
        at, count = at & 255, count & 255
        bits = [a >> place & 1 for place in range(size)]
        top = bits[min(at + count - 1, size - 1)] if sign and count else 0
        return sum(
            (bits[at + place] if place < count and at + place < size else top) << place
            for place in range(size)
        )

    return each(meaning)


def inserted(size: int) -> Callable[..., Any]:
    def meaning(a: int, b: int, at: int, count: int) -> int:
        at, count = at & 255, count & 255
        for place in range(count):
            if at + place < size:
                bit = 1 << (at + place)
                b = b & ~bit | (bit if a >> place & 1 else 0)
        return b

    return each(meaning)


def turned(size: int) -> Callable[..., Any]:
    return each(lambda a: int(f"{a:0{size}b}"[::-1], 2))


def amount(value: int, clamp: bool) -> int:
    return min(value, 32) if clamp else value % 32


def masked(clamp: bool) -> Callable[..., Any]:
    def meaning(a: int, b: int) -> int:
        at, count = amount(a, clamp), amount(b, clamp)
        return sum(1 << place for place in range(32) if at <= place < at + count)

    return each(meaning)


def extended(clamp: bool, sign: bool) -> Callable[..., Any]:
    def meaning(a: int, b: int) -> int:
        count = amount(b, clamp)
        if count == 0:
            return 0
        return (signed(a, count) if sign else a & ((1 << count) - 1)) & ONES

    return each(meaning)


def permuted(a: int, b: int, selectors: int) -> int:
    both = [*a.to_bytes(4, "little"), *b.to_bytes(4, "little")]
    found = bytearray()
    for at in range(4):
        selector = selectors >> 4 * at & 15
        byte = both[selector & 7]
        found.append((0xFF if byte >> 7 else 0) if selector & 8 else byte)
    return int.from_bytes(found, "little")


# The bytes of the result, from the last to the first, by the two low bits of c: PTX's table.
MODES: Final = {
    "f4e": ("3210", "4321", "5432", "6543"),
    "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"),
    "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"),
    "rc16": ("1010", "3232", "1010", "3232"),
}


def by_mode(name: str) -> Callable[..., Any]:
    def meaning(a: int, b: int, c: int) -> int:
        both = [*a.to_bytes(4, "little"), *b.to_bytes(4, "little")]
        chosen = bytes(both[int(digit)] for digit in MODES[name][c & 3])
        return int.from_bytes(chosen, "big")

    return each(meaning)


def shorter(*operands: Any) -> tuple[Any, ...]:
    """Make the amounts, which are 32 bits behind the first operand or two, small."""
    kept = len(operands) // 2
    return (*operands[:kept], *(each_ % np.array(80, each_.dtype) for each_ in operands[kept:]))


def shorter_both(a: Any, b: Any) -> tuple[Any, ...]:
    return a % np.array(80, a.dtype), b % np.array(80, b.dtype)


def shorter_last(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    return a, b, c % np.array(80, c.dtype)


def split(count: int, size: int) -> Callable[[Any], Any]:
    return lambda a: tuple(
        (a >> np.array(size * at, a.dtype)) & np.array((1 << size) - 1, a.dtype)
        for at in range(count)
    )


def joined(whole: str, size: int) -> Callable[..., Any]:
    def meaning(*parts: Any) -> Any:
        return sum(
            part.astype(whole) << np.array(size * at, whole) for at, part in enumerate(parts)
        )

    return meaning


def parts(whole: int, part: int) -> tuple[Case, Case]:
    count = whole // part
    results = ", ".join(f"%d{at}" for at in range(count))
    operands = ", ".join(f"%s{at}" for at in range(count))
    types = " ".join([f"b{part}"] * count)
    return (
        Case(f"mov.b{whole}", f"{types}: b{whole}", split(count, part), f"{{{results}}}, %s0"),
        Case(
            f"mov.b{whole}",
            f"b{whole}: {types}",
            joined(f"uint{whole}", part),
            f"%d0, {{{operands}}}",
        ),
    )


BITWISE: Final[dict[str, Meaning]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
INVERTED: Final[dict[str, Meaning]] = {"not": np.bitwise_not, "cnot": lambda a: a == 0}

CASES: Final = [
    *(
        Case(f"mov.{kind}", f"{kind}: {kind}", lambda a: a)
        for kind in (*(f"{kind}{size}" for kind in "bus" for size in SIZES), "f32", "f64")
    ),
    Case("mov.pred", "pred: pred", np.logical_not, "%d0, !%s0"),
    Case("mov.pred", "pred: pred", np.ones_like, "%d0, -1"),
    Case("mov.pred", "pred: pred", np.zeros_like, "%d0, 0"),
    *(
        case
        for whole in SIZES
        for part in (8, 16, 32)
        for case in parts(whole, part)
        if whole > part and (part > 8 or whole < 64)
    ),
    *(
        Case(f"{name}.b{size}", f"b{size}: b{size} b{size}", meaning)
        for name, meaning in BITWISE.items()
        for size in SIZES
    ),
    *(
        Case(f"{name}.b{size}", f"b{size}: b{size}", meaning)
        for name, meaning in INVERTED.items()
        for size in SIZES
    ),
    *(Case(f"{name}.pred", "pred: pred pred", meaning) for name, meaning in COMBINES.items()),
    Case("not.pred", "pred: pred", np.logical_not),
    *(
        Case(
            f"{name}.{kind}{size}",
            f"{kind}{size}: {kind}{size} b32",
            shifted(name, size, kind == "s"),
            prepare=shorter,
        )
        for name, kinds in (("shl", "b"), ("shr", "bus"))
        for kind in kinds
        for size in SIZES
    ),
    *(Case(f"shl.b{size}", f"b{size}: b{size} b32", shifted("shl", size, False)) for size in SIZES),
    *(
        Case(
            f"shf.{side}.{mode}.b32",
            "b32: b32 b32 b32",
            funnel(side == "r", mode == "clamp"),
            prepare=shorter_last,
        )
        for side in "lr"
        for mode in ("wrap", "clamp")
    ),
    *(
        Case("lop3.b32", "b32: b32 b32 b32", table_of(table), f"%d0, %s0, %s1, %s2, {table}")
        for table in (0, 0x80, 0x96, 0xE8, 0xCA, 0x1B, 255)
    ),
    *(
        Case(
            f"lop3.{name}.b32",
            "b32 pred: b32 b32 b32 pred",
            with_predicate(table, combine),
            f"%d0|%d1, %s0, %s1, %s2, {table}, !%s3",
        )
        for name, combine in COMBINES.items()
        for table in (0x80, 0x00)
        if name != "xor"
    ),
    *(
        Case(
            f"bfe.{kind}{size}",
            f"{kind}{size}: u{size} b32 b32",
            extracted(size, kind == "s"),
            prepare=shorter,
        )
        for kind in "us"
        for size in (32, 64)
    ),
    *(
        Case(f"bfi.b{size}", f"b{size}: b{size} b{size} b32 b32", inserted(size), prepare=shorter)
        for size in (32, 64)
    ),
    *(Case(f"brev.b{size}", f"b{size}: b{size}", turned(size)) for size in (32, 64)),
    *(
        case
        for mode in ("wrap", "clamp")
        for case in (
            Case(f"bmsk.{mode}.b32", "b32: b32 b32", masked(mode == "clamp"), prepare=shorter_both),
            *(
                Case(
                    f"szext.{mode}.{kind}",
                    "b32: b32 b32",
                    extended(mode == "clamp", kind == "s32"),
                    prepare=shorter,
                )
                for kind in ("u32", "s32")
            ),
        )
    ),
    Case("prmt.b32", "b32: b32 b32 b32", each(permuted)),
    *(Case(f"prmt.b32.{mode}", "b32: b32 b32 b32", by_mode(mode)) for mode in MODES),
]


test_as_it_means = checks(CASES)
