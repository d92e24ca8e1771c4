"""``testing.check_kernel`` compares results, and several outputs."""

# References are lambdas, whose parameters have no types.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

import pytest

from ffi_builder import spec, testing
from tests.testing.kernels import compiled, found, lines, parse

np = pytest.importorskip("numpy", reason="needs NumPy")


(n,) = spec.dims("n")


def test_results() -> None:
    signature = parse("sum(x: Tensor([n], float32, intent=in)) -> total: float32")
    testing.check_kernel(compiled("sum", signature, ("x", n)), signature, lambda x: x.sum())
    error = found(compiled("sum", signature, ("x", n)), signature, lambda x: x.sum() + (x.size > 3))
    assert (
        lines(error)[0] == "sum: expected 5.0 for total but got 4.0, with rtol=1e-05 and atol=1e-05"
    )
    assert error.argument == "total"


def test_tensors_as_results() -> None:
    signature = parse(
        "f(x: Tensor([n], float32, intent=in)) -> (y: Tensor([n, 2], float32), z: float64)"
    )

    def function(x: Any) -> Any:
        return np.stack([x, 2 * x], axis=1), 0.5

    testing.check_kernel(function, signature, lambda x: (np.array([x, x + x]).T, 0.5))
    error = found(function, signature, lambda x: (np.array([x, 3 * x]).T, 0.5))
    assert (error.argument, error.index) == ("y", (0, 1))
    error = found(function, signature, lambda x: (np.array([x, 2 * x]), 0.5))
    words = (
        "the reference returns shape (2, 0) for y, but y has shape (0, 2); it must return a value"
    )
    assert words in str(error)


def test_several_outputs() -> None:
    signature = parse(
        "f(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out), "
        "z: Optional(Tensor([n], float32, intent=out))) -> total: int64"
    )

    def function(x: Any, y: Any, z: Any) -> int:
        y[:] = x
        if z is not None:
            z[:] = 2 * x
        return len(x)

    testing.check_kernel(function, signature, lambda x, y, z: (x, 2 * x, len(x)))
    error = found(function, signature, lambda x, y, z: (x, 3 * x, len(x)))
    assert (error.argument, error.index) == ("z", (0,))


@pytest.mark.parametrize(
    ("returned", "shown"),
    [
        ((1, 2), "tuple of 2 values"),
        ([1] * 4, "list of 4 values"),
        (None, "None"),
        (3, "one int"),
        (np.zeros(3), "one ndarray"),
    ],
)
def test_another_number_of_outputs(returned: Any, shown: str) -> None:
    signature = parse(
        "f(y: Tensor([n], float32, intent=out), z: Tensor([n], float32, intent=inout)) "
        "-> total: int64"
    )

    def function(y: Any, z: Any) -> int:
        y[:] = z
        return len(y)

    error = found(function, signature, lambda y, z: returned)
    assert str(error).splitlines()[0] == (
        f"f: the reference returns {shown}, but there are 3 outputs; it must return a tuple of what "
        f"y, z and total should be, in this order (the tensors of intent 'out' and 'inout', then "
        f"the results; anything for an absent one)"
    )
    testing.check_kernel(function, signature, lambda y, z: (z, z, len(z)))
