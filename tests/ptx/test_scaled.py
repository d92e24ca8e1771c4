"""Products of small floats whose rows and columns have scales, against NumPy."""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import numpy
import pytest

from ffi_builder.ptx.errors import KernelFault
from tests.ptx.elements import bits_of, small, value
from tests.ptx.running import COUNT, Case, checks
from tests.ptx.test_matrix import elements, places_a, places_b, places_c, whole

np: Any = numpy  # its stubs leave open what views are

_WARPS: Final = COUNT // 32
_E2M1: Final = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])


def scaled(
    qualifiers: str, a: str, b: str, scale: str, *, ids: tuple[int, ...], first: bool
) -> Case:
    """A Case; ``ids`` are the byte and the pair of lanes of scales of a, and those of b's."""
    parts, is_packed = int(qualifiers[-2]), "mxf4" in qualifiers
    k = 64 if is_packed else 32
    bits = 4 if is_packed else 8
    shape = f".m16n8k{k}.row.col"
    words = f"{qualifiers}{shape}" if first else f"{shape}{qualifiers}"
    opcode = f"mma.sync.aligned{words}.f32.{a}.{b}.f32.{scale}"

    def numbers(kind: str, registers: Any) -> Any:
        if is_packed:
            return _E2M1[elements("s4", registers).astype(int)]
        return value(kind, elements(kind, registers))

    def prepare(*operands: Any) -> list[Any]:
        generator = np.random.default_rng(k)
        kinds = [a] * 4 + [b] * 2 + ["f32"] * 4
        made = [small(kind, (COUNT, 4), generator) for kind in kinds]
        found = [each.view("uint32")[:, 0] for each in made]
        if scale == "ue8m0":
            scales = generator.integers(120, 134, (2, COUNT, 4)).astype("uint8")
        else:
            scales = generator.integers(0x28, 0x48, (2, COUNT, 4)).astype("uint8")
        return [*found, *(each.view("uint32")[:, 0] for each in scales)]

    def factors(words: Any, byte: int) -> Any:
        """The scales that each lane has."""
        parts_ = words.view("uint8").reshape(_WARPS, 32, 4)[..., byte : byte + parts]
        return 2.0 ** (parts_ - 127.0) if scale == "ue8m0" else value("e4m3", parts_)

    def meaning(*operands: Any) -> tuple[Any, ...]:
        one = whole(numbers(a, list(operands[:4])), *places_a(16, 16 * k // 32, bits))
        other = whole(numbers(b, list(operands[4:6])), *places_b(8 * k // 32, bits))
        sum_ = whole(value("f32", elements("f32", list(operands[6:10]))), *places_c(4))
        of_a, of_b = factors(operands[10], ids[0]), factors(operands[11], ids[2])
        rows, columns = np.arange(16), np.arange(8)
        of_a = of_a[:, rows % 8 * 4 + 2 * ids[1] + rows // 8]
        of_b = of_b[:, columns * 4 + ids[3]]
        one = one * np.repeat(of_a, k // parts, 2)
        other = other * np.repeat(of_b, k // parts, 2).transpose(0, 2, 1)
        found = bits_of("f32", sum_ + one @ other)
        found = found[(slice(None), *places_c(4))].reshape(COUNT, 4)
        return tuple(found[:, at] for at in range(4))

    groups = ["%d0, %d1, %d2, %d3", "%s0, %s1, %s2, %s3", "%s4, %s5", "%s6, %s7, %s8, %s9"]
    arguments = ", ".join(f"{{{each}}}" for each in groups)
    arguments += f", %s10, {{{ids[0]}, {ids[1]}}}, {{%s11}}, {{{ids[2]}, {ids[3]}}}"
    types = f"{'b32 ' * 4}: {'b32 ' * 12}"
    return Case(opcode, types, meaning, arguments, prepare)


_MX8: Final = ".kind::mxf8f6f4.block_scale.scale_vec::1X"
CASES: Final = [
    *(
        scaled(_MX8, a, b, "ue8m0", ids=(byte, byte % 2, 3 - byte, byte), first=first)
        for byte, (a, b) in enumerate(product(("e4m3", "e5m2"), repeat=2))
        for first in (False, True)
    ),
    *(
        scaled(_MX8, a, b, "ue8m0", ids=(0, 1, 1, 2), first=first)
        for a, b in product(("e4m3", "e5m2", "e3m2", "e2m3", "e2m1"), repeat=2)
        for first in (False, True)
    ),
    *(
        scaled(
            f".kind::{kind}.block_scale.scale_vec::{parts}X",
            "e2m1",
            "e2m1",
            scale,
            ids=ids,
            first=first,
        )
        for kind, parts, scale, ids in (
            ("mxf4", 2, "ue8m0", (2, 1, 0, 3)),
            ("mxf4nvf4", 2, "ue8m0", (0, 0, 2, 1)),
            ("mxf4nvf4", 4, "ue8m0", (0, 1, 0, 2)),
            ("mxf4nvf4", 4, "ue4m3", (0, 1, 0, 2)),
        )
        for first in (False, True)
    ),
]


test_as_it_means = checks(CASES)


def test_scales_that_there_are_not_are_a_fault() -> None:
    case = scaled(_MX8, "e4m3", "e4m3", "ue8m0", ids=(0, 2, 0, 0), first=True)

    with pytest.raises(KernelFault, match="lanes 2 and 0, which there are not"):
        case.check()
