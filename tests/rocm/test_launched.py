"""The images of each compiler, wrapped and launched on the fake HIP library."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffi_builder import BuildError, CompileError, Launch, SpecError, runtime, testing, wrap
from tests.rocm.images.images import image

SAXPY = "saxpy(a: float32, x: Tensor([n], float32), y: Tensor([n], float32)) where n: int32"
AXPY: dict[str, Any] = {"args": ["a", "x", "y", "n"]}
ADD = "add(x: Tensor([n], float32), y: Tensor([n], float32), out: Tensor([n], float32)) where n: int32"
ADD_ARGS = ["x", "y", "out", "n", None, None]
BLOCKS = Launch(grid="ceildiv(n, 256)", block=256)


@dataclass
class Grid:
    """No Launch."""

    size: int


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("opencl-gfx942.hsaco", "gfx942"),
        ("opencl-gfx90a.hsaco", "gfx90a:xnack+"),
        ("hip.hipfb", "gfx1100"),
        ("hip.hipfb", "gfx90a:sramecc+:xnack-"),
    ],
)
def test_saxpy_of_clang(name: str, target: str):
    saxpy = wrap(image(name), SAXPY, launch=BLOCKS, **AXPY)["saxpy"]
    with testing.FakeHip(target) as gpu:

        @gpu.kernel("saxpy", ["float32", "float32*", "float32*", "int32"])
        def emulated(launch: Any, a: float, x: Any, y: Any, n: int) -> None:  # pyright: ignore[reportUnusedFunction]
            y[:n] += a * x[:n]

        x, y = gpu.array(np.arange(300, dtype="float32")), gpu.array(np.ones(300, "float32"))
        saxpy(2.0, x, y)
        np.testing.assert_array_equal(y.numpy(), 2 * np.arange(300) + 1)
    (launch,) = gpu.launches
    assert (launch.grid, launch.block, launch.shared) == ((2, 1, 1), (256, 1, 1), 0)


@pytest.mark.parametrize("name", ["triton-gfx942.hsaco", "triton-gfx1100.hsaco"])
def test_the_code_object_of_triton_alone(name: str):
    threads = 256 if "942" in name else 128
    how = Launch(grid="ceildiv(n, 256)", block=threads)
    add = wrap(image(name), ADD, launch=how, args=ADD_ARGS)["add"]
    with testing.FakeHip(name[7:-6]) as gpu:
        given = [gpu.array(np.zeros(300, "float32")) for _ in range(3)]
        add(*given)
    (launch,) = gpu.launches
    addresses = [struct.pack("<Q", each.address) for each in given]
    assert list(launch.arguments) == [*addresses, struct.pack("<i", 300), bytes(8), bytes(8)]
    assert launch.block == (threads, 1, 1)


@pytest.mark.parametrize(
    ("name", "signature", "options", "error", "words"),
    [
        ("hip.hipfb", "saxpi(n: int32)", {}, SpecError, "No kernel 'saxpi' in the offload bundle for .*say which with function="),
        ("hip.hipfb", "nothing(n: int32)", {}, SpecError, "which has 'saxpy', 'by_value', 'narrow'"),
        ("opencl-gfx942.hsaco", "nothing(n: int32)", {}, BuildError, r"the kernel 'nothing' takes \(\), but"),
        ("opencl-gfx942.hsaco", SAXPY, {"args": ["a", "x", "y"]}, BuildError, "saxpy"),
        ("opencl-gfx942.hsaco", "tile(y: Tensor([n], float32), p: int64, c: int8)", {"launch": Launch(grid=1)}, BuildError, "struct pair"),
        ("opencl-gfx942.hsaco", SAXPY, {"args": ["a", "x", "n", "n"]}, BuildError, "saxpy"),
        ("opencl-gfx942.hsaco", SAXPY.replace("a: float32", "a: int32"), AXPY, BuildError, "#0 f32 at 0, .*#0 a .int32.*#0 differ"),
    ],
)  # fmt: skip
def test_mistakes(name: str, signature: str, options: Any, error: type[Exception], words: str):
    how: dict[str, Any] = {"launch": Launch(grid=1, block=64), **options}
    with pytest.raises(error, match=words):
        wrap(image(name), signature, **how)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("opencl-gfx942.hsaco", "is for AMD GPUs, but this machine is|an AMD code object, whose kernels"),
        ("hip.hipfb", "an offload bundle of clang.*`wrap` launches kernels for AMD GPUs"),
        ("hip.ccob", "an offload bundle of clang"),
    ],
)  # fmt: skip
def test_images_where_code_for_this_machine_is_wanted(name: str, words: str, tmp_path: Path):
    (tmp_path / "kernel.o").write_bytes(image(name))
    for make in (
        lambda: runtime.compile(image(name)),
        lambda: wrap("define void @f() {\n ret void\n}", "f()", link=[tmp_path / "kernel.o"]),
    ):
        with pytest.raises(CompileError, match=words):
            make()
    for launch in (None, Grid(1)):
        with pytest.raises(TypeError, match="launch="):
            wrap(image(name), SAXPY, launch=launch)


def test_a_bundle_that_is_cut_off():
    words = "The offload bundle is truncated or damaged"
    with pytest.raises((SpecError, CompileError), match=words):
        wrap(image("hip.hipfb")[:3000], SAXPY, launch=BLOCKS, **AXPY)
