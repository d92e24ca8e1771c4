"""An exported function with relations, loaded, and called from C."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from ffi_builder import attach, runtime, spec
from ffi_builder.providers import NopCallProvider
from tests.runtime.exporting import run_in_c
from tests.runtime.samples import needs_cc
from tests.support.wrapping import new_module

SIGNATURE: Final = spec.Signature.parse("f(n: int64, m: int32) where n * 2 <= m, m in {4, 8}")
PROGRAM: Final = r"""
#include <stdio.h>
#include <tvm/ffi/c_api.h>

int32_t __tvm_ffi_f(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);

static int call(int64_t n, int64_t m) {
  TVMFFIAny args[2] = {{.type_index = kTVMFFIInt}, {.type_index = kTVMFFIInt}}, result;
  args[0].v_int64 = n;
  args[1].v_int64 = m;
  return __tvm_ffi_f(NULL, args, 2, &result);
}

static void fail(int64_t n, int64_t m) {
  TVMFFIObjectHandle error;
  int status = call(n, m);
  TVMFFIErrorMoveFromRaised(&error);
  TVMFFIErrorCell *cell = (TVMFFIErrorCell *)((char *)error + sizeof(TVMFFIObject));
  printf("%d %s: %s\n", status, cell->kind.data, cell->message.data);
}

int main(void) {
  printf("%d %d\n", call(2, 4), call(-5, 8));
  fail(3, 4);
  fail(0, 6);
  fail(INT64_MIN, 8);
  return 0;
}
"""
ERROR: Final = "-1 ValueError: Mismatched m on argument #1 when calling: `f(n: int64, m: int32)`, "


@pytest.fixture(scope="module")
def compiled() -> runtime.CompiledModule:
    module = new_module()
    attach(module, SIGNATURE, NopCallProvider())
    return runtime.compile(module)


@needs_cc
def test_calls_from_c(compiled: runtime.CompiledModule, tmp_path: Path) -> None:
    assert run_in_c(PROGRAM, compiled, tmp_path) == [
        "0 0",
        f"{ERROR}expected n * 2 <= m with n = 3 from n, m = 4 from m but got 6 and 4",
        f"{ERROR}expected m in {{4, 8}} with m = 6 from m but got 6",
        f"{ERROR}expected n * 2 <= m with n = -9223372036854775808 from n, m = 8 from m "
        "but got a value beyond int64",
    ]


@needs_cc
def test_a_library_says_it(compiled: runtime.CompiledModule, tmp_path: Path) -> None:
    compiled.export_library(tmp_path / "f.so")
    loaded = runtime.load(tmp_path / "f.so")
    f = loaded.callable("f")
    assert str(f.__doc__).endswith("where n * 2 <= m, m in {4, 8}")
    f(2, 4)
    with pytest.raises(ValueError, match=r"expected n \* 2 <= m with n = 3 from n"):
        f(3, 4)
    info = loaded.info("f")
    assert info is not None
    assert spec.Signature.parse(info.signature) == SIGNATURE
