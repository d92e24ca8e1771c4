"""Converts entries of ``args=`` to the arguments of a kernel, laid out in memory as C structs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from typing import Final, TypeAlias, Union, get_args

from ffi_builder import BuildError, spec
from ffi_builder.cuda.launch.encoding import EncodedMap, encoded_map
from ffi_builder.cuda.launch.entries import (
    SCALAR_SIZES,
    Axes,
    LaunchEntry,
    Nested,
    Packed,
    Pointee,
    Scalar,
    Struct,
    TensorMap,
    TensorStruct,
)
from ffi_builder.cuda.launch.vendor import Vendor
from ffi_builder.extending import (
    ANY,
    FLOAT_DTYPES,
    INT_RANGES,
    LLVM_TYPES,
    Builder,
    Data,
    Entry,
    Expr,
    Item,
    ValueParam,
    abi,
    dataclass,
    dynamic_layout,
    entries,
    flat_item,
    in_range,
    items,
    path_of,
    plain,
    scalar_argument,
    shape_arguments,
    shown,
    widened,
    with_result_tensors,
)
from ffi_builder.ir import Value
from ffi_builder.providers import CallContext, DynamicParamPackCallProvider

_VALUES: Final = get_args(ValueParam)
"""Kinds of one value. Of these, a kernel can take only a Choice, a DType and a Device."""
_STREAMS: Final = (spec.Stream, spec.EnvStream)
_BOX: Final = "; for a tensor map of a Tensor, say TensorMap(…, box=…)"
_DEVICE_ALIGN: Final = 4
_DTYPE_ALIGN: Final = 2
"""``struct DLDevice { int, int }`` and ``struct DLDataType { uint8_t, uint8_t, uint16_t }``."""


@dataclass(frozen=True)
class Aligned:
    """A value that is a struct in C (DLDevice, DLDataType), with the alignment of its members."""

    value: Value
    align: int


Tree: TypeAlias = Union[Value, Aligned, Sequence["Tree"]]
"""A single value, or the members of a struct."""

_TYPE_SIZES: Final = {LLVM_TYPES[dtype]: size for dtype, size in SCALAR_SIZES.items()}


@dataclass(frozen=True)
class Leaf:
    """A value at an offset in bytes, which is a multiple of its alignment."""

    offset: int
    value: Value
    align: int


@dataclass(frozen=True)
class Layout:
    """The values of a struct, or a single value, at their offsets. Sizes are bytes."""

    size: int
    align: int
    leaves: tuple[Leaf, ...]


def size_of(value: Value) -> int:
    """Return the bytes that a number or pointer takes in memory. A bool is a byte.

    Raises:
        BuildError: if the value has another type.
    """
    text = str(value.type)
    if text.startswith("!llvm.ptr"):
        return 8
    if text not in _TYPE_SIZES:
        raise BuildError(f"args=: a member of a struct is {text}; expected a number or pointer")
    return _TYPE_SIZES[text]


def layout(tree: Tree) -> Layout:
    """Lay a struct out as C compilers do. The alignment of a number is its size.

    Raises:
        BuildError: if a value is neither a number nor a pointer.
    """
    if not isinstance(tree, Sequence):
        value = tree.value if isinstance(tree, Aligned) else tree
        size = size_of(value)
        align = tree.align if isinstance(tree, Aligned) else size
        return Layout(size, align, (Leaf(0, value, align),))
    at, align = 0, 1
    leaves: list[Leaf] = []
    for member in tree:
        inner = layout(member)
        at = -(-at // inner.align) * inner.align
        leaves += [Leaf(at + leaf.offset, leaf.value, leaf.align) for leaf in inner.leaves]
        at, align = at + inner.size, max(align, inner.align)
    return Layout(-(-at // align) * align, align, tuple(leaves))


def in_memory(b: Builder, laid_out: Layout, align: int) -> Value:
    """Write the values to aligned stack space, and return its address; padding is zero."""
    t = b.types
    word = t.integer(8 * min(laid_out.align, 8))
    space = b.alloca(word, max(laid_out.size // min(laid_out.align, 8), 1), align=align)
    if sum(size_of(leaf.value) for leaf in laid_out.leaves) < laid_out.size:  # it has padding
        zero = b.zero(word)
        for at in range(0, laid_out.size, min(laid_out.align, 8)):
            b.store(zero, b.offset(space, at))
    for leaf in laid_out.leaves:
        stored = b.zext(leaf.value, t.i8) if leaf.value.type == t.i1 else leaf.value
        aligned = {"alignment": t.int_attribute(64, leaf.align)}
        b.op("llvm.store", (stored, b.offset(space, leaf.offset)), attributes=aligned)
    return space


Members: TypeAlias = Callable[[CallContext, spec.Tensor], Sequence[Value]]
"""The type of ``CudaLaunchCallProvider.tensor_members``."""


@dataclass(frozen=True)
class KernelArgument:
    """One argument of the kernel: laid out values, a number, a caller's bytes, or a tensor map.

    A ``number`` (an int, a float, or the i64 of an expression) has no size of its own; it takes the
    size of the kernel's parameter; with ``is_signed`` it must fit as a signed one. Sizes are bytes.
    ``is_float`` is None except for single numbers.
    """

    text: str
    size: int | None
    align: int = 1
    layout: Layout | None = None
    number: Value | float | None = None
    address: Value | None = None
    tensor_map: EncodedMap | None = None
    is_float: bool | None = None
    is_signed: bool = False

    def __str__(self) -> str:
        if self.size is None:
            return f"{self.text}: {'a float' if self.is_float else 'an integer'}"
        return f"{self.text}: {self.size} byte{'' if self.size == 1 else 's'}"


def kernel_arguments(
    context: CallContext,
    vendor: Vendor,
    args: Sequence[LaunchEntry] | None,
    members: Members,
    *,
    by_tiles: bool = False,
) -> list[KernelArgument]:
    """Return the kernel's arguments: ``args=``, or every parameter but streams and constants.

    Result tensors that ``args=`` does not contain follow. A tile kernel gets the sizes and strides
    of each tensor after its pointer.

    Raises:
        BuildError: if the signature does not have an entry, or if an entry is in host memory.
    """
    maker = _Maker(context, vendor, members, by_tiles)
    if args is None:
        return [
            argument
            for item in items(vendor.provider, None, context)
            if not isinstance(plain(item), _STREAMS)
            for argument in maker.of_item(item)
        ]
    arguments = [argument for entry in args for argument in maker.of_entry(entry)]
    added = with_result_tensors(context, maker.seen)[len(maker.seen) :]
    return [*arguments, *(argument for item in added for argument in maker.of_item(item))]


def _data(context: CallContext, tensor: spec.Tensor) -> Sequence[Value]:
    return [context.data(tensor)]


def pointer_argument(
    context: CallContext, vendor: Vendor, entry: spec.Param | str, what: str, *, is_event: bool
) -> Value:
    """Return a pointer that is a parameter: memory of a device, or an event.

    Raises:
        BuildError: the signature has no such parameter, or it is something else.
    """
    (named,) = entries(vendor.provider, [entry], context)
    parts = list(flat_item(named))
    if len(parts) != 1 or not _is_pointer(plain(parts[0]), is_event=is_event):
        kinds = "a DataPointer or a Var of dtype handle"
        expected = f"a CUevent, as {kinds}" if is_event else f"a Tensor, {kinds}"
        raise BuildError(f"{vendor.provider}: {what}: expected {expected}, but got {entry!r}")
    [argument] = _Maker(context, vendor, _data).of_item(parts[0])
    assert argument.layout is not None
    return argument.layout.leaves[0].value


def _is_pointer(item: object, *, is_event: bool) -> bool:
    if isinstance(item, spec.Var):
        return item.dtype == "handle"
    return isinstance(item, spec.DataPointer if is_event else (spec.DataPointer, spec.Tensor))


@dataclass(frozen=True)
class _Maker:
    """Makes arguments of entries, and notes which items they contain."""

    context: CallContext
    vendor: Vendor
    members: Members
    by_tiles: bool = False
    seen: list[Item] = field(default_factory=list[Item])

    @property
    def provider(self) -> str:
        return self.vendor.provider

    def of_entry(self, entry: LaunchEntry) -> Iterator[KernelArgument]:
        match entry:
            case Scalar():
                is_float = entry.dtype in FLOAT_DTYPES  # the value is the float's bits, an int
                yield replace(_laid_out(str(entry), self._scalar(entry)), is_float=is_float)
            case None:
                yield _laid_out("NULL", self.context.builder.null())
            case float():
                yield KernelArgument(str(entry), None, number=entry, is_float=True)
            case bytes():
                raise self._in_host_memory(entry)
            case Struct() | Packed() | Nested():
                yield _laid_out(str(entry), *self._trees(entry))
            case Pointee():
                yield self._pointee(entry, entry.pointer)
            case TensorMap():
                yield self._tensor_map(entry)
            case Axes():
                yield from self._axes(self._tensor(entry))
            case _:
                for item in self._items(entry):
                    yield from self.of_item(item)

    def of_item(self, item: Item) -> Iterator[KernelArgument]:
        context = self.context
        match plain(item):
            case int() | Expr() as number:
                value = number if isinstance(number, int) else context.value(number)
                yield KernelArgument(str(number), None, number=value)
            case spec.Shape() as shape:
                path = path_of(context, shape)
                for index, argument in enumerate(shape_arguments(context, shape)):
                    yield _laid_out(f"{path}[{index}]", argument.value)
            case _:
                dtype = f" ({item.dtype})" if isinstance(item, spec.Var) else ""
                yield _laid_out(shown(context, item) + dtype, self._value(item))
                tensor = plain(item)
                if self.by_tiles and isinstance(tensor, spec.Tensor):
                    yield from self._axes(tensor)

    def _axes(self, tensor: spec.Tensor) -> Iterator[KernelArgument]:
        context, path = self.context, path_of(self.context, tensor)
        if tensor.any_rank:
            raise BuildError(
                f"{self.provider}: the kernel gets each size of {path!r}, which may have any rank; "
                f"declare its sizes, or None for each"
            )
        for part in ("shape", "strides"):
            for axis, value in enumerate(getattr(context, part)(tensor, wide=True)):
                text = f"{path}.{part}[{axis}]"
                yield KernelArgument(text, None, number=value, is_signed=True)

    def _items(self, entry: Entry) -> list[Item]:
        (named,) = entries(self.provider, [entry], self.context)
        parts = list(flat_item(named))
        self.seen.extend(parts)
        return parts

    def _value(self, item: Item) -> Tree:
        """Return the value of any item except a Shape, or the members of its struct."""
        context = self.context
        match plain(item):
            case spec.Tensor() as tensor:
                _check_device(context, self.vendor, tensor)
                values = self.members(context, tensor)
                return values[0] if len(values) == 1 else values
            case Data(tensor=param) as data:
                tensor = spec.required(param)
                assert isinstance(tensor, spec.Tensor)
                _check_device(context, self.vendor, tensor)
                return context.matched_var_binding[data]
            case (
                spec.List()
                | spec.Field(
                    param=spec.List() | spec.Optional(param=spec.List()), part="data" | "c_str"
                )
            ):
                raise BuildError(
                    f"{self.provider}: {shown(context, item)!r} is made of elements in host "
                    f"memory; leave it out with args=, or, if they are numbers, declare a Tuple of "
                    f"a fixed number of scalars, which are passed one by one, or a Tensor on the "
                    f"device"
                )
            case spec.Field(part="data" | "c_str"):
                raise BuildError(
                    f"{self.provider}: args= has {shown(context, item)!r}, which is in host "
                    f"memory; leave it out"
                )
            case spec.Field(part="dltensor"):
                raise BuildError(
                    f"{self.provider}: args= has {shown(context, item)!r}, which is in host "
                    f"memory; pass the kernel the tensor's data, dimensions and strides"
                )
            case (
                spec.TensorList()
                | spec.Map(key=str())
                | spec.Field(part="pointers" | "shapes" | "strides" | "lengths" | "keys" | "values")
            ):
                raise BuildError(
                    f"{self.provider}: {shown(context, item)!r} is made of arrays in host memory; "
                    f"leave it out with args=, and copy them to the device in a provider of your "
                    f"own"
                )
            case spec.Device():
                return Aligned(scalar_argument(context, item).value, _DEVICE_ALIGN)
            case spec.DType() | spec.Field(part="dtype"):
                return Aligned(scalar_argument(context, item).value, _DTYPE_ALIGN)
            case param if isinstance(param, _VALUES) and not isinstance(param, spec.Choice):
                raise BuildError(
                    f"{self.provider}: {shown(context, item)!r} is a {type(param).__name__}, which "
                    f"is in host memory; leave it out with args="
                )
            case _:
                return scalar_argument(context, item).value

    def _trees(self, entry: LaunchEntry) -> Iterator[Tree]:
        """Yield the value of an entry, or the members of its struct, or of each item."""
        context = self.context
        match entry:
            case Scalar():
                yield self._scalar(entry)
            case Struct(members=members):
                yield [tree for member in members for tree in self._trees(member)]
            case Packed():
                tensor = self._tensor(entry)
                yield DynamicParamPackCallProvider("").tensor_members(context, tensor)
            case Nested():
                tensor = self._tensor(entry)
                parts = dynamic_layout(context, tensor)
                yield [context.data(tensor), [p[0] if len(p) == 1 else p for p in parts]]
            case Pointee() | TensorMap() | Axes():
                raise BuildError(
                    f"{self.provider}: args= has {entry}, which cannot be inside a Struct"
                )
            case None:
                yield context.builder.null()
            case float():
                raise BuildError(
                    f"{self.provider}: a Struct has {entry!r}, a number without a type: write "
                    f'Scalar({entry!r}, "float32"), or another dtype'
                )
            case bytes():
                raise self._in_host_memory(entry)
            case _:
                for item in self._items(entry):
                    if isinstance(shape := plain(item), spec.Shape):
                        yield from (a.value for a in shape_arguments(context, shape))
                    else:
                        yield self._value(item)

    def _only(self, entry: Entry) -> Item | None:
        """Return the item of an entry, or None if the entry has several."""
        parts = self._items(entry)
        return parts[0] if len(parts) == 1 else None

    def _tensor(self, entry: TensorStruct | TensorMap) -> spec.Tensor:
        item = self._only(entry.tensor)
        tensor = None if item is None else plain(item)
        if not isinstance(tensor, spec.Tensor) or tensor.any_rank:
            raise BuildError(
                f"{self.provider}: {type(entry).__name__}: expected a Tensor of a known number of "
                f"dimensions but got {entry.tensor!r}"
            )
        _check_device(self.context, self.vendor, tensor)
        return tensor

    def _tensor_map(self, entry: TensorMap) -> KernelArgument:
        context = self.context
        if not entry.encodes:
            return self._pointee(entry, entry.tensor)
        tensor = self._tensor(entry)
        if context.may_be_absent(tensor):
            raise BuildError(
                f"{self.provider}: TensorMap: {path_of(context, tensor)!r} may be absent, and "
                f"there is no map of no tensor"
            )
        tensor_map = encoded_map(context, entry, tensor, path_of(context, tensor))
        return KernelArgument(str(entry), entry.size, entry.align, tensor_map=tensor_map)

    def _pointee(self, entry: Pointee | TensorMap, given: spec.Param | str) -> KernelArgument:
        context = self.context
        b = context.builder
        item = self._only(given)
        param = None if item is None else plain(item)
        is_handle = isinstance(param, spec.Var) and param.dtype == "handle"
        if item is None or not (is_handle or isinstance(param, spec.DataPointer)):
            raise BuildError(
                f"{self.provider}: {entry}: expected a DataPointer or a Var of dtype handle but "
                f"got {given!r}{_BOX if isinstance(param, spec.Tensor) else ''}"
            )
        pointer = scalar_argument(context, item).value
        plain_pointer = pointer if pointer.type == b.types.ptr else b.to_pointer(b.to_int(pointer))
        words = f"{entry} cannot be passed by value: the pointer is NULL"
        b.check(b.ne(plain_pointer, b.null()), "ValueError", words)
        return KernelArgument(str(entry), entry.size, entry.align, address=plain_pointer)

    def _scalar(self, scalar: Scalar) -> Value:
        b, t = self.context.builder, self.context.builder.types
        bits = t.integer(8 * SCALAR_SIZES[scalar.dtype])
        symbol = self._symbol(scalar.value) if isinstance(scalar.value, str) else scalar.value
        if not isinstance(symbol, (spec.Var, Expr)):
            return b.constant(8 * SCALAR_SIZES[scalar.dtype], scalar.bits)
        value = widened(self.context, symbol)
        low, high = INT_RANGES[scalar.dtype]
        is_uint64 = isinstance(symbol, spec.Var) and symbol.dtype == "uint64"
        fits = in_range(b, value, low, high, signed=not is_uint64)
        words = f"{scalar.value} is {{}}, which is no {scalar.dtype}: kernels get what fits"
        if fits is not None:
            b.check(fits, "ValueError", words, value)
        return value if bits == t.i64 else b.trunc(value, bits)

    def _symbol(self, name: str) -> spec.Var:
        var = self._only(name)
        if not isinstance(var, spec.Var) or not var.is_integer:
            raise BuildError(f"{self.provider}: Scalar: expected an integer Var but got {name!r}")
        return var

    def _in_host_memory(self, entry: bytes) -> BuildError:
        return BuildError(
            f"{self.provider}: args= has {entry!r}, and the address of bytes is in host memory"
        )


def _laid_out(text: str, tree: Tree) -> KernelArgument:
    laid_out = layout(tree)
    types = [str(leaf.value.type) for leaf in laid_out.leaves]
    is_float = "f" in types[0] if len(types) == 1 else None
    return KernelArgument(text, laid_out.size, laid_out.align, layout=laid_out, is_float=is_float)


def _check_device(context: CallContext, vendor: Vendor, tensor: spec.Tensor) -> None:
    """Check that a kernel can read the tensor's memory; at run time if the spec allows any device.

    Raises:
        BuildError: if the device type of the spec rules it out.
    """
    b, readable = context.builder, vendor.memory
    if tensor.device in readable:
        return
    path = path_of(context, tensor)
    if tensor.device != ANY:
        raise BuildError(
            f"{vendor.provider}: {path!r} is on device_type {tensor.device!r}, whose memory a "
            f"kernel cannot read; expected one of {', '.join(readable)}. (If it can, declare a "
            f"DataPointer)"
        )
    kind = context.device_type(tensor)
    fine = b.eq(kind, b.i32(abi.DEVICE_TYPES[readable[0]]))
    for name in readable[1:]:
        fine = b.or_(fine, b.eq(kind, b.i32(abi.DEVICE_TYPES[name])))
    if context.may_be_absent(tensor):
        fine = b.or_(fine, b.xor(context.present(tensor), b.i1(True)))
    words = (
        f"{path} is on a device of type {{}}, whose memory a kernel cannot read; expected "
        f"{', '.join(readable)}"
    )
    following, failed = b.new_block(), b.new_block(cold=True)
    b.cond_br(fine, following, failed)
    b.block = failed
    word = b.text_constant(b"unknown\0")
    for name, code in abi.DEVICE_TYPES.items():
        known = b.text_constant(name.encode() + b"\0")
        word = b.select(b.eq(kind, b.i32(code)), known, word)
    b.fail("ValueError", words, word)
    b.block = following
