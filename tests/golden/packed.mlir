llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_packed("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_packed(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-a368c103", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.icmp "eq" %arg2, %0 : i32
  llvm.cond_br %1, ^bb1, ^bb16(%arg2 : i32)
^bb1:  // pred: ^bb0
  %2 = llvm.mlir.zero : !llvm.ptr
  %3 = llvm.icmp "ne" %arg1, %2 : !llvm.ptr
  llvm.cond_br %3, ^bb2, ^bb15
^bb2:  // pred: ^bb1
  %4 = llvm.load %arg1 : !llvm.ptr -> i32
  %5 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %6 = llvm.load %5 : !llvm.ptr -> !llvm.ptr
  %7 = llvm.mlir.constant(70 : i32) : i32
  %8 = llvm.icmp "eq" %4, %7 : i32
  llvm.cond_br %8 weights([2000, 1]), ^bb3(%6 : !llvm.ptr), ^bb17
^bb3(%9: !llvm.ptr):  // 2 preds: ^bb2, ^bb17
  %10 = llvm.mlir.zero : !llvm.ptr
  %11 = llvm.icmp "ne" %9, %10 : !llvm.ptr
  llvm.cond_br %11, ^bb4, ^bb15
^bb4:  // pred: ^bb3
  %12 = llvm.getelementptr %9[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %13 = llvm.load %12 : !llvm.ptr -> i64
  %14 = llvm.mlir.constant(567421014376450 : i64) : i64
  %15 = llvm.icmp "eq" %13, %14 : i64
  llvm.cond_br %15, ^bb5, ^bb15
^bb5:  // pred: ^bb4
  %16 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %17 = llvm.load %16 : !llvm.ptr -> i64
  %18 = llvm.trunc %17 : i64 to i32
  %19 = llvm.mlir.constant(2 : i32) : i32
  %20 = llvm.icmp "eq" %18, %19 : i32
  llvm.cond_br %20, ^bb6, ^bb15
^bb6:  // pred: ^bb5
  %21 = llvm.getelementptr %9[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %22 = llvm.load %21 : !llvm.ptr -> !llvm.ptr
  %23 = llvm.mlir.zero : !llvm.ptr
  %24 = llvm.icmp "ne" %22, %23 : !llvm.ptr
  llvm.cond_br %24, ^bb7, ^bb15
^bb7:  // pred: ^bb6
  %25 = llvm.load %22 : !llvm.ptr -> i64
  %26 = llvm.getelementptr %22[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %27 = llvm.load %26 : !llvm.ptr -> i64
  %28 = llvm.mlir.constant(4611686018427387903 : i64) : i64
  %29 = llvm.add %27, %28 : i64
  %30 = llvm.mlir.constant(9223372036854775806 : i64) : i64
  %31 = llvm.icmp "ule" %29, %30 : i64
  llvm.cond_br %31, ^bb8, ^bb15
^bb8:  // pred: ^bb7
  %32 = llvm.mlir.constant(2 : i64) : i64
  %33 = llvm.mul %27, %32 : i64
  %34 = llvm.getelementptr %9[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %35 = llvm.load %34 : !llvm.ptr -> !llvm.ptr
  %36 = llvm.mlir.zero : !llvm.ptr
  %37 = llvm.icmp "ne" %35, %36 : !llvm.ptr
  llvm.cond_br %37 weights([2000, 1]), ^bb9, ^bb18
^bb9:  // pred: ^bb8
  %38 = llvm.load %35 : !llvm.ptr -> i64
  %39 = llvm.getelementptr %35[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %40 = llvm.load %39 : !llvm.ptr -> i64
  llvm.br ^bb10(%38, %40 : i64, i64)
^bb10(%41: i64, %42: i64):  // 2 preds: ^bb9, ^bb18
  %43 = llvm.mlir.constant(1 : i64) : i64
  %44 = llvm.icmp "eq" %42, %43 : i64
  llvm.cond_br %44 weights([2000, 1]), ^bb11, ^bb19
^bb11:  // 2 preds: ^bb10, ^bb19
  %45 = llvm.getelementptr %9[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %46 = llvm.load %45 : !llvm.ptr -> !llvm.ptr
  %47 = llvm.getelementptr %9[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %48 = llvm.load %47 : !llvm.ptr -> i64
  %49 = llvm.getelementptr %46[%48] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %50 = llvm.icmp "uge" %49, %46 : !llvm.ptr
  llvm.cond_br %50, ^bb12, ^bb15
^bb12:  // pred: ^bb11
  %51 = llvm.mlir.zero : !llvm.ptr
  %52 = llvm.icmp "ne" %46, %51 : !llvm.ptr
  llvm.cond_br %52 weights([2000, 1]), ^bb13, ^bb20
^bb13:  // 2 preds: ^bb12, ^bb20
  %53 = llvm.or %25, %27 : i64
  %54 = llvm.mlir.constant(2147483648 : i64) : i64
  %55 = llvm.icmp "ult" %53, %54 : i64
  llvm.cond_br %55 weights([2000, 1]), ^bb14, ^bb21
^bb14:  // 2 preds: ^bb13, ^bb21
  %56 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %56, %arg3 : i64, !llvm.ptr
  %57 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %56, %57 : i64, !llvm.ptr
  %58 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %58 : i32
^bb15:  // 10 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb7, ^bb11, ^bb19, ^bb20, ^bb21
  %59 = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^bb16(%59 : i32)
^bb16(%60: i32):  // 2 preds: ^bb0, ^bb15
  %61 = llvm.mlir.addressof @__ffi_builder_table_packed : !llvm.ptr
  %62 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %60, %61) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %62 : i32
^bb17:  // pred: ^bb2
  %63 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%63 : !llvm.ptr)
^bb18:  // pred: ^bb8
  %64 = llvm.mlir.constant(0 : i64) : i64
  %65 = llvm.call preserve_mostcc @__ffi_builder_shared_row_major_DIGEST(%9, %64) : (!llvm.ptr, i64) -> i64
  %66 = llvm.mlir.constant(1 : i64) : i64
  %67 = llvm.call preserve_mostcc @__ffi_builder_shared_row_major_DIGEST(%9, %66) : (!llvm.ptr, i64) -> i64
  llvm.br ^bb10(%65, %67 : i64, i64)
^bb19:  // pred: ^bb10
  %68 = llvm.mlir.constant(1 : i64) : i64
  %69 = llvm.call preserve_mostcc @__ffi_builder_shared_free_stride_DIGEST(%9, %68) : (!llvm.ptr, i64) -> i1
  llvm.cond_br %69, ^bb11, ^bb15
^bb20:  // pred: ^bb12
  %70 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %70, ^bb13, ^bb15
^bb21:  // pred: ^bb13
  %71 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %71, ^bb14, ^bb15
}
