# pyright: basic, reportMissingImports=false, reportInvalidTypeForm=false
"""examples/compilers/tilelang_scale.py, and signatures, with TileLang itself.

`make test-tilelang` installs it with the tvm-ffi that it needs.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

import numpy as np
import pytest

from ffi_builder import attach, cuda, ir, runtime, spec, testing
from ffi_builder.providers import CudaLaunchCallProvider, RocmLaunchCallProvider
from ffi_builder.providers.cuda import TensorMap
from tests.examples.running import EXAMPLES, run
from tests.fakecuda import missing
from tests.rocm.images import compilers

pytest.importorskip("tilelang", reason="needs tilelang: `make test-tilelang` installs it")

import tilelang
import tilelang.language as T
from tilelang import tvm

m, n, pitch = (T.dynamic(name) for name in ("m", "n", "pitch"))


@T.prim_func
def kernel(
    x: T.Tensor((m, n, 128), "float16"),
    y: T.Tensor((m + 1, n + 3, m, 4), "bfloat16"),
    z: T.StridedTensor((m, n * 2), (pitch, 1), "float8_e4m3"),
    by: T.float32,
    count: T.int32,
):
    with T.Kernel(T.ceildiv(m, 4), threads=128) as block:
        for i in T.Parallel(128):
            x[block, 0, i] = x[block, 0, i] * T.cast(by, "float16")


@T.prim_func
def double(x: T.Tensor((m,), "float32"), y: T.Tensor((m,), "float32")):
    with T.Kernel(T.ceildiv(m, 128), threads=128) as block:
        for i in T.Parallel(128):
            y[block * 128 + i] = x[block * 128 + i] * 2


HIP = """
#define __global__ __attribute__((global))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
typedef long int64_t;
struct Index { unsigned x; };
#define blockIdx (Index{__builtin_amdgcn_workgroup_id_x()})
#define threadIdx (Index{__builtin_amdgcn_workitem_id_x()})
"""
"""What the kernel needs of HIP's headers."""


def test_the_example():
    printed, refused = run("compilers/tilelang_scale.py").splitlines()
    assert float(printed.removeprefix("largest difference from NumPy: ")) == 0
    assert refused.endswith("expected 128 but got 64")
    assert refused.startswith("Mismatched y.shape[1] on argument #1 when calling: `scale(")


def test_tilelang_makes_what_the_example_without_a_gpu_has_saved(tmp_path: Path):
    pytest.importorskip("cuda.bindings.nvrtc", reason="needs NVRTC, of the extra cuda")
    run("ci_without_gpu/tilelang_kernel.py", str(tmp_path))
    folders = (tmp_path, EXAMPLES / "ci_without_gpu")
    made, saved = (cuda.kernels((folder / "scale.ptx").read_bytes()) for folder in folders)
    assert made.kernels["scale_kernel"].parameters == saved.kernels["scale_kernel"].parameters
    assert (tmp_path / "scale.json").read_text() == (folders[1] / "scale.json").read_text()


def test_what_tilelang_knows():
    assert str(cuda.tilelang_signature(kernel, device="cpu")) == (
        "kernel(x: Tensor([m, n, 128], float16, device_type=cpu, data_alignment=16), "
        "y: Tensor([m + 1, n + 3, m, 4], bfloat16, device_type=cpu, data_alignment=16), "
        "z: Tensor([m, n * 2], float8_e4m3 | float8_e4m3fn, strides=[pitch, 1], "
        "device_type=cpu, data_alignment=16), by: float32, count: int32) "
        "where m: int32, n: int32, pitch: int32"
    )


def test_where_a_launch_is_said():
    """These attributes are what `tilelang_launch` reads."""
    target = tvm.target.Target({"kind": "cuda", "arch": "sm_90"})
    with target:
        artifact = tilelang.lower(kernel, target=target)
    [(name, device)] = artifact.device_mod.functions.items()
    assert name.name_hint == "kernel_kernel"
    assert [param.name for param in device.params][:1] == ["x"]
    extent = {name: str(size) for name, size in device.attrs["thread_extent"].items()}
    assert (extent["blockIdx.x"], extent["threadIdx.x"]) == ("(m + 3) // 4", "128")
    assert device.attrs.get("dyn_shared_memory_buf", 0) == 0


