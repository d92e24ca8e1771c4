"""Tensor maps that a kernel makes, or changes: they move what their fields say."""

from __future__ import annotations

from typing import Any, Final

import numpy
import pytest

from ffi_builder.ptx.errors import KernelFault
from ffi_builder.ptx.machine import Shape
from tests.ptx.running import run, tested
from tests.ptx.test_tensor import OUT, WAIT, Tensor

np: Any = numpy  # its stubs leave open what views are

_TYPES: Final = {
    **dict(zip(("u8", "u16", "u32", "s32", "u64", "s64"), range(6), strict=True)),
    **dict(
        zip(("f16", "f32", "f32.ftz", "f64", "bf16", "tf32", "tf32.ftz"), range(6, 13), strict=True)
    ),
}
"""The numbers of types in PTX, which are others than the driver's."""
_NANS: Final = {2: 0x7FFF, 4: 0x7FFFFFFF, 8: 0x7FFFFFFFFFFFFFFF}


def replaced(name: str, value: str, *at: int, space: str = ".shared::cta", map_: str = "%m") -> str:
    """Return an instruction that changes a field."""
    bits = 64 if name in ("global_address", "global_stride") else 32
    element = "".join(f"{each}, " for each in at)
    return f"tensormap.replace.tile.{name}{space}.b1024.b{bits} [{map_}], {element}{value};\n"


def made(fields: str) -> str:
    """Return a kernel that makes a map of zeros, and loads a box of 8 rows and 16 columns by it."""
    zeros = "".join(f"st.shared.b64 [%m+{at}], 0; " for at in range(0, 128, 8))
    return tested(
        f"""
.visible .entry k(.param .u64 room, .param .u64 t, .param .u64 s0, .param .u64 c) {{
.shared .align 1024 .b8 s[4096]; .shared .align 128 .b8 map[128]; .shared .align 8 .b64 bar;
.reg .b64 %g, %x, %t, %c, %m64; .reg .b32 %s, %b, %i, %v, %m, %w, %c0, %c1; .reg .pred %p;
mov.u32 %s, s; mov.u32 %b, bar; mov.u32 %m, map; mov.u32 %w, %tid.x; mov.u32 %i, 0;
ld.param.u64 %g, [room]; ld.param.u64 %t, [t]; ld.param.u64 %x, [s0]; ld.param.u64 %c, [c];
ld.global.b32 %c0, [%c]; ld.global.b32 %c1, [%c+4];
setp.ne.u32 %p, %w, 0;
@%p bra COPY;
mbarrier.init.shared.b64 [%b], 1;
{zeros}
{fields}
COPY: bar.warp.sync 0xffffffff;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%g], [%m], 128;
@%p bra DONE;
fence.proxy.tensormap::generic.acquire.gpu [%g], 128;
mbarrier.arrive.expect_tx.shared.b64 _, [%b], BYTES;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%g, {{%c0, %c1}}], [%b];
{WAIT}
{OUT}
DONE: ret; }}
"""
    )


def _fields(kind: str, size: int, swizzle: int = 0) -> str:
    return (
        replaced("global_address", "%t")
        + replaced("rank", "1")
        + "".join(replaced("box_dim", value, at) for at, value in enumerate(("16", "8")))
        + "".join(replaced("global_dim", value, at) for at, value in enumerate(("40", "20")))
        + replaced("global_stride", str(40 * size), 0)
        + "".join(replaced("element_stride", "1", at) for at in (0, 1))
        + replaced("elemtype", str(_TYPES[kind]))
        + replaced("interleave_layout", "0")
        + replaced("swizzle_mode", str(swizzle))
        + replaced("swizzle_atomicity", "0")
        + replaced("fill_mode", "1" if "f" in kind else "0")
    )


CASES: Final = {
    kind: made(_fields(kind, size)).replace("BYTES", str(128 * size))
    for kind, size in (
        *(("u8", 1), ("u16", 2), ("s32", 4), ("u64", 8), ("f16", 2), ("bf16", 2)),
        *(("f32", 4), ("f32.ftz", 4), ("tf32", 4), ("tf32.ftz", 4), ("f64", 8)),
    )
}


