"""Which modules are compiled without the detour through a child process: those that MLIR's passes make."""

from __future__ import annotations

import math
import platform
from importlib import import_module
from typing import Any

import pytest

from ffi_builder import attach_ffi_func, providers, runtime, spec
from ffi_builder.errors import CompileError
from ffi_builder.runtime.codegen import allowlist_llvm, allowlist_mlir, llvm, mlir
from ffi_builder.runtime.isolate import worker
from tests.runtime.samples import ADD_ONE

PASSES = """
  func.func(convert-linalg-to-loops) convert-vector-to-scf lower-affine convert-scf-to-cf
  expand-strided-metadata lower-affine convert-vector-to-llvm convert-math-to-llvm
  convert-math-to-libm finalize-memref-to-llvm convert-arith-to-llvm convert-func-to-llvm
  convert-cf-to-llvm convert-index-to-llvm reconcile-unrealized-casts
"""
LOWERING = f"builtin.module({','.join(PASSES.split())})"

KERNELS = {
    "matmul": """
      func.func @f(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>)
          attributes {llvm.emit_c_interface, odd.attribute = 3 : i32} {
        linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
        return
      }""",
    "vectors": """
      func.func @f(%a: memref<?xf32>, %i: index) -> f32 {
        %z = arith.constant 0.0 : f32
        %v = vector.transfer_read %a[%i], %z : memref<?xf32>, vector<8xf32>
        %w = vector.fma %v, %v, %v : vector<8xf32>
        %r = vector.reduction <add>, %w : vector<8xf32> into f32
        vector.transfer_write %w, %a[%i] : vector<8xf32>, memref<?xf32>
        return %r : f32
      }""",
    "math": """
      func.func @f(%a: f32, %b: f64) -> f32 {
        %0 = math.exp %a : f32
        %1 = math.tanh %0 : f32
        %2 = math.powf %1, %a : f32
        %3 = math.erf %2 : f32
        return %3 : f32
      }""",
    "memory": """
      memref.global "private" constant @w : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
      func.func @f(%n: index) -> f32 {
        %m = memref.alloc(%n) : memref<?xf32>
        %s = memref.alloca() : memref<4xf32>
        %w = memref.get_global @w : memref<4xf32>
        memref.copy %w, %s : memref<4xf32> to memref<4xf32>
        %v = memref.load %s[%n] : memref<4xf32>
        %0 = memref.atomic_rmw addf %v, %m[%n] : (f32, memref<?xf32>) -> f32
        memref.dealloc %m : memref<?xf32>
        return %v : f32
      }""",
    "numbers": """
      func.func @f(%a: i32, %b: index, %h: f16, %bf: bf16) -> f32 {
        %0 = arith.index_cast %b : index to i32
        %1 = arith.floordivsi %a, %0 : i32
        %2 = arith.sitofp %1 : i32 to f32
        %3 = arith.extf %bf : bf16 to f32
        %4 = arith.maximumf %2, %3 : f32
        %5 = arith.truncf %4 : f32 to f16
        %6 = arith.cmpf olt, %5, %h : f16
        %7 = arith.select %6, %3, %4 : f32
        %8 = arith.bitcast %7 : f32 to i32
        %9 = arith.extui %6 : i1 to i32
        %10 = arith.addi %8, %9 : i32
        %11 = arith.bitcast %10 : i32 to f32
        return %11 : f32
      }""",
    "control": """
      func.func @f(%i: index, %ok: i1) -> i32 {
        cf.assert %ok, "not ok"
        %r = scf.index_switch %i -> i32
        case 1 { %c = arith.constant 1 : i32
                 scf.yield %c : i32 }
        case 2 { %c = arith.constant 2 : i32
                 scf.yield %c : i32 }
        default { %c = arith.constant 3 : i32
                  scf.yield %c : i32 }
        return %r : i32
      }""",
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_passes_make_needs_no_child_process(
    kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> Any:
        raise AssertionError("a child process was asked")

    monkeypatch.setattr(worker, "_request", refuse)
    # Other tests have run many pipelines.
    monkeypatch.setattr(llvm, "most_pipelines", math.inf)
    runtime.compile(KERNELS[kernel] + ADD_ONE, pipeline=LOWERING)


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        ("llvm.func @f() attributes {optimize_none, no_inline} { llvm.return }", False),
        (
            'llvm.func @f() attributes {optimize_none, no_inline, passthrough = ["minsize"]} '
            "{ llvm.return }",
            True,
        ),
        ('llvm.func @f() attributes {passthrough = ["minsize"]} { llvm.return }', False),
        ("llvm.func @f(...)", False),
        ("llvm.func fastcc @f(i64)", False),
        ("llvm.func fastcc @f(...)", True),
        ("llvm.mlir.global external @f(1 : i64) {alignment = 64 : i64} : i64", False),
        ("llvm.mlir.global external @f(1 : i64) {alignment = 8589934592 : i64} : i64", True),
        ("llvm.func @llvm.sqrt.f64(i32)", True),
    ],
)
def test_what_llvm_refuses_is_an_error_with_its_words(text: str, is_refused: bool) -> None:
    """MLIR's verifier lets it through."""
    parsed = mlir.parse(text)
    assert allowlist_mlir.translation_hazard(parsed.operation) is None
    if is_refused:
        with pytest.raises(
            CompileError, match=r"Translating the module to LLVM IR failed( at llvm.func @f)?: \w"
        ):
            mlir.to_llvm_ir(parsed)
    else:
        mlir.to_llvm_ir(parsed)


