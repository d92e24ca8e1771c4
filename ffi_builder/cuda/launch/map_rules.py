"""Lists the rules of the driver's tensor maps, one row of ``RULES`` for each.

Source: the comments of cuTensorMapEncodeTiled, …Im2col and …Im2colWide in ``cuda.h`` of CUDA 13.5.
A rule about something that is known when the wrapper is built is checked then; the others become
limits of what a call brings, which C checks before the driver is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from ffi_builder.extending import dataclass

TYPES: Final = {
    "uint8": 8,
    "uint16": 16,
    "uint32": 32,
    "int32": 32,
    "uint64": 64,
    "int64": 64,
    "float16": 16,
    "float32": 32,
    "float64": 64,
    "bfloat16": 16,
    "float32_ftz": 32,
    "tfloat32": 32,
    "tfloat32_ftz": 32,
    "16u4_align8b": 4,
    "16u4_align16b": 4,
    "16u6_align16b": 6,
}
"""The bits of each CUtensorMapDataType, in the order of their numbers."""
SWIZZLES: Final = {
    "none": 0,
    "32B": 32,
    "64B": 64,
    "128B": 128,
    "128B_ATOM_32B": 128,
    "128B_ATOM_32B_FLIP_8B": 128,
    "128B_ATOM_64B": 128,
}
"""The bytes that each CUtensorMapSwizzle spans, in the order of their numbers."""
INTERLEAVES: Final = ("none", "16B", "32B")
PROMOTIONS: Final = ("none", "64B", "128B", "256B")
FILLS: Final = ("none", "nan")
WIDE: Final = ("w", "w128")
_PACKED: Final = ("16u4_align8b", "16u4_align16b", "16u6_align16b")
_SPREAD: Final = _PACKED[1:]
"""Packed in global memory, and spread out to 16 bytes in shared memory."""
Subject: TypeAlias = Literal[
    "rank",
    "address",
    "size",
    "stride",
    "innermost stride",
    "box",
    "element stride",
    "corner",
    "channels",
    "pixels",
    "swizzle",
    "interleave",
    "oob_fill",
]


@dataclass(frozen=True)
class Setting:
    """The facts about a map that are known before the tensor's sizes.

    ``bits`` are those of an element of the tensor. ``corners`` are the lower and the upper ones of
    im2col, innermost first; None for tiles.
    """

    dtype: str
    bits: int
    rank: int
    swizzle: str = "none"
    interleave: str = "none"
    oob_fill: str = "none"
    wide: str | None = None
    corners: tuple[tuple[int, ...], tuple[int, ...]] | None = None

    @property
    def packed(self) -> bool:
        """Whether 4 or 6 bits are a value; sizes and boxes count values."""
        return self.dtype in _PACKED

    @property
    def spread(self) -> bool:
        """Whether shared memory has gaps between the packed values."""
        return self.dtype in _SPREAD

    def least_size(self, axis: int) -> int:
        """The least size of an axis for which a box of im2col is not empty."""
        if self.corners is None or not 1 <= axis <= len(self.corners[0]):
            return 1
        lower, upper = (corners[axis - 1] for corners in self.corners)
        return max(1 + lower - upper, 1)


@dataclass(frozen=True)
class Range:
    """From ``low`` to ``high``, both included, and a multiple."""

    low: int
    high: int
    multiple: int = 1

    def __str__(self) -> str:
        if self.low == self.high:
            return str(self.low)
        between = f"{self.low} to {self.high}"
        return between if self.multiple == 1 else f"a multiple of {self.multiple} from {between}"

    def holds(self, value: int) -> bool:
        """Whether the value is in the range."""
        return self.low <= value <= self.high and value % self.multiple == 0


@dataclass(frozen=True)
class Names:
    """The names that are allowed."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return " or ".join(self.names)


_ALL: Final = Range(-(2**63), 2**63 - 1)


def _multiple(of: int, high: int = 2**63 - 1) -> Range:
    return Range(0, high, of)


_Axes: TypeAlias = Literal["all", "inner", "outer"]


