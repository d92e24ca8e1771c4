"""The verdict on one call: each argument in turn, then the deferred checks."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias, Union, cast

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import (
    Any as AnyValue,
)
from ffi_builder.spec import (
    Array,
    Bytes,
    Choice,
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    Device,
    DType,
    EnvStream,
    Function,
    List,
    Map,
    Object,
    Optional,
    Param,
    Shape,
    Signature,
    Stream,
    String,
    Struct,
    Tensor,
    TensorList,
    TupleParam,
    Var,
    VarArgs,
    Variant,
    required,
    with_paths,
)
from ffi_builder.spec.composite import Plain, elements
from ffi_builder.spec.numbers import INT_RANGES
from ffi_builder.spec.properties import Comparison, Property
from tests.oracle import scalars
from tests.oracle.extents import check_overlaps
from tests.oracle.kinds import kind_at
from tests.oracle.memory import AnyAt, SequenceAt, read_i64
from tests.oracle.objects import Held, check_object_of, check_object_param
from tests.oracle.relations import FromNone, check_where, is_address, key_of
from tests.oracle.strings import Chosen, check_string
from tests.oracle.symbols import Symbols, Where, check_fits, check_not_negative
from tests.oracle.tensors import Decoded, Tensors, check_tensor
from tests.oracle.variants import choose
from tests.oracle.words import Kind, Mismatch, Place, Value

Single: TypeAlias = Union[int, bytes, tuple[int, int]]
"""The value that the kernel gets for a parameter that is one: a Stream's, DataPointer's or object's
address, a Choice's int, a DType's 32 bits (signed), the content of a String or Bytes, type and id
of a Device, both words of the TVMFFIAny of an Any, and the number of what comes for a Variant."""


@dataclass(frozen=True)
class Accepted:
    """Every check passed: the value of each symbol, and what else the kernel gets, by path.

    A symbol that nothing has bound is 0; one of each element of a list is left out. An absent parameter is in neither ``tensors`` nor
    ``singles``: the kernel gets NULL or 0.
    """

    values: Mapping[str, Value]
    tensors: Mapping[str, Decoded]
    env_stream_device: tuple[int, int] | None
    """Device type and id that EnvStream is asked of. None: no EnvStream, or it is NULL."""
    present: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Whether each Optional is present, and each parameter of a Variant; those in an absent one are
    not."""
    singles: Mapping[str, Single] = field(default_factory=dict[str, Single])
    lists: Mapping[str, Sequence[Decoded]] = field(default_factory=dict[str, "Sequence[Decoded]"])
    """The elements of each list of tensors that is there."""
    elements: Mapping[str, Sequence[Any]] = field(default_factory=dict[str, "Sequence[Any]"])
    """The elements of each List that is there, numbers or texts as bytes, and a number that comes
    for a Variant."""


@dataclass(frozen=True)
class Rejected:
    """The first check that failed: the class of the error and its complete message."""

    kind: Kind
    message: str


Verdict: TypeAlias = Union[Accepted, Rejected]


def judge(signature: Signature, args_address: int, num_args: int) -> Verdict:
    """Return what the wrapper of ``signature`` must do with these arguments.

    Args:
        signature: the parameters that are accepted.
        args_address: address of the array of ``TVMFFIAny``, which may be 0.
        num_args: their number, according to the caller.
    """
    every = list(with_paths(signature.params))
    absent = {path: False for path, param in every if isinstance(param, Optional)}
    absent |= {
        inner: False
        for path, param in every
        if isinstance(required(param), Variant)
        for inner, _ in elements(param, path)
    }
    call = Call(Symbols(signature.arguments), {}, {}, absent, {}, {})
    try:
        check_call(signature.arguments, args_address, num_args, call)
        check_where(signature, call.symbols, properties(signature, call))
        check_overlaps(signature, call.tensors, call.lists)
    except Mismatch as mismatch:
        return Rejected(mismatch.kind, mismatch.message(signature))
    device = env_stream_device(signature, call.devices)
    return Accepted(
        *(call.symbols.values, call.tensors, device, call.present, call.singles, call.lists),
        call.elements,
    )


