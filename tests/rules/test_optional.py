"""*Optional* of docs/checks.md."""

from __future__ import annotations

from functools import partial

import pytest

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import (
    Bytes,
    Choice,
    ConstBool,
    ConstFloat,
    ConstInt,
    Device,
    DType,
    Function,
    Object,
    Optional,
    Param,
    Shape,
    String,
    Struct,
    TupleParam,
    Var,
)
from tests.differential.description import (
    NONE,
    DLTensor,
    Moved,
    Plain,
    Value,
    array,
    list_,
    of_int,
    shape,
    tensor,
)
from tests.rules.calls import accepted, f32, fault, values

Tensor = partial(spec.Tensor, dtype="float32", device_type="cpu")
n, k, s = spec.dims("n k s")
A = Optional(Tensor("A", [n, 4]))


class TestPresence:
    def test_absent(self) -> None:
        for given in (NONE, Plain(TypeIndex.NONE, 99)):
            found = accepted([A], given)
            assert (found.present, found.tensors, found.values) == ({"A": False}, {}, {"n": 0})

    def test_present(self) -> None:
        found = accepted([A], f32(3, 4))
        assert (found.present, list(found.tensors)) == ({"A": True}, ["A"])
        assert found.values == {"n": 3}

    def test_has_the_checks_of_the_parameter(self) -> None:
        assert fault([A], f32(3, 5)) == "ValueError #0 A.shape[1]: 4 | 5"
        assert fault([A], tensor(DLTensor((3, 4), dtype=(2, 64, 1)))) == (
            "TypeError #0 A.dtype: float32 | float64"
        )
        assert fault([A], Plain(TypeIndex.TENSOR)) == "ValueError #0 A: a non-NULL object | NULL"

    @pytest.mark.parametrize(
        "given", [Moved(None), Plain(TypeIndex.OBJECT_RVALUE_REF)], ids=["object", "reference"]
    )
    def test_a_moved_null_is_not_none(self, given: Value) -> None:
        assert fault([A], given) == "ValueError #0 A: a non-NULL object | NULL"

    @pytest.mark.parametrize(
        ("param", "expected"),
        [
            (Tensor("x", []), "Tensor or None"),
            (Shape("x", []), "Shape or list of ints or None"),
            (TupleParam("x", []), "tuple or None"),
            (Struct("x", []), "tuple or None"),
            (String("x"), "str or None"),
            (Bytes("x"), "bytes or None"),
            (Choice("x", {"a": 1}), "str or None"),
            (DType("x"), "dtype or None"),
            (Device("x"), "device or None"),
            (Object("x"), "Object or None"),
            (Object("x", "ffi.Module"), "ffi.Module or None"),
            (Function("x"), "Function or None"),
            (spec.Array("x"), "Array or None"),
            (spec.Map("x"), "Map or None"),
            (Var("x", "int8"), "int or None"),
            (Var("x", "bool"), "bool or None"),
            (Var("x", "float16"), "float or None"),
            (ConstInt("x", 1), "int or None"),
            (ConstBool("x", True), "bool or None"),
            (ConstFloat("x", 1.0), "float or None"),
        ],
    )
    def test_the_words_of_the_type(self, param: Param, expected: str) -> None:
        given = Plain(TypeIndex.UNCHANGED)
        assert fault([Optional(param)], given) == f"TypeError #0 type of x: {expected} | Unchanged"
        found = accepted([Optional(param)], NONE)
        assert (found.present, found.tensors, found.singles) == ({"x": False}, {}, {})

    def test_of_a_moved_object(self) -> None:
        assert fault([A], Moved(shape())) == "TypeError #0 type of A: Tensor or None | ffi.Shape"

    def test_the_words_of_other_checks_are_the_same(self) -> None:
        params = [Optional(Var("x", "bool"))]
        assert fault(params, of_int(2)) == "ValueError #0 x: True, False, 0 or 1 | 2"
        params = [Optional(Shape("x", [n]))]
        assert fault(params, array(NONE)) == "TypeError #0 type of x[0]: int | None"

    def test_values_that_are_there(self) -> None:
        params: list[Param] = [Optional(DType("d")), Optional(Choice("c", {"a": 5}))]
        given = Plain(TypeIndex.SMALL_STR, ord("a"), 1)
        found = accepted(params, Plain(TypeIndex.DATA_TYPE, 3), given)
        assert found.singles == {"d": 3, "c": 5}
        assert found.present == {"d": True, "c": True}


