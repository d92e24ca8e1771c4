"""Reading the types of kernels, and what MLIR lowers them to, by comparing with what it does."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import pytest

from ffi_builder.ir.distribution import named
from ffi_builder.ir.kernel import FunctionTypes, MemRef, dtypes_of, lowered, read_function
from ffi_builder.ir.symbols import function_parts
from ffi_builder.spec.dtypes import parse_dtype
from tests.support.contexts import shared_context

BINDINGS: Final = ["torch_mlir", "jaxlib.mlir"]

NUMBERS: Final = {
    "i1": "bool int1 uint1",
    "si1": "int1",
    "ui1": "uint1",
    "i8": "int8 uint8 bool",
    "si8": "int8",
    "ui8": "uint8",
    "i4": "int4 uint4",
    "i7": "",
    "i16": "int16 uint16",
    "i32": "int32 uint32",
    "si64": "int64",
    "index": "int64 uint64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "f80": "",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
    "f6E2M3FN": "float6_e2m3fn",
    "f4E2M1FN": "float4_e2m1fn",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
    "complex<i32>": "",
    "vector<4xf32>": "float32x4",
    "vector<2xf8E4M3FN>": "float8_e4m3fnx2",
    "vector<4xindex>": "int64x4 uint64x4",
    "vector<3xf32>": "",
    "vector<8xi1>": "",
    "!llvm.ptr": "handle64",
}
"""Element types, and the dtypes that they may be."""


def read(text: str, distribution: str = "torch_mlir") -> FunctionTypes:
    ir = named(distribution).ir
    return read_function(ir, ir.Type.parse(text, shared_context(distribution)))


@pytest.mark.parametrize("distribution", BINDINGS)
def test_everything_of_a_memref(distribution: str) -> None:
    pytest.importorskip(f"{distribution}.ir", reason="needs these bindings")
    texts = [
        "memref<?x4xf32>",
        "memref<f16>",
        "memref<2x?xi8, strided<[?, 1], offset: ?>>",
        "memref<4xi8, strided<[2]>>",
        "memref<i8, strided<[], offset: 3>>",
        "memref<?x?xf64, 3>",
        "memref<?x?xf32, affine_map<(d0, d1)[s0] -> (d0 * s0 + d1 * 2)>>",
        "memref<?xvector<4xf32>>",
    ]
    found = read(f"({', '.join(texts)}, index) -> f32", distribution)
    x, scalar, strided, static, offset, space, mapped, vector, index = found.inputs
    assert x == MemRef(texts[0], "f32", (None, 4), None, 0)
    assert scalar == MemRef(texts[1], "f16", (), None, 0)
    assert strided == MemRef(texts[2], "i8", (2, None), (None, 1), None)
    assert static == MemRef(texts[3], "i8", (4,), (2,), 0)
    assert offset == MemRef(texts[4], "i8", (), (), 3)
    assert isinstance(space, MemRef)
    assert (space.address_space, space.strides) == (3, None)
    assert isinstance(mapped, MemRef)
    assert (mapped.strides, mapped.offset) == ((None, 2), 0)
    assert isinstance(vector, MemRef)
    assert vector.element == "vector<4xf32>"
    assert index == "index"
    assert found.results == ("f32",)


@pytest.mark.parametrize(
    "text", ["memref<*xf32>", "memref<2x?xf32, affine_map<(d0, d1) -> (d1, d0)>>", "tensor<?xf32>"]
)
def test_types_that_are_not_read_are_text_and_not_lowered(text: str) -> None:
    found = read(f"({text}) -> ()")
    assert found.inputs == (text,)
    assert lowered(found) is None
    assert lowered(found, c_interface=True) is None


@pytest.mark.parametrize("text", NUMBERS)
def test_dtypes(text: str) -> None:
    dtypes = dtypes_of(text)
    assert dtypes == tuple(NUMBERS[text].split())
    for dtype in dtypes or ():
        assert str(parse_dtype(dtype)) == dtype


def test_every_dtype_is_that_of_some_element() -> None:
    texts = [*NUMBERS, "i2", "i64", "f8E3M4", "f8E4M3", "f8E4M3B11FNUZ", "f8E4M3FNUZ", "f8E5M2"]
    texts += ["f6E3M2FN", "complex<f16>"]
    found = {dtype for text in texts for dtype in dtypes_of(text) or ()}
    from ffi_builder.spec.dtypes import NAMES

    assert {str(parse_dtype(name)) for name in NAMES} <= found


def test_the_dtype_of_a_dialects_own_type_is_not_known() -> None:
    assert dtypes_of("!quant.any<i8>") is None
    assert dtypes_of("vector<2x!dsl.half>") is None


def parts_in_mlir(text: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    """The parts of the functions that MLIR makes of a `func.func`, by name."""
    ir: Any = import_module("torch_mlir.ir")
    passes: Any = import_module("torch_mlir.passmanager").PassManager
    # Operations do not keep their module alive, so what is returned is text.
    module = ir.Module.parse(text, ir.Context())
    pipeline = "builtin.module(convert-func-to-llvm,reconcile-unrealized-casts)"
    passes.parse(pipeline, module.context).run(module.operation)
    return {
        view.operation.attributes["sym_name"].value: function_parts(view.operation)
        for view in module.body.operations
    }


def test_numbers_are_lowered_as_by_mlir() -> None:
    texts = [*NUMBERS, "!llvm.struct<(i32, ptr)>", "vector<3xi8>"]
    types = [
        types
        for text in texts
        for types in (f"({text}) -> ()", f"({text}, i1) -> {text}", f"() -> ({text}, index)")
    ]
    made = parts_in_mlir(
        "\n".join(f"func.func private @f{number}{each}" for number, each in enumerate(types))
    )
    assert {f"f{number}": lowered(read(each)) for number, each in enumerate(types)} == made


@pytest.mark.parametrize(
    "types",
    [
        "(memref<f32>) -> ()",
        "(memref<?x4xf32>, index, memref<?xi8, strided<[?], offset: ?>>) -> f32",
        "(memref<?xf32, 1>) -> ()",
        "(memref<?xvector<4xf32>>, f64) -> i32",
    ],
)
def test_memrefs_are_lowered_as_by_mlir(types: str) -> None:
    made = parts_in_mlir(f"func.func private @f{types} attributes {{llvm.emit_c_interface}}")
    assert lowered(read(types)) == made["f"]
    assert lowered(read(types), c_interface=True) == made["_mlir_ciface_f"]


@pytest.mark.parametrize(
    "types", ["(memref<f32>) -> memref<f32>", "(memref<?xf32, #gpu.address_space<global>>) -> ()"]
)
def test_what_is_not_known_is_not_lowered(types: str) -> None:
    assert lowered(read(types)) is None


def test_several_results_of_a_c_interface_are_not_known() -> None:
    assert lowered(read("(index) -> (f32, f32)"), c_interface=True) is None
