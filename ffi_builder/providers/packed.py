"""Calls of other functions of the TVM-FFI C ABI.

The code for ``PackedCallProvider(global_function="my.f", args=[x, n])``::

    %args = llvm.alloca %four x i64                   // two TVMFFIAny: x unchanged, n as an Int
    %status = llvm.call @TVMFFIFunctionGetGlobal(%name, %handle)
    …                                                 // an error if that fails or finds no function
    %status = llvm.call @TVMFFIFunctionCall(%function, %args, %two, %result)
    llvm.call @TVMFFIObjectDecRef(%function)
    llvm.cond_br %fine, ^next, ^failed                // ^failed: llvm.return %status

:mod:`ffi_builder.packed` emits the call, and this module emits the arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import ClassVar, Final

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, Value
from ffi_builder.packed.anys import any_head, empty_any, return_failure, store_any
from ffi_builder.packed.arguments import array_of, cell_of
from ffi_builder.packed.callees import (
    CALLEES,
    Callee,
    FunctionObject,
    GlobalFunction,
    Symbol,
    call,
    check_global_name,
    check_symbol,
)
from ffi_builder.providers.arguments import entries, shown, widened, with_result_tensors
from ffi_builder.providers.by_address import POINTERS
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.items import (
    Address,
    Constant,
    Converted,
    CStruct,
    Entry,
    Item,
    ResultPointer,
)
from ffi_builder.providers.results import take_any
from ffi_builder.records import dataclass
from ffi_builder.spec.expr import Expr
from ffi_builder.spec.tensors.tensor import Data

_PARTS: Final = {
    **dict.fromkeys(POINTERS, TypeIndex.OPAQUE_PTR),
    "present": TypeIndex.BOOL,
    "dtype": TypeIndex.DATA_TYPE,
    "dltensor": TypeIndex.DL_TENSOR_PTR,
}
"""Type indices of the parts of parameters; other parts are ints."""


@dataclass(frozen=True)
class PackedCallProvider:
    """Calls ``int f(void*, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result)``.

    The wrapper returns what the callee returns, and passes on an error that it raises. If the
    signature declares a result that is no tensor, the callee must return one of that kind, and for
    several an Array of them. Result tensors are passed as the last arguments, and what the callee
    itself returns is dropped if there is nothing else to return.

    If ``args`` is left out, the callee gets the wrapper's own arguments. Otherwise each entry
    becomes a ``TVMFFIAny``:

    - a parameter, or an element of a tuple: a copy of the argument.
    - VarArgs: all of them; ``args`` then has the last arguments of the wrapper, unchanged.
    - an absent parameter, and each part of it: None.
    - a symbol that is not a parameter, an expression, an int, and the ``device_type``,
      ``device_id`` and ``ndim`` of a tensor: an Int.
    - ``x.present``: a Bool; ``x.dtype``: a DataType; ``x.dltensor``: a ``DLTensor*``.
    - ``x.data`` and an EnvStream: an opaque pointer.

    Args:
        symbol: the name of the function ``__tvm_ffi_<symbol>``, which is in the module or linked
            with it; or a parameter of the signature, a ``spec.Function``, which is called, and is
            left out of the default ``args``; or another callee of :mod:`ffi_builder.packed`.
        global_function: instead of ``symbol``, the name of a function registered with tvm-ffi. Each
            call looks it up, and raises a RuntimeError if there is none. A
            :class:`~ffi_builder.packed.GlobalFunction` as ``symbol`` is looked up once.
        args: the entries to pass, in order.

    Raises:
        BuildError: when attached, if both or neither of ``symbol`` and ``global_function`` are
            given; if ``symbol`` is a function of another type, or the wrapper itself; or if it is a
            Function parameter that may be None.

    Examples:
        >>> import numpy as np
        >>> import tvm_ffi
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, packed, providers, runtime, spec
        >>> @tvm_ffi.register_global_func("example.describe", override=True)
        ... def describe(size, dtype):
        ...     return f"{size} of {dtype}"
        >>> n = spec.Var("n", "int64")
        >>> x = spec.Tensor("x", [n, 4], ("float16", "float32"), device_type="cpu")
        >>> callee = packed.GlobalFunction("example.describe")
        >>> provider = providers.PackedCallProvider(callee, args=[n * 4, "x.dtype"])
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("describe", [x], spec.String("text")), provider)
        >>> runtime.compile(module)["describe"](np.zeros((2, 4), "float16"))
        '8 of float16'
    """

    symbol: str | spec.Function | Callee | None = None
    global_function: str | None = field(default=None, kw_only=True)
    args: Sequence[Entry] | None = field(default=None, kw_only=True)
    trusted: ClassVar[bool] = True

    @property
    def callee(self) -> str | None:
        """The symbol that is called; None for any other callee."""
        match self.symbol:
            case str(name) | Symbol(name):
                return f"{abi.PREFIX}{name}"
            case _:
                return None

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the call."""
        b = context.builder
        callee = self._callee(context)
        array, count = self._arguments(context)
        results = context.signature.results
        result = empty_any(b) if results else context.raw_result
        context.returned = status = call(b, callee, array, count, result)
        if not context.status_wanted:
            return_failure(b, status)
        if results:
            take_any(type(self).__name__, context, result)
        return b.block

    def _arguments(self, context: CallContext) -> tuple[Value, Value]:
        """Return the array of arguments and its length: the wrapper's own, or a new one."""
        signature = context.signature
        own = self.args is None and not isinstance(self.symbol, spec.Function)
        if own and not signature.result_tensors and not signature.workspaces:
            return context.raw_args, context.raw_num_args
        name = type(self).__name__
        every = [
            param
            for param in context.params
            if not isinstance(param, spec.EnvStream) and param != self.symbol
        ]
        items = entries(name, every if self.args is None else self.args, context)
        items = with_result_tensors(context, items)
        if converted := next((item for item in items if isinstance(item, Converted)), None):
            raise BuildError(
                f"{name}: args= has {shown(context, converted)!r}, but functions of TVM-FFI take "
                f"numbers of 64 bits: pass {shown(context, converted.item)!r}"
            )
        if any(isinstance(item, spec.VarArgs) for item in items):
            return _last_arguments(name, context, items)
        return _pack(context, items), context.builder.i32(len(items))

    def _callee(self, context: CallContext) -> Callee:
        who, given = type(self).__name__, self.symbol
        if (given is None) == (self.global_function is None):
            raise BuildError(
                f"{who}: expected either the name of a symbol or a global_function= but got "
                f"{given!r} and {self.global_function!r}"
            )
        if self.global_function is not None:
            check_global_name(f"{who}: global_function", self.global_function)
            return GlobalFunction(self.global_function, keep=False)
        if isinstance(given, (spec.Function, spec.Optional)):
            return FunctionObject(self._function(context, given))
        if not isinstance(given, CALLEES):
            assert given is not None
            check_symbol(who, given)
            given = Symbol(given)
        if self.callee == context.builder.function.attributes["sym_name"].value:
            raise BuildError(
                f"{who}: @{self.callee} is the wrapper itself, which would never return"
            )
        return given

    def _function(self, context: CallContext, param: spec.Param) -> Value:
        """Return the function that a parameter holds."""
        who, every = type(self).__name__, [param for _, param in spec.with_paths(context.params)]
        if all(spec.required(own) != spec.required(param) for own in every):
            names = ", ".join(own.name for own in context.params)
            raise BuildError(
                f"{who}: {param!r} is not a parameter of {context.fn_name!r}; it has "
                f"{names or 'none'}"
            )
        if not isinstance(param, spec.Function) or context.may_be_absent(param):
            raise BuildError(
                f"{who}: expected a Function that is always there, but {param!r} may be None; "
                f"call it in a provider of your own, where context.present({param.name}) holds"
            )
        return context.scalar(param)


