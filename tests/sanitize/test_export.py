"""An exported library checks kernels in a C program, which has no Python."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

import pytest

from ffi_builder import Sanitize, attach, runtime, spec
from ffi_builder.providers import DirectCallProvider
from ffi_builder.runtime.files import object_files
from tests.runtime.exporting import INCLUDES, LIBRARY
from tests.runtime.samples import needs_cc
from tests.support.wrapping import new_module

pytestmark = [needs_cc, pytest.mark.slow]

KERNEL: Final = """
llvm.func @kernel(%x: !llvm.ptr, %y: !llvm.ptr, %w: !llvm.ptr, %what: i32) {
  llvm.switch %what : i32, ^right [1: ^past, 2: ^input, 3: ^unwritten, 4: ^nan, 5: ^scratch]
^past:
  %y3 = llvm.getelementptr %y[3] : (!llvm.ptr) -> !llvm.ptr, f32
  %nine = llvm.mlir.constant(9.0 : f32) : f32
  llvm.store %nine, %y3 : f32, !llvm.ptr
  llvm.br ^right
^input:
  %x1 = llvm.getelementptr %x[1] : (!llvm.ptr) -> !llvm.ptr, f32
  %half = llvm.mlir.constant(0.5 : f32) : f32
  llvm.store %half, %x1 : f32, !llvm.ptr
  llvm.br ^right
^scratch:
  %w4 = llvm.getelementptr %w[-8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %what, %w4 : i32, !llvm.ptr
  llvm.br ^right
^unwritten:
  llvm.return
^nan:
  %nan = llvm.mlir.constant(0x7FC00000 : f32) : f32
  llvm.br ^write(%nan : f32)
^right:
  %one = llvm.mlir.constant(1.0 : f32) : f32
  llvm.br ^write(%one : f32)
^write(%value: f32):
  %v = llvm.load %x : !llvm.ptr -> f32
  %sum = llvm.fadd %v, %value : f32
  %at1 = llvm.getelementptr %y[1] : (!llvm.ptr) -> !llvm.ptr, f32
  %at2 = llvm.getelementptr %y[2] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.store %sum, %y : f32, !llvm.ptr
  llvm.store %value, %at1 : f32, !llvm.ptr
  llvm.store %value, %at2 : f32, !llvm.ptr
  llvm.return
}
"""
MAIN: Final = r"""
#include <stdio.h>
#include <stdlib.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

int32_t __tvm_ffi_f(void *, const TVMFFIAny *, int32_t, TVMFFIAny *);

static int alive;
static void release(DLManagedTensorVersioned *self) {
  --alive;
  free(self->dl_tensor.data);
  free(self);
}
static int allocate(DLTensor *prototype, DLManagedTensorVersioned **out, void *context,
                    void (*SetError)(void *, const char *, const char *)) {
  (void)context, (void)SetError;
  static int64_t one = 1;
  DLManagedTensorVersioned *made = calloc(1, sizeof *made + sizeof(int64_t));
  made->version = (DLPackVersion){DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  made->deleter = release;
  made->dl_tensor = *prototype;
  made->dl_tensor.shape = (int64_t *)(made + 1);
  made->dl_tensor.shape[0] = prototype->shape[0];
  made->dl_tensor.strides = &one;
  made->dl_tensor.data = aligned_alloc(64, 64);
  ++alive;
  *out = made;
  return 0;
}

int main(void) {
  TVMFFIEnvSetDLPackManagedTensorAllocator(allocate, 0, NULL);
  for (int what = 0; what < 6; ++what) {
    float data[] = {1, 2, 3};
    int64_t shape = 3, stride = 1;
    DLTensor x = {data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, &shape, &stride, 0};
    TVMFFIAny args[2] = {{.type_index = kTVMFFIDLTensorPtr, .v_ptr = &x},
                         {.type_index = kTVMFFIInt, .v_int64 = what}};
    TVMFFIAny result = {.type_index = kTVMFFINone};
    if (__tvm_ffi_f(NULL, args, 2, &result) == 0) {
      float *y = ((DLTensor *)((TVMFFIObject *)result.v_obj + 1))->data;
      printf("%g %g %g\n", y[0], y[1], y[2]);
      TVMFFIObjectDecRef(result.v_obj);
    } else {
      TVMFFIObjectHandle error;
      TVMFFIErrorMoveFromRaised(&error);
      TVMFFIErrorCell *cell = (TVMFFIErrorCell *)((TVMFFIObject *)error + 1);
      printf("%.*s: %.*s\n", (int)cell->kind.size, cell->kind.data, (int)cell->message.size,
             cell->message.data);
      TVMFFIObjectDecRef(error);
    }
    if (alive || data[1] != 2) printf("%d alive, %g\n", alive, data[1]);
  }
}
"""


def compiled(level: int) -> runtime.CompiledModule:
    module = new_module(KERNEL)
    signature = spec.Signature.parse(
        "f(x: Tensor([n], float32, intent=in), w: Workspace([n], int32), what: int32)"
        " -> y: Tensor([n], float32)",
        device="cpu",
    )
    provider = DirectCallProvider("kernel", args=["x", "y", "w", "what"])
    attach(module, signature, provider, sanitize=Sanitize(nan=True))
    return runtime.compile(module, opt_level=level)


@pytest.mark.parametrize("triple", ["x86_64-linux-gnu", "aarch64-linux-gnu"])
def test_an_object_needs_libc_and_tvm_ffi_alone(tmp_path: Path, triple: str) -> None:
    compiled(2).export_object(tmp_path / "f.o", triple=triple)
    machine = triple.partition("-")[0]
    symbols = object_files.read_object((tmp_path / "f.o").read_bytes(), machine).symbols
    others = {symbol.name for symbol in symbols if not symbol.defined} - {""}
    assert {name for name in others if not name.startswith("TVMFFI")} <= {
        *("malloc", "free", "memcpy", "memset", "snprintf", "strlen", "strtod"),
        "_GLOBAL_OFFSET_TABLE_",
    }


@pytest.mark.parametrize("level", [0, 2])
def test_a_c_program(tmp_path: Path, level: int) -> None:
    compiled(level).export_library(tmp_path / "f.so")
    (tmp_path / "main.c").write_text(MAIN)
    command = [
        *("cc", "-Wall", "-Wextra", "-Werror", *INCLUDES, tmp_path / "main.c", tmp_path / "f.so"),
        *(LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}:{tmp_path}", "-o", tmp_path / "main"),
    ]
    subprocess.run(list(map(str, command)), check=True, timeout=60)
    done = subprocess.run(
        [tmp_path / "main"], capture_output=True, text=True, timeout=60, check=True
    )
    suffix = " when calling: `f(x: Tensor([n], float32), what: int32)`"
    assert [line.removesuffix(suffix) for line in done.stdout.splitlines()] == [
        "2 1 1",
        "AssertionError: The kernel writes outside of the elements of y: byte 12 from its data has changed "
        "(4 in all; the elements are the 12 bytes from byte 0 on; check the bounds and "
        "the strides that the kernel writes with)",
        "AssertionError: x is declared intent='in', but the kernel changes x[1] from 2 to 0.5 "
        "(declare intent='inout' if it may)",
        "AssertionError: The kernel does not write y[0] of the result y, which still holds the "
        "poison nan",
        "AssertionError: The kernel leaves NaN in y[0] (leave out nan=True if NaN is a right value)",
        "AssertionError: The kernel writes outside of the elements of w: byte -8 from its data has changed "
        "(4 in all; the elements are the 12 bytes from byte 0 on; check the bounds and "
        "the strides that the kernel writes with)",
    ]