@T.prim_func
def gemm(
    a: T.Tensor((m, 128), "float16"),
    b: T.Tensor((128, 256), "float16"),
    c: T.Tensor((m, 256), "float16"),
):
    """A kernel that loads tiles by TMA descriptors."""
    with T.Kernel(4, T.ceildiv(m, 64), threads=128) as (column, row):
        left, right = (T.alloc_shared((64, 64), "float16") for _ in "ab")
        sums = T.alloc_fragment((64, 64), "float32")
        T.clear(sums)
        for k in T.Pipelined(2, num_stages=2):
            T.copy(a[row * 64, k * 64], left)
            T.copy(b[k * 64, column * 64], right)
            T.gemm(left, right, sums)
        T.copy(sums, c[row * 64, column * 64])


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_descriptors_in_a_library_that_this_environment_exports(tmp_path: Path):
    pytest.importorskip("cuda.bindings.nvrtc", reason="needs NVRTC, of the extra cuda")
    target = tvm.target.Target({"kind": "cuda", "arch": "sm_90a"})
    with target:
        artifact = tilelang.lower(gemm, target=target)
    sources = Path(str(tilelang.__file__)).parent
    cubin = cuda.compile_cuda(
        "#include <tl_templates/cuda/nvrtc_std.h>\n" + artifact.kernel_source,
        arch="sm_90a",
        options=["-default-device"],
        include_paths=[sources / "src", sources / "3rdparty/cutlass/include"],
    )
    launch = cuda.tilelang_launch(artifact)
    signature = cuda.tilelang_signature(gemm)
    # Another environment reads what this one writes.
    assert eval(repr(launch), {"TensorMap": TensorMap}) == launch
    assert str(spec.Signature.parse(str(signature))) == str(signature)
    module = ir.PlainModule()
    attach(module, signature, CudaLaunchCallProvider(cubin, **launch))
    runtime.lower(module).export_library(tmp_path / "gemm.so")
    function = runtime.load(tmp_path / "gemm.so")["gemm"]
    with testing.FakeCuda() as gpu:
        shapes = {"a": (100, 128), "b": (128, 256), "c": (100, 256)}
        given = {name: gpu.array(np.zeros(shape, "float16")) for name, shape in shapes.items()}
        function(*given.values())
    (launched,) = gpu.launches
    assert (launched.grid, launched.block, launched.shared) == ((4, 2, 1), (256, 1, 1), 32768)
    for name, tensor_map in zip("ab", launched.arguments, strict=False):
        facts = struct.unpack_from("<3Q5Q5I4I", tensor_map, 8)
        sizes = reversed(shapes[name])
        expected = (given[name].address, 2, 6, *sizes, 0, 0, 0, 64, 64, 0, 0, 0, 3, 0, 2, 0)
        assert facts == expected
    assert launched.arguments[2:] == (
        struct.pack("<Q", given["c"].address),
        struct.pack("<i", 100),
    )


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_a_kernel_for_amd_gpus(tmp_path: Path):
    """TileLang writes HIP C++ without ROCm; clang alone compiles what needs none of its headers."""
    target = tvm.target.Target({"kind": "hip", "mcpu": "gfx942"})
    with target:
        artifact = tilelang.lower(double, target=target)
    launch = cuda.tilelang_launch(artifact)
    assert launch == {
        "kernel": "double_kernel",
        "args": ["x", "y", "m"],
        "grid": ("(m + 127) // 128", 1, 1),
        "block": (128, 1, 1),
        "dynamic_smem_bytes": 0,
    }
    signature = cuda.tilelang_signature(double, device="rocm")
    assert "x: Tensor([m], float32, device_type=rocm, data_alignment=16)" in str(signature)
    if reason := compilers.lacks("hip"):
        pytest.skip(reason)
    code = re.sub("#include .*", "", artifact.kernel_source)
    (tmp_path / "double.hip").write_text(HIP + code)
    data = compilers.hip("gfx942", tmp_path, source=tmp_path / "double.hip")
    module = ir.PlainModule()
    attach(module, signature, RocmLaunchCallProvider(data, **launch))
    runtime.lower(module).export_library(tmp_path / "double.so")
    function = runtime.load(tmp_path / "double.so")["double"]
    with testing.FakeHip("gfx942") as gpu:
        x, y = (gpu.array(np.zeros(300, "float32")) for _ in "xy")
        function(x, y)
    (launched,) = gpu.launches
    assert (launched.kernel, launched.grid, launched.block) == (
        "double_kernel",
        (3, 1, 1),
        (128, 1, 1),
    )
    addresses = [struct.pack("<Q", each.address) for each in (x, y)]
    assert [*launched.arguments] == [*addresses, struct.pack("<i", 300)]
