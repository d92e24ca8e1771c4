"""Derivatives and batching: what autograd and `torch.vmap` do with an operator, and refuse.

No gradient is lost silently: an operator without a derivative raises where a gradient is required,
and every operator raises where a tangent of forward mode would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, NoReturn, TypeAlias, cast

from ffi_builder.extending import dataclass
from ffi_builder.frameworks.torch import _torch
from ffi_builder.frameworks.torch.code import DOUBT
from ffi_builder.frameworks.torch.interface import Interface

Kernel: TypeAlias = Callable[..., Any]
_NO_FORWARD_MODE: Final = (
    "has no derivative in forward mode: use reverse mode, or call it on the primal alone "
    "(torch.autograd.forward_ad.unpack_dual)"
)


@dataclass(frozen=True)
class Autograd:
    """The autograd kernel of an operator.

    Raises:
        RuntimeError: a tensor has a tangent, or a gradient is required and there is no derivative,
            or `torch.func` differentiates below the dispatcher.
    """

    name: str
    overload: Any
    interface: Interface
    recording: Kernel | None
    """Calls the operator, and records its derivative."""

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call the operator below autograd, and record the derivative if a gradient is required."""
        refuse_tangents(self.name, args, keywords)
        wanted = _torch.torch.is_grad_enabled() and self.interface.differentiable
        if wanted and _torch.requires_grad((*args, *keywords.values())):
            if self.recording is None:
                self._refuse(args, keywords)
            if _torch.in_functorch():
                raise RuntimeError(
                    f"{self.name} has no derivative for torch.func here: call what operator() "
                    f"returned, not torch.ops, outside of torch.compile and torch.export"
                )
            return self.recording(*args, **keywords)
        # No gradient is required here, so the function need not look for one.
        return _torch.below_autograd(self.overload, args, keywords)

    def _refuse(self, args: Sequence[Any], keywords: dict[str, Any]) -> NoReturn:
        given = {argument.name: argument for argument in self.interface.given}
        values = dict(zip(given, args, strict=False)) | keywords
        needing = [name for name, value in values.items() if _torch.requires_grad(value)]
        written = [name for name in needing if given[name] in self.interface.mutated]
        cure = "give backward=…"
        if not self.interface.functional:
            cure = "make it with form='functional' and backward=…"
        verb = "requires" if len(needing) == 1 else "require"
        words = f"has no derivative, but {', '.join(needing)} {verb} a gradient"
        if written:
            words = f"writes {', '.join(written)}, which requires a gradient, and has no derivative"
        raise RuntimeError(
            f"{self.name} {words}: {cure}, or call it under torch.no_grad(); in the backward of "
            f"another operator, give one that raises"
        )


def directly(eager: Kernel, otherwise: Kernel) -> Kernel:
    """Return an autograd kernel that calls the function directly if no mode looks at operators.

    If `eager` returns `DOUBT`, the kernel calls `otherwise`. A direct call saves a second pass
    through the dispatcher, which has already handled autocast.
    """

    def autograd(*args: Any, **keywords: Any) -> Any:
        if not _torch.has_modes():
            result = eager(*args, **keywords)
            if result is not DOUBT:
                return result
        return otherwise(*args, **keywords)

    return autograd


