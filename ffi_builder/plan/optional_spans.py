"""Which steps of a plan an absent Optional skips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ffi_builder.plan.steps import AnyStep, DecodeOptional


def regions(steps: Sequence[AnyStep]) -> Iterator[tuple[AnyStep, Sequence[AnyStep]]]:
    """Each step, and behind a :class:`DecodeOptional` those that are skipped if None came."""
    index = 0
    while index < len(steps):
        step, start = steps[index], index + 1
        index = start
        if isinstance(step, DecodeOptional):
            position = step.place.position
            while index < len(steps) and steps[index].place.position[: len(position)] == position:
                index += 1
        yield step, steps[start:index]
