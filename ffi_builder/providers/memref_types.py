"""Compares tensors that are passed as memrefs with the types that the kernel was written with.

In an ``llvm.func`` a memref is two pointers and some i64s. The type that it had before lowering is
in an attribute of the function (:mod:`ffi_builder.protocol`), if it was recorded::

    llvm.func @mm(!llvm.ptr, !llvm.ptr, i64, i64, i64, …)
      attributes {ffi_builder.memref_types = "(memref<?xf32>, …) -> ()"}

A pass may have changed the function since, so a record counts only if its types lower to the types
that the function has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import (
    FunctionTypes,
    MemRef,
    dtypes_of,
    function_parts,
    lowered,
    lowered_words,
    recorded_types,
)
from ffi_builder.providers.arguments import Argument
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.fixed_symbols import values_in, with_values
from ffi_builder.providers.items import Item, path_of, plain
from ffi_builder.providers.memref_layout import given_strides, only_value, row_major, show_product
from ffi_builder.providers.mismatch import Group, groups_of, order_hint, orders

Memrefs: TypeAlias = "Mapping[int, tuple[int, MemRef]]"
"""The memrefs that a callee takes, by the position of their first LLVM argument.

Each is behind its number among the kernel's own arguments.
"""


def check_types(
    provider: str,
    context: CallContext,
    callee: str,
    arguments: Sequence[Argument],
    *,
    interface_of: str | None,
) -> None:
    """Compare each tensor with the memref that the callee takes there, if that is known.

    Args:
        provider: the provider's name, for errors.
        context: the context of the call.
        callee: the function that is called.
        arguments: what is passed.
        interface_of: if the callee is a C interface, the function that it belongs to. Each
            descriptor is then one argument.

    Raises:
        BuildError: if a tensor has another element type, rank, size or layout. The message says
            what to change.
    """
    function = context.symbols.find(callee)
    if function is None or function.name != "llvm.func":
        return
    record = recorded_types(context.builder.types, function)
    lowered_to = [(function, interface_of is not None)]
    inner = None if interface_of is None else context.symbols.find(interface_of)
    if inner is not None and inner.name == "llvm.func":
        # The pointers of a C interface do not say how many dimensions they have.
        lowered_to.append((inner, False))
    if record is None or any(
        lowered(record, c_interface=c_interface) != function_parts(made)
        for made, c_interface in lowered_to
    ):
        return
    memrefs = _positions(record, c_interface=interface_of is not None)
    for position, given in _tensors(arguments):
        if position not in memrefs:
            continue
        tensor, (number, memref) = _known(context, given), memrefs[position]
        mistake = mistake_of(tensor, memref)
        if mistake is not None:
            what = (
                f"{provider}: the callee @{callee} takes {path_of(context, given)!r} as "
                f"{memref.text} (argument #{number}), but the spec is {spec.outline(tensor)}"
            )
            hint = _other_order(context, arguments, function_parts(function)[1], memrefs)
            raise BuildError(f"{what}. {hint}" if hint else f"{what}: {mistake}")
        context.any_dtype(given)


def _positions(record: FunctionTypes, *, c_interface: bool) -> Memrefs:
    """Return the memrefs of a record."""
    found: dict[int, tuple[int, MemRef]] = {}
    position = 0
    for number, type_ in enumerate(record.inputs):
        if isinstance(type_, MemRef):
            found[position] = number, type_
        position += len(lowered_words(type_, c_interface=c_interface) or ())
    return found


def _tensors(arguments: Sequence[Argument]) -> Iterator[tuple[int, spec.Tensor]]:
    """Yield the tensors that are passed whole, each behind the position of its first argument."""
    last: tuple[Item, ...] = ()
    for position, argument in enumerate(arguments):
        if argument.of is not last:  # one tuple for all arguments of an item
            last = argument.of
            item = plain(last[0])
            if isinstance(item, spec.Tensor):
                yield position, item


def _known(context: CallContext, tensor: spec.Tensor) -> spec.Tensor:
    """Return a tensor as it may be where the callee is called."""
    return with_values(context.known.get(tensor, tensor), values_in(context.signature.where))


def _other_order(
    context: CallContext, arguments: Sequence[Argument], taken: tuple[str, ...], memrefs: Memrefs
) -> str:
    """Suggest an order of what is passed in which each tensor fits its memref; empty if none."""

    def fits(order: Sequence[Group]) -> bool:
        position = 0
        for group in order:
            tensor, (_, memref) = plain(group.item), memrefs.get(position, (0, None))
            position += len(group.types)
            is_tensor = isinstance(tensor, spec.Tensor)
            if is_tensor != (memref is not None):
                return False
            if is_tensor and memref and mistake_of(_known(context, tensor), memref) is not None:
                return False
        return True

    return order_hint([o for o in orders(groups_of(context, arguments), taken) if fits(o)])


def mistake_of(tensor: spec.Tensor, memref: MemRef) -> str | None:
    """Say how a tensor does not fit a memref, and what to change; None if it fits."""
    return (
        _wrong_dtype(tensor, memref)
        or _wrong_rank(tensor, memref)
        or _wrong_size(tensor, memref)
        or _wrong_stride(tensor, memref)
        or _wrong_offset(memref)
    )


def _wrong_dtype(tensor: spec.Tensor, memref: MemRef) -> str | None:
    dtypes = dtypes_of(memref.element)
    if dtypes is None:
        return None
    allowed = {spec.parse_dtype(dtype) for dtype in dtypes}
    wrong = [dtype for dtype in tensor.dtypes if spec.parse_dtype(dtype) not in allowed]
    # A stored element then has the size of a value, and the kernel may be written for either.
    same_size = tensor.storage_dtype is not None and tensor.packing == 1
    if same_size and spec.parse_dtype(str(tensor.storage_dtype)) in allowed:
        return None
    if not wrong:
        return None
    if not dtypes:
        return f"DLPack has no dtype for {memref.element}; change the kernel's element type"
    elements = f"the kernel's elements are {memref.element}"
    if len(tensor.dtypes) > 1:
        return (
            f"{elements}, and a kernel has one element type; write dtype={dtypes[0]!r}, or choose "
            f"a kernel for each of {', '.join(tensor.dtypes)} with VariantsCallProvider"
        )
    as_bits = ""
    if spec.parse_dtype(dtypes[0]).total_bits == spec.parse_dtype(wrong[0]).total_bits:
        as_bits = f" (with storage_dtype={wrong[0]!r}, if the kernel works on the bits of that)"
    return (
        f"{elements}, not {wrong[0]}; write dtype={dtypes[0]!r}{as_bits}, or change the kernel's "
        f"element type"
    )


def _wrong_rank(tensor: spec.Tensor, memref: MemRef) -> str | None:
    if tensor.ndim == memref.rank:
        return None
    return (
        f"the kernel's rank is {memref.rank}, but the spec's shape has length {tensor.ndim}; write "
        f"a shape of length {memref.rank}, or change the kernel's rank"
    )


def _wrong_size(tensor: spec.Tensor, memref: MemRef) -> str | None:
    for axis, (size, dim) in enumerate(zip(memref.sizes, tensor.dims, strict=True)):
        if size is not None and only_value(dim) != size:
            more, choose = "", ""
            if only_value(dim) is None:
                more = ", which takes other sizes too"
            if more and isinstance(dim, spec.Var):
                choose = f", or call it only if {dim} == {size} with VariantsCallProvider"
            return (
                f"the kernel's size {axis} is {size}, but shape[{axis}] is {dim}{more}; write "
                f"{size}, or '?' in the kernel's memref{choose}"
            )
    return None


def _wrong_stride(tensor: spec.Tensor, memref: MemRef) -> str | None:
    if 0 in tensor.dims or (memref.strides is None and tensor.order == "C"):
        return None
    for axis, (dim, given) in enumerate(zip(tensor.dims, given_strides(tensor), strict=True)):
        if only_value(dim) == 1:
            continue
        if memref.strides is None:
            if given != row_major(tensor, axis):
                return _not_row_major(tensor, axis)
        elif (stride := memref.strides[axis]) is not None and given != (stride, ()):
            shown = "not checked" if given is None else show_product(given)
            return (
                f"the kernel's stride {axis} is {stride}, but the spec's is {shown}; write "
                f"{stride} for strides[{axis}], or '?' in the kernel's layout"
            )
    return None


def _not_row_major(tensor: spec.Tensor, axis: int) -> str:
    layout = ", ".join("?" * tensor.ndim)
    return (
        f"a memref without a layout is row-major, but strides[{axis}] of the spec may differ; "
        f"leave strides= out, or give the kernel's memref a layout, such as strided<[{layout}]>, "
        f"or call it only if {tensor.name}.contiguous with VariantsCallProvider"
    )


def _wrong_offset(memref: MemRef) -> str | None:
    if memref.offset in (0, None):
        return None
    return (
        f"the kernel adds an offset of {memref.offset}, but tensors are passed with offset 0, as "
        f"their pointers include it; write 'offset: ?' in the kernel's layout, or no offset"
    )
