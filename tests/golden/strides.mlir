llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_strides("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_strides(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-db36bdf9", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.alloca %0 x !llvm.ptr : (i32) -> !llvm.ptr
  %2 = llvm.mlir.constant(1 : i32) : i32
  %3 = llvm.alloca %2 x !llvm.struct<(ptr, i32, i64, i64)> : (i32) -> !llvm.ptr
  %4 = llvm.mlir.constant(2 : i32) : i32
  %5 = llvm.alloca %4 x i64 : (i32) -> !llvm.ptr
  %6 = llvm.mlir.constant(1 : i32) : i32
  %7 = llvm.icmp "eq" %arg2, %6 : i32
  llvm.cond_br %7, ^bb1, ^bb17(%arg2 : i32)
^bb1:  // pred: ^bb0
  %8 = llvm.mlir.zero : !llvm.ptr
  %9 = llvm.icmp "ne" %arg1, %8 : !llvm.ptr
  llvm.cond_br %9, ^bb2, ^bb16
^bb2:  // pred: ^bb1
  %10 = llvm.load %arg1 : !llvm.ptr -> i32
  %11 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %12 = llvm.load %11 : !llvm.ptr -> !llvm.ptr
  %13 = llvm.mlir.constant(70 : i32) : i32
  %14 = llvm.icmp "eq" %10, %13 : i32
  llvm.cond_br %14 weights([2000, 1]), ^bb3(%12 : !llvm.ptr), ^bb18
^bb3(%15: !llvm.ptr):  // 2 preds: ^bb2, ^bb18
  %16 = llvm.mlir.zero : !llvm.ptr
  %17 = llvm.icmp "ne" %15, %16 : !llvm.ptr
  llvm.cond_br %17, ^bb4, ^bb16
^bb4:  // pred: ^bb3
  %18 = llvm.getelementptr %15[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %19 = llvm.load %18 : !llvm.ptr -> i32
  %20 = llvm.zext %19 : i32 to i64
  %21 = llvm.mlir.constant(1 : i64) : i64
  %22 = llvm.xor %20, %21 : i64
  %23 = llvm.getelementptr %15[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %24 = llvm.load %23 : !llvm.ptr -> i64
  %25 = llvm.mlir.constant(299084342624258 : i64) : i64
  %26 = llvm.xor %24, %25 : i64
  %27 = llvm.or %26, %22 : i64
  %28 = llvm.mlir.constant(0 : i64) : i64
  %29 = llvm.icmp "eq" %27, %28 : i64
  llvm.cond_br %29, ^bb5, ^bb16
^bb5:  // pred: ^bb4
  %30 = llvm.getelementptr %15[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %31 = llvm.load %30 : !llvm.ptr -> i64
  %32 = llvm.getelementptr %15[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %33 = llvm.load %32 : !llvm.ptr -> !llvm.ptr
  %34 = llvm.mlir.zero : !llvm.ptr
  %35 = llvm.icmp "ne" %33, %34 : !llvm.ptr
  llvm.cond_br %35, ^bb6, ^bb16
^bb6:  // pred: ^bb5
  %36 = llvm.load %33 : !llvm.ptr -> i64
  %37 = llvm.mlir.constant(2147483647 : i64) : i64
  %38 = llvm.icmp "ule" %36, %37 : i64
  llvm.cond_br %38, ^bb7, ^bb16
^bb7:  // pred: ^bb6
  %39 = llvm.mlir.constant(8 : i64) : i64
  %40 = llvm.icmp "sge" %36, %39 : i64
  llvm.cond_br %40, ^bb8, ^bb16
^bb8:  // pred: ^bb7
  %41 = llvm.mlir.constant(4096 : i64) : i64
  %42 = llvm.icmp "sle" %36, %41 : i64
  llvm.cond_br %42, ^bb9, ^bb16
^bb9:  // pred: ^bb8
  %43 = llvm.mlir.constant(7 : i64) : i64
  %44 = llvm.and %36, %43 : i64
  %45 = llvm.mlir.constant(0 : i64) : i64
  %46 = llvm.icmp "eq" %44, %45 : i64
  llvm.cond_br %46, ^bb10, ^bb16
^bb10:  // pred: ^bb9
  %47 = llvm.getelementptr %33[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %48 = llvm.load %47 : !llvm.ptr -> i64
  %49 = llvm.getelementptr %15[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %50 = llvm.load %49 : !llvm.ptr -> !llvm.ptr
  %51 = llvm.mlir.zero : !llvm.ptr
  %52 = llvm.icmp "ne" %50, %51 : !llvm.ptr
  llvm.cond_br %52 weights([2000, 1]), ^bb11(%50 : !llvm.ptr), ^bb19
^bb11(%53: !llvm.ptr):  // 2 preds: ^bb10, ^bb19
  %54 = llvm.getelementptr %53[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %55 = llvm.load %54 : !llvm.ptr -> i64
  %56 = llvm.mlir.constant(1 : i64) : i64
  %57 = llvm.icmp "eq" %55, %56 : i64
  llvm.cond_br %57 weights([2000, 1]), ^bb12, ^bb20
^bb12:  // 2 preds: ^bb11, ^bb20
  %58 = llvm.getelementptr %15[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %59 = llvm.load %58 : !llvm.ptr -> !llvm.ptr
  %60 = llvm.getelementptr %15[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %61 = llvm.load %60 : !llvm.ptr -> i64
  %62 = llvm.getelementptr %59[%61] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %63 = llvm.getelementptr %59[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %64 = llvm.icmp "ult" %63, %62 : !llvm.ptr
  llvm.cond_br %64 weights([2000, 1]), ^bb13, ^bb21
^bb13:  // 2 preds: ^bb12, ^bb21
  %65 = llvm.ptrtoint %62 : !llvm.ptr to i64
  %66 = llvm.mlir.constant(15 : i64) : i64
  %67 = llvm.and %65, %66 : i64
  %68 = llvm.mlir.constant(0 : i64) : i64
  %69 = llvm.icmp "eq" %67, %68 : i64
  llvm.cond_br %69 weights([2000, 1]), ^bb14, ^bb22
^bb14:  // 2 preds: ^bb13, ^bb22
  %70 = llvm.or %36, %48 : i64
  %71 = llvm.mlir.constant(2147483647 : i64) : i64
  %72 = llvm.icmp "ule" %70, %71 : i64
  llvm.cond_br %72 weights([2000, 1]), ^bb15, ^bb23
^bb15:  // 2 preds: ^bb14, ^bb23
  %73 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %73, %arg3 : i64, !llvm.ptr
  %74 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %73, %74 : i64, !llvm.ptr
  %75 = llvm.trunc %36 : i64 to i32
  %76 = llvm.load %53 : !llvm.ptr -> i64
  %77 = llvm.mlir.constant(1 : i64) : i64
  llvm.store %62, %3 : !llvm.ptr, !llvm.ptr
  %78 = llvm.getelementptr %3[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i32, i64, i64)>
  llvm.store %75, %78 : i32, !llvm.ptr
  %79 = llvm.getelementptr %3[0, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i32, i64, i64)>
  llvm.store %48, %79 : i64, !llvm.ptr
  %80 = llvm.getelementptr %3[0, 3] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i32, i64, i64)>
  llvm.store %76, %80 : i64, !llvm.ptr
  llvm.store %3, %1 : !llvm.ptr, !llvm.ptr
  llvm.call @callee(%1) : (!llvm.ptr) -> ()
  %81 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %81 : i32
^bb16:  // 12 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb7, ^bb8, ^bb9, ^bb20, ^bb21, ^bb22, ^bb23
  %82 = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^bb17(%82 : i32)
^bb17(%83: i32):  // 2 preds: ^bb0, ^bb16
  %84 = llvm.mlir.addressof @__ffi_builder_table_strides : !llvm.ptr
  %85 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %83, %84) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %85 : i32
^bb18:  // pred: ^bb2
  %86 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%86 : !llvm.ptr)
^bb19:  // pred: ^bb10
  %87 = llvm.call preserve_mostcc @__ffi_builder_shared_row_major_strides_DIGEST(%15, %5) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr
  llvm.br ^bb11(%87 : !llvm.ptr)
^bb20:  // pred: ^bb11
  %88 = llvm.mlir.constant(1 : i64) : i64
  %89 = llvm.call preserve_mostcc @__ffi_builder_shared_free_stride_DIGEST(%15, %88) : (!llvm.ptr, i64) -> i1
  llvm.cond_br %89, ^bb12, ^bb16
^bb21:  // pred: ^bb12
  %90 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%15) : (!llvm.ptr) -> i1
  llvm.cond_br %90, ^bb13, ^bb16
^bb22:  // pred: ^bb13
  %91 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%15) : (!llvm.ptr) -> i1
  llvm.cond_br %91, ^bb14, ^bb16
^bb23:  // pred: ^bb14
  %92 = llvm.mlir.constant(1 : i32) : i32
  %93 = llvm.mlir.addressof @__ffi_builder_table_strides : !llvm.ptr
  %94 = llvm.call preserve_mostcc @__ffi_builder_shared_nothing_is_wrong_DIGEST(%arg1, %92, %93) : (!llvm.ptr, i32, !llvm.ptr) -> i1
  llvm.cond_br %94, ^bb15, ^bb16
}
