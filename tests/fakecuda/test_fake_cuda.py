"""``testing.FakeCuda``: launches without a GPU, and arguments in the memory of its devices."""

# References and emulated kernels have no types.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import ctypes
import gc
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tvm_ffi

from ffi_builder import Launch, runtime, spec, testing, wrap
from tests.fakecuda import KernelImage, make_cubin, missing
from tests.fakecuda.building import compile_c

np = pytest.importorskip("numpy", reason="needs NumPy")
pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

TYPES = ["float32*", "float32*", "float32", "int32"]
SCALE = spec.Signature.parse(
    "scale(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out), a: float32) "
    "where n: int32",
    device="cuda",
)
IMAGE = KernelImage("scale", (8, 8, 4, 4))


def compiled(sm: int = 80, **options: Any) -> runtime.CompiledModule:
    """A function for the kernel, which is of sm_80 or another one."""
    launch = Launch(grid="ceildiv(n, 128)", block=128, **options)
    image = make_cubin([IMAGE], sm=sm)
    made = wrap(image, SCALE, launch=launch, args=["x", "y", "a", "n"])
    assert isinstance(made, runtime.CompiledModule)
    return made


@pytest.fixture
def scale() -> tvm_ffi.Function:
    return compiled(sm=90)["scale"]


def right(_launch: Any, x: Any, y: Any, a: float, n: int) -> None:
    y[:n] = a * x[:n]


def reference(x: Any, _y: Any, a: float) -> Any:
    return a * x


def ones(gpu: testing.FakeCuda, device: int = 0) -> tuple[testing.FakeArray, testing.FakeArray]:
    x, y = (gpu.array(np.ones(3, "float32"), device=device) for _ in "xy")
    return x, y


@pytest.fixture
def gpu() -> Iterator[testing.FakeCuda]:
    with testing.FakeCuda() as made:
        yield made


# ---- the block


def test_a_launch(scale: tvm_ffi.Function) -> None:
    with testing.FakeCuda() as gpu:
        gpu.kernel("scale", TYPES)(right)
        x, y = gpu.array(np.arange(300, dtype="float32")), gpu.array(np.zeros(300, "float32"))
        scale(x, y, 2.0)
        assert [launch.grid for launch in gpu.launches] == [(3, 1, 1)]
        assert (y.numpy() == 2 * np.arange(300)).all()
    [launch] = gpu.launches
    assert (launch.kernel, launch.block, launch.shared) == ("scale", (128, 1, 1), 0)
    assert (launch.device, launch.stream) == (0, 0)
    assert launch.values(TYPES) == [x.address, y.address, 2.0, 300]
    assert launch.arguments[3] == (300).to_bytes(4, "little")
    assert [call.result for call in gpu.calls if call.name == "cuLaunchKernelEx"] == [0]
    assert (y.numpy() == 2 * x.numpy()).all()


def test_a_function_in_several_blocks() -> None:
    function = compiled(sm=80)["scale"]
    for archs in (["sm_80"], ["sm_80", "sm_86"], ["sm_90"], ["sm_80"]):
        with testing.FakeCuda(*archs) as gpu:
            gpu.kernel("scale", TYPES)(right)
            x, y = ones(gpu, len(archs) - 1)
            if archs == ["sm_90"]:
                with pytest.raises(RuntimeError, match="CUDA_ERROR_NO_BINARY_FOR_GPU"):
                    function(x, y, 5.0)
            else:
                function(x, y, 5.0)
                assert (y.numpy() == 5).all()
        assert len(gpu.launches) == (archs != ["sm_90"])


def test_a_kernel_that_is_not_emulated_does_nothing(
    gpu: testing.FakeCuda, scale: tvm_ffi.Function
) -> None:
    x, y = (gpu.array(np.ones(300, "float32")) for _ in "xy")
    scale(x, y, 2.0)
    assert len(gpu.launches) == 1
    assert (y.numpy() == 1).all()


