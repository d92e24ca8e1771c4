# pyright: basic, reportMissingImports=false
"""Kernels that cuTile itself compiles (`make test-cuda`), on the fake driver."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import pytest

from ffi_builder import Launch, cuda, wrap
from tests.fakecuda import FakeDriver, device_array

pytest.importorskip("cuda.tile", reason="needs cuTile: `make test-cuda` installs it")

import cuda.tile as ct
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    KernelSignature,
    ScalarConstraint,
    export_kernel,
)


@ct.kernel(num_ctas=2)
def scale(x, y, by, SIZE: ct.Constant):  # type: ignore
    block = ct.bid(0)
    tile = ct.load(x, index=(block, 0), shape=(SIZE, 64))
    ct.store(y, index=(block, 0), tile=tile * by)


def array(**more: Any) -> ArrayConstraint:
    common = {"stride_lower_bound_incl": 0, "alias_groups": (), "may_alias_internally": False}
    return ArrayConstraint(ct.float32, 2, **common, **more)


def test_a_kernel_is_launched_as_it_was_exported(driver: FakeDriver) -> None:
    x = array(index_dtype=ct.int32, stride_constant=(None, 1), base_addr_divisible_by=16)
    y = array(index_dtype=ct.int64, shape_constant=(None, 64), stride_divisible_by=(4, 1))
    convention = CallingConvention.cutile_python_v2()
    given = KernelSignature([x, y, ScalarConstraint(ct.float32), 16], convention)
    given = given.with_mangled_symbol("scale")
    cubin = io.BytesIO()
    export_kernel(scale, [given], cubin, gpu_code="sm_90", output_format="cubin")
    signature = cuda.cutile_signature(given, ["x", "y", "by", "SIZE"])
    function = wrap(cubin.getvalue(), signature, launch=Launch(grid="ceildiv(x_0, 16)"))
    source, target = (device_array(driver, np.zeros((40, 64), "float32")) for _ in "xy")
    function[given.symbol](source.tensor(), target.tensor(), 0.5)
    (launch,) = driver.launches()
    assert (launch.grid, launch.block) == ((3, 1, 1), (1, 1, 1))
    assert b"".join(launch.arguments) == struct.pack(
        "<Q4iQ4qf", source.address, 40, 64, 64, 1, target.address, 40, 64, 64, 1, 0.5
    )
    with pytest.raises(ValueError, match="overlap"):
        function[given.symbol](source.tensor(), source.tensor(), 0.5)
