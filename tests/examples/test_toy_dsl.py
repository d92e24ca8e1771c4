"""examples/toy_dsl: its kernels beside NumPy, what is compiled when, and what callers are told."""

# pyright: basic, reportInvalidTypeForm=false
# Annotations of kernels are arrays with axes.
import importlib
import re
import threading
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from ffi_builder import SpecError, runtime, testing
from tests.examples import toy
from tests.examples.running import run, sections
from tests.frontends.support import needs
from tests.runtime.samples import needs_cc

Array, exp, sqrt = toy.expressions.Array, toy.expressions.exp, toy.expressions.sqrt
rms_norm, softmax, matmul = toy.main.rms_norm, toy.main.softmax, toy.main.matmul
n, m, d = toy.expressions.axes("n m d")

RMS_NORM = (
    "rms_norm(x: Tensor([n, d], float32 | float64), weight: Optional(Tensor([d], "
    "float32 | float64)), eps: float64)"
)


@pytest.fixture(autouse=True, scope="module")
def compiled() -> None:
    """Compile the kernels of main.py, which then stay, before the tests of this file."""
    for kernel in (rms_norm, softmax, matmul):
        assert kernel.compiled


@pytest.fixture(autouse=True)
def allocator() -> Iterator[None]:
    with runtime.install_allocator(every_thread=True):
        yield


def arrays(rows: int = 3, columns: int = 5, dtype: str = "float32") -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.random((rows, columns)).astype(dtype), rng.random(columns).astype(dtype)


def normed(x: Any, weight: Any, eps: float) -> Any:
    with np.errstate(all="ignore"):  # there may be no columns, and eps may be negative
        y = x / np.sqrt(np.sum(x * x, 1, keepdims=True) / x.shape[1] + eps)
    return y if weight is None else y * weight


def test_the_program_prints_results_and_errors():
    printed = sections(run("toy_dsl/main.py"))
    assert list(printed) == ["with_numpy", "with_torch", "with_jax", "mistakes"]
    numbers = [float(x) for x in re.findall(r"\d\.\d+", printed["with_numpy"])]
    x = np.arange(6.0).reshape(2, 3)
    expected = [*normed(x, None, 1e-6).flatten(), *normed(x, None, 0.1).flatten()]
    np.testing.assert_allclose([n for n in numbers if n], [n for n in expected if n], rtol=1e-5)
    for section in ("with_torch", "with_jax"):
        found = [float(x) for x in re.findall(r"\d\.\d+", printed[section])]
        assert printed[section] == "not installed\n" or found == pytest.approx(
            normed(x, None, 1e-6).sum(1), rel=1e-4
        )
    assert printed["mistakes"].splitlines() == [
        f"ValueError: Mismatched weight.shape[0] on argument #1 when calling: `{RMS_NORM}`, "
        "expected 3 (d = x.shape[1]) but got 2",
        "ValueError: No variant fits: expected rms_norm_float32 (x.dtype == float32 and "
        "weight.dtype == float32), rms_norm_float32_no_weight (x.dtype == float32 and not "
        "weight.present), rms_norm_float64 (x.dtype == float64 and weight.dtype == float64), "
        "rms_norm_float64_no_weight (x.dtype == float64 and not weight.present) but got "
        "x.dtype = float32, weight.dtype = float64, weight.present = True when calling: "
        f"`{RMS_NORM}`",
        f"TypeError: Mismatched type of eps on argument #2 when calling: `{RMS_NORM}`, "
        "expected float but got str",
    ]


# ---- values


def test_kernels_compute_what_numpy_does():
    rms_norm.check(normed)
    matmul.check(np.matmul)

    def reference(x: Any) -> Any:
        e = np.exp(x - x.max(1, keepdims=True, initial=-np.inf))
        return e / e.sum(1, keepdims=True)

    softmax.check(reference, rtol=1e-4)


def test_checking_a_kernel_shows_what_differs():
    with pytest.raises(testing.KernelError, match=r"expected 2\.0 for out\[0, 0\] but got 1\.0"):
        softmax.check(lambda x: np.full_like(x, 2), dims={"n": 1, "d": 1})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("given", [True, False])
