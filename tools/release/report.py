"""Run commands and checks, and print a line for each check."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Failed(Exception):
    """A check failed; the words say how."""


def run(
    *command: str | Path,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
) -> str:
    """Run a command, and return what it printed to stdout.

    Raises:
        Failed: its exit status is not 0. The words are the end of its output.
    """
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        shown = " ".join(map(str, command))
        raise Failed("\n        ".join([f"exit status {done.returncode}: {shown}", *lines[-12:]]))
    return done.stdout


class Report:
    """Prints a line for each check, and counts those that failed."""

    def __init__(self) -> None:
        """Nothing has failed yet."""
        self.failures = 0

    def check(self, what: str, check: Callable[[], str]) -> bool:
        """Run a check, and print what it returns; return whether it passed."""
        try:
            words = check()
        except Failed as error:
            self.failures += 1
            self._print("no", what, str(error))
            return False
        self._print("ok", what, words)
        return True

    def skip(self, what: str, why: str) -> None:
        """Print that something could not be checked."""
        self._print("--", what, why)

    def _print(self, mark: str, what: str, words: str) -> None:
        print(f"{mark}  {what:<28} {words}", flush=True)
