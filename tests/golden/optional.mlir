llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_optional("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_optional(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-e05510d1", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(3 : i32) : i32
  %1 = llvm.icmp "eq" %arg2, %0 : i32
  llvm.cond_br %1, ^bb1, ^bb34(%arg2 : i32)
^bb1:  // pred: ^bb0
  %2 = llvm.mlir.zero : !llvm.ptr
  %3 = llvm.icmp "ne" %arg1, %2 : !llvm.ptr
  llvm.cond_br %3, ^bb2, ^bb33
^bb2:  // pred: ^bb1
  %4 = llvm.load %arg1 : !llvm.ptr -> i32
  %5 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %6 = llvm.load %5 : !llvm.ptr -> !llvm.ptr
  %7 = llvm.mlir.constant(70 : i32) : i32
  %8 = llvm.icmp "eq" %4, %7 : i32
  llvm.cond_br %8 weights([2000, 1]), ^bb3(%6 : !llvm.ptr), ^bb35
^bb3(%9: !llvm.ptr):  // 2 preds: ^bb2, ^bb35
  %10 = llvm.mlir.zero : !llvm.ptr
  %11 = llvm.icmp "ne" %9, %10 : !llvm.ptr
  llvm.cond_br %11, ^bb4, ^bb33
^bb4:  // pred: ^bb3
  %12 = llvm.getelementptr %9[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %13 = llvm.load %12 : !llvm.ptr -> i64
  %14 = llvm.mlir.constant(316667938734081 : i64) : i64
  %15 = llvm.icmp "eq" %13, %14 : i64
  llvm.cond_br %15, ^bb5, ^bb33
^bb5:  // pred: ^bb4
  %16 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %17 = llvm.load %16 : !llvm.ptr -> i64
  %18 = llvm.trunc %17 : i64 to i32
  %19 = llvm.mlir.constant(1 : i32) : i32
  %20 = llvm.icmp "eq" %18, %19 : i32
  llvm.cond_br %20, ^bb6, ^bb33
^bb6:  // pred: ^bb5
  %21 = llvm.getelementptr %9[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %22 = llvm.load %21 : !llvm.ptr -> !llvm.ptr
  %23 = llvm.mlir.zero : !llvm.ptr
  %24 = llvm.icmp "ne" %22, %23 : !llvm.ptr
  llvm.cond_br %24, ^bb7, ^bb33
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
  llvm.cond_br %32 weights([2000, 1]), ^bb9, ^bb36
^bb9:  // 3 preds: ^bb7, ^bb8, ^bb36
  %33 = llvm.getelementptr %9[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %34 = llvm.load %33 : !llvm.ptr -> !llvm.ptr
  %35 = llvm.getelementptr %9[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %36 = llvm.load %35 : !llvm.ptr -> i64
  %37 = llvm.getelementptr %34[%36] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %38 = llvm.icmp "uge" %37, %34 : !llvm.ptr
  llvm.cond_br %38, ^bb10, ^bb33
^bb10:  // pred: ^bb9
  %39 = llvm.mlir.zero : !llvm.ptr
  %40 = llvm.icmp "ne" %34, %39 : !llvm.ptr
  llvm.cond_br %40 weights([2000, 1]), ^bb11, ^bb37
^bb11:  // 2 preds: ^bb10, ^bb37
  %41 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %42 = llvm.load %41 : !llvm.ptr -> i32
  %43 = llvm.mlir.constant(0 : i32) : i32
  %44 = llvm.icmp "ne" %42, %43 : i32
  llvm.cond_br %44, ^bb12, ^bb25
^bb12:  // pred: ^bb11
  %45 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %46 = llvm.load %45 : !llvm.ptr -> i32
  %47 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %48 = llvm.load %47 : !llvm.ptr -> !llvm.ptr
  %49 = llvm.mlir.constant(70 : i32) : i32
  %50 = llvm.icmp "eq" %46, %49 : i32
  llvm.cond_br %50 weights([2000, 1]), ^bb13(%48 : !llvm.ptr), ^bb38
^bb13(%51: !llvm.ptr):  // 2 preds: ^bb12, ^bb38
  %52 = llvm.mlir.zero : !llvm.ptr
  %53 = llvm.icmp "ne" %51, %52 : !llvm.ptr
  llvm.cond_br %53, ^bb14, ^bb33
^bb14:  // pred: ^bb13
  %54 = llvm.getelementptr %51[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %55 = llvm.load %54 : !llvm.ptr -> i64
  %56 = llvm.mlir.constant(316667938734082 : i64) : i64
  %57 = llvm.icmp "eq" %55, %56 : i64
  llvm.cond_br %57, ^bb15, ^bb33
^bb15:  // pred: ^bb14
  %58 = llvm.getelementptr %51[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %59 = llvm.load %58 : !llvm.ptr -> i64
  %60 = llvm.icmp "eq" %59, %17 : i64
  llvm.cond_br %60, ^bb16, ^bb33
^bb16:  // pred: ^bb15
  %61 = llvm.getelementptr %51[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %62 = llvm.load %61 : !llvm.ptr -> !llvm.ptr
  %63 = llvm.mlir.zero : !llvm.ptr
  %64 = llvm.icmp "ne" %62, %63 : !llvm.ptr
  llvm.cond_br %64, ^bb17, ^bb33
^bb17:  // pred: ^bb16
  %65 = llvm.load %62 : !llvm.ptr -> i64
  %66 = llvm.icmp "eq" %65, %25 : i64
  llvm.cond_br %66, ^bb18, ^bb33
^bb18:  // pred: ^bb17
  %67 = llvm.getelementptr %62[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %68 = llvm.load %67 : !llvm.ptr -> i64
  %69 = llvm.getelementptr %51[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %70 = llvm.load %69 : !llvm.ptr -> !llvm.ptr
  %71 = llvm.mlir.zero : !llvm.ptr
  %72 = llvm.icmp "eq" %70, %71 : !llvm.ptr
  llvm.cond_br %72, ^bb21, ^bb19
^bb19:  // pred: ^bb18
  %73 = llvm.getelementptr %70[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %74 = llvm.load %73 : !llvm.ptr -> i64
  %75 = llvm.mlir.constant(1 : i64) : i64
  %76 = llvm.icmp "eq" %74, %75 : i64
  llvm.cond_br %76 weights([2000, 1]), ^bb20, ^bb39
^bb20:  // pred: ^bb19
  %77 = llvm.load %70 : !llvm.ptr -> i64
  %78 = llvm.icmp "eq" %77, %68 : i64
  llvm.cond_br %78 weights([2000, 1]), ^bb21, ^bb39
^bb21:  // 3 preds: ^bb18, ^bb20, ^bb39
  %79 = llvm.getelementptr %51[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %80 = llvm.load %79 : !llvm.ptr -> !llvm.ptr
  %81 = llvm.getelementptr %51[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %82 = llvm.load %81 : !llvm.ptr -> i64
  %83 = llvm.getelementptr %80[%82] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %84 = llvm.icmp "uge" %83, %80 : !llvm.ptr
  llvm.cond_br %84, ^bb22, ^bb33
^bb22:  // pred: ^bb21
  %85 = llvm.mlir.zero : !llvm.ptr
  %86 = llvm.icmp "ne" %80, %85 : !llvm.ptr
  llvm.cond_br %86 weights([2000, 1]), ^bb23, ^bb40
^bb23:  // 2 preds: ^bb22, ^bb40
  %87 = llvm.or %25, %68 : i64
  %88 = llvm.mlir.constant(2147483648 : i64) : i64
  %89 = llvm.icmp "ult" %87, %88 : i64
  llvm.cond_br %89 weights([2000, 1]), ^bb24, ^bb41
^bb24:  // 2 preds: ^bb23, ^bb41
  %90 = llvm.mlir.constant(true) : i1
  llvm.br ^bb26(%51, %83, %59, %68, %90, %90 : !llvm.ptr, !llvm.ptr, i64, i64, i1, i1)
^bb25:  // pred: ^bb11
  %91 = llvm.mlir.zero : !llvm.ptr
  %92 = llvm.mlir.zero : !llvm.ptr
  %93 = llvm.mlir.zero : i64
  %94 = llvm.mlir.zero : i64
  %95 = llvm.mlir.zero : i1
  %96 = llvm.mlir.zero : i1
  llvm.br ^bb26(%91, %92, %93, %94, %95, %96 : !llvm.ptr, !llvm.ptr, i64, i64, i1, i1)
^bb26(%97: !llvm.ptr, %98: !llvm.ptr, %99: i64, %100: i64, %101: i1, %102: i1):  // 2 preds: ^bb24, ^bb25
  %103 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %104 = llvm.load %103 : !llvm.ptr -> i32
  %105 = llvm.mlir.constant(0 : i32) : i32
  %106 = llvm.icmp "ne" %104, %105 : i32
  llvm.cond_br %106, ^bb27, ^bb30
^bb27:  // pred: ^bb26
  %107 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %108 = llvm.load %107 : !llvm.ptr -> i32
  %109 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %110 = llvm.load %109 : !llvm.ptr -> i64
  %111 = llvm.mlir.constant(1 : i32) : i32
  %112 = llvm.sub %108, %111 : i32
  %113 = llvm.mlir.constant(2 : i32) : i32
  %114 = llvm.icmp "ult" %112, %113 : i32
  llvm.cond_br %114, ^bb28, ^bb33
^bb28:  // pred: ^bb27
  %115 = llvm.trunc %110 : i64 to i32
  %116 = llvm.sext %115 : i32 to i64
  %117 = llvm.icmp "eq" %116, %110 : i64
  llvm.cond_br %117, ^bb29, ^bb33
^bb29:  // pred: ^bb28
  %118 = llvm.mlir.constant(true) : i1
  llvm.br ^bb31(%110, %110, %118, %118 : i64, i64, i1, i1)
^bb30:  // pred: ^bb26
  %119 = llvm.mlir.zero : i64
  %120 = llvm.mlir.zero : i64
  %121 = llvm.mlir.zero : i1
  %122 = llvm.mlir.zero : i1
  llvm.br ^bb31(%119, %120, %121, %122 : i64, i64, i1, i1)
^bb31(%123: i64, %124: i64, %125: i1, %126: i1):  // 2 preds: ^bb29, ^bb30
  %127 = llvm.mlir.constant(-9223372036854775808 : i64) : i64
  %128 = llvm.icmp "ult" %25, %127 : i64
  llvm.cond_br %128 weights([2000, 1]), ^bb32, ^bb42
^bb32:  // 2 preds: ^bb31, ^bb42
  %129 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %129, %arg3 : i64, !llvm.ptr
  %130 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %129, %130 : i64, !llvm.ptr
  %131 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %132 = llvm.select %44, %97, %131 : i1, !llvm.ptr
  %133 = llvm.getelementptr %132[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %134 = llvm.load %133 : !llvm.ptr -> !llvm.ptr
  %135 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %136 = llvm.select %44, %134, %135 : i1, !llvm.ptr
  %137 = llvm.load %136 : !llvm.ptr -> i64
  %138 = llvm.getelementptr %136[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %139 = llvm.load %138 : !llvm.ptr -> i64
  %140 = llvm.trunc %124 : i64 to i32
  llvm.call @callee(%37, %98, %44, %100, %140) : (!llvm.ptr, !llvm.ptr, i1 {llvm.zeroext}, i64, i32) -> ()
  %141 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %141 : i32
^bb33:  // 20 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb9, ^bb13, ^bb14, ^bb15, ^bb16, ^bb17, ^bb21, ^bb27, ^bb28, ^bb36, ^bb37, ^bb39, ^bb40, ^bb41, ^bb42
  %142 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb34(%142 : i32)
^bb34(%143: i32):  // 2 preds: ^bb0, ^bb33
  %144 = llvm.mlir.addressof @__ffi_builder_table_optional : !llvm.ptr
  %145 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %143, %144) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %145 : i32
^bb35:  // pred: ^bb2
  %146 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%146 : !llvm.ptr)
^bb36:  // pred: ^bb8
  %147 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %147, ^bb9, ^bb33
^bb37:  // pred: ^bb10
  %148 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %148, ^bb11, ^bb33
^bb38:  // pred: ^bb12
  %149 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %150 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%149) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb13(%150 : !llvm.ptr)
^bb39:  // 2 preds: ^bb19, ^bb20
  %151 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%51) : (!llvm.ptr) -> i1
  llvm.cond_br %151, ^bb21, ^bb33
^bb40:  // pred: ^bb22
  %152 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%51) : (!llvm.ptr) -> i1
  llvm.cond_br %152, ^bb23, ^bb33
^bb41:  // pred: ^bb23
  %153 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%51) : (!llvm.ptr) -> i1
  llvm.cond_br %153, ^bb24, ^bb33
^bb42:  // pred: ^bb31
  %154 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %154, ^bb32, ^bb33
}
