"""The IR of a wrapper, and of parameters that are not scalars."""

from __future__ import annotations

import pytest

from ffi_builder import spec
from ffi_builder.providers import (
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    DynamicParamPackCallProvider,
)
from ffi_builder.spec import Shape, Tensor, TupleParam, Var, dims
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


def test_the_frame() -> None:
    check_comments(printed(attached([n])))
    # CHECK: llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_f("TABLE")
    # CHECK: llvm.func @__tvm_ffi_f(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32
    # CHECK: [[ONE:%[0-9]+]] = llvm.mlir.constant(1 : i32) : i32
    # CHECK-NEXT: [[COUNT:%[0-9]+]] = llvm.icmp "eq" %arg2, [[ONE]] : i32
    # CHECK-NEXT: llvm.cond_br [[COUNT]], ^[[NEXT:bb[0-9]+]], ^[[WRONG:bb[0-9]+]](%arg2 : i32)
    # CHECK: ^[[NEXT]]:
    # CHECK: [[ARGS:%[0-9]+]] = llvm.icmp "ne" %arg1, %{{.*}} : !llvm.ptr
    # CHECK-NEXT: llvm.cond_br [[ARGS]], ^{{bb[0-9]+}}, ^[[SLOW:bb[0-9]+]]
    # CHECK: ^[[SLOW]]:
    # CHECK-NEXT: [[NUMBER:%[0-9]+]] = llvm.mlir.constant(1 : i32) : i32
    # CHECK-NEXT: llvm.br ^[[WRONG]]([[NUMBER]] : i32)
    # CHECK-NEXT: ^[[WRONG]]([[GIVEN:%[0-9]+]]: i32):
    # CHECK-NEXT: [[TABLE:%[0-9]+]] = llvm.mlir.addressof @__ffi_builder_table_f : !llvm.ptr
    # CHECK-NEXT: [[STATUS:%[0-9]+]] = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, [[GIVEN]], [[TABLE]])
    # CHECK-NEXT: llvm.return [[STATUS]] : i32


def test_no_parameters() -> None:
    check_comments(printed(attached([])))
    # CHECK: llvm.func @__tvm_ffi_f
    # CHECK: llvm.icmp "eq" %arg2
    # CHECK-NOT: llvm.load
    # CHECK: llvm.store %{{.*}}, %arg3 : i64, !llvm.ptr


def test_a_tensor() -> None:
    check_comments(printed(attached([tensor([n, 4], alignment=16)])))
    # The object at %arg1; what is no Tensor goes a side way.
    # CHECK: [[TYPE:%[0-9]+]] = llvm.load %arg1 : !llvm.ptr -> i32
    # CHECK: llvm.mlir.constant(70 : i32) : i32
    # CHECK: llvm.cond_br %{{.*}}, ^[[FOUND:bb[0-9]+]](%{{.*}} : !llvm.ptr), ^[[OTHER:bb[0-9]+]]
    # CHECK: ^[[FOUND]]([[X:%[0-9]+]]: !llvm.ptr):
    # One branch for the type of the device, rank and dtype: 1, 2 and (2, 32, 1).
    # CHECK: llvm.getelementptr [[X]][32]
    # CHECK: [[TYPE:%[0-9]+]] = llvm.zext %{{.*}} : i32 to i64
    # CHECK-NEXT: [[CPU:%[0-9]+]] = llvm.mlir.constant(1 : i64) : i64
    # CHECK-NEXT: [[DEVICE:%[0-9]+]] = llvm.xor [[TYPE]], [[CPU]] : i64
    # CHECK: llvm.getelementptr [[X]][40]
    # CHECK: [[NUMBER:%[0-9]+]] = llvm.mlir.constant(316667938734082 : i64) : i64
    # CHECK-NEXT: [[HEADER:%[0-9]+]] = llvm.xor %{{.*}}, [[NUMBER]] : i64
    # CHECK-NEXT: [[BOTH:%[0-9]+]] = llvm.or [[HEADER]], [[DEVICE]] : i64
    # CHECK: llvm.icmp "eq" [[BOTH]]
    # CHECK: llvm.getelementptr [[X]][48]
    # CHECK-NEXT: [[SHAPE:%[0-9]+]] = llvm.load
    # CHECK: [[N:%[0-9]+]] = llvm.load [[SHAPE]] : !llvm.ptr -> i64
    # CHECK: llvm.getelementptr [[SHAPE]][8]
    # CHECK: llvm.mlir.constant(4 : i64) : i64
    # CHECK-NEXT: llvm.icmp "eq"
    # CHECK: llvm.getelementptr [[X]][56]
    # CHECK: llvm.getelementptr [[X]][24]
    # CHECK: llvm.getelementptr [[X]][64]
    # CHECK: [[ADDRESS:%[0-9]+]] = llvm.ptrtoint
    # CHECK: llvm.mlir.constant(15 : i64) : i64
    # CHECK-NEXT: llvm.and [[ADDRESS]]
    # CHECK: llvm.mlir.constant(2147483647 : i64) : i64
    # CHECK-NEXT: llvm.icmp "ule" [[N]]
    # CHECK: ^[[OTHER]]:
    # CHECK: llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%arg1)


