"""Exported libraries whose functions call functions of the modules that they import."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import tvm_ffi

from ffi_builder import attach, call_packed, runtime, spec
from ffi_builder.packed import GlobalFunction, ImportedFunction, Symbol
from ffi_builder.providers import CheckStatus, DirectCallProvider, PackedCallProvider
from tests.packed.kernels import create, empty_kernel, function, terminator
from tests.runtime.exporting import INCLUDES, LIBRARY, load_module, run, visible
from tests.support.wrapping import new_module

pytestmark = pytest.mark.slow

KIND: Final = "ffib_packed_calls"
GLOBAL: Final = "ffib.tests.exported"
N: Final = spec.Var("n", "int64")
Y: Final = spec.Var("y", "int64")

TIMES: Final = """
llvm.func @times(%n: i64) -> i64 {{
  %by = llvm.mlir.constant({by} : i64) : i64
  %product = llvm.mul %n, %by : i64
  llvm.return %product : i64
}}
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with a function ``times``, which stands for a custom module."""
    path = tmp_path_factory.mktemp("imported") / "times.so"
    module = new_module(TIMES.format(by=10))
    attach(module, spec.Signature("times", [N], Y), DirectCallProvider("times"))
    runtime.compile(module).export_library(path)
    return path


def load_path(data: Any) -> Any:
    return load_module(bytes(data).decode())


@pytest.fixture(autouse=True)
def loader() -> Iterator[None]:
    """Custom modules of the kind are the path of a library."""
    name = f"ffi.Module.load_from_bytes.{KIND}"
    tvm_ffi.register_global_func(name, load_path, override=True)
    yield
    tvm_ffi.registry.remove_global_func(name)


def lowered() -> Any:
    """A module with functions that call an imported one: in a provider, and in a kernel."""
    module = new_module(empty_kernel(["i64", "!llvm.ptr"]))
    n, out = function(module).regions[0].blocks[0].arguments
    end = terminator(module)
    doubled = call_packed(end, ImportedFunction("times"), [n], result="int64").value
    shown = call_packed(end, GlobalFunction(GLOBAL), ["value", doubled], result="int64").value
    create(end, "llvm.store", [shown, out])
    out_ = spec.Var("out", "handle")
    attach(
        module,
        spec.Signature("k", [N, out_]),
        CheckStatus(DirectCallProvider("k"), error=None),
    )
    called = PackedCallProvider(ImportedFunction("times"))
    attach(module, spec.Signature("f", [N], Y), called)
    attach(module, spec.Signature("g", [N], Y), PackedCallProvider(Symbol("f")))
    attach(module, spec.Signature("none", []), PackedCallProvider(ImportedFunction("none_such")))
    return module


@pytest.mark.parametrize("only", [None, ["f", "g"]])
def test_in_python(tmp_path: Path, imported: Path, only: list[str] | None) -> None:
    path = tmp_path / "calls.so"
    modules = [(KIND, str(imported).encode())]
    runtime.compile(lowered()).export_library(path, modules=modules, export_only=only)
    assert {"__tvm_ffi__library_ctx", "__tvm_ffi__library_bin", "__tvm_ffi_f"} <= visible(path)
    library = runtime.load(path)
    assert library.functions == tuple(sorted(only or ["f", "g", "k", "none"]))
    assert [library["f"](n) for n in range(3)] == [0, 10, 20]
    assert library["g"](4) == 40
    if only is None:
        with pytest.raises(RuntimeError, match="Cannot find function none_such in the imported"):
            library["none"]()


def test_each_library_calls_its_own_module(tmp_path: Path, imported: Path) -> None:
    """Libraries that were loaded before, with the same symbols, change nothing."""
    other = tmp_path / "other_times.so"
    module = new_module(TIMES.format(by=-1))
    attach(module, spec.Signature("times", [N], Y), DirectCallProvider("times"))
    runtime.compile(module).export_library(other)
    for name, path in (("first", imported), ("second", other)):
        runtime.compile(lowered()).export_library(
            tmp_path / f"{name}.so", modules=[(KIND, str(path).encode())]
        )
    first, second = (runtime.load(tmp_path / f"{name}.so") for name in ("first", "second"))
    assert (first["f"](3), second["f"](3), first["f"](4)) == (30, -3, 40)


def test_objects_that_are_linked(tmp_path: Path, imported: Path) -> None:
    """They share the variable that tvm-ffi sets."""
    objects: list[bytes] = []
    for name in ("one", "two"):
        module = new_module()
        provider = PackedCallProvider(ImportedFunction("times"))
        attach(module, spec.Signature(name, [N], Y), provider)
        path = tmp_path / f"{name}.o"
        modules = [(KIND, str(imported).encode())] if name == "two" else []
        runtime.compile(module).export_object(path, modules=modules, export_only=[name])
        objects.append(path.read_bytes())
    runtime.lower(objects[0], link=[objects[1]]).export_library(tmp_path / "both.so")
    library = runtime.load(tmp_path / "both.so")
    assert (library["one"](2), library["two"](3)) == (20, 30)
    in_jit = runtime.compile(objects[0], link=[objects[1]])
    assert (in_jit["one"](4), in_jit["two"](5)) == (40, 50)


def test_what_it_keeps_is_released(tmp_path: Path, imported: Path) -> None:
    path = tmp_path / "calls.so"
    runtime.compile(lowered()).export_library(path, modules=[(KIND, str(imported).encode())])

    def registered(name: str, value: int) -> int:
        return value

    before = sys.getrefcount(registered)
    tvm_ffi.register_global_func(GLOBAL, registered, override=True)
    library = load_module(str(path), keep_module_alive=False)
    out = ctypes.c_int64()
    library["k"](6, ctypes.c_void_p(ctypes.addressof(out)))
    assert out.value == 60
    tvm_ffi.registry.remove_global_func(GLOBAL)
    del library
    gc.collect()
    assert sys.getrefcount(registered) == before


PROGRAM: Final = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tvm/ffi/c_api.h>

static TVMFFIByteArray bytes(const char *text) { return (TVMFFIByteArray){text, strlen(text)}; }

static TVMFFIAny text(const char *c) { return (TVMFFIAny){.type_index = kTVMFFIRawStr, .v_c_str = c}; }

static int failed(void) {
  TVMFFIObjectHandle error;
  TVMFFIErrorMoveFromRaised(&error);
  TVMFFIErrorCell *cell = (TVMFFIErrorCell *)((char *)error + sizeof(TVMFFIObject));
  printf("%.*s: %.*s\n", (int)cell->kind.size, cell->kind.data, (int)cell->message.size,
         cell->message.data);
  TVMFFIObjectDecRef(error);
  return -1;
}

/* Call a registered function. */
static int call(const char *name, TVMFFIAny *args, int count, TVMFFIAny *result) {
  TVMFFIByteArray at = bytes(name);
  TVMFFIObjectHandle function;
  *result = (TVMFFIAny){.type_index = kTVMFFINone};
  if (TVMFFIFunctionGetGlobal(&at, &function) || !function) return -1;
  int status = TVMFFIFunctionCall(function, args, count, result);
  TVMFFIObjectDecRef(function);
  return status;
}

static void set(const char *name, TVMFFISafeCallType function) {
  TVMFFIObjectHandle made;
  TVMFFIByteArray at = bytes(name);
  if (TVMFFIFunctionCreate(NULL, function, NULL, &made) || TVMFFIFunctionSetGlobal(&at, made, 0)) abort();
  TVMFFIObjectDecRef(made);
}

static int load(void *self, const TVMFFIAny *args, int32_t count, TVMFFIAny *result) {
  TVMFFIAny path = text(getenv("IMPORTED"));
  puts("the module is made");
  return call("ffi.ModuleLoadFromFile", &path, 1, result);
}

static int show(void *self, const TVMFFIAny *args, int32_t count, TVMFFIAny *result) {
  printf("shown: %d arguments, %lld\n", count, (long long)args[1].v_int64);
  if (args[1].v_int64 < 0) {
    TVMFFIErrorSetRaisedFromCStr("ValueError", "it is negative");
    return -1;
  }
  *result = (TVMFFIAny){.type_index = kTVMFFIInt, .v_int64 = args[1].v_int64 + 1};
  return 0;
}

int main(int argc, char **argv) {
  set("ffi.Module.load_from_bytes.KIND", load);
  TVMFFIAny path = text(argv[1]), library, function, result;
  if (call("ffi.ModuleLoadFromFile", &path, 1, &library)) return failed();
  int64_t out = 0;
  for (int round = 0; round < 4; round++) {
    TVMFFIAny name[3] = {library, text("k"), {.type_index = kTVMFFIBool, .v_int64 = 0}};
    if (call("ffi.ModuleGetFunction", name, 3, &function)) return failed();
    TVMFFIAny args[2] = {{.type_index = kTVMFFIInt, .v_int64 = 7 - 4 * round},
                         {.type_index = kTVMFFIOpaquePtr, .v_ptr = &out}};
    result = (TVMFFIAny){.type_index = kTVMFFINone};
    if (round == 1) set("GLOBAL", show);
    if (TVMFFIFunctionCall(function.v_ptr, args, 2, &result))
      failed();
    else
      printf("%lld\n", (long long)out);
    TVMFFIObjectDecRef(function.v_ptr);
  }
  TVMFFIObjectDecRef(library.v_ptr);
  return 0;
}
"""

