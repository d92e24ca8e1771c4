"""Functions to call in both ways: read in C, and by the general way."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pytest
import tvm_ffi

from ffi_builder import attach, runtime
from ffi_builder.providers import DirectCallProvider, NopCallProvider
from ffi_builder.runtime.python.functions import wrapped
from ffi_builder.spec import Param, Signature
from tests.support.entries import READ_IN_C
from tests.support.recording import SLOT, Recording
from tests.support.wrapping import new_module

needs_extension = pytest.mark.skipif(not READ_IN_C, reason="the extension is not used here")


@dataclass(frozen=True)
class Ways:
    """One function, called in each way; `seen` is what its kernel got."""

    entry: Any
    plain: Any
    """tvm-ffi's own function, which knows no rules of frameworks."""
    general: Any
    """`compiled["f"]` where there is no extension."""
    entry_callable: Any
    general_callable: Any
    recording: Recording | None

    def outcome(self, call: Callable[..., Any], *args: Any, **keywords: Any) -> tuple[object, ...]:
        """Return the result or error of a call, and the values that the kernel got."""
        if self.recording is not None:
            self.recording.clear()
        try:
            result = call(*args, **keywords)
            end: tuple[object, ...] = (type(cast("object", result)), repr(result))
        except Exception as error:
            # torch's own have a backtrace behind that, and JAX's show addresses.
            words = re.split("\nException raised from|\n\nAt:\n| with object id ", str(error))[0]
            end = (type(error), words)
        return (*end, self.seen)

    @property
    def seen(self) -> bytes:
        """Everything that the kernel has written down."""
        recording = self.recording
        return b"" if recording is None else recording._buffer.raw  # pyright: ignore[reportPrivateUsage]


def ways(
    params: Sequence[Param], types: Sequence[str] = (), args: Sequence[Any] | None = None
) -> Ways:
    """A function of these parameters, around a kernel of these LLVM types that notes `args`."""
    recording = Recording("kernel", types) if types else None
    module = new_module(recording.text if recording else "")
    provider = DirectCallProvider("kernel", args=args) if recording else NopCallProvider()
    attach(module, Signature("f", params), provider)
    return both_ways(runtime.compile(module, opt_level=0), recording)


def both_ways(compiled: runtime.CompiledModule, recording: Recording | None = None) -> Ways:
    """The function `f`."""
    info = compiled.info("f")
    assert info is not None

    def plain() -> tvm_ffi.Function:
        return compiled._function("f")  # pyright: ignore[reportPrivateUsage]

    return Ways(
        compiled["f"],
        plain(),
        wrapped(plain(), "f", info, converts=False),
        compiled.callable("f"),
        wrapped(plain(), "f", info, converts=True),
        recording,
    )


__all__ = ["SLOT", "Ways", "both_ways", "needs_extension", "ways"]
