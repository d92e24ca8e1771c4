"""Calling other functions of the TVM-FFI C ABI.

What is emitted for ``PackedCallProvider(global_function="my.f", args=[x, n])``::

    %args = llvm.alloca %four x i64                   // two TVMFFIAny: x as it came, n as an Int
    %status = llvm.call @TVMFFIFunctionGetGlobal(%name, %handle)
    …                                                 // an error if that fails, or there is none
    %status = llvm.call @TVMFFIFunctionCall(%function, %args, %two, %result)
    llvm.call @TVMFFIObjectDecRef(%function)
    llvm.cond_br %fine, ^next, ^failed                // ^failed: llvm.return %status
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, Value
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.forward import Entry, Item, check_name, entries

_GET_GLOBAL: Final = "TVMFFIFunctionGetGlobal"
_CALL: Final = "TVMFFIFunctionCall"
_DEC_REF: Final = "TVMFFIObjectDecRef"
_PARTS: Final = {
    "data": TypeIndex.OPAQUE_PTR,
    "present": TypeIndex.BOOL,
    "dtype": TypeIndex.DATA_TYPE,
    "dltensor": TypeIndex.DL_TENSOR_PTR,
}
"""Type indices of the parts of parameters that are no ints."""


@dataclass(frozen=True)
class PackedCallProvider:
    """Calls ``int f(void*, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result)``.

    What it returns is what the wrapper returns, and an error that it raises is passed on as it is.

    ``args`` left out, it gets the very arguments that the wrapper got. Else each of them becomes a
    ``TVMFFIAny``: a parameter (also an element of a tuple, or a whole one) is copied as it came; an
    absent one is None, and so are its parts. A symbol that is no parameter, an expression, an int,
    and the ``device_type``, ``device_id`` and ``ndim`` of a tensor is an Int; ``x.present`` a Bool,
    ``x.dtype`` a DataType, ``x.dltensor`` a ``DLTensor*``; ``x.data`` and an EnvStream are opaque
    pointers.

    Args:
        symbol: the function ``__tvm_ffi_<symbol>``, in the module (where it must be already, or be
            attached elsewhere) or in what it is linked with.
        global_function: instead of that, the name of a function that is registered with tvm-ffi.
            It is looked up at every call; if there is none, that is a RuntimeError.
        args: what is passed, in which order.

    Raises:
        BuildError: when attached, if there is not one of symbol and global_function, the symbol is
            another kind of function, or the wrapper itself.
    """

    symbol: str | None = None
    global_function: str | None = field(default=None, kw_only=True)
    args: Sequence[Entry] | None = field(default=None, kw_only=True)

    @property
    def callee(self) -> str | None:
        """The symbol in the module, if it is one."""
        return f"{abi.PREFIX}{self.symbol}" if isinstance(self.symbol, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the call."""
        name, b = type(self).__name__, context.builder
        if (self.symbol is None) == (self.global_function is None):
            raise BuildError(
                f"{name}: expected the name of a symbol or a global_function=, one of the two, but "
                f"got {self.symbol!r} and {self.global_function!r}"
            )
        if self.args is None:
            array, count = context.raw_args, context.raw_num_args
        else:
            items = entries(name, self.args, context)
            array, count = _pack(context, items), b.i32(len(items))
        if self.symbol is not None:
            status = self._call_symbol(context, self.symbol, array, count)
        else:
            assert self.global_function is not None
            status = self._call_global(context, self.global_function, array, count)
        context.returned = status
        if not context.status_wanted:
            _return_failure(context, status)
        return b.block

    def _call_symbol(self, context: CallContext, name: str, array: Value, count: Value) -> Value:
        b, who = context.builder, type(self).__name__
        t = b.types
        if check_name(who, name).startswith(abi.PREFIX):
            raise BuildError(f"{who}: {name!r} is given without the prefix {abi.PREFIX!r}")
        callee = abi.PREFIX + name
        if callee == b.function.attributes["sym_name"].value:
            raise BuildError(f"{who}: @{callee} is the wrapper itself, which would never return")
        context.symbols.declare(callee, t.i32, [t.ptr, t.ptr, t.i32, t.ptr])
        return b.call_value(callee, [b.null(), array, count, context.raw_result], t.i32)

    def _call_global(self, context: CallContext, name: str, array: Value, count: Value) -> Value:
        b, symbols = context.builder, context.symbols
        t = b.types
        if not isinstance(name, str) or not name.isprintable() or not name or "{}" in name:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BuildError(
                f"{type(self).__name__}: global_function: expected a name such as 'my.function' "
                f"but got {name!r}"
            )
        symbols.declare(_GET_GLOBAL, t.i32, [t.ptr, t.ptr])
        symbols.declare(_CALL, t.i32, [t.ptr, t.ptr, t.i32, t.ptr])
        symbols.declare(_DEC_REF, t.i32, [t.ptr])
        data = name.encode()
        text, slot = b.alloca(t.i64, abi.BYTE_ARRAY_SIZE // 8), b.alloca(t.ptr)
        b.store(b.text_constant(data), b.offset(text, abi.BYTE_ARRAY_DATA))
        b.store(b.i64(len(data)), b.offset(text, abi.BYTE_ARRAY_LENGTH))
        _return_failure(context, b.call_value(_GET_GLOBAL, [text, slot], t.i32))
        function = b.load(t.ptr, slot)
        words = f"No global function is registered as {name!r}"
        b.check(b.ne(function, b.null()), "RuntimeError", words)
        status = b.call_value(_CALL, [function, array, count, context.raw_result], t.i32)
        b.call(_DEC_REF, [function], t.i32)
        return status


def _return_failure(context: CallContext, status: Value) -> None:
    """Whoever returned a status that is not 0 has set the error, and said how it is to be found."""
    b = context.builder
    following, failed = b.new_block(), b.new_block(cold=True)
    b.cond_br(b.eq(status, b.i32(0)), following, failed, likely=True)
    b.block = failed
    b.ret(status)
    b.block = following


def _pack(context: CallContext, items: Sequence[Item]) -> Value:
    """An array of ``TVMFFIAny`` on the stack; of none too, as callees may want an address."""
    b = context.builder
    size = abi.ANY_SIZE
    array = b.alloca(b.types.i64, max(len(items), 1) * size // 8)
    for index, item in enumerate(items):
        at = b.offset(array, index * size)
        head, payload = _any(context, item)
        b.store(head, at)
        b.store(payload, b.offset(at, abi.ANY_PAYLOAD))
    return array


def _any(context: CallContext, item: Item) -> tuple[Value, Value]:
    """The two words of a ``TVMFFIAny``: type index and padding as an i64, and the payload."""
    b, t = context.builder, context.builder.types
    match item:
        case spec.Data(tensor=tensor):
            return _part(context, tensor, "data")
        case spec.Field(param=param, part=part):
            return _part(context, param, part)
        case spec.EnvStream() as stream:
            return _head(context, TypeIndex.OPAQUE_PTR), context.scalar(stream)
        case spec.Var() as var if not _is_parameter(context, var):
            return _head(context, TypeIndex.INT), _wide(context, var)
        case int() | spec.Expr():
            return _head(context, TypeIndex.INT), context.value(item)
        case param:
            came = context.any(param)
            return b.load(t.i64, came), b.field(t.i64, came, abi.ANY_PAYLOAD)


def _part(context: CallContext, param: spec.Param, part: str) -> tuple[Value, Value]:
    """A part of what is absent is None, as its value is 0 then; but for ``present`` itself."""
    b = context.builder
    value: Value = getattr(context, part)(param)
    head = _head(context, _PARTS.get(part, TypeIndex.INT))
    if part != "present" and context.may_be_absent(param):
        head = b.select(context.present(param), head, _head(context, TypeIndex.NONE))
    if value.type == b.types.ptr:
        return head, value
    # Ids and numbers of dimensions are not negative, and a DLDataType is 32 bits.
    return head, b.zext(value, b.types.i64)


def _head(context: CallContext, index: TypeIndex) -> Value:
    """Type index and padding, in one word."""
    return context.builder.i64(struct.unpack("<q", struct.pack("<ii", index, 0))[0])


def _is_parameter(context: CallContext, var: spec.Var) -> bool:
    return any(spec.required(param) == var for _, param in spec.with_paths(context.params))


def _wide(context: CallContext, var: spec.Var) -> Value:
    """A symbol that a dimension, a stride or such binds, and so fits an int64."""
    b, value = context.builder, context.value(var)
    if value.type == b.types.i64:
        return value
    extend = b.zext if var.dtype.startswith("u") else b.sext
    return extend(value, b.types.i64)
