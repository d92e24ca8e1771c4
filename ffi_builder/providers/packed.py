"""Calls of other functions of the TVM-FFI C ABI.

The code for ``PackedCallProvider(global_function="my.f", args=[x, n])``::

    %args = llvm.alloca %four x i64                   // two TVMFFIAny: x unchanged, n as an Int
    %status = llvm.call @TVMFFIFunctionGetGlobal(%name, %handle)
    …                                                 // an error if that fails or finds no function
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
from ffi_builder.providers.arguments import widened
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
"""Type indices of the parts of parameters; other parts are ints."""


@dataclass(frozen=True)
class PackedCallProvider:
    """Calls ``int f(void*, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result)``.

    The wrapper returns what the callee returns, and passes on an error that it raises. If the
    signature declares a scalar result, the callee must return one value of that type. Result
    tensors are passed as the last arguments, and the callee's own result is then dropped.

    If ``args`` is left out, the callee gets the wrapper's own arguments. Otherwise each entry
    becomes a ``TVMFFIAny``:

    - a parameter, or an element of a tuple: a copy of the argument.
    - an absent parameter, and each part of one: None.
    - a symbol that is not a parameter, an expression, an int, and the ``device_type``,
      ``device_id`` and ``ndim`` of a tensor: an Int.
    - ``x.present``: a Bool; ``x.dtype``: a DataType; ``x.dltensor``: a ``DLTensor*``.
    - ``x.data`` and an EnvStream: an opaque pointer.

    Args:
        symbol: the name of the function ``__tvm_ffi_<symbol>``, which is in the module or linked
            with it.
        global_function: instead of ``symbol``, the name of a function registered with tvm-ffi. Each
            call looks it up, and raises a RuntimeError if there is none.
        args: the entries to pass, in order.

    Raises:
        BuildError: when attached, if not exactly one of symbol and global_function is given, or if
            the symbol is a function of another type or the wrapper itself.
    """

    symbol: str | None = None
    global_function: str | None = field(default=None, kw_only=True)
    args: Sequence[Entry] | None = field(default=None, kw_only=True)
    trusted: ClassVar[bool] = True

    @property
    def callee(self) -> str | None:
        """The symbol that is called; None for a global function."""
        return f"{abi.PREFIX}{self.symbol}" if isinstance(self.symbol, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the call."""
        name, b = type(self).__name__, context.builder
        if (self.symbol is None) == (self.global_function is None):
            raise BuildError(
                f"{name}: expected either the name of a symbol or a global_function= but got "
                f"{self.symbol!r} and {self.global_function!r}"
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
        """Return the array of arguments and its length: the wrapper's own, or a new one."""
        signature = context.signature
        if self.args is None and not signature.result_tensors and not signature.workspaces:
            return context.raw_args, context.raw_num_args
        name = type(self).__name__
        every = [param for param in context.params if not isinstance(param, spec.EnvStream)]
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
            raise BuildError(f"{who}: give {self.symbol!r} without the prefix {abi.PREFIX!r}")
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
    """Return an array of ``TVMFFIAny`` on the stack; an empty one has an address too."""
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
        case int() | spec.Expr():
            return any_head(b, TypeIndex.INT), context.value(item)
        case spec.Var() as var if not _is_parameter(context, var):
            # It fits, since a dimension, a stride or the like binds it.
            return any_head(b, TypeIndex.INT), widened(context, var)
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


CONVENTION: Final = Fixed("PackedCallProvider", ("!llvm.ptr", "!llvm.ptr", "i32", "!llvm.ptr"))
