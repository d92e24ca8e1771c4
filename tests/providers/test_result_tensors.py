"""Tensors that wrappers allocate and return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ffi_builder.providers import DirectCallProvider, NopCallProvider
from ffi_builder.spec import Optional, Var, dims
from ffi_builder.spec.results import Result
from tests.providers.returning import FILL, Devices, X, array, m, n, returning, tensor


@pytest.mark.usefixtures("allocator")
def test_a_tensor_is_allocated_and_is_the_last_argument() -> None:
    function = returning(tensor("y", n * 2, 3, dtype="float32"), DirectCallProvider("k"), FILL)
    y = array(function(np.full(4, 2.5, "float32")))  # which outlives the function's
    assert (y.shape, y.dtype, y.strides) == ((8, 3), np.float32, (12, 4))
    assert y[0, 0] == 2.5
    assert y.ctypes.data % 64 == 0


@pytest.mark.usefixtures("allocator")
def test_sizes_of_every_kind_and_every_dtype() -> None:
    y = tensor("y", n, 4, n // 2, dtype="bfloat16")
    z = tensor("z", dtype="float4_e2m1fnx2")
    got = list(returning([y, z], NopCallProvider())(np.zeros(5, "float32")))
    assert [(t.shape, str(t.dtype)) for t in got] == [
        ((5, 4, 2), "bfloat16"),
        ((), "float4_e2m1fnx2"),
    ]


@pytest.mark.usefixtures("allocator")
def test_args_put_it_elsewhere_and_parts_of_it() -> None:
    text = FILL.replace("%x: !llvm.ptr, %y: !llvm.ptr", "%y: !llvm.ptr, %x: !llvm.ptr")
    y = tensor("y", n)
    for args in (["y", "x"], [y, X], ["y.data", X.data]):
        function = returning(y, DirectCallProvider("k", args=args), text)
        assert array(function(np.full(2, 1.5, "float32")))[0] == 1.5


@pytest.mark.usefixtures("allocator")
def test_an_empty_tensor() -> None:
    got = returning(tensor("y", n, 3), NopCallProvider())(np.zeros(0, "float32"))
    assert array(got).shape == (0, 3)


(S,) = dims("s")
ZERO, MANY = np.zeros(1, "float32"), "more bytes than can be allocated"
REFUSED: list[tuple[Any, list[Any], tuple[Any, ...], tuple[Any, ...], type[Exception], str]] = [
    # result, parameters, a call, a call that fails, its error
    (tensor("y", 2, n - 3), [X], (np.zeros(4, "float32"),), (ZERO,), ValueError, r"The size y.shape\[1\] = n - 3 of the result would be -2 when calling"),
    (tensor("y", 2, Var("s", "int32")), [Var("s", "int32")], (0,), (-2,), ValueError, r"The size y.shape\[1\] = s of the result would be -2 when calling"),
    (tensor("y", 2, S * -1), [S], (0,), (2,), ValueError, r"The size y.shape\[1\] = .* would be -2 when calling"),
    (tensor("y", S * 4), [S], (2,), (2**62,), ValueError, r"The value of s \* 4 does not fit int64 when calling"),
    (tensor("y", S * 4), [S], (2,), (2**60,), MemoryError, MANY),
    (tensor("y", S * 4), [S], (2,), (2**50,), MemoryError, MANY),
    (tensor("y", 1, device_id=n), [n], (0,), (-1,), ValueError, "device id n of the result y is out of range: -1"),
]  # fmt: skip


@pytest.mark.usefixtures("allocator")
@pytest.mark.parametrize(("y", "params", "call", "wrong", "error", "words"), REFUSED)
def test_what_cannot_be_allocated(
    y: Any, params: Any, call: Any, wrong: Any, error: Any, words: str
) -> None:
    function = returning(y, NopCallProvider(), params=params)
    assert all(size >= 0 for size in function(*call).shape)
    with pytest.raises(error, match=words):
        function(*wrong)


@pytest.mark.usefixtures("allocator")
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        # Ours allocates on the CPU alone, so what was asked for is in its error.
        ({"device_type": "cuda"}, "the result is on another device"),
        ({"data_alignment": 2**40}, r"for the result y is \d+ bytes behind a multiple of"),
    ],
)
def test_what_the_allocator_refuses(fields: dict[str, Any], words: str) -> None:
    assert returning(tensor("y", n, data_alignment=64), NopCallProvider())(ZERO).shape == (1,)
    with pytest.raises(RuntimeError, match=words):
        returning(tensor("y", n, **fields), NopCallProvider())(ZERO)


def test_without_an_allocator() -> None:
    function = returning(tensor("y", n), DirectCallProvider("k"), FILL)
    with pytest.raises(RuntimeError) as raised:
        function(np.zeros(2, "float32"))
    assert str(raised.value) == (
        "There is no allocator for the result y (pass a PyTorch tensor, whose allocator then "
        "serves, or call ffi_builder.runtime.install_allocator(every_thread=True) before; C and C++ "
        "set one by "
        "TVMFFIEnvSetDLPackManagedTensorAllocator) when calling: `f(x: Tensor([n], float32))`"
    )


@pytest.mark.usefixtures("allocator")
@pytest.mark.parametrize(("device_id", "expected"), [(None, 0), (3, 3), (n, 5), (m, 2)])
def test_what_a_provider_sees_of_it(device_id: Any, expected: int) -> None:
    y = tensor("y", n, m, device_id=device_id)
    seen: list[Result] = [Var(name, "int32") for name in ("id", "type", "rank")]
    function = returning([y, *seen], Devices(), params=[tensor("x", n, m)])
    assert list(function(np.zeros((5, 2), "float32")))[1:] == [expected, 1, 2]


@pytest.mark.usefixtures("allocator")
def test_with_an_optional_that_is_absent() -> None:
    y = tensor("y", n + 1)
    function = returning(y, NopCallProvider(), params=[Optional(X), n])
    assert function(None, 2).shape == (3,)
    assert function(np.zeros(4, "float32"), 4).shape == (5,)
