"""Kernels in Python that write where they are told to, and wrappers that look for it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
import pytest

from ffi_builder import Sanitize, attach, runtime, spec
from ffi_builder.providers import CallProvider, DirectCallProvider
from tests.support.allocating import counting
from tests.support.wrapping import new_module

Function: TypeAlias = (
    "Callable[[int], object] | Callable[[int, int], object] | Callable[[int, int, int], object]"
)
"""Takes the addresses of tensors."""


def view(address: int, count: int, dtype: str = "float32") -> Any:
    """Return memory from an address on as an array."""
    memory: Any = (ctypes.c_uint8 * (count * np.dtype(dtype).itemsize)).from_address(address)
    return np.frombuffer(memory, dtype)


def poke(address: int, index: int, value: float = 7, dtype: str = "float32") -> None:
    """Write one element ``index`` elements from an address."""
    view(address + index * np.dtype(dtype).itemsize, 1, dtype)[0] = value


class Kernel:
    """A kernel that calls a Python function with the addresses of tensors."""

    def __init__(self, function: Function, count: int) -> None:
        kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)
        called: Any = function

        def run(*given: int) -> None:
            with np.errstate(all="ignore"):
                called(*given)

        self._callback = kind(run)
        address = ctypes.cast(self._callback, ctypes.c_void_p).value
        names = [f"%a{index}" for index in range(count)]
        types = ", ".join(["!llvm.ptr"] * count)
        self.text = f"""
            llvm.func @kernel({", ".join(f"{name}: !llvm.ptr" for name in names)}) {{
              %address = llvm.mlir.constant({address} : i64) : i64
              %function = llvm.inttoptr %address : i64 to !llvm.ptr
              llvm.call %function({", ".join(names)}) : !llvm.ptr, ({types}) -> ()
              llvm.return
            }}"""


def signature(text: str) -> spec.Signature:
    return spec.Signature.parse(text, device="cpu")


def attached(
    text: str, sanitize: Any, provider: CallProvider | None = None, kernel: str = ""
) -> Any:
    """Return a module with a kernel, and with a wrapper that watches it."""
    module = new_module(kernel)
    attach(module, signature(text), provider or DirectCallProvider("kernel"), sanitize=sanitize)
    return module


class Sanitized:
    """A wrapper around a kernel in Python. It gets the data of the tensors in ``args``."""

    def __init__(
        self,
        text: str,
        args: Sequence[str],
        kernel: Function,
        sanitize: bool | Sanitize = True,
        wrap: Callable[[CallProvider], CallProvider] = lambda provider: provider,
    ) -> None:
        self._kernel = Kernel(kernel, len(args))
        provider = wrap(DirectCallProvider("kernel", args=list(args)))
        module = attached(text, sanitize, provider, self._kernel.text)
        self._function = runtime.compile(module)[signature(text).name]

    def __call__(self, *args: Any) -> Any:
        with counting() as allocator:
            try:
                return self._function(*args)
            finally:
                self.kept = len(allocator.alive)


@contextmanager
def finds(*words: str) -> Generator[None]:
    """Expect an AssertionError with each of these words in its message."""
    with pytest.raises(AssertionError) as error:
        yield
    for each in words:
        assert each in str(error.value)


def in_use() -> int:
    """Return the bytes that malloc has handed out."""

    class Info(ctypes.Structure):
        _fields_ = [(f"field{index}", ctypes.c_size_t) for index in range(10)]

    library = ctypes.CDLL(None)
    library.mallinfo2.restype = Info
    found = library.mallinfo2()
    return found.field4 + found.field7  # hblkhd and uordblks
