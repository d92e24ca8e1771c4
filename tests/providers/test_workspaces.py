"""Workspaces: allocated before the call, passed to the kernel, released on every path."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, attach, runtime, spec, testing
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
from tests.providers.memrefs import lowered
from tests.support.allocating import counting
from tests.support.wrapping import new_module, parsed, wrapped

SCRATCH = "f(x: Tensor([n], float32), w: Workspace([n * 2, 3], int32{}))"
KERNEL = """
llvm.func @k(%x: !llvm.ptr, %w: !llvm.ptr) {
  %v = llvm.load %w : !llvm.ptr -> i32
  %f = llvm.sitofp %v : i32 to f32
  llvm.store %f, %x : f32, !llvm.ptr
  %minus = llvm.mlir.constant(-1 : i32) : i32
  llvm.store %minus, %w : i32, !llvm.ptr
  llvm.return
}
"""
"""Stores the first element of the workspace, which it then changes, as the first of x."""


def test_the_kernel_gets_it_and_it_is_released() -> None:
    function = wrapped(SCRATCH.format(""), DirectCallProvider("k"), KERNEL)
    with counting() as allocator:
        for _ in range(3):
            x = np.zeros(4, "float32")
            function(x)
            assert x[0] == np.float32(np.int32(-0x5A5A5A5B))  # nobody filled it
            assert allocator.alive == {}
    assert allocator.asked == [((8, 3), "int32", (1, 0))] * 3


@pytest.mark.parametrize("allocating", [counting, runtime.install_allocator])
def test_it_is_filled_with_zeros_before_each_call(allocating: Any) -> None:
    function = wrapped(SCRATCH.format(", zero=True"), DirectCallProvider("k"), KERNEL)
    with allocating():
        for _ in range(3):
            x = np.ones(4, "float32")
            function(x)
            assert x[0] == 0


class AllZero(NopCallProvider):
    """Returns whether the bytes of the workspace, and none behind them, are zeros."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        b, workspace = context.builder, context.signature.workspaces[0]
        context.any_dtype(workspace)
        data, found = context.data(workspace), b.i8(0)
        for index in range(self.size):
            found = b.or_(found, b.load(b.types.i8, b.offset(data, index)))
        behind = b.load(b.types.i8, b.offset(data, self.size))
        context.results = [b.and_(b.eq(found, b.i8(0)), b.ne(behind, b.i8(0)))]
        return b.block


@pytest.mark.parametrize(
    ("workspace", "dtype", "shape", "size"),
    [
        ("[n, 3], float64", "int8", (2,), 48),
        ("[n], float4_e2m1fn", "int8", (5,), 3),
        ("[3], float32x2", "int8", (1,), 24),
        ("[], int16", "int8", (1,), 2),
        ("[n, 0], int16", "int8", (1,), 0),
        ("x.shape, int16", "int8", (7,), 14),
        ("x.shape, x.dtype", "int8", (7,), 7),
        ("x.shape, x.dtype", "float64", (3,), 24),
        ("[n], x.dtype", "float64", (3,), 24),
    ],
)
def test_exactly_its_bytes_are_filled(
    workspace: str, dtype: str, shape: tuple[int, ...], size: int
) -> None:
    text = f"f(x: Tensor([n], int8 | float64), w: Workspace({workspace}, zero=True)) -> t: bool"
    with counting():
        assert wrapped(text, AllZero(size))(np.ones(shape, dtype)) is True


@pytest.mark.parametrize(("shape", "size"), [((), 2), ((3, 2), 12), ((2, 1, 0), 0)])
def test_one_of_any_rank_is_filled(shape: tuple[int, ...], size: int) -> None:
    text = "f(x: Tensor(..., int8 | int16), w: Workspace(x.shape, x.dtype, zero=True)) -> t: bool"
    with counting() as allocator:
        assert wrapped(text, AllZero(size))(np.ones(shape, "int16")) is True
    assert allocator.asked == [(shape, "int16", (1, 0))]


