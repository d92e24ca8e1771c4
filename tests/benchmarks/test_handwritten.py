"""The C functions that the benchmark compares with refuse what a wrapper refuses, and nothing else."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import shlex
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ffi_builder import abi, runtime
from ffi_builder.spec import Signature
from tests.differential.memory import Memory
from tests.differential.strategies import calls_of
from tests.oracle.judge import Accepted, judge
from tests.support.wrapping import SafeCall

BENCHMARKS: Final = Path(__file__).parents[2] / "benchmarks"
HOW: Final = ("nop", "direct", "pointers", "structs")
CC: Final = shlex.split(os.environ.get("CC", "cc"))[0]

pytestmark = pytest.mark.skipif(shutil.which(CC) is None, reason=f"needs a C compiler: no {CC}")


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """benchmarks/native.py, with handwritten.c compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
        return import_module("native").Native(tmp_path_factory.mktemp("benchmarks"))


def cases() -> dict[str, Signature]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
        module = import_module("signatures")
    made = [*(make() for make in module.MAKERS.values()), module.eight_tensors(strided=False)]
    return {case.name: Signature("f", case.params) for case in made}


CASES: Final = cases()


WAYS: Final = [*itertools.product([name for name in CASES if name != "t8"], HOW), ("t8", "direct")]


@pytest.mark.parametrize(("name", "how"), WAYS)
@settings(max_examples=80, derandomize=True, database=None)
@given(data=st.data())
def test_it_accepts_what_the_rules_accept(
    name: str, how: str, native: Any, data: st.DataObject
) -> None:
    signature = CASES[name]
    function = SafeCall(native.address(f"hand_{name}_{how}"))
    arguments = data.draw(calls_of(signature))
    memory = Memory(slots=64)
    address = memory.place(arguments)
    result = ctypes.create_string_buffer(abi.ANY_SIZE)
    expected = judge(signature, address, arguments.count)
    status = function(None, address, arguments.count, ctypes.addressof(result))
    assert (status == 0) == isinstance(expected, Accepted), expected


HUGE: Final = 1 << 62


@pytest.mark.parametrize("name", ["t8", "t8_strided"])
@pytest.mark.parametrize(
    ("shape", "data", "accepted"),
    [
        ((2, 3, 4, 5), 64, True),
        ((2, 3, 4, 5), 0, False),
        ((2, 0, 4, 5), 0, True),
        ((HUGE, 4, 1, 1), 64, False),
        ((HUGE, 4, 0, 1), 0, True),
        ((-1, 0, 1, 1), 64, False),
    ],
)
def test_sizes_and_data(
    name: str, shape: tuple[int, ...], data: int, accepted: bool, native: Any
) -> None:
    # Shared dimensions are read once, from the first tensor: here all have the same.
    strides = (ctypes.c_int64 * 4)(shape[1] * shape[2] * shape[3], 20, 5, 1)
    dims = (ctypes.c_int64 * 4)(*shape)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
        given = import_module("native").Arguments(import_module("arguments").arguments(name))
    for index in range(8):
        handle = ctypes.c_int64.from_address(given.address + 16 * index + abi.ANY_PAYLOAD).value
        tensor = handle + abi.OBJECT_SIZE
        ctypes.c_int64.from_address(tensor + abi.DLTENSOR_DATA).value = data
        ctypes.c_int64.from_address(tensor + abi.DLTENSOR_SHAPE).value = ctypes.addressof(dims)
        where = ctypes.addressof(strides) if shape == (2, 3, 4, 5) else 0
        ctypes.c_int64.from_address(tensor + abi.DLTENSOR_STRIDES).value = where
    result = ctypes.create_string_buffer(abi.ANY_SIZE)
    function = SafeCall(native.address(f"hand_{name}_direct"))
    status = function(None, given.address, given.count, ctypes.addressof(result))
    assert (status == 0) == accepted


@pytest.mark.parametrize(
    ("data", "accepted"),
    [
        (0, True),
        (None, True),
        (-1, False),
        ((1 << 63) - 1, True),
        (1 << 63, True),
        ((1 << 64) - 1, True),
        (1 << 64, False),
        ((1 << 64) + (1 << 63), False),
        (-(1 << 63) - 1, False),
    ],
)
def test_ints_as_pointers(data: int | None, accepted: bool, native: Any) -> None:
    function = runtime.function_at(native.address("hand_ptrs_nop"), owner=native)
    with contextlib.nullcontext() if accepted else pytest.raises(ValueError, match="is wrong"):
        function((3, 5, 4), data, None)
