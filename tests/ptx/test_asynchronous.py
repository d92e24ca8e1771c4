"""Copies that somebody has to wait for, mbarriers, and tensor maps."""

from __future__ import annotations

from typing import Any, Final

import numpy
import pytest

from ffi_builder.ptx.errors import Fault, KernelFault
from ffi_builder.ptx.machine import Shape
from tests.ptx.running import run, tested

np: Any = numpy

GROUPS: Final = """
.visible .entry k(.param .u64 x, .param .u64 y) {
  .reg .b64 %x, %y, %o; .reg .b32 %r<4>, %s<4>; .shared .align 16 .b8 s[1024];
  ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; mov.u32 %r0, %tid.x; mov.u32 %s0, s;
  mul.wide.u32 %o, %r0, 16; add.u64 %x, %x, %o; mul.wide.u32 %o, %r0, 8; add.u64 %y, %y, %o;
  mul.lo.u32 %r1, %r0, 16; add.u32 %s0, %s0, %r1; mov.u32 %r1, 4; mov.u64 %o, 0;
  cp.async.ca.shared.global [%s0], [%x], 4;
  cp.async.commit_group;
  cp.async.ca.shared::cta.global.L2::128B [%s0+8], [%x+8], 8, %r1;
  cp.async.cg.shared.global.L2::cache_hint [%s0+512], [%x], 16, 16, %o;
  cp.async.commit_group;
  WAITED
  st.global.b32 [%y], %r2; st.global.b32 [%y+4], %r3;
  ret;
}
"""
WAITED: Final = "cp.async.wait_group 1; ld.shared.b32 %r2, [%s0]; cp.async.wait_all; ld.shared.b32 %r3, [%s0+12];"


def _groups(body: str) -> Any:
    x, y = np.arange(1, 17, dtype="uint32"), np.zeros((4, 2), "uint32")
    run(tested(GROUPS.replace("WAITED", body)), "k", [x, y], Shape(block=(4, 1, 1)))
    return y


tested(GROUPS.replace("WAITED", WAITED))


def test_copies_are_there_when_they_were_waited_for() -> None:
    assert _groups(WAITED).tolist() == [[1, 0], [5, 0], [9, 0], [13, 0]]


def test_a_copy_that_nobody_waited_for_is_not_there() -> None:
    with pytest.raises(KernelFault, match="which nobody wrote"):
        _groups("cp.async.wait_group 2; ld.shared.b32 %r2, [%s0];")
    with pytest.raises(KernelFault, match="which nobody wrote"):
        _groups("cp.async.wait_group 1; ld.shared.b32 %r2, [%s0+8];")


BULK: Final = tested("""
.visible .entry k(.param .u64 x, .param .u64 y) {
  .reg .b64 %x, %y, %o, %t; .reg .b32 %r<4>, %s<4>; .reg .pred %p, %q; .shared .align 16 .b8 s[256];
  .shared .align 8 .b64 bar; .shared .align 8 .b64 async;
  ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; mov.u32 %r0, %tid.x; mov.u32 %s0, s; mov.u32 %s1, bar;
  setp.ne.u32 %p, %r0, 0; @%p bra READY;
  mbarrier.init.shared.b64 [%s1], 3; mbarrier.init.shared::cta.b64 [async], 4;
  mbarrier.inval.shared.b64 [async]; mbarrier.init.shared::cta.b64 [async], 4;
  cp.async.bulk.prefetch.L2.global [%x], 64;
  READY: bar.sync 0;
  @%p bra CONSUMER;
  mbarrier.arrive.expect_tx.shared.b64 _, [%s1], 128;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s0], [%x], 64, [%s1];
  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%s0+64], [%x+64], 64, [%s1], %o;
  mbarrier.expect_tx.relaxed.cta.shared.b64 [%s1], 16; mbarrier.complete_tx.relaxed.cta.shared.b64 [%s1], 16;
  CONSUMER: setp.gt.u32 %q, %r0, 1; @%q bra WAIT;
  mbarrier.arrive.release.cta.shared::cta.b64 %t, [%s1]; mbarrier.pending_count.b64 %r1, %t;
  WAIT: mbarrier.try_wait.parity.acquire.cta.shared.b64 %q, [%s1], 0, 1000;
  @!%q bra WAIT;
  mul.lo.u32 %r1, %r0, 4; add.u32 %s2, %s0, %r1; ld.shared.b32 %r2, [%s2];
  add.u32 %r2, %r2, 1; st.shared.b32 [%s2+128], %r2;
  cp.async.ca.shared.global [%s2], [%x], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [async];
  AGAIN: mbarrier.test_wait.parity.shared.b64 %q, [async], 0; @!%q bra AGAIN;
  bar.sync 0; @%p bra END;
  mbarrier.arrive.noComplete.shared.b64 %t, [%s1], 1; mbarrier.arrive_drop.shared.b64 _, [%s1], 1;
  mbarrier.test_wait.shared.b64 %q, [%s1], %t; @%q trap;
  mbarrier.arrive.shared.b64 %t, [%s1], 1; LAST: mbarrier.try_wait.shared.b64 %q, [%s1], %t; @!%q bra LAST;
  mbarrier.arrive.shared.b64 %t, [%s1], 2; mbarrier.test_wait.shared.b64 %q, [%s1], %t; @!%q trap;
  mbarrier.arrive_drop.expect_tx.shared.b64 %t, [%s1], 0; mbarrier.arrive_drop.shared.b64 %t, [%s1];
  cp.async.mbarrier.arrive.shared.b64 [async];
  cp.async.bulk.global.shared::cta.bulk_group [%y], [%s0], 16;
  cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%y+16], [%s0+128], 16, %o;
  cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;
  END: ret;
}
""")


