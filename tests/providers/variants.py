"""Functions that tell which variant was called: kernel number i returns i."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ffi_builder import attach, runtime, spec
from ffi_builder.providers import CallProvider, DirectCallProvider, Variant, VariantsCallProvider
from ffi_builder.spec.expr import Condition
from tests.support.wrapping import new_module

WHICH: Final = spec.Var("which", "int32")


def kernels(count: int) -> str:
    """The text of kernels ``k0`` to ``k{count - 1}``."""
    return "\n".join(
        f"llvm.func @k{i}() -> i32 {{\n  %c = llvm.mlir.constant({i} : i32) : i32\n"
        f"  llvm.return %c : i32\n}}"
        for i in range(count)
    )


def kernel(number: int) -> DirectCallProvider:
    return DirectCallProvider(f"k{number}", args=[])


def variants(*conditions: Condition | None) -> VariantsCallProvider:
    """A variant for each condition, in order."""
    return VariantsCallProvider([Variant(kernel(i), when=c) for i, c in enumerate(conditions)])


def of(*pairs: tuple[CallProvider, Condition | None]) -> VariantsCallProvider:
    """A variant for each provider, with its condition."""
    return VariantsCallProvider([Variant(provider, when=when) for provider, when in pairs])


def choosing(params: Sequence[spec.Param], *conditions: Condition | None) -> Any:
    """A function that returns the number of the variant that it has called."""
    module = new_module(kernels(len(conditions)))
    attach(module, spec.Signature("f", params, WHICH), variants(*conditions))
    return runtime.compile(module)["f"]


LOWERING: Final = "builtin.module(convert-to-llvm,reconcile-unrealized-casts)"


def lowered(text: str, provider: CallProvider, *params: spec.Param) -> Any:
    """A function of kernels on memrefs, to which it is attached before they are lowered."""

    def hook(module: Any) -> None:
        attach(module, spec.Signature("f", params), provider)

    return runtime.compile(text, pipeline=LOWERING, post_compile_hooks=[hook])["f"]
