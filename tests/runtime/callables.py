"""Wrappers for the tests of callables, around a kernel that writes down what it gets."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ffi_builder import attach, runtime
from ffi_builder.providers import DirectCallProvider, NopCallProvider
from ffi_builder.spec import Param, Signature
from tests.support.recording import Recording
from tests.support.wrapping import new_module


def recorded(
    params: Sequence[Param], types: Sequence[str], *, doc: str = ""
) -> tuple[runtime.CompiledModule, Recording]:
    """A compiled `f`, and the recording of a kernel that takes these LLVM types."""
    recording = Recording("kernel", types)
    module = new_module(recording.text)
    attach(module, Signature("f", params, doc=doc), DirectCallProvider("kernel"))
    return runtime.compile(module, opt_level=0), recording


def checking(*params: Param, doc: str = "") -> runtime.CompiledModule:
    """A compiled `f` that only checks its arguments."""
    module = new_module()
    attach(module, Signature("f", params, doc=doc), NopCallProvider())
    return runtime.compile(module, opt_level=0)


def float32(recording: Recording, index: int) -> float:
    """An argument as a float."""
    return struct.unpack("<f", recording.read(index, 4))[0]
