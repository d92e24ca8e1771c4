"""Fills workspaces on CUDA devices with zeros, whichever provider then calls the kernel.

The emitted code::

    %known = llvm.load %driver atomic acquire              // ^first: TVMFFIHandleInitOnce
    llvm.cond_br %is_known, ^ready, ^first
  ^ready:
    %stream = llvm.call @TVMFFIEnvGetStream(%cuda, %device)
    %status = llvm.call @…_cuda_zero(%state, %pointer, %size, %stream, %device, …)
    llvm.cond_br %is_fine, ^next, ^failed                  // ^failed: llvm.return %status
"""

from __future__ import annotations

from ffi_builder.abi import DEVICE_TYPES
from ffi_builder.ir import CheckingBuilder, Value, call_support, load_acquire
from ffi_builder.packed.anys import return_failure
from ffi_builder.providers.cuda.states import (
    INIT_ONCE,
    ModuleState,
    define_driver,
    define_module,
)
from ffi_builder.providers.cuda.streams import ENV_GET_STREAM


def fill_with_zeros(
    b: CheckingBuilder, pointer: Value, size: Value, device: Value, name: str
) -> None:
    """Fill ``size`` bytes (an i64) in the order of the framework's current stream.

    ``device`` is the id of a CUDA device, an i32; errors show ``name``.
    """
    t, state = b.types, ModuleState(b)
    define_module(state)
    init = define_driver(state)
    slot = b.address_of(state.driver)
    following, first = b.new_block(), b.new_block(cold=True)
    known = load_acquire(b, t.ptr, slot, size=8)
    b.cond_br(b.ne(known, b.null()), following, first, likely=True)
    b.block = first
    return_failure(b, b.call_value(INIT_ONCE, [slot, b.address_of(init)], t.i32))
    b.br(following)
    b.block = following
    b.symbols.declare(ENV_GET_STREAM, t.ptr, [t.i32, t.i32])
    stream = b.call_value(ENV_GET_STREAM, [b.i32(DEVICE_TYPES["cuda"]), device], t.ptr)
    shown = b.text_constant(name.encode() + b"\0")
    operands = [b.address_of(state.module), pointer, size, stream, device, shown, *state.site(b)]
    return_failure(b, call_support(b, "cuda_zero", operands))
