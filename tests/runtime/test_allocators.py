"""The allocator of ``install_allocator``, from the library of support functions or an object."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ffi_builder import attach, providers, runtime
from ffi_builder.runtime.jit.link import support_address
from ffi_builder.spec import Signature
from tests.runtime.samples import run_child
from tests.support.bundles import no_library as no_library
from tests.support.wrapping import new_module

SIGNATURE = "f(x: Tensor([n, k], float32)) -> y: Tensor([{}], {}, device_type={})"


@pytest.fixture(params=["library", "object"])
def installed(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "object":
        request.getfixturevalue("no_library")
    support_address.cache_clear()
    with runtime.install_allocator():
        yield
    support_address.cache_clear()


def compiled(shape: str, dtype: str = "float32", device: str = "cpu") -> runtime.CompiledModule:
    module = new_module()
    signature = Signature.parse(SIGNATURE.format(shape, dtype, device), device="cpu")
    attach(module, signature, providers.NopCallProvider())
    return runtime.compile(module)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("shape", "dtype", "expected", "strides"),
    [
        ("n, k", "float32", (3, 5), (20, 4)),
        ("k, n, 2", "int8", (5, 3, 2), (6, 2, 1)),
        ("", "float64", (), ()),
        ("n - 3, k", "float32", (0, 5), (20, 4)),
    ],
)
def test_it_is_contiguous_and_aligned(
    shape: str, dtype: str, expected: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    result = compiled(shape, dtype)["f"](np.zeros((3, 5), "float32"))
    y = np.from_dlpack(result)
    assert (y.shape, y.strides, str(y.dtype)) == (expected, strides, dtype)
    assert y.ctypes.data % 64 == 0


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("shape", ["n * 2**60, k", "n * 2**50, k"], ids=["bits", "memory"])
def test_too_large(shape: str) -> None:
    shape = shape.replace("2**60", str(2**60)).replace("2**50", str(2**50))
    with pytest.raises(MemoryError, match="the result has more bytes than can be allocated"):
        compiled(shape)["f"](np.zeros((1, 2), "float32"))


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("shape", ["k, n", "n, k", "k, n, n, k", "n, k, n"])
def test_an_empty_result_of_a_large_size(shape: str) -> None:
    sizes = {"n": 2**62, "k": 0}
    large = shape.replace("n", f"n * {sizes['n']}")
    y = compiled(large)["f"](np.zeros((1, 0), "float32"))
    assert tuple(y.shape) == tuple(sizes[name] for name in shape.split(", "))


@pytest.mark.usefixtures("installed")
def test_another_device() -> None:
    with pytest.raises(RuntimeError, match="allocates on the CPU alone"):
        compiled("n", device="cuda")["f"](np.zeros((1, 1), "float32"))


@pytest.mark.usefixtures("installed")
def test_it_gives_all_back() -> None:
    f, x = compiled("n * 1024, k * 1024")["f"], np.zeros((1, 1), "float32")
    for _ in range(10):
        f(x)
    before = _reserved()
    for _ in range(100):
        f(x)
    assert _reserved() - before < 50 << 20


@pytest.mark.slow
def test_with_numpy_and_tvm_ffi_alone(tmp_path: Path) -> None:
    compiled("n, k").export_library(tmp_path / "f.so")
    code = """
import sys
for name in ("llvmlite", "tvm_ffi_orcjit", "torch_mlir", "jaxlib"):
    sys.modules[name] = None
import numpy as np
from ffi_builder import runtime
f = runtime.load(sys.argv[1])["f"]
x = np.zeros((2, 3), "float32")
with runtime.install_allocator():
    kept = f(x)
print(np.from_dlpack(kept).shape)
try:
    f(x)
except RuntimeError as error:
    print(error)
del kept
"""
    done = run_child(code, tmp_path / "f.so")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("(2, 3)\nThere is no allocator for the result y")


def _reserved() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * 4096
