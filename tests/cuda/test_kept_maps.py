"""Maps that a call site keeps: by threads, devices, variants, workspaces and captured graphs."""

from __future__ import annotations

import ctypes
import struct
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from tvm_ffi.libinfo import find_libtvm_ffi, include_paths

from ffi_builder import runtime, spec, support
from ffi_builder.cuda import support as cuda_support
from ffi_builder.fakecuda import build
from ffi_builder.providers import Variant, VariantsCallProvider
from ffi_builder.providers.cuda import TensorMap, capability
from tests.cuda.asking import MAP, TILED, K, M, X, asked, ints, tensor
from tests.cuda.launching import STREAM, provider, wrap
from tests.fakecuda import (
    NON_BLOCKING,
    DeviceArray,
    DeviceAttribute,
    FakeDriver,
    KernelImage,
    make_cubin,
)
from tests.fakecuda.memory import tensor_at
from tests.support.threads import together
from tests.support.wrapping import attached

P = ctypes.c_void_p
PITCHED: Final = tensor(M, K, strides=[spec.Var("pitch", "int64"), 1])


def test_the_last_maps_are_kept_by_address_sizes_and_strides(driver: FakeDriver):
    function = wrap(MAP, [PITCHED], args=[TensorMap("x", box=(64, 64))])

    def call(*shape: int, pitch: int = 64, address: int = 1 << 20) -> tuple[int, bytes]:
        before = driver.count(TILED)
        function(tensor_at(address, shape, "float16", strides=(pitch, 1)))
        return driver.count(TILED) - before, driver.launches()[-1].arguments[0]

    first = call(8, 64)
    assert first[0] == 1
    assert call(8, 64) == (0, first[1])
    others = [call(9, 64), call(8, 56), call(8, 64, pitch=72), call(8, 64, address=1 << 21)]
    assert [made for made, _ in others] == [1] * 4
    assert len({first[1], *(found for _, found in others)}) == 5
    assert call(8, 64) == (0, first[1])
    assert [call(16 + i, 64)[0] for i in range(8)] == [1] * 8
    assert [call(16 + i, 64)[0] for i in range(8)] == [0] * 8
    assert call(8, 64) == (1, first[1])


def test_threads_get_the_maps_of_their_tensors(driver: FakeDriver):
    """Each of 8 threads launches with 12 tensors in turn: more than a call site keeps."""
    function = wrap(KernelImage("k", (128, 8)), [X], args=[TensorMap("x", box=(64, 64)), "x"])
    tensors = [tensor_at((i + 1) << 20, (i + 1, 64 * (i + 1)), "float16") for i in range(12)]

    def work(index: int) -> None:
        for turn in range(240):
            function(tensors[(index + turn) * (1 + index % 2) % 12])

    together(work, 8)
    launches = driver.launches()
    assert len(launches) == 8 * 240
    for launch in launches:
        _, address, rank, _, inner, outer = struct.unpack_from("<8s5Q", launch.arguments[0])
        assert struct.pack("<Q", address) == launch.arguments[1]
        number = address >> 20
        assert (rank, inner, outer) == (2, 64 * number, number)


@pytest.mark.parametrize("sanitizer", ["", "-fsanitize=thread"])
def test_slots_under_contention(tmp_path: Path, sanitizer: str):
    """Eight threads in C get no other map than theirs, and the sanitizer sees no race."""
    target, bundle = tmp_path / "slots", Path(cuda_support.__file__).parent
    core = Path(support.__file__).parent
    includes = [f"-I{bundle}", f"-I{core}", *(f"-isystem{path}" for path in include_paths())]
    tvm_ffi = find_libtvm_ffi()
    linked = [tvm_ffi, f"-Wl,-rpath,{Path(tvm_ffi).parent}", "-ldl", "-lpthread"]
    flags = ["-std=gnu11", "-O2", "-w", *([sanitizer] if sanitizer else [])]
    source = str(Path(__file__).with_name("map_slots.c"))
    command = [*build.CC, *flags, *includes, source, *linked, "-o", str(target)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("no C compiler, or one without this sanitizer")
    done = subprocess.run([target], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_maps_of_several_tensors_and_workspaces(driver: FakeDriver, allocator: Any):
    w = spec.Workspace("w", [M, 64], "float32", device_type="cuda")
    args = [TensorMap(name, box=(8, 32)) for name in ("x", "w")]
    function = wrap(KernelImage("k", (128, 128)), [X, w], args=args)
    function(tensor_at(1 << 20, (8, 64), "float16"))
    first, second = asked(driver)
    assert [ints(got["strides"]) for got in (first, second)] == [[128], [256]]
    assert [got["type"] for got in (first, second)] == [6, 7]


def test_variants_and_devices(driver: FakeDriver):
    for device, major in ((0, 9), (1, 10)):
        driver.set_attribute(DeviceAttribute.COMPUTE_CAPABILITY_MAJOR, major, device)
        driver.set_attribute(DeviceAttribute.COMPUTE_CAPABILITY_MINOR, 0, device)

    def launch(sm: int, box: int) -> Any:
        image = make_cubin([MAP], sm=sm)
        return provider(MAP, image=image, args=[TensorMap("x", box=(box, 64))])

    variants = VariantsCallProvider(
        [
            Variant(launch(90, 16), when=capability() < (10, 0)),
            Variant(launch(100, 32), when=capability() >= (10, 0)),
        ]
    )
    function = runtime.compile(attached([X], variants))["f"]
    for device in (0, 1, 0, 1):
        function(DeviceArray(driver, (8, 64), "float16", device).tensor())
    assert [ints(got["box"]) for got in asked(driver)] == [[64, 16], [64, 32]] * 2
    assert [each.device for each in driver.launches()] == [0, 1, 0, 1]


def test_a_captured_graph_keeps_its_map(driver: FakeDriver):
    function = wrap(MAP, [X, STREAM], args=[TensorMap("x", box=(64, 64))])
    stream = driver.new_stream(flags=NON_BLOCKING)
    driver.begin_capture(stream)
    function(tensor_at(1 << 20, (8, 64), "float16"), P(stream))
    graph = driver.end_capture(stream)
    for i in range(9):  # which puts the map out of its slot
        function(tensor_at(1 << 21, (9 + i, 64), "float16"), P(stream))
    driver.launch_graph(graph, stream)
    launches = [each for each in driver.launches() if not each.captured]
    assert launches[-1].arguments[0][8:16] == struct.pack("<Q", 1 << 20)


def test_no_context_is_needed_and_none_is_left(driver: FakeDriver):
    driver.init()
    function = wrap(MAP, [X, STREAM], args=[TensorMap("x", box=(64, 64))])
    stream = driver.new_stream(device=1, flags=NON_BLOCKING)
    before = driver.stack()
    function(tensor_at(1 << 20, (8, 64), "float16", 1), P(stream))
    assert (driver.stack(), len(driver.launches())) == (before, 1)
