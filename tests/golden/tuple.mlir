llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_tuple("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_tuple(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(4 : i32) : i32
  %1 = llvm.icmp "eq" %arg2, %0 : i32
  llvm.cond_br %1, ^bb1, ^bb27(%arg2 : i32)
^bb1:  // pred: ^bb0
  %2 = llvm.mlir.zero : !llvm.ptr
  %3 = llvm.icmp "ne" %arg1, %2 : !llvm.ptr
  llvm.cond_br %3, ^bb2, ^bb26
^bb2:  // pred: ^bb1
  %4 = llvm.load %arg1 : !llvm.ptr -> i32
  %5 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %6 = llvm.load %5 : !llvm.ptr -> !llvm.ptr
  %7 = llvm.mlir.constant(71 : i32) : i32
  %8 = llvm.icmp "eq" %4, %7 : i32
  llvm.cond_br %8 weights([2000, 1]), ^bb3(%6 : !llvm.ptr), ^bb28
^bb3(%9: !llvm.ptr):  // 3 preds: ^bb2, ^bb28, ^bb30
  %10 = llvm.mlir.zero : !llvm.ptr
  %11 = llvm.icmp "ne" %9, %10 : !llvm.ptr
  llvm.cond_br %11, ^bb4, ^bb26
^bb4:  // pred: ^bb3
  %12 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %13 = llvm.load %12 : !llvm.ptr -> i64
  %14 = llvm.mlir.constant(2 : i64) : i64
  %15 = llvm.icmp "eq" %13, %14 : i64
  llvm.cond_br %15, ^bb5, ^bb26
^bb5:  // pred: ^bb4
  %16 = llvm.getelementptr %9[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %17 = llvm.load %16 : !llvm.ptr -> !llvm.ptr
  %18 = llvm.mlir.zero : !llvm.ptr
  %19 = llvm.icmp "ne" %17, %18 : !llvm.ptr
  llvm.cond_br %19, ^bb6, ^bb26
^bb6:  // pred: ^bb5
  %20 = llvm.load %17 : !llvm.ptr -> i32
  %21 = llvm.getelementptr %17[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %22 = llvm.load %21 : !llvm.ptr -> i64
  %23 = llvm.mlir.constant(2 : i32) : i32
  %24 = llvm.icmp "eq" %20, %23 : i32
  llvm.cond_br %24 weights([2000, 1]), ^bb7, ^bb31
^bb7:  // 2 preds: ^bb6, ^bb31
  %25 = llvm.mlir.constant(2 : i64) : i64
  %26 = llvm.icmp "ult" %22, %25 : i64
  llvm.cond_br %26, ^bb8, ^bb26
^bb8:  // pred: ^bb7
  %27 = llvm.getelementptr %17[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %28 = llvm.load %27 : !llvm.ptr -> i32
  %29 = llvm.getelementptr %17[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %30 = llvm.load %29 : !llvm.ptr -> !llvm.ptr
  %31 = llvm.mlir.constant(71 : i32) : i32
  %32 = llvm.icmp "eq" %28, %31 : i32
  llvm.cond_br %32 weights([2000, 1]), ^bb9(%30 : !llvm.ptr), ^bb32
^bb9(%33: !llvm.ptr):  // 3 preds: ^bb8, ^bb32, ^bb34
  %34 = llvm.mlir.zero : !llvm.ptr
  %35 = llvm.icmp "ne" %33, %34 : !llvm.ptr
  llvm.cond_br %35, ^bb10, ^bb26
^bb10:  // pred: ^bb9
  %36 = llvm.getelementptr %33[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %37 = llvm.load %36 : !llvm.ptr -> i64
  %38 = llvm.mlir.constant(1 : i64) : i64
  %39 = llvm.icmp "eq" %37, %38 : i64
  llvm.cond_br %39, ^bb11, ^bb26
^bb11:  // pred: ^bb10
  %40 = llvm.getelementptr %33[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %41 = llvm.load %40 : !llvm.ptr -> !llvm.ptr
  %42 = llvm.mlir.zero : !llvm.ptr
  %43 = llvm.icmp "ne" %41, %42 : !llvm.ptr
  llvm.cond_br %43, ^bb12, ^bb26
^bb12:  // pred: ^bb11
  %44 = llvm.load %41 : !llvm.ptr -> i32
  %45 = llvm.getelementptr %41[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %46 = llvm.load %45 : !llvm.ptr -> i64
  %47 = llvm.mlir.constant(3 : i32) : i32
  %48 = llvm.icmp "eq" %44, %47 : i32
  %49 = llvm.bitcast %46 : i64 to f64
  llvm.cond_br %48 weights([2000, 1]), ^bb13(%49 : f64), ^bb35
^bb13(%50: f64):  // 2 preds: ^bb12, ^bb36
  %51 = llvm.bitcast %50 : f64 to i64
  %52 = llvm.mlir.constant(4602678819172646912 : i64) : i64
  %53 = llvm.icmp "eq" %51, %52 : i64
  llvm.cond_br %53, ^bb14, ^bb26
^bb14:  // pred: ^bb13
  %54 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %55 = llvm.load %54 : !llvm.ptr -> i32
  %56 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %57 = llvm.load %56 : !llvm.ptr -> !llvm.ptr
  %58 = llvm.mlir.constant(69 : i32) : i32
  %59 = llvm.icmp "eq" %55, %58 : i32
  llvm.cond_br %59 weights([2000, 1]), ^bb15(%57 : !llvm.ptr), ^bb37
^bb15(%60: !llvm.ptr):  // 2 preds: ^bb14, ^bb46
  %61 = llvm.mlir.zero : !llvm.ptr
  %62 = llvm.icmp "ne" %60, %61 : !llvm.ptr
  llvm.cond_br %62, ^bb16, ^bb26
^bb16:  // pred: ^bb15
  %63 = llvm.getelementptr %60[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %64 = llvm.load %63 : !llvm.ptr -> i64
  %65 = llvm.mlir.constant(3 : i64) : i64
  %66 = llvm.icmp "eq" %64, %65 : i64
  llvm.cond_br %66, ^bb17, ^bb26
^bb17:  // pred: ^bb16
  %67 = llvm.getelementptr %60[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %68 = llvm.load %67 : !llvm.ptr -> !llvm.ptr
  %69 = llvm.mlir.zero : !llvm.ptr
  %70 = llvm.icmp "ne" %68, %69 : !llvm.ptr
  llvm.cond_br %70, ^bb18, ^bb26
^bb18:  // pred: ^bb17
  %71 = llvm.load %68 : !llvm.ptr -> i64
  %72 = llvm.getelementptr %68[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %73 = llvm.load %72 : !llvm.ptr -> i64
  %74 = llvm.getelementptr %68[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %75 = llvm.load %74 : !llvm.ptr -> i64
  llvm.br ^bb19(%71, %73, %75 : i64, i64, i64)
^bb19(%76: i64, %77: i64, %78: i64):  // 2 preds: ^bb18, ^bb43
  %79 = llvm.mlir.constant(3 : i64) : i64
  %80 = llvm.icmp "eq" %77, %79 : i64
  llvm.cond_br %80, ^bb20, ^bb26
^bb20:  // pred: ^bb19
  %81 = llvm.mlir.constant(2 : i64) : i64
  %82 = "llvm.intr.smul.with.overflow"(%76, %81) : (i64, i64) -> !llvm.struct<(i64, i1)>
  %83 = llvm.extractvalue %82[0] : !llvm.struct<(i64, i1)> 
  %84 = llvm.extractvalue %82[1] : !llvm.struct<(i64, i1)> 
  %85 = llvm.mlir.constant(true) : i1
  %86 = llvm.xor %84, %85 : i1
  %87 = llvm.icmp "eq" %78, %83 : i64
  %88 = llvm.and %87, %86 : i1
  llvm.cond_br %88, ^bb21, ^bb26
^bb21:  // pred: ^bb20
  %89 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %90 = llvm.load %89 : !llvm.ptr -> i32
  %91 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %92 = llvm.load %91 : !llvm.ptr -> i64
  %93 = llvm.mlir.constant(0 : i32) : i32
  %94 = llvm.icmp "eq" %90, %93 : i32
  llvm.cond_br %94, ^bb22, ^bb26
^bb22:  // pred: ^bb21
  %95 = llvm.getelementptr %arg1[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %96 = llvm.load %95 : !llvm.ptr -> i32
  %97 = llvm.getelementptr %arg1[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %98 = llvm.load %97 : !llvm.ptr -> i64
  %99 = llvm.mlir.constant(1 : i32) : i32
  %100 = llvm.icmp "eq" %96, %99 : i32
  llvm.cond_br %100, ^bb23, ^bb26
^bb23:  // pred: ^bb22
  %101 = llvm.mlir.constant(1 : i64) : i64
  %102 = llvm.icmp "eq" %98, %101 : i64
  llvm.cond_br %102, ^bb24, ^bb26
^bb24:  // pred: ^bb23
  %103 = llvm.or %76, %78 : i64
  %104 = llvm.mlir.constant(0 : i64) : i64
  %105 = llvm.icmp "sge" %103, %104 : i64
  llvm.cond_br %105, ^bb25, ^bb26
^bb25:  // pred: ^bb24
  %106 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %106, %arg3 : i64, !llvm.ptr
  %107 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %106, %107 : i64, !llvm.ptr
  %108 = llvm.trunc %22 : i64 to i1
  %109 = llvm.mlir.constant(3 : i64) : i64
  llvm.call @callee(%108, %76, %78) : (i1 {llvm.zeroext}, i64, i64) -> ()
  %110 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %110 : i32
^bb26:  // 26 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb7, ^bb9, ^bb10, ^bb11, ^bb13, ^bb15, ^bb16, ^bb17, ^bb19, ^bb20, ^bb21, ^bb22, ^bb23, ^bb24, ^bb29, ^bb31, ^bb33, ^bb35, ^bb38, ^bb39, ^bb40, ^bb45
  %111 = llvm.mlir.constant(4 : i32) : i32
  llvm.br ^bb27(%111 : i32)
^bb27(%112: i32):  // 2 preds: ^bb0, ^bb26
  %113 = llvm.mlir.addressof @__ffi_builder_table_tuple : !llvm.ptr
  %114 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %112, %113) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %114 : i32
^bb28:  // pred: ^bb2
  %115 = llvm.mlir.constant(75 : i32) : i32
  %116 = llvm.icmp "eq" %4, %115 : i32
  llvm.cond_br %116, ^bb3(%6 : !llvm.ptr), ^bb29
^bb29:  // pred: ^bb28
  %117 = llvm.mlir.constant(2176 : i64) : i64
  %118 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%117, %arg1) : (i64, !llvm.ptr) -> !llvm.ptr
  %119 = llvm.mlir.zero : !llvm.ptr
  %120 = llvm.icmp "ne" %118, %119 : !llvm.ptr
  llvm.cond_br %120, ^bb30, ^bb26
^bb30:  // pred: ^bb29
  llvm.br ^bb3(%118 : !llvm.ptr)
^bb31:  // pred: ^bb6
  %121 = llvm.mlir.constant(1 : i32) : i32
  %122 = llvm.icmp "eq" %20, %121 : i32
  llvm.cond_br %122, ^bb7, ^bb26
^bb32:  // pred: ^bb8
  %123 = llvm.mlir.constant(75 : i32) : i32
  %124 = llvm.icmp "eq" %28, %123 : i32
  llvm.cond_br %124, ^bb9(%30 : !llvm.ptr), ^bb33
^bb33:  // pred: ^bb32
  %125 = llvm.getelementptr %17[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %126 = llvm.mlir.constant(2176 : i64) : i64
  %127 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%126, %125) : (i64, !llvm.ptr) -> !llvm.ptr
  %128 = llvm.mlir.zero : !llvm.ptr
  %129 = llvm.icmp "ne" %127, %128 : !llvm.ptr
  llvm.cond_br %129, ^bb34, ^bb26
^bb34:  // pred: ^bb33
  llvm.br ^bb9(%127 : !llvm.ptr)
^bb35:  // pred: ^bb12
  %130 = llvm.mlir.constant(1 : i32) : i32
  %131 = llvm.icmp "eq" %44, %130 : i32
  llvm.cond_br %131, ^bb36, ^bb26
^bb36:  // pred: ^bb35
  %132 = llvm.sitofp %46 : i64 to f64
  llvm.br ^bb13(%132 : f64)
^bb37:  // pred: ^bb14
  %133 = llvm.mlir.constant(71 : i32) : i32
  %134 = llvm.icmp "eq" %55, %133 : i32
  llvm.cond_br %134, ^bb38, ^bb44
^bb38:  // pred: ^bb37
  %135 = llvm.mlir.zero : !llvm.ptr
  %136 = llvm.icmp "ne" %57, %135 : !llvm.ptr
  llvm.cond_br %136, ^bb39, ^bb26
^bb39:  // pred: ^bb38
  %137 = llvm.getelementptr %57[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %138 = llvm.load %137 : !llvm.ptr -> i64
  %139 = llvm.mlir.constant(3 : i64) : i64
  %140 = llvm.icmp "eq" %138, %139 : i64
  llvm.cond_br %140, ^bb40, ^bb26
^bb40:  // pred: ^bb39
  %141 = llvm.getelementptr %57[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %142 = llvm.load %141 : !llvm.ptr -> !llvm.ptr
  %143 = llvm.mlir.zero : !llvm.ptr
  %144 = llvm.icmp "ne" %142, %143 : !llvm.ptr
  llvm.cond_br %144, ^bb41, ^bb26
^bb41:  // pred: ^bb40
  %145 = llvm.load %142 : !llvm.ptr -> i32
  %146 = llvm.getelementptr %142[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %147 = llvm.load %146 : !llvm.ptr -> i32
  %148 = llvm.getelementptr %142[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %149 = llvm.load %148 : !llvm.ptr -> i32
  %150 = llvm.mlir.constant(1 : i32) : i32
  %151 = llvm.xor %145, %150 : i32
  %152 = llvm.mlir.constant(1 : i32) : i32
  %153 = llvm.xor %147, %152 : i32
  %154 = llvm.mlir.constant(1 : i32) : i32
  %155 = llvm.xor %149, %154 : i32
  %156 = llvm.or %151, %153 : i32
  %157 = llvm.or %156, %155 : i32
  %158 = llvm.mlir.constant(0 : i32) : i32
  %159 = llvm.icmp "eq" %157, %158 : i32
  llvm.cond_br %159, ^bb42, ^bb44
^bb42:  // pred: ^bb41
  llvm.br ^bb43(%142 : !llvm.ptr)
^bb43(%160: !llvm.ptr):  // 2 preds: ^bb42, ^bb44
  %161 = llvm.getelementptr %160[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %162 = llvm.load %161 : !llvm.ptr -> i64
  %163 = llvm.getelementptr %160[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %164 = llvm.load %163 : !llvm.ptr -> i64
  %165 = llvm.getelementptr %160[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %166 = llvm.load %165 : !llvm.ptr -> i64
  llvm.br ^bb19(%162, %164, %166 : i64, i64, i64)
^bb44:  // 2 preds: ^bb37, ^bb41
  %167 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %168 = llvm.mlir.constant(3 : i64) : i64
  %169 = llvm.call preserve_mostcc @__ffi_builder_shared_integers_DIGEST(%168, %167) : (i64, !llvm.ptr) -> !llvm.ptr
  %170 = llvm.mlir.zero : !llvm.ptr
  %171 = llvm.icmp "ne" %169, %170 : !llvm.ptr
  llvm.cond_br %171, ^bb43(%169 : !llvm.ptr), ^bb45
^bb45:  // pred: ^bb44
  %172 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %173 = llvm.mlir.constant(32 : i64) : i64
  %174 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%173, %172) : (i64, !llvm.ptr) -> !llvm.ptr
  %175 = llvm.mlir.zero : !llvm.ptr
  %176 = llvm.icmp "ne" %174, %175 : !llvm.ptr
  llvm.cond_br %176, ^bb46, ^bb26
^bb46:  // pred: ^bb45
  llvm.br ^bb15(%174 : !llvm.ptr)
}
