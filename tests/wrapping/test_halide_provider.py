"""``HalideCallProvider``: the ``halide_buffer_t`` that a function gets, read by one in C."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffi_builder import BuildError, providers, runtime, wrap
from tests.runtime.samples import c_object, needs_cc

pytestmark = needs_cc

# Types and offsets of HalideRuntime.h, written again here.
LOOK = """
struct dimension { int32_t min, extent, stride; uint32_t flags; };
struct buffer {
  uint64_t device; const void *interface; uint8_t *host; uint64_t flags;
  struct { uint8_t code, bits; uint16_t lanes; } type;
  int32_t dimensions; struct dimension *dim; void *padding;
};
int look(const struct buffer *x, int32_t n, int64_t *seen) {
  if (!x) return 17;
  if (n < 0) return n;
  int at = 0;
  seen[at++] = x->device; seen[at++] = (int64_t)x->interface; seen[at++] = (int64_t)x->host;
  seen[at++] = x->flags; seen[at++] = x->type.code; seen[at++] = x->type.bits;
  seen[at++] = x->type.lanes; seen[at++] = x->dimensions; seen[at++] = (int64_t)x->padding;
  for (int d = 0; d < x->dimensions; d++) {
    seen[at++] = x->dim[d].min; seen[at++] = x->dim[d].extent;
    seen[at++] = x->dim[d].stride; seen[at++] = x->dim[d].flags;
  }
  return 0;
}
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return c_object(tmp_path_factory.mktemp("look"), LOOK)


def looking(kernel: bytes, x: str) -> Any:
    return wrap(
        kernel,
        f"look(x: {x}, n: int32, seen: Tensor([21], int64))",
        device="cpu",
        provider=providers.HalideCallProvider,
        args=["x", "n", "seen.data"],
    )["look"]


@pytest.mark.parametrize(
    ("dtype", "code", "bits"),
    [
        *(("int8", 0, 8), ("int64", 0, 64), ("uint16", 1, 16), ("bool", 1, 1)),
        *(("float16", 2, 16), ("float32", 2, 32), ("float64", 2, 64)),
    ],
)
def test_the_buffer(dtype: str, code: int, bits: int, kernel: bytes) -> None:
    look = looking(kernel, f"Tensor([a, 3, b], {dtype}, strides=any)")
    x = np.zeros((4, 3, 10), dtype)[1:, :, ::2]
    seen = np.full(21, -1, "int64")
    look(x, 0, seen)
    assert seen[:9].tolist() == [0, 0, x.ctypes.data, 0, code, bits, 1, 3, 0]
    assert seen[9:].tolist() == [0, 5, 2, 0, 0, 3, 10, 0, 0, 3, 30, 0]  # the last axis first


def test_its_status(kernel: bytes) -> None:
    look = looking(kernel, "Optional(Tensor([m], float32))")
    seen = np.zeros(21, "int64")
    look(np.zeros(3, "float32"), 0, seen)
    with pytest.raises(RuntimeError, match="look failed with status 17"):
        look(None, 0, seen)
    with pytest.raises(RuntimeError, match="look failed with status -5"):
        look(np.zeros(3, "float32"), -5, seen)


HANDLER = """
#include <stdlib.h>
__attribute__((weak)) void halide_error(void *context, const char *message) { abort(); }
int k(void *x, int32_t n) {
  if (n == 0) return 0;
  if (n > 0) halide_error(NULL, "Input buffer x has type float64");
  return -2;
}
"""


def test_what_halide_says_of_an_error(tmp_path: Path) -> None:
    """Its own function for that ends the process."""
    text = "k(x: Tensor([m], float32), n: int32)"
    code = c_object(tmp_path, HANDLER)
    compiled = wrap(code, text, device="cpu", provider=providers.HalideCallProvider)
    compiled.export_library(tmp_path / "k.so")
    x = np.zeros(3, "float32")
    for module in (compiled, runtime.load(tmp_path / "k.so")):
        module["k"](x, 0)
        with pytest.raises(RuntimeError, match=r"^Input buffer x has type float64$"):
            module["k"](x, 1)
        with pytest.raises(RuntimeError, match="k failed with status -2"):
            module["k"](x, -1)


def test_a_handler_of_the_author(tmp_path: Path) -> None:
    source = HANDLER.replace("__attribute__((weak)) ", "").replace("abort()", "")
    code = c_object(tmp_path, source)
    text = "k(x: Tensor([m], float32), n: int32)"
    compiled = wrap(code, text, device="cpu", provider=providers.HalideCallProvider)
    with pytest.raises(RuntimeError, match="k failed with status -2"):
        compiled["k"](np.zeros(3, "float32"), 1)


def test_a_size_that_is_too_large(kernel: bytes) -> None:
    look = looking(kernel, "Tensor([m], float32, strides=any)")
    x = np.lib.stride_tricks.as_strided(np.zeros(1, "float32"), (1 << 31,), (0,))
    words = r"x\.shape\[0\] is 2147483648, which no int32 of a halide_"
    with pytest.raises(ValueError, match=words):
        look(x, 0, np.zeros(21, "int64"))


@pytest.mark.parametrize(
    "x",
    [
        "Tensor([m], float8_e4m3fn, device_type=cpu)",
        "Tensor([m], float32 | float64, device_type=cpu)",
        "Tensor(..., float32, device_type=cpu)",
        "Tensor([m], float32, device_type=cuda)",
    ],
)
def test_what_no_buffer_describes(x: str, kernel: bytes) -> None:
    words = r"HalideCallProvider: x is .*; expected a tensor on the CPU"
    with pytest.raises(BuildError, match=words):
        looking(kernel, x)
