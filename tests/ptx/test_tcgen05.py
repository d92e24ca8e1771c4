"""Tensor memory, and products into it, against NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy
import pytest

from ffi_builder.ptx.errors import KernelFault
from tests.ptx.elements import BITS, bits_of, small, value
from tests.ptx.running import Shape, run, tested
from tests.ptx.tiles import Layout, store

np: Any = numpy  # its stubs leave open what views are

_B_AT: Final = 32768
_SWIZZLES: Final = {
    16: 1 << 46,
    128: 1 << 46 | 2 << 61,
    64: 1 << 46 | 4 << 61,
    32: 1 << 46 | 6 << 61,
}
"""Each width in a descriptor, and its constant bit."""
_THREAD: Final = np.arange(128)[:, None]
_BEGIN: Final = """
.reg .b32 %t, %w, %tm, %at, %v<8>, %r<128>; .reg .b64 %p, %o; .reg .pred %q, %first, %done;
.shared .align 8 .b64 bar; .shared .align 4 .b32 taken;
mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; setp.eq.u32 %first, %w, 0; mov.u32 %at, taken;
@%first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%at], COLUMNS;
@%first tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
bar.sync 0;
ld.shared.b32 %tm, [%at]; shl.b32 %w, %w, 21; add.u32 %w, %tm, %w;
"""
"""%tm is what is allocated, and %w the part of a warp."""
_END: Final = """
bar.sync 0;
@%first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, COLUMNS;
ret;
"""


def kernel(params: str, body: str, columns: int = 512) -> str:
    """Return a kernel that allocates tensor memory."""
    listed = ", ".join(f".param .u64 {name}" for name in params.split())
    begin, end = (each.replace("COLUMNS", str(columns)) for each in (_BEGIN, _END))
    return tested(f".visible .entry k({listed})\n{{{begin}{body}{end}}}\n")


def place(shape: str, registers: int, split: int) -> tuple[Any, Any]:
    """Lanes and columns of each thread's registers."""
    thread, at = _THREAD % 32, np.arange(registers)[None]
    warp = _THREAD // 32 * 32
    match shape:
        case "32x32b":
            return warp + thread + 0 * at, at + 0 * thread
        case "16x32bx2":
            return warp + thread % 16 + 0 * at, at + np.where(thread < 16, 0, split)
        case "16x128b":
            return warp + thread // 4 + 8 * (at % 2), at // 2 * 4 + thread % 4
        case _:
            return warp + thread // 4 + 8 * (at // 2 % 2), at // 4 * 8 + thread % 4 * 2 + at % 2


def _registers(count: int) -> str:
    return "{" + ", ".join(f"%r{at}" for at in range(count)) + "}"


def _all(space: str, name: str, count: int) -> str:
    """Load or store a thread's part of an array."""
    lines = [f"ld.param.u64 %p, [{name}]; mul.wide.u32 %o, %t, {4 * count}; add.u64 %p, %p, %o;"]
    for at in range(count):
        operands = f"%r{at}, [%p+{4 * at}]" if space == "ld" else f"[%p+{4 * at}], %r{at}"
        lines.append(f"{space}.global.b32 {operands};")
    return "\n".join(lines)


def moves(shape: str, count: int, packed: bool) -> str:
    """Store registers by a shape, and load 64 columns of every lane; then the reverse."""
    number = count // {"32x32b": 1, "16x32bx2": 1, "16x128b": 2, "16x256b": 4}[shape]
    split = ", 40" if shape == "16x32bx2" else ""
    into, out_of = (".unpack::16b", ".pack::16b") if packed else ("", "")
    return kernel(
        "given memory back",
        f"""
{_all("ld", "memory", 64)}
tcgen05.st.sync.aligned.32x32b.x64.b32 [%w], {_registers(64)};
{_all("ld", "given", count)}
tcgen05.st.sync.aligned.{shape}.x{number}{into}.b32 [%w]{split}, {_registers(count)};
tcgen05.wait::st.sync.aligned;
tcgen05.ld.sync.aligned.{shape}.x{number}{out_of}.b32 {_registers(count)}, [%w]{split};
tcgen05.wait::ld.sync.aligned;
{_all("st", "back", count)}
tcgen05.ld.sync.aligned.32x32b.x64.b32 {_registers(64)}, [%w];
{_all("st", "memory", 64)}
""",
    )


MOVES: Final = {
    (shape, count, packed): moves(shape, count, packed)
    for shape, count, packed in (
        *(("32x32b", count, packed) for count in (1, 16) for packed in (False, True)),
        *(("16x32bx2", count, packed) for count in (2, 8) for packed in (False, True)),
        *(("16x128b", 8, packed) for packed in (False, True)),
        *(("16x256b", 16, packed) for packed in (False, True)),
    )
}


