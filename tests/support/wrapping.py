"""Make modules, attach wrappers to them, and call these."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import pytest
import tvm_ffi
from tvm_ffi import libinfo

from ffi_builder import abi, attach, attach_ffi_func, runtime, spec
from ffi_builder.errors import BuildError
from ffi_builder.ir.distribution import named
from ffi_builder.providers import CallProvider, NopCallProvider
from ffi_builder.spec.expr import Condition
from tests.differential.description import Arguments, Value
from tests.differential.memory import shared
from tests.support.contexts import shared_context

SafeCall: Final = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p
)
_LIBRARY: Final = ctypes.CDLL(libinfo.find_libtvm_ffi())


def new_module(text: str = "", distribution: str = "torch_mlir") -> Any:
    """Parse a module in a context that has the LLVM dialect, and that others may share.

    Skips the test if the distribution is not torch-mlir, and not installed.
    """
    if distribution != "torch_mlir":
        pytest.importorskip(f"{distribution}.ir", reason=f"needs the bindings {distribution}")
    context = shared_context(distribution)
    return named(distribution).ir.Module.parse(f"module {{\n{text}\n}}", context)


def attached(
    params: Sequence[spec.Param],
    provider: CallProvider | None = None,
    text: str = "",
    *,
    name: str = "f",
    distribution: str = "torch_mlir",
    where: Sequence[Condition] = (),
    no_overlap: bool | Sequence[str] = (),
) -> Any:
    """Parse a module and attach a wrapper of these parameters."""
    module = new_module(text, distribution)
    provider = provider or NopCallProvider()
    attach_ffi_func(module, name, params, provider, where=where, no_overlap=no_overlap)
    return module


def wrap(
    params: Sequence[spec.Param],
    provider: CallProvider | None = None,
    text: str = "",
    *,
    where: Sequence[Condition] = (),
    no_overlap: bool | Sequence[str] = (),
) -> tvm_ffi.Function:
    """Compile a wrapper of these parameters."""
    module = attached(params, provider, text, where=where, no_overlap=no_overlap)
    return runtime.compile(module)["f"]


def wrap_raw(
    params: Sequence[spec.Param],
    provider: CallProvider | None = None,
    text: str = "",
    *,
    no_overlap: bool | Sequence[str] = (),
    slots: int = 256,
) -> RawWrapper:
    """Compile a wrapper that is called with arguments laid out by hand."""
    compiled = runtime.compile(attached(params, provider, text, no_overlap=no_overlap))
    return RawWrapper(compiled, "f", slots)


def parsed(signature: spec.Signature | str) -> spec.Signature:
    """Read the text of a signature, whose tensors are on the CPU unless they say otherwise."""
    if isinstance(signature, str):
        return spec.Signature.parse(signature, device="cpu")
    return signature


def wrapped(
    signature: spec.Signature | str,
    provider: CallProvider | None = None,
    text: str = "",
    make: Callable[[], Any] | None = None,
) -> Any:
    """Compile a function of a signature, around a callee in the text of a module."""
    module, signature = make() if make else new_module(text), parsed(signature)
    attach(module, signature, provider or NopCallProvider())
    return runtime.compile(module)[signature.name]


def refused(signature: spec.Signature | str, provider: Any, text: str = "") -> str:
    """Return why attaching is refused, which leaves the module as it was."""
    module = new_module(text)
    before = str(module)
    with pytest.raises(BuildError) as raised:
        attach(module, parsed(signature), provider)
    assert str(module) == before
    return str(raised.value)


class RawWrapper:
    """A function of a compiled module, called by its address as C does."""

    def __init__(self, compiled: runtime.CompiledModule, name: str, slots: int = 256) -> None:
        self._compiled = compiled
        self._entry = SafeCall(compiled.address(name))
        self._memory = shared(slots)

    def __call__(self, *values: Value) -> tuple[str, str] | None:
        """Call the function; return None, or the kind and message of the error that it set."""
        return self.with_arguments(Arguments(values))

    def with_arguments(self, arguments: Arguments) -> tuple[str, str] | None:
        """Call the function with arguments whose array may be NULL, or whose count may be wrong."""
        result = ctypes.create_string_buffer(b"\xa5" * abi.ANY_SIZE, abi.ANY_SIZE)
        address = self._memory.place(arguments)
        status = self._entry(None, address, arguments.count, ctypes.addressof(result))
        if status == 0:
            assert result.raw == bytes(abi.ANY_SIZE)
            return None
        assert status == -1
        kind, message = _take_error()
        # A failed check leaves the result untouched.
        called = not message.startswith("Mismatched ")
        assert result.raw == (bytes(abi.ANY_SIZE) if called else b"\xa5" * abi.ANY_SIZE)
        return kind, message


def _take_error() -> tuple[str, str]:
    """Take the error that is set, and return its kind and message."""
    handle = ctypes.c_void_p()
    _LIBRARY.TVMFFIErrorMoveFromRaised(ctypes.byref(handle))
    assert handle.value, "no error is set"
    cell = handle.value + abi.OBJECT_SIZE
    texts: list[str] = []
    for index in range(2):
        at = cell + index * abi.BYTE_ARRAY_SIZE
        data = ctypes.c_uint64.from_address(at + abi.BYTE_ARRAY_DATA).value
        length = ctypes.c_uint64.from_address(at + abi.BYTE_ARRAY_LENGTH).value
        texts.append(ctypes.string_at(data, length).decode())
    _LIBRARY.TVMFFIObjectDecRef(handle)
    return texts[0], texts[1]


def set_stream(device_type: str, device_id: int, stream: int) -> None:
    """Set the current stream of a device, as frameworks do."""
    code = abi.DEVICE_TYPES[device_type]
    status = _LIBRARY.TVMFFIEnvSetStream(code, device_id, ctypes.c_void_p(stream), None)
    assert status == 0


@contextmanager
def current_stream(stream: int, device_id: int, device_type: str = "cuda") -> Generator[None]:
    """Make a stream the current one of a device, for a while."""
    set_stream(device_type, device_id, stream)
    try:
        yield
    finally:
        set_stream(device_type, device_id, 0)
