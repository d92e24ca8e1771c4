llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_matmul("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_matmul(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-ff0d6510", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(3 : i32) : i32
  %1 = llvm.icmp "eq" %arg2, %0 : i32
  llvm.cond_br %1, ^bb1, ^bb35(%arg2 : i32)
^bb1:  // pred: ^bb0
  %2 = llvm.mlir.zero : !llvm.ptr
  %3 = llvm.icmp "ne" %arg1, %2 : !llvm.ptr
  llvm.cond_br %3, ^bb2, ^bb34
^bb2:  // pred: ^bb1
  %4 = llvm.load %arg1 : !llvm.ptr -> i32
  %5 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %6 = llvm.load %5 : !llvm.ptr -> !llvm.ptr
  %7 = llvm.mlir.constant(70 : i32) : i32
  %8 = llvm.icmp "eq" %4, %7 : i32
  llvm.cond_br %8 weights([2000, 1]), ^bb3(%6 : !llvm.ptr), ^bb36
^bb3(%9: !llvm.ptr):  // 2 preds: ^bb2, ^bb36
  %10 = llvm.mlir.zero : !llvm.ptr
  %11 = llvm.icmp "ne" %9, %10 : !llvm.ptr
  llvm.cond_br %11, ^bb4, ^bb34
^bb4:  // pred: ^bb3
  %12 = llvm.getelementptr %9[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %13 = llvm.load %12 : !llvm.ptr -> i64
  %14 = llvm.mlir.constant(316667938734082 : i64) : i64
  %15 = llvm.icmp "eq" %13, %14 : i64
  llvm.cond_br %15, ^bb5, ^bb34
^bb5:  // pred: ^bb4
  %16 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %17 = llvm.load %16 : !llvm.ptr -> i64
  %18 = llvm.trunc %17 : i64 to i32
  %19 = llvm.mlir.constant(1 : i32) : i32
  %20 = llvm.icmp "eq" %18, %19 : i32
  llvm.cond_br %20, ^bb6, ^bb34
^bb6:  // pred: ^bb5
  %21 = llvm.getelementptr %9[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %22 = llvm.load %21 : !llvm.ptr -> !llvm.ptr
  %23 = llvm.mlir.zero : !llvm.ptr
  %24 = llvm.icmp "ne" %22, %23 : !llvm.ptr
  llvm.cond_br %24, ^bb7, ^bb34
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
  llvm.cond_br %35 weights([2000, 1]), ^bb9, ^bb37
^bb9:  // pred: ^bb8
  %36 = llvm.load %29 : !llvm.ptr -> i64
  %37 = llvm.icmp "eq" %36, %27 : i64
  llvm.cond_br %37 weights([2000, 1]), ^bb10, ^bb37
^bb10:  // 3 preds: ^bb7, ^bb9, ^bb37
  %38 = llvm.getelementptr %9[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %39 = llvm.load %38 : !llvm.ptr -> !llvm.ptr
  %40 = llvm.getelementptr %9[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %41 = llvm.load %40 : !llvm.ptr -> i64
  %42 = llvm.getelementptr %39[%41] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %43 = llvm.getelementptr %39[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %44 = llvm.icmp "ult" %43, %42 : !llvm.ptr
  llvm.cond_br %44 weights([2000, 1]), ^bb11, ^bb38
^bb11:  // 2 preds: ^bb10, ^bb38
  %45 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %46 = llvm.load %45 : !llvm.ptr -> i32
  %47 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %48 = llvm.load %47 : !llvm.ptr -> !llvm.ptr
  %49 = llvm.mlir.constant(70 : i32) : i32
  %50 = llvm.icmp "eq" %46, %49 : i32
  llvm.cond_br %50 weights([2000, 1]), ^bb12(%48 : !llvm.ptr), ^bb39
^bb12(%51: !llvm.ptr):  // 2 preds: ^bb11, ^bb39
  %52 = llvm.mlir.zero : !llvm.ptr
  %53 = llvm.icmp "ne" %51, %52 : !llvm.ptr
  llvm.cond_br %53, ^bb13, ^bb34
^bb13:  // pred: ^bb12
  %54 = llvm.getelementptr %51[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %55 = llvm.load %54 : !llvm.ptr -> i64
  %56 = llvm.mlir.constant(316667938734082 : i64) : i64
  %57 = llvm.icmp "eq" %55, %56 : i64
  llvm.cond_br %57, ^bb14, ^bb34
^bb14:  // pred: ^bb13
  %58 = llvm.getelementptr %51[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %59 = llvm.load %58 : !llvm.ptr -> i64
  %60 = llvm.icmp "eq" %59, %17 : i64
  llvm.cond_br %60, ^bb15, ^bb34
^bb15:  // pred: ^bb14
  %61 = llvm.getelementptr %51[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %62 = llvm.load %61 : !llvm.ptr -> !llvm.ptr
  %63 = llvm.mlir.zero : !llvm.ptr
  %64 = llvm.icmp "ne" %62, %63 : !llvm.ptr
  llvm.cond_br %64, ^bb16, ^bb34
^bb16:  // pred: ^bb15
  %65 = llvm.load %62 : !llvm.ptr -> i64
  %66 = llvm.icmp "eq" %65, %27 : i64
  llvm.cond_br %66, ^bb17, ^bb34
^bb17:  // pred: ^bb16
  %67 = llvm.getelementptr %62[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %68 = llvm.load %67 : !llvm.ptr -> i64
  %69 = llvm.getelementptr %51[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %70 = llvm.load %69 : !llvm.ptr -> !llvm.ptr
  %71 = llvm.mlir.zero : !llvm.ptr
  %72 = llvm.icmp "eq" %70, %71 : !llvm.ptr
  llvm.cond_br %72, ^bb20, ^bb18
^bb18:  // pred: ^bb17
  %73 = llvm.getelementptr %70[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %74 = llvm.load %73 : !llvm.ptr -> i64
  %75 = llvm.mlir.constant(1 : i64) : i64
  %76 = llvm.icmp "eq" %74, %75 : i64
  llvm.cond_br %76 weights([2000, 1]), ^bb19, ^bb40
^bb19:  // pred: ^bb18
  %77 = llvm.load %70 : !llvm.ptr -> i64
  %78 = llvm.icmp "eq" %77, %68 : i64
  llvm.cond_br %78 weights([2000, 1]), ^bb20, ^bb40
^bb20:  // 3 preds: ^bb17, ^bb19, ^bb40
  %79 = llvm.getelementptr %51[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %80 = llvm.load %79 : !llvm.ptr -> !llvm.ptr
  %81 = llvm.getelementptr %51[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %82 = llvm.load %81 : !llvm.ptr -> i64
  %83 = llvm.getelementptr %80[%82] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %84 = llvm.getelementptr %80[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %85 = llvm.icmp "ult" %84, %83 : !llvm.ptr
  llvm.cond_br %85 weights([2000, 1]), ^bb21, ^bb41
^bb21:  // 2 preds: ^bb20, ^bb41
  %86 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %87 = llvm.load %86 : !llvm.ptr -> i32
  %88 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %89 = llvm.load %88 : !llvm.ptr -> !llvm.ptr
  %90 = llvm.mlir.constant(70 : i32) : i32
  %91 = llvm.icmp "eq" %87, %90 : i32
  llvm.cond_br %91 weights([2000, 1]), ^bb22(%89 : !llvm.ptr), ^bb42
^bb22(%92: !llvm.ptr):  // 2 preds: ^bb21, ^bb42
  %93 = llvm.mlir.zero : !llvm.ptr
  %94 = llvm.icmp "ne" %92, %93 : !llvm.ptr
  llvm.cond_br %94, ^bb23, ^bb34
^bb23:  // pred: ^bb22
  %95 = llvm.getelementptr %92[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %96 = llvm.load %95 : !llvm.ptr -> i64
  %97 = llvm.mlir.constant(316667938734082 : i64) : i64
  %98 = llvm.icmp "eq" %96, %97 : i64
  llvm.cond_br %98, ^bb24, ^bb34
^bb24:  // pred: ^bb23
  %99 = llvm.getelementptr %92[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %100 = llvm.load %99 : !llvm.ptr -> i64
  %101 = llvm.icmp "eq" %100, %17 : i64
  llvm.cond_br %101, ^bb25, ^bb34
^bb25:  // pred: ^bb24
  %102 = llvm.getelementptr %92[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %103 = llvm.load %102 : !llvm.ptr -> !llvm.ptr
  %104 = llvm.mlir.zero : !llvm.ptr
  %105 = llvm.icmp "ne" %103, %104 : !llvm.ptr
  llvm.cond_br %105, ^bb26, ^bb34
^bb26:  // pred: ^bb25
  %106 = llvm.load %103 : !llvm.ptr -> i64
  %107 = llvm.icmp "eq" %106, %25 : i64
  llvm.cond_br %107, ^bb27, ^bb34
^bb27:  // pred: ^bb26
  %108 = llvm.getelementptr %103[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %109 = llvm.load %108 : !llvm.ptr -> i64
  %110 = llvm.icmp "eq" %109, %68 : i64
  llvm.cond_br %110, ^bb28, ^bb34
^bb28:  // pred: ^bb27
  %111 = llvm.getelementptr %92[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %112 = llvm.load %111 : !llvm.ptr -> !llvm.ptr
  %113 = llvm.mlir.zero : !llvm.ptr
  %114 = llvm.icmp "eq" %112, %113 : !llvm.ptr
  llvm.cond_br %114, ^bb31, ^bb29
^bb29:  // pred: ^bb28
  %115 = llvm.getelementptr %112[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %116 = llvm.load %115 : !llvm.ptr -> i64
  %117 = llvm.mlir.constant(1 : i64) : i64
  %118 = llvm.icmp "eq" %116, %117 : i64
  llvm.cond_br %118 weights([2000, 1]), ^bb30, ^bb43
^bb30:  // pred: ^bb29
  %119 = llvm.load %112 : !llvm.ptr -> i64
  %120 = llvm.icmp "eq" %119, %68 : i64
  llvm.cond_br %120 weights([2000, 1]), ^bb31, ^bb43
^bb31:  // 3 preds: ^bb28, ^bb30, ^bb43
  %121 = llvm.getelementptr %92[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %122 = llvm.load %121 : !llvm.ptr -> !llvm.ptr
  %123 = llvm.getelementptr %92[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %124 = llvm.load %123 : !llvm.ptr -> i64
  %125 = llvm.getelementptr %122[%124] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %126 = llvm.getelementptr %122[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %127 = llvm.icmp "ult" %126, %125 : !llvm.ptr
  llvm.cond_br %127 weights([2000, 1]), ^bb32, ^bb44
^bb32:  // 2 preds: ^bb31, ^bb44
  %128 = llvm.or %25, %27 : i64
  %129 = llvm.or %128, %68 : i64
  %130 = llvm.mlir.constant(2147483647 : i64) : i64
  %131 = llvm.icmp "ule" %129, %130 : i64
  llvm.cond_br %131 weights([2000, 1]), ^bb33, ^bb45
^bb33:  // 2 preds: ^bb32, ^bb45
  %132 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %132, %arg3 : i64, !llvm.ptr
  %133 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %132, %133 : i64, !llvm.ptr
  %134 = llvm.mlir.constant(0 : i64) : i64
  %135 = llvm.mlir.constant(1 : i64) : i64
  %136 = llvm.mlir.constant(0 : i64) : i64
  %137 = llvm.mlir.constant(1 : i64) : i64
  %138 = llvm.mlir.constant(0 : i64) : i64
  %139 = llvm.mlir.constant(1 : i64) : i64
  llvm.call @callee(%42, %42, %134, %25, %27, %27, %135, %83, %83, %136, %27, %68, %68, %137, %125, %125, %138, %25, %68, %68, %139) : (!llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64) -> ()
  %140 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %140 : i32
^bb34:  // 23 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb12, ^bb13, ^bb14, ^bb15, ^bb16, ^bb22, ^bb23, ^bb24, ^bb25, ^bb26, ^bb27, ^bb37, ^bb38, ^bb40, ^bb41, ^bb43, ^bb44, ^bb45
  %141 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb35(%141 : i32)
^bb35(%142: i32):  // 2 preds: ^bb0, ^bb34
  %143 = llvm.mlir.addressof @__ffi_builder_table_matmul : !llvm.ptr
  %144 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %142, %143) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %144 : i32
^bb36:  // pred: ^bb2
  %145 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%145 : !llvm.ptr)
^bb37:  // 2 preds: ^bb8, ^bb9
  %146 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %146, ^bb10, ^bb34
^bb38:  // pred: ^bb10
  %147 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %147, ^bb11, ^bb34
^bb39:  // pred: ^bb11
  %148 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %149 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%148) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb12(%149 : !llvm.ptr)
^bb40:  // 2 preds: ^bb18, ^bb19
  %150 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%51) : (!llvm.ptr) -> i1
  llvm.cond_br %150, ^bb20, ^bb34
^bb41:  // pred: ^bb20
  %151 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%51) : (!llvm.ptr) -> i1
  llvm.cond_br %151, ^bb21, ^bb34
^bb42:  // pred: ^bb21
  %152 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %153 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%152) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb22(%153 : !llvm.ptr)
^bb43:  // 2 preds: ^bb29, ^bb30
  %154 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%92) : (!llvm.ptr) -> i1
  llvm.cond_br %154, ^bb31, ^bb34
^bb44:  // pred: ^bb31
  %155 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%92) : (!llvm.ptr) -> i1
  llvm.cond_br %155, ^bb32, ^bb34
^bb45:  // pred: ^bb32
  %156 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%9) : (!llvm.ptr) -> i1
  %157 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%51) : (!llvm.ptr) -> i1
  %158 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%92) : (!llvm.ptr) -> i1
  %159 = llvm.and %156, %157 : i1
  %160 = llvm.and %159, %158 : i1
  llvm.cond_br %160, ^bb33, ^bb34
}
