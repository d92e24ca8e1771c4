"""Code that needs a later libtvm_ffi than the installed one, and a process without the JIT."""

from __future__ import annotations

import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

from ffi_builder import runtime
from ffi_builder.errors import LinkError
from tests.runtime.samples import needs_cc, run_child

LATER = """
declare i32 @TVMFFIOfTomorrow()
define i32 @__tvm_ffi_f(ptr %self, ptr %args, i32 %count, ptr %result) {
  %status = call i32 @TVMFFIOfTomorrow()
  ret i32 %status
}
"""
WORDS = f"apache-tvm-ffi {version('apache-tvm-ffi')} has no `TVMFFIOfTomorrow`: install a later one"


def test_code_that_needs_a_later_one_is_not_linked(tmp_path: Path) -> None:
    pytest.importorskip("tvm_ffi_orcjit")
    with pytest.raises(LinkError, match=f"this process define: `TVMFFIOfTomorrow`; {WORDS}$"):
        runtime.compile(LATER)
    with pytest.raises(LinkError, match=rf"libc define: `TVMFFIOfTomorrow`; {WORDS}\. .*cc says:"):
        runtime.lower(LATER).export_library(tmp_path / "f.so")


@needs_cc
def test_a_library_that_needs_a_later_one_is_not_loaded(tmp_path: Path) -> None:
    """Its first call would end the process."""
    (tmp_path / "f.o").write_bytes(runtime.lower(LATER).object)
    library = tmp_path / "f.so"
    subprocess.run(["gcc", "-shared", tmp_path / "f.o", "-o", library], check=True)
    with pytest.raises(LinkError, match=f"^Cannot load `{library}`: {WORDS}$"):
        runtime.load(library)


WITHOUT_JIT = """
import sys
sys.modules["tvm_ffi_orcjit"] = None
from dataclasses import dataclass
from pathlib import Path
import numpy as np
import tvm_ffi
from torch_mlir import ir
from ffi_builder import attach, packed, providers, runtime, spec
from ffi_builder.entry.available import Extension
from ffi_builder.runtime.python import functions

n = spec.Var("n", "int64")
with spec.DefaultConfig(device_type="cpu"):
    x, y = spec.Tensor("x", [n], "float32", intent="in"), spec.Tensor("y", [n], "float32")
module = ir.Module.parse("", ir.Context())
copy = spec.Signature("copy", [x, y, spec.String("mode", default="all")])
attach(module, copy, providers.DirectCallProvider("memcpy", args=[y, x, n * 4]))
seen = []
tvm_ffi.register_global_func("tests.note", lambda *given: seen.append(list(map(repr, given))))
values = [spec.Shape("s", [n, 2]), spec.Array("a"), spec.Map("m"), spec.Function("f")]
struct = spec.Struct("c", [spec.Var("i", "int32"), spec.Var("b", "bool"), spec.DType("d")])
note = spec.Signature("note", [*values, struct, spec.Optional(spec.Device("o"))])
attach(module, note, providers.PackedCallProvider(global_function="tests.note", args=["n", "b"]))
hypot = spec.Signature.parse("hypot(a: float64, b: float64) -> c: float64")
attach(module, hypot, providers.DirectCallProvider("hypot"))

folder = Path({folder!r})
lowered = runtime.lower(module)
lowered.export_object(folder / "k.o")
lowered.export_library(folder / "k.so", header=folder / "k.h", stub=folder / "k.pyi")
library = runtime.load(folder / "k.so")
print(library.functions)

a, b = np.arange(3, dtype="float32"), np.zeros(3, "float32")
a.flags.writeable = False
for call in (library["copy"], library.callable("copy")):
    b[:] = 0
    call(a, b, "all")
    assert (a == b).all()
library.callable("copy")(y=b, x=a)
try:
    library["copy"](a, b[:2], "all")
except ValueError as error:
    print(error)
assert library["hypot"](3, 4) == 5

@dataclass
class C:
    i: int
    b: bool
    d: str
shape = tvm_ffi.Shape((7, 2))
library.callable("note")(shape, [shape], {"k": a.copy()}, len, C(1, True, np.dtype("int8")), None)
print(seen)
print(isinstance(functions.extension(), Extension), library["copy"]._general_calls)
try:
    runtime.compile(module)
except Exception as error:
    print(error)
"""
SIGNATURE = "copy(x: Tensor([n], float32), y: Tensor([n], float32), mode: String)"


@needs_cc
def test_libraries_are_made_and_called_without_the_jit(tmp_path: Path) -> None:
    """As where apache-tvm-ffi is older than the JIT wants."""
    done = run_child(WITHOUT_JIT.replace("{folder!r}", repr(str(tmp_path))))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:4] == [
        "('copy', 'hypot', 'note')",
        f"Mismatched y.shape[0] on argument #1 when calling: `{SIGNATURE}`, expected 3 "
        f"(n = x.shape[0]) but got 2",
        "[['7', 'True']]",
        "True 0",
    ]
    assert lines[4].startswith("Compiling needs apache-tvm-ffi-orcjit, which cannot be imported")
    assert {path.name for path in tmp_path.iterdir()} == {"k.o", "k.so", "k.h", "k.pyi"}
