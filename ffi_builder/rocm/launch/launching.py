"""Emits a launch: parameters, configuration, and a call of C, which does the rest.

A launch on an AMD GPU takes several microseconds, of which asking HIP for the stream's device and
making that current are few: so all of it is in C, and what is emitted is short::

    llvm.cond_br %is_empty, ^done(%zero), ^launch
  ^launch:
    …                                                      // parameters, configuration
    %status = llvm.call @…_rocm_launch(%state, %kernel, %init, %config, %params, %device, …)
    llvm.cond_br %is_fine, ^done, ^failed                  // ^failed: llvm.return %status
  ^done:
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from typing_extensions import override

from ffi_builder.cuda.launch import driver, launching
from ffi_builder.cuda.launch.arguments import KernelArgument
from ffi_builder.cuda.launch.dimensions import Launch, emit_config, shown
from ffi_builder.cuda.launch.launching import addresses, described
from ffi_builder.cuda.launch.states import Source
from ffi_builder.cuda.launch.streams import fill_with_zeros as fill
from ffi_builder.extending import call_support, return_failure
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.rocm.launch.vendor import MOST_ITEMS, ROCM

fill_with_zeros: Final = partial(fill, vendor=ROCM)
"""As for CUDA; the registered filler of workspaces on this device."""


class Launcher(launching.Launcher):
    """Emits one launch."""

    @override
    def emit(self, arguments: Sequence[KernelArgument]) -> Value:
        """Launch, unless the grid is empty; return the status, an i32."""
        b = self.b
        is_empty, done = self.launch.is_empty(b), b.new_block(b.types.i32)
        if is_empty is not None:
            following = b.new_block()
            b.cond_br(is_empty, done, following, [b.i32(0)])
            b.block = following
        b.br(done, self._launched(arguments))
        b.block = done
        return done.arguments[0]

    def _launched(self, arguments: Sequence[KernelArgument]) -> Value:
        b, states = self.b, self.states
        params = addresses(states.site, self.place.device, arguments)
        config = emit_config(b, self.launch, self._stream())
        texts = b.null() if self.wants_status else b.text_constant(described(arguments))
        symbols = map(b.address_of, (ROCM.state, states.kernel, states.init))
        operands = [*symbols, config, params, self.place.device, texts, *states.site.operands(b)]
        status = call_support(b, ROCM.function("launch"), operands)
        if not self.wants_status:
            return_failure(b, status)
            return b.i32(0)
        # A hipError_t is positive. What is less than 0 is an error that has been raised.
        raised, returned = b.new_block(cold=True), b.new_block()
        b.cond_br(b.ugt(status, b.i32(driver.MAX_INT)), raised, returned)
        b.block = raised
        b.ret(status)
        b.block = returned
        return status


def check_block(
    b: CheckingBuilder, source: Source, launch: Launch, compiled: Sequence[int] | None
) -> None:
    """Check what depends on the call: the block for which a kernel was compiled.

    HIP would run the kernel with another one.
    """
    for axis, wanted, size in zip("xyz", compiled or (), launch.block.values, strict=False):
        if not isinstance(size, int):
            words = (
                f"block.{axis} is {{}} for kernel {shown(source.shown)}; expected {wanted}, for "
                f"which it was compiled"
            )
            b.check(b.eq(size, b.i64(wanted)), "ValueError", words, size)


def check_items(b: CheckingBuilder, source: Source, launch: Launch) -> None:
    """Check that the threads of the grid can be counted in each axis, as AMD's GPUs do.

    HIP would launch fewer, or say no more than that a value is invalid.
    """
    for axis, blocks, threads in zip("xyz", launch.grid.values, launch.block.values, strict=True):
        if isinstance(blocks, int) and isinstance(threads, int):
            continue
        one, other = (b.i64(v) if isinstance(v, int) else v for v in (blocks, threads))
        items = b.mul(one, other)
        words = (
            f"grid.{axis} * block.{axis} is {{}} for kernel {shown(source.shown)}; expected at "
            f"most {MOST_ITEMS}, as many threads as a grid has in an axis"
        )
        b.check(b.ule(items, b.i64(MOST_ITEMS)), "ValueError", words, items)
