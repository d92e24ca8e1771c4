llvm.mlir.global internal unnamed_addr constant @__ffi_builder_table_stream("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_stream(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-3d07ef2c", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.alloca %0 x i64 : (i32) -> !llvm.ptr
  %2 = llvm.mlir.constant(3 : i32) : i32
  %3 = llvm.icmp "eq" %arg2, %2 : i32
  llvm.cond_br %3, ^bb1, ^bb16
^bb1:  // pred: ^bb0
  %4 = llvm.mlir.zero : !llvm.ptr
  %5 = llvm.icmp "ne" %arg1, %4 : !llvm.ptr
  llvm.cond_br %5, ^bb2, ^bb16
^bb2:  // pred: ^bb1
  %6 = llvm.load %arg1 : !llvm.ptr -> i32
  %7 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %8 = llvm.load %7 : !llvm.ptr -> i64
  %9 = llvm.mlir.constant(4 : i32) : i32
  %10 = llvm.icmp "eq" %6, %9 : i32
  %11 = llvm.mlir.constant(0 : i32) : i32
  %12 = llvm.icmp "eq" %6, %11 : i32
  %13 = llvm.mlir.constant(1 : i32) : i32
  %14 = llvm.icmp "eq" %6, %13 : i32
  %15 = llvm.or %10, %12 : i1
  %16 = llvm.or %15, %14 : i1
  llvm.cond_br %16, ^bb3, ^bb16
^bb3:  // pred: ^bb2
  %17 = llvm.mlir.constant(0 : i32) : i32
  %18 = llvm.icmp "eq" %6, %17 : i32
  %19 = llvm.mlir.constant(0 : i64) : i64
  %20 = llvm.select %18, %19, %8 : i1, i64
  %21 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %22 = llvm.load %21 : !llvm.ptr -> i32
  %23 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %24 = llvm.load %23 : !llvm.ptr -> i64
  %25 = llvm.mlir.constant(4 : i32) : i32
  %26 = llvm.icmp "eq" %22, %25 : i32
  %27 = llvm.mlir.constant(0 : i32) : i32
  %28 = llvm.icmp "eq" %22, %27 : i32
  %29 = llvm.mlir.constant(1 : i32) : i32
  %30 = llvm.icmp "eq" %22, %29 : i32
  %31 = llvm.or %26, %28 : i1
  %32 = llvm.or %31, %30 : i1
  llvm.cond_br %32 weights([2000, 1]), ^bb4, ^bb17
^bb4:  // pred: ^bb3
  %33 = llvm.mlir.constant(0 : i64) : i64
  %34 = llvm.icmp "sge" %24, %33 : i64
  %35 = llvm.mlir.constant(0 : i32) : i32
  %36 = llvm.icmp "eq" %22, %35 : i32
  %37 = llvm.mlir.constant(0 : i64) : i64
  %38 = llvm.select %36, %37, %24 : i1, i64
  %39 = llvm.mlir.constant(1 : i32) : i32
  %40 = llvm.icmp "ne" %22, %39 : i32
  %41 = llvm.or %34, %40 : i1
  llvm.cond_br %41, ^bb5(%38 : i64), ^bb16
^bb5(%42: i64):  // 2 preds: ^bb4, ^bb19
  %43 = llvm.getelementptr %arg1[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %44 = llvm.load %43 : !llvm.ptr -> i32
  %45 = llvm.getelementptr %43[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %46 = llvm.load %45 : !llvm.ptr -> !llvm.ptr
  %47 = llvm.mlir.constant(70 : i32) : i32
  %48 = llvm.icmp "eq" %44, %47 : i32
  llvm.cond_br %48 weights([2000, 1]), ^bb6(%46 : !llvm.ptr), ^bb20
^bb6(%49: !llvm.ptr):  // 2 preds: ^bb5, ^bb20
  %50 = llvm.mlir.zero : !llvm.ptr
  %51 = llvm.icmp "ne" %49, %50 : !llvm.ptr
  llvm.cond_br %51, ^bb7, ^bb16
^bb7:  // pred: ^bb6
  %52 = llvm.getelementptr %49[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %53 = llvm.load %52 : !llvm.ptr -> i64
  %54 = llvm.mlir.constant(316667938734081 : i64) : i64
  %55 = llvm.icmp "eq" %53, %54 : i64
  llvm.cond_br %55, ^bb8, ^bb16
^bb8:  // pred: ^bb7
  %56 = llvm.getelementptr %49[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %57 = llvm.load %56 : !llvm.ptr -> i64
  %58 = llvm.trunc %57 : i64 to i32
  %59 = llvm.mlir.constant(2 : i32) : i32
  %60 = llvm.icmp "eq" %58, %59 : i32
  llvm.cond_br %60, ^bb9, ^bb16
^bb9:  // pred: ^bb8
  %61 = llvm.getelementptr %49[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %62 = llvm.load %61 : !llvm.ptr -> !llvm.ptr
  %63 = llvm.mlir.zero : !llvm.ptr
  %64 = llvm.icmp "ne" %62, %63 : !llvm.ptr
  llvm.cond_br %64, ^bb10, ^bb16
^bb10:  // pred: ^bb9
  %65 = llvm.load %62 : !llvm.ptr -> i64
  %66 = llvm.getelementptr %49[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %67 = llvm.load %66 : !llvm.ptr -> !llvm.ptr
  %68 = llvm.mlir.zero : !llvm.ptr
  %69 = llvm.icmp "eq" %67, %68 : !llvm.ptr
  llvm.cond_br %69, ^bb12, ^bb11
^bb11:  // pred: ^bb10
  %70 = llvm.load %67 : !llvm.ptr -> i64
  %71 = llvm.mlir.constant(1 : i64) : i64
  %72 = llvm.icmp "eq" %70, %71 : i64
  llvm.cond_br %72 weights([2000, 1]), ^bb12, ^bb21
^bb12:  // 3 preds: ^bb10, ^bb11, ^bb21
  %73 = llvm.getelementptr %49[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %74 = llvm.load %73 : !llvm.ptr -> !llvm.ptr
  %75 = llvm.getelementptr %49[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %76 = llvm.load %75 : !llvm.ptr -> i64
  %77 = llvm.getelementptr %74[%76] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %78 = llvm.icmp "uge" %77, %74 : !llvm.ptr
  llvm.cond_br %78, ^bb13, ^bb16
^bb13:  // pred: ^bb12
  %79 = llvm.mlir.zero : !llvm.ptr
  %80 = llvm.icmp "ne" %74, %79 : !llvm.ptr
  llvm.cond_br %80 weights([2000, 1]), ^bb14, ^bb22
^bb14:  // 2 preds: ^bb13, ^bb22
  %81 = llvm.mlir.constant(-9223372036854775808 : i64) : i64
  %82 = llvm.icmp "ult" %65, %81 : i64
  llvm.cond_br %82 weights([2000, 1]), ^bb15, ^bb23
^bb15:  // 2 preds: ^bb14, ^bb23
  %83 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %83, %arg3 : i64, !llvm.ptr
  %84 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %83, %84 : i64, !llvm.ptr
  %85 = llvm.mlir.constant(-1 : i64) : i64
  %86 = llvm.trunc %57 : i64 to i32
  %87 = llvm.mlir.constant(32 : i64) : i64
  %88 = llvm.lshr %57, %87 : i64
  %89 = llvm.trunc %88 : i64 to i32
  %90 = llvm.call @TVMFFIEnvGetStream(%86, %89) : (i32, i32) -> !llvm.ptr
  %91 = llvm.inttoptr %20 : i64 to !llvm.ptr
  %92 = llvm.inttoptr %42 : i64 to !llvm.ptr<1>
  llvm.call @callee(%90, %91, %92, %77) : (!llvm.ptr, !llvm.ptr, !llvm.ptr<1>, !llvm.ptr) -> ()
  %93 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %93 : i32
^bb16:  // 14 preds: ^bb0, ^bb1, ^bb2, ^bb4, ^bb6, ^bb7, ^bb8, ^bb9, ^bb12, ^bb17, ^bb18, ^bb21, ^bb22, ^bb23
  %94 = llvm.mlir.addressof @__ffi_builder_table_stream : !llvm.ptr
  %95 = llvm.call @__ffi_builder_shared_diagnose_DIGEST(%arg1, %arg2, %94) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %95 : i32
^bb17:  // pred: ^bb3
  %96 = llvm.mlir.constant(78 : i32) : i32
  %97 = llvm.icmp "eq" %22, %96 : i32
  %98 = llvm.mlir.constant(0 : i64) : i64
  %99 = llvm.icmp "ne" %24, %98 : i64
  %100 = llvm.and %97, %99 : i1
  llvm.cond_br %100, ^bb18, ^bb16
^bb18:  // pred: ^bb17
  %101 = llvm.inttoptr %24 : i64 to !llvm.ptr
  %102 = llvm.call preserve_mostcc @__ffi_builder_shared_big_uint64_DIGEST(%101, %1) : (!llvm.ptr, !llvm.ptr) -> i1
  llvm.cond_br %102, ^bb19, ^bb16
^bb19:  // pred: ^bb18
  %103 = llvm.load %1 : !llvm.ptr -> i64
  llvm.br ^bb5(%103 : i64)
^bb20:  // pred: ^bb5
  %104 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%43) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb6(%104 : !llvm.ptr)
^bb21:  // pred: ^bb11
  %105 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%49) : (!llvm.ptr) -> i1
  llvm.cond_br %105, ^bb12, ^bb16
^bb22:  // pred: ^bb13
  %106 = llvm.call preserve_mostcc @__ffi_builder_shared_is_empty_DIGEST(%49) : (!llvm.ptr) -> i1
  llvm.cond_br %106, ^bb14, ^bb16
^bb23:  // pred: ^bb14
  %107 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%49) : (!llvm.ptr) -> i1
  llvm.cond_br %107, ^bb15, ^bb16
}