def test_dimensions_that_must_fit_int32_are_compared_once_with_the_sizes() -> None:
    narrow = list(dims("a b c d", "int32"))
    params = [Tensor(name, narrow, "float32", device_type="cpu") for name in "xy"]
    wide = [Tensor(name, list(dims("a b c d")), "float32", device_type="cpu") for name in "xy"]
    branches = [
        printed(attached(each)).split("row_major")[0].count("cond_br") for each in (params, wide)
    ]
    assert branches[0] == branches[1]


def test_given_strides() -> None:
    s = Var("s", "int64")
    check_comments(printed(attached([tensor([n, 4], [s, 1])])))
    # CHECK: [[AT:%[0-9]+]] = llvm.getelementptr %{{.*}}[56]
    # CHECK: [[GIVEN:%[0-9]+]] = llvm.load [[AT]] : !llvm.ptr -> !llvm.ptr
    # CHECK: llvm.cond_br %{{.*}}, ^[[FOUND:bb[0-9]+]]([[GIVEN]] : !llvm.ptr), ^[[ABSENT:bb[0-9]+]]
    # CHECK: ^[[FOUND]]([[STRIDES:%[0-9]+]]: !llvm.ptr):
    # CHECK: [[AT1:%[0-9]+]] = llvm.getelementptr [[STRIDES]][8]
    # CHECK: [[ONE:%[0-9]+]] = llvm.load [[AT1]] : !llvm.ptr -> i64
    # CHECK: llvm.icmp "eq" [[ONE]]
    # CHECK: ^[[ABSENT]]:
    # CHECK: llvm.call preserve_mostcc @__ffi_builder_shared_row_major_strides_DIGEST


def test_tensors_of_one_device_are_compared_at_once() -> None:
    x = tensor([n], device_type="cuda")
    y = Tensor("y", [n], "float32", device_type="cuda")
    check_comments(printed(attached([x, y])))
    # CHECK: llvm.getelementptr %{{.*}}[40]
    # CHECK: [[FIRST:%[0-9]+]] = llvm.getelementptr %{{.*}}[32]
    # CHECK-NEXT: [[DEVICE:%[0-9]+]] = llvm.load [[FIRST]] : !llvm.ptr -> i64
    # CHECK: [[SECOND:%[0-9]+]] = llvm.getelementptr %{{.*}}[32]
    # CHECK-NEXT: [[OTHER:%[0-9]+]] = llvm.load [[SECOND]] : !llvm.ptr -> i64
    # CHECK-NEXT: llvm.icmp "eq" [[OTHER]], [[DEVICE]] : i64


def test_a_symbol_that_is_bound_is_compared() -> None:
    check_comments(printed(attached([tensor([n, n])])))
    # CHECK: [[AT:%[0-9]+]] = llvm.getelementptr %{{.*}}[48]
    # CHECK-NEXT: [[SHAPE:%[0-9]+]] = llvm.load [[AT]] : !llvm.ptr -> !llvm.ptr
    # CHECK: [[N:%[0-9]+]] = llvm.load [[SHAPE]] : !llvm.ptr -> i64
    # CHECK: [[SAME:%[0-9]+]] = llvm.load %{{.*}} : !llvm.ptr -> i64
    # CHECK: llvm.icmp "eq" [[SAME]], [[N]] : i64