def test_bulk_copies_complete_mbarriers() -> None:
    x, y = np.arange(10, 42, dtype="uint32"), np.zeros(8, "uint32")
    run(BULK, "k", [x, y], Shape(block=(4, 1, 1)))
    assert y.tolist() == [10, 10, 10, 10, 11, 12, 13, 14]


WRONG: Final = {
    "mbarrier.arrive.shared.b64 _, [b];": (Fault.ILLEGAL, "which nobody wrote"),
    "mbarrier.init.shared.b64 [b], 0;": (Fault.WRONG, "an mbarrier of 0 threads"),
    "mbarrier.init.shared.b64 [b], 1; mbarrier.arrive.shared.b64 _, [b], 2;": (
        Fault.WRONG,
        "2 arrivals at an mbarrier of 1 threads",
    ),
    "mbarrier.init.shared.b64 [b+4], 1;": (Fault.MISALIGNED, "aligned to 8"),
    "cp.async.ca.shared.global [s], [%x+4], 8;": (Fault.MISALIGNED, "cp.async of 8 bytes"),
    "cp.async.ca.shared.global [s], [%x+64], 8;": (Fault.ILLEGAL, "no global memory"),
    "cp.async.ca.shared.global [s], [%x], 5;": (Fault.WRONG, "cp.async of 5 bytes"),
    "cp.async.bulk.global.shared::cta.bulk_group [%x], [s], 8;": (Fault.MISALIGNED, "16"),
    "mbarrier.init.shared.b64 [b], 2; mbarrier.arrive.shared.b64 _, [b];"
    "W: mbarrier.try_wait.parity.shared.b64 %p, [b], 0; @!%p bra W;": (Fault.STUCK, "no progress"),
}


@pytest.mark.parametrize(("body", "fault"), WRONG.items(), ids=WRONG)
def test_what_is_wrong_is_an_error(body: str, fault: tuple[Fault, str]) -> None:
    ptx = f""".visible .entry k(.param .u64 x) {{
    .reg .pred %p; .reg .b64 %x; .shared .align 16 .b8 s[64]; .shared .align 8 .b8 b[16];
    ld.param.u64 %x, [x]; {body} ret; }}"""
    with pytest.raises(KernelFault) as caught:
        run(ptx, "k", [np.zeros(16, "uint32")], patience=20_000)
    assert caught.value.kind == fault[0]
    assert fault[1] in str(caught.value)


CLUSTER: Final = tested("""
.visible .entry k(.param .u64 x, .param .u64 y) {
  .reg .b64 %x, %y, %o; .reg .b32 %r<9>; .reg .pred %p; .reg .b16 %m;
  .shared .align 16 .b8 s[64]; .shared .align 8 .b64 b;
  ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, s; mov.u32 %r2, b;
  mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 44;
  barrier.cluster.arrive.relaxed; barrier.cluster.wait;
  xor.b32 %r3, %r0, 1; mapa.shared::cluster.u32 %r4, %r1, %r3; mapa.shared::cluster.u32 %r5, %r2, %r3;
  mov.b16 %m, 3; setp.ne.u32 %p, %r0, 0;
  @!%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%x], 16, [%r2], %m;
  add.u32 %r6, %r0, 70; add.u32 %r7, %r0, 80;
  st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r4+16], %r6, [%r5];
  st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r4+24], {%r6, %r7}, [%r5];
  @%p st.shared.v4.b32 [%r1+32], {%r6, %r7, %r6, %r7};
  mov.u32 %r8, 0;
  @!%p st.shared.v4.b32 [%r1+32], {%r7, %r7, %r7, %r7};
  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4+48], [%r1+32], 16, [%r5];
  W: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p, [%r2], 0; @!%p bra W;
  mul.wide.u32 %o, %r0, 64; add.u64 %y, %y, %o;
  ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [s]; st.global.v4.b32 [%y], {%r1, %r2, %r3, %r4};
  ld.shared.b32 %r1, [s+16]; st.global.b32 [%y+16], %r1;
  ld.shared.v2.b32 {%r1, %r2}, [s+24]; st.global.v2.b32 [%y+24], {%r1, %r2};
  ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [s+48]; st.global.v4.b32 [%y+48], {%r1, %r2, %r3, %r4};
  barrier.cluster.arrive; barrier.cluster.wait;
  ret;
}
""")


def test_blocks_of_a_cluster_send_each_other_data() -> None:
    x, y = np.arange(4, dtype="uint32"), np.zeros((2, 16), "uint32")
    run(CLUSTER, "k", [x, y], Shape((2, 1, 1), (1, 1, 1), (2, 1, 1)))
    assert y[0].tolist() == [0, 1, 2, 3, 71, 0, 71, 81, 0, 0, 0, 0, 71, 81, 71, 81]
    assert y[1].tolist() == [0, 1, 2, 3, 70, 0, 70, 80, 0, 0, 0, 0, 80, 80, 80, 80]
