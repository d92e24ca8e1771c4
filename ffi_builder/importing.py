"""Imports modules where no exception of a signal handler ends them half-way.

After such an exception, as that of Ctrl-C, packages like NumPy, tvm-ffi and PyTorch cannot be
imported again. Handlers run in the main thread, and another thread is no way out: its import may
have to wait for a package that the main thread is importing. So handlers are called once the import
is done.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from importlib import import_module
from types import FrameType
from typing import Any


class Deferred:
    """A context in which signal handlers written in Python wait for its end.

    Use it also for what is set up once in a process, and cannot be set up again. In other threads
    than the main one it does nothing, as no handler runs there.
    """

    def __init__(self) -> None:
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._pending: dict[int, FrameType | None] = {}
        self._waits = True

    def __enter__(self) -> None:
        try:
            for number in range(1, signal.NSIG):
                handler = signal.getsignal(number)
                if callable(handler) and not (isinstance(handler, Deferred) and handler._waits):
                    self._handlers[number] = handler
                    signal.signal(number, self)
        except ValueError:  # this is not the main thread
            self._handlers.clear()
        except BaseException:  # of a handler
            self._end()
            raise

    def __exit__(self, *_: object) -> None:
        self._end()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Note a signal. After the context, pass it on, for whoever has kept this handler."""
        if self._waits:
            self._pending[number] = frame
        else:
            self._handlers[number](number, frame)

    def _end(self) -> None:
        try:
            self._waits = False
            for number, handler in self._handlers.items():
                if signal.getsignal(number) is self:
                    signal.signal(number, handler)
        finally:
            self._deliver()

    def _deliver(self) -> None:
        """Call the handlers of the signals that came, each even if another one raises."""
        if not self._pending:
            return
        number, frame = self._pending.popitem()
        try:
            self._handlers[number](number, frame)
        finally:
            self._deliver()


def load(name: str) -> Any:
    """Import a module, also one that other modules import meanwhile."""
    if name in sys.modules:
        return import_module(name)
    with Deferred():
        return import_module(name)
