"""The words of errors about tensors of any rank, several dtypes, other layouts, any device."""

from __future__ import annotations

from functools import partial

import pytest

from ffi_builder import spec
from ffi_builder.spec import Optional, Tensor, Var, dims
from tests.builder.messages.failing import Failure, check_both, compile_all
from tests.differential.description import NONE, DLTensor, of_int, tensor
from tests.support.wrapping import RawWrapper

n, m = dims("n m")
ANY = Tensor("A", ..., "float32", device_type="cpu")
COLUMNS = Tensor("A", [n, m], "float32", device_type="cpu", strides="F")
ANY_COLUMNS = Tensor("A", ..., "float32", device_type="cpu", strides="F", data_alignment=16)
SEVERAL = Tensor("A", [n], ("float16", "bfloat16", "int8"), device_type="cpu")
LOOSE = Tensor("A", [n, 3], "float32", device_type="cpu", strides="any")
PACKED = Tensor(
    "A", [n, m], "float4_e2m1fn", device_type="cpu", strides="F", storage_dtype="float4_e2m1fnx2"
)
ANY_TEXT = "f(A: Tensor(..., float32))"
COLUMNS_TEXT = "f(A: Tensor([n, m], float32, strides=F))"
ANY_COLUMNS_TEXT = "f(A: Tensor(..., float32, strides=F))"
any_rank = partial(Failure, [ANY], kind="ValueError", text=ANY_TEXT)
columns = partial(Failure, [COLUMNS], kind="ValueError", text=COLUMNS_TEXT)
any_columns = partial(Failure, [ANY_COLUMNS], kind="ValueError", text=ANY_COLUMNS_TEXT)
loose = partial(
    Failure, [LOOSE], kind="ValueError", text="f(A: Tensor([n, 3], float32, strides=any))"
)


def on_any(name: str, device_id: int | Var | None = None) -> Tensor:
    return Tensor(name, [], "float32", device_type="any", device_id=device_id)


def scalar(device_type: int, device_id: int) -> DLTensor:
    return DLTensor((), device_type=device_type, device_id=device_id)


THREE: list[spec.Param] = [Optional(on_any("A")), on_any("B"), on_any("C")]
THREE_TEXT = "f(A: Optional(Tensor([], float32)), B: Tensor([], float32), C: Tensor([], float32))"

