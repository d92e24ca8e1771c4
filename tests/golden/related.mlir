llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_related("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_related(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(3 : i32) : i32
  %1 = llvm.icmp "eq" %arg2, %0 : i32
  llvm.cond_br %1, ^bb1, ^bb30(%arg2 : i32)
^bb1:  // pred: ^bb0
  %2 = llvm.mlir.zero : !llvm.ptr
  %3 = llvm.icmp "ne" %arg1, %2 : !llvm.ptr
  llvm.cond_br %3, ^bb2, ^bb29
^bb2:  // pred: ^bb1
  %4 = llvm.load %arg1 : !llvm.ptr -> i32
  %5 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %6 = llvm.load %5 : !llvm.ptr -> !llvm.ptr
  %7 = llvm.mlir.constant(70 : i32) : i32
  %8 = llvm.icmp "eq" %4, %7 : i32
  llvm.cond_br %8 weights([2000, 1]), ^bb3(%6 : !llvm.ptr), ^bb31
^bb3(%9: !llvm.ptr):  // 2 preds: ^bb2, ^bb31
  %10 = llvm.mlir.zero : !llvm.ptr
  %11 = llvm.icmp "ne" %9, %10 : !llvm.ptr
  llvm.cond_br %11, ^bb4, ^bb29
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
  llvm.cond_br %23, ^bb5, ^bb29
^bb5:  // pred: ^bb4
  %24 = llvm.getelementptr %9[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %25 = llvm.load %24 : !llvm.ptr -> i64
  %26 = llvm.getelementptr %9[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %27 = llvm.load %26 : !llvm.ptr -> !llvm.ptr
  %28 = llvm.mlir.zero : !llvm.ptr
  %29 = llvm.icmp "ne" %27, %28 : !llvm.ptr
  llvm.cond_br %29, ^bb6, ^bb29
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
  llvm.cond_br %40 weights([2000, 1]), ^bb8, ^bb32
^bb8:  // pred: ^bb7
  %41 = llvm.load %34 : !llvm.ptr -> i64
  %42 = llvm.icmp "eq" %41, %32 : i64
  llvm.cond_br %42 weights([2000, 1]), ^bb9, ^bb32
^bb9:  // 3 preds: ^bb6, ^bb8, ^bb32
  %43 = llvm.getelementptr %9[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %44 = llvm.load %43 : !llvm.ptr -> !llvm.ptr
  %45 = llvm.getelementptr %9[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %46 = llvm.load %45 : !llvm.ptr -> i64
  %47 = llvm.getelementptr %44[%46] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %48 = llvm.getelementptr %44[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %49 = llvm.icmp "ult" %48, %47 : !llvm.ptr
  llvm.cond_br %49 weights([2000, 1]), ^bb10, ^bb33
^bb10:  // 2 preds: ^bb9, ^bb33
  %50 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %51 = llvm.load %50 : !llvm.ptr -> i32
  %52 = llvm.mlir.constant(0 : i32) : i32
  %53 = llvm.icmp "ne" %51, %52 : i32
  llvm.cond_br %53, ^bb11, ^bb13
^bb11:  // pred: ^bb10
  %54 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %55 = llvm.load %54 : !llvm.ptr -> i32
  %56 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %57 = llvm.load %56 : !llvm.ptr -> i64
  %58 = llvm.mlir.constant(1 : i32) : i32
  %59 = llvm.icmp "eq" %55, %58 : i32
  llvm.cond_br %59 weights([2000, 1]), ^bb12, ^bb34
^bb12:  // 2 preds: ^bb11, ^bb34
  %60 = llvm.mlir.constant(true) : i1
  llvm.br ^bb14(%57, %57, %60, %60 : i64, i64, i1, i1)
^bb13:  // pred: ^bb10
  %61 = llvm.mlir.zero : i64
  %62 = llvm.mlir.zero : i64
  %63 = llvm.mlir.zero : i1
  %64 = llvm.mlir.zero : i1
  llvm.br ^bb14(%61, %62, %63, %64 : i64, i64, i1, i1)
^bb14(%65: i64, %66: i64, %67: i1, %68: i1):  // 2 preds: ^bb12, ^bb13
  %69 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %70 = llvm.load %69 : !llvm.ptr -> i32
  %71 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %72 = llvm.load %71 : !llvm.ptr -> !llvm.ptr
  %73 = llvm.mlir.constant(70 : i32) : i32
  %74 = llvm.icmp "eq" %70, %73 : i32
  llvm.cond_br %74 weights([2000, 1]), ^bb15(%72 : !llvm.ptr), ^bb35
^bb15(%75: !llvm.ptr):  // 2 preds: ^bb14, ^bb35
  %76 = llvm.mlir.zero : !llvm.ptr
  %77 = llvm.icmp "ne" %75, %76 : !llvm.ptr
  llvm.cond_br %77, ^bb16, ^bb29
^bb16:  // pred: ^bb15
  %78 = llvm.getelementptr %75[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %79 = llvm.load %78 : !llvm.ptr -> i64
  %80 = llvm.mlir.constant(316667938734081 : i64) : i64
  %81 = llvm.icmp "eq" %79, %80 : i64
  llvm.cond_br %81, ^bb17, ^bb29
^bb17:  // pred: ^bb16
  %82 = llvm.getelementptr %75[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %83 = llvm.load %82 : !llvm.ptr -> i64
  %84 = llvm.icmp "eq" %83, %25 : i64
  llvm.cond_br %84, ^bb18, ^bb29
^bb18:  // pred: ^bb17
  %85 = llvm.getelementptr %75[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %86 = llvm.load %85 : !llvm.ptr -> !llvm.ptr
  %87 = llvm.mlir.zero : !llvm.ptr
  %88 = llvm.icmp "ne" %86, %87 : !llvm.ptr
  llvm.cond_br %88, ^bb19, ^bb29
^bb19:  // pred: ^bb18
  %89 = llvm.load %86 : !llvm.ptr -> i64
  %90 = llvm.mlir.constant(4 : i64) : i64
  %91 = llvm.icmp "sgt" %30, %90 : i64
  %92 = llvm.select %91, %30, %90 : i1, i64
  %93 = llvm.icmp "eq" %89, %92 : i64
  llvm.cond_br %93, ^bb20, ^bb29
^bb20:  // pred: ^bb19
  %94 = llvm.getelementptr %75[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %95 = llvm.load %94 : !llvm.ptr -> !llvm.ptr
  %96 = llvm.mlir.zero : !llvm.ptr
  %97 = llvm.icmp "eq" %95, %96 : !llvm.ptr
  llvm.cond_br %97, ^bb22, ^bb21
^bb21:  // pred: ^bb20
  %98 = llvm.load %95 : !llvm.ptr -> i64
  %99 = llvm.mlir.constant(1 : i64) : i64
  %100 = llvm.icmp "eq" %98, %99 : i64
  llvm.cond_br %100 weights([2000, 1]), ^bb22, ^bb36
^bb22:  // 3 preds: ^bb20, ^bb21, ^bb36
  %101 = llvm.getelementptr %75[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %102 = llvm.load %101 : !llvm.ptr -> !llvm.ptr
  %103 = llvm.getelementptr %75[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %104 = llvm.load %103 : !llvm.ptr -> i64
  %105 = llvm.getelementptr %102[%104] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %106 = llvm.getelementptr %102[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %107 = llvm.icmp "ult" %106, %105 : !llvm.ptr
  llvm.cond_br %107 weights([2000, 1]), ^bb23, ^bb37
^bb23:  // 2 preds: ^bb22, ^bb37
  %108 = llvm.icmp "sle" %30, %32 : i64
  llvm.cond_br %108, ^bb24, ^bb29
^bb24:  // pred: ^bb23
  %109 = llvm.mlir.constant(64 : i64) : i64
  %110 = llvm.mlir.constant(128 : i64) : i64
  %111 = llvm.icmp "eq" %32, %109 : i64
  %112 = llvm.icmp "eq" %32, %110 : i64
  %113 = llvm.or %111, %112 : i1
  llvm.cond_br %113, ^bb25, ^bb29
^bb25:  // pred: ^bb24
  %114 = "llvm.intr.smul.with.overflow"(%30, %32) : (i64, i64) -> !llvm.struct<(i64, i1)>
  %115 = llvm.extractvalue %114[0] : !llvm.struct<(i64, i1)> 
  %116 = llvm.extractvalue %114[1] : !llvm.struct<(i64, i1)> 
  %117 = llvm.mlir.constant(true) : i1
  %118 = llvm.xor %116, %117 : i1
  %119 = llvm.mlir.constant(2147483647 : i64) : i64
  %120 = llvm.icmp "sle" %115, %119 : i64
  %121 = llvm.and %120, %118 : i1
  llvm.cond_br %121, ^bb26, ^bb29
^bb26:  // pred: ^bb25
  %122 = llvm.icmp "slt" %66, %30 : i64
  %123 = llvm.mlir.constant(true) : i1
  %124 = llvm.xor %68, %123 : i1
  %125 = llvm.or %122, %124 : i1
  llvm.cond_br %125, ^bb27, ^bb29
^bb27:  // pred: ^bb26
  %126 = llvm.or %30, %32 : i64
  %127 = llvm.or %126, %89 : i64
  %128 = llvm.ptrtoint %47 : !llvm.ptr to i64
  %129 = llvm.ptrtoint %105 : !llvm.ptr to i64
  %130 = llvm.or %128, %129 : i64
  %131 = llvm.mlir.constant(62 : i64) : i64
  %132 = llvm.shl %130, %131 : i64
  %133 = llvm.or %132, %127 : i64
  %134 = llvm.mlir.constant(2147483647 : i64) : i64
  %135 = llvm.icmp "ule" %133, %134 : i64
  llvm.cond_br %135 weights([2000, 1]), ^bb28, ^bb38
^bb28:  // 2 preds: ^bb27, ^bb38
  %136 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %136, %arg3 : i64, !llvm.ptr
  %137 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %136, %137 : i64, !llvm.ptr
  %138 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %138 : i32
^bb29:  // 19 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb15, ^bb16, ^bb17, ^bb18, ^bb19, ^bb23, ^bb24, ^bb25, ^bb26, ^bb32, ^bb33, ^bb34, ^bb36, ^bb37, ^bb38
  %139 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb30(%139 : i32)
^bb30(%140: i32):  // 2 preds: ^bb0, ^bb29
  %141 = llvm.mlir.addressof @__ffi_builder_table_related : !llvm.ptr
  %142 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %140, %141) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %142 : i32
^bb31:  // pred: ^bb2
  %143 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%143 : !llvm.ptr)
^bb32:  // 2 preds: ^bb7, ^bb8
  %144 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %144, ^bb9, ^bb29
^bb33:  // pred: ^bb9
  %145 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%9) : (!llvm.ptr) -> i1
  llvm.cond_br %145, ^bb10, ^bb29
^bb34:  // pred: ^bb11
  %146 = llvm.mlir.constant(2 : i32) : i32
  %147 = llvm.icmp "eq" %55, %146 : i32
  llvm.cond_br %147, ^bb12, ^bb29
^bb35:  // pred: ^bb14
  %148 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %149 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%148) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb15(%149 : !llvm.ptr)
^bb36:  // pred: ^bb21
  %150 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%75) : (!llvm.ptr) -> i1
  llvm.cond_br %150, ^bb22, ^bb29
^bb37:  // pred: ^bb22
  %151 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%75) : (!llvm.ptr) -> i1
  llvm.cond_br %151, ^bb23, ^bb29
^bb38:  // pred: ^bb27
  %152 = llvm.mlir.constant(3 : i32) : i32
  %153 = llvm.mlir.addressof @__ffi_builder_table_related : !llvm.ptr
  %154 = llvm.call preserve_mostcc @__ffi_builder_shared_nothing_is_wrong_DIGEST(%arg1, %152, %153) : (!llvm.ptr, i32, !llvm.ptr) -> i1
  llvm.cond_br %154, ^bb28, ^bb29
}
