"""Prints the wrapper of a signature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ffi_builder import spec
from ffi_builder.extending import TABLE, abi

if TYPE_CHECKING:
    from ffi_builder.providers import CallProvider

_MINE: Final = (abi.PREFIX, TABLE)
"""The prefixes of two symbols: a wrapper and its table."""


def emit(
    signature: spec.Signature,
    provider: CallProvider | None = None,
    mlir: str = "torch_mlir",
    *,
    whole: bool = False,
) -> str:
    """Return the wrapper that :func:`~ffi_builder.attach` adds to an empty module, as MLIR text.

    The text is meant for FileCheck tests. It has the wrapper, then the table of its checks. It
    leaves out shared functions and declarations, which are the same for most signatures and may
    change with any version.

    Args:
        signature: what the wrapper accepts.
        provider: emits the call. The default is ``NopCallProvider()``. If the signature returns
            scalars, which only a callee can make, the default is a
            ``DynamicParamPackCallProvider`` for a callee with the signature's name. The module
            declares the callee.
        mlir: the MLIR Python distribution, by its package: ``"torch_mlir"``, ``"jaxlib.mlir"``, …
        whole: print the whole module instead, which verifies and can be parsed again.

    Raises:
        BuildError: the distribution does not exist, or :func:`~ffi_builder.attach` fails.

    Examples:
        >>> from ffi_builder import providers, spec, testing
        >>> text = "saxpy(a: float32, x: Tensor([n], float32), y: Tensor([n], float32))"
        >>> saxpy = spec.Signature.parse(text, device="cpu")
        >>> wrapper = testing.emit(saxpy, providers.DirectCallProvider("saxpy"))
        >>> [line] = [line for line in wrapper.splitlines() if "call @saxpy" in line]
        >>> line.rpartition(" : ")[2]
        '(f32, !llvm.ptr, !llvm.ptr) -> ()'
    """
    # Imported here so that callers of `check` need not load MLIR.
    from ffi_builder import attach
    from ffi_builder.extending import named
    from ffi_builder.providers import DynamicParamPackCallProvider, NopCallProvider

    if provider is None:
        made = (spec.Tensor, spec.Shape)
        handed_over = any(not isinstance(result, made) for result in signature.results)
        pack = DynamicParamPackCallProvider(signature.name)
        provider = pack if handed_over else NopCallProvider()
    distribution = named(mlir)
    context = distribution.ir.Context()
    distribution.load_llvm(context)
    module = distribution.ir.Module.parse("", context)
    attach(module, signature, provider)
    if whole:
        return str(module)
    chosen: list[tuple[str, str]] = []
    for operation in module.body.operations:
        attributes = operation.operation.attributes
        name = attributes["sym_name"].value if "sym_name" in attributes else ""
        if name.startswith(_MINE):
            chosen.append((name, str(operation)))
    chosen.sort(key=lambda made: not made[0].startswith(abi.PREFIX))
    return "".join(f"{text}\n" for _, text in chosen)
