"""Calls of other functions of the TVM-FFI C ABI.

What is emitted for ``PackedCallProvider(global_function="my.f", args=[x, n])``::

    %args = llvm.alloca %four x i64                   // two TVMFFIAny: x as it came, n as an Int
    %status = llvm.call @TVMFFIFunctionGetGlobal(%name, %handle)
    …                                                 // an error if that fails, or there is none
    %status = llvm.call @TVMFFIFunctionCall(%function, %args, %two, %result)
    llvm.call @TVMFFIObjectDecRef(%function)
    llvm.cond_br %fine, ^next, ^failed                // ^failed: llvm.return %status
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, Value
from ffi_builder.providers.call import check_name
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.conventions import Fixed
from ffi_builder.providers.globals import any_head, call_global, return_failure
from ffi_builder.providers.items import Entry, Item, entries, with_result_tensors
from ffi_builder.providers.results import empty_any, take_any

_PARTS: Final = {
    "data": TypeIndex.OPAQUE_PTR,
    "present": TypeIndex.BOOL,
    "dtype": TypeIndex.DATA_TYPE,
    "dltensor": TypeIndex.DL_TENSOR_PTR,
}
"""Type indices of the parts of parameters that are not ints."""


@dataclass(frozen=True)
class PackedCallProvider:
    """Calls ``int f(void*, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result)``.

    What it returns is what the wrapper returns, and an error that it raises is passed on as it is.
    Where the signature says what is returned, that is checked: one number, bool or pointer must
    come, of its type; tensors are passed as the last arguments, and what comes then is dropped.

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
    trusted: ClassVar[bool] = True

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
        array, count = self._arguments(context)
        results = context.signature.results
        result = empty_any(context) if results else context.raw_result
        call = self._call_global if self.symbol is None else self._call_symbol
        context.returned = status = call(context, array, count, result)
        if not context.status_wanted:
            return_failure(b, status)
        if results:
            take_any(name, context, result)
        return b.block

    def _arguments(self, context: CallContext) -> tuple[Value, Value]:
        """Return the arguments as they came, or an array of the chosen ones."""
        if self.args is None and not context.signature.result_tensors:
            return context.raw_args, context.raw_num_args
        name, every = type(self).__name__, context.signature.arguments
        items = entries(name, every if self.args is None else self.args, context)
        items = with_result_tensors(context, items)
        return _pack(context, items), context.builder.i32(len(items))

    def _call_symbol(
        self, context: CallContext, array: Value, count: Value, result: Value
    ) -> Value:
        b, who = context.builder, type(self).__name__
        t = b.types
        assert self.symbol is not None
        if check_name(who, self.symbol).startswith(abi.PREFIX):
            raise BuildError(f"{who}: {self.symbol!r} is given without the prefix {abi.PREFIX!r}")
        callee = abi.PREFIX + self.symbol
        if callee == b.function.attributes["sym_name"].value:
            raise BuildError(f"{who}: @{callee} is the wrapper itself, which would never return")
        context.symbols.declare(callee, t.i32, [t.ptr, t.ptr, t.i32, t.ptr])
        return b.call_value(callee, [b.null(), array, count, result], t.i32)

    def _call_global(
        self, context: CallContext, array: Value, count: Value, result: Value
    ) -> Value:
        name = self.global_function
        if not isinstance(name, str) or not name.isprintable() or not name or "{}" in name:
            raise BuildError(
                f"{type(self).__name__}: global_function: expected a name such as 'my.function' "
                f"but got {name!r}"
            )
        return call_global(context.builder, name, array, count, result)


def _pack(context: CallContext, items: Sequence[Item]) -> Value:
    """Return an array of ``TVMFFIAny`` on the stack; callees may want an address of none, too."""
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
    """Return both words of a ``TVMFFIAny``: type index with padding as an i64, and payload."""
    b, t = context.builder, context.builder.types
    match item:
        case spec.Data(tensor=tensor):
            return _part(context, tensor, "data")
        case spec.Field(param=param, part=part):
            return _part(context, param, part)
        case spec.EnvStream() as stream:
            return any_head(b, TypeIndex.OPAQUE_PTR), context.scalar(stream)
        case spec.Var() as var if not _is_parameter(context, var):
            return any_head(b, TypeIndex.INT), _wide(context, var)
        case int() | spec.Expr():
            return any_head(b, TypeIndex.INT), context.value(item)
        case param:
            came = context.any(param)
            return b.load(t.i64, came), b.field(t.i64, came, abi.ANY_PAYLOAD)


def _part(context: CallContext, param: spec.Param, part: str) -> tuple[Value, Value]:
    """Return both words of a part; a part of an absent parameter, except ``present``, is None."""
    b = context.builder
    value: Value = getattr(context, part)(param)
    head = any_head(b, _PARTS.get(part, TypeIndex.INT))
    if part != "present" and context.may_be_absent(param):
        head = b.select(context.present(param), head, any_head(b, TypeIndex.NONE))
    if value.type == b.types.ptr:
        return head, value
    # Ids and numbers of dimensions are not negative, and a DLDataType is 32 bits.
    return head, b.zext(value, b.types.i64)


def _is_parameter(context: CallContext, var: spec.Var) -> bool:
    return any(spec.required(param) == var for _, param in spec.with_paths(context.params))


def _wide(context: CallContext, var: spec.Var) -> Value:
    """Extend a symbol to i64; it fits, since a dimension, a stride or the like binds it."""
    b, value = context.builder, context.value(var)
    if value.type == b.types.i64:
        return value
    extend = b.zext if var.dtype.startswith("u") else b.sext
    return extend(value, b.types.i64)


CONVENTION: Final = Fixed("PackedCallProvider", ("!llvm.ptr", "!llvm.ptr", "i32", "!llvm.ptr"))
