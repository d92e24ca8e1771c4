llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_stream("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_stream(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-a35d04ee", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.alloca %0 x i64 : (i32) -> !llvm.ptr
  %2 = llvm.mlir.constant(3 : i32) : i32
  %3 = llvm.icmp "eq" %arg2, %2 : i32
  llvm.cond_br %3, ^bb1, ^bb16(%arg2 : i32)
^bb1:  // pred: ^bb0
  %4 = llvm.mlir.zero : !llvm.ptr
  %5 = llvm.icmp "ne" %arg1, %4 : !llvm.ptr
  llvm.cond_br %5, ^bb2, ^bb15
^bb2:  // pred: ^bb1
  %6 = llvm.load %arg1 : !llvm.ptr -> i32
  %7 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %8 = llvm.load %7 : !llvm.ptr -> i64
  %9 = llvm.mlir.constant(4 : i32) : i32
  %10 = llvm.icmp "eq" %6, %9 : i32
  llvm.cond_br %10 weights([2000, 1]), ^bb3(%8 : i64), ^bb17
^bb3(%11: i64):  // 2 preds: ^bb2, ^bb17
  %12 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %13 = llvm.load %12 : !llvm.ptr -> i32
  %14 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %15 = llvm.load %14 : !llvm.ptr -> i64
  %16 = llvm.mlir.constant(4 : i32) : i32
  %17 = llvm.icmp "eq" %13, %16 : i32
  llvm.cond_br %17 weights([2000, 1]), ^bb4(%15 : i64), ^bb18
^bb4(%18: i64):  // 3 preds: ^bb3, ^bb19, ^bb22
  %19 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %20 = llvm.load %19 : !llvm.ptr -> i32
  %21 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %22 = llvm.load %21 : !llvm.ptr -> !llvm.ptr
  %23 = llvm.mlir.constant(70 : i32) : i32
  %24 = llvm.icmp "eq" %20, %23 : i32
  llvm.cond_br %24 weights([2000, 1]), ^bb5(%22 : !llvm.ptr), ^bb23
^bb5(%25: !llvm.ptr):  // 2 preds: ^bb4, ^bb23
  %26 = llvm.mlir.zero : !llvm.ptr
  %27 = llvm.icmp "ne" %25, %26 : !llvm.ptr
  llvm.cond_br %27, ^bb6, ^bb15
^bb6:  // pred: ^bb5
  %28 = llvm.getelementptr %25[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %29 = llvm.load %28 : !llvm.ptr -> i64
  %30 = llvm.mlir.constant(316667938734081 : i64) : i64
  %31 = llvm.icmp "eq" %29, %30 : i64
  llvm.cond_br %31, ^bb7, ^bb15
^bb7:  // pred: ^bb6
  %32 = llvm.getelementptr %25[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %33 = llvm.load %32 : !llvm.ptr -> i64
  %34 = llvm.trunc %33 : i64 to i32
  %35 = llvm.mlir.constant(2 : i32) : i32
  %36 = llvm.icmp "eq" %34, %35 : i32
  llvm.cond_br %36, ^bb8, ^bb15
^bb8:  // pred: ^bb7
  %37 = llvm.getelementptr %25[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %38 = llvm.load %37 : !llvm.ptr -> !llvm.ptr
  %39 = llvm.mlir.zero : !llvm.ptr
  %40 = llvm.icmp "ne" %38, %39 : !llvm.ptr
  llvm.cond_br %40, ^bb9, ^bb15
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
  llvm.cond_br %48 weights([2000, 1]), ^bb11, ^bb24
^bb11:  // 3 preds: ^bb9, ^bb10, ^bb24
  %49 = llvm.getelementptr %25[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %50 = llvm.load %49 : !llvm.ptr -> !llvm.ptr
  %51 = llvm.getelementptr %25[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %52 = llvm.load %51 : !llvm.ptr -> i64
  %53 = llvm.getelementptr %50[%52] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %54 = llvm.icmp "uge" %53, %50 : !llvm.ptr
  llvm.cond_br %54, ^bb12, ^bb15
^bb12:  // pred: ^bb11
  %55 = llvm.mlir.zero : !llvm.ptr
  %56 = llvm.icmp "ne" %50, %55 : !llvm.ptr
  llvm.cond_br %56 weights([2000, 1]), ^bb13, ^bb25
^bb13:  // 2 preds: ^bb12, ^bb25
  %57 = llvm.mlir.constant(-9223372036854775808 : i64) : i64
  %58 = llvm.icmp "ult" %41, %57 : i64
  llvm.cond_br %58 weights([2000, 1]), ^bb14, ^bb26
^bb14:  // 2 preds: ^bb13, ^bb26
  %59 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %59, %arg3 : i64, !llvm.ptr
  %60 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %59, %60 : i64, !llvm.ptr
  %61 = llvm.mlir.constant(-1 : i64) : i64
  %62 = llvm.trunc %33 : i64 to i32
  %63 = llvm.mlir.constant(32 : i64) : i64
  %64 = llvm.lshr %33, %63 : i64
  %65 = llvm.trunc %64 : i64 to i32
  %66 = llvm.call @TVMFFIEnvGetStream(%62, %65) : (i32, i32) -> !llvm.ptr
  %67 = llvm.inttoptr %11 : i64 to !llvm.ptr
  %68 = llvm.inttoptr %18 : i64 to !llvm.ptr<1>
  llvm.call @callee(%66, %67, %68, %53) : (!llvm.ptr, !llvm.ptr, !llvm.ptr<1>, !llvm.ptr) -> ()
  %69 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %69 : i32
^bb15:  // 13 preds: ^bb1, ^bb5, ^bb6, ^bb7, ^bb8, ^bb11, ^bb17, ^bb19, ^bb20, ^bb21, ^bb24, ^bb25, ^bb26
  %70 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb16(%70 : i32)
^bb16(%71: i32):  // 2 preds: ^bb0, ^bb15
  %72 = llvm.mlir.addressof @__ffi_builder_table_stream : !llvm.ptr
  %73 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %71, %72) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %73 : i32
^bb17:  // pred: ^bb2
  %74 = llvm.mlir.constant(0 : i32) : i32
  %75 = llvm.icmp "eq" %6, %74 : i32
  %76 = llvm.mlir.constant(0 : i64) : i64
  %77 = llvm.select %75, %76, %8 : i1, i64
  %78 = llvm.mlir.constant(2 : i32) : i32
  %79 = llvm.icmp "ult" %6, %78 : i32
  llvm.cond_br %79, ^bb3(%77 : i64), ^bb15
^bb18:  // pred: ^bb3
  %80 = llvm.mlir.constant(2 : i32) : i32
  %81 = llvm.icmp "ult" %13, %80 : i32
  llvm.cond_br %81, ^bb19, ^bb20
^bb19:  // pred: ^bb18
  %82 = llvm.mlir.constant(0 : i32) : i32
  %83 = llvm.icmp "eq" %13, %82 : i32
  %84 = llvm.mlir.constant(0 : i64) : i64
  %85 = llvm.select %83, %84, %15 : i1, i64
  %86 = llvm.mlir.constant(0 : i64) : i64
  %87 = llvm.icmp "sge" %15, %86 : i64
  %88 = llvm.or %87, %83 : i1
  llvm.cond_br %88, ^bb4(%85 : i64), ^bb15
^bb20:  // pred: ^bb18
  %89 = llvm.mlir.constant(78 : i32) : i32
  %90 = llvm.icmp "eq" %13, %89 : i32
  %91 = llvm.mlir.constant(0 : i64) : i64
  %92 = llvm.icmp "ne" %15, %91 : i64
  %93 = llvm.and %90, %92 : i1
  llvm.cond_br %93, ^bb21, ^bb15
^bb21:  // pred: ^bb20
  %94 = llvm.inttoptr %15 : i64 to !llvm.ptr
  %95 = llvm.call preserve_mostcc @__ffi_builder_shared_big_uint64_DIGEST(%94, %1) : (!llvm.ptr, !llvm.ptr) -> i1
  llvm.cond_br %95, ^bb22, ^bb15
^bb22:  // pred: ^bb21
  %96 = llvm.load %1 : !llvm.ptr -> i64
  llvm.br ^bb4(%96 : i64)
^bb23:  // pred: ^bb4
  %97 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %98 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%97) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb5(%98 : !llvm.ptr)
^bb24:  // pred: ^bb10
  %99 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%25) : (!llvm.ptr) -> i1
  llvm.cond_br %99, ^bb11, ^bb15
^bb25:  // pred: ^bb12
  %100 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%25) : (!llvm.ptr) -> i1
  llvm.cond_br %100, ^bb13, ^bb15
^bb26:  // pred: ^bb13
  %101 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%25) : (!llvm.ptr) -> i1
  llvm.cond_br %101, ^bb14, ^bb15
}
