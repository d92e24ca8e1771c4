"""Arguments of calls: values of the IR and Python constants, written as ``TVMFFIAny``.

=============================== ==================================================================
i1; i8, i16, i32, i64           Bool; Int, with the sign
f16, bf16, f32, f64             Float
None, bool, int, float          the same
str, bytes                      the same, as a constant of the module
=============================== ==================================================================

A pointer may point to anything, so it is given in a class of this module that says what it is.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, ClassVar, Final, TypeAlias, Union

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.errors import BuildError
from ffi_builder.ir import CheckingBuilder, Types, Value
from ffi_builder.ir.builder import Builder
from ffi_builder.packed import anys
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class Marking:
    """A value, in a class that says what it represents."""

    value: Value
    type: ClassVar[str] = "!llvm.ptr"
    """The type of the value; empty if there are several types."""
    index: ClassVar[TypeIndex] = TypeIndex.NONE
    """The type index, if the value itself is stored with it."""


@dataclass(frozen=True)
class Tensor(Marking):
    """A ``DLTensor*``, borrowed; NULL is passed as None.

    A function in Python may read its shape, dtype, device and ``data_ptr()`` during the call, but
    must not convert it by DLPack, since tvm-ffi holds no object for it. Pass such a function the
    tensor itself, as an :class:`Object` or :class:`AnyValue`.

    Args:
        value: an ``!llvm.ptr``.

    Examples:
        >>> import numpy as np
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, call_packed, packed, runtime, spec
        >>> show, x = spec.Function("show"), spec.Tensor("x", ..., "float32", device_type="cpu")
        >>> def provider(current_block, context):
        ...     args = [packed.Tensor(context.dltensor(x))]
        ...     callee = packed.FunctionObject(context.scalar(show))
        ...     return call_packed(context.builder, callee, args).block
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("report", [show, x]), provider)
        >>> report = runtime.compile(module)["report"]
        >>> report(lambda x: print(x.shape, x.dtype), np.ones((2, 3), "float32"))
        (2, 3) float32
    """


@dataclass(frozen=True)
class Object(Marking):
    """A ``TVMFFIObject*`` of any type, borrowed; NULL is passed as None.

    Args:
        value: an ``!llvm.ptr``.

    Examples:
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, call_packed, packed, runtime, spec
        >>> show, names = spec.Function("show"), spec.Array("names")
        >>> def provider(current_block, context):
        ...     args = [packed.Object(context.scalar(names))]
        ...     callee = packed.FunctionObject(context.scalar(show))
        ...     return call_packed(context.builder, callee, args).block
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("report", [show, names]), provider)
        >>> report = runtime.compile(module)["report"]
        >>> report(lambda names: print(list(names)), ["q", "k"])
        ['q', 'k']
    """


@dataclass(frozen=True)
class Pointer(Marking):
    """An opaque pointer: a ``void*``, a stream, the data of a tensor.

    Args:
        value: an ``!llvm.ptr``.

    Examples:
        >>> import numpy as np
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, call_packed, packed, runtime, spec
        >>> show, x = spec.Function("show"), spec.Tensor("x", ..., "float32", device_type="cpu")
        >>> def provider(current_block, context):
        ...     args = [packed.Pointer(context.data(x))]
        ...     callee = packed.FunctionObject(context.scalar(show))
        ...     return call_packed(context.builder, callee, args).block
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("report", [show, x]), provider)
        >>> report = runtime.compile(module)["report"]
        >>> array = np.ones(2, "float32")
        >>> report(lambda data: print(data.value == array.ctypes.data), array)
        True
    """

    index: ClassVar[TypeIndex] = TypeIndex.OPAQUE_PTR


@dataclass(frozen=True)
class CString(Marking):
    """A str that ends in NUL, UTF-8, borrowed: a ``const char*``.

    Args:
        value: an ``!llvm.ptr``.

    Examples:
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, call_packed, packed, runtime, spec
        >>> show = spec.Function("show")
        >>> def provider(current_block, context):
        ...     b, callee = context.builder, packed.FunctionObject(context.scalar(show))
        ...     arch = packed.CString(b.text_constant(bytes([*b"sm_90a", 0])))
        ...     return call_packed(b, callee, [arch]).block
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("report", [show]), provider)
        >>> runtime.compile(module)["report"](print)
        sm_90a
    """

    index: ClassVar[TypeIndex] = TypeIndex.RAW_STR


@dataclass(frozen=True)
class String(Marking):
    """A str of ``length`` bytes (an i64), UTF-8. It is copied to a str object for the call.

    Args:
        value: an ``!llvm.ptr`` to the first byte.
        length: an ``i64``.

    Examples:
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, call_packed, packed, runtime, spec
        >>> show, name = spec.Function("show"), spec.String("name")
        >>> def provider(current_block, context):
        ...     args = [packed.String(*context.text(name))]
        ...     callee = packed.FunctionObject(context.scalar(show))
        ...     return call_packed(context.builder, callee, args).block
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("report", [show, name]), provider)
        >>> report = runtime.compile(module)["report"]
        >>> report(print, "rms_norm")
        rms_norm
    """

    length: Value


@dataclass(frozen=True)
class Bytes(Marking):
    """``length`` bytes (an i64), borrowed.

    Args:
        value: an ``!llvm.ptr`` to the first byte.
        length: an ``i64``.

    Examples:
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, call_packed, packed, runtime, spec
        >>> show, key = spec.Function("show"), spec.Bytes("key")
        >>> def provider(current_block, context):
        ...     args = [packed.Bytes(*context.text(key))]
        ...     callee = packed.FunctionObject(context.scalar(show))
        ...     return call_packed(context.builder, callee, args).block
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("report", [show, key]), provider)
        >>> report = runtime.compile(module)["report"]
        >>> report(print, b"rms_norm")
        b'rms_norm'
    """

    length: Value


@dataclass(frozen=True)
class AnyValue(Marking):
    """The address of a ``TVMFFIAny``, which is passed on as it is, borrowed.

    Args:
        value: an ``!llvm.ptr``.

    Examples:
        >>> import numpy as np
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, call_packed, packed, runtime, spec
        >>> show, x = spec.Function("show"), spec.Tensor("x", ..., "float32", device_type="cpu")
        >>> def provider(current_block, context):
        ...     args = [packed.AnyValue(context.any(x))]
        ...     callee = packed.FunctionObject(context.scalar(show))
        ...     return call_packed(context.builder, callee, args).block
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("report", [show, x]), provider)
        >>> report = runtime.compile(module)["report"]
        >>> report(lambda x: print(np.from_dlpack(x)), np.ones(2, "float32"))
        [1. 1.]
    """


@dataclass(frozen=True)
class DType(Marking):
    """A ``DLDataType``, as an i32.

    Args:
        value: an ``i32``.

    Examples:
        >>> import tvm_ffi
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, call_packed, packed, runtime, spec
        >>> show, to = spec.Function("show"), spec.DType("to")
        >>> def provider(current_block, context):
        ...     args = [packed.DType(context.scalar(to))]
        ...     callee = packed.FunctionObject(context.scalar(show))
        ...     return call_packed(context.builder, callee, args).block
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("report", [show, to]), provider)
        >>> report = runtime.compile(module)["report"]
        >>> report(print, tvm_ffi.dtype("bfloat16"))
        bfloat16
    """

    type: ClassVar[str] = "i32"
    index: ClassVar[TypeIndex] = TypeIndex.DATA_TYPE


@dataclass(frozen=True)
class Device(Marking):
    """A ``DLDevice``, as an i64: the type in the low 32 bits, and the id.

    Args:
        value: an ``i64``.

    Examples:
        >>> import tvm_ffi
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, call_packed, packed, runtime, spec
        >>> show, where = spec.Function("show"), spec.Device("where")
        >>> def provider(current_block, context):
        ...     args = [packed.Device(context.scalar(where))]
        ...     callee = packed.FunctionObject(context.scalar(show))
        ...     return call_packed(context.builder, callee, args).block
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("report", [show, where]), provider)
        >>> report = runtime.compile(module)["report"]
        >>> report(print, tvm_ffi.device("cuda", 1))
        cuda:1
    """

    type: ClassVar[str] = "i64"
    index: ClassVar[TypeIndex] = TypeIndex.DEVICE


@dataclass(frozen=True)
class Unsigned(Marking):
    """An unsigned integer of 8 to 64 bits; from 2^63 on, it is passed as a BigInt.

    Args:
        value: an ``i8``, ``i16``, ``i32`` or ``i64``.

    Examples:
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, call_packed, packed, runtime, spec
        >>> show, seed = spec.Function("show"), spec.Var("seed", "uint64")
        >>> def provider(current_block, context):
        ...     args = [packed.Unsigned(context.value(seed))]
        ...     callee = packed.FunctionObject(context.scalar(show))
        ...     return call_packed(context.builder, callee, args).block
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("report", [show, seed]), provider)
        >>> report = runtime.compile(module)["report"]
        >>> report(print, 2**64 - 1)
        18446744073709551615
    """

    type: ClassVar[str] = ""


Marked: TypeAlias = Union[
    Tensor, Object, Pointer, CString, String, Bytes, AnyValue, DType, Device, Unsigned
]
Argument: TypeAlias = Union[Value, Marked, bool, int, float, str, bytes, None]
"""An argument in the list that :func:`ffi_builder.call_packed` takes.

