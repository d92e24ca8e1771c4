"""The process that runs compiled wrappers, so that a crash is one call's result and not the end.

Reads a pickled ``(signature, calls)`` at a time from standard input. Writes to standard output one
pickled :class:`~tests.differential.outcome.Outcome` for the compilation, and one for each call.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import sys
import traceback
from typing import BinaryIO, Final, cast

from ffi_builder.spec import Signature
from tests.differential.description import Arguments
from tests.differential.memory import Memory
from tests.differential.outcome import Outcome
from tests.differential.wrapper import Wrapper, compile_wrapper, set_streams

Request = tuple[Signature, tuple[Arguments, ...]]
TIMEOUT: Final = 60
"""Seconds for a request; then the process shows where it is, and exits."""


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are no more."""
    set_streams()
    memory = Memory()
    while True:
        try:
            signature, calls = cast("Request", pickle.load(requests))
        except EOFError:
            return
        faulthandler.dump_traceback_later(TIMEOUT, exit=True)
        try:
            wrapper = compile_wrapper(signature)
        except Exception:
            reply(replies, Outcome("broken", traceback.format_exc()))
            continue
        reply(replies, Outcome("accepted"))
        for arguments in calls:
            reply(replies, outcome_of(wrapper, memory, arguments))


def outcome_of(wrapper: Wrapper, memory: Memory, arguments: Arguments) -> Outcome:
    """One call, which must leave its arguments as they were."""
    address = memory.place(arguments)
    before = memory.snapshot()
    outcome = wrapper.call(address, arguments.count)
    if memory.snapshot() != before:
        return Outcome("broken", f"the arguments were changed, with {outcome}")
    return outcome


def reply(replies: BinaryIO, outcome: Outcome) -> None:
    pickle.dump(outcome, replies)
    replies.flush()


if __name__ == "__main__":
    faulthandler.enable()
    # What anything prints must not come between the replies.
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, channel)
