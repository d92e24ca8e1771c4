"""Functions on every way from Python, and the parameters that tests of rules give them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy

from ffi_builder.spec import (
    Tensor,
    dims,
)
from tests.entry.functions import Ways, ways

np: Any = numpy
n, m = dims("n m")
WAYS: Final = ("entry", "general", "entry_callable", "general_callable")

Call = Callable[..., Any]


def tensor(name: str = "x", intent: str | None = None, **more: Any) -> Tensor:
    return Tensor(name, [n], "float32", device_type="cpu", intent=intent, **more)


@functools.cache  # the kernel writes to the recording, which must live as long as it does
def recorded(intent: str | None, strides: Any = None) -> Ways:
    """A function whose kernel notes the address and the size of `x`."""
    x = tensor(intent=intent, strides=strides)
    return ways([x], ["!llvm.ptr", "i64"], [x, n])
