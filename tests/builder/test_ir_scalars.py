"""The IR of scalar parameters."""

from __future__ import annotations

from ffi_builder.providers import DirectCallProvider
from ffi_builder.spec import Var, dims
from tests.support.printed import check_comments, printed
from tests.support.wrapping import attached

(n,) = dims("n")


def test_int() -> None:
    var = Var("a", "int32", divisibility=12, min=-5, max=100)
    check_comments(printed(attached([var])))
    # CHECK: [[TYPE:%[0-9]+]] = llvm.load %arg1 : !llvm.ptr -> i32
    # CHECK-NEXT: [[AT:%[0-9]+]] = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
    # CHECK-NEXT: [[VALUE:%[0-9]+]] = llvm.load [[AT]] : !llvm.ptr -> i64
    # CHECK: [[INT:%[0-9]+]] = llvm.mlir.constant(1 : i32) : i32
    # CHECK-NEXT: llvm.icmp "eq" [[TYPE]], [[INT]] : i32
    # CHECK-NEXT: llvm.cond_br %{{.*}} weights([2000, 1]), ^[[NEXT:bb[0-9]+]], ^[[RARE:bb[0-9]+]]
    # CHECK: ^[[NEXT]]:
    # CHECK: [[LOW:%[0-9]+]] = llvm.trunc [[VALUE]] : i64 to i32
    # CHECK-NEXT: [[WIDE:%[0-9]+]] = llvm.sext [[LOW]] : i32 to i64
    # CHECK-NEXT: llvm.icmp "eq" [[WIDE]], [[VALUE]] : i64
    # CHECK: llvm.mlir.constant(-5 : i64) : i64
    # CHECK-NEXT: llvm.icmp "sge" [[VALUE]]
    # CHECK: llvm.mlir.constant(100 : i64) : i64
    # CHECK-NEXT: llvm.icmp "sle" [[VALUE]]
    # CHECK: llvm.mlir.constant(12 : i64) : i64
    # CHECK-NEXT: llvm.srem [[VALUE]]
    # CHECK: ^[[RARE]]:
    # CHECK: [[BOOL:%[0-9]+]] = llvm.mlir.constant(2 : i32) : i32
    # CHECK-NEXT: llvm.icmp "eq" [[TYPE]], [[BOOL]] : i32
    # CHECK-NEXT: llvm.cond_br %{{.*}}, ^[[NEXT]], ^


def test_a_power_of_two_needs_no_division() -> None:
    check_comments(printed(attached([Var("a", "uint64", divisibility=16)])))
    # CHECK: llvm.call preserve_mostcc @__ffi_builder_shared_big_uint64_DIGEST
    # CHECK-NOT: llvm.urem


def test_int64_needs_no_range_check() -> None:
    check_comments(printed(attached([n])))
    # CHECK-NOT: llvm.icmp "ule"
    # CHECK: llvm.return


def test_uint64_takes_big_ints_on_a_side_way() -> None:
    check_comments(printed(attached([Var("a", "uint64")])))
    # CHECK: llvm.load %{{.*}} : !llvm.ptr -> i64
    # CHECK: llvm.cond_br %{{.*}}, ^[[SMALL:bb[0-9]+]], ^[[RARE:bb[0-9]+]]
    # CHECK: ^[[SMALL]]:
    # CHECK: llvm.icmp "sge"
    # CHECK: llvm.return
    # CHECK: ^[[RARE]]:
    # CHECK: llvm.mlir.constant(78 : i32) : i32
    # CHECK: llvm.call preserve_mostcc @__ffi_builder_shared_big_uint64_DIGEST


def test_bool() -> None:
    check_comments(printed(attached([Var("a", "bool")])))
    # CHECK: [[VALUE:%[0-9]+]] = llvm.load %{{.*}} : !llvm.ptr -> i64
    # CHECK: llvm.mlir.constant(2 : i64) : i64
    # CHECK-NEXT: llvm.icmp "ult" [[VALUE]]


def test_float32() -> None:
    check_comments(printed(attached([Var("a", "float32")])))
    # CHECK: [[REAL:%[0-9]+]] = llvm.bitcast %{{.*}} : i64 to f64
    # CHECK-NEXT: llvm.cond_br %{{.*}} weights([2000, 1]), ^[[NEXT:bb[0-9]+]]([[REAL]] : f64), ^
    # CHECK: ^[[NEXT]]([[ANY:%[0-9]+]]: f64):
    # CHECK: llvm.fptrunc [[ANY]] : f64 to f32
    # CHECK: [[WHOLE:%[0-9]+]] = llvm.sitofp %{{.*}} : i64 to f64
    # CHECK-NEXT: llvm.br ^[[NEXT]]([[WHOLE]] : f64)


def test_16_bit_floats_are_rounded_by_a_helper() -> None:
    for dtype in ("float16", "bfloat16"):
        text = printed(attached([Var("a", dtype)], DirectCallProvider("callee")))
        text = text.replace("bfloat16", "float16")
        check_comments(text)
    # CHECK: [[BITS:%[0-9]+]] = llvm.call preserve_mostcc @__ffi_builder_shared_round_float16_DIGEST(%{{.*}}) : (f64) -> i16
    # CHECK: llvm.bitcast [[BITS]] : i16 to {{f16|bf16}}


def test_handle() -> None:
    check_comments(printed(attached([Var("a", "handle")])))
    # CHECK: llvm.mlir.constant(4 : i32) : i32
    # CHECK: llvm.select %{{.*}}, %{{.*}}, %{{.*}} : i1, i64