def _last_arguments(who: str, context: CallContext, items: Sequence[Item]) -> tuple[Value, Value]:
    """Return the wrapper's own arguments from one of them on, and how many these are."""
    b, own = context.builder, context.signature.arguments
    before = len(own) - len(items)
    if list(items) != list(own[max(before, 0) :]):
        raise BuildError(
            f"{who}: VarArgs are passed on where they stand, behind the arguments before them, so "
            f"args= has to be the last ones of {', '.join(each.name for each in own)}, and no "
            f"result tensor can follow; for others, let a provider of your own make the arguments"
        )
    array = b.offset(context.raw_args, before * abi.ANY_SIZE)
    return array, b.sub(context.raw_num_args, b.i32(before))


def _pack(context: CallContext, items: Sequence[Item]) -> Value:
    """Return an array of ``TVMFFIAny`` on the stack; even an empty array has an address."""
    b = context.builder
    array = array_of(b, len(items))
    for index, item in enumerate(items):
        at = cell_of(b, array, index)
        store_any(b, *_any(context, item), at)
    return array


def _any(context: CallContext, item: Item) -> tuple[Value, Value]:
    """Return both words of a ``TVMFFIAny``: type index with padding as an i64, and payload."""
    b, t = context.builder, context.builder.types
    match item:
        case Data(tensor=tensor) as data:
            return _part(context, tensor, "data", context.matched_var_binding[data])
        case spec.Field(param=param, part=part) if (
            isinstance(variant := spec.required(param), spec.Variant) and part in variant.parts
        ):
            return _number(context, param, [*variant.parts].index(part))
        case spec.Field(param=param, part=part):
            return _part(context, param, part, context.part(item))
        case spec.EnvStream() as stream:
            return any_head(b, TypeIndex.OPAQUE_PTR), context.scalar(stream)
        case int() | Expr():
            return any_head(b, TypeIndex.INT), context.value(item)
        case spec.Var() as var if not _is_parameter(context, var):
            # The value fits: a dimension, a stride or another int64 binds the symbol.
            return any_head(b, TypeIndex.INT), widened(context, var)
        case param:
            assert not isinstance(
                param, (Address, ResultPointer, Constant, Converted, CStruct)
            )  # they are refused
            any_ = context.any(param)
            return b.load(t.i64, any_), b.field(t.i64, any_, abi.ANY_PAYLOAD)


