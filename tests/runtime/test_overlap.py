"""An exported function that forbids overlaps, loaded, and called from C."""

from __future__ import annotations

from pathlib import Path

import pytest

from ffi_builder import attach, runtime, spec
from ffi_builder.providers import NopCallProvider
from tests.runtime.exporting import run_in_c
from tests.runtime.samples import needs_cc
from tests.support.wrapping import new_module

SIGNATURE = spec.Signature.parse(
    "copy(x: Tensor([n], float32), y: Tensor([n], float32, intent=out)) where no_overlap(y)",
    device="cpu",
)
PROGRAM = r"""
#include <stdio.h>
#include <tvm/ffi/c_api.h>

int32_t __tvm_ffi_copy(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);

static float memory[16];
static int64_t size = 8;

static int copy(float *x, float *y) {
  DLTensor tensors[2] = {{.data = x, .shape = &size}, {.data = y, .shape = &size}};
  TVMFFIAny args[2], result;
  for (int i = 0; i < 2; ++i) {
    tensors[i].device.device_type = kDLCPU;
    tensors[i].ndim = 1;
    tensors[i].dtype = (DLDataType){kDLFloat, 32, 1};
    args[i] = (TVMFFIAny){.type_index = kTVMFFIDLTensorPtr};
    args[i].v_ptr = &tensors[i];
  }
  return __tvm_ffi_copy(NULL, args, 2, &result);
}

int main(void) {
  TVMFFIObjectHandle error;
  printf("%d %d %d\n", copy(memory, memory + 8), copy(memory + 8, memory), copy(memory, memory + 7));
  TVMFFIErrorMoveFromRaised(&error);
  TVMFFIErrorCell *cell = (TVMFFIErrorCell *)((char *)error + sizeof(TVMFFIObject));
  printf("%s: %s\n", cell->kind.data, cell->message.data);
  return 0;
}
"""


@pytest.fixture(scope="module")
def compiled() -> runtime.CompiledModule:
    module = new_module()
    attach(module, SIGNATURE, NopCallProvider())
    return runtime.compile(module)


@needs_cc
def test_a_call_from_c(compiled: runtime.CompiledModule, tmp_path: Path) -> None:
    statuses, error = run_in_c(PROGRAM, compiled, tmp_path)
    assert statuses == "0 0 -1"
    assert error.startswith("ValueError: Mismatched y on argument #1 when calling: `copy(x: ")
    assert "expected memory apart from that of x (no_overlap) but got 0x" in error


@needs_cc
def test_a_library_says_it(compiled: runtime.CompiledModule, tmp_path: Path) -> None:
    np = pytest.importorskip("numpy", reason="needs NumPy")
    compiled.export_library(tmp_path / "copy.so")
    loaded = runtime.load(tmp_path / "copy.so")
    copy, memory = loaded.callable("copy"), np.zeros(16, "float32")
    assert str(copy.__doc__).endswith("float32, device_type=cpu, intent=out)) where no_overlap(y)")
    copy(memory[:8], memory[8:])
    with pytest.raises(ValueError, match="memory apart from that of x"):
        copy(memory[:8], memory[7:15])
    info = loaded.info("copy")
    assert info is not None
    assert spec.Signature.parse(info.signature) == SIGNATURE
