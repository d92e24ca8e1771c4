"""unchecked.c: C functions that check nothing."""

from __future__ import annotations

from peers import base, by_hand


class Peer(by_hand.Peer):
    """Functions of unchecked.c."""

    prefix = "unchecked"

    def fail(self, calls: int) -> float:
        """Refuse: these functions never raise."""
        raise base.Unsupported(f"none of {calls} calls would fail")
