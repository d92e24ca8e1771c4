llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_scalar("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_scalar(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-80983a7a", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %0, %arg3 : i64, !llvm.ptr
  %1 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %0, %1 : i64, !llvm.ptr
  %2 = llvm.mlir.constant(1 : i32) : i32
  %3 = llvm.icmp "eq" %arg2, %2 : i32
  llvm.cond_br %3, ^bb1, ^bb5
^bb1:  // pred: ^bb0
  %4 = llvm.mlir.zero : !llvm.ptr
  %5 = llvm.icmp "ne" %arg1, %4 : !llvm.ptr
  llvm.cond_br %5, ^bb2, ^bb5
^bb2:  // pred: ^bb1
  %6 = llvm.load %arg1 : !llvm.ptr -> i32
  %7 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %8 = llvm.load %7 : !llvm.ptr -> i64
  %9 = llvm.mlir.constant(1 : i32) : i32
  %10 = llvm.sub %6, %9 : i32
  %11 = llvm.mlir.constant(2 : i32) : i32
  %12 = llvm.icmp "ult" %10, %11 : i32
  llvm.cond_br %12, ^bb3, ^bb5
^bb3:  // pred: ^bb2
  %13 = llvm.trunc %8 : i64 to i32
  %14 = llvm.sext %13 : i32 to i64
  %15 = llvm.icmp "eq" %14, %8 : i64
  llvm.cond_br %15, ^bb4, ^bb5
^bb4:  // pred: ^bb3
  %16 = llvm.trunc %8 : i64 to i32
  llvm.call @callee(%16) : (i32) -> ()
  %17 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %17 : i32
^bb5:  // 4 preds: ^bb0, ^bb1, ^bb2, ^bb3
  %18 = llvm.mlir.addressof @__ffi_builder_table_scalar : !llvm.ptr
  %19 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %arg2, %18) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %19 : i32
}
