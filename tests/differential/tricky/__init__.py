"""Calls that random ones seldom are: limits of int64, provisional symbols, malformed memory."""

from __future__ import annotations

from typing import Final

from tests.differential.strategies import Case
from tests.differential.tricky import (
    ends,
    lists,
    numbers,
    objects,
    optional,
    overlap,
    relations,
    symbols,
    tensors,
    texts,
    values,
    variants,
)
from tests.differential.tricky.made import n
from tests.differential.tricky.symbols import nested

__all__ = ["CASES", "n", "nested"]

CASES: Final[dict[str, Case]] = {
    **symbols.CASES,
    **tensors.CASES,
    **values.CASES,
    **texts.CASES,
    **objects.CASES,
    **optional.CASES,
    **ends.CASES,
    **overlap.CASES,
    **relations.CASES,
    **lists.CASES,
    **numbers.CASES,
    **variants.CASES,
}
