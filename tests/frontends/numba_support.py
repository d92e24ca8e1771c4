"""Compiles Numba's functions as examples/numba_kernel.py does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ffi_builder import attach, providers, runtime
from ffi_builder.spec import Signature
from tests.frontends.support import example, needs

needs("numba")
nk = example("numba_kernel")

Function = Callable[..., Any]

RATIO = "`ratio(x: Tensor([n, m], float32, strides=any), by: float64, y: Tensor([n, m], float32))`"
RAISED = f"ratio_inner raised an exception: its status in Numba is 1 when calling: {RATIO}"


def parsed(text: str) -> Signature:
    return Signature.parse(text, device="cpu")


def hook(signature: Signature, callee: str, **kwargs: Any) -> Callable[[Any], object]:
    provider = providers.CheckStatus(
        nk.NumbaCallProvider(callee), **{"message": nk.RAISED, **kwargs}
    )
    return lambda module: attach(module, signature, provider)


def compiled(function: Function, signature: Signature, **kwargs: Any) -> runtime.CompiledModule:
    """The module of a Numba function, whose wrapper has the signature."""
    callee = f"{signature.name}_inner"
    llvm_ir, declaration = nk.lower(function, signature, callee)
    hooks = [hook(signature, callee, **kwargs)]
    return runtime.compile(declaration, post_compile_hooks=hooks, link=[llvm_ir])
