"""Functions that return things: exported, called from C++ and by tvm-ffi; the allocator."""

from __future__ import annotations

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import attach, providers, runtime, spec
from tests.runtime.exporting import INCLUDES, LIBRARY, run
from tests.runtime.samples import needs_cc, needs_cxx, run_child
from tests.support.wrapping import new_module

_KERNELS = """
llvm.func @first(%x: !llvm.ptr) -> f32 {
  %v = llvm.load %x : !llvm.ptr -> f32
  llvm.return %v : f32
}
llvm.func @copy(%x: !llvm.ptr, %y: !llvm.ptr) {
  %v = llvm.load %x : !llvm.ptr -> f32
  llvm.store %v, %y : f32, !llvm.ptr
  llvm.return
}
llvm.func @scratch(%x: !llvm.ptr, %w: !llvm.ptr) -> f32 {
  %v = llvm.load %x : !llvm.ptr -> f32
  %s = llvm.load %w : !llvm.ptr -> f32
  %sum = llvm.fadd %v, %s : f32
  llvm.store %v, %w : f32, !llvm.ptr
  llvm.return %sum : f32
}
llvm.func @size(%n: i64) -> i64 { llvm.return %n : i64 }
"""
_FUNCTIONS = (
    "first(x: Tensor([n], float32)) -> r: float32",
    "size(x: Tensor([n], float32)) -> r: uint64",
    "copy(x: Tensor([n], float32)) -> y: Tensor([n, 2], float32)",
    "pair(x: Tensor([n], float32)) -> (y: Tensor(x.shape, x.dtype))",
    "scratch(x: Tensor([n], float32), w: Workspace([n], float32, zero=True)) -> r: float32",
)


def functions() -> Any:
    module = new_module(_KERNELS)
    args = {"first": ["x"], "size": ["n"], "copy": ["x", "y"], "pair": ["x", "y"]}
    args["scratch"] = ["x", "w"]
    for text in _FUNCTIONS:
        signature = spec.Signature.parse(text, device="cpu")
        name = signature.name
        callee = "copy" if name == "pair" else name
        attach(module, signature, providers.DirectCallProvider(callee, args=args[name]))
    return module


PROGRAM = """
#include "made.h"
#include <cstdio>
#include <tvm/ffi/extra/c_env_api.h>
namespace ffi = tvm::ffi;
struct Floats {
  void AllocData(DLTensor *tensor) { tensor->data = data; }
  void FreeData(DLTensor *) {}
  float *data;
};
int main() {
  float data[3] = {1.5f, 0, 0};
  ffi::Tensor x = ffi::Tensor::FromNDAlloc(Floats{data}, ffi::Shape({3}), DLDataType{kDLFloat, 32, 1}, DLDevice{kDLCPU, 0});
  double first = ffi_builder::made::first(x);
  long size = ffi_builder::made::size(x).cast<int64_t>();
  std::printf("%.1f %ld\\n", first, size);
  try {
    ffi_builder::made::copy(x);
  } catch (const ffi::Error &error) {
    std::printf("%s: %.36s\\n", error.kind().c_str(), error.message().c_str());
  }
  ffi::Tensor (*typed)(ffi::TensorView) = ffi_builder::made::copy;
  ffi::Tuple<ffi::Tensor> (*tuple)(ffi::TensorView) = ffi_builder::made::pair;
  return typed == nullptr || tuple == nullptr;
}
"""


@pytest.mark.slow
@needs_cxx
def test_from_cxx(tmp_path: Path) -> None:
    runtime.compile(functions()).export_library(tmp_path / "made.so", header=tmp_path / "made.h")
    (tmp_path / "main.cpp").write_text(PROGRAM)
    out = tmp_path / "main"
    flags = [
        "-std=c++17",
        "-Wall",
        "-Wextra",
        "-Werror",
        *INCLUDES,
        f"-Wl,-rpath,{LIBRARY.parent}:{tmp_path}",
    ]
    run("g++", *flags, tmp_path / "main.cpp", tmp_path / "made.so", LIBRARY, "-o", out)
    printed = run(out)
    assert printed.splitlines() == ["1.5 3", "RuntimeError: There is no allocator for the result"]


