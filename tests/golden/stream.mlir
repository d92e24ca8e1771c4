llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_stream("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_stream(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-4269263e", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.alloca %0 x i64 : (i32) -> !llvm.ptr
  %2 = llvm.mlir.constant(3 : i32) : i32
  %3 = llvm.icmp "eq" %arg2, %2 : i32
  llvm.cond_br %3, ^bb1, ^bb15(%arg2 : i32)
^bb1:  // pred: ^bb0
  %4 = llvm.mlir.zero : !llvm.ptr
  %5 = llvm.icmp "ne" %arg1, %4 : !llvm.ptr
  llvm.cond_br %5, ^bb2, ^bb14
^bb2:  // pred: ^bb1
  %6 = llvm.load %arg1 : !llvm.ptr -> i32
  %7 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %8 = llvm.load %7 : !llvm.ptr -> i64
  %9 = llvm.mlir.constant(4 : i32) : i32
  %10 = llvm.icmp "eq" %6, %9 : i32
  llvm.cond_br %10 weights([2000, 1]), ^bb3(%8 : i64), ^bb16
^bb3(%11: i64):  // 2 preds: ^bb2, ^bb16
  %12 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %13 = llvm.load %12 : !llvm.ptr -> i32
  %14 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %15 = llvm.load %14 : !llvm.ptr -> i64
  %16 = llvm.mlir.constant(4 : i32) : i32
  %17 = llvm.icmp "eq" %13, %16 : i32
  llvm.cond_br %17 weights([2000, 1]), ^bb4(%15 : i64), ^bb17
^bb4(%18: i64):  // 3 preds: ^bb3, ^bb18, ^bb21
  %19 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %20 = llvm.load %19 : !llvm.ptr -> i32
  %21 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %22 = llvm.load %21 : !llvm.ptr -> !llvm.ptr
  %23 = llvm.mlir.constant(70 : i32) : i32
  %24 = llvm.icmp "eq" %20, %23 : i32
  llvm.cond_br %24 weights([2000, 1]), ^bb5(%22 : !llvm.ptr), ^bb22
^bb5(%25: !llvm.ptr):  // 2 preds: ^bb4, ^bb22
  %26 = llvm.mlir.zero : !llvm.ptr
  %27 = llvm.icmp "ne" %25, %26 : !llvm.ptr
  llvm.cond_br %27, ^bb6, ^bb14
^bb6:  // pred: ^bb5
  %28 = llvm.getelementptr %25[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %29 = llvm.load %28 : !llvm.ptr -> i64
  %30 = llvm.mlir.constant(316667938734081 : i64) : i64
  %31 = llvm.icmp "eq" %29, %30 : i64
  llvm.cond_br %31, ^bb7, ^bb14
^bb7:  // pred: ^bb6
  %32 = llvm.getelementptr %25[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %33 = llvm.load %32 : !llvm.ptr -> i64
  %34 = llvm.trunc %33 : i64 to i32
  %35 = llvm.mlir.constant(2 : i32) : i32
  %36 = llvm.icmp "eq" %34, %35 : i32
  llvm.cond_br %36, ^bb8, ^bb14
^bb8:  // pred: ^bb7
  %37 = llvm.getelementptr %25[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %38 = llvm.load %37 : !llvm.ptr -> !llvm.ptr
  %39 = llvm.mlir.zero : !llvm.ptr
  %40 = llvm.icmp "ne" %38, %39 : !llvm.ptr
  llvm.cond_br %40, ^bb9, ^bb14
^bb9:  // pred: ^bb8
  %41 = llvm.load %38 : !llvm.ptr -> i64
  %42 = llvm.getelementptr %25[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %43 = llvm.load %42 : !llvm.ptr -> !llvm.ptr
  %44 = llvm.mlir.zero : !llvm.ptr
  %45 = llvm.icmp "eq" %43, %44 : !llvm.ptr
  llvm.cond_br %45, ^bb11, ^bb10
^bb10:  // pred: ^bb9
  %46 = llvm.load %43 : !llvm.ptr -> i64
  %47 = llvm.mlir.constant(1 : i64) : i64
  %48 = llvm.icmp "eq" %46, %47 : i64
  llvm.cond_br %48 weights([2000, 1]), ^bb11, ^bb23
^bb11:  // 3 preds: ^bb9, ^bb10, ^bb23
  %49 = llvm.getelementptr %25[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %50 = llvm.load %49 : !llvm.ptr -> !llvm.ptr
  %51 = llvm.getelementptr %25[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %52 = llvm.load %51 : !llvm.ptr -> i64
  %53 = llvm.getelementptr %50[%52] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %54 = llvm.getelementptr %50[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %55 = llvm.icmp "ult" %54, %53 : !llvm.ptr
  llvm.cond_br %55 weights([2000, 1]), ^bb12, ^bb24
^bb12:  // 2 preds: ^bb11, ^bb24
  %56 = llvm.mlir.constant(0 : i64) : i64
  %57 = llvm.icmp "sge" %41, %56 : i64
  llvm.cond_br %57 weights([2000, 1]), ^bb13, ^bb25
^bb13:  // 2 preds: ^bb12, ^bb25
  %58 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %58, %arg3 : i64, !llvm.ptr
  %59 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %58, %59 : i64, !llvm.ptr
  %60 = llvm.mlir.constant(-1 : i64) : i64
  %61 = llvm.trunc %33 : i64 to i32
  %62 = llvm.mlir.constant(32 : i64) : i64
  %63 = llvm.lshr %33, %62 : i64
  %64 = llvm.trunc %63 : i64 to i32
  %65 = llvm.call @TVMFFIEnvGetStream(%61, %64) : (i32, i32) -> !llvm.ptr
  %66 = llvm.inttoptr %11 : i64 to !llvm.ptr
  %67 = llvm.inttoptr %18 : i64 to !llvm.ptr<1>
  llvm.call @callee(%65, %66, %67, %53) : (!llvm.ptr, !llvm.ptr, !llvm.ptr<1>, !llvm.ptr) -> ()
  %68 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %68 : i32
^bb14:  // 12 preds: ^bb1, ^bb5, ^bb6, ^bb7, ^bb8, ^bb16, ^bb18, ^bb19, ^bb20, ^bb23, ^bb24, ^bb25
  %69 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb15(%69 : i32)
^bb15(%70: i32):  // 2 preds: ^bb0, ^bb14
  %71 = llvm.mlir.addressof @__ffi_builder_table_stream : !llvm.ptr
  %72 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %70, %71) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %72 : i32
^bb16:  // pred: ^bb2
  %73 = llvm.mlir.constant(0 : i32) : i32
  %74 = llvm.icmp "eq" %6, %73 : i32
  %75 = llvm.mlir.constant(0 : i64) : i64
  %76 = llvm.select %74, %75, %8 : i1, i64
  %77 = llvm.mlir.constant(2 : i32) : i32
  %78 = llvm.icmp "ult" %6, %77 : i32
  llvm.cond_br %78, ^bb3(%76 : i64), ^bb14
^bb17:  // pred: ^bb3
  %79 = llvm.mlir.constant(2 : i32) : i32
  %80 = llvm.icmp "ult" %13, %79 : i32
  llvm.cond_br %80, ^bb18, ^bb19
^bb18:  // pred: ^bb17
  %81 = llvm.mlir.constant(0 : i32) : i32
  %82 = llvm.icmp "eq" %13, %81 : i32
  %83 = llvm.mlir.constant(0 : i64) : i64
  %84 = llvm.select %82, %83, %15 : i1, i64
  %85 = llvm.mlir.constant(0 : i64) : i64
  %86 = llvm.icmp "sge" %15, %85 : i64
  %87 = llvm.or %86, %82 : i1
  llvm.cond_br %87, ^bb4(%84 : i64), ^bb14
^bb19:  // pred: ^bb17
  %88 = llvm.mlir.constant(78 : i32) : i32
  %89 = llvm.icmp "eq" %13, %88 : i32
  %90 = llvm.mlir.constant(0 : i64) : i64
  %91 = llvm.icmp "ne" %15, %90 : i64
  %92 = llvm.and %89, %91 : i1
  llvm.cond_br %92, ^bb20, ^bb14
^bb20:  // pred: ^bb19
  %93 = llvm.inttoptr %15 : i64 to !llvm.ptr
  %94 = llvm.call preserve_mostcc @__ffi_builder_shared_big_uint64_DIGEST(%93, %1) : (!llvm.ptr, !llvm.ptr) -> i1
  llvm.cond_br %94, ^bb21, ^bb14
^bb21:  // pred: ^bb20
  %95 = llvm.load %1 : !llvm.ptr -> i64
  llvm.br ^bb4(%95 : i64)
^bb22:  // pred: ^bb4
  %96 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %97 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%96) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb5(%97 : !llvm.ptr)
^bb23:  // pred: ^bb10
  %98 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%25) : (!llvm.ptr) -> i1
  llvm.cond_br %98, ^bb11, ^bb14
^bb24:  // pred: ^bb11
  %99 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%25) : (!llvm.ptr) -> i1
  llvm.cond_br %99, ^bb12, ^bb14
^bb25:  // pred: ^bb12
  %100 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%25) : (!llvm.ptr) -> i1
  llvm.cond_br %100, ^bb13, ^bb14
}
