llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_strides("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_strides(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-abf57beb", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.alloca %0 x !llvm.ptr : (i32) -> !llvm.ptr
  %2 = llvm.mlir.constant(1 : i32) : i32
  %3 = llvm.alloca %2 x !llvm.struct<(ptr, i32, i64, i64)> : (i32) -> !llvm.ptr
  %4 = llvm.mlir.constant(1 : i32) : i32
  %5 = llvm.icmp "eq" %arg2, %4 : i32
  llvm.cond_br %5, ^bb1, ^bb20(%arg2 : i32)
^bb1:  // pred: ^bb0
  %6 = llvm.mlir.zero : !llvm.ptr
  %7 = llvm.icmp "ne" %arg1, %6 : !llvm.ptr
  llvm.cond_br %7, ^bb2, ^bb19
^bb2:  // pred: ^bb1
  %8 = llvm.load %arg1 : !llvm.ptr -> i32
  %9 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %10 = llvm.load %9 : !llvm.ptr -> !llvm.ptr
  %11 = llvm.mlir.constant(70 : i32) : i32
  %12 = llvm.icmp "eq" %8, %11 : i32
  llvm.cond_br %12 weights([2000, 1]), ^bb3(%10 : !llvm.ptr), ^bb21
^bb3(%13: !llvm.ptr):  // 2 preds: ^bb2, ^bb21
  %14 = llvm.mlir.zero : !llvm.ptr
  %15 = llvm.icmp "ne" %13, %14 : !llvm.ptr
  llvm.cond_br %15, ^bb4, ^bb19
^bb4:  // pred: ^bb3
  %16 = llvm.getelementptr %13[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %17 = llvm.load %16 : !llvm.ptr -> i64
  %18 = llvm.mlir.constant(299084342624258 : i64) : i64
  %19 = llvm.icmp "eq" %17, %18 : i64
  llvm.cond_br %19, ^bb5, ^bb19
^bb5:  // pred: ^bb4
  %20 = llvm.getelementptr %13[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %21 = llvm.load %20 : !llvm.ptr -> i64
  %22 = llvm.trunc %21 : i64 to i32
  %23 = llvm.mlir.constant(1 : i32) : i32
  %24 = llvm.icmp "eq" %22, %23 : i32
  llvm.cond_br %24, ^bb6, ^bb19
^bb6:  // pred: ^bb5
  %25 = llvm.getelementptr %13[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %26 = llvm.load %25 : !llvm.ptr -> !llvm.ptr
  %27 = llvm.mlir.zero : !llvm.ptr
  %28 = llvm.icmp "ne" %26, %27 : !llvm.ptr
  llvm.cond_br %28, ^bb7, ^bb19
^bb7:  // pred: ^bb6
  %29 = llvm.load %26 : !llvm.ptr -> i64
  %30 = llvm.mlir.constant(2147483647 : i64) : i64
  %31 = llvm.icmp "ule" %29, %30 : i64
  llvm.cond_br %31, ^bb8, ^bb19
^bb8:  // pred: ^bb7
  %32 = llvm.mlir.constant(8 : i64) : i64
  %33 = llvm.icmp "sge" %29, %32 : i64
  llvm.cond_br %33, ^bb9, ^bb19
^bb9:  // pred: ^bb8
  %34 = llvm.mlir.constant(4096 : i64) : i64
  %35 = llvm.icmp "sle" %29, %34 : i64
  llvm.cond_br %35, ^bb10, ^bb19
^bb10:  // pred: ^bb9
  %36 = llvm.mlir.constant(7 : i64) : i64
  %37 = llvm.and %29, %36 : i64
  %38 = llvm.mlir.constant(0 : i64) : i64
  %39 = llvm.icmp "eq" %37, %38 : i64
  llvm.cond_br %39, ^bb11, ^bb19
^bb11:  // pred: ^bb10
  %40 = llvm.getelementptr %26[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %41 = llvm.load %40 : !llvm.ptr -> i64
  %42 = llvm.getelementptr %13[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %43 = llvm.load %42 : !llvm.ptr -> !llvm.ptr
  %44 = llvm.mlir.zero : !llvm.ptr
  %45 = llvm.icmp "ne" %43, %44 : !llvm.ptr
  llvm.cond_br %45 weights([2000, 1]), ^bb12, ^bb22
^bb12:  // pred: ^bb11
  %46 = llvm.load %43 : !llvm.ptr -> i64
  %47 = llvm.getelementptr %43[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %48 = llvm.load %47 : !llvm.ptr -> i64
  llvm.br ^bb13(%46, %48 : i64, i64)
^bb13(%49: i64, %50: i64):  // 2 preds: ^bb12, ^bb22
  %51 = llvm.mlir.constant(1 : i64) : i64
  %52 = llvm.icmp "eq" %50, %51 : i64
  llvm.cond_br %52 weights([2000, 1]), ^bb14, ^bb23
^bb14:  // 2 preds: ^bb13, ^bb23
  %53 = llvm.getelementptr %13[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %54 = llvm.load %53 : !llvm.ptr -> !llvm.ptr
  %55 = llvm.getelementptr %13[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %56 = llvm.load %55 : !llvm.ptr -> i64
  %57 = llvm.getelementptr %54[%56] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %58 = llvm.icmp "uge" %57, %54 : !llvm.ptr
  llvm.cond_br %58, ^bb15, ^bb19
^bb15:  // pred: ^bb14
  %59 = llvm.mlir.zero : !llvm.ptr
  %60 = llvm.icmp "ne" %54, %59 : !llvm.ptr
  llvm.cond_br %60 weights([2000, 1]), ^bb16, ^bb24
^bb16:  // 2 preds: ^bb15, ^bb24
  %61 = llvm.ptrtoint %57 : !llvm.ptr to i64
  %62 = llvm.mlir.constant(15 : i64) : i64
  %63 = llvm.and %61, %62 : i64
  %64 = llvm.mlir.constant(0 : i64) : i64
  %65 = llvm.icmp "eq" %63, %64 : i64
  llvm.cond_br %65 weights([2000, 1]), ^bb17, ^bb25
^bb17:  // 2 preds: ^bb16, ^bb25
  %66 = llvm.or %29, %41 : i64
  %67 = llvm.mlir.constant(2147483648 : i64) : i64
  %68 = llvm.icmp "ult" %66, %67 : i64
  llvm.cond_br %68 weights([2000, 1]), ^bb18, ^bb26
^bb18:  // 2 preds: ^bb17, ^bb26
  %69 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %69, %arg3 : i64, !llvm.ptr
  %70 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %69, %70 : i64, !llvm.ptr
  %71 = llvm.trunc %29 : i64 to i32
  %72 = llvm.mlir.constant(1 : i64) : i64
  llvm.store %57, %3 : !llvm.ptr, !llvm.ptr
  %73 = llvm.getelementptr %3[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i32, i64, i64)>
  llvm.store %71, %73 : i32, !llvm.ptr
  %74 = llvm.getelementptr %3[0, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i32, i64, i64)>
  llvm.store %41, %74 : i64, !llvm.ptr
  %75 = llvm.getelementptr %3[0, 3] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i32, i64, i64)>
  llvm.store %49, %75 : i64, !llvm.ptr
  llvm.store %3, %1 : !llvm.ptr, !llvm.ptr
  llvm.call @callee(%1) : (!llvm.ptr) -> ()
  %76 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %76 : i32
^bb19:  // 14 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb7, ^bb8, ^bb9, ^bb10, ^bb14, ^bb23, ^bb24, ^bb25, ^bb26
  %77 = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^bb20(%77 : i32)
^bb20(%78: i32):  // 2 preds: ^bb0, ^bb19
  %79 = llvm.mlir.addressof @__ffi_builder_table_strides : !llvm.ptr
  %80 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %78, %79) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %80 : i32
^bb21:  // pred: ^bb2
  %81 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%81 : !llvm.ptr)
^bb22:  // pred: ^bb11
  %82 = llvm.mlir.constant(0 : i64) : i64
  %83 = llvm.call preserve_mostcc @__ffi_builder_shared_row_major_DIGEST(%13, %82) : (!llvm.ptr, i64) -> i64
  %84 = llvm.mlir.constant(1 : i64) : i64
  %85 = llvm.call preserve_mostcc @__ffi_builder_shared_row_major_DIGEST(%13, %84) : (!llvm.ptr, i64) -> i64
  llvm.br ^bb13(%83, %85 : i64, i64)
^bb23:  // pred: ^bb13
  %86 = llvm.mlir.constant(1 : i64) : i64
  %87 = llvm.call preserve_mostcc @__ffi_builder_shared_free_stride_DIGEST(%13, %86) : (!llvm.ptr, i64) -> i1
  llvm.cond_br %87, ^bb14, ^bb19
^bb24:  // pred: ^bb15
  %88 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%13) : (!llvm.ptr) -> i1
  llvm.cond_br %88, ^bb16, ^bb19
^bb25:  // pred: ^bb16
  %89 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%13) : (!llvm.ptr) -> i1
  llvm.cond_br %89, ^bb17, ^bb19
^bb26:  // pred: ^bb17
  %90 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%13) : (!llvm.ptr) -> i1
  llvm.cond_br %90, ^bb18, ^bb19
}
