"""Which modules are compiled without the detour through a child process: those that MLIR's passes make."""

from __future__ import annotations

import platform
from importlib import import_module
from typing import Any

import pytest

from ffi_builder import attach_ffi_func, providers, runtime, spec
from ffi_builder.errors import CompileError
from ffi_builder.runtime.codegen import allowlist_llvm, allowlist_mlir, mlir

pytestmark = pytest.mark.slow  # most start a child process


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        ("llvm.func @f() attributes {optimize_none, no_inline} { llvm.return }", False),
        ('llvm.func @f() attributes {optimize_none, no_inline, passthrough = ["minsize"]} { llvm.return }', True),
        ("llvm.func @f(...)", False),
        ("llvm.func fastcc @f(...)", True),
        ("llvm.mlir.global external @f(1 : i64) {alignment = 64 : i64} : i64", False),
        ("llvm.mlir.global external @f(1 : i64) {alignment = 8589934592 : i64} : i64", True),
        ("llvm.mlir.global external @f(1 : i32) : !llvm.ptr", True),
        ("llvm.mlir.global external @f(1.0 : f32) : i64", True),
        ("llvm.func @llvm.sqrt.f64(i32)", True),
    ],
)  # fmt: skip
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


OF_MLIR = r"""
                          | %r = llvm.trunc %a : i64 to i16
                          | %r = llvm.load %p : !llvm.ptr -> i24
                          | %r = llvm.load %p : !llvm.ptr -> !llvm.struct<(i8, ptr, array<4 x f32>)>
                          | %r = llvm.load %p : !llvm.ptr -> !llvm.struct<"named", (i8, struct<"in", (i8)>)>
struct<"s">               | %r = llvm.load %p : !llvm.ptr -> !llvm.struct<"s", (i8, struct<"s">)>
!llvm.metadata            | %r = llvm.load %p : !llvm.ptr -> !llvm.metadata
                          | %r = llvm.alloca %a x !llvm.struct<(i8)> : (i64) -> !llvm.ptr
!llvm.void                | %r = llvm.alloca %a x !llvm.void : (i64) -> !llvm.ptr
a function as a value     | %r = llvm.alloca %a x !llvm.func<void (ptr, i64)> : (i64) -> !llvm.ptr
a function as a value     | %r = llvm.mlir.zero : !llvm.func<void (ptr, i64)>
                          | %r = llvm.mlir.zero : !llvm.ptr
                          | %r = llvm.inline_asm has_side_effects "nop", "" : () -> i32
                          | %r = llvm.add %a, %a {own.name = 1 : i64} : i64
nvvm.unknown              | %r = llvm.add %a, %a {nvvm.unknown} : i64
                          | %r = llvm.intr.powi(%x, %i) : (f64, i32) -> f64
                          | %r = llvm.intr.atan2(%x, %x) : (f64, f64) -> f64
                          | llvm.call @g(%a) : (i64) -> ()
                          | llvm.br ^next\n^next:
llvm.func @f              | llvm.br ^next\n^unreached:\nllvm.br ^next\n^next:
llvm.func @f              | llvm.br ^next\n^one:\nllvm.br ^two\n^two:\nllvm.br ^one\n^next:
omp.barrier               | omp.barrier
"""
TOP_LEVEL = """
                     | llvm.mlir.global internal @g(1 : i64) : i64
                     | llvm.mlir.global internal @g(dense<1> : tensor<4xi32>) : !llvm.array<4 x i32>
                     | llvm.mlir.global internal @g(#llvm.zero) : !llvm.struct<(i32)>
llvm.mlir.global @g  | llvm.mlir.global internal @g(dense<1> : tensor<4xi32>) : i64
llvm.mlir.global @g  | llvm.mlir.global internal @g([dense<1> : tensor<4xi32>]) : !llvm.struct<(i32)>
                     | module attributes {llvm.target_triple = "", llvm.ident = 1 : i64} {}
llvm.target_triple   | module attributes {llvm.target_triple = 1 : i64} {}
llvm.dependent_lib   | module attributes {llvm.dependent_libraries = 1 : i64} {}
llvm.mlir.constant   | %0 = llvm.mlir.constant(1 : i32) : i32
a resource           | llvm.mlir.global internal @g(dense_resource<no> : tensor<4xf32>) : !llvm.array<4 x f32>
"""


