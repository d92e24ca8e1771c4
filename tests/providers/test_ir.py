"""The IR that the providers emit."""

from __future__ import annotations

import ctypes
import re
from typing import Final

import pytest

from ffi_builder import spec
from ffi_builder.providers import (
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
    NopCallProvider,
    PackedCallProvider,
)
from ffi_builder.spec import Optional, Shape, Tensor, Var, dims
from tests.support.printed import check_comments, printed
from tests.support.wrapping import attached

n, m = dims("n m")
k = Var("k", "int32")
X = Tensor("x", [n, k], "float32", device_type="cpu")
each_distribution = pytest.mark.parametrize("distribution", ["torch_mlir", "jaxlib.mlir"])


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
    # CHECK-NEXT: [[STATUS:%[0-9]+]] = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %{{[0-9]+}}, [[TABLE]])
    # CHECK-NEXT: llvm.return [[STATUS]] : i32
    # CHECK: }


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


def test_whether_a_parameter_is_present_is_widened_as_a_bool() -> None:
    provider = DirectCallProvider("callee", args=["a.present"])
    check_comments(printed(attached([Optional(Var("a", "float32"))], provider)))
    # CHECK: llvm.call @callee(%{{[0-9]+}}) : (i1 {llvm.zeroext}) -> ()
    # CHECK: llvm.func @callee(i1 {llvm.zeroext})


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
    # CHECK: llvm.mlir.global private unnamed_addr constant @__ffi_builder_text_DIGEST("RuntimeError")


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


def test_memref_by_the_c_interface() -> None:
    check_comments(printed(attached([X], MemRefCallProvider("callee", c_interface=True))))
    # CHECK: [[SPACE:%[0-9]+]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    # CHECK: [[DATA:%[0-9]+]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    # CHECK: llvm.store [[DATA]], [[SPACE]] : !llvm.ptr, !llvm.ptr
    # CHECK-NEXT: [[ALIGNED:%[0-9]+]] = llvm.getelementptr [[SPACE]][8] : (!llvm.ptr) -> !llvm.ptr, i8
    # CHECK-NEXT: llvm.store [[DATA]], [[ALIGNED]] : !llvm.ptr, !llvm.ptr
    # CHECK-NEXT: [[OFFSET:%[0-9]+]] = llvm.getelementptr [[SPACE]][16]
    # CHECK-NEXT: llvm.store %{{.*}}, [[OFFSET]] : i64, !llvm.ptr
    # CHECK: [[LAST:%[0-9]+]] = llvm.getelementptr [[SPACE]][48]
    # CHECK-NEXT: llvm.store %{{.*}}, [[LAST]] : i64, !llvm.ptr
    # CHECK-NEXT: llvm.call @_mlir_ciface_callee([[SPACE]]) : (!llvm.ptr) -> ()
    # CHECK: llvm.func @_mlir_ciface_callee(!llvm.ptr)


def test_memref_of_rank_0_by_the_c_interface() -> None:
    scalar = Tensor("x", [], "float32", device_type="cpu")
    check_comments(printed(attached([scalar], MemRefCallProvider("callee", c_interface=True))))
    # CHECK: llvm.alloca %{{.*}} x !llvm.struct<(ptr, ptr, i64)> : (i32) -> !llvm.ptr


