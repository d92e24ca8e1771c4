"""For each step of a plan, a call that fails there. The oracle says in which words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from ffi_builder.plan import Part, Place, Plan
from ffi_builder.plan import steps as s
from ffi_builder.plan.path import EACH
from ffi_builder.spec.expr import Relation
from ffi_builder.spec.numbers import INT_RANGES
from tests.differential import description as d
from tests.steps.right import Right, at, changed

WRONG: Final = d.Plain(TypeIndex.UNCHANGED)
"""An argument of a kind that nothing takes."""
ELEMENT: Final = 1
"""The element of a list in which the call fails."""


@dataclass
class Breaker:
    """Walks a plan in order, and remembers where symbols are bound."""

    plan: Plan
    right: Right
    values: tuple[d.Value, ...] = ()
    origins: dict[str, str] = field(default_factory=dict[str, str])
    variants: set[tuple[int, ...]] = field(default_factory=set[tuple[int, ...]])
    """The positions of Variants."""

    def __post_init__(self) -> None:
        self.values = self.right.arguments(self.plan.signature)

    def every(self) -> Iterator[tuple[s.AnyCheck, d.Arguments | None]]:
        """Each step that can fail, with a call in which it does, if one is known."""
        for planned in self.plan:
            if isinstance(planned, (s.DecodeOptional, s.EachElement)):
                continue
            if isinstance(planned, s.Alternative):
                self._choose(planned.place)
                continue
            step = replace(planned, place=in_element(planned.place, ELEMENT))
            if isinstance(step, s.Bind) or self._binds(step):
                assert isinstance(step, (s.Bind, s.BindOrEqual))
                shared = isinstance(step, s.BindOrEqual)
                bound = in_element(planned.place, 0 if shared else ELEMENT)
                self.origins.setdefault(step.symbol.name, str(bound))
                # The first element of a list binds the symbols with which the others are compared.
                if not (shared and planned.place.is_each):
                    continue
            found = self._broken(step)
            yield step, d.Arguments(found) if isinstance(found, tuple) else found

    def _choose(self, place: Place) -> None:
        """Let a Variant be its parameter at this place."""
        *outer, number = place.position
        self.variants.add(tuple(outer))
        params = dict(spec.with_paths(self.plan.signature.params))
        name = params[place.path.rpartition(".")[0]].name
        self.right = replace(self.right, chosen={**self.right.chosen, name: number})
        self.values = self.right.arguments(self.plan.signature)

    def _position(self, place: Place) -> tuple[int, ...]:
        """The position of the argument or element, which a Variant's parameter is itself."""
        outer = place.position[:-1]
        return outer if outer in self.variants else place.position

    def _binds(self, step: s.AnyCheck) -> bool:
        return isinstance(step, s.BindOrEqual) and step.symbol.name not in self.origins

    def _broken(self, step: s.AnyCheck) -> d.Arguments | tuple[d.Value, ...] | None:
        place, count = step.place, len(self.values)
        match step:
            case s.CheckCount():
                return d.Arguments(self.values, count + 1)
            case s.CheckLeastCount(_, least):
                return d.Arguments(self.values, least - 1)
            case s.CheckArguments():
                return d.Arguments(None, count)
            case s.Decode():
                return self._put(place, WRONG)
            case s.DecodeEntry():
                entries = [d.of_int(value) for value in self._ints(place)]
                entries[place.index or 0] = WRONG
                return self._put(place, d.list_(*entries))
            case s.NotNull():
                return self._put(place, d.Plain(self._object(place).type_index, 0))
            case s.CheckLength(expected=length):
                return self._resized(place, size=length + 1)
            case s.CheckCells() | s.CheckBytes():
                return self._resized(place, size=1, null=True)
            case s.CheckSmall():
                kind = TypeIndex.SMALL_STR - TypeIndex.STR + self._object(place).type_index
                return self._put(place, d.small(kind, b"", 8))
            case s.CheckChoice():
                return self._put(place, d.str_(b"zzz"))
            case _:
                return self._broken_tensor(step)

    def _broken_tensor(self, step: s.AnyCheck) -> tuple[d.Value, ...] | None:
        place = step.place
        match step:
            case s.CheckNdim(expected=ndim):
                return self._tensor(place, ndim=ndim + 1)
            case s.NotNegative() if place.part is Part.NDIM:
                return self._tensor(place, ndim=-1)
            case s.CheckDType():
                return self._tensor(place, dtype=(99, 3, 1))
            case s.CheckSameDType():
                return self._tensor(place, dtype=(0, 64, 1))
            case s.CheckDeviceType():
                return self._tensor(place, device_type=99)
            case s.CheckSameDevice(others=others):
                first = self._dltensor(others[0])
                return self._tensor(place, device_type=first.device_type, device_id=9)
            case s.CheckShapePointer():
                ndim = len(self._dltensor(place).shape or ())
                return self._tensor(place, shape=None, ndim=ndim) if ndim else None
            case s.CheckDims():
                return self._tensor(place, shape=(-1, 3))
            case s.CheckOffset():
                return self._tensor(place, byte_offset=2**64 - 8)
            case s.CheckData():
                return self._tensor(place, data=0)
            case s.CheckAlignment():
                return self._tensor(place, data=0x1004)
            case s.CheckElementAlignment():
                return self._tensor(place, data=0x1001)
            case s.CheckOverlap(others=((other, _), *_)):
                return self._overlapping(place, in_element(other, ELEMENT))
            case s.CheckNumel():
                return self._too_large(place)
            case s.CheckContiguous(order=order):
                shape, axis = self._dltensor(place).shape or (), place.index or 0
                inner = [shape[:i] if order == "F" else shape[i + 1 :] for i in range(len(shape))]
                strides = [99 if i == axis else math.prod(inner[i]) for i in range(len(shape))]
                return self._tensor(place, strides=tuple(strides))
            case _:
                return self._broken_value(step)

    def _broken_value(self, step: s.AnyCheck) -> tuple[d.Value, ...] | None:
        place = step.place
        match step:
            case s.NotNegative():
                return self._value(place, -1)
            case s.CheckBool():
                return self._put(place, d.of_int(2))
            case s.CheckPacked(expected=limit):
                return self._value(replace(place, packing=1), limit + 1)
            case s.Fits(dtype=dtype):
                beyond = INT_RANGES[dtype][1] + 1
                fits = beyond >= 2**63 and place.part is not Part.VALUE
                return None if fits else self._value(place, beyond)
            case s.AtLeast(symbol=symbol):
                return self._value(place, (symbol.min or 0) - 1)
            case s.AtMost(symbol=symbol):
                return self._value(place, (symbol.max or 0) + 1)
            case s.Divisible(symbol=symbol):
                return self._value(place, int(self.right.values[symbol.name]) + 1)
            case s.EqualInt(expected=bool(expected)):
                return self._put(place, d.of_bool(not expected))
            case s.EqualInt(expected=expected):
                return self._value(place, expected + place.packing)
            case s.EqualFloat(expected=constant):
                return self._put(place, d.of_float(constant.value + 1))
            case s.EqualSymbol(symbol=symbol) | s.BindOrEqual(symbol=symbol):
                return self._another(place, symbol)
            case s.Solve(expr=expr, scale=scale) if abs(scale) > 1:
                return self._value(place, self.right.entry(expr) + 1)
            case s.EqualExpr(expr=expr):
                return self._value(place, self.right.entry(expr) + 1)
            case s.CheckCondition(condition=Relation() as relation, symbols=(symbol, *_)):
                # 1000 more or less keeps no relation of the samples.
                by = -1000 if relation.op == "!=" else 1000
                return self._value(place, int(self.right.values[symbol.name]) + by)
            case _:
                return None

    # ---- values

    def _another(self, place: Place, symbol: spec.Var) -> tuple[d.Value, ...]:
        value = self.right.values[symbol.name]
        if symbol.is_integer:
            step = max(symbol.divisibility or 1, place.packing)
            return self._value(place, int(value) + step)
        if symbol.dtype == "bool":
            return self._put(place, d.of_bool(not value))
        if symbol.dtype == "handle":
            return self._put(place, d.of_pointer(int(value) + 8))
        return self._put(place, d.of_float(value + 1))

    def _too_large(self, place: Place) -> tuple[d.Value, ...] | None:
        """Break the size, if all dimensions are symbols that this very tensor binds."""
        dims = self._dltensor(place).shape or ()
        names = [name for name, origin in self.origins.items() if origin.startswith(place.path)]
        if len(names) < 2 or len(dims) != len(names):
            return None
        return self._tensor(place, shape=(2**32,) * len(dims), strides=None)

    def _overlapping(self, place: Place, other: Place) -> tuple[d.Value, ...]:
        """Beginning at the last element of the other tensor, which is row-major."""
        tensor = self._dltensor(other)
        _, bits, lanes = tensor.dtype
        size = math.prod(tensor.shape or ()) * bits * lanes // 8
        return self._tensor(place, data=tensor.data + size - bits // 8)

    # ---- arguments

    def _put(self, place: Place, value: d.Value) -> tuple[d.Value, ...]:
        return changed(self.values, self._position(place), value)

    def _object(self, place: Place) -> d.Object:
        value = at(self.values, self._position(place))
        assert isinstance(value, d.Object)
        return value

    def _ints(self, place: Place) -> list[int]:
        body = self._object(place).body
        assert isinstance(body, d.Ints)
        return list(body.values or ())

    def _resized(self, place: Place, size: int, *, null: bool = False) -> tuple[d.Value, ...]:
        """A container, str or bytes that says another size, perhaps with NULL for its elements."""
        old = self._object(place)
        match old.body:
            case d.Ints(values):
                count = len(values or ()) if null else size
                body: d.Body = d.Ints(None if null else values, count)
            case d.Elements(elements):
                count = len(elements or ()) if null else size
                body = d.Elements(None if null else elements, count)
            case _:
                body = d.Chars(None, size)
        return self._put(place, d.Object(old.type_index, body))

    def _dltensor(self, place: Place) -> d.DLTensor:
        return _dltensor(at(self.values, self._position(place)))

    def _tensor(self, place: Place, **fields: Any) -> tuple[d.Value, ...]:
        return self._put(place, d.tensor(replace(self._dltensor(place), **fields)))

    def _value(self, place: Place, value: int) -> tuple[d.Value, ...]:
        """Arguments in which the steps see this value at a place."""
        for step in self.plan:
            if isinstance(step, s.Solve) and step.solved == place:
                value = value * step.scale + step.offset
        stored = value // place.packing
        index = place.index or 0
        match place.part:
            case Part.SHAPE:
                shape = self._dltensor(place).shape or ()
                return self._tensor(place, shape=(*shape[:index], stored, *shape[index + 1 :]))
            case Part.STRIDES:
                old = self._dltensor(place).strides or ()
                return self._tensor(place, strides=(*old[:index], stored, *old[index + 1 :]))
            case Part.DEVICE_ID:
                return self._tensor(place, device_id=stored)
            case Part.LENGTH:
                return self._resized(place, size=stored)
            case Part.ENTRY:
                entries = self._ints(place)
                entries[index] = stored
                return self._put(place, d.shape(*entries))
            case _:
                return self._put(place, d.of_int(stored))


def in_element(place: Place, index: int) -> Place:
    """The same place, in an element of a list if it is in each, also of a list in a list."""
    if not place.is_each:
        return place
    depth = place.position.count(EACH)
    position = (*place.position[:-depth], *[index] * depth)
    return replace(place, position=position, path=f"{place.fixed_path}{f'[{index}]' * depth}")


def _dltensor(value: d.Value) -> d.DLTensor:
    assert isinstance(value, d.Object)
    assert isinstance(value.body, d.DLTensor)
    return value.body
