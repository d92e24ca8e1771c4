"""Kernels that use Python, called by PyTorch and by JAX: the wrapper takes the GIL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ffi_builder import runtime, wrap
from tests.runtime.samples import c_object, needs_cc

pytest.importorskip("clang.native")
pytestmark = [needs_cc, pytest.mark.slow]

KERNEL = """
typedef struct object object;
extern object *PyExc_ZeroDivisionError;
extern int PyGILState_Check(void);
extern void PyErr_SetString(object *class, const char *text);
int held(const float *x, float *y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] + PyGILState_Check();
  if (x[0] < 0) PyErr_SetString(PyExc_ZeroDivisionError, "negative");
  return 0;
}
"""


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> runtime.CompiledModule:
    folder: Path = tmp_path_factory.mktemp("held")
    return wrap(
        c_object(folder, KERNEL),
        "held(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out)) where n > 0",
        prototype="int held(const float *x, float *y, int64_t n)",
        release_gil=False,
        device="cpu",
    )


def test_an_operator_of_pytorch(held: runtime.CompiledModule) -> None:
    torch: Any = pytest.importorskip("torch")
    from ffi_builder.frameworks.torch import operator

    op: Any = operator(held["held"], namespace="gil")
    x, y = torch.zeros(2), torch.zeros(2)
    for call in (op, torch.ops.gil.held):
        call(x, y)
        assert y.tolist() == [1, 1]
        with pytest.raises(ZeroDivisionError, match=r"^negative$"):
            call(x - 1, y)


def test_a_function_of_jax(held: runtime.CompiledModule) -> None:
    jax: Any = pytest.importorskip("jax")
    pytest.importorskip("jax_tvm_ffi")
    from ffi_builder.frameworks.jax import function

    f = jax.jit(function(held["held"]))
    x = jax.numpy.zeros(2)
    assert f(x).tolist() == [1, 1]
    with pytest.raises(Exception, match="ZeroDivisionError: negative"):
        f(x - 1).block_until_ready()
    assert f(x).tolist() == [1, 1]
