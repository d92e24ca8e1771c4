"""Buffers and arrays that are no tensors, on every way from Python to a function."""

from __future__ import annotations

import array
import ctypes
from typing import Any, Final

import numpy
import pytest

from ffi_builder.spec import Array, Struct, Tensor, TensorList, dims
from tests.entry.functions import Ways, ways
from tests.entry.rules import WAYS

np: Any = numpy
(n,) = dims("n")
PAIRS: Final = np.zeros(3, [("a", "f4"), ("b", "i2")])


def tensor(name: str = "x", intent: str | None = "inout") -> Tensor:
    return Tensor(name, [n], "float32", device_type="cpu", intent=intent)


@pytest.fixture(scope="module", params=["in", "inout"])
def f(request: pytest.FixtureRequest) -> Ways:
    """A function of a tensor, and of tensors in a struct and a list."""
    x = tensor(intent=request.param)
    return ways([x, Struct("c", [tensor("y")]), TensorList(tensor("zs"), length=2)])


def plain() -> Any:
    return np.ones(3, "float32")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (memoryview(b"123456789012"), "memoryview"),
        (array.array("f", [1, 2, 3]), "array.array"),
        ((ctypes.c_float * 3)(), "a ctypes array"),
    ],
)
def test_buffers_of_which_numpy_makes_arrays(f: Ways, way: str, wrong: Any, name: str) -> None:
    call = getattr(f, way)
    for path, index, args in (
        ("x", 0, (wrong, (plain(),), [plain()] * 2)),
        ("c.y", 1, (plain(), (wrong,), [plain()] * 2)),
        ("zs[1]", 2, (plain(), (plain(),), [plain(), wrong])),
    ):
        with pytest.raises(TypeError) as raised:
            call(*args)
        message = str(raised.value)
        assert message.startswith(f"Mismatched type of {path} on argument #{index} when calling: `")
        end = f"expected Tensor but got {name}: np.asarray({path}) makes an array of it"
        assert message.endswith(end)
    call(np.asarray((ctypes.c_float * 3)()), (plain(),), [plain()] * 2)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("wrong", "shown", "reason"),
    [
        (plain().astype(">f4"), ">f4 and strides (4,)", "native byte order"),
        (PAIRS, "[('a', '<f4'), ('b', '<i2')] and strides (6,)", "integers, float and complex"),
        (PAIRS["a"], "float32 and strides (6,)", "a multiple of itemsize"),
        (np.zeros(3, object), "object and strides (8,)", "integers, float and complex"),
    ],
)
def test_arrays_that_numpy_does_not_export(
    f: Ways, way: str, wrong: Any, shown: str, reason: str
) -> None:
    call = getattr(f, way)
    for path, index, args in (
        ("x", 0, (wrong, (plain(),), [plain()] * 2)),
        ("c.y", 1, (plain(), (wrong,), [plain()] * 2)),
        ("zs[1]", 2, (plain(), (plain(),), [plain(), wrong])),
    ):
        with pytest.raises(BufferError, match=reason) as raised:
            call(*args)
        message = str(raised.value)
        assert message.startswith(f"Mismatched {path} on argument #{index} when calling: `f(")
        end = f"an array that DLPack can describe but got one of dtype {shown} in bytes: "
        assert end in message
        assert message.endswith("PyTorch and JAX have tensors of such dtypes") == (
            "float and" in reason
        )
    call(PAIRS["a"].copy(), (plain(),), [plain()] * 2)


def test_buffers_in_other_lists_are_passed_on() -> None:
    """They are Python objects there."""
    f = ways([Array("items")])
    for way in WAYS:
        getattr(f, way)([memoryview(b"1")])