class TestElements:
    params = (
        Optional(TupleParam("t", [n, Optional(Tensor("x", [k]))])),
        Struct("s", [Optional(Struct("deep", [Optional(k)]))]),
    )

    @pytest.mark.parametrize(
        ("first", "second", "there"),
        [
            (array(of_int(1), f32(2)), array(list_(of_int(2))), "t t[1] s.deep s.deep.k"),
            (array(of_int(1), NONE), array(list_(NONE)), "t s.deep"),
            (NONE, array(NONE), ""),
        ],
    )
    def test_present(self, first: Value, second: Value, there: str) -> None:
        found = accepted(self.params, first, second).present
        assert list(found) == ["t", "t[1]", "s.deep", "s.deep.k"]
        assert [path for path, is_there in found.items() if is_there] == there.split()

    def test_words(self) -> None:
        assert fault(self.params, of_int(1), NONE) == "TypeError #0 type of t: tuple or None | int"
        given = array(NONE, NONE)
        assert fault(self.params, given, NONE) == "TypeError #0 type of t[0]: int | None"
        given = array(of_int(1), of_int(1))
        assert fault(self.params, given, NONE) == "TypeError #0 type of t[1]: Tensor or None | int"
        assert fault(self.params, NONE, NONE) == "TypeError #1 type of s: tuple | None"
        assert fault(self.params, NONE, array(array(f32()))) == (
            "TypeError #1 type of s.deep.k: int or None | ffi.Tensor"
        )


