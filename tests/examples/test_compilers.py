"""Kernels of other compilers: each example runs with the real one, where it is installed."""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec

import pytest

from tests.examples.running import run

NEEDS = {
    "cffi_function.py": ("cffi", ""),
    "cpp.py": ("", "c++"),
    "exo_gemv.py": ("exo", "cc"),
    "fortran.py": ("", "gfortran"),
    "halide_blur.py": ("halide", ""),
    "iree_add.py": ("iree", ""),
    "numba_cfunc.py": ("numba", ""),
    "openmp.py": ("", "cc"),
    "rust.py": ("", "rustc"),
    "xdsl_scale.py": ("xdsl", ""),
}


@pytest.mark.parametrize("name", NEEDS)
def test_a_kernel_of_another_compiler(name: str) -> None:
    package, tool = NEEDS[name]
    if (package and find_spec(package) is None) or (tool and shutil.which(tool) is None):
        target = "test-distributions" if package == "iree" else "test-frameworks"
        pytest.skip(f"needs {package or tool}: `make {target}` installs packages")
    printed = run(f"compilers/{name}")
    [difference] = re.findall(r"largest difference from NumPy: (\S+)", printed)
    assert float(difference) < 1e-6
    if name == "fortran.py":
        assert re.search(r"norm: (\S+) \1\n", printed)
        assert "expected 1 (column-major contiguous) but got 3" in printed
    if name in ("openmp.py", "cpp.py"):
        assert re.search(r"failed with status \d+ when calling", printed)
