"""Variants by ``when.contiguous``: which one is called, and the memrefs that it may take."""

from __future__ import annotations

import itertools
import re
from typing import Any, Final, TypeAlias

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ffi_builder import BuildError, SpecError, spec
from ffi_builder.providers import (
    CallProvider,
    DirectCallProvider,
    MemRefCallProvider,
    NopCallProvider,
    when,
)
from ffi_builder.spec.expr import Condition
from tests.differential.description import DLTensor, tensor
from tests.providers.variants import choosing, lowered, of
from tests.support.recording import Recording
from tests.support.wrapping import RawWrapper, wrap_raw

N, M, A, B = spec.dims("n m a b")
with spec.DefaultConfig(device_type="cpu"):
    X: Final = spec.Tensor("x", [N, M], "float32", strides=[A, B])
    LOOSE: Final = spec.Tensor("x", [N, M], "float32", strides="any")
    OF_ANY_RANK: Final = spec.Tensor("x", ..., "float32", strides="any")
    MASK: Final = spec.Optional(spec.Tensor("mask", [N, M], "float32", strides="any"))


# ---- the condition


def test_its_text() -> None:
    signature = spec.Signature("f", [spec.Struct("cfg", [X]), MASK])
    condition = ~when.contiguous(X) & when.contiguous(MASK)
    assert str(condition) == "not x.contiguous and mask.contiguous"
    assert when.parse("not cfg.x.contiguous and mask.contiguous", signature) == condition
    explained = of((NopCallProvider(), condition), (NopCallProvider(), None)).explain(signature)
    assert "\n  1: cfg.x.contiguous? yes: NopCallProvider; no: test 2\n" in explained


@pytest.mark.parametrize("param", [N, spec.DataPointer("p"), spec.TensorList(LOOSE)])
def test_what_is_not_a_tensor(param: spec.Param) -> None:
    with pytest.raises(SpecError, match="contiguous: expected a Tensor but got "):
        when.contiguous(param)


# ---- the rule


def of_rank(ndim: int, kind: str) -> spec.Tensor:
    """A tensor whose strides are symbols, are not checked, or whose rank is not known either."""
    strides: Any = spec.dims(" ".join(f"s{i}" for i in range(ndim))) if kind == "named" else "any"
    shape: Any = ... if kind == "any rank" else [None] * ndim
    return spec.Tensor("x", shape, "float32", device_type="cpu", strides=strides)


KINDS: Final = ("named", "unchecked", "any rank")
Accepting: TypeAlias = "dict[tuple[int, str], tuple[RawWrapper, RawWrapper]]"


@pytest.fixture(scope="module")
def accepting() -> Accepting:
    """Functions that take what the condition takes, each with one whose tensor has no strides."""
    found: Accepting = {}
    for ndim, kind in itertools.product(range(1, 5), KINDS):
        param = of_rank(ndim, kind)
        by_condition = wrap_raw([param], of((NopCallProvider(), when.contiguous(param))))
        found[ndim, kind] = by_condition, wrap_raw([param.changed(strides=None)])
    return found


def layouts() -> st.SearchStrategy[tuple[tuple[int, ...], tuple[int, ...] | None]]:
    def strided(shape: tuple[int, ...]) -> Any:
        right = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
        strides = st.tuples(*(st.sampled_from((stride, stride, 1, 7)) for stride in right))
        return st.tuples(st.just(shape), st.none() | strides)

    return st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple).flatmap(strided)


@pytest.mark.parametrize("kind", KINDS)
@given(layout=layouts())
@example(layout=((2, 3), (3, 1)))
@example(layout=((2, 3), (4, 1)))
@example(layout=((2, 3), None))
@example(layout=((1, 3, 1), (7, 1, 7)))
@example(layout=((2, 0, 3), (7, 7, 7)))
def test_it_is_what_a_tensor_without_strides_takes(
    accepting: Accepting, kind: str, layout: tuple[tuple[int, ...], tuple[int, ...] | None]
) -> None:
    shape, strides = layout
    by_condition, by_spec = accepting[len(shape), kind]
    array = tensor(DLTensor(shape, strides))
    error, expected = by_condition(array), by_spec(array)
    assert (error is None) == (expected is None)
    if error is not None:
        assert error[1].startswith(
            "No variant fits: expected NopCallProvider (x.contiguous) but got x.contiguous = False "
        )


def test_a_tensor_of_few_dimensions() -> None:
    scalar, vector = (of_rank(ndim, "unchecked") for ndim in (0, 1))
    assert choosing([scalar], when.contiguous(scalar), None)(np.zeros((), "float32")) == 0
    function = choosing([vector], when.contiguous(vector), None)
    x = np.zeros(6, "float32")
    assert [function(array) for array in (x, x[::2], x[:1], x[::-1])] == [0, 1, 0, 1]