class TestSymbols:
    AB = (Optional(Tensor("A", [n])), Tensor("B", [n]))

    def test_the_next_one_must_be_equal(self) -> None:
        assert values(self.AB, f32(3), f32(3)) == {"n": 3}
        assert fault(self.AB, f32(3), f32(4)) == (
            "ValueError #1 B.shape[0]: 3 (n = A.shape[0]) | 4"
        )

    def test_an_absent_one_did_nothing(self) -> None:
        assert values(self.AB, NONE, f32(4)) == {"n": 4}
        params = [*self.AB, Tensor("C", [n])]
        assert fault(params, NONE, f32(4), f32(5)) == (
            "ValueError #2 C.shape[0]: 4 (n = B.shape[0]) | 5"
        )

    @pytest.mark.parametrize(
        ("dtype", "value"),
        [("int8", 0), ("uint64", 0), ("bool", False), ("float16", 0.0)],
    )
    def test_zero_where_nothing_binds(self, dtype: str, value: object) -> None:
        found = values([Optional(Var("x", dtype, doc="of one Optional"))], NONE)["x"]
        assert found == value
        assert type(found) is type(value)

    def test_bounds_are_not_checked_of_what_is_absent(self) -> None:
        bounded = Var("x", "int32", min=5)
        assert values([Optional(bounded)], NONE) == {"x": 0}
        assert fault([Optional(bounded)], of_int(0)) == "ValueError #0 x: at least 5 (min of x) | 0"

    def test_certain_within_the_optional(self) -> None:
        inner = Optional(TupleParam("t", [n, Tensor("x", [n * 2])]))
        params = [inner, ConstInt("last", 1)]
        assert fault(params, array(of_int(3), f32(7)), NONE) == (
            "ValueError #0 t[1].shape[0]: 6 (n * 2 with n = 3 from t[0]) | 7"
        )
        assert accepted(params, NONE, of_int(1))

    def test_provisional_behind_it(self) -> None:
        params = [Optional(n), Tensor("B", [n * 2]), ConstInt("last", 1)]
        assert accepted(params, of_int(3), f32(6), of_int(1))
        # The expression waits, so that the last argument is looked at first.
        assert fault(params, of_int(3), f32(7), NONE) == "TypeError #2 type of last: int | None"
        assert fault(params, of_int(3), f32(7), of_int(1)) == (
            "ValueError #1 B.shape[0]: 6 (n * 2 with n = 3 from n) | 7"
        )

    def test_an_expression_of_an_unbound_symbol_is_not_checked(self) -> None:
        params = [Optional(n), Tensor("B", [n * 2]), Tensor("C", [n + k]), k]
        assert values(params, NONE, f32(7), f32(1), of_int(5)) == {"n": 0, "k": 5}
        assert fault(params, of_int(3), f32(6), f32(1), of_int(5)) == (
            "ValueError #2 C.shape[0]: 8 (n + k with n = 3 from n, k = 5 from k) | 1"
        )

    def test_certain_again_behind_the_next_one(self) -> None:
        params = [*self.AB, Tensor("C", [n * 2]), ConstInt("last", 1)]
        for first in (f32(3), NONE):
            assert fault(params, first, f32(3), f32(7), NONE).startswith(
                "ValueError #2 C.shape[0]: 6 (n * 2 with n = 3 from "
            )

    def test_certain_before_stays_certain(self) -> None:
        params = [n, *self.AB[:1], Tensor("C", [n * 2]), ConstInt("last", 1)]
        for second in (f32(3), NONE):
            assert fault(params, of_int(3), second, f32(7), NONE) == (
                "ValueError #2 C.shape[0]: 6 (n * 2 with n = 3 from n) | 7"
            )

    def test_an_optional_within(self) -> None:
        inner = TupleParam("t", [Optional(n), Tensor("x", [n * 2]), k, Tensor("y", [k * 2])])
        params = [Optional(inner), ConstInt("last", 1)]
        given = array(of_int(3), f32(7), of_int(5), f32(10))
        assert fault(params, given, NONE) == "TypeError #1 type of last: int | None"
        assert fault(params, given, of_int(1)) == (
            "ValueError #0 t[1].shape[0]: 6 (n * 2 with n = 3 from t[0]) | 7"
        )
        given = array(of_int(3), f32(7), of_int(5), f32(11))
        assert fault(params, given, NONE) == (
            "ValueError #0 t[3].shape[0]: 10 (k * 2 with k = 5 from t[2]) | 11"
        )
        given = array(NONE, f32(7), of_int(5), f32(10))
        assert values(params, given, of_int(1)) == {"n": 0, "k": 5}

    def test_waiting_expressions_of_an_absent_one(self) -> None:
        params = [Optional(Tensor("A", [n * 2])), n]
        assert values(params, NONE, of_int(3)) == {"n": 3}
        assert fault(params, f32(7), of_int(3)) == (
            "ValueError #0 A.shape[0]: 6 (n * 2 with n = 3 from n) | 7"
        )

    def test_solved(self) -> None:
        params = [Optional(Tensor("A", [n * 2])), Tensor("B", [n * 3])]
        assert values(params, NONE, f32(12)) == {"n": 4}
        assert values(params, f32(8), f32(12)) == {"n": 4}
        assert fault(params, f32(6), f32(12)) == (
            "ValueError #1 n in B.shape[0]: 3 (n = n in A.shape[0]) | 4"
        )
        assert fault(params, f32(6), f32(13)) == (
            "ValueError #1 B.shape[0]: a value of n * 3 for an integer n | 13"
        )

    def test_what_a_free_stride_bound_is_replaced(self) -> None:
        params = [Optional(Tensor("A", [None], strides=[s])), s]
        assert values(params, f32(1, strides=[7]), of_int(8)) == {"s": 8}
        assert values(params, NONE, of_int(8)) == {"s": 8}
        assert fault(params, f32(5, strides=[7]), of_int(8)) == (
            "ValueError #1 s: 7 (s = A.strides[0]) | 8"
        )

    def test_free_strides_behind_it(self) -> None:
        params = [Optional(s), Tensor("A", [None], strides=[s])]
        assert values(params, NONE, f32(1, strides=[7])) == {"s": 7}
        assert values(params, of_int(8), f32(1, strides=[7])) == {"s": 8}
        assert fault(params, of_int(8), f32(5, strides=[7])) == (
            "ValueError #1 A.strides[0]: 8 (s = s) | 7 (shape=[5], strides=[7])"
        )
