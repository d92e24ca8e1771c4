"""Steps of a provider, which subclasses override: each runs once for a call, whoever calls it.

A subclass may leave them to the ``__call__`` of its base, or call some itself before that::

    def __call__(self, current_block, context):
        current_block = self.insert_lazy_init_cuda(current_block, context)
        return super().__call__(current_block, context)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, TypeAlias, cast

from ffi_builder.errors import BuildError
from ffi_builder.ir import Block
from ffi_builder.providers.context import CallContext

_Step: TypeAlias = Callable[[Any, Block, CallContext], Block]


def run_steps(provider: Any, names: Iterable[str], context: CallContext) -> None:
    """Run the steps that have not run for this call, in order."""
    for name in names:
        block = getattr(provider, name)(context.builder.block, context)
        context.builder.block = _checked(provider, name, block)


def end_steps(provider: object, context: CallContext) -> None:
    """Let the steps run again: the provider may be called for another branch of the wrapper."""
    for key in [key for key in context.steps if key[0] == id(provider)]:
        del context.steps[key]


def override_once(cls: type[object], base: type[object], names: Iterable[str]) -> None:
    """Make the steps that a class has in place of those of ``base`` run once for each call."""
    for name in names:
        step = getattr(cls, name)
        is_own = isinstance(step, FunctionType) and step is not getattr(base, name)
        if is_own and not hasattr(step, "_runs_once"):
            setattr(cls, name, _once(name, cast("_Step", step)))


def _once(name: str, step: _Step) -> _Step:
    @functools.wraps(step)
    def run(self: object, current_block: Block, context: CallContext) -> Block:
        key = id(self), name
        if key in context.steps:
            # A step that runs calls that of its base class.
            has_run = context.steps[key]
            return context.builder.block if has_run else step(self, current_block, context)
        context.steps[key] = False
        context.builder.block = _checked(self, name, step(self, current_block, context))
        context.steps[key] = True
        return context.builder.block

    run.__dict__["_runs_once"] = True
    return run


def _checked(provider: object, name: str, block: Block) -> Block:
    if not hasattr(block, "arguments"):
        raise BuildError(
            f"{type(provider).__name__}: {name} returned {block!r}; it returns the block in which "
            f"the wrapper continues"
        )
    return block
