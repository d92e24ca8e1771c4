"""Variants that take memrefs, each of its own dtype or rank."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, spec
from ffi_builder.providers import CallProvider, MemRefCallProvider, NopCallProvider, when
from tests.providers.variants import lowered, of

(N,) = spec.dims("n")
X: Final = spec.Tensor("x", [N], ("float32", "float64"), device_type="cpu")
SINGLE: Final = when.dtype(X) == "float32"
SMALL: Final = when.value(N) <= 2
MEMREFS: Final = """
func.func @f32(%x: memref<?xf32>) { %c = arith.constant 0 : index
  %v = arith.constant 1.0 : f32 memref.store %v, %x[%c] : memref<?xf32> return }
func.func @f64(%x: memref<?xf64>) { %c = arith.constant 0 : index
  %v = arith.constant 2.0 : f64 memref.store %v, %x[%c] : memref<?xf64> return }
"""


SINGLES, DOUBLES = MemRefCallProvider("f32"), MemRefCallProvider("f64")
OF_ANY: Final = spec.Tensor("x", ..., ("float32", "float64"), device_type="cpu")
ONE: Final = when.ndim(OF_ANY) == 1
KNOWN: Final[dict[str, tuple[CallProvider, spec.Param, tuple[str, ...]]]] = {
    # provider, parameter, dtypes that it takes
    "a dtype and the rest": (of((SINGLES, SINGLE), (DOUBLES, None)), X, ("float32", "float64")),
    "two dtypes": (of((SINGLES, SINGLE), (DOUBLES, when.dtype(X) == "float64")), X, ("float32", "float64")),
    "variants within the rest": (of((SINGLES, SINGLE), (of((DOUBLES, SMALL), (DOUBLES, None)), None)), X, ("float64",)),
    "a rank and a dtype": (of((SINGLES, ONE & (when.dtype(OF_ANY) == "float32")), (DOUBLES, ONE)), OF_ANY, ("float32", "float64")),
}  # fmt: skip


@pytest.mark.parametrize("case", KNOWN)
def test_each_memref_takes_its_own_dtype(case: str) -> None:
    provider, param, dtypes = KNOWN[case]
    function = lowered(MEMREFS, provider, param)
    for dtype, size in itertools.product(dtypes, (1, 5)):
        x = np.zeros(size, dtype)
        function(x)
        assert x.tolist() == [float(dtype[5:]) / 32, *[0] * (size - 1)]


OF_FLOATS: Final = spec.Tensor("x", ..., "float32", device_type="cpu")
UNKNOWN: Final[list[tuple[CallProvider, spec.Param, str]]] = [
    (
        of((DOUBLES, SINGLE), (SINGLES, None)),
        X,
        "MemRefCallProvider: the callee @f64 takes 'x' as memref<?xf64> (argument #0), but the "
        "spec is Tensor([n], float32): the kernel's elements are f64, not float32; write "
        "dtype='float64', or change the kernel's element type",
    ),
    (of((SINGLES, SMALL), (DOUBLES, None)), X, "is Tensor([n], float32 | float64): the kernel's el"),
    (of((SINGLES, when.ndim(OF_FLOATS) == 2), (NopCallProvider(), None)), OF_FLOATS, "the kernel's rank is 1, but the spec's shape has length 2"),
    (of((SINGLES, when.ndim(OF_ANY) <= 2), (NopCallProvider(), None)), OF_ANY, "'x' may have any number of dimensions, and a memref has"),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "param", "words"), UNKNOWN)
def test_a_memref_that_does_not_fit(provider: CallProvider, param: spec.Param, words: str) -> None:
    with pytest.raises(BuildError, match=re.escape(words)):
        lowered(MEMREFS, provider, param)


RANKS: Final = """
func.func @r0(%x: memref<f32>) { %v = arith.constant 1.0 : f32
  memref.store %v, %x[] : memref<f32> return }
func.func @r2(%x: memref<?x?xf32, LAYOUT>) { %zero = arith.constant 0 : index
  %one = arith.constant 1 : index %m = memref.dim %x, %one : memref<?x?xf32, LAYOUT>
  %at = arith.subi %m, %one : index %v = arith.constant 2.0 : f32
  memref.store %v, %x[%one, %at] : memref<?x?xf32, LAYOUT> return }
