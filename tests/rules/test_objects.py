"""*Kinds*, *Moved objects* and *Objects* of docs/checks.md."""

from __future__ import annotations

import pytest

from ffi_builder.abi import TypeIndex
from ffi_builder.spec import (
    Array,
    Bytes,
    Choice,
    ConstNone,
    Function,
    Map,
    Object,
    Param,
    Shape,
    String,
    Struct,
    Tensor,
    TupleParam,
)
from tests.differential.description import NONE, Plain
from tests.rules.calls import accepted, fault
from tests.support.raw import kept, moved, object_, register, small, str_, words

BASE = register("ffi_builder.oracle.Base")
DERIVED = register("ffi_builder.oracle.Derived", BASE, depth=2)
LEAF = register("ffi_builder.oracle.Leaf", DERIVED, depth=3)

TAKE_OBJECTS: list[tuple[Param, str]] = [
    (Tensor("x", [], "float32", device_type="cpu"), "Tensor"),
    (Shape("x", []), "Shape or list of ints"),
    (TupleParam("x", []), "tuple"),
    (Struct("x", []), "tuple"),
    (String("x"), "str"),
    (Bytes("x"), "bytes"),
    (Choice("x", {"relu": 1}), "str"),
    (Object("x", "ffi.Module"), "ffi.Module"),
    (Object("x", "ffi_builder.oracle.Base"), "ffi_builder.oracle.Base"),
    (Function("x"), "Function"),
    (Array("x"), "Array"),
    (Map("x"), "Map"),
]


class TestKinds:
    @pytest.mark.parametrize(
        ("type_index", "kind"),
        [
            (5, "dtype"),
            (6, "device"),
            (7, "DLTensor*"),
            (8, "char*"),
            (9, "TVMFFIByteArray*"),
            (10, "moved object"),
            (11, "str"),
            (12, "bytes"),
            (13, "Unchanged"),
            (14, "type index 14"),
            (63, "type index 63"),
            (64, "ffi.Object"),
            (65, "str"),
            (66, "bytes"),
            (67, "ffi.Error"),
            (68, "ffi.Function"),
            (69, "ffi.Shape"),
            (70, "ffi.Tensor"),
            (71, "list"),
            (72, "dict"),
            (73, "ffi.Module"),
            (74, "Python object"),
            (75, "ffi.List"),
            (76, "ffi.Dict"),
            (77, "ffi.VisitInterrupt"),
            (78, "int beyond int64"),
            (79, "type index 79"),
            (127, "type index 127"),
            (2**31 - 1, "type index 2147483647"),
        ],
    )
    def test_static(self, type_index: int, kind: str) -> None:
        expected = f"TypeError #0 type of x: None | {kind}"
        assert fault([ConstNone("x")], Plain(type_index)) == expected

    def test_of_the_registry(self) -> None:
        expected = "TypeError #0 type of x: None | ffi_builder.oracle.Derived"
        assert fault([ConstNone("x")], object_(DERIVED)) == expected

    @pytest.mark.parametrize(
        "given", [Plain(BASE), object_(BASE, says=DERIVED), object_(BASE, says=64)]
    )
    def test_what_does_not_say_so_itself(self, given: Plain) -> None:
        assert fault([ConstNone("x")], given) == f"TypeError #0 type of x: None | type index {BASE}"


class TestMoved:
    @pytest.mark.parametrize(("param", "expected"), TAKE_OBJECTS)
    def test_the_kind_that_it_holds_is_shown(self, param: Param, expected: str) -> None:
        for held, kind in [
            (object_(TypeIndex.ERROR), "ffi.Error"),
            (object_(TypeIndex.BIG_INT), "int beyond int64"),
            (object_(79), "type index 79"),
            (object_(register("ffi_builder.oracle.Other")), "ffi_builder.oracle.Other"),
        ]:
            wanted = f"TypeError #0 type of x: {expected} | {kind}"
            assert fault([param], moved(held)) == wanted

    @pytest.mark.parametrize(("param", "expected"), [*TAKE_OBJECTS, (Object("x"), "Object")])
    def test_null(self, param: Param, expected: str) -> None:
        for given in (Plain(TypeIndex.OBJECT_RVALUE_REF), moved(Plain(0))):
            assert fault([param], given) == "ValueError #0 x: a non-NULL object | NULL", expected

    def test_only_objects_are_held(self) -> None:
        assert fault([String("x")], moved(object_(11))) == "TypeError #0 type of x: str | str"
        assert fault([Object("x")], moved(object_(63))) == (
            "TypeError #0 type of x: Object | type index 63"
        )

    def test_accepted(self) -> None:
        held = object_(TypeIndex.MAP)
        assert accepted([Map("x")], moved(held)).singles == {"x": held.payload}
        assert accepted([String("x")], moved(str_(b"long enough"))).singles == {"x": b"long enough"}
        assert accepted([Choice("x", {"relu": 5})], moved(str_(b"relu"))).singles == {"x": 5}

    def test_a_parameter_that_takes_no_objects(self) -> None:
        assert fault([ConstNone("x")], moved(object_(64))) == (
            "TypeError #0 type of x: None | moved object"
        )


