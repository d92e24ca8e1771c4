llvm.mlir.global internal unnamed_addr constant @__ffi_builder_table_tuple("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_tuple(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-56a7ae5e", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(4 : i32) : i32
  %1 = llvm.icmp "eq" %arg2, %0 : i32
  llvm.cond_br %1, ^bb1, ^bb32
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
  %9 = llvm.mlir.constant(75 : i32) : i32
  %10 = llvm.icmp "eq" %4, %9 : i32
  %11 = llvm.or %8, %10 : i1
  llvm.cond_br %11 weights([2000, 1]), ^bb3(%6, %4 : !llvm.ptr, i32), ^bb33
^bb3(%12: !llvm.ptr, %13: i32):  // 2 preds: ^bb2, ^bb34
  %14 = llvm.mlir.zero : !llvm.ptr
  %15 = llvm.icmp "ne" %12, %14 : !llvm.ptr
  llvm.cond_br %15, ^bb4, ^bb32
^bb4:  // pred: ^bb3
  %16 = llvm.getelementptr %12[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %17 = llvm.load %16 : !llvm.ptr -> i64
  %18 = llvm.mlir.constant(2 : i64) : i64
  %19 = llvm.icmp "eq" %17, %18 : i64
  llvm.cond_br %19, ^bb5, ^bb32
^bb5:  // pred: ^bb4
  %20 = llvm.getelementptr %12[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %21 = llvm.load %20 : !llvm.ptr -> !llvm.ptr
  %22 = llvm.mlir.zero : !llvm.ptr
  %23 = llvm.icmp "ne" %21, %22 : !llvm.ptr
  llvm.cond_br %23, ^bb6, ^bb32
^bb6:  // pred: ^bb5
  %24 = llvm.load %21 : !llvm.ptr -> i32
  %25 = llvm.getelementptr %21[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %26 = llvm.load %25 : !llvm.ptr -> i64
  %27 = llvm.mlir.constant(1 : i32) : i32
  %28 = llvm.sub %24, %27 : i32
  %29 = llvm.mlir.constant(2 : i32) : i32
  %30 = llvm.icmp "ult" %28, %29 : i32
  llvm.cond_br %30, ^bb7, ^bb32
^bb7:  // pred: ^bb6
  %31 = llvm.mlir.constant(2 : i64) : i64
  %32 = llvm.icmp "ult" %26, %31 : i64
  llvm.cond_br %32, ^bb8, ^bb32
^bb8:  // pred: ^bb7
  %33 = llvm.getelementptr %21[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %34 = llvm.load %33 : !llvm.ptr -> i32
  %35 = llvm.getelementptr %33[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %36 = llvm.load %35 : !llvm.ptr -> !llvm.ptr
  %37 = llvm.mlir.constant(71 : i32) : i32
  %38 = llvm.icmp "eq" %34, %37 : i32
  %39 = llvm.mlir.constant(75 : i32) : i32
  %40 = llvm.icmp "eq" %34, %39 : i32
  %41 = llvm.or %38, %40 : i1
  llvm.cond_br %41 weights([2000, 1]), ^bb9(%36, %34 : !llvm.ptr, i32), ^bb35
^bb9(%42: !llvm.ptr, %43: i32):  // 2 preds: ^bb8, ^bb36
  %44 = llvm.mlir.zero : !llvm.ptr
  %45 = llvm.icmp "ne" %42, %44 : !llvm.ptr
  llvm.cond_br %45, ^bb10, ^bb32
^bb10:  // pred: ^bb9
  %46 = llvm.getelementptr %42[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %47 = llvm.load %46 : !llvm.ptr -> i64
  %48 = llvm.mlir.constant(1 : i64) : i64
  %49 = llvm.icmp "eq" %47, %48 : i64
  llvm.cond_br %49, ^bb11, ^bb32
^bb11:  // pred: ^bb10
  %50 = llvm.getelementptr %42[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %51 = llvm.load %50 : !llvm.ptr -> !llvm.ptr
  %52 = llvm.mlir.zero : !llvm.ptr
  %53 = llvm.icmp "ne" %51, %52 : !llvm.ptr
  llvm.cond_br %53, ^bb12, ^bb32
^bb12:  // pred: ^bb11
  %54 = llvm.load %51 : !llvm.ptr -> i32
  %55 = llvm.getelementptr %51[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %56 = llvm.load %55 : !llvm.ptr -> i64
  %57 = llvm.mlir.constant(3 : i32) : i32
  %58 = llvm.icmp "eq" %54, %57 : i32
  %59 = llvm.mlir.constant(1 : i32) : i32
  %60 = llvm.icmp "eq" %54, %59 : i32
  %61 = llvm.or %58, %60 : i1
  llvm.cond_br %61, ^bb13, ^bb32
^bb13:  // pred: ^bb12
  %62 = llvm.mlir.constant(3 : i32) : i32
  %63 = llvm.icmp "eq" %54, %62 : i32
  %64 = llvm.bitcast %56 : i64 to f64
  %65 = llvm.sitofp %56 : i64 to f64
  %66 = llvm.select %63, %64, %65 : i1, f64
  %67 = llvm.bitcast %66 : f64 to i64
  %68 = llvm.mlir.constant(4602678819172646912 : i64) : i64
  %69 = llvm.icmp "eq" %67, %68 : i64
  llvm.cond_br %69, ^bb14, ^bb32
^bb14:  // pred: ^bb13
  %70 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %71 = llvm.load %70 : !llvm.ptr -> i32
  %72 = llvm.getelementptr %70[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %73 = llvm.load %72 : !llvm.ptr -> !llvm.ptr
  %74 = llvm.mlir.constant(69 : i32) : i32
  %75 = llvm.icmp "eq" %71, %74 : i32
  %76 = llvm.mlir.constant(71 : i32) : i32
  %77 = llvm.icmp "eq" %71, %76 : i32
  %78 = llvm.mlir.constant(75 : i32) : i32
  %79 = llvm.icmp "eq" %71, %78 : i32
  %80 = llvm.or %75, %77 : i1
  %81 = llvm.or %80, %79 : i1
  llvm.cond_br %81 weights([2000, 1]), ^bb15(%73, %71 : !llvm.ptr, i32), ^bb37
^bb15(%82: !llvm.ptr, %83: i32):  // 2 preds: ^bb14, ^bb38
  %84 = llvm.mlir.zero : !llvm.ptr
  %85 = llvm.icmp "ne" %82, %84 : !llvm.ptr
  llvm.cond_br %85, ^bb16, ^bb32
^bb16:  // pred: ^bb15
  %86 = llvm.getelementptr %82[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %87 = llvm.load %86 : !llvm.ptr -> i64
  %88 = llvm.mlir.constant(3 : i64) : i64
  %89 = llvm.icmp "eq" %87, %88 : i64
  llvm.cond_br %89, ^bb17, ^bb32
^bb17:  // pred: ^bb16
  %90 = llvm.getelementptr %82[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %91 = llvm.load %90 : !llvm.ptr -> !llvm.ptr
  %92 = llvm.mlir.zero : !llvm.ptr
  %93 = llvm.icmp "ne" %91, %92 : !llvm.ptr
  llvm.cond_br %93, ^bb18, ^bb32
^bb18:  // pred: ^bb17
  %94 = llvm.mlir.constant(69 : i32) : i32
  %95 = llvm.icmp "eq" %83, %94 : i32
  llvm.cond_br %95, ^bb19, ^bb20
^bb19:  // pred: ^bb18
  %96 = llvm.load %91 : !llvm.ptr -> i64
  %97 = llvm.getelementptr %91[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %98 = llvm.load %97 : !llvm.ptr -> i64
  %99 = llvm.getelementptr %91[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %100 = llvm.load %99 : !llvm.ptr -> i64
  llvm.br ^bb24(%96, %98, %100 : i64, i64, i64)
^bb20:  // pred: ^bb18
  %101 = llvm.load %91 : !llvm.ptr -> i32
  %102 = llvm.mlir.constant(1 : i32) : i32
  %103 = llvm.sub %101, %102 : i32
  %104 = llvm.mlir.constant(2 : i32) : i32
  %105 = llvm.icmp "ult" %103, %104 : i32
  llvm.cond_br %105, ^bb21, ^bb32
^bb21:  // pred: ^bb20
  %106 = llvm.getelementptr %91[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %107 = llvm.load %106 : !llvm.ptr -> i64
  %108 = llvm.getelementptr %91[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %109 = llvm.load %108 : !llvm.ptr -> i32
  %110 = llvm.mlir.constant(1 : i32) : i32
  %111 = llvm.sub %109, %110 : i32
  %112 = llvm.mlir.constant(2 : i32) : i32
  %113 = llvm.icmp "ult" %111, %112 : i32
  llvm.cond_br %113, ^bb22, ^bb32
^bb22:  // pred: ^bb21
  %114 = llvm.getelementptr %91[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %115 = llvm.load %114 : !llvm.ptr -> i64
  %116 = llvm.getelementptr %91[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %117 = llvm.load %116 : !llvm.ptr -> i32
  %118 = llvm.mlir.constant(1 : i32) : i32
  %119 = llvm.sub %117, %118 : i32
  %120 = llvm.mlir.constant(2 : i32) : i32
  %121 = llvm.icmp "ult" %119, %120 : i32
  llvm.cond_br %121, ^bb23, ^bb32
^bb23:  // pred: ^bb22
  %122 = llvm.getelementptr %91[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %123 = llvm.load %122 : !llvm.ptr -> i64
  llvm.br ^bb24(%107, %115, %123 : i64, i64, i64)
^bb24(%124: i64, %125: i64, %126: i64):  // 2 preds: ^bb19, ^bb23
  %127 = llvm.mlir.constant(0 : i64) : i64
  %128 = llvm.icmp "sge" %124, %127 : i64
  llvm.cond_br %128, ^bb25, ^bb32
^bb25:  // pred: ^bb24
  %129 = llvm.mlir.constant(3 : i64) : i64
  %130 = llvm.icmp "eq" %125, %129 : i64
  llvm.cond_br %130, ^bb26, ^bb32
^bb26:  // pred: ^bb25
  %131 = llvm.mlir.constant(0 : i64) : i64
  %132 = llvm.icmp "sge" %126, %131 : i64
  llvm.cond_br %132, ^bb27, ^bb32
^bb27:  // pred: ^bb26
  %133 = llvm.mlir.constant(2 : i64) : i64
  %134 = "llvm.intr.smul.with.overflow"(%124, %133) : (i64, i64) -> !llvm.struct<(i64, i1)>
  %135 = llvm.extractvalue %134[0] : !llvm.struct<(i64, i1)> 
  %136 = llvm.extractvalue %134[1] : !llvm.struct<(i64, i1)> 
  %137 = llvm.mlir.constant(true) : i1
  %138 = llvm.xor %136, %137 : i1
  %139 = llvm.icmp "eq" %126, %135 : i64
  %140 = llvm.and %139, %138 : i1
  llvm.cond_br %140, ^bb28, ^bb32
^bb28:  // pred: ^bb27
  %141 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %142 = llvm.load %141 : !llvm.ptr -> i32
  %143 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %144 = llvm.load %143 : !llvm.ptr -> i64
  %145 = llvm.mlir.constant(0 : i32) : i32
  %146 = llvm.icmp "eq" %142, %145 : i32
  llvm.cond_br %146, ^bb29, ^bb32
^bb29:  // pred: ^bb28
  %147 = llvm.mlir.constant(0 : i32) : i32
  %148 = llvm.icmp "eq" %142, %147 : i32
  %149 = llvm.mlir.constant(0 : i64) : i64
  %150 = llvm.select %148, %149, %144 : i1, i64
  %151 = llvm.getelementptr %arg1[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %152 = llvm.load %151 : !llvm.ptr -> i32
  %153 = llvm.getelementptr %arg1[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %154 = llvm.load %153 : !llvm.ptr -> i64
  %155 = llvm.mlir.constant(1 : i32) : i32
  %156 = llvm.icmp "eq" %152, %155 : i32
  llvm.cond_br %156, ^bb30, ^bb32
^bb30:  // pred: ^bb29
  %157 = llvm.mlir.constant(1 : i64) : i64
  %158 = llvm.icmp "eq" %154, %157 : i64
  llvm.cond_br %158, ^bb31, ^bb32
^bb31:  // pred: ^bb30
  %159 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %159, %arg3 : i64, !llvm.ptr
  %160 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %159, %160 : i64, !llvm.ptr
  %161 = llvm.trunc %26 : i64 to i1
  %162 = llvm.mlir.constant(3 : i64) : i64
  llvm.call @callee(%161, %124, %126) : (i1 {llvm.zeroext}, i64, i64) -> ()
  %163 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %163 : i32
^bb32:  // 28 preds: ^bb0, ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb7, ^bb9, ^bb10, ^bb11, ^bb12, ^bb13, ^bb15, ^bb16, ^bb17, ^bb20, ^bb21, ^bb22, ^bb24, ^bb25, ^bb26, ^bb27, ^bb28, ^bb29, ^bb30, ^bb33, ^bb35, ^bb37
  %164 = llvm.mlir.addressof @__ffi_builder_table_tuple : !llvm.ptr
  %165 = llvm.call @__ffi_builder_shared_diagnose_DIGEST(%arg1, %arg2, %164) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %165 : i32
^bb33:  // pred: ^bb2
  %166 = llvm.mlir.constant(2176 : i64) : i64
  %167 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%arg1, %166) : (!llvm.ptr, i64) -> !llvm.ptr
  %168 = llvm.mlir.zero : !llvm.ptr
  %169 = llvm.icmp "ne" %167, %168 : !llvm.ptr
  llvm.cond_br %169, ^bb34, ^bb32
^bb34:  // pred: ^bb33
  %170 = llvm.getelementptr %167[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %171 = llvm.load %170 : !llvm.ptr -> i32
  llvm.br ^bb3(%167, %171 : !llvm.ptr, i32)
^bb35:  // pred: ^bb8
  %172 = llvm.mlir.constant(2176 : i64) : i64
  %173 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%33, %172) : (!llvm.ptr, i64) -> !llvm.ptr
  %174 = llvm.mlir.zero : !llvm.ptr
  %175 = llvm.icmp "ne" %173, %174 : !llvm.ptr
  llvm.cond_br %175, ^bb36, ^bb32
^bb36:  // pred: ^bb35
  %176 = llvm.getelementptr %173[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %177 = llvm.load %176 : !llvm.ptr -> i32
  llvm.br ^bb9(%173, %177 : !llvm.ptr, i32)
^bb37:  // pred: ^bb14
  %178 = llvm.mlir.constant(2208 : i64) : i64
  %179 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%70, %178) : (!llvm.ptr, i64) -> !llvm.ptr
  %180 = llvm.mlir.zero : !llvm.ptr
  %181 = llvm.icmp "ne" %179, %180 : !llvm.ptr
  llvm.cond_br %181, ^bb38, ^bb32
^bb38:  // pred: ^bb37
  %182 = llvm.getelementptr %179[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %183 = llvm.load %182 : !llvm.ptr -> i32
  llvm.br ^bb15(%179, %183 : !llvm.ptr, i32)
}
