"""Emits the call of each variant, and goes on after all of them with what was returned."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, Value
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.provider import Members
from ffi_builder.providers.results import scalar_results
from ffi_builder.providers.variants.variant import PROVIDER, Variant

_MOST_BITS: Final = 64


@dataclass(frozen=True)
class End:
    """The block where the call of a variant ends, and the values that it returned."""

    variant: Variant
    block: Block
    returned: Value | None
    called: Value | None
    results: Sequence[Value]


def emit_variant(
    context: CallContext, variant: Variant, known: Mapping[spec.Tensor, spec.Tensor]
) -> End:
    """Emit the call of a variant at the cursor; ``known`` is what its condition says of tensors.

    Raises:
        BuildError: if the provider gives other results than the signature has.
    """
    b = context.builder
    inner = replace(context, known=known, returned=None, called=None, results=None)
    block = Members(variant.provider).emit(b.block, inner)
    types = [b.types.scalar(result.dtype) for result in scalar_results(context)]
    results = list(inner.results or ())
    if [value.type for value in results] != types:
        given = ", ".join(str(value.type) for value in results)
        raise BuildError(
            f"{PROVIDER}: variant {variant.name!r} gives {given or 'no results'}, but "
            f"{context.fn_name!r} returns {', '.join(map(str, types)) or 'no numbers'}"
        )
    called = None
    if context.status_wanted:
        b.block, called = block, inner.called
        if called is None:
            called = b.text_constant(variant.name.encode() + b"\0")
    return End(variant, block, inner.returned, called, results)


def join(context: CallContext, ends: Sequence[End]) -> None:
    """Go on after all variants, with the results and the status of the one that was called.

    Raises:
        BuildError: if a status is wanted, and a variant returns none.
    """
    b = context.builder
    passed = [list(end.results) for end in ends]
    statuses = _statuses(context, ends)
    if statuses:
        for values, end, status in zip(passed, ends, statuses, strict=True):
            values += [status, *([] if end.called is None else [end.called])]
    after = b.new_block(*(value.type for value in passed[0]))
    for values, end in zip(passed, ends, strict=True):
        b.block = end.block
        b.br(after, *values)
    b.block = after
    count = len(ends[0].results)
    results, rest = list(after.arguments)[:count], list(after.arguments)[count:]
    context.results = results or None
    context.returned, context.called = (*rest, None, None)[:2]


def _statuses(context: CallContext, ends: Sequence[End]) -> list[Value]:
    """Return the integer that each variant returned, all of one type; empty if one has none."""
    b = context.builder
    widths: list[int] = []
    for end in ends:
        kind = "nothing" if end.returned is None else str(end.returned.type)
        found = re.fullmatch(r"i(\d+)", kind)
        if found is None or int(found[1]) > _MOST_BITS:
            if context.status_wanted:
                raise BuildError(
                    f"{PROVIDER}: variant {end.variant.name!r} returns {kind}; expected an "
                    f"integer status, since CheckStatus is around all variants"
                )
            return []
        widths.append(int(found[1]))
    result = b.types.integer(max(widths))
    statuses: list[Value] = []
    for end, width in zip(ends, widths, strict=True):
        b.block, value = end.block, cast("Value", end.returned)
        if width < max(widths):
            value = (b.zext if width == 1 else b.sext)(value, result)
        statuses.append(value)
    return statuses
