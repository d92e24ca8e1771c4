"""``testing.emit``: a wrapper as text."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from ffi_builder import BuildError, SpecError, providers, spec, testing
from ffi_builder.ir.distribution import named
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
    with pytest.raises(BuildError, match="there is no MLIR distribution 'no_such'"):
        testing.emit(SIGNATURE, mlir="no_such")
    with pytest.raises(SpecError):
        testing.emit(Signature("f", [spec.Shape("s", [n // 2])]))


@pytest.mark.parametrize(
    ("mlir", "words"),
    [
        ("torch-mlir", r"'torch-mlir' \(No .*\), did you mean 'torch_mlir'\?$"),
        ("torch_mlr", "did you mean 'torch_mlir'"),
        ("iree", "did you mean 'iree.compiler'"),
    ],
)
def test_a_distribution_by_another_name(mlir: str, words: str) -> None:
    with pytest.raises(BuildError, match=words):
        testing.emit(SIGNATURE, mlir=mlir)


INSTALL = {
    "torch_mlir": "install it, as the extra ffi_builder[mlir] does: pip install -e '.[mlir]' in a clone",
    "jaxlib.mlir": "pip install jaxlib",
    "iree.compiler": "pip install iree-base-compiler",
}


def test_a_distribution_that_is_not_installed() -> None:
    """In a process that finds none of them."""
    code = f"""
import sys
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch_mlir", "jaxlib", "iree"):
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Nothing())
from ffi_builder import spec, testing
from ffi_builder.errors import BuildError
for mlir in {list(INSTALL)}:
    try:
        testing.emit(spec.Signature("f", []), mlir=mlir)
    except BuildError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    found = done.stdout.splitlines()
    assert len(found) == len(INSTALL), done.stderr
    for words, install in zip(found, INSTALL.values(), strict=True):
        assert words.endswith(f": {install}"), words
