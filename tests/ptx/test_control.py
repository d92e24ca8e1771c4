"""Branches, calls, barriers, clusters, what is printed, and asserts."""

from __future__ import annotations

import contextlib
from typing import Any, Final

import numpy
import pytest

from ffi_builder.ptx.errors import Fault, KernelFault, PtxError
from ffi_builder.ptx.machine import Shape
from tests.ptx.running import run, tested

np: Any = numpy

REDUCED: Final = tested("""
.visible .entry k(.param .u64 x) {
  .reg .b64 %x, %o; .reg .b32 %r<9>; .reg .pred %p, %q<4>; .reg .b16 %h;
  ld.param.u64 %x, [x]; mov.u32 %r0, %tid.x; setp.lt.u32 %p, %r0, 10;
  bar.red.popc.u32 %r1, 0, %p; barrier.red.popc.aligned.u32 %r2, 0, !%p;
  mov.pred %q0, 1; mov.pred %q1, 0; xor.pred %p, %p, %q1; and.pred %p, %p, %q0;
  bar.red.popc.u32 %r3, 2, 64, %p; barrier.red.popc.u32 %r4, 2, 64, %p;
  bar.red.and.pred %q0, 0, %p; barrier.red.or.pred %q1, 0, %p; bar.red.or.pred %q2, 3, 64, %p;
  barrier.red.and.pred %q3, 3, 64, %p; bar.red.and.pred %q3, 3, 64, %p;
  barrier.red.or.pred %q2, 3, 64, %p; bar.red.or.pred %q1, 0, %p; barrier.red.and.pred %q0, 0, %p;
  selp.b32 %r5, 1, 0, %q0; selp.b32 %r6, 1, 0, %q1; selp.b32 %r7, 1, 0, %q2; selp.b32 %r8, 1, 0, %q3;
  mul.wide.u32 %o, %r0, 32; add.u64 %x, %x, %o;
  st.global.v4.b32 [%x], {%r1, %r2, %r3, %r4}; st.global.v4.b32 [%x+16], {%r5, %r6, %r7, %r8};
  ret;
}
""")


def test_barriers_reduce_predicates() -> None:
    x = np.zeros((64, 8), "uint32")
    run(REDUCED, "k", [x], Shape(block=(64, 1, 1)))
    assert (x == [10, 54, 10, 10, 0, 1, 1, 0]).all()


NAMED: Final = tested("""
.visible .entry k(.param .u64 x) {
  .reg .b64 %x; .reg .b32 %r<4>; .reg .pred %p; .shared .b32 s;
  ld.param.u64 %x, [x]; mov.u32 %r0, %tid.x; setp.lt.u32 %p, %r0, 32;
  @%p bra PRODUCER;
  barrier.sync 1, 64; ld.shared.b32 %r1, [s]; add.u32 %r1, %r1, %r0;
  mul.lo.u32 %r2, %r0, 4; cvt.u64.u32 %x, %r2; ld.param.u64 %x, [x]; st.global.b32 [%x], %r1;
  bra END;
  PRODUCER: st.shared.b32 [s], 7; membar.cta; fence.acq_rel.cta; bar.arrive 1, 64; barrier.arrive 2, 64;
  END: @!%p bar.sync 2, 64;
  bar.sync 0; barrier.sync 0; bar.cta.sync 0; barrier.cta.sync.aligned 3, 64; bar.warp.sync -1;
  nanosleep.u32 20; griddepcontrol.wait; griddepcontrol.launch_dependents; pmevent 1; pmevent.mask 1; setmaxnreg.inc.sync.aligned.u32 64;
  fence.proxy.async; fence.mbarrier_init.release.cluster; fence.proxy.tensormap::generic.release.gpu;
  fence.proxy.tensormap::generic.acquire.gpu [%x], 128; fence.acquire.sync_restrict::shared::cluster.cluster;
  fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;
  exit;
}
""")


def test_producers_arrive_and_consumers_wait() -> None:
    x = np.zeros(1, "uint32")
    run(NAMED, "k", [x], Shape(block=(64, 1, 1)))
    assert x[0] in range(39, 71)


