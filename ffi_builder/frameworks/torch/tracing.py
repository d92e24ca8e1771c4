"""Checks the arguments of an operator while it is traced: the plan, on tensors without data.

What only memory can tell (addresses) is left to the wrapper. So is what a symbolic size would be
restricted by without need: limits, divisibility, the range of a dtype. The call is then refused
when it runs. Equalities are checked, and become guards where torch does not know them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any, Final, cast

from ffi_builder import spec
from ffi_builder.frameworks.torch import _torch
from ffi_builder.frameworks.torch.interface import Argument, Interface
from ffi_builder.plan import Part, Place, make_plan
from ffi_builder.plan import steps as s
from ffi_builder.plan.messages import BINDING, FRAME, NEAREST, Words, choices_text, signature_text
from ffi_builder.records import dataclass
from ffi_builder.suggest import nearest
from ffi_builder.testing.evaluate import OPERATORS, contiguous, evaluate, fold, holds

_ERRORS: Final[dict[str, Callable[[Any, Callable[[], str]], None]]] = {
    "TypeError": _torch.check_type,
    "ValueError": _torch.check_value,
}
_OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    **OPERATORS,
    "max": _torch.torch.sym_max,
    "min": _torch.torch.sym_min,
}


@dataclass(frozen=True)
class Checks:
    """The checks of an operator. Calling it with what was given, in order, makes them.

    Raises:
        TypeError, ValueError: as the wrapper would, in its words.
    """

    interface: Interface
    arguments: tuple[Argument, ...] = field(init=False)
    steps: tuple[s.AnyCheck, ...] = field(init=False)

    def __post_init__(self) -> None:
        given = tuple(argument for argument in self.interface.arguments if argument.given)
        object.__setattr__(self, "arguments", given)
        object.__setattr__(self, "steps", make_plan(self.interface.checked).checks)

    def __call__(self, *values: Any) -> None:
        """Check the values."""
        _Call(self, values).run()

    def blame(self, *values: Any) -> None:
        """Check the values when something else has failed: its error is not shown as the cause."""
        try:
            self(*values)
        except (TypeError, ValueError) as error:
            raise error from None

    def words(self, place: Place, words: Words, wanted: str, came: str) -> str:
        """Return the message of an error, which shows the whole signature."""
        signature = self.interface.signature
        number = self.arguments[place.argument].number
        return FRAME.format(
            subject=f"{words.prefix}{place}",
            argument=number,
            signature=signature_text(signature.name, spec.argument_texts(signature), number),
            wanted=wanted,
            came=came,
        )


def _is_of_kind(step: s.Decode, value: object) -> bool:
    """Return whether a value is of the kind that a step wants: what sizes may be read from.

    The dispatcher knows the others by the schema. It takes None for a tensor that is undefined.
    """
    match step:
        case s.DecodeTensor():
            return isinstance(value, _torch.torch.Tensor)
        case s.DecodeScalar(kind=s.Kind.INT):
            return hasattr(value, "__index__")
        case s.DecodeShape():
            return hasattr(value, "__getitem__")
        case _:
            return True


_CONVERTED: Final = {
    "NoneType": "None",
    "list": "ffi.Array",
    "tuple": "ffi.Array",
    "dict": "ffi.Map",
}


def _kind(value: object) -> str:
    """Return what the wrapper calls a value, or what Python does if it would be an object."""
    kind = type(value)
    name = f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.")
    return _CONVERTED.get(name, name)


@dataclass
class _Call:
    """One call that is checked, and the symbols that it has bound so far."""

    checks: Checks
    values: Sequence[Any]
    bound: dict[str, tuple[Any, Place, bool]] = field(
        default_factory=dict[str, tuple[Any, Place, bool]]
    )
    """Values of symbols, where they are from, and whether that is a stride that may be free."""
    solved: dict[Place, Any] = field(default_factory=dict[Place, Any])

    def run(self) -> None:
        absent: set[int] = set()
        for step in self.checks.steps:
            if step.place.argument in absent:
                continue
            if isinstance(step, s.DecodeOptional):
                if self.values[step.place.argument] is None:
                    absent.add(step.place.argument)
            else:
                self._step(step)

    def _step(self, step: s.AnyCheck) -> None:
        place = step.place
        match step:
            case s.CheckNdim(_, expected):
                got = self._tensor(place).ndim
                self._require(step, [got == expected], str(got))
            case s.CheckDType(_, dtypes):
                got = _torch.dtype_name(self._tensor(place).dtype)
                self._require(step, [got in map(str, dtypes)], got, dtype=got)
            case s.CheckSameDType(_, other):
                got, wanted = (_torch.dtype_name(self._tensor(at).dtype) for at in (place, other))
                self._require(step, [got == wanted], got, dtype=got, expected_dtype=wanted)
            case s.CheckDeviceType(_, device_type):
                got = self._tensor(place).device.type
                fine = got == "meta" or device_type in _torch.device_types(got)
                self._require(step, [fine], got, device=got)
            case s.CheckSameDevice():
                self._same_device(step)
            case s.CheckContiguous():
                self._contiguous(step)
            case s.EqualInt(_, expected, free):
                self._equal(step, self._value(place), expected, free)
            case s.EqualFloat(_, expected):
                got, wanted = self._value(place), expected.value
                self._require(step, [got == wanted or (got != got and wanted != wanted)], str(got))
            case s.Fits(_, dtype):
                self._within(step, *spec.INT_RANGES[dtype])
            case s.AtLeast(_, symbol):
                self._within(step, symbol.min, None)
            case s.AtMost(_, symbol):
                self._within(step, None, symbol.max)
            case s.Divisible(_, symbol):
                got = self._value(place)
                if isinstance(got, int) and not self._is_free(step):
                    self._require(step, [got % (symbol.divisibility or 1) == 0], str(got))
            case s.Bind(_, symbol):
                self.bound[symbol.name] = self._value(place), place, False
            case s.EqualSymbol(_, symbol, free) | s.BindOrEqual(_, symbol, free):
                self._bind_or_equal(step, symbol, free)
            case s.Solve(_, _, _, scale, offset, free):
                got = self._value(place) - offset
                self._equal(step, got % scale, 0, free, came=str(self._value(place)))
                self.solved[step.solved] = got // scale
            case s.EqualExpr(_, expr, free):
                self._equal_expr(step, expr, free)
            case s.CheckRelation():
                self._relation(step)
            case s.CheckChoice(_, choice):
                got = self._value(place)
                near = nearest(got, choice.choices)
                hint = "" if near is None else NEAREST.format(nearest=near)
                texts = {"string": choices_text([got]), "nearest": hint}
                self._require(step, [got in choice.choices], **texts)
            case s.CheckLength(_, expected):
                got = len(self._value(place))
                self._require(step, [got == expected], str(got))
            case s.NotNegative() if place.part is Part.ENTRY:
                self._within(step, 0, None)
            case s.Decode():
                value = self.values[place.argument]
                if not _is_of_kind(step, value):
                    self._require(step, [False], type=_kind(value))
            case s.EachElement():
                raise AssertionError("operators take no lists of tensors")
            case _:
                pass  # by the schema, true of every tensor, or of addresses: the call checks it

    # ---- values

    def _tensor(self, place: Place) -> Any:
        return self.values[place.argument]

    def _value(self, place: Place) -> Any:
        if place in self.solved:
            return self.solved[place]
        value = self.values[place.argument]
        match place.part:
            case Part.SHAPE:
                return value.shape[cast("int", place.index)] * place.packing
            case Part.STRIDES:
                return value.stride(cast("int", place.index)) * place.packing
            case Part.ENTRY:
                return value[cast("int", place.index)]
            case Part.DEVICE_ID:
                return value.device.index or 0
            case _:
                return value

    def _evaluated(self, dim: spec.Dim) -> Any:
        """Return the value of an expression; None if one of its symbols is absent."""
        return fold(
            dim, lambda var: self.bound[var.name][0] if var.name in self.bound else None, _OPERATORS
        )

    def _free(self, place: Place) -> list[Any]:
        """Return when a stride may be anything: its dimension is 1, or the tensor is empty."""
        tensor = self._tensor(place)
        return [tensor.shape[cast("int", place.index)] == 1, tensor.numel() == 0]

    def _is_free(self, step: s.AnyCheck) -> bool:
        if step.place.part is not Part.STRIDES:
            return False
        return any(map(_torch.guard_or_false, self._free(step.place)))

    # ---- checks

    def _require(self, step: s.AnyCheck, any_of: list[Any], came: str = "", **texts: str) -> None:
        """Raise the error of a step unless a condition holds; the first is what is expected."""
        if any(map(_torch.statically_true, any_of)) or any(map(_torch.guard_or_false, any_of)):
            return
        words = step.error

        def message() -> str:
            known = {**step.placeholders({}), "got": came, **texts}
            wanted, got = words.expected.format(**known), words.got.format(**known)
            return self.checks.words(step.place, words, wanted, got)

        # This asserts it when the graph runs, if the sizes are known only then.
        _ERRORS[words.kind](any_of[0], message)

    def _equal(self, step: s.AnyCheck, got: Any, expected: Any, free: bool, **texts: str) -> None:
        either = self._free(step.place) if free else []
        texts = {"expected": str(expected), "came": str(got), **self._layout(step.place), **texts}
        self._require(step, [got == expected, *either], texts.pop("came"), **texts)

    def _layout(self, place: Place) -> dict[str, str]:
        """Return what errors show of the strides of a tensor."""
        if place.part is not Part.STRIDES:
            return {}
        tensor = self._tensor(place)
        return {"shape": str(list(tensor.shape)), "strides": str(list(tensor.stride()))}

    def _within(self, step: s.AnyCheck, low: int | None, high: int | None) -> None:
        got = self._value(step.place)
        if not isinstance(got, int) or self._is_free(step):
            return
        fine = (low is None or low <= got) and (high is None or got <= high)
        self._require(step, [fine], str(got))

    def _bind_or_equal(
        self, step: s.EqualSymbol | s.BindOrEqual, symbol: spec.Var, free: bool
    ) -> None:
        got = self._value(step.place)
        may_be_free = free and self._is_free(step)
        known = self.bound.get(symbol.name)
        if known is None or (known[2] and not may_be_free):
            self.bound[symbol.name] = got, step.place, may_be_free
            return
        value, origin, provisional = known
        if provisional or may_be_free:
            return
        texts = {"origin": str(origin), "symbol": symbol.name}
        self._equal(step, got, value, free, **texts)

    def _equal_expr(self, step: s.EqualExpr, expr: spec.Expr, free: bool) -> None:
        expected = self._evaluated(expr)
        if expected is None:
            return
        self._equal(step, self._value(step.place), expected, free, bindings=self._bindings(expr))

    def _bindings(self, value: spec.Expr | spec.Relation) -> str:
        """Return what the symbols are, and where they were bound."""
        return ", ".join(
            BINDING.format(symbol=name, bound=self.bound[name][0], origin=self.bound[name][1])
            for name in dict.fromkeys(var.name for var in spec.variables(value))
        )

    def _relation(self, step: s.CheckRelation) -> None:
        """Check a relation whose symbols are known; the wrapper checks those of symbolic sizes."""
        relation = step.relation
        names = {var.name for var in spec.variables(relation)}
        values = {name: self.bound[name][0] for name in names if name in self.bound}
        if len(values) < len(names) or not all(isinstance(v, int) for v in values.values()):
            return

        def value_of(var: spec.Var) -> float:
            return values[var.name]

        if holds(relation, value_of):
            return
        sides = [relation.lhs, *([] if isinstance(relation.rhs, tuple) else [relation.rhs])]
        came = [evaluate(side, value_of) for side in sides]
        words = step.overflow if None in came else step.error
        texts = {
            **step.placeholders({}),
            "bindings": self._bindings(relation),
            "got": str(came[0]),
            "expected": str(came[-1]),
        }
        wanted, got = words.expected.format(**texts), words.got.format(**texts)
        place = self.bound[step.symbol.name][1]
        _ERRORS[words.kind](False, lambda: self.checks.words(place, words, wanted, got))

    def _same_device(self, step: s.CheckSameDevice) -> None:
        device = self._tensor(step.place).device
        for other in step.others:
            tensor = self._tensor(other)
            if tensor is None or tensor.device.type != device.type:
                continue
            index = tensor.device.index or 0
            texts = {"expected": str(index), "text": other.path}
            got = device.index or 0
            self._require(step, [got == index], str(got), **texts)
            return

    def _contiguous(self, step: s.CheckContiguous) -> None:
        place = step.place
        tensor = self._tensor(place)
        axes = range(tensor.ndim) if place.index is None else [place.index]
        strides = contiguous(tensor.shape, step.order)
        for axis in axes:
            at = replace(place, index=axis)
            self._equal(replace(step, place=at), self._value(at), strides[axis], True)
