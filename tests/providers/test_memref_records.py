"""The record of memref types that a module carries, in its forms."""

from __future__ import annotations

from typing import Final

import pytest

from ffi_builder import record_memref_types
from ffi_builder.errors import BuildError
from ffi_builder.protocol import MEMREF_TYPES
from ffi_builder.providers import MemRefCallProvider
from ffi_builder.spec import Var
from tests.providers.memrefs import cpu
from tests.support.wrapping import attached

n = Var("n", "int64")
X: Final = cpu([n])
BARE: Final = "llvm.func @kernel(!llvm.ptr, !llvm.ptr, i64, i64, i64)"


@pytest.mark.parametrize("distribution", ["torch_mlir", "jaxlib.mlir"])
def test_a_record_in_text(distribution: str) -> None:
    pytest.importorskip(f"{distribution}.ir", reason="needs these bindings")
    text = f'{BARE} attributes {{{MEMREF_TYPES} = "(memref<?xf32>) -> ()"}}'
    provider = MemRefCallProvider("kernel")
    module = attached([X], provider, text, distribution=distribution)
    assert module.operation.verify()
    with pytest.raises(BuildError, match="f32, not float64"):
        attached([cpu([n], "float64")], provider, text, distribution=distribution)


@pytest.mark.parametrize(
    "attribute",
    [
        '"(memref<?x?xf32>) -> ()"',  # one that a pass has made stale: other parameters
        '"(memref<?xf32>) -> f32"',  # another result
        '"(memref<?xf32>, tensor<?xf32>) -> ()"',
        '"(memref<*xf32>) -> ()"',
        '"(memref<?x!dsl.half>) -> ()"',  # a dialect that is not there
        '"no type"',
        '"f32"',
        "7 : i32",
    ],
)
def test_a_record_that_does_not_fit_the_function_does_not_count(attribute: str) -> None:
    text = f"{BARE} attributes {{{MEMREF_TYPES} = {attribute}}}"
    attached([cpu([n], "float64")], MemRefCallProvider("kernel"), text)


@pytest.mark.parametrize(
    ("behind", "counts"),
    [
        ("", True),
        (BARE, True),
        ("func.func private @kernel(memref<?xf32>)", True),
        # Another rank looks the same in a C interface, but not in what it is the interface of.
        (f"{BARE[:-1]}, i64, i64)", False),
    ],
)
def test_a_c_interface_is_compared_with_what_is_behind_it(behind: str, counts: bool) -> None:
    record = f'{{{MEMREF_TYPES} = "(memref<?xf32>) -> ()"}}'
    text = f"{behind}\nllvm.func @_mlir_ciface_kernel(!llvm.ptr) attributes {record}"
    provider = MemRefCallProvider("kernel", c_interface=True)
    attached([X], provider, text)
    if not counts:
        attached([cpu([n], "float64")], provider, text)
        return
    with pytest.raises(BuildError, match="f32, not float64"):
        attached([cpu([n], "float64")], provider, text)


def test_recording_takes_an_ir_module() -> None:
    with pytest.raises(BuildError, match=r"expected an ir\.Module"):
        record_memref_types("func.func @f()")  # pyright: ignore[reportArgumentType]