CALLS: Final = tested("""
.func (.param .b32 result) twice(.param .b32 a) {
  .reg .b32 %r<2>; .reg .pred %p;
  ld.param.b32 %r0, [a]; setp.gt.u32 %p, %r0, 100; @%p bra BIG;
  add.u32 %r0, %r0, %r0; st.param.b32 [result], %r0; ret;
  BIG: st.param.b32 [result], 5; ret;
}
.func nothing(.param .align 8 .b8 pair[16], .param .b64 to) {
  .reg .b64 %a, %b, %t;
  ld.param.b64 %a, [pair]; ld.param.b64 %b, [pair+8]; ld.param.b64 %t, [to];
  add.u64 %a, %a, %b; st.global.b64 [%t+8], %a; ret;
}
.visible .entry k(.param .u64 x) {
  .reg .b64 %x, %y, %o; .reg .b32 %r<4>;
  ld.param.u64 %x, [x]; mov.u32 %r0, %tid.x; mul.lo.u32 %r0, %r0, 60;
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %r0; call.uni (q), twice, (p); ld.param.b32 %r1, [q]; }
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; call (q), twice, (p); ld.param.b32 %r1, [q]; }
  mov.u32 %r0, %tid.x; mul.wide.u32 %o, %r0, 16; add.u64 %x, %x, %o; st.global.b32 [%x], %r1;
  { .param .align 8 .b8 p[16]; .param .b64 t; cvt.u64.u32 %y, %r0;
    st.param.b64 [p], %y; st.param.b64 [p+8], 1000; st.param.b64 [t], %x; call nothing, (p, t); }
  ret;
}
""")


def test_functions_are_called_by_lanes_that_diverge() -> None:
    x = np.zeros((4, 2), "uint64")
    run(CALLS, "k", [x], Shape(block=(4, 1, 1)))
    assert x.tolist() == [[0, 1000], [5, 1001], [10, 1002], [10, 1003]]


BRANCHES: Final = tested("""
.visible .entry k(.param .u64 x) {
  .reg .b64 %x, %o; .reg .b32 %r<4>; .reg .pred %p<2>;
  ld.param.u64 %x, [x]; mov.u32 %r0, %tid.x; mul.wide.u32 %o, %r0, 4; add.u64 %x, %x, %o;
  T: .branchtargets L0, L1, L2;
  brx.idx %r0, T;
  L0: mov.u32 %r1, 10; bra END;
  L1: { bra INNER; mov.u32 %r1, 1; INNER: mov.u32 %r1, 20; bra END; }
  L2: { mov.u32 %r1, 30; bra INNER; mov.u32 %r1, 2; INNER: bra.uni END; }
  END: mov.u64 %o, %clock64; mov.u32 %r2, %clock; mov.u32 %r3, %globaltimer_lo; brkpt;
  st.global.b32 [%x], %r1;
  ret;
}
""")


def test_branches_by_index_and_labels_in_scopes() -> None:
    x = np.zeros(3, "uint32")
    run(BRANCHES, "k", [x], Shape(block=(3, 1, 1)))
    assert x.tolist() == [10, 20, 30]


SPECIAL: Final = (
    *("tid.x", "tid.y", "tid.z", "ntid.y", "ctaid.x", "ctaid.z", "nctaid.x"),
    *("laneid", "warpid", "nwarpid"),
    *(f"lanemask_{kind}" for kind in ("eq", "lt", "le", "gt", "ge")),
    *("clusterid.x", "nclusterid.x", "cluster_ctaid.x", "cluster_nctaid.x"),
    *("cluster_ctarank", "cluster_nctarank"),
)


