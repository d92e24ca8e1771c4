"""Change the code in small ways, and print each change that no test notices.

    python tools/mutants.py plan builder.fast_path.expressions --sample _3

mutmut makes the changes and runs the tests that reach them; mutants.md says how to use it. It runs
them in forks of one process, so it cannot see code that runs once a process: when a module is
imported, or behind a cache. What lives is therefore tried again, each in a process of its own.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import shlex
import subprocess
import sys
from collections import Counter
from typing import Final

NEAREST: Final = {
    "plan": ("tests/plan", "tests/steps"),
    "spec": ("tests/spec", "tests/errors"),
    "diagnosis": ("tests/builder", "tests/rules"),
    "builder": ("tests/builder", "tests/rules"),
    "providers": ("tests/providers", "tests/cuda"),
}
"""The tests that ought to notice a change of a package."""
OPTIONS: Final = (
    # Every function of mutmut's copy is called through another, which deep recursion notices, and
    # has copies, which a test that knows the lines of the sources does.
    *("-k", "not deep and not every_place_that_refuses"),
    *("-p", "no:cacheprovider"),
)
TIME_LIMIT: Final = 900
"""Seconds for the tests of one change in a process of its own."""


def environment(package: str) -> dict[str, str]:
    """Variables for mutmut and pytest: which tests, and that Hypothesis repeats itself."""
    nearest = NEAREST[package]
    others = {tests for paths in NEAREST.values() for tests in paths if tests not in nearest}
    # pytest ignores no directory that its command line names, and mutmut names all of them.
    options = shlex.join([*OPTIONS, *(f"--deselect={tests}/" for tests in sorted(others))])
    return {**os.environ, "CI": "1", "PYTEST_ADDOPTS": options}


def mutmut(*arguments: str) -> str:
    """Run a command of mutmut and return what it prints."""
    command = [sys.executable, "-m", "mutmut", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def statuses(pattern: str) -> dict[str, str]:
    """Return the outcome of each change that was tried, by its name."""
    lines = (line.strip().rpartition(": ") for line in mutmut("results", "--all", "1").splitlines())
    found = {name: status for name, _, status in lines if fnmatch.fnmatch(name, pattern)}
    return {name: status for name, status in found.items() if status != "not checked"}


def lives_alone(name: str, package: str) -> bool:
    """Whether the nearest tests pass in a process that has the change from its start."""
    command = [sys.executable, "-m", "pytest", "-qx", *NEAREST[package]]
    variables = {**environment(package), "MUTANT_UNDER_TEST": name}
    try:
        done = subprocess.run(
            command, cwd="mutants", env=variables, capture_output=True, timeout=TIME_LIMIT
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def examine(module: str, sample: str, jobs: int) -> None:
    """Try the changes of a module, and print those that live."""
    package = module.partition(".")[0]
    pattern = f"ffi_builder.{module}.*{sample}"
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(jobs), pattern]
    subprocess.run(command, env=environment(package), check=True)
    counts: Counter[str] = Counter()
    for name, status in statuses(pattern).items():
        if status == "survived" and not lives_alone(name, package):
            status = "killed"
        counts[status] += 1
        if status == "survived":
            print(mutmut("show", name), flush=True)
    print(f"\n{module}: {counts.total()} changes:", dict(counts.most_common()), flush=True)


def main() -> None:
    """Examine each module of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("modules", nargs="+", help="such as plan or builder.fast_path.expressions")
    parser.add_argument("--sample", default="_3", help="how the numbers of those tried end")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at a time")
    given = parser.parse_args()
    for module in given.modules:
        if module.partition(".")[0] not in NEAREST:
            parser.error(f"{module}: expected a module of {', '.join(NEAREST)}")
    for module in given.modules:
        examine(module, given.sample, given.jobs)


if __name__ == "__main__":
    main()
