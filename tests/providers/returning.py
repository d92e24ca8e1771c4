"""Functions that return something, for tests of that."""

from __future__ import annotations

from typing import Any, Final, cast

import numpy as np

from ffi_builder import attach_ffi_func, runtime
from ffi_builder.ir import Block
from ffi_builder.providers import CallContext, CallProvider, NopCallProvider
from ffi_builder.spec import Tensor, dims
from ffi_builder.spec.results import Result
from tests.support.wrapping import new_module

n, m = dims("n m")
X: Final = Tensor("x", [n], "float32", device_type="cpu")


def tensor(name: str, *entries: Any, dtype: str = "float32", **fields: Any) -> Tensor:
    fields.setdefault("device_type", "cpu")
    return Tensor(name, entries, dtype, **fields)


def returning(
    returns: Result | list[Result], provider: CallProvider, text: str = "", params: Any = (X,)
) -> Any:
    module = new_module(text)
    attach_ffi_func(module, "f", list(params), provider, returns=returns)
    return runtime.compile(module)["f"]


PAIR: Final = """
llvm.func @k(%p: !llvm.ptr, %n: i64) -> !llvm.struct<(ptr, i64)> {
  %empty = llvm.mlir.undef : !llvm.struct<(ptr, i64)>
  %first = llvm.insertvalue %p, %empty[0] : !llvm.struct<(ptr, i64)>
  %pair = llvm.insertvalue %n, %first[1] : !llvm.struct<(ptr, i64)>
  llvm.return %pair : !llvm.struct<(ptr, i64)>
}
"""
"""Returns what is at an address, and how much of it."""


def array(value: object) -> Any:
    return np.from_dlpack(cast("Any", value))


FILL: Final = """
llvm.func @k(%x: !llvm.ptr, %y: !llvm.ptr) {
  %v = llvm.load %x : !llvm.ptr -> f32
  llvm.store %v, %y : f32, !llvm.ptr
  llvm.return
}
"""


class Devices(NopCallProvider):
    """Returns the device that the tensor ``y`` was asked for on."""

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        y = context.signature.results[0]
        assert isinstance(y, Tensor)
        context.results = [context.device_id(y), context.device_type(y), context.ndim(y)]
        return current_block
