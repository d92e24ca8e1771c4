"""Parameters that hold one value: strings, choices, objects, Shapes, streams and constants."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from types import NoneType
from typing import ClassVar, Final, TypeAlias, Union, cast

from typing_extensions import override

from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec._check import boolean, integer, text
from ffi_builder.spec.dtypes import DTypeField, one_of_dtypes
from ffi_builder.spec.expr import Dim
from ffi_builder.spec.numbers import INT_RANGES, int_of_dtype
from ffi_builder.spec.objects import Array, Function, Map, Object
from ffi_builder.spec.param import Named, PlainValues
from ffi_builder.spec.tensors.entries import check_entries, entries_text
from ffi_builder.suggest import did_you_mean

_ADDRESS_SPACES: Final = 1 << 24
"""LLVM's limit: an address space is an unsigned number of 24 bits."""
_ADDRESS: Final = PlainValues("an int, a pointer or None", (NoneType, int))


@dataclass(frozen=True, repr=False)
class Shape(Named):
    """A Shape object, or an Array or List of ints, of fixed length.

    ``shape`` has one entry for each value: an int, an integer Var or an expression. The values are
    dimensions: a negative one is an error.

    Raises:
        SpecError: ``shape`` is no list or tuple, or has an entry that cannot be a dimension.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> rows, cols = spec.dims("rows cols", "int32")
        >>> reshape = spec.Signature("reshape", [spec.Shape("size", [rows, cols, 4])])
        >>> testing.check(reshape, (2, 3, 4))
        {'rows': 2, 'cols': 3}
        >>> testing.check(reshape, (2, 3))
        Traceback (most recent call last):
        ...
        ValueError: Mismatched length of size on argument #0 when calling: `...`, expected 3
            but got 2
    """

    accepts: ClassVar[PlainValues] = PlainValues("a tuple of ints", (list,))

    shape: Sequence[Dim]

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = check_entries(f"{self.label}: shape", self.shape, optional=False)
        object.__setattr__(self, "shape", shape)

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        return f"Shape({entries_text(self.shape)})"


@dataclass(frozen=True, repr=False)
class Stream(Named):
    """A stream handle given as an argument: an opaque pointer, None (0) or an int.

    Examples:
        >>> from ffi_builder import spec
        >>> x = spec.Tensor("x", [spec.Var("n", "int64")], "float32", device_type="cuda")
        >>> print(spec.Signature("relu", [x, spec.Stream("stream", default=None)]))
        relu(x: Tensor([n], float32, device_type=cuda), stream: Stream)
    """

    accepts: ClassVar[PlainValues] = _ADDRESS


@dataclass(frozen=True, repr=False)
class EnvStream(Named):
    """The current stream of the first non-CPU tensor's device, from ``TVMFFIEnvGetStream``.

    It is not an argument: callers do not pass it, and error messages do not show it.

    Examples:
        >>> from ffi_builder import spec
        >>> x = spec.Tensor("x", [spec.Var("n", "int64")], "float32", device_type="cuda")
        >>> relu = spec.Signature("relu", [x, spec.EnvStream("stream")])
        >>> [param.name for param in relu.arguments]
        ['x']
    """

    accepts: ClassVar[PlainValues] = PlainValues("nothing")


@dataclass(frozen=True, repr=False)
class DataPointer(Named):
    """A raw address: an opaque pointer, None (NULL) or a non-negative int.

    ``address_space`` is the LLVM address space of the pointer that the kernel gets; None is 0.

    Raises:
        SpecError: the address space is not an int from 0 to 2**24 - 1.

    Examples:
        >>> import numpy as np
        >>> from ffi_builder import spec, testing
        >>> copy = spec.Signature("copy", [spec.DataPointer("src"), spec.Var("bytes", "int64")])
        >>> data = np.zeros(16, "uint8")
        >>> testing.check(copy, data.ctypes.data, 16)
        {'bytes': 16}
    """

    accepts: ClassVar[PlainValues] = _ADDRESS

    address_space: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.address_space is not None:
            space = integer(f"{self.label}: address_space", self.address_space, at_least=0)
            if space >= _ADDRESS_SPACES:
                raise SpecError(
                    f"{self.label}: address_space: expected less than {_ADDRESS_SPACES}, LLVM's "
                    f"limit, but got {space}"
                )

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        if outline or self.address_space is None:
            return "DataPointer"
        return f"DataPointer(address_space={self.address_space})"


@dataclass(frozen=True, repr=False)
class ConstNone(Named):
    """None, and nothing else. Constants are checked and not forwarded to the kernel.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> attention = spec.Signature("attention", [spec.ConstNone("mask")])
        >>> testing.check(attention, None)
        {}
    """

    type_name: ClassVar[str] = "None"
    accepts: ClassVar[PlainValues] = PlainValues("None", (NoneType,))


@dataclass(frozen=True, repr=False)
class _Literal(Named):
    """The base of constants with a value; a default must be equal to it."""

    value: float

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        return f"Literal[{self.value!r}]"


