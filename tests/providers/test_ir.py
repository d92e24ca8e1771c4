"""The IR that the providers emit."""

from __future__ import annotations

import ctypes
import re
from typing import Final

import pytest

from ffi_builder import spec
from ffi_builder.protocol import SHARED
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


def test_memref_of_rank_0_by_the_c_interface() -> None:
    scalar = Tensor("x", [], "float32", device_type="cpu")
    check_comments(printed(attached([scalar], MemRefCallProvider("callee", c_interface=True))))
    # CHECK: llvm.alloca %{{.*}} x !llvm.struct<(ptr, ptr, i64)> : (i32) -> !llvm.ptr


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
    """TVM-FFI, libc, support code and the callee, nothing else; what it adds is internal."""
    module = attached([X], provider, distribution=distribution)
    symbols = [operation.operation for operation in module.body.operations]
    outside = {
        symbol.attributes["sym_name"].value
        for symbol in symbols
        if not re.search("internal|private", str(symbol.attributes["linkage"]))
    }
    callees = {"callee", "_mlir_ciface_callee", "__tvm_ffi_callee"}
    libc = ctypes.CDLL(None)
    others = {name for name in outside - callees if not name.startswith(("TVMFFI", SHARED))}
    assert {name for name in others if not hasattr(libc, name)} == {"__tvm_ffi_f"}
    assert module.operation.verify()
