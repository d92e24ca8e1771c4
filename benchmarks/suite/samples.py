"""What was measured, and what is made of it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

What: TypeAlias = "tuple[str, ...]"
"""The figure, and what of: ("attach new", "mm", "nop")."""


@dataclass(frozen=True)
class Spread:
    """The median and the quartiles of some samples."""

    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of one sample, its value three times."""
        if len(values) == 1:
            return cls(values[0], values[0], values[0])
        low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(low, middle, high)

    def text(self, digits: int | None = None) -> str:
        """`1.23 (1.20–1.31)`; without the brackets where all three are the same."""
        places = digits_of(self.middle) if digits is None else digits
        low, middle, high = (f"{value:.{places}f}" for value in (self.low, self.middle, self.high))
        return middle if low == high else f"{middle} ({low}–{high})"


def digits_of(value: float) -> int:
    """Decimal places that show about three digits."""
    return 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0


class Samples:
    """Lists of figures, by what they are of and by peer; one for each round, in order."""

    def __init__(self) -> None:
        self._values: dict[What, dict[str, list[float]]] = {}

    def add(self, what: What, peer: str, value: float | None) -> None:
        """One more; None is what a peer cannot do."""
        if value is not None:
            self._values.setdefault(what, {}).setdefault(peer, []).append(value)

    def spread(self, what: What, peer: str) -> Spread | None:
        """The median of what a peer has."""
        values = self._values.get(what, {}).get(peer)
        return Spread.of(values) if values else None

    def ratio(self, what: What, peer: str, to: str, to_what: What | None = None) -> Spread | None:
        """The median of the ratios of each round; of the same thing, unless `to_what` says."""
        ours = self._values.get(what, {}).get(peer)
        theirs = self._values.get(to_what or what, {}).get(to)
        if not ours or not theirs:
            return None
        return Spread.of([a / b for a, b in zip(ours, theirs, strict=False)])

    def as_dict(self) -> dict[str, dict[str, list[float]]]:
        """For JSON."""
        return {" / ".join(what): values for what, values in self._values.items()}