def test_each_variant(dtype: str, given: bool):
    x, weight = arrays(dtype=dtype)
    y = rms_norm(x, weight if given else None, eps=0.5)
    assert (type(y), y.dtype) == (np.ndarray, dtype)
    np.testing.assert_allclose(y, normed(x, weight if given else None, 0.5), rtol=1e-5)


def test_other_expressions():
    @toy.kernel.kernel
    def scaled(x: Array[n, d], low: Array[n], factor: float) -> Array[d, n]:
        return 1 + 2 * (x - low) * factor - x / 4

    @toy.kernel.kernel
    def total(x: Array[n, d]) -> Array[()]:
        return sqrt(x.sum(d).max(n))

    @toy.kernel.kernel
    def centered(x: Array[n, d]) -> Array[d]:  # a reduction within a reduction over the other axis
        return exp((x - x.mean(d)).sum(n))

    x, _ = arrays()
    low = x.min(1)
    expected = (1 + 2 * (x - low[:, None]) * 3 - x / 4).T
    np.testing.assert_allclose(scaled(x, low, 3), expected, rtol=1e-5)
    assert total(x) == pytest.approx(np.sqrt(x.sum(1).max()))
    np.testing.assert_allclose(
        centered(x), np.exp((x - x.mean(1, keepdims=True)).sum(0)), rtol=1e-5
    )


def test_two_optional_arrays():
    @toy.kernel.kernel
    def affine(x: Array[n], a: Array[n] | None = None, b: Array[n] | None = None) -> Array[n]:
        y = x if a is None else x * a
        return y if b is None else y + b

    x, a, b = np.full(3, 2.0), np.full(3, 3.0), np.full(3, 5.0)
    results = [affine(x)[0], affine(x, a)[0], affine(x, b=b)[0], affine(x, a, b)[0]]
    assert results == [2, 6, 7, 11]


# ---- the compiler


def test_what_a_loop_does_not_change_is_computed_before_it():
    """One loop over rows, and in it one for the maximum, one for the sum, one for the result."""
    module = toy.codegen.build(softmax.definition)
    passes = "builtin.module(func.func(loop-invariant-code-motion,cse))"
    manager: Any = importlib.import_module("torch_mlir.passmanager").PassManager
    manager.parse(passes, module.context).run(module.operation)
    function = toy.codegen.ir.SymbolTable(module.operation)["softmax_float32"]
    depths = [depth for depth, op in operations(function) if op.name == "scf.for"]
    assert depths == [0, 1, 1, 1]


def operations(function: Any, depth: int = 0) -> Iterator[tuple[int, Any]]:
    """Yield the operations in a function, with the number of loops around each."""
    for op in function.regions[0].blocks[0].operations:
        yield depth, op
        if op.name == "scf.for":
            yield from operations(op, depth + 1)


def test_a_kernel_is_compiled_once_for_all_sizes_dtypes_and_callers(
    monkeypatch: pytest.MonkeyPatch,
):
    compiled = []

    def counted(definition: Any) -> Any:
        compiled.append(definition.name)
        return compile_kernel(definition)

    compile_kernel = toy.kernel.compile_kernel
    monkeypatch.setattr(toy.kernel, "compile_kernel", counted)

    @toy.kernel.kernel
    def doubled(x: Array[n, d], y: Array[d] | None = None) -> Array[n, d]:
        return x + x if y is None else x + y

    assert compiled == []
    for rows, columns, dtype in product([0, 1, 7], [1, 4], ["float32", "float64"]):
        x, y = arrays(rows, columns, dtype)
        assert (doubled(x) == 2 * x).all()
        assert (doubled(x, y) == x + y).all()
    assert compiled == ["doubled"]


def test_a_mistake_in_a_kernel_is_an_error_where_it_is_made():
    def widened(x: Array[n]) -> Array[n, m]:
        return x

    with pytest.raises(SpecError, match=r"no parameter binds symbol 'm', which out\.shape\[1\]"):
        toy.kernel.kernel(widened)

    def untold(x: Array[n], scale) -> Array[n]:
        return x * scale

    with pytest.raises(TypeError, match="untold: the annotation of scale must be Array"):
        toy.kernel.kernel(untold)


# ---- callers


