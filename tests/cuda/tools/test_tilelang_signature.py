"""Signatures of TileLang's kernels, with stand-ins that have the attributes of TileLang 0.1.15.

tests/examples/test_tilelang.py does the same with TileLang itself.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ffi_builder import BuildError, SpecError, cuda, testing


class Size:
    """A dynamic size, printed as TVM does."""

    def __init__(self, name: str) -> None:
        self.name, self.dtype = name, "int32"

    def __str__(self) -> str:
        return self.name


M, N = Size("m"), Size("n")


def function(dtype: str, shape: list[Any], strides: list[Any]) -> Any:
    """A kernel that takes one tensor and a number."""
    handle, number = SimpleNamespace(name="x_handle"), SimpleNamespace(name="by", dtype="float32")
    buffer = SimpleNamespace(name="x", dtype=dtype, shape=shape, strides=strides)
    items = [(Key(handle), buffer)]
    return SimpleNamespace(
        params=[Key(handle), Key(number)],
        buffer_map=SimpleNamespace(items=lambda: items),
        attrs={"global_symbol": "scale"},
    )


class Key:
    """A parameter, which is equal to the same parameter."""

    def __init__(self, param: SimpleNamespace) -> None:
        self.name, self.dtype = param.name, getattr(param, "dtype", "handle")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


@pytest.mark.parametrize(
    ("shape", "strides", "options"),
    [
        ([M, 128], [128, 1], ""),
        ([M, N, 4], ["n * 4", 4, 1], ""),
        (["m + 1", "n + 3", M, 4], ["4 * m * (n + 3)", "4 * m", 4, 1], ""),
        ([M, 128], [N, 1], "strides=[n, 1], "),
        ([M, 128], [256, 1], "strides=[256, 1], "),
        ([], [], ""),
    ],
)
def test_shapes_and_strides(shape: list[Any], strides: list[Any], options: str) -> None:
    given = function("float32", shape, strides)
    for kernel in (given, SimpleNamespace(prim_func=given)):
        text = str(cuda.tilelang_signature(kernel, name="f")).partition(" where ")[0]
        assert text == (
            f"f(x: Tensor([{', '.join(map(str, shape))}], float32, {options}device_type=cuda, "
            f"data_alignment=16), by: float32)"
        )


def test_what_tilelang_relies_on_is_checked() -> None:
    signature = cuda.tilelang_signature(function("float32", [M, 4], [4, 1]), device="cpu")
    assert str(signature).startswith("scale(")
    assert str(signature).endswith("where m: int32")
    x = np.zeros((4, 4), "float32")
    testing.check(signature, x, 1.0)
    unaligned = np.ndarray((3, 4), "float32", buffer=np.zeros((8, 4), "float32").data, offset=4)
    with pytest.raises(ValueError, match="expected an address aligned to 16 bytes"):
        testing.check(signature, unaligned, 1.0)


def test_dtypes() -> None:
    signature = cuda.tilelang_signature(function("float8_e4m3", [M], [1]))
    assert "float8_e4m3 | float8_e4m3fn" in str(signature)
    with pytest.raises(SpecError, match="void"):
        cuda.tilelang_signature(function("void", [M], [1]))


def test_what_is_no_kernel() -> None:
    words = "expected a PrimFunc or a JITKernel of TileLang but got 3"
    with pytest.raises(BuildError, match=words):
        cuda.tilelang_signature(3)
