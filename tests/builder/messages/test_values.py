"""The words of errors about values, scalars and constants (docs/checks.md)."""

from __future__ import annotations

import math
from functools import partial

import pytest

from ffi_builder import spec
from ffi_builder.spec import Shape, Tensor, TupleParam, Var, ceildiv, dims
from tests.builder.messages.failing import Failure, check_both, compile_all
from tests.differential.description import (
    Arguments,
    Plain,
    Value,
    array,
    of_bool,
    of_float,
    of_int,
    of_pointer,
    shape,
    tensor,
)
from tests.differential.description import DLTensor as DL
from tests.support.wrapping import RawWrapper

n, m, k = dims("n m k")
HUGE = of_int(2**70)


def scalar(param: spec.Param, text: str, given: Value, expected: str, got: str) -> Failure:
    """A value that the one scalar parameter refuses."""
    subject = f"{param.name} on argument #0"
    return Failure([param], [given], "ValueError", subject, f"f({text})", expected, got)


def other_kind(param: spec.Param, text: str, given: Value, expected: str, got: str) -> Failure:
    subject = f"type of {param.name} on argument #0"
    return Failure([param], [given], "TypeError", subject, f"f({text})", expected, got)


def twice(dtype: str, first: Value, second: Value, expected: str, got: str) -> Failure:
    """A symbol that is a parameter and an element of a tuple behind it."""
    a = Var("a", dtype)
    text = f"f(a: {dtype}, t: Tuple(a: {dtype}))"
    params, given = [a, TupleParam("t", [a])], [first, array(second)]
    return Failure(params, given, "ValueError", "t[0] on argument #1", text, expected, got)


def vectors(*shapes: list[spec.Dim | None]) -> list[spec.Param]:
    return [
        Tensor(name, entries, "float32", device_type="cpu")
        for name, entries in zip("ABC", shapes, strict=False)
    ]


def tensors(*shapes: tuple[int, ...]) -> list[Value]:
    return [tensor(DL(entries)) for entries in shapes]


value = partial(Failure, kind="ValueError")
a32, u64 = Var("a", "int32"), Var("a", "uint64")
bounded = Var("a", "int64", min=-1, max=8, divisibility=3)
THREE = [Var("x", "int64"), Var("y", "int64"), Var("z", "int64")]
POINTER = "opaque pointer, None or int"

