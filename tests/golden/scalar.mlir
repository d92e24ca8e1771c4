llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_scalar("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_scalar(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-3ea5eaee", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.icmp "eq" %arg2, %0 : i32
  llvm.cond_br %1, ^bb1, ^bb6(%arg2 : i32)
^bb1:  // pred: ^bb0
  %2 = llvm.mlir.zero : !llvm.ptr
  %3 = llvm.icmp "ne" %arg1, %2 : !llvm.ptr
  llvm.cond_br %3, ^bb2, ^bb5
^bb2:  // pred: ^bb1
  %4 = llvm.load %arg1 : !llvm.ptr -> i32
  %5 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %6 = llvm.load %5 : !llvm.ptr -> i64
  %7 = llvm.mlir.constant(1 : i32) : i32
  %8 = llvm.sub %4, %7 : i32
  %9 = llvm.mlir.constant(2 : i32) : i32
  %10 = llvm.icmp "ult" %8, %9 : i32
  llvm.cond_br %10, ^bb3, ^bb5
^bb3:  // pred: ^bb2
  %11 = llvm.trunc %6 : i64 to i32
  %12 = llvm.sext %11 : i32 to i64
  %13 = llvm.icmp "eq" %12, %6 : i64
  llvm.cond_br %13, ^bb4, ^bb5
^bb4:  // pred: ^bb3
  %14 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %14, %arg3 : i64, !llvm.ptr
  %15 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %14, %15 : i64, !llvm.ptr
  %16 = llvm.trunc %6 : i64 to i32
  llvm.call @callee(%16) : (i32) -> ()
  %17 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %17 : i32
^bb5:  // 3 preds: ^bb1, ^bb2, ^bb3
  %18 = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^bb6(%18 : i32)
^bb6(%19: i32):  // 2 preds: ^bb0, ^bb5
  %20 = llvm.mlir.addressof @__ffi_builder_table_scalar : !llvm.ptr
  %21 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %19, %20) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %21 : i32
}
