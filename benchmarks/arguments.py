"""Valid arguments for each of the signatures; needs no ffi_builder."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import tvm_ffi

SHAPES: dict[str, Sequence[tuple[int, ...]]] = {
    "scalar": [],
    "mm": [(3, 4), (4, 5), (3, 5)],
    "t8": [(2, 3, 4, 5)] * 8,
    "t8_strided": [(2, 3, 4, 5)] * 8,
    "nested": [(6,), (6,)],
    "ptrs": [],
}
"""Shapes of the tensors, in order."""

_MEMORY = ctypes.create_string_buffer(64)


def _torch(shape: tuple[int, ...]) -> Any:
    torch: Any = import_module("torch")
    return torch.zeros(shape, dtype=torch.float32)


def _tvm_ffi(shape: tuple[int, ...]) -> Any:
    return tvm_ffi.from_dlpack(np.zeros(shape, "float32"))


def _numpy(shape: tuple[int, ...]) -> Any:
    return np.zeros(shape, "float32")


MAKERS: dict[str, Callable[[tuple[int, ...]], Any]] = {
    "tvm_ffi": _tvm_ffi,
    "numpy": _numpy,
    "torch": _torch,
}


def arguments(name: str, tensors: str = "numpy") -> list[Any]:
    """Make arguments of the signature ``name``, with tensors of one of `MAKERS`."""
    made = [MAKERS[tensors](shape) for shape in SHAPES[name]]
    if name == "scalar":
        return [7]
    if name == "nested":
        return [(made[0], (7, made[1]))]
    if name == "ptrs":
        pointer = ctypes.c_void_p(ctypes.addressof(_MEMORY))
        return [tvm_ffi.Shape((3, 5, 4)), pointer, pointer]
    return made


def wrong(tensors: str = "numpy") -> list[Any]:
    """Make arguments of the matmul, with one wrong dimension in the second."""
    first, _, third = arguments("mm", tensors)
    return [first, MAKERS[tensors]((5, 5)), third]
