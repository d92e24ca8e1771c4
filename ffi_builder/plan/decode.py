"""Steps that decode a value, each of one kind, and the loop over the elements of a list."""

from __future__ import annotations

from dataclasses import field
from enum import Enum

from typing_extensions import override

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.plan.messages import OR_NONE, Words
from ffi_builder.plan.path import Place
from ffi_builder.plan.step import Step, Texts
from ffi_builder.records import dataclass


class Kind(Enum):
    """Kinds of scalar, each with the type indices that it accepts and the message of its error."""

    INT = ((TypeIndex.INT, TypeIndex.BOOL, TypeIndex.BIG_INT), Words.KIND_INT)
    BOOL = ((TypeIndex.BOOL, TypeIndex.INT), Words.KIND_BOOL)
    FLOAT = ((TypeIndex.FLOAT, TypeIndex.INT, TypeIndex.BOOL), Words.KIND_FLOAT)
    HANDLE = ((TypeIndex.OPAQUE_PTR, TypeIndex.NONE), Words.KIND_HANDLE)
    POINTER = (
        (TypeIndex.OPAQUE_PTR, TypeIndex.NONE, TypeIndex.INT, TypeIndex.BIG_INT),
        Words.KIND_POINTER,
    )
    STREAM = ((TypeIndex.OPAQUE_PTR, TypeIndex.NONE, TypeIndex.INT), Words.KIND_POINTER)
    DTYPE = ((TypeIndex.DATA_TYPE,), Words.KIND_DTYPE)
    DEVICE = ((TypeIndex.DEVICE,), Words.KIND_DEVICE)
    CONST_NONE = ((TypeIndex.NONE,), Words.KIND_NONE)
    CONST_INT = ((TypeIndex.INT,), Words.KIND_INT)
    CONST_BOOL = ((TypeIndex.BOOL,), Words.KIND_BOOL)
    CONST_FLOAT = ((TypeIndex.FLOAT, TypeIndex.INT), Words.KIND_FLOAT)

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
class DecodeOptional(Step):
    """None makes the parameter absent: steps at places inside of it are skipped, late ones too."""

    @override
    def row(self, origins: Texts) -> tuple[str, str, str]:
        return str(self.place), "may be None: it is then absent", ""


@dataclass(frozen=True)
class Decode(Step):
    """The value is of one kind. Moved objects are the objects that they hold.

    ``optional`` adds "or None" to the message: an Optional has accepted None before this step.
    """

    optional: bool = field(default=False, kw_only=True)

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"or_none": OR_NONE if self.optional else ""}


@dataclass(frozen=True)
class DecodeTensor(Decode):
    """The value is a Tensor object or a ``DLTensor*``."""

    words = Words.KIND_TENSOR


@dataclass(frozen=True)
class DecodeShape(Decode):
    """The value is a Shape, or an Array or List."""

    words = Words.KIND_SHAPE


@dataclass(frozen=True)
class DecodeTuple(Decode):
    """The value is an Array or List."""

    words = Words.KIND_TUPLE


@dataclass(frozen=True)
class DecodeList(Decode):
    """The value is an Array or List, of any length."""

    words = Words.KIND_LIST


@dataclass(frozen=True)
class EachElement(Step):
    """The steps at places inside of each element follow; they run for one after the other.

    ``known`` are the symbols that have a value for each element and that an earlier list has
    bound, with the places in its elements where it did. It has as many elements as this one.
    """

    param: spec.TensorList
    known: tuple[tuple[spec.Var, Place], ...]

    @override
    def row(self, origins: Texts) -> tuple[str, str, str]:
        known = "".join(f", {symbol} = {{{symbol}}} from {place}" for symbol, place in self.known)
        return str(self.place.each), f"for each i{known}:", ""


@dataclass(frozen=True)
class DecodeText(Decode):
    """The value is a str or, if ``binary``, bytes: small, raw, or an object."""

    binary: bool = False

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # by kind
        """The message."""
        return Words.KIND_BYTES if self.binary else Words.KIND_STR


@dataclass(frozen=True)
class DecodeObject(Decode):
    """The value is an object: any, one of a static type, or one of a type by its key.

    ``type_index`` is set where exactly one static type is accepted, without derived types.
    """

    type_index: int | None = None
    type_key: str | None = None
    words = Words.KIND_OBJECT

    @property
    def text(self) -> str:
        """The expected type: ``Object``, ``Function``, or the type key."""
        if self.type_index is not None:
            return abi.TYPE_KEYS[self.type_index].removeprefix("ffi.")
        return self.type_key or "Object"

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"text": self.text, **super().placeholders(origins)}


@dataclass(frozen=True)
class DecodeScalar(Decode):
    """The value is of ``kind``. A float is rounded to ``dtype`` here, once, to nearest even."""

    kind: Kind
    dtype: str | None = None

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # by kind
        """The message of the kind."""
        return self.kind.words


@dataclass(frozen=True)
class DecodeEntry(Step):
    """The value is an entry of a Shape, or an int or bool in an Array or List."""

    words = Words.KIND_INT

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"or_none": ""}
