"""Derivatives and batching: what autograd and `torch.vmap` do with an operator, and refuse.

No gradient is lost silently: an operator without a derivative raises where a gradient is required,
and every operator raises where a tangent of forward mode would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn, TypeAlias

from ffi_builder.frameworks.torch import _torch
from ffi_builder.frameworks.torch.code import DOUBT
from ffi_builder.frameworks.torch.interface import Interface
from ffi_builder.records import dataclass

Kernel: TypeAlias = Callable[..., Any]
_NO_FORWARD_MODE: Final = (
    "has no derivative in forward mode: use reverse mode, or call it on the primal alone "
    "(torch.autograd.forward_ad.unpack_dual)"
)


@dataclass(frozen=True)
class Refused:
    """The autograd kernel of an operator without a derivative.

    Raises:
        RuntimeError: a gradient is required, or a tensor has a tangent.
    """

    name: str
    overload: Any
    interface: Interface

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call the operator below autograd."""
        refuse_tangents(self.name, args, keywords)
        wanted = _torch.torch.is_grad_enabled() and self.interface.differentiable
        if wanted and _torch.requires_grad((*args, *keywords.values())):
            self._refuse(args, keywords)
        # Gradients have been refused above, so the function need not look for them.
        return _torch.below_autograd(self.overload, args, keywords)

    def _refuse(self, args: Sequence[Any], keywords: dict[str, Any]) -> NoReturn:
        given = {argument.name: argument for argument in self.interface.given}
        values = dict(zip(given, args, strict=False)) | keywords
        needing = [name for name, value in values.items() if _torch.requires_grad([value])]
        written = [name for name in needing if given[name] in self.interface.mutated]
        cure = "give backward=…"
        if not self.interface.functional:
            cure = "make it with form='functional' and backward=…"
        words = f"has no derivative, but {', '.join(needing)} requires a gradient"
        if written:
            words = f"writes {', '.join(written)}, which requires a gradient, and has no derivative"
        raise RuntimeError(f"{self.name} {words}: {cure}, or call it under torch.no_grad()")


@dataclass(frozen=True)
class Differentiated:
    """The autograd kernel of an operator with a derivative.

    Raises:
        RuntimeError: a tensor has a tangent, or `torch.func` differentiates below the dispatcher.
    """

    name: str
    kernel: Kernel
    """The kernel that torch made, which takes the dispatch keys first."""

    def __call__(self, keyset: Any, *args: Any, **keywords: Any) -> Any:
        """Call the operator below autograd, and record the derivative if a gradient is required."""
        refuse_tangents(self.name, args, keywords)
        if _torch.in_functorch() and _torch.requires_grad((*args, *keywords.values())):
            raise RuntimeError(
                f"{self.name} has no derivative for torch.func here: call what operator() returned,"
                f" not torch.ops, with positional arguments, and outside of torch.compile and"
                f" torch.export"
            )
        return self.kernel(keyset, *args, **keywords)


def directly(eager: Kernel, otherwise: Kernel, *, with_keyset: bool) -> Kernel:
    """Return an autograd kernel that calls the function directly if autograd has nothing to do.

    If `eager` returns `DOUBT`, the kernel calls `otherwise`, with the dispatch keys as the first
    argument if it takes them. A direct call saves a second pass through the dispatcher, which has
    already handled autocast.
    """
    first = int(with_keyset)

    def autograd(*args: Any, **keywords: Any) -> Any:
        if not _torch.has_modes():
            result = eager(*args[first:], **keywords)
            if result is not DOUBT:
                return result
        return otherwise(*args, **keywords)

    return autograd


def derivative(
    overload: Any,
    eager: Kernel,
    backward: Callable[..., Any],
    setup_context: Callable[..., Any] | None,
    batched: Callable[[Kernel], Kernel],
) -> Any:
    """Return a `torch.autograd.Function` of an operator, which torch.func can differentiate.

    It calls `eager`, which makes no derivative, and in doubt the operator. `batched` makes its
    batching rule from its `apply`, which the default rule calls.
    """

    def forward(*args: Any) -> Any:
        result = DOUBT if _torch.is_watched() else eager(*args)
        return overload(*args) if result is DOUBT else result

    def refused(*_: Any) -> NoReturn:
        raise RuntimeError(f"{overload.name()} {_NO_FORWARD_MODE}")

    def saved(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        if setup_context is not None:
            setup_context(ctx=ctx, inputs=inputs, output=output)

    function: Any = type(
        f"{overload.name()}.Derivative",
        (_torch.torch.autograd.Function,),
        {
            "forward": staticmethod(forward),
            "setup_context": staticmethod(saved),
            "backward": staticmethod(backward),
            "jvp": staticmethod(refused),
        },
    )
    function.vmap = staticmethod(batched(function.apply))
    return function


def refuse_tangents(name: str, args: Sequence[Any], keywords: dict[str, Any]) -> None:
    """Raise RuntimeError for a tensor with a tangent, which would be lost."""
    for value in (*args, *keywords.values()):
        if isinstance(value, _torch.torch.Tensor) and _torch.has_tangent(value):
            raise RuntimeError(f"{name} {_NO_FORWARD_MODE}")


def note_written(tensor: Any) -> None:
    """Tell autograd that a tensor was written.

    Tensors of inference mode have no version. Arrays of other frameworks are left alone.
    """
    if isinstance(tensor, _torch.torch.Tensor) and not tensor.is_inference():
        _torch.increment_version(tensor)


# ---- batching


def batching_rule(
    interface: Interface, overload: Any, vmap: Callable[..., Any] | None, call: Callable[..., Any]
) -> Callable[..., Any]:
    """Return the given batching rule, or the operator's default rule, which calls `call`."""
    if vmap is not None:
        return vmap
    if not interface.mutated:
        return Sequential(interface, overload, call)

    def refused(*_: Any, **__: Any) -> NoReturn:
        raise RuntimeError(
            f"{overload.name()} writes its arguments and has no batching rule: give vmap=…, or "
            f"make it with form='functional', which is called once for each example"
        )

    return refused


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
        """Return the results, whose first dimension is the batch."""
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
        # The user of vmap does not choose the layout of a batched tensor.
        return moved.contiguous() if tensor is not None and tensor.order == "C" else moved
