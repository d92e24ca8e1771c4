"""Makes the plan of a signature: chooses the checks and their order.

The order is part of the interface (docs/checks.md). Arguments are checked from left to right, each
as far as possible; checks that need a later argument follow at the end, in declaration order, then
the relations between symbols, and last the checks that tensors do not overlap. ``explain`` prints
the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, Union, runtime_checkable

from ffi_builder import spec
from ffi_builder.abi import UNIFIED_DEVICES, TypeIndex
from ffi_builder.errors import SpecError
from ffi_builder.plan import steps as s
from ffi_builder.plan.checks import CHECKS, plan_limits
from ffi_builder.plan.model import Plan, plan_text
from ffi_builder.plan.path import Part, Place
from ffi_builder.plan.sanitize import watching
from ffi_builder.plan.values import PlannedList, PlannedTensor, ValuePlanner, plan_conditions
from ffi_builder.spec.composite import elements, takes_more
from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.spec.overlap import is_comparable
from ffi_builder.spec.param import Named
from ffi_builder.spec.params import Text
from ffi_builder.spec.tensors.devices import ANY
from ffi_builder.spec.variant import word_of

if TYPE_CHECKING:  # an add-on has it
    from ffi_builder.addons import Sanitize


def plan_tensor(planner: ValuePlanner, place: Place, tensor: spec.Tensor) -> None:
    """Plan the header of a tensor, then shape, strides, size, offset, data and alignment."""
    _plan_header(planner, place, tensor)
    if tensor.ndim or tensor.any_rank:
        planner.add(s.CheckShapePointer(place.at(Part.SHAPE), tensor.any_rank))
    for axis, dim in enumerate(tensor.dims):
        at = place.at(Part.SHAPE, axis)
        planner.add(s.ReadDim(at))
        if axis == tensor.packed_axis:
            at = replace(at, packing=tensor.packing)
            planner.add(s.CheckPacked(at))
        planner.plan_value(at, dim)
    _plan_strides(planner, place, tensor)
    planner.add(s.CheckData(place.at(Part.DATA)))
    _plan_alignment(planner, place.at(Part.DATA), tensor)


def _plan_alignment(planner: ValuePlanner, data: Place, tensor: spec.Tensor) -> None:
    if tensor.data_alignment is not None:
        planner.add(s.CheckAlignment(data, tensor.data_alignment))
        return
    alignments = sorted({parse_dtype(dtype).alignment for dtype in tensor.element_dtypes})
    if alignments[-1] > 1 and tensor.device in (*UNIFIED_DEVICES, ANY):
        planner.add(s.CheckElementAlignment(data, tuple(alignments)))


def _plan_header(planner: ValuePlanner, place: Place, tensor: spec.Tensor) -> None:
    """Plan the header, then the device id if the spec gives one, like any other value."""
    ndim, device_id = place.at(Part.NDIM), place.at(Part.DEVICE_ID)
    device_type, same_device = None, None
    if tensor.device != ANY:
        device_type = s.CheckDeviceType(place.at(Part.DEVICE_TYPE), tensor.device)
    others, certain = _candidates(planner.tensors, tensor.device)
    if tensor.device_id is None and others:
        same_device = s.CheckSameDevice(device_id, others, certain)
    planner.add(
        s.DecodeTensor(
            place,
            ndim=s.NotNegative(ndim) if tensor.any_rank else s.CheckNdim(ndim, tensor.ndim),
            dtype=_dtype(planner, place.at(Part.DTYPE), tensor),
            device_type=device_type,
            same_device=same_device,
        )
    )
    planner.tensors.append((device_id, tensor, not planner.in_optional))
    if tensor.device_id is not None:
        planner.plan_value(device_id, tensor.device_id)


def _dtype(
    planner: ValuePlanner, place: Place, tensor: spec.Tensor
) -> s.CheckDType | s.CheckSameDType:
    """Return the check of the dtype. If another tensor decides it, compare with that tensor."""
    path = tensor.references.get("dtype")
    if path is None or len(tensor.dtypes) == 1:
        return s.CheckDType(place, tuple(map(parse_dtype, tensor.element_dtypes)))
    others = (other for other, _, _ in planner.tensors if other.path == path)
    return s.CheckSameDType(place, next(others).at(Part.DTYPE))


def _candidates(tensors: list[PlannedTensor], device: str) -> tuple[tuple[Place, ...], bool]:
    """Return the candidates for the first tensor on a device type, and whether it is known."""
    candidates: list[Place] = []
    for place, tensor, given in tensors:
        other = tensor.device_type  # only results and Workspaces take a device from another tensor
        if other == device or ANY in (other, device):
            candidates.append(place)
            if given and other == device != ANY:
                return tuple(candidates), len(candidates) == 1
    return tuple(candidates), False


def _plan_strides(planner: ValuePlanner, place: Place, tensor: spec.Tensor) -> None:
    entries = tensor.stride_entries
    strides = place.at(Part.STRIDES)
    if tensor.any_rank:
        if tensor.order is not None:
            planner.add(s.CheckLayout(strides, tensor.order, None))
        return
    if entries is None:
        if tensor.ndim:
            planner.add(s.CheckLayout(strides, tensor.order or "C", tensor.ndim))
        return
    for axis in range(tensor.ndim):
        at = place.at(Part.STRIDES, axis)
        if tensor.packing > 1 and axis != tensor.packed_axis and entries[axis] is not None:
            at = replace(at, packing=tensor.packing)
            planner.add(s.CheckPacked(at))
        planner.plan_value(at, entries[axis], free=True)


def plan_overlaps(planner: ValuePlanner) -> Iterator[s.CheckOverlap]:
    """Compare each tensor of ``no_overlap`` with all others, every pair once.

    A list has one place, which stands for each of its elements. A list that may have two elements
    is also compared with itself.
    """
    tensors = list(_comparable(planner))
    compared: set[Place] = set()
    for place, tensor, alone in tensors:
        if place.fixed_path not in planner.signature.no_overlap:
            continue
        if alone:
            compared.add(place)
        others = tuple((other, of) for other, of, _ in tensors if other not in compared)
        compared.add(place)
        if others:
            yield s.CheckOverlap(place, tensor, others)


def _comparable(planner: ValuePlanner) -> Iterator[tuple[Place, spec.Tensor, bool]]:
    """Yield the tensors that can share memory, and whether each place has at most one tensor."""
    for place, tensor, _ in planner.tensors:
        if not is_comparable(tensor):
            continue
        in_list = planner.first_elements.get(place)
        if in_list is None:
            yield place.at(Part.VALUE), tensor, True
        else:
            yield in_list.place.each, tensor, in_list.param.most < 2


def plan_list(planner: ValuePlanner, place: Place, param: spec.TensorList) -> None:
    """Plan the list itself, then one element, whose steps run for each element.

    The first element, if any, binds the symbols that all elements share. If the list is never
    empty, these symbols are certainly bound afterwards. Otherwise they are certainly bound only in
    lists of the same length, similar to symbols in an Optional.
    """
    length = place.at(Part.LENGTH)
    planner.add(s.DecodeList(place))
    planner.plan_value(length, param.length)
    before, known = set(planner.bound), planner.of_elements
    shared = set(param.symbols) - set(param.each)
    if param.length is not None:
        planner.bound |= planner.of_length.get(param.length, set())
    planner.provisional |= shared - planner.bound
    planner.bound |= known.keys() & set(param.each)
    bound = tuple((var, known[var]) for var in param.each if var in known)
    inside = planner.planned(lambda: _plan_elements(planner, place, param))
    planner.add(s.EachElement(place, param, bound, inside=inside))
    now_bound = planner.bound & shared
    if param.never_empty:
        planner.bound = before | now_bound
        return
    planner.bound = before
    if param.length is not None and not planner.in_optional:
        planner.of_length.setdefault(param.length, set()).update(now_bound)


def _plan_elements(planner: ValuePlanner, place: Place, param: spec.TensorList) -> None:
    """Plan one element. Other tensors compare their device with that of the first element."""
    tensors = planner.tensors
    first = place.first.at(Part.DEVICE_ID)
    planner.tensors = [*_known_here(planner, param), (first, param.tensor, False)]
    plan_tensor(planner, place.each, param.tensor)
    for step in planner.steps:
        if isinstance(step, s.Bind) and step.symbol in param.each:
            planner.of_elements[step.symbol] = step.place
    given = param.never_empty and not planner.in_optional
    planner.tensors = [*tensors, (first, param.tensor, given)]
    planner.first_elements[first] = PlannedList(place, param, planner.in_optional)


def _known_here(planner: ValuePlanner, param: spec.TensorList) -> Iterator[PlannedTensor]:
    """Yield the tensors so far. In an element, lists of the same length certainly have elements."""
    for place, tensor, given in planner.tensors:
        other = planner.first_elements.get(place)
        if other is not None and not other.in_optional and param.length is not None:
            given = given or other.param.length == param.length
        yield place, tensor, given


def make_plan(signature: spec.Signature) -> Plan:
    """Plan the checks of a signature. Plans are pure data; no MLIR is needed.

    Raises:
        SpecError: if ``signature`` is not a Signature.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.plan import make_plan
        >>> x = spec.Tensor("x", [4], "float32", device_type="cpu")
        >>> plan = make_plan(spec.Signature("relu", [x]))
        >>> len(plan)
        15
        >>> plan == make_plan(spec.Signature("relu", [x]))
        True
    """
    check_signature("", signature)
    return _Planner(signature).plan()


@runtime_checkable
class Explained(Protocol):
    """A compiled module, which may have a report of what was compared with its kernels."""

    report: Any

    def explain(self) -> str:
        """Return the text."""
        ...


def explain(signature: spec.Signature | Explained, *, sanitize: bool | Sanitize = False) -> str:
    """Show the plan of a signature: the checks in their order, and the error of each.

    Of what :func:`~ffi_builder.wrap` has made, show the plans of all functions, what each parameter
    of the kernel gets, and what could not be compared.

    With ``sanitize``, the checks that ``attach(…, sanitize=…)`` adds are shown too. For the error
    of given arguments, see :func:`~ffi_builder.testing.check`.

    Raises:
        SpecError: ``signature`` is not a Signature, or ``sanitize`` neither a bool nor a
            :class:`~ffi_builder.Sanitize`, or the add-on for it is not here.

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
    if isinstance(signature, Explained):
        return signature.explain()
    check_signature("explain: ", signature)
    options = watching(sanitize)
    if options is None:
        return str(make_plan(signature))
    plan = make_plan(options.constrain(signature))
    return plan_text(plan.signature, plan.steps, plan.late, options.rows(signature))


