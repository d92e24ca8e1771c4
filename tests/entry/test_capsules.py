"""Capsules of DLPack for tensors, on every way from Python to a function."""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Any

import numpy
import pytest

from ffi_builder.runtime.python.dlpack import Managed
from ffi_builder.spec import Struct, TensorList, Var
from tests.entry.functions import calling, ways
from tests.entry.rules import WAYS, recorded, tensor

np: Any = numpy
VERSIONS = {"dltensor": None, "dltensor_versioned": (1, 0)}


def ones(*, frozen: bool = False) -> Any:
    array = np.ones(3, "float32")
    array.flags.writeable = not frozen
    return array


def capsule(array: Any, name: str = "dltensor_versioned") -> Any:
    return array.__dlpack__(max_version=VERSIONS[name])


def references(array: Any) -> int:
    gc.collect()
    return sys.getrefcount(array)


@pytest.mark.parametrize("name", VERSIONS)
@pytest.mark.parametrize("way", WAYS)
def test_a_capsule_is_the_tensor_that_it_holds(way: str, name: str) -> None:
    both, array = recorded("inout"), ones()
    before = references(array)
    given = capsule(array, name)
    getattr(both, way)(given)
    assert both.recording is not None
    assert both.recording.unsigned(0) == array.ctypes.data
    assert both.recording.signed(1) == 3
    assert f'"used_{name}"' in repr(given)
    assert references(array) == before  # its deleter has run, while the capsule is still here


@pytest.mark.parametrize("way", WAYS)
def test_capsules_within_arguments(way: str) -> None:
    params = [Struct("c", [tensor(), Var("a", "int32")]), TensorList(tensor("xs"))]
    f, array = getattr(ways(params), way), ones()
    before = references(array)
    f((capsule(array), 1), [array, capsule(array)])
    assert references(array) == before
    used = capsule(array)
    f((used, 1), [])
    with pytest.raises(ValueError, match=r"^Mismatched xs\[1\] on argument #1 .* is used up"):
        f((array, 1), [array, used])


@pytest.mark.parametrize("name", VERSIONS)
@pytest.mark.parametrize("way", WAYS)
def test_a_capsule_is_used_once(way: str, name: str) -> None:
    f = getattr(recorded("in"), way)
    given = capsule(ones(), name)
    f(given)
    words = rf'expected a DLPack capsule that holds a tensor but got one that is used up .*"used_{name}"'
    with pytest.raises(ValueError, match=rf"^Mismatched x on argument #0 .*{words}"):
        f(given)


@pytest.mark.parametrize("intent", [None, "out", "inout"])
@pytest.mark.parametrize("way", WAYS)
def test_a_read_only_capsule_is_refused_and_stays_whole(way: str, intent: str | None) -> None:
    given = capsule(ones(frozen=True))
    with pytest.raises(
        ValueError, match=r"can be written \(x is .* a read-only DLPack capsule: pa"
    ):
        getattr(recorded(intent), way)(given)
    getattr(recorded("in"), way)(given)


@pytest.mark.parametrize("way", WAYS)
def test_refused_calls_leave_nothing_behind(way: str) -> None:
    f, array = getattr(ways([tensor(), Var("a", "int32", max=3)]), way), ones()
    before = references(array)
    for _ in range(100):
        with pytest.raises(ValueError, match="at most 3"):
            f(capsule(array), 4)
        with pytest.raises(TypeError, match="type of a"):
            f(capsule(array), "x")
        with pytest.raises(TypeError, match="but got float64"):
            f(capsule(ones().astype("float64")), 1)
    assert references(array) == before


@pytest.mark.parametrize("way", WAYS)
def test_capsules_of_others(way: str) -> None:
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    make = new(("PyCapsule_New", ctypes.pythonapi))
    f = getattr(recorded("in"), way)
    for name, shown in ((b"arrow_array", 'named "arrow_array"'), (None, "without a name")):
        words = f"^Mismatched type of x on .* expected Tensor but got a capsule {shown}"
        with pytest.raises(TypeError, match=words):
            f(make(64, name, None))
    later = Managed(major=2)
    with pytest.raises(ValueError, match=r"expected a DLPack capsule of version 1 but got .* 2\.0"):
        f(make(ctypes.addressof(later), b"dltensor_versioned", None))


def test_what_a_callee_keeps_outlives_the_capsule() -> None:
    kept: list[Any] = []

    def keep(_: int, x: Any) -> None:
        kept.append(x)

    array = ones()
    before = references(array)
    calling(keep)(1, capsule(array))
    assert references(array) > before
    assert np.from_dlpack(kept[0]).tolist() == [1, 1, 1]
    kept.clear()
    assert references(array) == before
