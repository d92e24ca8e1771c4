"""Hypothesis strategies for right arguments: symbols get values first, arguments follow from them.

Right as far as it is easy to be: a symbol that a free stride or a narrow bound leaves no good value
makes a call that is rejected, and it is the oracle's to say so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, cast

from hypothesis import strategies as st

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import Any as AnyValue
from ffi_builder.spec import (
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
)
from ffi_builder.spec.composite import Plain
from tests.differential.description import (
    NONE,
    Arguments,
    ByteArray,
    Chars,
    CString,
    Elements,
    Moved,
    Object,
    Value,
    of_bool,
    of_float,
    of_int,
    of_pointer,
    shape,
    small,
    tensor,
)
from tests.differential.description import DLTensor as Body
from tests.differential.description import Plain as Given
from tests.differential.pool import rarely
from tests.differential.registered import BASE, LEAF, LONG, LONGER, MIDDLE, ODD, OTHER
from tests.differential.right_tensors import POINTERS, Tensors

CONTENTS: Final = (
    *(b"", b"a", b"relu", b"1234567", b"12345678", b"\xc3\xa9", b"it's \\ \"\n", b"a\0b"),
    *(b"\xff" * 9, b"x" * 64, b"x" * 65, b"y" * 127, b"z" * 300, "größe".encode()),
)
DTYPE_BITS: Final = (0, 0x00012002, 2**32 - 1, 2**31, 0xABCD0001_00012002, 2**63)
"""Payloads of dtypes: 4 bytes of the 8 are the dtype."""
DEVICE_BITS: Final = (0, 1, 2 | 3 << 32, 2**64 - 1, 99 | 2**63)
OBJECTS: Final[tuple[Object, ...]] = (
    *(Object(BASE), Object(MIDDLE), Object(LEAF), Object(OTHER), Object(LONG), Object(LONGER)),
    *(Object(ODD), Object(TypeIndex.MODULE), Object(TypeIndex.FUNCTION), Object(TypeIndex.OBJECT)),
    Object(TypeIndex.STR, Chars(b"a text")),
    Object(TypeIndex.ARRAY, Elements((NONE,))),
    tensor(Body((2, 3))),
)
OF_TYPE: Final[dict[str, tuple[Object, ...]]] = {
    "test.Base": (Object(BASE), Object(MIDDLE), Object(LEAF), Object(ODD)),
    "test.Middle": (Object(MIDDLE), Object(LEAF)),
    "test.Leaf": (Object(LEAF),),
    "ffi.Module": (Object(TypeIndex.MODULE),),
    "ffi.Array": (Object(TypeIndex.ARRAY, Elements(())),),
    "ffi.Tensor": (tensor(Body((2, 3))),),
    "ffi.String": (Object(TypeIndex.STR, Chars(b"")),),
    "ffi.Function": (Object(TypeIndex.FUNCTION),),
}
"""Objects of a type; of any other key there are those of one name."""


class Caller(Tensors):
    """Draws the arguments of one call that is meant to be right."""

    def arguments(self, signature: Signature) -> Arguments:
        given = [self.argument(p) for p in signature.arguments if not isinstance(p, VarArgs)]
        if len(given) < len(signature.arguments):
            given += [self.present(AnyValue("rest"))] * self.draw(st.integers(0, 3))
        return Arguments(tuple(given))

    def argument(self, param: Param) -> Value:
        if isinstance(param, spec.Optional) and rarely(self.draw, 35):
            return self.draw(st.sampled_from([NONE, NONE, Given(TypeIndex.NONE, 99)]))
        return self.present(required(param))

    def present(self, param: Plain) -> Value:
        draw = self.draw
        match param:
            case Tensor():
                return self.tensor(param)
            case TensorList():
                return self.moved(self.tensor_list(param))
            case List():
                return self.moved(self.items(param, param.element))
            case Shape():
                return self.sizes([self.evaluate(entry) for entry in param.shape])
            case TupleParam() | Struct():
                kind = draw(st.sampled_from([TypeIndex.ARRAY, TypeIndex.LIST]))
                return self.moved(Object(kind, Elements(tuple(map(self.argument, param.params)))))
            case Var():
                return self.scalar(param)
            case String() | Bytes() | Choice():
                return self.text(param)
            case spec.Array(of=of) if of is not None:
                kind = draw(st.sampled_from([TypeIndex.ARRAY, TypeIndex.LIST]))
                many = range(draw(st.integers(0, 3)))
                items = tuple(self._element(cast("Param", of)) for _ in many)
                return self.moved(Object(kind, Elements(items)))
            case spec.Object() | Function() | spec.Array() | Map():
                return self.moved(draw(st.sampled_from(objects_of(param))))
            case ConstNone() | ConstInt() | ConstBool() | ConstFloat():
                return self.constant(param)
            case Stream() | DataPointer() | DType() | Device():
                return self.single(param)
            case Variant():
                each = draw(st.sampled_from(param.params))
                return (
                    self.number(each, self.value(each))
                    if isinstance(each, Var)
                    else self.present(each)
                )
            case AnyValue():
                return draw(
                    st.sampled_from([NONE, of_int(-1), of_float(0.5), Given(99, 7), *OBJECTS])
                )
            case EnvStream() | VarArgs():
                raise AssertionError("EnvStream is no argument, and VarArgs are many")

    def _element(self, of: Param) -> Value:
        """An element of an Array; a number is no symbol."""
        inner = required(of)
        if isinstance(of, spec.Optional) and rarely(self.draw, 35):
            return NONE
        if isinstance(inner, Var):
            return self.number(inner, self.value(inner))
        return self.present(inner)

    def moved(self, given: Object) -> Value:
        """The object, now and then moved."""
        return Moved(given) if rarely(self.draw, 20) else given

    def single(self, param: Stream | DataPointer | DType | Device) -> Value:
        draw = self.draw
        match param:
            case Stream():
                some = [Given(0), Given(0, 77), of_pointer(64), of_int(-1)]
                return draw(st.sampled_from(some))
            case DataPointer():
                number = draw(st.sampled_from(POINTERS))
                return draw(st.sampled_from([Given(0), of_pointer(number), of_int(number)]))
            case DType():
                return Given(TypeIndex.DATA_TYPE, draw(st.sampled_from(DTYPE_BITS)))
            case Device():
                return Given(TypeIndex.DEVICE, draw(st.sampled_from(DEVICE_BITS)))

    def constant(self, param: ConstNone | ConstInt | ConstBool | ConstFloat) -> Value:
        draw = self.draw
        match param:
            case ConstNone():
                return Given(TypeIndex.NONE, draw(st.sampled_from([0, 99])))
            case ConstInt(value=value):
                return of_int(value)
            case ConstBool(value=value):
                return of_bool(value)
            case ConstFloat(value=value):
                whole = math.isfinite(value) and value == int(value) and draw(st.booleans())
                return of_int(int(value)) if whole else of_float(value)

    def text(self, param: String | Bytes | Choice) -> Value:
        """A str or bytes, in each of the ways in which they come."""
        words = [word.encode() for word in param.choices] if isinstance(param, Choice) else CONTENTS
        content = self.draw(st.sampled_from(words))
        return self.draw(st.sampled_from(arrivals(content, binary=isinstance(param, Bytes))))

    def scalar(self, var: Var) -> Value:
        return self.number(var, self.env[var.name])

    def number(self, var: Var, value: float) -> Value:
        """A value of a dtype, now and then of another kind that is taken for it."""
        other = rarely(self.draw, 25)
        if var.dtype == "handle":
            pointer = int(value)
            return Given(TypeIndex.NONE, 5) if other and pointer == 0 else of_pointer(pointer)
        if var.is_integer:
            return of_bool(value == 1) if other and value in (0, 1) else of_int(int(value))
        if var.dtype == "bool":
            return of_int(int(value)) if other else of_bool(bool(value))
        if other and math.isfinite(value) and value == int(value) and abs(value) < 2**63:
            return of_int(int(value))
        return of_float(value)

    def items(self, param: List, element: Var | String | Bytes | List) -> Object:
        """A list, which may be a Shape."""
        draw = self.draw
        count = draw(st.integers(0, 3)) if param.length is None else self.evaluate(param.length)
        many = range(max(0, min(count, 60)))
        kind = draw(st.sampled_from([TypeIndex.ARRAY, TypeIndex.ARRAY, TypeIndex.LIST]))
        if isinstance(element, List):
            rows = (self.items(element, element.element) for _ in many)
            return Object(kind, Elements(tuple(rows)))
        if not isinstance(element, Var):
            return Object(kind, Elements(tuple(self.text(element) for _ in many)))
        values = [self.value(element) for _ in many]
        if element.is_integer and all(value < 2**63 for value in values) and rarely(draw, 30):
            return shape(*map(int, values))
        return Object(kind, Elements(tuple(self.number(element, value) for value in values)))

    def sizes(self, values: Sequence[int]) -> Value:
        draw = self.draw
        kind = draw(st.sampled_from([TypeIndex.SHAPE, TypeIndex.ARRAY, TypeIndex.LIST]))
        if kind == TypeIndex.SHAPE:
            return self.moved(shape(*values))
        elements = [
            of_bool(value == 1) if value in (0, 1) and rarely(draw, 20) else Given(1, value)
            for value in values
        ]
        return self.moved(Object(kind, Elements(tuple(elements))))


def arrivals(content: bytes, *, binary: bool) -> list[Value]:
    """All the ways in which this str or these bytes can come."""
    held = Object(TypeIndex.BYTES if binary else TypeIndex.STR, Chars(content))
    found: list[Value] = [held, Moved(held)]
    if len(content) <= abi.SMALL_CAPACITY:
        kind = TypeIndex.SMALL_BYTES if binary else TypeIndex.SMALL_STR
        found += [small(kind, content)] * 2
    if binary:
        found += [ByteArray(Chars(content))] * 2
    elif b"\0" not in content:
        found += [CString(content)] * 2
    if not content:
        empty = Chars(None, 0)
        found += [Object(held.type_index, empty), *[ByteArray(empty)] * binary]
    return found


def objects_of(param: spec.Object | Function | spec.Array | Map) -> Sequence[Object]:
    """Objects that the parameter takes, or others where there are none."""
    match param:
        case spec.Object(type_key=str(key)) if key in OF_TYPE:
            return OF_TYPE[key]
        case spec.Object(type_key=str(key)) if key.startswith("test.L"):
            return (Object(LONG),)
        case Function():
            return (Object(TypeIndex.FUNCTION),)
        case spec.Array():
            return (Object(TypeIndex.ARRAY, Elements((NONE,))), Object(TypeIndex.ARRAY))
        case Map():
            return (Object(TypeIndex.MAP),)
        case _:
            return OBJECTS


@st.composite
def right_arguments(draw: st.DrawFn, signature: Signature) -> Arguments:
    """Arguments that are meant to be accepted."""
    return Caller(draw, signature).arguments(signature)
