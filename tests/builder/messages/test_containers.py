"""The words of errors about Shapes and tuples (docs/checks.md)."""

from __future__ import annotations

from functools import partial

import pytest

from ffi_builder import spec
from ffi_builder.spec import Shape, Tensor, TupleParam, Var, dims
from tests.builder.messages.failing import Failure, check_both, compile_all
from tests.differential.description import DLTensor as DL
from tests.differential.description import (
    Elements,
    Ints,
    Object,
    Plain,
    array,
    of_float,
    of_int,
    shape,
    tensor,
)
from tests.support.wrapping import RawWrapper

(n,) = dims("n")
HUGE = of_int(2**70)


value = partial(Failure, kind="ValueError")
a32 = Var("a", "int32")
ENTRIES, CFG = "f(d: Shape([n, 4]))", "f(t: Tuple(a: int32, b: None))"
A = Tensor("A", [None, n], "float32", device_type="cpu")
SHAPE: list[spec.Param] = [Shape("d", [n, 4])]
TUPLE: list[spec.Param] = [TupleParam("t", [a32, spec.ConstNone("b")])]

FAILURES = {
    # ---- shapes
    "shape's type": Failure(
        SHAPE,
        [of_int(3)],
        "TypeError",
        "type of d on argument #0",
        ENTRIES,
        "Shape or list of ints",
        "int",
    ),
    "NULL shape": value(
        SHAPE,
        [Plain(69)],
        subject="d on argument #0",
        text=ENTRIES,
        expected="a non-NULL object",
        got="NULL",
    ),
    "shape's length": value(
        SHAPE,
        [shape(1, 4, 5)],
        subject="length of d on argument #0",
        text=ENTRIES,
        expected="2",
        got="3",
    ),
    "shape's elements": value(
        SHAPE,
        [Object(69, Ints(None, 2))],
        subject="d on argument #0",
        text=ENTRIES,
        expected="non-NULL elements",
        got="NULL",
    ),
    "shape's entry": value(
        SHAPE, [shape(1, 5)], subject="d[1] on argument #0", text=ENTRIES, expected="4", got="5"
    ),
    "negative entry": value(
        SHAPE,
        [array(of_int(-1), of_int(4))],
        subject="d[0] on argument #0",
        text=ENTRIES,
        expected="a non-negative value",
        got="-1",
    ),
    "entry's type": Failure(
        SHAPE,
        [array(of_int(1), of_float(4.0))],
        "TypeError",
        "type of d[1] on argument #0",
        ENTRIES,
        "int",
        "float",
    ),
    "entry that is too large": Failure(
        SHAPE,
        [array(HUGE, of_int(4))],
        "TypeError",
        "type of d[0] on argument #0",
        ENTRIES,
        "int",
        "int beyond int64",
    ),
    # ---- tuples
    "tuple's type": Failure(
        TUPLE, [shape(1, 2)], "TypeError", "type of t on argument #0", CFG, "tuple", "ffi.Shape"
    ),
    "NULL tuple": value(
        TUPLE,
        [Plain(75)],
        subject="t on argument #0",
        text=CFG,
        expected="a non-NULL object",
        got="NULL",
    ),
    "tuple's length": value(
        TUPLE,
        [array(of_int(1))],
        subject="length of t on argument #0",
        text=CFG,
        expected="2",
        got="1",
    ),
    "tuple's elements": value(
        TUPLE,
        [Object(71, Elements(None, 2))],
        subject="t on argument #0",
        text=CFG,
        expected="non-NULL elements",
        got="NULL",
    ),
    "element's type": Failure(
        TUPLE,
        [array(of_int(1), of_int(2))],
        "TypeError",
        "type of t[1] on argument #0",
        CFG,
        "None",
        "int",
    ),
    "element of an element": value(
        [n, TupleParam("t", [n, TupleParam("u", [A])])],
        [of_int(5), array(of_int(5), array(tensor(DL((2, 6)))))],
        subject="t[1][0].shape[1] on argument #1",
        text="f(n: int64, t: Tuple(n: int64, u: Tuple(A: Tensor([None, n], float32))))",
        expected="5 (n = n)",
        got="6",
    ),
}


@pytest.fixture(scope="module")
def wrappers() -> dict[str, RawWrapper]:
    return compile_all(FAILURES)


@pytest.mark.parametrize("name", FAILURES)
def test_message(name: str, wrappers: dict[str, RawWrapper]) -> None:
    check_both(FAILURES[name], wrappers[name])