LINKED: Final = r"""
#include <stdio.h>
#include <tvm/ffi/c_api.h>
int __tvm_ffi_f(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
int main(void) {
  TVMFFIAny n = {.type_index = kTVMFFIInt, .v_int64 = 3}, result = {.type_index = kTVMFFINone};
  if (__tvm_ffi_f(NULL, &n, 1, &result) == 0) return 1;
  TVMFFIObjectHandle error;
  TVMFFIErrorMoveFromRaised(&error);
  TVMFFIErrorCell *cell = (TVMFFIErrorCell *)((char *)error + sizeof(TVMFFIObject));
  printf("%.*s\n", (int)cell->message.size, cell->message.data);
  TVMFFIObjectDecRef(error);
  return 0;
}
"""


def build(folder: Path, source: str, *more: str) -> Path:
    """Compile a C program against the header and library of tvm-ffi."""
    text = source.replace("KIND", KIND).replace("GLOBAL", GLOBAL)
    (folder / "main.c").write_text(text)
    program = folder / "main"
    paths = [f"-Wl,-rpath,{LIBRARY.parent}", f"-Wl,-rpath,{folder}"]
    run("cc", "-g", folder / "main.c", *more, *INCLUDES, LIBRARY, *paths, "-o", program)
    return program


def test_in_c(tmp_path: Path, imported: Path) -> None:
    path = tmp_path / "calls.so"
    runtime.compile(lowered()).export_library(path, modules=[(KIND, b"any")])
    program = build(tmp_path, PROGRAM)
    done = subprocess.run(
        [program, path],
        capture_output=True,
        text=True,
        env={"IMPORTED": str(imported)},
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [
        "the module is made",
        f"RuntimeError: No global function is registered as {GLOBAL!r} when calling it in `k`",
        "shown: 2 arguments, 30",
        "31",
        "shown: 2 arguments, -10",
        "ValueError: it is negative",
        "shown: 2 arguments, -50",
        "ValueError: it is negative",
    ]


def test_a_program_that_is_linked_with_the_library(tmp_path: Path, imported: Path) -> None:
    """Nobody has made its modules."""
    path = tmp_path / "calls.so"
    runtime.compile(lowered()).export_library(path, modules=[(KIND, b"any")])
    assert run(build(tmp_path, LINKED, str(path))).strip() == (
        "'times' is a function of an imported module, but tvm-ffi has not loaded this library "
        "when calling: `f(n: int64)`"
    )