def _part(context: CallContext, param: spec.Param, part: str, value: Value) -> tuple[Value, Value]:
    """Return both words of a part; all parts of an absent parameter but ``present`` are None."""
    b = context.builder
    head = any_head(b, _PARTS.get(part, TypeIndex.INT))
    if part != "present" and context.may_be_absent(param):
        head = b.select(context.present(param), head, any_head(b, TypeIndex.NONE))
    if value.type in (b.types.ptr, b.types.i64):
        return head, value
    # Ids and numbers of dimensions are not negative, and a DLDataType is 32 bits.
    return head, b.zext(value, b.types.i64)


def _number(context: CallContext, variant: spec.Param, index: int) -> tuple[Value, Value]:
    """Return both words of a number of a Variant, as it came, or of None if it did not come."""
    b, t, any_ = context.builder, context.builder.types, context.any(variant)
    there = b.eq(context.part(spec.Field(variant, "which")), b.i32(index))
    words = b.load(t.i64, any_), b.field(t.i64, any_, abi.ANY_PAYLOAD)
    none = any_head(b, TypeIndex.NONE)
    return b.select(there, words[0], none), b.select(there, words[1], b.i64(0))


def _is_parameter(context: CallContext, var: spec.Var) -> bool:
    return any(spec.required(param) == var for _, param in spec.with_paths(context.params))
