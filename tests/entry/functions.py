"""Functions to call in both ways: read in C, and by the general way."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, cast

import pytest
import tvm_ffi

from ffi_builder import attach, runtime
from ffi_builder.providers import DirectCallProvider, NopCallProvider, PackedCallProvider
from ffi_builder.runtime.python.functions import wrapped
from ffi_builder.spec import Param, Signature, Tensor, Var, dims
from tests.support.entries import READ_IN_C
from tests.support.recording import Recording
from tests.support.wrapping import new_module


@contextmanager
def read_in_c(*calls: Any) -> Generator[None]:
    """Expect that the extension, where a way has it, reads all arguments of calls."""
    before = [getattr(call, "_general_calls", None) for call in calls]
    yield
    assert [getattr(call, "_general_calls", None) for call in calls] == before


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


(n,) = dims("n")
NUMBER: Final = Var("a", "int32")
VECTOR: Final = Tensor("x", [n], "float32", device_type="cpu")
CALLER: Final = """
llvm.func @TVMFFIFunctionCall(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr) -> i32
llvm.func @__tvm_ffi_call(%h: !llvm.ptr, %args: !llvm.ptr, %n: i32, %result: !llvm.ptr) -> i32 {
  %f = llvm.mlir.constant(FUNCTION : i64) : i64
  %p = llvm.inttoptr %f : i64 to !llvm.ptr
  %rc = llvm.call @TVMFFIFunctionCall(%p, %args, %n, %result)
    : (!llvm.ptr, !llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %rc : i32
}
"""


def calling(function: Any, params: Sequence[Param] = (NUMBER, VECTOR)) -> Any:
    """An entry around a Python function, called by the packed convention."""
    callback = tvm_ffi.convert(function)
    module = new_module(CALLER.replace("FUNCTION", str(callback.__chandle__())))
    attach(module, Signature("f", params), PackedCallProvider("call"))
    entry = both_ways(runtime.compile(module)).entry
    entry.callback = callback
    return entry
