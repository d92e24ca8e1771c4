"""gdb and perf show the names and lines of JIT code."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ffi_builder import runtime
from tests.runtime.samples import llvm_entry

VARIABLE = "FFI_BUILDER_JIT_SYMBOLS"


_GDB = ("gdb", "-q", "-nx", "-batch", "-ex", "run", "-ex", "backtrace 2", "--args")


_PERF = ("perf", "record", "-q", "-e", "cpu-clock", "-o")


CRASH = """
from ffi_builder import runtime
runtime.compile(r'''{module}''')["crash"](0)
"""


# The MLIR that a DSL with debug information makes, in the LLVM dialect.
CRASHES_AT_LINE_5 = """
#file = #llvm.di_file<"kernel.dsl" in "/src">
#unit = #llvm.di_compile_unit<id = distinct[0]<>, sourceLanguage = DW_LANG_C11, file = #file,
  producer = "a DSL", isOptimized = true, emissionKind = LineTablesOnly>
#type = #llvm.di_subroutine_type<callingConvention = DW_CC_normal>
#kernel = #llvm.di_subprogram<id = distinct[1]<>, compileUnit = #unit, scope = #file,
  name = "kernel", file = #file, line = 3, scopeLine = 3, subprogramFlags = "Definition|Optimized",
  type = #type>
llvm.func internal @kernel(%v: i64) attributes {no_inline} {
  %zero = llvm.mlir.zero : !llvm.ptr loc("kernel.dsl":4:1)
  llvm.store volatile %v, %zero : i64, !llvm.ptr loc("kernel.dsl":5:1)
  llvm.return loc("kernel.dsl":6:1)
} loc(fused<#kernel>["kernel.dsl":3:1])
llvm.func @__tvm_ffi_crash(%handle: !llvm.ptr, %args: !llvm.ptr, %num_args: i32,
                           %result: !llvm.ptr) -> i32 {
  %v = llvm.load %args : !llvm.ptr -> i64
  llvm.call @kernel(%v) : (i64) -> ()
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gdb") is None, reason="needs gdb")
def test_gdb_shows_the_line_of_a_kernel_and_the_wrapper_that_called_it() -> None:
    pytest.importorskip("ffi_builder.runtime.jit._gdb")
    # As LLVM IR: gdb would read the symbols of MLIR's libraries for half a minute.
    code = CRASH.format(module=runtime.llvm_ir(CRASHES_AT_LINE_5))
    done = subprocess.run(
        [*_GDB, sys.executable, "-c", code],
        env={**os.environ, VARIABLE: "gdb"},
        capture_output=True,
        text=True,
        check=False,
    )
    if "SIGSEGV" not in done.stdout:
        pytest.skip(f"gdb cannot run a program here: {done.stdout[-200:]} {done.stderr[-200:]}")
    assert re.search(r"^#0 .*\bkernel \(\) at kernel\.dsl:5$", done.stdout, re.MULTILINE)
    assert re.search(r"^#1 .*\b__tvm_ffi_crash \(\)$", done.stdout, re.MULTILINE)


SPIN = """
import os
from ffi_builder import runtime
print(os.getpid())
spin = runtime.compile('''{module}''')["spin"]
for _ in range(5): spin(20_000_000)
"""


SPINS = (
    llvm_entry("spin", "%x = call i64 @kernel(i64 %v)")
    + """
define internal i64 @kernel(i64 %n) noinline {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %next = add i64 %i, 1
  call void asm sideeffect "", ""()
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i64 %next
}
"""
)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("perf") is None, reason="needs perf")
def test_perf_shows_the_kernel(tmp_path: Path) -> None:
    profile = str(tmp_path / "perf.data")
    recorded = subprocess.run(
        [*_PERF, profile, sys.executable, "-c", SPIN.format(module=SPINS)],
        env={**os.environ, VARIABLE: "perf"},
        capture_output=True,
        text=True,
        check=False,
    )
    if recorded.returncode:
        pytest.skip(f"perf cannot record here: {recorded.stderr[-200:]}")
    report = subprocess.run(
        ["perf", "report", "-i", profile, "--stdio", "--sort", "symbol"],
        capture_output=True,
        text=True,
        check=True,
    )
    Path(f"/tmp/perf-{recorded.stdout.strip()}.map").unlink()
    found = re.search(r"([\d.]+)% +\[\.\] kernel\b", report.stdout)
    assert found is not None, report.stdout[:2000]
    assert float(found[1]) > 0.2  # the rest is importing
