"""Functions in C for the tests of functions of JAX that return numbers and take lists."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any, Final

from ffi_builder import wrap
from tests.runtime.samples import c_object

SOURCE: Final = """
#include <stdbool.h>
#include <stdint.h>
double dot(const double *x, const double *y, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}
float total(const float *x, int64_t n, float by) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  return by * sum;
}
bool scan(const float *x, float *y, int64_t n, float *last, uint64_t *bits, int8_t *least) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) y[i] = sum += x[i];
  *last = sum;
  *bits = UINT64_MAX - n;
  *least = -n;
  return sum > 2;
}
/* y = sum of weights[j] * xs[at[j]] */
void add_up(const float **xs, int64_t length, const int64_t *at, int64_t k, const float *weights,
            float *y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    y[i] = 0;
    for (int64_t j = 0; j < k; ++j) y[i] += at[j] < length ? weights[j] * xs[at[j]][i] : -1;
  }
}
/* y = a * x + b */
void affine(const float *x, float a, const float *b, float *y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = a * x[i] + (b ? b[i] : 0);
}
"""
FUNCTIONS: Final = {
    "dot": (
        "dot(x: Tensor([n], float64, intent=in), y: Tensor([n], float64, intent=in)) -> r: float64",
        "double dot(const double *, const double *, int64_t)",
        ["x", "y", "n"],
    ),
    "total": (
        "total(x: Tensor([n], float32, intent=in), by: float32) -> r: float32",
        "float total(const float *, int64_t, float)",
        ["x", "n", "by"],
    ),
    "scan": (
        "scan(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out)) -> "
        "(big: bool, last: float32, bits: uint64, least: int8)",
        "bool scan(const float *, float *, int64_t, float *, uint64_t *, int8_t *)",
        ["x", "y", "n", "last", "bits", "least"],
    ),
    "add_up": (
        "add_up(xs: TensorList(Tensor([n], float32, intent=in), length=g), at: List(int64, k), "
        "weights: List(float32, k), y: Tensor([n], float32, intent=out))",
        "void add_up(const float **, int64_t, const int64_t *, int64_t, const float *, float *, "
        "int64_t)",
        ["xs.pointers", "xs.length", "at", "weights.data", "y", "n"],
    ),
    "affine": (
        "affine(cfg: Struct(x: Tensor([n], float32, intent=in), a: float32, "
        "b: Optional(Tensor([n], float32, intent=in))), y: Tensor([n], float32, intent=out))",
        "void affine(const float *, float, const float *, float *, int64_t)",
        ["cfg", "y", "n"],
    ),
}


@cache
def function(name: str) -> Any:
    """Return one of these functions, compiled once."""
    signature, prototype, args = FUNCTIONS[name]
    code = c_object(Path(tempfile.mkdtemp()), SOURCE)
    return wrap(code, signature, device="cpu", prototype=prototype, args=args)[name]
