"""Checks by ``testing`` and the words they end in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ffi_builder import testing
from ffi_builder.spec import Param, Signature, outline


def mismatch(params: Sequence[Param], at: str, expected: str, got: str, argument: int = 0) -> str:
    """The message of a check that failed."""
    return (
        f"Mismatched {at} on argument #{argument} when calling: "
        f"`{outline(Signature('f', params))}`, expected {expected} but got {got}"
    )


def refused(call: Callable[[], object], kind: type[Exception], message: str) -> None:
    """The call raises exactly this."""
    with pytest.raises((TypeError, ValueError)) as error:
        call()
    assert (error.type, str(error.value)) == (kind, message), str(error.value)


def check(params: Sequence[Param], *args: Any) -> dict[str, Any]:
    """The symbols that Python values bind."""
    return testing.check(Signature("f", params), *args)
