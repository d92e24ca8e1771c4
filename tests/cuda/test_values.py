"""Bindings may make objects of their own of values, as CUTLASS does: there `==` emits an operation."""

from __future__ import annotations

import pytest

from tests.runtime.samples import run_child

ATTACH = """
import sys
from ffi_builder import attach_ffi_func, spec
from ffi_builder.ir.distribution import named
from ffi_builder.providers.cuda import Nested, Packed, Pointee, Scalar, Struct
from tests.fakecuda import KernelImage, make_cubin
from tests.cuda.launching import provider
from tests.support.own_values import register
from tests.support.wrapping import new_module

root = sys.argv[1]
distribution = named(root)
register(distribution)

n, m, k = spec.dims("n m k", "int32")
x = spec.Tensor("x", [n, m], "float32", device_type="any")
o = spec.Optional(spec.Tensor("o", [k], "float32", device_type="cuda"))
params = [x, o, spec.DataPointer("p"), spec.Device("d"), spec.DType("t")]
sizes = [
    {},
    {"grid": n},
    {"grid": (n, m)},
    {"grid": (1, n), "block": (n, 1, m)},
    {"grid": (n, m, k), "block": (n, m, 1)},
    {"grid": (n, m), "cluster": (n, m)},
    {"grid": 4, "cluster": (1, n), "dynamic_smem_bytes": n * 1024},
    {"grid": n, "stream": 2, "attributes": ["cooperative"]},
]
for options in sizes:
    launch = provider(KernelImage("k"), args=[], **options)
    attach_ffi_func(new_module("", root), "f", params, launch)
args = [x, Packed(x), Nested(x), Struct("d", "t", n), Pointee("p", 24), Scalar(n, "int8"), n * m]
kernel = KernelImage("k", (8, 16, 24, 16, 24, 1, 4))
attach_ffi_func(new_module("", root), "f", params, provider(kernel, args=args))
"""


@pytest.mark.parametrize("root", ["torch_mlir", "cutlass._mlir"])
def test_values_that_are_not_to_be_compared(root: str):
    pytest.importorskip(root.partition(".")[0])
    done = run_child(ATTACH, root)
    assert done.returncode == 0, done.stdout + done.stderr
