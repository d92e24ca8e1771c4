"""*A list* of docs/checks.md: of numbers, strs or bytes."""

from __future__ import annotations

from typing import Final

import pytest

from ffi_builder.abi import TypeIndex
from ffi_builder.spec import List, Optional, Param, Tensor, Var, dims
from tests.differential.description import (
    NONE,
    Elements,
    Moved,
    Object,
    Plain,
    Value,
    array,
    bytes_,
    list_,
    of_bool,
    of_float,
    of_int,
    shape,
    small,
    str_,
)
from tests.rules.calls import accepted, f32, fault, values

n, k = dims("n k")
PAGES: Final[list[Param]] = [List("pages", "int64", n)]


def test_what_is_right():
    ints = (of_int(4), of_int(-5), of_bool(True))
    for given in (array(*ints), list_(*ints), Moved(array(*ints)), shape(4, -5, 1)):
        found = accepted(PAGES, given)
        assert found.values == {"n": 3}
        assert list(found.elements["pages"]) == [4, -5, 1]
    assert values(PAGES, array()) == {"n": 0}
    assert values(PAGES, shape()) == {"n": 0}
    assert values(PAGES, Object(TypeIndex.ARRAY, Elements(None, 0))) == {"n": 0}


def test_the_list_itself():
    kind = "TypeError #0 type of pages: list of ints | {}"
    assert fault(PAGES, NONE) == kind.format("None")
    assert fault(PAGES, f32(2)) == kind.format("ffi.Tensor")
    assert fault(PAGES, str_(b"12")) == kind.format("str")
    assert fault([List("w", "float32")], shape(2)) == (
        "TypeError #0 type of w: list of floats | ffi.Shape"
    )
    assert (
        fault([List("b", "bool")], shape(1)) == "TypeError #0 type of b: list of bools | ffi.Shape"
    )
    assert fault([Optional(PAGES[0])], of_int(1)).endswith(": list of ints or None | int")
    assert fault(PAGES, Plain(TypeIndex.LIST)) == "ValueError #0 pages: a non-NULL object | NULL"
    missing = Object(TypeIndex.ARRAY, Elements(None, 2))
    assert fault(PAGES, missing) == "ValueError #0 pages: non-NULL elements | NULL"


def test_the_length():
    negative = Object(TypeIndex.ARRAY, Elements((), -1))
    assert fault(PAGES, negative) == "ValueError #0 length of pages: a non-negative value | -1"
    long = Object(TypeIndex.ARRAY, Elements((), 2**31))
    assert fault(PAGES, long) == (
        "ValueError #0 length of pages: a value that fits int32 (-2147483648 to 2147483647) | "
        "2147483648"
    )
    assert fault([List("w", "bool", 2)], array()) == "ValueError #0 length of w: 2 | 0"
    both: list[Param] = [*PAGES, Tensor("x", [n], "float32", device_type="cpu")]
    assert fault(both, shape(1), f32(2)).endswith("x.shape[0]: 1 (n = length of pages) | 2")
    params: list[Param] = [n, List("indptr", "int32", n + 1)]
    assert values(params, of_int(2), shape(0, 1, 2)) == {"n": 2}
    assert fault(params, of_int(2), shape(0, 1)) == (
        "ValueError #1 length of indptr: 3 (n + 1 with n = 2 from n) | 2"
    )


def test_a_length_that_is_solved():
    params: list[Param] = [List("x", "int8", Var("n", "int64", min=0) * 2 + 1)]
    assert values(params, shape(1, 2, 3)) == {"n": 1}
    assert fault(params, shape(1, 2)) == (
        "ValueError #0 length of x: a value of n * 2 + 1 for an integer n | 2"
    )


@pytest.mark.parametrize(
    ("dtype", "given", "words"),
    [
        ("int64", of_float(2.0), "TypeError #0 type of x[1]: int | float"),
        ("int64", NONE, "TypeError #0 type of x[1]: int | None"),
        (
            "uint8",
            of_int(256),
            "ValueError #0 x[1]: a value that fits uint8 (0 to 255) | 256",
        ),
        (
            "int64",
            of_int(2**63),
            "ValueError #0 x[1]: a value that fits int64 (-9223372036854775808 to "
            "9223372036854775807) | 9223372036854775808",
        ),
        ("float32", str_(b"2"), "TypeError #0 type of x[1]: float | str"),
        ("float64", of_int(2**64), "TypeError #0 type of x[1]: float | int beyond int64"),
        ("bool", of_int(2), "ValueError #0 x[1]: True, False, 0 or 1 | 2"),
        ("bool", of_float(1.0), "TypeError #0 type of x[1]: bool | float"),
    ],
)
def test_each_element(dtype: str, given: Plain, words: str):
    assert fault([List("x", dtype)], array(of_int(1), given)) == words
    assert fault([Optional(List("x", dtype))], array(of_int(1), given)) == words


def test_each_element_of_a_shape():
    assert fault([List("x", "uint64")], shape(1, -1)) == (
        "ValueError #0 x[1]: a value that fits uint64 (0 to 18446744073709551615) | -1"
    )


