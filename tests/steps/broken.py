"""For each step of a plan, a call that fails there, and what it says is expected and came.

The words are written out here once more, so that they are not taken from where they are tested.
"""

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
from ffi_builder.spec.dtypes import DataType
from ffi_builder.spec.expr import Expr, Relation
from ffi_builder.spec.functions import variables
from ffi_builder.spec.numbers import INT_RANGES
from tests.differential import description as d
from tests.steps.right import Right, at, changed

WRONG: Final = d.Plain(TypeIndex.UNCHANGED)
"""An argument of a kind that nothing takes."""
KINDS: Final = {
    s.Kind.INT: "int",
    s.Kind.BOOL: "bool",
    s.Kind.FLOAT: "float",
    s.Kind.HANDLE: "opaque pointer or None",
    s.Kind.POINTER: "opaque pointer, None or int",
    s.Kind.STREAM: "opaque pointer, None or int",
    s.Kind.DTYPE: "dtype",
    s.Kind.DEVICE: "device",
    s.Kind.CONST_NONE: "None",
    s.Kind.CONST_INT: "int",
    s.Kind.CONST_BOOL: "bool",
    s.Kind.CONST_FLOAT: "float",
}
LISTS_OF: Final[dict[object, str]] = {
    None: "tensors",
    s.Kind.INT: "ints",
    s.Kind.BOOL: "bools",
    s.Kind.FLOAT: "floats",
    TypeIndex.LIST: "lists",
    TypeIndex.STR: "strs",
    TypeIndex.BYTES: "bytes",
}
NULL: Final = ("a non-NULL pointer", "NULL")
ELEMENT: Final = 1
"""The element of a list in which the call fails."""


