"""Shapes, streams, pointers and constants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from types import NoneType
from typing import ClassVar, Final, TypeAlias, Union

from typing_extensions import override

from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec._check import integer
from ffi_builder.spec.entries import check_entries, entries_text
from ffi_builder.spec.expr import Dim
from ffi_builder.spec.param import Named, PlainValues

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
        object.__setattr__(
            self, "shape", check_entries(f"{self.label}: shape", self.shape, optional=False)
        )

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
        if not isinstance(self.value, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SpecError(f"{self.label}: value: expected True or False but got {self.value!r}")


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
"""Parameters that accept one value, which the kernel does not get."""