def properties(signature: Signature, call: Call) -> dict[tuple[str, str], object]:
    """Return the properties that conditions compare, by path and name; None if unknown."""
    found: dict[tuple[str, str], object] = {}
    for entry in signature.where:
        for atom in entry.atoms():
            if isinstance(atom, Comparison):
                found[key_of(atom.of)] = property_of(atom.of, signature, call)
    return found


def property_of(of: Property, signature: Signature, call: Call) -> object:
    if is_address(of):
        return call.pointers.get(of.path)
    if of.field == "present":
        around = [path for path in call.present if re.match(rf"{re.escape(path)}[.\[]", of.path)]
        return call.present[of.path] if all(call.present[path] for path in around) else None
    if isinstance(of.param, Var):
        binding = call.symbols.bindings.get(of.param.name)
        return None if binding is None else bool(binding.value)
    if isinstance(of.param, Choice):
        number = call.singles.get(of.path)
        return number.word if isinstance(number, Chosen) else None
    tensor = call.tensors.get(of.path)
    if tensor is None:
        return None
    return is_row_major(tensor) if of.field == "contiguous" else getattr(tensor, of.field)


def is_row_major(tensor: Decoded) -> bool:
    wanted = [math.prod(tensor.shape[axis + 1 :]) for axis in range(tensor.ndim)]
    every = zip(tensor.shape, tensor.strides, wanted, strict=True)
    return 0 in tensor.shape or all(size == 1 or own == given for size, own, given in every)


@dataclass(frozen=True)
class Call:
    """The state of a call that is being checked."""

    symbols: Symbols
    tensors: Tensors
    devices: Tensors
    """The tensors, and the first element of each list, that others are compared with."""
    present: dict[str, bool]
    singles: dict[str, Single]
    lists: dict[str, list[Decoded]]
    elements: dict[str, list[Any]] = field(default_factory=dict[str, "list[Any]"])
    """The numbers or texts of each List."""
    pointers: dict[str, int | FromNone] = field(default_factory=dict[str, "int | FromNone"])
    """The address of each handle and DataPointer."""
    inside: bool = False
    """Whether an Optional is being checked."""


def check_call(arguments: Sequence[Param], args_address: int, num_args: int, call: Call) -> None:
    if arguments and isinstance(arguments[-1], VarArgs):
        call.singles[arguments[-1].name] = num_args - len(arguments) + 1
        arguments = arguments[:-1]
        if num_args < len(arguments):
            expected = f"at least {len(arguments)}"
            raise Mismatch("TypeError", "number of arguments", None, expected, str(num_args))
    elif num_args != len(arguments):
        expected = str(len(arguments))
        raise Mismatch("TypeError", "number of arguments", None, expected, str(num_args))
    if arguments and args_address == 0:
        raise Mismatch("ValueError", "argument array", None, "a non-NULL pointer", "NULL")
    for index, param in enumerate(arguments):
        given = AnyAt(args_address + index * abi.ANY_SIZE)
        check_argument(param, given, Place(index, param.name), call)
    call.symbols.check_waiting()


def check_argument(param: Param, given: AnyAt, place: Place, call: Call) -> None:
    if not isinstance(param, Optional):
        check_present(param, given, place, call)
    elif given.type_index != TypeIndex.NONE:
        call.present[place.path] = True
        certain = call.symbols.certain()
        inside = replace(call, inside=True)
        check_present(required(param), given, replace(place, optional=True), inside)
        call.symbols.leave_optional(certain)


