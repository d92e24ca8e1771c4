"""``testing.emit``: a wrapper as text."""

from __future__ import annotations

import re

import pytest

from ffi_builder import BuildError, SpecError, providers, spec, testing
from ffi_builder.ir import named
from ffi_builder.spec import Signature, Tensor, Var
from tests.support.printed import check_comments

n = Var("n", "int32")
SIGNATURE = Signature("scale", [Tensor("x", [n], "float32", device_type="cuda"), n])


def symbols(text: str) -> list[str]:
    return re.findall(r"^ *llvm\.(?:func|mlir\.global)[^@]* @([\w.]+)", text, re.MULTILINE)


def test_the_wrapper_and_its_table() -> None:
    text = testing.emit(SIGNATURE)
    # CHECK:     llvm.func @__tvm_ffi_scale(
    # CHECK:     llvm.return
    # CHECK:     llvm.mlir.addressof @__ffi_builder_table_scale
    # CHECK:     {{^}$}}
    # CHECK:     llvm.mlir.global private {{.*}}@__ffi_builder_table_scale("
    # CHECK-NOT: llvm.
    check_comments(text)
    assert symbols(text) == ["__tvm_ffi_scale", "__ffi_builder_table_scale"]


def test_a_provider() -> None:
    text = testing.emit(SIGNATURE, providers.DirectCallProvider("kernel"))
    # CHECK: llvm.call @kernel(%{{.*}}, %{{.*}}) : (!llvm.ptr, i32) -> ()
    check_comments(text)
    assert "kernel" not in symbols(text)


def test_a_function_that_returns_scalars_calls_one() -> None:
    signature = Signature("count", SIGNATURE.params, [Var("t", "int32"), Var("u", "float32")])
    text = testing.emit(signature, whole=True)
    # CHECK: llvm.call @count(%{{.*}}) : (!llvm.ptr) ->
    check_comments(text)
    tensor = Signature("f", SIGNATURE.params, Tensor("y", [n], "float32", device_type="cuda"))
    assert "@f(" not in testing.emit(tensor, whole=True)


@pytest.mark.parametrize("mlir", ["torch_mlir", "jaxlib.mlir"])
def test_the_whole_module_can_be_parsed(mlir: str) -> None:
    pytest.importorskip(mlir)
    text = testing.emit(SIGNATURE, mlir=mlir, whole=True)
    assert {"__tvm_ffi_scale", "__ffi_builder_table_scale"} < set(symbols(text))
    distribution = named(mlir)
    context = distribution.ir.Context()
    distribution.load_llvm(context)
    assert distribution.ir.Module.parse(text, context).operation.verify()


def test_refused() -> None:
    with pytest.raises(BuildError, match="'no_mlir' lacks a part that wrappers need"):
        testing.emit(SIGNATURE, mlir="no_mlir")
    with pytest.raises(SpecError):
        testing.emit(Signature("f", [spec.Shape("s", [n // 2])]))
