"""The words of errors about strings, choices, objects, structs and Optionals (docs/checks.md)."""

from __future__ import annotations

from functools import partial
from typing import Final

import pytest

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import (
    Array,
    Bytes,
    Choice,
    Device,
    DType,
    Function,
    Map,
    Object,
    Optional,
    Shape,
    String,
    Struct,
    Tensor,
    TupleParam,
    Var,
    dims,
)
from tests.builder.messages.failing import Failure, check_both, compile_all
from tests.differential.description import (
    NONE,
    DLTensor,
    Moved,
    Plain,
    Value,
    array,
    list_,
    of_bool,
    of_float,
    of_int,
    of_pointer,
    shape,
    tensor,
)
from tests.differential.description import Object as Obj
from tests.oracle.raw import (
    byte_array,
    bytes_,
    char_pointer,
    moved,
    object_,
    register,
    small,
    str_,
    words,
)
from tests.support.wrapping import RawWrapper

BASE: Final = register("tests.messages.Base")
DERIVED: Final = register("tests.messages.Derived", BASE, depth=2)
OTHER: Final = register("tests.messages.Other")
n, m = dims("n m")
ALPHA = Var("alpha", "float32")
ACT = Choice("act", {"relu": 1, "gelu": 2})
LONG = Choice("act", {"a" * 63: 1, "b" * 64: 2})
ACT_TEXT = "act: Choice({'relu': 1, 'gelu': 2})"
LONG_TEXT = f"act: Choice({{'{'a' * 63}': 1, '{'b' * 64}': 2}})"
NON_NULL = "a non-NULL object"


def kind(param: spec.Param, text: str, given: Value, expected: str, got: str) -> Failure:
    """An argument of a kind that the one parameter does not take."""
    subject = f"type of {param.name} on argument #0"
    return Failure([param], [given], "TypeError", subject, f"f({text})", expected, got)


def refused(
    param: spec.Param, text: str, given: Value, expected: str, got: str, subject: str = ""
) -> Failure:
    """An argument of the right kind that is refused for what it is."""
    subject = f"{subject or param.name} on argument #0"
    return Failure([param], [given], "ValueError", subject, f"f({text})", expected, got)


a_str = partial(refused, String("s"), "s: String")
no_str = partial(kind, String("s"), "s: String", expected="str")
some_bytes = partial(refused, Bytes("s"), "s: Bytes")
no_bytes = partial(kind, Bytes("s"), "s: Bytes", expected="bytes")
chosen = partial(refused, ACT, ACT_TEXT, expected="one of 'relu', 'gelu'")
IN_PLACE = "at most 7, as it is held in place"

