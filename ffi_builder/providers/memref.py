"""Calls functions that take MLIR memrefs, expanded into scalars or through the C interface.

Tensors are compared with the original types of the kernel. In an ``llvm.func``, a memref has become
two pointers and some i64s. Its type before lowering is in an attribute of the function
(:mod:`ffi_builder.protocol`), if it was recorded::

    llvm.func @mm(!llvm.ptr, !llvm.ptr, i64, i64, i64, …)
      attributes {ffi_builder.memref_types = "(memref<?xf32>, …) -> ()"}

A pass may have changed the function since, so a record counts only if its types lower to the types
that the function has.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import field
from typing import ClassVar, Final, TypeAlias, TypeGuard

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, Value
from ffi_builder.ir.kernel import (
    FunctionTypes,
    MemRef,
    dtypes_of,
    lowered,
    lowered_words,
    recorded_types,
)
from ffi_builder.ir.protocols import Type
from ffi_builder.ir.symbols import describe, function_parts
from ffi_builder.ir.types import LLVM_TYPES
from ffi_builder.providers.arguments import Argument, c_arguments, convert_items, plain
from ffi_builder.providers.call import Call, call, check_name
from ffi_builder.providers.context import CallContext, ModuleContext, path_of
from ffi_builder.providers.fixed_symbols import values_in, with_values
from ffi_builder.providers.items import Entry, Item
from ffi_builder.providers.provider import describe_callee, fields_key
from ffi_builder.records import dataclass
from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.spec.expr import Expr

C_INTERFACE: Final = "_mlir_ciface_"
"""The prefix of C interfaces in MLIR's conversion to the LLVM dialect."""
Product: TypeAlias = "tuple[int, tuple[str, ...]]"
"""A product: a number, and the sorted symbols (or other expressions) to multiply it with."""


def only_value(dim: spec.Dim | None) -> int | None:
    """Return the only value that an entry of a shape or of strides can have, or None."""
    if isinstance(dim, int):
        return dim
    if isinstance(dim, spec.Var) and dim.min is not None and dim.min == dim.max:
        return dim.min
    if isinstance(dim, Expr) and dim.op == "*":
        number, symbols = _product(dim)
        return None if symbols else number
    return None


def row_major(tensor: spec.Tensor, axis: int) -> Product:
    """Return the row-major stride of a dimension: the product of the later dimensions."""
    return _product_of(tensor, range(axis + 1, tensor.ndim))


def given_strides(tensor: spec.Tensor) -> list[Product | None]:
    """Return the strides that the spec requires; None for an unchecked stride."""
    axes = range(tensor.ndim)
    entries = tensor.stride_entries
    if entries is not None:
        return [None if entry is None else _product(entry) for entry in entries]
    if tensor.order == "F":
        return [_product_of(tensor, range(axis)) for axis in axes]
    return [row_major(tensor, axis) for axis in axes]


def show_product(product: Product) -> str:
    """Format a product: ``4``, ``n`` or ``4 * n * m``."""
    number, symbols = product
    factors = [str(number)] if number != 1 or not symbols else []
    return " * ".join([*factors, *symbols])


def _product_of(tensor: spec.Tensor, axes: Sequence[int]) -> Product:
    dims = tensor.dims
    # A dimension that is not checked is like a symbol that occurs nowhere else.
    factors = [
        (1, (f"shape[{axis}]",)) if dim is None else _product(dim)
        for axis, dim in enumerate(dims)
        if axis in axes
    ]
    return _multiplied(factors)


def _product(dim: spec.Dim) -> Product:
    if isinstance(dim, Expr) and dim.op == "*":
        return _multiplied([_product(dim.lhs), _product(dim.rhs)])
    value = only_value(dim)
    return (1, (str(dim),)) if value is None else (value, ())


def _multiplied(factors: Sequence[Product]) -> Product:
    number, symbols = 1, list[str]()
    for factor, others in factors:
        number *= factor
        symbols += others
    return number, tuple(sorted(symbols))


