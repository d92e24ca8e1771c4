"""Conditions of parameters in the ``where`` of a signature."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from ffi_builder import SpecError, spec, testing
from ffi_builder.providers import when
from ffi_builder.spec import Signature, one_of
from ffi_builder.spec.expr import Condition, Relation

n, m = spec.dims("n m")
X = spec.Tensor("x", [n], ("float16", "float32"), device_type="cpu")
Y = spec.Tensor("y", ..., "float32", strides="any", device_type="cpu")
MASK = spec.Optional(spec.Tensor("mask", [m], "float32", device_type="cpu"))
ACT = spec.Choice("act", {"relu": 0, "gelu": 1, "silu": 1})
FLAG = spec.Var("flag", "bool")
P = spec.DataPointer("p")
C = spec.Var("c", "handle")
Q = spec.DataPointer("q")
PARAMS = [X, MASK, ACT, FLAG, P, spec.TupleParam("t", [spec.Struct("cfg", [Y, C, Q])])]
HALF = when.dtype(X) == "float16"
ON_HANDLE = r"c\.present \(an Optional\(handle\) may be NULL\)"


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (HALF, "x.dtype == float16"),
        (HALF | (n <= 8), "x.dtype == float16 or n <= 8"),
        (when.aligned(X, 16) | (n < m), "x.data % 16 == 0 or n < m"),
        (~when.aligned(P, 16), "not p % 16 == 0"),
        (when.value(ACT) == "relu", "act == 'relu'"),
        (when.present(MASK) & (m < n), "mask.present and m < n"),
        (when.present(P), "p.present"),
        (when.present(Q) | ~when.present(P), "t[0].q.present or not p.present"),
        (when.present(C), "c.present"),
        (~when.contiguous(Y), "not t[0].y.contiguous"),
        (when.ndim(Y) >= 2, "t[0].y.ndim >= 2"),
        (when.value(FLAG) == True, "flag"),  # noqa: E712
        ((HALF | ~(n <= 8)) & (n > m), "(x.dtype == float16 or not n <= 8) and n > m"),
    ],
)
def test_the_text_is_parsed(condition: Condition, text: str):
    signature = Signature("f", PARAMS, where=[condition])
    assert str(signature).endswith(f" where {text}")
    assert Signature.parse(str(signature)) == signature


def test_the_deepest_conditions_are_parsed():
    deep = HALF
    for _ in range(32):
        deep = ~deep
    mixed: Condition = n < m
    for level in range(30):
        mixed = mixed & (n < 8) if level % 2 else mixed | (n < 8)
    for condition in [deep, mixed]:
        signature = Signature("f", PARAMS, where=[condition])
        assert Signature.parse(str(signature)) == signature
        testing.make_args(signature, {"n": 3, "m": 4})
    assert when.parse(str(deep), Signature("f", [X])) == deep
    with pytest.raises(SpecError, match="conditions may be nested at most 32 deep"):
        deep = ~deep


def test_a_value_is_one_of_many():
    many = one_of(n * 2, range(0, 200, 2))
    signature = Signature("f", [n, m], where=[many & (m < n) | ~many & (m > n)])
    testing.check(signature, 10, 3)
    testing.check(signature, 101, 200)
    for given in [(10, 30), (101, 3)]:
        with pytest.raises(ValueError, match=r"expected n \* 2 in \{0, 2, "):
            testing.check(signature, *given)


def test_a_changed_parameter_is_compared():
    signature = Signature("f", [X], where=[HALF]).with_params(x={"intent": "in"})
    assert str(signature).endswith("where x.dtype == float16")
    with pytest.raises(SpecError, match=r"x\.dtype: expected one of float32, float64, which"):
        signature.with_params(x={"dtype": ("float32", "float64")})


def test_what_is_unknown_refuses_no_call():
    x, mask = np.zeros(4, "float32"), np.zeros(3, "float32")
    for condition, without, with_mask in [
        (m > 4, True, False),
        (m >= 3, True, True),
        (when.present(MASK) & (m > 4), False, False),
        (~when.present(MASK) | (m > 4), True, False),
        (~(m > 4), True, True),
        (~(m <= 4), True, False),
        ((m > 4) | (n > 4), True, False),
    ]:
        relation = condition if isinstance(condition, Relation) else None
        if relation is not None:  # it would be the limit of a symbol
            condition = condition | (n > 100)
        signature = Signature("f", [X, MASK], where=[condition])
        for given, accepted in [(None, without), (mask, with_mask)]:
            if accepted:
                testing.check(signature, x, given)
            else:
                with pytest.raises(ValueError, match=r"expected .* but got"):
                    testing.check(signature, x, given)


def test_an_overflow_refuses_the_call():
    for condition in [n * n <= 8, ~(n * n <= 8)]:
        signature = Signature("f", [n], where=[condition | (n < 0)])
        with pytest.raises(ValueError, match="but got a value beyond int64"):
            testing.check(signature, 2**40)
        with pytest.raises(ValueError, match="but got a value beyond int64"):
            testing.check(Signature("f", [n], where=[~~condition]), 2**40)
    testing.check(Signature("f", [n], where=[(n * n <= 8) | (n > 8)]), 2**40)


@pytest.mark.parametrize(
    ("signature", "given", "words"),
    [
        (
            "f(c: handle) where c.present",
            [None],
            rf"c on argument #0 .* {ON_HANDLE} but got c = None",
        ),
        ("f(p: DataPointer) where p.present", [None], "p on .* p.present but got p = None"),
        ("f(p: DataPointer) where p.present", [0], "p on .* p.present but got p = 0x0"),
        (
            "f(p: DataPointer, n: int32) where p.present or n == 0",
            [None, 3],
            "n on argument #1 .* p.present or n == 0 but got p = None, n = 3 from n",
        ),
        (
            "f(p: DataPointer) where p.present and p % 16 == 0",
            [24],
            "p on argument #0 .* p.present and p % 16 == 0 but got p = 0x18",
        ),
        (
            "f(s: Struct(c: handle, p: DataPointer)) where c.present",
            [(None, None)],
            rf"s\.c on argument #0 .* {ON_HANDLE} but got c = None",
        ),
        (
            "f(t: Tuple(c: handle, p: DataPointer)) where t[1].present",
            [(None, 0)],
            r"t\[1\] on argument #0 .* t\[1\].present but got t\[1\] = 0x0",
        ),
        (
            "f(p: DataPointer, n: int32) where not (p.present and n == 0)",
            [64, 0],
            "but got p = 0x40, n = 0 from n",
        ),
    ],
)
def test_null_is_refused(signature: str, given: list[object], words: str):
    with pytest.raises(ValueError, match=words):
        testing.check(Signature.parse(signature), *given)


def test_pointers_that_pass():
    pointer = ctypes.c_void_p(64)
    for signature, given in [
        ("f(c: handle)", [None]),
        ("f(c: handle) where c.present", [pointer]),
        ("f(p: DataPointer) where p.present", [64]),
        ("f(p: DataPointer) where p.present", [2**64 - 1]),
        ("f(p: DataPointer, n: int32) where p.present or n == 0", [None, 0]),
        ("f(t: Optional(Tuple(c: handle))) where c.present", [None]),
        ("f(t: Optional(Tuple(c: handle))) where c.present", [(pointer,)]),
    ]:
        testing.check(Signature.parse(signature), *given)


def test_pointers_that_are_made():
    text = "f(c: handle, p: DataPointer, q: DataPointer, n: int32)"
    made = Signature.parse(f"{text} where c.present, p.present or n == 0, not q.present")
    c, p, q, _ = testing.make_args(made, {"n": 4})
    assert q is None
    for pointer in (c, p):
        memory = (ctypes.c_char * 4096).from_address(pointer.value)
        assert memory.raw == bytes(4096)
    assert c.value != p.value
    with pytest.raises(ValueError, match="make_args: c != 0 does not hold"):
        testing.make_args(made, {"c": 0})
    given = ctypes.c_void_p(64)
    assert testing.make_args(made, values={"c": given, "p": 64})[:2] == [given, 64]
    assert testing.make_args(Signature.parse(text))[:3] == [None, None, None]


def test_arguments_are_made():
    where = [~HALF, ~when.present(MASK) | (n > m), when.value(ACT) == "silu", when.ndim(Y) == 3]
    signature = Signature("f", PARAMS, where=where)
    args = testing.make_args(signature)
    assert args[0].dtype == np.float32
    assert args[2] == "silu"
    assert args[5][0][0].ndim == 3
    testing.check(signature, *args)
    with pytest.raises(ValueError, match="make_args: found no arguments that fit the conditions"):
        testing.make_args(Signature("f", [X], where=[~when.aligned(X, 2)]))