"""
STRIDED: Final = "strided<[?, ?]>"


@pytest.mark.parametrize(
    ("strides", "layout"),
    [(None, "affine_map<(i, j) -> (i, j)>"), ("F", STRIDED), ("any", STRIDED)],
)
def test_each_memref_takes_its_own_rank(strides: str | None, layout: str) -> None:
    r = spec.Tensor("r", ..., "float32", device_type="cpu", strides=strides)
    provider = of(
        (MemRefCallProvider("r0"), when.ndim(r) < 1),
        (MemRefCallProvider("r2"), when.ndim(r) == 2),
        (NopCallProvider(), None),
    )
    function = lowered(RANKS.replace("LAYOUT", layout), provider, r)
    scalar = np.zeros((), "float32")
    function(scalar)
    assert scalar.tolist() == 1
    arrays = {None: [np.zeros((2, 3), "float32")], "F": [np.zeros((2, 3), "float32", order="F")]}
    base: Any = np.zeros((4, 7), "float32")
    for x in arrays.get(strides, [base[:2, :3], base[::2, 1::3], base[:2, :3].T]):
        x[...] = 0
        function(x)
        assert x[1, -1] == 2
        assert x.sum() == 2
    function(np.zeros((1, 1, 1), "float32"))


def test_a_rank_of_an_optional_tensor() -> None:
    r = spec.Tensor("r", ..., "float32", device_type="cpu", strides="any")
    rank = MemRefCallProvider("r2", args=["r"])
    inner = of((rank, SMALL), (rank, None))
    provider = of((inner, when.ndim(r) == 2), (NopCallProvider(), None))
    function = lowered(RANKS.replace("LAYOUT", STRIDED), provider, spec.Optional(r), N)
    function(None, 1)
    for size in (1, 5):
        x = np.zeros((3, 4), "float32")[:, ::2]
        function(x, size)
        assert x.tolist() == [[0, 0], [0, 2], [0, 0]]


def test_tensors_to_allocate_are_known_like_their_arguments(allocator: None) -> None:
    """Each memref takes a workspace of the dtype, and the rank, of the argument."""
    w = spec.Workspace("w", "x.shape", "x.dtype", device_type="cpu")
    pairs = [
        (MemRefCallProvider(name, args=["w"]), (when.dtype(OF_ANY) == dtype) & ONE)
        for name, dtype in {"f32": "float32", "f64": "float64"}.items()
    ]
    function = lowered(MEMREFS, of(*pairs, (NopCallProvider(), None)), OF_ANY, w)
    for array in (np.zeros(2, "float32"), np.zeros(2), np.zeros((2, 2))):
        function(array)


PAIRS: Final = """
func.func @f32(%x: memref<?xf32>, %y: memref<?xf32>) { %c = arith.constant 0 : index
  %v = memref.load %x[%c] : memref<?xf32> memref.store %v, %y[%c] : memref<?xf32> return }
func.func @f64(%x: memref<?xf64>, %y: memref<?xf64>) { %c = arith.constant 0 : index
  %v = memref.load %x[%c] : memref<?xf64> memref.store %v, %y[%c] : memref<?xf64> return }
"""
LIKE_X: Final = spec.Tensor("y", [N], "x.dtype", device_type="cpu")
OF_ANY_RANK: Final = spec.Tensor("y", ..., "x.dtype", device_type="cpu")


def pairs(params: list[spec.Param], args: Any = None, condition: Any = SINGLE) -> Any:
    f32, f64 = (MemRefCallProvider(name, args=args) for name in ("f32", "f64"))
    return lowered(PAIRS, of((f32, condition), (f64, None)), *params)


@pytest.mark.parametrize(
    ("params", "args"),
    [
        ([X, LIKE_X], None),
        ([X, LIKE_X], [X, LIKE_X]),
        # The Optional, as an argument of a provider, knows where its dtype is from.
        *(([X, spec.Optional(LIKE_X)], args) for args in (None, [X, spec.Optional(LIKE_X)], ["x", "y"])),
        ([X, spec.Struct("cfg", [LIKE_X])], ["x", "cfg.y"]),
        ([X, spec.Tensor("b", [N], "x.dtype", device_type="cpu"), replace(LIKE_X, dtype="b.dtype")], ["x", "y"]),
    ],
)  # fmt: skip
def test_tensors_of_its_dtype_are_settled_with_it(params: list[spec.Param], args: Any) -> None:
    function = pairs(params, args)
    for dtype in ("float32", "float64"):
        x, y = np.ones(2, dtype), np.zeros(2, dtype)
        last = (y,) if isinstance(params[1], spec.Struct) else y
        function(*[x] * (len(params) - 1), last)
        assert y.tolist() == [1, 0]


def test_a_dtype_of_another_that_is_not_settled() -> None:
    words = r"is Tensor\(\[n\], x\.dtype\): the kernel's elements are"
    with pytest.raises(BuildError, match=words):
        pairs([X, LIKE_X], ["y", "y"], SMALL)


def test_a_known_rank_and_the_dtype_of_another() -> None:
    """Both conditions narrow one tensor, in variants within variants too."""
    one = when.ndim(OF_ANY_RANK) == 1
    nested = of((of((SINGLES, SINGLE), (DOUBLES, None)), one), (NopCallProvider(), None))
    flat = of((SINGLES, one & SINGLE), (DOUBLES, one), (NopCallProvider(), None))
    for provider in (nested, flat):
        function = lowered(PAIRS, provider, X, OF_ANY_RANK)
        for dtype in ("float32", "float64"):
            x, y, other = np.ones(2, dtype), np.zeros(2, dtype), np.zeros((2, 2), dtype)
            function(x, y)
            function(x, other)
            assert (y.tolist(), other.any()) == ([1, 0], False)


M: Final = spec.Var("m", "int64")
STATIC: Final = """
func.func @by_4(%x: memref<?x4xf32>) { %c = arith.constant 0 : index
  %v = arith.constant 4.0 : f32 memref.store %v, %x[%c, %c] : memref<?x4xf32> return }
