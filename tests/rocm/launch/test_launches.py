"""Launches: sizes, devices, streams, captures, and what is refused."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import SpecError, attach_ffi_func, runtime, spec
from ffi_builder.fakecuda.constants import Result
from ffi_builder.fakehip.build import library
from ffi_builder.fakehip.driver import FakeHipDriver, HipResult
from ffi_builder.providers import CheckStatus
from tests.fakecuda import older
from tests.fakehip.code_objects import CodeKernel, bundle, code_object
from tests.rocm.launch.launching import (
    ADD,
    STREAM,
    N,
    X,
    compiled,
    launched,
    names,
    provider,
    tensor,
)
from tests.runtime.samples import run_child
from tests.support.threads import together
from tests.support.wrapping import attached, new_module

B = spec.Var("b", "int64")
EMPTY = CodeKernel("empty")
GFX950 = code_object(EMPTY, target="gfx950")


def test_a_launch(hip: FakeHipDriver):
    options: dict[str, Any] = {
        "grid": ("ceildiv(n, 2)", 3),
        "block": (8, 2),
        "dynamic_smem_bytes": "n * 8",
    }
    launch = launched(hip, ADD, [X], tensor(hip), args=["x", 1], **options)
    assert (launch.grid, launch.block, launch.shared) == ((2, 3, 1), (8, 2, 1), 32)
    assert (launch.kernel, launch.device, launch.stream, launch.attributes) == ("add", 0, 0, {})


def test_an_empty_grid_loads_nothing(hip: FakeHipDriver):
    compiled(ADD, [X], args=["x", 1], grid=N)["f"](tensor(hip, 0))
    assert hip.calls() == []


def test_a_cooperative_launch(hip: FakeHipDriver):
    launch = launched(hip, EMPTY, [], attributes=["cooperative"])
    assert "hipModuleLaunchCooperativeKernel" in names(hip)
    assert list(launch.attributes) == [2]
    launched(hip, EMPTY, [], attributes={"cooperative": False})
    assert "hipModuleLaunchKernel" in names(hip)


# Devices.


def test_an_image_is_loaded_once_for_each_device(hip: FakeHipDriver):
    f = compiled(ADD, [X], args=["x", 1])["f"]
    for device in (1, 0, 1):
        f(tensor(hip, device=device))
        assert hip.device == 0  # what was current is so again
    assert [launch.device for launch in hip.launches()] == [1, 0, 1]
    assert hip.count("hipModuleLoadData") == 2
    assert hip.count("hipModuleGetFunction") == 2


def test_without_a_tensor_it_is_the_current_device(hip: FakeHipDriver):
    f = compiled(EMPTY, [])["f"]
    hip.set_device(1)
    f()
    assert (hip.launches()[0].device, hip.device) == (1, 1)


def test_the_device_of_the_stream_runs_the_launch(hip: FakeHipDriver):
    f = compiled(ADD, [X, STREAM], args=["x", 1])["f"]
    stream = hip.new_stream(1)
    f(tensor(hip), stream)
    launch = hip.launches()[0]
    assert (launch.device, launch.stream, hip.device) == (1, stream, 0)


@pytest.mark.parametrize("stream", [0, 1, 2])
def test_special_streams_are_of_the_device_of_the_tensor(hip: FakeHipDriver, stream: int):
    f = compiled(ADD, [X], args=["x", 1], stream=stream)["f"]
    f(tensor(hip, device=1))
    assert (hip.launches()[0].device, hip.launches()[0].stream) == (1, stream)


def test_threads_that_come_first_at_the_same_time(hip: FakeHipDriver):
    f = compiled(ADD, [X], args=["x", 1])["f"]
    arrays = [tensor(hip, device=i % 2) for i in range(8)]
    hip.delay("hipModuleLoadData", 2000)
    together(lambda index: f(arrays[index]), 8)
    assert len(hip.launches()) == 8
    assert hip.count("hipModuleLoadData") == 2


def test_preloading_and_releasing(hip: FakeHipDriver):
    module = compiled(ADD, [X], args=["x", 1])
    module["_cuda_preload_f"](1)
    assert names(hip) == [
        "hipInit",
        "hipSetDevice",
        "hipModuleLoadData",
        "hipModuleGetFunction",
        "hipSetDevice",
    ]
    module["f"](tensor(hip, device=1))
    module["f"](tensor(hip))
    assert hip.count("hipModuleLoadData") == 2
    module["_cuda_release_f"]()
    assert hip.count("hipModuleUnload") == 2
    module["f"](tensor(hip))
    assert (hip.count("hipModuleLoadData"), hip.device) == (3, 0)
    with pytest.raises(RuntimeError, match="hipSetDevice failed: hipErrorInvalidDevice"):
        module["_cuda_preload_f"](7)
    with pytest.raises(ValueError, match="expected the number of a device, 0 to 127"):
        module["_cuda_preload_f"](-1)


def test_kernels_of_one_image_share_its_modules(hip: FakeHipDriver):
    image, module = code_object(EMPTY, ADD), new_module()
    for name, kernel, params in (("f", EMPTY, []), ("g", ADD, [X])):
        args = ["x", 1] if params else []
        attach_ffi_func(module, name, params, provider(kernel, image=image, args=args))
    found = runtime.compile(module)
    for device in (0, 1):
        hip.set_device(device)
        found["f"]()
        found["g"](tensor(hip, device=device))
    assert (hip.count("hipModuleLoadData"), hip.count("hipModuleGetFunction")) == (2, 4)
    found["_cuda_release_g"]()
    assert hip.count("hipModuleUnload") == 2
    found["f"]()
    assert hip.count("hipModuleLoadData") == 3


def test_modules_go_with_the_code(hip: FakeHipDriver):
    import gc

    module = compiled(ADD, [X], args=["x", 1])
    module["f"](tensor(hip, device=1))
    del module
    gc.collect()
    assert hip.count("hipModuleUnload") == 1


# Streams and captures.


def test_a_first_launch_while_a_stream_captures(hip: FakeHipDriver):
    stream = hip.new_stream()
    f, x = compiled(ADD, [X, STREAM], args=["x", 1])["f"], tensor(hip)
    hip.begin_capture(stream)
    f(x, stream)
    graph = hip.end_capture(stream)
    assert hip.launches() == []
    hip.launch_graph(graph, stream)
    assert len(hip.launches()) == 1


# What is refused.


def refused(
    hip: FakeHipDriver, kernel: CodeKernel, params: Any, *arguments: Any, **options: Any
) -> str:
    with pytest.raises(RuntimeError) as caught:
        compiled(kernel, params, **options)["f"](*arguments)
    assert not hip.violations()
    return str(caught.value)


LACKS = r"hipErrorNotFound .*; the image has gfx942, and device 0"
REFUSED: list[tuple[str, CodeKernel, int, dict[str, Any], str]] = [
    # kernel, argument, options, and what is said
    # HIP calls it a launch failure, which elsewhere is one of a kernel before it.
    ("more threads than it was compiled for", EMPTY, 512, {"block": B}, r"^hipModuleLaunchKernel failed: hipErrorLaunchFailure \(719: unspecified launch failure\) for kernel 'empty': grid=\(1, 1, 1\), block=\(512, 1, 1\), dynamic_smem_bytes=0, device 0, stream 0x0; the block has 512 threads, at most 256 for this kernel on this device when calling: "),
    ("more LDS than the device has", CodeKernel("k", lds=1024), 64 << 10, {"dynamic_smem_bytes": B}, r"hipErrorInvalidValue \(1.*dynamic_smem_bytes is 65536, at most 64512 for this kernel on this device"),
    ("more blocks than fit at once", EMPTY, 1 << 20, {"grid": B, "attributes": ["cooperative"]}, "^hipModuleLaunchCooperativeKernel failed: hipErrorCooperativeLaunchTooLarge.*; all blocks of a cooperative launch have to fit onto the device at once"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "value", "options", "words"), [e[1:] for e in REFUSED], ids=[e[0] for e in REFUSED]
)
def test_what_the_driver_refuses(
    hip: FakeHipDriver, kernel: CodeKernel, value: int, options: dict[str, Any], words: str
):
    assert re.search(words, refused(hip, kernel, [B], value, args=[], **options))


@pytest.mark.parametrize(
    ("name", "result", "words"),
    [
        ("hipModuleLaunchKernel", Result.LAUNCH_FAILED, "a kernel before it has failed: with FFI_BUILDER_LAUNCH"),
        ("hipModuleGetFunction", Result.NOT_FOUND, LACKS),
        *((name, HipResult.SHARED_OBJECT_INIT_FAILED, rf"{name} failed: hipErrorSharedObjectInitFailed \(303") for name in ("hipModuleLoadData", "hipModuleGetFunction", "hipInit")),
    ],
)  # fmt: skip
def test_a_failure_is_tried_again(hip: FakeHipDriver, name: str, result: Any, words: str):
    f = compiled(EMPTY, [])["f"]
    hip.fail(name, result)
    with pytest.raises(RuntimeError, match=words):
        f()
    f()
    assert len(hip.launches()) == 1


def test_a_status_that_another_provider_checks(hip: FakeHipDriver):
    checked = CheckStatus(provider(EMPTY, block=B, args=[]))
    f = runtime.compile(attached([B], checked))["f"]
    f(1)
    with pytest.raises(RuntimeError, match="719"):
        f(512)
    hip.fail("hipModuleLaunchKernel", Result.OUT_OF_MEMORY)
    with pytest.raises(RuntimeError, match=r"\b2\b"):
        f(1)
    again = runtime.compile(attached([B], checked))["f"]
    hip.fail("hipModuleLoadData", Result.INVALID_IMAGE)
    with pytest.raises(RuntimeError, match="hipModuleLoadData failed: hipErrorInvalidImage"):
        again(1)


def test_an_image_for_another_gpu(hip: FakeHipDriver):
    hip.set_target("gfx90a:sramecc+:xnack-")
    text = refused(hip, EMPTY, [])
    assert "hipModuleLoadData failed: hipErrorNoBinaryForGpu (209" in text
    assert "; the image has gfx942, and device 0 is gfx90a:sramecc+:xnack- when calling" in text
    both = [(target, code_object(EMPTY, target=target)) for target in ("gfx90a", "gfx942")]
    compiled(EMPTY, [], image=bundle(*both))["f"]()


def test_a_setting_that_the_device_has_not(hip: FakeHipDriver):
    hip.set_target("gfx90a:sramecc+:xnack-")
    compiled(EMPTY, [], image=code_object(EMPTY, target="gfx90a", flags=0xC00))["f"]()
    text = refused(hip, EMPTY, [], image=code_object(EMPTY, target="gfx90a", flags=0x300))
    assert "; the image has gfx90a:xnack+, and device 0 is gfx90a:sramecc+:xnack-" in text


BUILT: list[tuple[str, CodeKernel, dict[str, Any], str]] = [
    ("grid", EMPTY, {"grid": 2**31}, "grid.x: expected 0 to 2147483647 but got 2147483648"),
    ("block", EMPTY, {"block": 1025}, "block.x: expected 1 to 1024 but got 1025"),
    ("threads", EMPTY, {"block": (16, 32)}, "block: expected at most 256 threads, the most that the kernel 'empty' was compiled for, but got 16 x 32 = 512"),
    ("required", CodeKernel("k", block=(64, 2, 1)), {"block": 64}, r"block: expected \(64, 2, 1\), which the kernel 'k' was compiled for, but got \(64, 1, 1\)"),
    ("required in an axis", CodeKernel("k", block=(64, 2, 1)), {"block": ("b", 4)}, r"block: expected \(64, 2, 1\), which the kernel 'k' was compiled for, but got \('b', 4, 1\)"),
    ("items", EMPTY, {"grid": 2**24, "block": 256}, r"grid.x \* block.x: expected at most 4294967295, as many threads as a grid has in an axis, but got 16777216 \* 256"),
    ("lds", CodeKernel("k", lds=512), {"dynamic_smem_bytes": 65536}, "dynamic_smem_bytes: expected at most 65024 beside the kernel's 512 of static LDS, as no GPU that runs gfx942 has more LDS for a block, but got 65536"),
    ("attribute", EMPTY, {"attributes": ["programmatic_stream_serialization"]}, "attributes: expected 'cooperative' but got 'programmatic_stream_serialization': launches on AMD's GPUs have no other attribute"),
    ("flag", EMPTY, {"attributes": {"cooperative": 2}}, "attributes: cooperative: expected True or"),
    ("text", EMPTY, {"attributes": "cooperative"}, r"attributes: expected \['cooperative'\] or noth"),
    ("stream", EMPTY, {"stream": 3}, r"0 \(NULL\), 1 \(hipStreamLegacy\) or 2 \(hipStreamPerThread"),
    ("args", EMPTY, {"args": "x"}, r"args= is 'x'; expected a list, such as \['x'\]"),
    ("an image of NVIDIA's", EMPTY, {"image": b".version 8.0"}, "expected an AMD code object or an offload bundle"),
    ("lds of a GPU with more", EMPTY, {"image": GFX950, "dynamic_smem_bytes": (160 << 10) + 1}, "expected at most 163840, as no GPU that runs gfx950"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "options", "words"), [e[1:] for e in BUILT], ids=[e[0] for e in BUILT]
)
def test_what_no_gpu_launches(kernel: CodeKernel, options: dict[str, Any], words: str):
    with pytest.raises(SpecError, match=rf"(RocmLaunchCallProvider: .*|^image: ){words}"):
        provider(kernel, **options)


def test_what_some_gpus_launch():
    assert provider(EMPTY, image=GFX950, dynamic_smem_bytes=160 << 10) is not None


CALLED: list[tuple[str, CodeKernel, dict[str, Any], int, str]] = [
    ("grid", EMPTY, {"grid": B}, -1, "grid.x = b is -1 for kernel 'empty'; expected 0 to 2147483647"),
    ("items", EMPTY, {"grid": B, "block": 256}, 2**24, r"grid.x \* block.x is 4294967296 for kernel 'empty'; expected at most 4294967295"),
    ("required", CodeKernel("k", block=(64, 1, 1)), {"block": B}, 32, "block.x is 32 for kernel 'k'; expected 64, for which it was compiled"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "options", "value", "words"), [e[1:] for e in CALLED], ids=[e[0] for e in CALLED]
)
def test_what_a_call_brings(
    hip: FakeHipDriver, kernel: CodeKernel, options: dict[str, Any], value: int, words: str
):
    f = compiled(kernel, [B], args=[], **options)["f"]
    with pytest.raises(ValueError, match=words):
        f(value)
    assert hip.launches() == []


CHILD = """
from tests.rocm.launch.launching import compiled
from tests.rocm.launch.test_launches import EMPTY
try:
    compiled(EMPTY, [])["f"]()
