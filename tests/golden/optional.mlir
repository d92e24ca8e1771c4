llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_optional("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_optional(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-bd55209d", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %0, %arg3 : i64, !llvm.ptr
  %1 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %0, %1 : i64, !llvm.ptr
  %2 = llvm.mlir.constant(3 : i32) : i32
  %3 = llvm.icmp "eq" %arg2, %2 : i32
  llvm.cond_br %3, ^bb1, ^bb33
^bb1:  // pred: ^bb0
  %4 = llvm.mlir.zero : !llvm.ptr
  %5 = llvm.icmp "ne" %arg1, %4 : !llvm.ptr
  llvm.cond_br %5, ^bb2, ^bb33
^bb2:  // pred: ^bb1
  %6 = llvm.load %arg1 : !llvm.ptr -> i32
  %7 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %8 = llvm.load %7 : !llvm.ptr -> !llvm.ptr
  %9 = llvm.mlir.constant(70 : i32) : i32
  %10 = llvm.icmp "eq" %6, %9 : i32
  llvm.cond_br %10 weights([2000, 1]), ^bb3(%8 : !llvm.ptr), ^bb34
^bb3(%11: !llvm.ptr):  // 2 preds: ^bb2, ^bb34
  %12 = llvm.mlir.zero : !llvm.ptr
  %13 = llvm.icmp "ne" %11, %12 : !llvm.ptr
  llvm.cond_br %13, ^bb4, ^bb33
^bb4:  // pred: ^bb3
  %14 = llvm.getelementptr %11[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %15 = llvm.load %14 : !llvm.ptr -> i64
  %16 = llvm.mlir.constant(316667938734081 : i64) : i64
  %17 = llvm.icmp "eq" %15, %16 : i64
  llvm.cond_br %17, ^bb5, ^bb33
^bb5:  // pred: ^bb4
  %18 = llvm.getelementptr %11[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %19 = llvm.load %18 : !llvm.ptr -> i64
  %20 = llvm.trunc %19 : i64 to i32
  %21 = llvm.mlir.constant(1 : i32) : i32
  %22 = llvm.icmp "eq" %20, %21 : i32
  llvm.cond_br %22, ^bb6, ^bb33
^bb6:  // pred: ^bb5
  %23 = llvm.getelementptr %11[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %24 = llvm.load %23 : !llvm.ptr -> !llvm.ptr
  %25 = llvm.mlir.zero : !llvm.ptr
  %26 = llvm.icmp "ne" %24, %25 : !llvm.ptr
  llvm.cond_br %26, ^bb7, ^bb33
^bb7:  // pred: ^bb6
  %27 = llvm.load %24 : !llvm.ptr -> i64
  %28 = llvm.getelementptr %11[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %29 = llvm.load %28 : !llvm.ptr -> !llvm.ptr
  %30 = llvm.mlir.zero : !llvm.ptr
  %31 = llvm.icmp "eq" %29, %30 : !llvm.ptr
  llvm.cond_br %31, ^bb9, ^bb8
^bb8:  // pred: ^bb7
  %32 = llvm.load %29 : !llvm.ptr -> i64
  %33 = llvm.mlir.constant(1 : i64) : i64
  %34 = llvm.icmp "eq" %32, %33 : i64
  llvm.cond_br %34 weights([2000, 1]), ^bb9, ^bb35
^bb9:  // 3 preds: ^bb7, ^bb8, ^bb35
  %35 = llvm.getelementptr %11[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %36 = llvm.load %35 : !llvm.ptr -> !llvm.ptr
  %37 = llvm.getelementptr %11[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %38 = llvm.load %37 : !llvm.ptr -> i64
  %39 = llvm.getelementptr %36[%38] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %40 = llvm.icmp "uge" %39, %36 : !llvm.ptr
  llvm.cond_br %40, ^bb10, ^bb33
^bb10:  // pred: ^bb9
  %41 = llvm.mlir.zero : !llvm.ptr
  %42 = llvm.icmp "ne" %36, %41 : !llvm.ptr
  llvm.cond_br %42 weights([2000, 1]), ^bb11, ^bb36
^bb11:  // 2 preds: ^bb10, ^bb36
  %43 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %44 = llvm.load %43 : !llvm.ptr -> i32
  %45 = llvm.mlir.constant(0 : i32) : i32
  %46 = llvm.icmp "ne" %44, %45 : i32
  llvm.cond_br %46, ^bb12, ^bb25
^bb12:  // pred: ^bb11
  %47 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %48 = llvm.load %47 : !llvm.ptr -> i32
  %49 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %50 = llvm.load %49 : !llvm.ptr -> !llvm.ptr
  %51 = llvm.mlir.constant(70 : i32) : i32
  %52 = llvm.icmp "eq" %48, %51 : i32
  llvm.cond_br %52 weights([2000, 1]), ^bb13(%50 : !llvm.ptr), ^bb37
^bb13(%53: !llvm.ptr):  // 2 preds: ^bb12, ^bb37
  %54 = llvm.mlir.zero : !llvm.ptr
  %55 = llvm.icmp "ne" %53, %54 : !llvm.ptr
  llvm.cond_br %55, ^bb14, ^bb33
^bb14:  // pred: ^bb13
  %56 = llvm.getelementptr %53[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %57 = llvm.load %56 : !llvm.ptr -> i64
  %58 = llvm.mlir.constant(316667938734082 : i64) : i64
  %59 = llvm.icmp "eq" %57, %58 : i64
  llvm.cond_br %59, ^bb15, ^bb33
^bb15:  // pred: ^bb14
  %60 = llvm.getelementptr %53[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %61 = llvm.load %60 : !llvm.ptr -> i64
  %62 = llvm.icmp "eq" %61, %19 : i64
  llvm.cond_br %62, ^bb16, ^bb33
^bb16:  // pred: ^bb15
  %63 = llvm.getelementptr %53[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %64 = llvm.load %63 : !llvm.ptr -> !llvm.ptr
  %65 = llvm.mlir.zero : !llvm.ptr
  %66 = llvm.icmp "ne" %64, %65 : !llvm.ptr
  llvm.cond_br %66, ^bb17, ^bb33
^bb17:  // pred: ^bb16
  %67 = llvm.load %64 : !llvm.ptr -> i64
  %68 = llvm.icmp "eq" %67, %27 : i64
  llvm.cond_br %68, ^bb18, ^bb33
^bb18:  // pred: ^bb17
  %69 = llvm.getelementptr %64[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %70 = llvm.load %69 : !llvm.ptr -> i64
  %71 = llvm.getelementptr %53[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %72 = llvm.load %71 : !llvm.ptr -> !llvm.ptr
  %73 = llvm.mlir.zero : !llvm.ptr
  %74 = llvm.icmp "eq" %72, %73 : !llvm.ptr
  llvm.cond_br %74, ^bb21, ^bb19
^bb19:  // pred: ^bb18
  %75 = llvm.getelementptr %72[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %76 = llvm.load %75 : !llvm.ptr -> i64
  %77 = llvm.mlir.constant(1 : i64) : i64
  %78 = llvm.icmp "eq" %76, %77 : i64
  llvm.cond_br %78 weights([2000, 1]), ^bb20, ^bb38
^bb20:  // pred: ^bb19
  %79 = llvm.load %72 : !llvm.ptr -> i64
  %80 = llvm.icmp "eq" %79, %70 : i64
  llvm.cond_br %80 weights([2000, 1]), ^bb21, ^bb38
^bb21:  // 3 preds: ^bb18, ^bb20, ^bb38
  %81 = llvm.getelementptr %53[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %82 = llvm.load %81 : !llvm.ptr -> !llvm.ptr
  %83 = llvm.getelementptr %53[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %84 = llvm.load %83 : !llvm.ptr -> i64
  %85 = llvm.getelementptr %82[%84] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %86 = llvm.icmp "uge" %85, %82 : !llvm.ptr
  llvm.cond_br %86, ^bb22, ^bb33
^bb22:  // pred: ^bb21
  %87 = llvm.mlir.zero : !llvm.ptr
  %88 = llvm.icmp "ne" %82, %87 : !llvm.ptr
  llvm.cond_br %88 weights([2000, 1]), ^bb23, ^bb39
^bb23:  // 2 preds: ^bb22, ^bb39
  %89 = llvm.or %27, %70 : i64
  %90 = llvm.mlir.constant(2147483648 : i64) : i64
  %91 = llvm.icmp "ult" %89, %90 : i64
  llvm.cond_br %91 weights([2000, 1]), ^bb24, ^bb40
^bb24:  // 2 preds: ^bb23, ^bb40
  %92 = llvm.mlir.constant(true) : i1
  llvm.br ^bb26(%53, %85, %61, %70, %92, %92 : !llvm.ptr, !llvm.ptr, i64, i64, i1, i1)
^bb25:  // pred: ^bb11
  %93 = llvm.mlir.zero : !llvm.ptr
  %94 = llvm.mlir.zero : !llvm.ptr
  %95 = llvm.mlir.zero : i64
  %96 = llvm.mlir.zero : i64
  %97 = llvm.mlir.zero : i1
  %98 = llvm.mlir.zero : i1
  llvm.br ^bb26(%93, %94, %95, %96, %97, %98 : !llvm.ptr, !llvm.ptr, i64, i64, i1, i1)
^bb26(%99: !llvm.ptr, %100: !llvm.ptr, %101: i64, %102: i64, %103: i1, %104: i1):  // 2 preds: ^bb24, ^bb25
  %105 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %106 = llvm.load %105 : !llvm.ptr -> i32
  %107 = llvm.mlir.constant(0 : i32) : i32
  %108 = llvm.icmp "ne" %106, %107 : i32
  llvm.cond_br %108, ^bb27, ^bb30
^bb27:  // pred: ^bb26
  %109 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %110 = llvm.load %109 : !llvm.ptr -> i32
  %111 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %112 = llvm.load %111 : !llvm.ptr -> i64
  %113 = llvm.mlir.constant(1 : i32) : i32
  %114 = llvm.sub %110, %113 : i32
  %115 = llvm.mlir.constant(2 : i32) : i32
  %116 = llvm.icmp "ult" %114, %115 : i32
  llvm.cond_br %116, ^bb28, ^bb33
^bb28:  // pred: ^bb27
  %117 = llvm.trunc %112 : i64 to i32
  %118 = llvm.sext %117 : i32 to i64
  %119 = llvm.icmp "eq" %118, %112 : i64
  llvm.cond_br %119, ^bb29, ^bb33
^bb29:  // pred: ^bb28
  %120 = llvm.mlir.constant(true) : i1
  llvm.br ^bb31(%112, %112, %120, %120 : i64, i64, i1, i1)
^bb30:  // pred: ^bb26
  %121 = llvm.mlir.zero : i64
  %122 = llvm.mlir.zero : i64
  %123 = llvm.mlir.zero : i1
  %124 = llvm.mlir.zero : i1
  llvm.br ^bb31(%121, %122, %123, %124 : i64, i64, i1, i1)
^bb31(%125: i64, %126: i64, %127: i1, %128: i1):  // 2 preds: ^bb29, ^bb30
  %129 = llvm.mlir.constant(-9223372036854775808 : i64) : i64
  %130 = llvm.icmp "ult" %27, %129 : i64
  llvm.cond_br %130 weights([2000, 1]), ^bb32, ^bb41
^bb32:  // 2 preds: ^bb31, ^bb41
  %131 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %132 = llvm.select %46, %99, %131 : i1, !llvm.ptr
  %133 = llvm.getelementptr %132[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %134 = llvm.load %133 : !llvm.ptr -> !llvm.ptr
  %135 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %136 = llvm.select %46, %134, %135 : i1, !llvm.ptr
  %137 = llvm.load %136 : !llvm.ptr -> i64
  %138 = llvm.getelementptr %136[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %139 = llvm.load %138 : !llvm.ptr -> i64
  %140 = llvm.trunc %126 : i64 to i32
  llvm.call @callee(%39, %100, %46, %102, %140) : (!llvm.ptr, !llvm.ptr, i1 {llvm.zeroext}, i64, i32) -> ()
  %141 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %141 : i32
^bb33:  // 21 preds: ^bb0, ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb9, ^bb13, ^bb14, ^bb15, ^bb16, ^bb17, ^bb21, ^bb27, ^bb28, ^bb35, ^bb36, ^bb38, ^bb39, ^bb40, ^bb41
  %142 = llvm.mlir.addressof @__ffi_builder_table_optional : !llvm.ptr
  %143 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %arg2, %142) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %143 : i32
^bb34:  // pred: ^bb2
  %144 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%144 : !llvm.ptr)
^bb35:  // pred: ^bb8
  %145 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%11) : (!llvm.ptr) -> i1
  llvm.cond_br %145, ^bb9, ^bb33
^bb36:  // pred: ^bb10
  %146 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%11) : (!llvm.ptr) -> i1
  llvm.cond_br %146, ^bb11, ^bb33
^bb37:  // pred: ^bb12
  %147 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %148 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%147) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb13(%148 : !llvm.ptr)
^bb38:  // 2 preds: ^bb19, ^bb20
  %149 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%53) : (!llvm.ptr) -> i1
  llvm.cond_br %149, ^bb21, ^bb33
^bb39:  // pred: ^bb22
  %150 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%53) : (!llvm.ptr) -> i1
  llvm.cond_br %150, ^bb23, ^bb33
^bb40:  // pred: ^bb23
  %151 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%53) : (!llvm.ptr) -> i1
  llvm.cond_br %151, ^bb24, ^bb33
^bb41:  // pred: ^bb31
  %152 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%11) : (!llvm.ptr) -> i1
  llvm.cond_br %152, ^bb32, ^bb33
}
