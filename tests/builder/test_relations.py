"""Relations in the wrapper: what it accepts and refuses, against Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ffi_builder import SpecError, attach, attach_ffi_func, runtime, spec, testing
from ffi_builder.diagnosis.evaluate import evaluate, holds
from ffi_builder.plan import make_plan
from ffi_builder.providers import DirectCallProvider, NopCallProvider
from ffi_builder.spec import Optional, Signature, Tensor, Var, dims, equal, not_equal, one_of
from ffi_builder.spec.expr import Expr, Relation
from ffi_builder.spec.functions import variables
from ffi_builder.spec.numbers import INT_RANGES
from tests.spec.strategies import INT64, exprs
from tests.support.drawn import drawn
from tests.support.printed import printed_wrapper
from tests.support.wrapping import new_module, wrap

n, m, k = dims("n m k")
LIMITS: Final = (-(2**63), -1, 0, 1, 7, 8, 2**31, 2**62, 2**63 - 1)


KEEPS: Final[list[tuple[Relation, Callable[[int, int], bool]]]] = [
    (n <= m, lambda x, y: x <= y),
    (n < m, lambda x, y: x < y),
    (n >= m, lambda x, y: x >= y),
    (n > m, lambda x, y: x > y),
    (equal(n, m), lambda x, y: x == y),
    (not_equal(n, m), lambda x, y: x != y),
    (one_of(n, [7, -1]), lambda x, _: x in {7, -1}),
    (n < m + 1, lambda x, y: x < y + 1 < 2**63),
    (n * m <= 2**31 - 1, lambda x, y: -(2**63) <= x * y <= 2**31 - 1),
    (n * m >= -8, lambda x, y: -8 <= x * y < 2**63),
    (spec.maximum(n, m) <= n + 0, lambda x, y: y <= x),
    (equal(spec.minimum(n, m), m), lambda x, y: y <= x),
]


@pytest.mark.parametrize(("relation", "keeps"), KEEPS)
def test_each_operator(relation: Relation, keeps: Callable[[int, int], bool]) -> None:
    call = wrap([n, m], where=[relation])
    signature = Signature("f", [n, m], where=[relation])
    for x in LIMITS:
        for y in LIMITS:
            assert accepts(call, x, y) == keeps(x, y), (x, y)
            assert accepts(lambda *given: testing.check(signature, *given), x, y) == keeps(x, y)


def accepts(call: Callable[..., object], *given: object) -> bool:
    try:
        call(*given)
    except ValueError as error:
        assert str(error).startswith("Mismatched")  # noqa: PT017 # True and False are the outcomes
        return False
    return True


@settings(max_examples=drawn(100), deadline=None)
@given(exprs(), exprs() | INT64, st.sampled_from(["<=", "<", ">=", ">", "==", "!="]), st.data())
def test_it_agrees_with_python(lhs: Expr, rhs: spec.Dim, op: str, data: st.DataObject) -> None:
    try:
        relation = Relation(op, lhs, rhs)
        symbols = list(dict.fromkeys(variables(relation)))
        signature = Signature("f", symbols, where=[relation])
    except SpecError:
        return  # a limit of a symbol, or always true or false
    near = st.integers(-20, 20)
    values = {
        var.name: data.draw((near | st.integers(*INT_RANGES[var.dtype])).filter(fits(var)))
        for var in symbols
    }
    expected = True
    for side in (lhs, rhs):
        expected &= evaluate(side, lambda var: values[var.name]) is not None
    expected = expected and holds(relation, lambda var: values[var.name])
    given_values = [values[var.name] for var in symbols]
    assert accepts(lambda *given: testing.check(signature, *given), *given_values) == expected


def fits(var: Var) -> Callable[[int], bool]:
    low, high = INT_RANGES[var.dtype]
    return lambda value: low <= value <= high


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64"])
def test_narrow_symbols(dtype: str) -> None:
    a, b = Var("a", dtype), Var("b", dtype)
    call = wrap([a, b], where=[a * 2 <= b])
    low, high = INT_RANGES[dtype]
    for x in (low, 0, 1, 50, high):
        for y in (low, 0, 2, 100, high):
            assert accepts(call, x, y) == (-(2**63) <= 2 * x < 2**63 and 2 * x <= y)


def test_a_uint64_beyond_int64_keeps_no_relation() -> None:
    b = Var("b", "uint64")
    call: Any = wrap([n, b], where=[n <= b])
    call(3, 2**63 - 1)
    with pytest.raises(ValueError, match="with n = 3 from n, b = 9223372036854775808 from b but got a value beyond int64"):  # fmt: skip
        call(3, 2**63)


def test_an_absent_symbol() -> None:
    call: Any = wrap([Optional(n), m], where=[n <= m])
    call(None, -5)
    call(3, 3)
    with pytest.raises(ValueError, match=r"Mismatched m on argument #1 .* but got 4 and 3"):
        call(4, 3)


def test_the_symbol_of_a_stride() -> None:
    """Nothing else reads that stride, so that it would be loaded later."""
    np = pytest.importorskip("numpy", reason="needs NumPy")
    x = Tensor("x", [n, m], "float32", device_type="cpu", strides=[k, 1])
    call: Any = wrap([x], where=[k >= m + 1])
    memory = np.zeros((4, 8), "float32")
    call(memory[:, :5])
    with pytest.raises(ValueError, match=r"Mismatched x.strides\[0\] on .* but got 8 and 9"):
        call(memory)


def test_the_first_wrong_thing_is_said() -> None:
    """Relations are checked behind expressions that waited, and before overlaps."""
    np = pytest.importorskip("numpy", reason="needs NumPy")
    z = Tensor("z", [m // 2], "int8", device_type="cpu")
    y = Tensor("y", [n], "int8", device_type="cpu")
    where = [n <= m, one_of(m, [6, 8])]
    call: Any = wrap([z, y, m], where=where, no_overlap=["y"])
    both = np.zeros(3, "int8")
    for given_m, size, words in (
        (8, 9, r"Mismatched z.shape\[0\] .* expected 4 "),
        (7, 8, "expected n <= m with n = 8"),
        (7, 3, r"expected m in \{6, 8\} with m = 7 from m but got 7"),
        (6, 3, "Mismatched y on argument #1 .*, where z has 0x"),
    ):
        with pytest.raises(ValueError, match=words):
            call(both, both if size == 3 else np.zeros(size, "int8"), given_m)


def test_a_wrapper_is_reused_for_the_same_relations_alone() -> None:
    def text(*where: Relation) -> str:
        module = new_module()
        attach(module, Signature("f", [n, m], where=where), DirectCallProvider("g"))
        return printed_wrapper(module)

    texts = [text(), text(n <= m), text(n < m), text(n <= m, not_equal(n, m))]
    assert len(set(texts)) == len(texts)
    for _ in range(3):
        again = [text(), text(n <= m), text(n < m), text(n <= m, not_equal(n, m))]
        assert again == texts


def test_the_metadata_and_the_plan() -> None:
    signature = Signature("f", [n, m], where=[n <= m, one_of(n, [2, 1])])
    written = json.loads(signature.metadata())["ffi_builder"]
    assert written["where"] == "n <= m, n in {1, 2}"
    plan = make_plan(signature)
    assert plan == make_plan(Signature.parse(str(signature)))
    assert plan != make_plan(Signature("f", [n, m]))


def test_attach_ffi_func_takes_it() -> None:
    module, other = new_module(), new_module()
    attach_ffi_func(module, "f", [n, m], NopCallProvider(), where=[n <= m])
    attach(other, Signature("f", [n, m], where=[n <= m]), NopCallProvider())
    assert printed_wrapper(module) == printed_wrapper(other)


def test_sizes_of_max_and_min() -> None:
    """As a dimension, and as the size of a result."""
    np = pytest.importorskip("numpy", reason="needs NumPy")
    x = Tensor("x", [n, spec.maximum(n, m)], "float32", device_type="cpu")
    call: Any = wrap([x, m])
    call(np.zeros((3, 5), "float32"), 5)
    call(np.zeros((3, 3), "float32"), 2)
    with pytest.raises(
        ValueError, match=r"expected 4 \(max\(n, m\) with n = 3 from .*, m = 4 from m"
    ):
        call(np.zeros((3, 3), "float32"), 4)
    y = Tensor("y", [spec.minimum(n, m) - 4], "float32", device_type="cpu")
    module = new_module()
    attach(module, Signature("f", [x, m], y), NopCallProvider())
    with pytest.raises(
        ValueError, match=r"y.shape\[0\] = min\(n, m\) - 4 of the result would be -2"
    ):
        runtime.compile(module)["f"](np.zeros((3, 3), "float32"), 2)
