"""Kernels on tensors: what bufferization must not write to.

Bufferization makes memrefs of tensors, and may store intermediate results in those of arguments,
unless they have ``bufferization.writable = false``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.runtime import bindings
from ffi_builder.runtime.codegen import mlir

_ATTRIBUTE: Final = "bufferization.writable"


def _writable(signature: spec.Signature, args: object) -> set[int]:
    """Return the positions of the arguments that the signature says are written."""
    entries: list[Any] = list(args) if isinstance(args, (list, tuple)) else [*signature.params]  # pyright: ignore[reportUnknownArgumentType]
    tensors = {
        path: param
        for path, param in spec.with_paths(signature.params)
        if isinstance(param, spec.Tensor) and param.intent in ("out", "inout")
    }
    return {
        at
        for at, entry in enumerate(entries)
        if (entry if isinstance(entry, str) else getattr(entry, "name", None)) in tensors
    }


def kept(module: Any, name: str, signature: spec.Signature, args: object) -> Any:
    """Return a copy of a module, whose function keeps all arguments but those that are written.

    Raises:
        BuildError: it returns a tensor, and the signature has none as a result.
        CompileError: the text of a module is not read.
    """
    written = _writable(signature, args)
    is_text = isinstance(module, (str, bytes))
    copy: Any = mlir.parse(module) if is_text else mlir.clone(module)
    ir = bindings.ir_of(copy.operation)
    for view in copy.body.operations:
        function = view.operation
        attributes = function.attributes
        if function.name != "func.func" or attributes["sym_name"].value != name:
            continue
        with copy.context:
            before = [*attributes["arg_attrs"]] if "arg_attrs" in attributes else []
            type_ = ir.FunctionType(attributes["function_type"].value)
            _check_results(name, type_.results, signature)
            types = type_.inputs
            before = before or [ir.DictAttr.get({}) for _ in types]
            keep = {_ATTRIBUTE: ir.BoolAttr.get(False)}
            after = [
                ir.DictAttr.get({**{each.name: each.attr for each in given}, **keep})
                if at not in written and str(type_).startswith("tensor<")
                else given
                for at, (given, type_) in enumerate(zip(before, types, strict=True))
            ]
            attributes["arg_attrs"] = ir.ArrayAttr.get(after)
    return copy


def _check_results(name: str, types: Iterable[object], signature: spec.Signature) -> None:
    for type_ in map(str, types):
        if type_.startswith("tensor<") and not signature.result_tensors:
            raise BuildError(
                f"wrap: {name} returns {type_}, which the signature lacks: add a result, as in "
                f"`-> y: Tensor([n], float32)`"
            )