FAILURES = {
    "too few arguments": Failure(
        THREE,
        [of_int(1)] * 2,
        "TypeError",
        "number of arguments",
        "f(x: int64, y: int64, z: int64)",
        "3",
        "2",
    ),
    "too many arguments": Failure(
        [], [of_int(1)], "TypeError", "number of arguments", "f()", "0", "1"
    ),
    "a negative number of arguments": Failure(
        [], Arguments((), -1), "TypeError", "number of arguments", "f()", "0", "-1"
    ),
    "NULL arguments": Failure(
        [a32],
        Arguments(None, 1),
        "ValueError",
        "argument array",
        "f(a: int32)",
        "a non-NULL pointer",
        "NULL",
    ),
    # ---- values
    "fits": scalar(
        a32,
        "a: int32",
        of_int(3_000_000_000),
        "a value that fits int32 (-2147483648 to 2147483647)",
        "3000000000",
    ),
    "fits int64": scalar(
        n,
        "n: int64",
        of_int(2**63),
        "a value that fits int64 (-9223372036854775808 to 9223372036854775807)",
        "9223372036854775808",
    ),
    "fits uint64, negative": scalar(
        u64,
        "a: uint64",
        of_int(-1),
        "a value that fits uint64 (0 to 18446744073709551615)",
        "-1",
    ),
    "fits uint64, beyond": scalar(
        u64,
        "a: uint64",
        of_int(2**64),
        "a value that fits uint64 (0 to 18446744073709551615)",
        "an int beyond 64 bits",
    ),
    "fits, far beyond": scalar(
        Var("a", "int8"),
        "a: int8",
        HUGE,
        "a value that fits int8 (-128 to 127)",
        "an int beyond 64 bits",
    ),
    "min": scalar(bounded, "a: int64", of_int(-2), "at least -1 (min of a)", "-2"),
    "max": scalar(bounded, "a: int64", of_int(9), "at most 8 (max of a)", "9"),
    "divisibility": scalar(
        bounded, "a: int64", of_int(-1), "a multiple of 3 (divisibility of a)", "-1"
    ),
    "uint64's max": scalar(
        Var("a", "uint64", max=2**64 - 2),
        "a: uint64",
        of_int(2**64 - 1),
        "at most 18446744073709551614 (max of a)",
        "18446744073709551615",
    ),
    "equal to its binding": value(
        vectors([n, k], [k, m]),
        tensors((3, 3), (4, 2)),
        subject="B.shape[0] on argument #1",
        text="f(A: Tensor([n, k], float32), B: Tensor([k, m], float32))",
        expected="3 (k = A.shape[1])",
        got="4",
    ),
    "expression": value(
        vectors([n, m], [n * 2 + m]),
        tensors((3, 4), (7,)),
        subject="B.shape[0] on argument #1",
        text="f(A: Tensor([n, m], float32), B: Tensor([n * 2 + m], float32))",
        expected="10 (n * 2 + m with n = 3 from A.shape[0], m = 4 from A.shape[1])",
        got="7",
    ),
    "expression that waits": value(
        [Shape("d", [ceildiv(n, 4)]), n],
        [shape(3), of_int(5)],
        subject="d[0] on argument #0",
        text="f(d: Shape([ceildiv(n, 4)]), n: int64)",
        expected="2 (ceildiv(n, 4) with n = 5 from n)",
        got="3",
    ),
    "expression that overflows": value(
        [n, Shape("d", [n * 2])],
        [of_int(2**62), shape(1)],
        subject="d[0] on argument #1",
        text="f(n: int64, d: Shape([n * 2]))",
        expected="n * 2 within int64, with n = 4611686018427387904 from n",
        got="1",
    ),
    "expression without a solution": value(
        vectors([n * 2 + 1]),
        tensors((4,)),
        subject="A.shape[0] on argument #0",
        text="f(A: Tensor([n * 2 + 1], float32))",
        expected="a value of n * 2 + 1 for an integer n",
        got="4",
    ),
    "linear with a constant beyond int64, which waits": value(
        [Shape("d", [n * 2 + 2**62 + 2**62, n + 1])],
        [shape(5, 0)],
        subject="d[0] on argument #0",
        text="f(d: Shape([n * 2 + 4611686018427387904 + 4611686018427387904, n + 1]))",
        expected="9223372036854775806 (n * 2 + 4611686018427387904 + 4611686018427387904 with n = -1 "
        "from n in d[1])",
        got="5",
    ),
    "the same, beyond int64": value(
        [Shape("d", [n * 2 + 2**62 + 2**62, n + 1])],
        [shape(5, 1)],
        subject="d[0] on argument #0",
        text="f(d: Shape([n * 2 + 4611686018427387904 + 4611686018427387904, n + 1]))",
        expected="n * 2 + 4611686018427387904 + 4611686018427387904 within int64, with n = 0 from "
        "n in d[1]",
        got="5",
    ),
    "solution out of bounds": value(
        vectors([Var("n", "int64", max=3) * 2]),
        tensors((8,)),
        subject="n in A.shape[0] on argument #0",
        text="f(A: Tensor([n * 2], float32))",
        expected="at most 3 (max of n)",
        got="4",
    ),
    "equal to a solution": value(
        vectors([n * 2], [n * 3]),
        tensors((8,), (9,)),
        subject="B.shape[0] on argument #1",
        text="f(A: Tensor([n * 2], float32), B: Tensor([n * 3], float32))",
        expected="12 (n * 3 with n = 4 from n in A.shape[0])",
        got="9",
    ),
    # ---- scalars
    "int": other_kind(a32, "a: int32", of_float(1.0), "int", "float"),
    "int, not None": other_kind(a32, "a: int32", Plain(0), "int", "None"),
    "bool": other_kind(Var("a", "bool"), "a: bool", of_float(1.0), "bool", "float"),
    "bool, not a BigInt": other_kind(Var("a", "bool"), "a: bool", HUGE, "bool", "int beyond int64"),
    "bool of a number": scalar(Var("a", "bool"), "a: bool", of_int(2), "True, False, 0 or 1", "2"),
    "float": other_kind(Var("a", "float32"), "a: float32", Plain(11), "float", "str"),
    "float, not a BigInt": other_kind(
        Var("a", "float64"), "a: float64", HUGE, "float", "int beyond int64"
    ),
    "handle": other_kind(
        Var("a", "handle"), "a: handle", of_int(1), "opaque pointer or None", "int"
    ),
    "stream": other_kind(spec.Stream("s"), "s: Stream", of_bool(True), POINTER, "bool"),
    "data pointer": other_kind(
        spec.DataPointer("p"), "p: DataPointer", tensor(DL((3,))), POINTER, "ffi.Tensor"
    ),
    "negative data pointer": scalar(
        spec.DataPointer("p"), "p: DataPointer", of_int(-1), "a non-negative value", "-1"
    ),
    "negative BigInt as data pointer": scalar(
        spec.DataPointer("p"),
        "p: DataPointer",
        of_int(-(2**63) - 1),
        "a non-negative value",
        "an int beyond 64 bits",
    ),
    "data pointer beyond 64 bits": scalar(
        spec.DataPointer("p"),
        "p: DataPointer",
        of_int(2**64),
        "a value that fits uint64 (0 to 18446744073709551615)",
        "an int beyond 64 bits",
    ),
    "two bools": twice("bool", of_bool(True), of_int(0), "True (a = a)", "False"),
    "two uint64": twice(
        "uint64", of_int(2**64 - 1), of_int(1), "18446744073709551615 (a = a)", "1"
    ),
    "two handles": twice("handle", of_pointer(0x7F10), Plain(0), "0x7f10 (a = a)", "0x0"),
    "two float64": twice(
        "float64", of_float(0.1), of_float(0.1 + 2**-56), "0.1 (a = a)", "0.10000000000000002"
    ),
    "two float32": twice(
        "float32", of_float(0.1), of_float(math.nan), "0.10000000149011612 (a = a)", "nan"
    ),
    "two float16": twice("float16", of_float(1e9), of_int(3), "inf (a = a)", "3"),
    "two bfloat16": twice(
        "bfloat16", of_float(0.1), of_float(-0.5), "0.10009765625 (a = a)", "-0.5"
    ),
    # ---- constants
    "none": other_kind(spec.ConstNone("a"), "a: None", of_int(0), "None", "int"),
    "const int": scalar(spec.ConstInt("a", 3), "a: Literal[3]", of_int(4), "3", "4"),
    "const int, not a bool": other_kind(
        spec.ConstInt("a", 1), "a: Literal[1]", of_bool(True), "int", "bool"
    ),
    "const bool": scalar(
        spec.ConstBool("a", True), "a: Literal[True]", of_bool(False), "True", "False"
    ),
    "const bool, not an int": other_kind(
        spec.ConstBool("a", True), "a: Literal[True]", of_int(1), "bool", "int"
    ),
    "const float": scalar(
        spec.ConstFloat("a", 0.5), "a: Literal[0.5]", of_float(0.25), "0.5", "0.25"
    ),
    "const float of an int": scalar(
        spec.ConstFloat("a", 2.0), "a: Literal[2.0]", of_int(3), "2", "3"
    ),
    "const float, not a bool": other_kind(
        spec.ConstFloat("a", 1.0), "a: Literal[1.0]", of_bool(True), "float", "bool"
    ),
}


@pytest.fixture(scope="module")
def wrappers() -> dict[str, RawWrapper]:
    return compile_all(FAILURES)


@pytest.mark.parametrize("name", FAILURES)
def test_message(name: str, wrappers: dict[str, RawWrapper]) -> None:
    check_both(FAILURES[name], wrappers[name])
