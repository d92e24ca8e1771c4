"""The verdict on one call: each argument in turn, then what had to wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, Union

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import (
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    EnvStream,
    Param,
    Shape,
    Signature,
    Stream,
    Tensor,
    TupleParam,
    Var,
    first_device_tensor,
)
from tests.oracle import scalars
from tests.oracle.memory import AnyAt, SequenceAt, read_i64
from tests.oracle.symbols import Symbols, Where, check_not_negative
from tests.oracle.tensors import Decoded, Tensors, check_tensor
from tests.oracle.words import Kind, Mismatch, Place, Value


@dataclass(frozen=True)
class Accepted:
    """Every check passed: the value of each symbol, and what the kernel gets of each tensor."""

    values: Mapping[str, Value]
    tensors: Mapping[str, Decoded]
    env_stream_device: tuple[int, int] | None
    """Device type and id that EnvStream is asked of, if there is an EnvStream."""


@dataclass(frozen=True)
class Rejected:
    """The first check that failed: the class of the error and its complete message."""

    kind: Kind
    message: str


Verdict: TypeAlias = Union[Accepted, Rejected]


def judge(signature: Signature, args_address: int, num_args: int) -> Verdict:
    """What the wrapper of ``signature`` must do with these arguments.

    Args:
        signature: what is accepted.
        args_address: address of the array of ``TVMFFIAny``, which may be 0.
        num_args: how many there are, as the caller says.
    """
    call = Call(Symbols(signature.params), {})
    try:
        check_call(signature.arguments, args_address, num_args, call)
    except Mismatch as mismatch:
        return Rejected(mismatch.kind, mismatch.message(signature))
    return Accepted(call.symbols.values, call.tensors, env_stream_device(signature, call.tensors))


@dataclass(frozen=True)
class Call:
    """What is known so far of the call that is looked at."""

    symbols: Symbols
    tensors: Tensors


def check_call(arguments: Sequence[Param], args_address: int, num_args: int, call: Call) -> None:
    if num_args != len(arguments):
        expected = str(len(arguments))
        raise Mismatch("TypeError", "number of arguments", None, expected, str(num_args))
    if arguments and args_address == 0:
        raise Mismatch("ValueError", "argument array", None, "a non-NULL pointer", "NULL")
    for index, param in enumerate(arguments):
        given = AnyAt(args_address + index * abi.ANY_SIZE)
        check_argument(param, given, Place(index, param.name), call)
    call.symbols.check_waiting()


def check_argument(param: Param, given: AnyAt, place: Place, call: Call) -> None:
    match param:
        case Tensor():
            decoded = check_tensor(param, given, place, call.symbols, call.tensors)
            call.tensors[place.path] = decoded
        case Shape():
            check_shape(param, given, place, call.symbols)
        case TupleParam():
            check_tuple(param, given, place, call)
        case Var():
            scalars.check_scalar(param, given, place, call.symbols)
        case Stream():
            scalars.check_stream(given, place)
        case DataPointer():
            scalars.check_data_pointer(given, place)
        case ConstNone() | ConstInt() | ConstBool() | ConstFloat():
            scalars.check_constant(param, given, place)
        case EnvStream():
            raise AssertionError("EnvStream is no argument")


def check_sequence(
    given: AnyAt, place: Place, *, expected: str, types: Sequence[int], length: int
) -> SequenceAt:
    """Kind, NULL, length and elements pointer of a Shape, Array or List."""
    if given.type_index not in types:
        place.wrong_type(expected, given.type_index)
    if given.as_pointer == 0:
        place.wrong_value("a non-NULL object", "NULL")
    sequence = SequenceAt(given.type_index, given.as_pointer)
    if sequence.size != length:
        place.wrong_length(length, sequence.size)
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
                at.wrong_type("int", element.type_index)
            value = element.as_int
        check_not_negative(at, value)
        symbols.check_entry(entry, value, Where(at))


def check_tuple(param: TupleParam, given: AnyAt, place: Place, call: Call) -> None:
    sequence = check_sequence(
        given,
        place,
        expected="tuple",
        types=(TypeIndex.ARRAY, TypeIndex.LIST),
        length=len(param.params),
    )
    for index, element in enumerate(param.params):
        at = AnyAt(sequence.data + index * abi.ANY_SIZE)
        check_argument(element, at, place.entry(index), call)


def env_stream_device(signature: Signature, tensors: Tensors) -> tuple[int, int] | None:
    """The device of the first tensor that is not on the CPU, if its stream is asked for."""
    if not any(isinstance(param, EnvStream) for param in signature.params):
        return None
    assert first_device_tensor(signature.params) is not None
    first = next(tensor for tensor in tensors.values() if tensor.device_type != "cpu")
    return abi.DEVICE_TYPES[first.device_type], first.device_id