@pytest.mark.parametrize(
    "provider", [NestedTensorCallProvider, DynamicParamPackCallProvider, MemRefCallProvider]
)
def test_in_the_structs_of_other_conventions(provider: Any) -> None:
    """They take it as they take a tensor that is passed."""
    tensor = "f(x: Tensor([n], float32), w: Tensor([n, 2], float32))"
    scratch = tensor.replace("w: Tensor", "w: Workspace")
    types: list[str] = []
    for text in (tensor, scratch):
        module = new_module()
        attach(module, parsed(text), provider("callee"))
        types += [line for line in str(module).splitlines() if "llvm.func @callee(" in line]
    assert types[0] == types[1]


@pytest.mark.parametrize(
    "args", [["w", "x"], ["w.data", "x"], ["x", "w", "w.ndim", "w.device_type"]]
)
def test_args_name_it(args: list[str]) -> None:
    module = new_module()
    signature = parsed(SCRATCH.format(""))
    attach(module, signature, DirectCallProvider("k", args=args))
    given = [signature.workspaces[0].data if arg == "w.data" else arg for arg in args]
    again = new_module()
    attach(again, signature, DirectCallProvider("k", args=given))
    assert str(again) == str(module)


def test_a_packed_function_gets_a_tensor() -> None:
    import tvm_ffi

    seen: list[tuple[Any, ...]] = []

    def receive(*args: Any) -> None:
        seen.append((len(args), np.from_dlpack(args[1]).tolist()))

    name = "tests.workspaces.receive"
    tvm_ffi.register_global_func(name, receive, override=True)
    text = "f(x: Tensor([n], float32), w: Workspace([n, 2], int8, zero=True))"
    for provider in (
        PackedCallProvider(global_function=name),
        PackedCallProvider(global_function=name, args=["x", "w"]),
    ):
        with counting() as allocator:
            wrapped(text, provider)(np.ones(2, "float32"))
            assert allocator.alive == {}
    assert seen == [(2, [[0, 0], [0, 0]])] * 2


# ---- every path releases


