"""What ``wrap`` takes, each called and exported as its author would."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import weakref
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffi_builder import CompileError, runtime, wrap
from tests.cuda.images.images import IMAGES
from tests.runtime.samples import TORCH_IR, c_object, needs_cc
from tests.support.contexts import shared_context
from tests.wrapping.kernels import ARGS, GEMV, PROTOTYPE, SOURCE, check_gemv, wrapped

ADD = """
func.func @add(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>) {
  linalg.add ins(%x, %y : memref<?xf32>, memref<?xf32>) outs(%z : memref<?xf32>)
  return
}
"""
ADD_SIGNATURE = "add(x: Tensor([n], float32), y: Tensor([n], float32), z: Tensor([n], float32))"
LLVM = """
define void @twice(i64 %n, ptr %x) {
  %is_empty = icmp eq i64 %n, 0
  br i1 %is_empty, label %end, label %some
some:
  %old = load float, ptr %x
  %new = fadd float %old, %old
  store float %new, ptr %x
  br label %end
end:
  ret void
}
"""
TWICE = "twice(x: Tensor([n], float32))"
OfTriton = type("OfTriton", (dict,), {"__module__": "triton.compiler"})
HYPOT = "hypot(x: float64, y: float64) -> r: float64"
HYPOT_IN_C = "double hypot(double x, double y)"


@needs_cc
def test_code_is_called_and_exported(tmp_path: Path) -> None:
    for what, source in wrapped(tmp_path).items():
        compiled = wrap(source, GEMV, device="cpu", prototype=PROTOTYPE, args=ARGS)
        check_gemv(compiled)
        with pytest.raises(RuntimeError, match="gemv failed with status 7"):
            compiled["gemv"](*(np.zeros(s, "float32") for s in ((101, 1), 1, 101)))
        path = tmp_path / f"{what.replace(' ', '-')}.so"
        compiled.export_library(path)
        check_gemv(runtime.load(path))


def add(compiled: runtime.CompiledModule) -> None:
    x, z = np.ones(3, "float32"), np.zeros(3, "float32")
    compiled["add"](x, x, z)
    np.testing.assert_array_equal(z, 2)


def test_mlir(tmp_path: Path) -> None:
    path = tmp_path / "add.mlir"
    path.write_text(ADD)
    module = TORCH_IR.Module.parse(ADD, shared_context())
    for source in (ADD, path, str(path), module, module.operation):
        add(wrap(source, ADD_SIGNATURE, device="cpu"))


@needs_cc
def test_an_export_of_chosen_functions_keeps_the_kernel(tmp_path: Path) -> None:
    path = tmp_path / "twice.so"
    wrap(LLVM, TWICE, device="cpu").export_library(path, export_only=["twice"])
    x = np.ones(3, "float32")
    runtime.load(path)["twice"](x)
    assert x[0] == 2


def test_llvm_ir(tmp_path: Path) -> None:
    llvm: Any = import_module("llvmlite.binding")
    bitcode = llvm.parse_assembly(LLVM).as_bitcode()
    (tmp_path / "twice.ll").write_text(LLVM)
    (tmp_path / "twice.bc").write_bytes(bitcode)
    for source in (LLVM, tmp_path / "twice.ll", bitcode, str(tmp_path / "twice.bc")):
        compiled = wrap(source, TWICE, device="cpu")  # the parameters have names
        x = np.ones(3, "float32")
        compiled["twice"](x)
        assert x[0] == 2
    with pytest.raises(ValueError, match=r"Mismatched x\.ndim"):
        wrap(LLVM, TWICE, device="cpu")["twice"](np.ones((3, 3), "float32"))


# ---- addresses


def hypot() -> Any:
    return ctypes.CDLL("libm.so.6").hypot


def test_addresses() -> None:
    cffi = pytest.importorskip("cffi")
    ffi = cffi.FFI()
    ffi.cdef("double hypot(double x, double y);")
    number = ctypes.cast(hypot(), ctypes.c_void_p).value
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p),
    )

    class Compiled:  # as Numba's @cfunc
        address = number

    for source in (
        *(hypot(), Compiled(), new(number, None, None)),
        *(ffi.dlopen("libm.so.6").hypot, ffi.cast("void *", number)),
    ):
        assert wrap(source, HYPOT, prototype=HYPOT_IN_C)["hypot"](3.0, 4.0) == 5
    for given in (number, np.uint64(number or 0), ctypes.c_void_p(number)):
        assert wrap(given, HYPOT, prototype=HYPOT_IN_C, owner=None)["hypot"](3.0, 4.0) == 5
        with pytest.raises(TypeError, match="needs owner=: the object that frees its code"):
            wrap(given, HYPOT, prototype=HYPOT_IN_C)
    assert wrap("-lm", HYPOT, prototype=HYPOT_IN_C)["hypot"](3.0, 4.0) == 5


def test_a_function_keeps_the_owner_of_its_code() -> None:
    type_ = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)

    def add_one(n: int) -> int:
        return n + 1

    closure = type_(add_one)
    gone = weakref.ref(closure)
    address = ctypes.cast(closure, ctypes.c_void_p).value
    f = wrap(address, "f(n: int64) -> r: int64", prototype="int64_t f(int64_t n)", owner=closure)[
        "f"
    ]
    del closure
    gc.collect()
    assert f(41) == 42
    del f
    gc.collect()
    assert gone() is None


def test_an_address_is_not_exported(tmp_path: Path) -> None:
    compiled = wrap(hypot(), HYPOT, prototype=HYPOT_IN_C)
    words = "`hypot` is at an address of this process, which no file can contain: to export, wrap"
    for export in (compiled.export_library, compiled.export_object):
        with pytest.raises(CompileError, match=words):
            export(tmp_path / "hypot.so")
    assert list(tmp_path.iterdir()) == []


def test_an_int_needs_an_owner() -> None:
    with pytest.raises(TypeError, match="the address 0x10 needs owner=: the object that frees its"):
        wrap(16, HYPOT, prototype=HYPOT_IN_C)
    for address in (0, -1, 1 << 64):
        with pytest.raises(ValueError, match="expected the address of a function but got"):
            wrap(address, HYPOT, prototype=HYPOT_IN_C, owner=None)


# ---- what is no source


@pytest.mark.parametrize(
    ("source", "error", "words"),
    [
        (None, TypeError, "but got NoneType"),
        (True, TypeError, "but got bool"),
        (np.zeros(3), TypeError, "but got numpy.ndarray"),
        (ctypes.CDLL(None), TypeError, "but got ctypes.CDLL: give a function of it"),
        (["k.o"], TypeError, "but got a list: give the kernel, and what else it needs in link="),
        (OfTriton({}), TypeError, "triton.compiler.OfTriton: give what triton.compile returns"),
        (print, TypeError, "a function of a cffi library is ffi.addressof"),
        (b"\x89PNG\xff", CompileError, "Expected an ELF object file, but the bytes start with"),
        (b"!<thin>\n", CompileError, "a thin archive only names its objects: make it without `T`"),
        (b"!<arch>\nabc", CompileError, "the archive is truncated or damaged at byte"),
        (b"BC\xc0\xde123", CompileError, "Expected LLVM bitcode of LLVM 22 or earlier"),
        ("no_such_file.o", FileNotFoundError, "no_such_file.o"),
        ("-lno_such_library", Exception, "the system has no library `libno_such_library`"),
    ],
)
def test_what_is_no_source(source: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        wrap(source, GEMV, device="cpu", prototype=PROTOTYPE, args=ARGS)


def test_text_that_is_no_mlir() -> None:
    with pytest.raises(CompileError, match="The MLIR text does not parse"):
        wrap("llvm.func @gemv", GEMV, device="cpu")


@needs_cc
def test_damaged_and_foreign_files(tmp_path: Path) -> None:
    data = c_object(tmp_path, SOURCE)
    foreign = data[:18] + b"\xf3\0" + data[20:]  # RISC-V
    for broken, words in (
        (data[:40], "The object file is truncated or damaged: the ELF header"),
        (data[: len(data) // 2], "The object file is truncated or damaged"),
        (foreign, "this machine is"),
    ):
        with pytest.raises(CompileError, match=words):
            wrap(broken, GEMV, device="cpu", prototype=PROTOTYPE, args=ARGS)


@needs_cc
def test_a_library_that_was_replaced(tmp_path: Path) -> None:
    """The system would go on with the old one, without a word."""
    path = tmp_path / "libf.so"
    for number in (1, 2):
        c_object(tmp_path, f"int64_t f(void) {{ return {number}; }}")
        subprocess.run(["gcc", "-shared", tmp_path / "part.o", "-o", path], check=True)
        if number == 1:
            f = wrap(path, "f() -> r: int64", prototype="int64_t f(void)")["f"]
            assert f() == 1
    with pytest.raises(Exception, match=r"libf.so was loaded before, and has been written anew"):
        wrap(path, "f() -> r: int64", prototype="int64_t f(void)")


WITHOUT_MLIR = """
import sys
for name in ("torch_mlir", "mlir", "jaxlib", "iree"):
    sys.modules[name] = None
from ffi_builder import Launch, wrap
kernel, cubin = sys.argv[1:]
f = wrap(kernel, "f(n: int64) -> r: int64", prototype="int64_t f(int64_t n)")["f"]
assert f(41) == 42
launch = Launch(grid=1, block=1)
assert wrap(cubin, "go()", function="nothing", launch=launch).functions[0] == "go"
"""


@pytest.mark.slow
@needs_cc
def test_what_is_not_mlir_needs_no_mlir(tmp_path: Path) -> None:
    c_object(tmp_path, "int64_t f(int64_t n) { return n + 1; }")
    cubin = IMAGES / "cuda13-sm_90a.cubin"
    command = [sys.executable, "-W", "error", "-c", WITHOUT_MLIR, tmp_path / "part.o", cubin]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
