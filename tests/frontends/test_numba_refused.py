"""examples/numba_kernel.py: functions of Numba that cannot be behind a wrapper, and what it says."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

from ffi_builder import attach, runtime
from tests.frontends.numba_support import RATIO, Function, compiled, hook, nk, parsed
from tests.frontends.support import needs, refused

numba, np = needs("numba"), needs("numpy")


def test_a_call_that_does_not_fit_is_refused() -> None:
    """The declaration says what Numba compiled, so that the linker is not the first to know."""
    compiled_for = parsed("f(x: Tensor([n], float32), by: float64, y: Tensor([n], float32))")
    called_with = parsed("f(x: Tensor([n], float32), by: float32, y: Tensor([n], float32))")
    llvm_ir, declaration = nk.lower(nk.ratio, compiled_for, "inner")
    kind, words = refused(
        lambda: runtime.compile(
            declaration, post_compile_hooks=[hook(called_with, "inner")], link=[llvm_ir]
        )
    )
    assert kind == "BuildError"
    assert "inner" in words
    assert "f64" in words
    assert "f32" in words


def test_a_status_that_nobody_reads_is_refused() -> None:
    signature = parsed(RATIO.strip("`"))
    _, declaration = nk.lower(nk.ratio, signature, "inner")
    provider = nk.NumbaCallProvider("inner")
    attaching: Callable[[Any], object] = lambda m: attach(m, signature, provider)  # noqa: E731
    assert refused(lambda: runtime.compile(declaration, post_compile_hooks=[attaching])) == (
        "BuildError",
        "Put CheckStatus around NumbaCallProvider(callee='inner'), which reads the status",
    )


def returning(x: Any) -> Any:
    return x[0]


def nothing(*args: Any) -> None:
    pass


NO_ARRAY = "'x': expected a number, or an array of one dtype on the CPU"
REFUSED: dict[str, tuple[Function, str, str]] = {
    "returns something": (
        returning,
        "f(x: Tensor([n], int64))",
        "returning: expected a function that returns nothing",
    ),
    "a result": (
        nothing,
        "f(x: Tensor([n], int64)) -> y: Tensor([n], int64)",
        "nothing: expected a function that returns nothing",
    ),
    "text": (nothing, "f(x: String)", NO_ARRAY),
    "on a GPU": (nothing, "f(x: Tensor([n], int64, device_type=cuda))", NO_ARRAY),
    "any rank": (nothing, "f(x: Tensor(..., int64))", NO_ARRAY),
    "two dtypes": (nothing, "f(x: Tensor([n], int64 | int32))", NO_ARRAY),
    "may be absent": (nothing, "f(x: Optional(Tensor([n], int64)))", NO_ARRAY),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_functions(name: str) -> None:
    function, text, words = REFUSED[name]
    lowering: Callable[[], object] = lambda: nk.lower(numba.njit(function), parsed(text), "inner")  # noqa: E731
    assert refused(lowering) == ("BuildError", words)


def test_a_function_that_numba_caches_is_refused() -> None:
    """Numba has no IR of a function from its cache, and only warns of that."""
    cached = numba.njit(cache=True)(returning)
    assert refused(lambda: nk.lower(cached, parsed("f(x: Tensor([n], int64))"), "inner")) == (
        "BuildError",
        "returning: Numba has no LLVM IR of functions with cache=True",
    )


def allocates(x: Any) -> None:
    copy = x.copy()
    for i in range(len(x)):
        x[i] = copy[len(x) - 1 - i]


def catches(x: Any) -> None:
    try:
        x[0] = 1 // x[0]
    except Exception:  # which is all that Numba can catch
        x[0] = 0


def tells(x: Any) -> None:
    if x[0] < 0:
        raise ValueError("negative", x[0])


def prints(x: Any) -> None:
    print(x[0])


CATCHING_LINKS = sys.version_info >= (3, 14)
"""Numba makes other code of the bytecode of Python 3.14, which needs no runtime."""
NOT_LINKED = [allocates, tells, prints, *([] if CATCHING_LINKS else [catches])]


@pytest.mark.skipif(not CATCHING_LINKS, reason="needs Numba's runtime before Python 3.14")
def test_exceptions_that_are_caught() -> None:
    catching = compiled(numba.njit(catches), parsed("f(x: Tensor([n], int64))"))["f"]
    for value, expected in [(1, 1), (0, 0), (-1, -1), (2, 0)] * 2:
        x = np.array([value])
        catching(x)
        assert x.tolist() == [expected]


@pytest.mark.parametrize("function", NOT_LINKED)
def test_what_needs_the_runtime_of_numba_does_not_link(function: Function) -> None:
    signature = parsed("f(x: Tensor([n], int64))")
    kind, words = refused(lambda: compiled(numba.njit(function), signature))
    assert kind == "LinkError"
    assert re.search(r"this process define: .*`(NRT|numba)_\w+`", words)
