"""examples/numba_kernel.py: Numba's functions behind wrappers, against Python and Numba itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import runtime
from tests.frontends.numba_support import RAISED, RATIO, compiled, hook, nk, parsed
from tests.frontends.support import needs, refused
from tests.runtime.exporting import needed
from tests.runtime.samples import needs_cc, run_child

numba, np = needs("numba"), needs("numpy")


@pytest.fixture(scope="module")
def module() -> runtime.CompiledModule:
    return compiled(nk.ratio, parsed(RATIO.strip("`")))


def matrix(*shape: int) -> Any:
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


# ---- numbers


LAYOUTS: dict[str, Any] = {
    "contiguous": matrix(3, 4),
    "larger": matrix(64, 33),
    "one element": matrix(1, 1),
    "transposed": matrix(4, 3).T,
    "an inner part": matrix(5, 9)[1:4, 3:7],
    "columns skipped": matrix(3, 8)[:, ::2],
    "backwards": matrix(3, 4)[::-1, ::-1],
    "rows repeated": np.lib.stride_tricks.as_strided(matrix(1, 4), (3, 4), (0, 4)),
    "no rows": matrix(0, 4),
    "no columns": matrix(3, 0),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_shape_and_layout(module: runtime.CompiledModule, layout: str) -> None:
    x = LAYOUTS[layout]
    y, expected = np.full(x.shape, 7, "float32"), np.full(x.shape, 7, "float32")
    module["ratio"](x, 4, y)
    nk.ratio(x, 4.0, expected)
    assert y.tolist() == expected.tolist() == (x / 4).tolist()


def test_torch_tensors_go_in_as_well(module: runtime.CompiledModule) -> None:
    torch = needs("torch")
    x = torch.arange(12, dtype=torch.float32)[1:].as_strided((3, 2), (1, 4))
    y = torch.zeros(3, 2)
    module["ratio"](x, 4, y)
    assert torch.equal(y, x / 4)


def test_results_may_be_written_over_an_input(module: runtime.CompiledModule) -> None:
    x = matrix(3, 4)
    module["ratio"](x, 2, x)
    assert x.tolist() == (matrix(3, 4) / 2).tolist()


def scalars(x: Any, a: Any, b: Any, c: Any, d: Any, e: Any) -> None:
    x[0], x[1], x[2], x[3], x[4] = a, b, c, d, e


def test_every_kind_of_number() -> None:
    signature = parsed(
        "scalars(x: Tensor([5], float64), a: bool, b: int8, c: uint16, d: int64, e: float32)"
    )
    function = compiled(numba.njit(scalars), signature)["scalars"]
    x = np.zeros(5)
    for args in ((True, -128, 65535, 2**53, 0.5), (False, 127, 0, -(2**53), -1.5)):
        function(x, *args)
        assert tuple(x) == args


def cumulated(x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(x.shape[2]):
                out[i, j, k] = x[i, j, k] + (out[i, j, k - 1] if k > 0 else 0)


@pytest.mark.parametrize("strides", ["", ", strides=F", ", strides=any"])
@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "float32", "float64"])
def test_every_dtype_and_order(dtype: str, strides: str) -> None:
    signature = parsed(
        f"f(x: Tensor([a, b, c], {dtype}{strides}), out: Tensor([a, b, c], {dtype}))"
    )
    function = compiled(numba.njit(cumulated), signature)["f"]
    for shape in ((2, 3, 4), (1, 5, 1), (3, 1, 2)):
        x = np.asarray(np.arange(np.prod(shape)).reshape(shape) % 9, dtype, order="F")
        x = x if strides else np.ascontiguousarray(x)
        out = np.zeros(shape, dtype)
        function(x, out)
        assert out.tolist() == np.cumsum(x, 2, dtype).tolist()


def test_memory_at_any_address() -> None:
    """Numba relies on no alignment, so a signature may take any address."""
    memory = np.zeros(4 * 12 + 1, "uint8")
    x = memory[1:].view("float32").reshape(3, 4)
    x[:] = matrix(3, 4)
    text = "f(x: Tensor([n, m], float32{}), by: float64, y: Tensor([n, m], float32))"
    signature = parsed(text.format(", data_alignment=1"))
    y = np.zeros((3, 4), "float32")
    compiled(nk.ratio, signature)["f"](x, 2, y)
    with pytest.raises(ValueError, match="an address aligned to 4 bytes, as elements of x are"):
        compiled(nk.ratio, parsed(text.format("")))["f"](x, 2, y)
    assert y.tolist() == (x / 2).tolist()
    llvm_ir, _ = nk.lower(nk.ratio, signature, "inner")
    assert set(re.findall(r"load float, ptr .* align (\d+)", llvm_ir)) == {"1"}


def described(x: Any, out: Any) -> None:
    out[0], out[1], out[2], out[3] = x.size, x.itemsize, x.shape[1], x.strides[0]


def test_what_is_known_of_an_array() -> None:
    signature = parsed("f(x: Tensor([n, m], int16, strides=any), out: Tensor([4], int64))")
    function, out = compiled(numba.njit(described), signature)["f"], np.zeros(4, "int64")
    for x in (np.zeros((3, 5), "int16"), np.zeros((4, 6), "int16")[:, ::2]):
        function(x, out)
        assert out.tolist() == [x.size, x.itemsize, x.shape[1], x.strides[0]]


@numba.njit
def root(x: Any) -> Any:
    return np.sqrt(x)


def sums(x: Any, y: Any) -> None:
    for i in range(len(x)):
        y[i] = root(x[i]) + np.exp(x[i])


def test_functions_that_call_others() -> None:
    x, y = np.linspace(0, 2, 9), np.zeros(9)
    signature = parsed("f(x: Tensor([n], float64), y: Tensor([n], float64))")
    compiled(numba.njit(sums), signature)["f"](x, y)
    np.testing.assert_allclose(y, np.sqrt(x) + np.exp(x), rtol=1e-15)


def test_two_functions_in_one_module() -> None:
    signatures = [
        parsed("first(x: Tensor([n], int64), by: float64, y: Tensor([n], float64))"),
        parsed("second(x: Tensor([n, m], float32), by: float64, y: Tensor([n, m], float32))"),
    ]
    parts = [nk.lower(nk.ratio, s, f"{s.name}_inner") for s in signatures]
    both = runtime.compile(
        "\n".join(declaration for _, declaration in parts),
        post_compile_hooks=[hook(s, f"{s.name}_inner") for s in signatures],
        link=[llvm_ir for llvm_ir, _ in parts],
    )
    y = np.zeros(3)
    both["first"](np.arange(3), 2, y)
    assert y.tolist() == [0, 0.5, 1]
    x = matrix(2, 2)
    both["second"](x, 2, x)
    assert x.tolist() == [[0, 0.5], [1, 1.5]]


@needs_cc
def test_an_exported_library_needs_no_numba(module: runtime.CompiledModule, tmp_path: Path) -> None:
    module.export_library(tmp_path / "ratio.so")
    assert needed(tmp_path / "ratio.so") <= {"libtvm_ffi.so", "libc.so.6", "libm.so.6"}
    done = run_child(f"""
        import sys
        sys.modules.update(numba=None, llvmlite=None, torch_mlir=None)  # none can be imported

        import numpy as np
        from ffi_builder import runtime

        ratio = runtime.load({str(tmp_path / "ratio.so")!r})["ratio"]
        x = np.ones((2, 3), "float32")
        ratio(x, 4, x)
        assert (x == 0.25).all()
        ratio(x, 0, x)
        """)
    assert done.stderr.splitlines()[-1] == f"RuntimeError: {RAISED}"


# ---- exceptions


def test_an_exception_is_an_error_with_its_status(module: runtime.CompiledModule) -> None:
    x, y = matrix(2, 3), np.full((2, 3), 7, "float32")
    with pytest.raises(ZeroDivisionError):
        nk.ratio(x, 0.0, y)
    assert refused(lambda: module["ratio"](x, 0, y)) == ("RuntimeError", RAISED)
    assert (y == 7).all()
    module["ratio"](x, 1, y)  # which is as good as before
    assert (y == x).all()


def test_an_exception_where_nothing_is_computed(module: runtime.CompiledModule) -> None:
    module["ratio"](matrix(0, 3), 0, matrix(0, 3))  # as Numba's: no element is divided


def limited(x: Any) -> None:
    for i in range(len(x)):
        if x[i] > 2:
            raise OverflowError("too large")
        x[i] += 1


def test_an_exception_half_way() -> None:
    told = {"error": "ValueError", "message": "{callee} said {status}"}
    function = compiled(numba.njit(limited), parsed("f(x: Tensor([n], int64))"), **told)["f"]
    x = np.arange(5)
    words = "f_inner said 1 when calling: `f(x: Tensor([n], int64))`"
    assert refused(lambda: function(x)) == ("ValueError", words)
    assert x.tolist() == [1, 2, 3, 3, 4]


# ---- wrong calls


def test_wrong_calls(module: runtime.CompiledModule) -> None:
    """The wrapper has the signature's checks and errors, all of which tests/rules has."""
    x, y = matrix(2, 3), matrix(2, 3)
    for args, words in (
        (
            (x, 2, y[1:]),
            "ValueError: Mismatched y.shape[0] on argument #2 when calling: {}, expected 2 "
            "(n = x.shape[0]) but got 1",
        ),
        (
            (x.astype("float64"), 2, y),
            "TypeError: Mismatched x.dtype on argument #0 when calling: {}, expected float32 but "
            "got float64",
        ),
    ):
        assert ": ".join(refused(lambda args=args: module["ratio"](*args))) == words.format(RATIO)
        assert y.tolist() == x.tolist()
