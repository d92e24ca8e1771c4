"""A module that was attached to needs nothing of ours at run time: MLIR's own engine compiles it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """
    import ctypes, sys
    import numpy as np
    import torch_mlir.ir as ir
    from torch_mlir.execution_engine import ExecutionEngine
    import tvm_ffi
    from tvm_ffi import libinfo
    from ffi_builder import attach_ffi_func, providers, spec

    TEXT = '''
      llvm.func @scale(%a: f32, %data: !llvm.ptr, %n: i64) {
        %zero = llvm.mlir.constant(0 : i64) : i64
        %one = llvm.mlir.constant(1 : i64) : i64
        llvm.br ^head(%zero : i64)
      ^head(%i: i64):
        %more = llvm.icmp "slt" %i, %n : i64
        llvm.cond_br %more, ^body, ^done
      ^body:
        %at = llvm.getelementptr %data[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %x = llvm.load %at : !llvm.ptr -> f32
        %y = llvm.fmul %x, %a : f32
        llvm.store %y, %at : f32, !llvm.ptr
        %next = llvm.add %i, %one : i64
        llvm.br ^head(%next : i64)
      ^done:
        llvm.return
      }'''
    context = ir.Context()
    with context:
        module = ir.Module.parse(TEXT)
    n = spec.Var("n", "int64", divisibility=2)
    a, h = spec.Var("a", "float32"), spec.Var("h", "bfloat16")
    big = spec.Var("big", "uint64")
    x = spec.Tensor("x", [n], "float32", device_type="cpu")
    provider = providers.DirectCallProvider("scale", args=[a, x, n])
    attach_ffi_func(module, "scale", [a, x, h, big], provider)

    engine = ExecutionEngine(module, opt_level=2, shared_libs=[libinfo.find_libtvm_ffi()])
    # The engine gives out functions that take an array of pointers to their arguments.
    packed = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.raw_lookup("__tvm_ffi_scale"))

    @ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p
    )
    def entry(handle, args, count, result):
        status = ctypes.c_int32(-9)
        kept = [ctypes.c_void_p(handle), ctypes.c_void_p(args), ctypes.c_int32(count)]
        kept += [ctypes.c_void_p(result), status]
        packed((ctypes.c_void_p * 5)(*map(ctypes.addressof, kept)))
        return status.value

    address = ctypes.cast(entry, ctypes.c_void_p).value
    function = tvm_ffi.Function.__from_extern_c__(address, keep_alive_object=entry)

    data = np.arange(6, dtype="float32")
    assert function(2.5, data, 1, 2**64 - 1) is None
    assert data.tolist() == [0, 2.5, 5, 7.5, 10, 12.5], data

    def error(*args):
        try:
            function(*args)
        except Exception as raised:
            return type(raised).__name__, str(raised)
        raise AssertionError("no error")

    SIGNATURE = "`scale(a: float32, x: Tensor([n], float32), h: bfloat16, big: uint64)`"
    assert error(2.5) == (
        "TypeError",
        f"Mismatched number of arguments when calling: {SIGNATURE}, expected 4 but got 1",
    )
    assert error(2.5, np.zeros(3, "float32"), 1, 2) == (
        "ValueError",
        f"Mismatched x.shape[0] on argument #1 when calling: {SIGNATURE}, expected a multiple of 2 "
        "(divisibility of n) but got 3",
    )
    assert error(2.5, np.zeros(2, "float64"), 1, 2)[1].endswith("expected float32 but got float64")
    assert error(2.5, data, 1, -1)[1].endswith("18446744073709551615) but got -1")
    assert data.tolist() == [0, 2.5, 5, 7.5, 10, 12.5], data
    ours = [name for name in sys.modules if name.startswith("ffi_builder.runtime")]
    assert not ours and "llvmlite" not in sys.modules and "tvm_ffi_orcjit" not in sys.modules, ours
    print("done")
"""


def test_mlirs_own_engine() -> None:
    pytest.importorskip("numpy", reason="needs NumPy")
    pytest.importorskip("torch_mlir.execution_engine", reason="needs MLIR's ExecutionEngine")
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(PROGRAM)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "done\n"
    assert not ran.stderr