ODD = """
llvm.func @f(%p: !llvm.ptr, %a: i64) {{
  %n = llvm.mlir.constant(1 : i64) : i64
  {}
  llvm.return
}}
llvm.func @g(i64)
"""


@pytest.mark.parametrize(
    ("operation", "hazard"),
    [
        ("%r = llvm.trunc %a : i64 to i16", None),
        ("%r = llvm.load %p : !llvm.ptr -> i24", None),
        ("%r = llvm.load %p : !llvm.ptr -> !llvm.struct<(i8, ptr, array<4 x f32>)>", None),
        ('%r = llvm.load %p : !llvm.ptr -> !llvm.struct<"named", (i8, struct<"in", (i8)>)>', None),
        ('%r = llvm.load %p : !llvm.ptr -> !llvm.struct<"s", (i8, struct<"s">)>', "!llvm.struct<"),
        ("%r = llvm.load %p : !llvm.ptr -> !llvm.metadata", "!llvm.metadata"),
        ("%r = llvm.alloca %n x !llvm.struct<(i8)> : (i64) -> !llvm.ptr", None),
        ("%r = llvm.alloca %n x !llvm.void : (i64) -> !llvm.ptr", "!llvm.void"),
        (
            "%r = llvm.alloca %n x !llvm.func<void (ptr, i64)> : (i64) -> !llvm.ptr",
            "an allocation of a function",
        ),
        (f"%r = llvm.load %p : !llvm.ptr -> !llvm.{300 * 'array<1 x '}i8{300 * '>'}", "!llvm.arr"),
        ('%r = llvm.inline_asm has_side_effects "nop", "" : () -> i32', None),
        ("%r = llvm.add %a, %a {own.name = 1 : i64} : i64", None),
        ("%r = llvm.add %a, %a {nvvm.unknown} : i64", "nvvm.unknown"),
        ("%r = llvm.intr.powi(%x, %i) : (f64, i32) -> f64", None),
        ("%r = llvm.intr.atan2(%x, %x) : (f64, f64) -> f64", None),
        ("llvm.call @g(%a) : (i64) -> ()", None),
        ("llvm.br ^next\n^unreached:\nllvm.br ^next\n^next:", "llvm.func @f"),
        ("llvm.br ^next\n^next:", None),
        ("omp.barrier", "omp.barrier"),
    ],
)
def test_hazards_of_translation(operation: str, hazard: str | None) -> None:
    values = "%x = llvm.sitofp %a : i64 to f64\n%i = llvm.trunc %a : i64 to i32\n"
    parsed = mlir.parse(ODD.format(values + operation))
    found = allowlist_mlir.translation_hazard(parsed.operation)
    assert found == hazard or (hazard and found and found.startswith(hazard))


def test_a_resource_that_may_be_missing() -> None:
    text = (
        "llvm.mlir.global internal @g(dense_resource<nothing> : tensor<4xf32>) "
        ": !llvm.array<4 x f32>"
    )
    hazard = allowlist_mlir.translation_hazard(mlir.parse(text).operation)
    assert hazard == "a resource"


ON_X86 = platform.machine() == "x86_64"
WRONG_TRUNC = """
llvm.func @k(%a: i64) attributes {sym_visibility = "private"} {
  %p = llvm.inttoptr %a : i64 to !llvm.ptr
  %c = llvm.trunc %a : i64 to i32
  %0 = llvm.trunc %c : i32 to i64
  llvm.store %0, %p : i64, !llvm.ptr
  llvm.return
}
"""