def check_present(param: Plain, given: AnyAt, place: Place, call: Call) -> None:
    match param:
        case Tensor():
            decoded = check_tensor(param, given, place, call.symbols, call.devices)
            call.tensors[place.path] = call.devices[place.path] = decoded
        case TensorList():
            call.lists[place.path] = check_list(param, given, place, call)
        case List():
            call.elements[place.path] = check_items(param, given, place, call.symbols)
        case Shape():
            check_shape(param, given, place, call.symbols)
        case TupleParam() | Struct():
            check_tuple(param, given, place, call)
        case Var():
            scalars.check_scalar(param, given, place, call.symbols)
            if param.dtype == "handle":
                call.pointers[place.path] = noted(given, scalars.pointer(given))
        case ConstNone() | ConstInt() | ConstBool() | ConstFloat():
            scalars.check_constant(param, given, place)
        case Stream() | DataPointer() | DType() | Device():
            single = call.singles[place.path] = scalars.check_single(param, given, place)
            if isinstance(param, DataPointer):
                call.pointers[place.path] = noted(given, single)
        case String() | Bytes() | Choice():
            call.singles[place.path] = check_string(param, given, place)
        case Array(of=of) if of is not None:
            call.singles[place.path] = check_array(cast("Param", of), given, place, call)
        case Object() | Function() | Array() | Map():
            call.singles[place.path] = check_object_param(param, given, place)
        case Variant():
            check_variant(param, given, place, call)
        case AnyValue():
            call.singles[place.path] = (read_i64(given.address), given.as_int)
        case EnvStream() | VarArgs():
            raise AssertionError("EnvStream is no argument, and VarArgs are not checked")


def check_variant(param: Variant, given: AnyAt, place: Place, call: Call) -> None:
    """Check the parameter that comes, which binds as one in an Optional."""
    number = call.singles[place.path] = choose(param, given, place)
    part, chosen = [*param.parts.items()][number]
    inner = Place(place.argument, f"{place.path}.{part}")
    if isinstance(chosen, Var):
        call.elements[inner.path] = [scalars.check_number(chosen.dtype, given, inner)]
        return
    call.present[inner.path] = True
    certain = call.symbols.certain()
    check_present(chosen, given, inner, replace(call, inside=True))
    call.symbols.leave_optional(certain)


def noted(given: AnyAt, address: Any) -> int | FromNone:
    return FromNone() if given.type_index == TypeIndex.NONE else address


def check_sequence(
    given: AnyAt, place: Place, *, expected: str, types: Sequence[int], length: int
) -> SequenceAt:
    """Check kind, NULL, length and elements pointer of a Shape, Array or List."""
    held = check_object_of(given, place, expected, types)
    sequence = SequenceAt(held.type_index, held.address)
    if sequence.size != length:
        place.wrong_length(str(length), sequence.size)
    if length and sequence.data == 0:
        place.wrong_value("non-NULL elements", "NULL")
    return sequence


def check_shape(param: Shape, given: AnyAt, place: Place, symbols: Symbols) -> None:
    sequence = check_sequence(
        given,
        place,
        expected="Shape or list of ints",
        types=(TypeIndex.SHAPE, TypeIndex.ARRAY, TypeIndex.LIST),
        length=len(param.shape),
    )
    for index, entry in enumerate(param.shape):
        at = place.entry(index)
        if sequence.type_index == TypeIndex.SHAPE:
            value = read_i64(sequence.data + 8 * index)
        else:
            element = AnyAt(sequence.data + index * abi.ANY_SIZE)
            if element.type_index not in (TypeIndex.INT, TypeIndex.BOOL):
                at.wrong_type("int", kind_at(element))
            value = element.as_int
        check_not_negative(at, value)
        symbols.check_entry(entry, value, Where(at))


def check_tuple(param: TupleParam | Struct, given: AnyAt, place: Place, call: Call) -> None:
    sequence = check_sequence(
        given,
        place,
        expected="tuple",
        types=(TypeIndex.ARRAY, TypeIndex.LIST),
        length=len(param.params),
    )
    for index, element in enumerate(param.params):
        at = AnyAt(sequence.data + index * abi.ANY_SIZE)
        is_struct = isinstance(param, Struct)
        inner = place.part(element.name) if is_struct else place.entry(index)
        check_argument(element, at, inner, call)