@dataclass(frozen=True)
class Broken:
    """The call, what stands behind "Mismatched", and both sides of the error."""

    given: d.Arguments
    subject: str
    expected: str
    got: str


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

    def every(self) -> Iterator[tuple[s.AnyCheck, Broken | None]]:
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
            subject = f"{step.error.prefix}{step.place}"
            if found is None:
                yield step, None
                continue
            given, expected, got, *axis = found
            arguments = given if isinstance(given, d.Arguments) else d.Arguments(given)
            yield step, Broken(arguments, subject + "".join(axis), expected, got)

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

    def _broken(self, step: s.AnyCheck) -> tuple[Any, ...] | None:
        place, count = step.place, len(self.values)
        match step:
            case s.CheckCount():
                return d.Arguments(self.values, count + 1), str(count), str(count + 1)
            case s.CheckLeastCount(_, least):
                fewer = d.Arguments(self.values, least - 1)
                return fewer, f"at least {least}", str(least - 1)
            case s.CheckArguments():
                return d.Arguments(None, count), *NULL
            case s.Decode():
                return self._put(place, WRONG), self._kind(step), "Unchanged"
            case s.DecodeEntry():
                entries = [d.of_int(value) for value in self._ints(place)]
                entries[place.index or 0] = WRONG
                return self._put(place, d.list_(*entries)), "int", "Unchanged"
            case s.NotNull():
                null = d.Plain(self._object(place).type_index, 0)
                return self._put(place, null), "a non-NULL object", "NULL"
            case s.CheckLength(expected=length):
                given = self._resized(place, size=length + 1)
                return given, str(length), str(length + 1)
            case s.CheckCells() | s.CheckBytes():
                return self._resized(place, size=1, null=True), "non-NULL elements", "NULL"
            case s.CheckSmall():
                kind = TypeIndex.SMALL_STR - TypeIndex.STR + self._object(place).type_index
                small = d.small(kind, b"", 8)
                return self._put(place, small), "at most 7, as it is held in place", "8"
            case s.CheckChoice(choice=choice):
                allowed = ", ".join(f"'{text}'" for text in choice.choices)
                return self._put(place, d.str_(b"zzz")), f"one of {allowed}", "'zzz'"
            case _:
                return self._broken_tensor(step)

    def _broken_tensor(self, step: s.AnyCheck) -> tuple[Any, ...] | None:
        place = step.place
        match step:
            case s.CheckNdim(expected=ndim):
                return self._tensor(place, ndim=ndim + 1), str(ndim), str(ndim + 1)
            case s.NotNegative() if place.part is Part.NDIM:
                return self._tensor(place, ndim=-1), "a non-negative value", "-1"
            case s.CheckDType(dtypes=dtypes):
                names = ", ".join(map(str, dtypes))
                expected = names if len(dtypes) == 1 else f"one of {names}"
                given = self._tensor(place, dtype=(99, 3, 1))
                return given, expected, "dtype(code=99, bits=3, lanes=1)"
            case s.CheckSameDType(other=other):
                dtype = DataType(*self._dltensor(other).dtype)
                given = self._tensor(place, dtype=(0, 64, 1))
                return given, f"{dtype} (dtype of {other.path})", "int64"
            case s.CheckDeviceType(device_type=device):
                return self._tensor(place, device_type=99), device, "device type 99"
            case s.CheckSameDevice(others=others):
                first = self._dltensor(others[0])
                given = self._tensor(place, device_type=first.device_type, device_id=9)
                return given, f"{first.device_id} (the device of {others[0].path})", "9"
            case s.CheckShapePointer():
                ndim = len(self._dltensor(place).shape or ())
                return (self._tensor(place, shape=None, ndim=ndim), *NULL) if ndim else None
            case s.CheckDims():
                return self._tensor(place, shape=(-1, 3)), "a non-negative value", "-1", "[0]"
            case s.CheckOffset():
                given = self._tensor(place, byte_offset=2**64 - 8)
                expected = "data + byte_offset within the address space"
                data = hex(self._dltensor(place).data)
                return given, expected, f"{data} + 0xfffffffffffffff8"
            case s.CheckData():
                expected = f"a non-NULL pointer, as {place.path} has elements"
                return self._tensor(place, data=0), expected, "NULL"
            case s.CheckAlignment(alignment=alignment):
                expected = (
                    f"an address aligned to {alignment} bytes (data_alignment of {place.path})"
                )
                return self._tensor(place, data=0x1004), expected, "0x1004 (aligned to 4)"
            case s.CheckElementAlignment(alignments=alignments):
                bits = self._dltensor(place).dtype[1]
                expected = (
                    f"an address aligned to {bits // 8} bytes, as elements of {place.path} are"
                )
                assert alignments[-1] > 1
                return self._tensor(place, data=0x1001), expected, "0x1001 (aligned to 1)"
            case s.CheckOverlap(others=((other, _), *_)):
                return self._overlapping(place, in_element(other, ELEMENT))
            case s.CheckNumel():
                return self._too_large(place)
            case s.CheckContiguous(order=order):
                return self._odd_layout(place, order)
            case _:
                return self._broken_value(step)

    def _broken_value(self, step: s.AnyCheck) -> tuple[Any, ...] | None:
        place = step.place
        match step:
            case s.NotNegative():
                return self._value(place, -1), "a non-negative value", "-1"
            case s.CheckBool():
                return self._put(place, d.of_int(2)), "True, False, 0 or 1", "2"
            case s.CheckPacked(limit=limit):
                expected = f"at most {limit} in magnitude, as elements are packed"
                return self._value(replace(place, packing=1), limit + 1), expected, str(limit + 1)
            case s.Fits(dtype=dtype):
                return self._does_not_fit(place, dtype)
            case s.AtLeast(symbol=symbol):
                expected = f"at least {symbol.min} (min of {symbol})"
                return self._symbol(place, expected, (symbol.min or 0) - 1)
            case s.AtMost(symbol=symbol):
                expected = f"at most {symbol.max} (max of {symbol})"
                return self._symbol(place, expected, (symbol.max or 0) + 1)
            case s.Divisible(symbol=symbol):
                expected = f"a multiple of {symbol.divisibility} (divisibility of {symbol})"
                return self._symbol(place, expected, int(self.right.values[symbol.name]) + 1)
            case s.EqualInt(expected=bool(expected)):
                return self._put(place, d.of_bool(not expected)), str(expected), str(not expected)
            case s.EqualInt(expected=expected):
                return self._unequal(place, str(expected), expected + place.packing)
            case s.EqualFloat(expected=constant):
                got = constant.value + 1
                return self._put(place, d.of_float(got)), f"{constant.value:g}", f"{got:g}"
            case s.EqualSymbol(symbol=symbol) | s.BindOrEqual(symbol=symbol):
                return self._another(place, symbol)
            case s.Solve(expr=expr, scale=scale) if abs(scale) > 1:
                expected = f"a value of {expr} for an integer {step.symbol}"
                value = self.right.entry(expr) + 1
                return self._value(place, value), expected, str(value)
            case s.EqualExpr(expr=expr):
                value = self.right.entry(expr)
                known = self._known(expr, self.right)
                return self._unequal(place, f"{value} ({expr} with {known})", value + 1)
            case s.CheckCondition(condition=Relation() as relation, symbols=(symbol, *_)):
                return self._unrelated(place, symbol, relation)
            case _:
                return None

    # ---- values

    def _known(self, value: Expr | Relation, right: Right) -> str:
        """The symbols of an expression or relation, with their values and places."""
        names = dict.fromkeys(var.name for var in variables(value))
        return ", ".join(
            f"{name} = {right.values[name]} from {self.origins[name]}" for name in names
        )

    def _unrelated(self, place: Place, symbol: spec.Var, relation: Relation) -> tuple[Any, ...]:
        """With a symbol that is 1000 more or less, which keeps no relation of the samples."""
        by = -1000 if relation.op == "!=" else 1000
        value = int(self.right.values[symbol.name]) + by
        wrong = Right({**self.right.values, symbol.name: value})
        got = str(wrong.entry(relation.lhs))
        if isinstance(relation.rhs, (spec.Var, Expr)):
            got += f" and {wrong.entry(relation.rhs)}"
        return self._value(place, value), f"{relation} with {self._known(relation, wrong)}", got

    def _symbol(self, place: Place, expected: str, value: int) -> tuple[Any, ...]:
        return self._value(place, value), expected, str(value)

    def _unequal(self, place: Place, expected: str, value: int) -> tuple[Any, ...]:
        """Strides show the layout that they came with."""
        given = self._value(place, value)
        layout = ""
        if place.part is Part.STRIDES:
            tensor = _dltensor(at(given, self._position(place)))
            layout = f" (shape={list(tensor.shape or ())}, strides={list(tensor.strides or ())})"
        return given, expected, f"{value}{layout}"

    def _another(self, place: Place, symbol: spec.Var) -> tuple[Any, ...]:
        value, origin = self.right.values[symbol.name], self.origins[symbol.name]
        if symbol.is_integer:
            expected = f"{value} ({symbol} = {origin})"
            step = max(symbol.divisibility or 1, place.packing)
            return self._unequal(place, expected, int(value) + step)
        given, shown = {
            "bool": (d.of_bool(not value), (str(bool(value)), str(not value))),
            "handle": (d.of_pointer(int(value) + 8), (hex(int(value)), hex(int(value) + 8))),
        }.get(symbol.dtype, (d.of_float(value + 1), (f"{value:g}", f"{value + 1:g}")))
        return self._put(place, given), f"{shown[0]} ({symbol} = {origin})", shown[1]

    def _does_not_fit(self, place: Place, dtype: str) -> tuple[Any, ...] | None:
        low, high = INT_RANGES[dtype]
        expected = f"a value that fits {dtype} ({low} to {high})"
        value = high + 1
        if value >= 2**63 and place.part is not Part.VALUE:
            return None
        shown = str(value) if value < 2**64 else "an int beyond 64 bits"
        return self._value(place, value), expected, shown

    def _too_large(self, place: Place) -> tuple[Any, ...] | None:
        """Break the size, if all dimensions are symbols that this very tensor binds."""
        dims = self._dltensor(place).shape or ()
        big = (2**32,) * len(dims)
        names = [name for name, origin in self.origins.items() if origin.startswith(place.path)]
        if len(names) < 2 or len(dims) != len(names):
            return None
        given = self._tensor(place, shape=big, strides=None)
        return given, "a product of dimensions that fits int64", str(list(big))

    def _overlapping(self, place: Place, other: Place) -> tuple[Any, ...]:
        """Beginning at the last element of the other tensor; both are row-major."""
        first, last = _bytes(self._dltensor(other))
        given = self._tensor(place, data=last + 1 - self._dltensor(other).dtype[1] // 8)
        start, end = _bytes(_dltensor(at(given, self._position(place))))
        got = f"{start:#x} to {end:#x}, where {other.path} has {first:#x} to {last:#x}"
        return given, f"memory apart from that of {other.path} (no_overlap)", got

    def _odd_layout(self, place: Place, order: str) -> tuple[Any, ...] | None:
        tensor = self._dltensor(place)
        shape, axis = tensor.shape or (), place.index or 0
        inner = [shape[:i] if order == "F" else shape[i + 1 :] for i in range(len(shape))]
        strides = [math.prod(dims) for dims in inner]
        right, strides[axis] = strides[axis], 99
        name = "row-major" if order == "C" else "column-major"
        got = f"99 (shape={list(shape)}, strides={strides})"
        suffix = () if place.index is not None else ("[0]",)
        given = self._tensor(place, strides=tuple(strides))
        return given, f"{right} ({name} contiguous)", got, *suffix

    # ---- arguments

    def _kind(self, step: s.Decode) -> str:
        match step:
            case s.DecodeVariant(text=kind):
                pass
            case s.DecodeTensor():
                kind = "Tensor"
            case s.DecodeShape():
                kind = "Shape or list of ints"
            case s.DecodeTuple():
                kind = "tuple"
            case s.DecodeList(of=TypeIndex.ARRAY):
                kind = "list"
            case s.DecodeList(of=of):
                kind = f"list of {LISTS_OF[of]}"
            case s.DecodeText(binary=binary):
                kind = "bytes" if binary else "str"
            case s.DecodeObject(type_key=str(key)):
                kind = key
            case s.DecodeObject(type_index=index):
                kind = {None: "Object", 68: "Function", 71: "Array", 72: "Map"}[index]
            case s.DecodeScalar(kind=scalar):
                kind = KINDS[scalar]
            case _:
                raise AssertionError(step)
        return f"{kind} or None" if step.optional else kind

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


def _bytes(tensor: d.DLTensor) -> tuple[int, int]:
    """The first and the last address of a row-major tensor."""
    _, bits, lanes = tensor.dtype
    return tensor.data, tensor.data + math.prod(tensor.shape or ()) * bits * lanes // 8 - 1


def _dltensor(value: d.Value) -> d.DLTensor:
    assert isinstance(value, d.Object)
    assert isinstance(value.body, d.DLTensor)
    return value.body
