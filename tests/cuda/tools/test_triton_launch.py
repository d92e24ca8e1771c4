"""Launches of Triton's kernels, with stand-ins that have the attributes of Triton 3.9.

test_triton.py does the same with Triton itself.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, Launch, SpecError, wrap
from tests.fakecuda import Call, FakeDriver, device_array
from tests.fakecuda import Launch as Launched
from tests.fakecuda.allocating import Allocator

PTX: Final = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n, .param .u64 global, .param .u64 profile) { ret; }
"""
METADATA: Final[dict[str, Any]] = {
    "name": "k",
    "num_warps": 4,
    "num_ctas": 1,
    "shared": 0,
    "global_scratch_size": 0,
    "global_scratch_align": 1,
    "profile_scratch_size": 0,
    "profile_scratch_align": 1,
}
TEXT: Final = "k(x: Tensor([n], float32)) where n: int32"


def compiled(promises: Any = (), **changed: Any) -> Any:
    """What ``triton.compile`` returns, with changed metadata."""
    return SimpleNamespace(
        asm={"cubin": PTX},
        metadata=SimpleNamespace(**METADATA | changed),
        src=SimpleNamespace(
            name="k", signature={"x": "*fp32", "n": "i32"}, attrs=dict(promises), fn=None
        ),
    )


PROFILED: Final = {"profile_scratch_size": 64, "profile_scratch_align": 64}
GLOBAL: Final = {"global_scratch_size": 128, "global_scratch_align": 128}


def test_scratch_memory_for_profiles_is_zero(driver: FakeDriver, allocator: Allocator):
    launch = Launch(grid="ceildiv(n, 4)")
    function = wrap(compiled(**GLOBAL, **PROFILED), TEXT, device="cuda", launch=launch)["k"]
    x = device_array(driver, np.zeros(10, "float32"))
    function(x.tensor())
    (own, profile), (launched,) = allocator.arrays, driver.launches()
    assert launched.values(["handle", "int32", "handle", "handle"]) == [
        *(x.address, 10),
        *(own.address, profile.address),
    ]
    assert (own.shape, profile.shape) == ((3, 128), (3, 64))
    events = [
        each.name if isinstance(each, Call) else "launch"
        for each in driver.log()
        if isinstance(each, Launched) or (isinstance(each, Call) and "Memset" in each.name)
    ]
    assert events == ["cuMemsetD8Async", "launch"]
    assert not profile.host.any()
    assert own.host.all()
    assert allocator.alive == {}


def test_an_allocator_that_aligns_to_less(driver: FakeDriver, allocator: Allocator):
    metadata = {"global_scratch_size": 8, "global_scratch_align": 1 << 40}
    function = wrap(compiled(**metadata), TEXT, device="cuda", launch=Launch(grid=1))["k"]
    x = device_array(driver, np.zeros(10, "float32")).tensor()
    with pytest.raises(
        RuntimeError, match=r"workspace global_scratch is .* behind a multiple of 1099511627776"
    ):
        function(x)
    assert driver.launches() == []


@pytest.mark.parametrize(
    ("text", "launch", "error", "words"),
    [
        (
            "k(x: Tensor([n], float32), s: Stream) where n: int32",
            Launch(grid="n"),
            SpecError,
            "wrap: Triton's kernel 'k' needs scratch memory. Signature 'k': Workspace "
            "'global_scratch' is released for the framework's current stream, and Stream 's' may "
            "be another one; use an EnvStream",
        ),
        (TEXT, Launch(grid="n", stream=0), BuildError, "as Workspace 'global_scratch' is released"),
        (TEXT, Launch(grid="m"), BuildError, "wrap: launch=: grid: there is no symbol 'm', but n"),
        (TEXT, Launch(grid=-1), SpecError, "grid.x: expected 0 to 2147483647 but got -1"),
    ],
)
def test_no_workspace(text: str, launch: Launch, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        wrap(compiled(**GLOBAL), text, device="cuda", launch=launch)
    assert words in str(raised.value)


def test_a_name_that_is_taken(driver: FakeDriver, allocator: Allocator):
    text = "k(global_scratch: Tensor([profile_scratch], float32)) where profile_scratch: int32"
    args, launch = ["global_scratch", "profile_scratch"], Launch(grid=1)
    made = wrap(compiled(**GLOBAL, **PROFILED), text, device="cuda", launch=launch, args=args)
    x = device_array(driver, np.zeros(10, "float32"))
    made["k"](x.tensor())
    (launched,) = driver.launches()
    assert launched.values(["handle", "int32", "handle", "handle"]) == [
        *(x.address, 10),
        *(array.address for array in allocator.arrays),
    ]


@pytest.mark.parametrize("args", [None, ["x", "n"], ["x.data", "n"]])
def test_a_tensor_of_any_rank_is_its_data(driver: FakeDriver, args: Any):
    source = compiled({(0,): [["tt.divisibility", 16]]})
    text = "k(x: Tensor(..., float32, strides=any), n: int32)"
    function = wrap(source, text, device="cuda", launch=Launch(grid=1), args=args)["k"]
    x = device_array(driver, np.zeros((4, 4), "float32"))
    function(x.tensor(), 3)
    (launched,) = driver.launches()
    assert launched.values(["handle", "int32", "handle", "handle"]) == [x.address, 3, 0, 0]
    with pytest.raises(ValueError, match=r"x\.data"):
        function(x.tensor(byte_offset=4), 3)


@pytest.mark.parametrize(("alignment", "conditions"), [(32, 0), (16, 0), (8, 1)])
def test_an_alignment_that_both_say(alignment: int, conditions: int) -> None:
    source = compiled({(0,): [["tt.divisibility", 16]]})
    text = TEXT.replace("float32", f"float32, data_alignment={alignment}")
    made = wrap(source, text, device="cuda", launch=Launch(grid=1))
    assert str(made["k"].__doc__).count("x.data % 16 == 0") == conditions
