"""Steps that find out what kind of value came; see :mod:`ffi_builder.plan.steps`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ffi_builder import abi
from ffi_builder.plan.kinds import Kind
from ffi_builder.plan.messages import Words
from ffi_builder.plan.path import Place


@dataclass(frozen=True)
class Step:
    """What all steps have: the place they look at."""

    place: Place

    words: ClassVar[Words]

    def __str__(self) -> str:
        """One line: ``B.shape[0]: expected {k} (k), otherwise ValueError``."""
        from ffi_builder.plan.explain import step_text

        return step_text(self)  # pyright: ignore[reportArgumentType] # every step is of the union


@dataclass(frozen=True)
class DecodeOptional(Step):
    """None makes the parameter absent: all steps at places in it are skipped, later ones too."""


@dataclass(frozen=True)
class Decode(Step):
    """What kind of value it is. Moved objects are the objects that they hold.

    ``optional`` says that None was accepted before, for the words of the error.
    """

    optional: bool = field(default=False, kw_only=True)


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
class DecodeText(Decode):
    """The value is a str or, if ``binary``, bytes: small, raw, or an object."""

    binary: bool = False

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # by kind
        """The error."""
        return Words.KIND_BYTES if self.binary else Words.KIND_STR


@dataclass(frozen=True)
class DecodeObject(Decode):
    """The value is an object: any, one of a static type, or one of a type by its key.

    ``type_index`` is that of the one static type which is right, with nothing derived from it.
    """

    type_index: int | None = None
    type_key: str | None = None
    words = Words.KIND_OBJECT

    @property
    def text(self) -> str:
        """What is expected: ``Object``, ``Function``, or the type key."""
        if self.type_index is not None:
            return abi.TYPE_KEYS[self.type_index].removeprefix("ffi.")
        return self.type_key or "Object"


@dataclass(frozen=True)
class DecodeScalar(Decode):
    """The value is of ``kind``. A float is rounded to ``dtype`` here, once, to nearest even."""

    kind: Kind
    dtype: str | None = None

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # by kind
        """The error: each kind has its own."""
        return self.kind.words


@dataclass(frozen=True)
class DecodeEntry(Step):
    """The value is an entry of a Shape, or an int or bool in an Array or List."""

    words = Words.KIND_INT
