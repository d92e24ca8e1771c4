"""Measure what launching a CUDA kernel costs the host: by a wrapper, the driver and others.

    python benchmarks/launch.py [--quick] [--null] [--output FOLDER]

Needs a C compiler ($CC, or cc). Without a GPU, or with --null, launches go to a driver that does
nothing, which measures the code around it. README.md in this folder says more.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from pathlib import Path

from launches.driver import Driver, NoDriverError, null_driver
from launches.picture import picture
from launches.ways import OTHERS, WITHOUT_A_GPU, WITHOUT_CODE, Loops, Missing, Way, in_c, in_python
from native import compiler
from suite.imports import machine
from suite.report import table
from suite.samples import Samples, digits_of

BARE = "cuLaunchKernelEx"
ROUNDS = {True: 21, False: 201}
"""Rounds of a quick run, and of any other."""
CALLS = {"C": 10_000, "Python": 1_000}
IN_A_QUEUE = 500
"""Launches between two waits on a GPU: as many as it queues without blocking the host."""


def open_driver(folder: Path, null: bool) -> tuple[Driver, str]:
    """Return the driver, and why it is the null driver; "" for a GPU."""
    why = "--null was given"
    if not null:
        try:
            return Driver("libcuda.so.1"), ""
        except NoDriverError as error:
            why = f"there is no GPU here ({error})"
    return Driver(null_driver(folder)), why


def find_ways(
    driver: Driver, loops: Loops, folder: Path, null: bool
) -> tuple[list[Way], dict[str, str]]:
    """Return the ways that can be measured, and why the others cannot."""
    ways = [*in_c(driver, loops), *in_python(driver)]
    for way in ways:
        check(driver, way, null)
    missing: dict[str, str] = {}
    for name, make in OTHERS.items():
        if null and name not in WITHOUT_A_GPU:
            missing[name] = "needs a GPU"
            continue
        if not null and name in WITHOUT_CODE:
            missing[name] = "needs the null driver"
            continue
        try:
            found = list(make(driver, loops, folder))
            for way in found:
                check(driver, way, null)
            ways += found
        except Missing as why:
            missing[name] = str(why)
        except Exception as error:  # others may raise anything, and the rest is still measured
            missing[name] = f"{type(error).__name__}: {error}"
    return ways, missing


def check(driver: Driver, way: Way, null: bool) -> None:
    """Check that a way computes or, on the null driver, that it returns."""
    if null:
        way.sample(1)
        return
    driver.fill()
    way.sample(1)
    found = set(driver.y_values())
    assert found == {4.0}, f"{way.title}: 2 * 1 + 2 is {found}"


def measure(driver: Driver, ways: list[Way], rounds: int, null: bool) -> Samples:
    """Measure every way in turn in each round, so that a busy machine affects all."""
    samples = Samples()
    for number in range(-1, rounds):
        for way in ways:
            calls = CALLS[way.caller] if null else IN_A_QUEUE
            way.sample(calls // 5)
            driver.wait()
            ns = way.sample(calls)
            driver.wait()
            if number >= 0:
                samples.add((way.caller,), way.title, ns)
    return samples


def report(samples: Samples, ways: list[Way]) -> str:
    """The tables."""
    alone = samples.spread(("C",), BARE)
    assert alone is not None
    parts: list[str] = []
    for caller in CALLS:
        rows: list[list[str]] = []
        for way in (way for way in ways if way.caller == caller):
            value = samples.spread((caller,), way.title)
            ratio = samples.ratio((caller,), way.title, BARE, ("C",))
            assert value is not None
            assert ratio is not None
            more = value.middle - alone.middle
            rows.append([way.title, value.text(), f"{more:.{digits_of(more)}f}", ratio.text(2)])
        header = [f"From {caller}", "ns a launch", f"more than {BARE} in C", "ratio to it"]
        parts.append(table(header, rows))
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description="What a launch costs.")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: some seconds")
    parser.add_argument("--null", action="store_true", help="on the driver that does nothing")
    parser.add_argument("--output", type=Path, help="for launch.json, launch.md and launch.svg")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        driver, why = open_driver(folder, options.null)
        ways, missing = find_ways(driver, Loops(folder), folder, bool(why))
        samples = measure(driver, ways, ROUNDS[options.quick], bool(why))
    where = "a null driver, which returns at once" if why else driver.name()
    lines = [
        f"{machine()}; Python {platform.python_version()}; {compiler()}.",
        f"On {where}{why and ': ' + why}. Medians, with the quartiles in brackets.",
        "",
        *(f"- {name} is **missing**: {reason}" for name, reason in missing.items()),
    ]
    text = "\n".join([*lines, "", report(samples, ways), ""])
    print(text)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        Path(options.output, "launch.md").write_text(text)
        Path(options.output, "launch.json").write_text(json.dumps(samples.as_dict(), indent=1))
        Path(options.output, "launch.svg").write_text(picture(samples, ways, where))


if __name__ == "__main__":
    sys.exit(main())
