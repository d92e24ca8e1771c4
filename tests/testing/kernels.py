"""Kernels in C, right ones and wrong ones, and functions that wrap them."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import attach, runtime, spec, testing
from ffi_builder.providers import DirectCallProvider
from ffi_builder.testing import KernelError
from tests.support.wrapping import new_module

SOURCE = """
#include <stdint.h>
#include <string.h>
#define SCALE(name) void ffib_##name(float *x, float *y, int64_t n, float a)
#define EACH for (int64_t i = 0; i < n; ++i)

SCALE(right) { EACH y[i] = a * x[i]; }
SCALE(forgets_the_tail) { for (int64_t i = 0; i < n / 4 * 4; ++i) y[i] = a * x[i]; }
SCALE(writes_past_the_end) { EACH y[i] = a * x[i]; y[n] = 0; }
SCALE(writes_before_the_start) { EACH y[i] = a * x[i]; y[-2] = 0; }
SCALE(copies_past_the_end) { EACH y[i] = a * x[i]; y[n] = x[n]; }
SCALE(writes_past_its_input) { EACH y[i] = a * x[i]; x[n + 1] = 0; }
SCALE(changes_its_input) { EACH { x[i] *= a; y[i] = x[i]; } }
SCALE(reads_its_output) { EACH y[i] += a * x[i]; }
SCALE(multiplies_its_output_by_0) { EACH y[i] = a * x[i] + 0 * y[i]; }
SCALE(reads_past_its_input) { EACH y[i] = a * x[i] + (x[i + 1] > 1e9f || x[i + 1] != x[i + 1] ? 1 : 0); }
SCALE(writes_half) { EACH memcpy(&y[i], &x[i], 2); }
SCALE(wrong_at_size_0) { int64_t i = 0; do y[i] = a * x[i]; while (++i < n); }
SCALE(wrong_at_odd_sizes) { EACH y[i] = a * x[i]; if (n % 2 && n > 4) y[n - 1] = 0; }
SCALE(wrong_for_negative_factors) { EACH y[i] = (a < 0 ? -a : a) * x[i]; }
SCALE(not_the_same_each_time) { static float calls; EACH y[i] = calls; ++calls; }
SCALE(adds) { EACH y[i] += a * x[i]; }

void ffib_strided(float *x, float *y, int64_t n, int64_t stride) { EACH y[i * stride] = x[i]; }
void ffib_ignores_the_stride(float *x, float *y, int64_t n, int64_t stride) { EACH y[i] = x[i]; }
void ffib_biased(float *x, float *bias, float *y, int64_t n) { EACH y[i] = x[i] + (bias ? bias[i] : 0); }
void ffib_forgets_the_bias(float *x, float *bias, float *y, int64_t n) { EACH y[i] = x[i]; }
void ffib_needs_the_bias(float *x, float *bias, float *y, int64_t n) { if (bias) EACH y[i] = x[i] + bias[i]; }
float ffib_sum(float *x, int64_t n) { float sum = 0; EACH sum += x[i]; return sum; }
float ffib_sum_and_clear(float *x, int64_t n) { float sum = 0; EACH { sum += x[i]; x[i] = 0; } return sum; }
float ffib_sum_and_more(float *x, int64_t n) { float sum = 0; for (int64_t i = 0; i <= n; ++i) sum += x[i]; return sum; }
void ffib_copy_bytes(char *x, char *y, int64_t n, int64_t size) { memcpy(y, x, n * size); }
void ffib_gather(int32_t *at, float *x, float *y, int64_t n) { EACH y[i] = x[at[i]]; }
"""


@cache
def load() -> ctypes.CDLL:
    """Compile the kernels once for this process; modules that are linked later find them."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "kernels.c"), Path(folder, "libkernels.so")
        source.write_text(SOURCE)
        # Without sanitizing or vectorizing, so that a wrong kernel does just what is written.
        command = ["cc", "-O1", "-shared", "-fPIC", str(source), "-o", str(library)]
        subprocess.run(command, check=True, timeout=60)
        return ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


@cache
def compiled(kernel: str, signature: spec.Signature, args: tuple[Any, ...]) -> Any:
    """Compile a function of this signature that calls a kernel with these arguments."""
    load()
    module = new_module()
    attach(module, signature, DirectCallProvider(f"ffib_{kernel}", args=args))
    return runtime.compile(module)[signature.name]


def parse(text: str) -> spec.Signature:
    """Parse a signature whose tensors are on the CPU."""
    return spec.Signature.parse(text, device="cpu")


SCALE = parse(
    "scale(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out), a: float32)"
)


def scale(kernel: str, signature: spec.Signature = SCALE) -> Any:
    """Compile a function that calls a kernel with x, y, n and a."""
    n = spec.Var("n", "int64")
    return compiled(kernel, signature, ("x", "y", n, "a"))


def scaled(x: Any, _y: Any, a: float) -> Any:
    """Compute what the right kernel does."""
    return a * x


def found(
    function: Any, signature: spec.Signature, reference: Callable[..., Any], **more: Any
) -> KernelError:
    """Compare a function with a reference, and return the error."""
    with pytest.raises(KernelError) as error:
        testing.check_kernel(function, signature, reference, **more)
    return error.value


def lines(error: KernelError) -> list[str]:
    """Return the lines of the message."""
    return str(error).splitlines()
