"""Kernels in MLIR: the passes that lower them, and how the lowered function is called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final

from ffi_builder import BuildError, CompileError, spec
from ffi_builder.extending import MEMREF_TYPES, did_you_mean, function_parts
from ffi_builder.providers import CallProvider, CheckStatus, DirectCallProvider, MemRefCallProvider
from ffi_builder.runtime.extending import clone_mlir, has_passes, ir_of, parse_mlir
from ffi_builder.wrapping.calls import returned

_BUFFERIZE: Final = (
    "one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map},"
    "buffer-results-to-out-params{modify-public-functions=1 hoist-dynamic-allocs "
    "hoist-static-allocs},buffer-deallocation-pipeline,func.func(refback-munge-memref-copy)"
)
_LARGE: Final = 16
PIPELINE: Final = (
    "builtin.module(func.func(convert-linalg-to-loops),expand-strided-metadata,lower-affine,"
    "convert-vector-to-scf,convert-vector-to-llvm,convert-scf-to-cf,convert-math-to-llvm,"
    "convert-math-to-libm,convert-to-llvm,reconcile-unrealized-casts)"
)
"""Passes for linalg, affine, scf, vector, math, memref and func."""
_FIRST: Final = {
    r"bufferization\.(clone|dealloc)": "convert-bufferization-to-memref",
    r"memref\.realloc": "expand-realloc",
    # Other copies become memcpy, which is faster; these would call a function of MLIR's runtime.
    r"memref\.copy[^=]*?memref<[^>]*?,\s*(strided<|affine_map<|#)": (
        "func.func(refback-munge-memref-copy)"
    ),
    r"vector\.multi_reduction": "func.func(lower-vector-multi-reduction)",
    r"vector\.mask\b": "func.func(lower-vector-mask)",
    r"math\.clampf": "math-expand-ops{ops=clampf}",
    r"math\.ipowi": "convert-math-to-funcs{min-width-of-fpowi-exponent=65}",
    r"complex\.": "convert-complex-to-standard",
    "f4E2M1FN|f8E8M0FNU": "arith-expand{include-f8e8m0=1 include-f4e2m1=1}",
}
"""Passes for operations that few modules have, by patterns of their text. They go first."""
_VOID: Final = "!llvm.void"
_WRITABLE: Final = "bufferization.writable"
"""An attribute of an argument; False keeps bufferization, which makes memrefs of tensors, from
storing intermediate results in its memory."""


def with_passes(
    module: Any, given: str | None, functions: Sequence[tuple[str, spec.Signature]], args: object
) -> tuple[Any, str | None]:
    """Return a module and its passes; its text, if its own distribution lacks ours.

    Args:
        module: a module of any bindings, or its text.
        given: the passes that the user chose.
        functions: the kernels, each with its signature.
        args: what a kernel gets, if the user said it.
    """
    passes = given or pipeline_for(module)
    if given or passes is None:
        return module, passes
    if "bufferize" in passes:
        with suppress(CompileError):  # a text that is not read has its error later
            for name, signature in functions:
                module = _kept(module, name, signature, args)
    if isinstance(module, (str, bytes)):
        return module, passes
    return (module if has_passes(module, passes) else str(module)), passes


def _writable(signature: spec.Signature, args: object) -> set[int]:
    """Return the positions of the arguments that the signature says are written."""
    entries: list[Any] = list(args) if isinstance(args, (list, tuple)) else [*signature.params]  # pyright: ignore[reportUnknownArgumentType]
    names = (each if isinstance(each, str) else getattr(each, "name", None) for each in entries)
    written = {
        path
        for path, param in spec.with_paths(signature.params)
        if isinstance(param, spec.Tensor) and param.intent in ("out", "inout")
    }
    return {at for at, name in enumerate(names) if name in written}


def _kept(module: Any, name: str, signature: spec.Signature, args: object) -> Any:
    """Return a copy of a module, whose function keeps all arguments but those that are written.

    Raises:
        BuildError: it returns a tensor, and the signature has none as a result.
        CompileError: the text of a module is not read.
    """
    written = _writable(signature, args)
    is_text = isinstance(module, (str, bytes))
    copy: Any = parse_mlir(module) if is_text else clone_mlir(module)
    ir = ir_of(copy.operation)
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
            keep = {_WRITABLE: ir.BoolAttr.get(False)}
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


def pipeline_for(module: object) -> str | None:
    """Return the passes that a module's dialects need; None if it needs none.

    Tensors become memrefs, and tensors that a function returns become its last arguments.
    """
    text = _text(module)
    if "func.func" not in text and "memref" not in text:
        return None
    first = [_BUFFERIZE] if "tensor<" in text else []
    first += [passes for operation, passes in _FIRST.items() if re.search(operation, text)]
    return PIPELINE.replace("(", "(" + "".join(f"{passes}," for passes in first), 1)


def _text(module: Any) -> str:
    """Return the text of a module, without its large constants."""
    if isinstance(module, (str, bytes)):
        return module if isinstance(module, str) else module.decode(errors="replace")
    return module.operation.get_asm(large_elements_limit=_LARGE)


def provider_of(lowered: Any, name: str, signature: spec.Signature, args: Any) -> CallProvider:
    """Return the provider that calls a function of a lowered module.

    A function that took memrefs before it was lowered is called with memrefs. An integer that it
    returns is a status, unless it is a result of the signature.

    Raises:
        BuildError: the module has no such function; it returns what the signature lacks.
    """
    named = {_name(view): view.operation for view in lowered.body.operations}
    if name not in named:
        names = [each for each in named if each is not None]
        raise BuildError(
            f"wrap: the module has no @{name}{did_you_mean(name, names)}; it has "
            f"{', '.join(names) or 'nothing'}; say which with function="
        )
    is_memref = MEMREF_TYPES in named[name].attributes
    provider = (MemRefCallProvider if is_memref else DirectCallProvider)(name, args=args)
    if returned(signature, args):
        return provider
    result = str(function_parts(named[name])[0]) if named[name].name == "llvm.func" else _VOID
    if re.fullmatch(r"i\d+", result):
        return CheckStatus(provider)
    if result != _VOID:
        raise BuildError(
            f"wrap: {name} returns {result}, which the signature lacks: add a result, as in "
            f"`-> r: float32`"
        )
    return provider


def _name(view: Any) -> str | None:
    attributes = view.operation.attributes
    return attributes["sym_name"].value if "sym_name" in attributes else None