def check_list_itself(
    param: TensorList | List, held: Held, place: Place, symbols: Symbols
) -> SequenceAt:
    """Check the length and the elements pointer of a list."""
    sequence = SequenceAt(held.type_index, held.address)
    length = Place(place.argument, f"length of {place.path}")
    check_not_negative(length, sequence.size)
    check_fits("int32", sequence.size, length)
    symbols.check_entry(param.length, sequence.size, Where(length))
    if sequence.size and sequence.data == 0:
        place.wrong_value("non-NULL elements", "NULL")
    return sequence


def check_array(of: Param, given: AnyAt, place: Place, call: Call) -> int:
    """Check a list and each of its elements, which bind nothing; return its address."""
    held = check_object_of(given, place, "list", (TypeIndex.ARRAY, TypeIndex.LIST))
    sequence = check_list_itself(List(of.name, "int8"), held, place, call.symbols)
    apart = Call(Symbols(()), {}, {}, {}, {}, {})
    for index in range(sequence.size):
        element, at = AnyAt(sequence.data + index * abi.ANY_SIZE), place.entry(index)
        if isinstance(of, Optional):
            if element.type_index == TypeIndex.NONE:
                continue
            at = replace(at, optional=True)
        inner = required(of)
        if isinstance(inner, Var):
            scalars.check_number(inner.dtype, element, at)
        else:
            check_present(inner, element, at, apart)
    return held.address


LISTS_OF: Final = {"bool": "bools", "String": "strs", "Bytes": "bytes"}


def check_items(param: List, given: AnyAt, place: Place, symbols: Symbols) -> list[Any]:
    """Check a list of numbers, texts or lists, and return these."""
    dtype = f"{param.dtype}"
    types: tuple[int, ...] = (TypeIndex.ARRAY, TypeIndex.LIST)
    kind = "lists" if isinstance(param.dtype, List) else LISTS_OF.get(dtype, "floats")
    if param.dtype in INT_RANGES:
        types, kind = (*types, TypeIndex.SHAPE), "ints"
    held = check_object_of(given, place, f"list of {kind}", types)
    sequence = check_list_itself(param, held, place, symbols)
    found: list[Any] = []
    for index in range(sequence.size):
        at = place.entry(index)
        if isinstance(param.element, List):
            row = AnyAt(sequence.data + index * abi.ANY_SIZE)
            found.append(check_items(param.element, row, at, symbols))
        elif isinstance(param.element, (String, Bytes)):
            element = AnyAt(sequence.data + index * abi.ANY_SIZE)
            found.append(check_string(param.element, element, at))
        elif sequence.type_index == TypeIndex.SHAPE:
            value = read_i64(sequence.data + 8 * index)
            check_fits(dtype, value, at)
            found.append(value)
        else:
            element = AnyAt(sequence.data + index * abi.ANY_SIZE)
            found.append(scalars.check_number(dtype, element, at))
    return found


def check_list(param: TensorList, given: AnyAt, place: Place, call: Call) -> list[Decoded]:
    """Check a list of tensors, and return its elements."""
    held = check_object_of(given, place, "list of tensors", (TypeIndex.ARRAY, TypeIndex.LIST))
    symbols = call.symbols
    sequence = check_list_itself(param, held, place, symbols)
    certain = symbols.certain()
    symbols.enter_list(param)
    found: list[Decoded] = []
    for index in range(sequence.size):
        symbols.enter_element(param, index)
        element, inner = AnyAt(sequence.data + index * abi.ANY_SIZE), place.entry(index)
        found.append(check_tensor(param.tensor, element, inner, symbols, call.devices))
        if index == 0:
            call.devices[inner.path] = found[0]
        symbols.leave_element(param, index)
    symbols.leave_list(param, certain, inside=call.inside)
    return found


def env_stream_device(signature: Signature, tensors: Tensors) -> tuple[int, int] | None:
    """Return the device of the first tensor that is not on the CPU, if an EnvStream needs it."""
    if not any(isinstance(param, EnvStream) for param in signature.params):
        return None
    devices = [(tensor.device_type, tensor.device_id) for tensor in tensors.values()]
    return next((device for device in devices if device[0] != abi.DEVICE_TYPES["cpu"]), None)
