"""Loads, stores and addresses, and what is wrong about them."""

from __future__ import annotations

from typing import Any, Final

import numpy
import pytest

from ffi_builder.ptx.errors import Fault, KernelFault
from ffi_builder.ptx.machine import Shape
from tests.ptx.running import Case, evaluate, run, tested

np: Any = numpy

# A value of a type in a register of 64 bits.
EXTENDED: Final = [
    Case(f"ld.global.{kind}", f"b64: {kind}", lambda a: a, "%d0, [%a]")
    for kind in ("u8", "s8", "u16", "s16", "u32", "s32")
]


@pytest.mark.parametrize("case", EXTENDED, ids=lambda case: case.opcode)
def test_a_load_extends_to_the_register(case: Case) -> None:
    case.check()


VECTORS: Final = tested("""
.visible .entry vectors(.param .u64 x, .param .u64 y) {
  .reg .b64 %x, %y, %p<4>, %g; .reg .b32 %r<8>; .reg .b16 %h<4>; .reg .b128 %q;
  .shared .align 16 .b8 s[64];
  .local .align 16 .b8 l[32];
  ld.param.u64 %x, [x]; ld.param.u64 %y, [y];
  ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%x];
  st.shared.v2.b32 [s], {%r3, %r2};
  st.shared.v2.b32 [s+8], {%r1, %r0};
  ld.shared.v2.b64 {%p0, %p1}, [s];
  st.local.v2.b64 [l], {%p0, %p1};
  cvta.local.u64 %g, 0;
  ld.v4.b32 {%r4, %r5, %r6, _}, [%g];
  st.global.v2.b32 [%y], {%r4, %r5};
  st.global.b32 [%y+8], %r6;
  ld.relaxed.gpu.global.L1::no_allocate.b16 %h0, [%x+2];
  ld.volatile.global.b16 %h1, [%x];
  st.release.sys.global.v2.b16 [%y+12], {%h0, %h1};
  ld.global.nc.b128 %q, [%x];
  st.global.b128 [%y+16], %q;
  ldu.global.b32 %r0, [%x]; createpolicy.fractional.L2::evict_last.b64 %p0, 1.0;
  createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %p0;
  createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %p0, [%x], 128, 128;
  createpolicy.cvt.L2.b64 %p0, %p0;

  ld.global.L2::cache_hint.b32 %r0, [%x], %p0;
  st.global.L2::cache_hint.b32 [%y+32], %r0, %p0;
  prefetch.global.L2 [%x]; prefetchu.L1 [%x]; discard.global.L2 [%x], 128;
  applypriority.global.L2::evict_normal [%x], 128;
  ret;
}
""")


def test_vectors_go_through_shared_and_local_memory() -> None:
    x = np.arange(32, dtype="uint32").view("uint32")
    y = np.zeros(32, "uint32")
    run(VECTORS, "vectors", [x, y])
    low, high = (int(half) for half in x[:1].view("uint16"))
    assert y[:9].tolist() == [3, 2, 1, high | low << 16, 0, 1, 2, 3, 0]


WINDOWS: Final = tested("""
.visible .entry windows(.param .u64 y, .param .u32 n) {
  .reg .b64 %y, %a, %b, %c; .reg .b32 %r<4>; .reg .pred %p<4>;
  .shared .b32 s; .local .b32 l;
  ld.param.u64 %y, [y]; cvta.to.global.u64 %y, %y; cvta.global.u64 %y, %y;
  mov.u64 %a, s; cvta.shared.u64 %a, %a; mov.u32 %r0, 7; st.b32 [%a], %r0;
  mov.u64 %b, l; cvta.local.u64 %b, %b; mov.u32 %r0, 8; st.b32 [%b], %r0;
  mov.u64 %c, n; cvta.param.u64 %c, %c; ld.b32 %r3, [%c];
  ld.shared.b32 %r1, [s]; ld.local.b32 %r2, [l];
  st.global.v4.b32 [%y], {%r1, %r2, %r3, %r0};
  isspacep.shared %p0, %a; isspacep.shared %p1, %b; isspacep.local %p2, %b; isspacep.global %p3, %y;
  selp.b32 %r0, 1, 0, %p0; selp.b32 %r1, 1, 0, %p1; selp.b32 %r2, 1, 0, %p2; selp.b32 %r3, 1, 0, %p3;
  st.global.v4.b32 [%y+16], {%r0, %r1, %r2, %r3};
  cvta.to.shared.u64 %a, %a; st.global.b64 [%y+32], %a;
  ret;
}
""")


