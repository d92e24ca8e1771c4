llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_dtypes("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_dtypes(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-e337bb5a", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(3 : i32) : i32
  %1 = llvm.icmp "eq" %arg2, %0 : i32
  llvm.cond_br %1, ^bb1, ^bb33(%arg2 : i32)
^bb1:  // pred: ^bb0
  %2 = llvm.mlir.zero : !llvm.ptr
  %3 = llvm.icmp "ne" %arg1, %2 : !llvm.ptr
  llvm.cond_br %3, ^bb2, ^bb32
^bb2:  // pred: ^bb1
  %4 = llvm.load %arg1 : !llvm.ptr -> i32
  %5 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %6 = llvm.load %5 : !llvm.ptr -> !llvm.ptr
  %7 = llvm.mlir.constant(70 : i32) : i32
  %8 = llvm.icmp "eq" %4, %7 : i32
  llvm.cond_br %8 weights([2000, 1]), ^bb3(%6 : !llvm.ptr), ^bb34
^bb3(%9: !llvm.ptr):  // 2 preds: ^bb2, ^bb34
  %10 = llvm.mlir.zero : !llvm.ptr
  %11 = llvm.icmp "ne" %9, %10 : !llvm.ptr
  llvm.cond_br %11, ^bb4, ^bb32
^bb4:  // pred: ^bb3
  %12 = llvm.getelementptr %9[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %13 = llvm.load %12 : !llvm.ptr -> i64
  %14 = llvm.mlir.constant(316667938734081 : i64) : i64
  %15 = llvm.icmp "eq" %13, %14 : i64
  %16 = llvm.mlir.constant(299075752689665 : i64) : i64
  %17 = llvm.icmp "eq" %13, %16 : i64
  %18 = llvm.or %15, %17 : i1
  llvm.cond_br %18, ^bb5, ^bb32
^bb5:  // pred: ^bb4
  %19 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %20 = llvm.load %19 : !llvm.ptr -> i32
  %21 = llvm.mlir.constant(1 : i32) : i32
  %22 = llvm.icmp "eq" %20, %21 : i32
  llvm.cond_br %22, ^bb6, ^bb32
^bb6:  // pred: ^bb5
  %23 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %24 = llvm.load %23 : !llvm.ptr -> i64
  %25 = llvm.getelementptr %9[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %26 = llvm.load %25 : !llvm.ptr -> !llvm.ptr
  %27 = llvm.mlir.zero : !llvm.ptr
  %28 = llvm.icmp "ne" %26, %27 : !llvm.ptr
  llvm.cond_br %28, ^bb7, ^bb32
^bb7:  // pred: ^bb6
  %29 = llvm.load %26 : !llvm.ptr -> i64
  %30 = llvm.getelementptr %9[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %31 = llvm.load %30 : !llvm.ptr -> !llvm.ptr
  %32 = llvm.mlir.zero : !llvm.ptr
  %33 = llvm.icmp "eq" %31, %32 : !llvm.ptr
  llvm.cond_br %33, ^bb9, ^bb8
^bb8:  // pred: ^bb7
  %34 = llvm.load %31 : !llvm.ptr -> i64
  %35 = llvm.mlir.constant(1 : i64) : i64
  %36 = llvm.icmp "eq" %34, %35 : i64
  llvm.cond_br %36 weights([2000, 1]), ^bb9, ^bb35
^bb9:  // 3 preds: ^bb7, ^bb8, ^bb35
  %37 = llvm.getelementptr %9[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %38 = llvm.load %37 : !llvm.ptr -> !llvm.ptr
  %39 = llvm.getelementptr %9[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %40 = llvm.load %39 : !llvm.ptr -> i64
  %41 = llvm.getelementptr %38[%40] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %42 = llvm.getelementptr %38[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %43 = llvm.icmp "ult" %42, %41 : !llvm.ptr
  llvm.cond_br %43 weights([2000, 1]), ^bb10, ^bb36
^bb10:  // 2 preds: ^bb9, ^bb36
  %44 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %45 = llvm.load %44 : !llvm.ptr -> i32
  %46 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %47 = llvm.load %46 : !llvm.ptr -> !llvm.ptr
  %48 = llvm.mlir.constant(70 : i32) : i32
  %49 = llvm.icmp "eq" %45, %48 : i32
  llvm.cond_br %49 weights([2000, 1]), ^bb11(%47 : !llvm.ptr), ^bb37
^bb11(%50: !llvm.ptr):  // 2 preds: ^bb10, ^bb37
  %51 = llvm.mlir.zero : !llvm.ptr
  %52 = llvm.icmp "ne" %50, %51 : !llvm.ptr
  llvm.cond_br %52, ^bb12, ^bb32
^bb12:  // pred: ^bb11
  %53 = llvm.getelementptr %50[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %54 = llvm.load %53 : !llvm.ptr -> i64
  %55 = llvm.getelementptr %9[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %56 = llvm.load %55 : !llvm.ptr -> i64
  %57 = llvm.icmp "eq" %54, %56 : i64
  llvm.cond_br %57, ^bb13, ^bb32
^bb13:  // pred: ^bb12
  %58 = llvm.getelementptr %50[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %59 = llvm.load %58 : !llvm.ptr -> i64
  %60 = llvm.icmp "eq" %59, %24 : i64
  llvm.cond_br %60, ^bb14, ^bb32
^bb14:  // pred: ^bb13
  %61 = llvm.getelementptr %50[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %62 = llvm.load %61 : !llvm.ptr -> !llvm.ptr
  %63 = llvm.mlir.zero : !llvm.ptr
  %64 = llvm.icmp "ne" %62, %63 : !llvm.ptr
  llvm.cond_br %64, ^bb15, ^bb32
^bb15:  // pred: ^bb14
  %65 = llvm.load %62 : !llvm.ptr -> i64
  %66 = llvm.icmp "eq" %65, %29 : i64
  llvm.cond_br %66, ^bb16, ^bb32
^bb16:  // pred: ^bb15
  %67 = llvm.getelementptr %50[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %68 = llvm.load %67 : !llvm.ptr -> !llvm.ptr
  %69 = llvm.mlir.zero : !llvm.ptr
  %70 = llvm.icmp "eq" %68, %69 : !llvm.ptr
  llvm.cond_br %70, ^bb18, ^bb17
^bb17:  // pred: ^bb16
  %71 = llvm.load %68 : !llvm.ptr -> i64
  %72 = llvm.mlir.constant(1 : i64) : i64
  %73 = llvm.icmp "eq" %71, %72 : i64
  llvm.cond_br %73 weights([2000, 1]), ^bb18, ^bb38
^bb18:  // 3 preds: ^bb16, ^bb17, ^bb38
  %74 = llvm.getelementptr %50[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %75 = llvm.load %74 : !llvm.ptr -> !llvm.ptr
  %76 = llvm.getelementptr %50[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %77 = llvm.load %76 : !llvm.ptr -> i64
  %78 = llvm.getelementptr %75[%77] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %79 = llvm.getelementptr %75[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %80 = llvm.icmp "ult" %79, %78 : !llvm.ptr
  llvm.cond_br %80 weights([2000, 1]), ^bb19, ^bb39
^bb19:  // 2 preds: ^bb18, ^bb39
  %81 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %82 = llvm.load %81 : !llvm.ptr -> i32
  %83 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %84 = llvm.load %83 : !llvm.ptr -> !llvm.ptr
  %85 = llvm.mlir.constant(70 : i32) : i32
  %86 = llvm.icmp "eq" %82, %85 : i32
  llvm.cond_br %86 weights([2000, 1]), ^bb20(%84 : !llvm.ptr), ^bb40
^bb20(%87: !llvm.ptr):  // 2 preds: ^bb19, ^bb40
  %88 = llvm.mlir.zero : !llvm.ptr
  %89 = llvm.icmp "ne" %87, %88 : !llvm.ptr
  llvm.cond_br %89, ^bb21, ^bb32
^bb21:  // pred: ^bb20
  %90 = llvm.getelementptr %87[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %91 = llvm.load %90 : !llvm.ptr -> i32
  %92 = llvm.mlir.constant(2 : i32) : i32
  %93 = llvm.icmp "eq" %91, %92 : i32
  llvm.cond_br %93, ^bb22, ^bb32
^bb22:  // pred: ^bb21
  %94 = llvm.getelementptr %87[44] : (!llvm.ptr) -> !llvm.ptr, i8
  %95 = llvm.load %94 : !llvm.ptr -> i32
  %96 = llvm.getelementptr %9[44] : (!llvm.ptr) -> !llvm.ptr, i8
  %97 = llvm.load %96 : !llvm.ptr -> i32
  %98 = llvm.icmp "eq" %95, %97 : i32
  llvm.cond_br %98, ^bb23, ^bb32
^bb23:  // pred: ^bb22
  %99 = llvm.getelementptr %87[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %100 = llvm.load %99 : !llvm.ptr -> i32
  %101 = llvm.mlir.constant(2 : i32) : i32
  %102 = llvm.icmp "eq" %100, %101 : i32
  llvm.cond_br %102, ^bb24, ^bb32
^bb24:  // pred: ^bb23
  %103 = llvm.getelementptr %87[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %104 = llvm.load %103 : !llvm.ptr -> i64
  %105 = llvm.getelementptr %87[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %106 = llvm.load %105 : !llvm.ptr -> !llvm.ptr
  %107 = llvm.mlir.zero : !llvm.ptr
  %108 = llvm.icmp "ne" %106, %107 : !llvm.ptr
  llvm.cond_br %108, ^bb25, ^bb32
^bb25:  // pred: ^bb24
  %109 = llvm.load %106 : !llvm.ptr -> i64
  %110 = llvm.icmp "eq" %109, %29 : i64
  llvm.cond_br %110, ^bb26, ^bb32
^bb26:  // pred: ^bb25
  %111 = llvm.getelementptr %106[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %112 = llvm.load %111 : !llvm.ptr -> i64
  %113 = llvm.getelementptr %87[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %114 = llvm.load %113 : !llvm.ptr -> !llvm.ptr
  %115 = llvm.mlir.zero : !llvm.ptr
  %116 = llvm.icmp "eq" %114, %115 : !llvm.ptr
  llvm.cond_br %116, ^bb29, ^bb27
^bb27:  // pred: ^bb26
  %117 = llvm.getelementptr %114[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %118 = llvm.load %117 : !llvm.ptr -> i64
  %119 = llvm.mlir.constant(1 : i64) : i64
  %120 = llvm.icmp "eq" %118, %119 : i64
  llvm.cond_br %120 weights([2000, 1]), ^bb28, ^bb41
^bb28:  // pred: ^bb27
  %121 = llvm.load %114 : !llvm.ptr -> i64
  %122 = llvm.icmp "eq" %121, %112 : i64
  llvm.cond_br %122 weights([2000, 1]), ^bb29, ^bb41
^bb29:  // 3 preds: ^bb26, ^bb28, ^bb41
  %123 = llvm.getelementptr %87[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %124 = llvm.load %123 : !llvm.ptr -> !llvm.ptr
  %125 = llvm.getelementptr %87[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %126 = llvm.load %125 : !llvm.ptr -> i64
  %127 = llvm.getelementptr %124[%126] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %128 = llvm.getelementptr %124[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %129 = llvm.icmp "ult" %128, %127 : !llvm.ptr
  llvm.cond_br %129 weights([2000, 1]), ^bb30, ^bb42
^bb30:  // 2 preds: ^bb29, ^bb42
  %130 = llvm.or %29, %112 : i64
  %131 = llvm.mlir.constant(2147483647 : i64) : i64
  %132 = llvm.icmp "ule" %130, %131 : i64
  llvm.cond_br %132 weights([2000, 1]), ^bb31, ^bb43
^bb31:  // 2 preds: ^bb30, ^bb43
  %133 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %133, %arg3 : i64, !llvm.ptr
  %134 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %133, %134 : i64, !llvm.ptr
  llvm.call @callee(%41, %78, %127, %29, %112) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
  %135 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %135 : i32
^bb32:  // 23 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb11, ^bb12, ^bb13, ^bb14, ^bb15, ^bb20, ^bb21, ^bb22, ^bb23, ^bb24, ^bb25, ^bb35, ^bb36, ^bb38, ^bb39, ^bb41, ^bb42, ^bb43
  %136 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb33(%136 : i32)
^bb33(%137: i32):  // 2 preds: ^bb0, ^bb32
  %138 = llvm.mlir.addressof @__ffi_builder_table_dtypes : !llvm.ptr
  %139 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %137, %138) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %139 : i32
^bb34:  // pred: ^bb2
  %140 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%140 : !llvm.ptr)
^bb35:  // pred: ^bb8
  %141 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %141, ^bb9, ^bb32
^bb36:  // pred: ^bb9
  %142 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %142, ^bb10, ^bb32
^bb37:  // pred: ^bb10
  %143 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %144 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%143) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb11(%144 : !llvm.ptr)
^bb38:  // pred: ^bb17
  %145 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%50) : (!llvm.ptr) -> i1
  llvm.cond_br %145, ^bb18, ^bb32
^bb39:  // pred: ^bb18
  %146 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%50) : (!llvm.ptr) -> i1
  llvm.cond_br %146, ^bb19, ^bb32
^bb40:  // pred: ^bb19
  %147 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %148 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%147) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb20(%148 : !llvm.ptr)
^bb41:  // 2 preds: ^bb27, ^bb28
  %149 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%87) : (!llvm.ptr) -> i1
  llvm.cond_br %149, ^bb29, ^bb32
^bb42:  // pred: ^bb29
  %150 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%87) : (!llvm.ptr) -> i1
  llvm.cond_br %150, ^bb30, ^bb32
^bb43:  // pred: ^bb30
  %151 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %152 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%151) : (!llvm.ptr) -> !llvm.ptr
  %153 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%152) : (!llvm.ptr) -> i1
  %154 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %155 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%154) : (!llvm.ptr) -> !llvm.ptr
  %156 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%155) : (!llvm.ptr) -> i1
  %157 = llvm.and %153, %156 : i1
  llvm.cond_br %157, ^bb31, ^bb32
}