def test_wrong_calls():
    """Others are printed by the program; tests/rules has what is checked."""
    x, weight = arrays()
    with pytest.raises(
        TypeError, match=r"Mismatched x\.dtype .* one of float32, float64 but got int"
    ):
        rms_norm(x.astype("int32"))
    with pytest.raises(
        ValueError, match=r"Mismatched x\.strides\[0\] .* 3 \(row-major contiguous\)"
    ):
        rms_norm(x.T)
    with pytest.raises(ValueError, match=r"No variant fits: .* weight\.dtype = float64"):
        rms_norm(x, weight.astype("float64"))
    with pytest.raises(TypeError, match="unexpected keyword argument 'epsilon'"):
        rms_norm(x, epsilon=1)


def test_frozen_arrays_are_read():
    x, weight = arrays()
    x.flags.writeable = False
    np.testing.assert_allclose(rms_norm(x, weight), normed(x, weight, 1e-6), rtol=1e-5)


def test_the_result_may_be_stored_in_an_array_of_the_caller():
    into = rms_norm.compiled.callable("rms_norm_into")
    x, weight = arrays()
    out = np.empty_like(x)
    into(x, weight, out=out)
    np.testing.assert_allclose(out, normed(x, weight, 1e-6), rtol=1e-5)
    with pytest.raises(ValueError, match=r"Mismatched out .* expected memory apart from that of x"):
        into(x, out=x)
    with pytest.raises(ValueError, match=r"No variant fits: .* out\.dtype = float64"):
        into(x, out=out.astype("float64"))


def test_threads_have_an_allocator_too():
    x, _ = arrays()
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(softmax(x)))
    thread.start()
    thread.join()
    assert len(results) == 1


@needs_cc
def test_a_kernel_is_exported(tmp_path: Any):
    softmax.compiled.export_library(tmp_path / "softmax.so")
    x, _ = arrays()
    y = runtime.load(tmp_path / "softmax.so").callable("softmax")(x)
    np.testing.assert_allclose(y, softmax(x))


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")
def test_torch():
    torch = needs("torch")
    x, weight = map(torch.from_numpy, arrays())
    expected = torch.nn.functional.rms_norm(x, (5,), weight, 1e-6)
    y = rms_norm(x, weight)
    assert type(y) is torch.Tensor
    torch.testing.assert_close(y, expected)
    norm = rms_norm.torch
    assert norm.schema == "toy::rms_norm(Tensor x, Tensor? weight=None, float eps=1e-06) -> Tensor"
    torch.testing.assert_close(norm(x, weight), expected)
    assert norm(x.double()).dtype == torch.float64
    step = torch.compile(lambda x, w: norm(x, w) * 2, fullgraph=True, dynamic=True)
    torch.testing.assert_close(step(x, weight), expected * 2)
    torch.testing.assert_close(
        step(x[:, :2].contiguous(), weight[:2]),
        torch.nn.functional.rms_norm(x[:, :2], (2,), weight[:2], 1e-6) * 2,
    )
    with pytest.raises(RuntimeError, match=r"Mismatched weight\.shape\[0\] on argument #1"):
        step(x, weight[:2])
    torch.library.opcheck(norm.overload, (x, weight))


def test_jax():
    jax = needs("jax")
    needs("jax_tvm_ffi")
    x, weight = arrays()
    step = jax.jit(lambda x, weight: rms_norm.jax(x, weight) * 2)
    for columns in (5, 2):
        part, scale = x[:, :columns], weight[:columns]
        y = step(part, scale)
        assert isinstance(y, jax.Array)
        np.testing.assert_allclose(y, normed(part, scale, 1e-6) * 2, rtol=1e-5)
    np.testing.assert_allclose(rms_norm.jax(x, eps=0.5), normed(x, None, 0.5), rtol=1e-5)
    with pytest.raises(ValueError, match=r"Mismatched weight\.shape\[0\] on argument #1"):
        step(x, weight[:2])


def test_jax_has_float64_where_it_is_asked_for():
    jax = needs("jax")
    needs("jax_tvm_ffi")
    x, weight = arrays(dtype="float64")
    jax.config.update("jax_enable_x64", True)
    try:
        y = rms_norm.jax(x, weight)
        assert y.dtype == "float64"
        np.testing.assert_allclose(y, normed(x, weight, 1e-6), rtol=1e-9)
    finally:
        jax.config.update("jax_enable_x64", False)
