llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_matmul("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_matmul(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted", ["ffi-builder-metadata", "JSON"]]} {
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
  %12 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %13 = llvm.load %12 : !llvm.ptr -> i32
  %14 = llvm.zext %13 : i32 to i64
  %15 = llvm.mlir.constant(1 : i64) : i64
  %16 = llvm.xor %14, %15 : i64
  %17 = llvm.getelementptr %9[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %18 = llvm.load %17 : !llvm.ptr -> i64
  %19 = llvm.mlir.constant(316667938734082 : i64) : i64
  %20 = llvm.xor %18, %19 : i64
  %21 = llvm.or %20, %16 : i64
  %22 = llvm.mlir.constant(0 : i64) : i64
  %23 = llvm.icmp "eq" %21, %22 : i64
  llvm.cond_br %23, ^bb5, ^bb33
^bb5:  // pred: ^bb4
  %24 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %25 = llvm.load %24 : !llvm.ptr -> i64
  %26 = llvm.getelementptr %9[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %27 = llvm.load %26 : !llvm.ptr -> !llvm.ptr
  %28 = llvm.mlir.zero : !llvm.ptr
  %29 = llvm.icmp "ne" %27, %28 : !llvm.ptr
  llvm.cond_br %29, ^bb6, ^bb33
^bb6:  // pred: ^bb5
  %30 = llvm.load %27 : !llvm.ptr -> i64
  %31 = llvm.getelementptr %27[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %32 = llvm.load %31 : !llvm.ptr -> i64
  %33 = llvm.getelementptr %9[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %34 = llvm.load %33 : !llvm.ptr -> !llvm.ptr
  %35 = llvm.mlir.zero : !llvm.ptr
  %36 = llvm.icmp "eq" %34, %35 : !llvm.ptr
  llvm.cond_br %36, ^bb9, ^bb7
^bb7:  // pred: ^bb6
  %37 = llvm.getelementptr %34[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %38 = llvm.load %37 : !llvm.ptr -> i64
  %39 = llvm.mlir.constant(1 : i64) : i64
  %40 = llvm.icmp "eq" %38, %39 : i64
  llvm.cond_br %40 weights([2000, 1]), ^bb8, ^bb36
^bb8:  // pred: ^bb7
  %41 = llvm.load %34 : !llvm.ptr -> i64
  %42 = llvm.icmp "eq" %41, %32 : i64
  llvm.cond_br %42 weights([2000, 1]), ^bb9, ^bb36
^bb9:  // 3 preds: ^bb6, ^bb8, ^bb36
  %43 = llvm.getelementptr %9[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %44 = llvm.load %43 : !llvm.ptr -> !llvm.ptr
  %45 = llvm.getelementptr %9[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %46 = llvm.load %45 : !llvm.ptr -> i64
  %47 = llvm.getelementptr %44[%46] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %48 = llvm.getelementptr %44[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %49 = llvm.icmp "ult" %48, %47 : !llvm.ptr
  llvm.cond_br %49 weights([2000, 1]), ^bb10, ^bb37
^bb10:  // 2 preds: ^bb9, ^bb37
  %50 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %51 = llvm.load %50 : !llvm.ptr -> i32
  %52 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %53 = llvm.load %52 : !llvm.ptr -> !llvm.ptr
  %54 = llvm.mlir.constant(70 : i32) : i32
  %55 = llvm.icmp "eq" %51, %54 : i32
  llvm.cond_br %55 weights([2000, 1]), ^bb11(%53 : !llvm.ptr), ^bb38
^bb11(%56: !llvm.ptr):  // 2 preds: ^bb10, ^bb38
  %57 = llvm.mlir.zero : !llvm.ptr
  %58 = llvm.icmp "ne" %56, %57 : !llvm.ptr
  llvm.cond_br %58, ^bb12, ^bb33
^bb12:  // pred: ^bb11
  %59 = llvm.getelementptr %56[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %60 = llvm.load %59 : !llvm.ptr -> i64
  %61 = llvm.mlir.constant(316667938734082 : i64) : i64
  %62 = llvm.icmp "eq" %60, %61 : i64
  llvm.cond_br %62, ^bb13, ^bb33
^bb13:  // pred: ^bb12
  %63 = llvm.getelementptr %56[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %64 = llvm.load %63 : !llvm.ptr -> i64
  %65 = llvm.icmp "eq" %64, %25 : i64
  llvm.cond_br %65, ^bb14, ^bb33
^bb14:  // pred: ^bb13
  %66 = llvm.getelementptr %56[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %67 = llvm.load %66 : !llvm.ptr -> !llvm.ptr
  %68 = llvm.mlir.zero : !llvm.ptr
  %69 = llvm.icmp "ne" %67, %68 : !llvm.ptr
  llvm.cond_br %69, ^bb15, ^bb33
^bb15:  // pred: ^bb14
  %70 = llvm.load %67 : !llvm.ptr -> i64
  %71 = llvm.icmp "eq" %70, %32 : i64
  llvm.cond_br %71, ^bb16, ^bb33
^bb16:  // pred: ^bb15
  %72 = llvm.getelementptr %67[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %73 = llvm.load %72 : !llvm.ptr -> i64
  %74 = llvm.getelementptr %56[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %75 = llvm.load %74 : !llvm.ptr -> !llvm.ptr
  %76 = llvm.mlir.zero : !llvm.ptr
  %77 = llvm.icmp "eq" %75, %76 : !llvm.ptr
  llvm.cond_br %77, ^bb19, ^bb17
^bb17:  // pred: ^bb16
  %78 = llvm.getelementptr %75[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %79 = llvm.load %78 : !llvm.ptr -> i64
  %80 = llvm.mlir.constant(1 : i64) : i64
  %81 = llvm.icmp "eq" %79, %80 : i64
  llvm.cond_br %81 weights([2000, 1]), ^bb18, ^bb39
^bb18:  // pred: ^bb17
  %82 = llvm.load %75 : !llvm.ptr -> i64
  %83 = llvm.icmp "eq" %82, %73 : i64
  llvm.cond_br %83 weights([2000, 1]), ^bb19, ^bb39
^bb19:  // 3 preds: ^bb16, ^bb18, ^bb39
  %84 = llvm.getelementptr %56[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %85 = llvm.load %84 : !llvm.ptr -> !llvm.ptr
  %86 = llvm.getelementptr %56[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %87 = llvm.load %86 : !llvm.ptr -> i64
  %88 = llvm.getelementptr %85[%87] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %89 = llvm.getelementptr %85[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %90 = llvm.icmp "ult" %89, %88 : !llvm.ptr
  llvm.cond_br %90 weights([2000, 1]), ^bb20, ^bb40
^bb20:  // 2 preds: ^bb19, ^bb40
  %91 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %92 = llvm.load %91 : !llvm.ptr -> i32
  %93 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %94 = llvm.load %93 : !llvm.ptr -> !llvm.ptr
  %95 = llvm.mlir.constant(70 : i32) : i32
  %96 = llvm.icmp "eq" %92, %95 : i32
  llvm.cond_br %96 weights([2000, 1]), ^bb21(%94 : !llvm.ptr), ^bb41
^bb21(%97: !llvm.ptr):  // 2 preds: ^bb20, ^bb41
  %98 = llvm.mlir.zero : !llvm.ptr
  %99 = llvm.icmp "ne" %97, %98 : !llvm.ptr
  llvm.cond_br %99, ^bb22, ^bb33
^bb22:  // pred: ^bb21
  %100 = llvm.getelementptr %97[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %101 = llvm.load %100 : !llvm.ptr -> i64
  %102 = llvm.mlir.constant(316667938734082 : i64) : i64
  %103 = llvm.icmp "eq" %101, %102 : i64
  llvm.cond_br %103, ^bb23, ^bb33
^bb23:  // pred: ^bb22
  %104 = llvm.getelementptr %97[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %105 = llvm.load %104 : !llvm.ptr -> i64
  %106 = llvm.icmp "eq" %105, %25 : i64
  llvm.cond_br %106, ^bb24, ^bb33
^bb24:  // pred: ^bb23
  %107 = llvm.getelementptr %97[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %108 = llvm.load %107 : !llvm.ptr -> !llvm.ptr
  %109 = llvm.mlir.zero : !llvm.ptr
  %110 = llvm.icmp "ne" %108, %109 : !llvm.ptr
  llvm.cond_br %110, ^bb25, ^bb33
^bb25:  // pred: ^bb24
  %111 = llvm.load %108 : !llvm.ptr -> i64
  %112 = llvm.icmp "eq" %111, %30 : i64
  llvm.cond_br %112, ^bb26, ^bb33
^bb26:  // pred: ^bb25
  %113 = llvm.getelementptr %108[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %114 = llvm.load %113 : !llvm.ptr -> i64
  %115 = llvm.icmp "eq" %114, %73 : i64
  llvm.cond_br %115, ^bb27, ^bb33
^bb27:  // pred: ^bb26
  %116 = llvm.getelementptr %97[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %117 = llvm.load %116 : !llvm.ptr -> !llvm.ptr
  %118 = llvm.mlir.zero : !llvm.ptr
  %119 = llvm.icmp "eq" %117, %118 : !llvm.ptr
  llvm.cond_br %119, ^bb30, ^bb28
^bb28:  // pred: ^bb27
  %120 = llvm.getelementptr %117[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %121 = llvm.load %120 : !llvm.ptr -> i64
  %122 = llvm.mlir.constant(1 : i64) : i64
  %123 = llvm.icmp "eq" %121, %122 : i64
  llvm.cond_br %123 weights([2000, 1]), ^bb29, ^bb42
^bb29:  // pred: ^bb28
  %124 = llvm.load %117 : !llvm.ptr -> i64
  %125 = llvm.icmp "eq" %124, %73 : i64
  llvm.cond_br %125 weights([2000, 1]), ^bb30, ^bb42
^bb30:  // 3 preds: ^bb27, ^bb29, ^bb42
  %126 = llvm.getelementptr %97[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %127 = llvm.load %126 : !llvm.ptr -> !llvm.ptr
  %128 = llvm.getelementptr %97[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %129 = llvm.load %128 : !llvm.ptr -> i64
  %130 = llvm.getelementptr %127[%129] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %131 = llvm.getelementptr %127[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %132 = llvm.icmp "ult" %131, %130 : !llvm.ptr
  llvm.cond_br %132 weights([2000, 1]), ^bb31, ^bb43
^bb31:  // 2 preds: ^bb30, ^bb43
  %133 = llvm.or %30, %32 : i64
  %134 = llvm.or %133, %73 : i64
  %135 = llvm.ptrtoint %47 : !llvm.ptr to i64
  %136 = llvm.ptrtoint %88 : !llvm.ptr to i64
  %137 = llvm.or %135, %136 : i64
  %138 = llvm.ptrtoint %130 : !llvm.ptr to i64
  %139 = llvm.or %137, %138 : i64
  %140 = llvm.mlir.constant(62 : i64) : i64
  %141 = llvm.shl %139, %140 : i64
  %142 = llvm.or %141, %134 : i64
  %143 = llvm.mlir.constant(2147483647 : i64) : i64
  %144 = llvm.icmp "ule" %142, %143 : i64
  llvm.cond_br %144 weights([2000, 1]), ^bb32, ^bb44
^bb32:  // 2 preds: ^bb31, ^bb44
  %145 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %145, %arg3 : i64, !llvm.ptr
  %146 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %145, %146 : i64, !llvm.ptr
  %147 = llvm.mlir.constant(0 : i64) : i64
  %148 = llvm.mlir.constant(1 : i64) : i64
  %149 = llvm.mlir.constant(0 : i64) : i64
  %150 = llvm.mlir.constant(1 : i64) : i64
  %151 = llvm.mlir.constant(0 : i64) : i64
  %152 = llvm.mlir.constant(1 : i64) : i64
  llvm.call @callee(%47, %47, %147, %30, %32, %32, %148, %88, %88, %149, %32, %73, %73, %150, %130, %130, %151, %30, %73, %73, %152) : (!llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64) -> ()
  %153 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %153 : i32
^bb33:  // 22 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb11, ^bb12, ^bb13, ^bb14, ^bb15, ^bb21, ^bb22, ^bb23, ^bb24, ^bb25, ^bb26, ^bb36, ^bb37, ^bb39, ^bb40, ^bb42, ^bb43, ^bb44
  %154 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb34(%154 : i32)
^bb34(%155: i32):  // 2 preds: ^bb0, ^bb33
  %156 = llvm.mlir.addressof @__ffi_builder_table_matmul : !llvm.ptr
  %157 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %155, %156) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %157 : i32
^bb35:  // pred: ^bb2
  %158 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%158 : !llvm.ptr)
^bb36:  // 2 preds: ^bb7, ^bb8
  %159 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %159, ^bb9, ^bb33
^bb37:  // pred: ^bb9
  %160 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %160, ^bb10, ^bb33
^bb38:  // pred: ^bb10
  %161 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %162 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%161) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb11(%162 : !llvm.ptr)
^bb39:  // 2 preds: ^bb17, ^bb18
  %163 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%56) : (!llvm.ptr) -> i1
  llvm.cond_br %163, ^bb19, ^bb33
^bb40:  // pred: ^bb19
  %164 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%56) : (!llvm.ptr) -> i1
  llvm.cond_br %164, ^bb20, ^bb33
^bb41:  // pred: ^bb20
  %165 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %166 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%165) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb21(%166 : !llvm.ptr)
^bb42:  // 2 preds: ^bb28, ^bb29
  %167 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%97) : (!llvm.ptr) -> i1
  llvm.cond_br %167, ^bb30, ^bb33
^bb43:  // pred: ^bb30
  %168 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%97) : (!llvm.ptr) -> i1
  llvm.cond_br %168, ^bb31, ^bb33
^bb44:  // pred: ^bb31
  %169 = llvm.mlir.constant(3 : i32) : i32
  %170 = llvm.mlir.addressof @__ffi_builder_table_matmul : !llvm.ptr
  %171 = llvm.call preserve_mostcc @__ffi_builder_shared_nothing_is_wrong_DIGEST(%arg1, %169, %170) : (!llvm.ptr, i32, !llvm.ptr) -> i1
  llvm.cond_br %171, ^bb32, ^bb33
}
