"""``testing.check`` of every kind of parameter, through values that Python has."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import pytest
import tvm_ffi

from ffi_builder import spec
from ffi_builder.spec import (
    Choice,
    Object,
    Optional,
    Param,
    Shape,
    String,
    Struct,
    Tensor,
    TupleParam,
    Var,
    ceildiv,
    dims,
)
from tests.testing.raising import check, mismatch, refused

np = pytest.importorskip("numpy", reason="needs NumPy")
ffi: Any = tvm_ffi  # whose containers are generic
n, m, k = dims("n m k")

ACT = Choice("x", {"relu": 1, "gelu": 2, "a longer choice": 3})
HALF = ("float16", "bfloat16")
BASE, DERIVED = "testing.TestObjectBase", "testing.TestObjectDerived"


class Config(NamedTuple):
    n: int
    s: str


CONFIG = Struct("x", [n, String("s")], Config)


def cpu(
    name: str, shape: Any, dtype: Any = "float32", device_type: str = "cpu", **more: Any
) -> Tensor:
    return Tensor(name, shape, dtype, device_type=device_type, **more)


def zeros(*shape: int, dtype: str = "float32", order: Any = "C") -> Any:
    return np.zeros(shape, dtype, order)


def derived() -> Any:
    return import_module("tvm_ffi.testing").create_object(
        DERIVED, v_i64=1, v_f64=1.0, v_str="a", v_map=ffi.Map({}), v_array=ffi.Array([])
    )


def moved(value: Any) -> Any:
    return value._move()


ACCEPTED: dict[str, tuple[Param, list[Any]]] = {
    "str": (String("x"), ["", "abc", "a long string", "é\0", np.str_("abc"), ffi.convert("a" * 9)]),
    "bytes": (spec.Bytes("x"), [b"", b"abc", b"a lot of bytes", bytearray(b"abc")]),
    "choice": (ACT, ["relu", "gelu", "a longer choice"]),
    "dtype": (spec.DType("x"), [ffi.dtype("float32"), np.dtype("int8")]),
    "device": (spec.Device("x"), [ffi.device("cuda", 3)]),
    "function": (spec.Function("x"), [print, lambda: None, ffi.convert(print)]),
    "array": (spec.Array("x"), [[], (1, "a"), ffi.Array([1])]),
    "map": (spec.Map("x"), [{}, {"a": 1}, ffi.Map({})]),
    "object": (
        Object("x"),
        [[], {}, print, "a long string", b"a lot of bytes", 2**64, object(), zeros(2),
         ffi.Shape((1,)), ffi.List([]), ffi.system_lib(), derived()],
    ),
    "object of a type": (Object("x", "ffi.Module"), [ffi.system_lib()]),
    "object of any type": (Object("x", "ffi.Object"), [[], print, derived()]),
    "object of a derived type": (Object("x", BASE), [derived()]),
    "object of its own type": (Object("x", DERIVED), [derived()]),
    "struct": (CONFIG, [(1, "a"), [1, "a"], Config(1, "a"), ffi.List([1, "a"])]),
    "any rank": (cpu("x", ...), [zeros(), zeros(2), zeros(2, 0, 3), zeros(2, 3, 4)]),
    "one of several dtypes": (cpu("x", [n], ("float32", "float16")), [zeros(2), zeros(2, dtype="float16")]),
    "column-major": (
        cpu("x", [2, 3], strides="F"),
        [zeros(2, 3, order="F"), zeros(3, 2).T],
    ),
    "column-major of any rank": (
        cpu("x", ..., strides="F"),
        [zeros(), zeros(4), zeros(2, 3, 4, order="F"), zeros(1, 4), zeros(0, 4)],
    ),
    "any strides": (cpu("x", [2, 3], strides="any"), [zeros(2, 3), zeros(3, 2).T, zeros(4, 6)[::2, ::2]]),
    "any strides and rank": (cpu("x", ..., strides="any"), [zeros(4, 6)[::2, ::2], zeros()]),
    "any device": (cpu("x", [2], device_type="any"), [zeros(2)]),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str):
    param, values = ACCEPTED[name]
    for value in values:
        check([param], value)
        check([Optional(param)], value)
    check([Optional(param)], None)


def test_any_takes_every_value():
    values: list[Any] = [None, True, 2**70, 0.5, "a", b"a", [1], {}, zeros(2), object(), print]
    for value in values:
        check([spec.Any("x")], value)
        check([TupleParam("t", [spec.Any("x"), n])], (value, 1))


@pytest.mark.parametrize(
    ("param", "make"),
    [
        (Object("x"), lambda: ffi.Array([])),
        (Object("x", "ffi.Map"), lambda: ffi.Map({})),
        (Object("x", BASE), derived),
        (Object("x", DERIVED), derived),
        (spec.Array("x"), lambda: ffi.Array([])),
        (spec.Map("x"), lambda: ffi.Map({})),
        (Shape("x", [n]), lambda: ffi.Array([3])),
        (Shape("x", [n]), lambda: ffi.List([3])),
        (TupleParam("x", [n]), lambda: ffi.Array([3])),
        (CONFIG, lambda: ffi.List([3, "a"])),
    ],
)
def test_moved_objects(param: Param, make: Any):
    value = make()
    for wanted in (param, Optional(param)):
        found = check([wanted], moved(value))
        assert found.get("n", 3) == 3
    check([param], value)  # it is still there


def case(param: Param, value: Any, at: str, expected: str, got: str, kind: Any = TypeError) -> Any:
    return pytest.param(param, value, at, expected, got, kind, id=f"{expected} but got {got}")


NO_STRS: list[tuple[Any, str]] = [
    (None, "None"), (3, "int"), (True, "bool"), (0.5, "float"), (b"abc", "bytes"),
    (b"a lot of bytes", "bytes"), ([], "list"), ({}, "dict"), (print, "ffi.Function"),
    (object(), "Python object"), (2**64, "int beyond int64"), (zeros(2), "ffi.Tensor"),
    (ffi.dtype("int8"), "dtype"), (ffi.device("cpu"), "device"),
    (ffi.Shape((1,)), "ffi.Shape"), (ffi.List([]), "ffi.List"),
    (ffi.Dict({}), "ffi.Dict"), (ffi.system_lib(), "ffi.Module"),
    *((made(), "ffi.VisitInterrupt") for made in [getattr(ffi, "VisitInterrupt", None)] if made),
]  # fmt: skip
REJECTED = [
    *(case(String("x"), value, "type of x", "str", kind) for value, kind in NO_STRS),
    case(String("x"), derived(), "type of x", "str", DERIVED),
    case(spec.Bytes("x"), "abc", "type of x", "bytes", "str"),
    case(spec.Bytes("x"), "a long string", "type of x", "bytes", "str"),
    case(ACT, b"relu", "type of x", "str", "bytes"),
    case(spec.DType("x"), "float32", "type of x", "dtype", "str"),
    case(spec.Device("x"), 3, "type of x", "device", "int"),
    case(spec.Function("x"), [], "type of x", "Function", "list"),
    case(spec.Array("x"), ffi.List([]), "type of x", "Array", "ffi.List"),
    case(spec.Array("x"), derived(), "type of x", "Array", DERIVED),
    case(spec.Map("x"), ffi.Dict({}), "type of x", "Map", "ffi.Dict"),
    case(Object("x"), "abc", "type of x", "Object", "str"),
    case(Object("x"), 3, "type of x", "Object", "int"),
    case(Object("x"), None, "type of x", "Object", "None"),
    case(Object("x", "ffi.Module"), [], "type of x", "ffi.Module", "list"),
    case(Object("x", "ffi.Object"), "abc", "type of x", "ffi.Object", "str"),
    case(Object("x", "ffi.Array"), derived(), "type of x", "ffi.Array", DERIVED),
    case(Object("x", "ffi.String"), "abc", "type of x", "ffi.String", "str"),
    case(CONFIG, {"n": 1}, "type of x", "tuple", "dict"),
    case(CONFIG, (1,), "length of x", "2", "1", ValueError),
    case(CONFIG, (1.5, "a"), "type of x.n", "int", "float"),
    case(CONFIG, (1, None), "type of x.s", "str", "None"),
    case(TupleParam("x", [CONFIG]), [(1, b"")], "type of x[0].s", "str", "bytes"),
    case(cpu("x", ..., HALF), zeros(2), "x.dtype", "one of float16, bfloat16", "float32"),
    case(cpu("x", [2, 3], strides="F"), zeros(2, 3), "x.strides[0]", "1 (column-major contiguous)",
         "3 (shape=[2, 3], strides=[3, 1])", ValueError),
    case(cpu("x", [2, 3, 4], strides="F"), zeros(2, 4, 3, order="F").transpose(0, 2, 1), "x.strides[1]",
         "2 (column-major contiguous)", "8 (shape=[2, 3, 4], strides=[1, 8, 2])", ValueError),
    case(cpu("x", ..., strides="F"), zeros(2, 3), "x.strides[0]", "1 (column-major contiguous)",
         "3 (shape=[2, 3], strides=[3, 1])", ValueError),
    case(cpu("x", ...), zeros(2, 6)[:, ::2], "x.strides[0]", "3 (row-major contiguous)",
         "6 (shape=[2, 3], strides=[6, 2])", ValueError),
]  # fmt: skip


@pytest.mark.parametrize(("param", "value", "at", "expected", "got", "kind"), REJECTED)
def test_rejected(param: Param, value: Any, at: str, expected: str, got: str, kind: Any):
    refused(lambda: check([param], value), kind, mismatch([param], at, expected, got))
    if at == "type of x" and value is not None:
        params = [Optional(param)]
        message = mismatch(params, at, f"{expected} or None", got)
        refused(lambda: check(params, value), kind, message)


@pytest.mark.parametrize(
    ("param", "make", "expected", "got"),
    [
        (String("x"), lambda: ffi.Array([]), "str", "list"),
        (spec.Function("x"), lambda: ffi.Map({}), "Function", "dict"),
        (spec.Array("x"), derived, "Array", DERIVED),
        (Object("x", "ffi.Map"), lambda: ffi.Array([]), "ffi.Map", "list"),
        (Shape("x", [n]), lambda: ffi.Map({}), "Shape or list of ints", "dict"),
        (cpu("x", [n]), lambda: ffi.List([]), "Tensor", "ffi.List"),
        # Parameters that take no objects do not look into it.
        (Var("x", "int64"), lambda: ffi.Array([]), "int", "moved object"),
        (spec.DType("x"), derived, "dtype", "moved object"),
        (spec.ConstNone("x"), derived, "None", "moved object"),
    ],
)
def test_moved_objects_of_another_kind(param: Param, make: Any, expected: str, got: str):
    message = mismatch([param], "type of x", expected, got)
    refused(lambda: check([param], moved(make())), TypeError, message)


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("rleu", "'rleu' (did you mean 'relu'?)"),
        ("Relu", "'Relu' (did you mean 'relu'?)"),
        ("elu", "'elu' (did you mean 'relu'?)"),
        ("relugelu", "'relugelu' (did you mean 'relu'?)"),
        ("gel", "'gel' (did you mean 'gelu'?)"),
        ("elu ", "'elu ' (did you mean 'relu'?)"),
        ("", "''"),
        ("x", "'x'"),
        ("re", "'re' (did you mean 'relu'?)"),
        ("r", "'r'"),
        ("a longish choice", "'a longish choice' (did you mean 'a longer choice'?)"),
        ("é'\n", r"'\xc3\xa9\x27\x0a'"),
        ("x" * 65, f"'{'x' * 64}'..."),
        ("relu\0", r"'relu\x00' (did you mean 'relu'?)"),
    ],
)
def test_no_choice(text: str, got: str):
    expected = "one of 'relu', 'gelu', 'a longer choice'"
    refused(lambda: check([ACT], text), ValueError, mismatch([ACT], "x", expected, got))


def test_long_choices_are_not_thought_of():
    near, far = "a" * 63, "b" * 64
    act = Choice("x", {near: 1, far: 2})
    expected = f"one of '{near}', '{far}'"
    for text, got in [
        (near + "a", f"'{near}a' (did you mean '{near}'?)"),
        (near * 2, f"'{near}a'... (did you mean '{near}'?)"),
        (near * 2 + "a", f"'{near}a'..."),
        (far + "b", f"'{far}'..."),
    ]:
        message = mismatch([act], "x", expected, got)
        refused(lambda text=text: check([act], text), ValueError, message)


class TestOptional:
    def test_what_nothing_binds_is_0(self):
        var = [Var("b", "bool"), Var("f", "float32"), Var("i", "uint8"), n]
        params = [Optional(TupleParam("t", var)), Optional(cpu("x", [n, m * 2]))]
        found = check(params, None, None)
        assert found == {"b": False, "f": 0.0, "i": 0, "n": 0, "m": 0}
        assert [type(value) for value in found.values()] == [bool, float, int, int, int]
        assert check(params, None, zeros(3, 4)) == {**found, "n": 3, "m": 2}

    def test_the_next_one_binds_or_is_compared(self):
        params = [Optional(cpu("x", [n])), Optional(cpu("y", [n])), Shape("s", [n])]
        assert check(params, None, None, [5]) == {"n": 5}
        assert check(params, None, zeros(5), [5]) == {"n": 5}
        for args, at, argument, origin in [
            ((zeros(4), None, [5]), "s[0]", 2, "x.shape[0]"),
            ((None, zeros(4), [5]), "s[0]", 2, "y.shape[0]"),
            ((zeros(4), zeros(5), [4]), "y.shape[0]", 1, "x.shape[0]"),
        ]:
            message = mismatch(params, at, f"4 (n = {origin})", "5", argument)
            refused(lambda args=args: check(params, *args), ValueError, message)

    def test_a_free_stride_in_one_is_replaced(self):
        params = [Optional(cpu("x", [m], strides=[n])), n]
        free, held = zeros(10)[::7][:1], zeros(10)[::7]
        assert check(params, free, 3) == {"m": 1, "n": 3}
        assert check(params, None, 3) == {"m": 0, "n": 3}
        message = mismatch(params, "n", "7 (n = x.strides[0])", "3", 1)
        refused(lambda: check(params, held, 3), ValueError, message)

    def test_expressions_that_wait(self):
        params = [
            Optional(n),
            Shape("s", [n * 2, ceildiv(m, 2)]),
            Optional(TupleParam("t", [m, Shape("u", [k + n]), k])),
        ]
        assert check(params, None, [6, 2], None) == {"n": 0, "m": 0, "k": 0}
        assert check(params, 3, [6, 2], None) == {"n": 3, "m": 0, "k": 0}
        assert check(params, 3, [6, 2], (4, [8], 5)) == {"n": 3, "m": 4, "k": 5}
        assert check(params, None, [6, 2], (4, [8], 5)) == {"n": 0, "m": 4, "k": 5}
        message = mismatch(params, "s[0]", "6 (n * 2 with n = 3 from n)", "7", 1)
        refused(lambda: check(params, 3, [7, 2], None), ValueError, message)
        message = mismatch(
            params, "t[1][0]", "8 (k + n with k = 5 from t[2], n = 3 from n)", "9", 2
        )
        refused(lambda: check(params, 3, [6, 2], (4, [9], 5)), ValueError, message)

    def test_elements(self):
        params = [TupleParam("t", [Optional(cpu("x", [n])), Optional(Struct("c", [Optional(n)]))])]
        assert check(params, (None, None)) == {"n": 0}
        assert check(params, (zeros(3), (None,))) == {"n": 3}
        assert check(params, (None, (3,))) == {"n": 3}
        message = mismatch(params, "type of t[1].n", "int or None", "str")
        refused(lambda: check(params, (None, ("a",))), TypeError, message)
        message = mismatch(params, "t[1].n", "3 (n = t[0].shape[0])", "4")
        refused(lambda: check(params, (zeros(3), (4,))), ValueError, message)

    def test_solved_again(self):
        params = [Optional(Shape("s", [n * 2])), Shape("u", [n * 3])]
        assert check(params, None, [9]) == {"n": 3}
        message = mismatch(params, "n in u[0]", "4 (n = n in s[0])", "3", 1)
        refused(lambda: check(params, [8], [9]), ValueError, message)
