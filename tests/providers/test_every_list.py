"""Lists of every kind, and maps, share conventions, refusals and memory."""

from __future__ import annotations

from typing import Any, Final, cast

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, spec
from ffi_builder.providers import (
    CheckStatus,
    CudaLaunchCallProvider,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
    PackedCallProvider,
)
from tests.providers.listing import ABSENT, compiled, packing
from tests.support.wrapping import attached

JOINED: Final = """
llvm.func @joined(%names: !llvm.ptr, %n: i64, %out: !llvm.ptr) {
  %second = llvm.getelementptr %names[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %text = llvm.load %second : !llvm.ptr -> !llvm.ptr
  %at = llvm.getelementptr %names[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %size = llvm.load %at : !llvm.ptr -> i64
  "llvm.intr.memcpy"(%out, %text, %size) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  %end = llvm.getelementptr %out[%size] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %count = llvm.trunc %n : i64 to i8
  llvm.store %count, %end : i8, !llvm.ptr
  llvm.return
}
"""
"""Writes the second text, and how many there are."""
LAST_ROW: Final = """
llvm.func @row(%rows: !llvm.ptr, %lengths: !llvm.ptr, %n: i64, %out: !llvm.ptr) {
  %one = llvm.mlir.constant(1 : i64) : i64
  %end = llvm.sub %n, %one : i64
  %at = llvm.getelementptr %rows[%end] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
  %row = llvm.load %at : !llvm.ptr -> !llvm.ptr
  %of = llvm.getelementptr %lengths[%end] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %length = llvm.load %of : !llvm.ptr -> i64
  %size = llvm.mlir.constant(8 : i64) : i64
  %bytes = llvm.mul %length, %size : i64
  "llvm.intr.memcpy"(%out, %row, %bytes) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
}
"""
LAST_ENTRY: Final = """
llvm.func @entry(%keys: !llvm.ptr, %values: !llvm.ptr, %n: i64, %out: !llvm.ptr) {
  %one = llvm.mlir.constant(1 : i64) : i64
  %end = llvm.sub %n, %one : i64
  %at = llvm.getelementptr %keys[%end] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %key = llvm.load %at : !llvm.ptr -> i64
  %of = llvm.getelementptr %values[%end] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %value = llvm.load %of : !llvm.ptr -> i64
  %second = llvm.getelementptr %out[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %key, %out : i64, !llvm.ptr
  llvm.store %value, %second : i64, !llvm.ptr
  llvm.return
}
"""
KERNELS: Final = {"joined": (JOINED, 1), "row": (LAST_ROW, 2), "entry": (LAST_ENTRY, 2)}
"""Kernels, and the number of pointers that each gets."""
TEXTS: Final = ("List(String)", "joined", ["ab", "cd"], "uint8", [*b"cd", 2])
ROWS: Final = ("List(List(int64))", "row", [[1, 2], [], [7, 8, 9]], "int64", [7, 8, 9])
ENTRIES: Final = ("Map(int64, int64)", "entry", {1: 2, 3: 4}, "int64", [3, 4])


@pytest.mark.parametrize(
    ("type_", "kernel", "given", "dtype", "expected"), [TEXTS, ROWS, ENTRIES], ids=[*KERNELS]
)
@pytest.mark.parametrize("convention", ["pack", NestedTensorCallProvider, MemRefCallProvider])
def test_other_conventions(
    type_: str, kernel: str, given: Any, dtype: str, expected: list[int], convention: Any
) -> None:
    text, pointers = KERNELS[kernel]
    out = np.zeros(64, dtype)
    if convention == "pack":
        provider: Any = DynamicParamPackCallProvider("pack")
    else:
        provider = convention(kernel, args=["v", "out.data"])
    signature = f"f(v: {type_}, out: Tensor([64], {dtype}))"
    compiled(text + packing(kernel, pointers), (signature, provider))["f"](given, out)
    assert out[: len(expected)].tolist() == expected


