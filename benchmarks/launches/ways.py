"""The ways to launch the kernel: the name of each, and how long a launch takes."""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
import timeit
from collections.abc import Callable, Iterator
from ctypes import c_void_p as P
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from launches.driver import PTX, SIZE, Driver
from native import HERE, Arguments, cc
from tvm_ffi import libinfo

from ffi_builder import Launch, runtime, spec, wrap
from ffi_builder.cuda.tools.toolkit import roots

FACTOR = 2
load_module: Any = import_module("tvm_ffi").load_module


class Missing(Exception):
    """A way that cannot be measured here; the message says why."""


@dataclass(frozen=True)
class Way:
    """``sample(calls)`` returns the nanoseconds per launch, from C or from Python."""

    title: str
    caller: str
    sample: Callable[[int], float]


class Loops:
    """The loops in C: bare.c, and driver.c of the other benchmarks."""

    def __init__(self, folder: Path) -> None:
        path = folder / "loops.so"
        sources = [str(HERE / "launches" / "bare.c"), str(HERE / "driver.c")]
        cc("-shared", *sources, libinfo.find_libtvm_ffi(), "-o", str(path))
        self._library = ctypes.CDLL(str(path))

    def unchecked(self, driver: Driver) -> int:
        """Return the address of a function of the ABI that launches, and checks nothing."""
        for name, value in (("bare_launch", driver.cuda.cuLaunchKernelEx), ("bare_kernel", None)):
            given = driver.kernel if value is None else ctypes.cast(value, P).value
            P.in_dll(self._library, name).value = given
        address = ctypes.cast(self._library.unchecked, P).value
        assert address is not None
        return address

    def seconds(self, loop: str, *args: Any) -> float:
        """Return the seconds that a loop measures."""
        function = self._library[loop]
        function.restype = ctypes.c_double
        seconds = function(*args)
        assert seconds >= 0, f"{loop}: a launch failed"
        return seconds


def bare(driver: Driver, loops: Loops, stream: int) -> Callable[[int], float]:
    """cuLaunchKernelEx itself."""
    launch = ctypes.cast(driver.cuda.cuLaunchKernelEx, P)
    given = (launch, P(driver.kernel), P(stream), P(driver.x), P(driver.y), SIZE)
    return lambda calls: 1e9 * loops.seconds("time_launches", *given, ctypes.c_int64(calls)) / calls


def from_c(loops: Loops, address: int, arguments: list[Any], owner: Any) -> Callable[[int], float]:
    """Launch by a function of the TVM-FFI C ABI at an address; `owner` keeps the code alive."""
    packed = Arguments(arguments)

    def sample(calls: int) -> float:
        _ = owner
        given = (P(address), P(packed.address), ctypes.c_int32(packed.count))
        return 1e9 * loops.seconds("time_calls", *given, ctypes.c_int64(calls)) / calls

    return sample


def from_python(statement: str, **names: Any) -> Callable[[int], float]:
    """Launch by a Python statement; the cost of the loop is included."""
    timer = timeit.Timer(statement, globals=names)
    return lambda calls: 1e9 * timer.timeit(calls) / calls


# ---- ffi_builder


def wrapper(*more: spec.Param, **options: Any) -> runtime.CompiledModule:
    """``saxpy(a, x, y, …)`` of ffi_builder."""
    n, a = spec.Var("n", "int32"), spec.Var("a", "float32")
    x, y = (spec.Tensor(name, [n], "float32", device_type="cuda") for name in "xy")
    signature = spec.Signature("saxpy", [a, x, y, *more])
    grid = spec.ceildiv(n, 128)
    launch = Launch(grid=grid, block=128, **options)
    return wrap(PTX, signature, function="saxpy", launch=launch, args=[a, x, y, n])


def in_c(driver: Driver, loops: Loops) -> Iterator[Way]:
    """Return the driver itself and ffi_builder's wrapper, on each kind of stream."""
    yield Way("cuLaunchKernelEx", "C", bare(driver, loops, driver.stream))
    arguments = [FACTOR, *driver.tensors()]
    title = "C of the ABI that checks nothing"
    yield Way(title, "C", from_c(loops, loops.unchecked(driver), arguments, loops))
    for title, compiled, more in (
        ("ffi_builder", wrapper(), []),
        ("ffi_builder, the stream an argument", wrapper(spec.Stream("stream")), [P(driver.stream)]),
        ("ffi_builder, the NULL stream", wrapper(stream=0), []),
    ):
        sample = from_c(loops, compiled.address("saxpy"), [*arguments, *more], compiled)
        yield Way(title, "C", sample)


