"""The order of measurements: every peer in turn in each round."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from peers.base import CASES
from suite.samples import Samples
from suite.workers import Crew, Team, team

WAYS = ("nop", "direct", "pointers", "structs")
BUILT = ("nop", "pointers", "structs")
FEW_WAYS = ("nop", "direct")
"""Fewer calls for tensors of NumPy and torch, whose conversion takes most of the time."""
WITHOUT_TENSORS = ("scalar", "ptrs")
SLOW = {"tvm_packed": 4, "cpp": 8}
"""Peers that take part in one in this many rounds of making, the first included."""
MOST = {"nvidia": 10}
"""The most wrappers in one module for these peers: each takes longer than the one before."""


@dataclass(frozen=True)
class Effort:
    """Numbers of repetitions. A generation is a set of fresh processes."""

    generations: int
    builds: int
    rounds: int
    c_calls: int
    python_calls: int
    many: tuple[int, ...]


FULL = Effort(5, 8, 60, 10_000, 1_000, (10, 100, 400, 1000))
QUICK = Effort(2, 2, 10, 10_000, 500, (20, 40))


@dataclass
class Bench:
    """A run."""

    effort: Effort
    folder: Path
    crews: Sequence[Crew]
    torch: Path | None
    missing: dict[str, str]
    samples: Samples

    @property
    def peers(self) -> list[str]:
        """All peers at the start of the run."""
        return [peer for _, peers in self.crews for peer in peers]

    def turns(self, round_number: int) -> Iterator[str]:
        """Return the peers, beginning with a different one in each round."""
        start = round_number % len(self.peers)
        return iter([*self.peers[start:], *self.peers[:start]])

    def run(self) -> dict[str, str]:
        """Measure everything, and return the versions of the peers."""
        versions: dict[str, str] = {}
        for generation in range(self.effort.generations):
            print(f"generation {generation + 1} of {self.effort.generations}", file=sys.stderr)
            with team(self.crews, self.folder, self.missing) as group:
                for peer, worker in group.workers.items():
                    versions[peer] = worker.versions[peer]
                self.first(group)
                self.making(group, generation * self.effort.builds)
                self.calling(group, ("tvm_ffi", "numpy"))
                self.failing(group)
                self.many(group, generation)
            if self.torch is not None and (generation == 0 or self.effort == FULL):
                with team(self.crews, self.folder, self.missing, self.torch) as group:
                    self.calling(group, ("torch",))
        return versions

    def first(self, group: Team) -> None:
        """Measure the first wrapper of a process, its first error and its memory."""
        for peer in self.turns(0):
            before = group.ask(peer, "peak")
            made = group.ask(peer, "build", case="mm", how="nop", again=False)
            if made:
                took = made.get("describe", 0) + made.get("attach", 0) + made["compile"]
                imports = group.ask(peer, "importing")
                self.samples.add(("first imports",), peer, imports)
                self.samples.add(("first build",), peer, took)
                self.samples.add(("first all",), peer, imports + took)
                self.samples.add(("memory before",), peer, before)
                self.samples.add(("memory built",), peer, group.ask(peer, "peak"))
            group.ask(peer, "ready", case="mm", how="nop")
            error = group.ask(peer, "fail", calls=1)
            self.samples.add(("first error",), peer, None if error is None else error / 1e3)

    def making(self, group: Team, start: int) -> None:
        """Measure attaching, compiling and the results, after `start` earlier rounds."""
        for case, how, _ in itertools.product(
            CASES, BUILT, range(3)
        ):  # so that it is known afterwards
            group.ask("ours", "build", case=case, how=how, again=True)
        for number in range(start, start + self.effort.builds):
            for case, how, age in itertools.product(CASES, BUILT, ("new", "again")):
                for peer in self.turns(number):
                    if number % SLOW.get(peer, 1) == 0 and (age == "new" or peer not in SLOW):
                        made = group.ask(peer, "build", case=case, how=how, again=age == "again")
                        self.add_made(peer, case, how, age, made)

    def add_made(
        self, peer: str, case: str, how: str, age: str, made: dict[str, float] | None
    ) -> None:
        """Add each figure of a build and the total time."""
        if made is None:
            return
        total = sum(made.get(part, 0) for part in ("describe", "attach", "compile"))
        for name, value in {**made, "total": total}.items():
            self.samples.add((f"{name} {age}", case, how), peer, value)

    def calling(self, group: Team, tensors: Sequence[str]) -> None:
        """Measure calls from Python with tensors of these kinds, and from C with the first kind."""
        ways = WAYS if "tvm_ffi" in tensors else FEW_WAYS
        for peer, case, how in itertools.product(self.peers, CASES, ways):
            group.ask(peer, "ready", case=case, how=how)
        for number in range(self.effort.rounds):
            for case, how in itertools.product(CASES, ways):
                if "tvm_ffi" in tensors:
                    for peer in self.turns(number):
                        self.from_c(group, peer, case, how)
                for kind in tensors:
                    if kind == "tvm_ffi" or (how in FEW_WAYS and case not in WITHOUT_TENSORS):
                        for peer in self.turns(number):
                            self.from_python(group, peer, case, how, kind)

    def from_c(self, group: Team, peer: str, case: str, how: str) -> None:
        """Measure nanoseconds per call."""
        ns = group.ask(peer, "call_c", case=case, how=how, calls=self.effort.c_calls)
        self.samples.add(("C call", case, how), peer, ns)

    def from_python(self, group: Team, peer: str, case: str, how: str, kind: str) -> None:
        """Measure nanoseconds per call with tensors of a kind."""
        calls = self.effort.python_calls
        ns = group.ask(peer, "call_python", case=case, how=how, tensors=kind, calls=calls)
        self.samples.add(("Python call", case, how, kind), peer, ns)

    def failing(self, group: Team) -> None:
        """Measure warm calls that raise. Some peers walk the stack, which takes milliseconds."""
        for number in range(max(5, self.effort.rounds // 4)):
            for peer in self.turns(number):
                calls = 200 if peer == "ours" else 5
                self.samples.add(("warm error",), peer, group.ask(peer, "fail", calls=calls))

    def many(self, group: Team, generation: int) -> None:
        """Measure many wrappers in one module."""
        for count, peer in itertools.product(self.effort.many, ("ours", "nvidia")):
            if count <= MOST.get(peer, count) and (peer not in MOST or generation == 0):
                made: dict[str, float] = group.ask(peer, "build_many", count=count) or {}
                for name, value in made.items():
                    self.samples.add(("many", str(count), name), peer, value)
                if made:
                    total = made["attach"] + made["compile"]
                    self.samples.add(("many", str(count), "total"), peer, total)
