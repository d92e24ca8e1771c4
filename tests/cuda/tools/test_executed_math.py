"""CUDA's mathematical functions, as NVRTC compiles them, executed on the CPU."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import Launch, testing, wrap
from tests.cuda.tools.test_fake import ptx_of
from tests.cuda.tools.tools import needs_nvrtc
from tests.fakecuda import missing

pytestmark = [needs_nvrtc, pytest.mark.skipif(missing() is not None, reason=str(missing()))]
COUNT: Final = 96

# Each function, and its meaning; those of two arguments get x and y.
FUNCTIONS: Final[dict[str, Callable[[float], float]]] = {
    **{name: getattr(math, name) for name in ("sin", "cos", "tan", "exp", "expm1", "atan", "tanh")},
    **{name: getattr(math, name) for name in ("sinh", "cosh", "asinh", "erf", "erfc", "floor")},
    **{name: getattr(math, name) for name in ("ceil", "trunc", "fabs")},
    "exp2": lambda x: 2.0**x,
    "exp10": lambda x: 10.0**x,
    "cbrt": lambda x: math.copysign(abs(x) ** (1 / 3), x),
    "rint": round,
}
POSITIVE: Final[dict[str, Callable[[float], float]]] = {
    **{name: getattr(math, name) for name in ("log", "log2", "log10", "log1p", "sqrt")},
    "tgamma": math.gamma,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "acosh": lambda x: math.acosh(x + 1),
}
SMALL: Final[dict[str, Callable[[float], float]]] = {
    **{name: getattr(math, name) for name in ("asin", "acos", "atanh")}
}
TWO: Final[dict[str, Callable[[float, float], float]]] = {
    **{name: getattr(math, name) for name in ("atan2", "fmod", "remainder", "hypot", "copysign")},
    "fmin": min,
    "fmax": max,
    "fdim": lambda x, y: max(x - y, 0.0),
    "pow": lambda x, y: abs(x) ** y,
}


def _source(kind: str) -> str:
    end = "f" if kind == "float" else ""
    calls = [
        *(f"{name}{end}(x)" for name in FUNCTIONS),
        *(f"{name}{end}(fabs{end}(x){' + 1' if name == 'acosh' else ''})" for name in POSITIVE),
        *(f"{name}{end}(x / 64)" for name in SMALL),
        *(f"{name}{end}({f'fabs{end}(x)' if name == 'pow' else 'x'}, y)" for name in TWO),
    ]
    body = "\n".join(f"  results[{at} * n + i] = {call};" for at, call in enumerate(calls))
    return f"""
extern "C" __global__ void apply({kind} *results, const {kind} *xs, const {kind} *ys, int n) {{
  int i = threadIdx.x;
  if (i >= n) return;
  {kind} x = xs[i], y = ys[i];
{body}
}}
"""


def _expected(xs: Any, ys: Any) -> list[tuple[str, Any]]:
    pairs = [(float(x), float(y)) for x, y in zip(xs, ys, strict=True)]
    return [
        *((name, [meaning(x) for x, _ in pairs]) for name, meaning in FUNCTIONS.items()),
        *((name, [meaning(abs(x)) for x, _ in pairs]) for name, meaning in POSITIVE.items()),
        *((name, [meaning(x / 64) for x, _ in pairs]) for name, meaning in SMALL.items()),
        *((name, [meaning(x, y) for x, y in pairs]) for name, meaning in TWO.items()),
    ]


@pytest.mark.parametrize("options", [(), ("--use_fast_math",)], ids=["exact", "fast"])
@pytest.mark.parametrize("kind", ["float", "double"])
def test_functions_of_cuda(kind: str, options: tuple[str, ...]) -> None:
    dtype = "float32" if kind == "float" else "float64"
    image = ptx_of(_source(kind), "compute_90", *options)
    signature = (
        f"apply(results: Tensor([m], {dtype}), x: Tensor([n], {dtype}), y: Tensor([n], {dtype}))"
    )
    launch = Launch(grid=1, block="n")
    args = ["results", "x", "y", "n"]
    apply = wrap(image, f"{signature} where n: int32", device="cuda", launch=launch, args=args)
    generator = np.random.default_rng(5)
    x = (generator.standard_normal(COUNT) * generator.choice([0.1, 1, 10], COUNT)).astype(dtype)
    y = (generator.standard_normal(COUNT) * 3).astype(dtype)
    expected = _expected(x, y)
    with testing.FakeCuda(execute=True) as gpu:
        results = gpu.array(np.zeros(len(expected) * COUNT, dtype))
        apply["apply"](results, gpu.array(x), gpu.array(y))
        found = results.numpy().reshape(-1, COUNT)
    tolerance = {"float64": 4e-15, "float32": 1e-3 if options else 2e-6}[dtype]
    for (name, values), row in zip(expected, found, strict=True):
        np.testing.assert_allclose(row, values, tolerance, tolerance, err_msg=name)
