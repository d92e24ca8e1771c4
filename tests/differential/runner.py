"""Runs one case through every implementation that is there, and says where they differ."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

from ffi_builder.spec import Signature
from tests.differential.description import Arguments
from tests.differential.expected import of_verdict
from tests.differential.memory import Memory
from tests.differential.outcome import Outcome
from tests.differential.strategies import Case
from tests.oracle import judge
from tests.support.answering import Answering

ROOT: Final = Path(__file__).parents[2]


class Oracle:
    """The oracle, in this process."""

    def __init__(self) -> None:
        self._memory = Memory()

    def outcomes(self, case: Case) -> list[Outcome]:
        found: list[Outcome] = []
        for arguments in case.calls:
            address = self._memory.place(arguments)
            verdict = judge(case.signature, address, arguments.count)
            found.append(of_verdict(case.signature, verdict, self._memory))
        return found


class Worker(Answering):
    """An implementation in a process of its own.

    Args:
        implementation: what :mod:`tests.differential.worker` knows it by.
    """

    def __init__(self, implementation: str) -> None:
        super().__init__("tests.differential.worker", implementation)

    def outcomes(self, case: Case) -> list[Outcome]:
        """As many outcomes as calls; after a crash the remaining calls go to a new process."""
        found: list[Outcome] = []
        while len(found) < len(case.calls):
            found += self._ask(case.signature, case.calls[len(found) :])
        return found

    def _ask(self, signature: Signature, calls: tuple[Arguments, ...]) -> list[Outcome]:
        """The outcomes of calls up to the first that crashes, and that one's."""
        to, back = self.pipes()
        found: list[Outcome] = []
        try:
            pickle.dump((signature, calls), to)
            to.flush()
            built = cast("Outcome", pickle.load(back))
            if built.kind != "accepted":
                return [built] * len(calls)
            for _ in calls:  # one by one: those before a crash count
                found.append(cast("Outcome", pickle.load(back)))  # noqa: PERF401
        except (EOFError, OSError, pickle.UnpicklingError):
            found.append(Outcome("broken", self.crash()))
        return found


def differences(case: Case, expected: list[Outcome], found: list[Outcome]) -> Iterator[str]:
    """Yield a report of each call that an implementation judged differently from the oracle."""
    for arguments, right, other in zip(case.calls, expected, found, strict=True):
        if not right.agrees_with(other):
            yield (
                f"\nsignature: {case.signature!r}\ncall: {arguments!r}"
                f"\noracle:  {right.without(other)}\ngot:     {other.without(right)}"
            )