@dataclass(frozen=True)
class Rule:
    """One rule: a range of numbers, or names that are allowed, for what the setting says.

    A range is in units of the driver: values, or with ``in_bytes`` bytes.
    """

    subject: Subject
    allows: Range | Names | Callable[[Setting, int], Range]
    why: str
    when: Callable[[Setting], bool] = lambda _: True
    axes: _Axes = "all"
    in_bytes: bool = False

    def is_about(self, setting: Setting, subject: Subject, axis: int) -> bool:
        """Whether the rule says something about a subject on an axis, 0 being the innermost."""
        on = self.axes == "all" or (self.axes == "inner") == (axis == 0)
        return self.subject == subject and on and self.when(setting)


def _is_im2col(s: Setting) -> bool:
    return s.corners is not None


def _no_interleave(s: Setting) -> bool:
    return s.interleave == "none"


def _by_32(s: Setting) -> bool:
    return s.interleave == "32B" or s.spread


def _swizzled(s: Setting) -> bool:
    return s.interleave == "none" and s.swizzle != "none"


def _span(s: Setting, _: int) -> Range:
    return Range(0, SWIZZLES[s.swizzle])


def _is(dtype: str, *, wide: bool) -> Callable[[Setting], bool]:
    return lambda s: s.dtype == dtype and (s.wide is not None) == wide


_CORNERS: Final = {3: 2**15, 4: 2**7, 5: 2**4}


def _corner(s: Setting, _: int) -> Range:
    most = 2**15 if s.wide else _CORNERS[s.rank]
    return Range(-most, most - 1)


RULES: Final = (
    Rule("rank", Range(1, 5), "tensor maps have 1 to 5 dimensions"),
    Rule("rank", Range(3, 5), "interleaved ones have 3 at least", lambda s: not _no_interleave(s)),
    Rule("rank", Range(3, 5), "im2col is for 3 to 5 dimensions", _is_im2col),
    Rule(
        "address",
        _multiple(16),
        "addresses are aligned to 16 bytes (data_alignment=16)",
        in_bytes=True,
    ),
    Rule(
        "address",
        _multiple(32),
        "to 32 with interleave 32B, 16u4_align16b and 16u6_align16b",
        _by_32,
        in_bytes=True,
    ),
    Rule("size", Range(1, 2**31), "a tensor map has no empty dimension, and none above 2^31"),
    Rule(
        "size", _multiple(128), "the innermost has whole groups of 128", lambda s: s.spread, "inner"
    ),
    Rule(
        "size",
        _multiple(2),
        "the innermost has whole bytes",
        lambda s: s.dtype == "16u4_align8b",
        "inner",
    ),
    Rule(
        "size",
        lambda s, axis: Range(s.least_size(axis), 2**31),
        "the box between the corners is not empty",
        _is_im2col,
    ),
    Rule(
        "stride",
        _multiple(16, 2**40 - 1),
        "strides are multiples of 16 bytes, below 2^40",
        axes="outer",
        in_bytes=True,
    ),
    Rule(
        "stride",
        _multiple(32),
        "of 32 with interleave 32B, 16u4_align16b and 16u6_align16b",
        _by_32,
        "outer",
        in_bytes=True,
    ),
    Rule(
        "innermost stride",
        Range(1, 1),
        "the innermost elements are adjacent, which are the first ones with order='F'",
    ),
    Rule("box", Range(1, 256), "a box has 1 to 256 elements in each dimension"),
    Rule("box", _multiple(16), "its rows are multiples of 16 bytes", _no_interleave, "inner", True),
    Rule("box", _span, "and no longer than what is swizzled", _swizzled, "inner", True),
    Rule("box", Range(128, 128), "it has rows of 128 such values", lambda s: s.spread, "inner"),
    Rule("channels", Range(1, 256), "a pixel has 1 to 256 channels"),
    Rule("channels", _span, "no more than what is swizzled", _swizzled, in_bytes=True),
    Rule("channels", Range(128, 128), "it has 128 such values", lambda s: s.spread),
    Rule("pixels", Range(1, 1024), "a column has 1 to 1024 pixels"),
    Rule("element stride", Range(1, 8), "element strides are 1 to 8"),
    Rule(
        "element stride",
        Range(1, 1),
        "without interleave the driver ignores that of the innermost dimension",
        _no_interleave,
        "inner",
    ),
    Rule("corner", _corner, "corners have 16 bits for 3 dimensions, 8 for 4, 5 for 5", _is_im2col),
    Rule(
        "swizzle",
        Names(("32B",)),
        "interleave 32B swizzles 32 bytes",
        lambda s: s.interleave == "32B",
    ),
    Rule(
        "swizzle",
        Names(("none", "128B", "128B_ATOM_32B", "128B_ATOM_64B")),
        "16u6_align16b is swizzled so",
        _is("16u6_align16b", wide=False),
    ),
    Rule(
        "swizzle",
        Names(("none", "128B", "128B_ATOM_32B")),
        "16u4_align16b is swizzled so",
        _is("16u4_align16b", wide=False),
    ),
    Rule(
        "swizzle",
        Names(("64B", "128B", "128B_ATOM_32B")),
        "wide im2col swizzles",
        lambda s: s.wide is not None,
    ),
    Rule(
        "swizzle",
        Names(("128B", "128B_ATOM_32B")),
        "16u4_align16b is swizzled so in wide im2col",
        _is("16u4_align16b", wide=True),
    ),
    Rule(
        "interleave",
        Names(("none",)),
        "16u6_align16b is not interleaved",
        lambda s: s.dtype == "16u6_align16b",
    ),
    Rule("oob_fill", Names(("none",)), "NaN is for floats", lambda s: "float" not in s.dtype),
)
"""Every rule that the driver checks, but that names and numbers are those of its enumerations."""