@pytest.mark.parametrize(("arch", "most"), [("sm_80", 163), ("sm_86", 99), ("sm_120", 99)])
def test_the_shared_memory_of_an_architecture(arch: str, most: int) -> None:
    ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry f() { ret; }\n"
    with testing.FakeCuda(arch) as gpu:
        for size in (most << 10, (most << 10) + 1):
            launch = Launch(grid=1, block=1, dynamic_smem_bytes=size)
            function = wrap(ptx, "f()", device="cuda", launch=launch)["f"]
            if size % 2 == 0:
                function()
                continue
            with pytest.raises(RuntimeError, match=f"dynamic_smem_bytes={size}"):
                function()
    assert [launch.shared for launch in gpu.launches] == [most << 10]


def test_several_devices() -> None:
    with testing.FakeCuda("sm_80", "sm_80") as gpu:
        function = compiled()["scale"]
        function(*ones(gpu, 1), 1.0)
        assert gpu.launches[0].device == 1
        with pytest.raises(ValueError, match=r"expected 0 \(the device of x\) but got 1"):
            function(*(gpu.array(np.ones(3, "float32"), device) for device in (0, 1)), 1.0)
        with pytest.raises(ValueError, match="expected a device from 0 to 1 but got 2"):
            gpu.array(np.ones(3), 2)


@pytest.mark.parametrize("arch", ["90", "sm_9", "sm_200", "compute_90", "sm_90x", 90, None])
def test_an_unknown_architecture(arch: Any) -> None:
    with pytest.raises(ValueError, match=r"expected an architecture such as 'sm_90' but got"):
        testing.FakeCuda(arch)


def test_too_many_devices() -> None:
    testing.FakeCuda(*["sm_90a"] * 8)
    with pytest.raises(ValueError, match="9 devices, and there are 8 at most"):
        testing.FakeCuda(*["sm_90a"] * 9)


def test_a_block_in_a_block(gpu: testing.FakeCuda) -> None:
    with pytest.raises(RuntimeError, match="in the block of another FakeCuda already"):
        testing.FakeCuda().__enter__()
    assert gpu.array([1.0]).shape == (1,)


def test_outside_of_the_block() -> None:
    gpu = testing.FakeCuda()
    for use in (lambda: gpu.array([1.0]), lambda: gpu.kernel("scale", TYPES)):
        with pytest.raises(RuntimeError, match="this works in its block only"):
            use()
    with pytest.raises(ValueError, match=r"x on argument #0 is on cuda, .* a testing.FakeCuda\(\)"):
        testing.make_args(SCALE)


def test_broken_rules_are_raised_at_the_end() -> None:
    def use_an_outdated_function(then: Callable[[], object] = int) -> None:
        driver = ctypes.CDLL("libcuda.so.1")
        driver.cuInit(0)
        driver.cuCtxPopCurrent(None)
        then()

    gpu = testing.FakeCuda()
    words = r"rules of the CUDA driver were broken:\n  outdated-name: "
    with pytest.raises(AssertionError, match=words), gpu:
        use_an_outdated_function()
    assert [violation.rule for violation in gpu.violations] == ["outdated-name"]
    with pytest.raises(ZeroDivisionError), testing.FakeCuda():  # which is more important
        use_an_outdated_function(lambda: 1 / 0)
    with testing.FakeCuda() as gpu:
        pass
    assert gpu.violations == []


def test_a_child_process() -> None:
    code = (
        "import ctypes; driver = ctypes.CDLL('libcuda.so.1'); driver.cuInit(0); "
        "count = ctypes.c_int(); driver.cuDeviceGetCount(ctypes.byref(count)); "
        "version = ctypes.c_int(); driver.cuDriverGetVersion(ctypes.byref(version)); "
        "print(count.value, version.value)"
    )
    with testing.FakeCuda("sm_90", "sm_80", version="12.8") as gpu:
        printed = subprocess.check_output([sys.executable, "-c", code], env=gpu.environment)
    assert printed == b"2 12080\n"


PTX = ".version {}\n.target sm_80\n.visible .entry f() {{ ret; }}\n"


