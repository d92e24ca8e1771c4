"""Entries of ``args=`` of :class:`CudaLaunchCallProvider`.

Each entry is one parameter of the kernel. An entry is a parameter of the signature or a part of a
parameter, a Var, an expression or an int, the name or text of any of these, or one of::

    Scalar(n * 2, "int32")          a number in a given type
    Struct(x.data, "n", 7)          a struct of entries, by value
    Packed("x")                     {data, dims…, strides…}, as by DynamicParamPackCallProvider
    Nested("x")                     {data, {shape, strides}}, as by NestedTensorCallProvider
    Pointee("config", 24)           the 24 bytes to which a host pointer points, by value
    TensorMap("x", box=(64, 64))    a CUtensorMap: 128 bytes, aligned to 128
"""

from __future__ import annotations

import math
import struct
from typing import Final, TypeAlias, Union

from ffi_builder import SpecError, spec
from ffi_builder.cuda.launch.maps import TensorMap, check_param
from ffi_builder.cuda.launch.vendor import CUDA
from ffi_builder.extending import (
    FLOAT_DTYPES,
    INT_RANGES,
    LLVM_TYPES,
    Entry,
    Expr,
    dataclass,
    parse_dtype,
)

PROVIDER: Final = CUDA.provider
_FLOATS: Final = {"float16": "e", "float32": "f", "float64": "d"}
_INFINITY: Final = 0x7F80
"""The bits of a bfloat16."""
SCALAR_SIZES: Final = {
    dtype: 8 if dtype == "handle" else parse_dtype(dtype).total_bits // 8 for dtype in LLVM_TYPES
}
"""The size and alignment of a scalar of each dtype, in bytes."""


@dataclass(frozen=True)
class Scalar:
    """A number in a given type.

    Args:
        value: an int, float or bool. For an integer dtype also a Var, its name or an expression;
            each call checks that the value fits.
        dtype: int8 to int64, uint8 to uint64, bool, float16, bfloat16, float32, float64, or handle
            for an address (0 is NULL).

    Raises:
        SpecError: if the dtype is not one of these, or cannot have this value.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.providers import cuda
        >>> print(cuda.Scalar(spec.Var("n", "int64"), "int32"))
        n as int32
        >>> cuda.Scalar(1.0, "float32").bits
        1065353216
        >>> cuda.Scalar(-1, "uint32")
        Traceback (most recent call last):
        ...
        ffi_builder.errors.SpecError: Scalar: -1 does not fit uint32 (0 to 4294967295)
    """

    value: spec.Dim | float | str
    dtype: str

    def __post_init__(self) -> None:
        if self.dtype not in SCALAR_SIZES:
            raise SpecError(
                f"Scalar: dtype: expected one of {', '.join(SCALAR_SIZES)} but got {self.dtype!r}"
            )
        if isinstance(self.value, (spec.Var, Expr, str)):
            self._check_symbolic()
        else:
            _ = self.bits

    def _check_symbolic(self) -> None:
        if self.dtype not in INT_RANGES:
            raise SpecError(f"Scalar: {self.value} can be an integer, but not a {self.dtype}")
        if isinstance(self.value, spec.Var) and not self.value.is_integer:
            name, dtype = self.value.name, self.value.dtype
            raise SpecError(f"Scalar: Var {name!r} is a {dtype}, not an integer")

    @property
    def bits(self) -> int:
        """The bits of a constant, as an unsigned number.

        Raises:
            SpecError: if it is not a number, or does not fit the dtype.
        """
        value, dtype = self.value, self.dtype
        if not isinstance(value, (int, float)):
            raise SpecError(f"Scalar: expected a number but got {value!r}")
        size = SCALAR_SIZES[dtype]
        if dtype in FLOAT_DTYPES:
            return _float_bits(value, dtype)
        low, high = (0, 1) if dtype == "bool" else INT_RANGES.get(dtype, (0, 2**64 - 1))
        if isinstance(value, float) or not low <= value <= high:
            raise SpecError(f"Scalar: {value!r} does not fit {dtype} ({low} to {high})")
        return value & ((1 << 8 * size) - 1)

    def __str__(self) -> str:
        return f"{self.value} as {self.dtype}"


@dataclass(frozen=True, init=False)
class Struct:
    """A struct by value, with each member at its natural alignment, as C lays it out.

    Args:
        members: entries; a tuple or Struct of the signature stands for its elements.

    Raises:
        SpecError: if there is no member.

    Examples:
        For a kernel whose parameter is ``struct { float *data; int32_t size, stride; }``:

        >>> from ffi_builder.providers import cuda
        >>> print(cuda.Struct("x", "n", cuda.Scalar(1, "int32")))
        {x, n, 1 as int32}
    """

    members: tuple[LaunchEntry, ...]

    def __init__(self, *members: LaunchEntry) -> None:
        if not members:
            raise SpecError("Struct: expected at least one member; C has no empty structs")
        object.__setattr__(self, "members", members)

    def __str__(self) -> str:
        return f"{{{', '.join(str(member) for member in self.members)}}}"


