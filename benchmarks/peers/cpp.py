"""C++ functions with typed parameters through `tvm_ffi.cpp`, which converts the arguments."""

from __future__ import annotations

import shutil
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from native import HERE
from peers import base, shared

tvm_ffi_cpp: Any = import_module("tvm_ffi.cpp")
load_module: Any = import_module("tvm_ffi").load_module

SOURCE = (Path(__file__).parent / "typed.cc").read_text()
BODIES = {
    "scalar": ("int32_t x", "", "x"),
    "mm": (
        "TensorView a, TensorView b, TensorView c",
        "int64_t n = a.ndim() == 2 ? a.size(0) : 0, k = a.ndim() == 2 ? a.size(1) : 0;"
        "int64_t m = b.ndim() == 2 ? b.size(1) : 0;"
        'check("A", a, {n, k}, a, true); check("B", b, {k, m}, a, true);'
        'check("C", c, {n, m}, a, true);',
        "address(a), address(b), address(c), n, k, m",
    ),
    "t8_strided": (
        ", ".join(f"TensorView x{i}" for i in range(8)),
        "int64_t d[4]; for (int i = 0; i < 4; ++i) d[i] = x0.ndim() == 4 ? x0.size(i) : 0;"
        + "".join(f'check("x{i}", x{i}, {{d[0], d[1], d[2], d[3]}}, x0, false);' for i in range(8)),
        ", ".join(f"address(x{i})" for i in range(8))
        + ", d[0], d[1], d[2], d[3], "
        + ", ".join(f"x{i}.stride({axis})" for i in range(8) for axis in range(4)),
    ),
    "nested": (
        "Tuple<Tensor, Tuple<int32_t, Tensor>> p",
        "Tensor a = p.get<0>(); auto q = p.get<1>(); int32_t x = q.get<0>(); Tensor b = q.get<1>();"
        "int64_t n = a.ndim() == 1 ? a.size(0) : 0;"
        'check("A", a, {n}, a, true); check("B", b, {n}, a, true);',
        "address(a), x, address(b), n",
    ),
    "ptrs": (
        "Shape shape, void *data, void *stream",
        'TVM_FFI_CHECK(shape.size() == 3 && shape[2] == 4, ValueError) << "wrong shape";'
        "for (int64_t dim : shape) "
        'TVM_FFI_CHECK(dim >= 0, ValueError) << "a negative dimension";',
        "shape[0], shape[1], data, stream",
    ),
}
"""Parameters, checks, and the values that `direct` passes."""


class Peer(base.Peer):
    """Builds C++ libraries."""

    packages = ("apache-tvm-ffi", "ninja")

    def build(self, case: str, how: str, again: bool) -> dict[str, float]:
        """Return the milliseconds from source to callable; nothing is attached."""
        if again:
            raise base.Unsupported("what is there is not compiled again")
        clock = base.Clock()
        path = self._library(case, how)
        load_module(str(path))[case]
        clock.step("compile")
        size = next(path.parent.glob("*.o")).stat().st_size
        kept = self._kept(case, how)
        if kept.exists():
            shutil.rmtree(path.parent)
        else:
            path.parent.rename(kept.parent)
        return {**clock.times, "bytes": size}

    def make(self, case: str, how: str) -> base.Callee:
        """Make a library, once per run."""
        kept = self._kept(case, how)
        if not kept.exists():  # or another process of this run compiles it
            self._library(case, how).parent.rename(kept.parent)
        module = load_module(str(kept))
        return base.Callee(
            shared.address_in(kept, f"__tvm_ffi_{case}", kept.parent), module[case], module
        )

    def _kept(self, case: str, how: str) -> Path:
        return self.native.folder / f"cpp_{case}_{how}" / "code.so"

    def _library(self, case: str, how: str) -> Path:
        if how not in ("nop", "direct"):
            raise base.Unsupported("the function's own body is what is called")
        params, checks, forwarded = BODIES[case]
        call = f"kernel_{case}_direct({forwarded});" if how == "direct" else ""
        path = tvm_ffi_cpp.build_inline(
            "code",
            cpp_sources=f"{SOURCE}\nvoid {case}({params}) {{ {checks} {call} }}",
            functions=[case],
            extra_include_paths=[str(HERE)],
            build_directory=tempfile.mkdtemp(dir=self.native.folder),
        )
        return Path(path)