def rows(table: str) -> list[tuple[str | None, str]]:
    """Hazards and texts, of a table with lines such as `hazard | text`."""
    cells = [line.partition(" | ") for line in table.strip("\n").split("\n")]
    return [
        (hazard.strip() or None, text.replace("\\n", "\n").replace("\\r", "\r"))
        for hazard, _, text in cells
    ]


def is_as_expected(actual: str | None, hazard: str | None) -> bool:
    return actual == hazard if hazard is None else (actual or "").startswith(hazard)


@pytest.mark.parametrize(("hazard", "text"), [*rows(OF_MLIR), *rows(TOP_LEVEL)])
def test_hazards_of_translation(hazard: str | None, text: str) -> None:
    before = "%x = llvm.sitofp %a : i64 to f64\n%i = llvm.trunc %a : i64 to i32\n"
    if (hazard, text) in rows(OF_MLIR):
        text = f"llvm.func @f(%p: !llvm.ptr, %a: i64) {{\n{before}{text}\nllvm.return\n}}\nllvm.func @g(i64)"
    actual = allowlist_mlir.translation_hazard(mlir.parse(text).operation)
    assert is_as_expected(actual, hazard), actual


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


HARMLESS = r"""
define fastcc void @f() { ret void }
define void @f() "ffi-builder-trusted-dcc9172a" section ".text" { ret void }
; asm gc\n; Function Attrs: allockind("alloc")\ndefine void @f() { ret void } ; musttail
@plasma = global i8 0
@g = global ptr getelementptr (i8, ptr @h, i64 8)
@g = common global i32 0
@g = global [9 x i8] c"asm \22 gc;\00"
@g = global <8 x i64> splat (i64 1)
@g = internal global [100000 x i8] zeroinitializer
@llvm.global_ctors = appending global [0 x ptr] []
%t = type { i8, [4 x i8] }
declare double @llvm.sqrt.f64(double)
declare <4 x double> @llvm.sqrt.v4f64(<4 x double>)
declare double @llvm.powi.f64.i32(double, i32)
attributes #0 = { "target-cpu"="ours" "tune-cpu"="generic" }
attributes #0 = { "target-features"="+avx,+sse2" "frame-pointer"="all" }
!llvm.module.flags = !{!0}\n!0 = !{i32 1, !"PIC Level", i32 2}
  %a = add i60 %b, %c
  %a = load i32, ptr %p, align 4
  %a = load i32, ptr addrspace(1) %p
  %a = load atomic i64, ptr %p seq_cst, align 8
  %a = atomicrmw add ptr %p, i32 %b seq_cst, align 4
  %a = load <256 x i8>, ptr %p
  %a = load { ptr, ptr, i64, [4 x i64], [4 x i64] }, ptr %p
  %a = load [8 x [8 x i8]], ptr %p
  %a = alloca [100000 x i8], i64 1, align 16
  %a = alloca { ptr, i64, i64 }, i64 1, align 8
  %a = getelementptr [100000 x i8], ptr %p, i64 %n
  %a = uitofp i128 %x to half
  %a = fadd <8 x float> %b, splat (float 0x3FB99999A0000000)
  %a = add <8 x i64> %b, splat (i64 -1)
  %a = call <4 x i8> @llvm.masked.load.v4i8.p0(ptr align 4 %p, <4 x i1> %m, i8 %v)
  br label %a, !llvm.loop !0\n!0 = !{!1}\n!1 = !{!"llvm.loop.unroll.count", i32 4}
!1 = !{!"llvm.loop.unroll.disable"}
!1 = !{!"llvm.loop.estimated_trip_count", i32 4}
"""
HAZARDS = r"""
cc                           | define cc 99 void @f() { ret void }
cc99                         | define cc99 void @f() { ret void }
x86_intrcc                   | define x86_intrcc void @f(ptr %p) { ret void }
"trusted-dcc9172a"           | define void @f() "trusted-dcc9172a" { ret void }
asm                          | module asm "nop"
asm"                         | module asm"nop"
asm                          | ; a comment\rmodule asm x
;                            | ; "\nmodule asm x\n; "
a quote                      | @g = global i8 0 "
#0gc"                        | define void @f() #0gc"odd" { ret void }
section "x"                  | @g = global i32 0, section "x"
ptrtoint in @g               | @g = global i64 ptrtoint (ptr @f to i64)
a vector of addresses in @g  | @g = global <2 x ptr> getelementptr (i8, <2 x ptr> undef, i64 4)
define in @g                 | @g = internal global i8 0 define void @f([9999 x i8] %a) { ret void }
type in @g                   | @g = internal global i8 0 %t = type [9999 x i8]
appending @odd               | @odd = appending global [0 x ptr] []
@odd =                       | @odd =\nappending global [0 x ptr] zeroinitializer
a type in `@g = internal     | @g = internal global [9223372036854775807 x i64] zeroinitializer
a type in `declare           | declare <999 x double> @llvm.sqrt.v999f64(<999 x double>)
llvm.x86.tilezero            | declare void @llvm.x86.tilezero(i8)
@llvm.powi.f64.i64           | declare double @llvm.powi.f64.i64(double, i64)
@llvm.smul.with.overflow.v8  | declare { <8 x i32>, <8 x i1> } @llvm.smul.with.overflow.v8i32(<8 x i32>, <8 x i32>)
@llvm.masked.load.v4i8.p0    |   %a = call <4 x i8> @llvm.masked.load.v4i8.p0(ptr %p, i32 3, <4 x i1> %m, ptr %v)
@llvm.masked.gather.v4i8     |   %a = call <4 x i8> @llvm.masked.gather.v4i8.v4p0(<4 x ptr> %p, i32 3, <4 x i1> %m, ptr %v)
"target-cpu"="theirs"        | attributes #0 = { "target-cpu"="theirs" }
"target-features"="+a        | attributes #0 = { "target-features"="+avx,-sse2" }
"frame-pointer"="some"       | attributes #0 = { "frame-pointer"="some" }
"stack-probe-size"="x"       | attributes #0 = { "stack-probe-size"="x" }
alignstack                   | attributes #0 = { nounwind alignstack(4) }
!0 = !{i32 1, !"odd"         | !llvm.module.flags = !{!0}\n!0 = !{i32 1, !"odd", i32 2}
i65                          |   %a = add i65 %b, %c
i65                          |   %a = add <8 x i65> %b, splat (i65 -1)
align 4294967296             |   %a = load i32, ptr %p, align 4294967296
addrspace(270)               |   %a = load i32, ptr addrspace(270) %p
atomicrmw fadd               |   %a = atomicrmw fadd ptr %p, <3 x float> %b seq_cst
atomicrmw fadd               |   %a = atomicrmw fadd ptr addrspace(1) %p, half %b seq_cst
cmpxchg                      |   %a = cmpxchg weak volatile ptr %p, i128 %b, i128 %c seq_cst seq_cst
atomic i128                  |   %a = load atomic i128, ptr %p seq_cst, align 16
atomic half                  |   store atomic half %a, ptr %p seq_cst, align 2
a type in `% = load <65536   |   %a = load <65536 x i8>, ptr %p
a type                       |   %a = load < 65536 x i8>, ptr %p
vscale                       |   %a = load <vscale x 4 x i8>, ptr %p
a type in `% = load [64 x    |   %a = load [64 x [64 x i8]], ptr %p
a type in `% = load [3 x {   |   %a = load [3 x { i8 }], ptr %p
a type in `% = type { i8, %  | %t = type { i8, %u }
a type in `% = uitofp <256   |   %a = uitofp <256 x i128> %x to <256 x half>
a type in `% = fadd <999     |   %a = fadd <999 x float> %b, splat (float 1.0)
alloca i8, i64 100000000     |   %a = alloca i8, i64 100000000
alloca i8, i64 -1            |   %a = alloca i8, i64 -1
alloca i8, i64 %             |   %a = alloca i8, i64 %n
alloca i8, i64 undef         |   %a = alloca i8, i64 undef
%=alloca                     |   %q=alloca i8,i64 -1
, i64 -1                     |   %q = alloca i64\n, i64 -1
@f([9999                     | define void\n@f([9999 x i8] %a) { ret void }
!1 = !{!"llvm.loop.unroll    | !1 = !{!"llvm.loop.unroll.count", float 4.0}
!1 = !{!"llvm.loop.unroll    | !1 = !{!"llvm.loop.unroll.count"}
!1 = !{!"llvm.loop.peeled    | !1 = !{!"llvm.loop.peeled.count", i32 poison}
!0 = !{null, null            |   store i8 0, ptr %p, !tbaa !0\n!0 = !{null, null, i64 0}
%7asm                        |   %7asm = add i64 %3, %4
%7"                          |   call void %7"asm"()
%4294967295                  |   %4294967295 = add i64 %3, %4
4294967295:                  | 4294967295:
!4294967295                  |   ret void, !dbg !4294967295
"""
LONG = {
    "": f"@g = global {60 * '[1 x '}i8{60 * ']'} undef",
    "brackets nested too deep": f"@g = global {200 * '[1 x '}i8{200 * ']'} undef",
    "brackets": f"!0 = {200 * '!{'}{200 * '}'}",
    "9" * 5000: f"  %a = load i32, ptr %p, align {5000 * '9'}",
    "a type in": f"  %a = load {{{','.join(9999 * ['i64'])}}}, ptr %p",
}
USUAL = """
  %{0} = add i64 %{1}, %{1}
  %{0} = load atomic i64, ptr %{1} seq_cst, align 8
  store i64 %{0}, ptr addrspace(1) %{1}, align 4
  %{0} = add <8 x i64> %{0}, %{1}
"""


