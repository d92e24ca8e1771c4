"""The entry point of the command line: parses it, runs a command, and prints errors.

Exit status: 0 success; 1 the command failed (stderr has one message with the reason); 2 the command
line is not valid.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Final

from ffi_builder import BuildError, CompileError, SpecError, __version__
from ffi_builder.cli import doctor, explain, inspect, package, wrap
from ffi_builder.cli.output import print_error

_ERRORS: Final = (
    *(SpecError, BuildError, CompileError, OSError, UnicodeDecodeError, KeyError),
    ImportError,  # raised by the runtime on systems that it does not support
)
"""Errors whose messages are meant for users, who need no traceback."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status."""
    parser = _parser()
    given = parser.parse_args(arguments)
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None and sys.stdout.errors == "strict":
        reconfigure(errors="backslashreplace")  # a character that a terminal lacks is no error
    try:
        return given.run(given)
    except _ERRORS as error:
        if isinstance(error, BrokenPipeError):
            return _closed_pipe()
        if given.debug:
            raise
        print_error(error)
        return 1


def _closed_pipe() -> int:
    """Succeed when the reader of the output closed the pipe, as ``head`` does."""
    # Python flushes stdout when it exits, which would fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ffi-builder",
        description="Validated TVM-FFI entry points for compiled kernels.",
        epilog="`ffi-builder COMMAND --help` prints the options of a command, and examples.",
    )
    parser.add_argument("--version", action="version", version=f"ffi_builder {__version__}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks of errors")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (wrap, package, inspect, explain, doctor):
        name = command.__name__.rpartition(".")[2]
        sub = commands.add_parser(
            name,
            help=command.HELP,
            description=command.DESCRIPTION,
            epilog=command.EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_options(sub)
        sub.set_defaults(run=command.run)
    return parser
