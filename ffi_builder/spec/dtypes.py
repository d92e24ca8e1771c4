"""Data types by name: ``float32``, ``uint8``, ``bool``, ``float4_e2m1fnx2`` (two lanes), ...

A name consists of the name of the DLPack type code, the bits unless the code implies them, and
``x`` with the number of lanes if there are several. The codes are ``DLDataTypeCode``
(:mod:`ffi_builder.abi`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias, Union

from ffi_builder import abi
from ffi_builder.errors import SpecError
from ffi_builder.spec._check import Stored, one_of
from ffi_builder.suggest import did_you_mean

DTypeLike: TypeAlias = Union[str, type, Any]
"""The name of a dtype, or a dtype of NumPy, ml_dtypes, JAX, PyTorch or tvm-ffi."""
DTypeField: TypeAlias = Stored[DTypeLike, str]
"""A field that accepts any such dtype and stores its name."""


class DataType(NamedTuple):
    """A ``DLDataType``: one element is ``bits * lanes`` bits wide.

    Examples:
        >>> from ffi_builder.spec.dtypes import parse_dtype
        >>> float32x4 = parse_dtype("float32x4")
        >>> float32x4.bits, float32x4.lanes, float32x4.total_bits
        (32, 4, 128)
    """

    code: int
    """The ``DLDataTypeCode``: 0 for ints, 1 for unsigned ints, 2 for floats, …."""
    bits: int
    """Bits of one lane."""
    lanes: int = 1

    @property
    def total_bits(self) -> int:
        """Bits of one element, including all its lanes."""
        return self.bits * self.lanes

    @property
    def alignment(self) -> int:
        """Bytes that addresses of elements are multiples of, as for NumPy's dtypes.

        That of a part of a complex number, and of a lane; 1 if a byte has several lanes.

        Examples:
            >>> [parse_dtype(name).alignment for name in ("complex128", "float32x4", "int4x2")]
            [8, 4, 1]
        """
        bits = self.bits // 2 if self.code == abi.DTYPE_CODES["complex"] else self.bits
        return max(bits // 8, 1)

    @property
    def is_packed(self) -> bool:
        """Whether DLPack stores an element in fewer bits than LLVM, which takes bytes, 2^k of them.

        Examples:
            >>> [parse_dtype(name).is_packed for name in ("int4", "int4x2", "bool", "uint2x2")]
            [True, False, False, True]
        """
        return self.total_bits < 8 or self.total_bits & (self.total_bits - 1) != 0

    @property
    def word(self) -> int:
        """The four bytes of the struct, read as a little-endian int32."""
        word = self.code | self.bits << 8 | self.lanes << 16
        return word - (1 << 32) if word >> 31 else word

    def __str__(self) -> str:
        """Return the name, or ``dtype(code=…, bits=…, lanes=…)`` for a code without a name."""
        name = _CODE_NAMES.get(self.code)
        if name is None:
            return f"dtype(code={self.code}, bits={self.bits}, lanes={self.lanes})"
        fixed = abi.FIXED_BITS.get(name, 8 if name == "bool" else None)
        bits = "" if self.bits == fixed else str(self.bits)
        lanes = "" if self.lanes == 1 else f"x{self.lanes}"
        return f"{name}{bits}{lanes}"


_CODE_NAMES: Final = {code: name for name, code in abi.DTYPE_CODES.items()}
_SCALAR_BITS: Final = {
    "int": (1, 2, 4, 8, 16, 32, 64),
    "uint": (1, 2, 4, 8, 16, 32, 64),
    "float": (16, 32, 64),
    "bfloat": (16,),
    "complex": (32, 64, 128),
    "handle": (64,),
}
"""The widths of the type codes whose name does not imply one."""
_BY_NAME: Final = {
    **{
        f"{code}{bits}": DataType(abi.DTYPE_CODES[code], bits)
        for code, widths in _SCALAR_BITS.items()
        for bits in widths
    },
    "bool": DataType(abi.DTYPE_CODES["bool"], 8),
    **{code: DataType(abi.DTYPE_CODES[code], bits) for code, bits in abi.FIXED_BITS.items()},
}
NAMES: Final = tuple(_BY_NAME)
"""Every dtype name without lanes."""


def parse_dtype(dtype: DTypeLike) -> DataType:
    """Return the data type of a name, or of a framework's dtype (see :func:`dtype_name`).

    Raises:
        SpecError: there is no such type; the message suggests the nearest one.

    Examples:
        >>> import numpy as np
        >>> from ffi_builder.spec.dtypes import parse_dtype
        >>> parse_dtype("bfloat16").bits
        16
        >>> parse_dtype(np.float32) == parse_dtype("float32")
        True
        >>> parse_dtype("float23")
        Traceback (most recent call last):
        ...
        ffi_builder.errors.SpecError: dtype: expected a DLPack type name such as 'float32',
            'bool' or 'float8_e4m3fn' but got 'float23', did you mean 'float32'?
    """
    name = dtype_name(dtype)
    parsed = _parse(name) if isinstance(name, str) else None
    if parsed is None:
        raise SpecError(
            f"dtype: expected a DLPack type name such as 'float32', 'bool' or 'float8_e4m3fn' "
            f"but got {dtype!r}{did_you_mean(dtype, NAMES)}"
        )
    return parsed


def checked_dtype(prefix: str, dtype: DTypeLike) -> str:
    """Return the name of a dtype; ``prefix`` begins the message of the SpecError."""
    try:
        parse_dtype(dtype)
    except SpecError as error:
        raise SpecError(f"{prefix}{error}") from None
    return dtype if type(dtype) is str else str(dtype_name(dtype))


def one_of_dtypes(what: str, dtype: DTypeLike, allowed: Iterable[str]) -> str:
    """Return the name of a dtype if it is allowed; ``what`` begins the message of the SpecError."""
    if type(dtype) is str:
        return one_of(f"{what}: dtype", dtype, allowed)
    name, known = dtype_name(dtype), list(allowed)
    return one_of(f"{what}: dtype", name if name in known else dtype, known)


def dtype_name(given: object) -> object:
    """Return the name of a framework's dtype; anything else is returned as it is.

    Dtypes are recognized without importing a framework: ``np.dtype`` and JAX's dtypes have a
    ``name``; ``np.float32``, ``ml_dtypes.bfloat16`` and ``jnp.float32`` are classes whose instances
    have a ``dtype``; ``str(torch.float32)`` is ``"torch.float32"``.
    """
    if isinstance(given, str):
        return str.__str__(given)  # tvm_ffi.dtype is a str with another repr
    if isinstance(given, type):
        return _name_of(_dtype_of_class(given)) or given
    return _name_of(given) or given


def _dtype_of_class(given: type) -> object:
    """Return the dtype of a class of numbers, or None."""
    dtype: object = getattr(given, "dtype", None)
    if dtype is None or _name_of(dtype) is not None:
        return dtype
    try:
        return getattr(given(0), "dtype", None)
    except Exception:  # the constructor of any other class may raise anything
        return None


def _name_of(dtype: object) -> str | None:
    """Return the name if the class of an object is like ``Float32DType`` or ``dtype[bfloat16]``."""
    if "dtype" not in type(dtype).__name__.lower():
        return None
    if getattr(dtype, "isnative", True) is False:  # byte-swapped: DLPack has no such dtypes
        return None
    name: object = getattr(dtype, "name", None)
    if isinstance(name, str):
        return name
    # torch.float4_e2m1fn_x2 has an underscore before its lanes.
    return re.sub(r"_x(\d+)$", r"x\1", str(dtype).rpartition(".")[2])


@cache
def _parse(name: str) -> DataType | None:
    if name in _BY_NAME:
        return _BY_NAME[name]
    match = re.fullmatch(r"(\w+)x([1-9][0-9]{0,4})", name)
    if match is None or match[1] not in _BY_NAME:
        return None
    lanes = int(match[2])
    return _BY_NAME[match[1]]._replace(lanes=lanes) if lanes <= 0xFFFF else None
