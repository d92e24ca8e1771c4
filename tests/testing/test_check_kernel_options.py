"""``testing.check_kernel``: tolerances, what the caller gives, and exceptions."""

# References are lambdas, whose parameters have no types.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ffi_builder import testing
from tests.testing.kernels import SCALE, compiled, found, lines, parse, scale, scaled

np = pytest.importorskip("numpy", reason="needs NumPy")


class TestTolerance:
    def test_default(self) -> None:
        def off(by: float) -> Callable[..., Any]:
            def reference(x: Any, _y: Any, a: float) -> Any:
                return a * x * (1 + by) + by

            return reference

        testing.check_kernel(scale("right"), SCALE, off(1e-6))
        assert "rtol=1e-05" in str(found(scale("right"), SCALE, off(1e-4)))
        testing.check_kernel(scale("right"), SCALE, off(1e-4), rtol=1e-3, atol=1e-3)
        assert "rtol=1e-08" in str(found(scale("right"), SCALE, off(1e-6), rtol=1e-8, atol=0))

    def test_nan_and_infinities(self) -> None:
        def reference(x: Any, _y: Any, a: float) -> Any:
            return np.where(np.isnan(a * x), 0, a * x)

        error = found(scale("right"), SCALE, reference, limits=True)
        assert "expected 0.0 for y[0] but got nan" in str(error)

    def test_infinite_is_not_close_to_finite(self) -> None:
        error = found(
            scale("right"),
            SCALE,
            lambda x, y, a: np.nan_to_num(np.multiply(a, x, dtype="float32")),
            limits=True,
            values={"a": 1.0},
            rtol=1e30,
            prepare=lambda x, y, a: not np.isnan(x).any(),
        )
        assert "but got inf" in str(error) or "but got -inf" in str(error)


class TestTensorsOfOneDtype:
    SIGNATURE = parse(
        "add(x: Tensor([n], float32 | float16 | int8, intent=in), "
        "b: Optional(Tensor([n], x.dtype, intent=in)), y: Tensor([n], x.dtype, intent=out))"
    )

    def add(self, x: Any, b: Any, y: Any) -> None:
        self.seen.append([str(each.dtype) for each in (x, b, y) if each is not None])
        y[:] = x if b is None else x + b

    def test_examples_have_each_dtype_and_never_several(self) -> None:
        self.seen: list[list[str]] = []
        testing.check_kernel(self.add, self.SIGNATURE, lambda x, b, y: x if b is None else x + b)
        assert {*map(len, self.seen)} == {2, 3}
        assert {tuple({*dtypes}) for dtypes in self.seen} == {("float32",), ("float16",), ("int8",)}

    def test_that_of_a_given_tensor(self) -> None:
        self.seen = []
        given, dims = {"x": np.ones(3, "float16")}, {"n": 3}
        half: dict[str, Any] = {"values": given, "dims": dims}
        testing.check_kernel(
            self.add, self.SIGNATURE, lambda x, b, y: x if b is None else x + b, **half
        )
        assert {each for dtypes in self.seen for each in dtypes} == {"float16"}


class TestTheCallersOwn:
    def test_dims_and_values(self) -> None:
        seen: list[Any] = []

        def fill(x: Any, y: Any, a: float) -> None:
            seen.append((len(x), a, x[0]))
            y[:] = a * x

        x = np.full(3, 7, "float32")
        testing.check_kernel(
            fill, SCALE, scaled, examples=10, dims={"n": 3}, values={"x": x, "a": 2.0}
        )
        assert set(seen) == {(3, 2.0, 7.0)}

    def test_prepare_writes_elements(self) -> None:
        """Indices in range, which no signature can say."""
        signature = parse(
            "gather(at: Tensor([n], int32, intent=in), x: Tensor([n], float32, intent=in), "
            "y: Tensor([n], float32, intent=out))"
        )
        function = compiled("gather", signature, ("at", "x", "y", "n"))

        def in_range(at: Any, x: Any, _y: Any) -> None:
            if len(x):
                at[:] %= len(x)

        testing.check_kernel(function, signature, lambda at, x, _: x[at], prepare=in_range)

    def test_prepare_leaves_examples_out(self) -> None:
        def not_empty(x: Any, _y: Any, _a: float) -> bool:
            return len(x) > 0

        testing.check_kernel(scale("wrong_at_size_0"), SCALE, scaled, prepare=not_empty)
        with pytest.raises(ValueError, match="prepare leaves out all 10 examples"):
            testing.check_kernel(
                scale("right"), SCALE, scaled, examples=10, prepare=lambda *_: False
            )
        with pytest.raises(ValueError, match="prepare leaves out all 10 examples"):
            testing.check_kernel(
                scale("right"), SCALE, scaled, examples=10, prepare=lambda *_: np.False_
            )


