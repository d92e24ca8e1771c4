llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_scalar("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_scalar(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted", ["ffi-builder-metadata", "JSON"]]} {
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
  %8 = llvm.icmp "eq" %4, %7 : i32
  llvm.cond_br %8 weights([2000, 1]), ^bb3, ^bb7
^bb3:  // 2 preds: ^bb2, ^bb7
  %9 = llvm.trunc %6 : i64 to i32
  %10 = llvm.sext %9 : i32 to i64
  %11 = llvm.icmp "eq" %10, %6 : i64
  llvm.cond_br %11, ^bb4, ^bb5
^bb4:  // pred: ^bb3
  %12 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %12, %arg3 : i64, !llvm.ptr
  %13 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %12, %13 : i64, !llvm.ptr
  %14 = llvm.trunc %6 : i64 to i32
  llvm.call @callee(%14) : (i32) -> ()
  %15 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %15 : i32
^bb5:  // 3 preds: ^bb1, ^bb3, ^bb7
  %16 = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^bb6(%16 : i32)
^bb6(%17: i32):  // 2 preds: ^bb0, ^bb5
  %18 = llvm.mlir.addressof @__ffi_builder_table_scalar : !llvm.ptr
  %19 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %17, %18) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %19 : i32
^bb7:  // pred: ^bb2
  %20 = llvm.mlir.constant(2 : i32) : i32
  %21 = llvm.icmp "eq" %4, %20 : i32
  llvm.cond_br %21, ^bb3, ^bb5
}
