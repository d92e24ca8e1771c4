"""Makes the plan of a signature: chooses the checks and their order.

The order is part of the interface (docs/checks.md). Arguments are checked from left to right, each
as far as possible; checks that need a later argument follow at the end, in declaration order, then
the relations between symbols, and last the checks that tensors do not overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, TypeAlias, Union

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from ffi_builder.errors import SpecError
from ffi_builder.plan import steps as s
from ffi_builder.plan.explain import plan_text
from ffi_builder.plan.limits import plan_limits
from ffi_builder.plan.lists import plan_list
from ffi_builder.plan.model import Plan
from ffi_builder.plan.path import Part, Place
from ffi_builder.plan.sanitize import Sanitize, checked_sanitize, watched
from ffi_builder.plan.tensors import plan_overlaps, plan_tensor
from ffi_builder.plan.values import ValuePlanner, plan_relations


def make_plan(signature: spec.Signature) -> Plan:
    """Plan the checks of a signature. Plans are pure data; no MLIR is needed.

    Raises:
        SpecError: if ``signature`` is not a Signature.

    Examples:
        >>> from ffi_builder import make_plan, spec
        >>> x = spec.Tensor("x", [4], "float32", device_type="cpu")
        >>> plan = make_plan(spec.Signature("relu", [x]))
        >>> len(plan)
        14
        >>> plan == make_plan(spec.Signature("relu", [x]))
        True
    """
    check_signature("", signature)
    return _Planner(signature).plan()


def explain(signature: spec.Signature, *, sanitize: bool | Sanitize = False) -> str:
    """Show the plan of a signature: the checks in their order, and the error of each.

    With ``sanitize``, it shows what ``attach(…, sanitize=…)`` adds, too.

    Raises:
        SpecError: ``signature`` is not a Signature, or ``sanitize`` neither a bool nor a
            :class:`Sanitize`.

    Examples:
        >>> from ffi_builder import explain, spec
        >>> act = spec.Choice("act", {"relu": 0, "gelu": 1})
        >>> print(explain(spec.Signature("mlp", [act])))
        mlp(act: Choice({'relu': 0, 'gelu': 1}))
             at                   expected                           otherwise
          0  number of arguments  1                                  TypeError
          1  argument array       a non-NULL pointer                 ValueError
          2  type of act          str                                TypeError
          3  act                  a non-NULL object                  ValueError
          4  length of act        at most 7, as it is held in place  ValueError
          5  act                  non-NULL elements                  ValueError
          6  act                  one of 'relu', 'gelu'              ValueError
    """
    check_signature("", signature)
    options = checked_sanitize(sanitize)
    if options is None:
        return str(make_plan(signature))
    plan = make_plan(options.constrain(signature))
    return plan_text(plan.signature, plan.steps, plan.late, watched(signature, options))


def check_signature(prefix: str, given: object) -> None:
    """Raise SpecError unless a Signature is given; its message begins with ``prefix``.

    Raises:
        SpecError: ``given`` is something else; the message says what to write.

    Examples:
        >>> from ffi_builder import plan
        >>> plan.check_signature("compile: ", "scale(n: int32)")
        Traceback (most recent call last):
        ...
        ffi_builder.errors.SpecError: compile: expected a Signature but got 'scale(n: int32)':
            spec.Signature.parse makes one of text
    """
    if isinstance(given, spec.Signature):
        return
    hint = ""
    if isinstance(given, str):
        hint = ": spec.Signature.parse makes one of text"
    elif isinstance(given, Sequence):
        hint = ": spec.Signature(name, params) makes one of a list of parameters"
    raise SpecError(f"{prefix}expected a Signature but got {given!r}{hint}")


AnyObject: TypeAlias = Union[spec.Object, spec.Function, spec.Array, spec.Map]
Simple: TypeAlias = Union[
    spec.Stream,
    spec.DataPointer,
    spec.DType,
    spec.Device,
    spec.ConstNone,
    spec.ConstInt,
    spec.ConstBool,
    spec.ConstFloat,
]
_STATIC: Final[dict[type, int]] = {
    spec.Function: TypeIndex.FUNCTION,
    spec.Array: TypeIndex.ARRAY,
    spec.Map: TypeIndex.MAP,
}


class _Planner(ValuePlanner):
    """Plans parameters from left to right."""

    def plan(self) -> Plan:
        """Plan all parameters. Late steps come last."""
        arguments = self.signature.arguments
        nowhere = Place((-1,), "", Part.COUNT)
        self.add(s.CheckCount(nowhere, len(arguments)))
        if arguments:
            self.add(s.CheckArguments(nowhere.at(Part.ARGUMENTS)))
        for index, param in enumerate(arguments):
            self._plan_param(Place((index,), param.name), param)
        late = (*self.late, *plan_relations(self), *plan_overlaps(self))
        symbols = tuple(self.origins)
        return Plan(self.signature, tuple(self.steps), late, symbols, self.occurrences)

    def _plan_param(self, place: Place, param: spec.Param, *, optional: bool = False) -> None:
        match param:
            case spec.Optional():
                self._plan_optional(place, spec.required(param))
            case spec.Var():
                self._plan_scalar(place, param, optional)
            case spec.Tensor():
                plan_tensor(self, place, param, optional=optional)
            case spec.Shape():
                self._plan_shape(place, param, optional)
            case spec.TupleParam() | spec.Struct():
                self._plan_tuple(place, param, optional)
            case spec.TensorList():
                plan_list(self, place, param, optional=optional)
            case spec.String() | spec.Bytes() | spec.Choice():
                self._plan_text(place, param, optional)
            case spec.Object() | spec.Function() | spec.Array() | spec.Map():
                self._plan_object(place, param, optional)
            case spec.EnvStream():
                raise AssertionError("an EnvStream is no argument")
            case _:
                self._plan_plain(place, param, optional)

    def _plan_plain(self, place: Place, param: Simple, optional: bool) -> None:
        """Plan a parameter without symbols and elements."""

        def decode(kind: s.Kind) -> s.DecodeScalar:
            return s.DecodeScalar(place, kind, optional=optional)

        match param:
            case spec.Stream():
                self.add(decode(s.Kind.STREAM))
            case spec.DataPointer():
                self.add(decode(s.Kind.POINTER))
            case spec.DType():
                self.add(decode(s.Kind.DTYPE))
            case spec.Device():
                self.add(decode(s.Kind.DEVICE))
            case spec.ConstNone():
                self.add(decode(s.Kind.CONST_NONE))
            case spec.ConstInt():
                self.add(decode(s.Kind.CONST_INT), s.EqualInt(place, param.value))
            case spec.ConstBool():
                self.add(decode(s.Kind.CONST_BOOL), s.EqualInt(place, param.value))
            case spec.ConstFloat():
                self.add(decode(s.Kind.CONST_FLOAT), s.EqualFloat(place, param))

    def _plan_optional(self, place: Place, param: spec.Plain) -> None:
        """Plan an Optional. Symbols that it binds are certain only within it."""
        outer, self.in_optional = self.in_optional, True
        certain = set(self.bound)
        inside = self.planned(lambda: self._plan_param(place, param, optional=True))
        self.add(s.DecodeOptional(place, inside=inside))
        self.provisional |= self.bound - certain
        self.bound = certain
        self.in_optional = outer

    def _plan_scalar(self, place: Place, var: spec.Var, optional: bool) -> None:
        if var.dtype == "handle":
            self.add(s.DecodeScalar(place, s.Kind.HANDLE))
        elif var.dtype == "bool":
            self.add(s.DecodeScalar(place, s.Kind.BOOL, optional=optional), s.CheckBool(place))
        elif var.is_integer:
            self.add(s.DecodeScalar(place, s.Kind.INT, optional=optional, integer=var.dtype))
            self.add(*plan_limits(place, var))
        else:
            self.add(s.DecodeScalar(place, s.Kind.FLOAT, var.dtype, optional=optional))
        self.bind(place, var)

    def _plan_text(
        self, place: Place, param: spec.String | spec.Bytes | spec.Choice, optional: bool
    ) -> None:
        binary = isinstance(param, spec.Bytes)
        self.add(s.DecodeText(place, binary, optional=optional))
        if isinstance(param, spec.Choice):
            self.add(s.CheckChoice(place, param))

    def _plan_object(self, place: Place, param: AnyObject, optional: bool) -> None:
        index = _STATIC.get(type(param))
        key = param.type_key if isinstance(param, spec.Object) else None
        self.add(s.DecodeObject(place, index, key, optional=optional))

    def _plan_shape(self, place: Place, param: spec.Shape, optional: bool) -> None:
        self.add(s.DecodeShape(place, optional=optional, length=len(param.shape)))
        for index, entry in enumerate(param.shape):
            at = place.at(Part.ENTRY, index)
            behind = self.planned(partial(self.plan_value, at, entry))
            bounded = any(isinstance(step, (s.EqualInt, s.Fits)) for step in behind[:1])
            self.add(s.DecodeEntry(at, bounded=bounded), *behind)

    def _plan_tuple(
        self, place: Place, param: spec.TupleParam | spec.Struct, optional: bool
    ) -> None:
        self.add(s.DecodeTuple(place, optional=optional, length=len(param.params)))
        for index, (path, element) in enumerate(spec.elements(param, place.path)):
            self._plan_param(Place((*place.position, index), path), element)