ALLOCATES = """
int main(void) {
  float data[3] = {1.5f, 0, 0};
  int64_t shape[1] = {3};
  DLTensor x = {data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, NULL, 0};
  TVMFFIAny args[1] = {{.type_index = kTVMFFIDLTensorPtr, .v_ptr = &x}};
  TVMFFIAny result = {.type_index = kTVMFFINone};
  int without = __tvm_ffi_copy(NULL, args, 1, &result);
  set_allocator();
  int with = __tvm_ffi_copy(NULL, args, 1, &result);
  DLTensor *y = (DLTensor *)(result.v_obj + 1);
  printf("%d %d %.1f %d\\n", without, with, *(float *)y->data, (int)y->shape[0]);
  TVMFFIObjectDecRef(result.v_obj);
  for (int i = 0; i < 3; ++i) {
    int status = __tvm_ffi_scratch(NULL, args, 1, &result);
    printf("%d %.1f\\n", status, result.v_float64);
  }
  return 0;
}
"""


@needs_cc
def test_the_allocator_of_the_documentation(tmp_path: Path) -> None:
    """The one that docs/export.md names."""
    code = Path(__file__).parents[2].joinpath("examples/export_library/allocator.c").read_text()
    head = '#include <stdio.h>\n#include <tvm/ffi/c_api.h>\n#include "made.h"\n'
    runtime.compile(functions()).export_library(tmp_path / "made.so", header=tmp_path / "made.h")
    (tmp_path / "main.c").write_text(head + code + ALLOCATES)
    out = tmp_path / "main"
    flags = ["-std=c11", "-Wall", "-Werror", *INCLUDES, f"-Wl,-rpath,{LIBRARY.parent}:{tmp_path}"]
    run("gcc", *flags, tmp_path / "main.c", tmp_path / "made.so", LIBRARY, "-o", out)
    assert run(out) == "-1 0 1.5 3\n" + 3 * "0 1.5\n"


def test_exported_and_loaded(tmp_path: Path) -> None:
    stub = tmp_path / "made.pyi"
    runtime.compile(functions()).export_library(tmp_path / "made.so", stub=stub)
    loaded = runtime.load(tmp_path / "made.so")
    x = np.full(3, 1.5, "float32")
    assert loaded["first"](x) == 1.5
    assert loaded["size"](x) == 3
    with runtime.install_allocator():
        assert np.from_dlpack(loaded["copy"](x))[0, 0] == 1.5
        assert [y.shape for y in loaded["pair"](x)] == [(3,)]
        assert [loaded["scratch"](x) for _ in range(3)] == [1.5] * 3
    text = stub.read_text()
    assert "def first(x: _Array) -> float:" in text
    assert "def size(x: _Array) -> int:" in text
    assert "def copy(x: _Array) -> Any:" in text
    assert "def pair(x: _Array) -> Sequence[Any]:" in text
    assert "def scratch(x: _Array) -> float:" in text
    schema = tvm_ffi.load_module(str(tmp_path / "made.so")).get_function_metadata("pair")  # pyright: ignore
    assert '"return":[{"type":"Tuple","args":[{"type":"ffi.Tensor"}]}]' in str(schema)


def test_torch_gets_torch_tensors() -> None:
    torch = pytest.importorskip("torch")
    compiled = runtime.compile(functions())
    x = torch.full((3,), 2.5)
    for y in (compiled["copy"](x), compiled["pair"](x)[0]):
        assert torch.from_dlpack(y).flatten()[0] == 2.5
    assert isinstance(compiled["copy"](x), torch.Tensor)
    with runtime.install_allocator():  # PyTorch's goes first
        assert isinstance(compiled["copy"](x), torch.Tensor)


