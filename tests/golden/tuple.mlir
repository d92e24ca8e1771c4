llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_tuple("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_tuple(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-388585c5", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %0, %arg3 : i64, !llvm.ptr
  %1 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %0, %1 : i64, !llvm.ptr
  %2 = llvm.mlir.constant(4 : i32) : i32
  %3 = llvm.icmp "eq" %arg2, %2 : i32
  llvm.cond_br %3, ^bb1, ^bb32
^bb1:  // pred: ^bb0
  %4 = llvm.mlir.zero : !llvm.ptr
  %5 = llvm.icmp "ne" %arg1, %4 : !llvm.ptr
  llvm.cond_br %5, ^bb2, ^bb32
^bb2:  // pred: ^bb1
  %6 = llvm.load %arg1 : !llvm.ptr -> i32
  %7 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %8 = llvm.load %7 : !llvm.ptr -> !llvm.ptr
  %9 = llvm.mlir.constant(71 : i32) : i32
  %10 = llvm.icmp "eq" %6, %9 : i32
  llvm.cond_br %10 weights([2000, 1]), ^bb3(%8, %6 : !llvm.ptr, i32), ^bb33
^bb3(%11: !llvm.ptr, %12: i32):  // 3 preds: ^bb2, ^bb33, ^bb35
  %13 = llvm.mlir.zero : !llvm.ptr
  %14 = llvm.icmp "ne" %11, %13 : !llvm.ptr
  llvm.cond_br %14, ^bb4, ^bb32
^bb4:  // pred: ^bb3
  %15 = llvm.getelementptr %11[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %16 = llvm.load %15 : !llvm.ptr -> i64
  %17 = llvm.mlir.constant(2 : i64) : i64
  %18 = llvm.icmp "eq" %16, %17 : i64
  llvm.cond_br %18, ^bb5, ^bb32
^bb5:  // pred: ^bb4
  %19 = llvm.getelementptr %11[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %20 = llvm.load %19 : !llvm.ptr -> !llvm.ptr
  %21 = llvm.mlir.zero : !llvm.ptr
  %22 = llvm.icmp "ne" %20, %21 : !llvm.ptr
  llvm.cond_br %22, ^bb6, ^bb32
^bb6:  // pred: ^bb5
  %23 = llvm.load %20 : !llvm.ptr -> i32
  %24 = llvm.getelementptr %20[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %25 = llvm.load %24 : !llvm.ptr -> i64
  %26 = llvm.mlir.constant(1 : i32) : i32
  %27 = llvm.sub %23, %26 : i32
  %28 = llvm.mlir.constant(2 : i32) : i32
  %29 = llvm.icmp "ult" %27, %28 : i32
  llvm.cond_br %29, ^bb7, ^bb32
^bb7:  // pred: ^bb6
  %30 = llvm.mlir.constant(2 : i64) : i64
  %31 = llvm.icmp "ult" %25, %30 : i64
  llvm.cond_br %31, ^bb8, ^bb32
^bb8:  // pred: ^bb7
  %32 = llvm.getelementptr %20[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %33 = llvm.load %32 : !llvm.ptr -> i32
  %34 = llvm.getelementptr %20[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %35 = llvm.load %34 : !llvm.ptr -> !llvm.ptr
  %36 = llvm.mlir.constant(71 : i32) : i32
  %37 = llvm.icmp "eq" %33, %36 : i32
  llvm.cond_br %37 weights([2000, 1]), ^bb9(%35, %33 : !llvm.ptr, i32), ^bb36
^bb9(%38: !llvm.ptr, %39: i32):  // 3 preds: ^bb8, ^bb36, ^bb38
  %40 = llvm.mlir.zero : !llvm.ptr
  %41 = llvm.icmp "ne" %38, %40 : !llvm.ptr
  llvm.cond_br %41, ^bb10, ^bb32
^bb10:  // pred: ^bb9
  %42 = llvm.getelementptr %38[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %43 = llvm.load %42 : !llvm.ptr -> i64
  %44 = llvm.mlir.constant(1 : i64) : i64
  %45 = llvm.icmp "eq" %43, %44 : i64
  llvm.cond_br %45, ^bb11, ^bb32
^bb11:  // pred: ^bb10
  %46 = llvm.getelementptr %38[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %47 = llvm.load %46 : !llvm.ptr -> !llvm.ptr
  %48 = llvm.mlir.zero : !llvm.ptr
  %49 = llvm.icmp "ne" %47, %48 : !llvm.ptr
  llvm.cond_br %49, ^bb12, ^bb32
^bb12:  // pred: ^bb11
  %50 = llvm.load %47 : !llvm.ptr -> i32
  %51 = llvm.getelementptr %47[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %52 = llvm.load %51 : !llvm.ptr -> i64
  %53 = llvm.mlir.constant(3 : i32) : i32
  %54 = llvm.icmp "eq" %50, %53 : i32
  %55 = llvm.mlir.constant(1 : i32) : i32
  %56 = llvm.icmp "eq" %50, %55 : i32
  %57 = llvm.or %54, %56 : i1
  llvm.cond_br %57, ^bb13, ^bb32
^bb13:  // pred: ^bb12
  %58 = llvm.mlir.constant(3 : i32) : i32
  %59 = llvm.icmp "eq" %50, %58 : i32
  %60 = llvm.bitcast %52 : i64 to f64
  %61 = llvm.sitofp %52 : i64 to f64
  %62 = llvm.select %59, %60, %61 : i1, f64
  %63 = llvm.bitcast %62 : f64 to i64
  %64 = llvm.mlir.constant(4602678819172646912 : i64) : i64
  %65 = llvm.icmp "eq" %63, %64 : i64
  llvm.cond_br %65, ^bb14, ^bb32
^bb14:  // pred: ^bb13
  %66 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %67 = llvm.load %66 : !llvm.ptr -> i32
  %68 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %69 = llvm.load %68 : !llvm.ptr -> !llvm.ptr
  %70 = llvm.mlir.constant(69 : i32) : i32
  %71 = llvm.icmp "eq" %67, %70 : i32
  llvm.cond_br %71 weights([2000, 1]), ^bb15(%69, %67 : !llvm.ptr, i32), ^bb39
^bb15(%72: !llvm.ptr, %73: i32):  // 3 preds: ^bb14, ^bb39, ^bb41
  %74 = llvm.mlir.zero : !llvm.ptr
  %75 = llvm.icmp "ne" %72, %74 : !llvm.ptr
  llvm.cond_br %75, ^bb16, ^bb32
^bb16:  // pred: ^bb15
  %76 = llvm.getelementptr %72[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %77 = llvm.load %76 : !llvm.ptr -> i64
  %78 = llvm.mlir.constant(3 : i64) : i64
  %79 = llvm.icmp "eq" %77, %78 : i64
  llvm.cond_br %79, ^bb17, ^bb32
^bb17:  // pred: ^bb16
  %80 = llvm.getelementptr %72[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %81 = llvm.load %80 : !llvm.ptr -> !llvm.ptr
  %82 = llvm.mlir.zero : !llvm.ptr
  %83 = llvm.icmp "ne" %81, %82 : !llvm.ptr
  llvm.cond_br %83, ^bb18, ^bb32
^bb18:  // pred: ^bb17
  %84 = llvm.mlir.constant(69 : i32) : i32
  %85 = llvm.icmp "eq" %73, %84 : i32
  llvm.cond_br %85, ^bb19, ^bb20
^bb19:  // pred: ^bb18
  %86 = llvm.load %81 : !llvm.ptr -> i64
  %87 = llvm.getelementptr %81[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %88 = llvm.load %87 : !llvm.ptr -> i64
  %89 = llvm.getelementptr %81[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %90 = llvm.load %89 : !llvm.ptr -> i64
  llvm.br ^bb24(%86, %88, %90 : i64, i64, i64)
^bb20:  // pred: ^bb18
  %91 = llvm.load %81 : !llvm.ptr -> i32
  %92 = llvm.mlir.constant(1 : i32) : i32
  %93 = llvm.sub %91, %92 : i32
  %94 = llvm.mlir.constant(2 : i32) : i32
  %95 = llvm.icmp "ult" %93, %94 : i32
  llvm.cond_br %95, ^bb21, ^bb32
^bb21:  // pred: ^bb20
  %96 = llvm.getelementptr %81[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %97 = llvm.load %96 : !llvm.ptr -> i64
  %98 = llvm.getelementptr %81[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %99 = llvm.load %98 : !llvm.ptr -> i32
  %100 = llvm.mlir.constant(1 : i32) : i32
  %101 = llvm.sub %99, %100 : i32
  %102 = llvm.mlir.constant(2 : i32) : i32
  %103 = llvm.icmp "ult" %101, %102 : i32
  llvm.cond_br %103, ^bb22, ^bb32
^bb22:  // pred: ^bb21
  %104 = llvm.getelementptr %81[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %105 = llvm.load %104 : !llvm.ptr -> i64
  %106 = llvm.getelementptr %81[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %107 = llvm.load %106 : !llvm.ptr -> i32
  %108 = llvm.mlir.constant(1 : i32) : i32
  %109 = llvm.sub %107, %108 : i32
  %110 = llvm.mlir.constant(2 : i32) : i32
  %111 = llvm.icmp "ult" %109, %110 : i32
  llvm.cond_br %111, ^bb23, ^bb32
^bb23:  // pred: ^bb22
  %112 = llvm.getelementptr %81[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %113 = llvm.load %112 : !llvm.ptr -> i64
  llvm.br ^bb24(%97, %105, %113 : i64, i64, i64)
^bb24(%114: i64, %115: i64, %116: i64):  // 2 preds: ^bb19, ^bb23
  %117 = llvm.mlir.constant(0 : i64) : i64
  %118 = llvm.icmp "sge" %114, %117 : i64
  llvm.cond_br %118, ^bb25, ^bb32
^bb25:  // pred: ^bb24
  %119 = llvm.mlir.constant(3 : i64) : i64
  %120 = llvm.icmp "eq" %115, %119 : i64
  llvm.cond_br %120, ^bb26, ^bb32
^bb26:  // pred: ^bb25
  %121 = llvm.mlir.constant(0 : i64) : i64
  %122 = llvm.icmp "sge" %116, %121 : i64
  llvm.cond_br %122, ^bb27, ^bb32
^bb27:  // pred: ^bb26
  %123 = llvm.mlir.constant(2 : i64) : i64
  %124 = "llvm.intr.smul.with.overflow"(%114, %123) : (i64, i64) -> !llvm.struct<(i64, i1)>
  %125 = llvm.extractvalue %124[0] : !llvm.struct<(i64, i1)> 
  %126 = llvm.extractvalue %124[1] : !llvm.struct<(i64, i1)> 
  %127 = llvm.mlir.constant(true) : i1
  %128 = llvm.xor %126, %127 : i1
  %129 = llvm.icmp "eq" %116, %125 : i64
  %130 = llvm.and %129, %128 : i1
  llvm.cond_br %130, ^bb28, ^bb32
^bb28:  // pred: ^bb27
  %131 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %132 = llvm.load %131 : !llvm.ptr -> i32
  %133 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %134 = llvm.load %133 : !llvm.ptr -> i64
  %135 = llvm.mlir.constant(0 : i32) : i32
  %136 = llvm.icmp "eq" %132, %135 : i32
  llvm.cond_br %136, ^bb29, ^bb32
^bb29:  // pred: ^bb28
  %137 = llvm.getelementptr %arg1[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %138 = llvm.load %137 : !llvm.ptr -> i32
  %139 = llvm.getelementptr %arg1[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %140 = llvm.load %139 : !llvm.ptr -> i64
  %141 = llvm.mlir.constant(1 : i32) : i32
  %142 = llvm.icmp "eq" %138, %141 : i32
  llvm.cond_br %142, ^bb30, ^bb32
^bb30:  // pred: ^bb29
  %143 = llvm.mlir.constant(1 : i64) : i64
  %144 = llvm.icmp "eq" %140, %143 : i64
  llvm.cond_br %144, ^bb31, ^bb32
^bb31:  // pred: ^bb30
  %145 = llvm.trunc %25 : i64 to i1
  %146 = llvm.mlir.constant(3 : i64) : i64
  llvm.call @callee(%145, %114, %116) : (i1 {llvm.zeroext}, i64, i64) -> ()
  %147 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %147 : i32
^bb32:  // 28 preds: ^bb0, ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb7, ^bb9, ^bb10, ^bb11, ^bb12, ^bb13, ^bb15, ^bb16, ^bb17, ^bb20, ^bb21, ^bb22, ^bb24, ^bb25, ^bb26, ^bb27, ^bb28, ^bb29, ^bb30, ^bb34, ^bb37, ^bb40
  %148 = llvm.mlir.addressof @__ffi_builder_table_tuple : !llvm.ptr
  %149 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %arg2, %148) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %149 : i32
^bb33:  // pred: ^bb2
  %150 = llvm.mlir.constant(75 : i32) : i32
  %151 = llvm.icmp "eq" %6, %150 : i32
  llvm.cond_br %151, ^bb3(%8, %6 : !llvm.ptr, i32), ^bb34
^bb34:  // pred: ^bb33
  %152 = llvm.mlir.constant(2176 : i64) : i64
  %153 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%arg1, %152) : (!llvm.ptr, i64) -> !llvm.ptr
  %154 = llvm.mlir.zero : !llvm.ptr
  %155 = llvm.icmp "ne" %153, %154 : !llvm.ptr
  llvm.cond_br %155, ^bb35, ^bb32
^bb35:  // pred: ^bb34
  %156 = llvm.getelementptr %153[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %157 = llvm.load %156 : !llvm.ptr -> i32
  llvm.br ^bb3(%153, %157 : !llvm.ptr, i32)
^bb36:  // pred: ^bb8
  %158 = llvm.mlir.constant(75 : i32) : i32
  %159 = llvm.icmp "eq" %33, %158 : i32
  llvm.cond_br %159, ^bb9(%35, %33 : !llvm.ptr, i32), ^bb37
^bb37:  // pred: ^bb36
  %160 = llvm.getelementptr %20[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %161 = llvm.mlir.constant(2176 : i64) : i64
  %162 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%160, %161) : (!llvm.ptr, i64) -> !llvm.ptr
  %163 = llvm.mlir.zero : !llvm.ptr
  %164 = llvm.icmp "ne" %162, %163 : !llvm.ptr
  llvm.cond_br %164, ^bb38, ^bb32
^bb38:  // pred: ^bb37
  %165 = llvm.getelementptr %162[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %166 = llvm.load %165 : !llvm.ptr -> i32
  llvm.br ^bb9(%162, %166 : !llvm.ptr, i32)
^bb39:  // pred: ^bb14
  %167 = llvm.mlir.constant(71 : i32) : i32
  %168 = llvm.icmp "eq" %67, %167 : i32
  %169 = llvm.mlir.constant(75 : i32) : i32
  %170 = llvm.icmp "eq" %67, %169 : i32
  %171 = llvm.or %168, %170 : i1
  llvm.cond_br %171, ^bb15(%69, %67 : !llvm.ptr, i32), ^bb40
^bb40:  // pred: ^bb39
  %172 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %173 = llvm.mlir.constant(2208 : i64) : i64
  %174 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%172, %173) : (!llvm.ptr, i64) -> !llvm.ptr
  %175 = llvm.mlir.zero : !llvm.ptr
  %176 = llvm.icmp "ne" %174, %175 : !llvm.ptr
  llvm.cond_br %176, ^bb41, ^bb32
^bb41:  // pred: ^bb40
  %177 = llvm.getelementptr %174[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %178 = llvm.load %177 : !llvm.ptr -> i32
  llvm.br ^bb15(%174, %178 : !llvm.ptr, i32)
}