def _room() -> Any:
    """Return 128 bytes that are aligned to them."""
    room = np.zeros(256, "uint8")
    begin = -room.ctypes.data % 128
    return room[begin : begin + 128]


def _launch(ptx: str, tensor: Any, found: Any, at: tuple[int, int], room: Any = None) -> None:
    coordinates = np.array([at[1], at[0]], "int32")
    run(
        ptx,
        "k",
        [_room() if room is None else room, tensor, found, coordinates],
        Shape(block=(32, 1, 1)),
    )


@pytest.mark.parametrize("kind", CASES)
def test_a_map_of_zeros_becomes_one(kind: str) -> None:
    size = {"8": 1, "16": 2, "32": 4, "64": 8}[kind.partition(".")[0].lstrip("usbtf")]
    tensor = np.arange(1, 801).astype(f"uint{8 * size}").reshape(20, 40)
    found = np.zeros((8, 16), tensor.dtype)

    _launch(CASES[kind], tensor, found, (15, 30))

    expected = np.full_like(found, _NANS[size] if "f" in kind else 0)
    expected[:5, :10] = tensor[15:, 30:]
    np.testing.assert_array_equal(found, expected)


def test_a_swizzle() -> None:
    tensor = Tensor(np.arange(800, dtype="float32").reshape(20, 40), (8, 16), swizzle=2)
    found = np.zeros(512, "uint8")

    _launch(
        made(_fields("f32", 4, swizzle=2)).replace("BYTES", "512"), tensor.values, found, (3, 8)
    )

    np.testing.assert_array_equal(found, tensor.in_shared(tensor.boxed((3, 8))))


CHANGED: Final = tested(
    """
.visible .entry k(.param .u64 map, .param .u64 c, .param .u64 s0, .param .u64 t) {
.shared .align 1024 .b8 s[4096]; .shared .align 8 .b64 bar;
.reg .b64 %g, %x, %t; .reg .b32 %s, %b, %i, %v; .reg .pred %p;
mov.u32 %s, s; mov.u32 %b, bar; mov.u32 %i, 0; mbarrier.init.shared.b64 [%b], 1;
ld.param.u64 %g, [map]; ld.param.u64 %t, [t]; ld.param.u64 %x, [s0]; add.u64 %t, %t, 160;
"""
    + replaced("global_address", "%t", space=".global", map_="%g")
    + replaced("global_dim", "20", 0, space=".global", map_="%g")
    + """
fence.proxy.tensormap::generic.acquire.gpu [%g], 128;
mbarrier.arrive.expect_tx.shared.b64 _, [%b], 512;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%g, {8, 3}], [%b];
"""
    + WAIT
    + OUT.replace("BYTES", "512")
    + "ret; }"
)


def test_a_map_of_the_host_is_changed() -> None:
    """It begins a row later, and ends before column 20."""
    tensor = Tensor(np.arange(800, dtype="float32").reshape(20, 40), (8, 16))
    found = np.zeros(512, "uint8")

    tensor.launch(CHANGED, (3, 8), found)

    expected = tensor.boxed((4, 8))
    expected[:, 12:] = 0
    np.testing.assert_array_equal(found, expected.view("uint8").reshape(-1))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (replaced("rank", "5"), "element 0 and value 5"),
        (replaced("box_dim", "16", 5), "element 5 and value 16"),
        (replaced("box_dim", "257", 0), "element 0 and value 257"),
        (replaced("elemtype", "13"), "element 0 and value 13"),
        ("st.shared.b32 [%m], 7;" + replaced("rank", "1"), "neither a tensor map nor zeros"),
    ],
)
def test_what_no_map_has_is_a_fault(fields: str, words: str) -> None:
    with pytest.raises(KernelFault, match=words):
        _launch(made(fields).replace("BYTES", "512"), np.zeros(800), np.zeros(512, "uint8"), (0, 0))
