"""The tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

from peers.base import CASES
from suite.goals import results
from suite.samples import Samples, Spread, What, digits_of
from suite.schedule import BUILT, WAYS

TITLES = {
    "scalar": "scalar",
    "mm": "matmul",
    "t8_strided": "8 x rank 4",
    "nested": "nested tuples",
    "ptrs": "Shape, pointers",
}

WORDS = {
    "bytes": "object bytes",
    "jit_bytes": "without what the process has once",
    "ops": "operations",
    "entry_ops": "of the entry alone",
}


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; the first column is text."""
    lines = [f"| {' | '.join(header)} |", f"| --- |{' ---: |' * (len(header) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def shown(value: Spread | None, whole: bool = False) -> str:
    """Return a cell."""
    return "–" if value is None else value.text(0) if whole else value.text()


class Report:
    """The text of a report, in parts."""

    def __init__(
        self, samples: Samples, titles: Mapping[str, str], names: Mapping[str, str]
    ) -> None:
        """Take `titles` of the measured peers, and `names` of all."""
        self.samples = samples
        self.titles = titles
        self.names = names

    def parts(self) -> Iterator[str]:
        """Return all parts."""
        yield "## Goals\n\n" + self.goals()
        yield "## Attach, ms\n\n" + self.ages("attach")
        yield "## Compile + link, ms\n\n" + self.ages("compile")
        yield self.two_ways()
        yield "## From nothing to a callable, ms\n\n" + self.ages("total")
        yield "## What comes out\n\n" + self.sizes()
        yield "## Call from C, ns\n\n" + self.calls("C call", WAYS)
        if any(self.samples.spread(("instructions", case, "nop"), "ours") for case in CASES):
            yield "## Instructions a call, by callgrind\n\n" + self.calls("instructions", WAYS)
        for kind in ("tvm_ffi", "numpy", "torch"):
            text = self.calls("Python call", WAYS, kind)
            yield f"## Call from Python, {kind} tensors, ns\n\n{text}"
        yield "## Errors, memory, imports\n\n" + self.processes()
        yield "## Many wrappers in one module\n\n" + self.many()

    def goals(self) -> str:
        """Return the goals."""
        rows: list[list[str]] = []
        for each in results(self.samples, {**TITLES, **self.names}):
            cells = [shown(each.values.get(way)) if way in each.values else "" for way in WAYS]
            if "" in each.values:  # without a way
                cells[0] = shown(each.values[""])
            rows.append([each.title, f"{each.limit:g}", *cells, each.verdict])
        return table(["ffi_builder's", "at most", *WAYS, "reached"], rows)

    @property
    def builders(self) -> list[str]:
        """Return the peers that build something."""
        return [peer for peer in self.titles if peer not in ("by_hand", "unchecked")]

    def columns(
        self,
        what: Callable[[str, str], What],
        ways: Sequence[str],
        peers: Sequence[str] | None = None,
    ) -> list[list[str]]:
        """Return a row for each signature and way that some peer has."""
        peers = list(self.titles) if peers is None else peers
        rows: list[list[str]] = []
        for case in CASES:
            for way in ways:
                cells = [shown(self.samples.spread(what(case, way), peer)) for peer in peers]
                if set(cells) != {"–"}:
                    rows.append([f"{TITLES[case]}, {way}", *cells])
        return rows

    def calls(self, figure: str, ways: Sequence[str], *rest: str) -> str:
        """Return nanoseconds or instructions per call."""
        rows = self.columns(lambda case, way: (figure, case, way, *rest), ways)
        return table(["", *self.titles.values()], rows) if rows else "Not measured."

    def ages(self, figure: str) -> str:
        """Return ffi_builder's new and known signatures beside the others' new ones."""
        others = [peer for peer in self.builders if peer != "ours"]
        header = ["", "ffi_builder, new", "ffi_builder, again"]
        header += [self.titles[peer] for peer in others]
        header += ["new / NVIDIA", "again / NVIDIA"]
        rows: list[list[str]] = []
        for case in CASES:
            for way in BUILT:
                new, again = ((f"{figure} {age}", case, way) for age in ("new", "again"))
                cells = [self.samples.spread(new, "ours"), self.samples.spread(again, "ours")]
                cells += [self.samples.spread(new, peer) for peer in others]
                cells += [self.samples.ratio(each, "ours", "nvidia", new) for each in (new, again)]
                if any(cells):
                    rows.append([f"{TITLES[case]}, {way}", *map(shown, cells)])
        return table(header, rows)

    def sizes(self) -> str:
        """Return object bytes and operations."""
        columns = [(name, peer) for name in WORDS for peer in self.builders]
        filled = [
            (name, peer)
            for name, peer in columns
            if self.samples.spread((f"{name} new", "mm", "nop"), peer)
        ]
        rows: list[list[str]] = []
        for case in CASES:
            for way in BUILT:
                whats = [((f"{name} new", case, way), peer) for name, peer in filled]
                cells = [shown(self.samples.spread(*what), whole=True) for what in whats]
                rows.append([f"{TITLES[case]}, {way}", *cells])
        return table(["", *(f"{WORDS[name]}, {self.titles[peer]}" for name, peer in filled)], rows)

    def two_ways(self) -> str:
        """Return the times of both ways to compile NVIDIA's module."""
        rows = self.columns(lambda case, way: ("compile new", case, way), BUILT, ["nvidia"])
        for row, (case, way) in zip(rows, product(CASES, BUILT), strict=False):
            for name in ("llvmlite new", "engine new"):
                row.append(shown(self.samples.spread((name, case, way), "nvidia")))
        header = ["NVIDIA", "the faster one", "llvmlite + orcjit", "ExecutionEngine"]
        return table(header, rows) if rows else "Not measured."

    def processes(self) -> str:
        """Return the figures of processes rather than signatures."""
        rows = [
            [title, *(shown(self.samples.spread((figure,), peer)) for peer in self.titles)]
            for figure, title in (
                ("first imports", "imports for the first wrapper, after NumPy and tvm_ffi, ms"),
                ("first build", "describing, attaching and compiling it, matmul, ms"),
                ("first all", "both: the first wrapper of a process, ms"),
                ("first error", "the first error of a process, ms"),
                ("warm error", "an error, warm, µs"),
                ("memory before", "peak memory of a process before its first wrapper, MB"),
                ("memory built", "behind it, MB"),
                ("import ffi_builder", "import ffi_builder behind tvm_ffi, ms"),
                ("import for a compile", "import what a compile needs besides MLIR, ms"),
            )
        ]
        return table(["", *self.titles.values()], rows)

    def many(self) -> str:
        """Return the figures of many matmul wrappers in one module."""
        rows: list[list[str]] = []
        for peer in ("ours", "nvidia"):
            for count in (10, 20, 40, 100, 400, 1000):
                made = {
                    name: self.samples.spread(("many", str(count), name), peer)
                    for name in ("attach", "compile", "bytes")
                }
                if made["attach"] and made["bytes"]:
                    each = made["bytes"].middle / count
                    cells = [shown(made["attach"]), shown(made["compile"])]
                    title = f"{self.titles[peer]}, {count}"
                    rows.append([title, *cells, f"{each:.{digits_of(each)}f}"])
        return table(["", "attach, ms", "compile + link, ms", "object bytes each"], rows)
