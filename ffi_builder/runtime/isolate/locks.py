"""Locks that a forked child can use."""

from __future__ import annotations

import os
import threading


def fork_safe_lock() -> threading.Lock:
    """Return a lock that is free in a forked child, even if a thread of the parent held it.

    That thread does not exist in the child, so nothing there would release the lock. Use this lock
    for state that is valid wherever the holder is stopped.
    """
    lock = threading.Lock()
    os.register_at_fork(after_in_child=lock._at_fork_reinit)  # pyright: ignore # as in logging
    return lock