def test_the_version_of_the_driver() -> None:
    def call(ptx: str, version: str | None) -> None:
        function = wrap(PTX.format(ptx), "f()", device="cuda", launch=Launch(grid=1, block=1))["f"]
        with testing.FakeCuda(version=version) as gpu:
            function()
        assert len(gpu.launches) == 1

    call("9.0", "13.0")
    call("9.0", None)
    call("8.8", "12.9")
    with pytest.raises(RuntimeError, match=r"_PTX_VERSION .* FakeCuda\(version='13.1'\) takes it"):
        call("9.1", "13.0")
    call("9.1", "13.1")
    with pytest.raises(RuntimeError, match=r"FakeCuda\(version='59.9'\) takes it"):
        call("55.9", None)


@pytest.mark.parametrize("version", ["11.8", "13", "12.10", "", "13.0 ", "v13.0", 13.0])
def test_a_version_that_is_none(version: Any) -> None:
    kind = ValueError if isinstance(version, str) else TypeError
    words = f"a version of CUDA from '12.0' on, such as '13.0', but got {version!r}"
    with pytest.raises(kind, match=re.escape(words)):
        testing.FakeCuda(version=version)


def test_streams() -> None:
    with testing.FakeCuda("sm_90", "sm_90") as gpu:
        function, stream = compiled(sm=90)["scale"], gpu.stream(1)
        x, y = ones(gpu, 1)
        with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 1), stream):
            function(x, y, 1.0)
        with pytest.raises(ValueError, match="expected a device from 0 to 1 but got 2"):
            gpu.stream(2)
    assert [launch.stream for launch in gpu.launches] == [stream]


# ---- emulated kernels


def fails(_launch: Any, *_: Any) -> None:
    raise IndexError("my mistake")


def launch_with(types: list[str], kernel: Callable[..., None], scale: tvm_ffi.Function) -> None:
    with testing.FakeCuda() as gpu:
        gpu.kernel("scale", types)(kernel)
        scale(*testing.make_args(SCALE))


def test_an_exception_of_a_kernel_is_raised_at_the_end(scale: tvm_ffi.Function) -> None:
    with pytest.raises(IndexError, match="my mistake"):
        launch_with(TYPES, fails, scale)
    with testing.FakeCuda():  # and forgotten then
        scale(*testing.make_args(SCALE))


def test_an_exception_of_a_kernel_is_raised_by_numpy(
    gpu: testing.FakeCuda, scale: tvm_ffi.Function
) -> None:
    gpu.kernel("scale", TYPES)(fails)
    x, y, a = testing.make_args(SCALE)
    scale(x, y, a)
    with pytest.raises(IndexError, match="my mistake"):
        y.numpy()
    assert y.numpy().shape == (2,)


@pytest.mark.parametrize(
    ("types", "words"),
    [
        (TYPES[:3], "kernel 'scale' has 4 parameters, but 3 types are given: float32*, float32*,"),
        ([*TYPES[:3], "int64"], "parameter 3 of kernel 'scale' has 4 bytes, but 'int64' has 8"),
        (["float32", *TYPES[1:]], "parameter 0 of kernel 'scale' has 8 bytes, but 'float32' has 4"),
        (["float*", *TYPES[1:]], "'float'"),
    ],
)
def test_types_that_do_not_fit(types: list[str], words: str, scale: tvm_ffi.Function) -> None:
    with pytest.raises((ValueError, TypeError)) as error:
        launch_with(types, right, scale)
    assert words in str(error.value)


def pointers() -> Callable[..., Any]:
    """A function that passes a pointer and an int of 64 bits as they are."""
    image = make_cubin([KernelImage("take", (8, 8))])
    signature = "take(p: handle, n: int64)"
    return wrap(image, signature, device="cuda", launch=Launch(grid=1, block=1))["take"]


def test_types_of_parameters(gpu: testing.FakeCuda) -> None:
    take, x = pointers(), gpu.array(np.arange(8, dtype="int16"))
    found: list[Any] = []
    pointer = ctypes.c_void_p(x.address + 4)
    for types in (["int16*", "int64"], ["handle", "uint64"], ["bytes", "bytes"]):
        gpu.kernel("take", types)(lambda launch, *values: found.append((launch.grid, *values)))
        take(pointer, -1)
    assert [grid for grid, *_ in found] == [(1, 1, 1)] * 3
    assert found[0][1][:6].tolist() == [2, 3, 4, 5, 6, 7]
    assert found[0][2] == -1
    assert found[1][1:] == (x.address + 4, 2**64 - 1)
    assert found[2][1:] == ((x.address + 4).to_bytes(8, "little"), b"\xff" * 8)
    gpu.kernel("take", ["int16*", "int64"])(lambda _, p, n: found.append(p))
    take(None, 1)
    assert found[3] is None


