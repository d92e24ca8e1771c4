"""Tensor maps: which elements of a tensor are moved, where they are in shared memory, and what is
beside the tensor."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy
import pytest

from ffi_builder.ptx.errors import KernelFault
from ffi_builder.ptx.machine import Shape
from tests.ptx.running import run, tested

np: Any = numpy

_KINDS: Final[Mapping[str, int]] = {
    "uint8": 0,
    "uint16": 1,
    "uint32": 2,
    "int32": 3,
    "uint64": 4,
    "int64": 5,
    "float16": 6,
    "float32": 7,
    "float64": 8,
}
"""``CUtensorMapDataType``."""
_FILLS: Final = {"float16": 0x7FFF, "float32": 0x7FFFFFFF}


class _Map(ctypes.Structure):
    """``FakeTensorMap`` of fake_control.h."""

    _fields_ = (
        ("digest", ctypes.c_uint64),
        ("address", ctypes.c_uint64),
        ("dims", ctypes.c_uint64 * 5),
        ("strides", ctypes.c_uint64 * 4),
        *((name, ctypes.c_uint32) for name in ("rank", "type", "bits", "interleave", "swizzle")),
        ("fill", ctypes.c_uint32),
        ("box", ctypes.c_uint32 * 5),
        ("steps", ctypes.c_uint32 * 5),
        ("lower", ctypes.c_int32 * 3),
        ("upper", ctypes.c_int32 * 3),
        ("im2col", ctypes.c_uint32),
    )


_CALLBACK: Final = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint64)


@dataclass(frozen=True)
class Tensor:
    """A tensor of a few dimensions, the outermost first, with a box of it."""

    values: Any
    box: tuple[int, ...]
    swizzle: int = 0
    fill: int = 0
    steps: tuple[int, ...] = ()

    def boxed(self, at: tuple[int, ...]) -> Any:
        """The elements of the box at these coordinates, the outermost first."""
        steps = self.steps or (1,) * len(self.box)
        counts = [-(-count // step) for count, step in zip(self.box, steps, strict=True)]
        nothing = _FILLS[str(self.values.dtype)] if self.fill else 0
        found = np.full(counts, 0, self.values.dtype)
        found.view(f"uint{8 * found.itemsize}")[...] = nothing
        for index in np.ndindex(*counts):
            place = tuple(a + i * s for a, i, s in zip(at, index, steps, strict=True))
            if all(0 <= p < n for p, n in zip(place, self.values.shape, strict=True)):
                found[index] = self.values[place]
        return found

    def in_shared(self, dense: Any) -> Any:
        """The bytes of a box, where the swizzle puts them."""
        raw = dense.tobytes()
        spans = {0: 0, 1: 32, 2: 64, 3: 128, 4: 128}
        chunk = 32 if self.swizzle == 4 else 16
        chunks = max(spans[self.swizzle] // chunk, 1)
        found = bytearray(len(raw))
        for at in range(0, len(raw), chunk):
            line = at // 128
            factor = line % {1: 2, 2: 4, 3: 8, 4: 4}.get(self.swizzle, 1)
            group, inside = divmod(at // chunk, chunks)
            where = (group * chunks + (inside ^ factor)) * chunk
            found[where : where + chunk] = raw[at : at + chunk]
        return np.frombuffer(bytes(found), "uint8")

    def launch(self, ptx: str, at: tuple[int, ...], shared: Any, grid: int = 1) -> None:
        """Run a kernel of a map, coordinates, and bytes that are those of shared memory."""
        rank, steps = len(self.box), self.steps or (1,) * len(self.box)
        made = _Map(digest=77, address=self.values.ctypes.data, rank=rank, fill=self.fill)
        made.type, made.bits = _KINDS[str(self.values.dtype)], 8 * self.values.itemsize
        made.swizzle = self.swizzle
        for d in range(rank):
            made.dims[d] = self.values.shape[rank - 1 - d]
            made.box[d], made.steps[d] = self.box[rank - 1 - d], steps[rank - 1 - d]
            if d:
                made.strides[d - 1] = self.values.strides[rank - 1 - d]

        def found(digest: int) -> int | None:
            return ctypes.addressof(made) if digest == 77 else None

        find = _CALLBACK(found)
        room = np.zeros(256, "uint8")
        begin = -room.ctypes.data % 64
        map_ = room[begin : begin + 128]
        map_[:4] = np.frombuffer(b"FAKE", "uint8")
        map_[112] = 77
        coordinates = np.array([*at[::-1], 0, 0, 0, 0, 0], "int32")
        run(
            ptx,
            "k",
            [map_, coordinates, shared, self.values],
            Shape((grid, 1, 1), (1, 1, 1), (grid, 1, 1), 4096),
            map=ctypes.cast(find, ctypes.c_void_p).value,
        )


def _kernel(rank: int, body: str) -> str:
    coordinates = "".join(f"ld.global.b32 %c{d}, [%c+{4 * d}]; " for d in range(rank))
    listed = ", ".join(f"%c{d}" for d in range(rank))
    return tested(
        f""".extern .shared .align 1024 .b8 s[];
