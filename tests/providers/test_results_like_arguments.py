"""Results whose shape, dtype and device are those of an argument."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from ffi_builder import attach, runtime, spec
from ffi_builder.ir import Block
from ffi_builder.providers import CallContext, DirectCallProvider, NopCallProvider
from tests.providers.returning import FILL, array
from tests.support.allocating import counting
from tests.support.recording import Recording
from tests.support.wrapping import new_module, wrapped

LIKE_X = "y: Tensor(x.shape, x.dtype, device_type=x.device_type)"


@pytest.mark.parametrize(
    ("x", "shape", "dtype"),
    [
        ("[n]", (3,), "float32"),
        ("[n, None, 2]", (3, 5, 2), "float32"),
        ("[n, m]", (0, 4), "int8"),
        ("[]", (), "float64"),
        ("...", (2, 1, 3), "float64"),
        ("...", (), "int8"),
    ],
)
def test_what_came_is_allocated(x: str, shape: tuple[int, ...], dtype: str) -> None:
    text = f"f(x: Tensor({x}, float32 | int8 | float64, device_type=any)) -> {LIKE_X}"
    function = wrapped(text)
    with counting() as allocator:
        for _ in range(3):
            y = array(function(np.zeros(shape, dtype)))
            assert (y.shape, y.dtype) == (shape, np.dtype(dtype))
            del y
            assert allocator.alive == {}
    assert allocator.asked == [(shape, dtype, (1, 0))] * 3


@pytest.mark.parametrize(
    ("result", "asked"),
    [
        ("Tensor([n * 2], x.dtype)", ((6,), "int16")),
        ("Tensor(x.shape, bfloat16)", ((3, 2), "bfloat16")),
        ("Tensor([4], int8, device_type=x.device_type)", ((4,), "int8")),
        ("Tensor(t[0].shape, x.dtype)", ((5,), "int16")),
        ("Tensor(x.shape, t[0].dtype)", ((3, 2), "float32x2")),
    ],
)
def test_each_field_alone(result: str, asked: tuple[tuple[int, ...], str]) -> None:
    text = (
        "f(x: Tensor([n, 2], int8 | int16), t: Tuple(z: Tensor(..., float32x2 | int8))) -> "
        f"y: {result}"
    )
    import tvm_ffi

    z = tvm_ffi.from_dlpack(spec_array("float32x2", (5,)))
    with counting() as allocator:
        wrapped(text)(np.zeros((3, 2), "int16"), [z])
    assert allocator.asked == [(*asked, (1, 0))]


def spec_array(dtype: str, shape: tuple[int, ...]) -> Any:
    from ffi_builder import testing

    n = spec.Var("n", "int64")
    signature = spec.Signature("f", [spec.Tensor("x", [n], dtype, device_type="cpu")])
    [made] = testing.make_args(signature, dims={"n": shape[0]}, framework="tvm_ffi")
    return made


def test_the_device_is_that_of_the_argument() -> None:
    """Neither the first tensor's, nor the one that the text says for all."""
    from tests.fakecuda.memory import tensor_at

    text = (
        "f(z: Tensor([2], int8, device_type=any, device_id=d), x: Tensor([2], int8, "
        f"device_type=any, device_id=e)) -> {LIKE_X}"
    )
    function = wrapped(text)
    tensors = [tensor_at(4096, (2,), "int8", number) for number in (1, 3)]
    with counting() as allocator:
        function(*tensors)
    assert allocator.asked == [((2,), "int8", (2, 3))]


class Parts(NopCallProvider):
    """Returns the size of the second dimension of ``y``, and its second-last stride."""

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        given = spec.Tensor("y", "x.shape", "x.dtype", device_type="x.device_type")
        context.results = [context.shape(given)[1], context.strides(given)[0]]
        return context.builder.block


def test_a_provider_sees_the_shape_of_an_equal_tensor() -> None:
    """Its own does not know where the fields come from; the signature's does."""
    results = f"({LIKE_X}, size: int64, stride: int64)"
    with counting():
        text = f"f(x: Tensor([n, None], int8, device_type=any)) -> {results}"
        assert list(wrapped(text, Parts())(np.zeros((3, 7), "int8")))[1:] == [7, 7]


def test_the_kernel_gets_a_pointer_or_the_dltensor() -> None:
    with counting():
        text = f"f(x: Tensor([n], float32)) -> {LIKE_X}"
        y = array(wrapped(text, DirectCallProvider("k"), FILL)(np.full(3, 1.5, "float32")))
        assert y[0] == 1.5
        recording = Recording("k", ("!llvm.ptr", "!llvm.ptr"))
        text = f"f(x: Tensor(..., float32)) -> {LIKE_X}"
        function = wrapped(text, DirectCallProvider("k"), recording.text)
        y = array(function(np.zeros((2, 3), "float32")))
        # A DLTensor begins with its data pointer.
        assert ctypes.c_uint64.from_address(recording.signed(1)).value == y.ctypes.data


def test_args_take_an_equal_tensor() -> None:
    text = FILL.replace("%x: !llvm.ptr, %y: !llvm.ptr", "%y: !llvm.ptr, %x: !llvm.ptr")
    y = spec.Tensor("y", "x.shape", "x.dtype", device_type="x.device_type")
    for args in (["y", "x"], [y, "x"], [y.data, "x"]):
        function = wrapped(
            f"f(x: Tensor([n], float32)) -> {LIKE_X}", DirectCallProvider("k", args=args), text
        )
        with counting():
            assert array(function(np.full(2, 1.5, "float32")))[0] == 1.5


@pytest.mark.parametrize("named", [False, True])
def test_with_pytorch(named: bool) -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    module = new_module(FILL)
    text = f"f(x: Tensor([n], float32 | float64, device_type=any)) -> {LIKE_X}"
    provider = DirectCallProvider("k", args=["x.data", "y.data"])
    attach(module, spec.Signature.parse(text, device="cpu"), provider)
    compiled = runtime.compile(module)
    function: Any = compiled.callable("f") if named else compiled["f"]
    for dtype in (torch.float32, torch.float64):
        y = function(torch.ones(5, dtype=dtype))
        assert (type(y), y.dtype, tuple(y.shape)) == (torch.Tensor, dtype, (5,))
