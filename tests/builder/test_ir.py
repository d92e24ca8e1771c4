"""The IR of parameters that tests/golden has not."""

from __future__ import annotations

import pytest

from ffi_builder import spec
from ffi_builder.providers import (
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    DynamicParamPackCallProvider,
)
from ffi_builder.spec import Shape, Tensor, Var, dims
from tests.support.printed import check_comments, printed
from tests.support.wrapping import attached

n, m = dims("n m")


def tensor(
    shape: list[spec.Dim | None],
    strides: list[spec.Dim | None] | None = None,
    *,
    alignment: int | None = None,
    device_type: str = "cpu",
) -> Tensor:
    return Tensor(
        "x", shape, "float32", device_type=device_type, strides=strides, data_alignment=alignment
    )


def test_no_parameters() -> None:
    check_comments(printed(attached([])))
    # CHECK: llvm.func @__tvm_ffi_f
    # CHECK: llvm.icmp "eq" %arg2
    # CHECK-NOT: llvm.load
    # CHECK: llvm.store %{{.*}}, %arg3 : i64, !llvm.ptr


def test_dimensions_that_must_fit_int32_are_compared_once_with_the_sizes() -> None:
    narrow = list(dims("a b c d", "int32"))
    params = [Tensor(name, narrow, "float32", device_type="cpu") for name in "xy"]
    wide = [Tensor(name, list(dims("a b c d")), "float32", device_type="cpu") for name in "xy"]
    branches = [
        printed(attached(each)).split("row_major")[0].count("cond_br") for each in (params, wide)
    ]
    assert branches[0] == branches[1]


def test_expressions() -> None:
    check_comments(printed(attached([n, tensor([n * 2, m // 4, m])])))
    # CHECK: [[PAIR:%[0-9]+]] = "llvm.intr.smul.with.overflow"(%{{.*}}, %{{.*}}) : (i64, i64) -> !llvm.struct<(i64, i1)>
    # CHECK: llvm.extractvalue [[PAIR]][0]
    # CHECK: llvm.udiv


def test_signs_of_entries_are_looked_at_together() -> None:
    text = printed(attached([Shape("s", [n, m, Var("k", "int64")])]))
    check_comments(text)
    assert text.count('"sge"') == 1
    # CHECK: [[TWO:%[0-9]+]] = llvm.or %{{.*}}, %{{.*}} : i64
    # CHECK-NEXT: [[ALL:%[0-9]+]] = llvm.or [[TWO]], %{{.*}} : i64
    # CHECK: llvm.icmp "sge" [[ALL]]


def test_constants() -> None:
    params: list[spec.Param] = [
        spec.ConstNone("none"),
        spec.ConstInt("seven", 7),
        spec.ConstBool("yes", True),
        spec.ConstFloat("half", 0.5),
        spec.ConstFloat("nan", float("nan")),
    ]
    check_comments(printed(attached(params)))
    # CHECK: llvm.mlir.constant(7 : i64) : i64
    # CHECK-NEXT: llvm.icmp "eq"
    # CHECK: llvm.mlir.constant(4602678819172646912 : i64) : i64
    # CHECK-NEXT: llvm.icmp "eq"
    # CHECK: llvm.fcmp "uno"


def test_several_dtypes_of_any_rank() -> None:
    x = Tensor("x", ..., ("float16", "bfloat16"), device_type="any")
    check_comments(printed(attached([x])))
    # CHECK: ^[[FOUND:bb[0-9]+]]([[X:%[0-9]+]]: !llvm.ptr):
    # The dtype alone: (2, 16, 1) or (4, 16, 1); then ndim, which may be anything but negative.
    # CHECK: llvm.getelementptr [[X]][44]
    # CHECK: llvm.mlir.constant(69634 : i32) : i32
    # CHECK: llvm.mlir.constant(69636 : i32) : i32
    # CHECK: llvm.or
    # CHECK-NOT: llvm.call {{.*}}column_major
    # CHECK: llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST([[X]])
    # CHECK: llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST([[X]])


def test_any_strides_are_not_looked_at() -> None:
    x = Tensor("x", [n, m], "float32", device_type="cpu", strides="any")
    text = printed(attached([x], DirectCallProvider("callee")))
    assert "contiguous" not in text
    check_comments(text)
    # They are read, for the provider: NULL stands for row-major.
    # CHECK: llvm.call preserve_mostcc @__ffi_builder_shared_row_major_strides_DIGEST


@pytest.mark.parametrize(
    ("provider", "low", "calls"),
    [(None, None, 0), (None, 1, 1), (DirectCallProvider("callee"), None, 1)],
    ids=["only bound", "compared", "forwarded"],
)
def test_strides_that_nobody_asks_for_are_not_read(
    provider: DirectCallProvider | None, low: int | None, calls: int
) -> None:
    strides = [spec.Var("s", "int64", min=low)]
    x = Tensor("x", [n], "float32", device_type="cpu", strides=strides)
    text = printed(attached([x], provider))
    # The strides that NULL stands for are written where strides are read.
    assert text.count("@__ffi_builder_shared_row_major_strides_DIGEST(%") == calls


_PACK = DynamicParamPackCallProvider("callee")


@pytest.mark.parametrize("provider", [_PACK, CheckStatus(_PACK)], ids=["alone", "status"])
def test_strides_are_loaded_where_they_are_stored(provider: CallProvider) -> None:
    x, y = (
        Tensor(name, [n], "float32", device_type="cpu", strides=[spec.Var(f"s{name}", "int64")])
        for name in "xy"
    )
    check_comments(printed(attached([x, y], provider)))
    # CHECK: llvm.store %{{.*}}, %arg3
    # CHECK: llvm.store
    # CHECK: [[X:%[0-9]+]] = llvm.load %{{.*}} : !llvm.ptr -> i64
    # CHECK: llvm.store [[X]]
    # CHECK: [[Y:%[0-9]+]] = llvm.load %{{.*}} : !llvm.ptr -> i64
    # CHECK: llvm.store [[Y]]
    # CHECK: llvm.call @callee


def test_objects() -> None:
    params: list[spec.Param] = [
        spec.Object("x"),
        spec.Function("f"),
        spec.Object("g", "ffi.Module"),
        spec.String("s"),
    ]
    check_comments(printed(attached(params)))
    # CHECK: llvm.icmp "sge" %{{.*}}, %{{.*}} : i32
    # CHECK: llvm.mlir.constant(68 : i32) : i32
    # CHECK: llvm.mlir.constant(10 : i64) : i64
    # CHECK: [[STATIC:%[0-9]+]] = llvm.mlir.constant(73 : i32) : i32
    # CHECK-NEXT: llvm.call preserve_mostcc @__ffi_builder_shared_typed_object_DIGEST(%{{.*}}, %{{.*}}, %{{.*}}, [[STATIC]])
    # CHECK: llvm.call preserve_mostcc @__ffi_builder_shared_text_DIGEST