FAILURES = {
    "negative ndim": any_rank(
        [tensor(DLTensor((), ndim=-1))],
        subject="A.ndim on argument #0",
        expected="a non-negative value",
        got="-1",
    ),
    "NULL shape": any_rank(
        [tensor(DLTensor(None, ndim=2))],
        subject="A.shape on argument #0",
        expected="a non-NULL pointer",
        got="NULL",
    ),
    "a negative dimension": any_rank(
        [tensor(DLTensor((3, 0, -4)))],
        subject="A.shape[2] on argument #0",
        expected="a non-negative value",
        got="-4",
    ),
    "a stride": any_rank(
        [tensor(DLTensor((3, 4, 5), (20, 6, 1)))],
        subject="A.strides[1] on argument #0",
        expected="5 (row-major contiguous)",
        got="6 (shape=[3, 4, 5], strides=[20, 6, 1])",
    ),
    "the first of two wrong strides": any_rank(
        [tensor(DLTensor((3, 4), (1, 3)))],
        subject="A.strides[0] on argument #0",
        expected="4 (row-major contiguous)",
        got="1 (shape=[3, 4], strides=[1, 3])",
    ),
    "a product of dimensions": any_rank(
        [tensor(DLTensor((2**32, 2**31)))],
        subject="A.shape on argument #0",
        expected="a product of dimensions that fits int64",
        got="[4294967296, 2147483648]",
    ),
    "NULL data": any_rank(
        [tensor(DLTensor((), data=0))],
        subject="A.data on argument #0",
        expected="a non-NULL pointer, as A has elements",
        got="NULL",
    ),
    "more than 64 dimensions": any_rank(
        [tensor(DLTensor((1,) * 65 + (2,), (1,) * 65 + (2,)))],
        subject="A.strides[65] on argument #0",
        expected="1 (row-major contiguous)",
        got=f"2 (shape=[{'1, ' * 64}...], strides=[{'1, ' * 64}...])",
    ),
    "column-major": columns(
        [tensor(DLTensor((3, 4), (4, 1)))],
        subject="A.strides[0] on argument #0",
        expected="1 (column-major contiguous)",
        got="4 (shape=[3, 4], strides=[4, 1])",
    ),
    "column-major, the last": columns(
        [tensor(DLTensor((3, 4), (1, 4)))],
        subject="A.strides[1] on argument #0",
        expected="3 (column-major contiguous)",
        got="4 (shape=[3, 4], strides=[1, 4])",
    ),
    "column-major, NULL strides": columns(
        [tensor(DLTensor((3, 4)))],
        subject="A.strides[0] on argument #0",
        expected="1 (column-major contiguous)",
        got="4 (shape=[3, 4], strides=NULL)",
    ),
    "column-major, of any rank": any_columns(
        [tensor(DLTensor((3, 1, 4, 2), (1, 99, 4, 12)))],
        subject="A.strides[2] on argument #0",
        expected="3 (column-major contiguous)",
        got="4 (shape=[3, 1, 4, 2], strides=[1, 99, 4, 12])",
    ),
    "alignment, of any rank": any_columns(
        [tensor(DLTensor((3, 4), (1, 3), data=0x1008))],
        subject="A.data on argument #0",
        expected="an address aligned to 16 bytes (data_alignment of A)",
        got="0x1008 (aligned to 8)",
    ),
    "column-major, packed": Failure(
        [PACKED],
        [tensor(DLTensor((3, 4), (1, 6), dtype=(17, 4, 2)))],
        "ValueError",
        "A.strides[1] on argument #0",
        "f(A: Tensor([n, m], float4_e2m1fn, strides=F))",
        "3 (column-major contiguous)",
        "6 (shape=[3, 4], strides=[1, 6])",
    ),
    "any strides, but the dimension": loose(
        [tensor(DLTensor((2, 4), (7, -7)))],
        subject="A.shape[1] on argument #0",
        expected="3",
        got="4",
    ),
    "none of several dtypes": Failure(
        [SEVERAL],
        [tensor(DLTensor((3,)))],
        "TypeError",
        "A.dtype on argument #0",
        "f(A: Tensor([n], float16 | bfloat16 | int8))",
        "one of float16, bfloat16, int8",
        "float32",
    ),
    "several dtypes, but the rank": Failure(
        [SEVERAL],
        [tensor(DLTensor((3, 4), dtype=(2, 16, 1)))],
        "ValueError",
        "A.ndim on argument #0",
        "f(A: Tensor([n], float16 | bfloat16 | int8))",
        "1",
        "2",
    ),
    "the id of any device": Failure(
        [on_any("A", 1)],
        [tensor(scalar(2, 0))],
        "ValueError",
        "A.device_id on argument #0",
        "f(A: Tensor([], float32))",
        "1",
        "0",
    ),
    "another device of the first one's type": Failure(
        THREE,
        [tensor(scalar(2, 1)), tensor(scalar(1, 0)), tensor(scalar(2, 0))],
        "ValueError",
        "C.device_id on argument #2",
        THREE_TEXT,
        "1 (the device of A)",
        "0",
    ),
    "another device of the second one's type": Failure(
        THREE,
        [NONE, tensor(scalar(2, 1)), tensor(scalar(2, 0))],
        "ValueError",
        "C.device_id on argument #2",
        THREE_TEXT,
        "1 (the device of B)",
        "0",
    ),
    "an unknown device's id": Failure(
        [on_any("A", Var("d", "int32", max=3))],
        [tensor(scalar(99, 4))],
        "ValueError",
        "A.device_id on argument #0",
        "f(A: Tensor([], float32))",
        "at most 3 (max of d)",
        "4",
    ),
    "no tensor": Failure(
        [ANY], [of_int(1)], "TypeError", "type of A on argument #0", ANY_TEXT, "Tensor", "int"
    ),
}


@pytest.fixture(scope="module")
def wrappers() -> dict[str, RawWrapper]:
    return compile_all(FAILURES)


@pytest.mark.parametrize("name", FAILURES)
def test_message(name: str, wrappers: dict[str, RawWrapper]) -> None:
    check_both(FAILURES[name], wrappers[name])
