"""Whether the JIT makes the instruction cache see what it has written, where processors do not."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.runtime.samples import needs_cc, run_child

pytestmark = pytest.mark.skipif(
    platform.machine() == "x86_64", reason="processors of x86-64 keep their caches coherent"
)

# libgcc's __clear_cache cleans the data cache and invalidates the instruction cache.
RECORDER: Final = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#define MOST 65536
uintptr_t ffib_flushed[MOST][2];
int64_t ffib_flushes;
void __clear_cache(void *begin, void *end) {
  void (*next)(void *, void *) = (void (*)(void *, void *))dlsym(RTLD_NEXT, "__clear_cache");
  if (ffib_flushes < MOST) {
    ffib_flushed[ffib_flushes][0] = (uintptr_t)begin;
    ffib_flushed[ffib_flushes++][1] = (uintptr_t)end;
  }
  next(begin, end);
}
void ffib_forget(void) { ffib_flushes = 0; }
"""
RUN: Final = """
import ctypes
from ffi_builder import runtime
from tests.runtime.samples import llvm_entry

process = ctypes.CDLL(None)
for i in range(5):
    compiled = runtime.compile(llvm_entry("f", f"%x = add i64 %v, {i}"))
    assert compiled["f"](1) == 1 + i
    count = ctypes.c_int64.in_dll(process, "ffib_flushes").value
    ranges = (ctypes.c_size_t * (2 * count)).in_dll(process, "ffib_flushed")
    at = compiled.address("f")
    flushed = any(ranges[k] <= at < ranges[k + 1] for k in range(0, 2 * count, 2))
    assert flushed, (hex(at), [hex(one) for one in ranges])
    process.ffib_forget()
"""


@needs_cc
def test_code_is_flushed_before_it_runs(tmp_path: Path) -> None:
    source, library = tmp_path / "recorder.c", tmp_path / "librecorder.so"
    source.write_text(RECORDER)
    command = ["gcc", "-shared", "-fPIC", "-O1", str(source), "-o", str(library), "-ldl"]
    subprocess.run(command, check=True, timeout=60)
    done = run_child(RUN, seconds=300, env={**os.environ, "LD_PRELOAD": str(library)})
    assert done.returncode == 0, done.stderr
