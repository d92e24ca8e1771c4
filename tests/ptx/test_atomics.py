"""atom and red against their meaning: each thread has an element of its own, or all have one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy
import pytest

from ffi_builder.ptx.machine import Shape
from ffi_builder.ptx.text import SIZES
from tests.ptx.running import COUNT, DTYPES, TESTED, draw, evaluate, run, tested

np: Any = numpy

Meaning = Callable[[Any, Any], Any]


def _bf16(bits: Any) -> Any:
    return (bits.astype("uint32") << 16).view("float32")


def _as_bf16(values: Any) -> Any:
    bits = values.astype("float32").view("uint32")
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("uint16")
    return np.where(np.isnan(values), np.uint16(0x7FFF), rounded)


def _as_f16(values: Any) -> Any:
    return np.where(np.isnan(values), np.uint16(0x7FFF), values.astype("float16").view("uint16"))


def _halves(meaning: Meaning) -> dict[str, Meaning]:
    """The meaning for one and two halves of either kind, as bits."""

    def f16(a: Any, b: Any) -> Any:
        a, b = (each.view("float16").astype("float64") for each in (a, b))
        return _as_f16(meaning(a, b))

    def bf16(a: Any, b: Any) -> Any:
        return _as_bf16(meaning(_bf16(a).astype("float64"), _bf16(b).astype("float64")))

    def pair(one: Meaning) -> Meaning:
        return lambda a, b: one(a.view("uint16"), b.view("uint16")).view("uint32")

    return {"f16": f16, "bf16": bf16, "f16x2": pair(f16), "bf16x2": pair(bf16)}


def _extreme(pick: Meaning, signed: Meaning) -> Meaning:
    """Minimum or maximum of numbers: NaN only if both are, and -0 is less than 0."""

    def meaning(a: Any, b: Any) -> Any:
        both = signed(np.signbit(a), np.signbit(b))
        zeros = np.where(both, -0.0, 0.0)
        return np.where((a == 0) & (b == 0), zeros, pick(a, b))

    return meaning


def _flushed(values: Any) -> Any:
    tiny = (np.abs(values) < np.float32(2**-126)) & (values != 0)
    return np.where(tiny, np.copysign(np.float32(0), values), values).astype("float32")


def _add_f32(a: Any, b: Any) -> Any:
    total = _flushed(_flushed(a) + _flushed(b))
    bits = total.view("uint32")
    return np.where(np.isnan(total), np.uint32(0x7FFFFFFF), bits).view("float32")


@dataclass(frozen=True)
class Atom:
    opcode: str
    kind: str
    meaning: Meaning

    def __post_init__(self) -> None:
        TESTED.append(f"atom.{self.opcode}")
        TESTED.append(f"red.{self.opcode}")


INTEGERS: Final[dict[str, Meaning]] = {
    "add": lambda a, b: a + b,
    "min": np.minimum,
    "max": np.maximum,
}
BITS: Final[dict[str, Meaning]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "exch": lambda a, b: b,
}
MINIMUM: Final = _extreme(np.fmin, lambda a, b: a | b)
MAXIMUM: Final = _extreme(np.fmax, lambda a, b: a & b)

ATOMS: Final = [
    *(
        Atom(f"global.{name}.{kind}", kind, meaning)
        for name, meaning in INTEGERS.items()
        for kind in ("u32", "s32", "u64", "s64")
    ),
    *(
        Atom(f"relaxed.gpu.{name}.{kind}", kind, meaning)
        for name, meaning in BITS.items()
        for kind in ("b32", "b64")
    ),
    Atom("global.acq_rel.sys.inc.u32", "u32", lambda a, b: np.where(a >= b, 0, a + 1)),
    Atom("dec.u32", "u32", lambda a, b: np.where((a == 0) | (a > b), b, a - 1)),
    Atom("global.add.f32", "f32", _add_f32),
    *(
        Atom(f"global.add.noftz.{kind}", kind, meaning)
        for kind, meaning in _halves(lambda a, b: a + b).items()
    ),
    *(Atom(f"global.min.noftz.{kind}", kind, each) for kind, each in _halves(MINIMUM).items()),
    *(Atom(f"global.max.noftz.{kind}", kind, each) for kind, each in _halves(MAXIMUM).items()),
]


def _as_bits(values: Any) -> Any:
    return values.view(f"uint{8 * values.dtype.itemsize}")


@pytest.mark.parametrize("kept", [True, False], ids=["atom", "red"])
@pytest.mark.parametrize("atom", ATOMS, ids=lambda atom: atom.opcode)
def test_as_it_means(atom: Atom, kept: bool) -> None:
    if not kept and ".exch." in atom.opcode:
        return  # there is no red.exch
    generator = np.random.default_rng(1)
    kind = atom.kind if atom.kind not in ("f16",) else "f16"
    a, b = draw(kind, generator), draw(kind, generator)
    if kind == "f16":
        a, b = a.view("uint16"), b.view("uint16")
    before = a.copy()
    carried = "b16" if SIZES[kind] == 2 else kind
    size = SIZES[kind]
    where = f"ld.param.u64 %a, [p1]; mul.wide.u32 %o, %t, {size}; add.u64 %a, %a, %o;"
    code = f"atom.{atom.opcode} %d0, [%a], %s1;" if kept else f"red.{atom.opcode} [%a], %s1;"
    given = [(carried, a.view(DTYPES[carried])), (carried, b.view(DTYPES[carried]))]
    [old] = evaluate(f"mov.b{8 * size} %d0, 0; {where} {code}", [carried], given)
    with np.errstate(all="ignore"):
        expected = np.asarray(atom.meaning(before, b)).astype(before.dtype)
    wrong = _as_bits(a) != _as_bits(expected)
    at = int(np.argmax(wrong))
    assert not wrong.any(), (before[at], b[at], a[at], expected[at])
    if kept:
        assert (_as_bits(old) == _as_bits(before)).all()


WIDE: Final = tested("""
.visible .entry k(.param .u64 x, .param .u64 y) {
  .reg .b64 %x, %y, %u, %v; .reg .b128 %q<4>; .reg .b32 %r<9>; .reg .b16 %h; .reg .f64 %d<2>;
  ld.param.u64 %x, [x]; ld.param.u64 %y, [y];
  ld.global.v2.b64 {%u, %v}, [%x];
  mov.b128 %q0, {%v, %u}; mov.b128 %q1, {%u, %v};
  atom.global.cas.b128 %q2, [%x], %q1, %q0;
  st.global.b128 [%y], %q2;
  atom.global.exch.b128 %q3, [%x], %q1;
  st.global.b128 [%y+16], %q3;
  mov.b128 {%u, %v}, %q3; mov.b128 %q3, %q2;
  ld.global.b32 %r0, [%x];
  atom.global.cas.b32 %r1, [%x], %r0, 5;
  atom.global.cas.b32 %r2, [%x], %r0, 6;
  atom.cas.b64 %u, [%x+8], %v, 1;
  mov.b16 %h, 5;
  atom.cas.b16 %h, [%x], %h, 9;
  st.global.v4.b32 [%y+32], {%r1, %r2, 0, 0};
  ret;
}
""")


def test_compare_and_exchange() -> None:
    x = np.array([11, 22], "uint64")
    y = np.zeros(6, "uint64")
    run(WIDE, "k", [x, y])
    assert y[:2].tolist() == [11, 22]
    assert y[2:4].tolist() == [22, 11]
    assert y[4:].view("uint32").tolist() == [11, 5, 0, 0]
    assert x.view("uint32")[0] == 9


def _adding(space: str) -> str:
    return tested(f"""
