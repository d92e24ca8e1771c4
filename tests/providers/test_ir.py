"""The IR that the providers emit."""

from __future__ import annotations

from ffi_builder import spec
from ffi_builder.providers import (
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NopCallProvider,
)
from ffi_builder.spec import Shape, Tensor, Var, dims
from tests.support.printed import check_comments, printed
from tests.support.wrapping import attached

n, m = dims("n m")
k = Var("k", "int32")
X = Tensor("x", [n, k], "float32", device_type="cpu")


def test_nop() -> None:
    check_comments(printed(attached([n], NopCallProvider())))
    # CHECK: llvm.func @__tvm_ffi_f(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32
    # CHECK: [[ZERO:%[0-9]+]] = llvm.mlir.constant(0 : i64) : i64
    # CHECK-NEXT: llvm.store [[ZERO]], %arg3 : i64, !llvm.ptr
    # CHECK-NEXT: [[PAYLOAD:%[0-9]+]] = llvm.getelementptr %arg3[8]
    # CHECK-NEXT: llvm.store [[ZERO]], [[PAYLOAD]] : i64, !llvm.ptr
    # CHECK-NOT: llvm.call
    # CHECK: [[DONE:%[0-9]+]] = llvm.mlir.constant(0 : i32) : i32
    # CHECK-NEXT: llvm.return [[DONE]] : i32
    # CHECK: [[TABLE:%[0-9]+]] = llvm.mlir.addressof @__ffi_builder_table_f : !llvm.ptr
    # CHECK-NEXT: [[STATUS:%[0-9]+]] = llvm.call @__ffi_builder_shared_diagnose_DIGEST(%arg1, %arg2, [[TABLE]])
    # CHECK-NEXT: llvm.return [[STATUS]] : i32
    # CHECK-NEXT: }


def test_direct() -> None:
    params: list[spec.Param] = [X, Var("a", "uint8"), Var("b", "float32"), Var("c", "int8")]
    check_comments(printed(attached(params, DirectCallProvider("callee"))))
    # CHECK: [[DATA:%[0-9]+]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    # CHECK: [[B:%[0-9]+]] = llvm.fptrunc %{{.*}} : f64 to f32
    # CHECK: [[A:%[0-9]+]] = llvm.trunc %{{.*}} : i64 to i8
    # CHECK: llvm.call @callee([[DATA]], %{{.*}}, [[B]], %{{.*}}) : (!llvm.ptr, i8 {llvm.zeroext}, f32, i8 {llvm.signext}) -> ()
    # CHECK-NEXT: [[OK:%[0-9]+]] = llvm.mlir.constant(0 : i32) : i32
    # CHECK-NEXT: llvm.return [[OK]] : i32
    # CHECK: llvm.func @callee(!llvm.ptr, i8 {llvm.zeroext}, f32, i8 {llvm.signext})


