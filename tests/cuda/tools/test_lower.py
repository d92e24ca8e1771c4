"""Kernels in MLIR and LLVM IR to PTX: what its text says."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import CompileError, cuda
from ffi_builder.cuda.images import Kernel
from ffi_builder.cuda.tools import toolkit
from ffi_builder.ir.distribution import named
from tests.cuda.tools.tools import LLVM_IR, SCALE

LIBDEVICE = toolkit.find("nvvm/libdevice/libdevice.10.bc")
LAUNCH = """
func.func @host(%x: memref<16xf32>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  gpu.launch blocks(%a, %b, %c) in (%d = %c1, %e = %c1, %f = %c1)
      threads(%t, %u, %v) in (%g = %c16, %h = %c1, %i = %c1) {
    %one = arith.constant 1.0 : f32
    memref.store %one, %x[%t] : memref<16xf32>
    gpu.terminator
  }
  return
}
"""
REVERSE = """
gpu.module @m {
  gpu.func @reverse(%x: memref<?xf32>)
      workgroup(%s : memref<256xf32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<?xf32>
    memref.store %v, %s[%t] : memref<256xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %last = arith.constant 255 : index
    %u = arith.subi %last, %t : index
    %w = memref.load %s[%u] : memref<256xf32, #gpu.address_space<workgroup>>
    memref.store %w, %x[%t] : memref<?xf32>
    gpu.return
  }
}
"""
NVVM = """
llvm.func @k(%x: !llvm.ptr) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 2, 1>} {
  %c = llvm.mlir.constant(1.5e-3 : f32) : f32
  llvm.store %c, %x : f32, !llvm.ptr
  llvm.return
}
"""
EXP = """
gpu.module @m {
  gpu.func @k(%x: !llvm.ptr) kernel {
    %v = llvm.load %x : !llvm.ptr -> f32
    %e = math.exp %v : f32
    llvm.store %e, %x : f32, !llvm.ptr
    gpu.return
  }
}
"""


def only(ptx: str) -> Kernel:
    (kernel,) = cuda.kernels(ptx).kernels.values()
    return kernel


def head(ptx: str) -> list[str]:
    """The directives in front of the kernels."""
    return [line for line in ptx.splitlines() if re.match(r"\.(version|target|address_size)", line)]


def test_a_gpu_module():
    ptx = cuda.lower_to_ptx(SCALE, arch="sm_90a")
    assert head(ptx) == [".version 8.0", ".target sm_90a", ".address_size 64"]
    declared = re.search(r"\.visible \.entry scale\((.*?)\)", ptx, re.DOTALL)
    assert declared is not None
    assert re.findall(r"\.param (\.\w+)", declared[1]) == [".u64", ".u32", ".f32"]
    assert ".maxntid 256" in ptx
    for instruction in (
        "%ctaid.x",
        "%tid.x",
        "setp.ge.s32",
        "ld.global",
        "mul.rn.f32",
        "st.global",
    ):
        assert instruction in ptx, f"{instruction} in\n{ptx}"
    assert str(only(ptx)) == "scale(u64, u32, f32)  [threads <= 256]"


def test_a_gpu_launch_in_a_function_of_the_host():
    ptx = cuda.lower_to_ptx(LAUNCH, arch="sm_80")
    kernel = only(ptx)
    assert kernel.name == "host_kernel"
    assert kernel.max_threads == 16
    assert [parameter.type for parameter in kernel.parameters or ()] == ["u64"] * 5


def test_shared_memory_and_a_barrier():
    ptx = cuda.lower_to_ptx(REVERSE, arch="sm_90")
    assert re.search(r"\.shared \.align \d+ \.b8 \S+\[1024\]", ptx)
    assert re.search(r"bar(rier)?\.sync", ptx)


def test_an_nvvm_kernel():
    kernel = only(cuda.lower_to_ptx(NVVM, arch="sm_90"))
    assert (kernel.name, kernel.block) == ("k", (64, 2, 1))


def test_llvm_ir_with_structs_by_value():
    kernel = only(cuda.lower_to_ptx(LLVM_IR, arch="sm_90"))
    assert str(kernel) == "k(u64, f32, b8[24], b8[132])  [block 128 x 1 x 1; cluster 2 x 1 x 1]"


def test_kernels_by_annotations():
    """As older front ends write them."""
    ir = """
        define void @k(ptr %x) { ret void }
        !nvvm.annotations = !{!0}
        !0 = !{ptr @k, !"kernel", i32 1}
    """
    assert only(cuda.lower_to_ptx(ir, arch="sm_80")).name == "k"


@pytest.mark.parametrize("distribution", ["torch_mlir", "jaxlib.mlir"])
def test_modules_of_any_distribution_are_left_as_they_were(distribution: str):
    pytest.importorskip(f"{distribution}.ir")
    found = named(distribution)
    context = found.ir.Context()
    context.allow_unregistered_dialects = True
    found.load_llvm(context)
    generic = """
      "gpu.module"() ({
        "llvm.func"() ({
          "llvm.return"() : () -> ()
        }) {sym_name = "k", function_type = !llvm.func<void ()>, linkage = #llvm.linkage<external>,
            CConv = #llvm.cconv<ccc>, "nvvm.kernel"} : () -> ()
      }) {sym_name = "m"} : () -> ()
    """
    module: Any = found.ir.Module.parse(generic, context)
    before = str(module)
    assert only(cuda.lower_to_ptx(module, arch="sm_90")).name == "k"
    (inner,) = module.body.operations
    assert only(cuda.lower_to_ptx(inner, arch="sm_90")).name == "k"
    assert str(module) == before


def test_a_pipeline_of_ones_own():
    pipeline = "builtin.module(gpu.module(convert-scf-to-cf,convert-gpu-to-nvvm))"
    ptx = cuda.lower_to_ptx(SCALE, arch="sm_90", pipeline=pipeline)
    assert only(ptx).name == "scale"


@pytest.mark.parametrize(
    ("arch", "version"),
    [
        ("sm_50", "8.0"),
        ("sm_80", "8.0"),
        ("sm_90a", "8.0"),
        ("sm_100", "8.6"),
        ("sm_100f", "8.8"),
        ("sm_120", "8.7"),
        ("sm_103a", "8.8"),
        ("sm_110", "9.0"),
    ],
)
def test_the_first_isa_with_an_architecture(arch: str, version: str):
    """PTX ISA, "Release Notes": what each version supports."""
    assert head(cuda.lower_to_ptx(LLVM_IR, arch=arch))[:2] == [
        f".version {version}",
        f".target {arch}",
    ]


def test_a_given_isa():
    assert head(cuda.lower_to_ptx(NVVM, arch="sm_90", ptx_version="8.6"))[0] == ".version 8.6"


SELECT = """
define ptx_kernel void @k() { call void @llvm.nvvm.wgmma.fence.sync.aligned() ret void }
declare void @llvm.nvvm.wgmma.fence.sync.aligned()
"""
OPTIONS: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    (NVVM, {"ptx_version": "8.9"}, CompileError, r"knows no PTX ISA 8\.9"),
    (NVVM, {"arch": "sm_100", "ptx_version": "8.0"}, CompileError, r"PTX version 8\.0 does not support target 'sm_100'"),
    *((NVVM, {"ptx_version": other}, ValueError, f"one of '6.0' to '9.0' but got '{other}'") for other in ("9.9", "8", "86", "", "5.0")),
    (NVVM, {"ptx_version": 8.6}, TypeError, r"expected a str such as '8.6' but got 8\.6 \(float\)"),
    *((LLVM_IR, {"arch": arch}, CompileError, f"llvmlite knows sm_50, .*but got '{arch}'") for arch in ("sm_30", "sm_90f", "sm_80a")),
    (3, {}, TypeError, r"Expected a module or `gpu.module` .* but got 3 \(int\)"),
    (LLVM_IR, {"pipeline": "builtin.module()"}, TypeError, "pipeline= needs MLIR, but got LLVM IR text"),
    (NVVM, {"pipeline": 3}, TypeError, "pipeline: expected a str but got 3"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "options", "error", "words"), OPTIONS, ids=lambda v: str(v)[:40]
)
def test_what_is_refused(source: Any, options: dict[str, Any], error: Any, words: str):
    with pytest.raises(error, match=words):
        cuda.lower_to_ptx(source, **{"arch": "sm_90", **options})


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("define void @f() { ret void }", "The module has no kernel: expected a `gpu.func` with"),
        ("module {}", "The module has no kernel"),
        ("gpu.module @m { gpu.func @f() { gpu.return } }", "The module has no kernel"),
        ("gpu.module @a {} gpu.module @b {}", r"several `gpu.module`s \(@a, @b\): pass each of them"),
        ("", "Expected MLIR or LLVM IR, but the text is empty"),
        ("define void @f() { ret }", "The LLVM IR does not parse: 1:24: error: expected type"),
        ("define void @f(i32 %x) { %y = add i32 %y, 1 ret void }", "LLVM's verifier refuses|parse"),
        ("hello", "The MLIR text does not parse"),
        ('target triple = "x86_64-linux-gnu"\n' + LLVM_IR, "is for target `x86_64-linux-gnu`, not"),
        (SELECT, "LLVM makes no PTX of the module for sm_80: LLVM ERROR: Cannot select: intrinsic"),
        ("define ptx_kernel void @a.b() { ret void }", "kernel's name 'a.b' is not valid in PTX: expected"),
        ('gpu.module @m { gpu.func @f() kernel { "x.y"() : () -> () gpu.return } }', "`x.y`"),
        ("gpu.module @m { gpu.func @f(%x: tensor<4xf32>) kernel { gpu.return } }", "failed to legal"),
    ],
)  # fmt: skip
def test_what_cannot_be_lowered(source: str, words: str):
    with pytest.raises(CompileError, match=words):
        cuda.lower_to_ptx(source, arch="sm_80")


@pytest.mark.skipif(LIBDEVICE is None, reason="needs libdevice of a CUDA toolkit")
@pytest.mark.usefixtures("no_toolkit")
def test_mathematics_of_libdevice(home: Path, monkeypatch: pytest.MonkeyPatch):
    """All that is used of it is in the PTX, and nothing else."""
    with pytest.raises(CompileError, match=r"calls __nv_expf of NVIDIA's libdevice, which was not"):
        cuda.lower_to_ptx(EXP, arch="sm_90")
    assert LIBDEVICE is not None
    monkeypatch.setattr(toolkit, "roots", lambda: iter([home]))
    (home / "nvvm/libdevice").mkdir(parents=True)
    shutil.copy(LIBDEVICE, home / "nvvm/libdevice")
    ptx = cuda.lower_to_ptx(EXP, arch="sm_90")
    assert "ex2.approx" in ptx
    assert "__nv_" not in ptx
    assert ".func" not in ptx
    assert list(cuda.kernels(ptx).kernels) == ["k"]