class TestObject:
    @pytest.mark.parametrize("type_index", [64, 65, 70, 74, 78, 79, 127, 128, BASE, 2**31 - 1])
    def test_any(self, type_index: int) -> None:
        given = Plain(type_index, kept(bytes(24)))
        assert accepted([Object("x")], given).singles == {"x": given.payload}
        assert fault([Object("x")], Plain(type_index)) == (
            "ValueError #0 x: a non-NULL object | NULL"
        )

    @pytest.mark.parametrize(
        ("given", "kind"),
        [
            (NONE, "None"),
            (Plain(TypeIndex.DL_TENSOR_PTR, 64), "DLTensor*"),
            (small(b"abc"), "str"),
            (Plain(63), "type index 63"),
            (Plain(-1), "type index -1"),
        ],
    )
    def test_no_object(self, given: Plain, kind: str) -> None:
        assert fault([Object("x")], given) == f"TypeError #0 type of x: Object | {kind}"
        assert fault([Object("x", "ffi.Object")], given) == (
            f"TypeError #0 type of x: ffi.Object | {kind}"
        )

    def test_static_type_key(self) -> None:
        params = [Object("x", "ffi.Module")]
        given = object_(TypeIndex.MODULE, says=TypeIndex.FUNCTION)
        assert accepted(params, given).singles == {"x": given.payload}
        assert fault(params, Plain(73)) == "ValueError #0 x: a non-NULL object | NULL"
        assert fault(params, object_(68, says=73)) == (
            "TypeError #0 type of x: ffi.Module | ffi.Function"
        )
        assert fault(params, object_(BASE)) == (
            "TypeError #0 type of x: ffi.Module | ffi_builder.oracle.Base"
        )
        assert accepted([Object("x", "ffi.String")], str_(b"abc"))
        assert fault([Object("x", "ffi.String")], small(b"abc")) == (
            "TypeError #0 type of x: ffi.String | str"
        )

    def test_everything_is_derived_from_object(self) -> None:
        params = [Object("x", "ffi.Object")]
        for given in (object_(64), object_(70), object_(LEAF), object_(BASE, says=64)):
            assert accepted(params, given)
            assert accepted(params, moved(given))
        assert fault(params, Plain(BASE)) == "ValueError #0 x: a non-NULL object | NULL"

    @pytest.mark.parametrize(
        ("key", "right", "wrong"),
        [
            ("ffi_builder.oracle.Base", [BASE, DERIVED, LEAF], []),
            ("ffi_builder.oracle.Derived", [DERIVED, LEAF], [BASE]),
            ("ffi_builder.oracle.Leaf", [LEAF], [BASE, DERIVED]),
            ("ffi_builder.oracle.unknown", [], [BASE]),
        ],
    )
    def test_derived(self, key: str, right: list[int], wrong: list[int]) -> None:
        names = {BASE: "Base", DERIVED: "Derived"}
        for index in right:
            assert accepted([Object("x", key)], object_(index))
            assert accepted([Object("x", key)], moved(object_(index)))
        for index in wrong:
            assert fault([Object("x", key)], object_(index)) == (
                f"TypeError #0 type of x: {key} | ffi_builder.oracle.{names[index]}"
            )

    @pytest.mark.parametrize("given", [Plain(BASE), object_(BASE, says=DERIVED)])
    def test_what_does_not_say_so_itself(self, given: Plain) -> None:
        assert fault([Object("x", "ffi_builder.oracle.Base")], given) == (
            f"TypeError #0 type of x: ffi_builder.oracle.Base | type index {BASE}"
        )


@pytest.mark.parametrize(
    ("param", "type_index"),
    [(Function("x"), 68), (Array("x"), 71), (Map("x"), 72)],
    ids=["Function", "Array", "Map"],
)
def test_one_type(param: Param, type_index: int) -> None:
    given = Plain(type_index, words(0, 0, 0))
    assert accepted([param], given).singles == {"x": given.payload}
    assert fault([param], Plain(type_index)) == "ValueError #0 x: a non-NULL object | NULL"
    name = type(param).__name__
    for other, kind in [(64, "ffi.Object"), (75, "ffi.List"), (76, "ffi.Dict"), (0, "None")]:
        assert fault([param], Plain(other)) == f"TypeError #0 type of x: {name} | {kind}"
