"""A self-contained module needs nothing of ours at run time: MLIR's own engine compiles it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.support.loops import SCALE

ROOT = Path(__file__).parents[2]

PROGRAM = """
    import sys
    import numpy as np
    import torch_mlir.ir as ir
    from torch_mlir.execution_engine import ExecutionEngine
    import tvm_ffi
    from tvm_ffi import libinfo
    from ffi_builder import attach_ffi_func, providers, spec

    TEXT = '''
      SCALE
      llvm.func @describe(%there: i1, %data: !llvm.ptr, %any: !llvm.ptr, %text: !llvm.ptr,
                          %size: i64, %act: i8, %callback: !llvm.ptr, %out: !llvm.ptr) {
        %wide = llvm.zext %there : i1 to i64
        %null = llvm.mlir.zero : !llvm.ptr
        %found = llvm.icmp "ne" %data, %null : !llvm.ptr
        %found_wide = llvm.zext %found : i1 to i64
        %ndim_at = llvm.getelementptr %any[16] : (!llvm.ptr) -> !llvm.ptr, i8
        %ndim = llvm.load %ndim_at : !llvm.ptr -> i32
        %ndim_wide = llvm.sext %ndim : i32 to i64
        %letter = llvm.load %text : !llvm.ptr -> i8
        %letter_wide = llvm.sext %letter : i8 to i64
        %act_wide = llvm.sext %act : i8 to i64
        llvm.store %wide, %out : i64, !llvm.ptr
        %at1 = llvm.getelementptr %out[1] : (!llvm.ptr) -> !llvm.ptr, i64
        llvm.store %found_wide, %at1 : i64, !llvm.ptr
        %at2 = llvm.getelementptr %out[2] : (!llvm.ptr) -> !llvm.ptr, i64
        llvm.store %ndim_wide, %at2 : i64, !llvm.ptr
        %at3 = llvm.getelementptr %out[3] : (!llvm.ptr) -> !llvm.ptr, i64
        llvm.store %letter_wide, %at3 : i64, !llvm.ptr
        %at4 = llvm.getelementptr %out[4] : (!llvm.ptr) -> !llvm.ptr, i64
        llvm.store %size, %at4 : i64, !llvm.ptr
        %at5 = llvm.getelementptr %out[5] : (!llvm.ptr) -> !llvm.ptr, i64
        llvm.store %act_wide, %at5 : i64, !llvm.ptr
        llvm.return
      }'''
    context = ir.Context()
    with context:
        module = ir.Module.parse(TEXT)
    n = spec.Var("n", "int64", divisibility=2)
    a, h = spec.Var("a", "float32"), spec.Var("h", "bfloat16")
    big = spec.Var("big", "uint64")
    x = spec.Tensor("x", [n], "float32", device_type="cpu")
    provider = providers.DirectCallProvider("scale", args=[x, n, a])
    attach_ffi_func(module, "scale", [a, x, h, big], provider, self_contained=True)
    mask = spec.Optional(spec.Tensor("mask", [n, n * 2], "float32", device_type="cpu", strides="F"))
    rest = spec.Tensor("rest", ..., ("float32", "float64"), device_type="any")
    cfg = spec.Struct("cfg", [spec.String("label"), spec.Choice("act", {"a": 1, "bb": -2}, "int8")])
    out = spec.Tensor("out", [6], "int64", device_type="cpu")
    params = [mask, rest, cfg, spec.Function("callback"), out, spec.Object("lib", "ffi.Module")]
    args = ["mask.present", "mask", "rest", "cfg", "callback", "out"]
    provider = providers.DirectCallProvider("describe", args=args)
    attach_ffi_func(module, "describe", params, provider, self_contained=True)

    engine = ExecutionEngine(module, opt_level=2, shared_libs=[libinfo.find_libtvm_ffi()])
    def looked_up(name):
        packed = engine.raw_lookup(f"__tvm_ffi_{name}")
        return tvm_ffi.Function.__from_mlir_packed_safe_call__(packed, keep_alive_object=engine)

    function = looked_up("scale")

    data = np.arange(6, dtype="float32")
    assert function(2.5, data, 1, 2**64 - 1) is None
    assert data.tolist() == [0, 2.5, 5, 7.5, 10, 12.5], data

    def error(*args, function=function):
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

    describe, lib = looked_up("describe"), tvm_ffi.system_lib()
    seen = np.zeros(6, "int64")
    describe(None, np.zeros((2, 3, 4)), ("label", "bb"), len, seen, lib)
    assert seen.tolist() == [0, 0, 3, ord("l"), 5, -2], seen
    square = np.zeros((2, 4), "float32", order="F")
    describe(square, np.float32(0)[...], ("a longer label", "a"), len, seen, lib)
    assert seen.tolist() == [1, 1, 0, ord("a"), 14, 1], seen

    def refused(*args):
        kind, message = error(*args, function=describe)
        return kind, message.rpartition(", expected ")[2]

    right = (None, np.zeros(3), ("", "a"), len, seen, lib)
    assert refused(1, *right[1:]) == ("TypeError", "Tensor or None but got int")
    assert refused(square.T, *right[1:])[0] == "ValueError"
    assert refused(*right[:2], ("", "bbc"), *right[3:]) == (
        "ValueError",
        "one of 'a', 'bb' but got 'bbc' (did you mean 'bb'?)",
    )
    assert refused(*right[:5], len) == ("TypeError", "ffi.Module but got ffi.Function")
    assert refused(*right[:5], tvm_ffi.List([1])) == ("TypeError", "ffi.Module but got ffi.List")
    ours = [name for name in sys.modules if name.startswith("ffi_builder.runtime")]
    assert not ours and "llvmlite" not in sys.modules and "tvm_ffi_orcjit" not in sys.modules, ours
    print("done")
"""


@pytest.mark.slow
def test_mlirs_own_engine() -> None:
    pytest.importorskip("numpy", reason="needs NumPy")
    pytest.importorskip("torch_mlir.execution_engine", reason="needs MLIR's ExecutionEngine")
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(PROGRAM).replace("SCALE", SCALE)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "done\n"
    assert not ran.stderr