def test_column_major() -> None:
    x = spec.Tensor("x", [N, M], "float32", device_type="cpu", strides="F")
    function = choosing([x], when.contiguous(x), None)
    shapes = ((2, 3), (1, 3), (3, 1), (0, 3))
    assert [function(np.zeros(shape, "float32", order="F")) for shape in shapes] == [1, 0, 0, 0]


@pytest.mark.parametrize("param", [MASK, spec.Optional(OF_ANY_RANK)])
def test_an_absent_tensor_is_not_contiguous(param: spec.Optional) -> None:
    function = choosing([param], when.contiguous(param), ~when.present(param), None)
    array, other = np.zeros((2, 3), "float32"), np.zeros((2, 3), "float32", order="F")
    assert [function(x) for x in (array, None, other)] == [0, 1, 2]


def test_a_tensor_that_is_always_contiguous() -> None:
    x = spec.Tensor("x", [N, M], "float32", device_type="cpu")
    provider = of((DirectCallProvider("k", args=[]), when.contiguous(x)))
    assert provider.explain(spec.Signature("f", [x])).endswith("\ntests:\n  k")
    maybe = spec.Optional(x)
    function = choosing([maybe], when.contiguous(maybe), None)
    assert [function(given) for given in (np.zeros((2, 3), "float32"), None)] == [0, 1]


@pytest.mark.parametrize(
    ("strides", "shape", "given", "fits"),
    [
        ([A, 1], (2, 3), (3, 1), True),
        ([A, 1], (2, 3), (4, 1), False),
        ([A, 1], (2, 1), (1, 9), True),  # the stride of the packed dimension is free
        ([1, A], (2, 3), (1, 2), False),
        ("F", (2, 3), (1, 2), False),
        ("F", (1, 3), (1, 1), False),  # the kernel gets two rows
    ],
)
def test_a_packed_tensor(strides: Any, shape: Any, given: Any, fits: bool) -> None:
    x = spec.Tensor(
        "x", [N, M], "float4_e2m1fn", storage_dtype="float4_e2m1fnx2", strides=strides,
        device_type="cpu",
    )  # fmt: skip
    call = wrap_raw([x], of((NopCallProvider(), when.contiguous(x))))
    assert (call(tensor(DLTensor(shape, given, dtype=(17, 4, 2)))) is None) == fits


def test_a_packed_tensor_whose_last_dimension_is_not_packed() -> None:
    """Its kernel is told nothing: without strides the tensor would be another one."""
    x = spec.Tensor(
        "x", [4, 3], "float4_e2m1fn", storage_dtype="float4_e2m1fnx2", strides="F", device_type="cpu"
    )  # fmt: skip
    explained = of((NopCallProvider(), when.contiguous(x))).explain(spec.Signature("f", [x]))
    assert explained.splitlines()[1] == "  NopCallProvider: x.contiguous"


# ---- the kernels that such variants may have


KERNELS: Final = """
func.func @rows(%x: memref<?x?xf32>) { %i = arith.constant 1 : index
  %v = arith.constant 1.0 : f32 memref.store %v, %x[%i, %i] : memref<?x?xf32> return }
func.func @steps(%x: memref<?x?xf32, strided<[?, 1]>>) { %i = arith.constant 1 : index
  %v = arith.constant 2.0 : f32
  memref.store %v, %x[%i, %i] : memref<?x?xf32, strided<[?, 1]>> return }
func.func @any(%x: memref<?x?xf32, strided<[?, ?]>>) { %i = arith.constant 1 : index
  %v = arith.constant 3.0 : f32
  memref.store %v, %x[%i, %i] : memref<?x?xf32, strided<[?, ?]>> return }
"""
ROWS, STEPS, ANY = (MemRefCallProvider(name, args=["x"]) for name in ("rows", "steps", "any"))


def compiled(provider: CallProvider, *params: spec.Param) -> Any:
    return lowered(KERNELS, provider, *params)


def arrays() -> dict[str, Any]:
    """Arrays of two by three elements: a contiguous one, and two others."""
    wide = np.zeros((2, 8), "float32")
    return {
        "C": np.zeros((2, 3), "float32"),
        "F": np.zeros((2, 3), "float32", order="F"),
        "": wide[:, :3],
    }


def written(function: Any, *more: object) -> list[float]:
    """The values that the kernels have written at [1, 1]; all others are untouched."""
    found: list[float] = []
    for array in arrays().values():
        function(array, *more)
        assert np.count_nonzero(array) == 1
        found.append(array[1, 1])
    return found