@dataclass(frozen=True)
class TensorStruct:
    """A tensor as one struct by value."""

    tensor: spec.Param | str

    def __post_init__(self) -> None:
        check_param(f"{type(self).__name__}: tensor", self.tensor)

    def __str__(self) -> str:
        return f"{_name(self.tensor)} {type(self).__name__.lower()}"


@dataclass(frozen=True)
class Packed(TensorStruct):
    """A tensor as one struct by value: its data pointer, then dimensions and strides.

    The members are those of :class:`DynamicParamPackCallProvider`, which leaves out ints.

    Examples:
        For a kernel whose parameter is ``struct { half *data; int32_t n; }``:

        >>> from ffi_builder import spec
        >>> from ffi_builder.providers import cuda
        >>> n = spec.Var("n", "int32")
        >>> x = spec.Tensor("x", [n], "float16", device_type="cuda")
        >>> print(cuda.Packed(x))
        x packed
    """


@dataclass(frozen=True)
class Nested(TensorStruct):
    """A tensor as one struct by value, as CuTe's kernels take it: ``{data, {shape, strides}}``.

    The members are those of :class:`NestedTensorCallProvider`.

    Examples:
        For a CuTe kernel whose parameter is ``{half *data, {int32_t n, {}}}``:

        >>> from ffi_builder import spec
        >>> from ffi_builder.providers import cuda
        >>> n = spec.Var("n", "int32")
        >>> x = spec.Tensor("x", [n], "float16", device_type="cuda")
        >>> print(cuda.Nested(x))
        x nested
    """


@dataclass(frozen=True)
class Pointee:
    """The bytes to which a host pointer points, by value: a struct that the caller has laid out.

    The bytes are read during the call; NULL raises a ValueError.

    Args:
        pointer: a DataPointer or a ``handle`` Var, or its name.
        size: the size of the struct in bytes.
        align: the alignment of the struct's type in bytes; a power of two.

    Raises:
        SpecError: if ``size`` is not positive, or ``align`` is not a power of two.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.providers import cuda
        >>> params = spec.DataPointer("params")
        >>> print(cuda.Pointee(params, size=48, align=16))
        *params
    """

    pointer: spec.Param | str
    size: int
    align: int = 8

    def __post_init__(self) -> None:
        check_param("Pointee: pointer", self.pointer)
        if type(self.size) is not int or self.size < 1:
            raise SpecError(f"Pointee: size: expected a positive int but got {self.size!r}")
        if type(self.align) is not int or self.align < 1 or self.align & (self.align - 1):
            raise SpecError(f"Pointee: align: expected a power of two but got {self.align!r}")

    def __str__(self) -> str:
        return f"*{_name(self.pointer)}"


@dataclass(frozen=True)
class Axes(TensorStruct):
    """The sizes, then the strides of a tensor: each is an integer of the size of its parameter.

    Kernels of Triton get them after a tensor map, and tile kernels after a pointer.
    """


LaunchEntry: TypeAlias = Union[Entry, Scalar, Struct, Packed, Nested, Pointee, TensorMap, Axes]
"""An entry of ``args=``."""


def _name(param: spec.Param | str) -> str:
    return param if isinstance(param, str) else param.name


def _float_bits(value: float, dtype: str) -> int:
    if dtype == "bfloat16":
        data = _packed(value, "f", dtype)
        (wide,), (near,) = struct.unpack("<I", data), struct.unpack("<f", data)
        if near != near:
            return wide >> 16 | 0x40
        if wide & 0xFFFF == 0x8000 and near != value:
            # The value is half-way only because it was rounded to float32 before.
            wide += 1 if abs(value) > abs(near) else -1
        rounded = (wide + 0x7FFF + (wide >> 16 & 1)) >> 16
        if rounded & 0x7FFF == _INFINITY and not math.isinf(value):
            raise SpecError(f"Scalar: {value!r} is too large for a {dtype}")
        return rounded
    return int.from_bytes(_packed(value, _FLOATS[dtype], dtype), "little")


def _packed(value: float, letter: str, dtype: str) -> bytes:
    try:
        return struct.pack(f"<{letter}", value)
    except OverflowError as error:
        raise SpecError(f"Scalar: {value!r} is too large for a {dtype}") from error
