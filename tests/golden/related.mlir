llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_related("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_related(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-84bfe035", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(3 : i32) : i32
  %1 = llvm.icmp "eq" %arg2, %0 : i32
  llvm.cond_br %1, ^bb1, ^bb31(%arg2 : i32)
^bb1:  // pred: ^bb0
  %2 = llvm.mlir.zero : !llvm.ptr
  %3 = llvm.icmp "ne" %arg1, %2 : !llvm.ptr
  llvm.cond_br %3, ^bb2, ^bb30
^bb2:  // pred: ^bb1
  %4 = llvm.load %arg1 : !llvm.ptr -> i32
  %5 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %6 = llvm.load %5 : !llvm.ptr -> !llvm.ptr
  %7 = llvm.mlir.constant(70 : i32) : i32
  %8 = llvm.icmp "eq" %4, %7 : i32
  llvm.cond_br %8 weights([2000, 1]), ^bb3(%6 : !llvm.ptr), ^bb32
^bb3(%9: !llvm.ptr):  // 2 preds: ^bb2, ^bb32
  %10 = llvm.mlir.zero : !llvm.ptr
  %11 = llvm.icmp "ne" %9, %10 : !llvm.ptr
  llvm.cond_br %11, ^bb4, ^bb30
^bb4:  // pred: ^bb3
  %12 = llvm.getelementptr %9[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %13 = llvm.load %12 : !llvm.ptr -> i64
  %14 = llvm.mlir.constant(316667938734082 : i64) : i64
  %15 = llvm.icmp "eq" %13, %14 : i64
  llvm.cond_br %15, ^bb5, ^bb30
^bb5:  // pred: ^bb4
  %16 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %17 = llvm.load %16 : !llvm.ptr -> i64
  %18 = llvm.trunc %17 : i64 to i32
  %19 = llvm.mlir.constant(1 : i32) : i32
  %20 = llvm.icmp "eq" %18, %19 : i32
  llvm.cond_br %20, ^bb6, ^bb30
^bb6:  // pred: ^bb5
  %21 = llvm.getelementptr %9[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %22 = llvm.load %21 : !llvm.ptr -> !llvm.ptr
  %23 = llvm.mlir.zero : !llvm.ptr
  %24 = llvm.icmp "ne" %22, %23 : !llvm.ptr
  llvm.cond_br %24, ^bb7, ^bb30
^bb7:  // pred: ^bb6
  %25 = llvm.load %22 : !llvm.ptr -> i64
  %26 = llvm.getelementptr %22[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %27 = llvm.load %26 : !llvm.ptr -> i64
  %28 = llvm.getelementptr %9[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %29 = llvm.load %28 : !llvm.ptr -> !llvm.ptr
  %30 = llvm.mlir.zero : !llvm.ptr
  %31 = llvm.icmp "eq" %29, %30 : !llvm.ptr
  llvm.cond_br %31, ^bb10, ^bb8
^bb8:  // pred: ^bb7
  %32 = llvm.getelementptr %29[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %33 = llvm.load %32 : !llvm.ptr -> i64
  %34 = llvm.mlir.constant(1 : i64) : i64
  %35 = llvm.icmp "eq" %33, %34 : i64
  llvm.cond_br %35 weights([2000, 1]), ^bb9, ^bb33
^bb9:  // pred: ^bb8
  %36 = llvm.load %29 : !llvm.ptr -> i64
  %37 = llvm.icmp "eq" %36, %27 : i64
  llvm.cond_br %37 weights([2000, 1]), ^bb10, ^bb33
^bb10:  // 3 preds: ^bb7, ^bb9, ^bb33
  %38 = llvm.getelementptr %9[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %39 = llvm.load %38 : !llvm.ptr -> !llvm.ptr
  %40 = llvm.getelementptr %9[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %41 = llvm.load %40 : !llvm.ptr -> i64
  %42 = llvm.getelementptr %39[%41] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %43 = llvm.getelementptr %39[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %44 = llvm.icmp "ult" %43, %42 : !llvm.ptr
  llvm.cond_br %44 weights([2000, 1]), ^bb11, ^bb34
^bb11:  // 2 preds: ^bb10, ^bb34
  %45 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %46 = llvm.load %45 : !llvm.ptr -> i32
  %47 = llvm.mlir.constant(0 : i32) : i32
  %48 = llvm.icmp "ne" %46, %47 : i32
  llvm.cond_br %48, ^bb12, ^bb14
^bb12:  // pred: ^bb11
  %49 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %50 = llvm.load %49 : !llvm.ptr -> i32
  %51 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %52 = llvm.load %51 : !llvm.ptr -> i64
  %53 = llvm.mlir.constant(1 : i32) : i32
  %54 = llvm.sub %50, %53 : i32
  %55 = llvm.mlir.constant(2 : i32) : i32
  %56 = llvm.icmp "ult" %54, %55 : i32
  llvm.cond_br %56, ^bb13, ^bb30
^bb13:  // pred: ^bb12
  %57 = llvm.mlir.constant(true) : i1
  llvm.br ^bb15(%52, %52, %57, %57 : i64, i64, i1, i1)
^bb14:  // pred: ^bb11
  %58 = llvm.mlir.zero : i64
  %59 = llvm.mlir.zero : i64
  %60 = llvm.mlir.zero : i1
  %61 = llvm.mlir.zero : i1
  llvm.br ^bb15(%58, %59, %60, %61 : i64, i64, i1, i1)
^bb15(%62: i64, %63: i64, %64: i1, %65: i1):  // 2 preds: ^bb13, ^bb14
  %66 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %67 = llvm.load %66 : !llvm.ptr -> i32
  %68 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %69 = llvm.load %68 : !llvm.ptr -> !llvm.ptr
  %70 = llvm.mlir.constant(70 : i32) : i32
  %71 = llvm.icmp "eq" %67, %70 : i32
  llvm.cond_br %71 weights([2000, 1]), ^bb16(%69 : !llvm.ptr), ^bb35
^bb16(%72: !llvm.ptr):  // 2 preds: ^bb15, ^bb35
  %73 = llvm.mlir.zero : !llvm.ptr
  %74 = llvm.icmp "ne" %72, %73 : !llvm.ptr
  llvm.cond_br %74, ^bb17, ^bb30
^bb17:  // pred: ^bb16
  %75 = llvm.getelementptr %72[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %76 = llvm.load %75 : !llvm.ptr -> i64
  %77 = llvm.mlir.constant(316667938734081 : i64) : i64
  %78 = llvm.icmp "eq" %76, %77 : i64
  llvm.cond_br %78, ^bb18, ^bb30
^bb18:  // pred: ^bb17
  %79 = llvm.getelementptr %72[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %80 = llvm.load %79 : !llvm.ptr -> i64
  %81 = llvm.icmp "eq" %80, %17 : i64
  llvm.cond_br %81, ^bb19, ^bb30
^bb19:  // pred: ^bb18
  %82 = llvm.getelementptr %72[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %83 = llvm.load %82 : !llvm.ptr -> !llvm.ptr
  %84 = llvm.mlir.zero : !llvm.ptr
  %85 = llvm.icmp "ne" %83, %84 : !llvm.ptr
  llvm.cond_br %85, ^bb20, ^bb30
^bb20:  // pred: ^bb19
  %86 = llvm.load %83 : !llvm.ptr -> i64
  %87 = llvm.mlir.constant(4 : i64) : i64
  %88 = llvm.icmp "sgt" %25, %87 : i64
  %89 = llvm.select %88, %25, %87 : i1, i64
  %90 = llvm.icmp "eq" %86, %89 : i64
  llvm.cond_br %90, ^bb21, ^bb30
^bb21:  // pred: ^bb20
  %91 = llvm.getelementptr %72[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %92 = llvm.load %91 : !llvm.ptr -> !llvm.ptr
  %93 = llvm.mlir.zero : !llvm.ptr
  %94 = llvm.icmp "eq" %92, %93 : !llvm.ptr
  llvm.cond_br %94, ^bb23, ^bb22
^bb22:  // pred: ^bb21
  %95 = llvm.load %92 : !llvm.ptr -> i64
  %96 = llvm.mlir.constant(1 : i64) : i64
  %97 = llvm.icmp "eq" %95, %96 : i64
  llvm.cond_br %97 weights([2000, 1]), ^bb23, ^bb36
^bb23:  // 3 preds: ^bb21, ^bb22, ^bb36
  %98 = llvm.getelementptr %72[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %99 = llvm.load %98 : !llvm.ptr -> !llvm.ptr
  %100 = llvm.getelementptr %72[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %101 = llvm.load %100 : !llvm.ptr -> i64
  %102 = llvm.getelementptr %99[%101] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %103 = llvm.getelementptr %99[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %104 = llvm.icmp "ult" %103, %102 : !llvm.ptr
  llvm.cond_br %104 weights([2000, 1]), ^bb24, ^bb37
^bb24:  // 2 preds: ^bb23, ^bb37
  %105 = llvm.icmp "sle" %25, %27 : i64
  llvm.cond_br %105, ^bb25, ^bb30
^bb25:  // pred: ^bb24
  %106 = llvm.mlir.constant(64 : i64) : i64
  %107 = llvm.icmp "eq" %27, %106 : i64
  %108 = llvm.mlir.constant(128 : i64) : i64
  %109 = llvm.icmp "eq" %27, %108 : i64
  %110 = llvm.or %107, %109 : i1
  llvm.cond_br %110, ^bb26, ^bb30
^bb26:  // pred: ^bb25
  %111 = "llvm.intr.smul.with.overflow"(%25, %27) : (i64, i64) -> !llvm.struct<(i64, i1)>
  %112 = llvm.extractvalue %111[0] : !llvm.struct<(i64, i1)> 
  %113 = llvm.extractvalue %111[1] : !llvm.struct<(i64, i1)> 
  %114 = llvm.mlir.constant(true) : i1
  %115 = llvm.xor %113, %114 : i1
  %116 = llvm.mlir.constant(2147483647 : i64) : i64
  %117 = llvm.icmp "sle" %112, %116 : i64
  %118 = llvm.and %117, %115 : i1
  llvm.cond_br %118, ^bb27, ^bb30
^bb27:  // pred: ^bb26
  %119 = llvm.icmp "slt" %63, %25 : i64
  %120 = llvm.mlir.constant(true) : i1
  %121 = llvm.xor %65, %120 : i1
  %122 = llvm.or %119, %121 : i1
  llvm.cond_br %122, ^bb28, ^bb30
^bb28:  // pred: ^bb27
  %123 = llvm.or %25, %27 : i64
  %124 = llvm.or %123, %86 : i64
  %125 = llvm.mlir.constant(2147483648 : i64) : i64
  %126 = llvm.icmp "ult" %124, %125 : i64
  llvm.cond_br %126 weights([2000, 1]), ^bb29, ^bb38
^bb29:  // 2 preds: ^bb28, ^bb38
  %127 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %127, %arg3 : i64, !llvm.ptr
  %128 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %127, %128 : i64, !llvm.ptr
  %129 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %129 : i32
^bb30:  // 20 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb12, ^bb16, ^bb17, ^bb18, ^bb19, ^bb20, ^bb24, ^bb25, ^bb26, ^bb27, ^bb33, ^bb34, ^bb36, ^bb37, ^bb38
  %130 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb31(%130 : i32)
^bb31(%131: i32):  // 2 preds: ^bb0, ^bb30
  %132 = llvm.mlir.addressof @__ffi_builder_table_related : !llvm.ptr
  %133 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %131, %132) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %133 : i32
^bb32:  // pred: ^bb2
  %134 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%134 : !llvm.ptr)
^bb33:  // 2 preds: ^bb8, ^bb9
  %135 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %135, ^bb10, ^bb30
^bb34:  // pred: ^bb10
  %136 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %136, ^bb11, ^bb30
^bb35:  // pred: ^bb15
  %137 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %138 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%137) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb16(%138 : !llvm.ptr)
^bb36:  // pred: ^bb22
  %139 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%72) : (!llvm.ptr) -> i1
  llvm.cond_br %139, ^bb23, ^bb30
^bb37:  // pred: ^bb23
  %140 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%72) : (!llvm.ptr) -> i1
  llvm.cond_br %140, ^bb24, ^bb30
^bb38:  // pred: ^bb28
  %141 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%9) : (!llvm.ptr) -> i1
  %142 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%72) : (!llvm.ptr) -> i1
  %143 = llvm.and %141, %142 : i1
  llvm.cond_br %143, ^bb29, ^bb30
}
