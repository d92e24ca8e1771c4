llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_tuple("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_tuple(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-057a89d0", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(4 : i32) : i32
  %1 = llvm.icmp "eq" %arg2, %0 : i32
  llvm.cond_br %1, ^bb1, ^bb28(%arg2 : i32)
^bb1:  // pred: ^bb0
  %2 = llvm.mlir.zero : !llvm.ptr
  %3 = llvm.icmp "ne" %arg1, %2 : !llvm.ptr
  llvm.cond_br %3, ^bb2, ^bb27
^bb2:  // pred: ^bb1
  %4 = llvm.load %arg1 : !llvm.ptr -> i32
  %5 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %6 = llvm.load %5 : !llvm.ptr -> !llvm.ptr
  %7 = llvm.mlir.constant(71 : i32) : i32
  %8 = llvm.icmp "eq" %4, %7 : i32
  llvm.cond_br %8 weights([2000, 1]), ^bb3(%6 : !llvm.ptr), ^bb29
^bb3(%9: !llvm.ptr):  // 3 preds: ^bb2, ^bb29, ^bb31
  %10 = llvm.mlir.zero : !llvm.ptr
  %11 = llvm.icmp "ne" %9, %10 : !llvm.ptr
  llvm.cond_br %11, ^bb4, ^bb27
^bb4:  // pred: ^bb3
  %12 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %13 = llvm.load %12 : !llvm.ptr -> i64
  %14 = llvm.mlir.constant(2 : i64) : i64
  %15 = llvm.icmp "eq" %13, %14 : i64
  llvm.cond_br %15, ^bb5, ^bb27
^bb5:  // pred: ^bb4
  %16 = llvm.getelementptr %9[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %17 = llvm.load %16 : !llvm.ptr -> !llvm.ptr
  %18 = llvm.mlir.zero : !llvm.ptr
  %19 = llvm.icmp "ne" %17, %18 : !llvm.ptr
  llvm.cond_br %19, ^bb6, ^bb27
^bb6:  // pred: ^bb5
  %20 = llvm.load %17 : !llvm.ptr -> i32
  %21 = llvm.getelementptr %17[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %22 = llvm.load %21 : !llvm.ptr -> i64
  %23 = llvm.mlir.constant(1 : i32) : i32
  %24 = llvm.sub %20, %23 : i32
  %25 = llvm.mlir.constant(2 : i32) : i32
  %26 = llvm.icmp "ult" %24, %25 : i32
  llvm.cond_br %26, ^bb7, ^bb27
^bb7:  // pred: ^bb6
  %27 = llvm.mlir.constant(2 : i64) : i64
  %28 = llvm.icmp "ult" %22, %27 : i64
  llvm.cond_br %28, ^bb8, ^bb27
^bb8:  // pred: ^bb7
  %29 = llvm.getelementptr %17[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %30 = llvm.load %29 : !llvm.ptr -> i32
  %31 = llvm.getelementptr %17[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %32 = llvm.load %31 : !llvm.ptr -> !llvm.ptr
  %33 = llvm.mlir.constant(71 : i32) : i32
  %34 = llvm.icmp "eq" %30, %33 : i32
  llvm.cond_br %34 weights([2000, 1]), ^bb9(%32 : !llvm.ptr), ^bb32
^bb9(%35: !llvm.ptr):  // 3 preds: ^bb8, ^bb32, ^bb34
  %36 = llvm.mlir.zero : !llvm.ptr
  %37 = llvm.icmp "ne" %35, %36 : !llvm.ptr
  llvm.cond_br %37, ^bb10, ^bb27
^bb10:  // pred: ^bb9
  %38 = llvm.getelementptr %35[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %39 = llvm.load %38 : !llvm.ptr -> i64
  %40 = llvm.mlir.constant(1 : i64) : i64
  %41 = llvm.icmp "eq" %39, %40 : i64
  llvm.cond_br %41, ^bb11, ^bb27
^bb11:  // pred: ^bb10
  %42 = llvm.getelementptr %35[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %43 = llvm.load %42 : !llvm.ptr -> !llvm.ptr
  %44 = llvm.mlir.zero : !llvm.ptr
  %45 = llvm.icmp "ne" %43, %44 : !llvm.ptr
  llvm.cond_br %45, ^bb12, ^bb27
^bb12:  // pred: ^bb11
  %46 = llvm.load %43 : !llvm.ptr -> i32
  %47 = llvm.getelementptr %43[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %48 = llvm.load %47 : !llvm.ptr -> i64
  %49 = llvm.mlir.constant(3 : i32) : i32
  %50 = llvm.icmp "eq" %46, %49 : i32
  %51 = llvm.mlir.constant(1 : i32) : i32
  %52 = llvm.icmp "eq" %46, %51 : i32
  %53 = llvm.or %50, %52 : i1
  llvm.cond_br %53, ^bb13, ^bb27
^bb13:  // pred: ^bb12
  %54 = llvm.mlir.constant(3 : i32) : i32
  %55 = llvm.icmp "eq" %46, %54 : i32
  %56 = llvm.bitcast %48 : i64 to f64
  %57 = llvm.sitofp %48 : i64 to f64
  %58 = llvm.select %55, %56, %57 : i1, f64
  %59 = llvm.bitcast %58 : f64 to i64
  %60 = llvm.mlir.constant(4602678819172646912 : i64) : i64
  %61 = llvm.icmp "eq" %59, %60 : i64
  llvm.cond_br %61, ^bb14, ^bb27
^bb14:  // pred: ^bb13
  %62 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %63 = llvm.load %62 : !llvm.ptr -> i32
  %64 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %65 = llvm.load %64 : !llvm.ptr -> !llvm.ptr
  %66 = llvm.mlir.constant(69 : i32) : i32
  %67 = llvm.icmp "eq" %63, %66 : i32
  llvm.cond_br %67 weights([2000, 1]), ^bb15(%65 : !llvm.ptr), ^bb35
^bb15(%68: !llvm.ptr):  // 2 preds: ^bb14, ^bb38
  %69 = llvm.mlir.zero : !llvm.ptr
  %70 = llvm.icmp "ne" %68, %69 : !llvm.ptr
  llvm.cond_br %70, ^bb16, ^bb27
^bb16:  // pred: ^bb15
  %71 = llvm.getelementptr %68[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %72 = llvm.load %71 : !llvm.ptr -> i64
  %73 = llvm.mlir.constant(3 : i64) : i64
  %74 = llvm.icmp "eq" %72, %73 : i64
  llvm.cond_br %74, ^bb17, ^bb27
^bb17:  // pred: ^bb16
  %75 = llvm.getelementptr %68[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %76 = llvm.load %75 : !llvm.ptr -> !llvm.ptr
  %77 = llvm.mlir.zero : !llvm.ptr
  %78 = llvm.icmp "ne" %76, %77 : !llvm.ptr
  llvm.cond_br %78, ^bb18, ^bb27
^bb18:  // pred: ^bb17
  %79 = llvm.load %76 : !llvm.ptr -> i64
  %80 = llvm.getelementptr %76[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %81 = llvm.load %80 : !llvm.ptr -> i64
  %82 = llvm.getelementptr %76[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %83 = llvm.load %82 : !llvm.ptr -> i64
  llvm.br ^bb19(%79, %81, %83 : i64, i64, i64)
^bb19(%84: i64, %85: i64, %86: i64):  // 2 preds: ^bb18, ^bb36
  %87 = llvm.mlir.constant(0 : i64) : i64
  %88 = llvm.icmp "sge" %84, %87 : i64
  llvm.cond_br %88, ^bb20, ^bb27
^bb20:  // pred: ^bb19
  %89 = llvm.mlir.constant(3 : i64) : i64
  %90 = llvm.icmp "eq" %85, %89 : i64
  llvm.cond_br %90, ^bb21, ^bb27
^bb21:  // pred: ^bb20
  %91 = llvm.mlir.constant(0 : i64) : i64
  %92 = llvm.icmp "sge" %86, %91 : i64
  llvm.cond_br %92, ^bb22, ^bb27
^bb22:  // pred: ^bb21
  %93 = llvm.mlir.constant(2 : i64) : i64
  %94 = "llvm.intr.smul.with.overflow"(%84, %93) : (i64, i64) -> !llvm.struct<(i64, i1)>
  %95 = llvm.extractvalue %94[0] : !llvm.struct<(i64, i1)> 
  %96 = llvm.extractvalue %94[1] : !llvm.struct<(i64, i1)> 
  %97 = llvm.mlir.constant(true) : i1
  %98 = llvm.xor %96, %97 : i1
  %99 = llvm.icmp "eq" %86, %95 : i64
  %100 = llvm.and %99, %98 : i1
  llvm.cond_br %100, ^bb23, ^bb27
^bb23:  // pred: ^bb22
  %101 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %102 = llvm.load %101 : !llvm.ptr -> i32
  %103 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %104 = llvm.load %103 : !llvm.ptr -> i64
  %105 = llvm.mlir.constant(0 : i32) : i32
  %106 = llvm.icmp "eq" %102, %105 : i32
  llvm.cond_br %106, ^bb24, ^bb27
^bb24:  // pred: ^bb23
  %107 = llvm.getelementptr %arg1[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %108 = llvm.load %107 : !llvm.ptr -> i32
  %109 = llvm.getelementptr %arg1[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %110 = llvm.load %109 : !llvm.ptr -> i64
  %111 = llvm.mlir.constant(1 : i32) : i32
  %112 = llvm.icmp "eq" %108, %111 : i32
  llvm.cond_br %112, ^bb25, ^bb27
^bb25:  // pred: ^bb24
  %113 = llvm.mlir.constant(1 : i64) : i64
  %114 = llvm.icmp "eq" %110, %113 : i64
  llvm.cond_br %114, ^bb26, ^bb27
^bb26:  // pred: ^bb25
  %115 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %115, %arg3 : i64, !llvm.ptr
  %116 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %115, %116 : i64, !llvm.ptr
  %117 = llvm.trunc %22 : i64 to i1
  %118 = llvm.mlir.constant(3 : i64) : i64
  llvm.call @callee(%117, %84, %86) : (i1 {llvm.zeroext}, i64, i64) -> ()
  %119 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %119 : i32
^bb27:  // 24 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb7, ^bb9, ^bb10, ^bb11, ^bb12, ^bb13, ^bb15, ^bb16, ^bb17, ^bb19, ^bb20, ^bb21, ^bb22, ^bb23, ^bb24, ^bb25, ^bb30, ^bb33, ^bb37
  %120 = llvm.mlir.constant(4 : i32) : i32
  llvm.br ^bb28(%120 : i32)
^bb28(%121: i32):  // 2 preds: ^bb0, ^bb27
  %122 = llvm.mlir.addressof @__ffi_builder_table_tuple : !llvm.ptr
  %123 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %121, %122) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %123 : i32
^bb29:  // pred: ^bb2
  %124 = llvm.mlir.constant(75 : i32) : i32
  %125 = llvm.icmp "eq" %4, %124 : i32
  llvm.cond_br %125, ^bb3(%6 : !llvm.ptr), ^bb30
^bb30:  // pred: ^bb29
  %126 = llvm.mlir.constant(2176 : i64) : i64
  %127 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%arg1, %126) : (!llvm.ptr, i64) -> !llvm.ptr
  %128 = llvm.mlir.zero : !llvm.ptr
  %129 = llvm.icmp "ne" %127, %128 : !llvm.ptr
  llvm.cond_br %129, ^bb31, ^bb27
^bb31:  // pred: ^bb30
  llvm.br ^bb3(%127 : !llvm.ptr)
^bb32:  // pred: ^bb8
  %130 = llvm.mlir.constant(75 : i32) : i32
  %131 = llvm.icmp "eq" %30, %130 : i32
  llvm.cond_br %131, ^bb9(%32 : !llvm.ptr), ^bb33
^bb33:  // pred: ^bb32
  %132 = llvm.getelementptr %17[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %133 = llvm.mlir.constant(2176 : i64) : i64
  %134 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%132, %133) : (!llvm.ptr, i64) -> !llvm.ptr
  %135 = llvm.mlir.zero : !llvm.ptr
  %136 = llvm.icmp "ne" %134, %135 : !llvm.ptr
  llvm.cond_br %136, ^bb34, ^bb27
^bb34:  // pred: ^bb33
  llvm.br ^bb9(%134 : !llvm.ptr)
^bb35:  // pred: ^bb14
  %137 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %138 = llvm.mlir.constant(3 : i64) : i64
  %139 = llvm.call preserve_mostcc @__ffi_builder_shared_integers_DIGEST(%137, %138) : (!llvm.ptr, i64) -> !llvm.ptr
  %140 = llvm.mlir.zero : !llvm.ptr
  %141 = llvm.icmp "ne" %139, %140 : !llvm.ptr
  llvm.cond_br %141, ^bb36, ^bb37
^bb36:  // pred: ^bb35
  %142 = llvm.getelementptr %139[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %143 = llvm.load %142 : !llvm.ptr -> i64
  %144 = llvm.getelementptr %139[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %145 = llvm.load %144 : !llvm.ptr -> i64
  %146 = llvm.getelementptr %139[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %147 = llvm.load %146 : !llvm.ptr -> i64
  llvm.br ^bb19(%143, %145, %147 : i64, i64, i64)
^bb37:  // pred: ^bb35
  %148 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %149 = llvm.mlir.constant(32 : i64) : i64
  %150 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%148, %149) : (!llvm.ptr, i64) -> !llvm.ptr
  %151 = llvm.mlir.zero : !llvm.ptr
  %152 = llvm.icmp "ne" %150, %151 : !llvm.ptr
  llvm.cond_br %152, ^bb38, ^bb27
^bb38:  // pred: ^bb37
  llvm.br ^bb15(%150 : !llvm.ptr)
}