Memrefs: TypeAlias = "Mapping[int, tuple[int, MemRef]]"
"""The memrefs that a callee takes, by the position of their first LLVM argument.

Each is a pair: the number of the argument before lowering, and its type.
"""


def check_types(made: Call, interface_of: str | None) -> None:
    """Compare each tensor with the memref that the callee takes for it, if that is known.

    Args:
        made: the call.
        interface_of: if the callee is a C interface, the function of this interface. Each
            descriptor is then one argument.

    Raises:
        BuildError: if a tensor has another element type, rank, size or layout. The message says
            what to change.
    """
    context = made.context
    function = context.symbols.find(made.callee)
    if function is None or function.name != "llvm.func":
        return
    record = recorded_types(context.builder.types, function)
    lowered_to = [(function, interface_of is not None)]
    inner = None if interface_of is None else context.symbols.find(interface_of)
    if inner is not None and inner.name == "llvm.func":
        # The pointers of a C interface do not say how many dimensions they have.
        lowered_to.append((inner, False))
    if record is None or any(
        lowered(record, c_interface=c_interface) != function_parts(each)
        for each, c_interface in lowered_to
    ):
        return
    _compare(made, _positions(record, c_interface=interface_of is not None))


def check_bare(made: Call) -> None:
    """Compare each tensor with a memref that was lowered to a pointer to its elements.

    Raises:
        BuildError: as for :func:`check_types`.
    """
    function = made.context.symbols.find(made.callee)
    assert function is not None, "it has a record"
    record = recorded_types(made.context.builder.types, function)
    if record is None or made.callee.startswith(C_INTERFACE):  # which takes pointers to descriptors
        return
    if lowered(record, c_interface=True) == function_parts(function):
        _compare(made, _positions(record, c_interface=True))


def _compare(made: Call, memrefs: Memrefs) -> None:
    context, tensors = made.context, _tensors(made.arguments)
    for position, given in tensors:
        if position not in memrefs:
            continue
        tensor, (number, memref) = _known(context, given), memrefs[position]
        mistake = mistake_of(tensor, memref)
        if mistake is not None:
            swapped = [
                other
                for at, other in tensors
                if at in memrefs
                and mistake_of(tensor, memrefs[at][1]) is None
                and mistake_of(_known(context, other), memref) is None
            ]
            if swapped:
                mistake += f"; or order them with args=: {path_of(context, swapped[0])!r} fits here"
            shown = given if isinstance(given, spec.List) else tensor
            raise BuildError(
                f"{made.provider}: the callee @{made.callee} takes {path_of(context, given)!r} as "
                f"{memref.text} (argument #{number}), but the spec is {spec.outline(shown)}: "
                f"{mistake}"
            )
        context.any_dtype(given)


def _positions(record: FunctionTypes, *, c_interface: bool) -> Memrefs:
    """Return the memrefs of a record."""
    memrefs: dict[int, tuple[int, MemRef]] = {}
    position = 0
    for number, type_ in enumerate(record.inputs):
        if isinstance(type_, MemRef):
            memrefs[position] = number, type_
        position += len(lowered_words(type_, c_interface=c_interface) or ())
    return memrefs


def _tensors(arguments: Sequence[Argument]) -> list[tuple[int, spec.Tensor | spec.List]]:
    """Return what is passed as a memref, each after the position of its first argument."""
    tensors: list[tuple[int, spec.Tensor | spec.List]] = []
    last: tuple[Item, ...] = ()
    for position, argument in enumerate(arguments):
        if argument.of is not last:  # one tuple for all arguments of an item
            last = argument.of
            item = plain(last[0])
            if isinstance(item, spec.Tensor) or _is_numbers(item):
                tensors.append((position, item))
    return tensors


def _is_numbers(item: object) -> TypeGuard[spec.List]:
    """Return whether an item is a list of numbers, which are passed as a memref of rank 1."""
    return isinstance(item, spec.List) and isinstance(item.element, spec.Var)


