"""The dtypes and ranges of numbers, and the operators of expressions and relations."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from ffi_builder.errors import SpecError
from ffi_builder.spec._check import plain

INT_RANGES: Final[dict[str, tuple[int, int]]] = {
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
}
"""The least and greatest value of each integer dtype.

Examples:
    >>> from ffi_builder.spec.numbers import INT_RANGES
    >>> INT_RANGES["int8"]
    (-128, 127)
"""

FLOAT_DTYPES: Final = ("float16", "bfloat16", "float32", "float64")
"""The dtypes of Vars that are floats.

Examples:
    >>> from ffi_builder import spec
    >>> from ffi_builder.spec.numbers import FLOAT_DTYPES
    >>> spec.Var("eps", "float32").dtype in FLOAT_DTYPES
    True
"""
NUMBER_DTYPES: Final = (*INT_RANGES, "bool", *FLOAT_DTYPES)
"""The dtypes of the numbers that a List or a Map may have.

Examples:
    >>> from ffi_builder.spec.numbers import NUMBER_DTYPES
    >>> "uint8" in NUMBER_DTYPES, "handle" in NUMBER_DTYPES
    (True, False)
"""
VAR_DTYPES: Final = (*NUMBER_DTYPES, "handle")

OPERATORS: Final = {"+": 1, "-": 1, "*": 2, "//": 2, "%": 2, "ceildiv": 3, "max": 3, "min": 3}
"""The operators of expressions and their precedence; the greatest binds tightest."""
FUNCTIONS: Final = {"ceildiv": "ceildiv", "max": "maximum", "min": "minimum"}
"""The operators that texts write as calls, with the functions of Python that make them."""
MIRRORED: Final = {"<=": ">=", "<": ">", ">=": "<=", ">": "<", "==": "==", "!=": "!="}
"""The comparisons of relations, each with its equivalent for swapped sides."""
RELATIONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
    "in": lambda value, several: value in several,
}
"""The operators of relations, for ints."""


def int_of_dtype(what: str, value: object, dtype: str) -> int:
    """Return ``value`` as a plain int, if it is an int that fits the dtype."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise SpecError(f"{what}: expected an int but got {value!r} ({type(value).__name__})")
    low, high = INT_RANGES[dtype]
    if not low <= value <= high:
        raise SpecError(f"{what}: {value} does not fit {dtype} ({low} to {high})")
    return plain(value)
