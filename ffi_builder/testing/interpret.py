"""A plan, interpreted over argument memory: what the wrapper does, without MLIR."""

from __future__ import annotations

import ctypes
import math
import struct
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, NoReturn

from typing_extensions import assert_never

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.plan import Part, Place, Plan, Words
from ffi_builder.plan import steps as s
from ffi_builder.plan.words import BINDING, float_text, type_name
from ffi_builder.testing import memory as mem
from ffi_builder.testing.evaluate import evaluate
from ffi_builder.testing.message import LAYOUT_WORDS, Scalar, error, layout, same, show
from ffi_builder.testing.rounding import round_to

_DEVICES: Final = {code: name for name, code in abi.DEVICE_TYPES.items()}
_CONTAINERS: Final = {
    s.DecodeShape: (TypeIndex.SHAPE, TypeIndex.ARRAY, TypeIndex.LIST),
    s.DecodeTuple: (TypeIndex.ARRAY, TypeIndex.LIST),
}


@dataclass
class Bound:
    """A symbol's value, where it was bound, and whether for certain."""

    value: Scalar
    place: Place
    certain: bool = True


@dataclass
class Interpreter:
    """Runs a plan over ``num_args`` arguments at an address.

    Nothing is read that the wrapper would not read.
    """

    plan: Plan
    args: int
    num_args: int
    symbols: dict[spec.Var, Bound] = field(default_factory=dict[spec.Var, Bound])
    _objects: dict[tuple[int, ...], int] = field(default_factory=dict[tuple[int, ...], int])
    _types: dict[tuple[int, ...], int] = field(default_factory=dict[tuple[int, ...], int])
    _values: dict[Place, Scalar] = field(default_factory=dict[Place, Scalar])

    def run(self) -> dict[str, Scalar]:
        """The bound symbols by name.

        Raises:
            TypeError, ValueError: exactly the wrapper's error.
        """
        for step in self.plan:
            self._step(step)
        return {var.name: self._python_value(var) for var in self.symbols}

    def _python_value(self, var: spec.Var) -> Scalar:
        value = self.symbols[var].value
        return bool(value) if var.dtype == "bool" else value

    def _step(self, step: s.AnyStep) -> None:
        match step:
            case s.CheckCount(_, expected):
                self._equal(step, expected, self.num_args)
            case s.CheckArguments():
                self._require(self.args != 0, step)
            case s.DecodeTensor(place):
                self._decode_tensor(step)
            case s.DecodeShape(place) | s.DecodeTuple(place):
                self._decode_container(step)
            case s.NotNull(place):
                self._require(self._object(place) != 0, step)
            case s.CheckLength(place, expected):
                self._equal(step, expected, mem.read_i64(self._object(place) + abi.CELL_SIZE))
            case s.CheckCells(place):
                self._require(mem.read_u64(self._object(place) + abi.CELL_DATA) != 0, step)
            case s.CheckNdim(place, expected):
                self._equal(step, expected, mem.ndim(self._object(place)))
            case s.CheckDType(place, dtype):
                self._check_dtype(step, dtype)
            case s.CheckDeviceType(place, device_type):
                came = self._tensor_i32(place, abi.DLTENSOR_DEVICE_TYPE)
                device = _DEVICES.get(came, f"device type {came}")
                self._require(came == step.code, step, expected_device=device_type, device=device)
            case s.CheckSameDevice(place, other):
                expected = self._tensor_i32(other, abi.DLTENSOR_DEVICE_ID)
                self._equal(step, expected, self._value(place), text=other.path)
            case s.CheckShapePointer(place):
                pointer = mem.read_u64(self._object(place) + mem.DL + abi.DLTENSOR_SHAPE)
                self._require(pointer != 0, step)
            case s.CheckNumel(place):
                self._check_numel(step)
            case s.CheckOffset(place):
                data, offset = self._data(place)
                fine = data + offset < 2**64
                self._require(fine, step, address=hex(data), offset=hex(offset))
            case s.CheckData(place):
                fine = self._data(place)[0] != 0 or self._is_empty(place)
                self._require(fine, step, path=place.path)
            case s.CheckAlignment(place, alignment):
                self._check_alignment(step, alignment)
            case s.CheckContiguous(place):
                axis = place.index or 0
                expected = mem.row_major(self._object(place), axis)
                if not self._is_free(place):
                    self._equal(step, expected, mem.stride(self._object(place), axis))
            case s.DecodeScalar():
                self._decode_scalar(step)
            case s.DecodeEntry(place):
                self._values[place] = self._decode_entry(step)
            case s.NotNegative(place):
                value = self._value(place)
                self._require(value >= 0, step, got=show(value))
            case s.CheckBool(place):
                value = self._value(place)
                self._require(value in (0, 1), step, got=show(value))
            case s.CheckPacked(place):
                stored = self._stored(place)
                fine = -step.limit <= stored <= step.limit
                self._require(fine, step, expected=str(step.limit), got=str(stored))
            case s.Fits(place, dtype):
                low, high = spec.INT_RANGES[dtype]
                value = self._value(place)
                self._require(
                    low <= value <= high,
                    step,
                    expected_dtype=dtype,
                    range=f"{low} to {high}",
                    got=show(value),
                )
            case s.AtLeast(place, symbol, free):
                assert symbol.min is not None
                self._bound_check(step, symbol, symbol.min, self._value(place) >= symbol.min)
            case s.AtMost(place, symbol, free):
                assert symbol.max is not None
                self._bound_check(step, symbol, symbol.max, self._value(place) <= symbol.max)
            case s.Divisible(place, symbol, free):
                divisor = symbol.divisibility
                assert divisor is not None
                self._bound_check(step, symbol, divisor, self._value(place) % divisor == 0)
            case s.EqualInt(place, expected, free):
                if not (free and self._is_free(place)):
                    self._equal_int(step, expected)
            case s.EqualFloat(place, expected):
                value = float(self._value(place))
                fine = same(value, expected.value)
                self._require(
                    fine, step, expected=float_text(expected.value), got=float_text(value)
                )
            case s.Bind(place, symbol):
                self.symbols[symbol] = Bound(self._value(place), place)
            case s.EqualSymbol(place, symbol, free):
                if not (free and self._is_free(place)):
                    self._compare(step, symbol, self._value(place))
            case s.BindOrEqual(place, symbol, free):
                self._bind_or_equal(step, symbol, free=free)
            case s.Solve():
                self._solve(step)
            case s.EqualExpr():
                self._equal_expr(step)
            case _:
                assert_never(step)

    # ---- reading

    def _object(self, place: Place) -> int:
        return self._objects[place.position]

    def _any(self, position: tuple[int, ...]) -> int:
        """The address of a ``TVMFFIAny``."""
        *outer, last = position
        base = mem.read_u64(self._objects[tuple(outer)] + abi.CELL_DATA) if outer else self.args
        return base + last * abi.ANY_SIZE

    def _tensor_i32(self, place: Place, offset: int) -> int:
        return mem.read_i32(self._object(place) + mem.DL + offset)

    def _data(self, place: Place) -> tuple[int, int]:
        """data and byte_offset."""
        tensor = self._object(place) + mem.DL
        offset = mem.read_u64(tensor + abi.DLTENSOR_BYTE_OFFSET)
        return mem.read_u64(tensor + abi.DLTENSOR_DATA), offset

    def _is_empty(self, place: Place) -> bool:
        return 0 in mem.dims(self._object(place))

    def _is_free(self, place: Place) -> bool:
        dims = mem.dims(self._object(place))
        assert place.index is not None
        return dims[place.index] == 1 or 0 in dims

    def _stored(self, place: Place) -> int:
        assert place.index is not None
        if place.part is Part.STRIDES:
            return mem.stride(self._object(place), place.index)
        return mem.dims(self._object(place))[place.index]

    def _value(self, place: Place) -> Scalar:
        """The value that a step at this place sees."""
        if place in self._values:
            return self._values[place]
        if place.part is Part.DEVICE_ID:
            return self._tensor_i32(place, abi.DLTENSOR_DEVICE_ID)
        assert place.part in (Part.SHAPE, Part.STRIDES), f"nothing was decoded at {place}"
        return mem.wrap_i64(self._stored(place) * place.packing)

    # ---- decoding

    def _decode_tensor(self, step: s.DecodeTensor) -> None:
        any_ = self._any(step.place.position)
        tensor = mem.tensor_object(any_)
        self._require(tensor is not None, step, type=type_name(mem.read_i32(any_)))
        assert tensor is not None
        self._objects[step.place.position] = tensor

    def _decode_container(self, step: s.DecodeShape | s.DecodeTuple) -> None:
        any_ = self._any(step.place.position)
        index = mem.read_i32(any_)
        self._require(index in _CONTAINERS[type(step)], step, type=type_name(index))
        self._types[step.place.position] = index
        self._objects[step.place.position] = mem.read_u64(any_ + abi.ANY_PAYLOAD)

    def _decode_entry(self, step: s.DecodeEntry) -> int:
        place = step.place
        assert place.index is not None
        cells = mem.read_u64(self._object(place) + abi.CELL_DATA)
        if self._types[place.position] == TypeIndex.SHAPE:
            return mem.read_i64(cells + 8 * place.index)
        any_ = cells + abi.ANY_SIZE * place.index
        index = mem.read_i32(any_)
        fine = index in (TypeIndex.INT, TypeIndex.BOOL)
        self._require(fine, step, type=type_name(index))
        return mem.read_i64(any_ + abi.ANY_PAYLOAD)

    def _decode_scalar(self, step: s.DecodeScalar) -> None:
        any_ = self._any(step.place.position)
        index = mem.read_i32(any_)
        self._require(index in step.kind.accepts, step, type=type_name(index))
        payload = any_ + abi.ANY_PAYLOAD
        value: Scalar
        match index:
            case TypeIndex.NONE:
                value = 0
            case TypeIndex.FLOAT:
                value = ctypes.c_double.from_address(payload).value
            case TypeIndex.OPAQUE_PTR:
                value = mem.read_u64(payload)
            case TypeIndex.BIG_INT:
                value = mem.big_int(mem.read_u64(payload))
            case _:
                value = mem.read_i64(payload)
        if step.kind in (s.Kind.FLOAT, s.Kind.CONST_FLOAT):
            value = round_to(float(value), step.dtype or "float64")
        self._values[step.place] = value

    # ---- checking

    def _check_dtype(self, step: s.CheckDType, dtype: spec.DataType) -> None:
        tensor = self._object(step.place) + mem.DL + abi.DLTENSOR_DTYPE
        came = spec.DataType(*struct.unpack("<BBH", ctypes.string_at(tensor, 4)))
        self._require(came == dtype, step, expected_dtype=str(dtype), dtype=str(came))

    def _check_numel(self, step: s.CheckNumel) -> None:
        tensor = self._object(step.place)
        dims = mem.dims(tensor) if mem.ndim(tensor) else []
        self._require(math.prod(dims) < 2**63, step, shape=str(dims))

    def _check_alignment(self, step: s.CheckAlignment, alignment: int) -> None:
        address = sum(self._data(step.place))
        self._require(
            address % alignment == 0 or self._is_empty(step.place),
            step,
            expected=str(alignment),
            path=step.place.path,
            address=hex(address),
            alignment=str(address & -address),
        )

    def _equal_int(self, step: s.EqualInt, expected: int) -> None:
        value = self._value(step.place)
        # A bool that is neither 0 nor 1 is shown as the int that it is.
        shown = bool(value) if isinstance(expected, bool) and value in (0, 1) else value
        self._equal(step, expected, shown)

    def _bound_check(
        self, step: s.AtLeast | s.AtMost | s.Divisible, symbol: spec.Var, bound: int, fine: bool
    ) -> None:
        if step.free and self._is_free(step.place):
            return
        self._require(
            fine,
            step,
            expected=str(bound),
            symbol=symbol.name,
            got=show(self._value(step.place)),
        )

    def _compare(self, step: s.AnyStep, symbol: spec.Var, value: Scalar) -> None:
        bound = self.symbols[symbol]
        self._require(
            same(value, bound.value),
            step,
            expected=show(bound.value, symbol.dtype),
            got=show(value, symbol.dtype),
            symbol=symbol.name,
            origin=str(bound.place),
        )

    def _bind_or_equal(self, step: s.BindOrEqual, symbol: spec.Var, *, free: bool) -> None:
        value = self._value(step.place)
        free = free and self._is_free(step.place)
        bound = self.symbols.get(symbol)
        if bound is not None and bound.certain:
            if not free:
                self._compare(step, symbol, value)
            return
        if bound is None or not free:
            self.symbols[symbol] = Bound(value, step.place, certain=not free)

    def _solve(self, step: s.Solve) -> None:
        difference = int(self._value(step.place)) - step.offset
        solution = Fraction(difference, step.scale)
        # The wrapper computes in int64.
        fine = (
            -(2**63) <= difference < 2**63
            and solution.denominator == 1
            and -(2**63) <= solution < 2**63
        )
        free = step.free and self._is_free(step.place)
        self._require(
            fine or free,
            step,
            text=str(step.expr),
            symbol=step.symbol.name,
            got=show(self._value(step.place)),
        )
        self._values[step.solved] = int(solution) if fine else 0

    def _equal_expr(self, step: s.EqualExpr) -> None:
        if step.free and self._is_free(step.place):
            return
        symbols = dict.fromkeys(spec.variables(step.expr))
        bindings = ", ".join(
            BINDING.format(
                symbol=var.name,
                bound=show(self.symbols[var].value, var.dtype),
                origin=self.symbols[var].place,
            )
            for var in symbols
        )
        value = self._value(step.place)
        shown = {"text": str(step.expr), "bindings": bindings, "got": show(value)}
        expected = evaluate(step.expr, lambda var: self.symbols[var].value)
        if expected is None:
            self._fail(step, step.overflow, **shown)
        self._require(value == expected, step, expected=str(expected), **shown)

    # ---- failing

    def _equal(self, step: s.AnyStep, expected: Scalar, got: Scalar, **shown: str) -> None:
        self._require(expected == got, step, expected=show(expected), got=show(got), **shown)

    def _require(self, fine: bool, step: s.AnyStep, **shown: str) -> None:
        if not fine:
            self._fail(step, step.words, **shown)

    def _fail(self, step: s.AnyStep, words: Words, **shown: str) -> NoReturn:
        if words in LAYOUT_WORDS:
            shown = {**shown, **layout(self._object(step.place))}
        raise error(self.plan.signature, step.place, words, shown)