@dataclass(frozen=True, repr=False)
class ConstInt(_Literal):
    """The int ``value``, which fits int64, and nothing else; True and False are not ints here.

    Raises:
        SpecError: ``value`` is not an int that fits int64.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> conv = spec.Signature("conv", [spec.ConstInt("groups", 1)])
        >>> testing.check(conv, 2)
        Traceback (most recent call last):
        ...
        ValueError: Mismatched groups on argument #0 when calling: `...`, expected 1 but got 2
    """

    type_name: ClassVar[str] = "Literal"
    accepts: ClassVar[PlainValues] = PlainValues("an int", (int,))

    value: int

    def __post_init__(self) -> None:
        super().__post_init__()
        integer(f"{self.label}: value", self.value)


@dataclass(frozen=True, repr=False)
class ConstBool(_Literal):
    """The bool ``value``, and nothing else; 0 and 1 are not bools here.

    Raises:
        SpecError: ``value`` is not a bool.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> attention = spec.Signature("attention", [spec.ConstBool("causal", True)])
        >>> testing.check(attention, True)
        {}
    """

    type_name: ClassVar[str] = "Literal"
    accepts: ClassVar[PlainValues] = PlainValues("a bool", (bool,))

    value: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        boolean(f"{self.label}: value", self.value)


@dataclass(frozen=True, repr=False, eq=False)
class ConstFloat(_Literal):
    """A float or int equal to the float ``value``; NaN is equal to NaN.

    Raises:
        SpecError: ``value`` is not a float, or is an int beyond float64's range.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> dropout = spec.Signature("dropout", [spec.ConstFloat("p", 0.0)])
        >>> testing.check(dropout, 0)
        {}
    """

    type_name: ClassVar[str] = "Literal"
    accepts: ClassVar[PlainValues] = PlainValues("a float", (float, int))

    value: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SpecError(f"{self.label}: value: expected a float but got {self.value!r}")
        try:
            object.__setattr__(self, "value", float(self.value))
        except OverflowError:
            raise SpecError(
                f"{self.label}: value: expected a value within float64's range but got a larger int"
            ) from None

    def __eq__(self, other: object) -> bool:
        """Compare names and values; NaN is equal to itself, as it is in a call."""
        return isinstance(other, ConstFloat) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[str, float | None]:
        return self.name, None if math.isnan(self.value) else self.value


Constant: TypeAlias = Union[ConstNone, ConstInt, ConstBool, ConstFloat]
"""Parameters that accept a single value, which is not passed to the kernel."""


_CHOICE: Final = re.compile(r"[ -!#-&(-\[\]-~]{1,255}")
"""Printable ASCII without quotes and backslashes, so that it can be quoted without escapes."""
_INT32: Final = cast("DTypeField", "int32")
_STR: Final = PlainValues("a str", (str,), "")


class Text(Named):
    """The base of kinds that callers pass as a str or bytes."""


@dataclass(frozen=True, repr=False)
class String(Text):
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
class Bytes(Text):
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
    """A data type. The kernel gets the 32 bits of the ``DLDataType``.

    Examples:
        >>> import numpy as np
        >>> from ffi_builder import spec, testing
        >>> cast = spec.Signature("cast", [spec.DType("to")])
        >>> testing.check(cast, np.dtype("float16"))
        {}
    """

    accepts: ClassVar[PlainValues] = PlainValues("a dtype")
    kernel_dtype: ClassVar[str | None] = "int32"


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
    kernel_dtype: ClassVar[str | None] = "int64"


@dataclass(frozen=True, repr=False, eq=False)
class Choice(Text):
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
        object.__setattr__(self, "kernel_dtype", self.dtype)
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


@dataclass(frozen=True, repr=False)
class Any(Named):
    """A value of any type of the ABI, None included, which is passed on unchecked.

    The kernel gets a ``const TVMFFIAny *``, the address of the argument, borrowed.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> log = spec.Signature("log", [spec.Any("value")])
        >>> testing.check(log, None), testing.check(log, "step 3"), testing.check(log, [1, 2])
        ({}, {}, {})
    """

    accepts: ClassVar[PlainValues] = PlainValues(
        "any value", (NoneType, bool, int, float, str, bytes, list, dict), 0
    )


@dataclass(frozen=True, repr=False)
class VarArgs(Named):
    """All further arguments, of any number and type, which are passed on: ``*rest: Any``.

    It comes after all other arguments, and is passed by position. The kernel gets a pointer to the
    arguments, a ``const TVMFFIAny *``, borrowed, and their number, an int64.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> log = spec.Signature("log", [spec.String("form"), spec.VarArgs("values")])
        >>> print(log)
        log(form: String, *values: Any)
        >>> testing.check(log, "%d of %s", 3, "x")
        {}
        >>> testing.check(log)
        Traceback (most recent call last):
        ...
        TypeError: Mismatched number of arguments when calling: `log(form: String, *values: Any)`,
            expected at least 1 but got 0
    """

    accepts: ClassVar[PlainValues] = PlainValues("no default")

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        return "Any"


Value: TypeAlias = Union[
    Any,
    VarArgs,
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
"""Parameters whose value is not a number."""
