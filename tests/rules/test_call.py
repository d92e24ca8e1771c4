"""Whole calls: messages, the argument array, Shapes, tuples, and what an accepted call says."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import (
    ConstNone,
    EnvStream,
    Param,
    Shape,
    Signature,
    Struct,
    TupleParam,
    Var,
    outline,
)
from tests.differential.description import (
    NONE,
    Arguments,
    DLTensor,
    Elements,
    Ints,
    Moved,
    Object,
    Plain,
    Value,
    array,
    list_,
    of_bool,
    of_float,
    of_int,
    shape,
    str_,
    tensor,
)
from tests.oracle import Accepted, Rejected
from tests.rules.calls import accepted, f32, fault, judge_call, values

Tensor = partial(spec.Tensor, dtype="float32", device_type="cpu")
n, k, m = spec.dims("n k m")
MATMUL = Signature("matmul", [Tensor("A", [n, k]), Tensor("B", [k, m]), Tensor("C", [n, m])])


def message(signature: Signature, arguments: Arguments) -> str:
    found = judge_call(signature, arguments)
    assert isinstance(found, Rejected)
    return f"{found.kind}: {found.message}"


class TestMessages:
    def test_the_one_of_the_design(self) -> None:
        assert message(MATMUL, Arguments((f32(2, 3), f32(4, 5), f32(2, 5)))) == (
            "ValueError: Mismatched B.shape[0] on argument #1 when calling: `matmul(A: "
            "Tensor([n, k], float32), B: Tensor([k, m], float32), C: Tensor([n, m], float32))`, "
            "expected 3 (k = A.shape[1]) but got 4"
        )

    @pytest.mark.parametrize(
        ("count", "shown"), [(0, "0"), (2, "2"), (4, "4"), (-1, "-1"), (2**31 - 1, "2147483647")]
    )
    def test_number_of_arguments(self, count: int, shown: str) -> None:
        assert message(MATMUL, Arguments(None, count)) == (
            "TypeError: Mismatched number of arguments when calling: `matmul(A: "
            "Tensor([n, k], float32), B: Tensor([k, m], float32), C: Tensor([n, m], float32))`, "
            f"expected 3 but got {shown}"
        )

    def test_number_of_arguments_with_varargs(self) -> None:
        signature = Signature("f", [spec.String("form"), spec.VarArgs("rest")])
        for count in (0, -1):
            assert message(signature, Arguments(None, count)) == (
                "TypeError: Mismatched number of arguments when calling: `f(form: String, "
                f"*rest: Any)`, expected at least 1 but got {count}"
            )
        for more in ((), (NONE,), (NONE, of_int(3), of_float(0.5))):
            given = Arguments((str_(b"a"), *more))
            assert isinstance(judge_call(signature, given), Accepted)
        alone = Signature("f", [spec.VarArgs("rest")])
        assert isinstance(judge_call(alone, Arguments(None, 0)), Accepted)

    def test_argument_array(self) -> None:
        signature = Signature("f", [n])
        assert message(signature, Arguments(None, 1)) == (
            "ValueError: Mismatched argument array when calling: `f(n: int64)`, "
            "expected a non-NULL pointer but got NULL"
        )
        assert judge_call(Signature("f", []), Arguments(None)) == Accepted({}, {}, None)

    def test_the_first_that_fails_is_reported(self) -> None:
        given = Arguments((f32(2, 3), f32(4, 5, data=0), NONE))
        assert "B.shape[0]" in message(MATMUL, given)

    @pytest.mark.parametrize("length", [399, 400])
    def test_whole_up_to_400_characters(self, length: int) -> None:
        name = "f" * (length - len("(a: None, b: None, c: None)"))
        signature = Signature(name, [ConstNone(part) for part in "abc"])
        assert f"`{outline(signature)}`" in message(signature, Arguments(None, 0))

    @pytest.mark.parametrize(
        ("wrong", "shown"),
        [
            (0, "(a: None, ...)"),
            (1, "(..., b: None, ...)"),
            (2, "(..., c: None)"),
            (None, "(...)"),
        ],
    )
    def test_elided_beyond(self, wrong: int | None, shown: str) -> None:
        name = "f" * (401 - len("(a: None, b: None, c: None)"))
        signature = Signature(name, [ConstNone(part) for part in "abc"])
        given = tuple(of_int(0) if index == wrong else NONE for index in range(3))
        arguments = Arguments(given) if wrong is not None else Arguments(None, 3)
        assert f"`{name}{shown}`" in message(signature, arguments)

    def test_the_only_argument_is_shown_whole(self) -> None:
        signature = Signature("f", [Shape("s", [1] * 200)])
        assert f"`{outline(signature)}`" in message(signature, Arguments((NONE,)))


class TestShapes:
    dims = (Shape("dims", [n, 4]),)

    @pytest.mark.parametrize(
        "given",
        [
            shape(1, 4),
            array(of_int(1), of_int(4)),
            list_(of_bool(True), of_int(4)),
            Moved(shape(1, 4)),
            Moved(list_(of_int(1), of_int(4))),
        ],
        ids=["Shape", "Array", "List", "moved Shape", "moved List"],
    )
    def test_kinds(self, given: Value) -> None:
        assert values(self.dims, given) == {"n": 1}

    @pytest.mark.parametrize(
        ("given", "kind"),
        [(NONE, "None"), (Moved(Object(70)), "ffi.Tensor"), (f32(), "ffi.Tensor")],
    )
    def test_other_kinds(self, given: Value, kind: str) -> None:
        expected = f"TypeError #0 type of dims: Shape or list of ints | {kind}"
        assert fault(self.dims, given) == expected

    @pytest.mark.parametrize("kind", [TypeIndex.SHAPE, TypeIndex.ARRAY, TypeIndex.LIST])
    def test_null_object_and_elements(self, kind: TypeIndex) -> None:
        assert fault(self.dims, Plain(kind)) == "ValueError #0 dims: a non-NULL object | NULL"
        body = Ints(None, 2) if kind == TypeIndex.SHAPE else Elements(None, 2)
        assert fault(self.dims, Object(kind, body)) == (
            "ValueError #0 dims: non-NULL elements | NULL"
        )
        body = Ints(None, 0) if kind == TypeIndex.SHAPE else Elements(None, 0)
        assert accepted([Shape("dims", [])], Object(kind, body))

    def test_length(self) -> None:
        assert fault(self.dims, shape(1, 4, 5)) == "ValueError #0 length of dims: 2 | 3"
        assert fault(self.dims, array()) == "ValueError #0 length of dims: 2 | 0"

    @pytest.mark.parametrize("size", [-1, -(2**63), 2**63 - 1])
    def test_length_is_an_int64(self, size: int) -> None:
        for given in (
            Object(TypeIndex.LIST, Elements(None, size)),
            Object(TypeIndex.SHAPE, Ints(None, size)),
        ):
            assert fault(self.dims, given) == f"ValueError #0 length of dims: 2 | {size}"

    def test_type_and_value_of_each_entry_in_turn(self) -> None:
        given = array(of_int(-1), of_float(4.0))
        assert fault(self.dims, given) == "ValueError #0 dims[0]: a non-negative value | -1"
        given = array(of_int(1), of_float(4.0))
        assert fault(self.dims, given) == "TypeError #0 type of dims[1]: int | float"
        given = array(of_int(1), Moved(shape()))
        assert fault(self.dims, given) == "TypeError #0 type of dims[1]: int | moved object"
        given = array(of_int(1), of_int(2**63))
        assert fault(self.dims, given) == "TypeError #0 type of dims[1]: int | int beyond int64"
        assert fault(self.dims, shape(1, 5)) == "ValueError #0 dims[1]: 4 | 5"


class TestTuples:
    cfg = (
        TupleParam("cfg", [n, TupleParam("inner", [Tensor("x", [n]), Shape("s", [k])])]),
        Tensor("A", [k]),
    )

    def test_elements(self) -> None:
        given = list_(of_int(3), array(f32(3), shape(5)))
        found = accepted(self.cfg, given, f32(5))
        assert found.values == {"n": 3, "k": 5}
        assert list(found.tensors) == ["cfg[1][0]", "A"]

    def test_paths(self) -> None:
        given = list_(of_int(3), array(f32(4), shape(5)))
        assert fault(self.cfg, given, f32(5)) == (
            "ValueError #0 cfg[1][0].shape[0]: 3 (n = cfg[0]) | 4"
        )
        given = list_(of_int(3), array(f32(3), shape(5)))
        assert (
            fault(self.cfg, given, f32(6)) == "ValueError #1 A.shape[0]: 5 (k = cfg[1][1][0]) | 6"
        )
        given = list_(of_int(3), array(f32(3), NONE))
        assert fault(self.cfg, given, f32(6)) == (
            "TypeError #0 type of cfg[1][1]: Shape or list of ints | None"
        )

    def test_kind_null_length_elements(self) -> None:
        params: list[Param] = [TupleParam("t", [n])]
        assert fault(params, shape(3)) == "TypeError #0 type of t: tuple | ffi.Shape"
        assert fault(params, Plain(TypeIndex.LIST)) == "ValueError #0 t: a non-NULL object | NULL"
        assert fault(params, array()) == "ValueError #0 length of t: 1 | 0"
        given = Object(TypeIndex.ARRAY, Elements(None, 1))
        assert fault(params, given) == "ValueError #0 t: non-NULL elements | NULL"
        assert accepted([TupleParam("t", [])], Object(TypeIndex.ARRAY, Elements(None, 0)))


class TestStructs:
    inner = TupleParam("inner", [Tensor("x", [n]), Shape("s", [k])])
    cfg = (Struct("cfg", [n, inner, Struct("deep", [Tensor("y", [k])])]),)

    def test_fields(self) -> None:
        given = list_(of_int(3), array(f32(3), shape(5)), Moved(array(f32(5))))
        found = accepted(self.cfg, given)
        assert found.values == {"n": 3, "k": 5}
        assert list(found.tensors) == ["cfg.inner[0]", "cfg.deep.y"]

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            (array(NONE, NONE, NONE), "TypeError #0 type of cfg.n: int | None"),
            (array(of_int(3), NONE, NONE), "TypeError #0 type of cfg.inner: tuple | None"),
            (
                array(of_int(3), array(f32(4), NONE), NONE),
                "ValueError #0 cfg.inner[0].shape[0]: 3 (n = cfg.n) | 4",
            ),
            (
                array(of_int(3), array(f32(3), shape(5)), list_()),
                "ValueError #0 length of cfg.deep: 1 | 0",
            ),
            (
                array(of_int(3), array(f32(3), shape(5)), list_(f32(6))),
                "ValueError #0 cfg.deep.y.shape[0]: 5 (k = cfg.inner[1][0]) | 6",
            ),
        ],
    )
    def test_paths(self, given: Value, expected: str) -> None:
        assert fault(self.cfg, given) == expected

    def test_kind_null_length_elements(self) -> None:
        assert fault(self.cfg, shape(3)) == "TypeError #0 type of cfg: tuple | ffi.Shape"
        assert fault(self.cfg, Moved(None)) == "ValueError #0 cfg: a non-NULL object | NULL"
        assert fault(self.cfg, array()) == "ValueError #0 length of cfg: 3 | 0"
        given = Object(TypeIndex.LIST, Elements(None, 3))
        assert fault(self.cfg, given) == "ValueError #0 cfg: non-NULL elements | NULL"


class TestEnvStream:
    def test_device_of_the_first_tensor_elsewhere_than_on_the_cpu(self) -> None:
        inner = spec.Tensor("x", [], "float32", device_type="cuda")
        params = [EnvStream("stream"), Tensor("A", []), TupleParam("t", [inner])]
        given = tensor(DLTensor((), device_type=2, device_id=3))
        assert accepted(params, f32(), array(given)).env_stream_device == (2, 3)

    def test_absent_tensors_and_those_that_came_on_a_cpu(self) -> None:
        anywhere = spec.Tensor("x", [], "float32", device_type="any")
        params = [spec.Optional(anywhere), replace(anywhere, name="y"), EnvStream("stream")]
        cpu, cuda = f32(device_id=9), tensor(DLTensor((), device_type=2, device_id=3))
        rocm = tensor(DLTensor((), device_type=10, device_id=1))
        assert accepted(params, cuda, rocm).env_stream_device == (2, 3)
        assert accepted(params, NONE, rocm).env_stream_device == (10, 1)
        assert accepted(params, cpu, rocm).env_stream_device == (10, 1)
        assert accepted(params, NONE, cpu).env_stream_device is None

    def test_is_no_argument(self) -> None:
        inner = spec.Tensor("x", [], "float32", device_type="cuda")
        signature = Signature("f", [EnvStream("stream"), inner, Var("y", "bool")])
        given = Arguments((tensor(DLTensor((), device_type=2)), NONE))
        assert message(signature, given) == (
            "TypeError: Mismatched type of y on argument #1 when calling: "
            "`f(x: Tensor([], float32), y: bool)`, expected bool but got None"
        )
