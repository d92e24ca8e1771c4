"""From a signature to its plan: which checks, in which order.

The order is that of design.md, and part of the interface: arguments from left to right, each
checked as far as it can be; then, in declaration order, what had to wait for a later argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ffi_builder import spec
from ffi_builder.errors import SpecError
from ffi_builder.plan.place import Part, Place
from ffi_builder.plan.steps import (
    AnyStep,
    AtLeast,
    AtMost,
    Bind,
    BindOrEqual,
    CheckArguments,
    CheckBool,
    CheckCells,
    CheckCount,
    CheckLength,
    DecodeEntry,
    DecodeScalar,
    DecodeShape,
    DecodeTuple,
    Divisible,
    EqualExpr,
    EqualFloat,
    EqualInt,
    EqualSymbol,
    Fits,
    Kind,
    NotNegative,
    NotNull,
    Solve,
)
from ffi_builder.plan.tensor import plan_tensor


@dataclass(frozen=True)
class Plan:
    """The checks of a signature, as an ordered list of steps.

    ``late`` is the index of the first step that had to wait for a later argument. ``str()`` gives
    one line a step; plans of equal signatures are equal.
    """

    signature: spec.Signature
    steps: tuple[AnyStep, ...]
    late: int

    def __str__(self) -> str:
        from ffi_builder.plan.explain import plan_text

        return plan_text(self)

    def __iter__(self) -> Iterator[AnyStep]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)


def make_plan(signature: spec.Signature) -> Plan:
    """The plan of a signature. Pure data; no MLIR is needed.

    Raises:
        SpecError: if it is given something else.
    """
    if not isinstance(signature, spec.Signature):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise SpecError(f"expected a Signature but got {signature!r}")
    return Planner(signature).plan()


@dataclass
class Planner:
    """Collects steps, and remembers which symbols are bound so far."""

    signature: spec.Signature
    steps: list[AnyStep] = field(default_factory=list[AnyStep])
    late: list[AnyStep] = field(default_factory=list[AnyStep])
    bound: set[spec.Var] = field(default_factory=set[spec.Var])
    """Symbols bound for certain."""
    provisional: set[spec.Var] = field(default_factory=set[spec.Var])
    """Symbols that a stride was the first to bind, so that a later occurrence may replace it."""
    devices: dict[str, Place] = field(default_factory=dict[str, Place])
    """The first tensor of each device type."""

    def __post_init__(self) -> None:
        entries = [entry for _, entry in spec.occurrences(self.signature.params)]
        # Expressions never bind what stands alone somewhere.
        self._alone = {entry for entry in entries if isinstance(entry, spec.Var)}
        self._occurrences: dict[spec.Var, int] = {}
        for entry in entries:
            for var in set(spec.variables(entry)):
                self._occurrences[var] = self._occurrences.get(var, 0) + 1

    def plan(self) -> Plan:
        """All steps, those that had to wait last."""
        arguments = self.signature.arguments
        nowhere = Place((-1,), "", Part.COUNT)
        self.add(CheckCount(nowhere, len(arguments)))
        if arguments:
            self.add(CheckArguments(nowhere.at(Part.ARGUMENTS)))
        for index, param in enumerate(arguments):
            self._plan_param(Place((index,), param.name), param)
        return Plan(self.signature, (*self.steps, *self.late), len(self.steps))

    def add(self, *steps: AnyStep) -> None:
        """Append steps."""
        self.steps.extend(steps)

    def _plan_param(self, place: Place, param: spec.Param) -> None:
        match param:
            case spec.Var():
                self._plan_scalar(place, param)
            case spec.Tensor():
                plan_tensor(self, place, param)
            case spec.Shape():
                self._plan_shape(place, param)
            case spec.TupleParam():
                self._plan_tuple(place, param)
            case spec.Stream():
                self.add(DecodeScalar(place, Kind.STREAM))
            case spec.DataPointer():
                self.add(
                    DecodeScalar(place, Kind.POINTER), NotNegative(place), Fits(place, "uint64")
                )
            case spec.ConstNone():
                self.add(DecodeScalar(place, Kind.CONST_NONE))
            case spec.ConstInt():
                self.add(DecodeScalar(place, Kind.CONST_INT), EqualInt(place, param.value))
            case spec.ConstBool():
                self.add(DecodeScalar(place, Kind.CONST_BOOL), EqualInt(place, param.value))
            case spec.ConstFloat():
                self.add(DecodeScalar(place, Kind.CONST_FLOAT), EqualFloat(place, param))
            case spec.EnvStream():
                raise AssertionError("an EnvStream is no argument")

    def _plan_scalar(self, place: Place, var: spec.Var) -> None:
        if var.dtype == "handle":
            self.add(DecodeScalar(place, Kind.HANDLE))
        elif var.dtype == "bool":
            self.add(DecodeScalar(place, Kind.BOOL), CheckBool(place))
        elif var.is_integer:
            self.add(DecodeScalar(place, Kind.INT), Fits(place, var.dtype))
            self.constrain(place, var)
        else:
            self.add(DecodeScalar(place, Kind.FLOAT, var.dtype))
        self.bind(place, var)

    def _plan_shape(self, place: Place, param: spec.Shape) -> None:
        length = len(param.shape)
        self.add(DecodeShape(place), NotNull(place), CheckLength(place, length))
        if length:
            self.add(CheckCells(place))
        for index, entry in enumerate(param.shape):
            at = place.at(Part.ENTRY, index)
            self.add(DecodeEntry(at), NotNegative(at))
            self.plan_value(at, entry)

    def _plan_tuple(self, place: Place, param: spec.TupleParam) -> None:
        length = len(param.params)
        self.add(DecodeTuple(place), NotNull(place), CheckLength(place, length))
        if length:
            self.add(CheckCells(place))
        for index, element in enumerate(param.params):
            self._plan_param(Place((*place.position, index), f"{place.path}[{index}]"), element)

    def plan_value(self, place: Place, entry: spec.Dim | None, *, free: bool = False) -> None:
        """The checks of one dimension, stride or entry of a Shape."""
        match entry:
            case None:
                return
            case int():
                self.add(EqualInt(place, entry, free))
            case spec.Var():
                if _may_not_fit(place, entry):
                    self.add(Fits(place, entry.dtype))
                self.constrain(place, entry, free=free)
                self.bind(place, entry, free=free)
            case spec.Expr():
                self._plan_expr(place, entry, free)

    def constrain(self, place: Place, var: spec.Var, *, free: bool = False) -> None:
        """The min, max and divisibility of a symbol."""
        if var.min is not None:
            self.add(AtLeast(place, var, free))
        if var.max is not None:
            self.add(AtMost(place, var, free))
        if var.divisibility is not None:
            self.add(Divisible(place, var, free))

    def bind(self, place: Place, var: spec.Var, *, free: bool = False) -> None:
        """The first occurrence binds; later ones must be equal."""
        if var in self.bound:
            self.add(EqualSymbol(place, var, free))
        elif free and self._occurrences[var] > 1:
            self.provisional.add(var)
            self.add(BindOrEqual(place, var, free))
        elif var in self.provisional:
            self.add(BindOrEqual(place, var))
            self.bound.add(var)
        else:
            self.add(Bind(place, var))
            self.bound.add(var)

    def _plan_expr(self, place: Place, expr: spec.Expr, free: bool) -> None:
        if all(var in self.bound for var in spec.variables(expr)):
            self.add(EqualExpr(place, expr, free))
            return
        form = spec.linear(expr)
        if form is None or form[1] in self._alone:
            self.late.append(EqualExpr(place, expr, free))
            return
        scale, var, offset = form
        solved = replace(place, solved=var.name)
        self.add(Solve(place, var, expr, scale, offset, free))
        if _may_not_fit(solved, var):
            self.add(Fits(solved, var.dtype))
        self.constrain(solved, var, free=free)
        self.bind(solved, var, free=free)


def _may_not_fit(place: Place, var: spec.Var) -> bool:
    """Whether what can stand at this place may not fit the symbol's dtype."""
    match place.part:
        case Part.SHAPE | Part.ENTRY if place.solved is None:
            lowest, highest = 0, 2**63 - 1
        case Part.DEVICE_ID:
            lowest, highest = -(2**31), 2**31 - 1
        case _:
            lowest, highest = -(2**63), 2**63 - 1
    low, high = spec.INT_RANGES[var.dtype]
    return lowest < low or high < highest