func.func @strided(%x: memref<?x?xf32, strided<[8, 1]>>) { %c = arith.constant 0 : index
  %v = arith.constant 8.0 : f32
  memref.store %v, %x[%c, %c] : memref<?x?xf32, strided<[8, 1]>> return }
func.func @any(%x: memref<?x?xf32>) { %c = arith.constant 0 : index
  %v = arith.constant 1.0 : f32 memref.store %v, %x[%c, %c] : memref<?x?xf32> return }
"""
FOUR: Final = when.value(M) == 4


def sized(condition: Any, shape: Any = (N, M), kernel: str = "by_4") -> Any:
    """A function whose first kernel has a static size or stride."""
    x = spec.Tensor("x", shape, "float32", device_type="cpu")
    first, other = (MemRefCallProvider(name, args=["x"]) for name in (kernel, "any"))
    return lowered(STATIC, of((first, condition), (other, None)), x, N, M)


@pytest.mark.parametrize(
    "condition", [FOUR, FOUR & when.divisible(N, 2), when.all_of(when.value(N) > 1, FOUR)]
)
def test_a_static_size_of_a_variant(condition: Any) -> None:
    function = sized(condition)
    for shape, expected in (((2, 4), 4), ((2, 5), 1), ((4, 2), 1)):
        x = np.zeros(shape, "float32")
        function(x, *shape)
        assert x[0, 0] == expected


def test_static_sizes_that_are_computed() -> None:
    """The dimension is a product of the symbol, and a stride is the dimension."""
    twice = sized(when.value(M) == 2, [N, M * 2])
    strided = sized(when.value(M) == 8, kernel="strided")
    for function, width, m, expected in ((twice, 4, 2, 4), (twice, 6, 3, 1), (strided, 8, 8, 8)):
        x = np.zeros((1, width), "float32")
        function(x, 1, m)
        assert x[0, 0] == expected


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (FOUR | (when.value(N) == 4), "shape[1] is m, which takes other sizes too; write 4, or"),
        (~FOUR, "shape[1] is m, which"),
        (when.value(M) != 4, "shape[1] is m, which"),
        (when.value(N) == 4, "is Tensor([4, m], float32): the kernel's size 1 is 4, but shape[1]"),
        (when.value(M + 0) == 4, "shape[1] is m, which"),
        (when.value(M) == 5, "is Tensor([n, 5], float32): the kernel's size 1 is 4"),
        (when.value(M) == -4, "is Tensor([n, m], float32): the kernel's size 1 is 4"),
    ],
)
def test_a_static_size_that_the_condition_does_not_say(condition: Any, words: str) -> None:
    with pytest.raises(BuildError, match=re.escape(words)):
        sized(condition)


def test_a_static_size_within_variants_within_variants() -> None:
    x = spec.Tensor("x", [N, M], "float32", device_type="cpu")
    inner = of((MemRefCallProvider("by_4"), SMALL), (MemRefCallProvider("by_4"), None))
    function = lowered(STATIC, of((inner, FOUR), (NopCallProvider(), None)), x)
    for rows in (1, 5):
        array = np.zeros((rows, 4), "float32")
        function(array)
        assert array[0, 0] == 4
