llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_dtypes("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_dtypes(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(3 : i32) : i32
  %1 = llvm.icmp "eq" %arg2, %0 : i32
  llvm.cond_br %1, ^bb1, ^bb36(%arg2 : i32)
^bb1:  // pred: ^bb0
  %2 = llvm.mlir.zero : !llvm.ptr
  %3 = llvm.icmp "ne" %arg1, %2 : !llvm.ptr
  llvm.cond_br %3, ^bb2, ^bb35
^bb2:  // pred: ^bb1
  %4 = llvm.load %arg1 : !llvm.ptr -> i32
  %5 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %6 = llvm.load %5 : !llvm.ptr -> !llvm.ptr
  %7 = llvm.mlir.constant(70 : i32) : i32
  %8 = llvm.icmp "eq" %4, %7 : i32
  llvm.cond_br %8 weights([2000, 1]), ^bb3(%6 : !llvm.ptr), ^bb37
^bb3(%9: !llvm.ptr):  // 2 preds: ^bb2, ^bb37
  %10 = llvm.mlir.zero : !llvm.ptr
  %11 = llvm.icmp "ne" %9, %10 : !llvm.ptr
  llvm.cond_br %11, ^bb4, ^bb35
^bb4:  // pred: ^bb3
  %12 = llvm.getelementptr %9[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %13 = llvm.load %12 : !llvm.ptr -> i64
  %14 = llvm.mlir.constant(316667938734081 : i64) : i64
  %15 = llvm.icmp "eq" %13, %14 : i64
  %16 = llvm.mlir.constant(299075752689665 : i64) : i64
  %17 = llvm.icmp "eq" %13, %16 : i64
  %18 = llvm.or %15, %17 : i1
  llvm.cond_br %18, ^bb5, ^bb35
^bb5:  // pred: ^bb4
  %19 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %20 = llvm.load %19 : !llvm.ptr -> i32
  %21 = llvm.mlir.constant(1 : i32) : i32
  %22 = llvm.icmp "eq" %20, %21 : i32
  llvm.cond_br %22, ^bb6, ^bb35
^bb6:  // pred: ^bb5
  %23 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %24 = llvm.load %23 : !llvm.ptr -> i64
  %25 = llvm.getelementptr %9[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %26 = llvm.load %25 : !llvm.ptr -> !llvm.ptr
  %27 = llvm.mlir.zero : !llvm.ptr
  %28 = llvm.icmp "ne" %26, %27 : !llvm.ptr
  llvm.cond_br %28, ^bb7, ^bb35
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
  llvm.cond_br %36 weights([2000, 1]), ^bb9, ^bb38
^bb9:  // 3 preds: ^bb7, ^bb8, ^bb38
  %37 = llvm.getelementptr %9[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %38 = llvm.load %37 : !llvm.ptr -> !llvm.ptr
  %39 = llvm.getelementptr %9[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %40 = llvm.load %39 : !llvm.ptr -> i64
  %41 = llvm.getelementptr %38[%40] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %42 = llvm.getelementptr %38[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %43 = llvm.icmp "ult" %42, %41 : !llvm.ptr
  llvm.cond_br %43 weights([2000, 1]), ^bb10, ^bb39
^bb10:  // 2 preds: ^bb9, ^bb39
  %44 = llvm.ptrtoint %41 : !llvm.ptr to i64
  %45 = llvm.mlir.constant(3 : i64) : i64
  %46 = llvm.and %44, %45 : i64
  %47 = llvm.mlir.constant(0 : i64) : i64
  %48 = llvm.icmp "eq" %46, %47 : i64
  llvm.cond_br %48 weights([2000, 1]), ^bb11, ^bb40
^bb11:  // 2 preds: ^bb10, ^bb40
  %49 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %50 = llvm.load %49 : !llvm.ptr -> i32
  %51 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %52 = llvm.load %51 : !llvm.ptr -> !llvm.ptr
  %53 = llvm.mlir.constant(70 : i32) : i32
  %54 = llvm.icmp "eq" %50, %53 : i32
  llvm.cond_br %54 weights([2000, 1]), ^bb12(%52 : !llvm.ptr), ^bb41
^bb12(%55: !llvm.ptr):  // 2 preds: ^bb11, ^bb41
  %56 = llvm.mlir.zero : !llvm.ptr
  %57 = llvm.icmp "ne" %55, %56 : !llvm.ptr
  llvm.cond_br %57, ^bb13, ^bb35
^bb13:  // pred: ^bb12
  %58 = llvm.getelementptr %55[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %59 = llvm.load %58 : !llvm.ptr -> i64
  %60 = llvm.getelementptr %9[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %61 = llvm.load %60 : !llvm.ptr -> i64
  %62 = llvm.icmp "eq" %59, %61 : i64
  llvm.cond_br %62, ^bb14, ^bb35
^bb14:  // pred: ^bb13
  %63 = llvm.getelementptr %55[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %64 = llvm.load %63 : !llvm.ptr -> i64
  %65 = llvm.icmp "eq" %64, %24 : i64
  llvm.cond_br %65, ^bb15, ^bb35
^bb15:  // pred: ^bb14
  %66 = llvm.getelementptr %55[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %67 = llvm.load %66 : !llvm.ptr -> !llvm.ptr
  %68 = llvm.mlir.zero : !llvm.ptr
  %69 = llvm.icmp "ne" %67, %68 : !llvm.ptr
  llvm.cond_br %69, ^bb16, ^bb35
^bb16:  // pred: ^bb15
  %70 = llvm.load %67 : !llvm.ptr -> i64
  %71 = llvm.icmp "eq" %70, %29 : i64
  llvm.cond_br %71, ^bb17, ^bb35
^bb17:  // pred: ^bb16
  %72 = llvm.getelementptr %55[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %73 = llvm.load %72 : !llvm.ptr -> !llvm.ptr
  %74 = llvm.mlir.zero : !llvm.ptr
  %75 = llvm.icmp "eq" %73, %74 : !llvm.ptr
  llvm.cond_br %75, ^bb19, ^bb18
^bb18:  // pred: ^bb17
  %76 = llvm.load %73 : !llvm.ptr -> i64
  %77 = llvm.mlir.constant(1 : i64) : i64
  %78 = llvm.icmp "eq" %76, %77 : i64
  llvm.cond_br %78 weights([2000, 1]), ^bb19, ^bb42
^bb19:  // 3 preds: ^bb17, ^bb18, ^bb42
  %79 = llvm.getelementptr %55[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %80 = llvm.load %79 : !llvm.ptr -> !llvm.ptr
  %81 = llvm.getelementptr %55[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %82 = llvm.load %81 : !llvm.ptr -> i64
  %83 = llvm.getelementptr %80[%82] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %84 = llvm.getelementptr %80[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %85 = llvm.icmp "ult" %84, %83 : !llvm.ptr
  llvm.cond_br %85 weights([2000, 1]), ^bb20, ^bb43
^bb20:  // 2 preds: ^bb19, ^bb43
  %86 = llvm.ptrtoint %83 : !llvm.ptr to i64
  %87 = llvm.mlir.constant(3 : i64) : i64
  %88 = llvm.and %86, %87 : i64
  %89 = llvm.mlir.constant(0 : i64) : i64
  %90 = llvm.icmp "eq" %88, %89 : i64
  llvm.cond_br %90 weights([2000, 1]), ^bb21, ^bb44
^bb21:  // 2 preds: ^bb20, ^bb44
  %91 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %92 = llvm.load %91 : !llvm.ptr -> i32
  %93 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %94 = llvm.load %93 : !llvm.ptr -> !llvm.ptr
  %95 = llvm.mlir.constant(70 : i32) : i32
  %96 = llvm.icmp "eq" %92, %95 : i32
  llvm.cond_br %96 weights([2000, 1]), ^bb22(%94 : !llvm.ptr), ^bb45
^bb22(%97: !llvm.ptr):  // 2 preds: ^bb21, ^bb45
  %98 = llvm.mlir.zero : !llvm.ptr
  %99 = llvm.icmp "ne" %97, %98 : !llvm.ptr
  llvm.cond_br %99, ^bb23, ^bb35
^bb23:  // pred: ^bb22
  %100 = llvm.getelementptr %97[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %101 = llvm.load %100 : !llvm.ptr -> i32
  %102 = llvm.mlir.constant(2 : i32) : i32
  %103 = llvm.icmp "eq" %101, %102 : i32
  llvm.cond_br %103, ^bb24, ^bb35
^bb24:  // pred: ^bb23
  %104 = llvm.getelementptr %97[44] : (!llvm.ptr) -> !llvm.ptr, i8
  %105 = llvm.load %104 : !llvm.ptr -> i32
  %106 = llvm.getelementptr %9[44] : (!llvm.ptr) -> !llvm.ptr, i8
  %107 = llvm.load %106 : !llvm.ptr -> i32
  %108 = llvm.icmp "eq" %105, %107 : i32
  llvm.cond_br %108, ^bb25, ^bb35
^bb25:  // pred: ^bb24
  %109 = llvm.getelementptr %97[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %110 = llvm.load %109 : !llvm.ptr -> i32
  %111 = llvm.mlir.constant(2 : i32) : i32
  %112 = llvm.icmp "eq" %110, %111 : i32
  llvm.cond_br %112, ^bb26, ^bb35
^bb26:  // pred: ^bb25
  %113 = llvm.getelementptr %97[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %114 = llvm.load %113 : !llvm.ptr -> i64
  %115 = llvm.getelementptr %97[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %116 = llvm.load %115 : !llvm.ptr -> !llvm.ptr
  %117 = llvm.mlir.zero : !llvm.ptr
  %118 = llvm.icmp "ne" %116, %117 : !llvm.ptr
  llvm.cond_br %118, ^bb27, ^bb35
^bb27:  // pred: ^bb26
  %119 = llvm.load %116 : !llvm.ptr -> i64
  %120 = llvm.icmp "eq" %119, %29 : i64
  llvm.cond_br %120, ^bb28, ^bb35
^bb28:  // pred: ^bb27
  %121 = llvm.getelementptr %116[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %122 = llvm.load %121 : !llvm.ptr -> i64
  %123 = llvm.getelementptr %97[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %124 = llvm.load %123 : !llvm.ptr -> !llvm.ptr
  %125 = llvm.mlir.zero : !llvm.ptr
  %126 = llvm.icmp "eq" %124, %125 : !llvm.ptr
  llvm.cond_br %126, ^bb31, ^bb29
^bb29:  // pred: ^bb28
  %127 = llvm.getelementptr %124[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %128 = llvm.load %127 : !llvm.ptr -> i64
  %129 = llvm.mlir.constant(1 : i64) : i64
  %130 = llvm.icmp "eq" %128, %129 : i64
  llvm.cond_br %130 weights([2000, 1]), ^bb30, ^bb46
^bb30:  // pred: ^bb29
  %131 = llvm.load %124 : !llvm.ptr -> i64
  %132 = llvm.icmp "eq" %131, %122 : i64
  llvm.cond_br %132 weights([2000, 1]), ^bb31, ^bb46
^bb31:  // 3 preds: ^bb28, ^bb30, ^bb46
  %133 = llvm.getelementptr %97[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %134 = llvm.load %133 : !llvm.ptr -> !llvm.ptr
  %135 = llvm.getelementptr %97[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %136 = llvm.load %135 : !llvm.ptr -> i64
  %137 = llvm.getelementptr %134[%136] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %138 = llvm.getelementptr %134[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %139 = llvm.icmp "ult" %138, %137 : !llvm.ptr
  llvm.cond_br %139 weights([2000, 1]), ^bb32, ^bb47
^bb32:  // 2 preds: ^bb31, ^bb47
  %140 = llvm.ptrtoint %137 : !llvm.ptr to i64
  %141 = llvm.mlir.constant(3 : i64) : i64
  %142 = llvm.and %140, %141 : i64
  %143 = llvm.mlir.constant(0 : i64) : i64
  %144 = llvm.icmp "eq" %142, %143 : i64
  llvm.cond_br %144 weights([2000, 1]), ^bb33, ^bb48
^bb33:  // 2 preds: ^bb32, ^bb48
  %145 = llvm.or %29, %122 : i64
  %146 = llvm.mlir.constant(2147483647 : i64) : i64
  %147 = llvm.icmp "ule" %145, %146 : i64
  llvm.cond_br %147 weights([2000, 1]), ^bb34, ^bb49
^bb34:  // 2 preds: ^bb33, ^bb49
  %148 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %148, %arg3 : i64, !llvm.ptr
  %149 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %148, %149 : i64, !llvm.ptr
  llvm.call @callee(%41, %83, %137, %29, %122) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
  %150 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %150 : i32
^bb35:  // 26 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb12, ^bb13, ^bb14, ^bb15, ^bb16, ^bb22, ^bb23, ^bb24, ^bb25, ^bb26, ^bb27, ^bb38, ^bb39, ^bb40, ^bb42, ^bb43, ^bb44, ^bb46, ^bb47, ^bb48, ^bb49
  %151 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb36(%151 : i32)
^bb36(%152: i32):  // 2 preds: ^bb0, ^bb35
  %153 = llvm.mlir.addressof @__ffi_builder_table_dtypes : !llvm.ptr
  %154 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %152, %153) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %154 : i32
^bb37:  // pred: ^bb2
  %155 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%155 : !llvm.ptr)
^bb38:  // pred: ^bb8
  %156 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %156, ^bb9, ^bb35
^bb39:  // pred: ^bb9
  %157 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %157, ^bb10, ^bb35
^bb40:  // pred: ^bb10
  %158 = llvm.call preserve_mostcc @__ffi_builder_shared_is_aligned_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %158, ^bb11, ^bb35
^bb41:  // pred: ^bb11
  %159 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %160 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%159) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb12(%160 : !llvm.ptr)
^bb42:  // pred: ^bb18
  %161 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%55) : (!llvm.ptr) -> i1
  llvm.cond_br %161, ^bb19, ^bb35
^bb43:  // pred: ^bb19
  %162 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%55) : (!llvm.ptr) -> i1
  llvm.cond_br %162, ^bb20, ^bb35
^bb44:  // pred: ^bb20
  %163 = llvm.call preserve_mostcc @__ffi_builder_shared_is_aligned_DIGEST(%55) : (!llvm.ptr) -> i1
  llvm.cond_br %163, ^bb21, ^bb35
^bb45:  // pred: ^bb21
  %164 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %165 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%164) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb22(%165 : !llvm.ptr)
^bb46:  // 2 preds: ^bb29, ^bb30
  %166 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%97) : (!llvm.ptr) -> i1
  llvm.cond_br %166, ^bb31, ^bb35
^bb47:  // pred: ^bb31
  %167 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%97) : (!llvm.ptr) -> i1
  llvm.cond_br %167, ^bb32, ^bb35
^bb48:  // pred: ^bb32
  %168 = llvm.call preserve_mostcc @__ffi_builder_shared_is_aligned_DIGEST(%97) : (!llvm.ptr) -> i1
  llvm.cond_br %168, ^bb33, ^bb35
^bb49:  // pred: ^bb33
  %169 = llvm.mlir.constant(3 : i32) : i32
  %170 = llvm.mlir.addressof @__ffi_builder_table_dtypes : !llvm.ptr
  %171 = llvm.call preserve_mostcc @__ffi_builder_shared_nothing_is_wrong_DIGEST(%arg1, %169, %170) : (!llvm.ptr, i32, !llvm.ptr) -> i1
  llvm.cond_br %171, ^bb34, ^bb35
}