.visible .entry k(.param .u64 map, .param .u64 c, .param .u64 s0, .param .u64 t) {{
  .reg .b64 %m, %c, %x, %o; .reg .b32 %c<5>, %s, %b, %i, %v; .reg .pred %p; .reg .b16 %h;
  .shared .align 8 .b64 bar;
  ld.param.u64 %m, [map]; ld.param.u64 %c, [c]; ld.param.u64 %x, [s0]; {coordinates}
  mov.u32 %s, s; mov.u32 %b, bar; mbarrier.init.shared.b64 [%b], 1; mov.u32 %i, 0;
  {body.replace("COORDINATES", "{" + listed + "}")}
  ret; }}"""
    )


WAIT: Final = "W: mbarrier.try_wait.parity.shared.b64 %p, [%b], 0; @!%p bra W;"
OUT: Final = """
  OUT: ld.shared.b32 %v, [%s]; st.global.b32 [%x], %v; add.u32 %s, %s, 4; add.u64 %x, %x, 4;
  add.u32 %i, %i, 4; setp.lt.u32 %p, %i, BYTES; @%p bra OUT;"""
IN: Final = """
  IN: ld.global.b32 %v, [%x]; st.shared.b32 [%s], %v; add.u32 %s, %s, 4; add.u64 %x, %x, 4;
  add.u32 %i, %i, 4; setp.lt.u32 %p, %i, BYTES; @%p bra IN; mov.u32 %s, s;"""


def _load(rank: int, words: str = "") -> str:
    opcode = f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.mbarrier::complete_tx::bytes"
    return _kernel(
        rank,
        f"prefetch.tensormap [%m]; cp.async.bulk.prefetch.tensor.{rank}d.L2.global [%m, COORDINATES];"
        "mbarrier.arrive.expect_tx.shared.b64 _, [%b], BYTES;"
        f"{opcode}{words} [%s], [%m, COORDINATES], [%b];" + WAIT + OUT,
    )


def _store(rank: int, how: str = "") -> str:
    kind = f"cp.reduce.async.bulk.tensor.{rank}d" if how else f"cp.async.bulk.tensor.{rank}d"
    opcode = f"{kind}.global.shared::cta{how}.bulk_group"
    return _kernel(
        rank,
        f"{IN} {opcode} [%m, COORDINATES], [%s]; cp.async.bulk.commit_group;"
        "cp.async.bulk.wait_group 0;",
    )


LOADS: Final = {rank: _load(rank) for rank in range(1, 6)}
STORES: Final = {rank: _store(rank) for rank in range(1, 6)}
REDUCTIONS: Final = {
    (rank, name): _store(rank, f".{name}")
    for rank in range(1, 6)
    for name in ("add", "min", "max", "inc", "dec", "and", "or", "xor")
}


def _ordered(shape: tuple[int, ...], dtype: str) -> Any:
    return (np.arange(1, np.prod(shape) + 1) % 2000).astype(dtype).reshape(shape)


TENSORS: Final = {
    "rows": (Tensor(_ordered((20, 40), "float16"), (8, 16)), (3, 8)),
    "swizzle 32": (Tensor(_ordered((20, 40), "float16"), (16, 16), swizzle=1), (3, 8)),
    "swizzle 64": (Tensor(_ordered((20, 64), "float32"), (16, 16), swizzle=2), (1, 16)),
    "swizzle 128": (Tensor(_ordered((20, 64), "float32"), (16, 32), swizzle=3), (1, 16)),
    "swizzle 128 by 32": (Tensor(_ordered((20, 64), "float32"), (16, 32), swizzle=4), (1, 16)),
    "behind the end": (Tensor(_ordered((20, 40), "float32"), (8, 16)), (15, 30)),
    "before the begin": (Tensor(_ordered((20, 40), "float32"), (8, 16), fill=1), (-3, -5)),
    "halves of NaN": (Tensor(_ordered((20, 40), "float16"), (8, 16), fill=1), (-3, 30)),
    "steps": (Tensor(_ordered((20, 40), "int32"), (8, 16), steps=(2, 1)), (1, 4)),
    "one dimension": (Tensor(_ordered((100,), "uint8"), (32,)), (80,)),
    "three dimensions": (Tensor(_ordered((4, 6, 16), "uint16"), (2, 3, 8)), (1, 4, 8)),
    "five dimensions": (
        Tensor(_ordered((2, 3, 2, 3, 8), "uint32"), (2, 2, 1, 2, 4)),
        (0, 1, 1, 0, 4),
    ),
}


def _bytes(tensor: Tensor, ptx: str) -> str:
    dense = tensor.boxed((0,) * len(tensor.box))
    return ptx.replace("BYTES", str(dense.nbytes))


@pytest.mark.parametrize("name", TENSORS)
def test_a_box_is_loaded(name: str) -> None:
    tensor, at = TENSORS[name]
    dense = tensor.boxed(at)
    shared = np.zeros(dense.nbytes, "uint8")
    tensor.launch(_bytes(tensor, LOADS[len(at)]), at, shared)
    assert (shared == tensor.in_shared(dense)).all()


@pytest.mark.parametrize("name", [each for each in TENSORS if each != "steps"])
def test_a_box_is_stored(name: str) -> None:
    tensor, at = TENSORS[name]
    dense = np.full(tensor.boxed(at).shape, 7).astype(tensor.values.dtype)
    dense += np.arange(dense.size).reshape(dense.shape).astype(dense.dtype)
    target = Tensor(tensor.values.copy(), tensor.box, tensor.swizzle)
    expected = tensor.values.copy()
    for index in np.ndindex(*dense.shape):
        place = tuple(a + i for a, i in zip(at, index, strict=True))
        if all(0 <= p < n for p, n in zip(place, expected.shape, strict=True)):
            expected[place] = dense[index]
    target.launch(_bytes(tensor, STORES[len(at)]), at, tensor.in_shared(dense))
    assert (target.values == expected).all()


MEANINGS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "add": lambda a, b: a + b,
    "min": np.minimum,
    "max": np.maximum,
    "inc": lambda a, b: np.where(a >= b, 0, a + 1),
    "dec": lambda a, b: np.where((a == 0) | (a > b), b, a - 1),
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


@pytest.mark.parametrize("name", MEANINGS)
@pytest.mark.parametrize("dtype", ["uint32", "int32", "uint64", "float16", "float32", "float64"])
def test_a_box_is_reduced(name: str, dtype: str) -> None:
    if dtype[0] == "f" and name not in ("add", "min", "max"):
        return
    generator = np.random.default_rng(2)
    values = generator.integers(0, 100, (8, 16)).astype(dtype)
    by = generator.integers(0, 100, (8, 16)).astype(dtype)
    tensor = Tensor(values.copy(), (8, 16))
    tensor.launch(_bytes(tensor, REDUCTIONS[2, name]), (0, 0), tensor.in_shared(by))
    assert (tensor.values == MEANINGS[name](values, by)).all()


MANY: Final = _kernel(
    2,
    """mbarrier.arrive.expect_tx.shared.b64 _, [%b], BYTES; mov.u32 %v, %cluster_ctarank;
    barrier.cluster.arrive; barrier.cluster.wait;
    setp.eq.u32 %p, %v, 0; mov.b16 %h, 3;
    @%p cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%s], [%m, COORDINATES], [%b], %h;"""
    + WAIT
    + "setp.eq.u32 %p, %v, 0; @%p bra END;"
    + OUT
    + "END: barrier.cluster.arrive; barrier.cluster.wait;",
)
for _rank in (1, 3, 4, 5):
    _kernel(
        _rank,
        f"cp.async.bulk.tensor.{_rank}d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%s], [%m, COORDINATES], [%b], %h;",
    )


def test_a_box_goes_to_all_blocks_of_a_cluster() -> None:
    tensor = Tensor(_ordered((20, 40), "float32"), (8, 16), swizzle=2)
    dense = tensor.boxed((1, 2))
    shared = np.zeros(dense.nbytes, "uint8")
    tensor.launch(_bytes(tensor, MANY), (1, 2), shared, 2)
    assert (shared == tensor.in_shared(dense)).all()


def test_what_is_no_map_is_an_error() -> None:
    tensor = Tensor(_ordered((20, 40), "float32"), (8, 16))
    with pytest.raises(KernelFault, match="a tensor map of 2 dimensions in an instruction for 3"):
        tensor.launch(_bytes(tensor, LOADS[3]), (0, 0), np.zeros(512, "uint8"))
    body = LOADS[2].replace("ld.param.u64 %m, [map];", "ld.param.u64 %m, [t];")
    with pytest.raises(KernelFault, match=r"no tensor map|not aligned to 64"):
        tensor.launch(_bytes(tensor, body), (0, 0), np.zeros(512, "uint8"))
