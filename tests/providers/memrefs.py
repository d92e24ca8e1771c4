"""Kernels whose memrefs are recorded, and what attaching says of a tensor for them."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from ffi_builder import attach_ffi_func, record_memref_types
from ffi_builder.errors import BuildError
from ffi_builder.providers import MemRefCallProvider
from ffi_builder.spec import Param, Tensor
from tests.support.contexts import shared_context

LOWERING: Final = "convert-func-to-llvm,reconcile-unrealized-casts"


def cpu(shape: Any, dtype: Any = "float32", **more: Any) -> Tensor:
    return Tensor("x", shape, dtype, device_type="cpu", **more)


def lowered(types: str, *, attributes: str = "llvm.emit_c_interface", before: str = "") -> Any:
    """A module with @kernel of this type, recorded, and lowered behind the passes `before`."""
    ir: Any = import_module("torch_mlir.ir")
    passes: Any = import_module("torch_mlir.passmanager").PassManager
    text = f"func.func private @kernel{types} attributes {{{attributes}}}"
    module = ir.Module.parse(text, shared_context())
    record_memref_types(module)
    passes.parse(f"builtin.module({before}{LOWERING})", module.context).run(module.operation)
    return module


def check(memref: str, tensor: Param, *, c_interface: bool = False) -> str | None:
    """Return the error of attaching with a tensor for this memref; None if there is none."""
    module = lowered(f"({memref}) -> ()")
    before = str(module)
    try:
        attach_ffi_func(
            module, "f", [tensor], MemRefCallProvider("kernel", c_interface=c_interface)
        )
    except BuildError as error:
        assert str(module) == before
        return str(error)
    assert module.operation.verify()
    return None
