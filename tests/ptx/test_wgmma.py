"""Products of four warps against NumPy, with the layouts that descriptors of shared memory say."""

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
_SWIZZLES: Final = {16: 0, 128: 1 << 62, 64: 2 << 62, 32: 3 << 62}
"""Each width in a descriptor."""


@dataclass(frozen=True)
class Product:
    """An instruction; its factors are in shared memory, but for a with no layout."""

    n: int
    types: str
    a: Layout | None
    b: Layout
    adds: bool = True
    signs: tuple[int, int] = (1, 1)
    satfinite: bool = False

    @property
    def opcode(self) -> str:
        d, a, b = self.types.split()
        k = 256 // BITS[a]
        middle = ".satfinite" * self.satfinite
        behind = ".and.popc" if a == "b1" else ""
        return f"wgmma.mma_async.sync.aligned.m64n{self.n}k{k}{middle}.{d}.{a}.{b}{behind}"

    @property
    def registers(self) -> int:
        return self.n // 2 // (32 // BITS[self.types.split()[0]])

    @property
    def ptx(self) -> str:
        d, a, _ = self.types.split()
        names = ", ".join(f"%c{at}" for at in range(self.registers))
        of_c = [f"[%d+{4 * at}]" for at in range(self.registers)]
        first = "%da" if self.a else "{%r0, %r1, %r2, %r3}"
        numbers = "" if d == "s32" else f", {self.signs[0]}, {self.signs[1]}"
        if BITS[a] == 16:
            numbers += f", {int(self.a.by_mn)}" if self.a else ""
            numbers += f", {int(self.b.by_mn)}"
        loads = "".join(f"ld.global.b32 %c{at}, {each};\n" for at, each in enumerate(of_c))
        stores = "".join(f"st.global.b32 {each}, %c{at};\n" for at, each in enumerate(of_c))
        return f"""
.visible .entry k(.param .u64 image, .param .u64 a, .param .u64 d, .param .u64 da, .param .u64 db)
{{
.shared .align 1024 .b8 memory[65536];
.reg .b32 %t, %at, %r<4>, %c<{self.registers}>; .reg .b64 %p, %d, %da, %db; .reg .pred %q;
mov.u32 %t, %tid.x;
ld.param.u64 %p, [image]; mul.wide.u32 %d, %t, 4; add.u64 %p, %p, %d;
mov.u32 %at, memory; mad.lo.u32 %at, %t, 4, %at; mov.u32 %r0, 0;
copy: ld.global.b32 %r1, [%p]; st.shared.b32 [%at], %r1;
add.u64 %p, %p, 512; add.u32 %at, %at, 512; add.u32 %r0, %r0, 1;
setp.lt.u32 %q, %r0, 128; @%q bra copy;
ld.param.u64 %p, [a]; mul.wide.u32 %d, %t, 16; add.u64 %p, %p, %d;
ld.global.v4.b32 {{%r0, %r1, %r2, %r3}}, [%p];
ld.param.u64 %d, [d]; mul.wide.u32 %p, %t, {4 * self.registers}; add.u64 %d, %d, %p;
{loads}
ld.param.u64 %da, [da]; ld.param.u64 %db, [db];
fence.proxy.async.shared::cta;
bar.sync 0;
wgmma.fence.sync.aligned;
setp.eq.u32 %q, {int(self.adds)}, 1;
{self.opcode} {{{names}}}, {first}, %db, %q{numbers};
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
{stores}
ret;
}}
"""

    def check(self) -> None:
        d, kind, other = self.types.split()
        k = 256 // BITS[kind]
        generator = np.random.default_rng(self.n)
        a, b = small(kind, (64, k), generator), small(other, (k, self.n), generator)
        c = small(d, (64, self.n), generator)
        image = np.zeros(65536, "uint8")
        if self.a:
            store(image, 0, a, self.a, BITS[kind])
        store(image, _B_AT, b.T, self.b, BITS[other])
        rows, columns = places_d(self.n)
        memory = np.ascontiguousarray(c[rows, columns]).view("uint32")

        run(
            self.ptx,
            "k",
            [
                image,
                fragment_a(kind, a),
                memory,
                np.uint64(self.a.descriptor(0, _SWIZZLES) if self.a else 0),
                np.uint64(self.b.descriptor(_B_AT, _SWIZZLES)),
            ],
            Shape(block=(128, 1, 1)),
        )

        found = np.zeros((64, self.n), c.dtype)
        found[rows, columns] = memory.view(c.dtype)
        np.testing.assert_array_equal(
            found, self.expected(value(kind, a), value(other, b), value(d, c))
        )

    def expected(self, a: Any, b: Any, c: Any) -> Any:
        d = self.types.split()[0]
        found = self.signs[0] * self.signs[1] * (a @ b) + (c if self.adds else 0)
        return bits_of(d, found, saturates=self.satfinite)


