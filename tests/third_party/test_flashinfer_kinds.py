"""Signatures for every kind of type that the functions of FlashInfer declare.

The kinds are those of the 287 functions that it exports through TVM-FFI, as parameters and as
results. Functions registered in Python stand for FlashInfer's, which need a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import attach, runtime, spec
from ffi_builder.providers import PackedCallProvider
from tests.support.wrapping import new_module

GLOBAL: Final = "ffib.tests.flashinfer"
X: Final[Any] = np.ones((2, 3), "float32")
BF16: Final = tvm_ffi.dtype("bfloat16")
MODULE: Final = tvm_ffi.system_lib()

PARAMETERS: Final[list[tuple[str, str, list[Any], list[Any]]]] = [
    ("TensorView", "Tensor([n, 3], float32)", [X], [X.T, X.astype("float64"), 1, None]),
    ("Tensor", "Tensor([n, 3], float32 | float16)", [X], [X[0]]),
    ("int64_t", "int64", [5], ["5", 1.5]),
    ("Optional<TensorView>", "Optional(Tensor([n, 3], float32))", [X, None], [X.T]),
    ("bool", "bool", [True], ["a"]),
    ("double", "float64", [1.5, 2], ["a"]),
    ("int", "int32", [5], [2**31]),
    ("Array<int64_t>", "List(int64)", [[1, 2], (), tvm_ffi.Shape((3,))], [["a"], [1.5], 5]),
    ("void*", "handle", [None], ["a"]),
    ("Optional<int64_t>", "Optional(int64)", [5, None], ["a"]),
    ("Array<Tensor>", "TensorList(Tensor([n, 3], float32))", [[X, X], []], [[X, 1], [X.T], X]),
    ("uint64_t", "uint64", [5, 2**64 - 1], [-1]),
    ("Optional<double>", "Optional(float64)", [1.5, None], ["a"]),
    ("string", "String", ["a", "a longer string"], [b"a"]),
    ("float", "float32", [1.5], ["a"]),
    ("Variant<double, Tensor>", "Variant(float64, Tensor([n], float32))", [1.5, X[0]], [X, "a"]),
    ("Optional<bool>", "Optional(bool)", [True, None], ["a"]),
    ("Map<int, int>", "Map(int64, int64)", [{1: 2}, {}], [{1: "a"}, {"a": 1}, [1]]),
    ("DLDataType", "DType", [BF16], [5]),
    ("Optional<float>", "Optional(float32)", [1.5, None], ["a"]),
    ("Optional<DLDataType>", "Optional(DType)", [BF16, None], [5]),
    ("Array<Array<int64_t>>", "List(List(int64))", [[[1], []], []], [[1], [["a"]]]),
    ("Shape", "Shape([n, 4])", [(2, 4)], [(2, 5), (2,)]),
    ("Array<String>", "List(String)", [["a", "a longer string"]], [[1]]),
]
RESULTS: Final[list[tuple[str, str, Any, list[Any]]]] = [
    ("int64_t", "int64", 5, ["a"]),
    ("bool", "bool", True, ["a"]),
    ("Array<int64_t>", "List(int64)", [1, 2], [["a"], None]),
    ("Array<Tensor>", "TensorList(Tensor([None, 3], float32))", [X, X], [[X.T], [1]]),
    ("Tensor", "Object('ffi.Tensor')", X, [5]),
    ("Module", "Object('ffi.Module')", MODULE, [5, X]),
    ("Array<Array<int64_t>>", "List(List(int64))", [[1], []], [[1], [["a"]]]),
    ("Map<int, int>", "Map(int64, int64)", {1: 2}, [{1: "a"}, 5]),
]
TUPLES: Final[list[tuple[str, str, tuple[Any, ...]]]] = [
    ("Tuple<Tensor, Tensor>", "(a: Object('ffi.Tensor'), b: Object('ffi.Tensor'))", (X, X)),
    (
        "Tuple<Array<String>, Array<int64_t>>",
        "(names: List(String), sizes: List(int64))",
        (["a", "a longer string"], [1, 2]),
    ),
    (
        "Tuple<Array<int64_t>, Array<int64_t>, int64_t, int64_t, int64_t>",
        "(a: List(int64), b: List(int64), c: int64, d: int64, e: int64)",
        ([1], [2], 3, 4, 5),
    ),
]


@pytest.fixture
def called() -> Iterator[list[Any]]:
    """What the function was called with; it returns the last item, if there is one."""
    values: list[Any] = [None]
    tvm_ffi.register_global_func(GLOBAL, lambda *_: values[0], override=True)
    yield values
    tvm_ffi.registry.remove_global_func(GLOBAL)


def wrapped(text: str) -> Any:
    module = new_module()
    signature = spec.Signature.parse(text, device="cpu")
    assert spec.Signature.parse(str(signature)) == signature
    attach(module, signature, PackedCallProvider(global_function=GLOBAL))
    return runtime.compile(module)["f"]


@pytest.mark.parametrize(("declared", "type_", "right", "wrong"), PARAMETERS)
def test_parameters(
    declared: str, type_: str, right: list[Any], wrong: list[Any], called: list[Any]
) -> None:
    function = wrapped(f"f(x: {type_}) -> y: Any")
    called[0] = declared
    for value in right:
        assert function(value) == declared
    for value in wrong:
        with pytest.raises((TypeError, ValueError), match=r"x.* on argument #0 when calling: `f"):
            function(value)


@pytest.mark.parametrize(("declared", "type_", "right", "wrong"), RESULTS)
def test_results(
    declared: str, type_: str, right: Any, wrong: list[Any], called: list[Any]
) -> None:
    del declared
    function, called[0] = wrapped(f"f() -> y: {type_}"), right
    assert _plain(function()) == _plain(right)
    for value in wrong:
        called[0] = value
        with pytest.raises((TypeError, ValueError), match=r"returned for y.* when calling: `f\("):
            function()


@pytest.mark.parametrize(("declared", "types", "values"), TUPLES)
def test_several_results(declared: str, types: str, values: Any, called: list[Any]) -> None:
    del declared
    function, called[0] = wrapped(f"f() -> {types}"), values
    assert _plain(function()) == _plain(values)
    wrongs: list[Any] = [values[:-1], (*values[:-1], {}), 5]
    for called[0] in wrongs:
        with pytest.raises((TypeError, ValueError), match="was returned for"):
            function()


def _plain(value: Any) -> Any:
    if isinstance(value, (tvm_ffi.Tensor, np.ndarray)):
        return np.from_dlpack(cast("Any", value)).tolist()
    if isinstance(value, (tvm_ffi.Array, list, tuple)):
        return [_plain(item) for item in cast("Any", value)]
    if isinstance(value, (tvm_ffi.Map, dict)):
        return dict(cast("Any", value).items())
    return value
