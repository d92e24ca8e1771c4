"""What wrappers return: scalars of every dtype, tensors that are allocated, tuples."""

from __future__ import annotations

import ctypes
import inspect
import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, attach, attach_ffi_func, explain, runtime
from ffi_builder.ir import Block
from ffi_builder.providers import (
    CallContext,
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
    NopCallProvider,
    PackedCallProvider,
)
from ffi_builder.spec import Expr, Optional, Result, Signature, Tensor, Var, dims
from tests.providers.values import LLVM
from tests.support.wrapping import new_module

n, m = dims("n m")
X: Final = Tensor("x", [n], "float32", device_type="cpu")
PLAIN: Final = "__tests_plain"


def tensor(name: str, *entries: Any, dtype: str = "float32", **fields: Any) -> Tensor:
    fields.setdefault("device_type", "cpu")
    return Tensor(name, entries, dtype, **fields)


def returning(
    returns: Result | list[Result], provider: CallProvider, text: str = "", params: Any = (X,)
) -> Any:
    module = new_module(text)
    attach_ffi_func(module, "f", list(params), provider, returns=returns)
    return runtime.compile(module)["f"]


@pytest.fixture
def allocator() -> Iterator[None]:
    with runtime.install_allocator():
        yield


def array(value: object) -> Any:
    return np.from_dlpack(cast("Any", value))


VALUES: Final[list[tuple[str, Any]]] = [
    ("int8", -128),
    ("int16", -2),
    ("int32", 2**31 - 1),
    ("int64", -(2**63)),
    ("uint8", 255),
    ("uint16", 65535),
    ("uint32", 2**32 - 1),
    ("uint64", 2**63 - 1),
    ("uint64", 2**64 - 1),
    ("bool", True),
    ("bool", False),
    ("float16", 1.5),
    ("bfloat16", -2.0),
    ("bfloat16", 2.0**-130),
    ("float32", struct.unpack("<f", struct.pack("<f", 0.1))[0]),
    ("float64", 0.1),
    ("float64", math.inf),
]


@pytest.mark.parametrize(("dtype", "value"), VALUES)
def test_a_scalar_of_every_dtype(dtype: str, value: Any) -> None:
    """The callee returns its argument."""
    type_ = LLVM[dtype]
    text = f"llvm.func @k(%v: {type_}) -> {type_} {{ llvm.return %v : {type_} }}"
    function = returning(Var("r", dtype), DirectCallProvider("k"), text, [Var("v", dtype)])
    got = function(value)
    assert (got, type(got)) == (value, type(value))


def test_a_handle() -> None:
    text = "llvm.func @k(%v: !llvm.ptr) -> !llvm.ptr { llvm.return %v : !llvm.ptr }"
    function = returning(Var("r", "handle"), DirectCallProvider("k"), text, [Var("v", "handle")])
    assert function(ctypes.c_void_p(0x1234)).value == 0x1234
    assert function(None).value is None


PAIR: Final = """
llvm.func @k(%n: i64) -> !llvm.struct<(i64, f32)> {
  %none = llvm.mlir.undef : !llvm.struct<(i64, f32)>
  %half = llvm.mlir.constant(0.5 : f32) : f32
  %one = llvm.insertvalue %n, %none[0] : !llvm.struct<(i64, f32)>
  %two = llvm.insertvalue %half, %one[1] : !llvm.struct<(i64, f32)>
  llvm.return %two : !llvm.struct<(i64, f32)>
}
"""


@pytest.mark.parametrize("provider", [DirectCallProvider, MemRefCallProvider])
def test_several_scalars_are_the_members_of_a_struct(provider: Any) -> None:
    results: list[Result] = [Var("a", "int64"), Var("b", "float32")]
    got = returning(results, provider("k", args=["n"]), PAIR)(np.zeros(7, "float32"))
    assert isinstance(got, tvm_ffi.Array)
    assert list(cast("Any", got)) == [7, 0.5]


def test_a_list_of_one_is_a_tuple_of_one() -> None:
    text = "llvm.func @k(%n: i64) -> i64 { llvm.return %n : i64 }"
    function = returning([Var("r", "int64")], DirectCallProvider("k", args=["n"]), text)
    assert list(function(np.zeros(3, "float32"))) == [3]