@pytest.mark.parametrize(
    ("type_", "args"),
    [
        ("TensorList(Tensor([4], int8))", None),
        ("TensorList(Tensor([4], int8))", ["v.pointers"]),
        *(("List(int64)", [part]) for part in ("v", "v.data")),
        *(("List(String)", [part]) for part in ("v", "v.data", "v.c_str")),
        *(("List(List(int64))", [part]) for part in ("v", "v.pointers", "v.lengths")),
        *(("Map(int64, int64)", [part]) for part in ("v", "v.keys", "v.values")),
    ],
)
def test_a_cuda_kernel_cannot_read_it(type_: str, args: Any) -> None:
    ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }"
    text = f"f(v: {type_}, x: Tensor([4], int8))" if args else f"f(v: {type_})"
    provider = CudaLaunchCallProvider(ptx, "k", grid=1, block=1, args=args)
    elements = type_ in ("List(int64)", "List(String)")
    words = (
        "' is made of elements in host memory; leave it out"
        if elements
        else "arrays in host memory"
    )
    with pytest.raises(
        BuildError, match=words if args != ["v"] or elements else "' is made of .* in host memory"
    ):
        attached(spec.Signature.parse(text, device="cuda").params, provider)


@pytest.mark.parametrize("type_", ["TensorList(Tensor([4], int8))", "List(float16)"])
@pytest.mark.parametrize("given", [None, 0, 2])
def test_an_absent_list_is_null_and_empty(type_: str, given: int | None) -> None:
    args = ["xs.present", "xs.pointers" if "Tensor" in type_ else "xs.data", "xs.length", "out"]
    text = f"f(xs: Optional({type_}), out: Tensor([3], int64))"
    element = np.zeros(4, "int8") if "Tensor" in type_ else 1
    out = np.zeros(3, "int64")
    function = compiled(ABSENT, (text, DirectCallProvider("absent", args=args)))["f"]
    function(None if given is None else [element] * given, out)
    assert (out[0], out[2]) == (given is not None, given or 0)
    assert (out[1] == 0) == (given is None)


@pytest.mark.parametrize(
    ("type_", "args", "given"),
    [
        ("TensorList(Tensor([4], int8))", ["v.length", "v"], [np.zeros(4, "int8")] * 2),
        ("List(int64)", ["v.length", "v"], [7, 8]),
        ("List(String)", ["v.length", "v"], ["ab", "c"]),
        ("List(List(int64))", ["v.length", "v"], [[1, 2], []]),
        ("Map(int64, int64)", ["v.length", "v"], {1: 2}),
    ],
)
def test_a_packed_function_gets_the_list_itself(type_: str, args: Any, given: Any) -> None:
    received: list[Any] = []
    tvm_ffi.register_global_func("test.lists.keep", lambda *v: received.extend(v), override=True)
    provider = PackedCallProvider(global_function="test.lists.keep", args=args)
    compiled("", (f"f(v: {type_})", provider))["f"](given)
    length, value = received
    assert length == len(given) == len(value)
    assert _plain(value) == _plain(given)


def _plain(value: Any) -> Any:
    if isinstance(value, (tvm_ffi.Map, dict)):
        return dict(cast("dict[Any, Any]", value))
    if isinstance(value, (tvm_ffi.Array, list)):
        return [_plain(each) for each in cast("list[Any]", value)]
    return value.shape if hasattr(value, "__dlpack__") else value


# ---- memory


