"""Tensors that wrappers allocate and return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ffi_builder.providers import (
    DirectCallProvider,
    NopCallProvider,
)
from ffi_builder.spec import Optional, Var, dims
from ffi_builder.spec.results import Result
from tests.providers.returning import FILL, Devices, X, array, m, n, returning, tensor


@pytest.mark.usefixtures("allocator")
def test_a_tensor_is_allocated_and_is_the_last_argument() -> None:
    function = returning(tensor("y", n * 2, 3, dtype="float32"), DirectCallProvider("k"), FILL)
    got = function(np.full(4, 2.5, "float32"))
    y = array(got)
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


@pytest.mark.usefixtures("allocator")
def test_one_tensor_outlives_the_function() -> None:
    got = returning(tensor("y", n), DirectCallProvider("k"), FILL)(np.full(2, 1.5, "float32"))
    y = array(got)
    del got
    assert y[0] == 1.5


@pytest.mark.usefixtures("allocator")
@pytest.mark.parametrize("entry", [n - 3, Var("s", "int32"), Var("s", "int64") * -1])
def test_a_negative_size(entry: Any) -> None:
    params: list[Any] = [X, Var("s", "int32" if isinstance(entry, Var) else "int64")]
    function = returning(tensor("y", 2, entry), NopCallProvider(), params=params)
    given = (np.zeros(1, "float32"), -2 if isinstance(entry, Var) else 2)
    assert function(np.zeros(4, "float32"), 0).shape == (2, 1 if entry == n - 3 else 0)
    with pytest.raises(ValueError, match=r"The size y.shape\[1\] = .* would be -2 when calling"):
        function(*given)


@pytest.mark.usefixtures("allocator")
def test_a_size_that_does_not_fit() -> None:
    (s,) = dims("s")
    function = returning(tensor("y", s * 4), NopCallProvider(), params=[X, s])
    with pytest.raises(ValueError, match=r"The value of s \* 4 does not fit int64 when calling"):
        function(np.zeros(1, "float32"), 2**62)
    with pytest.raises(MemoryError, match="more bytes than can be allocated"):
        function(np.zeros(1, "float32"), 2**60)
    with pytest.raises(MemoryError, match="more bytes than can be allocated"):
        function(np.zeros(1, "float32"), 2**50)


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
def test_the_device_is_that_of_the_first_tensor_of_its_type() -> None:
    """Ours allocates on the CPU alone, so what was asked for is in its error."""
    y = tensor("y", n, device_type="cuda")
    with pytest.raises(RuntimeError, match="the result is on another device"):
        returning(y, NopCallProvider())(np.zeros(2, "float32"))


@pytest.mark.usefixtures("allocator")
@pytest.mark.parametrize(("device_id", "expected"), [(None, 0), (3, 3), (n, 5), (m, 2)])
def test_what_a_provider_sees_of_it(device_id: Any, expected: int) -> None:
    y = tensor("y", n, m, device_id=device_id)
    seen: list[Result] = [Var(name, "int32") for name in ("id", "type", "rank")]
    function = returning([y, *seen], Devices(), params=[tensor("x", n, m)])
    assert list(function(np.zeros((5, 2), "float32")))[1:] == [expected, 1, 2]


@pytest.mark.usefixtures("allocator")
def test_a_device_id_out_of_range() -> None:
    function = returning(tensor("y", 1, device_id=n), NopCallProvider(), params=[n])
    with pytest.raises(ValueError, match="device id n of the result y is out of range: -1"):
        function(-1)


@pytest.mark.usefixtures("allocator")
def test_an_alignment_is_asked_of_the_allocator() -> None:
    x = np.zeros(1, "float32")
    assert returning(tensor("y", n, data_alignment=64), NopCallProvider())(x).shape == (1,)
    function = returning(tensor("y", n, data_alignment=2**40), NopCallProvider())
    with pytest.raises(RuntimeError, match=r"for the result y is \d+ bytes behind a multiple of"):
        function(x)


@pytest.mark.usefixtures("allocator")
def test_with_an_optional_that_is_absent() -> None:
    y = tensor("y", n + 1)
    function = returning(y, NopCallProvider(), params=[Optional(X), n])
    assert function(None, 2).shape == (3,)
    assert function(np.zeros(4, "float32"), 4).shape == (5,)