def test_special_registers() -> None:
    lines = "".join(
        f"mov.u32 %r0, %{name}; st.global.b32 [%x+{4 * at}], %r0;"
        for at, name in enumerate(SPECIAL)
    )
    ptx = f"""
.visible .entry k(.param .u64 x) {{
  .reg .b64 %x; .reg .b32 %r<4>; .reg .pred %p;
  ld.param.u64 %x, [x]; mov.u32 %r0, %tid.y; setp.ne.u32 %p, %r0, 3; @%p ret;
  mov.u32 %r0, %tid.x; setp.ne.u32 %p, %r0, 4; @%p ret;
  mov.u32 %r0, %ctaid.x; setp.ne.u32 %p, %r0, 3; @%p ret; mov.u32 %r0, %ctaid.z; setp.ne.u32 %p, %r0, 1; @%p ret;
  {lines} ret; }}"""
    x = np.zeros(len(SPECIAL), "uint32")
    run(ptx, "k", [x], Shape((4, 1, 2), (10, 7, 1), (2, 1, 1)))
    lane = (3 * 10 + 4) % 32
    expected = [4, 3, 0, 7, 3, 1, 4, lane, 1, 3]
    expected += [
        1 << lane,
        (1 << lane) - 1,
        (2 << lane) - 1,
        -(2 << lane) % 2**32,
        -(1 << lane) % 2**32,
    ]
    expected += [1, 2, 1, 2, 1, 2]
    assert x.tolist() == expected


CLUSTER: Final = tested("""
.visible .entry k(.param .u64 x) {
  .reg .b64 %x, %o, %g; .reg .b32 %r<9>; .shared .b32 s; .reg .pred %p;
  ld.param.u64 %x, [x]; mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, s;
  add.u32 %r2, %r0, 100; st.shared.b32 [s], %r2;
  barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
  xor.b32 %r3, %r0, 1; mapa.shared::cluster.u32 %r4, %r1, %r3; ld.shared::cluster.b32 %r5, [%r4];
  getctarank.shared::cluster.u32 %r6, %r4;
  cvta.shared.u64 %g, %o; mov.u64 %o, s; cvta.shared.u64 %g, %o; mapa.u64 %g, %g, %r3; ld.b32 %r7, [%g];
  getctarank.u64 %r8, %g;
  barrier.cluster.arrive; barrier.cluster.wait;
  mov.u32 %r0, %ctaid.x; mul.wide.u32 %o, %r0, 16; add.u64 %x, %x, %o;
  st.global.v4.b32 [%x], {%r5, %r6, %r7, %r8};
  ret;
}
""")


def test_blocks_of_a_cluster_read_each_others_memory() -> None:
    x = np.zeros((4, 4), "uint32")
    run(CLUSTER, "k", [x], Shape((4, 1, 1), (1, 1, 1), (2, 1, 1)))
    assert x.tolist() == [[101, 1, 101, 1], [100, 0, 100, 0]] * 2


GRID: Final = """
.visible .entry k(.param .u64 x, .param .u32 n) {
  .reg .b64 %x; .reg .b32 %r<4>; .reg .pred %p;
  ld.param.u64 %x, [x]; ld.param.u32 %r1, [n];
  atom.global.add.u32 %r0, [%x], 1;
  WAIT: ld.acquire.gpu.global.b32 %r0, [%x]; setp.lt.u32 %p, %r0, %r1; @%p bra WAIT;
  ret;
}
"""


def test_cooperative_blocks_wait_for_each_other() -> None:
    x = np.zeros(1, "uint32")
    run(GRID, "k", [x, np.uint32(6)], Shape((6, 1, 1), cooperative=True))
    assert x[0] == 6


def test_blocks_that_wait_for_later_ones_make_no_progress() -> None:
    x = np.zeros(1, "uint32")
    with pytest.raises(KernelFault, match="makes no progress") as caught:
        run(GRID, "k", [x, np.uint32(6)], Shape((6, 1, 1)), patience=100_000)
    assert caught.value.kind == Fault.STUCK
    assert "block (0, 0, 0)" in str(caught.value)


def test_resident_blocks_have_a_limit() -> None:
    with pytest.raises(PtxError, match=r"blocks at once need .* MiB"):
        run(
            GRID,
            "k",
            [np.zeros(1, "uint32"), np.uint32(6)],
            Shape((1 << 20, 1, 1), (256, 1, 1), cooperative=True),
        )