GROUPS: Final[list[Param]] = [List("groups", List("row", "uint8"), n)]


def test_lists_of_lists():
    given = array(of_int(1), of_bool(True)), shape(), list_(of_int(255)), Moved(shape(7))
    for made in (array(*given), list_(*given), Moved(array(*given))):
        found = accepted(GROUPS, made)
        assert found.values == {"n": 4}
        assert list(found.elements["groups"]) == [[1, 1], [], [255], [7]]
    assert values(GROUPS, array()) == {"n": 0}
    kind = "TypeError #0 type of groups: list of lists | {}"
    assert fault(GROUPS, shape(1)) == kind.format("ffi.Shape")
    assert fault(GROUPS, NONE) == kind.format("None")
    assert fault([Optional(GROUPS[0])], of_int(1)).endswith(": list of lists or None | int")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (of_int(1), "TypeError #0 type of groups[1]: list of ints | int"),
        (Plain(TypeIndex.ARRAY), "ValueError #0 groups[1]: a non-NULL object | NULL"),
        (
            Object(TypeIndex.ARRAY, Elements(None, 2)),
            "ValueError #0 groups[1]: non-NULL elements | NULL",
        ),
        (
            Object(TypeIndex.ARRAY, Elements((), -1)),
            "ValueError #0 length of groups[1]: a non-negative value | -1",
        ),
        (
            array(of_int(1), of_int(256)),
            "ValueError #0 groups[1][1]: a value that fits uint8 (0 to 255) | 256",
        ),
        (shape(1, -1), "ValueError #0 groups[1][1]: a value that fits uint8 (0 to 255) | -1"),
        (array(of_int(1), array()), "TypeError #0 type of groups[1][1]: int | list"),
    ],
)
def test_each_row(given: Value, words: str):
    for first in (array(), shape(1, 2), array(*[of_int(1)] * 60)):
        assert fault(GROUPS, array(first, given)) == words
        assert fault([Optional(GROUPS[0])], array(first, given, array())) == words


def test_rows_of_a_fixed_length():
    params: list[Param] = [List("groups", List("row", "int64", 2))]
    assert values(params, array(shape(1, 2), array(of_int(1), of_int(2)))) == {}
    assert fault(params, array(shape(1, 2), shape(1))) == (
        "ValueError #0 length of groups[1]: 2 | 1"
    )


NAMES: Final[list[Param]] = [List("names", "String", n)]


def test_lists_of_texts():
    given = str_(b"ab"), small(TypeIndex.SMALL_STR, b""), str_(b"x" * 40)
    for made in (array(*given), list_(*given), Moved(array(*given))):
        found = accepted(NAMES, made)
        assert found.values == {"n": 3}
        assert list(found.elements["names"]) == [b"ab", b"", b"x" * 40]
    assert list(accepted([List("parts", "Bytes")], array(bytes_(b"a\0"))).elements["parts"]) == [
        b"a\0"
    ]
    assert values(NAMES, array()) == {"n": 0}
    kind = "TypeError #0 type of names: list of strs | {}"
    assert fault(NAMES, str_(b"abc")) == kind.format("str")
    assert fault(NAMES, shape(1)) == kind.format("ffi.Shape")
    assert fault([Optional(NAMES[0])], of_int(1)).endswith(": list of strs or None | int")
    assert (
        fault([List("parts", "Bytes")], NONE) == "TypeError #0 type of parts: list of bytes | None"
    )


@pytest.mark.parametrize(
    ("dtype", "given", "words"),
    [
        ("String", bytes_(b"a"), "TypeError #0 type of x[1]: str | bytes"),
        ("String", NONE, "TypeError #0 type of x[1]: str | None"),
        ("Bytes", str_(b"long enough for an object"), "TypeError #0 type of x[1]: bytes | str"),
        ("String", Plain(TypeIndex.STR), "ValueError #0 x[1]: a non-NULL object | NULL"),
        (
            "String",
            small(TypeIndex.SMALL_STR, b"", 8),
            "ValueError #0 length of x[1]: at most 7, as it is held in place | 8",
        ),
    ],
)
def test_each_text(dtype: str, given: Plain | Object, words: str):
    right = str_(b"a") if dtype == "String" else bytes_(b"a")
    assert fault([List("x", dtype)], array(right, given)) == words
    assert fault([Optional(List("x", dtype))], array(right, given)) == words


def test_conversions():
    given = array(of_int(1), of_bool(True), of_float(0.1))
    assert list(accepted([List("w", "float64")], given).elements["w"]) == [1.0, 1.0, 0.1]
    assert list(accepted([List("w", "bfloat16")], given).elements["w"])[2] == 0.10009765625
    assert list(accepted([List("b", "bool")], array(of_int(1), of_bool(False))).elements["b"]) == [
        True,
        False,
    ]
    big = array(of_int(2**64 - 1))
    assert list(accepted([List("u", "uint64")], big).elements["u"]) == [2**64 - 1]
