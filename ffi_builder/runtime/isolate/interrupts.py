"""Keeps signal handlers from interrupting code that must not be interrupted.

Python runs signal handlers in the main thread, between any two bytecodes. There a handler may raise
an exception, as that of Ctrl-C does.
"""

from __future__ import annotations

import functools
import threading
import traceback
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def uninterrupted(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Make `function` run in another thread if it is called in the main thread.

    Use it for functions that call llvmlite: an exception inside llvmlite's lock would leave it
    locked, and every other thread would wait for it forever. An interrupted caller does not wait
    for the thread to finish.
    """

    @functools.wraps(function)
    def run(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        if threading.current_thread() is not threading.main_thread():
            return function(*args, **kwargs)
        results: list[_Result] = []
        errors: list[BaseException] = []

        def work() -> None:
            try:
                results.append(function(*args, **kwargs))
            except BaseException as error:
                # The frames refer to LLVM's objects, which are freed under the same lock.
                traceback.clear_frames(error.__traceback__)
                errors.append(error)

        thread = threading.Thread(target=work, daemon=True)
        try:
            thread.start()
        except RuntimeError:  # threads cannot start any more, as at the end of the interpreter
            return function(*args, **kwargs)
        thread.join()
        if errors:
            raise errors.pop()
        return results.pop()

    return run
