"""Keeps several child processes busy from one thread.

`worker.generate` waits for its answer, so that a thread keeps one child busy. Threads would keep
more, but each of them has to wait for the interpreter's lock, for up to 5 ms at a time, before it
can give its child the next request. A crew needs no threads: one `select` waits for all children.

The children of crews are not those of `worker.generate`, which may have to wait for a free one.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any, Final, NamedTuple

from ffi_builder.runtime.isolate import worker

KIND: Final = "llvm, many"
"""The key of these children in `worker.running`."""


class Answer(NamedTuple):
    """What became of a request."""

    tag: str
    result: Any
    error: str | None
    """The words of the child; None if it has a result."""
    ended: bool
    """Whether the child ended, or was ended, before it answered."""


class Crew:
    """Children that serve the requests of one thread. None is started before the first request."""

    def __init__(self, most: int) -> None:
        """Have at most so many children. Raises ValueError for an invalid time limit."""
        self._most = most
        self._seconds = worker.time_limit()
        self._lease = worker.Lease()
        self._queue: deque[tuple[str, tuple[object, ...]]] = deque()
        self._children: list[worker.Child] = []
        self._busy: dict[worker.Child, str] = {}
        self._answers: list[Answer] = []

    def ask(self, tag: str, message: tuple[object, ...]) -> None:
        """Give a request to a free child, or queue it; `tag` comes back with its answer."""
        self._queue.append((tag, message))
        self._give_out()

    def answers(self, *, wait: bool) -> list[Answer]:
        """Return the answers that are there. With `wait`, wait for one if there is none."""
        for child in self._due(wait and not self._answers):
            self._answer(child)
        self._give_out()  # so that the children work while the caller reads the answers
        answers, self._answers = self._answers, []
        return answers

    def close(self) -> None:
        """Kill the children that are at work. The others are kept for the next crew."""
        self._queue.clear()
        for child in self._busy:
            child.kill()
        worker.give_back(KIND, self._lease, served=True)

    def _give_out(self) -> None:
        """Give requests to free children. A child that ends at once has answered."""
        if not self._queue:
            return
        for child in self._children:
            if child not in self._busy and not child.is_usable():
                child.kill()
        self._children = [child for child in self._children if child.is_usable()]
        # All are started before any gets a request: sending a large one waits until it is read.
        while len(self._children) < self._most:
            child = worker.hire(KIND, self._lease, float("inf"))
            assert child is not None
            self._children.append(child)
        for child in self._children:
            if self._queue and child not in self._busy:
                self._busy[child], message = self._queue.popleft()
                try:
                    child.ask(message, self._seconds)
                except worker.RequestError:
                    self._answer(child)

    def _due(self, wait: bool) -> list[worker.Child]:
        """Return the children that have answered or ended, or have taken too long."""
        if not self._busy:
            return []
        from multiprocessing.connection import wait as wait_for  # as in `worker`

        left = min(child.deadline for child in self._busy) - time.monotonic()
        ready = wait_for([child.connection for child in self._busy], max(0, left) if wait else 0)
        now = time.monotonic()
        return [c for c in self._busy if c.connection in ready or c.deadline <= now]

    def _answer(self, child: worker.Child) -> None:
        """Read the answer of a child, and free the child."""
        tag, ended = self._busy[child], False
        try:
            error, result = child.answer()
        except worker.RequestError as failed:
            child.kill()
            error, result, ended = str(failed), None, True
        self._answers.append(Answer(tag, result, error, ended))
        # Not before: an interrupt while the answer is read leaves the child to `close`.
        del self._busy[child]
