"""Draws tensors for signatures: any shape, strides, dtypes, packing and device."""

from __future__ import annotations

from types import EllipsisType
from typing import Final

from hypothesis import strategies as st

from ffi_builder.spec import (
    Dim,
    Tensor,
)
from tests.differential.pool import Pool, rarely

DTYPES: Final[tuple[str, ...]] = (
    "float32",
    "uint8",
    "bool",
    "bfloat16",
    "float8_e4m3fn",
    "float32x4",
)
PACKED: Final = (
    ("float4_e2m1fn", "float4_e2m1fnx2"),
    ("int4", "int8"),
    ("uint1", "uint8"),
    ("int1", "int1x3"),
    ("float32", "int32"),
)
"""dtype and storage_dtype: 2, 2, 8, 3 and 1 elements to a stored one."""
DEVICES: Final = (*["cpu"] * 12, *["cuda"] * 5, "rocm", "any", "any")
MOST_DIMENSIONS: Final = 5


def draw_tensor(pool: Pool, name: str) -> Tensor:
    draw = pool.draw
    storage: str | None = None
    shape: list[Dim | None] | EllipsisType = ...
    strides: list[Dim | None] | str | None = None
    if not rarely(draw, 8):
        ndim = draw(st.sampled_from([0, 1, 1, 2, 2, 2, 2, 2, 3, 3, MOST_DIMENSIONS]))
        shape = [pool.entry(optional=True) for _ in range(ndim)]
        if rarely(draw, 45):
            strides = [pool.entry(optional=True, low=-(2**63)) for _ in shape]
    if strides is None:
        strides = draw(st.sampled_from([None] * 6 + ["C", "F", "F", "any"]))
    dtypes = [draw(st.sampled_from(DTYPES[:1] * 3 + DTYPES))]
    if isinstance(shape, list) and shape and rarely(draw, 15):
        dtype, storage = draw(st.sampled_from(PACKED))
        dtypes = [dtype]
        shape, strides = packed(draw, shape, strides, dtype, storage)
    elif rarely(draw, 12):
        dtypes = draw(st.permutations(DTYPES))[: draw(st.integers(2, 4))]
    return Tensor(
        name,
        shape,
        dtypes,
        storage_dtype=storage,
        device_type=draw(st.sampled_from(DEVICES)),
        device_id=draw(st.sampled_from([None] * 7 + [0, 1, *pool.integers])),
        strides=strides,
        data_alignment=draw(st.sampled_from([None] * 3 + [1, 4, 16, 128, 2**40])),
    )


def packed(
    draw: st.DrawFn,
    shape: list[Dim | None],
    strides: list[Dim | None] | str | None,
    dtype: str,
    storage: str,
) -> tuple[list[Dim | None], list[Dim | None] | str | None]:
    """Shape and strides that a tensor of these dtypes can have."""
    packing = Tensor("x", [0], dtype, device_type="cpu", storage_dtype=storage).packing
    if packing > 1 and strides == "any":  # which does not say what is packed
        strides = "F"
    if isinstance(strides, list):
        axis = draw(st.integers(0, len(shape) - 1))
    else:
        axis = 0 if strides == "F" else len(shape) - 1
    shape[axis] = divisible(shape[axis], packing)
    if isinstance(strides, list) and packing > 1:
        strides = [divisible(entry, packing) for entry in strides]
        strides[axis] = 1
    return shape, strides


def divisible(entry: Dim | None, packing: int) -> Dim | None:
    """The entry, where it is an int as a multiple of the packing that is not 1."""
    if not isinstance(entry, int):
        return entry
    return entry // packing * packing if entry >= 0 else -(-entry // packing * packing)