def in_python(driver: Driver) -> Iterator[Way]:
    """Return the wrapper called from Python."""
    x, y = driver.tensors()
    f = wrapper()["saxpy"]
    yield Way("ffi_builder, tvm_ffi tensors", "Python", from_python("f(2, x, y)", f=f, x=x, y=y))


# ---- others


def launcher(driver: Driver, loops: Loops, folder: Path) -> Iterator[Way]:
    """Return tvm-ffi's cubin_launcher.h in a C++ function with typed parameters."""
    path = folder / "launcher.so"
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    includes = [f"-I{each}" for each in (*libinfo.include_paths(), *cuda_headers())]
    flags = ["-std=c++17", "-O2", "-shared", "-fPIC", "-DTVM_FFI_CUBIN_LAUNCHER_USE_DRIVER_API=1"]
    source = str(HERE / "launches" / "launcher.cc")
    command = [*compiler, *flags, *includes, source, libinfo.find_libtvm_ffi(), "-o", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        raise Missing(f"{compiler[0]}: {(errors or ['failed'])[0]}")
    # It calls the driver by name, so the driver's symbols must be global.
    library = load_module(str(path))
    library.load(PTX)
    x, y = driver.tensors()
    address = ctypes.cast(ctypes.CDLL(str(path))["__tvm_ffi_saxpy"], P).value
    assert address is not None
    title = "tvm-ffi cubin_launcher"
    yield Way(title, "C", from_c(loops, address, [FACTOR, x, y], library))
    given = {"f": library.saxpy, "x": x, "y": y}
    yield Way(f"{title}, tvm_ffi tensors", "Python", from_python("f(2, x, y)", **given))


def cuda_headers() -> list[Path]:
    """Return the folders with CUDA's headers. Raises Missing."""
    found = [root / "include" for root in roots() if (root / "include/crt/host_config.h").exists()]
    if not found:
        raise Missing("needs CUDA's headers: pip install nvidia-cuda-runtime nvidia-cuda-crt")
    return found[:1]


def torch_ways(driver: Driver, loops: Loops, folder: Path) -> Iterator[Way]:
    """Return ffi_builder, cubin_launcher and a PyTorch operator, with PyTorch's tensors."""
    torch = needed("torch")
    if not torch.cuda.is_available():
        raise Missing("this PyTorch has no GPU")
    torch.cuda.set_stream(torch.cuda.ExternalStream(driver.stream))
    x, y = (torch.from_dlpack(each) for each in driver.tensors())
    given = {"x": x, "y": y}
    f = wrapper()["saxpy"]
    yield Way("ffi_builder, torch tensors", "Python", from_python("f(2, x, y)", f=f, **given))
    yield Way("torch y.add_(x, alpha=2)", "Python", from_python("y.add_(x, alpha=2)", **given))
    built = folder / "launcher.so"
    if built.exists():
        launch = load_module(str(built)).saxpy
        sample = from_python("f(2, x, y)", f=launch, **given)
        yield Way("tvm-ffi cubin_launcher, torch tensors", "Python", sample)


def triton_ways(driver: Driver, loops: Loops, folder: Path) -> Iterator[Way]:
    """Return Triton's launch of the same kernel in Triton, compiled at the first call."""
    torch, _ = needed("torch"), needed("triton")
    if not torch.cuda.is_available():
        raise Missing("it launches with PyTorch's tensors, and this PyTorch has no GPU")
    torch.cuda.set_stream(torch.cuda.ExternalStream(driver.stream))
    kernel = import_module("launches.triton_kernel").saxpy
    x, y = (torch.from_dlpack(each) for each in driver.tensors())
    names = {"f": kernel, "x": x, "y": y, "n": SIZE}
    yield Way("Triton", "Python", from_python("f[((n + 127) // 128,)](2.0, x, y, n, 128)", **names))


def described_ways(driver: Driver, loops: Loops, folder: Path) -> Iterator[Way]:
    """Return the kernel by two tensor descriptors, by ffi_builder and by Triton's launcher.

    The latter gets descriptors that were made before. What Triton does before it calls its launcher
    is not part of it.
    """
    needed("triton")
    compiler, compilers = (
        import_module("triton.compiler"),
        import_module("triton.backends.compiler"),
    )
    backend: Any = import_module("triton.backends.nvidia.driver")
    kernel = import_module("launches.triton_kernel").described
    kind = "tensordesc<fp32[128]>"
    types = {"a": "fp32", "x": kind, "y": kind, "BLOCK": "constexpr"}
    source = compiler.ASTSource(kernel, types, {(3,): 128})
    options = {"num_warps": 4, "enable_fp_fusion": True}
    target = compilers.GPUTarget("cuda", 90, 32)
    compiled = compiler.compile(source, target=target, options=options)
    text = "saxpy(a: float32, x: Tensor([n], float32), y: Tensor([n], float32))"
    wrapped = wrap(compiled, text, device="cuda", launch=Launch(grid="ceildiv(n, 128)"))
    x, y = driver.tensors()
    title = "ffi_builder, two tensor maps"
    sample = from_c(loops, wrapped.address("saxpy"), [FACTOR, x, y], wrapped)
    yield Way(title, "C", sample)
    given = {"f": wrapped["saxpy"], "x": x, "y": y}
    yield Way(f"{title}, tvm_ffi tensors", "Python", from_python("f(2, x, y)", **given))
    os.environ |= {"TRITON_LIBCUDA_PATH": str(folder), "TRITON_CACHE_DIR": str(folder / "triton")}
    import_module("triton.runtime").driver.set_active(backend.CudaDriver())
    launch = backend.CudaLauncher(source, compiled.metadata)
    describe = import_module("triton.tools.tensor_descriptor").TensorDescriptor
    dtype = SimpleNamespace(itemsize=4)
    bases = [SimpleNamespace(data_ptr=lambda at=at: at, dtype=dtype) for at in (driver.x, driver.y)]
    known = (4, compiled.metadata.num_ctas, compiled.metadata.shared)
    names = {"f": launch, "s": driver.stream, "k": driver.kernel, "m": known, "n": SIZE}
    names |= {
        "x": describe(bases[0], [SIZE], [1], [128]),
        "y": describe(bases[1], [SIZE], [1], [128]),
    }
    statement = "f((n + 127) // 128, 1, 1, s, k, m, None, None, None, 2.0, x, y, 128)"
    yield Way("Triton's launcher, two descriptors", "Python", from_python(statement, **names))


def cupy_ways(driver: Driver, loops: Loops, folder: Path) -> Iterator[Way]:
    """Return CuPy's RawKernel, which compiles CUDA C++ at the first call."""
    cupy = needed("cupy")
    cupy.cuda.ExternalStream(driver.stream).use()
    memory = [cupy.cuda.UnownedMemory(each, 4 * SIZE, None) for each in (driver.x, driver.y)]
    x, y = (cupy.ndarray((SIZE,), "float32", cupy.cuda.MemoryPointer(each, 0)) for each in memory)
    names = {"f": cupy.RawKernel(SOURCE, "saxpy"), "a": cupy.float32(2), "x": x, "y": y}
    statement = "f(((n + 127) // 128,), (128,), (a, x, y, n))"
    yield Way("CuPy RawKernel", "Python", from_python(statement, n=cupy.int32(SIZE), **names))


def core_ways(driver: Driver, loops: Loops, folder: Path) -> Iterator[Way]:
    """Return launch() of cuda.core, with ctypes scalars."""
    core = needed("cuda.core")
    core.Device(0).set_current()
    names = {
        "f": core.launch,
        "made": core.LaunchConfig(grid=1, block=128),
        "config": core.LaunchConfig,
        "stream": core.Stream.from_handle(driver.stream),
        "kernel": core.ObjectCode.from_ptx(PTX).get_kernel("saxpy"),
        "given": (ctypes.c_float(2), driver.x, driver.y, ctypes.c_int(SIZE)),
        "n": SIZE,
    }
    computed = "config(grid=(n + 127) // 128, block=128)"
    for title, which in (
        ("cuda.core launch", computed),
        ("cuda.core launch, one LaunchConfig", "made"),
    ):
        statement = f"f(stream, {which}, kernel, *given)"
        yield Way(title, "Python", from_python(statement, **names))


def needed(name: str) -> Any:
    """Import a package. Raises Missing."""
    try:
        return import_module(name)
    except ImportError as error:
        raise Missing(f"not installed ({error})") from error


SOURCE = r"""
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""

OTHERS: dict[str, Callable[[Driver, Loops, Path], Iterator[Way]]] = {
    "tvm-ffi cubin_launcher": launcher,
    "torch": torch_ways,
    "Triton": triton_ways,
    "tensor maps": described_ways,
    "CuPy RawKernel": cupy_ways,
    "cuda.core": core_ways,
}
"""The ways, in this order, as torch uses what the first has compiled."""
WITHOUT_A_GPU = ("tvm-ffi cubin_launcher", "cuda.core", "tensor maps")
"""The ways that work on the null driver."""
WITHOUT_CODE = ("tensor maps",)
"""The ways that work on the null driver only, as the kernel is for one architecture."""
