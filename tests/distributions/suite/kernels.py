"""Kernels in the LLVM dialect, as every version of it reads them."""

from __future__ import annotations

from typing import Final

AXPB: Final = """
llvm.func @kernel(%a: i32, %x: f64, %negate: i1, %out: !llvm.ptr) {
  %wide = llvm.sitofp %a : i32 to f64
  %product = llvm.fmul %wide, %x : f64
  %negated = llvm.fneg %product : f64
  %result = llvm.select %negate, %negated, %product : i1, f64
  llvm.store %result, %out : f64, !llvm.ptr
  llvm.return
}"""

MATMUL: Final = """
llvm.func @kernel(%params: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %none = llvm.mlir.constant(0.0 : f32) : f32
  %at_b = llvm.getelementptr %params[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %at_c = llvm.getelementptr %params[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %pa = llvm.load %params : !llvm.ptr -> !llvm.ptr
  %pb = llvm.load %at_b : !llvm.ptr -> !llvm.ptr
  %pc = llvm.load %at_c : !llvm.ptr -> !llvm.ptr
  %sa = llvm.load %pa : !llvm.ptr -> !llvm.struct<(ptr, i64, i64, i64)>
  %sb = llvm.load %pb : !llvm.ptr -> !llvm.struct<(ptr, i64, i64)>
  %sc = llvm.load %pc : !llvm.ptr -> !llvm.struct<(ptr, i64, i64)>
  %A = llvm.extractvalue %sa[0] : !llvm.struct<(ptr, i64, i64, i64)>
  %n = llvm.extractvalue %sa[1] : !llvm.struct<(ptr, i64, i64, i64)>
  %k = llvm.extractvalue %sa[2] : !llvm.struct<(ptr, i64, i64, i64)>
  %pitch = llvm.extractvalue %sa[3] : !llvm.struct<(ptr, i64, i64, i64)>
  %B = llvm.extractvalue %sb[0] : !llvm.struct<(ptr, i64, i64)>
  %m = llvm.extractvalue %sb[2] : !llvm.struct<(ptr, i64, i64)>
  %C = llvm.extractvalue %sc[0] : !llvm.struct<(ptr, i64, i64)>
  llvm.br ^rows(%zero : i64)
^rows(%i: i64):
  %more_rows = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more_rows, ^columns(%zero : i64), ^done
^columns(%j: i64):
  %more_columns = llvm.icmp "slt" %j, %m : i64
  %next_i = llvm.add %i, %one : i64
  llvm.cond_br %more_columns, ^products(%zero, %none : i64, f32), ^rows(%next_i : i64)
^products(%l: i64, %sum: f32):
  %more = llvm.icmp "slt" %l, %k : i64
  llvm.cond_br %more, ^product, ^store
^product:
  %row = llvm.mul %i, %pitch : i64
  %index_a = llvm.add %row, %l : i64
  %row_b = llvm.mul %l, %m : i64
  %index_b = llvm.add %row_b, %j : i64
  %address_a = llvm.getelementptr %A[%index_a] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %address_b = llvm.getelementptr %B[%index_b] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %a = llvm.load %address_a : !llvm.ptr -> f32
  %b = llvm.load %address_b : !llvm.ptr -> f32
  %ab = llvm.fmul %a, %b : f32
  %sum_ab = llvm.fadd %sum, %ab : f32
  %next_l = llvm.add %l, %one : i64
  llvm.br ^products(%next_l, %sum_ab : i64, f32)
^store:
  %row_c = llvm.mul %i, %m : i64
  %index_c = llvm.add %row_c, %j : i64
  %address_c = llvm.getelementptr %C[%index_c] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %sum, %address_c : f32, !llvm.ptr
  %next_j = llvm.add %j, %one : i64
  llvm.br ^columns(%next_j : i64)
^done:
  llvm.return
}"""

SCALE_LAST: Final = """
llvm.func @kernel(%x: !llvm.struct<(ptr, i64)>, %factor: f32) {
  %data = llvm.extractvalue %x[0] : !llvm.struct<(ptr, i64)>
  %size = llvm.extractvalue %x[1] : !llvm.struct<(ptr, i64)>
  %one = llvm.mlir.constant(1 : i64) : i64
  %last = llvm.sub %size, %one : i64
  %at = llvm.getelementptr %data[%last] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %old = llvm.load %at : !llvm.ptr -> f32
  %new = llvm.fmul %old, %factor : f32
  llvm.store %new, %at : f32, !llvm.ptr
  llvm.return
}"""

KINDS: Final = """
llvm.func @kernel(%mask: !llvm.ptr, %alpha: f32, %act: i8, %label: !llvm.ptr, %length: i64,
                  %out: !llvm.ptr) {
  %null = llvm.mlir.zero : !llvm.ptr
  %minus_one = llvm.mlir.constant(-1 : i64) : i64
  %absent = llvm.icmp "eq" %mask, %null : !llvm.ptr
  llvm.cond_br %absent, ^join(%minus_one : i64), ^there
^there:
  %first = llvm.load %mask : !llvm.ptr -> i8
  %first_wide = llvm.sext %first : i8 to i64
  llvm.br ^join(%first_wide : i64)
^join(%zeroth: i64):
  llvm.store %zeroth, %out : i64, !llvm.ptr
  %at1 = llvm.getelementptr %out[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %truncated = llvm.fptosi %alpha : f32 to i64
  llvm.store %truncated, %at1 : i64, !llvm.ptr
  %at2 = llvm.getelementptr %out[2] : (!llvm.ptr) -> !llvm.ptr, i64
  %chosen = llvm.sext %act : i8 to i64
  llvm.store %chosen, %at2 : i64, !llvm.ptr
  %at3 = llvm.getelementptr %out[3] : (!llvm.ptr) -> !llvm.ptr, i64
  %letter = llvm.load %label : !llvm.ptr -> i8
  %code = llvm.zext %letter : i8 to i64
  %sum = llvm.add %code, %length : i64
  llvm.store %sum, %at3 : i64, !llvm.ptr
  llvm.return
}"""