def test_expressions() -> None:
    check_comments(printed(attached([n, tensor([n * 2, m // 4, m])])))
    # CHECK: [[PAIR:%[0-9]+]] = "llvm.intr.smul.with.overflow"(%{{.*}}, %{{.*}}) : (i64, i64) -> !llvm.struct<(i64, i1)>
    # CHECK: llvm.extractvalue [[PAIR]][0]
    # CHECK: llvm.udiv


def test_a_shape() -> None:
    check_comments(printed(attached([Shape("s", [n, 3])])))
    # CHECK: [[TYPE:%[0-9]+]] = llvm.load %arg1 : !llvm.ptr -> i32
    # CHECK: llvm.mlir.constant(69 : i32) : i32
    # CHECK: llvm.cond_br %{{.*}} weights([2000, 1]), ^[[SHAPE:bb[0-9]+]](%{{.*}} : !llvm.ptr), ^[[OTHER:bb[0-9]+]]
    # CHECK: ^[[SHAPE]]([[CAME:%[0-9]+]]: !llvm.ptr):
    # CHECK: llvm.getelementptr [[CAME]][32]
    # CHECK: llvm.getelementptr [[CAME]][24]
    # CHECK: llvm.br ^[[FOUND:bb[0-9]+]](
    # CHECK: ^[[FOUND]]([[N:%[0-9]+]]: i64, [[THREE:%[0-9]+]]: i64):
    # CHECK: llvm.icmp "eq" [[THREE]]
    # CHECK: llvm.icmp "sge" [[N]]
    # CHECK: ^[[OTHER]]:
    # CHECK: llvm.mlir.constant(71 : i32) : i32
    # CHECK: llvm.cond_br %{{.*}}, ^[[ARRAY:bb[0-9]+]], ^[[RARE:bb[0-9]+]]
    # CHECK: ^[[ARRAY]]:
    # CHECK: llvm.or
    # CHECK: llvm.cond_br %{{.*}}, ^{{bb[0-9]+}}, ^[[RARE]]
    # CHECK: llvm.br ^[[ITEMS:bb[0-9]+]](
    # CHECK: ^[[ITEMS]]([[CELLS:%[0-9]+]]: !llvm.ptr):
    # CHECK: llvm.getelementptr [[CELLS]][8]
    # CHECK: llvm.getelementptr [[CELLS]][24]
    # CHECK: llvm.br ^[[FOUND]](
    # CHECK: ^[[RARE]]:
    # CHECK: [[LIST:%[0-9]+]] = llvm.call preserve_mostcc @__ffi_builder_shared_integers_DIGEST(%{{.*}}, %arg1)
    # CHECK: llvm.cond_br %{{.*}}, ^[[ITEMS]]([[LIST]] : !llvm.ptr), ^[[MOVED:bb[0-9]+]]
    # CHECK: ^[[MOVED]]:
    # CHECK: llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%{{.*}}, %arg1)
    # CHECK: llvm.br ^[[SHAPE]](


def test_signs_of_entries_are_looked_at_together() -> None:
    text = printed(attached([Shape("s", [n, m, Var("k", "int64")])]))
    check_comments(text)
    assert text.count('"sge"') == 1
    # CHECK: [[TWO:%[0-9]+]] = llvm.or %{{.*}}, %{{.*}} : i64
    # CHECK-NEXT: [[ALL:%[0-9]+]] = llvm.or [[TWO]], %{{.*}} : i64
    # CHECK: llvm.icmp "sge" [[ALL]]


def test_a_tuple() -> None:
    check_comments(printed(attached([TupleParam("t", [n, spec.ConstNone("none")])])))
    # The object at %arg1; one that was moved there goes a side way: 71 and 75 as bits.
    # CHECK: llvm.cond_br %{{.*}}, ^[[FOUND:bb[0-9]+]](%{{.*}} : !llvm.ptr), ^[[OTHER:bb[0-9]+]]
    # CHECK: ^[[FOUND]]([[TUPLE:%[0-9]+]]: !llvm.ptr):
    # CHECK: [[SIZE:%[0-9]+]] = llvm.getelementptr [[TUPLE]][32]
    # CHECK: llvm.load [[SIZE]] : !llvm.ptr -> i64
    # CHECK: llvm.getelementptr [[TUPLE]][24]
    # CHECK: [[CELLS:%[0-9]+]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
    # CHECK: llvm.load [[CELLS]] : !llvm.ptr -> i32
    # CHECK: llvm.getelementptr [[CELLS]][16]
    # CHECK: ^[[OTHER]]:
    # CHECK: [[MASK:%[0-9]+]] = llvm.mlir.constant(2176 : i64) : i64
    # CHECK-NEXT: llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST([[MASK]], %arg1)


def test_streams_and_pointers() -> None:
    params: list[spec.Param] = [spec.Stream("s"), spec.DataPointer("p")]
    check_comments(printed(attached(params)))
    # CHECK: [[STREAM:%[0-9]+]] = llvm.load %arg1 : !llvm.ptr -> i32
    # CHECK: [[POINTER:%[0-9]+]] = llvm.getelementptr %arg1[16]
    # CHECK: llvm.load [[POINTER]] : !llvm.ptr -> i32


def test_the_environments_stream() -> None:
    params: list[spec.Param] = [spec.EnvStream("s"), tensor([n], device_type="cuda")]
    check_comments(printed(attached(params)))
    # CHECK: llvm.getelementptr %{{.*}}[40]
    # CHECK: [[AT:%[0-9]+]] = llvm.getelementptr %{{.*}}[32]
    # CHECK: [[DEVICE:%[0-9]+]] = llvm.load [[AT]] : !llvm.ptr -> i64
    # CHECK: [[HIGH:%[0-9]+]] = llvm.lshr [[DEVICE]], %{{.*}} : i64
    # CHECK-NEXT: [[ID:%[0-9]+]] = llvm.trunc [[HIGH]] : i64 to i32
    # CHECK-NEXT: llvm.call @TVMFFIEnvGetStream(%{{[0-9]+}}, [[ID]]) : (i32, i32) -> !llvm.ptr


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


def test_a_packed_tensor() -> None:
    x = Tensor("x", [n, m], "float4_e2m1fn", device_type="cpu", storage_dtype="float4_e2m1fnx2")
    check_comments(printed(attached([x])))
    # ndim 2, and (17, 4, 2)
    # CHECK: llvm.mlir.constant(567421014376450 : i64) : i64
    # CHECK: [[SHAPE:%[0-9]+]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
    # CHECK: [[AT:%[0-9]+]] = llvm.getelementptr [[SHAPE]][8]
    # CHECK: [[M:%[0-9]+]] = llvm.load [[AT]] : !llvm.ptr -> i64
    # CHECK: llvm.mlir.constant(2 : i64) : i64
    # CHECK-NEXT: llvm.mul [[M]]


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


def test_an_opaque_pointer_is_the_first_that_is_looked_for() -> None:
    check_comments(printed(attached([spec.Stream("s"), spec.DataPointer("p")])))
    # CHECK: llvm.mlir.constant(4 : i32) : i32
    # CHECK: llvm.cond_br %{{.*}} weights([2000, 1]), ^[[FIRST:bb[0-9]+]](%{{.*}} : i64), ^[[OTHER:bb[0-9]+]]
    # CHECK: ^[[FIRST]](%{{.*}}: i64):
    # CHECK: llvm.mlir.constant(4 : i32) : i32
    # CHECK: llvm.cond_br %{{.*}} weights([2000, 1]), ^[[SECOND:bb[0-9]+]](%{{.*}} : i64), ^[[ADDRESS:bb[0-9]+]]
    # CHECK: ^[[SECOND]](%{{.*}}: i64):
    # CHECK: ^[[OTHER]]:
    # CHECK: llvm.select
    # CHECK: llvm.cond_br %{{.*}}, ^[[FIRST]](%{{.*}} : i64), ^[[SLOW:bb[0-9]+]]
    # CHECK: ^[[ADDRESS]]:
    # CHECK: llvm.call preserve_mostcc @__ffi_builder_shared_big_uint64_DIGEST


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


def test_what_is_in_an_optional_is_in_a_branch() -> None:
    check_comments(printed(attached([spec.Optional(Var("a", "int32"))])))
    # CHECK: [[NONE:%[0-9]+]] = llvm.mlir.constant(0 : i32) : i32
    # CHECK-NEXT: [[THERE:%[0-9]+]] = llvm.icmp "ne" %{{.*}}, [[NONE]] : i32
    # CHECK-NEXT: llvm.cond_br [[THERE]], ^[[BODY:bb[0-9]+]], ^[[ABSENT:bb[0-9]+]]
    # CHECK: ^[[BODY]]:
    # CHECK: llvm.br ^[[MERGED:bb[0-9]+]](
    # CHECK: ^[[ABSENT]]:
    # CHECK: llvm.br ^[[MERGED]](
    # CHECK: ^[[MERGED]](
