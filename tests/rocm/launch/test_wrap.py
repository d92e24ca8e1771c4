"""Images for AMD GPUs as sources of `wrap`: compiled kernels, launched on the fake."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import Launch, SpecError, cuda, rocm, runtime, spec, testing, wrap
from ffi_builder.cuda.launch import watching
from ffi_builder.fakehip.build import missing
from ffi_builder.providers.cuda import Struct
from tests.fakehip.code_objects import POINTER, CodeKernel, bundle, code_object
from tests.rocm.images.images import image
from tests.support.tritons import tritons_for_amd

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

P = (8, POINTER)
TWICE = CodeKernel("twice", [P, 4])
SIGNATURE = "twice(x: Tensor([n], float32)) where n: int32"
HOW = Launch(grid="ceildiv(n, 256)", block=256)
OPTIONS: dict[str, Any] = {"launch": HOW, "args": ["x", "n"]}


@pytest.fixture
def gpu() -> Iterator[testing.FakeHip]:
    with testing.FakeHip("gfx942", "gfx942") as gpu:

        @gpu.kernel("twice", ["float32*", "int32"])
        def emulated(_: Any, x: Any, n: int) -> None:  # pyright: ignore[reportUnusedFunction]
            x[:n] *= 2

        yield gpu


def ones(gpu: testing.FakeHip, device: int = 0) -> Any:
    return gpu.array(np.ones(3, "float32"), device)


def test_a_code_object(gpu: testing.FakeHip):
    module = wrap(code_object(TWICE), SIGNATURE, **OPTIONS)
    x = gpu.array(np.ones(300, "float32"), device=1)
    module["twice"](x)
    assert x.numpy().sum() == 600
    assert [(each.grid, each.device) for each in gpu.launches] == [((2, 1, 1), 1)]
    assert "compared with the sizes of the image's parameters" in repr(module)
    with pytest.raises(ValueError, match=r"x.*expected rocm"):
        module["twice"](tvm_ffi.from_dlpack(np.ones(3, "float32")))


def test_a_bundle_in_a_file(gpu: testing.FakeHip, tmp_path: Path):
    both = [(target, code_object(TWICE, target=target)) for target in ("gfx90a", "gfx942")]
    path = tmp_path / "kernels.hipfb"
    path.write_bytes(bundle(*both))
    x = gpu.array(np.ones(3, "float32"))
    wrap(path, SIGNATURE, **OPTIONS)["twice"](x)
    assert x.numpy().tolist() == [2, 2, 2]


def test_the_only_block_may_be_left_out(gpu: testing.FakeHip):
    kernel = CodeKernel("twice", [P, 4], block=(64, 1, 1))
    how = Launch(grid="ceildiv(n, 64)")
    wrap(code_object(kernel), SIGNATURE, launch=how, args=["x", "n"])["twice"](ones(gpu))
    assert gpu.launches[0].block == (64, 1, 1)


def test_an_exported_library(gpu: testing.FakeHip, tmp_path: Path):
    wrap(code_object(TWICE), SIGNATURE, **OPTIONS).export_library(tmp_path / "f.so")
    x = gpu.array(np.ones(3, "float32"))
    runtime.load(tmp_path / "f.so")["twice"](x)
    assert x.numpy().tolist() == [2, 2, 2]


def test_workspaces_and_results(gpu: testing.FakeHip):
    """They come from the environment's allocator, and zeros by HIP."""

    @gpu.kernel("k", ["float32*", "float32*", "int32*"])
    def emulated(_: Any, x: Any, y: Any, w: Any) -> None:  # pyright: ignore[reportUnusedFunction]
        y[:3] = x[:3] + w[:3]

    text = (
        "k(x: Tensor([n], float32), w: Workspace([n], int32, zero=True)) "
        "-> y: Tensor([n], float32) where n: int32"
    )
    image = code_object(CodeKernel("k", [P, P, P]))
    f = wrap(image, text, launch=Launch(grid=1, block=64), args=["x", "y", "w"])["k"]
    y = f(gpu.array(np.arange(3, dtype="float32"), device=1))
    assert y.device == tvm_ffi.device("rocm", 1)
    assert gpu.array(y).numpy().tolist() == [0, 1, 2]
    assert [call.name for call in gpu.calls].count("hipMemsetD8Async") == 1


