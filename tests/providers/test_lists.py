"""Lists of tensors: the arrays that a kernel gets of them, and the memory that these are in."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, attach, runtime, spec
from ffi_builder.providers import (
    CallProvider,
    CheckStatus,
    CudaLaunchCallProvider,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    NestedTensorCallProvider,
    NopCallProvider,
    PackedCallProvider,
)
from tests.support.wrapping import attached, new_module

ROOM: Final = 700
COPY: Final = f"""
llvm.func @k(%pointers: !llvm.ptr, %shapes: !llvm.ptr, %strides: !llvm.ptr, %n: i64,
             %out: !llvm.ptr) -> i32 {{
  %one = llvm.mlir.constant(8 : i64) : i64
  %two = llvm.mlir.constant(16 : i64) : i64
  %small = llvm.mul %n, %one : i64
  %large = llvm.mul %n, %two : i64
  %second = llvm.getelementptr %out[{ROOM}] : (!llvm.ptr) -> !llvm.ptr, i64
  %third = llvm.getelementptr %out[{2 * ROOM}] : (!llvm.ptr) -> !llvm.ptr, i64
  "llvm.intr.memcpy"(%out, %pointers, %small) <{{isVolatile = false}}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  "llvm.intr.memcpy"(%second, %shapes, %large) <{{isVolatile = false}}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  "llvm.intr.memcpy"(%third, %strides, %large) <{{isVolatile = false}}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  %status = llvm.trunc %n : i64 to i32
  llvm.return %status : i32
}}
llvm.func @pack(%params: !llvm.ptr) {{
  %list = llvm.load %params : !llvm.ptr -> !llvm.ptr
  %at = llvm.getelementptr %params[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %tensor = llvm.load %at : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %tensor : !llvm.ptr -> !llvm.ptr
  %all = llvm.load %list : !llvm.ptr -> !llvm.struct<(ptr, ptr, ptr, i64)>
  %p = llvm.extractvalue %all[0] : !llvm.struct<(ptr, ptr, ptr, i64)>
  %q = llvm.extractvalue %all[1] : !llvm.struct<(ptr, ptr, ptr, i64)>
  %r = llvm.extractvalue %all[2] : !llvm.struct<(ptr, ptr, ptr, i64)>
  %n = llvm.extractvalue %all[3] : !llvm.struct<(ptr, ptr, ptr, i64)>
  %_ = llvm.call @k(%p, %q, %r, %n, %out) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> i32
  llvm.return
}}
"""
"""Copies the arrays of a list of matrices to the rows of ``out``."""
LIST: Final = f"f(xs: TensorList(Tensor([m, None], int8{{}})), out: Tensor([3, {ROOM}], int64))"
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


def compiled(text: str, *functions: tuple[str, CallProvider]) -> Any:
    module = new_module(text)
    for signature, provider in functions:
        attach(module, spec.Signature.parse(signature, device="cpu"), provider)
    return runtime.compile(module)


def copied(out: Any, count: int) -> tuple[list[int], list[list[int]], list[list[int]]]:
    pointers, shapes, strides = (row.tolist() for row in out)
    pairs = [[row[2 * i : 2 * i + 2] for i in range(count)] for row in (shapes, strides)]
    return pointers[:count], pairs[0], pairs[1]


def matrices(count: int, width: int = 3) -> list[Any]:
    return [np.zeros((4, width + i % 5), "int8") for i in range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 51, 52, 300])
@pytest.mark.parametrize(
    "provider", [DirectCallProvider("k"), DynamicParamPackCallProvider("pack")]
)
def test_a_kernel_gets_arrays(provider: CallProvider, count: int) -> None:
    function = compiled(COPY, (LIST.format(""), provider))["f"]
    xs, out = matrices(count), np.full((3, ROOM), -1)
    function(xs, out)
    pointers, shapes, strides = copied(out, count)
    assert pointers == [x.ctypes.data for x in xs]
    assert shapes == [list(x.shape) for x in xs]
    assert strides == [[x.shape[1], 1] for x in xs]
    assert (out[:, 2 * count :] == -1).all()


WHOLE: Final[Any] = np.zeros((6, 6), "int8")


@pytest.mark.parametrize(
    ("option", "x", "strides"),
    [
        ("strides=F", WHOLE.T, [1, 6]),
        ("strides=any", WHOLE[::2, ::-3], [12, -3]),
        ("strides=[s, 1]", WHOLE[::2], [12, 1]),
        ("strides=[None, None]", WHOLE, [6, 1]),
    ],
)
def test_strides_are_those_that_came(option: str, x: Any, strides: list[int]) -> None:
    function = compiled(COPY, (LIST.format(f", {option}"), DirectCallProvider("k")))["f"]
    out = np.zeros((3, ROOM), "int64")
    function([x] * 60, out)
    assert copied(out, 60) == ([x.ctypes.data] * 60, [list(x.shape)] * 60, [strides] * 60)


def test_packed_elements_are_counted_apart() -> None:
    text = LIST.format("").replace("int8", "int4, storage_dtype=int8")
    function = compiled(COPY, (text, DirectCallProvider("k")))["f"]
    out = np.zeros((3, ROOM), "int64")
    function([np.zeros((4, 3), "int8")], out)
    assert copied(out, 1)[1:] == ([[4, 6]], [[6, 1]])


def test_elements_may_come_in_every_form() -> None:
    function = compiled(COPY, (LIST.format(""), DirectCallProvider("k")))["f"]
    xs, out = matrices(3), np.zeros((3, ROOM), "int64")
    for given in (tuple(xs), tvm_ffi.convert(xs), [tvm_ffi.from_dlpack(x) for x in xs]):
        out[:] = 0
        function(given, out)
        assert copied(out, 3)[0] == [x.ctypes.data for x in xs]


def callee_type(provider: CallProvider, text: str) -> str:
    module = attached(spec.Signature.parse(text, device="cpu").params, provider)
    found = [op for op in module.body.operations if "callee" in str(op.attributes["sym_name"])]
    return str(found[0].attributes["function_type"])


def test_what_the_callee_is_declared_as() -> None:
    text = "f(xs: TensorList(Tensor([m], int8), length=g, each=[m]), g: int32)"
    wanted = "!llvm.func<void (ptr, ptr, ptr, i64, i32)>"
    for provider in (DirectCallProvider, NestedTensorCallProvider):
        assert callee_type(provider("callee"), text) == wanted
    packed = DynamicParamPackCallProvider("callee", struct_call=True)
    assert callee_type(packed, text) == "!llvm.func<void (struct<(ptr, ptr, ptr, i64)>, i32)>"
    args = ["xs.length", "xs.pointers", "g", "xs.strides", "g * 2"]
    chosen = DirectCallProvider("callee", args=args)
    assert callee_type(chosen, text) == "!llvm.func<void (i64, ptr, i32, ptr, i64)>"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["m"], "args= has 'm', which has a value for each element of xs"),
        ([spec.Var("m", "int64")], "symbol 'm' has a value for each element of xs"),
        (["xs.data"], "the parts of xs, a TensorList, are pointers, shapes, strides, length"),
        (["m * 2"], "there is no symbol 'm'"),
    ],
)
def test_what_a_list_has_not(args: list[Any], words: str) -> None:
    text = "f(xs: TensorList(Tensor([m], int8), each=[m]))"
    params = spec.Signature.parse(text, device="cpu").params
    with pytest.raises(BuildError, match=words.replace(".", r"\.")):
        attached(params, DirectCallProvider("callee", args=args))


def test_a_cuda_kernel_cannot_read_the_arrays() -> None:
    ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }"
    params = spec.Signature.parse("f(xs: TensorList(Tensor([4], int8)))", device="cuda").params
    for args in (None, ["xs.pointers"]):
        provider = CudaLaunchCallProvider(ptx, "k", grid=1, block=1, args=args)
        with pytest.raises(BuildError, match=r"'xs.*' is made of arrays in host memory"):
            attached(params, provider)


@pytest.mark.parametrize("given", [None, 0, 2])
def test_an_absent_list_is_empty(given: int | None) -> None:
    text = "f(xs: Optional(TensorList(Tensor([4], int8))), out: Tensor([3], int64))"
    kernel = """
llvm.func @k(%there: i1, %pointers: !llvm.ptr, %n: i64, %out: !llvm.ptr) {
  %a = llvm.zext %there : i1 to i64
  %b = llvm.ptrtoint %pointers : !llvm.ptr to i64
  %second = llvm.getelementptr %out[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %third = llvm.getelementptr %out[2] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %a, %out : i64, !llvm.ptr
  llvm.store %b, %second : i64, !llvm.ptr
  llvm.store %n, %third : i64, !llvm.ptr
  llvm.return
}
"""
    provider = DirectCallProvider("k", args=["xs.present", "xs.pointers", "xs.length", "out"])
    function, out = compiled(kernel, (text, provider))["f"], np.zeros(3, "int64")
    function(None if given is None else [np.zeros(4, "int8")] * given, out)
    assert (out[0], out[2]) == (given is not None, given or 0)
    assert (out[1] == 0) == (given is None)


def test_a_packed_function_gets_the_list_itself() -> None:
    received: list[Any] = []

    def keep(*args: Any) -> None:
        received.append([args[0], len(args[1]), args[1][1].shape])

    tvm_ffi.register_global_func("test.lists.keep", keep, override=True)
    text = "f(xs: TensorList(Tensor([m], int8), each=[m]))"
    provider = PackedCallProvider(global_function="test.lists.keep", args=["xs.length", "xs"])
    compiled("", (text, provider))["f"]([np.zeros(3, "int8"), np.zeros(5, "int8")])
    assert received == [[2, 2, (5,)]]


@pytest.mark.usefixtures("allocator")
def test_results_may_have_the_length_of_a_list() -> None:
    text = (
        "f(xs: TensorList(Tensor([k], int8), length=g), w: Workspace([g, 3], int32)) "
        "-> y: Tensor([g], float32)"
    )
    function = compiled("", (text, NopCallProvider()))["f"]
    for count in (0, 3):
        assert tuple(function([np.zeros(2, "int8")] * count).shape) == (count,)


# ---- memory


BOTH: Final = (
    "f(xs: TensorList(Tensor([4], int8)), ys: TensorList(Tensor([n], int8)), status: int32)"
)
MANY: Final = [np.zeros(4, "int8")] * 200


@pytest.fixture(scope="module")
def functions() -> Any:
    counts = "counts(out: Tensor([2], int64))", DirectCallProvider("counts")
    failing = CheckStatus(DirectCallProvider("nothing", args=["status"]))
    return compiled(COUNTED, (BOTH, failing), counts)


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


def test_short_lists_are_on_the_stack(functions: Any) -> None:
    assert counted(functions, MANY[:10], MANY[:10], 0) == ([0, 0], None)


@pytest.mark.parametrize(
    ("xs", "ys", "status", "times", "words"),
    [
        (MANY, MANY[:1], 0, 1, None),
        (MANY, MANY, 0, 2, None),
        (MANY, MANY, 3, 2, "failed with status 3"),
        (MANY, MANY, 0.5, 2, "type of status"),
        (MANY, [*MANY, 7], 0, 2, "type of ys[200]"),
        ([*MANY, 7], MANY, 0, 1, "type of xs[200]"),
        (MANY, 7, 0, 1, "type of ys"),
    ],
)
def test_memory_is_released_on_every_path(
    functions: Any, xs: Any, ys: Any, status: Any, times: int, words: str | None
) -> None:
    counts, error = counted(functions, xs, ys, status)
    assert counts == [times, times]
    assert (error is None) == (words is None)
    assert (words or "") in str(error)


def test_no_memory_is_an_error(functions: Any) -> None:
    counts, error = counted(functions, MANY, MANY * 20, 0)
    assert counts == [2, 1]
    assert isinstance(error, MemoryError)
    assert str(error) == "There is no memory for the list ys"
