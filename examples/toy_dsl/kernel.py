"""The decorator `kernel`, and the functions that NumPy, PyTorch and JAX call."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from definition import Definition
from expressions import Expression
from wrapper import compile_kernel, signatures

from ffi_builder import runtime, testing

if TYPE_CHECKING:
    from ffi_builder.frameworks.jax import JaxFunction
    from ffi_builder.frameworks.torch import Operator

# Allocates the results of calls with NumPy arrays; PyTorch has an allocator of its own.
allocator = runtime.install_allocator(every_thread=True)


class Kernel:
    """A kernel. Call it with arrays of NumPy, PyTorch, or anything else that has DLPack."""

    def __init__(self, function: Callable[..., Expression]) -> None:
        self.definition = Definition(function)
        self.name = self.definition.name
        self.signatures = signatures(self.definition)

    @cached_property
    def compiled(self) -> runtime.CompiledModule:
        """The compiled functions. They are compiled on first use."""
        return compile_kernel(self.definition)

    @cached_property
    def numpy(self) -> Callable[..., Any]:
        """The function for NumPy, and for PyTorch's eager mode."""
        return self.compiled.callable(self.name)

    @cached_property
    def torch(self) -> Operator:
        """An operator of PyTorch, for torch.compile. Use this property before PyTorch traces."""
        from ffi_builder.frameworks import torch as ffi_torch  # imports PyTorch

        return ffi_torch.operator(self.compiled[self.name], namespace="toy")

    @cached_property
    def jax(self) -> JaxFunction:
        """A function of JAX, for jax.jit. XLA allocates the result."""
        from ffi_builder.frameworks import jax as ffi_jax  # imports JAX

        return ffi_jax.function(self.compiled[f"{self.name}_into"])

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Return the result as an array of the framework of the arguments."""
        return self.numpy(*args, **keywords)

    def check(self, reference: Callable[..., Any], **options: Any) -> None:
        """Compare the kernel with a function of NumPy arrays, on random arguments."""
        signature = self.signatures[self.name]
        watched = compile_kernel(self.definition, sanitize=True)
        testing.check_kernel(watched, signature, reference, prepare=of_one_dtype, **options)


def of_one_dtype(*args: Any) -> bool:
    """Leave out arguments that no variant takes."""
    return len({arg.dtype for arg in args if hasattr(arg, "dtype")}) == 1


def kernel(function: Callable[..., Expression]) -> Kernel:
    """Make a kernel of a function in the toy language."""
    return Kernel(function)