STRINGS = {
    "no str": no_str(of_int(1), got="int"),
    "no str but bytes": no_str(small(b"abc", TypeIndex.SMALL_BYTES), got="bytes"),
    "no str but long bytes": no_str(bytes_(b"12345678"), got="bytes"),
    "no str but a byte array": no_str(byte_array(b"abc"), got="TVMFFIByteArray*"),
    "no str but None": no_str(NONE, got="None"),
    "no str but a moved Array": no_str(Moved(array()), got="ffi.Array"),
    "moved bytes": no_str(moved(bytes_(b"12345678")), got="bytes"),
    "NULL str": a_str(Plain(TypeIndex.STR), NON_NULL, "NULL"),
    "NULL char*": a_str(Plain(TypeIndex.RAW_STR), NON_NULL, "NULL"),
    "moved NULL": a_str(Moved(None), NON_NULL, "NULL"),
    "moved at NULL": a_str(Plain(TypeIndex.OBJECT_RVALUE_REF), NON_NULL, "NULL"),
    "NULL characters": a_str(object_(TypeIndex.STR, 0, 3), "non-NULL elements", "NULL"),
    "small str": a_str(small(b"1234567", length=8), IN_PLACE, "8", "length of s"),
    "no bytes": no_bytes(of_float(1.0), got="float"),
    "no bytes but a str": no_bytes(small(b"abc"), got="str"),
    "no bytes but a long str": no_bytes(str_(b"12345678"), got="str"),
    "no bytes but a char*": no_bytes(char_pointer(b"abc"), got="char*"),
    "NULL bytes": some_bytes(Plain(TypeIndex.BYTES), NON_NULL, "NULL"),
    "NULL byte array": some_bytes(Plain(TypeIndex.BYTE_ARRAY_PTR), NON_NULL, "NULL"),
    "byte array of NULL": some_bytes(
        Plain(TypeIndex.BYTE_ARRAY_PTR, words(0, 1)), "non-NULL elements", "NULL"
    ),
    "small bytes": some_bytes(
        small(b"", TypeIndex.SMALL_BYTES, 9), IN_PLACE, "9", subject="length of s"
    ),
    "no choice": kind(ACT, ACT_TEXT, of_int(1), "str", "int"),
    "none of the choices": chosen(small(b"tanh"), got="'tanh'"),
    "nearly one": chosen(small(b"rleu"), got="'rleu' (did you mean 'relu'?)"),
    "nearly both": chosen(small(b"elu"), got="'elu' (did you mean 'relu'?)"),
    "nearly the second": chosen(str_(b"gelu_"), got="'gelu_' (did you mean 'gelu'?)"),
    "nearly one, as a char*": chosen(char_pointer(b"relu2"), got="'relu2' (did you mean 'relu'?)"),
    "the empty str": chosen(small(b""), got="''"),
    "too far off": chosen(str_(b"relu_relu"), got="'relu_relu'"),
    "what is not printable": chosen(str_(b"r\xc3\xa9lu'\\\n"), got=r"'r\xc3\xa9lu\x27\x5c\x0a'"),
    "a NUL within": chosen(str_(b"relu\0"), got=r"'relu\x00' (did you mean 'relu'?)"),
    "of 64 bytes": refused(
        LONG,
        LONG_TEXT,
        str_(b"b" * 63 + b"c"),
        f"one of '{'a' * 63}', '{'b' * 64}'",
        f"'{'b' * 63}c'",
    ),
    "of 65 bytes": refused(
        LONG,
        LONG_TEXT,
        str_(b"a" * 65),
        f"one of '{'a' * 63}', '{'b' * 64}'",
        f"'{'a' * 64}'... (did you mean '{'a' * 63}'?)",
    ),
}

typed = partial(kind, Object("x", "tests.messages.Derived"), "x: Object('tests.messages.Derived')")
no_derived = partial(typed, expected="tests.messages.Derived")
module = partial(kind, Object("x", "ffi.Module"), "x: Object('ffi.Module')", expected="ffi.Module")

OBJECTS = {
    "no object": kind(Object("x"), "x: Object", of_int(1), "Object", "int"),
    "no object but a small str": kind(Object("x"), "x: Object", small(b"abc"), "Object", "str"),
    "no object but None": kind(Object("x"), "x: Object", NONE, "Object", "None"),
    "NULL object": refused(Object("x"), "x: Object", Plain(64), NON_NULL, "NULL"),
    "NULL of a registered type": refused(Object("x"), "x: Object", Plain(BASE), NON_NULL, "NULL"),
    "moved away": refused(Object("x"), "x: Object", Moved(None), NON_NULL, "NULL"),
    "no module": module(Obj(TypeIndex.FUNCTION), got="ffi.Function"),
    "no module but a moved one": module(Moved(Obj(TypeIndex.MAP)), got="ffi.Map"),
    "no module but a bool": module(of_bool(True), got="bool"),
    "NULL module": refused(
        Object("x", "ffi.Module"), "x: Object('ffi.Module')", Plain(73), NON_NULL, "NULL"
    ),
    "the type it is derived from": no_derived(object_(BASE), got="tests.messages.Base"),
    "of another type": no_derived(object_(OTHER), got="tests.messages.Other"),
    "of another type, moved": no_derived(moved(object_(OTHER)), got="tests.messages.Other"),
    "of a static type": no_derived(Obj(TypeIndex.OBJECT), got="ffi.Object"),
    "that says something else": no_derived(
        object_(DERIVED, says=OTHER), got=f"type index {DERIVED}"
    ),
    "NULL, of the type": no_derived(Plain(DERIVED), got=f"type index {DERIVED}"),
    "no function": kind(Function("x"), "x: Function", Obj(73), "Function", "ffi.Module"),
    "NULL function": refused(Function("x"), "x: Function", Plain(68), NON_NULL, "NULL"),
    "no Array": kind(Array("x"), "x: Array", list_(), "Array", "ffi.List"),
    "NULL Array": refused(Array("x"), "x: Array", Plain(71), NON_NULL, "NULL"),
    "no Map": kind(Map("x"), "x: Map", Obj(TypeIndex.DICT), "Map", "ffi.Dict"),
    "NULL Map": refused(Map("x"), "x: Map", Moved(None), NON_NULL, "NULL"),
    "no dtype": kind(DType("x"), "x: DType", small(b"float32"), "dtype", "str"),
    "no device": kind(Device("x"), "x: Device", of_pointer(1), "device", "opaque pointer"),
}

