"""The words of every error about a tensor (docs/checks.md, "A tensor")."""

from __future__ import annotations

from functools import partial

import pytest

from ffi_builder import spec
from ffi_builder.spec import Tensor, Var, dims
from tests.builder.messages.failing import Failure, check_both, compile_all
from tests.differential.description import (
    BigInt,
    DLTensor,
    Elements,
    Moved,
    Object,
    Plain,
    Pointer,
    Value,
    of_int,
    tensor,
)
from tests.oracle.raw import moved, object_, register
from tests.support.wrapping import RawWrapper, wrap_raw

ADDED = register("tests.messages.Added")
n, m, k = dims("n m k")
s = Var("s", "int64")


def cpu(
    shape: list[spec.Dim | None],
    strides: list[spec.Dim | None] | None = None,
    *,
    name: str = "A",
    alignment: int | None = None,
    storage: str | None = None,
) -> Tensor:
    return Tensor(
        name,
        shape,
        "float4_e2m1fn" if storage else "float32",
        device_type="cpu",
        strides=strides,
        data_alignment=alignment,
        storage_dtype=storage,
    )


def cuda(name: str, device_id: int | Var | None = None) -> Tensor:
    return Tensor(name, [n], "float32", device_type="cuda", device_id=device_id)


def on(device_id: int) -> Value:
    return tensor(DLTensor((3,), device_type=2, device_id=device_id))


VECTOR, MATRIX = "f(A: Tensor([n], float32))", "f(A: Tensor([n, 4], float32))"
PACKED = "f(A: Tensor([n, m], float4_e2m1fn, strides=[None, 1]))"
TWO = "f(A: Tensor([n], float32), B: Tensor([n], float32))"
X2 = "float4_e2m1fnx2"
type_error = partial(Failure, [cpu([n])], kind="TypeError", text=VECTOR)
vector = partial(Failure, [cpu([n])], kind="ValueError", text=VECTOR)
matrix = partial(Failure, [cpu([n, 4])], kind="ValueError", text=MATRIX)


def of_type(value: Value, got: str) -> Failure:
    return type_error([value], subject="type of A on argument #0", expected="Tensor", got=got)


def null(value: Value) -> Failure:
    subject = "A on argument #0"
    return vector([value], subject=subject, expected="a non-NULL object", got="NULL")


def dtype(code: int, bits: int, lanes: int, got: str) -> Failure:
    body = DLTensor((3,), dtype=(code, bits, lanes))
    subject = "A.dtype on argument #0"
    return type_error([tensor(body)], subject=subject, expected="float32", got=got)


