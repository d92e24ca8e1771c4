"""Peers of a call: each builds what it needs, or says why it cannot."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

HERE: Final = Path(__file__).parent
SUFFIX: Final = sysconfig.get_config_var("EXT_SUFFIX")
BYTES: Final = ("bytes of 33", "bytes of 33, beyond int64")
Calls = dict[str, Callable[..., Any]]
"""A function for each case that a peer has."""


def built(name: str, sources: Sequence[Path], folder: Path, *options: str) -> Path:
    """Compile an extension module."""
    out = folder / f"{name}{SUFFIX}"
    compiler = "c++" if any(source.suffix == ".cpp" for source in sources) else "cc"
    include = f"-I{sysconfig.get_paths()['include']}"
    command = [compiler, "-O3", "-shared", "-fPIC", "-w", include]
    subprocess.run([*command, *map(str, sources), *options, "-o", str(out)], check=True)
    return out


def imported(name: str, path: Path) -> Any:
    """Import an extension module by its path."""
    found = importlib.util.spec_from_file_location(name, path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def hash_library(folder: Path) -> Path:
    """A library with a hash `f` of bytes."""
    return built("hash", [HERE / "hash.c"], folder)


def bare(folder: Path) -> Calls:
    """A METH_FASTCALL function that looks at nothing."""
    function: Any = imported("bare", built("bare", [HERE / "bare.c"], folder)).bare
    cases = ("ints", "numpy3", "torch3", "torch8", "parameters8")
    return {case: function for case in cases}  # noqa: C420 - fromkeys loses the type


def by_ctypes(folder: Path) -> Calls:
    """A C function of three ints by ctypes."""
    library = ctypes.CDLL(str(built("bare", [HERE / "bare.c"], folder)))
    function: Any = library.by_ctypes
    function.argtypes, function.restype = [ctypes.c_longlong] * 3, None
    of_bytes: Any = ctypes.CDLL(str(hash_library(folder))).f
    of_bytes.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
    of_bytes.restype = ctypes.c_uint64

    def call(data: bytes, seed: int) -> int:
        return of_bytes(data, len(data), seed)

    calls: Calls = {case: call for case in ("ints", *BYTES)}  # noqa: C420
    return {**calls, "ints": function}


def by_cffi(folder: Path) -> Calls:
    """A hash of bytes by cffi, whose callers pass the length."""
    ffi: Any = import_module("cffi").FFI()
    ffi.cdef("unsigned long long f(const void *, unsigned long long, unsigned long long);")
    function: Any = ffi.dlopen(str(hash_library(folder))).f

    def call(data: bytes, seed: int) -> int:
        return function(data, len(data), seed)

    return {case: call for case in BYTES}  # noqa: C420 - fromkeys loses the type


def by_nanobind(folder: Path) -> Calls:
    """A function with typed parameters, by nanobind."""
    nanobind: Any = import_module("nanobind")
    root = Path(nanobind.source_dir()).parent
    path = built(
        "by_nanobind",
        [root / "src" / "nb_combined.cpp", HERE / "by_nanobind.cpp", _object(folder)],
        folder,
        "-std=c++17",
        "-DNDEBUG",
        "-fvisibility=hidden",
        f"-I{nanobind.include_dir()}",
        f"-I{root}/ext/robin_map/include",
    )
    module = imported("by_nanobind", path)
    arrays = {"numpy3": module.arrays3, "torch3": module.arrays3, "torch8": module.arrays8}
    arrays["buffers3"] = module.arrays3
    texts = {BYTES[0]: module.bytes, BYTES[1]: module.bytes, "str of 33": module.str}
    return {"ints": module.ints, "keywords": module.ints, **arrays, **texts}


def _object(folder: Path) -> Path:
    out = folder / "hash.o"
    subprocess.run(["cc", "-O3", "-fPIC", "-c", str(HERE / "hash.c"), "-o", str(out)], check=True)
    return out


def by_pybind11(folder: Path) -> Calls:
    """The same by pybind11."""
    pybind11: Any = import_module("pybind11")
    options = "-std=c++17", "-DNDEBUG", "-fvisibility=hidden", f"-I{pybind11.get_include()}"
    path = built("by_pybind11", [HERE / "by_pybind11.cpp"], folder, *options)
    module = imported("by_pybind11", path)
    return {"ints": module.ints, "keywords": module.ints, "numpy3": module.arrays3}


def by_cython(folder: Path) -> Calls:
    """The same by Cython, with memory views."""
    import_module("Cython")
    source = folder / "by_cython.c"
    command = [sys.executable, "-m", "cython", "-3", str(HERE / "by_cython.pyx"), "-o"]
    subprocess.run([*command, str(source)], check=True)
    module = imported("by_cython", built("by_cython", [source], folder))
    return {"ints": module.ints, "keywords": module.ints, "numpy3": module.arrays3}


def by_numba(folder: Path) -> Calls:
    """A function that Numba compiled."""
    del folder
    numba: Any = import_module("numba")

    def nothing(a: object, b: object, c: object) -> None:
        pass

    function = numba.njit(nothing)
    return {"ints": function, "numpy3": function}


def by_torch(folder: Path) -> Calls:
    """An operator in C++."""
    torch: Any = import_module("torch")
    extension: Any = import_module("torch.utils.cpp_extension")
    options = [f"-I{path}" for path in extension.include_paths()]
    for path in extension.library_paths():
        options += [f"-L{path}", f"-Wl,-rpath,{path}"]
    libraries = ["-lc10", "-ltorch_cpu", "-ltorch"]
    path = built("by_torch", [HERE / "by_torch.cpp"], folder, "-std=c++20", *options, *libraries)
    torch.ops.load_library(str(path))
    operators = torch.ops.ffi_builder_calls
    eight = operators.eight.default
    return {"torch3": operators.three.default, "torch8": eight, "parameters8": eight}


def by_triton(folder: Path) -> Calls:
    """Triton's launcher in C, on a driver that does nothing.

    A Python function packs its arguments; Triton's own classes do more before they call it.
    """
    triton: Any = import_module("triton")
    backend: Any = import_module("triton.backends.nvidia.driver")
    with suppress(OSError):
        ctypes.CDLL("libcuda.so.1")
        raise RuntimeError("there is a driver, which would run a kernel")
    stub = folder / "libcuda.so.1"
    source = str(HERE.parent / "launches" / "null_driver.c")
    options = "-shared", "-fPIC", "-w", f"-Wl,-soname,{stub.name}", "-o", str(stub)
    subprocess.run(["cc", "-O2", source, *options], check=True)
    ctypes.CDLL(str(stub), ctypes.RTLD_GLOBAL)
    os.environ |= {"TRITON_LIBCUDA_PATH": str(folder), "TRITON_CACHE_DIR": str(folder / "triton")}
    triton.runtime.driver.set_active(backend.CudaDriver())
    scratch = {
        f"{kind}_scratch_{what}": 0 for kind in ("global", "profile") for what in ("size", "align")
    }
    about = SimpleNamespace(**scratch, launch_cooperative_grid=False, launch_pdl=False)

    def launcher(*types: str) -> Callable[..., Any]:
        made = backend.CudaLauncher(SimpleNamespace(signature=dict(enumerate(types))), about)
        launch = made.launch
        grid, stream, function, (warps, ctas, shared) = (1, 1, 1), 0, 0x1000, (4, 1, 0)
        given = (*grid, stream, function, False, False, (warps, ctas, shared), *[None] * 5)
        given = (*given, made.arg_annotations, made.kernel_signature)
        return lambda *args: launch(*given, args)

    ints, three, eight = launcher(*["i32"] * 3), launcher(*["*fp32"] * 3), launcher(*["*fp32"] * 8)
    return {"ints": ints, "torch3": three, "torch8": eight, "parameters8": eight}


PEERS: Final[dict[str, Callable[[Path], Calls]]] = {
    "METH_FASTCALL, bare": bare,
    "nanobind": by_nanobind,
    "pybind11": by_pybind11,
    "Cython": by_cython,
    "Numba": by_numba,
    "ctypes": by_ctypes,
    "cffi": by_cffi,
    "TORCH_LIBRARY": by_torch,
    "Triton's launcher in C": by_triton,
}
