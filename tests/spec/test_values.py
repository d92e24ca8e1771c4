"""Strings, bytes, dtypes, devices, objects, functions, arrays, maps and choices."""

from __future__ import annotations

import copy
import enum
import pickle
from collections import OrderedDict
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from ffi_builder import SpecError, spec
from ffi_builder.spec import (
    Array,
    Bytes,
    Choice,
    Device,
    DType,
    Function,
    Map,
    Object,
    Param,
    String,
)

PLAIN = (String, Bytes, DType, Device, Object, Function, Array, Map)


@pytest.mark.parametrize("kind", PLAIN)
class TestPlain:
    def test_a_name_is_enough(self, kind: Callable[..., Param]):
        made = kind("x")
        assert made == kind("x", default=None, kw_only=True, doc="said")
        assert hash(made) == hash(kind("x"))
        assert made != kind("y")
        assert (made.default, made.kw_only, made.doc) == (spec.MISSING, False, "")

    def test_kinds_differ(self, kind: Callable[..., Param]):
        assert [other for other in PLAIN if kind("x") == other("x")] == [kind]

    def test_no_documentation(self, kind: Callable[..., Param]):
        assert kind("x", doc=None).doc == ""

    def test_it_cannot_be_changed(self, kind: Callable[..., Any]):
        with pytest.raises(AttributeError):
            kind("x").name = "y"

    @pytest.mark.parametrize(
        ("arguments", "fields", "words"),
        [
            (("a b",), {}, " name: expected a name of ASCII letters, .* but got 'a b'"),
            ((None,), {}, " name: expected a name of ASCII letters, .* but got None"),
            (("x",), {"kw_only": 1}, " 'x': kw_only: expected True or False but got 1"),
            (("x",), {"doc": 7}, r" 'x': doc: expected a str but got 7 \(int\)"),
        ],
    )
    def test_refused(self, kind: type, arguments: Any, fields: dict[str, Any], words: str):
        with pytest.raises(SpecError, match=f"^{kind.__name__}{words}"):
            kind(*arguments, **fields)


class TestObject:
    @pytest.mark.parametrize("key", ["ffi.Module", "a", "my_lib.Sub-Type$1", "_x." + "y" * 252])
    def test_accepted(self, key: str):
        made = Object("o", key)
        assert made.type_key == key
        assert made == Object("o", type_key=key)
        assert hash(made) == hash(Object("o", key))
        assert made != Object("o")


class Act(enum.IntEnum):
    RELU = 1


class Word(str, enum.Enum):
    RELU = "relu"


class TestChoice:
    @pytest.mark.parametrize(
        ("choices", "dtype"),
        [
            ({"relu": 1, "gelu": 2}, "int32"),
            ({"one": 1, "uno": 1}, "int8"),
            ({"low": -(2**63), "high": 2**63 - 1}, "int64"),
            ({"high": 2**64 - 1}, "uint64"),
            ({"a b, {c}: d | e" + "~" * 240: 0}, "int32"),
        ],
    )
    def test_accepted(self, choices: dict[str, int], dtype: str):
        made = Choice("c", choices, dtype)
        assert made.choices == choices
        assert made.dtype == dtype
        assert made == Choice("c", dict(choices), dtype=dtype)
        assert hash(made) == hash(Choice("c", dict(choices), dtype))

    def test_the_dtype_is_int32_where_none_is_said(self):
        assert Choice("c", {"a": 1}) == Choice("c", {"a": 1}, "int32")

    @pytest.mark.parametrize("kind", [dict, OrderedDict, MappingProxyType])
    def test_any_mapping_does(self, kind: Callable[[dict[str, int]], Any]):
        made = Choice("c", kind({"a": 1}))
        assert type(made.choices) is dict
        assert made == Choice("c", {"a": 1})

    def test_it_keeps_a_copy(self):
        given = {"a": 1}
        made = Choice("c", given)
        given["b"] = 2
        assert made == Choice("c", {"a": 1})

    def test_members_of_enums_are_made_plain(self):
        made = Choice("c", {Word.RELU: Act.RELU, np.str_("gelu"): 2})
        assert repr(made) == "Choice('c', {'relu': 1, 'gelu': 2})"
        assert str(spec.Signature("f", [made])) == "f(c: Choice({'relu': 1, 'gelu': 2}))"

    @pytest.mark.parametrize(
        "other",
        [
            Choice("d", {"a": 1, "b": 2}),
            Choice("c", {"a": 1, "b": 3}),
            Choice("c", {"a": 1}),
            Choice("c", {"b": 2, "a": 1}),  # errors list them in this order
            Choice("c", {"a": 1, "b": 2}, "int64"),
            String("c"),
        ],
    )
    def test_different(self, other: Param):
        assert Choice("c", {"a": 1, "b": 2}) != other

    def test_what_python_callers_see_is_not_looked_at(self):
        assert Choice("c", {"a": 1}, default="a", doc="said") == Choice("c", {"a": 1})

    def test_copies_and_pickles(self):
        made = Choice("c", {"a": 1, "b": 2}, "int8", default="a")
        for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
            assert again == made
            assert repr(again) == repr(made)

    def test_an_int_of_numpy_is_none(self):
        with pytest.raises(SpecError, match=r"choices\['a'\]: expected an int but got .*int64\)$"):
            Choice("c", {"a": np.int64(1)})  # pyright: ignore[reportArgumentType]