COUNTED: Final = """
llvm.mlir.global internal @allocated(0 : i64) : i64
llvm.mlir.global internal @freed(0 : i64) : i64
llvm.mlir.global internal @room() : !llvm.array<65536 x i64>
llvm.func @malloc(%size: i64) -> !llvm.ptr {
  %at = llvm.mlir.addressof @allocated : !llvm.ptr
  %old = llvm.load %at : !llvm.ptr -> i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %new = llvm.add %old, %one : i64
  llvm.store %new, %at : i64, !llvm.ptr
  %most = llvm.mlir.constant(40000 : i64) : i64
  %fits = llvm.icmp "ult" %size, %most : i64
  %start = llvm.mlir.addressof @room : !llvm.ptr
  %slots = llvm.mlir.constant(13 : i64) : i64
  %slot = llvm.urem %old, %slots : i64
  %words = llvm.mul %slot, %most : i64
  %place = llvm.getelementptr %start[%words] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %null = llvm.mlir.zero : !llvm.ptr
  %found = llvm.select %fits, %place, %null : i1, !llvm.ptr
  llvm.return %found : !llvm.ptr
}
llvm.func @free(%given: !llvm.ptr) {
  %at = llvm.mlir.addressof @freed : !llvm.ptr
  %old = llvm.load %at : !llvm.ptr -> i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %new = llvm.add %old, %one : i64
  llvm.store %new, %at : i64, !llvm.ptr
  llvm.return
}
llvm.func @counts(%out: !llvm.ptr) {
  %a = llvm.mlir.addressof @allocated : !llvm.ptr
  %f = llvm.mlir.addressof @freed : !llvm.ptr
  %first = llvm.load %a : !llvm.ptr -> i64
  %second = llvm.load %f : !llvm.ptr -> i64
  %next = llvm.getelementptr %out[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %first, %out : i64, !llvm.ptr
  llvm.store %second, %next : i64, !llvm.ptr
  llvm.return
}
llvm.func @nothing(%status: i32) -> i32 {
  llvm.return %status : i32
}
"""
"""An allocator that counts; it has 13 times 40,000 bytes, and then the first of these again."""
KINDS: Final = {
    "tensors": "xs: TensorList(Tensor([4], int8)), ys: TensorList(Tensor([n], int8))",
    "numbers": "xs: List(int64), ys: List(bool)",
    "texts": "xs: List(String), ys: List(Bytes)",
    "rows": "xs: List(List(int64)), ys: List(List(bool))",
    "maps": "xs: Map(int64, int64), ys: Optional(Map(bool, int8))",
}


@pytest.fixture(scope="module")
def functions() -> dict[str, Any]:
    """Functions of two lists of each kind and of a status that they fail with."""
    counts = "counts(out: Tensor([2], int64))", DirectCallProvider("counts")
    made: dict[str, Any] = {}
    for kind, params in KINDS.items():
        # The texts of C strings are copied, which takes memory of its own.
        more = ["xs.c_str", "ys.c_str"] if kind == "texts" else []
        nothing = "@nothing(%status: i32, %x: !llvm.ptr, %y: !llvm.ptr)"
        text = COUNTED.replace("@nothing(%status: i32)", nothing) if more else COUNTED
        failing = CheckStatus(DirectCallProvider("nothing", args=["status", *more]))
        made[kind] = compiled(text, (f"f({params}, status: int32)", failing), counts)
    return made


def counted(functions: Any, *args: Any) -> tuple[list[int], BaseException | None]:
    """Call the function; return how often it allocated and freed, and its error."""
    before, after = np.zeros(2, "int64"), np.zeros(2, "int64")
    functions["counts"](before)
    error: BaseException | None = None
    try:
        functions["f"](*args)
    except (ValueError, TypeError, RuntimeError, MemoryError) as raised:
        error = raised
    functions["counts"](after)
    return (after - before).tolist(), error


