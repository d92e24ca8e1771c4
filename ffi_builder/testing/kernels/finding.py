"""Mistakes of kernels, and the error that reports them."""

from __future__ import annotations

from collections.abc import Sequence


class KernelError(AssertionError):
    """A kernel does not do what its signature or its reference says.

    Attributes:
        argument: the tensor or result that is wrong, by its name in errors: ``"x"``, ``"cfg.y"``;
            empty if there is none.
        index: the index of the first wrong element, or None. For a packed tensor that was not
            written as declared, this is the index of the stored element.

    Examples:
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec, testing
        >>> hypot = spec.Signature.parse("hypot(x: float64, y: float64) -> r: float64")
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, hypot, providers.DirectCallProvider("hypot"))
        >>> try:
        ...     testing.check_kernel(runtime.compile(module), hypot, lambda x, y: x + y)
        ... except testing.KernelError as error:
        ...     error.argument
        'r'
    """

    def __init__(
        self, message: str, argument: str = "", index: tuple[int, ...] | None = None
    ) -> None:
        super().__init__(message)
        self.argument, self.index = argument, index


class Finding(Exception):
    """A mistake. Two findings with the same ``kind`` and ``argument`` count as the same mistake."""

    def __init__(
        self,
        kind: str,
        argument: str,
        words: str,
        index: tuple[int, ...] | None = None,
        cause: Exception | None = None,
    ) -> None:
        super().__init__(words)
        self.kind, self.argument, self.words = kind, argument, words
        self.index, self.cause = index, cause

    def error(self, name: str, context: str) -> KernelError:
        """Return the error. Its message ends with the arguments of the call."""
        return KernelError(f"{name}: {self.words}\n{context}", self.argument, self.index)


def place(argument: str, index: Sequence[int]) -> str:
    """Return ``x[1, 2]``; the name alone if there is nothing to index."""
    return f"{argument}[{', '.join(map(str, index))}]" if index else argument


def of_all(count: int, size: int) -> str:
    """Return ``(3 of 8 elements)``, or an empty string if there is only one element."""
    return "" if size == 1 else f" ({count} of {size} elements)"