@pytest.mark.parametrize(("shape", "count", "packed"), MOVES)
def test_moves(shape: str, count: int, packed: bool) -> None:
    generator = np.random.default_rng(count)
    memory = generator.integers(0, 2**32, (128, 64)).astype("uint32")
    given = generator.integers(0, 2**32, (128, count)).astype("uint32")
    expected, back = memory.copy(), np.zeros_like(given)

    run(MOVES[shape, count, packed], "k", [given, memory, back], Shape(block=(128, 1, 1)))

    halves = given.view("uint16").astype("uint32") if packed else given
    expected[place(shape, halves.shape[1], 40)] = halves
    np.testing.assert_array_equal(memory, expected)
    np.testing.assert_array_equal(back, given)


_KINDS: Final = {
    "f16": ("f16", {"f16": 0, "bf16": 1}),
    "tf32": ("tf32", {"tf32": 2}),
    "f8f6f4": ("f8f6f4", {"e4m3": 0, "e5m2": 1}),
    "i8": ("i8", {"u8": 0, "s8": 1}),
}


@dataclass(frozen=True)
class Product:
    """A product into tensor memory; a is there, too, if it has no layout."""

    m: int
    n: int
    kind: str
    types: str
    a: Layout | None
    b: Layout
    adds: bool = True
    negated: bool = False
    saturates: bool = False
    disabled: int = 0
    """Lanes of the second warp that are not written."""

    @property
    def descriptor(self) -> int:
        """Of the instruction."""
        d, a, b = self.types.split()
        numbers = _KINDS[self.kind][1]
        bits = {"f16": 0, "f32": 1, "s32": 2}[d] << 4 | numbers[a] << 7 | numbers[b] << 10
        bits |= self.saturates << 3 | self.negated << 13
        bits |= (self.a.by_mn << 15 if self.a else 0) | self.b.by_mn << 16
        return bits | self.n // 8 << 17 | self.m // 16 << 24

    @property
    def ptx(self) -> str:
        first = "%da" if self.a else "[%at]"
        masks = "{%v0, %v1, %v0, %v0}, " if self.disabled else ""
        return kernel(
            "image words d da db",
            f"""
{{
.shared .align 1024 .b8 memory[65536];
.reg .b64 %da, %db; .reg .b32 %i;
mov.u32 %at, memory; mad.lo.u32 %at, %t, 4, %at; mov.u32 %i, 0;
ld.param.u64 %p, [image]; mul.wide.u32 %o, %t, 4; add.u64 %p, %p, %o;
copy: ld.global.b32 %v0, [%p]; st.shared.b32 [%at], %v0;
add.u64 %p, %p, 512; add.u32 %at, %at, 512; add.u32 %i, %i, 1;
setp.lt.u32 %q, %i, 128; @%q bra copy;
{_all("ld", "words", 8)}
tcgen05.st.sync.aligned.32x32b.x8.b32 [%w+256], {_registers(8)};
{_all("ld", "d", 64)}
tcgen05.st.sync.aligned.32x32b.x64.b32 [%w], {_registers(64)};
tcgen05.wait::st.sync.aligned;
ld.param.u64 %da, [da]; ld.param.u64 %db, [db]; add.u32 %at, %tm, 256;
mov.u32 %i, memory; shr.u32 %i, %i, 4; cvt.u64.u32 %o, %i; add.u64 %da, %da, %o; add.u64 %db, %db, %o;
mov.u32 %i, bar; setp.eq.u32 %q, %t, 0;
@%q mbarrier.init.shared.b64 [%i], 1;
fence.proxy.async.shared::cta;
tcgen05.fence::before_thread_sync;
bar.sync 0;
tcgen05.fence::after_thread_sync;
mov.u32 %v2, {self.descriptor}; mov.u32 %v0, 0; mov.u32 %v1, {self.disabled};
setp.eq.u32 %done, {int(self.adds)}, 1;
@%q tcgen05.mma.cta_group::1.kind::{self.kind} [%tm], {first}, %db, %v2, {masks}%done;
@%q tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%i];
wait: mbarrier.try_wait.parity.shared.b64 %done, [%i], 0;
@!%done bra wait;
tcgen05.ld.sync.aligned.32x32b.x64.b32 {_registers(64)}, [%w];
tcgen05.wait::ld.sync.aligned;
{_all("st", "d", 64)}
}}
""",
        )

    def check(self) -> None:
        d, kind, other = self.types.split()
        k = 256 // BITS[kind]
        generator = np.random.default_rng(self.n)
        a, b = small(kind, (self.m, k), generator), small(other, (k, self.n), generator)
        c = small(d, (self.m, self.n), generator)
        rows = np.arange(self.m)
        lanes = rows if self.m == 128 else rows // 16 * 32 + rows % 16
        memory = generator.integers(0, 2**16, (128, 64)).astype("uint32")
        memory[lanes, : self.n] = c
        words, image = np.zeros((128, 8), "uint32"), np.zeros(65536, "uint8")
        if self.a:
            store(image, 0, a, self.a, BITS[kind])
        else:
            words[lanes] = np.ascontiguousarray(a).view("uint32")
        store(image, _B_AT, b.T, self.b, BITS[other])
        expected = memory.copy()
        numbers = value(kind, a).astype(float) @ value(other, b) * (-1 if self.negated else 1)
        found = numbers + (value(d, c) if self.adds else 0)
        bits = bits_of(d, found, saturates=self.saturates)
        written = (lanes < 32) | (lanes >= 64) | (self.disabled >> lanes % 32 & 1 == 0)
        expected[lanes[written], : self.n] = bits[written]

        descriptors = [
            np.uint64(self.a.descriptor(0, _SWIZZLES) if self.a else 0),
            np.uint64(self.b.descriptor(_B_AT, _SWIZZLES)),
        ]
        run(self.ptx, "k", [image, words, memory, *descriptors], Shape(block=(128, 1, 1)))

        np.testing.assert_array_equal(memory, expected)


