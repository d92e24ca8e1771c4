"""Right arguments of a signature, of given values, laid out the plainest way."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import cast

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.spec.composite import Plain
from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.spec.expr import Expr
from ffi_builder.spec.tensors.devices import ANY
from tests.differential import description as d


@dataclass(frozen=True)
class Right:
    """Makes arguments; ``values`` has what each symbol is."""

    values: Mapping[str, float]
    chosen: Mapping[str, int] = field(default_factory=dict[str, int])
    """The numbers of the parameters that Variants are; the last one otherwise."""

    def arguments(self, signature: spec.Signature) -> tuple[d.Value, ...]:
        """One value for each argument; Optionals are there."""
        params = (p for p in signature.arguments if not isinstance(p, spec.VarArgs))
        values = tuple(map(self.argument, params))
        return separate(values, count(1)) if signature.no_overlap else values

    def argument(self, param: spec.Param) -> d.Value:
        match spec.required(param):
            case spec.Tensor() as tensor:
                return d.tensor(self.tensor(tensor))
            case spec.TensorList(tensor=tensor, length=length):
                count = 2 if length is None else self.entry(length)
                return d.array(*[d.tensor(self.tensor(tensor))] * count)
            case spec.List(element=element, length=length):
                count = 2 if length is None else self.entry(length)
                return d.array(*[Right({element.name: 1}).argument(element)] * count)
            case spec.Array(name=name, of=of) if of is not None:
                return d.array(*[Right({name: 1}).argument(cast("spec.Param", of))] * 2)
            case spec.Shape(shape=shape):
                return d.shape(*map(self.entry, shape))
            case spec.TupleParam(params=params) | spec.Struct(fields=params):
                return d.array(*map(self.argument, params))
            case spec.Var() as var:
                return self.scalar(var)
            case spec.Variant(name=name, params=params):
                each = params[self.chosen.get(name, -1)]
                return (
                    Right({name: 1}).scalar(each)
                    if isinstance(each, spec.Var)
                    else self.argument(each)
                )
            case spec.Choice(choices=choices):
                return d.str_(next(iter(choices)).encode())
            case other:
                return _plain(other)

    def scalar(self, var: spec.Var) -> d.Value:
        value = self.values[var.name]
        if var.dtype == "handle":
            return d.of_pointer(int(value))
        if var.dtype == "bool":
            return d.of_bool(bool(value))
        return d.of_int(int(value)) if var.is_integer else d.of_float(float(value))

    def tensor(self, tensor: spec.Tensor) -> d.DLTensor:
        """Elements as they are stored; entries None are 2."""
        dims = [self.entry(entry) for entry in (tensor.dims if not tensor.any_rank else (2, 3))]
        if tensor.packed_axis is not None:
            dims[tensor.packed_axis] //= tensor.packing
        strides = None
        if tensor.order == "F":
            strides = tuple(math.prod(dims[:axis]) for axis in range(len(dims)))
        elif tensor.stride_entries and not all(entry is None for entry in tensor.stride_entries):
            packing = [tensor.packing] * len(dims)
            if tensor.packed_axis is not None:
                packing[tensor.packed_axis] = 1
            entries = zip(tensor.stride_entries, packing, strict=True)
            strides = tuple(self.entry(entry) // factor for entry, factor in entries)
        device = "cpu" if tensor.device == ANY else tensor.device
        return d.DLTensor(
            tuple(dims),
            strides,
            dtype=parse_dtype(tensor.element_dtypes[0]),
            device_type=abi.DEVICE_TYPES[device],
            device_id=0 if tensor.device_id is None else self.entry(tensor.device_id),
        )

    def entry(self, entry: spec.Dim | None) -> int:
        """The value of a dimension, stride, entry or device id."""
        match entry:
            case None:
                return 2
            case int():
                return entry
            case spec.Var(name=name):
                return int(self.values[name])
            case Expr(op, lhs, rhs):
                return _apply(op, self.entry(lhs), self.entry(rhs))


def _apply(op: str, lhs: int, rhs: int) -> int:
    operators = {
        "+": lhs + rhs,
        "-": lhs - rhs,
        "*": lhs * rhs,
        "//": lhs // rhs if rhs else 0,
        "%": lhs % rhs if rhs else 0,
        "max": max(lhs, rhs),
        "min": min(lhs, rhs),
    }
    return operators[op]


def _plain(param: Plain) -> d.Value:
    """Return an argument for a parameter without symbols and elements."""
    match param:
        case spec.Stream() | spec.DataPointer():
            return d.of_pointer(0x10)
        case spec.DType():
            return d.Plain(TypeIndex.DATA_TYPE, 0x1_20_02)
        case spec.Device():
            return d.Plain(TypeIndex.DEVICE, 1)
        case spec.String():
            return d.str_(b"a str of some length")
        case spec.Bytes():
            return d.bytes_(b"bytes of some length")
        case spec.Function():
            return d.Object(TypeIndex.FUNCTION)
        case spec.Array():
            return d.array()
        case spec.Map():
            return d.Object(TypeIndex.MAP)
        case spec.Any():
            return d.of_int(1)
        case spec.Object(type_key=key):
            return d.Object(TypeIndex.ARRAY if key is None else TypeIndex.MODULE)
        case _:
            return _constant(param)


def _constant(param: Plain) -> d.Value:
    match param:
        case spec.ConstInt(value=value):
            return d.of_int(value)
        case spec.ConstBool(value=value):
            return d.of_bool(value)
        case spec.ConstFloat(value=value):
            return d.of_float(value)
        case _:
            assert isinstance(param, spec.ConstNone)
            return d.NONE


def separate(values: Sequence[d.Value], pages: Iterator[int]) -> tuple[d.Value, ...]:
    """The same arguments, but each tensor at an address of its own, pages apart."""
    return tuple(_separate(value, pages) for value in values)


def _separate(value: d.Value, pages: Iterator[int]) -> d.Value:
    match value:
        case d.Object(kind, d.DLTensor() as body):
            return d.Object(kind, replace(body, data=next(pages) * 0x1000))
        case d.Object(kind, d.Elements(values)):
            return d.Object(kind, d.Elements(separate(values or (), pages)))
        case _:
            return value


def changed(
    values: Sequence[d.Value], position: Sequence[int], value: d.Value
) -> tuple[d.Value, ...]:
    """The same arguments, but for the one at a position."""
    first, *rest = position
    old = values[first]
    if rest:
        assert isinstance(old, d.Object)
        assert isinstance(old.body, d.Elements)
        inner = changed(old.body.values or (), rest, value)
        value = d.Object(old.type_index, d.Elements(inner))
    return (*values[:first], value, *values[first + 1 :])


def at(values: Sequence[d.Value], position: Sequence[int]) -> d.Value:
    """The argument at a position."""
    first, *rest = position
    value = values[first]
    if not rest:
        return value
    assert isinstance(value, d.Object)
    assert isinstance(value.body, d.Elements)
    return at(value.body.values or (), rest)