def test_what_is_inlined_into_a_wrapper_is_looked_at() -> None:
    """LLVM refuses this truncation, and MLIR does not: translating it would end the process."""
    module = mlir.parse(WRONG_TRUNC)
    provider = providers.DirectCallProvider("k")
    attach_ffi_func(module, "f", [spec.Var("n", "int64")], provider)
    for pipeline in (None, "builtin.module(inline,symbol-dce)"):
        with pytest.raises(CompileError, match="Translating the module to LLVM IR failed"):
            runtime.compile(module, pipeline=pipeline)


@pytest.mark.parametrize(
    ("text", "hazard"),
    [
        ("define fastcc void @f() { ret void }", None),
        ("define coldcc void @f() { ret void }", None if ON_X86 else "coldcc"),
        ("define preserve_allcc void @f() { ret void }", None if ON_X86 else "preserve_allcc"),
        ("  %a = add <3 x i64> %b, %c", None if ON_X86 else "a vector of 3 elements"),
        ("define cc 99 void @f() { ret void }", "cc"),
        ("define cc99 void @f() { ret void }", "cc99"),
        ('define void @f() "trusted-dcc9172a" { ret void }', '"trusted-dcc9172a"'),
        ('define void @f() "ffi-builder-trusted-dcc9172a" { ret void }', None),
        ('define void @f() "ffi-builder-trusted" { ret void }', None),
        ("define x86_intrcc void @f(ptr %p) { ret void }", "x86_intrcc"),
        ('module asm "nop"', "asm"),
        ('module asm"nop"', 'asm"'),
        ("@plasma = global i8 0", None),
        ("@g = global i64 ptrtoint (ptr @f to i64)", "ptrtoint in @g"),
        ("@g = global ptr getelementptr (i8, ptr @h, i64 8)", None),
        ("@g = common global i32 0", None),
        ('@g = global i32 0, section "x"', "section"),
        ("declare double @llvm.sqrt.f64(double)", None),
        ("declare <4 x double> @llvm.sqrt.v4f64(<4 x double>)", None),
        ("declare <999 x double> @llvm.sqrt.v999f64(<999 x double>)", "llvm.sqrt.v999f64"),
        ("declare void @llvm.x86.tilezero(i8)", "llvm.x86.tilezero"),
        (
            'attributes #0 = { "target-cpu"="x86-64-v3" }',
            None if ON_X86 else '"target-cpu"="x86-64-v3"',
        ),
        ('attributes #0 = { "target-cpu"="ours" "tune-cpu"="generic" }', None),
        ('attributes #0 = { "target-cpu"="theirs" }', '"target-cpu"="theirs"'),
        ('attributes #0 = { "target-features"="+avx,+sse2" }', None),
        ('attributes #0 = { "target-features"="+avx,-sse2" }', '"target-features"="+avx,-sse2"'),
        ('attributes #0 = { "frame-pointer"="all" }', None),
        ('attributes #0 = { "frame-pointer"="some" }', '"frame-pointer"="some"'),
        ('attributes #0 = { "stack-probe-size"="x" }', '"stack-probe-size"="x"'),
        ("attributes #0 = { nounwind alignstack(4) }", "alignstack"),
        ("@llvm.global_ctors = appending global [0 x ptr] []", None),
        ("@odd = appending global [0 x ptr] []", "appending @odd"),
        ('!llvm.module.flags = !{!0}\n!0 = !{i32 1, !"PIC Level", i32 2}', None),
        ('!llvm.module.flags = !{!0}\n!0 = !{i32 1, !"odd", i32 2}', "odd"),
        ("  %a = add i65 %b, %c", "i65"),
        ("  %a = add i60 %b, %c", None),
        ("  %a = load i32, ptr %p, align 4", None),
        ("  %a = load i32, ptr %p, align 4294967296", "align 4294967296"),
        ("  %a = load i32, ptr addrspace(1) %p", None),
        ("  %a = load i32, ptr addrspace(270) %p", "addrspace(270)"),
        ("  %a = atomicrmw add ptr %p, i32 %b seq_cst, align 4", None),
        ("  %a = atomicrmw fadd ptr %p, <3 x float> %b seq_cst", "atomicrmw fadd"),
        ("  %a = load atomic i64, ptr %p seq_cst, align 8", None),
        ("  %a = load atomic i128, ptr %p seq_cst, align 16", "atomic i128"),
        ("  %a = load <256 x i8>, ptr %p", None),
        ("  %a = load <65536 x i8>, ptr %p", "a vector in `% = load <65536 x i8>, ptr %`"),
        ("  %a = load < 65536 x i8>, ptr %p", "a type"),
        ("  %a = load <vscale x 4 x i8>, ptr %p", "vscale"),
        ("  %a = load { ptr, ptr, i64, [4 x i64], [4 x i64] }, ptr %p", None),
        ("  %a = load [8 x [8 x i8]], ptr %p", None),
        ("  %a = load [64 x [64 x i8]], ptr %p", "the size of a type in `% = load [64 x"),
        ("  %a = load [3 x { i8 }], ptr %p", "a type in `% = load [3 x { i8 }], ptr %`"),
        ("%t = type { i8, [4 x i8] }", None),
        ("%t = type { i8, %u }", "a type in `% = type { i8, % }`"),
        ("  %a = alloca [100000 x i8], i64 1, align 16", None),
        ("  %a = alloca [100000000 x i8], align 8", "the size of `% = alloca"),
        ("  %a = alloca i8, i64 100000000", "alloca i8, i64 100000000"),
        ("  %a = alloca i8, i64 -1", "alloca i8, i64 -1"),
        ("  %a = alloca i8, i64 %n", "alloca i8, i64 %n"),
        ("  %a = alloca i8, i64 undef", "alloca i8, i64 undef"),
        ("  %a = alloca { ptr, i64, i64 }, i64 1, align 8", None),
        ("  %n = zext i32 %m to i64\n  %a = alloca i8, i64 %n", None),
        (
            "define void @f() {\n  %n = zext i32 %m to i64\n}\n"
            "define void @g() {\n  %n = sub i64 0, 1\n  %a = alloca i8, i64 %n",
            "alloca i8, i64 %n",
        ),
        ("  %a = getelementptr [100000 x i8], ptr %p, i64 %n", None),
        ("@g = internal global [100000 x i8] zeroinitializer", None),
        ("@g = internal global [9223372036854775807 x i64] zeroinitializer", "the size of @g"),
        ('@g = global [9 x i8] c"asm \\22 gc;\\00"', None),
        ("; asm gc\ndefine void @f() { ret void } ; musttail", None),
        ('define void @f() #0gc"odd" { ret void }', '#0gc"'),
        ("  %a = uitofp i128 %x to half", None),
        ("  %a = uitofp <256 x i128> %x to <256 x half>", "a vector in `% = uitofp <256"),
        # Not as LLVM prints it: two statements in a line, or parts of one in two.
        ("; a comment\rmodule asm x", "asm"),
        ("define void\n@f([9999 x i8] %a) { ret void }", "@f([9999"),
        ("@g = internal global i8 0 define void @f([9999 x i8] %a) { ret void }", "define in @g"),
        ("@g = internal global i8 0 %t = type [9999 x i8]", "type in @g"),
        ("  %q = alloca i8 store [9999 x i8] undef, ptr %p", "`% = alloca i8 store"),
        ("  %q=alloca i8,i64 -1", "%=alloca"),
        ("  %q = alloca i64\n, i64 -1", ", i64 -1"),
        ("@odd =\nappending global [0 x ptr] zeroinitializer", "@odd ="),
        ("  %a = load {" + ",".join(["i64"] * 9999) + "}, ptr %p", "the size of a type in"),
        ("  %a = fadd <8 x float> %b, splat (float 0x3FB99999A0000000)", None),
        ("  %a = add <8 x i64> %b, splat (i64 -1)", None),
        ("  %a = fadd <999 x float> %b, splat (float 1.0)", "a vector in `% = fadd <999"),
        ("  %a = add <8 x i65> %b, splat (i65 -1)", "i65"),
        ("  %a = add <8 x i64> %b, splat (i64 ptrtoint (ptr @f to i64))", "splat"),
        ("  %a = add <8 x i64> %splat (i64 1), splat", "splat"),
        ("@g = global <8 x i64> splat (i64 1)", "splat in @g"),
        # Deeper than the stack.
        ("@g = global " + "[1 x " * 60 + "i8" + "]" * 60 + " undef", None),
        ("@g = global " + "[1 x " * 200 + "i8" + "]" * 200 + " undef", "brackets nested too deep"),
        ("!0 = " + "!{" * 200 + "}" * 200, "brackets nested too deep"),
        ("  %a = load i32, ptr %p, align " + "9" * 5000, "9" * 5000),
        # The verifier does not look at these.
        ("declare double @llvm.powi.f64.i32(double, i32)", None),
        ("declare double @llvm.powi.f64.i64(double, i64)", "llvm.powi.f64.i64"),
        (
            "  %a = call <4 x i8> @llvm.masked.load.v4i8.p0(ptr %p, i32 4, <4 x i1> %m, ptr %v)",
            None,
        ),
        (
            "  %a = call <4 x i8> @llvm.masked.load.v4i8.p0(ptr %p, i32 3, <4 x i1> %m, ptr %v)",
            "@llvm.masked.load.v4i8.p0(ptr %, i32 3",
        ),
        (
            "@g = global <2 x ptr> getelementptr (i8, <2 x ptr> undef, i64 4)",
            "a vector of addresses",
        ),
        (
            '  br label %a, !llvm.loop !0\n!0 = !{!1}\n!1 = !{!"llvm.loop.unroll.count", i32 4}',
            None,
        ),
        ('  br label %a, !llvm.loop !0\n!0 = !{!1}\n!1 = !{!"llvm.loop.unroll.disable"}', None),
        ('!1 = !{!"llvm.loop.unroll.count", float 4.0}', '!1 = !{!"llvm.loop.unroll.count", f'),
        ('!1 = !{!"llvm.loop.estimated_trip_count", i32 4}', None),
        ('!1 = !{!"llvm.loop.peeled.count", i32 poison}', "!1 = !{"),
        (
            "  %a = call <4 x i8> @llvm.masked.load.v4i8.p0(ptr align 4 %p, <4 x i1> %m, i8 %v)",
            None,
        ),
        ("!0 = !{null, !1}", None),
        ("  store i8 0, ptr %p, !tbaa !0\n!0 = !{null, null, i64 0}", "! = !{null, null"),
    ],
)
def test_hazards_of_code_generation(text: str, hazard: str | None) -> None:
    found = allowlist_llvm.codegen_hazard(text, "ours", "+avx,+sse2,-avx512f")
    assert found == hazard or (hazard and found and found.startswith(hazard))