def check_signature(prefix: str, given: object) -> None:
    """Raise SpecError unless a Signature is given; the message begins with ``prefix``.

    Raises:
        SpecError: ``given`` is not a Signature; the message says what to write.

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
_STATIC: Final[dict[type, int]] = {
    spec.Function: TypeIndex.FUNCTION,
    spec.Array: TypeIndex.ARRAY,
    spec.Map: TypeIndex.MAP,
}


def _decoding(place: Place, var: spec.Var) -> tuple[s.DecodeScalar, tuple[s.CheckBool, ...]]:
    """Return the step that decodes a scalar of the dtype of a symbol, and the check behind it."""
    if var.dtype == "handle":
        return s.DecodeScalar(place, s.Kind.HANDLE), ()
    if var.dtype == "bool":
        return s.DecodeScalar(place, s.Kind.BOOL), (s.CheckBool(place),)
    if var.is_integer:
        return s.DecodeScalar(place, s.Kind.INT, integer=var.dtype), ()
    return s.DecodeScalar(place, s.Kind.FLOAT, var.dtype), ()


def _optional(place: Place, inside: Sequence[s.AnyStep]) -> s.DecodeOptional:
    """Return a step that skips these for None, which the error of the first one then names."""
    first: Any = inside[0]
    return s.DecodeOptional(place, inside=(replace(first, optional=True), *inside[1:]))


_OWN: Final = {
    "int": (TypeIndex.INT, TypeIndex.BIG_INT),
    "bool": (TypeIndex.BOOL,),
    "float": (TypeIndex.FLOAT,),
    "Tensor": (TypeIndex.TENSOR, TypeIndex.DL_TENSOR_PTR),
    "str": (TypeIndex.RAW_STR, TypeIndex.SMALL_STR, TypeIndex.STR),
    "bytes": (TypeIndex.BYTE_ARRAY_PTR, TypeIndex.SMALL_BYTES, TypeIndex.BYTES),
    "dtype": (TypeIndex.DATA_TYPE,),
    "device": (TypeIndex.DEVICE,),
    "list": (TypeIndex.ARRAY, TypeIndex.LIST),
}
"""The type indices of each type of a Variant."""
_CONVERTED: Final = {"int": s.Kind.INT, "bool": s.Kind.BOOL, "float": s.Kind.FLOAT}


def types_of(variant: spec.Variant) -> list[tuple[TypeIndex, ...]]:
    """Return the type indices that choose each parameter of a Variant.

    They are its own, and those that it converts and no other parameter has, nor one before it.
    """
    words = [word_of(param) for param in variant.params]
    taken = {index for word in words for index in _OWN[word]}
    types: list[tuple[TypeIndex, ...]] = []
    for word in words:
        accepts = _CONVERTED[word].accepts if word in _CONVERTED else ()
        more = tuple(index for index in accepts if index not in taken)
        taken.update(more)
        types.append((*_OWN[word], *more))
    return types


class _Planner(ValuePlanner):
    """Plans parameters from left to right."""

    def plan(self) -> Plan:
        """Plan all parameters. Late steps come last."""
        arguments = self.signature.arguments
        nowhere = Place((-1,), "", Part.COUNT)
        if takes_more(arguments):
            arguments = arguments[:-1]
            self.add(s.CheckLeastCount(nowhere, len(arguments)))
        else:
            self.add(s.CheckCount(nowhere, len(arguments)))
        if arguments:
            self.add(s.CheckArguments(nowhere.at(Part.ARGUMENTS)))
        for index, param in enumerate(arguments):
            self._plan_param(Place((index,), param.name), param)
        late = (*self.late, *plan_conditions(self), *plan_overlaps(self))
        symbols = tuple(self.origins)
        return Plan(self.signature, tuple(self.steps), late, symbols, self.occurrences)

    def _plan_param(self, place: Place, param: spec.Param) -> None:
        match param:
            case spec.Optional():
                inner = partial(self._plan_param, place, spec.required(param))
                self.add(_optional(place, self._planned_branch(inner)))
            case spec.Var():
                decode, checks = _decoding(place, param)
                self.add(decode, *checks, *plan_limits(place, param))
                self.bind(place, param)
            case spec.Tensor():
                plan_tensor(self, place, param)
            case spec.Shape():
                self._plan_shape(place, param)
            case spec.TupleParam() | spec.Struct():
                self._plan_tuple(place, param)
            case spec.TensorList():
                plan_list(self, place, param)
            case spec.List():
                self._plan_list_of_values(place, param)
            case Text():
                self.add(s.DecodeText(place, isinstance(param, spec.Bytes)))
                self._check(place, param)
            case spec.Map(items=items) if items is not None:
                self._plan_map(place, param, items)
            case spec.Array(of=of) if of is not None:
                self._plan_array(place, param)
            case spec.Object() | spec.Function() | spec.Array() | spec.Map():
                self._plan_object(place, param)
            case spec.Variant():
                self._plan_variant(place, param)
            case spec.Any():
                pass
            case spec.EnvStream() | spec.VarArgs():
                raise AssertionError("an EnvStream is no argument, and VarArgs are not checked")
            case _:
                self.add(s.DecodeScalar(place, s.Kind.of(param)))
                self._check(place, param)
        for subject in self.subjects.get((place.path, isinstance(param, spec.Optional)), ()):
            at = place.at(subject.part)
            self.origins[subject] = at
            self.add(s.Bind(at, subject))

    def _check(self, place: Place, param: Named) -> None:
        """Plan the check that is declared for a kind, if there is one."""
        checks = (CHECKS[kind] for kind in type(param).__mro__ if kind in CHECKS)
        self.add(*(check(place, param) for check in checks))

    def _planned_branch(self, plan: Callable[[], None]) -> tuple[s.AnyStep, ...]:
        """Return steps that a call may skip. Symbols are certainly bound only within them."""
        outer, self.in_optional = self.in_optional, True
        certain = set(self.bound)
        inside = self.planned(plan)
        self.provisional |= self.bound - certain
        self.bound = certain
        self.in_optional = outer
        return inside

    def _plan_variant(self, place: Place, param: spec.Variant) -> None:
        """Plan a Variant: each of its types is a branch. Numbers are no symbols."""
        types = types_of(param)
        alternatives: list[s.Alternative] = []
        for index, (part, each) in enumerate(param.parts.items()):
            at = place.within(index, part)
            if isinstance(each, spec.Var):
                decode, checks = _decoding(at, each)
                inside: tuple[s.AnyStep, ...] = (decode, *checks)
            else:
                inside = self._planned_branch(partial(self._plan_param, at, each))
            alternatives.append(s.Alternative(at, word_of(each), types[index], inside=inside))
        self.add(s.DecodeVariant(place, tuple(alternatives), param.text))

    def _plan_map(self, place: Place, param: spec.Map, items: Sequence[Named]) -> None:
        """Plan a Map as a tuple of two lists. Those of a Map of numbers are copied."""
        self._plan_object(place, param)
        self.add(s.OpenMap(place))
        for index, (part, item) in enumerate(zip(("keys", "values"), items, strict=True)):
            inner = Place((*place.position, index), f"{place.path}.{part}")
            if isinstance(param.key, str):
                numbers = spec.List(param.name, item.type_text())
                self._plan_list_of_values(inner, numbers, is_made=True)
            else:
                self._plan_array(inner, spec.Array(param.name, item), is_made=True)

    def _plan_array(self, place: Place, param: spec.Array, *, is_made: bool = False) -> None:
        """Plan an Array whose elements are checked; numbers in it are no symbols."""
        element: Any = param.of

        def plan() -> None:
            if isinstance(of := spec.required(element), spec.Var):
                decode, checks = _decoding(place.each, of)
                steps = decode, *checks
                self.add(*(steps if of is element else [_optional(place.each, steps)]))
            else:
                self._plan_param(place.each, element)

        self.add(s.DecodeList(place, of=TypeIndex.ARRAY, is_made=is_made))
        self.add(s.EachElement(place, param, inside=self.planned(plan)))

    def _plan_list_of_values(
        self, place: Place, param: spec.List, *, is_made: bool = False
    ) -> None:
        """Plan a list of numbers, texts or lists: the list itself, then one element."""
        element = param.element
        if isinstance(element, spec.Var):
            decode, checks = _decoding(place.each, element)
            of, inside = decode.kind, (decode, *checks)
        elif isinstance(element, spec.List):
            of = TypeIndex.LIST
            inside = self.planned(lambda: self._plan_list_of_values(place.each, element))
        else:
            binary = isinstance(element, spec.Bytes)
            of = TypeIndex.BYTES if binary else TypeIndex.STR
            inside = (s.DecodeText(place.each, binary),)
        self.add(s.DecodeList(place, of=of, is_made=is_made))
        self.plan_value(place.at(Part.LENGTH), param.length)
        self.add(s.EachElement(place, param, inside=inside))

    def _plan_object(self, place: Place, param: AnyObject) -> None:
        index = _STATIC.get(type(param))
        key = param.type_key if isinstance(param, spec.Object) else None
        or_dict = isinstance(param, spec.Map) and param.key is not None
        self.add(s.DecodeObject(place, index, key, or_dict))

    def _plan_shape(self, place: Place, param: spec.Shape) -> None:
        self.add(s.DecodeShape(place, length=len(param.shape)))
        for index, entry in enumerate(param.shape):
            at = place.at(Part.ENTRY, index)
            following = self.planned(partial(self.plan_value, at, entry))
            bounded = any(isinstance(step, (s.EqualInt, s.Fits)) for step in following[:1])
            self.add(s.DecodeEntry(at, bounded=bounded), *following)

    def _plan_tuple(self, place: Place, param: spec.TupleParam | spec.Struct) -> None:
        self.add(s.DecodeTuple(place, length=len(param.params)))
        for index, (path, element) in enumerate(elements(param, place.path)):
            self._plan_param(Place((*place.position, index), path), element)
