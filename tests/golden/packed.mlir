llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_packed("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_packed(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-cc50a6b6", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(2 : i32) : i32
  %1 = llvm.alloca %0 x i64 : (i32) -> !llvm.ptr
  %2 = llvm.mlir.constant(1 : i32) : i32
  %3 = llvm.icmp "eq" %arg2, %2 : i32
  llvm.cond_br %3, ^bb1, ^bb14(%arg2 : i32)
^bb1:  // pred: ^bb0
  %4 = llvm.mlir.zero : !llvm.ptr
  %5 = llvm.icmp "ne" %arg1, %4 : !llvm.ptr
  llvm.cond_br %5, ^bb2, ^bb13
^bb2:  // pred: ^bb1
  %6 = llvm.load %arg1 : !llvm.ptr -> i32
  %7 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %8 = llvm.load %7 : !llvm.ptr -> !llvm.ptr
  %9 = llvm.mlir.constant(70 : i32) : i32
  %10 = llvm.icmp "eq" %6, %9 : i32
  llvm.cond_br %10 weights([2000, 1]), ^bb3(%8 : !llvm.ptr), ^bb15
^bb3(%11: !llvm.ptr):  // 2 preds: ^bb2, ^bb15
  %12 = llvm.mlir.zero : !llvm.ptr
  %13 = llvm.icmp "ne" %11, %12 : !llvm.ptr
  llvm.cond_br %13, ^bb4, ^bb13
^bb4:  // pred: ^bb3
  %14 = llvm.getelementptr %11[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %15 = llvm.load %14 : !llvm.ptr -> i64
  %16 = llvm.mlir.constant(567421014376450 : i64) : i64
  %17 = llvm.icmp "eq" %15, %16 : i64
  llvm.cond_br %17, ^bb5, ^bb13
^bb5:  // pred: ^bb4
  %18 = llvm.getelementptr %11[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %19 = llvm.load %18 : !llvm.ptr -> i64
  %20 = llvm.trunc %19 : i64 to i32
  %21 = llvm.mlir.constant(2 : i32) : i32
  %22 = llvm.icmp "eq" %20, %21 : i32
  llvm.cond_br %22, ^bb6, ^bb13
^bb6:  // pred: ^bb5
  %23 = llvm.getelementptr %11[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %24 = llvm.load %23 : !llvm.ptr -> !llvm.ptr
  %25 = llvm.mlir.zero : !llvm.ptr
  %26 = llvm.icmp "ne" %24, %25 : !llvm.ptr
  llvm.cond_br %26, ^bb7, ^bb13
^bb7:  // pred: ^bb6
  %27 = llvm.load %24 : !llvm.ptr -> i64
  %28 = llvm.getelementptr %24[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %29 = llvm.load %28 : !llvm.ptr -> i64
  %30 = llvm.mlir.constant(4611686018427387903 : i64) : i64
  %31 = llvm.add %29, %30 : i64
  %32 = llvm.mlir.constant(9223372036854775806 : i64) : i64
  %33 = llvm.icmp "ule" %31, %32 : i64
  llvm.cond_br %33, ^bb8, ^bb13
^bb8:  // pred: ^bb7
  %34 = llvm.mlir.constant(2 : i64) : i64
  %35 = llvm.mul %29, %34 : i64
  %36 = llvm.getelementptr %11[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %37 = llvm.load %36 : !llvm.ptr -> !llvm.ptr
  %38 = llvm.mlir.zero : !llvm.ptr
  %39 = llvm.icmp "ne" %37, %38 : !llvm.ptr
  llvm.cond_br %39 weights([2000, 1]), ^bb9(%37 : !llvm.ptr), ^bb16
^bb9(%40: !llvm.ptr):  // 2 preds: ^bb8, ^bb16
  %41 = llvm.getelementptr %40[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %42 = llvm.load %41 : !llvm.ptr -> i64
  %43 = llvm.mlir.constant(1 : i64) : i64
  %44 = llvm.icmp "eq" %42, %43 : i64
  llvm.cond_br %44 weights([2000, 1]), ^bb10, ^bb17
^bb10:  // 2 preds: ^bb9, ^bb17
  %45 = llvm.getelementptr %11[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %46 = llvm.load %45 : !llvm.ptr -> !llvm.ptr
  %47 = llvm.getelementptr %11[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %48 = llvm.load %47 : !llvm.ptr -> i64
  %49 = llvm.getelementptr %46[%48] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %50 = llvm.getelementptr %46[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %51 = llvm.icmp "ult" %50, %49 : !llvm.ptr
  llvm.cond_br %51 weights([2000, 1]), ^bb11, ^bb18
^bb11:  // 2 preds: ^bb10, ^bb18
  %52 = llvm.or %27, %29 : i64
  %53 = llvm.mlir.constant(2147483647 : i64) : i64
  %54 = llvm.icmp "ule" %52, %53 : i64
  llvm.cond_br %54 weights([2000, 1]), ^bb12, ^bb19
^bb12:  // 2 preds: ^bb11, ^bb19
  %55 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %55, %arg3 : i64, !llvm.ptr
  %56 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %55, %56 : i64, !llvm.ptr
  %57 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %57 : i32
^bb13:  // 9 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb7, ^bb17, ^bb18, ^bb19
  %58 = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^bb14(%58 : i32)
^bb14(%59: i32):  // 2 preds: ^bb0, ^bb13
  %60 = llvm.mlir.addressof @__ffi_builder_table_packed : !llvm.ptr
  %61 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %59, %60) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %61 : i32
^bb15:  // pred: ^bb2
  %62 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%62 : !llvm.ptr)
^bb16:  // pred: ^bb8
  %63 = llvm.call preserve_mostcc @__ffi_builder_shared_row_major_strides_DIGEST(%11, %1) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr
  llvm.br ^bb9(%63 : !llvm.ptr)
^bb17:  // pred: ^bb9
  %64 = llvm.mlir.constant(1 : i64) : i64
  %65 = llvm.call preserve_mostcc @__ffi_builder_shared_free_stride_DIGEST(%11, %64) : (!llvm.ptr, i64) -> i1
  llvm.cond_br %65, ^bb10, ^bb13
^bb18:  // pred: ^bb10
  %66 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%11) : (!llvm.ptr) -> i1
  llvm.cond_br %66, ^bb11, ^bb13
^bb19:  // pred: ^bb11
  %67 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%11) : (!llvm.ptr) -> i1
  llvm.cond_br %67, ^bb12, ^bb13
}
