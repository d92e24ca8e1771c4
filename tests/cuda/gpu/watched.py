"""Cases of launches that can be seen: hooks, waiting, attributes, and globals of libraries."""

from __future__ import annotations

import ctypes
from ctypes import c_void_p as P
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import Launch, cuda, spec, wrap
from tests.cuda.gpu.cases import KEPT, STREAM, Case, N, assert_sum, pair, saxpy
from tests.cuda.gpu.device import Gpu, Skipped
from tests.fakecuda.memory import tensor_at

CASES: Final[dict[str, Case]] = {}

PTX: Final = """
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 factor = 1;
.visible .const .align 4 .u32 table[2];
.visible .entry look(.param .u64 out) {
  .reg .b32 %r<4>;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [out];
  cvta.to.global.u64 %d2, %d1;
  ld.global.u32 %r1, [factor];
  ld.const.u32 %r2, [table+4];
  add.u32 %r3, %r1, %r2;
  st.global.u32 [%d2], %r3;
  ret;
}
"""
"""The kernel adds what the hook has stored."""


def case(function: Case) -> Case:
    """Add it to the cases; nothing is watched after it."""

    def alone(gpu: Gpu) -> None:
        try:
            function(gpu)
        finally:
            cuda.launch_hook(None)
            cuda.load_hook(None)
            cuda.launch_blocking(False)

    CASES[function.__name__] = alone
    return alone


@case
def launch_hooks(gpu: Gpu) -> None:
    """Around each launch; once for one in a capture, and never for what the graph launches."""
    calls: list[Any] = []

    @cuda.launch_hook
    def hook(*given: Any) -> None:  # pyright: ignore[reportUnusedFunction]
        calls.append(given)

    x, y = pair(gpu)
    stream = gpu.stream()
    function = saxpy(gpu, STREAM)["f"]
    function(2.0, x.tensor, y.tensor, stream)
    wanted = ("saxpy", (8, 1, 1), (128, 1, 1), 0, stream.value, 0)
    seen = [(phase, name, tuple(grid), *rest) for phase, name, grid, *rest in calls]
    seen = [(*each[:3], tuple(each[3]), *each[4:]) for each in seen]
    assert seen == [("before", *wanted), ("after", *wanted)]
    with gpu.captured(stream) as graph:
        function(2.0, x.tensor, y.tensor, stream)
    gpu.call("cuGraphLaunch", graph, stream)
    assert len(calls) == 4
    gpu.wait(stream)
    assert_sum(y, 2)


@case
def blocking(gpu: Gpu) -> None:
    """The kernel is done when the call returns; a captured one is not waited for."""
    cuda.launch_blocking(True)
    function = saxpy(gpu, STREAM)["f"]
    for stream in (gpu.stream(), P(0), P(2)):
        x, y = pair(gpu, size=1 << 20)
        function(2.0, x.tensor, y.tensor, stream)
        if not gpu.is_fake:  # which has no cuStreamQuery
            with gpu.current():
                gpu.call("cuStreamQuery", stream)
        assert_sum(y)
    stream, (x, y) = gpu.stream(), pair(gpu)
    with gpu.captured(stream) as graph:
        function(2.0, x.tensor, y.tensor, stream)
    gpu.call("cuGraphLaunch", graph, stream)
    gpu.wait(stream)
    assert_sum(y)


@case
def a_fault_with_blocking(gpu: Gpu) -> None:
    """It is the error of the call whose kernel failed, with what the kernel got."""
    cuda.launch_blocking(True)
    x, y = pair(gpu)
    module, stream = saxpy(gpu, STREAM), gpu.stream()
    nowhere = tensor_at(1 << 20, y.shape, y.dtype)
    with pytest.raises(RuntimeError, match=r"ILLEGAL_ADDRESS.*for kernel 'saxpy'") as caught:
        module["f"](2.0, x.tensor, nowhere, stream)
    assert f"x={x.address:#x}, y=0x100000, n (int32)=1000" in str(caught.value)
    KEPT.append(module)


@case
def attributes_by_name(gpu: Gpu) -> None:
    """Each is taken by the driver; the names of those that are not are the error."""
    with gpu.current():
        event = P(gpu.get("cuEventCreate", 2))  # CU_EVENT_DISABLE_TIMING
    window = {"base_ptr": "x", "num_bytes": N * 4, "hit_ratio": 0.5}
    window |= {"hit_prop": "persisting", "miss_prop": "streaming"}
    asked: dict[str, Any] = {"priority": -1, "preferred_shared_memory_carveout": 50}
    asked["access_policy_window"] = window
    if gpu.capability >= (9, 0):
        asked |= {"mem_sync_domain": "remote", "mem_sync_domain_map": {"default": 0, "remote": 1}}
        asked |= {"cluster_scheduling_policy_preference": "spread"}
        asked |= {"programmatic_event": "event", "launch_completion_event": "event"}
    refused: list[str] = []
    for name, value in asked.items():
        x, y = pair(gpu)
        stream = gpu.stream()
        function = saxpy(gpu, STREAM, spec.DataPointer("event"), attributes={name: value})["f"]
        try:
            function(2.0, x.tensor, y.tensor, stream, event)
        except RuntimeError as error:
            refused.append(str(error))
            continue
        gpu.wait(stream)
        assert_sum(y)
    assert refused == []


@case
def load_hook_and_globals(gpu: Gpu) -> None:
    """Values of a global and of a constant, before the first launch, which is in a capture."""
    if gpu.capability < (8, 0):
        raise Skipped("the kernel is for sm_80 and later")
    out, found = gpu.array(np.zeros(1, "uint32")), dict[str, tuple[int, int]]()

    @cuda.load_hook
    def hook(kernel: str, library: int, device: int) -> None:  # pyright: ignore[reportUnusedFunction]
        assert (kernel, device, found) == ("look", 0, {})
        found["factor"] = cuda.device_global(library, "factor", np.uint32(40))
        found["table"] = cuda.device_global(library, "table", np.array([7, 2], "uint32"))

    signature = "look(out: DataPointer, stream: Stream)"
    module = wrap(PTX, signature, device="cuda", launch=Launch(grid=1, block=1), args=["out"])
    stream = gpu.stream()
    with gpu.captured(stream) as graph:
        module["look"](out.address, stream)
    gpu.call("cuGraphLaunch", graph, stream)
    gpu.wait(stream)
    assert [size for _, size in found.values()] == [4, 8]
    assert read(gpu, found["factor"]) == [40]
    assert read(gpu, found["table"]) == [7, 2]
    if not gpu.is_fake:  # which runs no PTX
        assert out.host.tolist() == [42]
    assert gpu.context == 0


def read(gpu: Gpu, place: tuple[int, int]) -> list[int]:
    """The numbers at an address."""
    host = (ctypes.c_uint32 * (place[1] // 4))()
    with gpu.current():
        gpu.call("cuMemcpyDtoH_v2", host, P(place[0]), ctypes.c_size_t(place[1]))
    return list(host)
