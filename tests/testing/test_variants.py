"""Variants: arguments that are made for them, and kernels that are checked with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import spec, testing, wrap
from tests.runtime.samples import c_object, needs_cc

TEXT: Final = (
    "scale(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out), "
    "s: Variant(float32, Tensor([n], float32, intent=in)))"
)
SIGNATURE: Final = spec.Signature.parse(TEXT, device="cpu")
SCALE: Final = """
#include <stdint.h>
void scale(const float *x, float *y, int64_t n, int32_t which, float s, const float *each) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * (which ? each[i] : s);
}
void wrong(const float *x, float *y, int64_t n, int32_t which, float s, const float *each) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * (which ? each[0] : s);
}
"""
PROTOTYPE: Final = (
    "void {}(const float *x, float *y, int64_t n, int32_t w, float s, const float *e)"
)
ARGS: Final = ["x", "y", "n", "s.which", "s.float", "s.tensor"]


def test_the_parameter_that_is_made() -> None:
    first = testing.make_args(SIGNATURE, {"n": 3})[2]
    assert isinstance(first, float)
    ones = np.ones(3, "float32")
    given = testing.make_args(SIGNATURE, {"n": 3}, values={"s.tensor": ones})
    assert given[2] is ones
    assert testing.make_args(SIGNATURE, {"n": 3}, values={"s": 2.5})[2] == 2.5
    tensors = spec.Signature.parse(
        "f(s: Variant(Tensor([n], int8), int8)) where 3 <= n", device="cpu"
    )
    assert testing.make_args(tensors)[0].shape >= (3,)


@needs_cc
def test_a_kernel_is_checked_with_each_parameter(tmp_path: Path) -> None:
    data = c_object(tmp_path, SCALE)

    def function(name: str) -> Any:
        text = TEXT.replace("scale(", f"{name}(")
        return wrap(data, text, device="cpu", prototype=PROTOTYPE.format(name), args=ARGS)[name]

    def scaled(x: Any, _: Any, s: Any) -> Any:
        return x * np.float32(s) if isinstance(s, float) else x * s

    testing.check_kernel(function("scale"), SIGNATURE, scaled)
    with pytest.raises(AssertionError, match=r"expected .* for y\[1\]"):
        testing.check_kernel(function("wrong"), SIGNATURE, scaled)
