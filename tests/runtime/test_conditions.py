"""Exported functions that relate their arguments, or forbid overlaps: loaded, and called from C."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from ffi_builder import attach, runtime, spec
from ffi_builder.providers import NopCallProvider
from tests.runtime.exporting import run_in_c
from tests.runtime.samples import needs_cc
from tests.support.wrapping import new_module

pytestmark = needs_cc
RELATED: Final = spec.Signature.parse("f(n: int64, m: int32) where n * 2 <= m, m in {4, 8}")
SEPARATE: Final = spec.Signature.parse(
    "f(x: Tensor([n], float32), y: Tensor([n], float32, intent=out)) where no_overlap(y)",
    device="cpu",
)
HEAD: Final = r"""
#include <stdio.h>
#include <tvm/ffi/c_api.h>

int32_t __tvm_ffi_f(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);

static void fail(int status) {
  TVMFFIObjectHandle error;
  TVMFFIErrorMoveFromRaised(&error);
  TVMFFIErrorCell *cell = (TVMFFIErrorCell *)((char *)error + sizeof(TVMFFIObject));
  printf("%d %s: %s\n", status, cell->kind.data, cell->message.data);
}
"""
CALL_RELATED: Final = r"""
static int call(int64_t n, int64_t m) {
  TVMFFIAny args[2] = {{.type_index = kTVMFFIInt}, {.type_index = kTVMFFIInt}}, result;
  args[0].v_int64 = n;
  args[1].v_int64 = m;
  return __tvm_ffi_f(NULL, args, 2, &result);
}

int main(void) {
  printf("%d %d\n", call(2, 4), call(-5, 8));
  fail(call(3, 4));
  fail(call(0, 6));
  fail(call(INT64_MIN, 8));
  return 0;
}
"""
CALL_SEPARATE: Final = r"""
static float memory[16];
static int64_t size = 8;

static int call(float *x, float *y) {
  DLTensor tensors[2] = {{.data = x, .shape = &size}, {.data = y, .shape = &size}};
  TVMFFIAny args[2], result;
  for (int i = 0; i < 2; ++i) {
    tensors[i].device.device_type = kDLCPU;
    tensors[i].ndim = 1;
    tensors[i].dtype = (DLDataType){kDLFloat, 32, 1};
    args[i] = (TVMFFIAny){.type_index = kTVMFFIDLTensorPtr};
    args[i].v_ptr = &tensors[i];
  }
  return __tvm_ffi_f(NULL, args, 2, &result);
}

int main(void) {
  printf("%d %d\n", call(memory, memory + 8), call(memory + 8, memory));
  fail(call(memory, memory + 7));
  return 0;
}
"""


def compiled(signature: spec.Signature) -> runtime.CompiledModule:
    module = new_module()
    attach(module, signature, NopCallProvider())
    return runtime.compile(module)


def test_relations_in_c(tmp_path: Path) -> None:
    error = "-1 ValueError: Mismatched m on argument #1 when calling: `f(n: int64, m: int32)`, "
    assert run_in_c(HEAD + CALL_RELATED, compiled(RELATED), tmp_path) == [
        "0 0",
        f"{error}expected n * 2 <= m with n = 3 from n, m = 4 from m but got 6 and 4",
        f"{error}expected m in {{4, 8}} with m = 6 from m but got 6",
        f"{error}expected n * 2 <= m with n = -9223372036854775808 from n, m = 8 from m "
        "but got a value beyond int64",
    ]


def test_overlaps_in_c(tmp_path: Path) -> None:
    statuses, error = run_in_c(HEAD + CALL_SEPARATE, compiled(SEPARATE), tmp_path)
    assert statuses == "0 0"
    assert error.startswith("-1 ValueError: Mismatched y on argument #1 when calling: `f(x: ")
    assert "expected memory apart from that of x (no_overlap) but got 0x" in error


def loaded(signature: spec.Signature, path: Path, words: str) -> Any:
    """The callable of an exported library, whose documentation ends so."""
    compiled(signature).export_library(path)
    library = runtime.load(path)
    info = library.info("f")
    assert info is not None
    assert spec.Signature.parse(info.signature) == signature
    f = library.callable("f")
    assert str(f.__doc__).endswith(words)
    return f


def test_relations_of_a_library(tmp_path: Path) -> None:
    f = loaded(RELATED, tmp_path / "f.so", "where n * 2 <= m, m in {4, 8}")
    f(2, 4)
    with pytest.raises(ValueError, match=r"expected n \* 2 <= m with n = 3 from n"):
        f(3, 4)


def test_overlaps_in_a_library(tmp_path: Path) -> None:
    np = pytest.importorskip("numpy", reason="needs NumPy")
    words = "float32, device_type=cpu, intent=out)) where no_overlap(y)"
    f, memory = loaded(SEPARATE, tmp_path / "f.so", words), np.zeros(16, "float32")
    f(memory[:8], memory[8:])
    with pytest.raises(ValueError, match="memory apart from that of x"):
        f(memory[:8], memory[7:15])
