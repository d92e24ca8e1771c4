"""PTX that NVIDIA's compilers write for CUDA C++ with variables of all kinds, on the fake driver."""

from __future__ import annotations

import ctypes
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import Launch, cuda, testing, wrap
from ffi_builder.cuda.tools.toolkit import bindings
from ffi_builder.fakecuda.fake import the_driver
from ffi_builder.providers.cuda import Pointee
from tests.cuda.tools.tools import needs_nvrtc
from tests.fakecuda import missing

SOURCE: Final = r"""
struct Pair { char c; double d; const char *text; float v[3]; };
struct __attribute__((packed)) Packed { char c; const int *at; short s; };
struct Base { virtual __device__ int get() { return 1; } };
struct Derived : Base { __device__ int get() override { return 2; } };
__constant__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ double pi = 3.14159;
__constant__ const char *names[3] = {"a", "b;{", "}\n\"// /* c"};
__device__ int target[4] = {1, 2, 3, 4};
__device__ int rows[2][2] = {{1, 2}, {3, 4}};
__device__ float floats[4] = {1.5f, -2.5f, 1e30f};
__device__ double doubles[2] = {1.5, -2.5e300};
__device__ unsigned long long large = 0xFFFFFFFFFFFFFFFFull;
__device__ short negative = -3;
__device__ bool flag = true;
__device__ int *pointer = target + 2;
__device__ Pair pairs[2] = {{'a', 2.0, "first", {1, 2, 3}}, {'b', 4.0, nullptr, {4, 5, 6}}};
__device__ Packed packed[2] = {{'a', &target[1], 3}, {'b', target, 4}};
__device__ __managed__ int managed = 4;
__device__ __align__(256) float aligned[64] = {1};
template <typename T> __device__ T of_a_template = T(3);
extern __shared__ float dynamic[];
__device__ int next(int x) { return x + 1; }
__device__ int (*functions[2])(int) = {next, nullptr};
extern "C" __global__ void __launch_bounds__(128, 2) k(float *x, int n, Pair pair) {
  dynamic[n] = sinf(x[n]) + cosf(x[n] * 1e10f) + table[n] + (float)pi + rows[n][1] + floats[n];
  printf("%d %s {;}\n", n, names[n]);
  x[0] = dynamic[n] + (float)doubles[n] + (float)large + negative + flag + *pointer + managed;
  x[1] = pairs[n].v[1] + packed[n].c + *packed[n].at + aligned[n] + of_a_template<float>;
  x[2] = functions[n](n) + of_a_template<double> + (float)pair.d;
  Base *made = n > 1 ? new Derived : new Base;
  x[3] = made->get();
  delete made;
  switch (n) { case 0: x[4] = 1; break; case 1: x[5] = 2; break; case 2: x[6] = 3; break;
               case 3: x[7] = 4; break; case 5: x[8] = 5; break; default: x[9] = 6; }
  target[n] = ++negative;
}
extern "C" __global__ void another() {}
"""


def ptx_of(source: str, arch: str, *options: str) -> bytes:
    """Compile with NVRTC, which ``compile_cuda`` asks for cubins only."""
    nvrtc: Any = bindings("nvrtc", "this test")

    def call(name: str, *arguments: object) -> Any:
        status, *results = getattr(nvrtc, name)(*arguments)
        assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, (name, status)
        return results[0] if results else None

    program = call("nvrtcCreateProgram", source.encode(), b"kernel.cu", 0, [], [])
    flags = [f"-arch={arch}".encode(), *(option.encode() for option in options)]
    call("nvrtcCompileProgram", program, len(flags), flags)
    data = bytearray(call("nvrtcGetPTXSize", program))
    call("nvrtcGetPTX", program, data)
    return bytes(data)


@needs_nvrtc
@pytest.mark.skipif(missing() is not None, reason=str(missing()))
@pytest.mark.parametrize("options", [(), ("-G",), ("-lineinfo",), ("-rdc=true",)], ids=str)
@pytest.mark.parametrize("arch", ["75", "80", "90a", "100f", "120"])
def test_variables_of_all_kinds(arch: str, options: tuple[str, ...]) -> None:
    image = ptx_of(SOURCE, f"compute_{arch}", *options)
    signature = "k(x: Tensor([n], float32), pair: handle) where n: int32"
    launch = Launch(grid=1, block="n")
    pair, held = Pointee("pair", 40), ctypes.create_string_buffer(40)
    k = wrap(image, signature, device="cuda", launch=launch, args=["x", "n", pair])["k"]
    with testing.FakeCuda(f"sm_{arch}") as gpu:
        k(gpu.array(np.ones(3, "float32")), ctypes.c_void_p(ctypes.addressof(held)))
    assert [launch.block for launch in gpu.launches] == [(3, 1, 1)]


STORED: Final = {
    "table": np.arange(1, 9, dtype="int32"),
    "rows": np.array([1, 2, 3, 4], "int32"),
    "floats": np.array([1.5, -2.5, 1e30, 0], "float32"),
    "large": np.array([2**64 - 1], "uint64"),
    "negative": np.array([-3], "int16"),
    "flag": np.array([1], "uint8"),
    "names": np.zeros(3, "uint64"),
    "pairs": np.zeros(80, "uint8"),
    "aligned": np.array([1] + 63 * [0], "float32"),
    "_Z13of_a_templateIfE": np.array([3], "float32"),
}
"""Variables of the source, and what a cubin says of them; not of those with addresses."""


@needs_nvrtc
@pytest.mark.skipif(missing() is not None, reason=str(missing()))
@pytest.mark.parametrize("arch", ["80", "90a", "100f"])
@pytest.mark.parametrize("ptx", [False, True], ids=["cubin", "ptx"])
def test_globals(arch: str, ptx: bool) -> None:
    source = SOURCE.replace("printf", "(void)sizeof")
    if ptx:
        image = ptx_of(source, f"compute_{arch}")
    else:
        image = cuda.compile_cuda(source, arch=f"sm_{arch}")
    found: dict[str, tuple[int, int]] = {}

    def hook(_: str, library: int, __: int) -> None:
        found.update({name: cuda.device_global(library, name) for name in STORED})

    k = wrap(image, "another()", device="cuda", launch=Launch(grid=1, block=1))["another"]
    with testing.FakeCuda(f"sm_{arch}"):
        cuda.load_hook(hook)
        try:
            k()
        finally:
            cuda.load_hook(None)
        for name, value in STORED.items():
            address, size = found[name]
            assert size == value.nbytes, name
            if not ptx and name not in ("names", "pairs"):
                stored = the_driver().memory(address, len(value), value.dtype)
                assert stored.tolist() == value.tolist(), name
