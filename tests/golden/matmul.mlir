llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_matmul("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_matmul(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-41307794", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(3 : i32) : i32
  %1 = llvm.icmp "eq" %arg2, %0 : i32
  llvm.cond_br %1, ^bb1, ^bb38(%arg2 : i32)
^bb1:  // pred: ^bb0
  %2 = llvm.mlir.zero : !llvm.ptr
  %3 = llvm.icmp "ne" %arg1, %2 : !llvm.ptr
  llvm.cond_br %3, ^bb2, ^bb37
^bb2:  // pred: ^bb1
  %4 = llvm.load %arg1 : !llvm.ptr -> i32
  %5 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %6 = llvm.load %5 : !llvm.ptr -> !llvm.ptr
  %7 = llvm.mlir.constant(70 : i32) : i32
  %8 = llvm.icmp "eq" %4, %7 : i32
  llvm.cond_br %8 weights([2000, 1]), ^bb3(%6 : !llvm.ptr), ^bb39
^bb3(%9: !llvm.ptr):  // 2 preds: ^bb2, ^bb39
  %10 = llvm.mlir.zero : !llvm.ptr
  %11 = llvm.icmp "ne" %9, %10 : !llvm.ptr
  llvm.cond_br %11, ^bb4, ^bb37
^bb4:  // pred: ^bb3
  %12 = llvm.getelementptr %9[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %13 = llvm.load %12 : !llvm.ptr -> i64
  %14 = llvm.mlir.constant(316667938734082 : i64) : i64
  %15 = llvm.icmp "eq" %13, %14 : i64
  llvm.cond_br %15, ^bb5, ^bb37
^bb5:  // pred: ^bb4
  %16 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %17 = llvm.load %16 : !llvm.ptr -> i64
  %18 = llvm.trunc %17 : i64 to i32
  %19 = llvm.mlir.constant(1 : i32) : i32
  %20 = llvm.icmp "eq" %18, %19 : i32
  llvm.cond_br %20, ^bb6, ^bb37
^bb6:  // pred: ^bb5
  %21 = llvm.getelementptr %9[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %22 = llvm.load %21 : !llvm.ptr -> !llvm.ptr
  %23 = llvm.mlir.zero : !llvm.ptr
  %24 = llvm.icmp "ne" %22, %23 : !llvm.ptr
  llvm.cond_br %24, ^bb7, ^bb37
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
  llvm.cond_br %35 weights([2000, 1]), ^bb9, ^bb40
^bb9:  // pred: ^bb8
  %36 = llvm.load %29 : !llvm.ptr -> i64
  %37 = llvm.icmp "eq" %36, %27 : i64
  llvm.cond_br %37 weights([2000, 1]), ^bb10, ^bb40
^bb10:  // 3 preds: ^bb7, ^bb9, ^bb40
  %38 = llvm.getelementptr %9[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %39 = llvm.load %38 : !llvm.ptr -> !llvm.ptr
  %40 = llvm.getelementptr %9[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %41 = llvm.load %40 : !llvm.ptr -> i64
  %42 = llvm.getelementptr %39[%41] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %43 = llvm.icmp "uge" %42, %39 : !llvm.ptr
  llvm.cond_br %43, ^bb11, ^bb37
^bb11:  // pred: ^bb10
  %44 = llvm.mlir.zero : !llvm.ptr
  %45 = llvm.icmp "ne" %39, %44 : !llvm.ptr
  llvm.cond_br %45 weights([2000, 1]), ^bb12, ^bb41
^bb12:  // 2 preds: ^bb11, ^bb41
  %46 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %47 = llvm.load %46 : !llvm.ptr -> i32
  %48 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %49 = llvm.load %48 : !llvm.ptr -> !llvm.ptr
  %50 = llvm.mlir.constant(70 : i32) : i32
  %51 = llvm.icmp "eq" %47, %50 : i32
  llvm.cond_br %51 weights([2000, 1]), ^bb13(%49 : !llvm.ptr), ^bb42
^bb13(%52: !llvm.ptr):  // 2 preds: ^bb12, ^bb42
  %53 = llvm.mlir.zero : !llvm.ptr
  %54 = llvm.icmp "ne" %52, %53 : !llvm.ptr
  llvm.cond_br %54, ^bb14, ^bb37
^bb14:  // pred: ^bb13
  %55 = llvm.getelementptr %52[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %56 = llvm.load %55 : !llvm.ptr -> i64
  %57 = llvm.mlir.constant(316667938734082 : i64) : i64
  %58 = llvm.icmp "eq" %56, %57 : i64
  llvm.cond_br %58, ^bb15, ^bb37
^bb15:  // pred: ^bb14
  %59 = llvm.getelementptr %52[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %60 = llvm.load %59 : !llvm.ptr -> i64
  %61 = llvm.icmp "eq" %60, %17 : i64
  llvm.cond_br %61, ^bb16, ^bb37
^bb16:  // pred: ^bb15
  %62 = llvm.getelementptr %52[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %63 = llvm.load %62 : !llvm.ptr -> !llvm.ptr
  %64 = llvm.mlir.zero : !llvm.ptr
  %65 = llvm.icmp "ne" %63, %64 : !llvm.ptr
  llvm.cond_br %65, ^bb17, ^bb37
^bb17:  // pred: ^bb16
  %66 = llvm.load %63 : !llvm.ptr -> i64
  %67 = llvm.icmp "eq" %66, %27 : i64
  llvm.cond_br %67, ^bb18, ^bb37
^bb18:  // pred: ^bb17
  %68 = llvm.getelementptr %63[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %69 = llvm.load %68 : !llvm.ptr -> i64
  %70 = llvm.getelementptr %52[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %71 = llvm.load %70 : !llvm.ptr -> !llvm.ptr
  %72 = llvm.mlir.zero : !llvm.ptr
  %73 = llvm.icmp "eq" %71, %72 : !llvm.ptr
  llvm.cond_br %73, ^bb21, ^bb19
^bb19:  // pred: ^bb18
  %74 = llvm.getelementptr %71[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %75 = llvm.load %74 : !llvm.ptr -> i64
  %76 = llvm.mlir.constant(1 : i64) : i64
  %77 = llvm.icmp "eq" %75, %76 : i64
  llvm.cond_br %77 weights([2000, 1]), ^bb20, ^bb43
^bb20:  // pred: ^bb19
  %78 = llvm.load %71 : !llvm.ptr -> i64
  %79 = llvm.icmp "eq" %78, %69 : i64
  llvm.cond_br %79 weights([2000, 1]), ^bb21, ^bb43
^bb21:  // 3 preds: ^bb18, ^bb20, ^bb43
  %80 = llvm.getelementptr %52[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %81 = llvm.load %80 : !llvm.ptr -> !llvm.ptr
  %82 = llvm.getelementptr %52[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %83 = llvm.load %82 : !llvm.ptr -> i64
  %84 = llvm.getelementptr %81[%83] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %85 = llvm.icmp "uge" %84, %81 : !llvm.ptr
  llvm.cond_br %85, ^bb22, ^bb37
^bb22:  // pred: ^bb21
  %86 = llvm.mlir.zero : !llvm.ptr
  %87 = llvm.icmp "ne" %81, %86 : !llvm.ptr
  llvm.cond_br %87 weights([2000, 1]), ^bb23, ^bb44
^bb23:  // 2 preds: ^bb22, ^bb44
  %88 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %89 = llvm.load %88 : !llvm.ptr -> i32
  %90 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %91 = llvm.load %90 : !llvm.ptr -> !llvm.ptr
  %92 = llvm.mlir.constant(70 : i32) : i32
  %93 = llvm.icmp "eq" %89, %92 : i32
  llvm.cond_br %93 weights([2000, 1]), ^bb24(%91 : !llvm.ptr), ^bb45
^bb24(%94: !llvm.ptr):  // 2 preds: ^bb23, ^bb45
  %95 = llvm.mlir.zero : !llvm.ptr
  %96 = llvm.icmp "ne" %94, %95 : !llvm.ptr
  llvm.cond_br %96, ^bb25, ^bb37
^bb25:  // pred: ^bb24
  %97 = llvm.getelementptr %94[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %98 = llvm.load %97 : !llvm.ptr -> i64
  %99 = llvm.mlir.constant(316667938734082 : i64) : i64
  %100 = llvm.icmp "eq" %98, %99 : i64
  llvm.cond_br %100, ^bb26, ^bb37
^bb26:  // pred: ^bb25
  %101 = llvm.getelementptr %94[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %102 = llvm.load %101 : !llvm.ptr -> i64
  %103 = llvm.icmp "eq" %102, %17 : i64
  llvm.cond_br %103, ^bb27, ^bb37
^bb27:  // pred: ^bb26
  %104 = llvm.getelementptr %94[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %105 = llvm.load %104 : !llvm.ptr -> !llvm.ptr
  %106 = llvm.mlir.zero : !llvm.ptr
  %107 = llvm.icmp "ne" %105, %106 : !llvm.ptr
  llvm.cond_br %107, ^bb28, ^bb37
^bb28:  // pred: ^bb27
  %108 = llvm.load %105 : !llvm.ptr -> i64
  %109 = llvm.icmp "eq" %108, %25 : i64
  llvm.cond_br %109, ^bb29, ^bb37
^bb29:  // pred: ^bb28
  %110 = llvm.getelementptr %105[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %111 = llvm.load %110 : !llvm.ptr -> i64
  %112 = llvm.icmp "eq" %111, %69 : i64
  llvm.cond_br %112, ^bb30, ^bb37
^bb30:  // pred: ^bb29
  %113 = llvm.getelementptr %94[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %114 = llvm.load %113 : !llvm.ptr -> !llvm.ptr
  %115 = llvm.mlir.zero : !llvm.ptr
  %116 = llvm.icmp "eq" %114, %115 : !llvm.ptr
  llvm.cond_br %116, ^bb33, ^bb31
^bb31:  // pred: ^bb30
  %117 = llvm.getelementptr %114[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %118 = llvm.load %117 : !llvm.ptr -> i64
  %119 = llvm.mlir.constant(1 : i64) : i64
  %120 = llvm.icmp "eq" %118, %119 : i64
  llvm.cond_br %120 weights([2000, 1]), ^bb32, ^bb46
^bb32:  // pred: ^bb31
  %121 = llvm.load %114 : !llvm.ptr -> i64
  %122 = llvm.icmp "eq" %121, %69 : i64
  llvm.cond_br %122 weights([2000, 1]), ^bb33, ^bb46
^bb33:  // 3 preds: ^bb30, ^bb32, ^bb46
  %123 = llvm.getelementptr %94[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %124 = llvm.load %123 : !llvm.ptr -> !llvm.ptr
  %125 = llvm.getelementptr %94[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %126 = llvm.load %125 : !llvm.ptr -> i64
  %127 = llvm.getelementptr %124[%126] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %128 = llvm.icmp "uge" %127, %124 : !llvm.ptr
  llvm.cond_br %128, ^bb34, ^bb37
^bb34:  // pred: ^bb33
  %129 = llvm.mlir.zero : !llvm.ptr
  %130 = llvm.icmp "ne" %124, %129 : !llvm.ptr
  llvm.cond_br %130 weights([2000, 1]), ^bb35, ^bb47
^bb35:  // 2 preds: ^bb34, ^bb47
  %131 = llvm.or %25, %27 : i64
  %132 = llvm.or %131, %69 : i64
  %133 = llvm.mlir.constant(2147483648 : i64) : i64
  %134 = llvm.icmp "ult" %132, %133 : i64
  llvm.cond_br %134 weights([2000, 1]), ^bb36, ^bb48
^bb36:  // 2 preds: ^bb35, ^bb48
  %135 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %135, %arg3 : i64, !llvm.ptr
  %136 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %135, %136 : i64, !llvm.ptr
  %137 = llvm.mlir.constant(0 : i64) : i64
  %138 = llvm.mlir.constant(1 : i64) : i64
  %139 = llvm.mlir.constant(0 : i64) : i64
  %140 = llvm.mlir.constant(1 : i64) : i64
  %141 = llvm.mlir.constant(0 : i64) : i64
  %142 = llvm.mlir.constant(1 : i64) : i64
  llvm.call @callee(%42, %42, %137, %25, %27, %27, %138, %84, %84, %139, %27, %69, %69, %140, %127, %127, %141, %25, %69, %69, %142) : (!llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64) -> ()
  %143 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %143 : i32
^bb37:  // 26 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb10, ^bb13, ^bb14, ^bb15, ^bb16, ^bb17, ^bb21, ^bb24, ^bb25, ^bb26, ^bb27, ^bb28, ^bb29, ^bb33, ^bb40, ^bb41, ^bb43, ^bb44, ^bb46, ^bb47, ^bb48
  %144 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb38(%144 : i32)
^bb38(%145: i32):  // 2 preds: ^bb0, ^bb37
  %146 = llvm.mlir.addressof @__ffi_builder_table_matmul : !llvm.ptr
  %147 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %145, %146) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %147 : i32
^bb39:  // pred: ^bb2
  %148 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%148 : !llvm.ptr)
^bb40:  // 2 preds: ^bb8, ^bb9
  %149 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %149, ^bb10, ^bb37
^bb41:  // pred: ^bb11
  %150 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %150, ^bb12, ^bb37
^bb42:  // pred: ^bb12
  %151 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %152 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%151) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb13(%152 : !llvm.ptr)
^bb43:  // 2 preds: ^bb19, ^bb20
  %153 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%52) : (!llvm.ptr) -> i1
  llvm.cond_br %153, ^bb21, ^bb37
^bb44:  // pred: ^bb22
  %154 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%52) : (!llvm.ptr) -> i1
  llvm.cond_br %154, ^bb23, ^bb37
^bb45:  // pred: ^bb23
  %155 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %156 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%155) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb24(%156 : !llvm.ptr)
^bb46:  // 2 preds: ^bb31, ^bb32
  %157 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%94) : (!llvm.ptr) -> i1
  llvm.cond_br %157, ^bb33, ^bb37
^bb47:  // pred: ^bb34
  %158 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%94) : (!llvm.ptr) -> i1
  llvm.cond_br %158, ^bb35, ^bb37
^bb48:  // pred: ^bb35
  %159 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%9) : (!llvm.ptr) -> i1
  %160 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%52) : (!llvm.ptr) -> i1
  %161 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%94) : (!llvm.ptr) -> i1
  %162 = llvm.and %159, %160 : i1
  %163 = llvm.and %162, %161 : i1
  llvm.cond_br %163, ^bb36, ^bb37
}
