llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_optional("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_optional(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(3 : i32) : i32
  %1 = llvm.icmp "eq" %arg2, %0 : i32
  llvm.cond_br %1, ^bb1, ^bb32(%arg2 : i32)
^bb1:  // pred: ^bb0
  %2 = llvm.mlir.zero : !llvm.ptr
  %3 = llvm.icmp "ne" %arg1, %2 : !llvm.ptr
  llvm.cond_br %3, ^bb2, ^bb31
^bb2:  // pred: ^bb1
  %4 = llvm.load %arg1 : !llvm.ptr -> i32
  %5 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %6 = llvm.load %5 : !llvm.ptr -> !llvm.ptr
  %7 = llvm.mlir.constant(70 : i32) : i32
  %8 = llvm.icmp "eq" %4, %7 : i32
  llvm.cond_br %8 weights([2000, 1]), ^bb3(%6 : !llvm.ptr), ^bb33
^bb3(%9: !llvm.ptr):  // 2 preds: ^bb2, ^bb33
  %10 = llvm.mlir.zero : !llvm.ptr
  %11 = llvm.icmp "ne" %9, %10 : !llvm.ptr
  llvm.cond_br %11, ^bb4, ^bb31
^bb4:  // pred: ^bb3
  %12 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %13 = llvm.load %12 : !llvm.ptr -> i32
  %14 = llvm.zext %13 : i32 to i64
  %15 = llvm.mlir.constant(1 : i64) : i64
  %16 = llvm.xor %14, %15 : i64
  %17 = llvm.getelementptr %9[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %18 = llvm.load %17 : !llvm.ptr -> i64
  %19 = llvm.mlir.constant(316667938734081 : i64) : i64
  %20 = llvm.xor %18, %19 : i64
  %21 = llvm.or %20, %16 : i64
  %22 = llvm.mlir.constant(0 : i64) : i64
  %23 = llvm.icmp "eq" %21, %22 : i64
  llvm.cond_br %23, ^bb5, ^bb31
^bb5:  // pred: ^bb4
  %24 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %25 = llvm.load %24 : !llvm.ptr -> i64
  %26 = llvm.getelementptr %9[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %27 = llvm.load %26 : !llvm.ptr -> !llvm.ptr
  %28 = llvm.mlir.zero : !llvm.ptr
  %29 = llvm.icmp "ne" %27, %28 : !llvm.ptr
  llvm.cond_br %29, ^bb6, ^bb31
^bb6:  // pred: ^bb5
  %30 = llvm.load %27 : !llvm.ptr -> i64
  %31 = llvm.getelementptr %9[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %32 = llvm.load %31 : !llvm.ptr -> !llvm.ptr
  %33 = llvm.mlir.zero : !llvm.ptr
  %34 = llvm.icmp "eq" %32, %33 : !llvm.ptr
  llvm.cond_br %34, ^bb8, ^bb7
^bb7:  // pred: ^bb6
  %35 = llvm.load %32 : !llvm.ptr -> i64
  %36 = llvm.mlir.constant(1 : i64) : i64
  %37 = llvm.icmp "eq" %35, %36 : i64
  llvm.cond_br %37 weights([2000, 1]), ^bb8, ^bb34
^bb8:  // 3 preds: ^bb6, ^bb7, ^bb34
  %38 = llvm.getelementptr %9[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %39 = llvm.load %38 : !llvm.ptr -> !llvm.ptr
  %40 = llvm.getelementptr %9[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %41 = llvm.load %40 : !llvm.ptr -> i64
  %42 = llvm.getelementptr %39[%41] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %43 = llvm.getelementptr %39[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %44 = llvm.icmp "ult" %43, %42 : !llvm.ptr
  llvm.cond_br %44 weights([2000, 1]), ^bb9, ^bb35
^bb9:  // 2 preds: ^bb8, ^bb35
  %45 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %46 = llvm.load %45 : !llvm.ptr -> i32
  %47 = llvm.mlir.constant(0 : i32) : i32
  %48 = llvm.icmp "ne" %46, %47 : i32
  llvm.cond_br %48, ^bb10, ^bb22
^bb10:  // pred: ^bb9
  %49 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %50 = llvm.load %49 : !llvm.ptr -> i32
  %51 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %52 = llvm.load %51 : !llvm.ptr -> !llvm.ptr
  %53 = llvm.mlir.constant(70 : i32) : i32
  %54 = llvm.icmp "eq" %50, %53 : i32
  llvm.cond_br %54 weights([2000, 1]), ^bb11(%52 : !llvm.ptr), ^bb36
^bb11(%55: !llvm.ptr):  // 2 preds: ^bb10, ^bb36
  %56 = llvm.mlir.zero : !llvm.ptr
  %57 = llvm.icmp "ne" %55, %56 : !llvm.ptr
  llvm.cond_br %57, ^bb12, ^bb31
^bb12:  // pred: ^bb11
  %58 = llvm.getelementptr %55[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %59 = llvm.load %58 : !llvm.ptr -> i64
  %60 = llvm.mlir.constant(316667938734082 : i64) : i64
  %61 = llvm.icmp "eq" %59, %60 : i64
  llvm.cond_br %61, ^bb13, ^bb31
^bb13:  // pred: ^bb12
  %62 = llvm.getelementptr %55[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %63 = llvm.load %62 : !llvm.ptr -> i64
  %64 = llvm.icmp "eq" %63, %25 : i64
  llvm.cond_br %64, ^bb14, ^bb31
^bb14:  // pred: ^bb13
  %65 = llvm.getelementptr %55[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %66 = llvm.load %65 : !llvm.ptr -> !llvm.ptr
  %67 = llvm.mlir.zero : !llvm.ptr
  %68 = llvm.icmp "ne" %66, %67 : !llvm.ptr
  llvm.cond_br %68, ^bb15, ^bb31
^bb15:  // pred: ^bb14
  %69 = llvm.load %66 : !llvm.ptr -> i64
  %70 = llvm.icmp "eq" %69, %30 : i64
  llvm.cond_br %70, ^bb16, ^bb31
^bb16:  // pred: ^bb15
  %71 = llvm.getelementptr %66[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %72 = llvm.load %71 : !llvm.ptr -> i64
  %73 = llvm.getelementptr %55[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %74 = llvm.load %73 : !llvm.ptr -> !llvm.ptr
  %75 = llvm.mlir.zero : !llvm.ptr
  %76 = llvm.icmp "eq" %74, %75 : !llvm.ptr
  llvm.cond_br %76, ^bb19, ^bb17
^bb17:  // pred: ^bb16
  %77 = llvm.getelementptr %74[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %78 = llvm.load %77 : !llvm.ptr -> i64
  %79 = llvm.mlir.constant(1 : i64) : i64
  %80 = llvm.icmp "eq" %78, %79 : i64
  llvm.cond_br %80 weights([2000, 1]), ^bb18, ^bb37
^bb18:  // pred: ^bb17
  %81 = llvm.load %74 : !llvm.ptr -> i64
  %82 = llvm.icmp "eq" %81, %72 : i64
  llvm.cond_br %82 weights([2000, 1]), ^bb19, ^bb37
^bb19:  // 3 preds: ^bb16, ^bb18, ^bb37
  %83 = llvm.getelementptr %55[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %84 = llvm.load %83 : !llvm.ptr -> !llvm.ptr
  %85 = llvm.getelementptr %55[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %86 = llvm.load %85 : !llvm.ptr -> i64
  %87 = llvm.getelementptr %84[%86] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %88 = llvm.getelementptr %84[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %89 = llvm.icmp "ult" %88, %87 : !llvm.ptr
  llvm.cond_br %89 weights([2000, 1]), ^bb20, ^bb38
^bb20:  // 2 preds: ^bb19, ^bb38
  %90 = llvm.or %30, %72 : i64
  %91 = llvm.ptrtoint %87 : !llvm.ptr to i64
  %92 = llvm.mlir.constant(62 : i64) : i64
  %93 = llvm.shl %91, %92 : i64
  %94 = llvm.or %93, %90 : i64
  %95 = llvm.mlir.constant(2147483647 : i64) : i64
  %96 = llvm.icmp "ule" %94, %95 : i64
  llvm.cond_br %96 weights([2000, 1]), ^bb21, ^bb39
^bb21:  // 2 preds: ^bb20, ^bb39
  %97 = llvm.mlir.constant(true) : i1
  llvm.br ^bb23(%55, %87, %63, %72, %97, %97 : !llvm.ptr, !llvm.ptr, i64, i64, i1, i1)
^bb22:  // pred: ^bb9
  %98 = llvm.mlir.zero : !llvm.ptr
  %99 = llvm.mlir.zero : !llvm.ptr
  %100 = llvm.mlir.zero : i64
  %101 = llvm.mlir.zero : i64
  %102 = llvm.mlir.zero : i1
  %103 = llvm.mlir.zero : i1
  llvm.br ^bb23(%98, %99, %100, %101, %102, %103 : !llvm.ptr, !llvm.ptr, i64, i64, i1, i1)
^bb23(%104: !llvm.ptr, %105: !llvm.ptr, %106: i64, %107: i64, %108: i1, %109: i1):  // 2 preds: ^bb21, ^bb22
  %110 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %111 = llvm.load %110 : !llvm.ptr -> i32
  %112 = llvm.mlir.constant(0 : i32) : i32
  %113 = llvm.icmp "ne" %111, %112 : i32
  llvm.cond_br %113, ^bb24, ^bb27
^bb24:  // pred: ^bb23
  %114 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %115 = llvm.load %114 : !llvm.ptr -> i32
  %116 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %117 = llvm.load %116 : !llvm.ptr -> i64
  %118 = llvm.mlir.constant(1 : i32) : i32
  %119 = llvm.icmp "eq" %115, %118 : i32
  llvm.cond_br %119 weights([2000, 1]), ^bb25, ^bb40
^bb25:  // 2 preds: ^bb24, ^bb40
  %120 = llvm.trunc %117 : i64 to i32
  %121 = llvm.sext %120 : i32 to i64
  %122 = llvm.icmp "eq" %121, %117 : i64
  llvm.cond_br %122, ^bb26, ^bb31
^bb26:  // pred: ^bb25
  %123 = llvm.mlir.constant(true) : i1
  llvm.br ^bb28(%117, %117, %123, %123 : i64, i64, i1, i1)
^bb27:  // pred: ^bb23
  %124 = llvm.mlir.zero : i64
  %125 = llvm.mlir.zero : i64
  %126 = llvm.mlir.zero : i1
  %127 = llvm.mlir.zero : i1
  llvm.br ^bb28(%124, %125, %126, %127 : i64, i64, i1, i1)
^bb28(%128: i64, %129: i64, %130: i1, %131: i1):  // 2 preds: ^bb26, ^bb27
  %132 = llvm.ptrtoint %42 : !llvm.ptr to i64
  %133 = llvm.mlir.constant(62 : i64) : i64
  %134 = llvm.shl %132, %133 : i64
  %135 = llvm.or %134, %30 : i64
  %136 = llvm.mlir.constant(2147483647 : i64) : i64
  %137 = llvm.icmp "ule" %135, %136 : i64
  llvm.cond_br %137 weights([2000, 1]), ^bb29, ^bb41
^bb29:  // 3 preds: ^bb28, ^bb30, ^bb42
  %138 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %138, %arg3 : i64, !llvm.ptr
  %139 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %138, %139 : i64, !llvm.ptr
  %140 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %141 = llvm.select %48, %104, %140 : i1, !llvm.ptr
  %142 = llvm.getelementptr %141[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %143 = llvm.load %142 : !llvm.ptr -> !llvm.ptr
  %144 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %145 = llvm.select %48, %143, %144 : i1, !llvm.ptr
  %146 = llvm.load %145 : !llvm.ptr -> i64
  %147 = llvm.getelementptr %145[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %148 = llvm.load %147 : !llvm.ptr -> i64
  %149 = llvm.trunc %129 : i64 to i32
  llvm.call @callee(%42, %105, %48, %107, %149) : (!llvm.ptr, !llvm.ptr, i1 {llvm.zeroext}, i64, i32) -> ()
  %150 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %150 : i32
^bb30:  // pred: ^bb41
  %151 = llvm.ptrtoint %42 : !llvm.ptr to i64
  %152 = llvm.mlir.constant(62 : i64) : i64
  %153 = llvm.shl %151, %152 : i64
  %154 = llvm.mlir.constant(0 : i64) : i64
  %155 = llvm.icmp "eq" %153, %154 : i64
  llvm.cond_br %155 weights([2000, 1]), ^bb29, ^bb42
^bb31:  // 18 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb11, ^bb12, ^bb13, ^bb14, ^bb15, ^bb25, ^bb34, ^bb35, ^bb37, ^bb38, ^bb39, ^bb40, ^bb41, ^bb42
  %156 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb32(%156 : i32)
^bb32(%157: i32):  // 2 preds: ^bb0, ^bb31
  %158 = llvm.mlir.addressof @__ffi_builder_table_optional : !llvm.ptr
  %159 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %157, %158) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %159 : i32
^bb33:  // pred: ^bb2
  %160 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%160 : !llvm.ptr)
^bb34:  // pred: ^bb7
  %161 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %161, ^bb8, ^bb31
^bb35:  // pred: ^bb8
  %162 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %162, ^bb9, ^bb31
^bb36:  // pred: ^bb10
  %163 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %164 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%163) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb11(%164 : !llvm.ptr)
^bb37:  // 2 preds: ^bb17, ^bb18
  %165 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%55) : (!llvm.ptr) -> i1
  llvm.cond_br %165, ^bb19, ^bb31
^bb38:  // pred: ^bb19
  %166 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%55) : (!llvm.ptr) -> i1
  llvm.cond_br %166, ^bb20, ^bb31
^bb39:  // pred: ^bb20
  %167 = llvm.mlir.constant(3 : i32) : i32
  %168 = llvm.mlir.addressof @__ffi_builder_table_optional : !llvm.ptr
  %169 = llvm.call preserve_mostcc @__ffi_builder_shared_nothing_is_wrong_DIGEST(%arg1, %167, %168) : (!llvm.ptr, i32, !llvm.ptr) -> i1
  llvm.cond_br %169, ^bb21, ^bb31
^bb40:  // pred: ^bb24
  %170 = llvm.mlir.constant(2 : i32) : i32
  %171 = llvm.icmp "eq" %115, %170 : i32
  llvm.cond_br %171, ^bb25, ^bb31
^bb41:  // pred: ^bb28
  %172 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  %173 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%172) : (!llvm.ptr) -> i1
  llvm.cond_br %173, ^bb30, ^bb31
^bb42:  // pred: ^bb30
  %174 = llvm.mlir.constant(3 : i32) : i32
  %175 = llvm.mlir.addressof @__ffi_builder_table_optional : !llvm.ptr
  %176 = llvm.call preserve_mostcc @__ffi_builder_shared_nothing_is_wrong_DIGEST(%arg1, %174, %175) : (!llvm.ptr, i32, !llvm.ptr) -> i1
  llvm.cond_br %176, ^bb29, ^bb31
}
