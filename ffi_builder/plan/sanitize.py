"""Finds what ``sanitize=`` stands for, which the add-on ``sanitize`` knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ffi_builder import addons, spec
from ffi_builder.errors import SpecError


class Watching(Protocol):
    """How a wrapper watches its kernel. It is hashable: equal ones make equal wrappers."""

    def constrain(self, signature: spec.Signature) -> spec.Signature:
        """Return the signature with what the wrapper is to check besides."""
        ...

    def rows(self, signature: spec.Signature) -> Sequence[tuple[str, str, str]]:
        """Return what ``explain`` shows of the call of the kernel: subject, expected, error."""
        ...


def watching(given: object) -> Watching | None:
    """Return what ``sanitize=`` stands for; None for False.

    What is registered as ``sanitize options`` makes it of anything else.

    Raises:
        SpecError: the add-on does not know what is given, or is not here.
    """
    if given is False:
        return None
    read = addons.find("sanitize", "options")
    if read is None:
        raise SpecError(f"sanitize: what watches kernels {addons.lacking('sanitize', 'options')}")
    return read(given)
