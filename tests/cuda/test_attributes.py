"""Attributes of launches by name: their bytes, their ranges, and what does not go together."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import pytest

from ffi_builder import BuildError, SpecError, spec
from tests.cuda.launching import N, X, launched, provider, wrap
from tests.fakecuda import DeviceArray, FakeDriver, KernelImage, LaunchAttribute, Result
from tests.fakecuda.kernels import EMPTY

EVENT, HANDLE = spec.DataPointer("event"), spec.Var("h", "handle")
DISABLE_TIMING = 2
"""``CU_EVENT_DISABLE_TIMING``."""
WINDOW = {
    "base_ptr": "x",
    "num_bytes": N * 4,
    "hit_ratio": 0.5,
    "hit_prop": "persisting",
    "miss_prop": "streaming",
}


def new_event(driver: FakeDriver, flags: int = DISABLE_TIMING) -> int:
    with driver.current():
        return driver.get("cuEventCreate", flags)


def packed(layout: str, *values: Any) -> bytes:
    return struct.pack(f"<{layout}", *values).ljust(64, b"\0")


KNOWN: list[tuple[str, Any, bytes]] = [
    ("cooperative", True, packed("i", 1)),
    ("programmatic_stream_serialization", True, packed("i", 1)),
    ("nvlink_util_centric_scheduling", True, packed("I", 1)),
    ("cluster_scheduling_policy_preference", "load_balancing", packed("i", 2)),
    ("priority", -3, packed("i", -3)),
    ("priority", "n - 10", packed("i", -7)),
    ("mem_sync_domain", "remote", packed("i", 1)),
    ("mem_sync_domain_map", {"default": 2, "remote": 3}, packed("BB", 2, 3)),
    ("preferred_cluster_dimension", (4, 2), packed("3I", 4, 2, 1)),
    ("preferred_cluster_dimension", "n + 1", packed("3I", 4, 1, 1)),
    ("preferred_shared_memory_carveout", 100, packed("I", 100)),
    ("portable_cluster_size_mode", "require_portable", packed("i", 1)),
    ("shared_memory_mode", "prefer_oversized_shared_memory", packed("i", 4)),
]


@pytest.mark.parametrize(("name", "value", "data"), KNOWN)
def test_the_bytes_of_a_value(driver: FakeDriver, name: str, value: Any, data: bytes):
    sizes: dict[str, Any] = {"grid": (8, 2), "cluster": (2, 1), "args": []}
    launch = launched(driver, EMPTY, [N], 3, attributes={name: value}, **sizes)
    assert launch.attributes[LaunchAttribute[name.upper()]] == data


def test_an_access_policy_window(driver: FakeDriver):
    tensor = DeviceArray(driver, (300,), "float32", 0).tensor()
    options: dict[str, Any] = {"attributes": {"access_policy_window": WINDOW}}
    launch = launched(driver, KernelImage("k", (8,)), [X], tensor, args=["x"], **options)
    [data] = launch.attributes.values()
    assert data == packed("QQfii", tensor.data_ptr(), 1200, 0.5, 2, 1)


@pytest.mark.parametrize("event", [EVENT, HANDLE], ids=lambda event: event.name)
def test_events(driver: FakeDriver, event: Any):
    handle, name = new_event(driver), event.name
    attributes = {
        "programmatic_event": {"event": name, "trigger_at_block_start": True},
        "launch_completion_event": name,
    }
    f = wrap(EMPTY, [event], args=[], attributes=attributes)
    f(ctypes.c_void_p(handle))
    [launch] = driver.launches()
    assert dict(launch.attributes) == {
        LaunchAttribute.PROGRAMMATIC_EVENT: packed("Qii", handle, 0, 1),
        LaunchAttribute.LAUNCH_COMPLETION_EVENT: packed("Qi", handle, 0),
    }
    with pytest.raises(ValueError, match=r"launch_completion_event.* is NULL; expected a CUevent"):
        wrap(EMPTY, [event], args=[], attributes={"launch_completion_event": event})(None)
    timing = new_event(driver, 0)
    with pytest.raises(RuntimeError, match=r"INVALID_VALUE.*, programmatic_event, launch_comp"):
        f(ctypes.c_void_p(timing))


def test_a_flag_that_is_false_is_left_out(driver: FakeDriver):
    launch = launched(driver, EMPTY, [], attributes={"cooperative": False})
    assert not launch.attributes


def test_values_are_in_errors_of_the_driver(driver: FakeDriver):
    attributes = {"priority": -1, "preferred_cluster_dimension": 4, "mem_sync_domain": "remote"}
    f = wrap(EMPTY, [], grid=4, cluster=2, attributes=attributes)
    driver.fail("cuLaunchKernelEx", Result.NOT_SUPPORTED)
    words = (
        r"cluster=\(2, 1, 1\), priority=-1, mem_sync_domain, "
        r"preferred_cluster_dimension=\(4, 1, 1\), dyn"
    )
    with pytest.raises(RuntimeError, match=words):
        f()


REFUSED: list[tuple[Any, str]] = [
    ({"pdl": True}, "expected cooperative, programmatic_stream_serialization, access_policy_"),
    ({"priorty": 1}, "did you mean 'priority'"),
    (["priority"], "priority: expected a value: attributes={'priority': …}"),
    ({"cluster_dimension": 2}, "cluster_dimension: say it with cluster="),
    ({"synchronization_policy": 1}, "it is an attribute of streams"),
    ({"device_updatable_kernel_node": 1}, "the driver returns a handle for it"),
    ({"cooperative": 1}, "cooperative: expected True or False but got 1"),
    ({"priority": 2**31}, "priority: expected -2147483648 to 2147483647 but got 2147483648"),
    ({"priority": 1.5}, "priority: expected an int or an expression of Vars but got 1.5"),
    ({"mem_sync_domain": 1}, "mem_sync_domain: expected 'default' or 'remote' but got 1"),
    ({"mem_sync_domain_map": (0, 1)}, "expected a dict of default, remote but got (0, 1)"),
    ({"mem_sync_domain_map": {"default": 0, "remote": 256}}, "remote: expected an int from 0 to"),
    ({"preferred_shared_memory_carveout": 101}, "expected 0 to 100 but got 101"),
    ({"access_policy_window": {**WINDOW, "hit_ratio": 2}}, "hit_ratio: expected a number from 0"),
    ({"access_policy_window": {**WINDOW, "miss_prop": "persisting"}}, "miss_prop: expected 'normal' or 'streaming' but got 'persisting'"),
    ({"access_policy_window": {"base_ptr": "x"}}, "expected a dict of base_ptr, num_bytes, hit_ra"),
    ({"programmatic_event": {"flags": 1}}, "a dict of event, trigger_at_block_start (may be left"),
    ({"launch_completion_event": 7}, "expected a parameter or its name but got 7"),
    ({"preferred_cluster_dimension": 4}, "expected cluster= as well"),
]  # fmt: skip


@pytest.mark.parametrize(("attributes", "words"), REFUSED, ids=lambda value: str(value)[:50])
def test_what_is_refused_when_the_provider_is_made(attributes: Any, words: str):
    with pytest.raises(SpecError) as caught:
        provider(EMPTY, attributes=attributes)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"cluster": 2, "preferred": 3, "grid": 6}, "expected a multiple of cluster.x, 2, but got 3"),
        ({"cluster": 2, "preferred": 4, "grid": 6}, "grid.x: expected a multiple of the preferred"),
        ({"cluster": (1, 1, 2), "preferred": (1, 1, 4), "grid": (1, 1, 4)}, "preferred_cluster_dimension.z: expected cluster.z, 2, but got 4"),
    ],
)  # fmt: skip
def test_a_preferred_cluster_fits_the_others(sizes: dict[str, Any], words: str):
    attributes = {"preferred_cluster_dimension": sizes.pop("preferred")}
    with pytest.raises(SpecError) as caught:
        provider(EMPTY, attributes=attributes, **sizes)
    assert words in str(caught.value)


def test_a_preferred_cluster_that_is_computed_fits_the_others(driver: FakeDriver):
    attributes = {"preferred_cluster_dimension": N}
    f = wrap(EMPTY, [N], args=[], grid=12, cluster=2, attributes=attributes)
    f(4)
    with pytest.raises(ValueError, match=r"dimension\.x is 3 for .* a multiple of cluster\.x, 2"):
        f(3)
    with pytest.raises(ValueError, match=r"grid\.x is 12 for kernel .* multiple of .*\.x, 8"):
        f(8)


def test_a_preferred_cluster_that_is_computed_has_the_same_depth(driver: FakeDriver):
    attributes = {"preferred_cluster_dimension": (1, 1, N)}
    f = wrap(EMPTY, [N], args=[], grid=(1, 1, 8), cluster=(1, 1, 2), attributes=attributes)
    f(2)
    words = r"dimension\.z is 4 for kernel .*; expected cluster\.z, 2"
    with pytest.raises(ValueError, match=words):
        f(4)


def test_a_cluster_that_has_to_be_portable_is():
    attributes = {"portable_cluster_size_mode": "require_portable"}
    with pytest.raises(SpecError, match="at most 8 blocks in a cluster for 'require_portable'"):
        provider(EMPTY, cluster=16, grid=16, attributes=attributes)


def test_an_event_says_its_type():
    wrong = {"launch_completion_event": "x"}
    words = "launch_completion_event: expected a CUevent, as a DataPointer or a Var of dtype handle"
    with pytest.raises(BuildError, match=words):
        wrap(KernelImage("k", (8,)), [X], attributes=wrong)
    window = {**WINDOW, "base_ptr": "n", "num_bytes": 4}
    with pytest.raises(BuildError, match="base_ptr: expected a Tensor, a DataPointer or a Var"):
        wrap(EMPTY, [N], args=[], attributes={"access_policy_window": window})


def test_ranges_at_call_time(driver: FakeDriver):
    f = wrap(EMPTY, [N], args=[], attributes={"preferred_shared_memory_carveout": N})
    f(100)
    with pytest.raises(ValueError, match=r"carveout = n is 101 for kernel .*; expected 0 to 100"):
        f(101)
