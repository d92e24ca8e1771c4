llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_choice("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_choice(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(2 : i32) : i32
  %1 = llvm.alloca %0 x !llvm.ptr : (i32) -> !llvm.ptr
  %2 = llvm.mlir.constant(1 : i32) : i32
  %3 = llvm.alloca %2 x !llvm.struct<(ptr, i64)> : (i32) -> !llvm.ptr
  %4 = llvm.mlir.constant(1 : i32) : i32
  %5 = llvm.alloca %4 x !llvm.struct<(i8)> : (i32) -> !llvm.ptr
  %6 = llvm.mlir.constant(2 : i32) : i32
  %7 = llvm.alloca %6 x i64 : (i32) -> !llvm.ptr
  %8 = llvm.mlir.constant(1 : i32) : i32
  %9 = llvm.alloca %8 x i64 : (i32) -> !llvm.ptr
  %10 = llvm.mlir.constant(2 : i32) : i32
  %11 = llvm.alloca %10 x i64 : (i32) -> !llvm.ptr
  %12 = llvm.mlir.constant(2 : i32) : i32
  %13 = llvm.icmp "eq" %arg2, %12 : i32
  llvm.cond_br %13, ^bb1, ^bb7(%arg2 : i32)
^bb1:  // pred: ^bb0
  %14 = llvm.mlir.zero : !llvm.ptr
  %15 = llvm.icmp "ne" %arg1, %14 : !llvm.ptr
  llvm.cond_br %15, ^bb2, ^bb6
^bb2:  // pred: ^bb1
  %16 = llvm.mlir.constant(0 : i32) : i32
  %17 = llvm.call preserve_mostcc @__ffi_builder_shared_text_DIGEST(%arg1, %16, %11) : (!llvm.ptr, i32, !llvm.ptr) -> i1
  llvm.cond_br %17, ^bb3, ^bb6
^bb3:  // pred: ^bb2
  %18 = llvm.getelementptr %11[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %19 = llvm.load %18 : !llvm.ptr -> i64
  %20 = llvm.load %11 : !llvm.ptr -> !llvm.ptr
  %21 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %22 = llvm.call preserve_mostcc @__ffi_builder_shared_choose_DIGEST(%11, %21, %9) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i1
  llvm.cond_br %22, ^bb4, ^bb6
^bb4:  // pred: ^bb3
  %23 = llvm.load %9 : !llvm.ptr -> i64
  %24 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %25 = llvm.mlir.constant(0 : i32) : i32
  %26 = llvm.call preserve_mostcc @__ffi_builder_shared_text_DIGEST(%24, %25, %7) : (!llvm.ptr, i32, !llvm.ptr) -> i1
  llvm.cond_br %26, ^bb5, ^bb6
^bb5:  // pred: ^bb4
  %27 = llvm.getelementptr %7[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %28 = llvm.load %27 : !llvm.ptr -> i64
  %29 = llvm.load %7 : !llvm.ptr -> !llvm.ptr
  %30 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %30, %arg3 : i64, !llvm.ptr
  %31 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %30, %31 : i64, !llvm.ptr
  %32 = llvm.trunc %23 : i64 to i8
  llvm.store %32, %5 : i8, !llvm.ptr
  llvm.store %29, %3 : !llvm.ptr, !llvm.ptr
  %33 = llvm.getelementptr %3[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i64)>
  llvm.store %28, %33 : i64, !llvm.ptr
  llvm.store %5, %1 : !llvm.ptr, !llvm.ptr
  %34 = llvm.getelementptr %1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %3, %34 : !llvm.ptr, !llvm.ptr
  llvm.call @callee(%1) : (!llvm.ptr) -> ()
  %35 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %35 : i32
^bb6:  // 4 preds: ^bb1, ^bb2, ^bb3, ^bb4
  %36 = llvm.mlir.constant(2 : i32) : i32
  llvm.br ^bb7(%36 : i32)
^bb7(%37: i32):  // 2 preds: ^bb0, ^bb6
  %38 = llvm.mlir.addressof @__ffi_builder_table_choice : !llvm.ptr
  %39 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %37, %38) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %39 : i32
}