.visible .entry k(.param .u64 x) {{
  .reg .b64 %x; .reg .b32 %r<4>; .reg .pred %p; .shared .b32 s; .reg .b32 %a;
  ld.param.u64 %x, [x]; mov.u32 %r0, %tid.x; mov.u32 %a, s;
  setp.eq.u32 %p, %r0, 0; @%p st.shared.b32 [s], 0; bar.sync 0;
  red.{space}.add.u32 [{"%x" if space == "global" else "%a"}], %r0;
  bar.sync 0; ld.shared.b32 %r1, [s];
  @%p red.global.add.u32 [%x], %r1;
  ret;
}}""")


ADDING: Final = {
    space: _adding(space) for space in ("global", "shared", "shared::cta", "shared::cluster")
}


@pytest.mark.parametrize("space", ADDING)
def test_all_threads_add_to_one_element(space: str) -> None:
    x = np.zeros(1, "uint32")
    run(ADDING[space], "k", [x], Shape((3, 1, 1), (100, 1, 1)))
    assert x[0] == 3 * sum(range(100))


VECTORS: Final = tested("""
.visible .entry k(.param .u64 x) {
  .reg .b64 %x; .reg .b32 %r<4>; .reg .b16 %h<4>;
  ld.param.u64 %x, [x];
  mov.b32 %r0, 0f3F800000; mov.b32 %r1, 0f40000000;
  atom.global.add.v2.f32 {%r2, %r3}, [%x], {%r0, %r1};
  mov.b16 %h0, 0x3C00; mov.b16 %h1, 0x3F80; mov.b32 %r0, {%h0, %h0}; mov.b32 %r1, {%h1, %h1};
  atom.global.add.noftz.v2.f16 {%h2, %h3}, [%x+8], {%h0, %h0};
  atom.global.add.noftz.v2.bf16 {%h2, %h3}, [%x+12], {%h1, %h1};
  atom.global.add.noftz.v2.f16x2 {%r2, %r3}, [%x+16], {%r0, %r0};
  atom.global.add.noftz.v2.bf16x2 {%r2, %r3}, [%x+24], {%r1, %r1};
  ret;
}
""")


def test_vectors_are_added_by_elements() -> None:
    x = np.zeros(8, "uint32")
    x[0] = np.float32(0.5).view("uint32")
    run(VECTORS, "k", [x], Shape((1, 1, 1), (2, 1, 1)))
    assert x[:2].view("float32").tolist() == [2.5, 4]
    assert x[2:3].view("float16").tolist() == [2, 2]
    assert x[3] == 0x40004000
    assert x[4:6].view("float16").tolist() == [2] * 4
    assert x[6:].tolist() == [0x40004000] * 2


TESTED.append("atom.global.add.f64")


def test_f64_is_added() -> None:
    generator = np.random.default_rng(3)
    a, b = generator.standard_normal(COUNT), generator.standard_normal(COUNT)
    before = a.copy()
    where = "ld.param.u64 %a, [p1]; mul.wide.u32 %o, %t, 8; add.u64 %a, %a, %o;"
    evaluate(f"{where} atom.global.add.f64 %d0, [%a], %s1;", ["f64"], [("f64", a), ("f64", b)])
    assert (a == before + b).all()
