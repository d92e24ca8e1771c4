"""Calls the host function that CuTe DSL makes from a ``@cute.jit`` function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ffi_builder import providers, spec
from ffi_builder.ir import Block, Value

STATE = "__cute_loaded"
"""The state that the DSL's runtime keeps for the GPU code of a module: 64 bits, initially 0."""
LOAD = "cuda_dialect_init_library_once"
NAME = "cuda_dialect_get_error_name"
UNLOAD = "cuda_dialect_unload_library_once"
SET_ERROR = "TVMFFIErrorSetRaisedFromCStr"


@dataclass(frozen=True)
class CuteCallProvider:
    """Calls ``callee``, which takes tensors as structs and returns a CUDA error code.

    If the module has GPU code, the code is loaded before the first call and unloaded with the
    module, and the call is made on the device of the first GPU tensor.
    """

    borrows_tensors: ClassVar[bool] = True  # the kernel cannot keep a tensor after the call
    callee: str

    def prepare(self, context: providers.ModuleContext) -> None:
        """Add the state of the GPU code and the destructor that unloads it, once per module."""
        symbols, t = context.symbols, context.symbols.types
        if "cuda_init" not in symbols or STATE in symbols:
            return
        symbols.variable(STATE, bytes(8), align=8)
        symbols.declare(UNLOAD, t.void, [t.ptr])
        b = context.define(f"{STATE}_end", t.void, [])
        b.call(UNLOAD, [b.address_of(STATE)], t.void)
        b.ret()
        t.ir.Operation.create(
            "llvm.mlir.global_dtors",
            attributes={
                "dtors": t.attribute(f"[@{STATE}_end]"),
                "priorities": t.attribute("[65535 : i32]"),
                "data": t.attribute("[#llvm.zero]"),
            },
            loc=symbols.location,
            ip=t.ir.InsertionPoint(context.module.body),
        )

    def __call__(self, current_block: Block, context: providers.CallContext) -> Block:
        """Emit the call."""
        b, before = context.builder, None
        if STATE in context.symbols:
            self._load(context)
            before = self._enter_device(context)
        context.status_wanted = True
        b.block = providers.NestedTensorCallProvider(self.callee)(b.block, context)
        status = context.returned
        assert status is not None
        if before is not None:
            b.call_value("_cudaSetDevice", [before], b.types.i32)
        self._check(context, status, f"{context.fn_name} failed")
        return b.block

    def _load(self, context: providers.CallContext) -> None:
        b, t = context.builder, context.builder.types
        context.symbols.declare(LOAD, t.i32, [t.ptr] * 4)
        context.symbols.declare(SET_ERROR, t.void, [t.ptr, t.ptr])
        arguments = [b.address_of(name) for name in (STATE, "cuda_init", "cuda_load_to_device")]
        status = b.call_value(LOAD, [*arguments, b.address_of(SET_ERROR)], t.i32)
        with b.when(b.ne(status, b.i32(0)), cold=True):
            b.ret(status)  # it has set the error

    def _enter_device(self, context: providers.CallContext) -> Value | None:
        """Make the device of the first GPU tensor current, and return the previous device."""
        found = [spec.required(param) for _, param in spec.with_paths(context.params)]
        tensors = [x for x in found if isinstance(x, spec.Tensor) and x.device == "cuda"]
        if not tensors:
            return None
        b, t = context.builder, context.builder.types
        context.symbols.declare("_cudaGetDevice", t.i32, [t.ptr])
        context.symbols.declare("_cudaSetDevice", t.i32, [t.i32])
        space = b.alloca(t.i32)
        words = f"{context.fn_name}: the device cannot be chosen"
        self._check(context, b.call_value("_cudaGetDevice", [space], t.i32), words)
        device = context.device_id(tensors[0])
        self._check(context, b.call_value("_cudaSetDevice", [device], t.i32), words)
        return b.load(t.i32, space)

    def _check(self, context: providers.CallContext, status: Value, words: str) -> None:
        b, t = context.builder, context.builder.types
        with b.when(b.ne(status, b.i32(0)), cold=True):
            if STATE not in context.symbols:  # then CUDA is not linked
                b.fail("RuntimeError", f"{words} with status {{}}", status)
                return
            context.symbols.declare(NAME, t.ptr, [t.i32])
            name = b.call_value(NAME, [status], t.ptr)
            b.fail("RuntimeError", f"{words} with CUDA error {{}} ({{}})", status, name)