@pytest.mark.parametrize("param", [X, LOOSE, LOOSE.changed(shape=[None, M])])
def test_a_memref_without_a_layout(param: spec.Tensor) -> None:
    provider = of((ROWS, when.contiguous(param)), (ANY, None))
    assert written(compiled(provider, param)) == [1, 3, 3]


def test_a_memref_of_row_stride_one() -> None:
    assert written(compiled(of((STEPS, when.contiguous(X)), (ANY, None)), X)) == [2, 3, 3]


def test_any_combination_that_implies_it() -> None:
    contiguous, wide = when.contiguous(X), when.value(N) >= 2
    for first in (contiguous & wide, ~(~contiguous | ~wide), when.any_of(contiguous & wide)):
        assert written(compiled(of((ROWS, first), (ANY, None)), X)) == [1, 3, 3]
    assert written(compiled(of((ANY, ~contiguous), (ROWS, None)), X)) == [1, 3, 3]


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        (~when.contiguous(X), "strides=[a, b]"),
        (when.contiguous(X) | (when.value(N) == 1), "strides=[a, b]"),
        (when.value(N) == 1, "Tensor([1, m], float32, strides=[a, b])"),
    ],
)
def test_a_condition_that_leaves_other_strides(condition: Condition, left: str) -> None:
    with pytest.raises(BuildError, match=re.escape(left)) as raised:
        compiled(of((ROWS, condition), (ANY, None)), X)
    assert str(raised.value).endswith("or call it only if x.contiguous with VariantsCallProvider")
    with pytest.raises(BuildError, match="takes 'x' as memref<"):
        compiled(of((ANY, when.contiguous(X)), (ROWS, None)), X)


def test_of_another_tensor() -> None:
    y = spec.Tensor("y", [N, M], "float32", device_type="cpu", strides="any")
    with pytest.raises(BuildError, match="a memref without a layout is row-major"):
        compiled(of((ROWS, when.contiguous(y)), (NopCallProvider(), None)), X, y)


def test_with_a_rank_a_dtype_and_a_size() -> None:
    """Each of the conditions narrows the same tensor."""
    x = spec.Tensor("x", ..., ("float32", "int8"), device_type="cpu", strides="any")
    ranked = (when.dtype(x) == "float32") & (when.ndim(x) == 2)
    provider = of((ROWS, ranked & when.contiguous(x)), (ANY, ranked), (NopCallProvider(), None))
    function = compiled(provider, x)
    assert written(function) == [1, 3, 3]
    function(np.zeros(3, "int8"))
    sized = of((ROWS, when.contiguous(X) & (when.value(M) == 3)), (ANY, None))
    assert sized.explain(spec.Signature("f", [X])).splitlines()[1] == (
        "  rows: x.contiguous and m == 3 (x: Tensor([n, 3], float32))"
    )


def test_variants_within_variants() -> None:
    inner = of((ROWS, when.value(N) == 2), (ROWS, when.contiguous(X)))
    assert written(compiled(of((inner, when.contiguous(X)), (ANY, None)), X)) == [1, 3, 3]


def test_a_tensor_of_the_dtype_of_another() -> None:
    """The condition may have a tensor that does not know where its dtype is from."""
    of_its_dtype = LOOSE.changed(dtype="y.dtype")
    y = spec.Tensor("y", [1], "float32", device_type="cpu")
    provider = of((ROWS, when.contiguous(of_its_dtype)), (ANY, None))
    function = compiled(provider, y, of_its_dtype)
    array = np.zeros((2, 3), "float32")
    function(np.zeros(1, "float32"), array)
    assert array[1, 1] == 1
    ranked = spec.Tensor("x", ..., "y.dtype", device_type="cpu")
    compiled(of((ROWS, when.ndim(ranked) == 2), (NopCallProvider(), None)), y, ranked)


def test_an_optional_tensor_that_is_absent_or_contiguous() -> None:
    """Only the kernel that does not read the tensor gets NULL."""
    x = spec.Optional(LOOSE)
    here = when.present(x)
    provider = of(
        (ROWS, here & when.contiguous(x)),
        (ROWS, (when.contiguous(x) | ~here) & (when.value(A) == 1)),
        (NopCallProvider(), ~here),
        (ANY, None),
    )
    function = compiled(provider, x, A)
    assert written(function, 0) == [1, 3, 3]
    function(None, 0)


def test_what_is_passed_remains() -> None:
    """Free strides of a contiguous tensor are passed as they came, as to the other variants."""
    recording = Recording("callee", ["!llvm.ptr", "!llvm.ptr", *["i64"] * 5])
    provider = of((MemRefCallProvider("callee", args=["x"]), when.contiguous(X)))
    call = wrap_raw([X], provider, recording.text)
    assert call(tensor(DLTensor((1, 3), (77, 1)))) is None
    assert [recording.signed(3 + i) for i in range(4)] == [1, 3, 77, 1]
