llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_stream("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_stream(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-a3a55aad", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.alloca %0 x i64 : (i32) -> !llvm.ptr
  %2 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %2, %arg3 : i64, !llvm.ptr
  %3 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %2, %3 : i64, !llvm.ptr
  %4 = llvm.mlir.constant(3 : i32) : i32
  %5 = llvm.icmp "eq" %arg2, %4 : i32
  llvm.cond_br %5, ^bb1, ^bb15
^bb1:  // pred: ^bb0
  %6 = llvm.mlir.zero : !llvm.ptr
  %7 = llvm.icmp "ne" %arg1, %6 : !llvm.ptr
  llvm.cond_br %7, ^bb2, ^bb15
^bb2:  // pred: ^bb1
  %8 = llvm.load %arg1 : !llvm.ptr -> i32
  %9 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %10 = llvm.load %9 : !llvm.ptr -> i64
  %11 = llvm.mlir.constant(4 : i32) : i32
  %12 = llvm.icmp "eq" %8, %11 : i32
  llvm.cond_br %12 weights([2000, 1]), ^bb3(%10 : i64), ^bb16
^bb3(%13: i64):  // 2 preds: ^bb2, ^bb16
  %14 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %15 = llvm.load %14 : !llvm.ptr -> i32
  %16 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %17 = llvm.load %16 : !llvm.ptr -> i64
  %18 = llvm.mlir.constant(4 : i32) : i32
  %19 = llvm.icmp "eq" %15, %18 : i32
  llvm.cond_br %19 weights([2000, 1]), ^bb4(%17 : i64), ^bb17
^bb4(%20: i64):  // 3 preds: ^bb3, ^bb18, ^bb21
  %21 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %22 = llvm.load %21 : !llvm.ptr -> i32
  %23 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %24 = llvm.load %23 : !llvm.ptr -> !llvm.ptr
  %25 = llvm.mlir.constant(70 : i32) : i32
  %26 = llvm.icmp "eq" %22, %25 : i32
  llvm.cond_br %26 weights([2000, 1]), ^bb5(%24 : !llvm.ptr), ^bb22
^bb5(%27: !llvm.ptr):  // 2 preds: ^bb4, ^bb22
  %28 = llvm.mlir.zero : !llvm.ptr
  %29 = llvm.icmp "ne" %27, %28 : !llvm.ptr
  llvm.cond_br %29, ^bb6, ^bb15
^bb6:  // pred: ^bb5
  %30 = llvm.getelementptr %27[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %31 = llvm.load %30 : !llvm.ptr -> i64
  %32 = llvm.mlir.constant(316667938734081 : i64) : i64
  %33 = llvm.icmp "eq" %31, %32 : i64
  llvm.cond_br %33, ^bb7, ^bb15
^bb7:  // pred: ^bb6
  %34 = llvm.getelementptr %27[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %35 = llvm.load %34 : !llvm.ptr -> i64
  %36 = llvm.trunc %35 : i64 to i32
  %37 = llvm.mlir.constant(2 : i32) : i32
  %38 = llvm.icmp "eq" %36, %37 : i32
  llvm.cond_br %38, ^bb8, ^bb15
^bb8:  // pred: ^bb7
  %39 = llvm.getelementptr %27[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %40 = llvm.load %39 : !llvm.ptr -> !llvm.ptr
  %41 = llvm.mlir.zero : !llvm.ptr
  %42 = llvm.icmp "ne" %40, %41 : !llvm.ptr
  llvm.cond_br %42, ^bb9, ^bb15
^bb9:  // pred: ^bb8
  %43 = llvm.load %40 : !llvm.ptr -> i64
  %44 = llvm.getelementptr %27[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %45 = llvm.load %44 : !llvm.ptr -> !llvm.ptr
  %46 = llvm.mlir.zero : !llvm.ptr
  %47 = llvm.icmp "eq" %45, %46 : !llvm.ptr
  llvm.cond_br %47, ^bb11, ^bb10
^bb10:  // pred: ^bb9
  %48 = llvm.load %45 : !llvm.ptr -> i64
  %49 = llvm.mlir.constant(1 : i64) : i64
  %50 = llvm.icmp "eq" %48, %49 : i64
  llvm.cond_br %50 weights([2000, 1]), ^bb11, ^bb23
^bb11:  // 3 preds: ^bb9, ^bb10, ^bb23
  %51 = llvm.getelementptr %27[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %52 = llvm.load %51 : !llvm.ptr -> !llvm.ptr
  %53 = llvm.getelementptr %27[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %54 = llvm.load %53 : !llvm.ptr -> i64
  %55 = llvm.getelementptr %52[%54] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %56 = llvm.icmp "uge" %55, %52 : !llvm.ptr
  llvm.cond_br %56, ^bb12, ^bb15
^bb12:  // pred: ^bb11
  %57 = llvm.mlir.zero : !llvm.ptr
  %58 = llvm.icmp "ne" %52, %57 : !llvm.ptr
  llvm.cond_br %58 weights([2000, 1]), ^bb13, ^bb24
^bb13:  // 2 preds: ^bb12, ^bb24
  %59 = llvm.mlir.constant(-9223372036854775808 : i64) : i64
  %60 = llvm.icmp "ult" %43, %59 : i64
  llvm.cond_br %60 weights([2000, 1]), ^bb14, ^bb25
^bb14:  // 2 preds: ^bb13, ^bb25
  %61 = llvm.mlir.constant(-1 : i64) : i64
  %62 = llvm.trunc %35 : i64 to i32
  %63 = llvm.mlir.constant(32 : i64) : i64
  %64 = llvm.lshr %35, %63 : i64
  %65 = llvm.trunc %64 : i64 to i32
  %66 = llvm.call @TVMFFIEnvGetStream(%62, %65) : (i32, i32) -> !llvm.ptr
  %67 = llvm.inttoptr %13 : i64 to !llvm.ptr
  %68 = llvm.inttoptr %20 : i64 to !llvm.ptr<1>
  llvm.call @callee(%66, %67, %68, %55) : (!llvm.ptr, !llvm.ptr, !llvm.ptr<1>, !llvm.ptr) -> ()
  %69 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %69 : i32
^bb15:  // 14 preds: ^bb0, ^bb1, ^bb5, ^bb6, ^bb7, ^bb8, ^bb11, ^bb16, ^bb18, ^bb19, ^bb20, ^bb23, ^bb24, ^bb25
  %70 = llvm.mlir.addressof @__ffi_builder_table_stream : !llvm.ptr
  %71 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %arg2, %70) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %71 : i32
^bb16:  // pred: ^bb2
  %72 = llvm.mlir.constant(0 : i32) : i32
  %73 = llvm.icmp "eq" %8, %72 : i32
  %74 = llvm.mlir.constant(0 : i64) : i64
  %75 = llvm.select %73, %74, %10 : i1, i64
  %76 = llvm.mlir.constant(2 : i32) : i32
  %77 = llvm.icmp "ult" %8, %76 : i32
  llvm.cond_br %77, ^bb3(%75 : i64), ^bb15
^bb17:  // pred: ^bb3
  %78 = llvm.mlir.constant(2 : i32) : i32
  %79 = llvm.icmp "ult" %15, %78 : i32
  llvm.cond_br %79, ^bb18, ^bb19
^bb18:  // pred: ^bb17
  %80 = llvm.mlir.constant(0 : i32) : i32
  %81 = llvm.icmp "eq" %15, %80 : i32
  %82 = llvm.mlir.constant(0 : i64) : i64
  %83 = llvm.select %81, %82, %17 : i1, i64
  %84 = llvm.mlir.constant(0 : i64) : i64
  %85 = llvm.icmp "sge" %17, %84 : i64
  %86 = llvm.or %85, %81 : i1
  llvm.cond_br %86, ^bb4(%83 : i64), ^bb15
^bb19:  // pred: ^bb17
  %87 = llvm.mlir.constant(78 : i32) : i32
  %88 = llvm.icmp "eq" %15, %87 : i32
  %89 = llvm.mlir.constant(0 : i64) : i64
  %90 = llvm.icmp "ne" %17, %89 : i64
  %91 = llvm.and %88, %90 : i1
  llvm.cond_br %91, ^bb20, ^bb15
^bb20:  // pred: ^bb19
  %92 = llvm.inttoptr %17 : i64 to !llvm.ptr
  %93 = llvm.call preserve_mostcc @__ffi_builder_shared_big_uint64_DIGEST(%92, %1) : (!llvm.ptr, !llvm.ptr) -> i1
  llvm.cond_br %93, ^bb21, ^bb15
^bb21:  // pred: ^bb20
  %94 = llvm.load %1 : !llvm.ptr -> i64
  llvm.br ^bb4(%94 : i64)
^bb22:  // pred: ^bb4
  %95 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %96 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%95) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb5(%96 : !llvm.ptr)
^bb23:  // pred: ^bb10
  %97 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%27) : (!llvm.ptr) -> i1
  llvm.cond_br %97, ^bb11, ^bb15
^bb24:  // pred: ^bb12
  %98 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%27) : (!llvm.ptr) -> i1
  llvm.cond_br %98, ^bb13, ^bb15
^bb25:  // pred: ^bb13
  %99 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%27) : (!llvm.ptr) -> i1
  llvm.cond_br %99, ^bb14, ^bb15
}
