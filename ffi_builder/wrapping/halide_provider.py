"""Calls functions that Halide compiled ahead of time.

The layouts are those of ``HalideRuntime.h``. A ``halide_buffer_t`` has 56 bytes::

     0 device (uint64)    8 device_interface   16 host          24 flags (uint64)
    32 type: code, bits (uint8), lanes (uint16)
    36 dimensions (int32) 40 dim               48 padding

``dim`` points to a ``halide_dimension_t`` for each dimension, the innermost first: min, extent and
stride in elements (int32) and flags (uint32).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ffi_builder import BuildError, spec
from ffi_builder.extending import (
    Argument,
    Builder,
    Item,
    c_arguments,
    call,
    check_status,
    convert_items,
    dataclass,
    in_range,
    pass_on,
    path_of,
    present,
)
from ffi_builder.ir import Block, Value
from ffi_builder.providers import CallContext, DirectCallProvider, ModuleContext

_BUFFER: Final = 56
_HOST: Final = 16
_TYPE: Final = 32
_RANK: Final = 36
_DIM: Final = 40
_DIMENSION: Final = 16
_CODES: Final = {"int": 0, "uint": 1, "float": 2, "bfloat": 4}
"""``halide_type_code_t``. A bool is a uint of one bit."""
_HANDLER: Final = "halide_error"
"""What Halide's code calls with a message; Halide's own, which is weak, ends the process."""
_SET_ERROR: Final = "TVMFFIErrorSetRaisedFromCStr"


@dataclass(frozen=True)
class HalideCallProvider(DirectCallProvider):
    """Calls a function that Halide compiled: each tensor is a ``halide_buffer_t *``.

    The last axis of a tensor is Halide's first dimension, as in Halide's own Python bindings. All
    other items are passed as :class:`DirectCallProvider` passes them. The function returns a
    status: any value other than 0 raises an error. Sizes and strides must fit an int32.

    What Halide's code finds wrong, such as a buffer of another type, raises a RuntimeError with
    Halide's message: the module defines ``halide_error``, unless it has one, as a weak symbol.
    Halide's own, which ends the process, stays in shared libraries, and where an object or archive
    of Halide's is linked before the wrapper's object.

    Args:
        callee: the symbol to call; declared if the module has none of that name.
        args: the items to pass, in order; left out, every parameter except constants.

    Raises:
        BuildError: when attached, if the callee is in the module and takes other arguments; if a
            tensor is not on the CPU, has several dtypes, any rank, or a dtype that Halide lacks.

    Examples:
        >>> from ffi_builder import providers, spec, testing
        >>> blur = spec.Signature.parse(
        ...     "blur(x: Tensor([h, w], float32), y: Tensor([h, w], float32))", device="cpu"
        ... )
        >>> module = testing.emit(blur, providers.HalideCallProvider("blur"), whole=True)
        >>> next(line.strip() for line in module.splitlines() if "func @blur" in line)
        'llvm.func @blur(!llvm.ptr, !llvm.ptr) -> i32'
    """

    def prepare(self, context: ModuleContext) -> None:
        """Define what Halide's code calls with an error."""
        if _HANDLER in context.symbols:
            return
        t = context.symbols.types
        b = Builder.define(context.symbols, _HANDLER, t.void, [t.ptr, t.ptr], "weak")
        context.symbols.declare(_SET_ERROR, t.void, [t.ptr, t.ptr])
        kind = b.text_constant(b"RuntimeError\0")
        b.call(_SET_ERROR, [kind, b.entry.arguments[1]], t.void)
        b.ret()

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the call."""
        b = context.builder
        name = type(self).__name__
        arguments = convert_items(name, self.args, context, self.arguments_of)
        status = call(
            name, context, self.callee, arguments, b.types.i32, free=self.free, errno=self.errno
        )
        if status is not None and not context.status_wanted:
            with b.when(b.ne(status, b.zero(status.type)), cold=True):
                pass_on(context, b.i32(-1))  # -2 has a meaning in TVM-FFI, and one in Halide
        check_status(context, self.callee, status)
        return b.block

    def arguments_of(self, context: CallContext, item: Item) -> list[Argument]:
        """Return the arguments for one entry of ``args=``."""
        return c_arguments(context, item, _buffer)


def _buffer(context: CallContext, tensor: spec.Tensor) -> list[Value]:
    """Write a ``halide_buffer_t`` to the stack, and return its address."""
    b, t = context.builder, context.builder.types
    path = path_of(context, tensor)
    code, bits = _type(path, tensor)
    place = b.alloca(t.i64, _BUFFER // 8, align=8)
    for at in range(0, _BUFFER, 8):
        b.store(b.i64(0), b.offset(place, at))
    dimensions = b.alloca(t.i64, max(1, tensor.ndim) * _DIMENSION // 8, align=8)
    for axis, (extent, stride) in enumerate(_innermost_first(context, tensor, path)):
        for at, value in ((0, b.i32(0)), (4, extent), (8, stride), (12, b.i32(0))):
            b.store(value, b.offset(dimensions, _DIMENSION * axis + at))
    b.store(context.data(tensor), b.offset(place, _HOST))
    b.store(b.i32(code | bits << 8 | 1 << 16), b.offset(place, _TYPE))
    b.store(b.i32(tensor.ndim), b.offset(place, _RANK))
    b.store(dimensions, b.offset(place, _DIM))
    there = present(context, tensor)
    return [place if there is None else b.select(there, place, b.null())]


def _type(path: str, tensor: spec.Tensor) -> tuple[int, int]:
    """Return the code and the bits of the elements."""
    is_known = len(tensor.dtypes) == 1 and not tensor.any_rank and tensor.device == "cpu"
    match = re.fullmatch(r"(u?int|b?float)(8|16|32|64)", tensor.dtypes[0])
    if is_known and tensor.dtypes == ("bool",):
        return _CODES["uint"], 1
    if not is_known or match is None:
        raise BuildError(
            f"HalideCallProvider: {path} is {spec.outline(tensor)}; expected a tensor on the CPU "
            f"of a known rank and of one dtype, an integer, a float or a bool"
        )
    return _CODES[match[1]], int(match[2])


def _innermost_first(
    context: CallContext, tensor: spec.Tensor, path: str
) -> Iterator[tuple[Value, Value]]:
    shape, strides = context.shape(tensor, wide=True), context.strides(tensor, wide=True)
    for axis in reversed(range(tensor.ndim)):
        yield (
            _int32(context, shape[axis], f"{path}.shape[{axis}]"),
            _int32(context, strides[axis], f"{path}.strides[{axis}]"),
        )


def _int32(context: CallContext, value: Value, what: str) -> Value:
    b = context.builder
    fits = in_range(b, value, -(1 << 31), (1 << 31) - 1, signed=True)
    assert fits is not None
    b.check(fits, "ValueError", f"{what} is {{}}, which no int32 of a halide_buffer_t holds", value)
    return b.trunc(value, b.types.i32)