def derivative(
    interface: Interface,
    overload: Any,
    backward: Callable[..., Any],
    setup_context: Callable[..., Any] | None,
) -> Any:
    """Return a `torch.autograd.Function` of an operator, which takes all arguments by position.

    It takes lists of tensors as `one_by_one` passes them, since torch differentiates no tensor in a
    list. It calls its attribute `eager`, which the caller sets, and in doubt the operator. As for
    `torch.library.register_autograd`, the rules do not take keyword-only arguments by position.
    """
    count = len(interface.given) - len(interface.keywords)

    def forward(*args: Any) -> Any:
        args, keywords = interface.split(args)
        result = DOUBT if _torch.is_watched() else made.eager(*args, **keywords)
        return _torch.below_autograd(overload, args, keywords) if result is DOUBT else result

    def saved(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        if setup_context is None:
            return
        inputs, keywords = interface.split(inputs)
        more = {"keyword_only_inputs": keywords} if keywords else {}
        setup_context(ctx=ctx, inputs=inputs, output=output, **more)

    def gradients(ctx: Any, *grads: Any) -> Any:
        ctx.needs_input_grad = ctx.needs_input_grad[:count]
        result = backward(ctx, *grads)
        none = [None] * len(interface.keywords)
        return (*result, *none) if isinstance(result, tuple) else (result, *none)

    def refused(*_: Any) -> NoReturn:
        raise RuntimeError(f"{overload.name()} {_NO_FORWARD_MODE}")

    methods: dict[str, Kernel] = {
        "forward": forward,
        "setup_context": saved,
        "backward": gradients if interface.keywords else backward,
    }
    if interface.has_lists:
        methods = _taking_one_by_one(methods)
    methods["jvp"] = refused
    made: Any = type(
        f"{overload.name()}.Derivative",
        (_torch.torch.autograd.Function,),
        {name: staticmethod(method) for name, method in methods.items()},
    )
    return made


def one_by_one(interface: Interface, apply: Kernel) -> Kernel:
    """Return `apply` of a function of `derivative`, for arguments with their lists of tensors.

    It passes how long the lists are, None for what is no list, then all tensors of lists one by
    one.
    """
    if not interface.has_lists:
        return apply
    lists = [bool(each.described and not each.tensor) for each in interface.given]

    def applied(*args: Any) -> Any:
        pairs = list(zip(lists, args, strict=True))
        layout = tuple(len(a) if of_list and a is not None else None for of_list, a in pairs)
        return apply(layout, *_flat(layout, args))

    return applied


Layout: TypeAlias = Sequence["int | None"]


def _flat(layout: Layout, values: Sequence[Any]) -> Iterator[Any]:
    """Yield values, and what is in lists one by one; a None for each if there is no list."""
    for count, value in zip(layout, values, strict=True):
        if count is None:
            yield value
        else:
            yield from (None,) * count if value is None else value


def _nested(layout: Layout, values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values with their lists."""
    rest = iter(values)
    return tuple(next(rest) if n is None else list(islice(rest, n)) for n in layout)


def _taking_one_by_one(methods: dict[str, Kernel]) -> dict[str, Kernel]:
    """Return the methods of a function that takes what `one_by_one` passes."""

    def forward(layout: Layout, *args: Any) -> Any:
        return methods["forward"](*_nested(layout, args))

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        layout, *rest = inputs
        ctx.ffi_builder_layout = layout
        methods["setup_context"](ctx, _nested(layout, rest), output)

    def backward(ctx: Any, *grads: Any) -> Any:
        layout = ctx.ffi_builder_layout
        ctx.needs_input_grad = _nested(layout, ctx.needs_input_grad[1:])
        result = methods["backward"](ctx, *grads)
        several = cast("tuple[Any, ...]", result if isinstance(result, tuple) else (result,))
        return None, *_flat(layout, several)

    return {"forward": forward, "setup_context": setup_context, "backward": backward}


def give_rule(derived: Any, interface: Interface, rule: Callable[..., Any]) -> None:
    """Give a function of `derivative` a batching rule."""

    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        if interface.has_lists:
            layout, *rest = args
            in_dims, args = _nested(layout, in_dims[1:]), _nested(layout, rest)
        args, keywords = interface.split(args)
        return rule(info, in_dims[: len(args)], *args, **keywords)

    derived.vmap = staticmethod(vmap)


def refuse_tangents(name: str, args: Sequence[Any], keywords: dict[str, Any]) -> None:
    """Raise RuntimeError for a tensor with a tangent, which would be lost."""
    if _torch.has_tangent((*args, *keywords.values())):
        raise RuntimeError(f"{name} {_NO_FORWARD_MODE}")


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
            self._in_front(number, value, dim)
            for number, (value, dim) in enumerate(zip(args, in_dims, strict=True))
        ]
        results: list[Any] = [
            self.call(*map(partial(_example, index=index), batched, in_dims), **keywords)
            for index in range(info.batch_size)
        ]
        if isinstance(results[0], _torch.torch.Tensor):
            return _torch.torch.stack(results), 0
        stacked = tuple(_torch.torch.stack(each) for each in zip(*results, strict=True))
        return stacked, (0,) * len(stacked)

    def _in_front(self, number: int, value: Any, dim: Any) -> Any:
        """Move batched dimensions of a tensor, or of those in a list, to the front."""
        if isinstance(dim, (list, tuple)):
            pairs = zip(value, cast("Sequence[Any]", dim), strict=True)
            return [self._in_front(number, each, inner) for each, inner in pairs]
        if not isinstance(dim, int):
            return value
        moved = value.movedim(dim, 0)
        tensor = self.interface.given[number].described
        # The user of vmap does not choose the layout of a batched tensor.
        return moved.contiguous() if tensor is not None and tensor.order == "C" else moved


def _example(value: Any, dim: Any, index: int) -> Any:
    """Return an example of a batched tensor, or of those in a list; of other values, these."""
    if isinstance(dim, (list, tuple)):
        pairs = zip(value, cast("Sequence[Any]", dim), strict=True)
        return [_example(each, inner, index) for each, inner in pairs]
    return value[index] if isinstance(dim, int) else value
