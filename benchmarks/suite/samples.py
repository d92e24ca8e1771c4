"""Measured samples, and their statistics."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

What: TypeAlias = "tuple[str, ...]"
"""A figure with its signature and way, such as ("attach new", "mm", "nop")."""


@dataclass(frozen=True)
class Spread:
    """The median and the quartiles of some samples."""

    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the spread; a single sample has its value three times."""
        if len(values) == 1:
            return cls(values[0], values[0], values[0])
        low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(low, middle, high)

    def text(self, digits: int | None = None) -> str:
        """Return `1.23 (1.20–1.31)`, or only the median if all three are the same."""
        places = digits_of(self.middle) if digits is None else digits
        low, middle, high = (f"{value:.{places}f}" for value in (self.low, self.middle, self.high))
        return middle if low == high else f"{middle} ({low}–{high})"


def digits_of(value: float) -> int:
    """Return the number of decimal places that shows about three digits."""
    return 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0


class Samples:
    """Lists of figures by key and peer, with one figure per round, in order."""

    def __init__(self) -> None:
        self._values: dict[What, dict[str, list[float]]] = {}

    def add(self, what: What, peer: str, value: float | None) -> None:
        """Add a sample; None if the peer cannot do it."""
        if value is not None:
            self._values.setdefault(what, {}).setdefault(peer, []).append(value)

    def spread(self, what: What, peer: str) -> Spread | None:
        """Return the spread of a peer's samples."""
        values = self._values.get(what, {}).get(peer)
        return Spread.of(values) if values else None

    def ratio(self, what: What, peer: str, to: str, to_what: What | None = None) -> Spread | None:
        """Return the median of the ratios in each round; `to_what` is the other's figure."""
        ours = self._values.get(what, {}).get(peer)
        theirs = self._values.get(to_what or what, {}).get(to)
        if not ours or not theirs:
            return None
        return Spread.of([a / b for a, b in zip(ours, theirs, strict=False)])

    def as_dict(self) -> dict[str, dict[str, list[float]]]:
        """Return the samples as JSON."""
        return {" / ".join(what): values for what, values in self._values.items()}
