"""Steps that decode values, one for each kind, and the loop over the elements of a list."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import Any, ClassVar, Final, TypeAlias, Union

from typing_extensions import override

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.plan import tensor_checks
from ffi_builder.plan.checks import (
    CheckBytes,
    CheckCells,
    CheckLength,
    CheckSmall,
    Fits,
    NotNegative,
    NotNull,
)
from ffi_builder.plan.messages import OR_NONE, Words, kind_error
from ffi_builder.plan.path import Part, Place
from ffi_builder.plan.step import Check, Texts, all_checks
from ffi_builder.records import dataclass
from ffi_builder.spec.dtypes import DataType

_POINTER: Final = kind_error("opaque pointer, None or int", or_none=False)


MOVABLE: Final = (
    *(TypeIndex.STR, TypeIndex.BYTES, TypeIndex.TENSOR),
    *(TypeIndex.ARRAY, TypeIndex.LIST),
)
"""The objects that may come as moved objects, of those that a Variant holds."""


class Kind(Enum):
    """Kinds of scalar, each with the type indices that it accepts and its error message."""

    INT = ((TypeIndex.INT, TypeIndex.BOOL, TypeIndex.BIG_INT), kind_error("int"))
    BOOL = ((TypeIndex.BOOL, TypeIndex.INT), kind_error("bool"))
    FLOAT = ((TypeIndex.FLOAT, TypeIndex.INT, TypeIndex.BOOL), kind_error("float"))
    HANDLE = (
        (TypeIndex.OPAQUE_PTR, TypeIndex.NONE),
        kind_error("opaque pointer or None", or_none=False),
    )
    POINTER = (
        (TypeIndex.OPAQUE_PTR, TypeIndex.NONE, TypeIndex.INT, TypeIndex.BIG_INT),
        _POINTER,
        spec.DataPointer,
    )
    STREAM = ((TypeIndex.OPAQUE_PTR, TypeIndex.NONE, TypeIndex.INT), _POINTER, spec.Stream)
    DTYPE = ((TypeIndex.DATA_TYPE,), kind_error("dtype"), spec.DType)
    DEVICE = ((TypeIndex.DEVICE,), kind_error("device"), spec.Device)
    CONST_NONE = ((TypeIndex.NONE,), kind_error("None", or_none=False), spec.ConstNone)
    CONST_INT = ((TypeIndex.INT,), kind_error("int"), spec.ConstInt)
    CONST_BOOL = ((TypeIndex.BOOL,), kind_error("bool"), spec.ConstBool)
    CONST_FLOAT = ((TypeIndex.FLOAT, TypeIndex.INT), kind_error("float"), spec.ConstFloat)

    @classmethod
    def of(cls, param: spec.Param) -> Kind:
        """Return the kind of a parameter that is one scalar, but no symbol."""
        return next(kind for kind in cls if isinstance(param, kind.value[2:]))

    @property
    def accepts(self) -> tuple[TypeIndex, ...]:
        """The type indices that this kind accepts."""
        return self.value[0]

    @property
    def is_float(self) -> bool:
        """Whether the value is a float; ints are converted."""
        return TypeIndex.FLOAT in self.accepts

    @property
    def is_pointer(self) -> bool:
        """Whether the value is an address; None is 0."""
        return TypeIndex.OPAQUE_PTR in self.accepts

    @property
    def words(self) -> Words:
        """The message for any other type index."""
        return self.value[1]


@dataclass(frozen=True)
class DecodeOptional(Check):
    """If the value is None, skip ``inside`` and the late steps at places within the parameter."""

    inside: tuple[Any, ...] = field(default=(), kw_only=True)

    @property
    @override
    def checks(self) -> tuple[Check, ...]:
        return self, *all_checks(self.inside)

    @override
    def row(self, origins: Texts) -> tuple[str, str, str]:
        return str(self.place), "may be None: it is then absent", ""


@dataclass(frozen=True)
class Decode(Check):
    """The value is of one kind. A moved object counts as the object that it holds.

    ``optional`` adds "or None" to the message: an Optional has accepted None before this step.
    """

    optional: bool = field(default=False, kw_only=True)

    @property
    def or_none(self) -> str:
        """The end of the type in the error."""
        return OR_NONE if self.optional else ""


@dataclass(frozen=True)
class Alternative(Check):
    """If the value of a Variant is of one of ``types``, run ``inside``; else skip it.

    ``word`` is the type in errors. Late steps at places within the parameter are skipped too.
    """

    word: str
    types: tuple[TypeIndex, ...]
    inside: tuple[Any, ...] = field(kw_only=True)

    @property
    def movable(self) -> tuple[TypeIndex, ...]:
        """The types that may come as a moved object."""
        return tuple(index for index in self.types if index in MOVABLE)

    @property
    @override
    def checks(self) -> tuple[Check, ...]:
        _, *others = all_checks(self.inside)  # the first is the check of the type
        return self, *others

    @override
    def row(self, origins: Texts) -> tuple[str, str, str]:
        return str(self.place), f"if {self.word} came:", ""


@dataclass(frozen=True)
class DecodeVariant(Decode):
    """The value is of the types of one of ``alternatives``."""

    alternatives: tuple[Alternative, ...]
    text: str
    words = kind_error("{text}")

    @property
    @override
    def checks(self) -> tuple[Check, ...]:
        return self, *all_checks(self.alternatives)


@dataclass(frozen=True)
class DecodeTensor(Decode):
    """The value is a Tensor object or a ``DLTensor*``; ndim, dtype and device are right."""

    ndim: tensor_checks.CheckNdim | NotNegative = field(kw_only=True)
    dtype: tensor_checks.CheckDType | tensor_checks.CheckSameDType = field(kw_only=True)
    device_type: tensor_checks.CheckDeviceType | None = field(kw_only=True)
    same_device: tensor_checks.CheckSameDevice | None = field(kw_only=True)
    words = kind_error("Tensor")

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None if any is accepted."""
        return self.ndim.expected if isinstance(self.ndim, tensor_checks.CheckNdim) else None

    @property
    def single_dtype(self) -> DataType | None:
        """The only dtype that is accepted; None if it depends on the call."""
        dtypes = () if isinstance(self.dtype, tensor_checks.CheckSameDType) else self.dtype.dtypes
        return next(iter(dtypes)) if len(dtypes) == 1 else None

    @property
    @override
    def checks(self) -> tuple[Check, ...]:
        device = (check for check in (self.device_type, self.same_device) if check is not None)
        return self, NotNull(self.place), self.ndim, self.dtype, *device


