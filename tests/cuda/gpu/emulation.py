"""Emulates the kernels of tests/cuda/images/images for the fake driver."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.fakecuda import FakeDriver, Running
from tests.fakecuda.kernels import emulate_saxpy

TYPES = ["handle", "handle", "int64", "int64", "int32", "handle", "handle"]
"""The parameters of the kernel of examples/triton_aot.py."""


def emulate(driver: FakeDriver) -> None:
    """Let them compute."""
    emulate_saxpy(driver)
    driver.kernel("tensor_map", _tensor_map)
    driver.kernel("softmax", _softmax)


def softmax(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the softmax of each row."""
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _tensor_map(launch: Running) -> None:
    number, words, out = launch.arguments
    word = struct.unpack("<16Q", words)[struct.unpack("<i", number)[0]]
    launch.memory(struct.unpack("<Q", out)[0], launch.block[0], "uint64")[:] = word


def _softmax(launch: Running) -> None:
    """Run the kernel of examples/triton_aot.py, a block a row; Triton's own pointers are last."""
    x, y, x_pitch, y_pitch, cols, *scratch = launch.values(TYPES)
    assert scratch == [0, 0], "there is no scratch memory"
    for row in range(launch.grid[0]):
        given = launch.memory(x + 4 * row * x_pitch, cols, "float32")
        launch.memory(y + 4 * row * y_pitch, cols, "float32")[:] = softmax(given[None])[0]
