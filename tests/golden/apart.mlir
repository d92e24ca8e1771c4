llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_apart("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_apart(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-97e5a045", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(2 : i32) : i32
  %1 = llvm.alloca %0 x i64 : (i32) -> !llvm.ptr
  %2 = llvm.mlir.constant(2 : i32) : i32
  %3 = llvm.alloca %2 x i64 : (i32) -> !llvm.ptr
  %4 = llvm.mlir.constant(3 : i32) : i32
  %5 = llvm.icmp "eq" %arg2, %4 : i32
  llvm.cond_br %5, ^bb1, ^bb32(%arg2 : i32)
^bb1:  // pred: ^bb0
  %6 = llvm.mlir.zero : !llvm.ptr
  %7 = llvm.icmp "ne" %arg1, %6 : !llvm.ptr
  llvm.cond_br %7, ^bb2, ^bb31
^bb2:  // pred: ^bb1
  %8 = llvm.load %arg1 : !llvm.ptr -> i32
  %9 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %10 = llvm.load %9 : !llvm.ptr -> !llvm.ptr
  %11 = llvm.mlir.constant(70 : i32) : i32
  %12 = llvm.icmp "eq" %8, %11 : i32
  llvm.cond_br %12 weights([2000, 1]), ^bb3(%10 : !llvm.ptr), ^bb33
^bb3(%13: !llvm.ptr):  // 2 preds: ^bb2, ^bb33
  %14 = llvm.mlir.zero : !llvm.ptr
  %15 = llvm.icmp "ne" %13, %14 : !llvm.ptr
  llvm.cond_br %15, ^bb4, ^bb31
^bb4:  // pred: ^bb3
  %16 = llvm.getelementptr %13[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %17 = llvm.load %16 : !llvm.ptr -> i64
  %18 = llvm.mlir.constant(316667938734081 : i64) : i64
  %19 = llvm.icmp "eq" %17, %18 : i64
  llvm.cond_br %19, ^bb5, ^bb31
^bb5:  // pred: ^bb4
  %20 = llvm.getelementptr %13[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %21 = llvm.load %20 : !llvm.ptr -> i64
  %22 = llvm.trunc %21 : i64 to i32
  %23 = llvm.mlir.constant(1 : i32) : i32
  %24 = llvm.icmp "eq" %22, %23 : i32
  llvm.cond_br %24, ^bb6, ^bb31
^bb6:  // pred: ^bb5
  %25 = llvm.getelementptr %13[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %26 = llvm.load %25 : !llvm.ptr -> !llvm.ptr
  %27 = llvm.mlir.zero : !llvm.ptr
  %28 = llvm.icmp "ne" %26, %27 : !llvm.ptr
  llvm.cond_br %28, ^bb7, ^bb31
^bb7:  // pred: ^bb6
  %29 = llvm.load %26 : !llvm.ptr -> i64
  %30 = llvm.getelementptr %13[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %31 = llvm.load %30 : !llvm.ptr -> !llvm.ptr
  %32 = llvm.mlir.zero : !llvm.ptr
  %33 = llvm.icmp "eq" %31, %32 : !llvm.ptr
  llvm.cond_br %33, ^bb9, ^bb8
^bb8:  // pred: ^bb7
  %34 = llvm.load %31 : !llvm.ptr -> i64
  %35 = llvm.mlir.constant(1 : i64) : i64
  %36 = llvm.icmp "eq" %34, %35 : i64
  llvm.cond_br %36 weights([2000, 1]), ^bb9, ^bb34
^bb9:  // 3 preds: ^bb7, ^bb8, ^bb34
  %37 = llvm.getelementptr %13[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %38 = llvm.load %37 : !llvm.ptr -> !llvm.ptr
  %39 = llvm.getelementptr %13[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %40 = llvm.load %39 : !llvm.ptr -> i64
  %41 = llvm.getelementptr %38[%40] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %42 = llvm.getelementptr %38[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %43 = llvm.icmp "ult" %42, %41 : !llvm.ptr
  llvm.cond_br %43 weights([2000, 1]), ^bb10, ^bb35
^bb10:  // 2 preds: ^bb9, ^bb35
  %44 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %45 = llvm.load %44 : !llvm.ptr -> i32
  %46 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %47 = llvm.load %46 : !llvm.ptr -> !llvm.ptr
  %48 = llvm.mlir.constant(70 : i32) : i32
  %49 = llvm.icmp "eq" %45, %48 : i32
  llvm.cond_br %49 weights([2000, 1]), ^bb11(%47 : !llvm.ptr), ^bb36
^bb11(%50: !llvm.ptr):  // 2 preds: ^bb10, ^bb36
  %51 = llvm.mlir.zero : !llvm.ptr
  %52 = llvm.icmp "ne" %50, %51 : !llvm.ptr
  llvm.cond_br %52, ^bb12, ^bb31
^bb12:  // pred: ^bb11
  %53 = llvm.getelementptr %50[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %54 = llvm.load %53 : !llvm.ptr -> i64
  %55 = llvm.mlir.constant(290296839536641 : i64) : i64
  %56 = llvm.icmp "eq" %54, %55 : i64
  llvm.cond_br %56, ^bb13, ^bb31
^bb13:  // pred: ^bb12
  %57 = llvm.getelementptr %50[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %58 = llvm.load %57 : !llvm.ptr -> i64
  %59 = llvm.icmp "eq" %58, %21 : i64
  llvm.cond_br %59, ^bb14, ^bb31
^bb14:  // pred: ^bb13
  %60 = llvm.getelementptr %50[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %61 = llvm.load %60 : !llvm.ptr -> !llvm.ptr
  %62 = llvm.mlir.zero : !llvm.ptr
  %63 = llvm.icmp "ne" %61, %62 : !llvm.ptr
  llvm.cond_br %63, ^bb15, ^bb31
^bb15:  // pred: ^bb14
  %64 = llvm.load %61 : !llvm.ptr -> i64
  %65 = llvm.icmp "eq" %64, %29 : i64
  llvm.cond_br %65, ^bb16, ^bb31
^bb16:  // pred: ^bb15
  %66 = llvm.getelementptr %50[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %67 = llvm.load %66 : !llvm.ptr -> !llvm.ptr
  %68 = llvm.getelementptr %50[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %69 = llvm.load %68 : !llvm.ptr -> i64
  %70 = llvm.getelementptr %67[%69] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %71 = llvm.getelementptr %67[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %72 = llvm.icmp "ult" %71, %70 : !llvm.ptr
  llvm.cond_br %72 weights([2000, 1]), ^bb17, ^bb37
^bb17:  // 2 preds: ^bb16, ^bb37
  %73 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %74 = llvm.load %73 : !llvm.ptr -> i32
  %75 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %76 = llvm.load %75 : !llvm.ptr -> !llvm.ptr
  %77 = llvm.mlir.constant(70 : i32) : i32
  %78 = llvm.icmp "eq" %74, %77 : i32
  llvm.cond_br %78 weights([2000, 1]), ^bb18(%76 : !llvm.ptr), ^bb38
^bb18(%79: !llvm.ptr):  // 2 preds: ^bb17, ^bb38
  %80 = llvm.mlir.zero : !llvm.ptr
  %81 = llvm.icmp "ne" %79, %80 : !llvm.ptr
  llvm.cond_br %81, ^bb19, ^bb31
^bb19:  // pred: ^bb18
  %82 = llvm.getelementptr %79[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %83 = llvm.load %82 : !llvm.ptr -> i64
  %84 = llvm.mlir.constant(316667938734081 : i64) : i64
  %85 = llvm.icmp "eq" %83, %84 : i64
  llvm.cond_br %85, ^bb20, ^bb31
^bb20:  // pred: ^bb19
  %86 = llvm.getelementptr %79[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %87 = llvm.load %86 : !llvm.ptr -> i64
  %88 = llvm.icmp "eq" %87, %21 : i64
  llvm.cond_br %88, ^bb21, ^bb31
^bb21:  // pred: ^bb20
  %89 = llvm.getelementptr %79[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %90 = llvm.load %89 : !llvm.ptr -> !llvm.ptr
  %91 = llvm.mlir.zero : !llvm.ptr
  %92 = llvm.icmp "ne" %90, %91 : !llvm.ptr
  llvm.cond_br %92, ^bb22, ^bb31
^bb22:  // pred: ^bb21
  %93 = llvm.load %90 : !llvm.ptr -> i64
  %94 = llvm.icmp "eq" %93, %29 : i64
  llvm.cond_br %94, ^bb23, ^bb31
^bb23:  // pred: ^bb22
  %95 = llvm.getelementptr %79[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %96 = llvm.load %95 : !llvm.ptr -> !llvm.ptr
  %97 = llvm.mlir.zero : !llvm.ptr
  %98 = llvm.icmp "eq" %96, %97 : !llvm.ptr
  llvm.cond_br %98, ^bb25, ^bb24
^bb24:  // pred: ^bb23
  %99 = llvm.load %96 : !llvm.ptr -> i64
  %100 = llvm.mlir.constant(1 : i64) : i64
  %101 = llvm.icmp "eq" %99, %100 : i64
  llvm.cond_br %101 weights([2000, 1]), ^bb25, ^bb39
^bb25:  // 3 preds: ^bb23, ^bb24, ^bb39
  %102 = llvm.getelementptr %79[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %103 = llvm.load %102 : !llvm.ptr -> !llvm.ptr
  %104 = llvm.getelementptr %79[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %105 = llvm.load %104 : !llvm.ptr -> i64
  %106 = llvm.getelementptr %103[%105] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %107 = llvm.getelementptr %103[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %108 = llvm.icmp "ult" %107, %106 : !llvm.ptr
  llvm.cond_br %108 weights([2000, 1]), ^bb26, ^bb40
^bb26:  // 2 preds: ^bb25, ^bb40
  %109 = llvm.ptrtoint %106 : !llvm.ptr to i64
  %110 = llvm.ptrtoint %41 : !llvm.ptr to i64
  %111 = llvm.sub %110, %109 : i64
  %112 = llvm.mlir.constant(2 : i64) : i64
  %113 = llvm.lshr %111, %112 : i64
  %114 = llvm.icmp "ule" %29, %113 : i64
  llvm.cond_br %114, ^bb27, ^bb41
^bb27:  // pred: ^bb26
  %115 = llvm.sub %109, %110 : i64
  %116 = llvm.mlir.constant(2 : i64) : i64
  %117 = llvm.lshr %115, %116 : i64
  %118 = llvm.icmp "ule" %29, %117 : i64
  llvm.cond_br %118, ^bb28, ^bb41
^bb28:  // 2 preds: ^bb27, ^bb41
  %119 = llvm.call preserve_mostcc @__ffi_builder_shared_extent_DIGEST(%79, %3) : (!llvm.ptr, !llvm.ptr) -> i1
  %120 = llvm.call preserve_mostcc @__ffi_builder_shared_extent_DIGEST(%50, %1) : (!llvm.ptr, !llvm.ptr) -> i1
  %121 = llvm.load %3 : !llvm.ptr -> i64
  %122 = llvm.getelementptr %3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %123 = llvm.load %122 : !llvm.ptr -> i64
  %124 = llvm.load %1 : !llvm.ptr -> i64
  %125 = llvm.getelementptr %1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %126 = llvm.load %125 : !llvm.ptr -> i64
  %127 = llvm.icmp "ult" %123, %124 : i64
  %128 = llvm.icmp "ult" %126, %121 : i64
  %129 = llvm.or %127, %128 : i1
  llvm.cond_br %129, ^bb29, ^bb42
^bb29:  // 2 preds: ^bb28, ^bb42
  %130 = llvm.mlir.constant(0 : i64) : i64
  %131 = llvm.icmp "sge" %29, %130 : i64
  llvm.cond_br %131 weights([2000, 1]), ^bb30, ^bb43
^bb30:  // 2 preds: ^bb29, ^bb43
  %132 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %132, %arg3 : i64, !llvm.ptr
  %133 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %132, %133 : i64, !llvm.ptr
  %134 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %134 : i32
^bb31:  // 23 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb6, ^bb11, ^bb12, ^bb13, ^bb14, ^bb15, ^bb18, ^bb19, ^bb20, ^bb21, ^bb22, ^bb34, ^bb35, ^bb37, ^bb39, ^bb40, ^bb41, ^bb42, ^bb43
  %135 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb32(%135 : i32)
^bb32(%136: i32):  // 2 preds: ^bb0, ^bb31
  %137 = llvm.mlir.addressof @__ffi_builder_table_apart : !llvm.ptr
  %138 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %136, %137) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %138 : i32
^bb33:  // pred: ^bb2
  %139 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb3(%139 : !llvm.ptr)
^bb34:  // pred: ^bb8
  %140 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%13) : (!llvm.ptr) -> i1
  llvm.cond_br %140, ^bb9, ^bb31
^bb35:  // pred: ^bb9
  %141 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%13) : (!llvm.ptr) -> i1
  llvm.cond_br %141, ^bb10, ^bb31
^bb36:  // pred: ^bb10
  %142 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %143 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%142) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb11(%143 : !llvm.ptr)
^bb37:  // pred: ^bb16
  %144 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%50) : (!llvm.ptr) -> i1
  llvm.cond_br %144, ^bb17, ^bb31
^bb38:  // pred: ^bb17
  %145 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %146 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%145) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb18(%146 : !llvm.ptr)
^bb39:  // pred: ^bb24
  %147 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%79) : (!llvm.ptr) -> i1
  llvm.cond_br %147, ^bb25, ^bb31
^bb40:  // pred: ^bb25
  %148 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%79) : (!llvm.ptr) -> i1
  llvm.cond_br %148, ^bb26, ^bb31
^bb41:  // 2 preds: ^bb26, ^bb27
  %149 = llvm.call preserve_mostcc @__ffi_builder_shared_apart_DIGEST(%79, %13) : (!llvm.ptr, !llvm.ptr) -> i1
  llvm.cond_br %149, ^bb28, ^bb31
^bb42:  // pred: ^bb28
  %150 = llvm.call preserve_mostcc @__ffi_builder_shared_apart_DIGEST(%79, %50) : (!llvm.ptr, !llvm.ptr) -> i1
  llvm.cond_br %150, ^bb29, ^bb31
^bb43:  // pred: ^bb29
  %151 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%79) : (!llvm.ptr) -> i1
  llvm.cond_br %151, ^bb30, ^bb31
}
