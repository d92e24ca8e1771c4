llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_optional("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_optional(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-03628618", ["ffi-builder-metadata", "JSON"]]} {
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
  %12 = llvm.getelementptr %9[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %13 = llvm.load %12 : !llvm.ptr -> i64
  %14 = llvm.mlir.constant(316667938734081 : i64) : i64
  %15 = llvm.icmp "eq" %13, %14 : i64
  llvm.cond_br %15, ^bb5, ^bb31
^bb5:  // pred: ^bb4
  %16 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %17 = llvm.load %16 : !llvm.ptr -> i64
  %18 = llvm.trunc %17 : i64 to i32
  %19 = llvm.mlir.constant(1 : i32) : i32
  %20 = llvm.icmp "eq" %18, %19 : i32
  llvm.cond_br %20, ^bb6, ^bb31
^bb6:  // pred: ^bb5
  %21 = llvm.getelementptr %9[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %22 = llvm.load %21 : !llvm.ptr -> !llvm.ptr
  %23 = llvm.mlir.zero : !llvm.ptr
  %24 = llvm.icmp "ne" %22, %23 : !llvm.ptr
  llvm.cond_br %24, ^bb7, ^bb31
^bb7:  // pred: ^bb6
  %25 = llvm.load %22 : !llvm.ptr -> i64
  %26 = llvm.getelementptr %9[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %27 = llvm.load %26 : !llvm.ptr -> !llvm.ptr
  %28 = llvm.mlir.zero : !llvm.ptr
  %29 = llvm.icmp "eq" %27, %28 : !llvm.ptr
  llvm.cond_br %29, ^bb9, ^bb8
^bb8:  // pred: ^bb7
  %30 = llvm.load %27 : !llvm.ptr -> i64
  %31 = llvm.mlir.constant(1 : i64) : i64
  %32 = llvm.icmp "eq" %30, %31 : i64
  llvm.cond_br %32 weights([2000, 1]), ^bb9, ^bb34
^bb9:  // 3 preds: ^bb7, ^bb8, ^bb34
  %33 = llvm.getelementptr %9[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %34 = llvm.load %33 : !llvm.ptr -> !llvm.ptr
  %35 = llvm.getelementptr %9[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %36 = llvm.load %35 : !llvm.ptr -> i64
  %37 = llvm.getelementptr %34[%36] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %38 = llvm.getelementptr %34[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %39 = llvm.icmp "ult" %38, %37 : !llvm.ptr
  llvm.cond_br %39 weights([2000, 1]), ^bb10, ^bb35
^bb10:  // 2 preds: ^bb9, ^bb35
  %40 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %41 = llvm.load %40 : !llvm.ptr -> i32
  %42 = llvm.mlir.constant(0 : i32) : i32
  %43 = llvm.icmp "ne" %41, %42 : i32
  llvm.cond_br %43, ^bb11, ^bb23
^bb11:  // pred: ^bb10
  %44 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %45 = llvm.load %44 : !llvm.ptr -> i32
  %46 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %47 = llvm.load %46 : !llvm.ptr -> !llvm.ptr
  %48 = llvm.mlir.constant(70 : i32) : i32
  %49 = llvm.icmp "eq" %45, %48 : i32
  llvm.cond_br %49 weights([2000, 1]), ^bb12(%47 : !llvm.ptr), ^bb36
^bb12(%50: !llvm.ptr):  // 2 preds: ^bb11, ^bb36
  %51 = llvm.mlir.zero : !llvm.ptr
  %52 = llvm.icmp "ne" %50, %51 : !llvm.ptr
  llvm.cond_br %52, ^bb13, ^bb31
^bb13:  // pred: ^bb12
  %53 = llvm.getelementptr %50[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %54 = llvm.load %53 : !llvm.ptr -> i64
  %55 = llvm.mlir.constant(316667938734082 : i64) : i64
  %56 = llvm.icmp "eq" %54, %55 : i64
  llvm.cond_br %56, ^bb14, ^bb31
^bb14:  // pred: ^bb13
  %57 = llvm.getelementptr %50[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %58 = llvm.load %57 : !llvm.ptr -> i64
  %59 = llvm.icmp "eq" %58, %17 : i64
  llvm.cond_br %59, ^bb15, ^bb31
^bb15:  // pred: ^bb14
  %60 = llvm.getelementptr %50[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %61 = llvm.load %60 : !llvm.ptr -> !llvm.ptr
  %62 = llvm.mlir.zero : !llvm.ptr
  %63 = llvm.icmp "ne" %61, %62 : !llvm.ptr
  llvm.cond_br %63, ^bb16, ^bb31
^bb16:  // pred: ^bb15
  %64 = llvm.load %61 : !llvm.ptr -> i64
  %65 = llvm.icmp "eq" %64, %25 : i64
  llvm.cond_br %65, ^bb17, ^bb31
^bb17:  // pred: ^bb16
  %66 = llvm.getelementptr %61[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %67 = llvm.load %66 : !llvm.ptr -> i64
  %68 = llvm.getelementptr %50[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %69 = llvm.load %68 : !llvm.ptr -> !llvm.ptr
  %70 = llvm.mlir.zero : !llvm.ptr
  %71 = llvm.icmp "eq" %69, %70 : !llvm.ptr
  llvm.cond_br %71, ^bb20, ^bb18
^bb18:  // pred: ^bb17
  %72 = llvm.getelementptr %69[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %73 = llvm.load %72 : !llvm.ptr -> i64
  %74 = llvm.mlir.constant(1 : i64) : i64
  %75 = llvm.icmp "eq" %73, %74 : i64
  llvm.cond_br %75 weights([2000, 1]), ^bb19, ^bb37
^bb19:  // pred: ^bb18
  %76 = llvm.load %69 : !llvm.ptr -> i64
  %77 = llvm.icmp "eq" %76, %67 : i64
  llvm.cond_br %77 weights([2000, 1]), ^bb20, ^bb37
^bb20:  // 3 preds: ^bb17, ^bb19, ^bb37
  %78 = llvm.getelementptr %50[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %79 = llvm.load %78 : !llvm.ptr -> !llvm.ptr
  %80 = llvm.getelementptr %50[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %81 = llvm.load %80 : !llvm.ptr -> i64
  %82 = llvm.getelementptr %79[%81] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %83 = llvm.getelementptr %79[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %84 = llvm.icmp "ult" %83, %82 : !llvm.ptr
  llvm.cond_br %84 weights([2000, 1]), ^bb21, ^bb38
^bb21:  // 2 preds: ^bb20, ^bb38
  %85 = llvm.or %25, %67 : i64
  %86 = llvm.mlir.constant(2147483647 : i64) : i64
  %87 = llvm.icmp "ule" %85, %86 : i64
  llvm.cond_br %87 weights([2000, 1]), ^bb22, ^bb39
^bb22:  // 2 preds: ^bb21, ^bb39
  %88 = llvm.mlir.constant(true) : i1
  llvm.br ^bb24(%50, %82, %58, %67, %88, %88 : !llvm.ptr, !llvm.ptr, i64, i64, i1, i1)
^bb23:  // pred: ^bb10
  %89 = llvm.mlir.zero : !llvm.ptr
  %90 = llvm.mlir.zero : !llvm.ptr
  %91 = llvm.mlir.zero : i64
  %92 = llvm.mlir.zero : i64
  %93 = llvm.mlir.zero : i1
  %94 = llvm.mlir.zero : i1
  llvm.br ^bb24(%89, %90, %91, %92, %93, %94 : !llvm.ptr, !llvm.ptr, i64, i64, i1, i1)
^bb24(%95: !llvm.ptr, %96: !llvm.ptr, %97: i64, %98: i64, %99: i1, %100: i1):  // 2 preds: ^bb22, ^bb23
  %101 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %102 = llvm.load %101 : !llvm.ptr -> i32
  %103 = llvm.mlir.constant(0 : i32) : i32
  %104 = llvm.icmp "ne" %102, %103 : i32
  llvm.cond_br %104, ^bb25, ^bb28
^bb25:  // pred: ^bb24
  %105 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %106 = llvm.load %105 : !llvm.ptr -> i32
  %107 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %108 = llvm.load %107 : !llvm.ptr -> i64
  %109 = llvm.mlir.constant(1 : i32) : i32
  %110 = llvm.icmp "eq" %106, %109 : i32
  llvm.cond_br %110 weights([2000, 1]), ^bb26, ^bb40
^bb26:  // 2 preds: ^bb25, ^bb40
  %111 = llvm.trunc %108 : i64 to i32
  %112 = llvm.sext %111 : i32 to i64
  %113 = llvm.icmp "eq" %112, %108 : i64
  llvm.cond_br %113, ^bb27, ^bb31
^bb27:  // pred: ^bb26
  %114 = llvm.mlir.constant(true) : i1
  llvm.br ^bb29(%108, %108, %114, %114 : i64, i64, i1, i1)
^bb28:  // pred: ^bb24
  %115 = llvm.mlir.zero : i64
  %116 = llvm.mlir.zero : i64
  %117 = llvm.mlir.zero : i1
  %118 = llvm.mlir.zero : i1
  llvm.br ^bb29(%115, %116, %117, %118 : i64, i64, i1, i1)
^bb29(%119: i64, %120: i64, %121: i1, %122: i1):  // 2 preds: ^bb27, ^bb28
  %123 = llvm.mlir.constant(0 : i64) : i64
  %124 = llvm.icmp "sge" %25, %123 : i64
  llvm.cond_br %124 weights([2000, 1]), ^bb30, ^bb41
^bb30:  // 2 preds: ^bb29, ^bb41
  %125 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %125, %arg3 : i64, !llvm.ptr
  %126 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %125, %126 : i64, !llvm.ptr
  %127 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %128 = llvm.select %43, %95, %127 : i1, !llvm.ptr
  %129 = llvm.getelementptr %128[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %130 = llvm.load %129 : !llvm.ptr -> !llvm.ptr
  %131 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %132 = llvm.select %43, %130, %131 : i1, !llvm.ptr
  %133 = llvm.load %132 : !llvm.ptr -> i64
  %134 = llvm.getelementptr %132[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %135 = llvm.load %134 : !llvm.ptr -> i64
  %136 = llvm.trunc %120 : i64 to i32
  llvm.call @callee(%37, %96, %43, %98, %136) : (!llvm.ptr, !llvm.ptr, i1 {llvm.zeroext}, i64, i32) -> ()
  %137 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %137 : i32
^bb31:  // 18 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb12, ^bb13, ^bb14, ^bb15, ^bb16, ^bb26, ^bb34, ^bb35, ^bb37, ^bb38, ^bb39, ^bb40, ^bb41
  %138 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb32(%138 : i32)
^bb32(%139: i32):  // 2 preds: ^bb0, ^bb31
  %140 = llvm.mlir.addressof @__ffi_builder_table_optional : !llvm.ptr
  %141 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %139, %140) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %141 : i32
^bb33:  // pred: ^bb2
  %142 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%142 : !llvm.ptr)
^bb34:  // pred: ^bb8
  %143 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %143, ^bb9, ^bb31
^bb35:  // pred: ^bb9
  %144 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %144, ^bb10, ^bb31
^bb36:  // pred: ^bb11
  %145 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %146 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%145) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb12(%146 : !llvm.ptr)
^bb37:  // 2 preds: ^bb18, ^bb19
  %147 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%50) : (!llvm.ptr) -> i1
  llvm.cond_br %147, ^bb20, ^bb31
^bb38:  // pred: ^bb20
  %148 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%50) : (!llvm.ptr) -> i1
  llvm.cond_br %148, ^bb21, ^bb31
^bb39:  // pred: ^bb21
  %149 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%50) : (!llvm.ptr) -> i1
  llvm.cond_br %149, ^bb22, ^bb31
^bb40:  // pred: ^bb25
  %150 = llvm.mlir.constant(2 : i32) : i32
  %151 = llvm.icmp "eq" %106, %150 : i32
  llvm.cond_br %151, ^bb26, ^bb31
^bb41:  // pred: ^bb29
  %152 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %152, ^bb30, ^bb31
}