def test_generic_addresses_have_windows() -> None:
    y = np.zeros(10, "uint32")
    run(WINDOWS, "windows", [y, np.uint32(9)])
    assert y.tolist() == [7, 8, 9, 8, 1, 0, 1, 1, 0, 0]


HEAD: Final = """
.visible .entry k(.param .u64 x) {
  .reg .b64 %x, %g; .reg .b32 %r<4>; .shared .align 16 .b8 s[64]; .local .align 8 .b8 l[16];
  ld.param.u64 %x, [x]; mov.u32 %r1, %tid.x;
"""
WRONG: Final = {
    "ld.global.b32 %r0, [%x+64];": (Fault.ILLEGAL, "read of 4 bytes at"),
    "ld.global.b32 %r0, [%x+-4];": (Fault.ILLEGAL, "no global memory"),
    "st.global.b64 [%x+60], %x;": (Fault.MISALIGNED, "write of 8 bytes"),
    "ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%x+56];": (Fault.MISALIGNED, "read of 16 bytes"),
    "ld.b32 %r0, [8];": (Fault.ILLEGAL, "no generic memory"),
    "ld.shared.b32 %r0, [s];": (Fault.ILLEGAL, "shared memory, which nobody wrote"),
    "st.shared.b8 [s], %r1; ld.shared.b16 %r0, [s];": (Fault.ILLEGAL, "which nobody wrote"),
    "st.shared.b32 [s+64], %r1;": (Fault.ILLEGAL, "of which there are 64 bytes"),
    "st.local.b32 [l+16], %r1;": (Fault.ILLEGAL, "no local memory"),
    "ld.param.b32 %r0, [x+8];": (Fault.ILLEGAL, "no parameter memory"),
    "mov.u64 %g, x; cvta.param.u64 %g, %g; st.b32 [%g], %r1;": (Fault.ILLEGAL, "parameter"),
    "atom.global.add.u32 %r0, [%x+62], %r1;": (Fault.MISALIGNED, "atomic access of 4 bytes"),
    "trap;": (Fault.TRAP, "trap"),
}


def _wrong(body: str) -> str:
    guard = "setp.ne.u32 %p, %r1, 5; @%p bra END;"
    return tested(f"{HEAD}.reg .pred %p; {guard}\n{body}\nEND: ret; }}")


for _body in WRONG:
    _wrong(_body)


@pytest.mark.parametrize(("body", "fault"), WRONG.items(), ids=WRONG)
def test_a_fault_says_what_and_where(body: str, fault: tuple[Fault, str]) -> None:
    x = np.zeros(16, "uint32")
    with pytest.raises(KernelFault) as caught:
        run(_wrong(body), "k", [x], Shape((2, 1, 1), (8, 1, 1)))
    assert caught.value.kind == fault[0]
    assert fault[1] in str(caught.value)
    assert "kernel 'k'" in str(caught.value)
    assert "block (0, 0, 0), thread (5, 0, 0), line 9 of the PTX" in str(caught.value)


def test_a_fault_names_the_source_line() -> None:
    ptx = '.version 8.0\n.target sm_80\n.address_size 64\n.file 1 "kernel.py"\n' + (
        ".visible .entry k() {\n.reg .b32 %r;\n.loc 1 12 3\nld.global.b32 %r, [16];\nret;\n}"
    )
    with pytest.raises(KernelFault, match=r"thread \(0, 0, 0\), kernel.py:12, line 8 of the PTX"):
        run(ptx, "k", [])


def test_memory_between_two_arrays_is_nobodys() -> None:
    x, y = np.zeros(4, "uint32"), np.zeros(4, "uint32")
    body = "ld.global.b32 %d0, [%x];"
    ptx = (
        ".visible .entry k(.param .u64 x, .param .u64 y) { .reg .b64 %x, %y; .reg .b32 %d0; "
        f"ld.param.u64 %x, [x]; add.u64 %x, %x, 16; {body} ret; }}"
    )
    with pytest.raises(KernelFault):
        run(ptx, "k", [x, y])


@pytest.mark.parametrize("kind", ["b8", "b16", "b32", "b64"])
def test_a_store_takes_the_low_bits_of_a_larger_register(kind: str) -> None:
    values: Any = np.arange(512, dtype="uint64") * np.uint64(0x0123456789ABCDEF)
    [found] = evaluate(
        f"ld.param.u64 %a, [p0]; mul.wide.u32 %o, %t, {int(kind[1:]) // 8};"
        f"add.u64 %a, %a, %o; st.global.{kind} [%a], %s0; ld.global.{kind} %d0, [%a];",
        [kind],
        [("b64", values)],
    )
    assert (found == values.astype(f"uint{kind[1:]}")).all()