PRODUCTS: Final = [
    *(
        Product(128, 64, "f16", "f32 f16 f16", Layout(width, by_mn), Layout(width, by_mn))
        for width in (16, 32, 64, 128)
        for by_mn in (False, True)
    ),
    Product(64, 32, "f16", "f16 f16 f16", Layout(), Layout(64)),
    Product(64, 8, "f16", "f32 bf16 bf16", None, Layout(16), negated=True),
    Product(128, 16, "f16", "f32 f16 f16", None, Layout(), disabled=0xF0F0),
    Product(128, 16, "f16", "f32 f16 f16", Layout(), Layout(), disabled=0xFF),
    Product(128, 32, "tf32", "f32 tf32 tf32", Layout(), Layout(), adds=False),
    Product(64, 32, "tf32", "f32 tf32 tf32", None, Layout(), disabled=1),
    Product(128, 32, "tf32", "f32 tf32 tf32", None, Layout()),
    Product(128, 32, "tf32", "f32 tf32 tf32", Layout(), Layout(), disabled=1),
    Product(128, 24, "f8f6f4", "f32 e4m3 e5m2", Layout(), Layout()),
    Product(64, 24, "f8f6f4", "f16 e5m2 e5m2", None, Layout()),
    Product(64, 24, "f8f6f4", "f32 e5m2 e4m3", Layout(), Layout(), disabled=1),
    Product(64, 24, "f8f6f4", "f32 e5m2 e4m3", None, Layout(), disabled=1),
    Product(128, 64, "i8", "s32 s8 u8", Layout(), Layout(32), saturates=True),
    Product(64, 64, "i8", "s32 u8 u8", None, Layout()),
    Product(64, 16, "i8", "s32 s8 s8", Layout(), Layout(), disabled=1),
    Product(64, 16, "i8", "s32 s8 s8", None, Layout(), disabled=1),
    Product(128, 32, "i8", "s32 u8 s8", Layout(64, by_mn=True), Layout(32, by_mn=True)),
    Product(128, 32, "f8f6f4", "f32 e4m3 e4m3", Layout(by_mn=True), Layout(16, by_mn=True)),
]
for _product in PRODUCTS:
    tested(_product.ptx)


@pytest.mark.parametrize("case", PRODUCTS, ids=str)
def test_products(case: Product) -> None:
    case.check()


def _fails(body: str, columns: int, words: str) -> None:
    with pytest.raises(KernelFault, match=words):
        run(kernel("", body, columns), "k", [], Shape(block=(128, 1, 1)))


def test_columns_that_are_not_allocated_are_a_fault() -> None:
    body = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%w+32];"
    _fails(body, 32, r"columns 32 to 32 of lane \d+ of tensor memory, which are not allocated")


def test_the_lanes_of_another_warp_are_a_fault() -> None:
    body = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%tm];"
    _fails(body, 32, r"lane 0 of tensor memory in warp (\d), which has those from \d+ on")


def test_more_columns_than_there_are_are_a_fault() -> None:
    body = "@%first tcgen05.alloc.cta_group::1.sync.aligned.b32 [%at], 256;"
    _fails(body.replace("aligned.b32", "aligned.shared::cta.b32"), 512, "not as many left")


def test_a_number_of_columns_that_there_cannot_be_is_a_fault() -> None:
    _fails("", 48, "48 columns of tensor memory")


def test_a_descriptor_of_something_else_is_a_fault() -> None:
    body = """
setp.eq.u32 %q, %t, 0; mov.u32 %v0, 0x4100510; mov.u64 %p, 0;
@%q tcgen05.mma.cta_group::1.kind::f16 [%tm], %p, %p, %v0, %q;
"""
    _fails(body, 32, "the instruction descriptor 0x4100510, which is not executed")


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (
            Product(128, 32, "tf32", "f32 tf32 tf32", Layout(), Layout(by_mn=True)),
            "32 elements of 32",
        ),
        (Product(64, 24, "i8", "s32 s8 s8", Layout(), Layout(by_mn=True)), "24 elements of 8"),
    ],
)
def test_a_transposed_matrix_that_is_not_executed_is_a_fault(case: Product, words: str) -> None:
    with pytest.raises(KernelFault, match=f"a transposed matrix of {words} bits"):
        case.check()
