"""Data types by name: ``float32``, ``uint8``, ``bool``, ``float4_e2m1fnx2`` (two lanes), ...

A name is the DLPack type code's, the bits (where the code does not already say them), and ``x`` and
the lanes if there is more than one. Codes are those of ``DLDataTypeCode`` (:mod:`ffi_builder.abi`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias, Union

from ffi_builder import abi
from ffi_builder.errors import SpecError
from ffi_builder.spec._check import one_of, with_context
from ffi_builder.spec._stored import Stored
from ffi_builder.suggest import did_you_mean

DTypeLike: TypeAlias = Union[str, type, Any]
"""A dtype by its name, or as NumPy, ml_dtypes, JAX, PyTorch or tvm-ffi have it."""
DTypeField: TypeAlias = Stored[DTypeLike, str]
"""A dtype that is kept as its name."""


class DataType(NamedTuple):
    """A ``DLDataType``: one element is ``bits * lanes`` bits wide."""

    code: int
    bits: int
    lanes: int = 1

    @property
    def total_bits(self) -> int:
        """Bits of one element, all its lanes."""
        return self.bits * self.lanes

    def __str__(self) -> str:
        """The canonical name; ``dtype(code=…, bits=…, lanes=…)`` for a code that has none."""
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
NAMES: Final = (
    *(f"{name}{bits}" for name, widths in _SCALAR_BITS.items() for bits in widths),
    "bool",
    *abi.FIXED_BITS,
)
"""Every dtype name without lanes."""
_PATTERN: Final = re.compile(rf"({'|'.join(NAMES)})(?:x([1-9][0-9]{{0,4}}))?")


def parse_dtype(dtype: DTypeLike) -> DataType:
    """The data type that a name means, or a dtype of a framework (see :func:`dtype_name`).

    Raises:
        SpecError: if there is no such type; the message names the nearest one.
    """
    name = dtype_name(dtype)
    # Asked of whatever the author wrote, which may be a list, and have no hash.
    found = _parse(name) if isinstance(name, str) else None
    if found is None:
        raise SpecError(
            f"dtype: expected a DLPack type name such as 'float32', 'bool' or 'float8_e4m3fn' "
            f"but got {dtype!r}{did_you_mean(dtype, NAMES)}"
        )
    return found


def checked_dtype(prefix: str, dtype: DTypeLike) -> str:
    """The name of a dtype that there is; ``prefix`` begins the words of the SpecError."""
    with_context(prefix, parse_dtype, dtype)
    return dtype if type(dtype) is str else str(dtype_name(dtype))


def one_of_dtypes(what: str, dtype: DTypeLike, allowed: Iterable[str]) -> str:
    """The name of a dtype that is one of those allowed; ``what`` has it."""
    if type(dtype) is str:
        return one_of(f"{what}: dtype", dtype, allowed)
    name, known = dtype_name(dtype), list(allowed)
    return one_of(f"{what}: dtype", name if name in known else dtype, known)


def dtype_name(given: object) -> object:
    """The name of a framework's dtype; anything else as it is.

    No framework is imported. A dtype is known by what it looks like: ``np.dtype`` and JAX's have a
    ``name``; ``np.float32``, ``ml_dtypes.bfloat16`` and ``jnp.float32`` are classes whose numbers
    have a ``dtype``; ``torch.float32`` prints as that.
    """
    if isinstance(given, str):
        return str.__str__(given)  # of tvm_ffi.dtype, which is a str with another repr
    if isinstance(given, type):
        return _name_of(_dtype_of_class(given)) or given
    return _name_of(given) or given


def _dtype_of_class(given: type) -> object:
    """The dtype of a class of numbers, or None."""
    dtype: object = getattr(given, "dtype", None)
    if dtype is None or _name_of(dtype) is not None:
        return dtype
    try:
        return getattr(given(0), "dtype", None)
    except Exception:  # a class of something else, whose constructor may raise anything
        return None


def _name_of(dtype: object) -> str | None:
    """The name of an object whose class says dtype: ``Float32DType``, ``dtype[bfloat16]``."""
    if "dtype" not in type(dtype).__name__.lower():
        return None
    if getattr(dtype, "isnative", True) is False:  # byte-swapped, which DLPack does not have
        return None
    name: object = getattr(dtype, "name", None)
    if isinstance(name, str):
        return name
    # torch.float4_e2m1fn_x2 has its lanes behind an underscore.
    return re.sub(r"_x(\d+)$", r"x\1", str(dtype).rpartition(".")[2])


@cache
def _parse(name: str) -> DataType | None:
    match = _PATTERN.fullmatch(name)
    if match is None:
        return None
    base, lanes = match[1], int(match[2] or 1)
    if lanes > 0xFFFF:
        return None
    if base == "bool":
        return DataType(abi.DTYPE_CODES["bool"], 8, lanes)
    if base in abi.FIXED_BITS:
        return DataType(abi.DTYPE_CODES[base], abi.FIXED_BITS[base], lanes)
    letters = base.rstrip("0123456789")
    return DataType(abi.DTYPE_CODES[letters], int(base[len(letters) :]), lanes)
