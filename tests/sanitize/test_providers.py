"""Every provider passes the copies, whatever its kernel takes and returns."""

from __future__ import annotations

import gc
import weakref
from typing import Any, ClassVar, Final

import numpy as np
import pytest

from ffi_builder import (
    Sanitize,
    attach,
    runtime,
    spec,
)
from ffi_builder.ir import Block
from ffi_builder.providers import (
    CallContext,
    CheckStatus,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
    NopCallProvider,
    Variant,
    VariantsCallProvider,
    when,
)
from tests.sanitize.kernels import Kernel, Sanitized, attached, finds, in_use, poke, signature, view
from tests.support.allocating import counting
from tests.support.wrapping import new_module

ONE: Final = "f(x: Tensor([n], float32))"


MEMREF: Final = """
llvm.func @kernel(%a: !llvm.ptr, %x: !llvm.ptr, %o: i64, %n: i64, %s: i64) {
  %v = llvm.mlir.constant(7 : i32) : i32
  %at = llvm.getelementptr %x[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %v, %at : i32, !llvm.ptr
  llvm.return
}
"""
PACKED: Final = """
llvm.func @kernel(%params: !llvm.ptr) {
  %x = llvm.load %params : !llvm.ptr -> !llvm.ptr
  %data = llvm.load %x : !llvm.ptr -> !llvm.ptr
  %v = llvm.mlir.constant(7 : i32) : i32
  %at = llvm.getelementptr %data[4] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.store %v, %at : i32, !llvm.ptr
  llvm.return
}
"""
NESTED: Final = """
llvm.func @kernel(%x: !llvm.struct<(ptr, struct<(i64, struct<()>)>)>) {
  %data = llvm.extractvalue %x[0] : !llvm.struct<(ptr, struct<(i64, struct<()>)>)>
  %v = llvm.mlir.constant(7 : i32) : i32
  %at = llvm.getelementptr %data[4] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.store %v, %at : i32, !llvm.ptr
  llvm.return
}
"""


@pytest.mark.parametrize(
    ("provider", "kernel"),
    [
        (MemRefCallProvider("kernel"), MEMREF),
        (DynamicParamPackCallProvider("kernel"), PACKED),
        (NestedTensorCallProvider("kernel"), NESTED),
        (
            VariantsCallProvider(
                [
                    Variant(
                        MemRefCallProvider("kernel"), when=when.divisible(spec.Var("n", "int64"), 2)
                    ),
                    Variant(NopCallProvider()),
                ]
            ),
            MEMREF,
        ),
    ],
)
def test_every_provider_passes_the_copies(provider: Any, kernel: str) -> None:
    x = np.zeros(5, "float32")
    function = runtime.compile(attached(ONE, True, provider, kernel))["f"]
    with finds("outside of the elements of x: byte 16 from its data has changed (4 in all; "):
        function(x[:4])
    assert not x.any()


def test_a_kernel_that_fails() -> None:
    """The copies are freed, and the caller's tensors are as before."""
    kernel = """
    llvm.func @kernel(%x: !llvm.ptr) -> i32 {
      %v = llvm.mlir.constant(7 : i32) : i32
      llvm.store %v, %x : i32, !llvm.ptr
      llvm.return %v : i32
    }"""
    provider = CheckStatus(DirectCallProvider("kernel", args=["x"]))
    function = runtime.compile(attached(ONE, Sanitize(2**20), provider, kernel))["f"]
    x = np.zeros(4, "float32")

    def fail() -> None:
        with pytest.raises(RuntimeError, match="kernel failed with status 7"):
            function(x)

    fail()
    before = in_use()
    for _ in range(20):
        fail()
    assert in_use() - before < 2**22
    assert not x.any()


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
def test_a_result_like_an_argument(dtype: str) -> None:
    text = (
        "f(x: Tensor(..., float32 | float16 | int64, device_type=any, intent=in)) "
        "-> y: Tensor(x.shape, x.dtype, device_type=x.device_type)"
    )

    def data(tensor: int) -> int:
        return int(view(tensor, 1, "int64")[0])

    x = np.array([[0, 1, 2], [3, 4, 5]], dtype)
    wrong = Sanitized(text, ["x", "y"], lambda x, y: poke(data(y), 0, 1, dtype))
    with finds("The kernel does not write y[0, 1] of the result y"):
        wrong(x)
    assert wrong.kept == 0

    def copy(x: int, y: int) -> None:
        view(data(y), 6, dtype)[:] = view(data(x), 6, dtype)

    got = np.from_dlpack(Sanitized(text, ["x", "y"], copy)(x))
    assert (got == x).all()
    assert got.dtype == x.dtype


def test_a_str_that_is_in_a_workspace() -> None:
    """The kernel returns an address in a copy, which lives until the str has been made."""
    word = int.from_bytes(b"scratchy", "little")
    kernel = f"""
    llvm.func @kernel(%w: !llvm.ptr) -> !llvm.struct<(ptr, i64)> {{
      %text = llvm.mlir.constant({word} : i64) : i64
      llvm.store %text, %w : i64, !llvm.ptr
      %eight = llvm.mlir.constant(8 : i64) : i64
      %empty = llvm.mlir.undef : !llvm.struct<(ptr, i64)>
      %first = llvm.insertvalue %w, %empty[0] : !llvm.struct<(ptr, i64)>
      %pair = llvm.insertvalue %eight, %first[1] : !llvm.struct<(ptr, i64)>
      llvm.return %pair : !llvm.struct<(ptr, i64)>
    }}"""
    text = "f(w: Workspace([8], uint8)) -> s: String"
    function = runtime.compile(attached(text, True, None, kernel))["f"]
    with counting() as allocator:
        assert function() == "scratchy"
        assert not allocator.alive


class Handing(NopCallProvider):
    """Calls the kernel, and hands over what came as ``o``, with a reference of its own."""

    borrows_tensors: ClassVar[bool] = True

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        b, t = context.builder, context.builder.types
        b.call("kernel", [context.data(context.params[0])], t.void)
        given = context.scalar(context.params[1])
        context.symbols.declare("TVMFFIObjectIncRef", t.i32, [t.ptr])
        b.call("TVMFFIObjectIncRef", [given], t.i32)
        context.results = [given]
        return b.block


class Watched:
    """Something whose life Python can watch."""


@pytest.mark.parametrize("size", [1, 2])
def test_an_object_that_was_handed_over_is_released(size: int) -> None:
    """The kernel is right for two elements only."""
    kernel = Kernel(lambda x: poke(x, 1), 1)
    text = "f(x: Tensor([n], float32), o: Function) -> r: Function"
    function = runtime.compile(attached(text, True, Handing(), kernel.text))["f"]
    kept, x = Watched(), np.zeros(size, "float32")
    watch = weakref.ref(kept)
    if size == 2:
        assert function(x, lambda kept=kept: 5)() == 5
    else:
        with finds("outside of the elements of x"):
            function(x, lambda kept=kept: 5)
    del kept
    gc.collect()
    assert watch() is None


@pytest.mark.parametrize("distribution", ["torch_mlir", "jaxlib.mlir"])
def test_other_distributions(distribution: str) -> None:
    module = new_module(MEMREF, distribution)
    attach(module, signature(ONE), MemRefCallProvider("kernel"), sanitize=True)
    function = runtime.compile(module)["f"]
    with finds("outside of the elements of x: byte "):
        function(np.zeros(4, "float32"))
