"""Attaching leaves nothing of MLIR to Python's collector: a context goes when its module does."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from ffi_builder import attach, providers, spec
from ffi_builder.builder import reuse
from tests.fakecuda import KernelImage, make_cubin
from tests.support.wrapping import new_module

EVERYTHING = """f(x: Optional(Tensor([n, m], float32, strides=[s, 1])), e: Tensor(..., int8 | bool),
    t: Tuple(a: int32, b: Struct(c: Optional(float64), d: Tensor([n * 2], int8))), z: String,
    q: Choice({relu: 1, gelu: 2}), o: Object('ffi.Module'), u: uint64, h: Shape([n, 4]),
    p: DataPointer, w: DType, v: Device, i: Optional(int32), r: Stream) -> y: Tensor([n + 1], int8)"""
TENSORS = "f(x: Tensor([n, m], float32, strides=[s, 1]), y: Tensor([n], float32), a: int32)"
KERNEL = KernelImage("k", (8, 8, 4))
MAKERS: dict[str, tuple[str, Callable[[], providers.CallProvider]]] = {
    "nop": (EVERYTHING, providers.NopCallProvider),
    "direct": (EVERYTHING, lambda: providers.DirectCallProvider("k")),
    "pack": (EVERYTHING, lambda: providers.DynamicParamPackCallProvider("k")),
    "status": (
        EVERYTHING,
        lambda: providers.CheckStatus(
            providers.DynamicParamPackCallProvider("k", returns_status=True)
        ),
    ),
    "packed": (TENSORS, lambda: providers.PackedCallProvider(global_function="k")),
    "memref": (TENSORS, lambda: providers.MemRefCallProvider("k")),
    "nested": (TENSORS, lambda: providers.NestedTensorCallProvider("k")),
    "cuda": (
        TENSORS.replace("float32", "float32, device_type=cuda"),
        lambda: providers.CudaLaunchCallProvider(
            make_cubin([KERNEL]), "k", grid="ceildiv(n, 4)", block=1
        ),
    ),
}


@pytest.mark.parametrize("name", MAKERS)
def test_no_cycle_holds_anything_of_mlir(name: str) -> None:
    text, make = MAKERS[name]
    signature, provider = spec.Signature.parse(text, device="cpu"), make()
    # Fill the caches of the process first.
    attach(new_module(), signature, provider)
    reuse._KEPT.clear()  # pyright: ignore[reportPrivateUsage]
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        attach(new_module(), signature, provider)
        gc.collect()
        garbage: list[object] = gc.garbage
        held = {type(item).__name__ for item in garbage}
        ours = {type(item).__name__ for item in garbage if "mlir" in type(item).__module__}
        del garbage
    finally:
        gc.garbage.clear()
        gc.set_debug(0)
        gc.enable()
    assert ours == set()
    assert not held & {"Types", "Symbols", "FastPath", "CheckingBuilder", "DecodedValues"}
