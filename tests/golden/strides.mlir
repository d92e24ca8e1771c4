llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_strides("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_strides(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.alloca %0 x !llvm.ptr : (i32) -> !llvm.ptr
  %2 = llvm.mlir.constant(1 : i32) : i32
  %3 = llvm.alloca %2 x !llvm.struct<(ptr, i32, i64, i64)> : (i32) -> !llvm.ptr
  %4 = llvm.mlir.constant(2 : i32) : i32
  %5 = llvm.alloca %4 x i64 : (i32) -> !llvm.ptr
  %6 = llvm.mlir.constant(1 : i32) : i32
  %7 = llvm.icmp "eq" %arg2, %6 : i32
  llvm.cond_br %7, ^bb1, ^bb16(%arg2 : i32)
^bb1:  // pred: ^bb0
  %8 = llvm.mlir.zero : !llvm.ptr
  %9 = llvm.icmp "ne" %arg1, %8 : !llvm.ptr
  llvm.cond_br %9, ^bb2, ^bb15
^bb2:  // pred: ^bb1
  %10 = llvm.load %arg1 : !llvm.ptr -> i32
  %11 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %12 = llvm.load %11 : !llvm.ptr -> !llvm.ptr
  %13 = llvm.mlir.constant(70 : i32) : i32
  %14 = llvm.icmp "eq" %10, %13 : i32
  llvm.cond_br %14 weights([2000, 1]), ^bb3(%12 : !llvm.ptr), ^bb17
^bb3(%15: !llvm.ptr):  // 2 preds: ^bb2, ^bb17
  %16 = llvm.mlir.zero : !llvm.ptr
  %17 = llvm.icmp "ne" %15, %16 : !llvm.ptr
  llvm.cond_br %17, ^bb4, ^bb15
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
  llvm.cond_br %29, ^bb5, ^bb15
^bb5:  // pred: ^bb4
  %30 = llvm.getelementptr %15[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %31 = llvm.load %30 : !llvm.ptr -> i64
  %32 = llvm.getelementptr %15[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %33 = llvm.load %32 : !llvm.ptr -> !llvm.ptr
  %34 = llvm.mlir.zero : !llvm.ptr
  %35 = llvm.icmp "ne" %33, %34 : !llvm.ptr
  llvm.cond_br %35, ^bb6, ^bb15
^bb6:  // pred: ^bb5
  %36 = llvm.load %33 : !llvm.ptr -> i64
  %37 = llvm.mlir.constant(8 : i64) : i64
  %38 = llvm.icmp "sge" %36, %37 : i64
  llvm.cond_br %38, ^bb7, ^bb15
^bb7:  // pred: ^bb6
  %39 = llvm.mlir.constant(4096 : i64) : i64
  %40 = llvm.icmp "sle" %36, %39 : i64
  llvm.cond_br %40, ^bb8, ^bb15
^bb8:  // pred: ^bb7
  %41 = llvm.mlir.constant(7 : i64) : i64
  %42 = llvm.and %36, %41 : i64
  %43 = llvm.mlir.constant(0 : i64) : i64
  %44 = llvm.icmp "eq" %42, %43 : i64
  llvm.cond_br %44, ^bb9, ^bb15
^bb9:  // pred: ^bb8
  %45 = llvm.getelementptr %33[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %46 = llvm.load %45 : !llvm.ptr -> i64
  %47 = llvm.getelementptr %15[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %48 = llvm.load %47 : !llvm.ptr -> !llvm.ptr
  %49 = llvm.mlir.zero : !llvm.ptr
  %50 = llvm.icmp "ne" %48, %49 : !llvm.ptr
  llvm.cond_br %50 weights([2000, 1]), ^bb10(%48 : !llvm.ptr), ^bb18
^bb10(%51: !llvm.ptr):  // 2 preds: ^bb9, ^bb18
  %52 = llvm.getelementptr %51[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %53 = llvm.load %52 : !llvm.ptr -> i64
  %54 = llvm.mlir.constant(1 : i64) : i64
  %55 = llvm.icmp "eq" %53, %54 : i64
  llvm.cond_br %55 weights([2000, 1]), ^bb11, ^bb19
^bb11:  // 2 preds: ^bb10, ^bb19
  %56 = llvm.getelementptr %15[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %57 = llvm.load %56 : !llvm.ptr -> !llvm.ptr
  %58 = llvm.getelementptr %15[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %59 = llvm.load %58 : !llvm.ptr -> i64
  %60 = llvm.getelementptr %57[%59] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %61 = llvm.getelementptr %57[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %62 = llvm.icmp "ult" %61, %60 : !llvm.ptr
  llvm.cond_br %62 weights([2000, 1]), ^bb12, ^bb20
^bb12:  // 2 preds: ^bb11, ^bb20
  %63 = llvm.ptrtoint %60 : !llvm.ptr to i64
  %64 = llvm.mlir.constant(15 : i64) : i64
  %65 = llvm.and %63, %64 : i64
  %66 = llvm.mlir.constant(0 : i64) : i64
  %67 = llvm.icmp "eq" %65, %66 : i64
  llvm.cond_br %67 weights([2000, 1]), ^bb13, ^bb21
^bb13:  // 2 preds: ^bb12, ^bb21
  %68 = llvm.or %36, %46 : i64
  %69 = llvm.mlir.constant(2147483647 : i64) : i64
  %70 = llvm.icmp "ule" %68, %69 : i64
  llvm.cond_br %70 weights([2000, 1]), ^bb14, ^bb22
^bb14:  // 2 preds: ^bb13, ^bb22
  %71 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %71, %arg3 : i64, !llvm.ptr
  %72 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %71, %72 : i64, !llvm.ptr
  %73 = llvm.trunc %36 : i64 to i32
  %74 = llvm.load %51 : !llvm.ptr -> i64
  %75 = llvm.mlir.constant(1 : i64) : i64
  llvm.store %60, %3 : !llvm.ptr, !llvm.ptr
  %76 = llvm.getelementptr %3[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i32, i64, i64)>
  llvm.store %73, %76 : i32, !llvm.ptr
  %77 = llvm.getelementptr %3[0, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i32, i64, i64)>
  llvm.store %46, %77 : i64, !llvm.ptr
  %78 = llvm.getelementptr %3[0, 3] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i32, i64, i64)>
  llvm.store %74, %78 : i64, !llvm.ptr
  llvm.store %3, %1 : !llvm.ptr, !llvm.ptr
  llvm.call @callee(%1) : (!llvm.ptr) -> ()
  %79 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %79 : i32
^bb15:  // 11 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb7, ^bb8, ^bb19, ^bb20, ^bb21, ^bb22
  %80 = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^bb16(%80 : i32)
^bb16(%81: i32):  // 2 preds: ^bb0, ^bb15
  %82 = llvm.mlir.addressof @__ffi_builder_table_strides : !llvm.ptr
  %83 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %81, %82) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %83 : i32
^bb17:  // pred: ^bb2
  %84 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%84 : !llvm.ptr)
^bb18:  // pred: ^bb9
  %85 = llvm.call preserve_mostcc @__ffi_builder_shared_row_major_strides_DIGEST(%15, %5) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr
  llvm.br ^bb10(%85 : !llvm.ptr)
^bb19:  // pred: ^bb10
  %86 = llvm.mlir.constant(1 : i64) : i64
  %87 = llvm.call preserve_mostcc @__ffi_builder_shared_free_stride_DIGEST(%15, %86) : (!llvm.ptr, i64) -> i1
  llvm.cond_br %87, ^bb11, ^bb15
^bb20:  // pred: ^bb11
  %88 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%15) : (!llvm.ptr) -> i1
  llvm.cond_br %88, ^bb12, ^bb15
^bb21:  // pred: ^bb12
  %89 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%15) : (!llvm.ptr) -> i1
  llvm.cond_br %89, ^bb13, ^bb15
^bb22:  // pred: ^bb13
  %90 = llvm.mlir.constant(1 : i32) : i32
  %91 = llvm.mlir.addressof @__ffi_builder_table_strides : !llvm.ptr
  %92 = llvm.call preserve_mostcc @__ffi_builder_shared_nothing_is_wrong_DIGEST(%arg1, %90, %91) : (!llvm.ptr, i32, !llvm.ptr) -> i1
  llvm.cond_br %92, ^bb14, ^bb15
}
