"""Failures leak no memory."""

from __future__ import annotations

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
from tests.support.memory import ALLOWED, lost
from tests.support.raw import object_, register, small, str_
from tests.support.wrapping import wrap, wrap_raw

pytest.importorskip("torch_mlir")
pytest.importorskip("llvmlite")
pytest.importorskip("tvm_ffi_orcjit")

pytestmark = pytest.mark.slow

n, k = dims("n k")
PARAMS: Final[list[Param]] = [
    Tensor("A", [n, k], "float32", device_type="cpu"),
    Var("x", "float32"),
    Tensor("B", [k, n * 2], "float32", device_type="cpu"),
    Var("u", "uint64"),
]


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


@pytest.mark.parametrize("what", ["nothing", *WRONG])
def test_a_wrong_call_leaves_nothing_behind(what: str) -> None:
    wrapper = wrap_raw(PARAMS)
    arguments = Arguments(WRONG.get(what, RIGHT))
    assert (wrapper.with_arguments(arguments) is None) == (what == "nothing")
    assert lost(lambda: wrapper.with_arguments(arguments)) < ALLOWED


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


@pytest.mark.parametrize("what", WRONG_OBJECTS)
def test_a_wrong_object_leaves_nothing_behind(what: str) -> None:
    wrapper = wrap_raw(OBJECTS)
    arguments = Arguments(WRONG_OBJECTS[what])
    assert wrapper.with_arguments(arguments) is not None
    assert lost(lambda: wrapper.with_arguments(arguments)) < ALLOWED


def test_objects_are_not_kept() -> None:
    """References are borrowed, in calls that are right and in calls that are wrong."""
    function = wrap([Function("f"), Array("a"), Object("o"), String("s"), Map("m")])
    values = [tvm_ffi.convert(lambda: None), tvm_ffi.Array([1]), tvm_ffi.Array([2]), "long" * 9]

    def call() -> None:
        function(*values, {1: 2})
        with pytest.raises(TypeError, match="type of m"):
            function(*values, tvm_ffi.Array([3])._move())  # pyright: ignore[reportPrivateUsage]

    assert lost(call) < ALLOWED


def test_a_wrong_call_from_python_leaves_nothing_behind() -> None:
    function = wrap([n, Var("x", "float32")])

    def call() -> None:
        with pytest.raises(TypeError, match="type of x"):
            function(3, None)

    assert lost(call) < ALLOWED
