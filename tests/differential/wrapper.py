"""A wrapper of a signature, compiled in this process, around a kernel that only records."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tvm_ffi import libinfo

from ffi_builder import abi, attach, runtime
from ffi_builder.ir import PlainModule
from ffi_builder.spec import Signature
from tests.differential.memory import Memory
from tests.differential.outcome import STREAM_DEVICES, STREAM_IDS, Outcome, stream_of
from tests.differential.recorder import Recorder
from tests.support.wrapping import new_module

LEVEL: Final = int(os.environ.get("FFI_BUILDER_OPT_LEVEL", "2"))
"""Level 0 uses other code generators than level 2 does, on AArch64 GlobalISel."""

POISON: Final = b"\xa5" * abi.ANY_SIZE
SafeCall = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p
)


@dataclass(frozen=True)
class Wrapper:
    """A compiled wrapper; ``owner`` keeps its code."""

    recorder: Recorder
    entry: Callable[[int, int, int, int], int]
    owner: object

    def call(self, args_address: int, num_args: int, memory: Memory) -> Outcome:
        """Call it as a C caller would, with a result that nobody has cleared."""
        result = ctypes.create_string_buffer(POISON, len(POISON))
        ctypes.memset(self.recorder.buffer, 0xEE, len(self.recorder.buffer))
        status = self.entry(0, args_address, num_args, ctypes.addressof(result))
        if status == 0:
            if result.raw != bytes(abi.ANY_SIZE):
                return Outcome("broken", f"the result is {result.raw.hex()}, not None")
            return self.recorder.outcome(memory)
        error = take_error()
        if status != -1:
            return Outcome("broken", f"status {status}, with {error}")
        if result.raw != POISON:
            return Outcome("broken", f"the result was written, with {error}")
        return error


def compile_plain(signature: Signature) -> Wrapper:
    """Do the same with a module that needs no MLIR."""
    return compile_wrapper(signature, module=PlainModule())


def compile_wrapper(signature: Signature, opt_level: int = LEVEL, *, module: Any = None) -> Wrapper:
    """Attach a wrapper to an empty module, by default of torch-mlir, and compile it."""
    recorder = Recorder(signature)
    module = new_module() if module is None else module
    attach(module, signature, recorder)
    compiled = runtime.compile(module, opt_level=opt_level)
    return Wrapper(recorder, SafeCall(compiled.address(signature.name)), compiled)


_tvm_ffi: Final = ctypes.CDLL(libinfo.find_libtvm_ffi())


def set_streams() -> None:
    """Give every device of the tests a stream that tells which device it is of."""
    for code in STREAM_DEVICES:
        for device_id in STREAM_IDS:
            stream = ctypes.c_void_p(stream_of(code, device_id))
            _tvm_ffi.TVMFFIEnvSetStream(code, device_id, stream, None)


def take_error() -> Outcome:
    """The error that is set, which then is no longer set."""
    handle = ctypes.c_void_p()
    _tvm_ffi.TVMFFIErrorMoveFromRaised(ctypes.byref(handle))
    if not handle.value:
        return Outcome("broken", "no error is set")
    cell = handle.value + abi.OBJECT_SIZE
    kind, message = (read_bytes(cell + index * abi.BYTE_ARRAY_SIZE) for index in range(2))
    _tvm_ffi.TVMFFIObjectDecRef(handle)
    return Outcome(kind, message)


def read_bytes(address: int) -> str:
    """A ``TVMFFIByteArray`` as text."""
    data = ctypes.c_uint64.from_address(address + abi.BYTE_ARRAY_DATA).value
    length = ctypes.c_uint64.from_address(address + abi.BYTE_ARRAY_LENGTH).value
    return ctypes.string_at(data, length).decode("utf-8")
