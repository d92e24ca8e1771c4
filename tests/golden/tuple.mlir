llvm.mlir.global internal unnamed_addr constant @__ffi_builder_table_tuple("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_tuple(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-28877713"]} {
  %0 = llvm.mlir.constant(4 : i32) : i32
  %1 = llvm.icmp "eq" %arg2, %0 : i32
  llvm.cond_br %1, ^bb1, ^bb33
^bb1:  // pred: ^bb0
  %2 = llvm.mlir.zero : !llvm.ptr
  %3 = llvm.icmp "ne" %arg1, %2 : !llvm.ptr
  llvm.cond_br %3, ^bb2, ^bb33
^bb2:  // pred: ^bb1
  %4 = llvm.load %arg1 : !llvm.ptr -> i32
  %5 = llvm.mlir.constant(71 : i32) : i32
  %6 = llvm.icmp "eq" %4, %5 : i32
  %7 = llvm.mlir.constant(75 : i32) : i32
  %8 = llvm.icmp "eq" %4, %7 : i32
  %9 = llvm.or %6, %8 : i1
  llvm.cond_br %9, ^bb3, ^bb33
^bb3:  // pred: ^bb2
  %10 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %11 = llvm.load %10 : !llvm.ptr -> !llvm.ptr
  %12 = llvm.mlir.zero : !llvm.ptr
  %13 = llvm.icmp "ne" %11, %12 : !llvm.ptr
  llvm.cond_br %13, ^bb4, ^bb33
^bb4:  // pred: ^bb3
  %14 = llvm.getelementptr %11[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %15 = llvm.load %14 : !llvm.ptr -> i64
  %16 = llvm.mlir.constant(2 : i64) : i64
  %17 = llvm.icmp "eq" %15, %16 : i64
  llvm.cond_br %17, ^bb5, ^bb33
^bb5:  // pred: ^bb4
  %18 = llvm.getelementptr %11[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %19 = llvm.load %18 : !llvm.ptr -> !llvm.ptr
  %20 = llvm.mlir.zero : !llvm.ptr
  %21 = llvm.icmp "ne" %19, %20 : !llvm.ptr
  llvm.cond_br %21, ^bb6, ^bb33
^bb6:  // pred: ^bb5
  %22 = llvm.load %19 : !llvm.ptr -> i32
  %23 = llvm.getelementptr %19[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %24 = llvm.load %23 : !llvm.ptr -> i64
  %25 = llvm.mlir.constant(1 : i32) : i32
  %26 = llvm.sub %22, %25 : i32
  %27 = llvm.mlir.constant(2 : i32) : i32
  %28 = llvm.icmp "ult" %26, %27 : i32
  llvm.cond_br %28, ^bb7, ^bb33
^bb7:  // pred: ^bb6
  %29 = llvm.mlir.constant(2 : i64) : i64
  %30 = llvm.icmp "ult" %24, %29 : i64
  llvm.cond_br %30, ^bb8, ^bb33
^bb8:  // pred: ^bb7
  %31 = llvm.getelementptr %19[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %32 = llvm.load %31 : !llvm.ptr -> i32
  %33 = llvm.mlir.constant(71 : i32) : i32
  %34 = llvm.icmp "eq" %32, %33 : i32
  %35 = llvm.mlir.constant(75 : i32) : i32
  %36 = llvm.icmp "eq" %32, %35 : i32
  %37 = llvm.or %34, %36 : i1
  llvm.cond_br %37, ^bb9, ^bb33
^bb9:  // pred: ^bb8
  %38 = llvm.getelementptr %19[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %39 = llvm.load %38 : !llvm.ptr -> !llvm.ptr
  %40 = llvm.mlir.zero : !llvm.ptr
  %41 = llvm.icmp "ne" %39, %40 : !llvm.ptr
  llvm.cond_br %41, ^bb10, ^bb33
^bb10:  // pred: ^bb9
  %42 = llvm.getelementptr %39[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %43 = llvm.load %42 : !llvm.ptr -> i64
  %44 = llvm.mlir.constant(1 : i64) : i64
  %45 = llvm.icmp "eq" %43, %44 : i64
  llvm.cond_br %45, ^bb11, ^bb33
^bb11:  // pred: ^bb10
  %46 = llvm.getelementptr %39[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %47 = llvm.load %46 : !llvm.ptr -> !llvm.ptr
  %48 = llvm.mlir.zero : !llvm.ptr
  %49 = llvm.icmp "ne" %47, %48 : !llvm.ptr
  llvm.cond_br %49, ^bb12, ^bb33
^bb12:  // pred: ^bb11
  %50 = llvm.load %47 : !llvm.ptr -> i32
  %51 = llvm.getelementptr %47[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %52 = llvm.load %51 : !llvm.ptr -> i64
  %53 = llvm.mlir.constant(3 : i32) : i32
  %54 = llvm.icmp "eq" %50, %53 : i32
  %55 = llvm.mlir.constant(1 : i32) : i32
  %56 = llvm.icmp "eq" %50, %55 : i32
  %57 = llvm.or %54, %56 : i1
  llvm.cond_br %57, ^bb13, ^bb33
^bb13:  // pred: ^bb12
  %58 = llvm.mlir.constant(3 : i32) : i32
  %59 = llvm.icmp "eq" %50, %58 : i32
  %60 = llvm.bitcast %52 : i64 to f64
  %61 = llvm.sitofp %52 : i64 to f64
  %62 = llvm.select %59, %60, %61 : i1, f64
  %63 = llvm.bitcast %62 : f64 to i64
  %64 = llvm.mlir.constant(4602678819172646912 : i64) : i64
  %65 = llvm.icmp "eq" %63, %64 : i64
  llvm.cond_br %65, ^bb14, ^bb33
^bb14:  // pred: ^bb13
  %66 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %67 = llvm.load %66 : !llvm.ptr -> i32
  %68 = llvm.mlir.constant(69 : i32) : i32
  %69 = llvm.icmp "eq" %67, %68 : i32
  %70 = llvm.mlir.constant(71 : i32) : i32
  %71 = llvm.icmp "eq" %67, %70 : i32
  %72 = llvm.or %69, %71 : i1
  %73 = llvm.mlir.constant(75 : i32) : i32
  %74 = llvm.icmp "eq" %67, %73 : i32
  %75 = llvm.or %72, %74 : i1
  llvm.cond_br %75, ^bb15, ^bb33
^bb15:  // pred: ^bb14
  %76 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %77 = llvm.load %76 : !llvm.ptr -> !llvm.ptr
  %78 = llvm.mlir.zero : !llvm.ptr
  %79 = llvm.icmp "ne" %77, %78 : !llvm.ptr
  llvm.cond_br %79, ^bb16, ^bb33
^bb16:  // pred: ^bb15
  %80 = llvm.getelementptr %77[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %81 = llvm.load %80 : !llvm.ptr -> i64
  %82 = llvm.mlir.constant(3 : i64) : i64
  %83 = llvm.icmp "eq" %81, %82 : i64
  llvm.cond_br %83, ^bb17, ^bb33
^bb17:  // pred: ^bb16
  %84 = llvm.getelementptr %77[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %85 = llvm.load %84 : !llvm.ptr -> !llvm.ptr
  %86 = llvm.mlir.zero : !llvm.ptr
  %87 = llvm.icmp "ne" %85, %86 : !llvm.ptr
  llvm.cond_br %87, ^bb18, ^bb33
^bb18:  // pred: ^bb17
  %88 = llvm.mlir.constant(69 : i32) : i32
  %89 = llvm.icmp "eq" %67, %88 : i32
  llvm.cond_br %89, ^bb19, ^bb20
^bb19:  // pred: ^bb18
  %90 = llvm.load %85 : !llvm.ptr -> i64
  %91 = llvm.getelementptr %85[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %92 = llvm.load %91 : !llvm.ptr -> i64
  %93 = llvm.getelementptr %85[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %94 = llvm.load %93 : !llvm.ptr -> i64
  llvm.br ^bb24(%90, %92, %94 : i64, i64, i64)
^bb20:  // pred: ^bb18
  %95 = llvm.load %85 : !llvm.ptr -> i32
  %96 = llvm.mlir.constant(1 : i32) : i32
  %97 = llvm.sub %95, %96 : i32
  %98 = llvm.mlir.constant(2 : i32) : i32
  %99 = llvm.icmp "ult" %97, %98 : i32
  llvm.cond_br %99, ^bb21, ^bb33
^bb21:  // pred: ^bb20
  %100 = llvm.getelementptr %85[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %101 = llvm.load %100 : !llvm.ptr -> i64
  %102 = llvm.getelementptr %85[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %103 = llvm.load %102 : !llvm.ptr -> i32
  %104 = llvm.mlir.constant(1 : i32) : i32
  %105 = llvm.sub %103, %104 : i32
  %106 = llvm.mlir.constant(2 : i32) : i32
  %107 = llvm.icmp "ult" %105, %106 : i32
  llvm.cond_br %107, ^bb22, ^bb33
^bb22:  // pred: ^bb21
  %108 = llvm.getelementptr %85[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %109 = llvm.load %108 : !llvm.ptr -> i64
  %110 = llvm.getelementptr %85[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %111 = llvm.load %110 : !llvm.ptr -> i32
  %112 = llvm.mlir.constant(1 : i32) : i32
  %113 = llvm.sub %111, %112 : i32
  %114 = llvm.mlir.constant(2 : i32) : i32
  %115 = llvm.icmp "ult" %113, %114 : i32
  llvm.cond_br %115, ^bb23, ^bb33
^bb23:  // pred: ^bb22
  %116 = llvm.getelementptr %85[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %117 = llvm.load %116 : !llvm.ptr -> i64
  llvm.br ^bb24(%101, %109, %117 : i64, i64, i64)
^bb24(%118: i64, %119: i64, %120: i64):  // 2 preds: ^bb19, ^bb23
  %121 = llvm.mlir.constant(0 : i64) : i64
  %122 = llvm.icmp "sge" %118, %121 : i64
  llvm.cond_br %122, ^bb25, ^bb33
^bb25:  // pred: ^bb24
  %123 = llvm.mlir.constant(3 : i64) : i64
  %124 = llvm.icmp "eq" %119, %123 : i64
  llvm.cond_br %124, ^bb26, ^bb33
^bb26:  // pred: ^bb25
  %125 = llvm.mlir.constant(0 : i64) : i64
  %126 = llvm.icmp "sge" %120, %125 : i64
  llvm.cond_br %126, ^bb27, ^bb33
^bb27:  // pred: ^bb26
  %127 = llvm.mlir.constant(2 : i64) : i64
  %128 = "llvm.intr.smul.with.overflow"(%118, %127) : (i64, i64) -> !llvm.struct<(i64, i1)>
  %129 = llvm.extractvalue %128[0] : !llvm.struct<(i64, i1)> 
  %130 = llvm.extractvalue %128[1] : !llvm.struct<(i64, i1)> 
  %131 = llvm.mlir.constant(true) : i1
  %132 = llvm.xor %130, %131 : i1
  %133 = llvm.icmp "eq" %120, %129 : i64
  %134 = llvm.and %133, %132 : i1
  llvm.cond_br %134, ^bb28, ^bb33
^bb28:  // pred: ^bb27
  %135 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %136 = llvm.load %135 : !llvm.ptr -> i32
  %137 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %138 = llvm.load %137 : !llvm.ptr -> i64
  %139 = llvm.mlir.constant(0 : i32) : i32
  %140 = llvm.icmp "eq" %136, %139 : i32
  llvm.cond_br %140, ^bb29, ^bb33
^bb29:  // pred: ^bb28
  %141 = llvm.mlir.constant(0 : i32) : i32
  %142 = llvm.icmp "eq" %136, %141 : i32
  %143 = llvm.mlir.constant(0 : i64) : i64
  %144 = llvm.select %142, %143, %138 : i1, i64
  %145 = llvm.getelementptr %arg1[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %146 = llvm.load %145 : !llvm.ptr -> i32
  %147 = llvm.getelementptr %arg1[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %148 = llvm.load %147 : !llvm.ptr -> i64
  %149 = llvm.mlir.constant(1 : i32) : i32
  %150 = llvm.icmp "eq" %146, %149 : i32
  llvm.cond_br %150, ^bb30, ^bb33
^bb30:  // pred: ^bb29
  %151 = llvm.mlir.constant(1 : i64) : i64
  %152 = llvm.icmp "eq" %148, %151 : i64
  llvm.cond_br %152, ^bb31, ^bb33
^bb31:  // pred: ^bb30
  %153 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %153, %arg3 : i64, !llvm.ptr
  %154 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %153, %154 : i64, !llvm.ptr
  %155 = llvm.trunc %24 : i64 to i1
  %156 = llvm.mlir.constant(2 : i64) : i64
  %157 = "llvm.intr.smul.with.overflow"(%118, %156) : (i64, i64) -> !llvm.struct<(i64, i1)>
  %158 = llvm.extractvalue %157[0] : !llvm.struct<(i64, i1)> 
  %159 = llvm.extractvalue %157[1] : !llvm.struct<(i64, i1)> 
  %160 = llvm.mlir.constant(true) : i1
  %161 = llvm.xor %159, %160 : i1
  llvm.cond_br %161, ^bb32, ^bb34
^bb32:  // pred: ^bb31
  llvm.call @callee(%155, %118, %158) : (i1 {llvm.zeroext}, i64, i64) -> ()
  %162 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %162 : i32
^bb33:  // 28 preds: ^bb0, ^bb1, ^bb2, ^bb3, ^bb4, ^bb5, ^bb6, ^bb7, ^bb8, ^bb9, ^bb10, ^bb11, ^bb12, ^bb13, ^bb14, ^bb15, ^bb16, ^bb17, ^bb20, ^bb21, ^bb22, ^bb24, ^bb25, ^bb26, ^bb27, ^bb28, ^bb29, ^bb30
  %163 = llvm.mlir.addressof @__ffi_builder_table_tuple : !llvm.ptr
  %164 = llvm.call @__ffi_builder_shared_diagnose_DIGEST(%arg1, %arg2, %163) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %164 : i32
^bb34:  // pred: ^bb31
  %165 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %166 = llvm.mlir.constant(166 : i64) : i64
  %167 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %168 = llvm.mlir.constant(0 : i64) : i64
  %169 = llvm.mlir.constant(10 : i64) : i64
  %170 = llvm.call @__ffi_builder_shared_raise_DIGEST(%167, %169, %165, %166, %167, %168) : (!llvm.ptr, i64, !llvm.ptr, i64, !llvm.ptr, i64) -> i32
  llvm.return %170 : i32
}
