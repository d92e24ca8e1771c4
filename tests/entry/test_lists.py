"""Lists of texts, lists and tensors, structs, variants: read in C as the general way passes them."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import wrap
from ffi_builder.spec import (
    Bytes,
    ConstInt,
    List,
    Optional,
    Param,
    Shape,
    String,
    Struct,
    Tensor,
    TensorList,
    TupleParam,
    Var,
    Variant,
    dims,
)
from tests.entry.functions import needs_extension, read_in_c, ways

n, a, b = dims("n a b")
ROW: Final = Tensor("x", [n], "float32", device_type="cpu")
TO_READ: Final = replace(ROW, intent="in")
LONG: Final = "a text that is an object of tvm-ffi"
PARAMS: Final[dict[str, Param]] = {
    "strs": List("x", "String", n),
    "bytes": Optional(List("x", "Bytes")),
    "ints": List("x", "int64"),
    "rows": List("x", List("x", "int32")),
    "shape": Shape("x", [a, b]),
    "struct": Struct("x", [Var("p", "int64"), List("q", "String"), Optional(String("r"))]),
    "nested": Optional(Struct("x", [TupleParam("p", [Var("q", "bool"), Bytes("r")])])),
    "literal": Struct("x", [ConstInt("p", 3), Var("q", "float32")]),
    "tensor": Struct("x", [ROW, Var("q", "int64"), Optional(String("r"))]),
    "tensors": TensorList(ROW),
    "tensors to read": TensorList(TO_READ),
    "nested tensors": TupleParam("x", [Optional(TupleParam("p", [ROW])), replace(ROW, name="y")]),
    "tensors to read and to write": TupleParam("x", [TO_READ, replace(ROW, name="y")]),
    "variant": Variant([Var("x", "float64"), ROW]),
    "optional variant": Optional(Variant([Var("x", "int64"), ROW])),
}
VECTOR: Final[Any] = np.ones(3, "float32")
CONSTANT: Final[Any] = np.ones(3, "float32")
CONSTANT.flags.writeable = False
OBJECT: Final = tvm_ffi.from_dlpack(VECTOR)
READ: Final[dict[str, list[Any]]] = {
    "strs": [[], ["", "small", "eight888", LONG, "ünï", "a\0b"], (LONG,), [LONG] * 3000],
    "bytes": [None, [b"", b"small", b"eight888", LONG.encode()], (b"\0",)],
    "ints": [tvm_ffi.Array([1, 2, 3]), tvm_ffi.List([1])],
    "rows": [[], [[]], [[1, 2], (3,), []], ((1,),), [[*range(50)]] * 200, [tvm_ffi.Array([1])]],
    "shape": [(3, 4), [3, 4]],
    "struct": [(1, ["a", LONG], None), [1, (LONG,), LONG], (True, [], "r")],
    "nested": [None, ((True, b"r"),), [[False, LONG.encode()]]],
    "literal": [(3, 1.5), (3, 1)],
    "tensor": [(VECTOR, 1, None), [OBJECT, 2, LONG], (VECTOR[:0], 3, "r")],
    "tensors": [[], [VECTOR], (OBJECT, VECTOR), [VECTOR[:0]] * 2, [VECTOR, OBJECT] * 1000],
    "tensors to read": [[CONSTANT, VECTOR], (OBJECT,)],
    "nested tensors": [(None, VECTOR), [(OBJECT,), VECTOR], ([VECTOR], OBJECT)],
    "variant": [1.5, 3, True, np.ones(3, "float32"), tvm_ffi.from_dlpack(np.ones(3, "float32"))],
    "optional variant": [None, 3, np.ones(3, "float32")],
}
_itself: list[Any] = []
_itself.append(_itself)
OTHERS: Final[list[Any]] = [
    *(None, 5, 1.5, "a", LONG, b"a", LONG.encode(), [None], [1, "2"], [LONG, 5], [b"1", LONG]),
    *([[1], 2], [[1], ["2"]], [[1.5]], [[[1]]], ["\ud800"], [2**70], [LONG, 2**70], {}, [{}]),
    *(object(), [object()], [LONG, bytearray(9)], [np.int64(5)], np.float32(1), [np.ones(3)]),
    *(
        (1, LONG),
        (1, [LONG], None, 2),
        (4, 1.5),
        (1, [5], "r"),
        ((2, b"r"),),
        ("x", "y"),
        (2**40, -1),
    ),
    *(
        tvm_ffi.Array([1, LONG]),
        tvm_ffi.Map({}),
        tvm_ffi.Array([]),
        tvm_ffi.Shape((1, 2)),
        np.ones(3, "int8"),
        _itself,
    ),
    *([CONSTANT], [None, VECTOR], [VECTOR, 5], (VECTOR, VECTOR[:2]), [b"abcd" * 3], VECTOR),
    *([bytearray(12)], (memoryview(bytearray(12)).cast("f"), 1), [VECTOR.astype("int8")], [None]),
    *((np.ones(3, "float32"), 1), [tvm_ffi.from_dlpack(np.ones(3, "int8")), 1], np.ones(3)[::-1]),
]


@pytest.mark.parametrize("name", PARAMS)
def test_each_way_ends_as_the_general_one(name: str) -> None:
    both = ways([PARAMS[name], Var("last", "int32")])
    right = READ.get(name, [])
    for value in (*right, *OTHERS):
        for last in (7, "x"):
            is_read = any(value is each for each in right) and last == 7
            for general, entry in (
                (both.general, both.entry),
                (both.general_callable, both.entry_callable),
            ):
                expected = both.outcome(general, value, last)
                with read_in_c(*[entry] * is_read):
                    assert both.outcome(entry, value, last) == expected, (value, last)
                assert not is_read or expected[0] is type(None), (value, expected)


class _Text(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_size_t))


_KERNEL: Final = "struct text { const char *data; size_t size; };"


@pytest.mark.parametrize("kind", ["String", "Bytes"])
def test_a_list_that_loses_its_texts_during_the_call(kind: str) -> None:
    seen: list[bytes] = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
    def kernel(address: int, count: int) -> None:
        texts = (_Text * count).from_address(address)
        given.clear()
        others = [bytes([at % 256]) * len(LONG) for at in range(1000)]
        seen.extend(ctypes.string_at(texts[at].data, texts[at].size) for at in range(count))
        others.clear()

    call = wrap(
        kernel,
        f"f(names: List({kind}, n))",
        prototype=f"{_KERNEL} void f(const struct text *names, int64_t n)",
    )
    made = [f"{LONG} {at}" for at in range(100)]
    expected = [text.encode() for text in made]
    given: list[Any] = [text.encode() for text in made] if kind == "Bytes" else made
    call(given)
    assert (seen, given) == (expected, [])


def test_a_list_that_loses_its_arrays_during_the_call() -> None:
    seen: list[float] = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
    def kernel(address: int, count: int) -> None:
        rows = (ctypes.POINTER(ctypes.c_float) * count).from_address(address)
        given.clear()
        others = [np.full(1000, -1, "float32") for _ in range(count)]
        seen.extend(rows[at][999] for at in range(count))
        others.clear()

    call = wrap(
        kernel,
        "f(rows: TensorList(Tensor([1000], float32), length=n))",
        device="cpu",
        args=["rows.pointers", "n"],
        prototype="void f(float *const *rows, int64_t n)",
    )
    given = [np.full(1000, at, "float32") for at in range(100)]
    call(given)
    assert (seen, given) == ([*range(100)], [])


@needs_extension
def test_c_reads_texts_of_a_list_without_a_copy() -> None:
    found: list[int] = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
    def kernel(address: int, count: int) -> None:
        texts = (_Text * count).from_address(address)
        found.extend(texts[at].data for at in range(count))

    call = wrap(
        kernel,
        "f(names: List(Bytes, n))",
        prototype=f"{_KERNEL} void f(const struct text *names, int64_t n)",
    )
    texts = [f"{LONG} {at}".encode() for at in range(3)]
    call(texts)
    behind_header = bytes.__basicsize__ - 1
    assert found == [id(text) + behind_header for text in texts]
