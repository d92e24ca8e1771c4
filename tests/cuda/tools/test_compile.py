"""CUDA C++ to cubins, where NVRTC is; and what is said where it is not."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ffi_builder import CompileError, cuda
from ffi_builder.cuda.tools import toolkit
from ffi_builder.cuda.tools.compilers import supported_architectures
from tests.cuda.images.images import SIZES
from tests.cuda.tools.tools import SAXPY, needs_nvrtc

KERNELS = Path(__file__).parents[1] / "images/kernels.cu"


def sizes(image: bytes) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for name, kernel in cuda.kernels(image).kernels.items():
        assert kernel.parameters is not None
        found[name] = [parameter.size for parameter in kernel.parameters]
    return found


@needs_nvrtc
def test_each_architecture_is_in_the_cubin():
    for number in supported_architectures():
        read = cuda.kernels(cuda.compile_cuda(SAXPY, arch=f"sm_{number}"))
        assert (read.format, read.architectures) == ("cubin", (f"sm_{number}",))
        assert read.kernels["saxpy"].parameters is not None


@needs_nvrtc
def test_letters_of_architectures():
    for arch in ("sm_90a", "sm_100a", "sm_100f"):
        read = cuda.kernels(cuda.compile_cuda(SAXPY, arch=arch))
        assert read.architectures == (arch,)


@needs_nvrtc
def test_options_reach_nvrtc_and_the_reader_reads_what_this_one_writes():
    source = KERNELS.read_text()
    assert sizes(cuda.compile_cuda(source, arch="sm_90a", options=["-DALL"])) == SIZES
    assert set(sizes(cuda.compile_cuda(source, arch="sm_90a"))) == {"saxpy", "tensor_map"}


@needs_nvrtc
def test_headers_of_ones_own_come_first(tmp_path: Path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.h").write_text(f"__global__ void {name}() {{}}\n")
    image = cuda.compile_cuda(
        '#include "mine.h"\n', arch="sm_90", include_paths=[tmp_path / "second", tmp_path / "first"]
    )
    assert list(sizes(image)) == ["_Z6secondv"]


@needs_nvrtc
def test_headers_of_cuda():
    if not {"cuda_fp16.h", "cuda"} <= {
        path.name for folder in toolkit.include_paths() for path in folder.iterdir()
    }:
        pytest.skip("needs the headers of CUDA")
    source = """
        #include <cuda_fp16.h>
        #include <cuda/std/cstdint>
        extern "C" __global__ void f(__half *x, int64_t n) { x[n] = __float2half(1.f); }
    """
    assert sizes(cuda.compile_cuda(source, arch="sm_90")) == {"f": [8, 8]}


def refused(source: str, arch: str = "sm_90", **options: Any) -> str:
    with pytest.raises(CompileError) as caught:
        cuda.compile_cuda(source, arch=arch, **options)
    return str(caught.value)


@needs_nvrtc
def test_errors_in_the_source_are_nvrtcs_with_the_name_and_line():
    words = refused(SAXPY.replace("a *", "b *"), name="saxpy.cu")
    assert words.startswith("The CUDA source does not compile: saxpy.cu(4): error: identifier")


@needs_nvrtc
def test_headers_that_are_not_there():
    words = refused("#include <stdint.h>\n")
    assert 'cannot open source file "stdint.h"' in words
    assert "headers of the host's C library" in words or "No headers of CUDA were found" in words


@needs_nvrtc
@pytest.mark.usefixtures("no_toolkit")
def test_no_headers_of_cuda():
    assert "pip install nvidia-cuda-runtime nvidia-cuda-cccl" in refused("#include <cuda_fp16.h>\n")


@needs_nvrtc
def test_architectures_that_nvrtc_does_not_have():
    words = refused(SAXPY, "sm_30")
    assert words.startswith("arch: NVRTC ")
    assert words.endswith("but got 'sm_30'")
    assert f"sm_{supported_architectures()[0]}" in words
    assert "does not know --gpu-architecture=sm_90f" in refused(SAXPY, "sm_90f")


@needs_nvrtc
def test_options_that_nvrtc_does_not_have():
    assert "unrecognized option --bogus" in refused(SAXPY, options=["--bogus"])


@needs_nvrtc
def test_options_that_make_no_cubin():
    assert "made no cubin of the CUDA source with the options" in refused(SAXPY, options=["-dlto"])


@needs_nvrtc
def test_a_failure_leaves_nothing_behind_that_the_next_one_shows():
    refused(SAXPY.replace("a *", "b *"))
    assert "identifier" not in refused("#error another\n")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"source": b""}, r"source: expected CUDA C\+\+ as a str but got b'' \(bytes\)"),
        ({"name": Path("k.cu")}, r"name: expected a str but got .* \(PosixPath\)"),
        ({"options": "-DALL"}, "options: expected a list but got '-DALL': put it into one"),
        ({"options": [1]}, r"options\[0\]: expected a str but got 1 \(int\)"),
        ({"include_paths": Path("x")}, "include_paths: expected a list but got .*: put it into"),
        ({"include_paths": [".", 3]}, r"include_paths\[1\]: expected a str but got 3 \(int\)"),
    ],
)
def test_other_types(changed: dict[str, Any], words: str):
    with pytest.raises(TypeError, match=words):
        cuda.compile_cuda(**{"source": SAXPY, "arch": "sm_90", **changed})


def test_a_nul_would_end_the_source():
    with pytest.raises(ValueError, match="source: expected text, but it has a NUL, at 3"):
        cuda.compile_cuda("int\0 i;", arch="sm_90")


@pytest.mark.usefixtures("no_bindings")
def test_without_cuda_python():
    words = refused(SAXPY)
    assert words.startswith("compile_cuda needs cuda-bindings, which cannot be imported (")
    assert words.endswith(
        "): install it, as the extra ffi_builder[cuda] does: pip install -e '.[cuda]' in a clone, or "
        "[cuda12] for drivers of CUDA 12"
    )


class NoLibrary(ModuleType):
    """The bindings, without the library."""

    def nvrtcVersion(self) -> None:
        raise RuntimeError("libnvrtc.so.13: not found\nlooked here, and there")


def test_without_nvrtc(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "cuda", ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.bindings", ModuleType("cuda.bindings"))
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvrtc", NoLibrary("cuda.bindings.nvrtc"))
    words = refused(SAXPY)
    assert words.startswith(
        "compile_cuda needs NVRTC, which cannot be loaded (libnvrtc.so.13: not found): install it, "
        "as the extra ffi_builder[cuda] does"
    )
