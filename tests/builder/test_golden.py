"""Whole wrappers, kept in tests/golden/: ``pytest --update-golden`` writes them anew."""

from __future__ import annotations

import pytest

from ffi_builder import spec
from ffi_builder.providers import (
    CallProvider,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NopCallProvider,
)
from ffi_builder.spec import Shape, Tensor, TupleParam, Var, dims
from tests.builder.samples import MATMUL
from tests.conftest import Golden
from tests.support.printed import printed_wrapper
from tests.support.wrapping import attached

n, m = dims("n m")
s = Var("s", "int64")
small = Var("small", "int32", divisibility=8, min=8, max=4096)
PACKED = Tensor("w", [n, m], "float4_e2m1fn", device_type="cuda", strides=[None, 1])

MODULES: dict[str, tuple[list[spec.Param], CallProvider]] = {
    "scalar": ([Var("a", "int32")], DirectCallProvider("callee")),
    "matmul": (MATMUL, MemRefCallProvider("callee")),
    "strides": (
        [Tensor("x", [small, n], "bfloat16", device_type="cpu", strides=[s, 1], data_alignment=16)],
        DynamicParamPackCallProvider("callee"),
    ),
    "tuple": (
        [
            TupleParam("t", [Var("a", "bool"), TupleParam("u", [spec.ConstFloat("half", 0.5)])]),
            Shape("shape", [n, 3, n * 2]),
            spec.ConstNone("none"),
            spec.ConstInt("one", 1),
        ],
        DirectCallProvider("callee"),
    ),
    "packed": ([spec.create_map_tensor_dtype_f4x2_to_f4_spec(PACKED)], NopCallProvider()),
    "stream": (
        [
            spec.EnvStream("env"),
            spec.Stream("stream"),
            spec.DataPointer("p", address_space=1),
            Tensor("x", [n], "float32", device_type="cuda"),
        ],
        DirectCallProvider("callee"),
    ),
    "optional": (
        [
            Tensor("x", [n], "float32", device_type="cpu"),
            spec.Optional(Tensor("y", [n, m], "float32", device_type="cpu")),
            spec.Optional(Var("a", "int32")),
        ],
        DirectCallProvider("callee", args=["x", "y", "y.present", m, "a"]),
    ),
    "list": (
        [
            spec.TensorList(
                Tensor("xs", [m, n], "float32", device_type="cpu"),
                length=Var("g", "int32"),
                each=[m],
            ),
            spec.TensorList(
                Tensor("ys", [m], "float32", device_type="cpu", strides="any"),
                length=Var("g", "int32"),
                each=[m],
            ),
        ],
        DirectCallProvider("callee", args=["g", "xs.pointers", "xs.shapes", "ys.pointers"]),
    ),
    "dtypes": (
        [
            Tensor("x", [n], ["float32", "float16"], device_type="cpu"),
            Tensor("y", [n], "x.dtype", device_type="cpu"),
            Tensor("z", [n, m], "x.dtype", device_type="cuda"),
        ],
        DirectCallProvider("callee", args=["x.data", "y.data", "z.data", n, m]),
    ),
    "choice": (
        [spec.Choice("act", {"relu": 1, "gelu": -2}, "int8"), spec.String("label")],
        DynamicParamPackCallProvider("callee"),
    ),
}


@pytest.mark.parametrize("name", MODULES)
def test_wrapper(name: str, golden: Golden) -> None:
    params, provider = MODULES[name]
    golden.check(f"{name}.mlir", printed_wrapper(attached(params, provider, name=name)))


def test_wrapper_whose_tensors_are_apart(golden: Golden) -> None:
    """Two sizes are compared, and the extents of a tensor whose strides may be anything."""
    params: list[spec.Param] = [
        Tensor("x", [n], "float32", device_type="cpu"),
        Tensor("mask", [n], "bool", device_type="cpu", strides="any"),
        Tensor("y", [n], "float32", device_type="cpu", intent="out"),
    ]
    module = attached(params, name="apart", no_overlap=True)
    golden.check("apart.mlir", printed_wrapper(module))


def test_wrapper_with_relations(golden: Golden) -> None:
    """A comparison, a set, a product that may overflow, and a symbol that may be absent."""
    n, m, k = spec.dims("n m k")
    params: list[spec.Param] = [
        Tensor("x", [n, m], "float32", device_type="cpu"),
        spec.Optional(k),
        Tensor("y", [spec.maximum(n, 4)], "float32", device_type="cpu"),
    ]
    where = [n <= m, spec.one_of(m, [64, 128]), n * m <= 2**31 - 1, k < n]
    golden.check("related.mlir", printed_wrapper(attached(params, name="related", where=where)))


def test_a_missing_file_fails(golden: Golden) -> None:
    with pytest.raises(AssertionError, match=r"missing; pytest --update-golden writes it"):
        Golden(update=False).check("no_such_file.mlir", "")
