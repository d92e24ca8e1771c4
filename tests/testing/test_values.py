"""``testing.check`` of every kind of parameter, through values that Python has.

tests/rules has what memory can hold, of which the same code says the same.
"""

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
    dims,
)
from tests.testing.raising import check, mismatch, refused

np = pytest.importorskip("numpy", reason="needs NumPy")
ffi: Any = tvm_ffi  # whose containers are generic
(n,) = dims("n")

ACT = Choice("x", {"relu": 1, "gelu": 2, "a longer choice": 3})
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
]  # fmt: skip


@pytest.mark.parametrize(("param", "value", "at", "expected", "got", "kind"), REJECTED)
def test_rejected(param: Param, value: Any, at: str, expected: str, got: str, kind: Any):
    refused(lambda: check([param], value), kind, mismatch([param], at, expected, got))
    if at == "type of x" and value is not None:
        params = [Optional(param)]
        message = mismatch(params, at, f"{expected} or None", got)
        refused(lambda: check(params, value), kind, message)