class TestExceptions:
    def test_of_the_call(self) -> None:
        def fails(x: Any, y: Any, a: float) -> None:
            if len(x) > 2:
                raise RuntimeError("out of registers")
            y[:] = a * x

        error = found(fails, SCALE, scaled)
        assert lines(error)[0] == "scale: the call raises RuntimeError: out of registers"
        assert "float32[3]" in str(error)
        assert isinstance(error.__cause__, RuntimeError)

    def test_of_the_reference(self) -> None:
        error = found(scale("right"), SCALE, lambda x, y, a: a * x / x.max())
        assert lines(error)[0].startswith("scale: the reference raises ValueError: zero-size array")

    def test_a_reference_that_returns_nothing(self) -> None:
        def in_place(x: Any, y: Any, a: float) -> None:
            y[:] = a * x

        error = found(scale("right"), SCALE, in_place)
        words = (
            "scale: the reference returns None for y; it must return what y should be, and not "
            "write it into its arguments, which are copies"
        )
        assert lines(error)[0] == words

    def test_another_shape(self) -> None:
        error = found(scale("right"), SCALE, lambda x, y, a: (a * x)[:1])
        expected = (
            "scale: the reference returns shape (1,) for y, but y has shape (2,); it must return a "
            "value for each element"
        )
        assert lines(error)[0] == expected

    @pytest.mark.parametrize(
        ("returned", "words"),
        [
            ("y", "returns one str for y; it must return numbers"),
            ({"y": 1}, "returns one dict for y; it must return numbers"),
            ([[1], [1, 2]], "returns one list for y; it must return numbers"),
        ],
    )
    def test_something_else_than_numbers(self, returned: Any, words: str) -> None:
        error = found(scale("right"), SCALE, lambda x, y, a: returned)
        assert lines(error)[0] == f"scale: the reference {words}"

    def test_complex_numbers_for_floats(self) -> None:
        error = found(scale("right"), SCALE, lambda x, y, a: a * x + 0j)
        words = "scale: the reference returns complex64 for y, but y is float32"
        assert lines(error)[0] == words


def test_float64_is_found_to_be_rounded_to_float32() -> None:
    """Multiples of 1/8 are exact in float32, so some elements and numbers are not."""
    each = "x: Tensor([n], D, intent=in), y: Tensor([n], D, intent=out), a: float64"

    def rounds(x: Any, y: Any, a: float) -> None:
        y[:] = x.astype("complex64" if x.dtype.kind == "c" else "float32") * a

    def rounds_the_number(x: Any, y: Any, a: float) -> None:
        y[:] = x * float(np.float32(a))

    for dtype in ("float64", "complex128", "float32 | float64"):
        signature = parse(f"scale({each})".replace("D", dtype))
        for wrong in (rounds, rounds_the_number):
            error = found(wrong, signature, scaled)
            assert error.argument == "y"
            assert "rtol=1e-09" in str(error)
    scalar = parse("identity(x: float64) -> y: float64")
    assert found(lambda x: float(np.float32(x)), scalar, lambda x: x).argument == "y"
    testing.check_kernel(rounds_the_number, parse(f"scale({each})".replace("D", "float32")), scaled)


@pytest.mark.parametrize("result", ["float64", "float32"])
def test_sums_of_float64_are_exact(result: str) -> None:
    """So a kernel may add in any order, and in float32 for a result of float32."""
    signature = parse(
        "dot(x: Tensor([n], float64, intent=in), y: Tensor([n], float64, intent=in)) -> "
        f"r: {result}"
    )

    def backwards(x: Any, y: Any) -> float:
        products = (x * y).astype(result)
        return float(np.cumsum(products[::-1])[-1]) if len(x) else 0.0

    def forwards(x: Any, y: Any) -> Any:
        products = (x * y).astype(result)
        return np.cumsum(products)[-1] if len(x) else 0.0

    testing.check_kernel(backwards, signature, forwards, rtol=0, atol=0)