def _known(context: CallContext, tensor: spec.Tensor | spec.List) -> spec.Tensor:
    """Return a tensor, restricted to its possible forms at the call; a list is one of rank 1."""
    if isinstance(tensor, spec.List):
        assert isinstance(tensor.element, spec.Var), "only numbers are a memref"
        return spec.Tensor(tensor.name, [tensor.length], tensor.element.dtype, device_type="cpu")
    return with_values(context.known.get(tensor, tensor), values_in(context.signature.where))


def mistake_of(tensor: spec.Tensor, memref: MemRef) -> str | None:
    """Return how a tensor does not fit a memref, and what to change; None if it fits."""
    return (
        _wrong_dtype(tensor, memref)
        or _wrong_rank(tensor, memref)
        or _wrong_size(tensor, memref)
        or _wrong_stride(tensor, memref)
        or _wrong_offset(memref)
    )


def _wrong_dtype(tensor: spec.Tensor, memref: MemRef) -> str | None:
    known = dtypes_of(memref.element)
    if known is None:
        return None
    dtypes = [dtype for dtype in known if not parse_dtype(dtype).is_packed]
    if packed := _packed(tensor, memref, set(known) - set(dtypes), dtypes):
        return packed
    allowed = {parse_dtype(dtype) for dtype in dtypes}
    wrong = [dtype for dtype in tensor.dtypes if parse_dtype(dtype) not in allowed]
    # A stored element then has the size of a value, and the kernel may be written for either.
    same_size = tensor.storage_dtype is not None and tensor.packing == 1
    if same_size and parse_dtype(str(tensor.storage_dtype)) in allowed:
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
    if parse_dtype(dtypes[0]).total_bits == parse_dtype(wrong[0]).total_bits:
        as_bits = f" (with storage_dtype={wrong[0]!r}, if the kernel works on the bits of that)"
    return (
        f"{elements}, not {wrong[0]}; write dtype={dtypes[0]!r}{as_bits}, or change the kernel's "
        f"element type"
    )


