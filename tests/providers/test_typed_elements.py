"""Arrays and Maps whose elements are checked, and results of such types."""

from __future__ import annotations

from typing import Any, Final, cast

import pytest
import tvm_ffi

from ffi_builder import spec, testing
from ffi_builder.providers import DirectCallProvider, PackedCallProvider
from tests.support.wrapping import wrapped

GLOBAL: Final = "ffib.tests.elements"
LONG: Final = "more than seven bytes"
MODULE: Final = tvm_ffi.system_lib()

RIGHT: Final[list[tuple[str, list[Any]]]] = [
    ("Array(int8)", [[], [1, True, -128], tvm_ffi.List([5])]),
    ("Array(Optional(float32))", [[None, 1.5, 2]]),
    ("Array(String)", [["a", LONG]]),
    ("Array(Object)", [[MODULE, LONG, [1]], [[]]]),
    ("Array(Object('ffi.Module'))", [[MODULE]]),
    ("Array(Any)", [[1, None, "a"]]),
    ("Array(Function)", [[len]]),
    ("Array(Array(uint64))", [[], [[], [1, 2**63 - 1]], [tvm_ffi.List([5])]]),
    ("Optional(Array(Array(String)))", [None, [["a"], [LONG]]]),
    ("Map(String, int64)", [{}, {"a": 1, LONG: -1}, tvm_ffi.Dict({"a": 1})]),
    ("Map(int64, String)", [{1: "a"}]),
    ("Map(String, Any)", [{"a": None, LONG: [1]}]),
    ("Map(String, Array(Optional(int64)))", [{"a": [1, None], "b": []}]),
    ("Optional(Map(String, Object))", [None, {"a": MODULE, "b": LONG}]),
    ("Variant(int64, String, Array(int64))", [5, LONG, [], [1, 2]]),
    ("Tuple(a: Map(String, int8), b: Array(Map))", [({"a": 1}, [{}])]),
]
WRONG: Final[list[tuple[str, Any, str]]] = [
    ("Array(int8)", 5, "type of x on .*, expected list but got int"),
    ("Array(int8)", [1, "a"], r"type of x\[1\] on .*, expected int but got str"),
    ("Array(int8)", [1, 2, 128], r"x\[2\] on .* fits int8 .* but got 128"),
    ("Array(Optional(int64))", ["a"], r"type of x\[0\] on .*, expected int or None but got str"),
    ("Optional(Array(int64))", 5, "type of x on .*, expected list or None but got int"),
    ("Array(Object('ffi.Module'))", [MODULE, [1]], r"type of x\[1\] on .*ffi.Module but got list"),
    ("Array(Array(String))", [["a"], ["b", 1]], r"type of x\[1\]\[1\] on .*, expected str but got"),
    ("Map(String, int64)", [1], "type of x on .*, expected Map but got list"),
    ("Map(String, int64)", {"a": 1, 2: 3}, r"type of x.keys\[1\] on .*, expected str but got int"),
    ("Map(String, int64)", {"a": 1, "b": "c"}, r"type of x.values\[1\] on .*, expected int but got"),
    ("Map(String, int64)", tvm_ffi.Dict({"a": "b"}), r"type of x.values\[0\] on .* but got str"),
    ("Map(String, Array(int8))", {"a": [1, 300]}, r"x.values\[0\]\[1\] on .* fits int8"),
    ("Variant(int64, String, Array(int64))", [1, "a"], r"type of x.list\[1\] on .*int but got str"),
    ("Variant(int64, Array(int64))", "a", "type of x on .*, expected int or list but got str"),
    ("Tuple(a: Map(String, int8))", ({"a": 128},), r"x\[0\].values\[0\] on .* fits int8"),
]  # fmt: skip


def returned(value: Any) -> Any:
    return value


def passed_on(text: str) -> Any:
    """A function that returns its argument, checked on its way in and out, or in alone."""
    tvm_ffi.register_global_func(GLOBAL, returned, override=True)
    signature = spec.Signature.parse(text)
    assert spec.Signature.parse(signature.canonical()) == signature
    return wrapped(signature, PackedCallProvider(global_function=GLOBAL))


def plain(value: Any) -> Any:
    if isinstance(value, (tvm_ffi.Array, tvm_ffi.List, list, tuple)):
        return [plain(each) for each in cast("Any", value)]
    if isinstance(value, (tvm_ffi.Map, tvm_ffi.Dict, dict)):
        return {plain(key): plain(each) for key, each in cast("Any", value).items()}
    return value if not callable(value) or isinstance(value, tvm_ffi.Module) else "callable"


@pytest.mark.parametrize(("type_", "values"), RIGHT)
def test_right_elements(type_: str, values: list[Any]) -> None:
    result = "Any" if type_.startswith("Tuple") else type_
    function = passed_on(f"f(x: {type_}) -> y: {result}")
    signature = spec.Signature.parse(f"f(x: {type_})")
    for value in values:
        assert testing.check(signature, value) == {}
        assert plain(function(value)) == plain(value)
    [made] = testing.make_args(signature)
    testing.check(signature, made)


@pytest.mark.parametrize(("type_", "value", "words"), WRONG)
def test_wrong_elements(type_: str, value: Any, words: str) -> None:
    function = passed_on(f"f(x: {type_}) -> y: Any")
    with pytest.raises((TypeError, ValueError), match=words) as caught:
        function(value)
    with pytest.raises(caught.type) as checked:
        testing.check(spec.Signature.parse(f"f(x: {type_})"), value)
    assert str(checked.value) == str(caught.value)


@pytest.mark.parametrize(("type_", "value", "words"), WRONG)
def test_wrong_results(type_: str, value: Any, words: str) -> None:
    del words
    if type_.startswith("Tuple"):
        return
    with pytest.raises((TypeError, ValueError), match=r"was returned|fit|for y"):
        passed_on(f"f(x: Any) -> y: {type_}")(value)


def test_a_kernel_gets_the_object() -> None:
    kernel = "llvm.func @size(%x: !llvm.ptr) -> i64 {\n" + _SIZE + "}"
    for type_ in ("Array(String)", "Variant(String, Array(int64))"):
        provider = DirectCallProvider("size", args=["x.list" if "Variant" in type_ else "x"])
        function = wrapped(f"f(x: {type_}) -> n: int64", provider, kernel)
        assert function([1, 2, 3] if "Variant" in type_ else ["a", LONG, "b"]) == 3


_SIZE: Final = """
  %at = llvm.getelementptr %x[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %size = llvm.load %at : !llvm.ptr -> i64
  llvm.return %size : i64
"""
