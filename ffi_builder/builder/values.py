"""The context of providers, backed by the values that the fast path has decoded.

Only symbols are cached here. A provider may ask for a value within a branch, and code emitted there
does not dominate the code after the branch.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property

from typing_extensions import override

from ffi_builder import abi, spec
from ffi_builder.builder.fast_path.context import DL, FastPath
from ffi_builder.builder.fast_path.expressions import evaluate
from ffi_builder.builder.fast_path.scalars import as_dtype, narrowed, typed
from ffi_builder.builder.fast_path.state import NumberListValues, Position, VariantValues
from ffi_builder.builder.fast_path.tensors import is_contiguous, stride, strides, written_strides
from ffi_builder.errors import BuildError
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.plan import Part, Place
from ffi_builder.plan.results import OVERFLOW
from ffi_builder.providers.context import CallContext
from ffi_builder.records import dataclass
from ffi_builder.spec.expr import Expr
from ffi_builder.spec.functions import variables
from ffi_builder.spec.param import Named
from ffi_builder.spec.params import Text
from ffi_builder.spec.tensors.devices import ANY


@dataclass(kw_only=True)
class DecodedValues(CallContext):
    """The decoded values of one wrapper."""

    fast: FastPath
    placed: list[tuple[spec.Param, Place]]
    """The parameters and the allocated result tensors, with their places."""
    of_elements: Mapping[spec.Var, str]
    """The symbols with a value for each element of a list, each with its first list."""
    cells: dict[Position, Value] = field(default_factory=dict[Position, Value])
    """Addresses of the ``TVMFFIAny`` of each result tensor; they are not among the arguments."""
    typed: dict[spec.Var, Value] = field(default_factory=dict[spec.Var, Value])
    """Symbols in their own types, except symbols that are loaded at each use."""

    @cached_property
    def _place_by_id(self) -> dict[int, Place]:
        """The first place of each argument, by the identity of its parameter."""
        return {id(known): place for known, place in reversed(self.placed)}

    @override
    def value(self, item: spec.Dim) -> Value:
        match item:
            case bool():
                pass
            case int():
                return self.builder.i64(item)
            case spec.Var():
                if item in self.typed:
                    return self.typed[item]
                self._check_symbol(item)
                return typed(self.fast, item)
            case Expr():
                for var in variables(item):
                    self._check_symbol(var)
                result, fine = evaluate(self.fast, item)
                if fine is not None:
                    self.builder.check(fine, "ValueError", OVERFLOW.format(dim=item))
                return result
            case _:  # pyright: ignore[reportUnnecessaryComparison] # providers may be untyped
                pass
        raise BuildError(
            f"value: expected a Var, an expression or an int but got {item!r}; a dimension that is "
            f"None has no symbol: context.shape(tensor) has its value"
        )

    def _check_symbol(self, var: spec.Var) -> None:
        if var in self.of_elements:
            path = self.of_elements[var]
            raise BuildError(
                f"symbol {var.name!r} has a value for each element of {path}, which the kernel "
                f"finds in {path}.shapes or {path}.strides"
            )
        if var not in self.variables:
            raise BuildError(
                f"symbol {var.name!r} ({var!r}) is not one of the signature: "
                f"{', '.join(known.name for known in self.variables) or 'it has none'}"
            )

    def read_ahead(self) -> None:
        """Read the values that must dominate all code of the provider."""
        for param, place in self.placed:
            if isinstance(param, spec.Tensor):
                if self.fast.guard(place.position) is not None:
                    for axis in range(param.ndim):
                        self.fast.dim(place.at(Part.SHAPE, axis))
                if param.stride_entries:
                    strides(self.fast, place.position)
        self.typed = {var: typed(self.fast, var) for var in self.fast.state.symbols}

    @override
    def address(self, tensor: spec.Param) -> Value:
        return self.fast.data(self._position(tensor))

    @override
    def present(self, param: spec.Param) -> Value:
        there = self._guard(param)
        return self.builder.i1(True) if there is None else there

    @override
    def may_be_absent(self, param: spec.Param) -> bool:
        return self._guard(param) is not None

    def _guard(self, param: spec.Param) -> Value | None:
        """Return the i1 of :meth:`present`; None if the parameter is always present.

        It is also None for a symbol that is no parameter, or several parameters.
        """
        if isinstance(param, spec.EnvStream):
            return None
        if isinstance(param, spec.Var):
            equal = self._equal(param)
            return self.fast.guard(equal[0].position) if len(equal) == 1 else None
        return self.fast.guard(self._place(param).position)

    @override
    def dltensor(self, tensor: spec.Param) -> Value:
        self._ask("dtype", tensor)
        b, position = self.builder, self._position(tensor)
        address = b.offset(self.fast.tensor(position).object, DL)
        there = self.fast.guard(position)
        return address if there is None else b.select(there, address, b.null())

    @override
    def ndim(self, tensor: spec.Param) -> Value:
        return self._tensor_i32(tensor, abi.DLTENSOR_NDIM)

    @override
    def dtype(self, tensor: spec.Param) -> Value:
        self._ask("dtype", tensor)
        return self._tensor_i32(tensor, abi.DLTENSOR_DTYPE)

    @override
    def device_type(self, tensor: spec.Param) -> Value:
        device = self.fast.tensor(self._position(tensor)).device
        return self.builder.trunc(device, self.builder.types.i32)

    @override
    def text(self, param: spec.Param) -> tuple[Value, Value]:
        if not isinstance(spec.required(param), Text):
            raise BuildError(f"{type(param).__name__} {param.name!r} is not a str or bytes")
        text = self.fast.text(self._place(param).position)
        return text.pointer, text.length

    def first_device(self, device_type: str | None = None) -> Value:
        """Return the device of the first present tensor on this device type, or its device 0.

        Without a type, it is any but a CPU, or -1. Of a list, the first element counts.
        """
        b, t = self.builder, self.builder.types
        type_ = abi.DEVICE_TYPES[device_type or "cpu"]
        device: Value = b.i64(type_ if device_type else -1)
        for param, place in reversed(self.placed):
            if isinstance(param, spec.TensorList):
                param, place = param.tensor, place.first
            if not isinstance(param, spec.Tensor):
                continue
            fits = param.device == device_type if device_type else param.device != "cpu"
            if not fits and param.device != ANY:
                continue
            own, counts = self.fast.tensor(place.position).device, self.fast.guard(place.position)
            if param.device == ANY:
                compare = b.eq if device_type else b.ne
                alike = compare(b.trunc(own, t.i32), b.i32(type_))
                counts = alike if counts is None else b.and_(alike, counts)
            device = own if counts is None else b.select(counts, own, device)
        return device

    @override
    def list_part(self, tensors: spec.Param, part: str) -> Value:
        param = spec.required(tensors)
        if isinstance(param, spec.VarArgs):
            [before] = self._place(param).position
            b, fast = self.builder, self.fast
            if part == "data":
                return b.offset(fast.args, before * abi.ANY_SIZE)
            return b.sext(b.sub(fast.count, b.i32(before)), b.types.i64)
        is_map = isinstance(param, spec.Map) and isinstance(param.key, str)
        if is_map or isinstance(param, spec.List):
            at = self._place(tensors).position
            numbers = self.fast.record((*at, part == "values") if is_map else at, NumberListValues)
            value = {"length": numbers.length, "lengths": numbers.lengths}.get(part, numbers.data)
            assert value is not None
            return value
        if not isinstance(param, spec.TensorList):
            raise BuildError(f"{type(tensors).__name__} {tensors.name!r} is not a list")
        if part == "pointers" and len(param.tensor.dtypes) > 1:
            raise BuildError(
                f"{param.label}: the kernel cannot know which of its dtypes an element has; give "
                f"its elements one dtype, and make a function for each"
            )
        return getattr(self.fast.tensor_list(self._place(tensors).position), part)

    @override
    def _variant_part(self, variant: spec.Param, part: str) -> Value:
        param, place, b = spec.required(variant), self._place(variant), self.builder
        if not isinstance(param, spec.Variant):
            raise BuildError(f"{type(variant).__name__} {variant.name!r} is not a Variant")
        if part == "which":
            return b.sub(self.fast.record(place.position, VariantValues).number, b.i32(1))
        index, var = [*param.parts].index(part), param.parts[part]
        assert isinstance(var, spec.Var), "other parts are parameters"
        return as_dtype(b, self.fast.scalar((*place.position, index)), var.dtype)

    @override
    def shape(self, tensor: spec.Param, *, wide: bool = False) -> list[Value]:
        plain, place = self._tensor(tensor)
        if plain.any_rank:
            return _shape_of_rank(self.fast, place.position, self._known_rank(plain))
        return [
            self._entry(dim, plain, place.at(Part.SHAPE, axis), wide=wide)
            for axis, dim in enumerate(plain.dims)
        ]

    @override
    def strides(self, tensor: spec.Param, *, wide: bool = False) -> list[Value]:
        plain, place = self._tensor(tensor)
        if plain.any_rank:
            return _strides_of_rank(self.fast, place.position, self._known_rank(plain), plain.order)
        if plain.stride_entries is None:
            return self._contiguous(plain, place)
        return [
            self._entry(entry, plain, place.at(Part.STRIDES, axis), wide=wide)
            for axis, entry in enumerate(plain.stride_entries)
        ]

    def _known_rank(self, tensor: spec.Tensor) -> int:
        """Return the rank of a tensor of any rank, which a tested condition must have fixed."""
        known = self.known.get(tensor, tensor)
        if known.any_rank:
            raise BuildError(
                f"Tensor {tensor.name!r} may have any number of dimensions; context.dltensor(…) "
                f"and context.ndim(…) lead to them"
            )
        return known.ndim

    @override
    def entries(self, shape: spec.Param) -> list[Value]:
        place, plain = self._place(shape), spec.required(shape)
        if not isinstance(plain, spec.Shape):
            raise BuildError(f"{type(shape).__name__} {shape.name!r} is not a Shape")
        values = self.fast.entries(place.position)
        return [
            self.value(entry) if isinstance(entry, (int, spec.Var)) else value
            for entry, value in zip(plain.shape, values, strict=True)
        ]

    @override
    def device_id(self, tensor: spec.Param) -> Value:
        b = self.builder
        device = self.fast.tensor(self._position(tensor)).device
        return b.trunc(b.lshr(device, b.i64(32)), b.types.i32)

    @override
    def scalar(self, param: spec.Param) -> Value:
        b, t = self.builder, self.builder.types
        required = spec.required(param)
        if (dtype := required.kernel_dtype) is not None:
            return narrowed(b, self.fast.scalar(self._place(param).position), t.scalar(dtype))
        match required:
            case spec.Var() as var:
                return self.value(var)
            case spec.Object() | spec.Function() | spec.Array() | spec.Map(key=None | Named()):
                return self.fast.object_at(self._place(param).position)
            case spec.Any():
                return self.any(param)
            case spec.EnvStream():
                if self.env_stream is None:
                    raise BuildError(f"{param!r} is not a parameter of this signature")
                return self.env_stream
            case spec.Stream():
                return b.to_pointer(self.fast.scalar(self._place(param).position))
            case spec.DataPointer(address_space=space):
                return b.to_pointer(self.fast.scalar(self._place(param).position), space)
            case _:
                raise BuildError(
                    f"{type(param).__name__} {param.name!r} is not a parameter of one value"
                )

    @override
    def any(self, param: spec.Param) -> Value:
        self._ask("dtype", param)
        if isinstance(param, spec.EnvStream):
            raise BuildError(
                f"EnvStream {param.name!r} is not an argument, so there is no TVMFFIAny"
            )
        b = self.builder
        places = self._equal(param) if isinstance(param, spec.Var) else [self._place(param)]
        if not places:
            raise BuildError(f"{param!r} is not a parameter of this signature")
        *others, last = places
        chosen = self._any_at(last)
        for place in reversed(others):
            there, address = self.fast.guard(place.position), self._any_at(place)
            chosen = address if there is None else b.select(there, address, chosen)
        return chosen

    def _any_at(self, place: Place) -> Value:
        """Return the address of the ``TVMFFIAny`` at a place.

        An absent argument is None itself. Elements of an absent tuple do not exist; for them, the
        address is that of ``zeros``.
        """
        b, fast = self.builder, self.fast
        if place.position in self.cells:
            return self.cells[place.position]
        *outer, last = place.position
        if not outer:
            return b.offset(fast.args, last * abi.ANY_SIZE)
        if isinstance(fast.state.records.get(tuple(outer)), VariantValues):
            address = self._any_at(Place(tuple(outer), place.path))
        else:
            cells = b.field(b.types.ptr, fast.object(tuple(outer)), abi.CELL_DATA)
            address = b.offset(cells, last * abi.ANY_SIZE)
        return fast.or_zeros(place.position, address)

    def _entry(
        self, entry: spec.Dim | None, tensor: spec.Tensor, place: Place, *, wide: bool
    ) -> Value:
        """Return a symbol's value, an int as a constant, or else load the entry."""
        if wide and isinstance(entry, spec.Var):
            return self.fast.symbol(entry).value
        if isinstance(entry, (int, spec.Var)):
            return self.value(entry)
        return self._loaded(tensor, place)

    def _loaded(self, tensor: spec.Tensor, place: Place) -> Value:
        """Load a dimension or a stride, as the kernel counts it."""
        b, is_size = self.builder, place.part is Part.SHAPE
        stored = self.fast.dim(place) if is_size else stride(self.fast, place)
        is_packed = tensor.packing > 1 and (place.index == tensor.packed_axis) is is_size
        return b.mul(stored, b.i64(tensor.packing)) if is_packed else stored

    def _contiguous(self, tensor: spec.Tensor, place: Place) -> list[Value]:
        """Compute the contiguous strides of the tensor as the kernel sees it."""
        loads = self.fast.guard(place.position) is not None
        dims = (
            self._loaded(tensor, place.at(Part.SHAPE, axis))
            if loads or axis == tensor.packed_axis
            else self.fast.tensor(place.position).dims[axis]
            for axis in _from_inner(tensor.ndim, tensor.order)
        )
        return _strides_of(self.fast, dims, tensor.ndim, tensor.order)

    @override
    def is_contiguous(self, tensor: spec.Param) -> Value:
        plain, place = self._tensor(tensor)
        if plain.any_rank:
            contiguous = is_contiguous(self.fast, place.position)
        else:
            dims, strides = self.shape(tensor, wide=True), self.strides(tensor, wide=True)
            contiguous = _are_contiguous(self.builder, dims, strides)
        there = self._guard(tensor)
        return contiguous if there is None else self.builder.and_(there, contiguous)

    def _tensor_i32(self, tensor: spec.Param, offset: int) -> Value:
        b, object_ = self.builder, self.fast.object(self._position(tensor))
        return b.field(b.types.i32, object_, DL + offset)

    def _equal(self, param: spec.Param) -> list[Place]:
        """Return the places of this object, or else of the parameters equal to it."""
        own = [place for known, place in self.placed if known is param]
        return own or [place for known, place in self.placed if known == param]

    def _place(self, param: spec.Param) -> Place:
        place = self._place_by_id.get(id(param))
        if place is not None:
            return place
        equal = self._equal(param)
        if not equal:
            raise BuildError(f"{param!r} is not a parameter of this signature")
        if len(equal) > 1:
            paths = " and ".join(place.path for place in equal)
            raise BuildError(
                f"{param!r} could be each of {paths}; give the parameters different names"
            )
        return equal[0]

    def _position(self, tensor: spec.Param) -> Position:
        return self._tensor(tensor)[1].position

    def _tensor(self, param: spec.Param) -> tuple[spec.Tensor, Place]:
        place, tensor = self._place(param), spec.required(param)
        if isinstance(tensor, spec.Tensor) and tensor.references:
            # A provider may pass an equal tensor, which does not know where its fields come from.
            tensor = spec.required(next(known for known, at in self.placed if at == place))
        if not isinstance(tensor, spec.Tensor):
            raise BuildError(
                f"{type(param).__name__} {param.name!r} is not a Tensor; context.value(…) and "
                f"context.scalar(…) have the values of other parameters"
            )
        return tensor, place


