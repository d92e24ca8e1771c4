"""Keeps track of the mesh axes over which arrays vary within ``jax.shard_map``.

JAX has these axes in the type of an array, ``float32[2]{V:i}``. Without them it would take what
differs between devices for one value. Outside of ``shard_map``, and with ``check_vma=False``, no
array varies, and nothing happens here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from ffi_builder.frameworks.jax._optional import load

_VARYING: Final = re.compile(r"\{V:\(?([^(){}]+)\)?\}")


def varying_axes(arrays: Iterable[Any]) -> list[Any]:
    """Return the names of the mesh axes over which any of the arrays varies; None has none."""
    found = {name for array in arrays if array is not None for name in _axes(array)}
    return sorted(found, key=str)


def vary(array: Any, axes: Iterable[Any]) -> Any:
    """Return the same array, of a type that varies over these axes too; None stays None.

    The transpose of the cast sums over the axes: so the gradient of an operand that is the same on
    each device counts all devices.
    """
    if array is None:
        return None
    missing = tuple(axis for axis in axes if axis not in _axes(array))
    return load("jax").lax.pcast(array, missing, to="varying") if missing else array


def _axes(array: Any) -> frozenset[Any]:
    kind = load("jax").typeof(array)
    if hasattr(kind, "vma"):  # before JAX 0.10
        return kind.vma
    if hasattr(kind, "manual_axis_type"):
        return kind.manual_axis_type.varying
    # As JAX's pages show it: float32[2]{V:i}, float32[1]{V:(i,j)}. All such names are strs.
    shown = _VARYING.search(str(kind))
    return frozenset(shown[1].split(",") if shown else ())
