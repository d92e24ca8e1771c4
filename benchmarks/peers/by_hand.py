"""handwritten.c: the same checks and calls, compiled by a C compiler."""

from __future__ import annotations

from peers import base


class Peer(base.Peer):
    """Functions of handwritten.c or unchecked.c."""

    prefix = "hand"

    def make(self, case: str, how: str) -> base.Callee:
        """Return the function of this name."""
        address = self.native.address(f"{self.prefix}_{case}_{how}")
        return base.Callee(address, base.from_address(address, self.native))
