"""Kernels of tensors: a pipeline notes the memrefs that they take once they have some."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import attach, runtime, signature_of, spec
from ffi_builder.errors import BuildError, CompileError
from ffi_builder.providers import MemRefCallProvider
from ffi_builder.runtime.codegen.mlir import steps

ROW_MAJOR: Final = "function-boundary-type-conversion=identity-layout-map"
TO_LLVM: Final = (
    "func.func(convert-linalg-to-loops),convert-scf-to-cf,expand-strided-metadata,lower-affine,"
    "convert-to-llvm,reconcile-unrealized-casts"
)
OUT_PARAMS: Final = "buffer-results-to-out-params{modify-public-functions=1 hoist-dynamic-allocs=1}"
DROPPED: Final = "drop-equivalent-buffer-results{modify-public-functions=1}"
DOUBLE: Final = """
func.func @kernel(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = arith.addf %x, %x : tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
"""
INTO_Y: Final = """
func.func @kernel(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.copy ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
"""


def pipeline(*, layout: str = "", results: str = OUT_PARAMS, before: str = "") -> str:
    bufferize = f"one-shot-bufferize{{bufferize-function-boundaries {layout}}}"
    passes = [before, "convert-elementwise-to-linalg", bufferize, results, TO_LLVM]
    return f"builtin.module({','.join(filter(None, passes))})"


def compiled(text: str, passes: str, signature: str | spec.Signature) -> Any:
    """Compile a kernel of tensors, with a wrapper of this signature."""
    if isinstance(signature, str):
        signature = spec.Signature.parse(signature, device="cpu")

    def hook(module: Any) -> None:
        attach(module, signature, MemRefCallProvider("kernel"))

    return runtime.compile(text, pipeline=passes, post_compile_hooks=[hook])[signature.name]


def test_arguments_and_results_are_compared() -> None:
    passes = pipeline(layout=ROW_MAJOR)
    fits = "f(x: Tensor([n, 4], float32), out: Tensor([n, 4], float32))"
    x, out = np.ones((3, 4), "float32"), np.zeros((3, 4), "float32")
    compiled(DOUBLE, passes, fits)(x, out)
    assert (out == 2).all()
    for wrong, words in (
        (fits.replace("4], float32", "4], float64", 1), "'x' as .* f32, not float64"),
        (fits.replace("float32))", "float64))"), "'out' as .* f32, not float64"),
        (fits.replace("[n, 4]", "[n, m]", 1), "'x' as .* size 1 is 4, but shape"),
        (fits.replace("[n, 4], float32))", "[n, 8], float32))"), "'out' as .* size 1 is 4"),
        (fits.replace("[n, 4]", "[n]", 1), "kernel's rank is 2"),
    ):
        with pytest.raises(BuildError, match=words):
            compiled(DOUBLE, passes, wrong)


def test_a_result_that_is_an_argument_may_be_dropped() -> None:
    passes = pipeline(results=DROPPED)
    fits = "f(x: Tensor([n], float32), y: Tensor([n], float32))"
    x, y = np.ones(3, "float32"), np.zeros(3, "float32")
    compiled(INTO_Y, passes, fits)(x, y)
    assert (y == 1).all()
    with pytest.raises(BuildError, match=r"'y' as .* f32, not float64"):
        compiled(INTO_Y, passes, fits.replace("float32))", "float64))"))


def test_a_layout_is_compared_as_bufferization_chose_it() -> None:
    strided = "f(x: Tensor([n], float32, strides=[s]), y: Tensor([n], float32))"
    x, y = np.arange(6, dtype="float32")[::2], np.zeros(3, "float32")
    compiled(INTO_Y, pipeline(results=DROPPED), strided)(x, y)
    assert y.tolist() == [0, 2, 4]
    with pytest.raises(BuildError, match="a memref without a layout is row-major"):
        compiled(INTO_Y, pipeline(layout=ROW_MAJOR, results=DROPPED), strided)


def test_a_pass_may_change_the_element_type_of_tensors() -> None:
    text = """
    func.func @kernel(%x: tensor<4xi64>) -> tensor<4xi64> {
      %r = tosa.reverse %x {axis = 0 : i32} : (tensor<4xi64>) -> tensor<4xi64>
      return %r : tensor<4xi64>
    }
    """
    narrow = "func.func(tosa-narrow-i64-to-i32{convert-function-boundaries=1},tosa-to-linalg)"
    passes = pipeline(before=narrow, layout=ROW_MAJOR)
    fits = "f(x: Tensor([4], int32), out: Tensor([4], int32))"
    x, out = np.arange(4, dtype="int32"), np.zeros(4, "int32")
    compiled(text, passes, fits)(x, out)
    assert out.tolist() == [3, 2, 1, 0]
    with pytest.raises(BuildError, match="i32, not int64"):
        compiled(text, passes, fits.replace("int32", "int64"))


def test_a_hook_reads_the_signature() -> None:
    found: list[str] = []

    def hook(module: Any) -> None:
        found.append(str(signature_of(module, "kernel", device_type="cpu", names=["x", "out"])))

    runtime.lower(DOUBLE, pipeline=pipeline(), post_compile_hooks=[hook])
    [text] = found
    assert text.startswith("kernel(x: Tensor([x_0, 4], float32, ")


def test_a_pass_that_fails_is_reported_with_the_pipeline() -> None:
    fails = "builtin.module(cse,one-shot-bufferize{bufferize-function-boundaries},canonicalize)"
    unknown = DOUBLE.replace("arith.addf %x, %x :", '"dsl.twice"(%x) : (tensor<?x4xf32>) ->')
    for bad, words in ((fails, "failed"), ("builtin.module(cse,no-pass)", "does not parse")):
        with pytest.raises(CompileError) as error:
            runtime.lower(unknown, pipeline=bad)
        assert f"The pass pipeline `{bad}` {words}" in str(error.value)


def test_the_steps_of_a_pipeline() -> None:
    text = " builtin.module( a,b{x={1,2} y=s(t},func.func(c,d{e=f,g}),\n h ) "
    _, *found = steps(text)
    assert [step.replace(" ", "") for step in found] == [
        "builtin.module(a)",
        "builtin.module(b{x={1,2}y=s(t})",
        "builtin.module(func.func(c,d{e=f,g}))",
        "builtin.module(\nh)",
    ]
    assert steps("a,b") == []


def test_the_first_step_loads_the_dialects_of_all_passes_and_runs_none() -> None:
    ir: Any = import_module("torch_mlir.ir")
    manager: Any = import_module("torch_mlir.passmanager").PassManager
    context = ir.Context(load_on_create_dialects=[])
    module = ir.Module.parse("module { module {} }", context)
    before = str(module)
    assert not context.is_registered_operation("cf.br")
    first, *_ = steps("builtin.module(builtin.module(symbol-dce,convert-scf-to-cf),symbol-dce)")
    manager.parse(first, context).run(module.operation)
    assert context.is_registered_operation("cf.br")
    assert str(module) == before
