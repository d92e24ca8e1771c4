"""wmma: loads, stores and products of fragments whose layout is opaque."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from ffi_builder.ptx.forms.matrix import BITS, NUMBERS, registers
from ffi_builder.ptx.table import Form, form

_SPACES: Final = "[.global|.shared|.shared::cta]"
_WIDE: Final = ((16, 16, 16), (8, 32, 16), (32, 8, 16))
# Shapes, types of a and b, types of c and d, and which layouts a and b have.
_PRODUCTS: Final[
    tuple[tuple[tuple[tuple[int, int, int], ...], tuple[str, ...], tuple[str, ...]], ...]
] = (
    (_WIDE, ("f16",), ("f16", "f32")),
    (_WIDE, ("bf16",), ("f32",)),
    (((16, 16, 8),), ("tf32",), ("f32",)),
    (((8, 8, 4),), ("f64",), ("f64",)),
    (_WIDE, ("s8", "u8"), ("s32",)),
    (((8, 8, 32),), ("s4", "u4"), ("s32",)),
    (((8, 8, 128),), ("b1",), ("s32",)),
)
_FACTORS: Final = {"a": 1, "b": 3, "c": 0, "d": 0}


def _fragment(name: str, kind: str, elements: int) -> str:
    return "b32*8" if name in "ab" and kind == "f16" else registers(kind, elements)


def _moves(name: str, shape: tuple[int, int, int], kind: str) -> Iterator[Form]:
    """Yield the rows that load or store a fragment."""
    m, n, k = shape
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}[name]
    fragment = _fragment(name, kind, rows * columns)
    for layout, (stride, has_stride) in product(_layouts(name, kind), (("", 0), (" b32", 1))):
        numbers = (rows, columns, NUMBERS[kind], int(layout == "col"), _FACTORS[name], has_stride)
        suffix = f"sync.aligned.{layout}.m{m}n{n}k{k}{_SPACES}.{kind}"
        if name == "d":
            yield form(f"wmma.store.d.{suffix}  @ {fragment}{stride}", "wmma_store", *numbers)
        else:
            yield form(f"wmma.load.{name}.{suffix}  ={fragment} @{stride}", "wmma_load", *numbers)


def _layouts(name: str, kind: str) -> tuple[str, ...]:
    if BITS[kind] >= 8:
        return "row", "col"
    return ("row",) if name == "a" else ("col",)


def _multiply(shape: tuple[int, int, int], kind: str, c: str, d: str) -> Form:
    m, n, k = shape
    layout = ".<row|col>.<row|col>" if BITS[kind] >= 8 else ".row.col"
    name, suffix, handler = f"wmma.mma.sync.aligned{layout}.m{m}n{n}k{k}", "", "wmma_float"
    types = f"{d}.{c}" if kind == "f16" else f"{d}.{kind}.{kind}.{c}"
    if kind == "b1":
        name = f"wmma.mma.<and|xor>.popc.sync.aligned{layout}.m{m}n{n}k{k}"
    if kind == "f64":
        name, handler = f"{name}[.rn|.rz|.rm|.rp]", "wmma_f64"
    if c == "s32":
        suffix, handler = "" if kind == "b1" else "[.satfinite]", "wmma_integer"
    fragments = " ".join(
        _fragment(name, each, count)
        for name, each, count in (
            ("d", d, m * n),
            ("a", kind, m * k),
            ("b", kind, k * n),
            ("c", c, m * n),
        )
    )
    numbers = (m, n, k, NUMBERS[kind], NUMBERS[kind], NUMBERS[c] | NUMBERS[d] << 4)
    return form(f"{name}.{types}{suffix}  ={fragments}", handler, *numbers)


FORMS: Final[tuple[Form, ...]] = (
    *(
        row
        for shapes, kinds, _ in _PRODUCTS
        for shape, name, kind in product(shapes, "ab", kinds)
        for row in _moves(name, shape, kind)
    ),
    *(
        row
        for shape, kind in sorted(
            {(shape, kind) for shapes, _, kinds in _PRODUCTS for shape in shapes for kind in kinds}
        )
        for name in "cd"
        for row in _moves(name, shape, kind)
    ),
    *(
        _multiply(shape, kind, c, d)
        for shapes, kinds, results in _PRODUCTS
        for shape in shapes
        for kind in kinds
        for c, d in product(results, results)
    ),
)
