llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_packed("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_packed(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(2 : i32) : i32
  %1 = llvm.alloca %0 x i64 : (i32) -> !llvm.ptr
  %2 = llvm.mlir.constant(1 : i32) : i32
  %3 = llvm.icmp "eq" %arg2, %2 : i32
  llvm.cond_br %3, ^bb1, ^bb13(%arg2 : i32)
^bb1:  // pred: ^bb0
  %4 = llvm.mlir.zero : !llvm.ptr
  %5 = llvm.icmp "ne" %arg1, %4 : !llvm.ptr
  llvm.cond_br %5, ^bb2, ^bb12
^bb2:  // pred: ^bb1
  %6 = llvm.load %arg1 : !llvm.ptr -> i32
  %7 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %8 = llvm.load %7 : !llvm.ptr -> !llvm.ptr
  %9 = llvm.mlir.constant(70 : i32) : i32
  %10 = llvm.icmp "eq" %6, %9 : i32
  llvm.cond_br %10 weights([2000, 1]), ^bb3(%8 : !llvm.ptr), ^bb14
^bb3(%11: !llvm.ptr):  // 2 preds: ^bb2, ^bb14
  %12 = llvm.mlir.zero : !llvm.ptr
  %13 = llvm.icmp "ne" %11, %12 : !llvm.ptr
  llvm.cond_br %13, ^bb4, ^bb12
^bb4:  // pred: ^bb3
  %14 = llvm.getelementptr %11[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %15 = llvm.load %14 : !llvm.ptr -> i32
  %16 = llvm.zext %15 : i32 to i64
  %17 = llvm.mlir.constant(2 : i64) : i64
  %18 = llvm.xor %16, %17 : i64
  %19 = llvm.getelementptr %11[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %20 = llvm.load %19 : !llvm.ptr -> i64
  %21 = llvm.mlir.constant(567421014376450 : i64) : i64
  %22 = llvm.xor %20, %21 : i64
  %23 = llvm.or %22, %18 : i64
  %24 = llvm.mlir.constant(0 : i64) : i64
  %25 = llvm.icmp "eq" %23, %24 : i64
  llvm.cond_br %25, ^bb5, ^bb12
^bb5:  // pred: ^bb4
  %26 = llvm.getelementptr %11[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %27 = llvm.load %26 : !llvm.ptr -> i64
  %28 = llvm.getelementptr %11[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %29 = llvm.load %28 : !llvm.ptr -> !llvm.ptr
  %30 = llvm.mlir.zero : !llvm.ptr
  %31 = llvm.icmp "ne" %29, %30 : !llvm.ptr
  llvm.cond_br %31, ^bb6, ^bb12
^bb6:  // pred: ^bb5
  %32 = llvm.load %29 : !llvm.ptr -> i64
  %33 = llvm.getelementptr %29[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %34 = llvm.load %33 : !llvm.ptr -> i64
  %35 = llvm.mlir.constant(4611686018427387903 : i64) : i64
  %36 = llvm.add %34, %35 : i64
  %37 = llvm.mlir.constant(9223372036854775806 : i64) : i64
  %38 = llvm.icmp "ule" %36, %37 : i64
  llvm.cond_br %38, ^bb7, ^bb12
^bb7:  // pred: ^bb6
  %39 = llvm.mlir.constant(2 : i64) : i64
  %40 = llvm.mul %34, %39 : i64
  %41 = llvm.getelementptr %11[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %42 = llvm.load %41 : !llvm.ptr -> !llvm.ptr
  %43 = llvm.mlir.zero : !llvm.ptr
  %44 = llvm.icmp "ne" %42, %43 : !llvm.ptr
  llvm.cond_br %44 weights([2000, 1]), ^bb8(%42 : !llvm.ptr), ^bb15
^bb8(%45: !llvm.ptr):  // 2 preds: ^bb7, ^bb15
  %46 = llvm.getelementptr %45[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %47 = llvm.load %46 : !llvm.ptr -> i64
  %48 = llvm.mlir.constant(1 : i64) : i64
  %49 = llvm.icmp "eq" %47, %48 : i64
  llvm.cond_br %49 weights([2000, 1]), ^bb9, ^bb16
^bb9:  // 2 preds: ^bb8, ^bb16
  %50 = llvm.getelementptr %11[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %51 = llvm.load %50 : !llvm.ptr -> !llvm.ptr
  %52 = llvm.getelementptr %11[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %53 = llvm.load %52 : !llvm.ptr -> i64
  %54 = llvm.getelementptr %51[%53] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %55 = llvm.getelementptr %51[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %56 = llvm.icmp "ult" %55, %54 : !llvm.ptr
  llvm.cond_br %56 weights([2000, 1]), ^bb10, ^bb17
^bb10:  // 2 preds: ^bb9, ^bb17
  %57 = llvm.or %32, %34 : i64
  %58 = llvm.mlir.constant(2147483647 : i64) : i64
  %59 = llvm.icmp "ule" %57, %58 : i64
  llvm.cond_br %59 weights([2000, 1]), ^bb11, ^bb18
^bb11:  // 2 preds: ^bb10, ^bb18
  %60 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %60, %arg3 : i64, !llvm.ptr
  %61 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %60, %61 : i64, !llvm.ptr
  %62 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %62 : i32
^bb12:  // 8 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb16, ^bb17, ^bb18
  %63 = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^bb13(%63 : i32)
^bb13(%64: i32):  // 2 preds: ^bb0, ^bb12
  %65 = llvm.mlir.addressof @__ffi_builder_table_packed : !llvm.ptr
  %66 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %64, %65) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %66 : i32
^bb14:  // pred: ^bb2
  %67 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%67 : !llvm.ptr)
^bb15:  // pred: ^bb7
  %68 = llvm.call preserve_mostcc @__ffi_builder_shared_row_major_strides_DIGEST(%11, %1) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr
  llvm.br ^bb8(%68 : !llvm.ptr)
^bb16:  // pred: ^bb8
  %69 = llvm.mlir.constant(1 : i64) : i64
  %70 = llvm.call preserve_mostcc @__ffi_builder_shared_free_stride_DIGEST(%11, %69) : (!llvm.ptr, i64) -> i1
  llvm.cond_br %70, ^bb9, ^bb12
^bb17:  // pred: ^bb9
  %71 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%11) : (!llvm.ptr) -> i1
  llvm.cond_br %71, ^bb10, ^bb12
^bb18:  // pred: ^bb10
  %72 = llvm.mlir.constant(1 : i32) : i32
  %73 = llvm.mlir.addressof @__ffi_builder_table_packed : !llvm.ptr
  %74 = llvm.call preserve_mostcc @__ffi_builder_shared_nothing_is_wrong_DIGEST(%arg1, %72, %73) : (!llvm.ptr, i32, !llvm.ptr) -> i1
  llvm.cond_br %74, ^bb11, ^bb12
}
