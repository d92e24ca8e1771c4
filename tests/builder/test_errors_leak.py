"""Failures leak no memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
import tvm_ffi

from ffi_builder.abi import TypeIndex
from ffi_builder.spec import (
    Array,
    Choice,
    Function,
    Map,
    Object,
    Optional,
    Param,
    String,
    Struct,
    Tensor,
    Var,
    dims,
)
from tests.differential.description import (
    NONE,
    Arguments,
    DLTensor,
    Moved,
    Value,
    array,
    of_float,
    of_int,
    tensor,
)
from tests.differential.description import Object as Object_
from tests.support.raw import object_, register, small, str_
from tests.support.wrapping import wrap, wrap_raw

pytest.importorskip("torch_mlir")
pytest.importorskip("llvmlite")
pytest.importorskip("tvm_ffi_orcjit")

pytestmark = pytest.mark.slow

STATM: Final = Path("/proc/self/statm")
CALLS: Final = 20_000
WARM: Final = 2_000
ALLOWED: Final = 256 << 10
"""Bytes of noise; 16 bytes lost with each call would be more."""

n, k = dims("n k")
PARAMS: Final[list[Param]] = [
    Tensor("A", [n, k], "float32", device_type="cpu"),
    Var("x", "float32"),
    Tensor("B", [k, n * 2], "float32", device_type="cpu"),
    Var("u", "uint64"),
]


def resident() -> int:
    """Bytes of this process in memory."""
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def leaks(call: Callable[[], object]) -> bool:
    """Tell whether many calls leave memory behind, every time; once may be chance."""
    for _ in range(WARM):
        call()
    for _ in range(3):
        before = resident()
        for _ in range(CALLS):
            call()
        if resident() - before < ALLOWED:
            return False
    return True


def matrix(*shape: int, data: int = 64) -> Value:
    return tensor(DLTensor(shape, data=data))


RIGHT: Final = (matrix(2, 3), of_float(0.5), matrix(3, 4), of_int(2**63))
WRONG: Final = {
    "number of arguments": RIGHT[:2],
    "type": (*RIGHT[:3], of_float(1.0)),
    "symbol": (*RIGHT[:2], matrix(4, 4), RIGHT[3]),
    "expression": (*RIGHT[:2], matrix(3, 5), RIGHT[3]),
    "data": (matrix(2, 3, data=0), *RIGHT[1:]),
    "beyond 64 bits": (*RIGHT[:3], of_int(2**64)),
}


@pytest.mark.skipif(not STATM.exists(), reason="needs /proc")
@pytest.mark.parametrize("what", ["nothing", *WRONG])
def test_a_wrong_call_leaves_nothing_behind(what: str) -> None:
    wrapper = wrap_raw(PARAMS)
    arguments = Arguments(WRONG.get(what, RIGHT))
    assert (wrapper.with_arguments(arguments) is None) == (what == "nothing")
    assert not leaks(lambda: wrapper.with_arguments(arguments))


OBJECTS: Final[list[Param]] = [
    Optional(Tensor("A", ..., "float32", device_type="cpu")),
    Struct("cfg", [Choice("act", {"relu": 1, "gelu": 2}), String("label")]),
    Object("x", "ffi.Module"),
]
CFG: Final = array(small(b"relu"), str_(b"a long label"))
WRONG_OBJECTS: Final = {
    "kind": (NONE, CFG, Object_(TypeIndex.FUNCTION)),
    "a registered type": (NONE, CFG, object_(register("tests.leak.Added"))),
    "moved": (NONE, CFG, Moved(Object_(TypeIndex.MAP))),
    "choice": (NONE, array(str_(b"rel\xc3\xa9"), str_(b"a long label")), of_int(1)),
    "field": (NONE, array(small(b"relu"), of_int(1)), of_int(1)),
    "stride": (tensor(DLTensor((2, 3), (1, 2))), CFG, of_int(1)),
}


@pytest.mark.skipif(not STATM.exists(), reason="needs /proc")
@pytest.mark.parametrize("what", WRONG_OBJECTS)
def test_a_wrong_object_leaves_nothing_behind(what: str) -> None:
    wrapper = wrap_raw(OBJECTS)
    arguments = Arguments(WRONG_OBJECTS[what])
    assert wrapper.with_arguments(arguments) is not None
    assert not leaks(lambda: wrapper.with_arguments(arguments))


@pytest.mark.skipif(not STATM.exists(), reason="needs /proc")
def test_objects_are_not_kept() -> None:
    """References are borrowed, in calls that are right and in calls that are wrong."""
    function = wrap([Function("f"), Array("a"), Object("o"), String("s"), Map("m")])
    values = [tvm_ffi.convert(lambda: None), tvm_ffi.Array([1]), tvm_ffi.Array([2]), "long" * 9]

    def call() -> None:
        function(*values, {1: 2})
        with pytest.raises(TypeError, match="type of m"):
            function(*values, tvm_ffi.Array([3])._move())  # pyright: ignore[reportPrivateUsage]

    assert not leaks(call)


@pytest.mark.skipif(not STATM.exists(), reason="needs /proc")
def test_a_wrong_call_from_python_leaves_nothing_behind() -> None:
    function = wrap([n, Var("x", "float32")])

    def call() -> None:
        with pytest.raises(TypeError, match="type of x"):
            function(3, None)

    assert not leaks(call)
