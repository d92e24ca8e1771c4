"""Arrays that are no tensors, on every way from Python to a function."""

from __future__ import annotations

from typing import Any, Final

import numpy
import pytest

from ffi_builder.spec import Array, Struct, Tensor, TensorList, dims
from tests.entry.functions import Ways, ways
from tests.entry.rules import WAYS

np: Any = numpy
(n,) = dims("n")
NUMBERS: Final = "integers, float and complex"
FLOATS: Final = "convert it, such as by {0}.astype('float64')"
INTS: Final = "pass its numbers, {0}.view('int64')"
BYTES: Final = "pass its bytes, {0}.view('uint8')"
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
    ("wrong", "shown", "reason", "advice"),
    [
        (
            plain().astype(">f4"),
            ">f4 and strides (4,)",
            "native byte order",
            "pass {0}.astype({0}.dtype.newbyteorder('='))",
        ),
        (
            PAIRS,
            "[('a', '<f4'), ('b', '<i2')] and strides (6,)",
            NUMBERS,
            "pass a copy of one field, such as {0}['a'].copy()",
        ),
        (np.zeros(3, object), "object and strides (8,)", NUMBERS, FLOATS),
        (np.array(["a", "b"]), "<U1 and strides (4,)", NUMBERS, FLOATS),
        (np.zeros(3, "M8[s]"), "datetime64[s] and strides (8,)", NUMBERS, INTS),
        (np.zeros(3, "m8[s]"), "timedelta64[s] and strides (8,)", NUMBERS, INTS),
        (np.zeros(3, "S4"), "|S4 and strides (4,)", NUMBERS, BYTES),
        (np.zeros(3, "V4"), "|V4 and strides (4,)", NUMBERS, BYTES),
        (np.zeros(3, "longdouble"), f"{np.dtype('longdouble')} and strides (16,)", "IEEE", FLOATS),
        (PAIRS["a"], "float32 and strides (6,)", "a multiple of itemsize", "pass {0}.copy()"),
    ],
)
def test_arrays_that_numpy_does_not_export(
    f: Ways, way: str, wrong: Any, shown: str, reason: str, advice: str
) -> None:
    call = getattr(f, way)
    kind = ValueError if wrong.dtype == "float32" else TypeError
    for path, index, args in (
        ("x", 0, (wrong, (plain(),), [plain()] * 2)),
        ("c.y", 1, (plain(), (wrong,), [plain()] * 2)),
        ("zs[1]", 2, (plain(), (plain(),), [plain(), wrong])),
    ):
        with pytest.raises(kind, match=reason) as raised:
            call(*args)
        message = str(raised.value)
        assert message.startswith(f"Mismatched {path} on argument #{index} when calling: `f(")
        assert (
            f"an array that DLPack can describe but got one of dtype {shown} in bytes:" in message
        )
        assert message.endswith(f"; {advice.format(path)}")
    call(PAIRS["a"].copy(), (plain(),), [plain()] * 2)


@pytest.mark.parametrize("way", WAYS)
def test_dtypes_of_other_packages(f: Ways, way: str) -> None:
    ml_dtypes: Any = pytest.importorskip("ml_dtypes")
    wrong = np.zeros(3, ml_dtypes.bfloat16)
    with pytest.raises(TypeError, match=r"^Mismatched x .* have tensors of such dtypes$"):
        getattr(f, way)(wrong, (plain(),), [plain()] * 2)


def test_buffers_in_other_lists_are_passed_on() -> None:
    """They are Python objects there."""
    f = ways([Array("items")])
    for way in WAYS:
        getattr(f, way)([memoryview(b"1")])