@each_distribution
def test_nested(distribution: str) -> None:
    y = Tensor("y", [k, 4], "float32", device_type="cuda")
    module = attached([X, y], NestedTensorCallProvider("callee"), distribution=distribution)
    check_comments(printed(module))
    # CHECK-NOT: llvm.alloca
    # CHECK: [[N:%[0-9]+]] = llvm.insertvalue %{{.*}}, %{{.*}}[0] : !llvm.struct<(i64, i32)>
    # CHECK-NEXT: [[SHAPE:%[0-9]+]] = llvm.insertvalue %{{.*}}, [[N]][1] : !llvm.struct<(i64, i32)>
    # CHECK: [[FIRST:%[0-9]+]] = llvm.insertvalue [[SHAPE]], %{{.*}}[0] : !llvm.struct<(struct<(i64, i32)>, i64)>
    # CHECK-NEXT: [[LAYOUT:%[0-9]+]] = llvm.insertvalue %{{.*}}, [[FIRST]][1] : !llvm.struct<(struct<(i64, i32)>, i64)>
    # CHECK: [[X:%[0-9]+]] = llvm.insertvalue [[LAYOUT]], %{{.*}}[1] : !llvm.struct<(ptr, struct<(struct<(i64, i32)>, i64)>)>
    # CHECK: [[NONE:%[0-9]+]] = llvm.mlir.undef : !llvm.struct<()>
    # CHECK: llvm.insertvalue [[NONE]], %{{.*}}[1] : !llvm.struct<(i32, struct<()>)>
    # CHECK: [[ADDRESS:%[0-9]+]] = llvm.ptrtoint %{{.*}} : !llvm.ptr to i64
    # CHECK-NEXT: llvm.inttoptr [[ADDRESS]] : i64 to !llvm.ptr<1>
    # CHECK: [[Y:%[0-9]+]] = llvm.insertvalue %{{.*}}, %{{.*}}[1] : !llvm.struct<(ptr<1>, struct<(i32, struct<()>)>)>
    # CHECK: llvm.call @callee([[X]], [[Y]])


def test_status() -> None:
    provider = CheckStatus(DirectCallProvider("callee"), error="ValueError")
    check_comments(printed(attached([k], provider, "llvm.func @callee(i32) -> i1")))
    # CHECK: [[STATUS:%[0-9]+]] = llvm.call @callee(%{{.*}}) : (i32) -> i1
    # CHECK-NEXT: [[ZERO:%[0-9]+]] = llvm.mlir.zero : i1
    # CHECK-NEXT: [[FINE:%[0-9]+]] = llvm.icmp "eq" [[STATUS]], [[ZERO]] : i1
    # CHECK-NEXT: llvm.cond_br [[FINE]], ^[[NEXT:bb[0-9]+]], ^[[FAILED:bb[0-9]+]]
    # CHECK-NEXT: ^[[NEXT]]:
    # CHECK-NEXT: [[OK:%[0-9]+]] = llvm.mlir.constant(0 : i32) : i32
    # CHECK-NEXT: llvm.return [[OK]]
    # CHECK: ^[[FAILED]]:
    # CHECK: [[SHOWN:%[0-9]+]] = llvm.zext [[STATUS]] : i1 to i64
    # CHECK: llvm.call @snprintf(%{{.*}}, %{{.*}}, %{{.*}}, [[SHOWN]])
    # CHECK: llvm.mlir.global private unnamed_addr constant @__ffi_builder_text_DIGEST("ValueError")


@each_distribution
def test_packed(distribution: str) -> None:
    provider = PackedCallProvider("other")
    check_comments(printed(attached([X], provider, distribution=distribution)))
    # CHECK: llvm.func @__tvm_ffi_f(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32
    # CHECK-NOT: llvm.alloca
    # CHECK: [[STATUS:%[0-9]+]] = llvm.call @__tvm_ffi_other(%{{[0-9]+}}, %arg1, %arg2, %arg3) : (!llvm.ptr, !llvm.ptr, i32, !llvm.ptr) -> i32
    # CHECK-NEXT: [[ZERO:%[0-9]+]] = llvm.mlir.constant(0 : i32) : i32
    # CHECK-NEXT: [[FINE:%[0-9]+]] = llvm.icmp "eq" [[STATUS]], [[ZERO]] : i32
    # CHECK-NEXT: llvm.cond_br [[FINE]] weights([2000, 1]), ^{{bb[0-9]+}}, ^[[FAILED:bb[0-9]+]]
    # CHECK: ^[[FAILED]]:
    # CHECK-NEXT: llvm.return [[STATUS]] : i32
    # CHECK: llvm.func @__tvm_ffi_other(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr) -> i32


