"""Batching rules: what `torch.vmap` of an operator does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ffi_builder.frameworks.torch import _torch
from ffi_builder.frameworks.torch.interface import Interface
from ffi_builder.records import dataclass


def batching_rule(
    interface: Interface, overload: Any, vmap: Callable[..., Any] | None, call: Callable[..., Any]
) -> Callable[..., Any]:
    """Return the rule that was given, or the default one of an operator, by way of `call`."""
    if vmap is not None:
        return vmap
    if interface.mutated:
        return NotBatched(overload.name())
    return Sequential(interface, overload, call)


@dataclass(frozen=True)
class Sequential:
    """The batching rule of functional operators: one call for each example, stacked."""

    interface: Interface
    overload: Any
    call: Callable[..., Any]
    """The callee: the operator, or the function that `torch.func` differentiates."""

    def __call__(
        self, info: Any, in_dims: tuple[Any, ...], *args: Any, **keywords: Any
    ) -> tuple[Any, Any]:
        """Return the results, batched in front."""
        if info.batch_size == 0:
            raise RuntimeError(f"{self.overload} has no example to learn its results' sizes from")
        batched = [
            self._in_front(number, value, dim) if isinstance(dim, int) else value
            for number, (value, dim) in enumerate(zip(args, in_dims, strict=True))
        ]
        results: list[Any] = [
            self.call(
                *(
                    value[index] if isinstance(dim, int) else value
                    for value, dim in zip(batched, in_dims, strict=True)
                ),
                **keywords,
            )
            for index in range(info.batch_size)
        ]
        if isinstance(results[0], _torch.torch.Tensor):
            return _torch.torch.stack(results), 0
        stacked = tuple(_torch.torch.stack(each) for each in zip(*results, strict=True))
        return stacked, (0,) * len(stacked)

    def _in_front(self, number: int, value: Any, dim: int) -> Any:
        moved = value.movedim(dim, 0)
        tensor = self.interface.given[number].tensor
        # A tensor in vmap has no layout that its user would know of.
        return moved.contiguous() if tensor is not None and tensor.order == "C" else moved


@dataclass(frozen=True)
class NotBatched:
    """The batching rule of operators that write their arguments. Raises RuntimeError."""

    name: str

    def __call__(self, info: Any, in_dims: Any, *args: Any, **keywords: Any) -> Any:
        """Raise the error."""
        raise RuntimeError(
            f"{self.name} writes its arguments and has no batching rule: give vmap=…, or make it "
            f"with form='functional', which is called once for each example"
        )