# ---- arrays


@pytest.mark.parametrize("dtype", ["float64", "bool", "bfloat16", "float8_e4m3fn"])
def test_arrays_of_dtypes(gpu: testing.FakeCuda, dtype: str) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    given = np.array([[0, 1, 2], [3, 4, 5]], getattr(ml_dtypes, dtype, dtype))
    x = gpu.array(given)
    assert (x.shape, x.dtype, x.device) == ((2, 3), dtype, 0)
    assert (x.numpy() == given).all()
    assert repr(x) == f"<FakeArray {dtype}[2, 3] on cuda:0>"
    tensor = tvm_ffi.from_dlpack(x)
    assert (str(tensor.dtype), tensor.device.type, tuple(tensor.shape)) == (dtype, "cuda", (2, 3))


def test_an_array_outlives_the_block_and_its_memory_ends_with_it() -> None:
    with testing.FakeCuda() as gpu:
        x = gpu.array(np.ones(5, "float32"))
    view, address = x[1:].numpy(), x.address
    del x
    with testing.FakeCuda("sm_80") as gpu:  # another machine
        view[:] = 2
        assert (view == 2).all()
    driver = ctypes.CDLL("libcuda.so.1")
    extent = driver.fake_extent
    extent.restype, extent.argtypes = ctypes.c_size_t, [ctypes.c_uint64, ctypes.c_int]
    assert extent(address, -1) >= 20
    del view
    gc.collect()
    assert extent(address, -1) == 0


