llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_related("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_related(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-634e50e7", ["ffi-builder-metadata", "JSON"]]} {
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
  %54 = llvm.icmp "eq" %50, %53 : i32
  llvm.cond_br %54 weights([2000, 1]), ^bb13, ^bb35
^bb13:  // 2 preds: ^bb12, ^bb35
  %55 = llvm.mlir.constant(true) : i1
  llvm.br ^bb15(%52, %52, %55, %55 : i64, i64, i1, i1)
^bb14:  // pred: ^bb11
  %56 = llvm.mlir.zero : i64
  %57 = llvm.mlir.zero : i64
  %58 = llvm.mlir.zero : i1
  %59 = llvm.mlir.zero : i1
  llvm.br ^bb15(%56, %57, %58, %59 : i64, i64, i1, i1)
^bb15(%60: i64, %61: i64, %62: i1, %63: i1):  // 2 preds: ^bb13, ^bb14
  %64 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %65 = llvm.load %64 : !llvm.ptr -> i32
  %66 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %67 = llvm.load %66 : !llvm.ptr -> !llvm.ptr
  %68 = llvm.mlir.constant(70 : i32) : i32
  %69 = llvm.icmp "eq" %65, %68 : i32
  llvm.cond_br %69 weights([2000, 1]), ^bb16(%67 : !llvm.ptr), ^bb36
^bb16(%70: !llvm.ptr):  // 2 preds: ^bb15, ^bb36
  %71 = llvm.mlir.zero : !llvm.ptr
  %72 = llvm.icmp "ne" %70, %71 : !llvm.ptr
  llvm.cond_br %72, ^bb17, ^bb30
^bb17:  // pred: ^bb16
  %73 = llvm.getelementptr %70[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %74 = llvm.load %73 : !llvm.ptr -> i64
  %75 = llvm.mlir.constant(316667938734081 : i64) : i64
  %76 = llvm.icmp "eq" %74, %75 : i64
  llvm.cond_br %76, ^bb18, ^bb30
^bb18:  // pred: ^bb17
  %77 = llvm.getelementptr %70[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %78 = llvm.load %77 : !llvm.ptr -> i64
  %79 = llvm.icmp "eq" %78, %17 : i64
  llvm.cond_br %79, ^bb19, ^bb30
^bb19:  // pred: ^bb18
  %80 = llvm.getelementptr %70[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %81 = llvm.load %80 : !llvm.ptr -> !llvm.ptr
  %82 = llvm.mlir.zero : !llvm.ptr
  %83 = llvm.icmp "ne" %81, %82 : !llvm.ptr
  llvm.cond_br %83, ^bb20, ^bb30
^bb20:  // pred: ^bb19
  %84 = llvm.load %81 : !llvm.ptr -> i64
  %85 = llvm.mlir.constant(4 : i64) : i64
  %86 = llvm.icmp "sgt" %25, %85 : i64
  %87 = llvm.select %86, %25, %85 : i1, i64
  %88 = llvm.icmp "eq" %84, %87 : i64
  llvm.cond_br %88, ^bb21, ^bb30
^bb21:  // pred: ^bb20
  %89 = llvm.getelementptr %70[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %90 = llvm.load %89 : !llvm.ptr -> !llvm.ptr
  %91 = llvm.mlir.zero : !llvm.ptr
  %92 = llvm.icmp "eq" %90, %91 : !llvm.ptr
  llvm.cond_br %92, ^bb23, ^bb22
^bb22:  // pred: ^bb21
  %93 = llvm.load %90 : !llvm.ptr -> i64
  %94 = llvm.mlir.constant(1 : i64) : i64
  %95 = llvm.icmp "eq" %93, %94 : i64
  llvm.cond_br %95 weights([2000, 1]), ^bb23, ^bb37
^bb23:  // 3 preds: ^bb21, ^bb22, ^bb37
  %96 = llvm.getelementptr %70[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %97 = llvm.load %96 : !llvm.ptr -> !llvm.ptr
  %98 = llvm.getelementptr %70[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %99 = llvm.load %98 : !llvm.ptr -> i64
  %100 = llvm.getelementptr %97[%99] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %101 = llvm.getelementptr %97[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %102 = llvm.icmp "ult" %101, %100 : !llvm.ptr
  llvm.cond_br %102 weights([2000, 1]), ^bb24, ^bb38
^bb24:  // 2 preds: ^bb23, ^bb38
  %103 = llvm.icmp "sle" %25, %27 : i64
  llvm.cond_br %103, ^bb25, ^bb30
^bb25:  // pred: ^bb24
  %104 = llvm.mlir.constant(64 : i64) : i64
  %105 = llvm.icmp "eq" %27, %104 : i64
  %106 = llvm.mlir.constant(128 : i64) : i64
  %107 = llvm.icmp "eq" %27, %106 : i64
  %108 = llvm.or %105, %107 : i1
  llvm.cond_br %108, ^bb26, ^bb30
^bb26:  // pred: ^bb25
  %109 = "llvm.intr.smul.with.overflow"(%25, %27) : (i64, i64) -> !llvm.struct<(i64, i1)>
  %110 = llvm.extractvalue %109[0] : !llvm.struct<(i64, i1)> 
  %111 = llvm.extractvalue %109[1] : !llvm.struct<(i64, i1)> 
  %112 = llvm.mlir.constant(true) : i1
  %113 = llvm.xor %111, %112 : i1
  %114 = llvm.mlir.constant(2147483647 : i64) : i64
  %115 = llvm.icmp "sle" %110, %114 : i64
  %116 = llvm.and %115, %113 : i1
  llvm.cond_br %116, ^bb27, ^bb30
^bb27:  // pred: ^bb26
  %117 = llvm.icmp "slt" %61, %25 : i64
  %118 = llvm.mlir.constant(true) : i1
  %119 = llvm.xor %63, %118 : i1
  %120 = llvm.or %117, %119 : i1
  llvm.cond_br %120, ^bb28, ^bb30
^bb28:  // pred: ^bb27
  %121 = llvm.or %25, %27 : i64
  %122 = llvm.or %121, %84 : i64
  %123 = llvm.mlir.constant(2147483647 : i64) : i64
  %124 = llvm.icmp "ule" %122, %123 : i64
  llvm.cond_br %124 weights([2000, 1]), ^bb29, ^bb39
^bb29:  // 2 preds: ^bb28, ^bb39
  %125 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %125, %arg3 : i64, !llvm.ptr
  %126 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %125, %126 : i64, !llvm.ptr
  %127 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %127 : i32
^bb30:  // 20 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb16, ^bb17, ^bb18, ^bb19, ^bb20, ^bb24, ^bb25, ^bb26, ^bb27, ^bb33, ^bb34, ^bb35, ^bb37, ^bb38, ^bb39
  %128 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb31(%128 : i32)
^bb31(%129: i32):  // 2 preds: ^bb0, ^bb30
  %130 = llvm.mlir.addressof @__ffi_builder_table_related : !llvm.ptr
  %131 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %129, %130) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %131 : i32
^bb32:  // pred: ^bb2
  %132 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%132 : !llvm.ptr)
^bb33:  // 2 preds: ^bb8, ^bb9
  %133 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %133, ^bb10, ^bb30
^bb34:  // pred: ^bb10
  %134 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %134, ^bb11, ^bb30
^bb35:  // pred: ^bb12
  %135 = llvm.mlir.constant(2 : i32) : i32
  %136 = llvm.icmp "eq" %50, %135 : i32
  llvm.cond_br %136, ^bb13, ^bb30
^bb36:  // pred: ^bb15
  %137 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %138 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%137) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb16(%138 : !llvm.ptr)
^bb37:  // pred: ^bb22
  %139 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%70) : (!llvm.ptr) -> i1
  llvm.cond_br %139, ^bb23, ^bb30
^bb38:  // pred: ^bb23
  %140 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%70) : (!llvm.ptr) -> i1
  llvm.cond_br %140, ^bb24, ^bb30
^bb39:  // pred: ^bb28
  %141 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%9) : (!llvm.ptr) -> i1
  %142 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%70) : (!llvm.ptr) -> i1
  %143 = llvm.and %141, %142 : i1
  llvm.cond_br %143, ^bb29, ^bb30
}
