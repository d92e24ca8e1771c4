"""Print instructions per call of other functions, counted by callgrind: call_packed and C by hand.

    python benchmarks/packed_calls.py

Each row is a kernel ``int32_t k(int64_t n, int64_t *out)`` that calls a function with ``n`` and a
constant, and stores the int that comes back. Everything is compiled with -O2, callee included; the
instructions of the callee and of tvm-ffi are counted too. Needs a C compiler ($CC, or cc) and
valgrind. It prints figures and judges none.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from native import HERE, cc
from tvm_ffi import libinfo

sys.path.append(str(HERE.parent))  # the folder of ffi_builder, if it is not installed

from ffi_builder import call_packed, packed, runtime
from ffi_builder.packed.callees import Callee

CALLED: Final = "benchmark.called"
CALLEES: Final[dict[str, Callee]] = {
    "symbol": packed.Symbol("called"),
    "kept": packed.GlobalFunction(CALLED),
    "looked_up": packed.GlobalFunction(CALLED, keep=False),
}
ROWS: Final = {
    "by_hand_symbol": "C by hand: the symbol",
    "symbol": "`packed.Symbol`",
    "by_hand_kept": "C by hand: the function, kept in a static variable",
    "kept": "`packed.GlobalFunction`",
    "by_hand_looked_up": "C by hand: the function, looked up each time",
    "looked_up": "`packed.GlobalFunction(…, keep=False)`",
}
ROUNDS: Final = 1000

PROGRAM: Final = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tvm/ffi/c_api.h>

int __tvm_ffi_called(void *self, const TVMFFIAny *args, int32_t count, TVMFFIAny *result) {
  result->type_index = kTVMFFIInt;
  result->zero_padding = 0;
  result->v_int64 = args[0].v_int64 + args[1].v_int64;
  return 0;
}

static int wrong(const char *kind, const char *message) {
  TVMFFIErrorSetRaisedFromCStr(kind, message);
  return -1;
}

static TVMFFIObjectHandle find(void) {
  TVMFFIByteArray name = {"benchmark.called", 16};
  TVMFFIObjectHandle found = NULL;
  if (TVMFFIFunctionGetGlobal(&name, &found) == 0 && !found)
    wrong("RuntimeError", "no such function");
  return found;
}

#define BEFORE \
  TVMFFIAny result = {.type_index = kTVMFFINone}; \
  TVMFFIAny args[2] = {{.type_index = kTVMFFIInt, .v_int64 = n}, \
                       {.type_index = kTVMFFIInt, .v_int64 = 5}}
#define AFTER \
  if (status) return status; \
  if (result.type_index != kTVMFFIInt && result.type_index != kTVMFFIBool) { \
    if (result.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(result.v_obj); \
    return wrong("TypeError", "not an int"); \
  } \
  *out = result.v_int64; \
  return 0

int by_hand_symbol(int64_t n, int64_t *out) {
  BEFORE;
  int status = __tvm_ffi_called(NULL, args, 2, &result);
  AFTER;
}

int by_hand_kept(int64_t n, int64_t *out) {
  static TVMFFIObjectHandle kept;
  TVMFFIObjectHandle function = __atomic_load_n(&kept, __ATOMIC_ACQUIRE);
  if (!function) {
    function = find();
    if (!function) return -1;
    __atomic_store_n(&kept, function, __ATOMIC_RELEASE);
  }
  BEFORE;
  int status = TVMFFIFunctionCall(function, args, 2, &result);
  AFTER;
}

int by_hand_looked_up(int64_t n, int64_t *out) {
  TVMFFIObjectHandle function = find();
  if (!function) return -1;
  BEFORE;
  int status = TVMFFIFunctionCall(function, args, 2, &result);
  TVMFFIObjectDecRef(function);
  AFTER;
}

#define KERNEL(name) int name(int64_t n, int64_t *out);
KERNELS
#undef KERNEL
#define KERNEL(name) {#name, name},
static const struct { const char *name; int (*kernel)(int64_t, int64_t *); } kernels[] = {
  KERNELS KERNEL(by_hand_symbol) KERNEL(by_hand_kept) KERNEL(by_hand_looked_up)
};

int main(int argc, char **argv) {
  TVMFFIByteArray name = {"benchmark.called", 16};
  TVMFFIObjectHandle function;
  if (TVMFFIFunctionCreate(NULL, __tvm_ffi_called, NULL, &function)) return 1;
  if (TVMFFIFunctionSetGlobal(&name, function, 0)) return 1;
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
    if (strcmp(kernels[k].name, argv[1])) continue;
    for (int round = atoi(argv[2]); round-- > 0;) {
      int64_t out = 0;
      if (kernels[k].kernel(round, &out) || out != round + 5) return 2;
    }
    return 0;
  }
  return 3;
}
"""

KERNEL: Final = """
llvm.func @{name}(%n: i64, %out: !llvm.ptr) -> i32 {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.store %n, %out : i64, !llvm.ptr
  llvm.return %zero : i32
}}
"""


def export(folder: Path) -> Path:
    """Export the kernels as an object."""
    ir: Any = import_module("torch_mlir.ir")
    text = "".join(KERNEL.format(name=name) for name in CALLEES)
    module = ir.Module.parse(text, ir.Context())
    for name, callee in CALLEES.items():
        block = ir.SymbolTable(module.operation)[name].operation.regions[0].blocks[0]
        store = block.operations[1].operation
        call = call_packed(store, callee, [block.arguments[0], 5], result="int64")
        store.operands[0] = call.value
    path = folder / "kernels.o"
    runtime.lower(module).export_object(path)
    return path


def build(folder: Path) -> Path:
    """Build the program that calls each kernel."""
    kernels = " ".join(f"KERNEL({name})" for name in CALLEES)
    (folder / "main.c").write_text(PROGRAM.replace("KERNELS", kernels))
    library = Path(libinfo.find_libtvm_ffi())
    includes = [f"-I{path}" for path in libinfo.include_paths()]
    program = folder / "main"
    cc(
        *includes,
        str(folder / "main.c"),
        str(export(folder)),
        str(library),
        f"-Wl,-rpath,{library.parent}",
        "-o",
        str(program),
    )
    return program


def instructions(program: Path, kernel: str) -> float:
    """Count the instructions of a call: those that more rounds take more."""
    totals: list[int] = []
    for rounds in (ROUNDS, 2 * ROUNDS):
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        done = subprocess.run(
            [*command, str(program), kernel, str(rounds)],
            capture_output=True,
            text=True,
            check=True,
        )
        found = re.search(r"Collected : (\d+)", done.stderr)
        assert found is not None, done.stderr
        totals.append(int(found[1]))
    return (totals[1] - totals[0]) / ROUNDS


def main() -> None:
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed")
    with tempfile.TemporaryDirectory() as made:
        program = build(Path(made))
        print("| what is called | instructions |\n| --- | ---: |")
        for kernel, title in ROWS.items():
            print(f"| {title} | {instructions(program, kernel):.0f} |")


if __name__ == "__main__":
    main()