FAILURES = {
    "None": of_type(Plain(0), "None"),
    "int": of_type(of_int(1), "int"),
    "bool": of_type(Plain(2, 1), "bool"),
    "float": of_type(Plain(3), "float"),
    "opaque pointer": of_type(Plain(4, 0x1000), "opaque pointer"),
    "dtype": of_type(Plain(5), "dtype"),
    "device": of_type(Plain(6), "device"),
    "char*": of_type(Plain(8), "char*"),
    "byte array": of_type(Plain(9), "TVMFFIByteArray*"),
    "small str": of_type(Plain(11), "str"),
    "small bytes": of_type(Plain(12), "bytes"),
    "unchanged": of_type(Plain(13), "Unchanged"),
    "object": of_type(Object(64), "ffi.Object"),
    "str": of_type(Object(65), "str"),
    "bytes": of_type(Object(66), "bytes"),
    "error": of_type(Object(67), "ffi.Error"),
    "function": of_type(Object(68), "ffi.Function"),
    "shape": of_type(Object(69), "ffi.Shape"),
    "array": of_type(Object(71, Elements(())), "ffi.Array"),
    "map": of_type(Object(72), "ffi.Map"),
    "module": of_type(Object(73), "ffi.Module"),
    "Python object": of_type(Object(74), "Python object"),
    "list": of_type(Object(75, Elements(())), "ffi.List"),
    "dict": of_type(Object(76), "ffi.Dict"),
    "interrupt": of_type(Object(77), "ffi.VisitInterrupt"),
    "big int": of_type(Object(78, BigInt((1, 1))), "int beyond int64"),
    "a type of the registry": of_type(object_(ADDED), "tests.messages.Added"),
    "NULL of such a type": of_type(Plain(ADDED), f"type index {ADDED}"),
    "what does not say its type": of_type(object_(ADDED, says=71), f"type index {ADDED}"),
    "a static type that nobody has": of_type(Object(99), "type index 99"),
    "negative type": of_type(Plain(-2), "type index -2"),
    "moved what is no tensor": of_type(Moved(Object(71)), "ffi.Array"),
    "moved what the registry knows": of_type(moved(object_(ADDED)), "tests.messages.Added"),
    "NULL Tensor": null(Plain(70)),
    "NULL DLTensor*": null(Plain(7)),
    "moved NULL": null(Plain(10)),
    "moved away": null(Moved(None)),
    "ndim": matrix(
        [tensor(DLTensor((3, 4, 5)))], subject="A.ndim on argument #0", expected="2", got="3"
    ),
    "ndim of a DLTensor*": matrix(
        [Pointer(DLTensor(()))], subject="A.ndim on argument #0", expected="2", got="0"
    ),
    "negative ndim": matrix(
        [tensor(DLTensor((), ndim=-1))], subject="A.ndim on argument #0", expected="2", got="-1"
    ),
    "dtype of other bits": dtype(2, 64, 1, "float64"),
    "dtype of other code": dtype(0, 32, 1, "int32"),
    "dtype of other lanes": dtype(2, 32, 4, "float32x4"),
    "dtype with a name of its own": dtype(17, 4, 2, "float4_e2m1fnx2"),
    "bool dtype": dtype(6, 8, 1, "bool"),
    "odd bits": dtype(6, 1, 1, "bool1"),
    "unknown dtype": dtype(99, 3, 1, "dtype(code=99, bits=3, lanes=1)"),
    "device type": vector(
        [tensor(DLTensor((3,), device_type=2))],
        subject="A.device_type on argument #0",
        expected="cpu",
        got="cuda",
    ),
    "unknown device type": vector(
        [tensor(DLTensor((3,), device_type=99))],
        subject="A.device_type on argument #0",
        expected="cpu",
        got="device type 99",
    ),
    "device id": Failure(
        [cuda("A", 1)], [on(0)], "ValueError", "A.device_id on argument #0", VECTOR, "1", "0"
    ),
    "device id symbol": Failure(
        [cuda("A", Var("d", "int8", min=2))],
        [on(1)],
        "ValueError",
        "A.device_id on argument #0",
        VECTOR,
        "at least 2 (min of d)",
        "1",
    ),
    "another device": Failure(
        [cuda("A"), cuda("B")],
        [on(0), on(1)],
        "ValueError",
        "B.device_id on argument #1",
        TWO,
        "0 (the device of A)",
        "1",
    ),
    "NULL shape": vector(
        [tensor(DLTensor(None, ndim=1))],
        subject="A.shape on argument #0",
        expected="a non-NULL pointer",
        got="NULL",
    ),
    "negative dimension": vector(
        [tensor(DLTensor((-3,)))],
        subject="A.shape[0] on argument #0",
        expected="a non-negative value",
        got="-3",
    ),
    "negative None dimension": Failure(
        [cpu([None])],
        [tensor(DLTensor((-3,)))],
        "ValueError",
        "A.shape[0] on argument #0",
        "f(A: Tensor([None], float32))",
        "a non-negative value",
        "-3",
    ),
    "int dimension": matrix(
        [tensor(DLTensor((3, 5)))], subject="A.shape[1] on argument #0", expected="4", got="5"
    ),
    "row-major stride": matrix(
        [tensor(DLTensor((3, 4), (8, 1)))],
        subject="A.strides[0] on argument #0",
        expected="4 (row-major contiguous)",
        got="8 (shape=[3, 4], strides=[8, 1])",
    ),
    "row-major last stride": matrix(
        [tensor(DLTensor((3, 4), (4, 2)))],
        subject="A.strides[1] on argument #0",
        expected="1 (row-major contiguous)",
        got="2 (shape=[3, 4], strides=[4, 2])",
    ),
    "int stride": Failure(
        [cpu([n, m], [None, 1])],
        [tensor(DLTensor((3, 4), (8, 2)))],
        "ValueError",
        "A.strides[1] on argument #0",
        "f(A: Tensor([n, m], float32, strides=[None, 1]))",
        "1",
        "2 (shape=[3, 4], strides=[8, 2])",
    ),
    "int stride that NULL strides do not have": Failure(
        [cpu([n, m], [8, None])],
        [tensor(DLTensor((3, 4)))],
        "ValueError",
        "A.strides[0] on argument #0",
        "f(A: Tensor([n, m], float32, strides=[8, None]))",
        "8",
        "4 (shape=[3, 4], strides=NULL)",
    ),
    "stride symbol": Failure(
        [cpu([n, m], [s, s])],
        [tensor(DLTensor((3, 4), (4, 1)))],
        "ValueError",
        "A.strides[1] on argument #0",
        "f(A: Tensor([n, m], float32, strides=[s, s]))",
        "4 (s = A.strides[0])",
        "1 (shape=[3, 4], strides=[4, 1])",
    ),
    "stride symbol's divisibility": Failure(
        [cpu([n], [Var("s", "int32", divisibility=4)])],
        [tensor(DLTensor((3,), (-6,)))],
        "ValueError",
        "A.strides[0] on argument #0",
        "f(A: Tensor([n], float32, strides=[s]))",
        "a multiple of 4 (divisibility of s)",
        "-6",
    ),
    "stride expression": Failure(
        [cpu([n, m], [m * 2, 1])],
        [tensor(DLTensor((3, 4), (4, 1)))],
        "ValueError",
        "A.strides[0] on argument #0",
        "f(A: Tensor([n, m], float32, strides=[m * 2, 1]))",
        "8 (m * 2 with m = 4 from A.shape[1])",
        "4 (shape=[3, 4], strides=[4, 1])",
    ),
    "a free stride that does not fit": Failure(
        [cpu([1], [Var("s", "int8")])],
        [tensor(DLTensor((1,), (200,)))],
        "ValueError",
        "A.strides[0] on argument #0",
        "f(A: Tensor([1], float32, strides=[s]))",
        "a value that fits int8 (-128 to 127)",
        "200",
    ),
    "product of dimensions": Failure(
        [cpu([n, m], [None, None])],
        [tensor(DLTensor((2**32, 2**31), (1, 1)))],
        "ValueError",
        "A.shape on argument #0",
        "f(A: Tensor([n, m], float32, strides=[None, None]))",
        "a product of dimensions that fits int64",
        "[4294967296, 2147483648]",
    ),
    "byte_offset": vector(
        [tensor(DLTensor((3,), data=2**64 - 256, byte_offset=512))],
        subject="A.byte_offset on argument #0",
        expected="data + byte_offset within the address space",
        got="0xffffffffffffff00 + 0x200",
    ),
    "NULL data": vector(
        [tensor(DLTensor((3,), data=0))],
        subject="A.data on argument #0",
        expected="a non-NULL pointer, as A has elements",
        got="NULL",
    ),
    "NULL data with an offset": vector(
        [tensor(DLTensor((3,), data=0, byte_offset=64))],
        subject="A.data on argument #0",
        expected="a non-NULL pointer, as A has elements",
        got="NULL",
    ),
    "alignment": Failure(
        [cpu([n], alignment=16)],
        [tensor(DLTensor((3,), data=0x7F00, byte_offset=4))],
        "ValueError",
        "A.data on argument #0",
        VECTOR,
        "an address aligned to 16 bytes (data_alignment of A)",
        "0x7f04 (aligned to 4)",
    ),
    "packed dimension that is too large": Failure(
        [cpu([n, m], [None, 1], storage=X2)],
        [tensor(DLTensor((0, 2**62), (1, 1), dtype=(17, 4, 2)))],
        "ValueError",
        "A.shape[1] on argument #0",
        PACKED,
        "at most 4611686018427387903 in magnitude, as elements are packed",
        "4611686018427387904",
    ),
    "packed stride that is too large": Failure(
        [cpu([n, m], [s, 1], storage=X2)],
        [tensor(DLTensor((3, 4), (2**62, 1), dtype=(17, 4, 2)))],
        "ValueError",
        "A.strides[0] on argument #0",
        "f(A: Tensor([n, m], float4_e2m1fn, strides=[s, 1]))",
        "at most 4611686018427387903 in magnitude, as elements are packed",
        str(2**62),
    ),
    "ints whose product is too large": Failure(
        [cpu([2**32, 2**31])],
        [tensor(DLTensor((2**32, 2**31)))],
        "ValueError",
        "A.shape on argument #0",
        "f(A: Tensor([4294967296, 2147483648], float32))",
        "a product of dimensions that fits int64",
        "[4294967296, 2147483648]",
    ),
    "packed value": Failure(
        [cpu([n, 8], storage=X2)],
        [tensor(DLTensor((3, 5), dtype=(17, 4, 2)))],
        "ValueError",
        "A.shape[1] on argument #0",
        "f(A: Tensor([n, 8], float4_e2m1fn))",
        "8",
        "10",
    ),
    "packed strides show the tensor as it is stored": Failure(
        [cpu([n, m], [m, 1], storage=X2)],
        [tensor(DLTensor((3, 4), (5, 1), dtype=(17, 4, 2)))],
        "ValueError",
        "A.strides[0] on argument #0",
        "f(A: Tensor([n, m], float4_e2m1fn, strides=[m, 1]))",
        "8 (m = A.shape[1])",
        "10 (shape=[3, 4], strides=[5, 1])",
    ),
}


@pytest.fixture(scope="module")
def wrappers() -> dict[str, RawWrapper]:
    return compile_all(FAILURES)


@pytest.mark.parametrize("name", FAILURES)
def test_message(name: str, wrappers: dict[str, RawWrapper]) -> None:
    check_both(FAILURES[name], wrappers[name])


def test_the_largest_static_shape_is_accepted() -> None:
    assert wrap_raw([cpu([2**32, 2**30])])(tensor(DLTensor((2**32, 2**30)))) is None