def _are_contiguous(b: CheckingBuilder, dims: Sequence[Value], strides: Sequence[Value]) -> Value:
    """Return an i1: whether dimensions and strides, all i64s, are row-major contiguous.

    The sizes of tensors are checked, so a size of 0 means an empty tensor.
    """
    one = b.i64(1)
    size, equal = one, list[Value]()
    for dim, given in zip(reversed(dims), reversed(strides), strict=True):
        equal.append(b.or_(b.eq(given, size), b.eq(dim, one)))
        size = b.mul(size, dim) if len(equal) > 1 else dim
    if not equal:
        return b.i1(True)
    return b.or_(functools.reduce(b.and_, equal), b.eq(size, b.i64(0)))


def _shape_of_rank(fast: FastPath, position: Position, ndim: int) -> list[Value]:
    """Load the dimensions of a tensor that is present, as i64s."""
    b, t = fast.b, fast.b.types
    if not ndim:
        return []
    pointer = b.field(t.ptr, fast.tensor(position).object, DL + abi.DLTENSOR_SHAPE)
    return [b.field(t.i64, pointer, 8 * axis) for axis in range(ndim)]


def _strides_of_rank(
    fast: FastPath, position: Position, ndim: int, order: str | None
) -> list[Value]:
    """Return the strides: computed if the tensor must have an order, else loaded."""
    b, t = fast.b, fast.b.types
    if not ndim:
        return []
    if order is None:
        tensor = fast.tensor(position).object
        given = b.field(t.ptr, tensor, DL + abi.DLTENSOR_STRIDES)
        written = written_strides(fast, tensor, given, ndim)
        return [b.field(t.i64, written, 8 * axis) for axis in range(ndim)]
    dims = _shape_of_rank(fast, position, ndim)
    inner = (dims[axis] for axis in _from_inner(ndim, order))
    return _strides_of(fast, inner, ndim, order)


def _from_inner(ndim: int, order: str | None) -> Iterable[int]:
    """Return the dimensions of a contiguous tensor, the one whose stride is 1 first."""
    return range(ndim) if order == "F" else reversed(range(ndim))


def _strides_of(
    fast: FastPath, dims: Iterable[Value | int], ndim: int, order: str | None
) -> list[Value]:
    """Compute the strides of a contiguous tensor; its dimensions come in that order."""
    b = fast.b
    strides: list[Value] = []
    product: Value | None = None
    for dim in dims:
        strides.append(b.i64(1) if product is None else product)
        if len(strides) < ndim:
            wide = fast.value(dim)
            product = wide if product is None else b.mul(product, wide)
    return strides if order == "F" else strides[::-1]
