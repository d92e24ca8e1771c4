llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_matmul("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_matmul(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-565263fc", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %0, %arg3 : i64, !llvm.ptr
  %1 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %0, %1 : i64, !llvm.ptr
  %2 = llvm.mlir.constant(3 : i32) : i32
  %3 = llvm.icmp "eq" %arg2, %2 : i32
  llvm.cond_br %3, ^bb1, ^bb37
^bb1:  // pred: ^bb0
  %4 = llvm.mlir.zero : !llvm.ptr
  %5 = llvm.icmp "ne" %arg1, %4 : !llvm.ptr
  llvm.cond_br %5, ^bb2, ^bb37
^bb2:  // pred: ^bb1
  %6 = llvm.load %arg1 : !llvm.ptr -> i32
  %7 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %8 = llvm.load %7 : !llvm.ptr -> !llvm.ptr
  %9 = llvm.mlir.constant(70 : i32) : i32
  %10 = llvm.icmp "eq" %6, %9 : i32
  llvm.cond_br %10 weights([2000, 1]), ^bb3(%8 : !llvm.ptr), ^bb38
^bb3(%11: !llvm.ptr):  // 2 preds: ^bb2, ^bb38
  %12 = llvm.mlir.zero : !llvm.ptr
  %13 = llvm.icmp "ne" %11, %12 : !llvm.ptr
  llvm.cond_br %13, ^bb4, ^bb37
^bb4:  // pred: ^bb3
  %14 = llvm.getelementptr %11[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %15 = llvm.load %14 : !llvm.ptr -> i64
  %16 = llvm.mlir.constant(316667938734082 : i64) : i64
  %17 = llvm.icmp "eq" %15, %16 : i64
  llvm.cond_br %17, ^bb5, ^bb37
^bb5:  // pred: ^bb4
  %18 = llvm.getelementptr %11[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %19 = llvm.load %18 : !llvm.ptr -> i64
  %20 = llvm.trunc %19 : i64 to i32
  %21 = llvm.mlir.constant(1 : i32) : i32
  %22 = llvm.icmp "eq" %20, %21 : i32
  llvm.cond_br %22, ^bb6, ^bb37
^bb6:  // pred: ^bb5
  %23 = llvm.getelementptr %11[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %24 = llvm.load %23 : !llvm.ptr -> !llvm.ptr
  %25 = llvm.mlir.zero : !llvm.ptr
  %26 = llvm.icmp "ne" %24, %25 : !llvm.ptr
  llvm.cond_br %26, ^bb7, ^bb37
^bb7:  // pred: ^bb6
  %27 = llvm.load %24 : !llvm.ptr -> i64
  %28 = llvm.getelementptr %24[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %29 = llvm.load %28 : !llvm.ptr -> i64
  %30 = llvm.getelementptr %11[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %31 = llvm.load %30 : !llvm.ptr -> !llvm.ptr
  %32 = llvm.mlir.zero : !llvm.ptr
  %33 = llvm.icmp "eq" %31, %32 : !llvm.ptr
  llvm.cond_br %33, ^bb10, ^bb8
^bb8:  // pred: ^bb7
  %34 = llvm.getelementptr %31[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %35 = llvm.load %34 : !llvm.ptr -> i64
  %36 = llvm.mlir.constant(1 : i64) : i64
  %37 = llvm.icmp "eq" %35, %36 : i64
  llvm.cond_br %37 weights([2000, 1]), ^bb9, ^bb39
^bb9:  // pred: ^bb8
  %38 = llvm.load %31 : !llvm.ptr -> i64
  %39 = llvm.icmp "eq" %38, %29 : i64
  llvm.cond_br %39 weights([2000, 1]), ^bb10, ^bb39
^bb10:  // 3 preds: ^bb7, ^bb9, ^bb39
  %40 = llvm.getelementptr %11[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %41 = llvm.load %40 : !llvm.ptr -> !llvm.ptr
  %42 = llvm.getelementptr %11[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %43 = llvm.load %42 : !llvm.ptr -> i64
  %44 = llvm.getelementptr %41[%43] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %45 = llvm.icmp "uge" %44, %41 : !llvm.ptr
  llvm.cond_br %45, ^bb11, ^bb37
^bb11:  // pred: ^bb10
  %46 = llvm.mlir.zero : !llvm.ptr
  %47 = llvm.icmp "ne" %41, %46 : !llvm.ptr
  llvm.cond_br %47 weights([2000, 1]), ^bb12, ^bb40
^bb12:  // 2 preds: ^bb11, ^bb40
  %48 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %49 = llvm.load %48 : !llvm.ptr -> i32
  %50 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %51 = llvm.load %50 : !llvm.ptr -> !llvm.ptr
  %52 = llvm.mlir.constant(70 : i32) : i32
  %53 = llvm.icmp "eq" %49, %52 : i32
  llvm.cond_br %53 weights([2000, 1]), ^bb13(%51 : !llvm.ptr), ^bb41
^bb13(%54: !llvm.ptr):  // 2 preds: ^bb12, ^bb41
  %55 = llvm.mlir.zero : !llvm.ptr
  %56 = llvm.icmp "ne" %54, %55 : !llvm.ptr
  llvm.cond_br %56, ^bb14, ^bb37
^bb14:  // pred: ^bb13
  %57 = llvm.getelementptr %54[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %58 = llvm.load %57 : !llvm.ptr -> i64
  %59 = llvm.mlir.constant(316667938734082 : i64) : i64
  %60 = llvm.icmp "eq" %58, %59 : i64
  llvm.cond_br %60, ^bb15, ^bb37
^bb15:  // pred: ^bb14
  %61 = llvm.getelementptr %54[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %62 = llvm.load %61 : !llvm.ptr -> i64
  %63 = llvm.icmp "eq" %62, %19 : i64
  llvm.cond_br %63, ^bb16, ^bb37
^bb16:  // pred: ^bb15
  %64 = llvm.getelementptr %54[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %65 = llvm.load %64 : !llvm.ptr -> !llvm.ptr
  %66 = llvm.mlir.zero : !llvm.ptr
  %67 = llvm.icmp "ne" %65, %66 : !llvm.ptr
  llvm.cond_br %67, ^bb17, ^bb37
^bb17:  // pred: ^bb16
  %68 = llvm.load %65 : !llvm.ptr -> i64
  %69 = llvm.icmp "eq" %68, %29 : i64
  llvm.cond_br %69, ^bb18, ^bb37
^bb18:  // pred: ^bb17
  %70 = llvm.getelementptr %65[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %71 = llvm.load %70 : !llvm.ptr -> i64
  %72 = llvm.getelementptr %54[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %73 = llvm.load %72 : !llvm.ptr -> !llvm.ptr
  %74 = llvm.mlir.zero : !llvm.ptr
  %75 = llvm.icmp "eq" %73, %74 : !llvm.ptr
  llvm.cond_br %75, ^bb21, ^bb19
^bb19:  // pred: ^bb18
  %76 = llvm.getelementptr %73[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %77 = llvm.load %76 : !llvm.ptr -> i64
  %78 = llvm.mlir.constant(1 : i64) : i64
  %79 = llvm.icmp "eq" %77, %78 : i64
  llvm.cond_br %79 weights([2000, 1]), ^bb20, ^bb42
^bb20:  // pred: ^bb19
  %80 = llvm.load %73 : !llvm.ptr -> i64
  %81 = llvm.icmp "eq" %80, %71 : i64
  llvm.cond_br %81 weights([2000, 1]), ^bb21, ^bb42
^bb21:  // 3 preds: ^bb18, ^bb20, ^bb42
  %82 = llvm.getelementptr %54[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %83 = llvm.load %82 : !llvm.ptr -> !llvm.ptr
  %84 = llvm.getelementptr %54[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %85 = llvm.load %84 : !llvm.ptr -> i64
  %86 = llvm.getelementptr %83[%85] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %87 = llvm.icmp "uge" %86, %83 : !llvm.ptr
  llvm.cond_br %87, ^bb22, ^bb37
^bb22:  // pred: ^bb21
  %88 = llvm.mlir.zero : !llvm.ptr
  %89 = llvm.icmp "ne" %83, %88 : !llvm.ptr
  llvm.cond_br %89 weights([2000, 1]), ^bb23, ^bb43
^bb23:  // 2 preds: ^bb22, ^bb43
  %90 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %91 = llvm.load %90 : !llvm.ptr -> i32
  %92 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %93 = llvm.load %92 : !llvm.ptr -> !llvm.ptr
  %94 = llvm.mlir.constant(70 : i32) : i32
  %95 = llvm.icmp "eq" %91, %94 : i32
  llvm.cond_br %95 weights([2000, 1]), ^bb24(%93 : !llvm.ptr), ^bb44
^bb24(%96: !llvm.ptr):  // 2 preds: ^bb23, ^bb44
  %97 = llvm.mlir.zero : !llvm.ptr
  %98 = llvm.icmp "ne" %96, %97 : !llvm.ptr
  llvm.cond_br %98, ^bb25, ^bb37
^bb25:  // pred: ^bb24
  %99 = llvm.getelementptr %96[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %100 = llvm.load %99 : !llvm.ptr -> i64
  %101 = llvm.mlir.constant(316667938734082 : i64) : i64
  %102 = llvm.icmp "eq" %100, %101 : i64
  llvm.cond_br %102, ^bb26, ^bb37
^bb26:  // pred: ^bb25
  %103 = llvm.getelementptr %96[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %104 = llvm.load %103 : !llvm.ptr -> i64
  %105 = llvm.icmp "eq" %104, %19 : i64
  llvm.cond_br %105, ^bb27, ^bb37
^bb27:  // pred: ^bb26
  %106 = llvm.getelementptr %96[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %107 = llvm.load %106 : !llvm.ptr -> !llvm.ptr
  %108 = llvm.mlir.zero : !llvm.ptr
  %109 = llvm.icmp "ne" %107, %108 : !llvm.ptr
  llvm.cond_br %109, ^bb28, ^bb37
^bb28:  // pred: ^bb27
  %110 = llvm.load %107 : !llvm.ptr -> i64
  %111 = llvm.icmp "eq" %110, %27 : i64
  llvm.cond_br %111, ^bb29, ^bb37
^bb29:  // pred: ^bb28
  %112 = llvm.getelementptr %107[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %113 = llvm.load %112 : !llvm.ptr -> i64
  %114 = llvm.icmp "eq" %113, %71 : i64
  llvm.cond_br %114, ^bb30, ^bb37
^bb30:  // pred: ^bb29
  %115 = llvm.getelementptr %96[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %116 = llvm.load %115 : !llvm.ptr -> !llvm.ptr
  %117 = llvm.mlir.zero : !llvm.ptr
  %118 = llvm.icmp "eq" %116, %117 : !llvm.ptr
  llvm.cond_br %118, ^bb33, ^bb31
^bb31:  // pred: ^bb30
  %119 = llvm.getelementptr %116[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %120 = llvm.load %119 : !llvm.ptr -> i64
  %121 = llvm.mlir.constant(1 : i64) : i64
  %122 = llvm.icmp "eq" %120, %121 : i64
  llvm.cond_br %122 weights([2000, 1]), ^bb32, ^bb45
^bb32:  // pred: ^bb31
  %123 = llvm.load %116 : !llvm.ptr -> i64
  %124 = llvm.icmp "eq" %123, %71 : i64
  llvm.cond_br %124 weights([2000, 1]), ^bb33, ^bb45
^bb33:  // 3 preds: ^bb30, ^bb32, ^bb45
  %125 = llvm.getelementptr %96[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %126 = llvm.load %125 : !llvm.ptr -> !llvm.ptr
  %127 = llvm.getelementptr %96[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %128 = llvm.load %127 : !llvm.ptr -> i64
  %129 = llvm.getelementptr %126[%128] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %130 = llvm.icmp "uge" %129, %126 : !llvm.ptr
  llvm.cond_br %130, ^bb34, ^bb37
^bb34:  // pred: ^bb33
  %131 = llvm.mlir.zero : !llvm.ptr
  %132 = llvm.icmp "ne" %126, %131 : !llvm.ptr
  llvm.cond_br %132 weights([2000, 1]), ^bb35, ^bb46
^bb35:  // 2 preds: ^bb34, ^bb46
  %133 = llvm.or %27, %29 : i64
  %134 = llvm.or %133, %71 : i64
  %135 = llvm.mlir.constant(2147483648 : i64) : i64
  %136 = llvm.icmp "ult" %134, %135 : i64
  llvm.cond_br %136 weights([2000, 1]), ^bb36, ^bb47
^bb36:  // 2 preds: ^bb35, ^bb47
  %137 = llvm.mlir.constant(0 : i64) : i64
  %138 = llvm.mlir.constant(1 : i64) : i64
  %139 = llvm.mlir.constant(0 : i64) : i64
  %140 = llvm.mlir.constant(1 : i64) : i64
  %141 = llvm.mlir.constant(0 : i64) : i64
  %142 = llvm.mlir.constant(1 : i64) : i64
  llvm.call @callee(%44, %44, %137, %27, %29, %29, %138, %86, %86, %139, %29, %71, %71, %140, %129, %129, %141, %27, %71, %71, %142) : (!llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64) -> ()
  %143 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %143 : i32
^bb37:  // 27 preds: ^bb0, ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb10, ^bb13, ^bb14, ^bb15, ^bb16, ^bb17, ^bb21, ^bb24, ^bb25, ^bb26, ^bb27, ^bb28, ^bb29, ^bb33, ^bb39, ^bb40, ^bb42, ^bb43, ^bb45, ^bb46, ^bb47
  %144 = llvm.mlir.addressof @__ffi_builder_table_matmul : !llvm.ptr
  %145 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %arg2, %144) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %145 : i32
^bb38:  // pred: ^bb2
  %146 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%146 : !llvm.ptr)
^bb39:  // 2 preds: ^bb8, ^bb9
  %147 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%11) : (!llvm.ptr) -> i1
  llvm.cond_br %147, ^bb10, ^bb37
^bb40:  // pred: ^bb11
  %148 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%11) : (!llvm.ptr) -> i1
  llvm.cond_br %148, ^bb12, ^bb37
^bb41:  // pred: ^bb12
  %149 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %150 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%149) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb13(%150 : !llvm.ptr)
^bb42:  // 2 preds: ^bb19, ^bb20
  %151 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%54) : (!llvm.ptr) -> i1
  llvm.cond_br %151, ^bb21, ^bb37
^bb43:  // pred: ^bb22
  %152 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%54) : (!llvm.ptr) -> i1
  llvm.cond_br %152, ^bb23, ^bb37
^bb44:  // pred: ^bb23
  %153 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %154 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%153) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb24(%154 : !llvm.ptr)
^bb45:  // 2 preds: ^bb31, ^bb32
  %155 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%96) : (!llvm.ptr) -> i1
  llvm.cond_br %155, ^bb33, ^bb37
^bb46:  // pred: ^bb34
  %156 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%96) : (!llvm.ptr) -> i1
  llvm.cond_br %156, ^bb35, ^bb37
^bb47:  // pred: ^bb35
  %157 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%11) : (!llvm.ptr) -> i1
  %158 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%54) : (!llvm.ptr) -> i1
  %159 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%96) : (!llvm.ptr) -> i1
  %160 = llvm.and %157, %158 : i1
  %161 = llvm.and %160, %159 : i1
  llvm.cond_br %161, ^bb36, ^bb37
}
