"""What providers ask for, answered from what the hot path has decoded.

But for the symbols nothing is cached here: a provider may ask from within a branch, and what is
emitted there is not there elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ffi_builder import spec
from ffi_builder.builder.expressions import evaluate
from ffi_builder.builder.scalars import typed
from ffi_builder.builder.state import Hot, Position
from ffi_builder.builder.tensors import stride
from ffi_builder.errors import BuildError
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.plan import Part, Place


@dataclass
class DecodedValues:
    """Implements :class:`ffi_builder.providers.Decoded`."""

    hot: Hot
    b: CheckingBuilder
    places: list[tuple[spec.Param, Place]]
    env_stream: Value | None = None
    typed: dict[spec.Var, Value] = field(default_factory=dict[spec.Var, Value])
    """Symbols in their own types; filled before the provider begins, so they dominate its code."""

    def value(self, item: spec.Dim) -> Value:
        """A symbol in its own type; an expression or int as an i64."""
        match item:
            case bool():
                pass
            case int():
                return self.b.i64(item)
            case spec.Var():
                if item not in self.hot.symbols:
                    raise BuildError(
                        f"symbol {item.name!r} ({item!r}) is not one of the signature: "
                        f"{', '.join(var.name for var in self.hot.symbols) or 'it has none'}"
                    )
                if item not in self.typed:
                    self.typed[item] = typed(self.hot, item)
                return self.typed[item]
            case spec.Expr():
                for var in spec.variables(item):
                    self.value(var)
                result, fine = evaluate(self.hot, item)
                if fine is not None:
                    self.b.check(fine, "ValueError", f"The value of {item} does not fit int64")
                return result
            case _:  # pyright: ignore[reportUnnecessaryComparison] # providers may be untyped
                pass
        raise BuildError(
            f"value: expected a Var, an expression or an int but got {item!r}; a dimension that is "
            f"None has no symbol: context.shape(tensor) has its value"
        )

    def data(self, tensor: spec.Tensor) -> Value:
        """data + byte_offset."""
        return self.hot.data[self._position(tensor)]

    def shape(self, tensor: spec.Tensor, *, wide: bool) -> list[Value]:
        """Every dimension of the tensor as the kernel sees it."""
        place = self._tensor_place(tensor)
        return [
            self._entry(
                dim,
                place.at(Part.SHAPE, axis),
                self._packing(tensor, axis, packed=True),
                wide=wide,
            )
            for axis, dim in enumerate(tensor.shape)
        ]

    def strides(self, tensor: spec.Tensor, *, wide: bool) -> list[Value]:
        """Every stride, also where the spec has none."""
        place = self._tensor_place(tensor)
        if tensor.stride_entries is None:
            return self._row_major(place.position)
        return [
            self._entry(entry, place.at(Part.STRIDES, axis), self._packing(tensor, axis), wide=wide)
            for axis, entry in enumerate(tensor.stride_entries)
        ]

    def device_id(self, tensor: spec.Tensor) -> Value:
        """As an i32."""
        b = self.b
        device = self.hot.devices[self._position(tensor)]
        return b.trunc(b.lshr(device, b.i64(32)), b.types.i32)

    def scalar(self, param: spec.Param) -> Value:
        """A Var, stream or pointer."""
        match param:
            case spec.Var():
                return self.value(param)
            case spec.EnvStream():
                if self.env_stream is None:
                    raise BuildError(f"{param!r} is not a parameter of this signature")
                return self.env_stream
            case spec.Stream():
                return self.b.to_pointer(self.hot.reads[self._place(param)])
            case spec.DataPointer():
                address = self.hot.reads[self._place(param)]
                return self.b.to_pointer(address, param.address_space)
            case _:
                raise BuildError(f"{type(param).__name__} {param.name!r} is no scalar parameter")

    def _entry(self, entry: spec.Dim | None, place: Place, packing: int, *, wide: bool) -> Value:
        """A symbol from its register; an int as a constant; all else as it was read."""
        if wide and isinstance(entry, spec.Var):
            return self.hot.symbols[entry].value
        if isinstance(entry, (int, spec.Var)):
            return self.value(entry)
        b = self.b
        stored = self.hot.dim(place) if place.part is Part.SHAPE else stride(self.hot, place)
        return b.mul(stored, b.i64(packing)) if packing > 1 else stored

    @staticmethod
    def _packing(tensor: spec.Tensor, axis: int, *, packed: bool = False) -> int:
        """Of the packed dimension, and of the strides of all others."""
        return tensor.packing if (axis == tensor.packed_axis) is packed else 1

    def _row_major(self, position: Position) -> list[Value]:
        """Products of the later dimensions, of the tensor as the kernel sees it."""
        b = self.b
        tensor = next(param for param, place in self.places if place.position == position)
        assert isinstance(tensor, spec.Tensor)
        place = self._place(tensor)
        product: Value | None = None
        strides: list[Value] = []
        for axis in reversed(range(tensor.ndim)):
            strides.append(b.i64(1) if product is None else product)
            packing = self._packing(tensor, axis, packed=True)
            dim: Value | int = self.hot.dims[position][axis]
            if packing > 1:
                dim = b.mul(self.hot.dim(place.at(Part.SHAPE, axis)), b.i64(packing))
            if axis:
                wide = self.hot.value(dim)
                product = wide if product is None else b.mul(product, wide)
        return strides[::-1]

    def _place(self, param: spec.Param) -> Place:
        for known, place in self.places:
            if known is param:
                return place
        equal = [place for known, place in self.places if known == param]
        if not equal:
            raise BuildError(f"{param!r} is not a parameter of this signature")
        if len(equal) > 1:
            paths = " and ".join(place.path for place in equal)
            raise BuildError(
                f"{param!r} could be each of {paths}; give the parameters different names"
            )
        return equal[0]

    def _position(self, param: spec.Param) -> Position:
        """Of a tensor."""
        return self._tensor_place(param).position

    def _tensor_place(self, param: spec.Param) -> Place:
        place = self._place(param)
        if not isinstance(param, spec.Tensor):
            raise BuildError(
                f"{type(param).__name__} {param.name!r} is no Tensor; context.value(…) and "
                f"context.scalar(…) have the values of other parameters"
            )
        return place


def distinct(params: Sequence[spec.Param]) -> tuple[spec.Param, ...]:
    """The same parameters, but no object occurs twice, so that each stands for one place."""
    counts = Counter(id(param) for param in _every(params))

    def own(param: spec.Param) -> spec.Param:
        if isinstance(param, spec.TupleParam):
            return replace(param, params=tuple(own(inner) for inner in param.params))
        return replace(param) if counts[id(param)] > 1 else param

    return tuple(own(param) for param in params)


def _every(params: Sequence[spec.Param]) -> Iterator[spec.Param]:
    for param in params:
        yield param
        if isinstance(param, spec.TupleParam):
            yield from _every(param.params)


def argument_places(params: Sequence[spec.Param]) -> list[tuple[spec.Param, Place]]:
    """Every argument with its place, those in tuples too."""
    arguments = [param for param in params if not isinstance(param, spec.EnvStream)]
    found: list[tuple[spec.Param, Place]] = []
    for index, param in enumerate(arguments):
        found += _places(param, Place((index,), param.name))
    return found


def _places(param: spec.Param, place: Place) -> Iterator[tuple[spec.Param, Place]]:
    yield param, place
    if isinstance(param, spec.TupleParam):
        for index, element in enumerate(param.params):
            inner = Place((*place.position, index), f"{place.path}[{index}]")
            yield from _places(element, inner)
