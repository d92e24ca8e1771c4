"""Maps of numbers: what is right and wrong, what a kernel gets, and the memory that it is in."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, runtime, spec, testing, wrap
from ffi_builder.providers import (
    CallProvider,
    CheckStatus,
    CudaLaunchCallProvider,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
    PackedCallProvider,
)
from tests.providers.test_lists import COUNTED, compiled, counted
from tests.runtime.samples import c_object, needs_cc
from tests.support.wrapping import attached

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


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
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
        (
            {**dict.fromkeys(range(999), 0), 999: None},
            TypeError,
            r"type of m.values\[999\] .*, expected int but got None",
        ),
    ],
)
@pytest.mark.parametrize("type_", ["Map(int64, int8)", "Optional(Map(int64, int8))"])
def test_what_is_wrong(
    type_: str, given: Any, error: type[Exception], words: str, tmp_path: Path
) -> None:
    if given is None and type_.startswith("Optional"):
        return
    words = words.replace("expected Map", f"expected Map{' or None' * type_.startswith('O')}")
    zeros = np.zeros(9, "int64"), np.zeros(9, "int8")
    signature = spec.Signature.parse(f"copy(m: {type_})")
    for call in (
        lambda: copy(tmp_path, "int64", "int8", type_)(given, *zeros),
        lambda: testing.check(signature, given),
    ):
        with pytest.raises(error, match=f"Mismatched {words}" if "type of" in words else words):
            call()


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


@pytest.mark.parametrize(
    ("part", "type_", "words"),
    [
        ("m.keys", "const int32_t *", "'m.keys' is passed as a pointer to int64"),
        ("m.values", "long", "'m.values' is passed as a pointer to int8"),
        ("m.length", "float", "'m.length' is passed as the number of elements"),
        ("m.data", "const int64_t *", "'m.data'"),
    ],
)
def test_what_does_not_fit(part: str, type_: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=words):
        wrap(
            c_object(tmp_path, "void k(void) { }"),
            "k(m: Map(int64, int8))",
            prototype=f"void k({type_} x)",
            args=[part],
        )


PASSED: Final = """
llvm.func @last(%keys: !llvm.ptr, %values: !llvm.ptr, %n: i64, %out: !llvm.ptr) {
  %one = llvm.mlir.constant(1 : i64) : i64
  %end = llvm.sub %n, %one : i64
  %at = llvm.getelementptr %keys[%end] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %key = llvm.load %at : !llvm.ptr -> i64
  %of = llvm.getelementptr %values[%end] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %value = llvm.load %of : !llvm.ptr -> i64
  %second = llvm.getelementptr %out[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %key, %out : i64, !llvm.ptr
  llvm.store %value, %second : i64, !llvm.ptr
  llvm.return
}
llvm.func @pack(%params: !llvm.ptr) {
  %list = llvm.load %params : !llvm.ptr -> !llvm.ptr
  %at = llvm.getelementptr %params[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %tensor = llvm.load %at : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %tensor : !llvm.ptr -> !llvm.ptr
  %all = llvm.load %list : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64)>
  %k = llvm.extractvalue %all[0] : !llvm.struct<(ptr, ptr, i64)>
  %v = llvm.extractvalue %all[1] : !llvm.struct<(ptr, ptr, i64)>
  %n = llvm.extractvalue %all[2] : !llvm.struct<(ptr, ptr, i64)>
  llvm.call @last(%k, %v, %n, %out) : (!llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
  llvm.return
}
"""
"""Writes the last entry."""


@pytest.mark.parametrize(
    "provider",
    [
        DynamicParamPackCallProvider("pack"),
        NestedTensorCallProvider("last", args=["m", "out.data"]),
        MemRefCallProvider("last", args=["m", "out.data"]),
    ],
)
def test_other_conventions(provider: CallProvider) -> None:
    out = np.zeros(2, "int64")
    text = "f(m: Map(int64, int64), out: Tensor([2], int64))"
    compiled(PASSED, (text, provider))["f"]({1: 2, 3: 4}, out)
    assert out.tolist() == [3, 4]


def test_a_cuda_kernel_cannot_read_the_entries() -> None:
    ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }"
    text = "f(m: Map(int64, int64), x: Tensor([4], int8))"
    params = spec.Signature.parse(text, device="cuda").params
    for args in (["m"], ["m.keys"], ["m.values"]):
        provider = CudaLaunchCallProvider(ptx, "k", grid=1, block=1, args=args)
        with pytest.raises(BuildError, match=r"' is made of arrays in host memory"):
            attached(params, provider)


def test_a_packed_function_gets_the_map_itself() -> None:
    received: list[Any] = []
    tvm_ffi.register_global_func("test.maps.keep", received.append, override=True)
    provider = PackedCallProvider(global_function="test.maps.keep", args=["m"])
    compiled("", ("f(m: Map(int64, int64))", provider))["f"]({1: 2})
    assert [dict(each) for each in received] == [{1: 2}]


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


# ---- memory


def test_memory_is_released_on_every_path() -> None:
    """A module with a malloc of its own frees what it has allocated, and nothing else."""
    counts = "counts(out: Tensor([2], int64))", DirectCallProvider("counts")
    failing = CheckStatus(DirectCallProvider("nothing", args=["status"]))
    text = "f(xs: Map(int64, int64), ys: Optional(Map(bool, int8)), status: int32)"
    functions = compiled(COUNTED, (text, failing), counts)
    many = {n: n for n in range(400)}
    cases: list[tuple[Any, int, str]] = [
        (({1: 2}, {0: 1}, 0), 0, ""),
        ((many, None, 0), 2, ""),
        ((many, {0: 1}, 3), 2, "failed with status 3"),
        ((many, {0: 300}, 0), 2, "ys.values[0]"),
        (({**many, 3: "a text that is an object"}, {}, 0), 2, "type of xs.values[3]"),
        ((many, 7, 0), 2, "type of ys"),
    ]
    for args, times, words in cases:
        for _ in range(2):
            found, error = counted(functions, *args)
            assert found == [times, times]
            assert words in str(error)


def test_entries_are_not_freed() -> None:
    key, value = "a key that is an object", "a value that is an object"
    given = tvm_ffi.Map({key: value, 1: value})
    function = compiled("", ("f(m: Map(int64, int64))", DirectCallProvider("abort")))["f"]
    for _ in range(100):
        with pytest.raises(TypeError, match=r"m.keys\[0\]"):
            function(given)
    assert dict(given) == {key: value, 1: value}
