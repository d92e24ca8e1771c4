llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_stream("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_stream(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.alloca %0 x i64 : (i32) -> !llvm.ptr
  %2 = llvm.mlir.constant(3 : i32) : i32
  %3 = llvm.icmp "eq" %arg2, %2 : i32
  llvm.cond_br %3, ^bb1, ^bb15(%arg2 : i32)
^bb1:  // pred: ^bb0
  %4 = llvm.mlir.zero : !llvm.ptr
  %5 = llvm.icmp "ne" %arg1, %4 : !llvm.ptr
  llvm.cond_br %5, ^bb2, ^bb14
^bb2:  // pred: ^bb1
  %6 = llvm.load %arg1 : !llvm.ptr -> i32
  %7 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %8 = llvm.load %7 : !llvm.ptr -> i64
  %9 = llvm.mlir.constant(4 : i32) : i32
  %10 = llvm.icmp "eq" %6, %9 : i32
  llvm.cond_br %10 weights([2000, 1]), ^bb3(%8 : i64), ^bb16
^bb3(%11: i64):  // 2 preds: ^bb2, ^bb16
  %12 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %13 = llvm.load %12 : !llvm.ptr -> i32
  %14 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %15 = llvm.load %14 : !llvm.ptr -> i64
  %16 = llvm.mlir.constant(4 : i32) : i32
  %17 = llvm.icmp "eq" %13, %16 : i32
  llvm.cond_br %17 weights([2000, 1]), ^bb4(%15 : i64), ^bb17
^bb4(%18: i64):  // 3 preds: ^bb3, ^bb18, ^bb21
  %19 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %20 = llvm.load %19 : !llvm.ptr -> i32
  %21 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %22 = llvm.load %21 : !llvm.ptr -> !llvm.ptr
  %23 = llvm.mlir.constant(70 : i32) : i32
  %24 = llvm.icmp "eq" %20, %23 : i32
  llvm.cond_br %24 weights([2000, 1]), ^bb5(%22 : !llvm.ptr), ^bb22
^bb5(%25: !llvm.ptr):  // 2 preds: ^bb4, ^bb22
  %26 = llvm.mlir.zero : !llvm.ptr
  %27 = llvm.icmp "ne" %25, %26 : !llvm.ptr
  llvm.cond_br %27, ^bb6, ^bb14
^bb6:  // pred: ^bb5
  %28 = llvm.getelementptr %25[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %29 = llvm.load %28 : !llvm.ptr -> i32
  %30 = llvm.zext %29 : i32 to i64
  %31 = llvm.mlir.constant(2 : i64) : i64
  %32 = llvm.xor %30, %31 : i64
  %33 = llvm.getelementptr %25[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %34 = llvm.load %33 : !llvm.ptr -> i64
  %35 = llvm.mlir.constant(316667938734081 : i64) : i64
  %36 = llvm.xor %34, %35 : i64
  %37 = llvm.or %36, %32 : i64
  %38 = llvm.mlir.constant(0 : i64) : i64
  %39 = llvm.icmp "eq" %37, %38 : i64
  llvm.cond_br %39, ^bb7, ^bb14
^bb7:  // pred: ^bb6
  %40 = llvm.getelementptr %25[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %41 = llvm.load %40 : !llvm.ptr -> i64
  %42 = llvm.getelementptr %25[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %43 = llvm.load %42 : !llvm.ptr -> !llvm.ptr
  %44 = llvm.mlir.zero : !llvm.ptr
  %45 = llvm.icmp "ne" %43, %44 : !llvm.ptr
  llvm.cond_br %45, ^bb8, ^bb14
^bb8:  // pred: ^bb7
  %46 = llvm.load %43 : !llvm.ptr -> i64
  %47 = llvm.getelementptr %25[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %48 = llvm.load %47 : !llvm.ptr -> !llvm.ptr
  %49 = llvm.mlir.zero : !llvm.ptr
  %50 = llvm.icmp "eq" %48, %49 : !llvm.ptr
  llvm.cond_br %50, ^bb10, ^bb9
^bb9:  // pred: ^bb8
  %51 = llvm.load %48 : !llvm.ptr -> i64
  %52 = llvm.mlir.constant(1 : i64) : i64
  %53 = llvm.icmp "eq" %51, %52 : i64
  llvm.cond_br %53 weights([2000, 1]), ^bb10, ^bb23
^bb10:  // 3 preds: ^bb8, ^bb9, ^bb23
  %54 = llvm.getelementptr %25[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %55 = llvm.load %54 : !llvm.ptr -> !llvm.ptr
  %56 = llvm.getelementptr %25[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %57 = llvm.load %56 : !llvm.ptr -> i64
  %58 = llvm.getelementptr %55[%57] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %59 = llvm.getelementptr %55[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %60 = llvm.icmp "ult" %59, %58 : !llvm.ptr
  llvm.cond_br %60 weights([2000, 1]), ^bb11, ^bb24
^bb11:  // 2 preds: ^bb10, ^bb24
  %61 = llvm.ptrtoint %58 : !llvm.ptr to i64
  %62 = llvm.mlir.constant(62 : i64) : i64
  %63 = llvm.shl %61, %62 : i64
  %64 = llvm.or %63, %46 : i64
  %65 = llvm.mlir.constant(2147483647 : i64) : i64
  %66 = llvm.icmp "ule" %64, %65 : i64
  llvm.cond_br %66 weights([2000, 1]), ^bb12, ^bb25
^bb12:  // 3 preds: ^bb11, ^bb13, ^bb26
  %67 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %67, %arg3 : i64, !llvm.ptr
  %68 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %67, %68 : i64, !llvm.ptr
  %69 = llvm.mlir.constant(-1 : i64) : i64
  %70 = llvm.trunc %41 : i64 to i32
  %71 = llvm.mlir.constant(32 : i64) : i64
  %72 = llvm.lshr %41, %71 : i64
  %73 = llvm.trunc %72 : i64 to i32
  %74 = llvm.call @TVMFFIEnvGetStream(%70, %73) : (i32, i32) -> !llvm.ptr
  %75 = llvm.inttoptr %11 : i64 to !llvm.ptr
  %76 = llvm.inttoptr %18 : i64 to !llvm.ptr<1>
  llvm.call @callee(%74, %75, %76, %58) : (!llvm.ptr, !llvm.ptr, !llvm.ptr<1>, !llvm.ptr) -> ()
  %77 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %77 : i32
^bb13:  // pred: ^bb25
  %78 = llvm.ptrtoint %58 : !llvm.ptr to i64
  %79 = llvm.mlir.constant(62 : i64) : i64
  %80 = llvm.shl %78, %79 : i64
  %81 = llvm.mlir.constant(0 : i64) : i64
  %82 = llvm.icmp "eq" %80, %81 : i64
  llvm.cond_br %82 weights([2000, 1]), ^bb12, ^bb26
^bb14:  // 12 preds: ^bb1, ^bb5, ^bb6, ^bb7, ^bb16, ^bb18, ^bb19, ^bb20, ^bb23, ^bb24, ^bb25, ^bb26
  %83 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb15(%83 : i32)
^bb15(%84: i32):  // 2 preds: ^bb0, ^bb14
  %85 = llvm.mlir.addressof @__ffi_builder_table_stream : !llvm.ptr
  %86 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %84, %85) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %86 : i32
^bb16:  // pred: ^bb2
  %87 = llvm.mlir.constant(0 : i32) : i32
  %88 = llvm.icmp "eq" %6, %87 : i32
  %89 = llvm.mlir.constant(0 : i64) : i64
  %90 = llvm.select %88, %89, %8 : i1, i64
  %91 = llvm.mlir.constant(2 : i32) : i32
  %92 = llvm.icmp "ult" %6, %91 : i32
  llvm.cond_br %92, ^bb3(%90 : i64), ^bb14
^bb17:  // pred: ^bb3
  %93 = llvm.mlir.constant(2 : i32) : i32
  %94 = llvm.icmp "ult" %13, %93 : i32
  llvm.cond_br %94, ^bb18, ^bb19
^bb18:  // pred: ^bb17
  %95 = llvm.mlir.constant(0 : i32) : i32
  %96 = llvm.icmp "eq" %13, %95 : i32
  %97 = llvm.mlir.constant(0 : i64) : i64
  %98 = llvm.select %96, %97, %15 : i1, i64
  %99 = llvm.mlir.constant(0 : i64) : i64
  %100 = llvm.icmp "sge" %15, %99 : i64
  %101 = llvm.or %100, %96 : i1
  llvm.cond_br %101, ^bb4(%98 : i64), ^bb14
^bb19:  // pred: ^bb17
  %102 = llvm.mlir.constant(78 : i32) : i32
  %103 = llvm.icmp "eq" %13, %102 : i32
  %104 = llvm.mlir.constant(0 : i64) : i64
  %105 = llvm.icmp "ne" %15, %104 : i64
  %106 = llvm.and %103, %105 : i1
  llvm.cond_br %106, ^bb20, ^bb14
^bb20:  // pred: ^bb19
  %107 = llvm.inttoptr %15 : i64 to !llvm.ptr
  %108 = llvm.call preserve_mostcc @__ffi_builder_shared_big_uint64_DIGEST(%107, %1) : (!llvm.ptr, !llvm.ptr) -> i1
  llvm.cond_br %108, ^bb21, ^bb14
^bb21:  // pred: ^bb20
  %109 = llvm.load %1 : !llvm.ptr -> i64
  llvm.br ^bb4(%109 : i64)
^bb22:  // pred: ^bb4
  %110 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %111 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%110) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb5(%111 : !llvm.ptr)
^bb23:  // pred: ^bb9
  %112 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%25) : (!llvm.ptr) -> i1
  llvm.cond_br %112, ^bb10, ^bb14
^bb24:  // pred: ^bb10
  %113 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%25) : (!llvm.ptr) -> i1
  llvm.cond_br %113, ^bb11, ^bb14
^bb25:  // pred: ^bb11
  %114 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %115 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%114) : (!llvm.ptr) -> !llvm.ptr
  %116 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%115) : (!llvm.ptr) -> i1
  llvm.cond_br %116, ^bb13, ^bb14
^bb26:  // pred: ^bb13
  %117 = llvm.mlir.constant(3 : i32) : i32
  %118 = llvm.mlir.addressof @__ffi_builder_table_stream : !llvm.ptr
  %119 = llvm.call preserve_mostcc @__ffi_builder_shared_nothing_is_wrong_DIGEST(%arg1, %117, %118) : (!llvm.ptr, i32, !llvm.ptr) -> i1
  llvm.cond_br %119, ^bb12, ^bb14
}