@dataclass(frozen=True)
class _DecodeContainer(Decode):
    """The value is a container of ``length`` elements."""

    length: int = field(kw_only=True)

    @property
    @override
    def checks(self) -> tuple[Check, ...]:
        place = self.place
        cells = (CheckCells(place),) if self.length else ()
        return self, NotNull(place), CheckLength(place, self.length), *cells  # pyright: ignore[reportReturnType] # all classes that have objects are listed there


@dataclass(frozen=True)
class DecodeShape(_DecodeContainer):
    """The value is a Shape, or an Array or List."""

    words = kind_error("Shape or list of ints")


@dataclass(frozen=True)
class DecodeTuple(_DecodeContainer):
    """The value is an Array or List."""

    words = kind_error("tuple")


@dataclass(frozen=True)
class DecodeList(Decode):
    """The value is an Array or List whose length fits int32; a Shape, too, if ``of`` is INT.

    ``of`` is the kind of the numbers in it, or STR, BYTES or LIST; ARRAY if the
    list itself is passed on; None is a list of tensors.
    """

    of: Kind | TypeIndex | None = field(default=None, kw_only=True)
    is_made: bool = field(default=False, kw_only=True)
    """Whether it is a list of the keys or values of a Map, with which nothing is wrong."""
    words = kind_error("list of tensors")
    of_any: ClassVar = kind_error("list")
    of_lists: ClassVar = kind_error("list of lists")
    of_strs: ClassVar = kind_error("list of strs")
    of_bytes: ClassVar = kind_error("list of bytes")
    of_ints: ClassVar = kind_error("list of ints")
    of_bools: ClassVar = kind_error("list of bools")
    of_floats: ClassVar = kind_error("list of floats")

    @property
    @override
    def error(self) -> Words:
        return _WORDS_OF_LISTS.get(self.of, self.of_floats)

    @property
    @override
    def checks(self) -> tuple[Check, ...]:
        place, length = self.place, self.place.at(Part.LENGTH)
        if self.is_made:
            return ()
        return self, NotNull(place), NotNegative(length), Fits(length, "int32")


