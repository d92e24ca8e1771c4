"""Warp-wide instructions against their meaning, lane by lane; also of lanes that diverged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

import numpy
import pytest

from ffi_builder.ptx.errors import Fault, KernelFault
from ffi_builder.ptx.machine import Shape
from tests.ptx.running import TESTED, Case, Meaning, checks, draw, evaluate, run, tested

np: Any = numpy

Lanes = Callable[..., Any]
Of = Callable[[Any, Any], Any]
"""Of what all lanes of a mask have, and of what this lane has."""


def _by_warp(meaning: Meaning) -> Lanes:
    """The meaning for each 32 lanes."""

    def whole(*operands: Any) -> Any:
        of_warp = cast("Lanes", meaning)
        parts: Any = [
            of_warp(*(each[at : at + 32] for each in operands)) for at in range(0, 512, 32)
        ]
        if isinstance(parts[0], tuple):
            columns: Any = zip(*parts, strict=True)
            return tuple(np.concatenate(each) for each in columns)
        return np.concatenate(parts)

    return whole


def _shuffled(mode: str) -> Lanes:
    def meaning(a: Any, b: Any, c: Any) -> Any:
        found: list[Any] = []
        valid: list[bool] = []
        for lane in range(32):
            by, clamp, segment = int(b[lane]) & 31, int(c[lane]) & 31, int(c[lane]) >> 8 & 31
            last = lane & segment | clamp & ~segment
            source, inside = {
                "up": (lane - by, lane - by >= last),
                "down": (lane + by, lane + by <= last),
                "bfly": (lane ^ by, lane ^ by <= last),
                "idx": (lane & segment | by & ~segment, (lane & segment | by & ~segment) <= last),
            }[mode]
            found.append(a[source if inside else lane])
            valid.append(inside)
        return np.array(found), np.array(valid)

    return _by_warp(meaning)


def _clamps(mode: str) -> Lanes:
    """Lanes in groups of 4, 8, 16 or 32, the same for a warp."""

    def prepare(a: Any, b: Any, c: Any) -> Any:
        width = np.repeat(2 ** (c[::32] % 4 + 2), 32)
        clamp = np.zeros(len(c), "uint32") if mode == "up" else np.uint32(31)
        return a, b % width, (32 - width).astype("uint32") << 8 | clamp

    return prepare


def _members(generator: Any) -> Any:
    """A mask for each lane: those of lanes with the same drawn number."""
    groups = generator.integers(0, 3, 512)
    return np.array(
        [
            sum(1 << k for k in range(32) if groups[at // 32 * 32 + k] == groups[at])
            for at in range(512)
        ],
        "uint32",
    )


def _grouped(meaning: Of) -> Lanes:
    """The meaning for lanes by their masks: of what all have, and which lane it is."""

    def of_warp(a: Any, masks: Any) -> Any:
        members = [[k for k in range(32) if int(masks[lane]) >> k & 1] for lane in range(32)]
        return np.array([meaning(a[members[lane]], a[lane]) for lane in range(32)])

    return _by_warp(of_warp)


def _with_masks(*operands: Any) -> Any:
    return *operands[:-1], _members(np.random.default_rng(7))


REDUCTIONS: Final[dict[str, Of]] = {
    "add.u32": lambda of, _: of.sum(dtype="uint32"),
    "add.s32": lambda of, _: of.sum(dtype="int32"),
    "min.u32": lambda of, _: of.min(),
    "max.u32": lambda of, _: of.max(),
    "min.s32": lambda of, _: of.min(),
    "max.s32": lambda of, _: of.max(),
    "and.b32": lambda of, _: np.bitwise_and.reduce(of),
    "or.b32": lambda of, _: np.bitwise_or.reduce(of),
    "xor.b32": lambda of, _: np.bitwise_xor.reduce(of),
}
VOTES: Final[dict[str, Of]] = {
    "any": lambda of, _: of.any(),
    "all": lambda of, _: of.all(),
    "uni": lambda of, _: of.all() or not of.any(),
}

CASES: Final = [
    *(
        Case(
            f"shfl.sync.{mode}.b32",
            "b32 pred: b32 u32 u32",
            _shuffled(mode),
            "%d0|%d1, %s0, %s1, %s2, -1",
            _clamps(mode),
        )
        for mode in ("up", "down", "bfly", "idx")
    ),
    *(
        Case(f"redux.sync.{name}", f"{kind}: {kind} b32", _grouped(meaning), prepare=_with_masks)
        for name, meaning in REDUCTIONS.items()
        for kind in [name.partition(".")[2]]
    ),
    *(
        Case(f"vote.sync.{name}.pred", "pred: pred b32", _grouped(meaning), prepare=_with_masks)
        for name, meaning in VOTES.items()
    ),
    Case(
        "match.any.sync.b32",
        "b32: b32 b32",
        _by_warp(
            lambda a, masks: np.array(
                [
                    sum(1 << k for k in range(32) if masks[lane] >> k & 1 and a[k] == a[lane])
                    for lane in range(32)
                ]
            )
        ),
        prepare=lambda a, _: (a % 3, _members(np.random.default_rng(8))),
    ),
    Case(
        "match.any.sync.b64",
        "b32: b64 b32",
        _by_warp(lambda a, _: np.array([sum(1 << k for k in range(32) if a[k] == v) for v in a])),
        prepare=lambda a, _: (a % 4 << 40, np.full(512, 2**32 - 1, "uint32")),
    ),
    *(
        Case(
            f"match.all.sync.{kind}",
            f"b32 pred: {kind} b32",
            _by_warp(
                lambda a, masks: (
                    np.where((a == a[0]).all(), masks, 0).astype("uint32"),
                    np.full(32, (a == a[0]).all()),
                )
            ),
            "%d0|%d1, %s0, %s1",
            prepare=lambda a, m: (
                np.where(np.arange(512) < 256, 5, a).astype(a.dtype),
                m | -1 % 2**32,
            ),
        )
        for kind in ("b32", "b64")
    ),
    Case(
        "elect.sync",
        "b32 pred: b32",
        _by_warp(
            lambda masks: (
                np.array([(int(m) & -int(m)).bit_length() - 1 for m in masks]),
                np.array([(int(m) & -int(m)).bit_length() - 1 == k for k, m in enumerate(masks)]),
            )
        ),
        "%d0|%d1, %s0",
        _with_masks,
    ),
    Case("activemask.b32", "b32: b32", lambda a: np.full(512, 2**32 - 1), "%d0"),
]


test_as_it_means = checks(CASES)


def test_ballot() -> None:
    votes = draw("pred", np.random.default_rng(4))
    [found] = evaluate("vote.sync.ballot.b32 %d0, !%s0, -1;", ["b32"], [("pred", votes)])
    expected = [sum(1 << k for k in range(32) if not votes[at // 32 * 32 + k]) for at in range(512)]
    assert found.tolist() == expected


TESTED.extend(["redux.sync.min.f32", "redux.sync.max.abs.NaN.f32", "vote.sync.ballot.b32"])


@pytest.mark.parametrize("name", ["min", "max"])
@pytest.mark.parametrize("absolute", ["", ".abs"])
@pytest.mark.parametrize("nan", ["", ".NaN"])
def test_floats(name: str, absolute: str, nan: str) -> None:
    generator = np.random.default_rng(5)
    values = generator.standard_normal(512).astype("float32")
    values[40] = np.nan
    values[64:96] = [0.0, -0.0] * 16
    code = f"redux.sync.{name}{absolute}{nan}.f32 %d0, %s0, -1;"
    [found] = evaluate(code, ["f32"], [("f32", values)])
    magnitudes = np.abs(values) if absolute else values
    pick = getattr(np, f"{name}imum" if nan else f"f{name}")
    expected = np.repeat(pick.reduce(magnitudes.reshape(-1, 32), axis=1), 32)
    expected[64:96] = 0.0 if name == "max" or absolute else -0.0
    same = (found == expected) & (np.signbit(found) == np.signbit(expected))
    assert (same | (np.isnan(found) & np.isnan(expected))).all()


def test_lanes_that_diverged_meet_where_the_mask_says() -> None:
    body = """
    and.b32 %n, %s0, 1; setp.eq.u32 %q, %n, 0;
    @%q bra EVEN;
    shfl.sync.bfly.b32 %d0, %s0, 2, 31, 0xAAAAAAAA;
    bra END;
    EVEN: shfl.sync.bfly.b32 %d0, %s0, 4, 31, 0x55555555;
    END: bar.warp.sync -1;
    """
    lanes = np.arange(512, dtype="uint32") % 32
    [found] = evaluate(body, ["b32"], [("b32", lanes)])
    assert (found == np.where(lanes % 2 == 1, lanes ^ 2, lanes ^ 4)).all()


def test_lanes_wait_for_those_that_come_later() -> None:
    body = """
    mov.b32 %d0, 0;
    LOOP: setp.ge.u32 %q, %d0, %s0; @%q bra DONE; add.u32 %d0, %d0, 1; bra LOOP;
    DONE: shfl.sync.idx.b32 %d0, %d0, 31, 31, -1;
    """
    lanes = np.arange(512, dtype="uint32") % 32
    [found] = evaluate(body, ["b32"], [("b32", lanes)])
    assert (found == 31).all()


WRONG: Final = {
    "setp.lt.u32 %p, %r, 16; @%p shfl.sync.bfly.b32 %r, %r, 1, 31, -1;": (Fault.STUCK, "for lanes"),
    "shfl.sync.idx.b32 %r, %r, 3, 31, 0xFFFFFFF7;": (Fault.WRONG, "lacks lane 3"),
    "setp.ne.u32 %p, %r, 3; @%p shfl.sync.idx.b32 %r, %r, 3, 31, 0xFFFFFFF7;": (
        Fault.WRONG,
        "reads lane 3, which is not in the mask",
    ),
    "setp.lt.u32 %p, %r, 40; @%p bar.sync 0;": (Fault.STUCK, "waits in a barrier"),
    "bar.sync 16;": (Fault.WRONG, "barrier 16"),
    "bar.sync 1, 33;": (Fault.WRONG, "no multiple"),
    "LOOP: bra LOOP;": (Fault.STUCK, "no progress"),
    "barrier.cluster.wait;": (Fault.WRONG, "without barrier.cluster.arrive"),
}


def _wrong(body: str) -> str:
    # Threads below 40 of 64 go another way than the others in the barrier's case.
    end = "" if "bra" in body else "@!%p bra SPIN; ret; SPIN: bar.sync 1;"
    begin = ".reg .pred %p; .reg .b32 %r; mov.u32 %r, %tid.x; setp.ge.u32 %p, %r, 0;"
    return tested(f".visible .entry k() {{ {begin}\n{body} {end} ret; }}")


for _body in WRONG:
    _wrong(_body)


@pytest.mark.parametrize(("body", "fault"), WRONG.items(), ids=WRONG)
def test_what_cannot_go_on_is_an_error(body: str, fault: tuple[Fault, str]) -> None:
    with pytest.raises(KernelFault) as caught:
        run(_wrong(body), "k", [], Shape(block=(64, 1, 1)), patience=10_000)
    assert caught.value.kind == fault[0]
    assert fault[1] in str(caught.value)
    assert "line 5 of the PTX" in str(caught.value)


def test_a_thread_waits_for_a_lane_of_its_own_warp() -> None:
    ptx = tested("""
.visible .entry k(.param .u64 x) {
  .reg .pred %p; .reg .b32 %r, %v; .reg .b64 %x;
  ld.param.u64 %x, [x]; mov.u32 %r, %laneid; setp.eq.u32 %p, %r, 31; @%p bra WRITE;
  SPIN: ld.volatile.global.b32 %v, [%x]; setp.eq.u32 %p, %v, 0; @%p bra SPIN;
  bra END;
  WRITE: st.global.b32 [%x], 1;
  END: ret;
}""")
    x = np.zeros(1, "uint32")
    run(ptx, "k", [x], Shape(block=(32, 1, 1)))
    assert x[0] == 1