VECTOR = Tensor("A", [n], "float32", device_type="cpu")
CFG = Struct("cfg", [ALPHA, VECTOR])
CFG_TEXT = "f(cfg: Struct(alpha: float32, A: Tensor([n], float32)))"
in_struct = partial(Failure, [CFG], text=CFG_TEXT)
BEHIND: spec.Param = TupleParam("t", [String("s"), Bytes("b"), Object("o"), n])
behind = partial(Failure, [BEHIND], text="f(t: Tuple(s: String, b: Bytes, o: Object, n: int64))")
MAYBE: list[spec.Param] = [Optional(VECTOR), Optional(Shape("d", [n * 2, 3])), n]
MAYBE_TEXT = "f(A: Optional(Tensor([n], float32)), d: Optional(Shape([n * 2, 3])), n: int64)"
maybe = partial(Failure, MAYBE, text=MAYBE_TEXT)
NESTED: list[spec.Param] = [
    Optional(TupleParam("t", [Optional(Var("a", "int8")), Optional(Struct("c", [ACT]))]))
]
NESTED_TEXT = f"f(t: Optional(Tuple(a: Optional(int8), c: Optional(Struct({ACT_TEXT})))))"
nested = partial(Failure, NESTED, text=NESTED_TEXT)


def three(length: int = 3) -> Value:
    return tensor(DLTensor((length,)))