# ---- the allocator


def test_it_holds_until_it_is_removed_and_for_its_thread() -> None:
    copy = runtime.compile(functions())["copy"]
    x = np.zeros(3, "float32")
    installed = runtime.install_allocator()
    assert repr(installed) == "<InstalledAllocator of CPU memory, installed>"
    with runtime.install_allocator():
        pass
    copy(x)
    errors: list[BaseException] = []

    def elsewhere() -> None:
        try:
            copy(x)
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert len(errors) == 1
    installed.remove()
    installed.remove()
    assert repr(installed) == "<InstalledAllocator of CPU memory, removed>"
    with pytest.raises(RuntimeError, match="There is no allocator"):
        copy(x)


def test_it_may_be_for_every_thread() -> None:
    copy = runtime.compile(functions())["copy"]
    x = np.zeros(3, "float32")
    installed = runtime.install_allocator(every_thread=True)
    assert repr(installed) == "<InstalledAllocator of CPU memory, installed on every thread>"
    with runtime.install_allocator(every_thread=True):
        copy(x)
    with runtime.install_allocator():  # this thread's own, which goes first
        copy(x)
    copy(x)
    with ThreadPoolExecutor(1) as threads:
        threads.submit(copy, x).result()
        installed.remove()
        installed.remove()
        assert repr(installed) == "<InstalledAllocator of CPU memory, removed on every thread>"
        with pytest.raises(RuntimeError, match="There is no allocator"):
            threads.submit(copy, x).result()
    with pytest.raises(RuntimeError, match="There is no allocator"):
        copy(x)


def test_removing_the_one_for_every_thread_leaves_that_of_this_thread() -> None:
    copy = runtime.compile(functions())["copy"]
    x = np.zeros(3, "float32")
    with runtime.install_allocator():
        runtime.install_allocator(every_thread=True).remove()
        copy(x)


@pytest.mark.slow
def test_a_tensor_may_outlive_everything() -> None:
    """Also the interpreter's modules: the memory is freed by libc alone."""
    text = """
import numpy as np
from ffi_builder import runtime
from tests.runtime.test_results import functions
with runtime.install_allocator():
    kept = runtime.compile(functions())["copy"](np.full(3, 1.5, "float32"))
print(np.from_dlpack(kept)[0, 0])
"""
    done = run_child(text)
    assert (done.returncode, done.stdout) == (0, "1.5\n"), done.stderr


@pytest.mark.parametrize("numbers", [[1, 2], (1,), [], {"a": 1}])
def test_lists_of_numbers_beside_numpy_arrays(numbers: Any) -> None:
    text = "f(x: Tensor([n], float32)) -> y: Tensor([n], float32)"
    given = spec.Signature.parse(text, device="cpu")
    kind = spec.Map if isinstance(numbers, dict) else spec.Array
    signature = dataclasses.replace(given, params=[*given.params, kind("sizes")])
    module = new_module()
    attach(module, signature, providers.NopCallProvider())
    f = runtime.compile(module).callable("f")
    with runtime.install_allocator():
        assert type(f(np.ones(3, "float32"), numbers)) is np.ndarray


def test_what_tvm_ffi_makes_a_tuple_of() -> None:
    class Made:
        def __init__(self, value: object) -> None:
            self.value = value

        def __tvm_ffi_value__(self) -> object:
            return self.value

    n = spec.Var("n", "int64")
    x = spec.Tensor("x", [n], "float32", device_type="cpu")
    pair = spec.TupleParam("p", [x, spec.Var("k", "int32")])
    module = new_module()
    attach(module, spec.Signature("f", [pair]), providers.NopCallProvider())
    compiled = runtime.compile(module)
    for f in (compiled["f"], compiled.callable("f")):
        f(Made((np.ones(3, "float32"), 1)))  # no error once the kernel has run