NESTED: Final = """
llvm.func @kernel(%a: !llvm.struct<(ptr, struct<(struct<(i64, i64)>, i64)>)>, %factor: i32,
                  %out: !llvm.ptr) {
  %data = llvm.extractvalue %a[0] : !llvm.struct<(ptr, struct<(struct<(i64, i64)>, i64)>)>
  %stride = llvm.extractvalue %a[1, 1] : !llvm.struct<(ptr, struct<(struct<(i64, i64)>, i64)>)>
  %at = llvm.getelementptr %data[%stride] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %value = llvm.load %at : !llvm.ptr -> i32
  %result = llvm.mul %value, %factor : i32
  llvm.store %result, %out : i32, !llvm.ptr
  llvm.return
}"""

POINTERS: Final = """
llvm.func @kernel(%n: i64, %pointer: !llvm.ptr, %stream: !llvm.ptr, %out: !llvm.ptr) {
  llvm.store %n, %out : i64, !llvm.ptr
  %at1 = llvm.getelementptr %out[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %pointer, %at1 : !llvm.ptr, !llvm.ptr
  %at2 = llvm.getelementptr %out[2] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %stream, %at2 : !llvm.ptr, !llvm.ptr
  llvm.return
}"""

MEMREF: Final = """
llvm.func @kernel(%allocated: !llvm.ptr, %aligned: !llvm.ptr, %offset: i64, %size0: i64,
                  %size1: i64, %stride0: i64, %stride1: i64, %value: f32) {
  %sum = llvm.add %stride0, %stride1 : i64
  %at = llvm.getelementptr %aligned[%sum] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %value, %at : f32, !llvm.ptr
  llvm.return
}"""

DESCRIPTOR: Final = """
llvm.func @_mlir_ciface_kernel(%x: !llvm.ptr, %value: f32) {
  %read = llvm.load %x
    : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  %aligned = llvm.extractvalue %read[1]
    : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  %stride0 = llvm.extractvalue %read[4, 0]
    : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  %at = llvm.getelementptr %aligned[%stride0] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %value, %at : f32, !llvm.ptr
  llvm.return
}"""

STATUS: Final = """
llvm.func @kernel(%code: i32) -> i32 {
  llvm.return %code : i32
}"""

NUMBERS: Final = """
llvm.func @kernel(%big: i64, %half: f16, %brain: bf16, %out: !llvm.ptr) {
  llvm.store %big, %out : i64, !llvm.ptr
  %at1 = llvm.getelementptr %out[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %half_bits = llvm.bitcast %half : f16 to i16
  %half_wide = llvm.zext %half_bits : i16 to i64
  llvm.store %half_wide, %at1 : i64, !llvm.ptr
  %at2 = llvm.getelementptr %out[2] : (!llvm.ptr) -> !llvm.ptr, i64
  %brain_bits = llvm.bitcast %brain : bf16 to i16
  %brain_wide = llvm.zext %brain_bits : i16 to i64
  llvm.store %brain_wide, %at2 : i64, !llvm.ptr
  llvm.return
}"""

# `alignment` in generic form: of the custom one, IREE's version reads no attribute that the older
# ones print.
VECTORS: Final = """
llvm.func @kernel(%x: !llvm.ptr, %y: !llvm.ptr) {
  %four = "llvm.load"(%x) <{alignment = 4 : i64, ordering = 0 : i64}>
    : (!llvm.ptr) -> vector<4xf32>
  %wide = llvm.fpext %four : vector<4xf32> to vector<4xf64>
  %twice = llvm.fadd %wide, %wide : vector<4xf64>
  %narrow = llvm.fptrunc %twice : vector<4xf64> to vector<4xf32>
  %turned = llvm.shufflevector %narrow, %narrow [3, 2, 1, 0] : vector<4xf32>
  "llvm.store"(%turned, %y) <{alignment = 4 : i64, ordering = 0 : i64}>
    : (vector<4xf32>, !llvm.ptr) -> ()
  llvm.return
}"""

SPREAD: Final = """
llvm.func @kernel(%x: !llvm.ptr, %y: !llvm.ptr, %size: i64) -> !llvm.struct<(i64, f32)> {
  %first = llvm.load %x : !llvm.ptr -> f32
  %twice = llvm.fadd %first, %first : f32
  llvm.store %twice, %y : f32, !llvm.ptr
  %none = llvm.mlir.undef : !llvm.struct<(i64, f32)>
  %one = llvm.insertvalue %size, %none[0] : !llvm.struct<(i64, f32)>
  %both = llvm.insertvalue %first, %one[1] : !llvm.struct<(i64, f32)>
  llvm.return %both : !llvm.struct<(i64, f32)>
}"""

PTX: Final = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(.param .u32 n, .param .f64 ratio)
{
  ret;
}
"""

LOOP: Final = """
llvm.func @kernel(%x: !llvm.ptr, %n: i32, %factor: f32) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  scf.for %i = %zero to %n step %one : i32 {
    %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %old = llvm.load %at : !llvm.ptr -> f32
    %new = llvm.fmul %old, %factor : f32
    llvm.store %new, %at : f32, !llvm.ptr
  }
  llvm.return
}"""

LINALG: Final = """
func.func @kernel(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  return
}"""
