llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_optional("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_optional(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-384844a5", ["ffi-builder-metadata", "JSON"]]} {
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
  llvm.cond_br %23, ^bb5, ^bb30
^bb5:  // pred: ^bb4
  %24 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %25 = llvm.load %24 : !llvm.ptr -> i64
  %26 = llvm.getelementptr %9[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %27 = llvm.load %26 : !llvm.ptr -> !llvm.ptr
  %28 = llvm.mlir.zero : !llvm.ptr
  %29 = llvm.icmp "ne" %27, %28 : !llvm.ptr
  llvm.cond_br %29, ^bb6, ^bb30
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
  llvm.cond_br %37 weights([2000, 1]), ^bb8, ^bb33
^bb8:  // 3 preds: ^bb6, ^bb7, ^bb33
  %38 = llvm.getelementptr %9[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %39 = llvm.load %38 : !llvm.ptr -> !llvm.ptr
  %40 = llvm.getelementptr %9[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %41 = llvm.load %40 : !llvm.ptr -> i64
  %42 = llvm.getelementptr %39[%41] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %43 = llvm.getelementptr %39[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %44 = llvm.icmp "ult" %43, %42 : !llvm.ptr
  llvm.cond_br %44 weights([2000, 1]), ^bb9, ^bb34
^bb9:  // 2 preds: ^bb8, ^bb34
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
  llvm.cond_br %54 weights([2000, 1]), ^bb11(%52 : !llvm.ptr), ^bb35
^bb11(%55: !llvm.ptr):  // 2 preds: ^bb10, ^bb35
  %56 = llvm.mlir.zero : !llvm.ptr
  %57 = llvm.icmp "ne" %55, %56 : !llvm.ptr
  llvm.cond_br %57, ^bb12, ^bb30
^bb12:  // pred: ^bb11
  %58 = llvm.getelementptr %55[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %59 = llvm.load %58 : !llvm.ptr -> i64
  %60 = llvm.mlir.constant(316667938734082 : i64) : i64
  %61 = llvm.icmp "eq" %59, %60 : i64
  llvm.cond_br %61, ^bb13, ^bb30
^bb13:  // pred: ^bb12
  %62 = llvm.getelementptr %55[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %63 = llvm.load %62 : !llvm.ptr -> i64
  %64 = llvm.icmp "eq" %63, %25 : i64
  llvm.cond_br %64, ^bb14, ^bb30
^bb14:  // pred: ^bb13
  %65 = llvm.getelementptr %55[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %66 = llvm.load %65 : !llvm.ptr -> !llvm.ptr
  %67 = llvm.mlir.zero : !llvm.ptr
  %68 = llvm.icmp "ne" %66, %67 : !llvm.ptr
  llvm.cond_br %68, ^bb15, ^bb30
^bb15:  // pred: ^bb14
  %69 = llvm.load %66 : !llvm.ptr -> i64
  %70 = llvm.icmp "eq" %69, %30 : i64
  llvm.cond_br %70, ^bb16, ^bb30
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
  llvm.cond_br %80 weights([2000, 1]), ^bb18, ^bb36
^bb18:  // pred: ^bb17
  %81 = llvm.load %74 : !llvm.ptr -> i64
  %82 = llvm.icmp "eq" %81, %72 : i64
  llvm.cond_br %82 weights([2000, 1]), ^bb19, ^bb36
^bb19:  // 3 preds: ^bb16, ^bb18, ^bb36
  %83 = llvm.getelementptr %55[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %84 = llvm.load %83 : !llvm.ptr -> !llvm.ptr
  %85 = llvm.getelementptr %55[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %86 = llvm.load %85 : !llvm.ptr -> i64
  %87 = llvm.getelementptr %84[%86] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %88 = llvm.getelementptr %84[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %89 = llvm.icmp "ult" %88, %87 : !llvm.ptr
  llvm.cond_br %89 weights([2000, 1]), ^bb20, ^bb37
^bb20:  // 2 preds: ^bb19, ^bb37
  %90 = llvm.or %30, %72 : i64
  %91 = llvm.mlir.constant(2147483647 : i64) : i64
  %92 = llvm.icmp "ule" %90, %91 : i64
  llvm.cond_br %92 weights([2000, 1]), ^bb21, ^bb38
^bb21:  // 2 preds: ^bb20, ^bb38
  %93 = llvm.mlir.constant(true) : i1
  llvm.br ^bb23(%55, %87, %63, %72, %93, %93 : !llvm.ptr, !llvm.ptr, i64, i64, i1, i1)
^bb22:  // pred: ^bb9
  %94 = llvm.mlir.zero : !llvm.ptr
  %95 = llvm.mlir.zero : !llvm.ptr
  %96 = llvm.mlir.zero : i64
  %97 = llvm.mlir.zero : i64
  %98 = llvm.mlir.zero : i1
  %99 = llvm.mlir.zero : i1
  llvm.br ^bb23(%94, %95, %96, %97, %98, %99 : !llvm.ptr, !llvm.ptr, i64, i64, i1, i1)
^bb23(%100: !llvm.ptr, %101: !llvm.ptr, %102: i64, %103: i64, %104: i1, %105: i1):  // 2 preds: ^bb21, ^bb22
  %106 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %107 = llvm.load %106 : !llvm.ptr -> i32
  %108 = llvm.mlir.constant(0 : i32) : i32
  %109 = llvm.icmp "ne" %107, %108 : i32
  llvm.cond_br %109, ^bb24, ^bb27
^bb24:  // pred: ^bb23
  %110 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %111 = llvm.load %110 : !llvm.ptr -> i32
  %112 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %113 = llvm.load %112 : !llvm.ptr -> i64
  %114 = llvm.mlir.constant(1 : i32) : i32
  %115 = llvm.icmp "eq" %111, %114 : i32
  llvm.cond_br %115 weights([2000, 1]), ^bb25, ^bb39
^bb25:  // 2 preds: ^bb24, ^bb39
  %116 = llvm.trunc %113 : i64 to i32
  %117 = llvm.sext %116 : i32 to i64
  %118 = llvm.icmp "eq" %117, %113 : i64
  llvm.cond_br %118, ^bb26, ^bb30
^bb26:  // pred: ^bb25
  %119 = llvm.mlir.constant(true) : i1
  llvm.br ^bb28(%113, %113, %119, %119 : i64, i64, i1, i1)
^bb27:  // pred: ^bb23
  %120 = llvm.mlir.zero : i64
  %121 = llvm.mlir.zero : i64
  %122 = llvm.mlir.zero : i1
  %123 = llvm.mlir.zero : i1
  llvm.br ^bb28(%120, %121, %122, %123 : i64, i64, i1, i1)
^bb28(%124: i64, %125: i64, %126: i1, %127: i1):  // 2 preds: ^bb26, ^bb27
  %128 = llvm.mlir.constant(0 : i64) : i64
  %129 = llvm.icmp "sge" %30, %128 : i64
  llvm.cond_br %129 weights([2000, 1]), ^bb29, ^bb40
^bb29:  // 2 preds: ^bb28, ^bb40
  %130 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %130, %arg3 : i64, !llvm.ptr
  %131 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %130, %131 : i64, !llvm.ptr
  %132 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %133 = llvm.select %48, %100, %132 : i1, !llvm.ptr
  %134 = llvm.getelementptr %133[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %135 = llvm.load %134 : !llvm.ptr -> !llvm.ptr
  %136 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %137 = llvm.select %48, %135, %136 : i1, !llvm.ptr
  %138 = llvm.load %137 : !llvm.ptr -> i64
  %139 = llvm.getelementptr %137[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %140 = llvm.load %139 : !llvm.ptr -> i64
  %141 = llvm.trunc %125 : i64 to i32
  llvm.call @callee(%42, %101, %48, %103, %141) : (!llvm.ptr, !llvm.ptr, i1 {llvm.zeroext}, i64, i32) -> ()
  %142 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %142 : i32
^bb30:  // 17 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb11, ^bb12, ^bb13, ^bb14, ^bb15, ^bb25, ^bb33, ^bb34, ^bb36, ^bb37, ^bb38, ^bb39, ^bb40
  %143 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb31(%143 : i32)
^bb31(%144: i32):  // 2 preds: ^bb0, ^bb30
  %145 = llvm.mlir.addressof @__ffi_builder_table_optional : !llvm.ptr
  %146 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %144, %145) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %146 : i32
^bb32:  // pred: ^bb2
  %147 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%147 : !llvm.ptr)
^bb33:  // pred: ^bb7
  %148 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %148, ^bb8, ^bb30
^bb34:  // pred: ^bb8
  %149 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %149, ^bb9, ^bb30
^bb35:  // pred: ^bb10
  %150 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %151 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%150) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb11(%151 : !llvm.ptr)
^bb36:  // 2 preds: ^bb17, ^bb18
  %152 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%55) : (!llvm.ptr) -> i1
  llvm.cond_br %152, ^bb19, ^bb30
^bb37:  // pred: ^bb19
  %153 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%55) : (!llvm.ptr) -> i1
  llvm.cond_br %153, ^bb20, ^bb30
^bb38:  // pred: ^bb20
  %154 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%55) : (!llvm.ptr) -> i1
  llvm.cond_br %154, ^bb21, ^bb30
^bb39:  // pred: ^bb24
  %155 = llvm.mlir.constant(2 : i32) : i32
  %156 = llvm.icmp "eq" %111, %155 : i32
  llvm.cond_br %156, ^bb25, ^bb30
^bb40:  // pred: ^bb28
  %157 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %157, ^bb29, ^bb30
}