# Triton's kernels. Stand-ins have the attributes of Triton 3.9; the images are its own.


def add(target: str) -> Any:
    types = {"x": "*fp32", "y": "*fp32", "z": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    return tritons_for_amd("add", target, {"hsaco": image(f"triton-{target}.hsaco")}, types)


@pytest.mark.parametrize(("target", "threads"), [("gfx942", 256), ("gfx1100", 128)])
def test_a_kernel_of_triton(target: str, threads: int):
    text = "add(x: Tensor([n], float32), y: Tensor([n], float32), z: Tensor([n], float32))"
    f = wrap(add(target), text, launch=Launch(grid="ceildiv(n, 1024)"))["add"]
    with testing.FakeHip(target) as gpu:
        types = ["float32*"] * 3 + ["int32", "handle", "handle"]

        @gpu.kernel("add", types)
        def emulated(  # pyright: ignore[reportUnusedFunction]
            _: Any, x: Any, y: Any, z: Any, n: int, *scratch: int
        ) -> None:
            assert scratch == (0, 0)
            z[:n] = x[:n] + y[:n]

        x, y, z = (gpu.array(np.full(1500, each, "float32")) for each in (1, 2, 0))
        f(x, y, z)
        assert z.numpy().tolist() == [3] * 1500
        [launch] = gpu.launches
        assert (launch.grid, launch.block) == ((2, 1, 1), (threads, 1, 1))


TENSORS = (
    "(a: Tensor([n], float32), b: Tensor([n], float32), c: Tensor([n], float32)) where n: int32"
)
IREES = "add_dispatch_0_elementwise_D_f32"
OTHERS: list[tuple[str, str, str, Any, list[Any], tuple[int, int, int], bytes]] = [
    # image, target, signature, launch, args, block, the bytes behind the addresses
    (
        "iree-gfx942.hsaco",
        "gfx942",
        IREES + TENSORS,
        Launch("ceildiv(n, 64)"),
        ["a", "b", "c", "n", 0, "n * 2", 7],
        (64, 1, 1),
        struct.pack("<4i", 3, 0, 6, 7),
    ),
    (
        "iree-gfx1100.hsaco",
        "gfx1100",
        IREES + TENSORS,
        Launch("ceildiv(n, 32)"),
        ["a", "b", "c", "n", 0, "n * 2", 7],
        (32, 1, 1),
        struct.pack("<4i", 3, 0, 6, 7),
    ),
    (
        "flydsl-gfx942.hsaco",
        "gfx942",
        "add_kernel_0" + TENSORS,
        Launch("ceildiv(n, 128)"),
        ["a", "n", "b", "n", "c", 1],
        (128, 1, 1),
        struct.pack("<3i", 3, 3, 1),
    ),
    (
        "hip.hipfb",
        "gfx90a:sramecc+:xnack-",
        "by_value(t: int8, v: float64, c: Tensor([n], float64)) where n: int32",
        HOW,
        [Struct("t", "v"), "c"],
        (256, 1, 1),
        struct.pack("<b7xd", -7, 0.5),
    ),
    (
        "hip.ccob",
        "gfx1100",
        "narrow(p: bool, t: int8, s: int16, l: int64, c: Tensor([n], float64)) where n: int32",
        HOW,
        ["p", "t", "s", "l", "c"],
        (256, 1, 1),
        struct.pack("<?bhq", True, -7, -300, -(2**40)),
    ),
]


@pytest.mark.parametrize(
    ("name", "target", "signature", "launch", "args", "block", "content"),
    OTHERS,
    ids=[f"{each[0]} {each[1]}" for each in OTHERS],
)
def test_kernels_of_other_compilers(
    name: str,
    target: str,
    signature: str,
    launch: Launch,
    args: list[Any],
    block: tuple[int, int, int],
    content: bytes,
):
    with testing.FakeHip(target) as gpu:
        given = {"t": -7, "v": 0.5, "p": True, "s": -300, "l": -(2**40)}
        f = wrap(image(name), signature, launch=launch, args=args)
        signed = spec.Signature.parse(signature, device="rocm")
        arrays = {
            each.name: gpu.array(np.zeros(3, each.dtypes[0]))
            for each in signed.params
            if isinstance(each, spec.Tensor)
        }
        f[signed.name](*({**given, **arrays}[each.name] for each in signed.params))
        [found] = gpu.launches
        assert (found.kernel, found.block) == (signed.name, block)
        kinds = [
            each.is_pointer for each in rocm.kernels(image(name))[found.kernel].parameters or ()
        ]
        pointers = [
            data for data, is_pointer in zip(found.arguments, kinds, strict=True) if is_pointer
        ]
        assert [int.from_bytes(each, "little") for each in pointers] == [
            each.address for each in arrays.values()
        ]
        values = [
            data for data, is_pointer in zip(found.arguments, kinds, strict=True) if not is_pointer
        ]
        assert b"".join(values) == content


# Wrong uses.


WRONG: list[tuple[bytes, dict[str, Any], type[Exception], str]] = [
    (code_object(TWICE), {}, TypeError, "wrap: an image for AMD GPUs needs launch=, as in launch="),
    (code_object(TWICE), {"launch": 3}, TypeError, r"expected launch=Launch\(grid=…, block=…\) but"),
    (code_object(TWICE), {"launch": Launch(grid=1)}, TypeError, "launch= needs block=: the image does not say how many threads"),
    (code_object(TWICE), {"launch": Launch(grid=1, block=1, cluster=2)}, SpecError, "RocmLaunchCallProvider: cluster: launches on AMD's GPUs have no clusters; leave it out"),
    (code_object(CodeKernel("other")), OPTIONS, SpecError, "No kernel 'twice' in the code object for gfx942.*; say which with function="),
    (code_object(TWICE)[:200], OPTIONS, SpecError, "code object is (truncated|damaged)"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "options", "kind", "words"), WRONG)
def test_what_is_wrong(source: bytes, options: dict[str, Any], kind: type[Exception], words: str):
    with pytest.raises(kind, match=words):
        wrap(source, SIGNATURE, **options)


# Hooks, and waiting.


@pytest.fixture
def unwatched() -> Iterator[None]:
    """Nothing is watched after a test."""
    yield
    cuda.launch_hook(None)
    cuda.load_hook(None)
    cuda.launch_blocking(False)
    watch = watching._watch()  # pyright: ignore[reportPrivateUsage]
    watch.decided = watch.said = 0


@pytest.mark.usefixtures("unwatched")
def test_hooks_are_called_as_for_cuda(gpu: testing.FakeHip):
    seen: list[Any] = []

    @cuda.launch_hook
    def hook(*given: Any) -> None:  # pyright: ignore[reportUnusedFunction]
        seen.append(given)

    @cuda.load_hook
    def loaded(*given: Any) -> None:  # pyright: ignore[reportUnusedFunction]
        seen.append(given)

    f, stream = wrap(code_object(TWICE), SIGNATURE, **OPTIONS)["twice"], 0
    for device in (1, 1, 0):
        f(ones(gpu, device))
    modules = [each[1] for each in seen if each[0] == "twice"]
    assert len(set(modules)) == 2
    rest = ("twice", (1, 1, 1), (256, 1, 1), 0, stream)
    around = [[("before", *rest, device), ("after", *rest, device)] for device in (1, 0)]
    loads = [("twice", module, device) for module, device in zip(modules, (1, 0), strict=True)]
    assert seen == [loads[0], *around[0], *around[0], loads[1], *around[1]]


@pytest.mark.usefixtures("unwatched")
def test_waiting_says_what_the_kernel_got(gpu: testing.FakeHip):
    f = wrap(code_object(TWICE), SIGNATURE, **OPTIONS)["twice"]
    cuda.launch_blocking(True)
    f(ones(gpu))
    names = [call.name for call in gpu.calls]
    at = names.index("hipModuleLaunchKernel")
    assert names[at - 3 : at + 3].count("hipStreamSynchronize") >= 1
    gpu._inside.driver.fail("hipStreamSynchronize", 700, 2)  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(RuntimeError) as caught:
        f(ones(gpu))
    assert re.match(
        r"hipStreamSynchronize failed: hipErrorIllegalAddress \(700: .*\) for kernel 'twice': "
        r"grid=.*; the kernel got x=0x[0-9a-f]+, n=3 when",
        str(caught.value).replace(" (int32)", ""),
    )
