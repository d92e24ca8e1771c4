"""The process that runs an implementation, so that a crash is one call's result and not the end.

``python -m tests.differential.worker compiled`` (or ``plain``, ``diagnosed``) reads a pickled
``(signature, calls)`` at a time from standard input. It writes one pickled
:class:`~tests.differential.outcome.Outcome` for the compilation, and one for each call.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import sys
import traceback
from collections.abc import Callable
from typing import BinaryIO, Final, Protocol, cast

from ffi_builder.spec import Signature
from tests.differential.description import Arguments
from tests.differential.memory import Memory
from tests.differential.outcome import Outcome

Request = tuple[Signature, tuple[Arguments, ...]]
TIMEOUT: Final = 60
"""Seconds for a request; then the process shows where it is, and exits."""


class Callee(Protocol):
    """An implementation that takes raw arguments."""

    def call(self, args_address: int, num_args: int, memory: Memory) -> Outcome: ...


def compiled() -> Callable[[Signature], Callee]:
    """Wrappers compiled by the JIT."""
    from tests.differential.wrapper import compile_wrapper, set_streams

    set_streams()
    return compile_wrapper


def plain() -> Callable[[Signature], Callee]:
    """Wrappers in modules without MLIR, compiled by the JIT."""
    from tests.differential.wrapper import compile_plain, set_streams

    set_streams()
    return compile_plain


def diagnosed() -> Callable[[Signature], Callee]:
    """The diagnosis, run in Python."""
    from tests.differential.diagnosed import Diagnosed

    return Diagnosed


def serve(make: Callable[[Signature], Callee], requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are no more."""
    memory = Memory()
    while True:
        try:
            signature, calls = cast("Request", pickle.load(requests))
        except EOFError:
            return
        faulthandler.dump_traceback_later(TIMEOUT, exit=True)
        try:
            callee = make(signature)
        except Exception:
            reply(replies, Outcome("broken", traceback.format_exc()))
            continue
        reply(replies, Outcome("accepted"))
        for arguments in calls:
            reply(replies, outcome_of(callee, memory, arguments))
        faulthandler.cancel_dump_traceback_later()


def outcome_of(callee: Callee, memory: Memory, arguments: Arguments) -> Outcome:
    """One call, which must leave its arguments as they were."""
    address = memory.place(arguments)
    before = memory.snapshot()
    try:
        outcome = callee.call(address, arguments.count, memory)
    except Exception:
        return Outcome("broken", traceback.format_exc())
    if memory.snapshot() != before:
        return Outcome("broken", f"the arguments were changed, with {outcome}")
    return outcome


def reply(replies: BinaryIO, outcome: Outcome) -> None:
    pickle.dump(outcome, replies)
    replies.flush()


if __name__ == "__main__":
    faulthandler.enable()
    # Printed text must not come between the replies.
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    implementations = {"compiled": compiled, "plain": plain, "diagnosed": diagnosed}
    serve(implementations[sys.argv[1]](), sys.stdin.buffer, channel)
