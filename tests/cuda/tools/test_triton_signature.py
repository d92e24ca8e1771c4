"""Signatures of Triton kernels, with stand-ins that have the attributes of Triton 3.9.

tests/examples/test_triton.py does the same with Triton itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import Launch, cuda, spec, testing, wrap
from ffi_builder.errors import BuildError
from ffi_builder.providers.cuda import Scalar
from tests.fakecuda import FakeDriver, device_array

Promises = dict[tuple[int, ...], list[list[Any]]]


@dataclass
class Source:
    signature: dict[str, Any]
    attrs: Promises = field(default_factory=dict[tuple[int, ...], Any])
    name: str = "kernel"


@dataclass
class Compiled:
    src: Source


AXPY: Final = Source(
    {"BLOCK": "constexpr", "x": "*fp32", "y": "*fp32", "n": "i32", "a": "fp32"},
    {(1,): [["tt.divisibility", 16]], (3,): [["tt.divisibility", 16]]},
    "axpy",
)


@pytest.mark.parametrize("given", [AXPY, Compiled(AXPY)])
def test_names_dtypes_and_promises(given: Any) -> None:
    signature = cuda.triton_signature(given)
    assert str(signature) == (
        "axpy(x: Tensor(..., float32, strides=any, device_type=cuda, data_alignment=16), "
        "y: Tensor(..., float32, strides=any, device_type=cuda), n: int32, a: float32) "
        "where n % 16 == 0"
    )
    assert cuda.triton_signature(given, name="f").name == "f"


def test_promises_are_checked() -> None:
    source = Source({"n": "i32"}, {(0,): [["tt.divisibility", 16]]})
    signature = cuda.triton_signature(source)
    testing.check(signature, 32)
    with pytest.raises(ValueError, match="expected a multiple of 16"):
        testing.check(signature, 33)


TYPES: Final = {
    "*bf16": "Tensor(..., bfloat16, strides=any, device_type=cuda)",
    "*i1": "Tensor(..., bool, strides=any, device_type=cuda)",
    "*fp8e4nv": "Tensor(..., float8_e4m3fn, strides=any, device_type=cuda)",
    "*fp8e5b16": "Tensor(..., float8_e5m2fnuz, strides=any, device_type=cuda)",
    "*ku8": "Tensor(..., uint8, strides=any, device_type=cuda, intent=in)",
    "tensordesc<fp16[64, 64]>": "Tensor([None, None], float16, strides=[None, 1], device_type=cuda, data_alignment=16)",
    "tensordesc_im2col<bf16[64, 32],input_rank=3>": "Tensor([None, None, None], bfloat16, strides=[None, None, 1], device_type=cuda, data_alignment=16)",
    "u1": "bool",
    "i64": "int64",
    "u32": "uint32",
    "fp64": "float64",
}  # fmt: skip


@pytest.mark.parametrize("type_", TYPES)
def test_types(type_: str) -> None:
    assert str(cuda.triton_signature(Source({"p": type_}))) == f"kernel(p: {TYPES[type_]})"


@pytest.mark.parametrize(
    "type_",
    ["*fp8e4b15", "fp8e5", "tensordesc<fp8e4b15[64, 64]>", "nvTmaDesc", ("*fp32", "i32"), "*"],
)
def test_types_that_no_parameter_has(type_: Any) -> None:
    with pytest.raises(BuildError) as raised:
        cuda.triton_signature(Source({"p": type_}))
    assert str(raised.value) == (
        f"triton_signature: argument 'p' is {type_}, which has no parameter here: wrap the "
        f"image, compiled.asm['cubin'], with a signature, args=[…] and launch= by hand"
    )


def test_what_is_not_of_triton_or_not_known() -> None:
    with pytest.raises(BuildError, match=r"expected a CompiledKernel or an ASTSource .* got 3$"):
        cuda.triton_signature(3)
    source = Source({"p": "*fp32"}, {(0,): [["tt.contiguity", 32]]})
    words = "'p' is \\*fp32, and Triton relies on tt.contiguity=32, which is unknown"
    with pytest.raises(BuildError, match=words):
        cuda.triton_signature(source)


PTX: Final = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry axpy(.param .u64 x, .param .u64 y, .param .u32 n, .param .f32 a, .param .u64 s,
                     .param .u64 p) { ret; }
"""


def test_a_kernel_is_launched_with_the_signature_and_with_shapes_added(driver: FakeDriver) -> None:
    known = cuda.triton_signature(AXPY)
    n = known.params[2]
    assert isinstance(n, spec.Var)
    change = {"shape": [n], "strides": None}
    shaped = known.with_params(x=change, y=change)
    x = device_array(driver, np.arange(16, dtype="float32"))
    y = device_array(driver, np.ones((16,), "float32"))
    for signature in (known, shaped):
        args = [*signature.params, Scalar(0, "handle"), Scalar(0, "handle")]
        launch = Launch(grid="ceildiv(n, 128)", block=128)
        compiled = wrap(PTX, signature, function="axpy", launch=launch, args=args)
        compiled["axpy"](x.tensor(), y.tensor(), 16, 2.0)
        launch = driver.launches()[-1]
        assert [int.from_bytes(given, "little") for given in launch.arguments] == [
            *(x.address, y.address, 16),
            0x40000000,
            *(0, 0),
        ]
    with pytest.raises(ValueError, match=r"expected 16 \(n = x.shape\[0\]\) but got 32"):
        compiled["axpy"](x.tensor(), y.tensor(), 32, 2.0)
