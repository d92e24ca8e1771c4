"""Parameter kinds that hold one value: strings, choices, dtypes, devices and objects."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar, Final, TypeAlias, Union, cast

from typing_extensions import override

from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec._check import text
from ffi_builder.spec.dtypes import DTypeField, one_of_dtypes
from ffi_builder.spec.numbers import INT_RANGES, int_of_dtype
from ffi_builder.spec.param import Named, PlainValues
from ffi_builder.suggest import did_you_mean

_CHOICE: Final = re.compile(r"[ -!#-&(-\[\]-~]{1,255}")
"""Printable ASCII without quotes and backslashes, so that it can be quoted without escapes."""
_INT32: Final[Any] = "int32"
_STR: Final = PlainValues("a str", (str,), "")
_TYPE_KEY: Final = re.compile(r"[A-Za-z_][\w.$-]{0,254}", re.ASCII)


@dataclass(frozen=True, repr=False)
class String(Named):
    """A str. The kernel gets a pointer to its UTF-8 bytes, and their number.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> log = spec.Signature("log", [spec.String("message")])
        >>> testing.check(log, "step 3")
        {}
        >>> testing.check(log, b"step 3")
        Traceback (most recent call last):
        ...
        TypeError: Mismatched type of message on argument #0 when calling: `...`, expected str
            but got bytes
    """

    accepts: ClassVar[PlainValues] = _STR


@dataclass(frozen=True, repr=False)
class Bytes(Named):
    """A bytes object, or a ``TVMFFIByteArray*``. The kernel gets a pointer, and the length.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> load = spec.Signature("load_weights", [spec.Bytes("data")])
        >>> testing.check(load, bytes(64))
        {}
    """

    accepts: ClassVar[PlainValues] = PlainValues("bytes", (bytes,), b"")


@dataclass(frozen=True, repr=False)
class DType(Named):
    """A data type. The kernel gets the ``DLDataType``, as the 32 bits that it is in memory.

    Examples:
        >>> import numpy as np
        >>> from ffi_builder import spec, testing
        >>> cast = spec.Signature("cast", [spec.DType("to")])
        >>> testing.check(cast, np.dtype("float16"))
        {}
    """

    accepts: ClassVar[PlainValues] = PlainValues("a dtype")

    @property
    @override
    def kernel_dtype(self) -> str:
        return "int32"


@dataclass(frozen=True, repr=False)
class Device(Named):
    """A device. The kernel gets the ``DLDevice``: 64 bits, with the type in the low half.

    Examples:
        >>> import tvm_ffi
        >>> from ffi_builder import spec, testing
        >>> synchronize = spec.Signature("synchronize", [spec.Device("device")])
        >>> testing.check(synchronize, tvm_ffi.device("cuda", 0))
        {}
    """

    accepts: ClassVar[PlainValues] = PlainValues("a device")

    @property
    @override
    def kernel_dtype(self) -> str:
        return "int64"


@dataclass(frozen=True, repr=False)
class Object(Named):
    """Any object, or one of a type. The kernel gets the ``TVMFFIObject*``, borrowed.

    Args:
        name: an identifier.
        type_key: the name that the type was registered under with tvm-ffi, such as
            ``"ffi.Module"``; objects of types derived from it are accepted. None: any object.

    Raises:
        SpecError: ``type_key`` is no such name.

    Examples:
        >>> import tvm_ffi
        >>> from ffi_builder import spec, testing
        >>> unload = spec.Signature("unload", [spec.Object("module", "ffi.Module")])
        >>> testing.check(unload, tvm_ffi.system_lib())
        {}
        >>> testing.check(unload, [1, 2])
        Traceback (most recent call last):
        ...
        TypeError: Mismatched type of module on argument #0 when calling: `...`, expected
            ffi.Module but got ffi.Array
    """

    accepts: ClassVar[PlainValues] = PlainValues("an object", (str, bytes, list, dict))

    type_key: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        key = cast("object", self.type_key)
        if key is not None and not (isinstance(key, str) and _TYPE_KEY.fullmatch(key)):
            raise SpecError(
                f"{self.label}: type_key: expected a registered name such as 'ffi.Module' but got "
                f"{key!r}"
            )

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        return "Object" if self.type_key is None else f"Object('{self.type_key}')"


@dataclass(frozen=True, repr=False)
class Function(Named):
    """A function, such as any Python callable. The kernel gets the ``TVMFFIObject*``, borrowed.

    Examples:
        A callback, which the kernel calls by :func:`~ffi_builder.call_packed`:

        >>> from ffi_builder import spec, testing
        >>> minimize = spec.Signature("minimize", [spec.Function("on_step")])
        >>> testing.check(minimize, lambda step, loss: None)
        {}
    """

    accepts: ClassVar[PlainValues] = PlainValues("a function")


@dataclass(frozen=True, repr=False)
class Array(Named):
    """An Array, such as a Python list or tuple, of anything. The kernel gets the object.

    Use a :class:`TupleParam` for Arrays whose elements are known.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> concat = spec.Signature("concat", [spec.Array("names")])
        >>> testing.check(concat, ["q", "k", "v"])
        {}
    """

    accepts: ClassVar[PlainValues] = PlainValues("a list", (list,))


@dataclass(frozen=True, repr=False)
class Map(Named):
    """A Map, such as a Python dict. The kernel gets the ``TVMFFIObject*``, borrowed.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> configure = spec.Signature("configure", [spec.Map("options")])
        >>> testing.check(configure, {"tile": 128})
        {}
    """

    accepts: ClassVar[PlainValues] = PlainValues("a dict", (dict,))


@dataclass(frozen=True, repr=False, eq=False)
class Choice(Named):
    """A str out of a fixed set. The kernel gets the int that stands for it.

    Args:
        name: an identifier.
        choices: each allowed str (printable ASCII without quotes and backslashes) and its int, in
            the order in which errors list them.
        dtype: the integer dtype of the ints.

    Raises:
        SpecError: no choices, a str with other characters, an int that does not fit ``dtype``, or a
            default that is no choice.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> act = spec.Choice("act", {"relu": 0, "gelu": 1}, "int8", default="relu")
        >>> testing.check(spec.Signature("mlp", [act]), "gelu")
        {}
        >>> testing.check(spec.Signature("mlp", [act]), "silu")
        Traceback (most recent call last):
        ...
        ValueError: Mismatched act on argument #0 when calling: `...`, expected one of 'relu',
            'gelu' but got 'silu' (did you mean 'relu'?)
    """

    accepts: ClassVar[PlainValues] = _STR

    choices: Mapping[str, int]
    dtype: DTypeField = field(default=_INT32)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "dtype", one_of_dtypes(self.label, self.dtype, INT_RANGES))
        given = cast("object", self.choices)
        if not isinstance(given, Mapping) or not given:
            raise SpecError(
                f"{self.label}: choices: expected a dict such as {{'relu': 1}} but got {given!r}"
            )
        items = cast("Mapping[object, object]", given).items()
        choices = dict(self._checked_choice(choice, value) for choice, value in items)
        object.__setattr__(self, "choices", choices)
        # An enumerator stands for its name or its value; the signature checks it.
        if type(self.default) is str and self.default not in choices:
            raise SpecError(
                f"{self.label}: default: expected one of {', '.join(map(repr, choices))} but got "
                f"{self.default!r}{did_you_mean(self.default, choices)}"
            )

    def _checked_choice(self, choice: object, value: object) -> tuple[str, int]:
        """Return a choice as a plain str and int; members of enums print differently."""
        what = f"{self.label}: choices"
        word = str.__str__(text(what, choice))
        if not _CHOICE.fullmatch(word):
            raise SpecError(
                f"{what}: expected 1 to 255 printable ASCII characters, without quotes and "
                f"backslashes, but got {choice!r}"
            )
        return word, int_of_dtype(f"{what}[{word!r}]", value, self.dtype)

    @property
    @override
    def kernel_dtype(self) -> str:
        return self.dtype

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        choices = ", ".join(f"'{choice}': {value}" for choice, value in self.choices.items())
        dtype = "" if self.dtype == _INT32 else f", {self.dtype}"
        return f"Choice({{{choices}}}{dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choice) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        """Return what equality compares. Errors list the choices in order, so the order counts."""
        return self.name, tuple(self.choices.items()), self.dtype


Value: TypeAlias = Union[
    Choice,
    String,
    Bytes,
    DType,
    Device,
    Object,
    Function,
    Array,
    Map,
]
"""Parameters that hold one value and no number."""
