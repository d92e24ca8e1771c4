"""Fragments of wmma are loaded, multiplied and stored as NumPy does it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Final

import numpy
import pytest

from tests.ptx.elements import BITS, bits_of, fused, small, value
from tests.ptx.running import Shape, run, tested

np: Any = numpy  # its stubs leave open what views are

_WIDE: Final = ("m16n16k16", "m8n32k16", "m32n8k16")


@dataclass(frozen=True)
class Product:
    """A product of two fragments; its memory is by rows or columns, and perhaps padded."""

    shape: str
    kind: str
    d: str
    c: str
    layout: str
    padded: bool
    operation: str = ""
    """What is between or behind other modifiers."""

    @property
    def sizes(self) -> tuple[int, int, int]:
        m, rest = self.shape[1:].split("n")
        n, k = rest.split("k")
        return int(m), int(n), int(k)

    def layout_of(self, name: str) -> str:
        """That of a factor of small integers is given."""
        if BITS[self.kind] < 8 and name in "ab":
            return {"a": "row", "b": "col"}[name]
        return self.layout

    @property
    def ptx(self) -> str:
        m, n, k = self.sizes
        counts = {"a": m * k, "b": k * n, "c": m * n, "d": m * n}
        kinds = {"a": self.kind, "b": self.kind, "c": self.c, "d": self.d}
        lines = [".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{"]
        lines.append(".reg .b64 %p<4>;")
        sets: dict[str, str] = {}
        for at, name in enumerate("abcd"):
            bits = max(BITS[kinds[name]], 32)
            count = counts[name] * BITS[kinds[name]] // (32 * bits)
            count = 8 if name in "ab" and self.kind == "f16" else count
            lines.append(f".reg .b{bits} %{name}<{count}>; ld.param.u64 %p{at}, [{name}];")
            sets[name] = "{" + ", ".join(f"%{name}{each}" for each in range(count)) + "}"
        space = "" if self.padded else ".global"
        strides = {name: f", {self.stride(name)}" * self.padded for name in "abcd"}
        for at, name in enumerate("abc"):
            opcode = f"wmma.load.{name}.sync.aligned.{self.layout_of(name)}.{self.shape}{space}.{kinds[name]}"
            lines.append(f"{opcode} {sets[name]}, [%p{at}]{strides[name]};")
        lines.append(f"{self.opcode} {sets['d']}, {sets['a']}, {sets['b']}, {sets['c']};")
        opcode = f"wmma.store.d.sync.aligned.{self.layout}.{self.shape}{space}.{self.d}"
        lines.append(f"{opcode} [%p3], {sets['d']}{strides['d']};\nret;\n}}")
        return "\n".join(lines)

    @property
    def opcode(self) -> str:
        """That of the product."""
        types = (
            f"{self.d}.{self.c}"
            if self.kind == "f16"
            else f"{self.d}.{self.kind}.{self.kind}.{self.c}"
        )
        operation = f".{self.operation}.popc" if self.operation and self.kind == "b1" else ""
        rounding = self.operation if self.kind == "f64" else ""
        behind = ".satfinite" if self.operation == "satfinite" else ""
        layouts = f"{self.layout_of('a')}.{self.layout_of('b')}"
        return f"wmma.mma{operation}.sync.aligned.{layouts}.{self.shape}{rounding}.{types}{behind}"

    def stride(self, name: str) -> int:
        """How many elements the lines of memory have."""
        m, n, k = self.sizes
        rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}[name]
        length = columns if self.layout_of(name) == "row" else rows
        kind = {"a": self.kind, "b": self.kind, "c": self.c, "d": self.d}[name]
        return length + self.padded * 256 // BITS[kind]

    def stored(self, name: str, bits: Any, kind: str) -> Any:
        """The memory of a matrix."""
        lines = bits if self.layout_of(name) == "row" else bits.T
        memory = np.zeros((lines.shape[0], self.stride(name)), bits.dtype)
        memory[:, : lines.shape[1]] = lines
        if BITS[kind] == 4:
            return np.ascontiguousarray(memory[:, ::2] | memory[:, 1::2] << 4)
        return np.packbits(memory, axis=1, bitorder="little") if kind == "b1" else memory

    def check(self) -> None:
        m, n, k = self.sizes
        generator = np.random.default_rng(m + 2 * n + k)
        a, b = (small(self.kind, shape, generator) for shape in ((m, k), (k, n)))
        c = small(self.c, (m, n), generator)
        memory = self.stored("d", np.zeros((m, n), f"uint{BITS[self.d]}"), self.d)

        given = [
            self.stored("a", a, self.kind),
            self.stored("b", b, self.kind),
            self.stored("c", c, self.c),
            memory,
        ]
        run(self.ptx, "k", given, Shape(block=(32, 1, 1)))

        found = memory[:, : n if self.layout == "row" else m]
        found = found if self.layout == "row" else found.T
        expected = self.expected(value(self.kind, a), value(self.kind, b), value(self.c, c))
        np.testing.assert_array_equal(found, expected)

    def expected(self, a: Any, b: Any, c: Any) -> Any:
        if self.d == "f64":
            for at in range(4):
                c = fused(a[:, at, None], b[None, at, :], c)
            return bits_of("f64", c)
        products = (a[:, :, None] ^ b).sum(1) if self.operation == "xor" else a @ b
        return bits_of(self.d, c + products, saturates=self.operation == "satfinite")


CASES: Final = [
    Product(shape, kind, d, c, layout, padded, operation)
    for shapes, kind, results, operation in (
        (_WIDE, "f16", ("f16", "f32"), ""),
        (_WIDE, "bf16", ("f32",), ""),
        (("m16n16k8",), "tf32", ("f32",), ""),
        (("m8n8k4",), "f64", ("f64",), ""),
        (_WIDE, "s8", ("s32",), ""),
        (_WIDE, "u8", ("s32",), "satfinite"),
        (("m8n8k32",), "s4", ("s32",), "satfinite"),
        (("m8n8k32",), "u4", ("s32",), ""),
        (("m8n8k128",), "b1", ("s32",), "xor"),
        (("m8n8k128",), "b1", ("s32",), "and"),
    )
    for shape in shapes
    for (d, c), layout, padded in product(product(results, results), ("row", "col"), (False, True))
]
for _case in CASES:
    tested(_case.ptx)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.opcode}-{case.padded}")
def test_as_it_means(case: Product) -> None:
    case.check()


def test_f64_is_rounded_as_it_says() -> None:
    case = Product("m8n8k4", "f64", "f64", "f64", "row", False, ".rz")
    third, zeros = np.full((8, 8), 1 / 3), np.zeros((8, 8))
    made = np.zeros((8, 8))

    run(
        case.ptx, "k", [third[:, :4].copy(), third[:4].copy(), zeros, made], Shape(block=(32, 1, 1))
    )

    sum_ = 0.0
    for _ in range(4):
        exact = Fraction(1 / 3) ** 2 + Fraction(sum_)
        sum_ = float(exact)
        if Fraction(sum_) > exact:
            sum_ = float(np.nextafter(sum_, 0))
    assert (made == sum_).all()
