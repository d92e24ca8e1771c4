llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_tuple("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_tuple(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-cf446f97", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(4 : i32) : i32
  %1 = llvm.icmp "eq" %arg2, %0 : i32
  llvm.cond_br %1, ^bb1, ^bb33(%arg2 : i32)
^bb1:  // pred: ^bb0
  %2 = llvm.mlir.zero : !llvm.ptr
  %3 = llvm.icmp "ne" %arg1, %2 : !llvm.ptr
  llvm.cond_br %3, ^bb2, ^bb32
^bb2:  // pred: ^bb1
  %4 = llvm.load %arg1 : !llvm.ptr -> i32
  %5 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %6 = llvm.load %5 : !llvm.ptr -> !llvm.ptr
  %7 = llvm.mlir.constant(71 : i32) : i32
  %8 = llvm.icmp "eq" %4, %7 : i32
  llvm.cond_br %8 weights([2000, 1]), ^bb3(%6, %4 : !llvm.ptr, i32), ^bb34
^bb3(%9: !llvm.ptr, %10: i32):  // 3 preds: ^bb2, ^bb34, ^bb36
  %11 = llvm.mlir.zero : !llvm.ptr
  %12 = llvm.icmp "ne" %9, %11 : !llvm.ptr
  llvm.cond_br %12, ^bb4, ^bb32
^bb4:  // pred: ^bb3
  %13 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %14 = llvm.load %13 : !llvm.ptr -> i64
  %15 = llvm.mlir.constant(2 : i64) : i64
  %16 = llvm.icmp "eq" %14, %15 : i64
  llvm.cond_br %16, ^bb5, ^bb32
^bb5:  // pred: ^bb4
  %17 = llvm.getelementptr %9[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %18 = llvm.load %17 : !llvm.ptr -> !llvm.ptr
  %19 = llvm.mlir.zero : !llvm.ptr
  %20 = llvm.icmp "ne" %18, %19 : !llvm.ptr
  llvm.cond_br %20, ^bb6, ^bb32
^bb6:  // pred: ^bb5
  %21 = llvm.load %18 : !llvm.ptr -> i32
  %22 = llvm.getelementptr %18[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %23 = llvm.load %22 : !llvm.ptr -> i64
  %24 = llvm.mlir.constant(1 : i32) : i32
  %25 = llvm.sub %21, %24 : i32
  %26 = llvm.mlir.constant(2 : i32) : i32
  %27 = llvm.icmp "ult" %25, %26 : i32
  llvm.cond_br %27, ^bb7, ^bb32
^bb7:  // pred: ^bb6
  %28 = llvm.mlir.constant(2 : i64) : i64
  %29 = llvm.icmp "ult" %23, %28 : i64
  llvm.cond_br %29, ^bb8, ^bb32
^bb8:  // pred: ^bb7
  %30 = llvm.getelementptr %18[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %31 = llvm.load %30 : !llvm.ptr -> i32
  %32 = llvm.getelementptr %18[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %33 = llvm.load %32 : !llvm.ptr -> !llvm.ptr
  %34 = llvm.mlir.constant(71 : i32) : i32
  %35 = llvm.icmp "eq" %31, %34 : i32
  llvm.cond_br %35 weights([2000, 1]), ^bb9(%33, %31 : !llvm.ptr, i32), ^bb37
^bb9(%36: !llvm.ptr, %37: i32):  // 3 preds: ^bb8, ^bb37, ^bb39
  %38 = llvm.mlir.zero : !llvm.ptr
  %39 = llvm.icmp "ne" %36, %38 : !llvm.ptr
  llvm.cond_br %39, ^bb10, ^bb32
^bb10:  // pred: ^bb9
  %40 = llvm.getelementptr %36[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %41 = llvm.load %40 : !llvm.ptr -> i64
  %42 = llvm.mlir.constant(1 : i64) : i64
  %43 = llvm.icmp "eq" %41, %42 : i64
  llvm.cond_br %43, ^bb11, ^bb32
^bb11:  // pred: ^bb10
  %44 = llvm.getelementptr %36[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %45 = llvm.load %44 : !llvm.ptr -> !llvm.ptr
  %46 = llvm.mlir.zero : !llvm.ptr
  %47 = llvm.icmp "ne" %45, %46 : !llvm.ptr
  llvm.cond_br %47, ^bb12, ^bb32
^bb12:  // pred: ^bb11
  %48 = llvm.load %45 : !llvm.ptr -> i32
  %49 = llvm.getelementptr %45[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %50 = llvm.load %49 : !llvm.ptr -> i64
  %51 = llvm.mlir.constant(3 : i32) : i32
  %52 = llvm.icmp "eq" %48, %51 : i32
  %53 = llvm.mlir.constant(1 : i32) : i32
  %54 = llvm.icmp "eq" %48, %53 : i32
  %55 = llvm.or %52, %54 : i1
  llvm.cond_br %55, ^bb13, ^bb32
^bb13:  // pred: ^bb12
  %56 = llvm.mlir.constant(3 : i32) : i32
  %57 = llvm.icmp "eq" %48, %56 : i32
  %58 = llvm.bitcast %50 : i64 to f64
  %59 = llvm.sitofp %50 : i64 to f64
  %60 = llvm.select %57, %58, %59 : i1, f64
  %61 = llvm.bitcast %60 : f64 to i64
  %62 = llvm.mlir.constant(4602678819172646912 : i64) : i64
  %63 = llvm.icmp "eq" %61, %62 : i64
  llvm.cond_br %63, ^bb14, ^bb32
^bb14:  // pred: ^bb13
  %64 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %65 = llvm.load %64 : !llvm.ptr -> i32
  %66 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %67 = llvm.load %66 : !llvm.ptr -> !llvm.ptr
  %68 = llvm.mlir.constant(69 : i32) : i32
  %69 = llvm.icmp "eq" %65, %68 : i32
  llvm.cond_br %69 weights([2000, 1]), ^bb15(%67, %65 : !llvm.ptr, i32), ^bb40
^bb15(%70: !llvm.ptr, %71: i32):  // 3 preds: ^bb14, ^bb40, ^bb42
  %72 = llvm.mlir.zero : !llvm.ptr
  %73 = llvm.icmp "ne" %70, %72 : !llvm.ptr
  llvm.cond_br %73, ^bb16, ^bb32
^bb16:  // pred: ^bb15
  %74 = llvm.getelementptr %70[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %75 = llvm.load %74 : !llvm.ptr -> i64
  %76 = llvm.mlir.constant(3 : i64) : i64
  %77 = llvm.icmp "eq" %75, %76 : i64
  llvm.cond_br %77, ^bb17, ^bb32
^bb17:  // pred: ^bb16
  %78 = llvm.getelementptr %70[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %79 = llvm.load %78 : !llvm.ptr -> !llvm.ptr
  %80 = llvm.mlir.zero : !llvm.ptr
  %81 = llvm.icmp "ne" %79, %80 : !llvm.ptr
  llvm.cond_br %81, ^bb18, ^bb32
^bb18:  // pred: ^bb17
  %82 = llvm.mlir.constant(69 : i32) : i32
  %83 = llvm.icmp "eq" %71, %82 : i32
  llvm.cond_br %83, ^bb19, ^bb20
^bb19:  // pred: ^bb18
  %84 = llvm.load %79 : !llvm.ptr -> i64
  %85 = llvm.getelementptr %79[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %86 = llvm.load %85 : !llvm.ptr -> i64
  %87 = llvm.getelementptr %79[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %88 = llvm.load %87 : !llvm.ptr -> i64
  llvm.br ^bb24(%84, %86, %88 : i64, i64, i64)
^bb20:  // pred: ^bb18
  %89 = llvm.load %79 : !llvm.ptr -> i32
  %90 = llvm.mlir.constant(1 : i32) : i32
  %91 = llvm.sub %89, %90 : i32
  %92 = llvm.mlir.constant(2 : i32) : i32
  %93 = llvm.icmp "ult" %91, %92 : i32
  llvm.cond_br %93, ^bb21, ^bb32
^bb21:  // pred: ^bb20
  %94 = llvm.getelementptr %79[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %95 = llvm.load %94 : !llvm.ptr -> i64
  %96 = llvm.getelementptr %79[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %97 = llvm.load %96 : !llvm.ptr -> i32
  %98 = llvm.mlir.constant(1 : i32) : i32
  %99 = llvm.sub %97, %98 : i32
  %100 = llvm.mlir.constant(2 : i32) : i32
  %101 = llvm.icmp "ult" %99, %100 : i32
  llvm.cond_br %101, ^bb22, ^bb32
^bb22:  // pred: ^bb21
  %102 = llvm.getelementptr %79[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %103 = llvm.load %102 : !llvm.ptr -> i64
  %104 = llvm.getelementptr %79[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %105 = llvm.load %104 : !llvm.ptr -> i32
  %106 = llvm.mlir.constant(1 : i32) : i32
  %107 = llvm.sub %105, %106 : i32
  %108 = llvm.mlir.constant(2 : i32) : i32
  %109 = llvm.icmp "ult" %107, %108 : i32
  llvm.cond_br %109, ^bb23, ^bb32
^bb23:  // pred: ^bb22
  %110 = llvm.getelementptr %79[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %111 = llvm.load %110 : !llvm.ptr -> i64
  llvm.br ^bb24(%95, %103, %111 : i64, i64, i64)
^bb24(%112: i64, %113: i64, %114: i64):  // 2 preds: ^bb19, ^bb23
  %115 = llvm.mlir.constant(0 : i64) : i64
  %116 = llvm.icmp "sge" %112, %115 : i64
  llvm.cond_br %116, ^bb25, ^bb32
^bb25:  // pred: ^bb24
  %117 = llvm.mlir.constant(3 : i64) : i64
  %118 = llvm.icmp "eq" %113, %117 : i64
  llvm.cond_br %118, ^bb26, ^bb32
^bb26:  // pred: ^bb25
  %119 = llvm.mlir.constant(0 : i64) : i64
  %120 = llvm.icmp "sge" %114, %119 : i64
  llvm.cond_br %120, ^bb27, ^bb32
^bb27:  // pred: ^bb26
  %121 = llvm.mlir.constant(2 : i64) : i64
  %122 = "llvm.intr.smul.with.overflow"(%112, %121) : (i64, i64) -> !llvm.struct<(i64, i1)>
  %123 = llvm.extractvalue %122[0] : !llvm.struct<(i64, i1)> 
  %124 = llvm.extractvalue %122[1] : !llvm.struct<(i64, i1)> 
  %125 = llvm.mlir.constant(true) : i1
  %126 = llvm.xor %124, %125 : i1
  %127 = llvm.icmp "eq" %114, %123 : i64
  %128 = llvm.and %127, %126 : i1
  llvm.cond_br %128, ^bb28, ^bb32
^bb28:  // pred: ^bb27
  %129 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %130 = llvm.load %129 : !llvm.ptr -> i32
  %131 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %132 = llvm.load %131 : !llvm.ptr -> i64
  %133 = llvm.mlir.constant(0 : i32) : i32
  %134 = llvm.icmp "eq" %130, %133 : i32
  llvm.cond_br %134, ^bb29, ^bb32
^bb29:  // pred: ^bb28
  %135 = llvm.getelementptr %arg1[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %136 = llvm.load %135 : !llvm.ptr -> i32
  %137 = llvm.getelementptr %arg1[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %138 = llvm.load %137 : !llvm.ptr -> i64
  %139 = llvm.mlir.constant(1 : i32) : i32
  %140 = llvm.icmp "eq" %136, %139 : i32
  llvm.cond_br %140, ^bb30, ^bb32
^bb30:  // pred: ^bb29
  %141 = llvm.mlir.constant(1 : i64) : i64
  %142 = llvm.icmp "eq" %138, %141 : i64
  llvm.cond_br %142, ^bb31, ^bb32
^bb31:  // pred: ^bb30
  %143 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %143, %arg3 : i64, !llvm.ptr
  %144 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %143, %144 : i64, !llvm.ptr
  %145 = llvm.trunc %23 : i64 to i1
  %146 = llvm.mlir.constant(3 : i64) : i64
  llvm.call @callee(%145, %112, %114) : (i1 {llvm.zeroext}, i64, i64) -> ()
  %147 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %147 : i32
^bb32:  // 27 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb7, ^bb9, ^bb10, ^bb11, ^bb12, ^bb13, ^bb15, ^bb16, ^bb17, ^bb20, ^bb21, ^bb22, ^bb24, ^bb25, ^bb26, ^bb27, ^bb28, ^bb29, ^bb30, ^bb35, ^bb38, ^bb41
  %148 = llvm.mlir.constant(4 : i32) : i32
  llvm.br ^bb33(%148 : i32)
^bb33(%149: i32):  // 2 preds: ^bb0, ^bb32
  %150 = llvm.mlir.addressof @__ffi_builder_table_tuple : !llvm.ptr
  %151 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %149, %150) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %151 : i32
^bb34:  // pred: ^bb2
  %152 = llvm.mlir.constant(75 : i32) : i32
  %153 = llvm.icmp "eq" %4, %152 : i32
  llvm.cond_br %153, ^bb3(%6, %4 : !llvm.ptr, i32), ^bb35
^bb35:  // pred: ^bb34
  %154 = llvm.mlir.constant(2176 : i64) : i64
  %155 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%arg1, %154) : (!llvm.ptr, i64) -> !llvm.ptr
  %156 = llvm.mlir.zero : !llvm.ptr
  %157 = llvm.icmp "ne" %155, %156 : !llvm.ptr
  llvm.cond_br %157, ^bb36, ^bb32
^bb36:  // pred: ^bb35
  %158 = llvm.getelementptr %155[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %159 = llvm.load %158 : !llvm.ptr -> i32
  llvm.br ^bb3(%155, %159 : !llvm.ptr, i32)
^bb37:  // pred: ^bb8
  %160 = llvm.mlir.constant(75 : i32) : i32
  %161 = llvm.icmp "eq" %31, %160 : i32
  llvm.cond_br %161, ^bb9(%33, %31 : !llvm.ptr, i32), ^bb38
^bb38:  // pred: ^bb37
  %162 = llvm.getelementptr %18[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %163 = llvm.mlir.constant(2176 : i64) : i64
  %164 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%162, %163) : (!llvm.ptr, i64) -> !llvm.ptr
  %165 = llvm.mlir.zero : !llvm.ptr
  %166 = llvm.icmp "ne" %164, %165 : !llvm.ptr
  llvm.cond_br %166, ^bb39, ^bb32
^bb39:  // pred: ^bb38
  %167 = llvm.getelementptr %164[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %168 = llvm.load %167 : !llvm.ptr -> i32
  llvm.br ^bb9(%164, %168 : !llvm.ptr, i32)
^bb40:  // pred: ^bb14
  %169 = llvm.mlir.constant(71 : i32) : i32
  %170 = llvm.icmp "eq" %65, %169 : i32
  %171 = llvm.mlir.constant(75 : i32) : i32
  %172 = llvm.icmp "eq" %65, %171 : i32
  %173 = llvm.or %170, %172 : i1
  llvm.cond_br %173, ^bb15(%67, %65 : !llvm.ptr, i32), ^bb41
^bb41:  // pred: ^bb40
  %174 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %175 = llvm.mlir.constant(2208 : i64) : i64
  %176 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%174, %175) : (!llvm.ptr, i64) -> !llvm.ptr
  %177 = llvm.mlir.zero : !llvm.ptr
  %178 = llvm.icmp "ne" %176, %177 : !llvm.ptr
  llvm.cond_br %178, ^bb42, ^bb32
^bb42:  // pred: ^bb41
  %179 = llvm.getelementptr %176[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %180 = llvm.load %179 : !llvm.ptr -> i32
  llvm.br ^bb15(%176, %180 : !llvm.ptr, i32)
}
