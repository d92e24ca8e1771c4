"""Maps of numbers: what is right and wrong, what a kernel gets, and the memory that it is in."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import runtime, spec, testing, wrap
from ffi_builder.providers import DirectCallProvider
from tests.providers.listing import compiled
from tests.runtime.samples import c_object, needs_cc
from tests.support.wrapping import wrapped

pytestmark = needs_cc

COPY: Final = """
#include <stdint.h>
#include <string.h>
int64_t copy(const KEY *keys, const VALUE *values, int64_t n, KEY *to, VALUE *out) {
  if (!keys || !values) return -1;
  memcpy(to, keys, n * sizeof(KEY));
  memcpy(out, values, n * sizeof(VALUE));
  return n;
}
"""
TYPES: Final = {
    "int64": "int64_t",
    "int8": "int8_t",
    "uint64": "uint64_t",
    "bool": "_Bool",
    "float32": "float",
    "float64": "double",
}


def copy(tmp_path: Path, key: str, value: str, type_: str = "", **options: Any) -> Any:
    def named(text: str) -> str:
        return text.replace("KEY", TYPES[key]).replace("VALUE", TYPES[value])

    type_ = type_ or f"Map({key}, {value})"
    options = {"args": ["m", "to", "out"], **options}
    return wrap(
        c_object(tmp_path, named(COPY)),
        f"copy(m: {type_}, to: Tensor([k], {key}), out: Tensor([k], {value})) -> n: int64",
        device="cpu",
        prototype=named(
            "int64_t copy(const KEY *keys, const VALUE *values, int64_t n, KEY *to, VALUE *out)"
        ),
        **options,
    )["copy"]


@pytest.mark.parametrize(
    ("key", "value"),
    [("int64", "int64"), ("int8", "float32"), ("bool", "uint64"), ("float64", "bool")],
)
def test_each_dtype(key: str, value: str, tmp_path: Path) -> None:
    function = copy(tmp_path, key, value)
    to, out = np.zeros(2000, key), np.zeros(2000, value)
    many = {n: n % 2 for n in range(0 if key in ("bool", "int8") else 2000)}
    every: list[dict[int, Any]] = [{}, {1: 1}, {0: True, 1: 0}, many]
    for given in every:
        for made in (given, tvm_ffi.Map(given), tvm_ffi.Dict(given)):
            assert function(made, to, out) == len(given)
            assert to[: len(given)].tolist() == list(given)
            assert out[: len(given)].tolist() == list(given.values())


WRONG: Final[list[tuple[Any, type[Exception], str]]] = [
    (3, TypeError, "type of m on argument #0 .*, expected Map but got int"),
    ([1], TypeError, "type of m on argument #0 .*, expected Map but got list"),
    (None, TypeError, "type of m on argument #0 .*, expected Map but got None"),
    (tvm_ffi.List([1]), TypeError, "expected Map but got ffi.List"),
    (tvm_ffi.Dict({1: "a"}), TypeError, r"type of m.values\[0\] .*, expected int but got str"),
    ({1: 2, "a": 3}, TypeError, r"type of m.keys\[1\] .*, expected int but got str"),
    ({1: "a long text, an object"}, TypeError, r"type of m.values\[0\] .* but got str"),
    ({1: 1, 2: [1]}, TypeError, r"type of m.values\[1\] .*, expected int but got list"),
    ({1: 2.5}, TypeError, r"type of m.values\[0\] .*, expected int but got float"),
    ({1: 1, 2: 128}, ValueError, r"m.values\[1\] .* fits int8 \(-128 to 127\) but got 128"),
    ({2**63: 1}, ValueError, r"m.keys\[0\] .* fits int64 .* but got 9223372036854775808"),
    ({**dict.fromkeys(range(999), 0), 999: None}, TypeError, r"type of m.values\[999\] .*, expected int but got None"),
]  # fmt: skip


@pytest.mark.parametrize("type_", ["Map(int64, int8)", "Optional(Map(int64, int8))"])
def test_what_is_wrong(type_: str) -> None:
    function, signature = wrapped(f"f(m: {type_})"), spec.Signature.parse(f"f(m: {type_})")
    function({1: 2})
    for given, error, words in WRONG:
        if given is None and type_.startswith("Optional"):
            continue
        words = words.replace("expected Map", f"expected Map{' or None' * type_.startswith('O')}")
        for call in (function, partial(testing.check, signature)):
            with pytest.raises(error, match=f"Mismatched {words}" if "type of" in words else words):
                call(given)


def test_in_others(tmp_path: Path) -> None:
    type_ = "Struct(a: int32, m: Optional(Map(int64, float64)))"
    args = ["m.m.keys", "m.m.values", "m.m.length", "to", "out"]
    function = copy(tmp_path, "int64", "float64", type_, args=args)
    to, out = np.zeros(9, "int64"), np.zeros(9)
    assert [function((1, given), to, out) for given in (None, {}, {7: 0.5})] == [-1, 0, 1]
    assert (to[0], out[0]) == (7, 0.5)
    with pytest.raises(TypeError, match=r"type of m.m.values\[0\] on argument #0 .* but got None"):
        function((1, {7: None}), to, out)


def test_made_arguments(tmp_path: Path) -> None:
    signature = spec.Signature.parse("f(m: Map(int64, bool), o: Optional(Map(float32, int8)))")
    made = testing.make_args(signature)
    assert made == [{0: False, 1: True}, {0.0: 0, 0.5: 1}]
    testing.check(signature, *made)


def test_headers_and_stubs(tmp_path: Path) -> None:
    data = c_object(tmp_path, COPY.replace("KEY", "int64_t").replace("VALUE", "double"))
    signature = "copy(m: Map(int64, float64)) -> n: int64"
    args = ["m", None, None]
    made = wrap(data, signature, prototype=_prototype(), args=args)
    made.export_library(tmp_path / "k.so", header=tmp_path / "k.h")
    assert "::tvm::ffi::Map<::std::int64_t, double>" in (tmp_path / "k.h").read_text()
    assert runtime.load(tmp_path / "k.so")["copy"]({}) == 0


def _prototype() -> str:
    return "int64_t copy(const int64_t *k, const double *v, int64_t n, int64_t *to, double *out)"


def test_entries_are_not_freed() -> None:
    key, value = "a key that is an object", "a value that is an object"
    given = tvm_ffi.Map({key: value, 1: value})
    function = compiled("", ("f(m: Map(int64, int64))", DirectCallProvider("abort")))["f"]
    for _ in range(100):
        with pytest.raises(TypeError, match=r"m.keys\[0\]"):
            function(given)
    assert dict(given) == {key: value, 1: value}
