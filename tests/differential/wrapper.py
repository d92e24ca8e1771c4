"""A wrapper of a signature, compiled in this process, around a kernel that only records.

The recording provider stores what a kernel would get to a buffer whose address is a constant of
the code: each symbol in its own type, each tensor's address, dimensions, strides and device.
"""

from __future__ import annotations

import ctypes
import importlib
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tvm_ffi import libinfo

from ffi_builder import abi, attach, runtime
from ffi_builder.ir import Block, Value
from ffi_builder.providers import CallContext
from ffi_builder.spec import Dim, EnvStream, Signature, Tensor, Var
from tests.differential.outcome import Outcome, show_tensor, show_values, stream_of
from tests.differential.signatures import symbols_of, tensors_of

SLOT: Final = 8
FORMATS: Final = {
    "bool": "?",
    **{f"int{bits}": letter for bits, letter in zip((8, 16, 32, 64), "bhiq", strict=True)},
    **{f"uint{bits}": letter for bits, letter in zip((8, 16, 32, 64), "BHIQ", strict=True)},
    "float16": "e",
    "bfloat16": "H",
    "float32": "f",
    "float64": "d",
    "handle": "Q",
}
"""How :mod:`struct` reads a symbol of each dtype; bfloat16 is the upper half of a float32."""
POISON: Final = b"\xa5" * abi.ANY_SIZE
SafeCall = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p
)


class Recorder:
    """A call provider, and the values that the last call recorded."""

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.symbols = symbols_of(signature.params)
        self.tensors = list(tensors_of(signature.params))
        slots = len(self.symbols) + sum(2 + 2 * tensor.ndim for _, tensor in self.tensors) + 1
        self.buffer = ctypes.create_string_buffer(SLOT * slots)
        self._next = 0

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit a store of every value, each into a slot of its own."""
        self._next = 0
        for var in self.symbols:
            self._record(context, context.matched_var_binding[var])
        for _, tensor in self.tensors:
            self._record(context, context.data(tensor))
            self._record(context, context.device_id(tensor))
            for value in (*context.shape(tensor), *context.strides(tensor)):
                self._record(context, value)
        if context.env_stream is not None:
            self._record(context, context.env_stream)
        return context.builder.block

    def _record(self, context: CallContext, value: Value) -> None:
        b = context.builder
        address = ctypes.addressof(self.buffer) + SLOT * self._next
        b.store(value, b.to_pointer(b.i64(address)))
        self._next += 1

    def outcome(self) -> Outcome:
        """What the last call recorded."""
        self._next = 0
        values = {var.name: self._read(var.dtype) for var in self.symbols}
        tensors = {path: self._read_tensor(tensor) for path, tensor in self.tensors}
        has_stream = any(isinstance(param, EnvStream) for param in self.signature.params)
        stream = hex(int(self._read("handle"))) if has_stream else None
        return Outcome("accepted", "", show_values(self.signature, values), tensors, stream)

    def _read_tensor(self, tensor: Tensor) -> str:
        data, device_id = int(self._read("handle")), int(self._read("int32"))
        entries = tensor.stride_entries or (None,) * tensor.ndim
        shape = tuple(int(self._read(dtype_of(entry))) for entry in tensor.shape)
        strides = tuple(int(self._read(dtype_of(entry))) for entry in entries)
        return show_tensor(tensor, data, shape, strides, device_id)

    def _read(self, dtype: str) -> int | float:
        content = self.buffer.raw[SLOT * self._next :][:SLOT]
        self._next += 1
        value = struct.unpack_from(f"<{FORMATS[dtype]}", content)[0]
        if dtype == "bfloat16":
            return struct.unpack("<f", struct.pack("<I", value << 16))[0]
        return value


def dtype_of(entry: Dim | None) -> str:
    """The type that a dimension or stride is given to a provider in."""
    return entry.dtype if isinstance(entry, Var) else "int64"


@dataclass(frozen=True)
class Wrapper:
    """A compiled wrapper; ``owner`` keeps its code."""

    recorder: Recorder
    entry: Callable[[int, int, int, int], int]
    owner: object

    def call(self, args_address: int, num_args: int) -> Outcome:
        """Call it as a C caller would, with a result that nobody has cleared."""
        result = ctypes.create_string_buffer(POISON, len(POISON))
        ctypes.memset(self.recorder.buffer, 0xEE, len(self.recorder.buffer))
        status = self.entry(0, args_address, num_args, ctypes.addressof(result))
        if status == 0:
            if result.raw != bytes(abi.ANY_SIZE):
                return Outcome("broken", f"the result is {result.raw.hex()}, not None")
            return self.recorder.outcome()
        error = take_error()
        if status != -1:
            return Outcome("broken", f"status {status}, with {error}")
        if result.raw != POISON:
            return Outcome("broken", f"the result was written, with {error}")
        return error


def compile_wrapper(signature: Signature, opt_level: int = 2) -> Wrapper:
    """Attach a wrapper to an empty module and compile it."""
    recorder = Recorder(signature)
    mlir: Any = importlib.import_module("torch_mlir.ir")
    with mlir.Context(), mlir.Location.unknown():
        module = mlir.Module.create()
        attach(module, signature, recorder)
        compiled = runtime.compile(module, opt_level=opt_level)
    return Wrapper(recorder, SafeCall(compiled.address(signature.name)), compiled)


_tvm_ffi: Final = ctypes.CDLL(libinfo.find_libtvm_ffi())


def set_streams() -> None:
    """Give every device of the tests a stream that tells which device it is of."""
    for name in ("cuda", "rocm"):
        for device_id in range(8):
            code = abi.DEVICE_TYPES[name]
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