TENSORS: Final = [np.zeros(4, "int8")] * 200
NUMBERS: Final = [1] * 3000
STRS, BYTES = ["abc"] * 300, [b"abc"] * 300
LONG: Final = [[1] * 30] * 10
MANY: Final = {n: n for n in range(400)}
STATUS, TYPE = "failed with status 3", "type of "
MEMORY: Final[list[tuple[str, Any, Any, Any, int, str]]] = [
    # kind, both lists, the status, how often memory is asked for, and the error
    ("tensors", TENSORS[:10], TENSORS[:10], 0, 0, ""),
    ("tensors", TENSORS, TENSORS[:1], 0, 1, ""),
    ("tensors", TENSORS, TENSORS, 0, 2, ""),
    ("tensors", TENSORS, TENSORS, 3, 2, STATUS),
    ("tensors", TENSORS, TENSORS, 0.5, 2, f"{TYPE}status"),
    ("tensors", TENSORS, [*TENSORS, 7], 0, 2, f"{TYPE}ys[200]"),
    ("tensors", [*TENSORS, 7], TENSORS, 0, 1, f"{TYPE}xs[200]"),
    ("tensors", TENSORS, 7, 0, 1, f"{TYPE}ys"),
    ("tensors", TENSORS, TENSORS * 20, 0, 2, "There is no memory for the list ys"),
    ("numbers", NUMBERS[:256], NUMBERS[:2048], 0, 0, ""),
    ("numbers", NUMBERS[:257], NUMBERS[:1], 0, 1, ""),
    ("numbers", NUMBERS, NUMBERS, 0, 2, ""),
    ("numbers", NUMBERS, NUMBERS, 3, 2, STATUS),
    ("numbers", NUMBERS, NUMBERS, 0.5, 2, f"{TYPE}status"),
    ("numbers", NUMBERS, [*NUMBERS, "a"], 0, 2, f"{TYPE}ys[3000]"),
    ("numbers", [*NUMBERS, 0.5], NUMBERS, 0, 1, f"{TYPE}xs[3000]"),
    ("numbers", NUMBERS, 7, 0, 1, f"{TYPE}ys"),
    ("numbers", NUMBERS * 2, NUMBERS, 0, 1, "There is no memory for the list xs"),
    ("texts", ["a"], [b"a"], 0, 2, ""),
    ("texts", STRS, BYTES, 0, 4, ""),
    ("texts", STRS, BYTES, 3, 4, STATUS),
    ("texts", STRS, [*BYTES, "a"], 0, 2, f"{TYPE}ys[300]"),
    ("texts", STRS, [*BYTES, b"\0"], 0, 4, "ys[300] has a NUL at byte 0"),
    ("texts", [*STRS, "a\0"], BYTES, 0, 3, "xs[300] has a NUL at byte 1"),
    ("texts", [*STRS, b"a"], BYTES, 0, 1, f"{TYPE}xs[300]"),
    ("rows", [[1] * 23] * 10, [[1] * 184] * 10, 0, 0, ""),
    ("rows", LONG, [], 0, 1, ""),
    ("rows", LONG, LONG * 9, 0, 2, ""),
    ("rows", LONG, LONG * 9, 3, 2, STATUS),
    ("rows", LONG, [*LONG * 9, ["a"]], 0, 2, f"{TYPE}ys[90][0]"),
    ("rows", [*LONG, [1, 0.5]], LONG * 9, 0, 1, f"{TYPE}xs[10][1]"),
    ("rows", [*LONG, 1], LONG, 0, 0, f"{TYPE}xs[10]"),
    ("rows", [[1] * 3000] * 2, LONG, 0, 1, "There is no memory for the list xs"),
    ("maps", {1: 2}, {0: 1}, 0, 0, ""),
    ("maps", MANY, None, 0, 2, ""),
    ("maps", MANY, {0: 1}, 3, 2, STATUS),
    ("maps", MANY, {0: 300}, 0, 2, "ys.values[0]"),
    ("maps", {**MANY, 3: "a text that is an object"}, {}, 0, 2, f"{TYPE}xs.values[3]"),
    ("maps", MANY, 7, 0, 2, f"{TYPE}ys"),
]


@pytest.mark.parametrize(
    ("kind", "xs", "ys", "status", "times", "words"),
    MEMORY,
    ids=[f"{row[0]}-{row[4]}-{row[5] or 'fits'}" for row in MEMORY],
)
def test_memory_is_released_on_every_path(
    functions: Any, kind: str, xs: Any, ys: Any, status: Any, times: int, words: str
) -> None:
    """Also in further calls: a function frees what it has allocated, and nothing else."""
    for _ in range(2):
        counts, error = counted(functions[kind], xs, ys, status)
        full = "memory" in words
        assert counts == [times, times - full]
        assert (error is None) == (not words)
        assert words in str(error)
        assert isinstance(error, MemoryError) == full