FILL: Final = """
llvm.func @k(%x: !llvm.ptr, %y: !llvm.ptr) {
  %v = llvm.load %x : !llvm.ptr -> f32
  llvm.store %v, %y : f32, !llvm.ptr
  llvm.return
}
"""


@pytest.mark.usefixtures("allocator")
def test_a_tensor_is_allocated_and_is_the_last_argument() -> None:
    function = returning(tensor("y", n * 2, 3, dtype="float32"), DirectCallProvider("k"), FILL)
    got = function(np.full(4, 2.5, "float32"))
    y = array(got)
    assert (y.shape, y.dtype, y.strides) == ((8, 3), np.float32, (12, 4))
    assert y[0, 0] == 2.5
    assert y.ctypes.data % 64 == 0


@pytest.mark.usefixtures("allocator")
def test_sizes_of_every_kind_and_every_dtype() -> None:
    y = tensor("y", n, 4, n // 2, dtype="bfloat16")
    z = tensor("z", dtype="float4_e2m1fnx2")
    got = list(returning([y, z], NopCallProvider())(np.zeros(5, "float32")))
    assert [(t.shape, str(t.dtype)) for t in got] == [
        ((5, 4, 2), "bfloat16"),
        ((), "float4_e2m1fnx2"),
    ]


@pytest.mark.usefixtures("allocator")
def test_args_put_it_elsewhere_and_parts_of_it() -> None:
    text = FILL.replace("%x: !llvm.ptr, %y: !llvm.ptr", "%y: !llvm.ptr, %x: !llvm.ptr")
    y = tensor("y", n)
    for args in (["y", "x"], [y, X], ["y.data", X.data]):
        function = returning(y, DirectCallProvider("k", args=args), text)
        assert array(function(np.full(2, 1.5, "float32")))[0] == 1.5


@pytest.mark.usefixtures("allocator")
def test_an_empty_tensor() -> None:
    got = returning(tensor("y", n, 3), NopCallProvider())(np.zeros(0, "float32"))
    assert array(got).shape == (0, 3)


@pytest.mark.usefixtures("allocator")
def test_one_tensor_outlives_the_function() -> None:
    got = returning(tensor("y", n), DirectCallProvider("k"), FILL)(np.full(2, 1.5, "float32"))
    y = array(got)
    del got
    assert y[0] == 1.5


@pytest.mark.usefixtures("allocator")
@pytest.mark.parametrize("entry", [n - 3, Var("s", "int32"), Var("s", "int64") * -1])
def test_a_negative_size(entry: Any) -> None:
    params: list[Any] = [X, Var("s", "int32" if isinstance(entry, Var) else "int64")]
    function = returning(tensor("y", 2, entry), NopCallProvider(), params=params)
    given = (np.zeros(1, "float32"), -2 if isinstance(entry, Var) else 2)
    assert function(np.zeros(4, "float32"), 0).shape == (2, 1 if entry == n - 3 else 0)
    with pytest.raises(ValueError, match=r"The size y.shape\[1\] = .* would be -2 when calling"):
        function(*given)


@pytest.mark.usefixtures("allocator")
def test_a_size_that_does_not_fit() -> None:
    (s,) = dims("s")
    function = returning(tensor("y", s * 4), NopCallProvider(), params=[X, s])
    with pytest.raises(ValueError, match=r"The value of s \* 4 does not fit int64 when calling"):
        function(np.zeros(1, "float32"), 2**62)
    with pytest.raises(MemoryError, match="more bytes than can be allocated"):
        function(np.zeros(1, "float32"), 2**60)
    with pytest.raises(MemoryError, match="more bytes than can be allocated"):
        function(np.zeros(1, "float32"), 2**50)


def test_without_an_allocator() -> None:
    function = returning(tensor("y", n), DirectCallProvider("k"), FILL)
    with pytest.raises(RuntimeError) as raised:
        function(np.zeros(2, "float32"))
    assert str(raised.value) == (
        "There is no allocator for the result y (pass a PyTorch tensor, whose allocator then "
        "serves, or call ffi_builder.runtime.install_allocator() before) when calling: "
        "`f(x: Tensor([n], float32))`"
    )


@pytest.mark.usefixtures("allocator")
def test_the_device_is_that_of_the_first_tensor_of_its_type() -> None:
    """Ours allocates on the CPU alone, so what was asked for is in its error."""
    y = tensor("y", n, device_type="cuda")
    with pytest.raises(RuntimeError, match="the result is on another device"):
        returning(y, NopCallProvider())(np.zeros(2, "float32"))


class Devices(NopCallProvider):
    """Returns the device that the tensor ``y`` was asked for on."""

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        y = context.signature.results[0]
        assert isinstance(y, Tensor)
        context.results = [context.device_id(y), context.device_type(y), context.ndim(y)]
        return current_block


@pytest.mark.usefixtures("allocator")
@pytest.mark.parametrize(("device_id", "expected"), [(None, 0), (3, 3), (n, 5), (m, 2)])
def test_what_a_provider_sees_of_it(device_id: Any, expected: int) -> None:
    y = tensor("y", n, m, device_id=device_id)
    seen: list[Result] = [Var(name, "int32") for name in ("id", "type", "rank")]
    function = returning([y, *seen], Devices(), params=[tensor("x", n, m)])
    assert list(function(np.zeros((5, 2), "float32")))[1:] == [expected, 1, 2]


@pytest.mark.usefixtures("allocator")
def test_a_device_id_out_of_range() -> None:
    function = returning(tensor("y", 1, device_id=n), NopCallProvider(), params=[n])
    with pytest.raises(ValueError, match="device id n of the result y is out of range: -1"):
        function(-1)


@pytest.mark.usefixtures("allocator")
def test_an_alignment_is_asked_of_the_allocator() -> None:
    assert returning(tensor("y", n, data_alignment=64), NopCallProvider())(np.zeros(1, "float32"))
    function = returning(tensor("y", n, data_alignment=2**40), NopCallProvider())
    with pytest.raises(RuntimeError, match=r"for the result y is \d+ bytes behind a multiple of"):
        function(np.zeros(1, "float32"))


@pytest.mark.usefixtures("allocator")
def test_with_an_optional_that_is_absent() -> None:
    y = tensor("y", n + 1)
    function = returning(y, NopCallProvider(), params=[Optional(X)])
    assert function(None).shape == (1,)
    assert function(np.zeros(4, "float32")).shape == (5,)


# ---- the other conventions


PACKED: Final = """
llvm.func @k(%p: !llvm.ptr, %count: i32) -> i32 {
  %y_at = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %y = llvm.load %y_at : !llvm.ptr -> !llvm.ptr
  %data = llvm.load %y : !llvm.ptr -> !llvm.ptr
  %size_at = llvm.getelementptr %y[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %size = llvm.load %size_at : !llvm.ptr -> i64
  %v = llvm.mlir.constant(4.0 : f32) : f32
  llvm.store %v, %data : f32, !llvm.ptr
  %t_at = llvm.getelementptr %p[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %t = llvm.load %t_at : !llvm.ptr -> !llvm.ptr
  llvm.store %size, %t : i64, !llvm.ptr
  %b_at = llvm.getelementptr %p[3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %b = llvm.load %b_at : !llvm.ptr -> !llvm.ptr
  %true = llvm.mlir.constant(1 : i8) : i8
  llvm.store %true, %b : i8, !llvm.ptr
  %expected = llvm.mlir.constant(4 : i32) : i32
  %status = llvm.sub %count, %expected : i32
  llvm.return %status : i32
}
"""


@pytest.mark.usefixtures("allocator")
def test_packed_results_are_pointers_to_write_to() -> None:
    results: list[Result] = [tensor("y", n), Var("t", "int64"), Var("b", "bool")]
    provider = DynamicParamPackCallProvider("k", include_num_args=True)
    y, t, b = returning(results, provider, PACKED)(np.zeros(6, "float32"))
    assert (array(y)[0], t, b) == (4.0, 6, True)
    # One that it does not write to is zero.
    y, t, b, rest = returning([*results, Var("rest", "float16")], _without_count(), PACKED)(
        np.zeros(6, "float32")
    )
    assert (t, b, rest) == (6, True, 0.0)


def _without_count() -> CallProvider:
    class Provider(DynamicParamPackCallProvider):
        def __call__(self, current_block: Block, context: CallContext) -> Block:
            context.status_wanted = True
            return super().__call__(current_block, context)

    return Provider("k", include_num_args=True)


@pytest.mark.usefixtures("allocator")
def test_a_failing_callee_releases_what_was_allocated() -> None:
    text = PACKED.replace("constant(4 : i32)", "constant(9 : i32)")
    results: list[Result] = [tensor("y", n), Var("t", "int64"), Var("b", "bool")]
    provider = DynamicParamPackCallProvider("k", include_num_args=True)
    function = returning(results, provider, text)
    big = np.zeros(1 << 20, "float32")
    before = _reserved()
    for _ in range(200):
        with pytest.raises(RuntimeError, match="k failed with status -5 when calling"):
            function(big)
    assert _reserved() - before < 100 << 20  # of 800 MB


def _reserved() -> int:
    # The address space: pages need not be touched.
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * 4096


NESTED: Final = """
llvm.func @k(%x: !llvm.struct<(ptr, struct<(i64, struct<()>)>)>,
             %y: !llvm.struct<(ptr, struct<(i64, struct<()>)>)>) -> i32 {
  %data = llvm.extractvalue %y[0] : !llvm.struct<(ptr, struct<(i64, struct<()>)>)>
  %v = llvm.mlir.constant(8.0 : f32) : f32
  llvm.store %v, %data : f32, !llvm.ptr
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}
"""
MEMREF: Final = """
llvm.func @k(%xa: !llvm.ptr, %x: !llvm.ptr, %xo: i64, %xn: i64, %xs: i64,
             %ya: !llvm.ptr, %y: !llvm.ptr, %yo: i64, %yn: i64, %ys: i64) {
  %v = llvm.mlir.constant(8.0 : f32) : f32
  llvm.store %v, %y : f32, !llvm.ptr
  llvm.return
}
"""


@pytest.mark.usefixtures("allocator")
@pytest.mark.parametrize(
    ("provider", "text"),
    [
        (NestedTensorCallProvider("k"), NESTED),
        (CheckStatus(NestedTensorCallProvider("k")), NESTED),
        (MemRefCallProvider("k"), MEMREF),
    ],
)
def test_other_conventions_take_the_tensor_as_they_take_arguments(
    provider: CallProvider, text: str
) -> None:
    got = returning(tensor("y", n), provider, text)(np.zeros(3, "float32"))
    assert array(got)[0] == 8.0


# ---- packed callees


def _register(came: object) -> None:
    """A global function that returns this."""

    def give(_x: object) -> object:
        return came

    tvm_ffi.register_global_func("ffib.tests.result", give, override=True)


@pytest.mark.parametrize(
    ("dtype", "came", "expected"),
    [
        ("int64", -7, -7),
        ("int8", 127, 127),
        ("uint8", True, 1),
        ("bool", True, True),
        ("float32", 1.5, 1.5),
        ("float64", 3, 3.0),
        ("float16", 0.5, 0.5),
    ],
)
def test_what_a_packed_callee_returns_is_converted(dtype: str, came: Any, expected: Any) -> None:
    _register(came)
    provider = PackedCallProvider(global_function="ffib.tests.result")
    got = returning(Var("r", dtype), provider)(np.zeros(1, "float32"))
    assert (got, type(got)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("dtype", "came", "error", "words"),
    [
        (
            "int64",
            1.5,
            TypeError,
            "another kind than int64 was returned for r: its type index is 3",
        ),
        ("int64", "a long string", TypeError, "for r: its type index is 65"),
        ("bool", 1, TypeError, "another kind than bool was returned for r: its type index is 1"),
        ("float32", None, TypeError, "for r: its type index is 0"),
        ("handle", 3, TypeError, "another kind than handle was returned for r"),
        ("int8", 128, ValueError, "value that was returned for r does not fit int8: 128"),
        ("uint64", -1, ValueError, "does not fit uint64: -1"),
    ],
)
def test_what_a_packed_callee_may_not_return(
    dtype: str, came: Any, error: type[Exception], words: str
) -> None:
    _register(came)
    provider = PackedCallProvider(global_function="ffib.tests.result")
    function = returning(Var("r", dtype), provider)
    with pytest.raises(error, match=words):
        function(np.zeros(1, "float32"))


@pytest.mark.usefixtures("allocator")
def test_a_packed_callee_gets_the_tensor_as_an_argument() -> None:
    def fill(x: Any, y: Any) -> Any:
        array(y)[:] = array(x) * 2
        return "which nobody asked for"

    tvm_ffi.register_global_func("ffib.tests.fill", fill, override=True)
    for provider in (
        PackedCallProvider(global_function="ffib.tests.fill"),
        PackedCallProvider(global_function="ffib.tests.fill", args=["x"]),
        PackedCallProvider(global_function="ffib.tests.fill", args=["x", "y"]),
    ):
        got = returning(tensor("y", n), provider)(np.full(2, 1.5, "float32"))
        assert array(got).tolist() == [3.0, 3.0]


# ---- what authors get wrong


@pytest.mark.parametrize(
    ("returns", "provider", "words"),
    [
        (
            Var("r", "int64"),
            NopCallProvider(),
            "NopCallProvider: 'f' returns r: int64, so context.results needs a value for each "
            "result that is no tensor (r: i64), but it has none",
        ),
        (
            Var("r", "int32"),
            DirectCallProvider("k", args=["n"]),
            "DirectCallProvider: the callee @k returns !llvm.struct<(i64, f32)>, but 'f' returns "
            "r: int32, for which it must return i32",
        ),
        (
            [Var("a", "int64"), Var("b", "float32")],
            DirectCallProvider("unknown"),
            "DirectCallProvider: the callee @unknown is not in the module, and C functions return "
            "structs in another way than LLVM does, so it cannot return a, b; "
            "DynamicParamPackCallProvider passes pointers to write results to",
        ),
        (
            Var("r", "int32"),
            CheckStatus(DirectCallProvider("unknown")),
            "CheckStatus: what the callee @unknown returns is the result r, so it can be no "
            "status; DynamicParamPackCallProvider passes pointers to write results to",
        ),
        (
            [Var("a", "int64"), Var("b", "float32")],
            PackedCallProvider("other"),
            "PackedCallProvider: the callee returns one value, but 'f' returns a, b",
        ),
        (
            [Var("a", "int32")],
            Devices(),
            "Devices: 'f' returns (a: int32), so context.results needs a value for each result "
            "that is no tensor (a: i32), but it has i32, i32, i32",
        ),
    ],
)
def test_what_is_refused(returns: Any, provider: CallProvider, words: str) -> None:
    module = new_module(PAIR)
    if isinstance(provider, Devices):
        returns = [tensor("y", n), Var("a", "int32")]
        words = words.replace("(a: int32),", "(y: Tensor([n], float32), a: int32),")
    before = str(module)
    with pytest.raises(BuildError) as raised:
        attach_ffi_func(module, "f", [X], provider, returns=returns)
    assert str(raised.value) == words
    assert str(module) == before


def test_a_signature_that_returns_nothing_takes_no_results() -> None:
    class Provider(NopCallProvider):
        def __call__(self, current_block: Block, context: CallContext) -> Block:
            context.results = [context.value(n)]
            return current_block

    with pytest.raises(BuildError, match=r"'f' returns None, so .* but it has i64"):
        attach_ffi_func(new_module(), "f", [X], Provider())


# ---- what others see of it


def test_python_sees_the_results() -> None:
    module = new_module(FILL)
    y = tensor("y", Expr("+", n, 1))
    attach(module, Signature("f", [X], y), DirectCallProvider("k"))
    function = runtime.compile(module).callable("f")
    shown = "f(x: Tensor([n], float32, device_type=cpu)) -> y: Tensor([n + 1], float32, device_type=cpu)"
    assert shown in repr(function)
    assert shown in (function.__doc__ or "")
    assert str(inspect.signature(function)).endswith(shown[shown.index(" -> ") :])
    with runtime.install_allocator():
        assert function(x=np.zeros(2, "float32")).shape == (3,)


def test_the_plan_names_them() -> None:
    signature = Signature("f", [X], [tensor("y", n + 1), Var("t", "float32")])
    assert (
        explain(signature).splitlines()[-1] == "Returns (y: Tensor([n + 1], float32), t: float32)."
    )
    assert "Returns" not in explain(Signature("f", [X]))
