llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_strides("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_strides(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-26e2bb42", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.alloca %0 x !llvm.ptr : (i32) -> !llvm.ptr
  %2 = llvm.mlir.constant(1 : i32) : i32
  %3 = llvm.alloca %2 x !llvm.struct<(ptr, i32, i64, i64)> : (i32) -> !llvm.ptr
  %4 = llvm.mlir.constant(2 : i32) : i32
  %5 = llvm.alloca %4 x i64 : (i32) -> !llvm.ptr
  %6 = llvm.mlir.constant(1 : i32) : i32
  %7 = llvm.icmp "eq" %arg2, %6 : i32
  llvm.cond_br %7, ^bb1, ^bb18(%arg2 : i32)
^bb1:  // pred: ^bb0
  %8 = llvm.mlir.zero : !llvm.ptr
  %9 = llvm.icmp "ne" %arg1, %8 : !llvm.ptr
  llvm.cond_br %9, ^bb2, ^bb17
^bb2:  // pred: ^bb1
  %10 = llvm.load %arg1 : !llvm.ptr -> i32
  %11 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %12 = llvm.load %11 : !llvm.ptr -> !llvm.ptr
  %13 = llvm.mlir.constant(70 : i32) : i32
  %14 = llvm.icmp "eq" %10, %13 : i32
  llvm.cond_br %14 weights([2000, 1]), ^bb3(%12 : !llvm.ptr), ^bb19
^bb3(%15: !llvm.ptr):  // 2 preds: ^bb2, ^bb19
  %16 = llvm.mlir.zero : !llvm.ptr
  %17 = llvm.icmp "ne" %15, %16 : !llvm.ptr
  llvm.cond_br %17, ^bb4, ^bb17
^bb4:  // pred: ^bb3
  %18 = llvm.getelementptr %15[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %19 = llvm.load %18 : !llvm.ptr -> i64
  %20 = llvm.mlir.constant(299084342624258 : i64) : i64
  %21 = llvm.icmp "eq" %19, %20 : i64
  llvm.cond_br %21, ^bb5, ^bb17
^bb5:  // pred: ^bb4
  %22 = llvm.getelementptr %15[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %23 = llvm.load %22 : !llvm.ptr -> i64
  %24 = llvm.trunc %23 : i64 to i32
  %25 = llvm.mlir.constant(1 : i32) : i32
  %26 = llvm.icmp "eq" %24, %25 : i32
  llvm.cond_br %26, ^bb6, ^bb17
^bb6:  // pred: ^bb5
  %27 = llvm.getelementptr %15[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %28 = llvm.load %27 : !llvm.ptr -> !llvm.ptr
  %29 = llvm.mlir.zero : !llvm.ptr
  %30 = llvm.icmp "ne" %28, %29 : !llvm.ptr
  llvm.cond_br %30, ^bb7, ^bb17
^bb7:  // pred: ^bb6
  %31 = llvm.load %28 : !llvm.ptr -> i64
  %32 = llvm.mlir.constant(2147483647 : i64) : i64
  %33 = llvm.icmp "ule" %31, %32 : i64
  llvm.cond_br %33, ^bb8, ^bb17
^bb8:  // pred: ^bb7
  %34 = llvm.mlir.constant(8 : i64) : i64
  %35 = llvm.icmp "sge" %31, %34 : i64
  llvm.cond_br %35, ^bb9, ^bb17
^bb9:  // pred: ^bb8
  %36 = llvm.mlir.constant(4096 : i64) : i64
  %37 = llvm.icmp "sle" %31, %36 : i64
  llvm.cond_br %37, ^bb10, ^bb17
^bb10:  // pred: ^bb9
  %38 = llvm.mlir.constant(7 : i64) : i64
  %39 = llvm.and %31, %38 : i64
  %40 = llvm.mlir.constant(0 : i64) : i64
  %41 = llvm.icmp "eq" %39, %40 : i64
  llvm.cond_br %41, ^bb11, ^bb17
^bb11:  // pred: ^bb10
  %42 = llvm.getelementptr %28[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %43 = llvm.load %42 : !llvm.ptr -> i64
  %44 = llvm.getelementptr %15[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %45 = llvm.load %44 : !llvm.ptr -> !llvm.ptr
  %46 = llvm.mlir.zero : !llvm.ptr
  %47 = llvm.icmp "ne" %45, %46 : !llvm.ptr
  llvm.cond_br %47 weights([2000, 1]), ^bb12(%45 : !llvm.ptr), ^bb20
^bb12(%48: !llvm.ptr):  // 2 preds: ^bb11, ^bb20
  %49 = llvm.getelementptr %48[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %50 = llvm.load %49 : !llvm.ptr -> i64
  %51 = llvm.mlir.constant(1 : i64) : i64
  %52 = llvm.icmp "eq" %50, %51 : i64
  llvm.cond_br %52 weights([2000, 1]), ^bb13, ^bb21
^bb13:  // 2 preds: ^bb12, ^bb21
  %53 = llvm.getelementptr %15[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %54 = llvm.load %53 : !llvm.ptr -> !llvm.ptr
  %55 = llvm.getelementptr %15[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %56 = llvm.load %55 : !llvm.ptr -> i64
  %57 = llvm.getelementptr %54[%56] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %58 = llvm.getelementptr %54[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %59 = llvm.icmp "ult" %58, %57 : !llvm.ptr
  llvm.cond_br %59 weights([2000, 1]), ^bb14, ^bb22
^bb14:  // 2 preds: ^bb13, ^bb22
  %60 = llvm.ptrtoint %57 : !llvm.ptr to i64
  %61 = llvm.mlir.constant(15 : i64) : i64
  %62 = llvm.and %60, %61 : i64
  %63 = llvm.mlir.constant(0 : i64) : i64
  %64 = llvm.icmp "eq" %62, %63 : i64
  llvm.cond_br %64 weights([2000, 1]), ^bb15, ^bb23
^bb15:  // 2 preds: ^bb14, ^bb23
  %65 = llvm.or %31, %43 : i64
  %66 = llvm.mlir.constant(2147483647 : i64) : i64
  %67 = llvm.icmp "ule" %65, %66 : i64
  llvm.cond_br %67 weights([2000, 1]), ^bb16, ^bb24
^bb16:  // 2 preds: ^bb15, ^bb24
  %68 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %68, %arg3 : i64, !llvm.ptr
  %69 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %68, %69 : i64, !llvm.ptr
  %70 = llvm.trunc %31 : i64 to i32
  %71 = llvm.load %48 : !llvm.ptr -> i64
  %72 = llvm.mlir.constant(1 : i64) : i64
  llvm.store %57, %3 : !llvm.ptr, !llvm.ptr
  %73 = llvm.getelementptr %3[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i32, i64, i64)>
  llvm.store %70, %73 : i32, !llvm.ptr
  %74 = llvm.getelementptr %3[0, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i32, i64, i64)>
  llvm.store %43, %74 : i64, !llvm.ptr
  %75 = llvm.getelementptr %3[0, 3] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i32, i64, i64)>
  llvm.store %71, %75 : i64, !llvm.ptr
  llvm.store %3, %1 : !llvm.ptr, !llvm.ptr
  llvm.call @callee(%1) : (!llvm.ptr) -> ()
  %76 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %76 : i32
^bb17:  // 13 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb7, ^bb8, ^bb9, ^bb10, ^bb21, ^bb22, ^bb23, ^bb24
  %77 = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^bb18(%77 : i32)
^bb18(%78: i32):  // 2 preds: ^bb0, ^bb17
  %79 = llvm.mlir.addressof @__ffi_builder_table_strides : !llvm.ptr
  %80 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %78, %79) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %80 : i32
^bb19:  // pred: ^bb2
  %81 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%81 : !llvm.ptr)
^bb20:  // pred: ^bb11
  %82 = llvm.call preserve_mostcc @__ffi_builder_shared_row_major_strides_DIGEST(%15, %5) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr
  llvm.br ^bb12(%82 : !llvm.ptr)
^bb21:  // pred: ^bb12
  %83 = llvm.mlir.constant(1 : i64) : i64
  %84 = llvm.call preserve_mostcc @__ffi_builder_shared_free_stride_DIGEST(%15, %83) : (!llvm.ptr, i64) -> i1
  llvm.cond_br %84, ^bb13, ^bb17
^bb22:  // pred: ^bb13
  %85 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%15) : (!llvm.ptr) -> i1
  llvm.cond_br %85, ^bb14, ^bb17
^bb23:  // pred: ^bb14
  %86 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%15) : (!llvm.ptr) -> i1
  llvm.cond_br %86, ^bb15, ^bb17
^bb24:  // pred: ^bb15
  %87 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%15) : (!llvm.ptr) -> i1
  llvm.cond_br %87, ^bb16, ^bb17
}