def run(function: Any, *args: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        function(*args)


THREE = (
    "f(x: Tensor([n], float32), v: Workspace([n], int8), w: Workspace([n - 2], int8, zero=True)) "
    "-> (y: Tensor([n], float32), z: Tensor([3], int8))"
)


@pytest.mark.parametrize("fail_at", range(4))
def test_an_allocation_that_fails_releases_those_before(fail_at: int) -> None:
    function = wrapped(THREE, NopCallProvider())
    with counting() as allocator:
        for _ in range(3):
            allocator.fail_at = len(allocator.asked) + fail_at
            run(function, np.ones(4, "float32"), error=MemoryError, words="no room")
            assert allocator.alive == {}
        allocator.fail_at = None
        got = function(np.ones(4, "float32"))
        assert len(allocator.alive) == 2
        del got
        assert allocator.alive == {}


MISSING: Final = "tests.workspaces.missing"
REFUSED: Final[list[tuple[str, CallProvider, Any, type[Exception], str, int]]] = [
    # signature, provider, argument, error, words, number of allocations before it
    (THREE, NopCallProvider(), np.ones(1, "float32"), ValueError, r"^The size w.shape\[0\] = n - 2 of the workspace would be -1 when calling: `f\(x", 3),
    ("f(k: int64, w: Workspace([k * 4], int8))", NopCallProvider(), 2**62, ValueError, r"The value of k \* 4 does not fit int64 when", 0),
    (SCRATCH.format(""), PackedCallProvider(global_function=MISSING), np.zeros(2, "float32"), RuntimeError, f"No global function is registered as '{MISSING}'", 1),
    (SCRATCH.format(""), NopCallProvider(), np.zeros(2, "float64"), TypeError, "Mismatched x.dtype", 0),
]  # fmt: skip


@pytest.mark.parametrize(("text", "provider", "given", "error", "words", "asked"), REFUSED, ids=["negative size", "overflow", "no such function", "wrong argument"])  # fmt: skip
def test_a_call_that_fails_releases_what_it_has(
    text: str, provider: CallProvider, given: Any, error: Any, words: str, asked: int
) -> None:
    function = wrapped(text, provider)
    with counting() as allocator:
        run(function, given, error=error, words=words)
        assert (len(allocator.asked), allocator.alive) == (asked, {})


def test_memory_at_the_wrong_place_is_released() -> None:
    text = "f(n: int64, v: Workspace([n], int8), w: Workspace([n], int8, data_alignment=32))"
    function = wrapped(text, NopCallProvider())
    with counting() as allocator:
        function(3)
        allocator.misplaced = 8
        words = "The allocator's memory for the workspace w is 8 bytes behind a multiple of 32, wh"
        run(function, 3, error=RuntimeError, words=words)
        assert allocator.alive == {}


STATUS = """
llvm.func @k(%x: !llvm.ptr, %w: !llvm.ptr) -> i32 {
  %v = llvm.load %x : !llvm.ptr -> f32
  %i = llvm.fptosi %v : f32 to i32
  llvm.return %i : i32
}
"""


def test_a_kernel_that_fails_releases_it() -> None:
    function = wrapped(SCRATCH.format(""), CheckStatus(DirectCallProvider("k")), STATUS)
    with counting() as allocator:
        for _ in range(10):
            function(np.zeros(2, "float32"))
            run(function, np.ones(2, "float32"), error=RuntimeError, words="k failed with status 1")
        assert allocator.alive == {}
        assert len(allocator.asked) == 20


U64: Final = "f(x: Tensor([n], float32), w: Workspace([n * 2, 3], int32)) -> t: uint64"
MINUS_ONE: Final = """
llvm.func @k(%x: !llvm.ptr, %w: !llvm.ptr) -> i64 {
  %m = llvm.mlir.constant(-1 : i64) : i64
  llvm.return %m : i64
}
"""


def test_a_number_is_returned_beside_it() -> None:
    function = wrapped(U64, DirectCallProvider("k"), MINUS_ONE)
    with counting() as allocator:
        assert function(np.zeros(2, "float32")) == 2**64 - 1
        assert allocator.alive == {}


def test_without_an_allocator() -> None:
    with counting():
        function = wrapped(SCRATCH.format(""), NopCallProvider())
    with pytest.raises(RuntimeError) as raised:
        function(np.zeros(2, "float32"))
    assert str(raised.value) == (
        "There is no allocator for the workspace w (pass a PyTorch tensor, whose allocator then "
        "serves, or call ffi_builder.runtime.install_allocator(every_thread=True) before; C and C++ "
        "set one by "
        "TVMFFIEnvSetDLPackManagedTensorAllocator) when calling: `f(x: Tensor([n], float32))`"
    )


@pytest.mark.parametrize("named", [False, True])
def test_with_pytorch(named: bool) -> None:
    """Its allocator serves, in calls that the fast entry reads too."""
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    module = new_module(KERNEL)
    signature = parsed(SCRATCH.format(", zero=True"))
    attach(module, signature, DirectCallProvider("k"))
    compiled = runtime.compile(module)
    function: Any = compiled.callable("f") if named else compiled["f"]
    for _ in range(3):
        x = torch.ones(4)
        function(x)
        assert x[0] == 0


# ---- tools


def test_callers_do_not_pass_it() -> None:
    module = new_module(KERNEL)
    signature = parsed(SCRATCH.format(", zero=True"))
    attach(module, signature, DirectCallProvider("k"))
    info = runtime.compile(module).info("f")
    assert info is not None
    assert [param.name for param in info.parameters] == ["x"]
    assert spec.Signature.parse(info.signature) == signature
    assert info.allocates
    assert len(testing.make_args(signature)) == 1
    assert testing.check(signature, *testing.make_args(signature)) == {"n": 2}


def test_arguments_are_made_so_that_it_can_be_allocated() -> None:
    signature = spec.Signature.parse(
        "f(x: Tensor([n], int8), w: Workspace([n - 5], int8)) -> y: Tensor([n - 9], int8)",
        device="cpu",
    )
    [x] = testing.make_args(signature)
    assert x.shape[0] >= 9
    with pytest.raises(ValueError, match=r"y.shape\[0\] = n - 9 with n = 3 is -6, and must not be"):
        testing.make_args(signature, dims={"n": 3})


def test_a_memref_of_one_element_type_refuses_several() -> None:
    """The workspace has the dtype that came, so it is refused as the argument would be."""
    text = "f(x: Tensor([n], int8 | int16), w: Workspace(x.shape, x.dtype))"
    provider = MemRefCallProvider("kernel", args=["w"])
    with pytest.raises(BuildError, match="choose a kernel for each of int8, int16"):
        attach(lowered("(memref<?xi8>) -> ()"), parsed(text), provider)
