"""A plan, interpreted over argument memory: what the wrapper does, without MLIR."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias, Union

from typing_extensions import assert_never

from ffi_builder import abi, spec
from ffi_builder.plan import Place, Plan
from ffi_builder.plan import steps as s
from ffi_builder.plan.messages import float_text
from ffi_builder.testing import memory as mem
from ffi_builder.testing.decode import decode, is_none
from ffi_builder.testing.message import (
    LAYOUT_WORDS,
    Mismatch,
    Scalar,
    layout,
    require,
    require_equal,
    same,
    show,
)
from ffi_builder.testing.reading import Found
from ffi_builder.testing.results import check_results
from ffi_builder.testing.symbols import Symbols
from ffi_builder.testing.tensors import check_tensor
from ffi_builder.testing.text import check_text

ObjectStep: TypeAlias = Union[s.NotNull, s.CheckLength, s.CheckCells]
ValueStep: TypeAlias = Union[
    s.NotNegative, s.CheckBool, s.CheckPacked, s.Fits, s.EqualInt, s.EqualFloat
]


@dataclass
class Interpreter:
    """Runs a plan over ``num_args`` arguments at an address.

    Nothing is read that the wrapper would not read.
    """

    plan: Plan
    args: int
    num_args: int
    absent: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]], init=False)
    """Where an Optional is None."""

    def __post_init__(self) -> None:
        self.found = Found(self.args)
        self.symbols = Symbols(self.found)

    def run(self) -> dict[str, Scalar]:
        """The value of every symbol by name, 0 where nothing has bound it.

        Raises:
            TypeError, ValueError: exactly the wrapper's error.
        """
        for step in self.plan:
            if self._is_absent(step.place):
                continue
            try:
                self._step(step)
            except Mismatch as mismatch:
                if mismatch.words in LAYOUT_WORDS:
                    mismatch.shown |= layout(self.found.object(mismatch.place))
                raise mismatch.error(self.plan.signature) from None
        check_results(self.plan, self.symbols)
        return self.symbols.values(self.plan.signature)

    def _is_absent(self, place: Place) -> bool:
        return any(place.position[: len(outer)] == outer for outer in self.absent)

    def _step(self, step: s.AnyStep) -> None:
        match step:
            case s.CheckCount(_, expected):
                require_equal(step, expected, self.num_args)
            case s.CheckArguments():
                require(self.args != 0, step)
            case s.DecodeOptional(place):
                if is_none(self.found, place):
                    self.absent.append(place.position)
            case (s.DecodeTensor() | s.DecodeShape() | s.DecodeTuple() | s.DecodeText()) | (
                s.DecodeObject() | s.DecodeScalar() | s.DecodeEntry()
            ):
                decode(self.found, step)
            case s.NotNull() | s.CheckLength() | s.CheckCells():
                self._check_object(step)
            case s.CheckSmall() | s.CheckBytes() | s.CheckChoice():
                check_text(self.found, step)
            case (
                (s.CheckNdim() | s.CheckDType() | s.CheckDeviceType() | s.CheckSameDevice())
                | (s.CheckShapePointer() | s.CheckDims() | s.CheckNumel() | s.CheckOffset())
                | (s.CheckData() | s.CheckAlignment() | s.CheckContiguous())
            ):
                check_tensor(self.found, step)
            case (s.NotNegative() | s.CheckBool() | s.CheckPacked() | s.Fits()) | (
                s.EqualInt() | s.EqualFloat()
            ):
                self._check_value(step)
            case (s.AtLeast() | s.AtMost() | s.Divisible() | s.Bind() | s.EqualSymbol()) | (
                s.BindOrEqual() | s.Solve() | s.EqualExpr()
            ):
                self.symbols.take(step)
            case _:
                assert_never(step)

    def _check_object(self, step: ObjectStep) -> None:
        address = self.found.object(step.place)
        match step:
            case s.NotNull():
                require(address != 0, step)
            case s.CheckLength(_, expected):
                require_equal(step, expected, mem.read_i64(address + abi.CELL_SIZE))
            case s.CheckCells():
                require(mem.read_u64(address + abi.CELL_DATA) != 0, step)
            case _:
                assert_never(step)

    def _check_value(self, step: ValueStep) -> None:
        match step:
            case s.CheckPacked(place):
                stored = self.found.stored(place)
                fine = -step.limit <= stored <= step.limit
                require(fine, step, expected=str(step.limit), got=str(stored))
                return
            case s.EqualInt(place, expected, free):
                if not (free and self.found.is_free(place)):
                    self._equal_int(step, expected)
                return
            case _:
                value = self.found.value(step.place)
        match step:
            case s.NotNegative():
                require(value >= 0, step, got=show(value))
            case s.CheckBool():
                require(value in (0, 1), step, got=show(value))
            case s.Fits(_, dtype):
                low, high = spec.INT_RANGES[dtype]
                fine, text = low <= value <= high, f"{low} to {high}"
                require(fine, step, expected_dtype=dtype, range=text, got=show(value))
            case s.EqualFloat(_, constant):
                expected, came = constant.value, float(value)
                texts = {"expected": float_text(expected), "got": float_text(came)}
                require(same(came, expected), step, **texts)
            case _:
                assert_never(step)

    def _equal_int(self, step: s.EqualInt, expected: int) -> None:
        value = self.found.value(step.place)
        # A bool that is neither 0 nor 1 is shown as the int that it is.
        shown = bool(value) if isinstance(expected, bool) and value in (0, 1) else value
        require_equal(step, expected, shown)