def _packed(
    tensor: spec.Tensor, memref: MemRef, packed: Set[str], others: Sequence[str]
) -> str | None:
    """Return how a tensor's elements are packed, and those of a memref are not; None if unknown.

    Args:
        tensor: the tensor.
        memref: the memref. A lowered one has whole bytes for each element, however few its bits.
        packed: the dtypes of its element type whose elements a tensor packs.
        others: its other dtypes, such as bool for i1.
    """
    types = {parse_dtype(dtype) for dtype in packed}
    given = [*tensor.dtypes, *tensor.element_dtypes]
    packed_dtype = next((dtype for dtype in given if parse_dtype(dtype) in types), None)
    if not packed or (others and packed_dtype is None):
        return None
    words = f"a lowered memref has whole bytes for each {memref.element}, "
    if tensor.packing > 1:
        words += f"but each {tensor.storage_dtype} of the tensor packs {tensor.packing}"
    elif packed_dtype is not None:
        bits = parse_dtype(packed_dtype).total_bits
        words += f"but the tensor packs {packed_dtype}: n of them take n * {bits} / 8 bytes"
    else:
        words += f"as no dtype has, and not {given[0]}"
    if others:
        return f"{words}; write dtype={others[0]!r}, which has a byte for each"
    return (
        f"{words}; let the kernel unpack a memref<?xi8>, and write dtype='uint8' and the number of "
        f"bytes"
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


@dataclass(frozen=True)
class MemRefCallProvider:
    """Calls a function lowered from ``func.func`` with memref parameters.

    A tensor of rank r becomes the 3 + 2r arguments of an expanded memref descriptor::

        ptr allocated, ptr aligned, i64 offset, i64 sizes[r], i64 strides[r]

    With ``c_interface`` it becomes a pointer to a struct of these on the stack; for rank 0 the
    struct has no arrays. Both pointers are data + byte_offset (NULL for an absent tensor), and the
    offset is 0. All other items are passed as :class:`DirectCallProvider` passes them. The layout
    is documented in MLIR's "LLVM IR Target", default calling convention.

    Args:
        callee: the symbol to call; declared if the module has none of that name.
        args: the items to pass, in order; left out, every parameter except constants.
        c_interface: call ``_mlir_ciface_<callee>``, which MLIR makes for a ``func.func`` with the
            attribute ``llvm.emit_c_interface``. The callee may be given with that prefix.

    Raises:
        BuildError: when attached, if a tensor may have any number of dimensions, or if the callee
            takes other arguments or returns anything: a returned memref is memory that the wrapper
            would have to free. (Inside :class:`CheckStatus` the callee may return an integer.)
            Also if :func:`~ffi_builder.record_memref_types` has recorded the memrefs that the
            callee took before lowering, and a tensor does not fit its memref.

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
        made = Call(name, context, callee, arguments)
        _check_callee(made, plain_name)
        check_types(made, plain_name)
        self._check_result(context, callee, call(name, context, callee, arguments))
        return context.builder.block

    def arguments_of(self, context: CallContext, item: Item) -> list[Argument]:
        """Return the arguments for one entry of ``args=``."""
        numbers = plain(item)
        if not _is_numbers(numbers):
            return c_arguments(context, item, self._tensor)
        b, data = context.builder, context.list_part(numbers, "data")
        values = [data, data, b.i64(0), context.list_part(numbers, "length"), b.i64(1)]
        values = [_on_the_stack(context, values, 1)] if self.c_interface else values
        return [Argument(value) for value in values]

    def _tensor(self, context: CallContext, tensor: spec.Tensor) -> list[Value]:
        if context.known.get(tensor, tensor).any_rank:
            path = path_of(context, tensor)
            raise BuildError(
                f"{type(self).__name__}: {path!r} may have any number of dimensions, and a "
                f"memref has a rank; pass its DLTensor* with args=['{path}.dltensor']"
            )
        if self.c_interface:
            return [_on_the_stack(context, descriptor(context, tensor), tensor.ndim)]
        return descriptor(context, tensor)

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


def _check_callee(made: Call, interface_of: str | None) -> None:
    """Check that the C interface exists, and that no memref is returned in either convention.

    This check precedes the comparison of arguments, whose message would say less.
    """
    context, callee = made.context, made.callee
    operation = context.symbols.find(callee)
    function = None if interface_of is None else context.symbols.find(interface_of)
    if operation is None and function is not None:
        raise BuildError(
            f"{made.provider}: the module has @{interface_of} ({describe(function)}), "
            f"but no @{callee}; lower it with the attribute llvm.emit_c_interface, or leave "
            f"c_interface=True out"
        )
    if operation is None or operation.name != "llvm.func":
        return
    result, parameters = function_parts(operation)
    given = tuple(str(argument.value.type) for argument in made.arguments)
    if interface_of is not None and parameters == ("!llvm.ptr", *given):
        raise BuildError(
            f"{made.provider}: the callee @{callee} takes one pointer more in front, "
            f"({', '.join(parameters)}): the C interface writes a memref (or several values) "
            f"that the function returns there; {_OUT_PARAMETERS}"
        )
    if result.startswith("!llvm.struct<(ptr, ptr, i64"):
        raise BuildError(
            f"{made.provider}: the callee @{callee} returns a memref ({result}); {_OUT_PARAMETERS}"
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


def _on_the_stack(context: CallContext, values: Sequence[Value], rank: int) -> Value:
    """Write ``{ptr, ptr, i64, [r x i64], [r x i64]}``, all words of 8 bytes."""
    b = context.builder
    t = b.types
    arrays = [t.array(rank, t.i64)] * 2 if rank else []
    space = b.alloca(t.struct([t.ptr, t.ptr, t.i64, *arrays]))
    for index, value in enumerate(values):
        b.store(value, b.offset(space, 8 * index))
    return space