Examples:
    A value of the IR, constants of Python, and a str that the caller passes:

    >>> from torch_mlir import ir
    >>> from ffi_builder import attach, call_packed, packed, runtime, spec
    >>> show, n, name = spec.Function("show"), spec.Var("n", "int64"), spec.String("name")
    >>> def provider(current_block, context):
    ...     args = [packed.String(*context.text(name)), "takes", context.value(n), 0.5]
    ...     callee = packed.FunctionObject(context.scalar(show))
    ...     return call_packed(context.builder, callee, args).block
    >>> module = ir.Module.parse("", ir.Context())
    >>> attach(module, spec.Signature("report", [show, n, name]), provider)
    >>> runtime.compile(module)["report"](print, 3, "scan")
    scan takes 3 0.5
"""

_SMALL: Final = 7
"""The most bytes of a string that is held in a ``TVMFFIAny`` itself."""
_INTEGERS: Final = ("i8", "i16", "i32", "i64")
_FLOATS: Final = ("f16", "bf16", "f32", "f64")
_NUMBERS: Final = {
    "i1": (TypeIndex.BOOL, "zext"),
    **dict.fromkeys(_INTEGERS, (TypeIndex.INT, "sext")),
    **dict.fromkeys(_FLOATS, (TypeIndex.FLOAT, "fpext")),
}
"""The type index of a number, and how it is widened."""


def check_arguments(who: str, types: Types, arguments: Sequence[Argument]) -> None:
    """Check the types of all arguments, before anything is emitted.

    Raises:
        BuildError: an argument has a wrong type; the message names it and the valid types.
    """
    if isinstance(arguments, (str, bytes)) or not isinstance(arguments, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BuildError(f"{who}: expected a list of arguments but got {arguments!r}")
    for index, argument in enumerate(arguments):
        where = f"{who}: argument {index}"
        if isinstance(argument, Marking):
            _check_marked(where, types, argument)
        elif isinstance(argument, types.ir.Value):
            _check_plain(where, argument)
        elif isinstance(argument, int):
            if not -(2**63) <= argument < 2**63:
                raise BuildError(f"{where}: {argument} does not fit int64")
        elif argument is not None and not isinstance(argument, (float, str, bytes)):
            raise BuildError(
                f"{where}: expected a value (an ir.Value), a constant (None, bool, int, float, str "
                f"or bytes) or a pointer in a class of ffi_builder.packed, but got {argument!r}"
            )


def _check_plain(where: str, value: Any) -> None:
    type_ = str(value.type)
    if type_ in _NUMBERS:
        return
    if type_.startswith("!llvm.ptr"):
        raise BuildError(
            f"{where}: a pointer may be anything: say what it is by packed.Tensor(value), Object, "
            f"Pointer, CString, String, Bytes or AnyValue"
        )
    raise BuildError(
        f"{where}: expected a value of one of {', '.join(_NUMBERS)} but got one of type {type_}"
    )


def _check_marked(where: str, types: Types, argument: Marked) -> None:
    kind = type(argument).__name__
    parts = [("", argument.value, argument.type)]
    if isinstance(argument, (String, Bytes)):
        parts.append((" length", argument.length, "i64"))
    for what, given, expected in parts:
        value: Any = given
        if not isinstance(value, types.ir.Value):
            raise BuildError(f"{where}: {kind}{what}: expected a value but got {given!r}")
        fits = str(value.type) == expected if expected else str(value.type) in _INTEGERS
        if not fits:
            raise BuildError(
                f"{where}: {kind}{what}: expected a value of type "
                f"{expected or ' or '.join(_INTEGERS)} but got one of type {value.type}"
            )


def is_owned(types: Types, argument: Argument) -> bool:
    """Return whether storing an argument may make an object for the call."""
    match argument:
        case String():
            return True
        case str():
            return "\0" in argument and len(argument.encode()) > _SMALL
        case Unsigned(value):
            return value.type == types.i64
        case _:
            return False


def array_of(b: Builder, count: int) -> Value:
    """Return stack space for arguments, in ``TVMFFIAny``s; it is never NULL, even for none."""
    return b.alloca(b.types.i64, max(count, 1) * abi.ANY_SIZE // 8)


def cell_of(b: Builder, array: Value, index: int) -> Value:
    """Return the address of one of the arguments."""
    return b.offset(array, index * abi.ANY_SIZE)


def store_argument(b: CheckingBuilder, argument: Argument, at: Value) -> None:
    """Write a checked argument; if :func:`is_owned` holds, the caller must release it."""
    match argument:
        case None:
            anys.store_none(b, at)
        case bool():
            anys.store_as(b, TypeIndex.BOOL, b.i64(argument), at)
        case int():
            anys.store_as(b, TypeIndex.INT, b.i64(argument), at)
        case float():
            bits = struct.unpack("<q", struct.pack("<d", argument))[0]
            anys.store_as(b, TypeIndex.FLOAT, b.i64(bits), at)
        case str() | bytes():
            _store_constant(b, argument, at)
        case Tensor(value):
            head = anys.any_head(b, TypeIndex.DL_TENSOR_PTR)
            none = anys.any_head(b, TypeIndex.NONE)
            anys.store_any(b, b.select(b.is_null(value), none, head), value, at)
        case Object(value):
            anys.store_object(b, value, at)
        case Pointer() | CString() | DType() | Device():
            anys.store_as(b, argument.index, anys.widened(b, argument.value, "zext"), at)
        case String(value, length):
            anys.return_failure(b, anys.store_text(b, value, length, at, binary=False))
        case Bytes(value, length):
            array = anys.byte_array(b, value, length)
            anys.store_as(b, TypeIndex.BYTE_ARRAY_PTR, array, at)
        case AnyValue(value):
            anys.copy_any(b, value, at)
        case Unsigned(value):
            if value.type == b.types.i64:
                anys.store_unsigned(b, value, at)
            else:
                anys.store_as(b, TypeIndex.INT, anys.widened(b, value, "zext"), at)
        case _:
            index, cast = _NUMBERS[str(argument.type)]
            anys.store_as(b, index, anys.widened(b, argument, cast), at)


def _store_constant(b: CheckingBuilder, constant: str | bytes, at: Value) -> None:
    is_str = isinstance(constant, str)
    data = constant.encode() if is_str else constant
    if len(data) <= _SMALL:
        index = TypeIndex.SMALL_STR if is_str else TypeIndex.SMALL_BYTES
        payload = struct.unpack("<q", data.ljust(8, b"\0"))[0]
        anys.store_any(b, anys.any_head(b, index, len(data)), b.i64(payload), at)
        return
    text = b.text_constant(data + b"\0" if is_str else data)
    if not is_str:
        array = anys.byte_array(b, text, b.i64(len(data)))
        anys.store_as(b, TypeIndex.BYTE_ARRAY_PTR, array, at)
    elif b"\0" in data:
        anys.return_failure(b, anys.store_text(b, text, b.i64(len(data)), at, binary=False))
    else:
        anys.store_as(b, TypeIndex.RAW_STR, text, at)