def test_a_packed_global_function() -> None:
    provider = PackedCallProvider(global_function="my.f", args=[X, n, X.data])
    check_comments(printed(attached([X], provider)))
    # CHECK: [[SIX:%[0-9]+]] = llvm.mlir.constant(6 : i32) : i32
    # CHECK-NEXT: [[ARGS:%[0-9]+]] = llvm.alloca [[SIX]] x i64
    # CHECK: [[HEAD:%[0-9]+]] = llvm.load %arg1 : !llvm.ptr -> i64
    # CHECK-NEXT: [[AT:%[0-9]+]] = llvm.getelementptr %arg1[8]
    # CHECK-NEXT: [[PAYLOAD:%[0-9]+]] = llvm.load [[AT]] : !llvm.ptr -> i64
    # CHECK-NEXT: llvm.store [[HEAD]], [[ARGS]] : i64, !llvm.ptr
    # CHECK-NEXT: [[TO:%[0-9]+]] = llvm.getelementptr [[ARGS]][8]
    # CHECK-NEXT: llvm.store [[PAYLOAD]], [[TO]] : i64, !llvm.ptr
    # CHECK-NEXT: [[SECOND:%[0-9]+]] = llvm.getelementptr [[ARGS]][16]
    # CHECK-NEXT: [[INT:%[0-9]+]] = llvm.mlir.constant(1 : i64) : i64
    # CHECK-NEXT: llvm.store [[INT]], [[SECOND]] : i64, !llvm.ptr
    # CHECK: [[FOUND:%[0-9]+]] = llvm.call @TVMFFIFunctionGetGlobal([[NAME:%[0-9]+]], [[SLOT:%[0-9]+]]) : (!llvm.ptr, !llvm.ptr) -> i32
    # CHECK: [[FUNCTION:%[0-9]+]] = llvm.load [[SLOT]] : !llvm.ptr -> !llvm.ptr
    # CHECK: llvm.icmp "ne" [[FUNCTION]], %{{.*}} : !llvm.ptr
    # CHECK: [[STATUS:%[0-9]+]] = llvm.call @TVMFFIFunctionCall([[FUNCTION]], [[ARGS]], %{{.*}}, %arg3)
    # CHECK-NEXT: llvm.call @TVMFFIObjectDecRef([[FUNCTION]]) : (!llvm.ptr) -> i32
    # CHECK-NEXT: [[ZERO:%[0-9]+]] = llvm.mlir.constant(0 : i32) : i32
    # CHECK-NEXT: llvm.icmp "eq" [[STATUS]], [[ZERO]] : i32


EVERY: Final[list[CallProvider]] = [
    NestedTensorCallProvider("callee"),
    MemRefCallProvider("callee"),
    MemRefCallProvider("callee", c_interface=True),
    CheckStatus(DirectCallProvider("callee")),
    CheckStatus(DynamicParamPackCallProvider("callee")),
    PackedCallProvider("callee"),
    PackedCallProvider("callee", args=["x", n]),
    PackedCallProvider(global_function="callee", args=["x", n, "x.dtype"]),
]


@each_distribution
@pytest.mark.parametrize("provider", EVERY, ids=str)
def test_what_a_wrapper_refers_to(provider: CallProvider, distribution: str) -> None:
    """TVM-FFI, libc and the callee, nothing else; and all that it adds is internal."""
    module = attached([X], provider, distribution=distribution)
    symbols = [operation.operation for operation in module.body.operations]
    outside = {
        symbol.attributes["sym_name"].value
        for symbol in symbols
        if not re.search("internal|private", str(symbol.attributes["linkage"]))
    }
    callees = {"callee", "_mlir_ciface_callee", "__tvm_ffi_callee"}
    libc = ctypes.CDLL(None)
    others = {name for name in outside - callees if not name.startswith("TVMFFI")}
    assert {name for name in others if not hasattr(libc, name)} == {"__tvm_ffi_f"}
    assert module.operation.verify()