@pytest.mark.parametrize(
    ("text", "hazard"),
    [
        ("  %a = sitofp i128 %b to bfloat", "sitofp i128 %b to bfloat"),
        ("  %a = uitofp nneg i128 %b to bfloat", "uitofp nneg i128 %b to bfloat"),
        ("  %a = uitofp i128 %b to float", None),
        ("  %a = sitofp i64 %b to bfloat", None),
        ("  %a = call <4 x i1> @llvm.ctlz.v4i1(<4 x i1> %b, i1 false)", "@llvm.ctlz.v4i1"),
        ("  %a = call <4 x i16> @llvm.ctlz.v4i16(<4 x i16> %b, i1 false)", None),
        (
            "  %a = call <8 x bfloat> @llvm.masked.load.v8bf16.p0(ptr %p, i32 2, <8 x i1> %m, "
            "<8 x bfloat> %b)",
            "@llvm.masked.load.v8bf16",
        ),
        ("  %a = trunc <3 x i64> %b to <3 x i8>", "a vector of 3 elements"),
        ("  %a = trunc <4 x i64> %b to <4 x i8>", None),
        ("  %a = load { i64, [3 x i64] }, ptr %p", None),
    ],
)
def test_hazards_of_code_generation_for_aarch64(text: str, hazard: str | None) -> None:
    assert next(allowlist_llvm.aarch64_hazards(text), None) == hazard


def test_attributes_that_a_hook_gives_to_a_wrapper_are_looked_at() -> None:
    """LLVM refuses always_inline beside noinline, and MLIR does not."""

    def hook(module: Any) -> None:
        attach_ffi_func(module, "f", [spec.Var("n", "int32")], providers.DirectCallProvider("k"))
        for operation in module.body.operations:
            if str(operation.operation.attributes["sym_name"]) == '"__tvm_ffi_f"':
                unit = import_module("torch_mlir.ir").Attribute.parse("unit", module.context)
                operation.operation.attributes["always_inline"] = unit

    with pytest.raises(CompileError, match="Translating the module to LLVM IR failed"):
        runtime.compile("llvm.func @k(%a: i32) { llvm.return }", post_compile_hooks=[hook])
