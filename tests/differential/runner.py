"""Runs one case through every implementation that is there, and says where they differ."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, cast

from ffi_builder.spec import Signature
from tests.differential.description import Arguments
from tests.differential.expected import of_verdict
from tests.differential.memory import Memory
from tests.differential.outcome import Outcome
from tests.differential.strategies import Case
from tests.oracle import judge

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


class Worker:
    """An implementation in a process of its own, which is started anew when it dies.

    Args:
        implementation: what :mod:`tests.differential.worker` knows it by.
    """

    def __init__(self, implementation: str) -> None:
        self._implementation = implementation
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None

    def outcomes(self, case: Case) -> list[Outcome]:
        """As many outcomes as calls; after a crash the remaining calls go to a new process."""
        found: list[Outcome] = []
        while len(found) < len(case.calls):
            found += self._ask(case.signature, case.calls[len(found) :])
        return found

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        if self._errors is not None:
            self._errors.close()
            self._errors = None

    def _ask(self, signature: Signature, calls: tuple[Arguments, ...]) -> list[Outcome]:
        """The outcomes of calls up to the first that crashes, and that one's."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        found: list[Outcome] = []
        try:
            pickle.dump((signature, calls), process.stdin)
            process.stdin.flush()
            built = cast("Outcome", pickle.load(process.stdout))
            if built.kind != "accepted":
                return [built] * len(calls)
            for _ in calls:  # one by one: those before a crash count
                found.append(cast("Outcome", pickle.load(process.stdout)))  # noqa: PERF401
        except (EOFError, OSError, pickle.UnpicklingError):
            found.append(self._crash(process))
        return found

    def _crash(self, process: subprocess.Popen[bytes]) -> Outcome:
        status = process.wait()
        assert self._errors is not None
        self._errors.seek(0)
        shown = self._errors.read().decode("utf-8", "replace")[-3000:]
        self.close()
        return Outcome("broken", f"the process died with status {status}:\n{shown}")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115, as `close` closes it
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.differential.worker", self._implementation],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
            )
        return self._process


def differences(case: Case, expected: list[Outcome], found: list[Outcome]) -> Iterator[str]:
    """Yield a report of each call that an implementation judged differently from the oracle."""
    for arguments, right, other in zip(case.calls, expected, found, strict=True):
        if not right.agrees_with(other):
            yield (
                f"\nsignature: {case.signature!r}\ncall: {arguments!r}"
                f"\noracle:  {right.without(other)}\ngot:     {other.without(right)}"
            )
