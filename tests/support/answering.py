"""A child process that answers in pickles, and is started anew when it dies."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Final

ROOT: Final = Path(__file__).parents[2]


class Answering:
    """Runs a module of the tests, whose stdin and stdout are pipes for pickles.

    Args:
        words: the module, and its arguments.
    """

    def __init__(self, *words: str) -> None:
        self._words = words
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None

    def pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        """Return the pipes to and from the process, which is started if there is none."""
        if self._process is None:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115, as `close` closes it
            self._process = subprocess.Popen(
                [sys.executable, "-m", *self._words],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process.stdin, self._process.stdout

    def crash(self) -> str:
        """Wait for the process that does not answer any more, and return what it said."""
        assert self._process is not None
        assert self._errors is not None
        status = self._process.wait()
        self._errors.seek(0)
        shown = self._errors.read().decode("utf-8", "replace")[-3000:]
        self.close()
        return f"the process died with status {status}:\n{shown}"

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        if self._errors is not None:
            self._errors.close()
            self._errors = None
