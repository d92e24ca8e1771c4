"""``ffi-builder`` in this process: starting one for each command would take most of the time.

Only a process shows what it imports by itself, how it ends and what a terminal shows, so each
command also has a test that starts one.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from typing import TextIO

from ffi_builder.cli.main import main


def ffi_builder(*arguments: str | Path) -> CompletedProcess[str]:
    """Run a command, and return its exit status and all that it prints."""
    given = [*map(str, arguments)]
    path = [*sys.path]
    with (
        _whatever_writes(sys.__stdout__, 1) as out,
        _whatever_writes(sys.__stderr__, 2) as err,
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            status = main(given)
        except SystemExit as exits:  # argparse
            status = exits.code if isinstance(exits.code, int) else int(exits.code is not None)
        finally:
            sys.path[:] = path  # `package` adds the folder of a file
        return CompletedProcess(given, status, _read(out), _read(err))


@contextmanager
def _whatever_writes(stream: TextIO | None, number: int) -> Generator[TextIO]:
    """Lead a file descriptor into a file, so that what C prints is seen, too."""
    if stream is not None:
        stream.flush()
    before = os.dup(number)
    try:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
            os.dup2(file.fileno(), number)
            yield file
    finally:
        os.dup2(before, number)
        os.close(before)


def _read(file: TextIO) -> str:
    file.flush()
    file.seek(0)
    return file.read()
