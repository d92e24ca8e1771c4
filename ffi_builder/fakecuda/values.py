"""Reads the bytes of kernel parameters, by the names of their types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.testing.make.arrays import numpy, numpy_dtype


def read_values(
    kernel: str,
    arguments: Sequence[bytes],
    types: Sequence[str],
    pointee: Callable[[int, Any], Any] = lambda address, _dtype: address,
) -> list[Any]:
    """Return the value of each parameter of a kernel.

    Args:
        kernel: its name, for errors.
        arguments: the bytes of each parameter.
        types: a type for each: the name of a dtype; with a ``*`` behind it a pointer to elements of
            it; ``"handle"`` for an address; ``"bytes"`` for the bytes as they are.
        pointee: makes the value of a pointer to elements of a NumPy dtype. The default is its
            address.

    Raises:
        ValueError: the types do not fit the parameters, or one is unknown.
    """
    if len(types) != len(arguments):
        raise ValueError(
            f"kernel {kernel!r} has {len(arguments)} parameters, but {len(types)} types are given: "
            f"{', '.join(types)}"
        )
    return [
        _value(f"parameter {index} of kernel {kernel!r}", data, given, pointee)
        for index, (data, given) in enumerate(zip(arguments, types, strict=True))
    ]


def _value(what: str, data: bytes, given: str, pointee: Callable[[int, Any], Any]) -> Any:
    if given == "bytes":
        return data
    dtype = numpy_dtype(str(parse_dtype(given.removesuffix("*")))) if given != "handle" else None
    size = 8 if dtype is None or given.endswith("*") else dtype.itemsize
    if size != len(data):
        raise ValueError(f"{what} has {len(data)} bytes, but {given!r} has {size}")
    if dtype is None:
        return int.from_bytes(data, "little")
    if given.endswith("*"):
        return pointee(int.from_bytes(data, "little"), dtype)
    return numpy().frombuffer(data, dtype)[0].item()