@pytest.mark.parametrize(
    ("hazard", "text"),
    [
        *((None, text) for _, text in rows(" | " + HARMLESS.strip("\n").replace("\n", "\n | "))),
        *rows(HAZARDS),
        *((hazard or None, text) for hazard, text in LONG.items()),
    ],
)
def test_hazards_of_code_generation(hazard: str | None, text: str) -> None:
    """Also among many lines, of which those that differ only in numbers are looked at once."""
    usual = "".join(USUAL.format(i, i + 1) for i in range(500))
    for whole in (text, f"define void @f() {{{usual}\n}}\n{text}"):
        actual = allowlist_llvm.codegen_hazard(whole, "ours", "+avx,+sse2,-avx512f")
        assert is_as_expected(actual, hazard), actual


@pytest.mark.parametrize(
    ("text", "is_odd"),
    [
        ("  %a = sitofp i128 %b to bfloat", True),
        ("  %a = uitofp nneg i128 %b to bfloat", True),
        ("  %a = uitofp i128 %b to float", False),
        ("  %a = sitofp i64 %b to bfloat", False),
        ("  %a = call <4 x i1> @llvm.ctlz.v4i1(<4 x i1> %b, i1 false)", True),
        ("  %a = call <4 x i16> @llvm.ctlz.v4i16(<4 x i16> %b, i1 false)", False),
        ("  %a = call <8 x bfloat> @llvm.masked.load.v8bf16.p0(ptr %p, <8 x i1> %m)", True),
        ("  %a = lshr exact i1 %b, false", True),
        ("  %a = shl nuw nsw i16 %b, 1", False),
        ("  %a = trunc <3 x i64> %b to <3 x i8>", True),
        ("  %a = trunc <4 x i64> %b to <4 x i8>", False),
        ("  %a = load { i64, [3 x i64] }, ptr %p", False),
        ("define coldcc void @f() { ret void }", True),
        ("define preserve_mostcc void @f() { ret void }", False),
    ],
)
def test_hazards_of_code_generation_for_aarch64(text: str, is_odd: bool) -> None:
    assert (allowlist_llvm.ODD_FOR_AARCH64.search(text) is not None) == is_odd
    if platform.machine() != "aarch64":
        assert allowlist_llvm.codegen_hazard(text, "", "") is None
