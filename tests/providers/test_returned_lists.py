"""Lists that functions return, results that may be None, and several results of one function."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, Final, cast

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, SpecError, spec
from ffi_builder.providers import DirectCallProvider, PackedCallProvider
from tests.providers.returning import PAIR
from tests.support.wrapping import wrapped

GLOBAL: Final = "ffib.tests.returned_lists"
WRITES: Final = """
llvm.func @k(%p: !llvm.ptr, %n: i64, %to: !llvm.ptr) {
  %at = llvm.getelementptr %to[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %p, %to : !llvm.ptr, !llvm.ptr
  llvm.store %n, %at : i64, !llvm.ptr
  llvm.return
}
"""
SAME: Final = "llvm.func @k(%p: !llvm.ptr) -> !llvm.ptr { llvm.return %p : !llvm.ptr }"
X: Final[Any] = np.ones((2, 3), "float32")


@pytest.fixture
def answer() -> Iterator[list[Any]]:
    """What a global function returns: the one item of the list."""
    found: list[Any] = [None]
    tvm_ffi.register_global_func(GLOBAL, lambda *_: found[0], override=True)
    yield found
    tvm_ffi.registry.remove_global_func(GLOBAL)


def returning(returns: str) -> Any:
    return wrapped(f"f() -> {returns}", PackedCallProvider(global_function=GLOBAL))


# ---- lists of C


@pytest.mark.parametrize(
    "dtype", ["int8", "uint16", "int64", "uint64", "bool", "float16", "float64"]
)
@pytest.mark.parametrize("kernel", [PAIR, WRITES], ids=["returned", "written"])
def test_numbers_become_a_list(dtype: str, kernel: str) -> None:
    args = ["p", "n", "out"] if kernel is WRITES else None
    provider = DirectCallProvider("k", args=args)
    function = wrapped(f"f(p: DataPointer, n: int64) -> out: List({dtype})", provider, kernel)
    numbers = np.array([0, 1, 1, 0], dtype)
    assert list(function(numbers.ctypes.data, 4)) == numbers.tolist()
    assert list(function(None, 0)) == []
    long = np.arange(10_000).astype(dtype)
    assert list(function(long.ctypes.data, 10_000)) == long.tolist()


def test_a_mutable_list_is_one_of_tvm_ffi() -> None:
    returns = "out: List(int64, mutable=True)"
    function = wrapped(f"f(p: DataPointer, n: int64) -> {returns}", DirectCallProvider("k"), PAIR)
    numbers = np.arange(3)
    found = function(numbers.ctypes.data, 3)
    found.append(5)
    assert (type(found), list(found)) == (tvm_ffi.List, [0, 1, 2, 5])


def test_a_list_that_cannot_be() -> None:
    text = "f(p: DataPointer, n: int64) -> out: List(uint64)"
    function = wrapped(text, DirectCallProvider("k"), PAIR)
    words = r"^The result out of 3 elements is at NULL when calling"
    with pytest.raises(RuntimeError, match=words):
        function(None, 3)
    with pytest.raises(RuntimeError, match=r"^The length of the result out would be -1 when"):
        function(4096, -1)


def test_elements_that_are_objects() -> None:
    """Strs, and integers of 2^63 and more, become objects, which are released if one fails."""
    text = "f(p: DataPointer, n: int64) -> out: List({})"
    numbers = wrapped(text.format("uint64"), DirectCallProvider("k"), PAIR)
    large = np.array([1, 2**63, 2**64 - 1], "uint64")
    assert list(numbers(large.ctypes.data, 3)) == large.tolist()
    texts = wrapped(text.format("String"), DirectCallProvider("k"), PAIR)
    words = np.frombuffer(b"a longer string", "uint8")
    pairs = np.array([words.ctypes.data, 15, 0, 0, words.ctypes.data, 1, 0, 7], "uint64")
    assert list(texts(pairs.ctypes.data, 3)) == ["a longer string", "", "a"]
    with pytest.raises(RuntimeError, match=r"^The result out of 7 bytes is at NULL when calling"):
        texts(pairs.ctypes.data, 4)


def test_null_is_none_where_the_result_is_optional() -> None:
    text = "f(p: DataPointer, n: int64) -> out: Optional(List(int32))"
    function = wrapped(text, DirectCallProvider("k"), PAIR)
    assert function(None, 5) is None
    assert list(function(np.array([7], "int32").ctypes.data, 1)) == [7]


@pytest.mark.parametrize(
    ("result", "value", "expected"),
    [
        ("int32", ctypes.c_int32(-7), -7),
        ("bool", ctypes.c_int8(2), True),
        ("float32", ctypes.c_float(1.5), 1.5),
        ("String", ctypes.create_string_buffer(b"words"), "words"),
        ("Bytes", ctypes.create_string_buffer(b"words"), b"words"),
    ],
)
def test_an_address_of_what_may_be_none(result: str, value: Any, expected: object) -> None:
    provider = DirectCallProvider("k")
    function = wrapped(f"f(p: DataPointer) -> out: Optional({result})", provider, SAME)
    assert function(None) is None
    assert function(ctypes.addressof(value)) == expected


# ---- what TVM-FFI functions return


RIGHT: Final[list[tuple[str, Any]]] = [
    ("out: List(int64)", [1, 2, 3]),
    ("out: List(int64)", []),
    ("out: List(bool)", [True, False]),
    ("out: List(float32)", [1.5, 2.0]),
    ("out: Optional(List(int8))", None),
    ("out: Optional(List(int8))", [-128, 127]),
    ("out: Optional(int32)", None),
    ("out: Optional(int32)", 5),
    ("out: Optional(String)", "a longer string"),
    ("out: Optional(Bytes)", None),
    ("out: Optional(DType)", None),
]


@pytest.mark.parametrize(("returns", "value"), RIGHT)
def test_right(returns: str, value: Any, answer: list[Any]) -> None:
    function, answer[0] = returning(returns), value
    got = function()
    assert list(got) == value if isinstance(value, list) else got == value


SEVERAL: Final = "(pages: List(int64), count: int32, name: String)"
ANOTHER: Final = "A value of another kind than"
WRONG: Final[list[tuple[str, Any, str]]] = [
    # results, what is returned, and the error
    ("out: List(int64)", [1, "a"], rf"{ANOTHER} int64 was returned for out\[i\]: str"),
    ("out: List(int64)", None, rf"{ANOTHER} List\(int64\) was returned for out: None"),
    ("out: List(int64)", [1.5], rf"{ANOTHER} int64 was returned for out\[i\]: float"),
    ("out: List(bool)", [1], rf"{ANOTHER} bool was returned for out\[i\]: int"),
    ("out: Optional(int32)", "a", rf"{ANOTHER} int32 was returned for out: str"),
    ("out: Optional(String)", b"a", rf"{ANOTHER} String was returned for out: bytes"),
    ("xs: TensorList(Tensor([2], float32))", [1], rf"{ANOTHER} Tensor.* was returned for xs\[i\]: int"),
    ("x: Optional(Tensor([2], float32))", 1, rf"{ANOTHER} Tensor.* was returned for x: int"),
    ("out: List(int8)", [1, 300], r"The value that was returned for out\[i\] does not fit int8: 300"),
    (SEVERAL, 5, rf"{ANOTHER} Array was returned for pages, count, name: int"),
    (SEVERAL, ([1], 2), "An Array of another length than 3 was returned for pages, count, name: 2"),
    (SEVERAL, ([1], "b", "c"), rf"{ANOTHER} int32 was returned for count: str"),
    (SEVERAL, ([1], 2**40, "c"), "The value that was returned for count does not fit int32: 1099511627776"),
    (SEVERAL, ([1], 2, 3), rf"{ANOTHER} String was returned for name: int"),
    (SEVERAL, (["a"], 2, "c"), rf"{ANOTHER} int64 was returned for pages\[i\]: str"),
]  # fmt: skip


@pytest.mark.parametrize(("returns", "value", "words"), WRONG)
def test_wrong(returns: str, value: Any, words: str, answer: list[Any]) -> None:
    function, answer[0] = returning(returns), value
    error = ValueError if "does not fit" in words or "length" in words else TypeError
    with pytest.raises(error, match=f"^{words} when calling: `f"):
        function()


def test_tensors(answer: list[Any]) -> None:
    """Dtype, device type, sizes and strides of what the callee made are compared."""
    text = "f(n: int64) -> xs: TensorList(Tensor([n, None], float32 | int8))"
    function = wrapped(text, PackedCallProvider(global_function=GLOBAL))
    rights: list[list[Any]] = [[], [X, X[:, :1].copy()], [X.astype("int8")]]
    for right in rights:
        answer[0] = right
        assert [np.from_dlpack(got).shape for got in function(2)] == [x.shape for x in right]
    wrongs: list[tuple[Any, str]] = [
        (X.astype("float64"), "the dtype float32 or int8"),
        (X[0], "an ndim of 2, but is 1"),
        (X.T.copy(), r"shape\[0\] = n, but is 3"),
        (X[:, ::2], "contiguous strides"),
    ]
    for wrong, words in wrongs:
        answer[0] = [X, wrong]
        words = rf"^The tensor that was returned for xs\[i\] needs {words} when calling: `f"
        with pytest.raises(ValueError, match=words):
            function(2)


def test_a_tensor_or_none(answer: list[Any]) -> None:
    function = returning("x: Optional(Tensor([2, 3], float32, device_type=any))")
    assert function() is None
    answer[0] = X
    assert np.from_dlpack(function()).shape == (2, 3)


def test_several_results_are_an_array_of_the_callee(answer: list[Any]) -> None:
    function, answer[0] = returning(SEVERAL), ([1, 2], 3, "a longer name")
    pages, count, name = function()
    assert (list(pages), count, name) == ([1, 2], 3, "a longer name")


def test_nothing_is_lost(answer: list[Any]) -> None:
    """What the callee returned is released once, whether it fits or not."""
    for returns, right, wrong in [
        ("out: List(int64)", [1], ["a"]),
        ("(pages: List(int64), name: String)", ([1], "a longer name"), ([1], 2)),
        ("(xs: TensorList(Tensor([2, 3], float32)), n: int8)", ([X], 1), ([X], 300)),
        ("out: Optional(Object)", tvm_ffi.Array([1]), 1),
    ]:
        function = returning(returns)
        for value in (right, wrong):
            held = tvm_ffi.convert(value) if isinstance(value, (list, tuple)) else value
            answer[0] = held
            before = _uses(held)
            for _ in range(3):
                with nullcontext() if value is right else pytest.raises((TypeError, ValueError)):
                    function()
            gc.collect()
            assert _uses(held) == before


def _uses(value: Any) -> list[int]:
    """Return the reference counts of an object, and of its elements."""
    count = tvm_ffi.get_global_func("testing.object_use_count")
    if not isinstance(value, tvm_ffi.Object):
        return []
    if not isinstance(value, tvm_ffi.Array):
        return [count(value)]
    items = cast("tvm_ffi.Array[Any]", value)
    return [count(value), *(each for item in items for each in _uses(item))]


# ---- mistakes


@pytest.mark.parametrize(
    ("returns", "words"),
    [
        ("a: List(int64, 3)", "'a': a result is not checked, so it has no length; leave that out"),
        ("a: TensorList(Tensor([m], float32))", "no parameter binds symbol 'm', which a.shape"),
        ("a: TensorList(Tensor([n], float32), each=[n])", "'a': each: a result binds no symbols"),
        ("a: Optional(Shape([3]))", "'a': expected a result that may be None but got Shape("),
        ("a: Optional(handle)", "'a': expected a result that may be None but got Var("),
        ("a: Optional(Tensor(..., float32))", "'a': shape: expected a list of sizes but got ..."),
        ("a: Optional(Tensor([3], float32, strides=F))", "strides: expected None for a tensor"),
        ("a: Optional(Choice({'a': 1}))", "expected the type of a result: Tensor"),
    ],
)
def test_mistakes(returns: str, words: str) -> None:
    with pytest.raises(SpecError) as error:
        spec.Signature.parse(f"f(n: int64) -> {returns}", device="cpu")
    assert words in str(error.value)


def test_a_function_that_returns_something_else() -> None:
    kernel = "llvm.func @k(%n: i64) -> i64 { llvm.return %n : i64 }"
    with pytest.raises(BuildError, match=r"returns i64, but 'f' returns out: List\(int64\), for"):
        wrapped("f(n: int64) -> out: List(int64)", DirectCallProvider("k"), kernel)


def test_lists_of_tensors_are_arrays_of_the_arguments_framework(answer: list[Any]) -> None:
    text = "f(x: Tensor([2, 3], float32)) -> "
    provider = PackedCallProvider(global_function=GLOBAL)
    one = wrapped(f"{text}xs: TensorList(Tensor([2, 3], float32))", provider)
    answer[0] = [X, X]
    assert [type(x) for x in one(X)] == [np.ndarray] * 2
    several = wrapped(f"{text}(xs: TensorList(Tensor([2, 3], float32)), n: List(int8))", provider)
    answer[0] = ([X], [1, 2])
    xs, numbers = several(X)
    assert (type(xs), type(xs[0]), list(numbers)) == (tuple, np.ndarray, [1, 2])
