"""Steps that bind, compare and solve symbols, and steps that wait."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from ffi_builder.plan import make_plan
from ffi_builder.spec import (
    DefaultConfig,
    Dim,
    Param,
    Shape,
    Signature,
    Tensor,
    TupleParam,
    Var,
    ceildiv,
    dims,
)
from tests.plan.reading import line, lines, lines_at

n, k, m = dims("n k m")


@pytest.fixture(autouse=True)
def on_cpu() -> Iterator[None]:
    with DefaultConfig(device_type="cpu"):
        yield


def tensor(name: str, *shape: Dim | None, strides: Sequence[Dim | None] | None = None) -> Tensor:
    return Tensor(name, shape, "float32", strides=strides)


def symbols(*params: Param) -> list[str]:
    """The steps that concern symbols and expressions, in order."""
    kinds = ("Bind", "EqualSymbol", "EqualExpr", "Solve", "Fits")
    return [step for step in lines(*params) if step.startswith(kinds)]


def late(*params: Param) -> list[str]:
    plan = make_plan(Signature("f", params))
    return [line(step) for step in plan.late]


class TestFirstBindsLaterAreEqual:
    def test_across_kinds_of_place(self):
        assert symbols(
            tensor("A", n, k), TupleParam("t", [n, Shape("s", [k])]), tensor("B", k)
        ) == [
            "Bind A.shape[0] n",
            "Bind A.shape[1] k",
            "Fits t[0] int64",
            "EqualSymbol t[0] n",
            "EqualSymbol t[1][0] k",
            "EqualSymbol B.shape[0] k",
        ]

    @pytest.mark.parametrize("dtype", ["float32", "bool", "handle"])
    def test_scalars_that_are_no_integers(self, dtype: str):
        a = Var("a", dtype)
        found = [step for step in symbols(a, TupleParam("t", [a])) if "Fits" not in step]
        assert found == ["Bind a a", "EqualSymbol t[0] a"]


class TestFits:
    @pytest.mark.parametrize(
        ("dtype", "places"),
        [
            # A dimension is never negative, so it fits uint64; a stride may be.
            ("int64", ["p"]),
            ("uint64", ["x.strides[0]", "x.device_id", "p"]),
            ("int32", ["x.shape[0]", "x.strides[0]", "p"]),
            ("uint32", ["x.shape[0]", "x.strides[0]", "x.device_id", "p"]),
            ("int16", ["x.shape[0]", "x.strides[0]", "x.device_id", "p"]),
        ],
    )
    def test_where_a_value_may_not(self, dtype: str, places: list[str]):
        s, d, p = (Var(name, dtype) for name in "sdp")
        x = Tensor("x", [s], "int8", strides=[s], device_id=d)
        found = [step.split()[1] for step in symbols(x, p) if step.startswith("Fits")]
        assert sorted(found) == sorted(places)


class TestStrides:
    def test_a_single_occurrence_binds(self):
        assert symbols(tensor("A", 4, strides=[n])) == ["Bind A.strides[0] n"]

    def test_the_first_of_several_is_provisional(self):
        params = [tensor("A", 4, strides=[n]), tensor("B", 4, strides=[n]), tensor("C", n, n)]
        assert symbols(*params) == [
            "BindOrEqual A.strides[0] n free",
            "BindOrEqual B.strides[0] n free",
            "BindOrEqual C.shape[0] n",  # binds for certain
            "EqualSymbol C.shape[1] n",
        ]

    def test_after_a_dimension_it_is_compared(self):
        assert symbols(tensor("A", n, k, strides=[k, n])) == [
            "Bind A.shape[0] n",
            "Bind A.shape[1] k",
            "EqualSymbol A.strides[0] k free",
            "EqualSymbol A.strides[1] n free",
        ]

    def test_a_mention_in_an_expression_is_an_occurrence(self):
        assert symbols(tensor("A", 4, strides=[n]), tensor("B", n // 2)) == [
            "BindOrEqual A.strides[0] n free",
            "EqualExpr B.shape[0] n // 2",
        ]


class TestExpressions:
    def test_at_once_if_all_symbols_are_bound(self):
        params = [tensor("A", n, k), tensor("B", n * k, n // 2), tensor("C", k)]
        assert symbols(*params)[2:] == [
            "EqualExpr B.shape[0] n * k",
            "EqualExpr B.shape[1] n // 2",
            "EqualSymbol C.shape[0] k",
        ]
        assert late(*params) == []

    def test_last_and_in_declaration_order_if_not(self):
        params = [tensor("A", n * k, ceildiv(m, 2)), tensor("B", m, k % 2), n, k]
        assert late(*params) == [
            "EqualExpr A.shape[0] n * k",
            "EqualExpr A.shape[1] ceildiv(m, 2)",
            "EqualExpr B.shape[1] k % 2",
        ]

    def test_a_provisional_symbol_is_not_bound(self):
        params = [tensor("A", 4, strides=[n]), tensor("B", n + 1)]
        assert late(*params) == ["EqualExpr B.shape[0] n + 1"]

    def test_in_strides(self):
        assert symbols(tensor("A", n, k, strides=[k * 2, 1]))[2:] == [
            "EqualExpr A.strides[0] k * 2 free"
        ]

    def test_of_the_same_tensor_may_come_first(self):
        assert late(tensor("A", n * 2, n)) == ["EqualExpr A.shape[0] n * 2"]


class TestSolved:
    def test_what_no_other_occurrence_binds(self):
        assert symbols(tensor("A", n * 2 + 1), tensor("B", n * 3)) == [
            "Solve A.shape[0] n n * 2 + 1 2 1",
            "Bind n in A.shape[0] n",
            "EqualExpr B.shape[0] n * 3",
        ]

    def test_not_what_stands_alone_anywhere(self):
        assert symbols(tensor("A", n * 2), n) == [
            "Fits n int64",
            "Bind n n",
            "EqualExpr A.shape[0] n * 2",
        ]

    def test_has_the_checks_of_a_symbol(self):
        s = Var("s", "uint64", min=2, max=8, divisibility=2)
        assert lines_at("A.shape[0]", [tensor("A", s - 4)]) == [
            "NotNegative A.shape[0]",
            "Solve A.shape[0] s s - 4 1 -4",
            "Fits s in A.shape[0] uint64",
            "AtLeast s in A.shape[0] s",
            "AtMost s in A.shape[0] s",
            "Divisible s in A.shape[0] s",
            "Bind s in A.shape[0] s",
        ]

    def test_negative_factors(self):
        assert symbols(tensor("A", 8 - n)) == [
            "Solve A.shape[0] n 8 - n -1 8",
            "Bind n in A.shape[0] n",
        ]

    def test_not_with_numbers_beyond_int64(self):
        """Though they are linear: they wait for what binds the symbol."""
        for beyond in (n * 2 + 2**62 + 2**62, n * 2**62 * 2):
            params = [tensor("A", beyond), tensor("B", n * 3)]
            assert symbols(*params)[:2] == [
                "Solve B.shape[0] n n * 3 3 0",
                "Bind n in B.shape[0] n",
            ]
            assert late(*params) == [f"EqualExpr A.shape[0] {beyond}"]

    def test_in_strides_it_stays_provisional(self):
        params = [
            tensor("A", 4, strides=[n * 2]),
            tensor("B", 4, strides=[n * 3]),
            tensor("C", n * 4),
            tensor("D", n * 5),
        ]
        assert symbols(*params) == [
            "Solve A.strides[0] n n * 2 2 0 free",
            "BindOrEqual n in A.strides[0] n free",
            "Solve B.strides[0] n n * 3 3 0 free",
            "BindOrEqual n in B.strides[0] n free",
            "Solve C.shape[0] n n * 4 4 0",
            "BindOrEqual n in C.shape[0] n",
            "EqualExpr D.shape[0] n * 5",
        ]

    def test_then_others_need_not_wait(self):
        params = [tensor("A", n * 2), tensor("B", n // 3)]
        assert symbols(*params)[-1] == "EqualExpr B.shape[0] n // 3"
        assert late(*params) == []
