"""What ``args=`` stands for: items, which providers convert to the arguments of a callee."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from ffi_builder import spec
from ffi_builder.ir import Value
from ffi_builder.providers.by_address import FLOATS
from ffi_builder.providers.context import CallContext
from ffi_builder.records import dataclass
from ffi_builder.spec.results import HandedOver
from ffi_builder.spec.tensors.tensor import Data


@dataclass(frozen=True)
class ResultPointer:
    """A pointer to the place where the callee writes a result that is not a tensor.

    The callee finds ``start`` there, or zeros.
    """

    result: HandedOver
    start: Item | None = None


@dataclass(frozen=True)
class Converted:
    """One value as another dtype, which an integer has to fit; 0 if the value is absent."""

    item: Item
    dtype: str


@dataclass(frozen=True)
class Address:
    """The address of a copy of one value; NULL if the value is absent."""

    item: Item


@dataclass(frozen=True)
class Constant:
    """A constant of ``args=``: NULL, a float, or bytes, of which the address is passed."""

    value: float | bytes | None

    def emit(self, context: CallContext, type_: str) -> Value:
        """Emit it; a float in a type such as ``f32``. A NUL follows bytes."""
        b = context.builder
        match self.value:
            case None:
                return b.null()
            case bytes() as data:
                return b.text_constant(data + b"\0")
            case number:
                packed = FLOATS[type_].pack(number)
                bits = b.constant(8 * len(packed), int.from_bytes(packed, "little"))
                return b.bitcast(bits, b.types.parse(type_))


@dataclass(frozen=True)
class CField:
    """A field of a :class:`CStruct`: what it gets, and as which dtype; ``handle`` is a pointer.

    ``item`` is an entry of ``args=``, until the provider has found the item that it names. If the
    callee overwrites the field with a result, ``result`` is the result, or its name.
    """

    name: str
    item: Any
    dtype: str
    offset: int
    result: spec.Var | str | None = None


@dataclass(frozen=True)
class CStruct:
    """A struct of C in memory of the call; what is not in a field is 0.

    Its address is passed, with the LLVM attribute ``attribute`` of parameters; NULL if the Optional
    ``whole`` is absent. A struct that C passes by value has ``pieces``: the offsets and LLVM types
    of what the registers get. Of a returned struct, they are what the callee returns.
    """

    fields: tuple[CField, ...]
    size: int
    whole: spec.Param | str | None = None
    pieces: tuple[tuple[int, str], ...] = ()
    attribute: str = ""

    def __str__(self) -> str:
        fields = (
            f"{each.name}: {each.item}{f' -> {each.result}' if each.result else ''}"
            for each in self.fields
        )
        return f"{{{', '.join(fields)}}}"


_Named: TypeAlias = "spec.Param | Data | spec.Field | spec.Dim"
Item: TypeAlias = "_Named | ResultPointer | Converted | Address | Constant | CStruct"
"""A parameter or part of a parameter, a symbol, an expression, an int, a pointer to a result or to
a copy of a value, a value as another dtype, a constant, or a struct."""
Entry: TypeAlias = "_Named | str | float | bytes | CStruct | Mapping[str, Any] | None"
"""An entry of ``args=``: an item, or the name of a parameter, symbol or result, ``"x.data"``, or
the text of an expression, ``"float32(n)"``, or ``"&n"``. None is NULL; a float is one of the
callee's type; bytes are passed by their address. A dict is a struct in memory, with an entry for
each field."""


def owner(entry: object) -> object:
    """Return the parameter of a part; any other entry as it is."""
    match entry:
        case Data(tensor=tensor):
            return tensor
        case spec.Field(param=param):
            return param
        case _:
            return entry
