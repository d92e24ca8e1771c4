"""The goals, as ratios within one run, and whether they were reached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from suite.samples import Samples, Spread, What
from suite.schedule import BUILT, WAYS

CASES = ("scalar", "mm", "t8_strided")
Limits = tuple[float | None, float | None, float | None]


@dataclass(frozen=True)
class Ratio:
    """The ratio of ffi_builder's figure to another peer's, for each of `CASES`."""

    title: str
    figure: str
    to: str
    limits: Limits
    ways: tuple[str, ...]
    to_figure: str | None = None
    rest: tuple[str, ...] = ()


def by_age(title: str, figure: str, limits: Limits) -> list[Ratio]:
    """Return ratios of new and of known signatures to new ones of NVIDIA's."""
    return [
        Ratio(f"{title}, {age}", f"{figure} {age}", "nvidia", limits, BUILT, f"{figure} new")
        for age in ("new", "again")
    ]


RATIOS = [
    Ratio("C call", "C call", "by_hand", (1.05, 1.05, 1.05), WAYS),
    Ratio("instructions", "instructions", "by_hand", (1.05, 1.05, 1.05), WAYS),
    *by_age("attach", "attach", (0.25, 0.2, 0.15)),
    *by_age("compile + link", "compile", (0.3, 0.25, 0.2)),
    *by_age("to a callable", "total", (None, 0.25, 0.2)),
    Ratio(
        "object bytes, in the JIT", "jit_bytes new", "nvidia", (0.6, 0.5, 0.4), BUILT, "bytes new"
    ),
    Ratio("object bytes, exported", "bytes new", "nvidia", (0.6, 0.5, 0.4), BUILT),
    Ratio("Python call", "Python call", "unchecked", (1.03, 1.05, 1.07), WAYS, rest=("tvm_ffi",)),
]


@dataclass(frozen=True)
class Result:
    """A line of the table: ratios that should be at most `limit`, by way of passing values."""

    title: str
    limit: float
    values: Mapping[str, Spread | None]

    @property
    def verdict(self) -> str:
        """Return the text in the table."""
        found = [value.middle for value in self.values.values() if value is not None]
        if not found:
            return "not measured"
        return "yes" if max(found) <= self.limit else "**no**"


def results(samples: Samples, titles: Mapping[str, str]) -> Iterator[Result]:
    """Return all results."""
    for goal in RATIOS:
        for case, limit in zip(CASES, goal.limits, strict=True):
            if limit is None:
                continue
            values: dict[str, Spread | None] = {}
            for way in goal.ways:
                what = (goal.figure, case, way, *goal.rest)
                to = (goal.to_figure or goal.figure, case, way, *goal.rest)
                values[way] = samples.ratio(what, "ours", goal.to, to)
            yield Result(f"{goal.title} / {titles[goal.to]}, {titles[case]}", limit, values)
    yield from absolute(samples)


def absolute(samples: Samples) -> Iterator[Result]:
    """Return the goals that are not ratios to other peers."""
    for what, way, title, limit in (
        ("first error", "nop", "first error from Python, matmul, ms", 1.0),
        ("warm error", "nop", "warm error from Python, matmul, µs", 5.0),
        ("import ffi_builder", "", "`import ffi_builder` behind `import tvm_ffi`, ms", 30.0),
        ("import for a compile", "", "importing what a compile needs besides MLIR, ms", 150.0),
    ):
        yield Result(title, limit, {way: samples.spread((what,), "ours")})
    yield from of_many(samples)


def of_many(samples: Samples) -> Iterator[Result]:
    """Return the goal for 1,000 matmul wrappers in one module."""

    def many(count: int, name: str) -> What:
        return ("many", str(count), name)

    for part in ("attach", "compile"):
        value = samples.ratio(many(400, part), "ours", "ours", many(100, part))
        yield Result(f"{part}: 400 matmul wrappers in a module / 100", 4.4, {"pointers": value})
    for name, title, limit in (
        ("total", "1,000 of them, ms each in all", 2.5),
        ("bytes", "1,000 of them, object bytes each", 1536.0),
    ):
        value = samples.spread(many(1000, name), "ours")
        each = value and Spread(value.low / 1000, value.middle / 1000, value.high / 1000)
        yield Result(title, limit, {"pointers": each})