def places_d(n: int) -> tuple[Any, Any]:
    """Rows and columns of what each of 128 threads has of d."""
    thread, at = np.arange(128)[:, None], np.arange(n // 2)[None]
    row = thread // 32 * 16 + thread % 32 // 4 + np.where(at // 2 % 2, 8, 0)
    return row, at // 4 * 8 + thread % 4 * 2 + at % 2


def fragment_a(kind: str, a: Any) -> Any:
    """Return the four registers of a that each of 128 threads has."""
    each = 32 // BITS[kind]
    thread, at = np.arange(128)[:, None], np.arange(4 * each)[None]
    row = thread // 32 * 16 + thread % 32 // 4 + np.where(at // each % 2, 8, 0)
    column = thread % 4 * each + at % each + np.where(at >= 2 * each, 4 * each, 0)
    found = a[row, column]
    if kind == "b1":
        return np.packbits(found, axis=1, bitorder="little").view("uint32")
    return np.ascontiguousarray(found).view("uint32")


_HALF: Final = [Layout(width, by_mn) for width in (16, 32, 64, 128) for by_mn in (False, True)]
CASES: Final = [
    *(Product(64, "f32 f16 f16", layout, layout) for layout in _HALF),
    *(Product(128, "f16 f16 f16", None, layout) for layout in _HALF),
    Product(8, "f32 f16 f16", None, Layout(16)),
    Product(256, "f16 f16 f16", Layout(), Layout()),
    Product(24, "f32 bf16 bf16", Layout(64), Layout(), signs=(-1, 1)),
    Product(40, "f32 bf16 bf16", None, Layout(), signs=(-1, -1)),
    Product(16, "f32 tf32 tf32", Layout(), Layout(32), adds=False),
    Product(16, "f32 tf32 tf32", None, Layout(16), signs=(1, -1)),
    *(
        Product(32, f"{d} {a} {b}", layout, Layout(64))
        for d, a, b, layout in (
            ("f16", "e4m3", "e5m2", Layout()),
            ("f16", "e5m2", "e4m3", None),
            ("f32", "e4m3", "e4m3", None),
            ("f32", "e5m2", "e5m2", Layout(32)),
        )
    ),
    Product(96, "s32 s8 u8", Layout(), Layout(), satfinite=True),
    Product(16, "s32 u8 s8", None, Layout(16)),
    Product(8, "s32 u8 u8", None, Layout(16), adds=False),
    Product(16, "s32 b1 b1", Layout(), Layout(32)),
    Product(16, "s32 b1 b1", None, Layout(16)),
]
for _case in CASES:
    tested(_case.ptx)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.opcode}-{case.a}-{case.b}")
def test_as_it_means(case: Product) -> None:
    case.check()


def test_a_warp_waits_for_the_others_of_its_group() -> None:
    """The last warp comes late; the first one, once it has waited, overwrites what all read."""
    layout = Layout(16)
    case = Product(8, "f32 f16 f16", None, layout)
    ptx = case.ptx.replace(
        "wgmma.fence",
        ".reg .pred %late; late: setp.ge.u32 %late, %t, 96;\n@!%late bra go;\n"
        + "add.u32 %at, %at, 1;\n" * 9000
        + "go: wgmma.fence",
    )
    ptx = ptx.replace(
        "wgmma.wait_group.sync.aligned 0;",
        "wgmma.wait_group.sync.aligned 0;\nmov.u32 %at, memory; mad.lo.u32 %at, %t, 4, %at;\n"
        f"st.shared.b32 [%at+{_B_AT}], 0;",
    )

    a = small("f16", (64, 16), np.random.default_rng(0))
    b = small("f16", (16, 8), np.random.default_rng(1))
    image = np.zeros(65536, "uint8")
    store(image, _B_AT, b.T, layout, 16)
    memory = np.zeros((128, 4), "uint32")
    given = [
        image,
        fragment_a("f16", a),
        memory,
        np.uint64(0),
        np.uint64(layout.descriptor(_B_AT, _SWIZZLES)),
    ]
    run(ptx, "k", given, Shape(block=(128, 1, 1)))

    found = np.zeros((64, 8), "float32")
    found[places_d(8)] = memory.view("float32")
    np.testing.assert_array_equal(found, value("f16", a) @ value("f16", b))


def test_fewer_than_four_warps_are_a_fault() -> None:
    case = Product(8, "f32 f16 f16", None, Layout(16))
    given = [np.zeros(65536, "uint8"), np.zeros((96, 4), "uint32"), np.zeros((96, 4), "uint32")]

    with pytest.raises(KernelFault, match="of four warps, of which there are not as many"):
        run(case.ptx, "k", [*given, np.uint64(0), np.uint64(_B_AT >> 4)], Shape(block=(96, 1, 1)))
