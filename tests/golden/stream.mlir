llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_stream("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_stream(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-4f115be2", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.alloca %0 x i64 : (i32) -> !llvm.ptr
  %2 = llvm.mlir.constant(3 : i32) : i32
  %3 = llvm.icmp "eq" %arg2, %2 : i32
  llvm.cond_br %3, ^bb1, ^bb14(%arg2 : i32)
^bb1:  // pred: ^bb0
  %4 = llvm.mlir.zero : !llvm.ptr
  %5 = llvm.icmp "ne" %arg1, %4 : !llvm.ptr
  llvm.cond_br %5, ^bb2, ^bb13
^bb2:  // pred: ^bb1
  %6 = llvm.load %arg1 : !llvm.ptr -> i32
  %7 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %8 = llvm.load %7 : !llvm.ptr -> i64
  %9 = llvm.mlir.constant(4 : i32) : i32
  %10 = llvm.icmp "eq" %6, %9 : i32
  llvm.cond_br %10 weights([2000, 1]), ^bb3(%8 : i64), ^bb15
^bb3(%11: i64):  // 2 preds: ^bb2, ^bb15
  %12 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %13 = llvm.load %12 : !llvm.ptr -> i32
  %14 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %15 = llvm.load %14 : !llvm.ptr -> i64
  %16 = llvm.mlir.constant(4 : i32) : i32
  %17 = llvm.icmp "eq" %13, %16 : i32
  llvm.cond_br %17 weights([2000, 1]), ^bb4(%15 : i64), ^bb16
^bb4(%18: i64):  // 3 preds: ^bb3, ^bb17, ^bb20
  %19 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %20 = llvm.load %19 : !llvm.ptr -> i32
  %21 = llvm.getelementptr %arg1[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %22 = llvm.load %21 : !llvm.ptr -> !llvm.ptr
  %23 = llvm.mlir.constant(70 : i32) : i32
  %24 = llvm.icmp "eq" %20, %23 : i32
  llvm.cond_br %24 weights([2000, 1]), ^bb5(%22 : !llvm.ptr), ^bb21
^bb5(%25: !llvm.ptr):  // 2 preds: ^bb4, ^bb21
  %26 = llvm.mlir.zero : !llvm.ptr
  %27 = llvm.icmp "ne" %25, %26 : !llvm.ptr
  llvm.cond_br %27, ^bb6, ^bb13
^bb6:  // pred: ^bb5
  %28 = llvm.getelementptr %25[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %29 = llvm.load %28 : !llvm.ptr -> i32
  %30 = llvm.zext %29 : i32 to i64
  %31 = llvm.mlir.constant(2 : i64) : i64
  %32 = llvm.xor %30, %31 : i64
  %33 = llvm.getelementptr %25[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %34 = llvm.load %33 : !llvm.ptr -> i64
  %35 = llvm.mlir.constant(316667938734081 : i64) : i64
  %36 = llvm.xor %34, %35 : i64
  %37 = llvm.or %36, %32 : i64
  %38 = llvm.mlir.constant(0 : i64) : i64
  %39 = llvm.icmp "eq" %37, %38 : i64
  llvm.cond_br %39, ^bb7, ^bb13
^bb7:  // pred: ^bb6
  %40 = llvm.getelementptr %25[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %41 = llvm.load %40 : !llvm.ptr -> i64
  %42 = llvm.getelementptr %25[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %43 = llvm.load %42 : !llvm.ptr -> !llvm.ptr
  %44 = llvm.mlir.zero : !llvm.ptr
  %45 = llvm.icmp "ne" %43, %44 : !llvm.ptr
  llvm.cond_br %45, ^bb8, ^bb13
^bb8:  // pred: ^bb7
  %46 = llvm.load %43 : !llvm.ptr -> i64
  %47 = llvm.getelementptr %25[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %48 = llvm.load %47 : !llvm.ptr -> !llvm.ptr
  %49 = llvm.mlir.zero : !llvm.ptr
  %50 = llvm.icmp "eq" %48, %49 : !llvm.ptr
  llvm.cond_br %50, ^bb10, ^bb9
^bb9:  // pred: ^bb8
  %51 = llvm.load %48 : !llvm.ptr -> i64
  %52 = llvm.mlir.constant(1 : i64) : i64
  %53 = llvm.icmp "eq" %51, %52 : i64
  llvm.cond_br %53 weights([2000, 1]), ^bb10, ^bb22
^bb10:  // 3 preds: ^bb8, ^bb9, ^bb22
  %54 = llvm.getelementptr %25[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %55 = llvm.load %54 : !llvm.ptr -> !llvm.ptr
  %56 = llvm.getelementptr %25[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %57 = llvm.load %56 : !llvm.ptr -> i64
  %58 = llvm.getelementptr %55[%57] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %59 = llvm.getelementptr %55[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %60 = llvm.icmp "ult" %59, %58 : !llvm.ptr
  llvm.cond_br %60 weights([2000, 1]), ^bb11, ^bb23
^bb11:  // 2 preds: ^bb10, ^bb23
  %61 = llvm.mlir.constant(0 : i64) : i64
  %62 = llvm.icmp "sge" %46, %61 : i64
  llvm.cond_br %62 weights([2000, 1]), ^bb12, ^bb24
^bb12:  // 2 preds: ^bb11, ^bb24
  %63 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %63, %arg3 : i64, !llvm.ptr
  %64 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %63, %64 : i64, !llvm.ptr
  %65 = llvm.mlir.constant(-1 : i64) : i64
  %66 = llvm.trunc %41 : i64 to i32
  %67 = llvm.mlir.constant(32 : i64) : i64
  %68 = llvm.lshr %41, %67 : i64
  %69 = llvm.trunc %68 : i64 to i32
  %70 = llvm.call @TVMFFIEnvGetStream(%66, %69) : (i32, i32) -> !llvm.ptr
  %71 = llvm.inttoptr %11 : i64 to !llvm.ptr
  %72 = llvm.inttoptr %18 : i64 to !llvm.ptr<1>
  llvm.call @callee(%70, %71, %72, %58) : (!llvm.ptr, !llvm.ptr, !llvm.ptr<1>, !llvm.ptr) -> ()
  %73 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %73 : i32
^bb13:  // 11 preds: ^bb1, ^bb5, ^bb6, ^bb7, ^bb15, ^bb17, ^bb18, ^bb19, ^bb22, ^bb23, ^bb24
  %74 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^bb14(%74 : i32)
^bb14(%75: i32):  // 2 preds: ^bb0, ^bb13
  %76 = llvm.mlir.addressof @__ffi_builder_table_stream : !llvm.ptr
  %77 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %75, %76) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %77 : i32
^bb15:  // pred: ^bb2
  %78 = llvm.mlir.constant(0 : i32) : i32
  %79 = llvm.icmp "eq" %6, %78 : i32
  %80 = llvm.mlir.constant(0 : i64) : i64
  %81 = llvm.select %79, %80, %8 : i1, i64
  %82 = llvm.mlir.constant(2 : i32) : i32
  %83 = llvm.icmp "ult" %6, %82 : i32
  llvm.cond_br %83, ^bb3(%81 : i64), ^bb13
^bb16:  // pred: ^bb3
  %84 = llvm.mlir.constant(2 : i32) : i32
  %85 = llvm.icmp "ult" %13, %84 : i32
  llvm.cond_br %85, ^bb17, ^bb18
^bb17:  // pred: ^bb16
  %86 = llvm.mlir.constant(0 : i32) : i32
  %87 = llvm.icmp "eq" %13, %86 : i32
  %88 = llvm.mlir.constant(0 : i64) : i64
  %89 = llvm.select %87, %88, %15 : i1, i64
  %90 = llvm.mlir.constant(0 : i64) : i64
  %91 = llvm.icmp "sge" %15, %90 : i64
  %92 = llvm.or %91, %87 : i1
  llvm.cond_br %92, ^bb4(%89 : i64), ^bb13
^bb18:  // pred: ^bb16
  %93 = llvm.mlir.constant(78 : i32) : i32
  %94 = llvm.icmp "eq" %13, %93 : i32
  %95 = llvm.mlir.constant(0 : i64) : i64
  %96 = llvm.icmp "ne" %15, %95 : i64
  %97 = llvm.and %94, %96 : i1
  llvm.cond_br %97, ^bb19, ^bb13
^bb19:  // pred: ^bb18
  %98 = llvm.inttoptr %15 : i64 to !llvm.ptr
  %99 = llvm.call preserve_mostcc @__ffi_builder_shared_big_uint64_DIGEST(%98, %1) : (!llvm.ptr, !llvm.ptr) -> i1
  llvm.cond_br %99, ^bb20, ^bb13
^bb20:  // pred: ^bb19
  %100 = llvm.load %1 : !llvm.ptr -> i64
  llvm.br ^bb4(%100 : i64)
^bb21:  // pred: ^bb4
  %101 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %102 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%101) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb5(%102 : !llvm.ptr)
^bb22:  // pred: ^bb9
  %103 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%25) : (!llvm.ptr) -> i1
  llvm.cond_br %103, ^bb10, ^bb13
^bb23:  // pred: ^bb10
  %104 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%25) : (!llvm.ptr) -> i1
  llvm.cond_br %104, ^bb11, ^bb13
^bb24:  // pred: ^bb11
  %105 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%25) : (!llvm.ptr) -> i1
  llvm.cond_br %105, ^bb12, ^bb13
}
