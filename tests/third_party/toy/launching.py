"""Reads images of the toy, and emits launches of their kernels.

An image is ``b"TOY\\0"`` and a line of text for each kernel: its name and the types of its
parameters, as ``saxpy float32 float32* float32*``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from ffi_builder import BuildError, CompileError, SpecError, spec
from ffi_builder.extending import (
    Data,
    Entry,
    Expr,
    Item,
    did_you_mean,
    entries,
    items,
    shown,
    widened,
)
from ffi_builder.ir import Block, CheckingBuilder, Value
from ffi_builder.providers import CallContext, ModuleContext
from tests.third_party.toy import DEVICE, MAGIC


@dataclass(frozen=True)
class Grid:
    """How many times a kernel runs: an int or an expression."""

    size: int | str


@dataclass(frozen=True)
class Image:
    """A source of ``wrap``: kernels, with the types of their parameters."""

    data: bytes
    kernels: dict[str, list[str]]
    device: str = DEVICE

    def called(
        self, signature: spec.Signature, function: str | None, args: Any, launch: Any
    ) -> tuple[spec.Signature, ToyLaunchCallProvider, str]:
        name = function or signature.name
        if name not in self.kernels:
            hint = did_you_mean(name, self.kernels)
            raise CompileError(f"the toy's image has no kernel {name!r}{hint}")
        if not isinstance(launch, Grid):
            raise SpecError(f"a kernel of the toy needs launch=Grid(…), but got {launch!r}")
        provider = ToyLaunchCallProvider(self.data, name, self.kernels[name], launch.size, args)
        return signature, provider, "with the types in the toy's image"


def read(source: object, data: object, *, launched: bool) -> Image | None:
    """Read an image; None for all else."""
    if not isinstance(data, bytes) or not data.startswith(MAGIC):
        return None
    try:
        lines = [line.split() for line in data.removeprefix(MAGIC).decode().splitlines()]
        return Image(data, {name: types for name, *types in lines})
    except ValueError:
        raise CompileError("the toy's image is damaged") from None


@dataclass(frozen=True)
class ToyLaunchCallProvider:
    """Calls ``int toyLaunch(image, name, grid, params, count)``, of the toy's runtime."""

    image: bytes
    kernel: str
    types: Sequence[str]
    grid: int | str
    args: Sequence[Entry] | None = None
    borrows_tensors = True

    def prepare(self, context: ModuleContext) -> None:
        t = context.symbols.types
        context.symbols.declare("toyLaunch", t.i32, [t.ptr, t.ptr, t.i64, t.ptr, t.i32])

    def __call__(self, block: Block, context: CallContext) -> Block:
        b, t = context.builder, context.builder.types
        found = items("ToyLaunch", self.args, context)
        passed = [_passed(context, item) for item in found]
        if [type_ for type_, _ in passed] != [*self.types]:
            names = map(shown, repeat(context), found)
            given = [f"{name}: {type_}" for name, (type_, _) in zip(names, passed, strict=True)]
            raise BuildError(
                f"the toy's kernel {self.kernel!r} takes ({', '.join(self.types)}), but gets "
                f"({', '.join(given)}); choose and order them with args="
            )
        params = b.alloca(t.ptr, max(len(passed), 1))
        for at, (_, value) in enumerate(passed):
            place = b.alloca(value.type)
            b.store(value, place)
            b.store(place, b.offset(params, 8 * at))
        image, name = (
            b.text_constant(d) for d in (self.image + b"\0", f"{self.kernel}\0".encode())
        )
        [grid] = entries("ToyLaunch", [self.grid], context)
        if not isinstance(grid, (int, spec.Var, Expr)):
            raise BuildError(f"Grid: expected an int or an expression but got {self.grid!r}")
        operands = [image, name, widened(context, grid), params, b.i32(len(passed))]
        context.returned = b.call_value("toyLaunch", operands, t.i32)
        if not context.status_wanted:
            failed = f"the toy refused to launch {self.kernel!r}, with status {{}}"
            b.check(b.eq(context.returned, b.i32(0)), "RuntimeError", failed, context.returned)
        return b.block


def _passed(context: CallContext, item: Item) -> tuple[str, Value]:
    """Return the type of the parameter that takes an item, and the item's value."""
    match item:
        case spec.Tensor() | Data(tensor=spec.Tensor()):
            tensor = item if isinstance(item, spec.Tensor) else item.tensor
            if tensor.device != DEVICE:
                raise BuildError(f"the toy's tensors are on {DEVICE}: {tensor.name} is not")
            dtypes = context.known.get(tensor, tensor).dtypes
            return " or ".join(f"{dtype}*" for dtype in dtypes), context.data(tensor)
        case spec.Var(dtype=dtype):
            return dtype, context.value(item)
        case int() | Expr():
            return "int64", context.value(item)
        case _:
            raise BuildError(
                f"the toy takes tensors and numbers, but {shown(context, item)} is no such"
            )


def fill(b: CheckingBuilder, data: Value, size: Value, device: Value, name: str) -> None:
    """Fill a Workspace with zeros, by ``int toyFill(data, size, device)``."""
    t = b.types
    b.symbols.declare("toyFill", t.i32, [t.ptr, t.i64, t.i32])
    status = b.call_value("toyFill", [data, size, device], t.i32)
    b.check(b.eq(status, b.i32(0)), "RuntimeError", f"toyFill failed for the workspace {name}")