def test_the_host_must_not_touch_the_memory() -> None:
    code = (
        "import ctypes, numpy as np; from ffi_builder import testing\n"
        "with testing.FakeCuda() as gpu: ctypes.string_at(gpu.array(np.ones(3)).address, 1)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode < 0


# ---- results and Workspaces

RETURNING = spec.Signature.parse(
    "scale(x: Tensor([n, 2], float32, intent=in), a: float32) -> y: Tensor([n, 2], float32) "
    "where n: int32",
    device="cuda",
)


def returning() -> Callable[..., Any]:
    launch = Launch(grid="ceildiv(n, 64)", block=128)
    args: list[Any] = ["x", "y", "a", spec.Var("n", "int32") * 2]
    return wrap(make_cubin([IMAGE]), RETURNING, launch=launch, args=args)["scale"]


def test_results(gpu: testing.FakeCuda) -> None:
    function = returning()
    x = gpu.array(np.arange(6, dtype="float32").reshape(3, 2))
    y = function(x, 2.0)
    assert (gpu.array(y).numpy().view("uint8") == 0xCB).all()  # what nobody has written
    gpu.kernel("scale", TYPES)(right)
    y = function(x, 2.0)
    assert (gpu.array(y).numpy() == 2 * x.numpy()).all()
    testing.check_kernel(function, RETURNING, lambda x, a: a * x, dims={"n": 5})
    gpu.kernel("scale", TYPES)(forgets_the_factor)
    with pytest.raises(testing.KernelError, match=r"expected .* for y\[0, 0\] but got"):
        testing.check_kernel(function, RETURNING, lambda x, a: a * x)


def test_the_allocator_ends_with_the_block() -> None:
    function = returning()
    with testing.FakeCuda() as gpu:
        x = gpu.array(np.ones((3, 2), "float32"))
        y = function(x, 2.0)
    with pytest.raises(RuntimeError, match="There is no allocator for the result y"):
        function(x, 2.0)
    del y


# ---- arguments


def test_make_args(gpu: testing.FakeCuda) -> None:
    x, y, a = testing.make_args(SCALE, {"n": 7})
    assert isinstance(x, testing.FakeArray)
    assert (x.shape, x.numpy().sum(), a) == ((7,), 0, 0.5)
    assert x.address % 64 == 0
    testing.check(SCALE, x, y, a)
    x, y, a = testing.make_args(SCALE, framework="tvm_ffi")
    assert isinstance(x, tvm_ffi.Tensor)
    testing.check(SCALE, x, y, a)
    with pytest.raises(ValueError, match="x is on a fake device, where torch has no tensors"):
        testing.make_args(SCALE, framework="torch")
    assert gpu.launches == []


def test_make_args_on_both_kinds_of_devices(gpu: testing.FakeCuda) -> None:
    signature = "f(x: Tensor([n], float32, device_type=cuda), y: Tensor([n], float32))"
    x, y = testing.make_args(spec.Signature.parse(signature, device="cpu"))
    assert isinstance(x, testing.FakeArray)
    assert isinstance(y, np.ndarray)
    on_rocm = spec.Signature.parse("f(x: Tensor([n], float32))", device="rocm")
    with pytest.raises(ValueError, match=r"is on rocm, and make_args makes CPU arrays only"):
        testing.make_args(on_rocm)
    assert gpu.launches == []


def test_make_args_on_devices_that_there_are() -> None:
    signature = spec.Signature.parse(
        "f(x: Tensor([n], float32, device_id=d)) where d: int32", device="cuda"
    )
    with testing.FakeCuda("sm_80", "sm_80"):
        [x] = testing.make_args(signature, {"d": 1})
        assert x.device == 1
        with pytest.raises(ValueError, match=r"x.device_id = d with d = 2 is 2, and must be"):
            testing.make_args(signature, {"d": 2})


def test_a_right_kernel(gpu: testing.FakeCuda, scale: tvm_ffi.Function) -> None:
    gpu.kernel("scale", TYPES)(right)
    testing.check_kernel(scale, SCALE, reference)
    testing.check_kernel(scale, SCALE, reference, framework="tvm_ffi", examples=5)
    testing.check_intents(scale, SCALE)
    given = [gpu.array(np.ones(9, "float32"))[::1] for _ in "xy"]
    testing.check_intents(scale, SCALE, [*given, 2.0])
    assert (given[1].numpy() == 1).all()


def changes_x(_launch: Any, x: Any, y: Any, a: float, n: int) -> None:
    y[:n] = x[:n] = a * x[:n]


def forgets_the_last(_launch: Any, x: Any, y: Any, a: float, n: int) -> None:
    y[: n - 1] = a * x[: n - 1]


def writes_past_the_end(_launch: Any, x: Any, y: Any, a: float, n: int) -> None:
    y[: n + 1] = a * x[: n + 1]


def reads_past_the_end(_launch: Any, x: Any, y: Any, a: float, n: int) -> None:
    y[:n] = a * x[:n] + 0 * x[n]


def adds_to_y(_launch: Any, x: Any, y: Any, a: float, n: int) -> None:
    y[:n] += a * x[:n]


def forgets_the_factor(_launch: Any, x: Any, y: Any, _a: float, n: int) -> None:
    y[:n] = x[:n]


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (changes_x, "x is declared intent='in', but the call changes x[0]"),
        (forgets_the_last, "y is declared intent='out', but the call does not write y[0]"),
        (writes_past_the_end, "the call writes outside of the elements of y: byte 4"),
        (reads_past_the_end, "bytes outside of the elements of x: the kernel reads beyond them"),
        (adds_to_y, "what y held before the call, but y is declared intent='out'"),
        (forgets_the_factor, "expected 0.0 for y[0] but got 1.0"),
        (fails, "the call raises IndexError: my mistake"),
    ],
)
def test_a_wrong_kernel(
    gpu: testing.FakeCuda, scale: tvm_ffi.Function, kernel: Callable[..., None], words: str
) -> None:
    gpu.kernel("scale", TYPES)(kernel)
    with pytest.raises(testing.KernelError) as error:
        testing.check_kernel(scale, SCALE, reference)
    assert words in str(error.value)