def test_packing() -> None:
    provider = DynamicParamPackCallProvider("callee", include_num_args=True)
    text = "llvm.func @callee(!llvm.ptr, i32) -> i32"
    check_comments(printed(attached([X, Var("flag", "bool")], provider, text)))
    # Stack space is taken once, in the entry block.
    # CHECK: llvm.func @__tvm_ffi_f
    # CHECK: [[TWO:%[0-9]+]] = llvm.mlir.constant(2 : i32) : i32
    # CHECK-NEXT: [[ARRAY:%[0-9]+]] = llvm.alloca [[TWO]] x !llvm.ptr
    # CHECK: [[FLAG:%[0-9]+]] = llvm.alloca %{{.*}} x !llvm.struct<(i8)>
    # CHECK: [[STRUCT:%[0-9]+]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr, i64, i32)>
    # CHECK: llvm.store %{{.*}}, [[STRUCT]] : !llvm.ptr, !llvm.ptr
    # CHECK-NEXT: [[N:%[0-9]+]] = llvm.getelementptr [[STRUCT]][0, 1]
    # CHECK-NEXT: llvm.store %{{.*}}, [[N]] : i64, !llvm.ptr
    # CHECK-NEXT: [[K:%[0-9]+]] = llvm.getelementptr [[STRUCT]][0, 2]
    # CHECK-NEXT: llvm.store %{{.*}}, [[K]] : i32, !llvm.ptr
    # CHECK: [[BYTE:%[0-9]+]] = llvm.zext %{{.*}} : i1 to i8
    # CHECK: llvm.store [[BYTE]], [[FLAG]] : i8, !llvm.ptr
    # CHECK-NEXT: llvm.store [[STRUCT]], [[ARRAY]] : !llvm.ptr, !llvm.ptr
    # CHECK-NEXT: [[SECOND:%[0-9]+]] = llvm.getelementptr [[ARRAY]][8]
    # CHECK-NEXT: llvm.store [[FLAG]], [[SECOND]] : !llvm.ptr, !llvm.ptr
    # CHECK-NEXT: [[COUNT:%[0-9]+]] = llvm.mlir.constant(2 : i32) : i32
    # CHECK-NEXT: [[STATUS:%[0-9]+]] = llvm.call @callee([[ARRAY]], [[COUNT]]) : (!llvm.ptr, i32) -> i32
    # CHECK: [[FINE:%[0-9]+]] = llvm.icmp "eq" [[STATUS]], %{{.*}} : i32
    # CHECK-NEXT: llvm.cond_br [[FINE]], ^[[NEXT:bb[0-9]+]], ^[[FAILED:bb[0-9]+]]
    # CHECK-NEXT: ^[[NEXT]]:
    # CHECK-NEXT: llvm.mlir.constant(0 : i32) : i32
    # CHECK-NEXT: llvm.return
    # CHECK: ^[[FAILED]]:
    # CHECK: llvm.call @snprintf(
    # CHECK: [[KIND:%[0-9]+]] = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
    # CHECK: [[SET:%[0-9]+]] = llvm.call @__ffi_builder_shared_raise_DIGEST([[KIND]],
    # CHECK-NEXT: llvm.return [[SET]] : i32
    # CHECK: llvm.mlir.global internal unnamed_addr constant @__ffi_builder_text_DIGEST("RuntimeError")


def test_struct_call() -> None:
    provider = DynamicParamPackCallProvider("callee", struct_call=True)
    check_comments(printed(attached([X, n, Shape("s", [2, m])], provider)))
    # CHECK-NOT: llvm.alloca
    # CHECK: llvm.mlir.undef : !llvm.struct<(ptr, i64, i32)>
    # CHECK-NEXT: llvm.insertvalue %{{.*}}, %{{.*}}[0] : !llvm.struct<(ptr, i64, i32)>
    # CHECK-NEXT: llvm.insertvalue %{{.*}}, %{{.*}}[1] : !llvm.struct<(ptr, i64, i32)>
    # CHECK-NEXT: [[X:%[0-9]+]] = llvm.insertvalue %{{.*}}, %{{.*}}[2] : !llvm.struct<(ptr, i64, i32)>
    # CHECK: llvm.call @callee([[X]], [[N:%[0-9]+]], %{{.*}}) : (!llvm.struct<(ptr, i64, i32)>, i64, !llvm.struct<(i64)>) -> ()


def test_memref() -> None:
    check_comments(printed(attached([X], MemRefCallProvider("callee"))))
    # CHECK: [[DATA:%[0-9]+]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    # CHECK: llvm.store %{{.*}}, %arg3
    # CHECK: [[ZERO:%[0-9]+]] = llvm.mlir.constant(0 : i64) : i64
    # The i64 that was checked is passed, not widened anew.
    # CHECK-NOT: llvm.sext
    # CHECK: llvm.call @callee([[DATA]], [[DATA]], [[ZERO]], [[N:%[0-9]+]], [[K:%[0-9]+]], [[K]], %{{[0-9]+}}) : (!llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64) -> ()