_WORDS_OF_LISTS: Final[dict[object, Words]] = {
    None: DecodeList.words,
    Kind.INT: DecodeList.of_ints,
    Kind.BOOL: DecodeList.of_bools,
    TypeIndex.ARRAY: DecodeList.of_any,
    TypeIndex.LIST: DecodeList.of_lists,
    TypeIndex.STR: DecodeList.of_strs,
    TypeIndex.BYTES: DecodeList.of_bytes,
}


@dataclass(frozen=True)
class EachElement(Check):
    """Run ``inside`` for each element in order. The pointer to the elements is not NULL.

    ``known`` are the symbols with a value for each element that an earlier list of the same length
    has bound, each with the place in that list's elements that binds it. Only lists of tensors
    have them.
    """

    param: spec.TensorList | spec.List | spec.Array
    known: tuple[tuple[spec.Var, Place], ...] = ()
    inside: tuple[Any, ...] = field(kw_only=True)

    @property
    @override
    def checks(self) -> tuple[Check, ...]:
        return CheckCells(self.place), self, *all_checks(self.inside)

    @override
    def row(self, origins: Texts) -> tuple[str, str, str]:
        known = "".join(f", {symbol} = {{{symbol}}} from {place}" for symbol, place in self.known)
        each = self.place.each
        return str(each), f"for each {each.path[-2]}{known}:", ""


@dataclass(frozen=True)
class OpenMap(Check):
    """Read the keys and the values of the Map at ``place``: two lists, in a tuple."""

    @override
    def row(self, origins: Texts) -> tuple[str, str, str]:
        return str(self.place), "has keys and values:", ""


@dataclass(frozen=True)
class DecodeText(Decode):
    """The value is a str, or bytes if ``binary``: held in place, a raw pointer, or an object."""

    binary: bool = False
    of_str: ClassVar = kind_error("str")
    of_bytes: ClassVar = kind_error("bytes")

    @property
    @override
    def error(self) -> Words:
        return self.of_bytes if self.binary else self.of_str

    @property
    @override
    def checks(self) -> tuple[Check, ...]:
        place = self.place
        return self, NotNull(place), CheckSmall(place), CheckBytes(place)


@dataclass(frozen=True)
class DecodeObject(Decode):
    """The value is an object: any object, or one of a static type or a type key.

    ``type_index`` is set where exactly one static type is accepted, without derived types.
    """

    type_index: int | None = None
    type_key: str | None = None
    or_dict: bool = False
    """Whether a Dict is accepted for a Map."""
    words = kind_error("{text}")

    @property
    def accepts(self) -> tuple[TypeIndex, ...] | None:
        """The static types that are accepted; None for others."""
        if self.type_index is None:
            return None
        return TypeIndex(self.type_index), *([TypeIndex.DICT] if self.or_dict else [])

    @property
    def text(self) -> str:
        """The expected type: ``Object``, ``Function``, or the type key."""
        if self.type_index is not None:
            return abi.TYPE_KEYS[self.type_index].removeprefix("ffi.")
        return self.type_key or "Object"

    @property
    @override
    def checks(self) -> tuple[Check, ...]:
        return self, NotNull(self.place)


@dataclass(frozen=True)
class DecodeScalar(Decode):
    """The value is of ``kind``. A float is rounded to ``dtype`` here, once, to nearest even.

    An int fits the dtype ``integer``. A pointer may be given as an int, its address.
    """

    kind: Kind
    dtype: str | None = None
    integer: str | None = field(default=None, kw_only=True)

    @property
    @override
    def error(self) -> Words:
        return self.kind.words

    @property
    @override
    def checks(self) -> tuple[Check, ...]:
        if self.kind is Kind.POINTER:
            return self, NotNegative(self.place), Fits(self.place, "uint64")
        return (self,) if self.integer is None else (self, Fits(self.place, self.integer))


@dataclass(frozen=True)
class DecodeEntry(Check):
    """The value is a non-negative entry of a Shape, or int or bool in an Array or List.

    ``bounded`` says that another check of this entry rejects negative values too.
    """

    bounded: bool = field(default=False, kw_only=True)
    words = Kind.INT.words
    or_none: ClassVar = ""

    @property
    @override
    def checks(self) -> tuple[Check, ...]:
        return self, NotNegative(self.place)


Decoding: TypeAlias = Union[
    DecodeOptional,
    DecodeVariant,
    Alternative,
    DecodeTensor,
    DecodeShape,
    DecodeTuple,
    DecodeList,
    EachElement,
    OpenMap,
    DecodeText,
    DecodeObject,
    DecodeScalar,
    DecodeEntry,
]
