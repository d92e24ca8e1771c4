"""A pipeline notes what kernels take before it runs, and hooks that attach compare with that."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import attach_ffi_func, record_memref_types, runtime, spec
from ffi_builder.errors import BuildError
from ffi_builder.protocol import MEMREF_TYPES
from ffi_builder.providers import MemRefCallProvider
from tests.runtime.samples import parse

n = spec.Var("n", "int64")
TO_LLVM: Final = (
    "convert-linalg-to-loops,convert-scf-to-cf,expand-strided-metadata,lower-affine,"
    "convert-to-llvm,reconcile-unrealized-casts"
)
TWICE: Final = """
func.func @twice(%x: memref<?xf32>) attributes {llvm.emit_c_interface} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%x : memref<?xf32>) {
  ^bb0(%old: f32):
    %new = arith.addf %old, %old : f32
    linalg.yield %new : f32
  }
  return
}
func.func private @inner(memref<?x4xf16>, index)
func.func @scalars(%a: f32) { return }
memref.global "private" @table : memref<4xf32>
"""


def tensor(dtype: str, name: str = "x", **more: Any) -> spec.Tensor:
    return spec.Tensor(name, [n], dtype, device_type="cpu", **more)


class Hook:
    """Attaches @f, which calls a kernel with these tensors."""

    def __init__(self, params: Sequence[spec.Param], kernel: str = "twice", **more: Any) -> None:
        self.params, self.provider = params, MemRefCallProvider(kernel, **more)

    def __call__(self, module: Any) -> None:
        attach_ffi_func(module, "f", self.params, self.provider)


def lowered(module: Any, *passes: str) -> Any:
    """The same module, after these passes."""
    manager: Any = import_module("torch_mlir.passmanager").PassManager
    manager.parse(f"builtin.module({','.join(passes)})", module.context).run(module.operation)
    return module


def records(module: Any) -> dict[str, str]:
    """Return the record of each function of a module."""
    functions = [operation.operation.attributes for operation in module.body.operations]
    return {
        attributes["sym_name"].value: attributes[MEMREF_TYPES].value
        for attributes in functions
        if MEMREF_TYPES in attributes
    }


@pytest.mark.parametrize("c_interface", [False, True])
def test_compile_records(c_interface: bool) -> None:
    pipeline = f"builtin.module({TO_LLVM})"
    hook = Hook([tensor("float32")], c_interface=c_interface)
    compiled = runtime.compile(TWICE, pipeline=pipeline, post_compile_hooks=[hook])
    x = np.array([1, 2], "float32")
    compiled["f"](x)
    assert x.tolist() == [2, 4]
    strided = tensor("float32", strides=[spec.Var("s", "int64")])
    for wrong, words in ((tensor("float64"), "f32, not float64"), (strided, "row-major")):
        hook = Hook([wrong], c_interface=c_interface)
        for compiling in (runtime.compile, runtime.lower):
            with pytest.raises(BuildError, match=rf"takes 'x' as memref<\?xf32> .*{words}"):
                compiling(TWICE, pipeline=pipeline, post_compile_hooks=[hook])


def test_compile_leaves_the_module_that_it_is_given_alone() -> None:
    module = parse(TWICE)
    before = str(module)
    runtime.lower(module, pipeline=f"builtin.module({TO_LLVM})")
    assert str(module) == before


def test_every_function_with_memrefs_is_recorded() -> None:
    module: Any = parse(TWICE)
    record_memref_types(module)
    expected = {"twice": "(memref<?xf32>) -> ()", "inner": "(memref<?x4xf16>, index) -> ()"}
    assert records(module) == expected
    assert module.operation.verify()
    lowered(module, TO_LLVM)
    assert records(module) == {**expected, "_mlir_ciface_twice": "(memref<?xf32>) -> ()"}
    assert module.operation.verify()


def test_recording_twice_keeps_the_later_one() -> None:
    earlier = f'attributes {{{MEMREF_TYPES} = "(memref<?xf64>) -> ()"}}'
    module = parse(f"func.func @kernel(%x: memref<?xf32>) {earlier} {{ return }}")
    assert records(module) == {"kernel": "(memref<?xf64>) -> ()"}
    record_memref_types(module)
    assert records(module) == {"kernel": "(memref<?xf32>) -> ()"}


def as_text(module: Any) -> Any:
    return parse(str(module))


def as_generic_text(module: Any) -> Any:
    return parse(module.operation.get_asm(print_generic_op_form=True))


def as_bytecode(module: Any) -> Any:
    ir: Any = import_module("torch_mlir.ir")
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return ir.Module.parse(buffer.getvalue(), ir.Context())


def as_clone(module: Any) -> Any:
    ir: Any = import_module("torch_mlir.ir")
    copy = ir.Module.create(ir.Location.unknown(module.context))
    for operation in module.body.operations:
        copy.body.append(operation.operation.clone())
    return copy


@pytest.mark.parametrize("travel", [as_text, as_generic_text, as_bytecode, as_clone])
def test_a_record_travels_with_the_module(travel: Any) -> None:
    module: Any = parse(TWICE)
    record_memref_types(module)
    lowered(module, TO_LLVM)
    there = travel(module)
    Hook([tensor("float32")])(there)
    with pytest.raises(BuildError, match="f32, not float64"):
        Hook([tensor("float64")])(travel(module))
    x = np.array([3], "float32")
    runtime.compile(there)["f"](x)
    assert x.tolist() == [6]


def test_a_record_is_not_in_llvm_ir_and_needs_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Any:
        raise AssertionError("a child process was asked")

    monkeypatch.setattr("ffi_builder.runtime.isolate.worker._request", refuse)
    made = runtime.lower(TWICE, pipeline=f"builtin.module({TO_LLVM})")
    assert made.mlir is not None
    assert made.llvm_ir is not None
    assert MEMREF_TYPES in made.mlir
    assert "memref" not in made.llvm_ir


COPIES: Final = """
func.func @twice(%x: tensor<?xf32>, %y: memref<?xf32>) -> f32 {
  %zero = arith.constant 0 : index
  %value = tensor.extract %x[%zero] : tensor<?xf32>
  memref.store %value, %y[%zero] : memref<?xf32>
  return %value : f32
}
"""
BUFFERIZE: Final = "one-shot-bufferize{bufferize-function-boundaries=1}"


@pytest.mark.parametrize("early", [True, False])
def test_bufferization_makes_an_earlier_record_stale(early: bool) -> None:
    """Then nothing tells what the tensor became, so nothing is compared."""
    module = parse(COPIES)
    if not early:
        lowered(module, BUFFERIZE)
    record_memref_types(module)
    lowered(module, *[BUFFERIZE] * early, TO_LLVM)
    assert list(records(module)) == ["twice"]
    wide = [tensor("float64"), tensor("float64", "y")]
    returns = spec.Var("r", "float32")
    words = r"takes 'x' as memref<\?xf32, strided<\[\?\], offset: \?"
    with nullcontext() if early else pytest.raises(BuildError, match=words):
        attach_ffi_func(module, "f", wide, MemRefCallProvider("twice"), returns=returns)


RETURNS: Final = """
func.func @twice(%x: memref<?xf32>) -> memref<?xf32> {
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  %y = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %y : memref<?xf32> to memref<?xf32>
  return %y : memref<?xf32>
}
"""
OUT_PARAMS: Final = "buffer-results-to-out-params{modify-public-functions=1 hoist-dynamic-allocs=1}"


@pytest.mark.parametrize("early", [True, False])
def test_out_parameters_make_an_earlier_record_stale(early: bool) -> None:
    module = parse(RETURNS)
    if not early:
        lowered(module, OUT_PARAMS)
    record_memref_types(module)
    lowered(module, *[OUT_PARAMS] * early, TO_LLVM)
    assert ("-> memref" in records(module)["twice"]) == early
    x = tensor("float64" if early else "float32")
    words = r"takes 'y' as memref<\?xf32.*f32, not float64"
    with nullcontext() if early else pytest.raises(BuildError, match=words):
        Hook([x, tensor("float64", "y")])(module)
