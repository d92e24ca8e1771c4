"""Providers that call nothing, or a function with plain C arguments."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import field
from typing import ClassVar

from ffi_builder import spec
from ffi_builder.ir import Block, Value
from ffi_builder.protocol import MEMREF_TYPES
from ffi_builder.providers.arguments import (
    Argument,
    c_arguments,
    convert_items,
    data_of,
    returned_struct,
)
from ffi_builder.providers.call import Call, call, check_name
from ffi_builder.providers.context import CallContext, ModuleContext
from ffi_builder.providers.items import CStruct, Entry, Item
from ffi_builder.providers.provider import fields_key
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class NopCallProvider:
    """Calls no kernel; the wrapper only checks its arguments.

    Examples:
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> module = ir.Module.parse("", ir.Context())
        >>> n = spec.Var("n", "int64", divisibility=16)
        >>> attach(module, spec.Signature("check_size", [n]), providers.NopCallProvider())
        >>> runtime.compile(module)["check_size"](24)
        Traceback (most recent call last):
        ...
        ValueError: Mismatched n on argument #0 when calling: `...`, expected a multiple of 16
            (divisibility of n) but got 24
    """

    forwards: ClassVar[bool] = False
    trusted: ClassVar[bool] = True
    borrows_tensors: ClassVar[bool] = True

    def cache_key(self, context: ModuleContext) -> Hashable:
        """Return a constant: all wrappers of a signature are equal."""
        return ()

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit nothing."""
        return current_block


@dataclass(frozen=True)
class DirectCallProvider:
    """Calls a function with plain C arguments: ``void saxpy(float a, float* x, float* y, int n)``.

    The callee gets, in order, for each

    - tensor: its data pointer, or its ``DLTensor*`` if it may have any number of dimensions.
    - symbol or Choice: its value in its own type; a bool is a C bool, a handle a pointer.
    - stream, pointer or object: a pointer.
    - DType: an int32, and Device: an int64, as C passes a ``DLDataType`` and a ``DLDevice``.
    - String or Bytes: the pointer, and the length as an int64.
    - TensorList: ``void** pointers``, ``int64_t* shapes``, ``int64_t* strides`` and an int64, the
      number of elements.
    - List: ``const T* data``, where ``T`` is its dtype, or a struct with the address and the size
      of a str or bytes; and an int64, the number of elements.
    - Map of numbers: ``const K* keys``, ``const V* values`` and an int64, the number of entries.
    - Shape: its entries that are not ints.
    - tuple or struct: its elements.
    - expression of ``args=``: an int64.
    - int of ``args=``: an integer of the callee's type if the module has the callee; else an int64.
    - result of ``args=`` that is not a tensor: a pointer to zeros, which the callee overwrites.
    - ``"float32(a)"`` of ``args=``: the value as a number of that dtype.
    - ``"&n"`` of ``args=``: a pointer to a copy of one value; of ``"&n -> written"``, the callee
      overwrites the copy with a result.
    - dict of ``args=``: a pointer to a struct, with a field for each entry.

    Absent values are NULL or 0. The callee's result is ignored unless the signature returns
    scalars that ``args=`` does not have.

    Args:
        callee: the symbol to call; declared if the module has none of that name.
        args: the items to pass, in order; left out, every parameter except constants.
        free: a function that frees the text which a callee returns by its address. Left out, the
            text stays the callee's.
        errno: whether a returned result of -1, or of NULL, is an OSError if the callee has set
            ``errno``.
        returns: the struct that the callee returns, and which results its fields are, as
            :func:`~ffi_builder.wrap` reads it from a prototype.

    Raises:
        BuildError: when attached, if the callee is in the module and takes other arguments.

    Examples:
        ``void saxpy(int32_t n, float a, float *x, float *y)``, declared since the module has none:

        >>> from ffi_builder import providers, spec, testing
        >>> n, a = spec.Var("n", "int32"), spec.Var("a", "float32")
        >>> x, y = (spec.Tensor(name, [n], "float32", device_type="cpu") for name in "xy")
        >>> provider = providers.DirectCallProvider("saxpy", args=[n, a, x, y])
        >>> module = testing.emit(spec.Signature("axpy", [a, x, y]), provider, whole=True)
        >>> next(line.strip() for line in module.splitlines() if "func @saxpy" in line)
        'llvm.func @saxpy(i32, f32, !llvm.ptr, !llvm.ptr)'
    """

    callee: str
    args: Sequence[Entry] | None = field(default=None, kw_only=True)
    free: str | None = field(default=None, kw_only=True)
    errno: bool = field(default=False, kw_only=True)
    returns: CStruct | None = field(default=None, kw_only=True)
    trusted: ClassVar[bool] = True
    borrows_tensors: ClassVar[bool] = True

    cache_key = fields_key

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the call."""
        name = type(self).__name__
        arguments = convert_items(name, self.args, context, self.arguments_of)
        callee = check_name(name, self.callee)
        function = context.symbols.find(callee)
        if function is not None and MEMREF_TYPES in function.attributes:
            # It may take bare pointers. Few callees have a record, and the import takes 10 ms.
            from ffi_builder.providers.memref import check_bare

            check_bare(Call(name, context, callee, arguments))
        struct = None if self.returns is None else returned_struct(name, context, self.returns)
        call(*(name, context, callee, arguments), free=self.free, errno=self.errno, struct=struct)
        return context.builder.block

    def arguments_of(self, context: CallContext, item: Item) -> list[Argument]:
        """Return the arguments for one entry of ``args=``."""
        return c_arguments(context, item, _tensor)


def _tensor(context: CallContext, tensor: spec.Tensor) -> list[Value]:
    return [data_of(context, tensor)]
