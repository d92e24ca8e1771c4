llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_apart("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_apart(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(2 : i32) : i32
  %1 = llvm.alloca %0 x i64 : (i32) -> !llvm.ptr
  %2 = llvm.mlir.constant(2 : i32) : i32
  %3 = llvm.alloca %2 x i64 : (i32) -> !llvm.ptr
  %4 = llvm.mlir.constant(3 : i32) : i32
  %5 = llvm.icmp "eq" %arg2, %4 : i32
  llvm.cond_br %5, ^bb1, ^bb32(%arg2 : i32)
^bb1:  // pred: ^bb0
  %6 = llvm.mlir.zero : !llvm.ptr
  %7 = llvm.icmp "ne" %arg1, %6 : !llvm.ptr
  llvm.cond_br %7, ^bb2, ^bb31
^bb2:  // pred: ^bb1
  %8 = llvm.load %arg1 : !llvm.ptr -> i32
  %9 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %10 = llvm.load %9 : !llvm.ptr -> !llvm.ptr
  %11 = llvm.mlir.constant(70 : i32) : i32
  %12 = llvm.icmp "eq" %8, %11 : i32
  llvm.cond_br %12 weights([2000, 1]), ^bb3(%10 : !llvm.ptr), ^bb33
^bb3(%13: !llvm.ptr):  // 2 preds: ^bb2, ^bb33
  %14 = llvm.mlir.zero : !llvm.ptr
  %15 = llvm.icmp "ne" %13, %14 : !llvm.ptr
  llvm.cond_br %15, ^bb4, ^bb31
^bb4:  // pred: ^bb3
  %16 = llvm.getelementptr %13[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %17 = llvm.load %16 : !llvm.ptr -> i32
  %18 = llvm.zext %17 : i32 to i64
  %19 = llvm.mlir.constant(1 : i64) : i64
  %20 = llvm.xor %18, %19 : i64
  %21 = llvm.getelementptr %13[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %22 = llvm.load %21 : !llvm.ptr -> i64
  %23 = llvm.mlir.constant(316667938734081 : i64) : i64
  %24 = llvm.xor %22, %23 : i64
  %25 = llvm.or %24, %20 : i64
  %26 = llvm.mlir.constant(0 : i64) : i64
  %27 = llvm.icmp "eq" %25, %26 : i64
  llvm.cond_br %27, ^bb5, ^bb31
^bb5:  // pred: ^bb4
  %28 = llvm.getelementptr %13[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %29 = llvm.load %28 : !llvm.ptr -> i64
  %30 = llvm.getelementptr %13[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %31 = llvm.load %30 : !llvm.ptr -> !llvm.ptr
  %32 = llvm.mlir.zero : !llvm.ptr
  %33 = llvm.icmp "ne" %31, %32 : !llvm.ptr
  llvm.cond_br %33, ^bb6, ^bb31
^bb6:  // pred: ^bb5
  %34 = llvm.load %31 : !llvm.ptr -> i64
  %35 = llvm.getelementptr %13[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %36 = llvm.load %35 : !llvm.ptr -> !llvm.ptr
  %37 = llvm.mlir.zero : !llvm.ptr
  %38 = llvm.icmp "eq" %36, %37 : !llvm.ptr
  llvm.cond_br %38, ^bb8, ^bb7
^bb7:  // pred: ^bb6
  %39 = llvm.load %36 : !llvm.ptr -> i64
  %40 = llvm.mlir.constant(1 : i64) : i64
  %41 = llvm.icmp "eq" %39, %40 : i64
  llvm.cond_br %41 weights([2000, 1]), ^bb8, ^bb34
^bb8:  // 3 preds: ^bb6, ^bb7, ^bb34
  %42 = llvm.getelementptr %13[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %43 = llvm.load %42 : !llvm.ptr -> !llvm.ptr
  %44 = llvm.getelementptr %13[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %45 = llvm.load %44 : !llvm.ptr -> i64
  %46 = llvm.getelementptr %43[%45] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %47 = llvm.getelementptr %43[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %48 = llvm.icmp "ult" %47, %46 : !llvm.ptr
  llvm.cond_br %48 weights([2000, 1]), ^bb9, ^bb35
^bb9:  // 2 preds: ^bb8, ^bb35
  %49 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %50 = llvm.load %49 : !llvm.ptr -> i32
  %51 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %52 = llvm.load %51 : !llvm.ptr -> !llvm.ptr
  %53 = llvm.mlir.constant(70 : i32) : i32
  %54 = llvm.icmp "eq" %50, %53 : i32
  llvm.cond_br %54 weights([2000, 1]), ^bb10(%52 : !llvm.ptr), ^bb36
^bb10(%55: !llvm.ptr):  // 2 preds: ^bb9, ^bb36
  %56 = llvm.mlir.zero : !llvm.ptr
  %57 = llvm.icmp "ne" %55, %56 : !llvm.ptr
  llvm.cond_br %57, ^bb11, ^bb31
^bb11:  // pred: ^bb10
  %58 = llvm.getelementptr %55[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %59 = llvm.load %58 : !llvm.ptr -> i64
  %60 = llvm.mlir.constant(290296839536641 : i64) : i64
  %61 = llvm.icmp "eq" %59, %60 : i64
  llvm.cond_br %61, ^bb12, ^bb31
^bb12:  // pred: ^bb11
  %62 = llvm.getelementptr %55[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %63 = llvm.load %62 : !llvm.ptr -> i64
  %64 = llvm.icmp "eq" %63, %29 : i64
  llvm.cond_br %64, ^bb13, ^bb31
^bb13:  // pred: ^bb12
  %65 = llvm.getelementptr %55[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %66 = llvm.load %65 : !llvm.ptr -> !llvm.ptr
  %67 = llvm.mlir.zero : !llvm.ptr
  %68 = llvm.icmp "ne" %66, %67 : !llvm.ptr
  llvm.cond_br %68, ^bb14, ^bb31
^bb14:  // pred: ^bb13
  %69 = llvm.load %66 : !llvm.ptr -> i64
  %70 = llvm.icmp "eq" %69, %34 : i64
  llvm.cond_br %70, ^bb15, ^bb31
^bb15:  // pred: ^bb14
  %71 = llvm.getelementptr %55[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %72 = llvm.load %71 : !llvm.ptr -> !llvm.ptr
  %73 = llvm.getelementptr %55[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %74 = llvm.load %73 : !llvm.ptr -> i64
  %75 = llvm.getelementptr %72[%74] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %76 = llvm.getelementptr %72[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %77 = llvm.icmp "ult" %76, %75 : !llvm.ptr
  llvm.cond_br %77 weights([2000, 1]), ^bb16, ^bb37
^bb16:  // 2 preds: ^bb15, ^bb37
  %78 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %79 = llvm.load %78 : !llvm.ptr -> i32
  %80 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %81 = llvm.load %80 : !llvm.ptr -> !llvm.ptr
  %82 = llvm.mlir.constant(70 : i32) : i32
  %83 = llvm.icmp "eq" %79, %82 : i32
  llvm.cond_br %83 weights([2000, 1]), ^bb17(%81 : !llvm.ptr), ^bb38
^bb17(%84: !llvm.ptr):  // 2 preds: ^bb16, ^bb38
  %85 = llvm.mlir.zero : !llvm.ptr
  %86 = llvm.icmp "ne" %84, %85 : !llvm.ptr
  llvm.cond_br %86, ^bb18, ^bb31
^bb18:  // pred: ^bb17
  %87 = llvm.getelementptr %84[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %88 = llvm.load %87 : !llvm.ptr -> i64
  %89 = llvm.mlir.constant(316667938734081 : i64) : i64
  %90 = llvm.icmp "eq" %88, %89 : i64
  llvm.cond_br %90, ^bb19, ^bb31
^bb19:  // pred: ^bb18
  %91 = llvm.getelementptr %84[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %92 = llvm.load %91 : !llvm.ptr -> i64
  %93 = llvm.icmp "eq" %92, %29 : i64
  llvm.cond_br %93, ^bb20, ^bb31
^bb20:  // pred: ^bb19
  %94 = llvm.getelementptr %84[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %95 = llvm.load %94 : !llvm.ptr -> !llvm.ptr
  %96 = llvm.mlir.zero : !llvm.ptr
  %97 = llvm.icmp "ne" %95, %96 : !llvm.ptr
  llvm.cond_br %97, ^bb21, ^bb31
^bb21:  // pred: ^bb20
  %98 = llvm.load %95 : !llvm.ptr -> i64
  %99 = llvm.icmp "eq" %98, %34 : i64
  llvm.cond_br %99, ^bb22, ^bb31
^bb22:  // pred: ^bb21
  %100 = llvm.getelementptr %84[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %101 = llvm.load %100 : !llvm.ptr -> !llvm.ptr
  %102 = llvm.mlir.zero : !llvm.ptr
  %103 = llvm.icmp "eq" %101, %102 : !llvm.ptr
  llvm.cond_br %103, ^bb24, ^bb23
^bb23:  // pred: ^bb22
  %104 = llvm.load %101 : !llvm.ptr -> i64
  %105 = llvm.mlir.constant(1 : i64) : i64
  %106 = llvm.icmp "eq" %104, %105 : i64
  llvm.cond_br %106 weights([2000, 1]), ^bb24, ^bb39
^bb24:  // 3 preds: ^bb22, ^bb23, ^bb39
  %107 = llvm.getelementptr %84[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %108 = llvm.load %107 : !llvm.ptr -> !llvm.ptr
  %109 = llvm.getelementptr %84[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %110 = llvm.load %109 : !llvm.ptr -> i64
  %111 = llvm.getelementptr %108[%110] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %112 = llvm.getelementptr %108[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %113 = llvm.icmp "ult" %112, %111 : !llvm.ptr
  llvm.cond_br %113 weights([2000, 1]), ^bb25, ^bb40
^bb25:  // 2 preds: ^bb24, ^bb40
  %114 = llvm.ptrtoint %111 : !llvm.ptr to i64
  %115 = llvm.ptrtoint %46 : !llvm.ptr to i64
  %116 = llvm.sub %115, %114 : i64
  %117 = llvm.mlir.constant(2 : i64) : i64
  %118 = llvm.lshr %116, %117 : i64
  %119 = llvm.icmp "ule" %34, %118 : i64
  llvm.cond_br %119, ^bb26, ^bb41
^bb26:  // pred: ^bb25
  %120 = llvm.sub %114, %115 : i64
  %121 = llvm.mlir.constant(2 : i64) : i64
  %122 = llvm.lshr %120, %121 : i64
  %123 = llvm.icmp "ule" %34, %122 : i64
  llvm.cond_br %123, ^bb27, ^bb41
^bb27:  // 2 preds: ^bb26, ^bb41
  %124 = llvm.call preserve_mostcc @__ffi_builder_shared_extent_DIGEST(%84, %3) : (!llvm.ptr, !llvm.ptr) -> i1
  %125 = llvm.call preserve_mostcc @__ffi_builder_shared_extent_DIGEST(%55, %1) : (!llvm.ptr, !llvm.ptr) -> i1
  %126 = llvm.load %3 : !llvm.ptr -> i64
  %127 = llvm.getelementptr %3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %128 = llvm.load %127 : !llvm.ptr -> i64
  %129 = llvm.load %1 : !llvm.ptr -> i64
  %130 = llvm.getelementptr %1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %131 = llvm.load %130 : !llvm.ptr -> i64
  %132 = llvm.icmp "ult" %128, %129 : i64
  %133 = llvm.icmp "ult" %131, %126 : i64
  %134 = llvm.or %132, %133 : i1
  llvm.cond_br %134, ^bb28, ^bb42
^bb28:  // 2 preds: ^bb27, ^bb42
  %135 = llvm.ptrtoint %46 : !llvm.ptr to i64
  %136 = llvm.ptrtoint %111 : !llvm.ptr to i64
  %137 = llvm.or %135, %136 : i64
  %138 = llvm.mlir.constant(62 : i64) : i64
  %139 = llvm.shl %137, %138 : i64
  %140 = llvm.or %139, %34 : i64
  %141 = llvm.mlir.constant(2147483647 : i64) : i64
  %142 = llvm.icmp "ule" %140, %141 : i64
  llvm.cond_br %142 weights([2000, 1]), ^bb29, ^bb43
^bb29:  // 3 preds: ^bb28, ^bb30, ^bb44
  %143 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %143, %arg3 : i64, !llvm.ptr
  %144 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %143, %144 : i64, !llvm.ptr
  %145 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %145 : i32
^bb30:  // pred: ^bb43
  %146 = llvm.ptrtoint %46 : !llvm.ptr to i64
  %147 = llvm.ptrtoint %111 : !llvm.ptr to i64
  %148 = llvm.or %146, %147 : i64
  %149 = llvm.mlir.constant(62 : i64) : i64
  %150 = llvm.shl %148, %149 : i64
  %151 = llvm.mlir.constant(0 : i64) : i64
  %152 = llvm.icmp "eq" %150, %151 : i64
  llvm.cond_br %152 weights([2000, 1]), ^bb29, ^bb44
^bb31:  // 23 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb10, ^bb11, ^bb12, ^bb13, ^bb14, ^bb17, ^bb18, ^bb19, ^bb20, ^bb21, ^bb34, ^bb35, ^bb37, ^bb39, ^bb40, ^bb41, ^bb42, ^bb43, ^bb44
  %153 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb32(%153 : i32)
^bb32(%154: i32):  // 2 preds: ^bb0, ^bb31
  %155 = llvm.mlir.addressof @__ffi_builder_table_apart : !llvm.ptr
  %156 = llvm.mlir.constant(166 : i32) : i32
  %157 = llvm.call tail @__ffi_builder_shared_diagnose_overlaps_DIGEST(%arg1, %154, %155, %156) : (!llvm.ptr, i32, !llvm.ptr, i32) -> i32
  llvm.return %157 : i32
^bb33:  // pred: ^bb2
  %158 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%158 : !llvm.ptr)
^bb34:  // pred: ^bb7
  %159 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%13) : (!llvm.ptr) -> i1
  llvm.cond_br %159, ^bb8, ^bb31
^bb35:  // pred: ^bb8
  %160 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%13) : (!llvm.ptr) -> i1
  llvm.cond_br %160, ^bb9, ^bb31
^bb36:  // pred: ^bb9
  %161 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %162 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%161) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb10(%162 : !llvm.ptr)
^bb37:  // pred: ^bb15
  %163 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%55) : (!llvm.ptr) -> i1
  llvm.cond_br %163, ^bb16, ^bb31
^bb38:  // pred: ^bb16
  %164 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %165 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%164) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb17(%165 : !llvm.ptr)
^bb39:  // pred: ^bb23
  %166 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%84) : (!llvm.ptr) -> i1
  llvm.cond_br %166, ^bb24, ^bb31
^bb40:  // pred: ^bb24
  %167 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%84) : (!llvm.ptr) -> i1
  llvm.cond_br %167, ^bb25, ^bb31
^bb41:  // 2 preds: ^bb25, ^bb26
  %168 = llvm.call preserve_mostcc @__ffi_builder_shared_apart_DIGEST(%84, %13) : (!llvm.ptr, !llvm.ptr) -> i1
  llvm.cond_br %168, ^bb27, ^bb31
^bb42:  // pred: ^bb27
  %169 = llvm.call preserve_mostcc @__ffi_builder_shared_apart_DIGEST(%84, %55) : (!llvm.ptr, !llvm.ptr) -> i1
  llvm.cond_br %169, ^bb28, ^bb31
^bb43:  // pred: ^bb28
  %170 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %171 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%170) : (!llvm.ptr) -> !llvm.ptr
  %172 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%171) : (!llvm.ptr) -> i1
  llvm.cond_br %172, ^bb30, ^bb31
^bb44:  // pred: ^bb30
  %173 = llvm.mlir.constant(3 : i32) : i32
  %174 = llvm.mlir.addressof @__ffi_builder_table_apart : !llvm.ptr
  %175 = llvm.call preserve_mostcc @__ffi_builder_shared_nothing_is_wrong_DIGEST(%arg1, %173, %174) : (!llvm.ptr, i32, !llvm.ptr) -> i1
  llvm.cond_br %175, ^bb29, ^bb31
}