except RuntimeError as error:
    print(error)
"""


def in_child(**variables: str) -> str:
    done = run_child(CHILD, env={**os.environ, **variables})
    return done.stdout


@pytest.mark.slow
def test_without_hip():
    text = in_child(LD_LIBRARY_PATH="")
    assert text.startswith(
        "libamdhip64.so could not be loaded to launch kernel 'empty': libamdhip64"
    )
    assert "(it comes with ROCm) when calling: `f()`" in text


LOADED = f"""
import ctypes, sys
ctypes.CDLL(sys.argv[1])
{CHILD}
print(ctypes.CDLL(sys.argv[1]).fake_count(b"hipModuleLaunchKernel"))
"""


@pytest.mark.slow
def test_the_library_that_the_process_has(hip: FakeHipDriver, tmp_path: Path):
    """PyTorch has one of its own, elsewhere and with another name; what the loader finds is none."""
    for name in ("libamdhip64.so.7", "libamdhip64.so"):
        (tmp_path / name).write_text("no library\n")
    own = tmp_path / "torch" / "libamdhip64.so"
    own.parent.mkdir()
    shutil.copy(library(), own)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    done = run_child(LOADED, own, env=environment)
    assert done.stdout == "1\n"


@pytest.mark.slow
def test_an_old_hip(hip: FakeHipDriver):
    old = older("hipStreamGetDevice", library())
    text = in_child(LD_LIBRARY_PATH=str(old.parent), FAKE_CUDA_VERSION="50200000")
    assert text.startswith(
        "libamdhip64.so has no hipStreamGetDevice, which launching kernel 'empty' needs: ROCm is of "
        "HIP 5.2; update it to one of HIP 6.0 or later"
    )
