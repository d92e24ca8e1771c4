"""Emits the call of each variant, and goes on after all of them with what was returned."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, Type, Value
from ffi_builder.providers.context import CallContext, OwnedAny
from ffi_builder.providers.results import value_results, value_type
from ffi_builder.providers.variants.variant import PROVIDER, Variant
from ffi_builder.records import dataclass

_MOST_BITS: Final = 64


@dataclass(frozen=True)
class End:
    """The block where the call of a variant ends, and the values that it returned."""

    variant: Variant
    block: Block
    returned: Value | None
    called: Value | None
    results: Sequence[Value | OwnedAny]


def emit_variant(
    context: CallContext, variant: Variant, known: Mapping[spec.Tensor, spec.Tensor]
) -> End:
    """Emit the call of a variant at the cursor; ``known`` is what its condition says of tensors.

    Raises:
        BuildError: if the provider gives other results than the signature has.
    """
    b = context.builder
    inner = replace(
        context,
        known=known,
        returned=None,
        called=None,
        results=None,
        places=dict[str, Value](),
        asked=dict[Any, None](),
    )
    block = variant.members.emit(b.block, inner)
    wanted = value_results(context)
    types = [value_type(b.types, result) for result in wanted]
    results = list(inner.results or ())
    if not _fit(results, wanted, types):
        given = ", ".join(map(_type_text, results))
        raise BuildError(
            f"{PROVIDER}: variant {variant.name!r} gives {given or 'no results'}, but "
            f"{context.fn_name!r} returns {', '.join(map(str, types)) or 'no values'}"
        )
    called = None
    if context.status_wanted:
        b.block, called = block, inner.called
        if called is None:
            called = b.text_constant(variant.name.encode() + b"\0")
    return End(variant, block, inner.returned, called, results)


def _fit(
    results: Sequence[Value | OwnedAny], wanted: Sequence[spec.HandedOver], types: Sequence[Type]
) -> bool:
    """Return whether the results are those of a signature; only numbers are never OwnedAnys."""
    return len(results) == len(types) and all(
        not isinstance(param, spec.Var) if isinstance(value, OwnedAny) else value.type == type_
        for value, param, type_ in zip(results, wanted, types, strict=True)
    )


def _type_text(result: Value | OwnedAny) -> str:
    return "an OwnedAny" if isinstance(result, OwnedAny) else str(result.type)


def join(context: CallContext, ends: Sequence[End]) -> None:
    """Go on after all variants, with the results and the status of the one that was called.

    Raises:
        BuildError: if a status is wanted, and a variant returns none; or if one gives an OwnedAny
            for a result, and another one a value.
    """
    b = context.builder
    owned = _owned(context, ends)
    passed = [[_word(result) for result in end.results] for end in ends]
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
    values, rest = list(after.arguments)[:count], list(after.arguments)[count:]
    results = [
        OwnedAny(value) if is_owned else value
        for value, is_owned in zip(values, owned, strict=True)
    ]
    context.results = results or None
    context.returned, context.called = (*rest, None, None)[:2]


def _word(result: Value | OwnedAny) -> Value:
    return result.address if isinstance(result, OwnedAny) else result


def _owned(context: CallContext, ends: Sequence[End]) -> list[bool]:
    """Return for each result whether it is an OwnedAny, as it must be in all variants or none."""
    first = ends[0]
    owned = [isinstance(result, OwnedAny) for result in first.results]
    for end in ends:
        for result, value, is_owned in zip(value_results(context), end.results, owned, strict=True):
            if isinstance(value, OwnedAny) != is_owned:
                raise BuildError(
                    f"{PROVIDER}: variant {first.variant.name!r} gives "
                    f"{_kind_text(is_owned)} for the result {result.name!r}, and "
                    f"{end.variant.name!r} {_kind_text(not is_owned)}; let both give the same, as "
                    f"with providers of one kind"
                )
    return owned


def _kind_text(is_owned: bool) -> str:
    return "an OwnedAny" if is_owned else "a value"


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