MADE_OF_OTHERS = {
    "no struct": in_struct(
        [shape(1, 2)],
        kind="TypeError",
        subject="type of cfg on argument #0",
        expected="tuple",
        got="ffi.Shape",
    ),
    "a field's type": in_struct(
        [array(small(b"1.0"), three())],
        kind="TypeError",
        subject="type of cfg.alpha on argument #0",
        expected="float",
        got="str",
    ),
    "a field's dimension": in_struct(
        [list_(of_int(1), three(-1))],
        kind="ValueError",
        subject="cfg.A.shape[0] on argument #0",
        expected="a non-negative value",
        got="-1",
    ),
    "a struct's length": in_struct(
        [array(of_int(1))],
        kind="ValueError",
        subject="length of cfg on argument #0",
        expected="2",
        got="1",
    ),
    "behind a str": behind(
        [array(str_(b"12345678"), of_int(2), Plain(DERIVED), of_float(1.0))],
        kind="TypeError",
        subject="type of t[1] on argument #0",
        expected="bytes",
        got="int",
    ),
    "behind an object": behind(
        [array(small(b""), bytes_(b"12345678"), object_(OTHER), of_float(1.0))],
        kind="TypeError",
        subject="type of t[3] on argument #0",
        expected="int",
        got="float",
    ),
    "no tensor or None": maybe(
        [of_int(1), NONE, of_int(3)],
        kind="TypeError",
        subject="type of A on argument #0",
        expected="Tensor or None",
        got="int",
    ),
    "a moved NULL is not None": maybe(
        [Moved(None), NONE, of_int(3)],
        kind="ValueError",
        subject="A on argument #0",
        expected=NON_NULL,
        got="NULL",
    ),
    "a tensor that is there": maybe(
        [three(-3), NONE, of_int(3)],
        kind="ValueError",
        subject="A.shape[0] on argument #0",
        expected="a non-negative value",
        got="-3",
    ),
    "a symbol that one that is there has bound": maybe(
        [three(), NONE, of_int(4)],
        kind="ValueError",
        subject="n on argument #2",
        expected="3 (n = A.shape[0])",
        got="4",
    ),
    "an expression that waited": maybe(
        [NONE, shape(7, 3), of_int(3)],
        kind="ValueError",
        subject="d[0] on argument #1",
        expected="6 (n * 2 with n = 3 from n)",
        got="7",
    ),
    "no Shape or None": maybe(
        [NONE, small(b""), of_int(3)],
        kind="TypeError",
        subject="type of d on argument #1",
        expected="Shape or list of ints or None",
        got="str",
    ),
    "an entry takes no None": maybe(
        [NONE, array(NONE, of_int(3)), of_int(3)],
        kind="TypeError",
        subject="type of d[0] on argument #1",
        expected="int",
        got="None",
    ),
    "no tuple or None": nested(
        [of_int(1)],
        kind="TypeError",
        subject="type of t on argument #0",
        expected="tuple or None",
        got="int",
    ),
    "an element that is there": nested(
        [array(of_int(200), NONE)],
        kind="ValueError",
        subject="t[0] on argument #0",
        expected="a value that fits int8 (-128 to 127)",
        got="200",
    ),
    "an element of another kind": nested(
        [array(of_float(0.5), NONE)],
        kind="TypeError",
        subject="type of t[0] on argument #0",
        expected="int or None",
        got="float",
    ),
    "a field of an element": nested(
        [array(NONE, array(small(b"rel")))],
        kind="ValueError",
        subject="t[1].act on argument #0",
        expected="one of 'relu', 'gelu'",
        got="'rel' (did you mean 'relu'?)",
    ),
    "a field takes no None": nested(
        [array(NONE, array(NONE))],
        kind="TypeError",
        subject="type of t[1].act on argument #0",
        expected="str",
        got="None",
    ),
}

OR_NONE: dict[spec.Param, tuple[str, str]] = {
    String("x"): ("String", "str"),
    Bytes("x"): ("Bytes", "bytes"),
    Choice("x", {"relu": 1}): ("Choice({'relu': 1})", "str"),
    DType("x"): ("DType", "dtype"),
    Device("x"): ("Device", "device"),
    Object("x"): ("Object", "Object"),
    Object("x", "ffi.Module"): ("Object('ffi.Module')", "ffi.Module"),
    Function("x"): ("Function", "Function"),
    Array("x"): ("Array", "Array"),
    Map("x"): ("Map", "Map"),
    Struct("x", [ALPHA]): ("Struct(alpha: float32)", "tuple"),
    Var("x", "float32"): ("float32", "float"),
    spec.ConstBool("x", True): ("Literal[True]", "bool"),
}
OPTIONALS = {
    f"no {text}, and not None": kind(
        Optional(param),
        f"x: Optional({text})",
        of_int(7) if text != "float32" else small(b""),
        f"{expected} or None",
        "int" if text != "float32" else "str",
    )
    for param, (text, expected) in OR_NONE.items()
}

FAILURES = {**STRINGS, **OBJECTS, **MADE_OF_OTHERS, **OPTIONALS}


@pytest.fixture(scope="module")
def wrappers() -> dict[str, RawWrapper]:
    return compile_all(FAILURES)


def test_names_are_different() -> None:
    assert len(FAILURES) == sum(map(len, (STRINGS, OBJECTS, MADE_OF_OTHERS, OPTIONALS)))


@pytest.mark.parametrize("name", FAILURES)
def test_message(name: str, wrappers: dict[str, RawWrapper]) -> None:
    check_both(FAILURES[name], wrappers[name])