@dataclass(frozen=True)
class Limit:
    """The range of a number in units of the tensor, and why; ``ratio`` makes it the driver's."""

    range: Range
    why: str
    ratio: Fraction

    def __str__(self) -> str:
        return f"{self.range}: {self.why}"


def ratio_of(setting: Setting, subject: Subject, axis: int) -> Fraction:
    """Return what the driver gets for 1: bytes of strides, values of packed sizes."""
    if subject == "stride":
        return Fraction(setting.bits, 8)
    if subject == "size" and axis == 0 and setting.packed:
        return Fraction(setting.bits, TYPES[setting.dtype])
    return Fraction(1)


def limit(setting: Setting, subject: Subject, axis: int = 0) -> Limit:
    """Return the limit of a number; axis 0 is the innermost."""
    ratio = ratio_of(setting, subject, axis)
    low, high, multiple = _ALL.low, _ALL.high, ratio.denominator
    whys: list[str] = []
    for rule in RULES:
        if isinstance(rule.allows, Names) or not rule.is_about(setting, subject, axis):
            continue
        bounds = rule.allows if isinstance(rule.allows, Range) else rule.allows(setting, axis)
        unit = ratio
        if rule.in_bytes and subject in ("box", "channels"):
            unit = Fraction(TYPES[setting.dtype], 8)
        low = max(low, math.ceil(bounds.low / unit))
        high = min(high, math.floor(bounds.high / unit))
        # The least k whose k * unit is a multiple of what the driver wants.
        each = bounds.multiple * unit.denominator
        multiple = math.lcm(multiple, each // math.gcd(each, unit.numerator))
        whys.append(rule.why)
    # Ends that no multiple reaches would be shown, but not accepted.
    low, high = -(-low // multiple) * multiple, high // multiple * multiple
    return Limit(Range(low, high, multiple), ", ".join(whys), ratio)


def broken_choices(setting: Setting) -> Iterator[tuple[Rule, str]]:
    """Yield each rule that does not allow the setting's names, with the name that it refuses."""
    for rule in RULES:
        if isinstance(rule.allows, Names):
            given = getattr(setting, rule.subject)
            if rule.is_about(setting, rule.subject, 0) and given not in rule.allows.names:
                yield rule, given