def test_elements_are_prepared_in_numpy(gpu: testing.FakeCuda, scale: tvm_ffi.Function) -> None:
    gpu.kernel("scale", TYPES)(right)
    seen: list[bool] = []

    def positive(x: Any, _y: Any, _a: float) -> None:
        x.numpy()[:] = np.abs(x.numpy())

    def checked(x: Any, y: Any, a: float) -> Any:
        seen.append(bool((x >= 0).all()))
        return reference(x, y, a)

    testing.check_kernel(scale, SCALE, checked, prepare=positive, examples=20)
    assert seen == [True] * 20


# ---- where it cannot be built, or not be used


def in_a_process(code: str, **environment: str) -> str:
    """The last line that a process prints on stderr for code in the block of a FakeCuda."""
    code += "\nfrom ffi_builder import testing\nwith testing.FakeCuda(): pass"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return (done.stderr.splitlines() or [""])[-1]


def test_it_is_built_where_there_is_no_cache(tmp_path: Path) -> None:
    assert in_a_process("", XDG_CACHE_HOME=str(tmp_path)) == ""
    [built] = tmp_path.rglob("libcuda.so.1")
    assert [*built.parent.iterdir()] == [built]
    assert built.parent.parent.name == "ffi_builder"
    (tmp_path / "file").touch()
    assert in_a_process("", XDG_CACHE_HOME=str(tmp_path / "file")) == ""


NOT_BUILT: list[tuple[str, dict[str, str], str]] = [
    # code, variables of the environment, and the error
    ("", {"CC": "no-cc"}, "FileNotFoundError: FakeCuda: needs a C compiler to build the driver, and there is no 'no-cc'; install one, such as gcc or clang, or set CC"),
    ("", {"CC": "false"}, "RuntimeError: FakeCuda: building the driver fails: ['false', "),
    ("from ffi_builder.fakecuda import build\nbuild.headers = lambda: None", {}, "ModuleNotFoundError: FakeCuda: needs cuda.h to build the driver: install nvidia-cuda-runtime, as the extra ffi_builder[cuda-testing] does: pip install -e '.[cuda-testing]' in a clone"),
    ("import sys\nsys.platform = 'darwin'", {}, "OSError: FakeCuda: needs Linux, and this is darwin"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "variables", "words"), NOT_BUILT)
def test_where_it_cannot_be_built(
    code: str, variables: dict[str, str], words: str, tmp_path: Path
) -> None:
    found = in_a_process(code, XDG_CACHE_HOME=str(tmp_path), **variables)
    assert found.startswith(words)
    assert not [*tmp_path.rglob("*.so.1")]


def test_a_process_with_a_real_driver(tmp_path: Path) -> None:
    (tmp_path / "real.c").write_text("int cuInit(unsigned flags) { return (int)flags; }\n")
    real = tmp_path / "libcuda.so.1"
    compile_c(tmp_path / "real.c", "-shared", "-Wl,-soname,libcuda.so.1", "-o", real)
    found = in_a_process(f"import ctypes; ctypes.CDLL({str(real)!r})")
    assert found == (
        f"RuntimeError: FakeCuda: this process has loaded another libcuda.so.1 already ({real}), "
        f"which cannot be replaced; use FakeCuda before anything initializes CUDA, or in a process "
        f"of its own"
    )


def test_a_launch_outside_of_the_block_fails() -> None:
    """A test that has forgotten the block does not pass because another one has used it."""
    function = compiled()["scale"]
    with testing.FakeCuda("sm_80") as gpu:
        x, y = ones(gpu)
        function(x, y, 2)
    with pytest.raises(RuntimeError, match=r"CUDA_ERROR_NO_DEVICE .* for kernel 'scale'"):
        function(x, y, 2)
    with testing.FakeCuda("sm_80") as gpu:
        function(*ones(gpu), 2)
        assert len(gpu.launches) == 1


def test_a_misspelt_kernel() -> None:
    function = compiled()["scale"]

    def launch(*names: str) -> None:
        with testing.FakeCuda("sm_80") as gpu:
            for name in names:
                gpu.kernel(name, TYPES)(lambda launch, *values: None)
            function(*ones(gpu), 2)

    launch("scale")
    launch("matmul")  # is for another test
    launch("scale", "scale2")
    with pytest.raises(AssertionError, match="FakeCuda: no 'scle' was launched, did you mean 'sc"):
        launch("scle")
