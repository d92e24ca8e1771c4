"""Signatures and launches of cuTile's kernels, with stand-ins that have the attributes of 1.7.

test_cutile.py does the same with cuTile itself.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, Launch, SpecError, cuda, wrap
from tests.fakecuda import FakeDriver, KernelImage, device_array, make_cubin
from tests.fakecuda.memory import tensor_at


def dtype(name: str) -> Any:
    return SimpleNamespace(name=name)


@dataclass
class ConstantConstraint:
    value: Any = 16


@dataclass
class ListConstraint:
    element: Any = None


@dataclass
class ScalarConstraint:
    dtype: Any


@dataclass
class TupleConstraint:
    items: tuple[Any, ...]


class ArrayConstraint:
    """An array, by default one of float32 with no constraints."""

    def __init__(self, ndim: int, **changed: Any) -> None:
        self.dtype, self.index_dtype, self.ndim = dtype("float32"), dtype("int32"), ndim
        self.base_addr_divisible_by, self.alias_groups = 1, ("all",)
        for name in ("shape_constant", "stride_constant", "stride_lower_bound_incl"):
            setattr(self, name, (None,) * ndim)
        self.shape_divisible_by = self.stride_divisible_by = (1,) * ndim
        self.__dict__ |= changed


def given(*parameters: Any, symbol: str | None = "k") -> Any:
    return SimpleNamespace(parameters=parameters, symbol=symbol, calling_convention=None)


TABLE: Final = {
    "k(x: Tensor([x_0], float32, strides=[x_stride_0], device_type=cuda)) where x_0: int32, x_stride_0: int32": ArrayConstraint(1),
    "k(x: Tensor([4, x_1], bfloat16, strides=[x_stride_0, 1], device_type=cuda, "
    "data_alignment=16)) where x_1 % 8 == 0, x_stride_0 % 8 == 0, "
    "0 <= x_stride_0": ArrayConstraint(
        2,
        dtype=dtype("bfloat16"),
        index_dtype=dtype("int64"),
        shape_constant=(4, None),
        shape_divisible_by=(1, 8),
        stride_constant=(None, 1),
        stride_divisible_by=(8, 1),
        stride_lower_bound_incl=(0, None),
        base_addr_divisible_by=16,
    ),
    "k(x: bool)": ScalarConstraint(dtype("bool_")),
    "k(x: Tuple(x_0: int8))": TupleConstraint((ScalarConstraint(dtype("int8")), ConstantConstraint())),
    "k()": ConstantConstraint(),
}  # fmt: skip


@pytest.mark.parametrize("text", TABLE)
def test_each_constraint(text: str) -> None:
    assert str(cuda.cutile_signature(given(TABLE[text]), ["x"])) == text


def test_arrays_that_share_no_memory() -> None:
    alone, shared = ArrayConstraint(1, alias_groups=()), ArrayConstraint(1)
    one = cuda.cutile_signature(given(alone, shared, shared), ["x", "y", "z"], name="f")
    assert (one.name, one.no_overlap) == ("f", ("x",))
    inner = cuda.cutile_signature(given(TupleConstraint((alone,)), alone), ["t", "x"])
    assert inner.no_overlap == ("t[0]", "x")
    assert cuda.cutile_signature(given(alone), ["x"]).no_overlap == ()


@pytest.mark.parametrize(
    ("signature", "names", "words"),
    [
        (3, [], "cutile_signature: expected a KernelSignature of cuTile but got 3"),
        (given(symbol=None), [], "has no symbol: give it the kernel's by with_mangled_symbol"),
        (given(ConstantConstraint()), ["x", "y"], "has 1 parameters, but names= has 2: x, y"),
        (given(ListConstraint()), ["x"], "'x' is a ListConstraint, which has no parameter here"),
        (given(ArrayConstraint(1, base_addr_divisible_by=24)), ["x"], "'x' .*24, .* powers of two"),
        (
            given(*(ArrayConstraint(1, alias_groups=(each,)) for each in "aab")),
            ["x", "y", "z"],
            "arrays have alias_groups in common with some arrays, but not with all",
        ),
    ],
)
def test_what_wrappers_cannot_check(signature: Any, names: list[str], words: str) -> None:
    with pytest.raises(BuildError, match=words):
        cuda.cutile_signature(signature, names)


# ---- launches

TILES: Final = make_cubin([KernelImage("k", (8, 4, 4, 4, 4, 4, 8, 8, 8), shared=4096, tile=True)])
TEXT: Final = "k(x: Tensor([n, 8], float32, strides=[pitch, 1]), a: float32, y: Tensor([n], int64))"


def test_a_tile_kernel_gets_sizes_and_strides(driver: FakeDriver) -> None:
    assert str(cuda.kernels(TILES)["k"]).endswith("[tiles; registers 8]")
    function = wrap(TILES, TEXT, device="cuda", launch=Launch(grid=("ceildiv(n, 16)", 3)))["k"]
    x = device_array(driver, np.zeros((20, 16), "float32"))
    y = device_array(driver, np.zeros((20,), "int64"))
    function(tensor_at(x.address, (20, 8), "float32", 0, [16, 1]), 0.5, y.tensor())
    (launch,) = driver.launches()
    assert (launch.grid, launch.block, launch.shared) == ((2, 3, 1), (1, 1, 1), 0)
    assert b"".join(launch.arguments) == struct.pack(
        "<Q4ifQ2q", x.address, 20, 8, 16, 1, 0.5, y.address, 20, 1
    )


def test_what_a_tile_kernel_cannot_be_launched_with(driver: FakeDriver) -> None:
    with pytest.raises(SpecError, match=r"block: expected \(1, 1, 1\), .* but got \(128, 1, 1\)"):
        wrap(TILES, TEXT, device="cuda", launch=Launch(grid=1, block=128))
    text = TEXT.replace("[n, 8], float32, strides=[pitch, 1]", "..., float32")
    with pytest.raises(BuildError, match="gets each size of 'x', which may have any rank"):
        wrap(TILES, text, device="cuda", launch=Launch(grid=1))
    words = r"takes \(.*\), but .* \(#0 x: 8 bytes, #1 x.shape\[0\]: an int"
    with pytest.raises(BuildError, match=words):
        wrap(TILES, "k(x: Tensor([n], float32))", device="cuda", launch=Launch(grid=1))


def test_a_stride_that_does_not_fit(driver: FakeDriver) -> None:
    function = wrap(TILES, TEXT, device="cuda", launch=Launch(grid="n"))["k"]
    x, y = (device_array(driver, np.zeros(16, dtype)) for dtype in ("float32", "int64"))
    wide = tensor_at(x.address, (1, 8), "float32", 0, [1 << 31, 1])
    few = tensor_at(y.address, (1,), "int64", 0, [1])
    with pytest.raises(ValueError, match=r"x.strides\[0\] is 2147483648, which does not fit the 4"):
        function(wide, 0.5, few)


def test_a_block_that_the_image_has(driver: FakeDriver) -> None:
    image = """.version 8.0\n.target sm_80\n.address_size 64
    .visible .entry k(.param .u64 x) .reqntid 64, 2 { ret; }"""
    made = wrap(image, "k(x: Tensor([n], float32))", device="cuda", launch=Launch(grid=1))
    made["k"](device_array(driver, np.zeros(16, "float32")).tensor())
    (launch,) = driver.launches()
    assert launch.block == (64, 2, 1)
