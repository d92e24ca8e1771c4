"""Calling functions that take MLIR memrefs, expanded into scalars or through the C interface."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import field
from typing import ClassVar, Final

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import LLVM_TYPES, Block, Type, Value, describe, function_parts
from ffi_builder.providers.arguments import Argument, c_arguments, convert_items
from ffi_builder.providers.call import call, check_name
from ffi_builder.providers.context import CallContext, ModuleContext
from ffi_builder.providers.conventions import PerItem
from ffi_builder.providers.items import Entry, Item, path_of
from ffi_builder.providers.memref_types import check_types
from ffi_builder.providers.mismatch import C_INTERFACE
from ffi_builder.providers.provider import describe_callee, fields_key
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class MemRefCallProvider:
    """Calls a function lowered from ``func.func`` with memref parameters.

    A tensor of rank r becomes the 3 + 2r arguments of an expanded memref descriptor::

        ptr allocated, ptr aligned, i64 offset, i64 sizes[r], i64 strides[r]

    With ``c_interface`` it becomes a pointer to a struct of these on the stack; the struct of rank
    0 has no arrays. Both pointers are data + byte_offset (NULL for an absent tensor), and the
    offset is 0. All other items are passed as :class:`DirectCallProvider` passes them. The layout
    is the one of MLIR's documentation, "LLVM IR Target", default calling convention.

    Args:
        callee: the symbol to call; declared if the module has none of that name.
        args: the items to pass, in order; left out, every parameter except constants.
        c_interface: call ``_mlir_ciface_<callee>``, which MLIR makes for a ``func.func`` with the
            attribute ``llvm.emit_c_interface``. The callee may be given with that prefix.

    Raises:
        BuildError: when attached, if a tensor may have any number of dimensions, or if the callee
            takes other arguments or returns anything: a returned memref is memory that the wrapper
            would have to free. (Inside :class:`CheckStatus` the callee may return an integer.)
            Also if a tensor does not fit the memref that the callee took before it was lowered, if
            :func:`~ffi_builder.record_memref_types` has recorded that.

    Examples:
        The function that ``func.func @scale(%x: memref<?x?xf32>, %factor: f32)`` is lowered to:

        >>> from ffi_builder import providers, spec, testing
        >>> text = "scale(x: Tensor([n, m], float32), factor: float32)"
        >>> scale = spec.Signature.parse(text, device="cpu")
        >>> module = testing.emit(scale, providers.MemRefCallProvider("scale"), whole=True)
        >>> next(line.strip() for line in module.splitlines() if "func @scale" in line)
        'llvm.func @scale(!llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, f32)'
    """

    callee: str
    args: Sequence[Entry] | None = field(default=None, kw_only=True)
    c_interface: bool = field(default=False, kw_only=True)
    trusted: ClassVar[bool] = True
    borrows_tensors: ClassVar[bool] = True

    def cache_key(self, context: ModuleContext) -> Hashable | None:
        """Return the fields, with the type of the callee's C interface, or of its function."""
        key = fields_key(self, context)
        if key is None:
            return None
        other = self.callee.removeprefix(C_INTERFACE)
        if other == self.callee:
            other = C_INTERFACE + other
        return key, describe_callee(context.symbols.find(other))

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the call."""
        name = type(self).__name__
        callee = check_name(name, self.callee)
        if self.c_interface:
            callee = C_INTERFACE + callee.removeprefix(C_INTERFACE)
        arguments = convert_items(name, self.args, context, self.arguments_of)
        plain_name = callee.removeprefix(C_INTERFACE) if self.c_interface else None
        self._check_callee(context, callee, plain_name, arguments)
        check_types(name, context, callee, arguments, interface_of=plain_name)
        self._check_result(context, callee, call(name, context, callee, arguments))
        return context.builder.block

    def arguments_of(self, context: CallContext, item: Item) -> list[Argument]:
        """Return the arguments for one entry of ``args=``."""
        return c_arguments(context, item, self._tensor)

    def _tensor(self, context: CallContext, tensor: spec.Tensor) -> list[Value]:
        if context.known.get(tensor, tensor).any_rank:
            path = path_of(context, tensor)
            raise BuildError(
                f"{type(self).__name__}: {path!r} may have any number of dimensions, and a "
                f"memref has a rank; pass its DLTensor* with args=['{path}.dltensor']"
            )
        if self.c_interface:
            return [_descriptor_on_the_stack(context, tensor)]
        return descriptor(context, tensor)

    def _check_callee(
        self,
        context: CallContext,
        callee: str,
        interface_of: str | None,
        arguments: Sequence[Argument],
    ) -> None:
        """Check that the C interface exists, and that no memref is returned in either convention.

        This comes before the comparison of arguments, whose message would say less.
        """
        found = context.symbols.find(callee)
        function = None if interface_of is None else context.symbols.find(interface_of)
        if found is None and function is not None:
            raise BuildError(
                f"{type(self).__name__}: the module has @{interface_of} ({describe(function)}), "
                f"but no @{callee}; lower it with the attribute llvm.emit_c_interface, or leave "
                f"c_interface=True out"
            )
        if found is None or found.name != "llvm.func":
            return
        result, parameters = function_parts(found)
        given = tuple(str(argument.value.type) for argument in arguments)
        if interface_of is not None and parameters == ("!llvm.ptr", *given):
            raise BuildError(
                f"{type(self).__name__}: the callee @{callee} takes one pointer more in front, "
                f"({', '.join(parameters)}): the C interface writes a memref (or several values) "
                f"that the function returns there; {_OUT_PARAMETERS}"
            )
        if result.startswith("!llvm.struct<(ptr, ptr, i64"):
            raise BuildError(
                f"{type(self).__name__}: the callee @{callee} returns a memref ({result}); "
                f"{_OUT_PARAMETERS}"
            )

    def _check_result(self, context: CallContext, callee: str, result: Value | None) -> None:
        if result is None or (context.status_wanted and _is_integer(result.type)):
            return
        kind = str(result.type)
        words = _OUT_PARAMETERS
        dtype = next((dtype for dtype, text in LLVM_TYPES.items() if text == kind), None)
        if dtype is not None:
            words = f"if that is the result, say so: returns=spec.Var('y', {dtype!r})"
        if _is_integer(result.type):
            words += "; or if it is a status, wrap the provider in CheckStatus"
        raise BuildError(f"{type(self).__name__}: the callee @{callee} returns {kind}; {words}")


_OUT_PARAMETERS: Final = (
    "lower it so that it writes to out-parameters (buffer-results-to-out-params with "
    "modify-public-functions=1)"
)


def _is_integer(type_: Type) -> bool:
    return str(type_).removeprefix("i").isdigit()


def descriptor(context: CallContext, tensor: spec.Tensor) -> list[Value]:
    """Return the allocated and aligned pointers, the offset, sizes and strides of a memref."""
    data = context.data(tensor)
    return [
        data,
        data,
        context.builder.i64(0),
        *context.shape(tensor, wide=True),
        *context.strides(tensor, wide=True),
    ]


def _descriptor_on_the_stack(context: CallContext, tensor: spec.Tensor) -> Value:
    """Write ``{ptr, ptr, i64, [r x i64], [r x i64]}``, all words of 8 bytes."""
    b = context.builder
    t = b.types
    values = descriptor(context, tensor)
    arrays = [t.array(tensor.ndim, t.i64)] * 2 if tensor.ndim else []
    space = b.alloca(t.struct([t.ptr, t.ptr, t.i64, *arrays]))
    for index, value in enumerate(values):
        b.store(value, b.offset(space, 8 * index))
    return space


CONVENTIONS: Final = (PerItem("MemRefCallProvider", MemRefCallProvider("").arguments_of),)