PRINTED: Final = """
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.visible .entry k(.param .u64 format, .param .u64 text) {
  .reg .b64 %x, %l; .reg .b32 %r; .local .align 8 .b8 list[48];
  mov.u64 %l, list; cvta.local.u64 %l, %l; mov.u32 %r, %tid.x;
  st.local.b32 [list], %r; st.local.b64 [list+8], 0d3FF8000000000000; ld.param.u64 %x, [text];
  st.local.b64 [list+16], %x; st.local.b64 [list+24], -5; st.local.b32 [list+32], 0x41;
  ld.param.u64 %x, [format];
  { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %x; st.param.b64 [b], %l;
    call.uni (r), vprintf, (a, b); ld.param.b32 %r, [r]; }
  ret;
}
"""


def test_printf_prints(capsys: pytest.CaptureFixture[str]) -> None:
    form = np.frombuffer(b"thread %03d: %.2f of %s, %lld%% %c\n\0", "uint8")
    run(PRINTED, "k", [form, np.frombuffer(b"text\0", "uint8")], Shape(block=(2, 1, 1)))
    assert capsys.readouterr().out == (
        "thread 000: 1.50 of text, -5% A\nthread 001: 1.50 of text, -5% A\n"
    )


@pytest.mark.parametrize("form", ["%n", "%", "%99999999d", "%*d", "%hhd %zu", "%.9999f", "%s"])
def test_odd_formats_end_nothing(form: str) -> None:
    data = np.frombuffer(form.encode() + b"\0", "uint8")
    with contextlib.suppress(KernelFault):  # its arguments are no addresses
        run(PRINTED, "k", [data, np.frombuffer(b"text\0", "uint8")])


ASSERTED: Final = """
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.visible .entry k(.param .u64 text) {
  .reg .b64 %x; ld.param.u64 %x, [text];
  { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
    st.param.b64 [a], %x; add.u64 %x, %x, 6; st.param.b64 [b], %x; st.param.b32 [c], 12;
    add.u64 %x, %x, 5; st.param.b64 [d], %x; st.param.b64 [e], 1;
    call.uni __assertfail, (a, b, c, d, e); }
  ret;
}
"""


def test_a_failed_assert_has_file_and_line() -> None:
    text = np.frombuffer(b"x > 0\0k.cu\0f\0", "uint8")
    with pytest.raises(KernelFault, match=r"k.cu:12: f: assertion `x > 0` failed") as caught:
        run(ASSERTED, "k", [text])
    assert caught.value.kind == Fault.ASSERT


REFUSED: Final = {
    "add.q32 %r, %r, %r;": "no form of the instruction 'add.q32 %r, %r, %r' is listed (line 6",
    "add.u32 %r, %r;": "no form of the instruction 'add.u32 %r, %r'",
    "add.u32 %r, %r, %d;": "the register %d is .b64, and .u32 is expected",
    "add.u32 %r, %r, %p;": "the register %p is .pred, and .u32 is expected",
    "add.u32 %r, %r, %nothing;": "the operand '%nothing', which nothing declares",
    "bra NOWHERE;": "there is no label 'NOWHERE'",
    "call nowhere;": "a call of 'nowhere'",
    "call self;": "the function 'self' calls itself",
    "LABEL: LABEL: ret;": "the label 'LABEL' stands twice",
    "ld.global.b32 %r, [%r+%r];": "the address '[%r+%r]'",
    "add.u32 %r, %r, 99999999999999999999;": "more than 64 bits",
    ".reg .b32 %big<99999999999>; mov.u32 %big99999999999, 1;": "is no register",
    ".shared .b8 s[99999999999]; st.shared.b8 [s], %r;": "1 MiB of shared memory",
    ".local .b8 s[99999999999]; st.local.b8 [s], %r;": "1 MiB of local memory",
}


@pytest.mark.parametrize(("body", "words"), REFUSED.items(), ids=REFUSED)
def test_what_is_not_listed_is_refused(body: str, words: str) -> None:
    ptx = f""".func self() {{ call self; ret; }}
.visible .entry k() {{
.reg .b32 %r; .reg .b64 %d; .reg .pred %p;
{body} ret; }}"""
    with pytest.raises(PtxError) as caught:
        run(ptx, "k", [])
    assert words.replace("line 6", "line 7") in str(caught.value)
    assert "kernel 'k' is not executed: " in str(caught.value)
