"""Arguments of calls that say what they are: a pointer may be anything."""

from __future__ import annotations

from typing import ClassVar, TypeAlias, Union

from ffi_builder.ir import Value
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class Marking:
    """A value, in a class that says what it is."""

    value: Value
    type: ClassVar[str] = "!llvm.ptr"
    """The type of the value; empty for several."""


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
    type: ClassVar[str] = "!llvm.ptr"


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
    type: ClassVar[str] = "!llvm.ptr"


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
