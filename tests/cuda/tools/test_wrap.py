"""``wrap`` of an image: a function that launches a kernel."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, Launch, SpecError, cuda, runtime, spec, wrap
from ffi_builder.providers import CudaLaunchCallProvider
from tests.cuda.images.images import IMAGES, image
from tests.cuda.tools.tools import LLVM_IR, SAXPY, SCALE, needs_nvjitlink, needs_nvrtc
from tests.fakecuda import FakeDriver, Running, device_array, environment, missing, no_driver
from tests.runtime.samples import run_child

ROOT: Final = Path(__file__).parents[3]
n = spec.Var("n", "int32")
a = spec.Var("a", "float32")
x = spec.Tensor("x", [n], "float32", device_type="cuda")
y = spec.Tensor("y", [n], "float32", device_type="cuda")
SIGNATURE = spec.Signature("axpy", [a, x, y])
LAUNCH: dict[str, Any] = {"grid": spec.ceildiv(n, 256), "block": 256, "args": [a, x, y, n]}
IMAGE = image("cuda13-sm_90.cubin")
COMPILING = {"args", "cache_dir", "opt_level"}


def wrap_image(image: Any, kernel: Any, signature: Any, **options: Any) -> runtime.CompiledModule:
    """Call ``wrap`` with the options of a launch in a Launch."""
    launch = Launch(**{name: value for name, value in options.items() if name not in COMPILING})
    others = {name: value for name, value in options.items() if name in COMPILING}
    return wrap(image, signature, function=kernel, launch=launch, **others)


def run_on_the_fake(driver: FakeDriver, compiled: Any) -> None:
    """Call it with 1000 elements, and look at what the kernel got, and at the result."""

    def saxpy(running: Running) -> None:
        factor, source, target, count = running.values(["float32", "handle", "handle", "int32"])
        to = running.memory(target, count, "float32")
        to += running.memory(source, count, "float32") * factor

    driver.kernel("saxpy", saxpy)
    source = device_array(driver, np.arange(1000, dtype="float32"))
    target = device_array(driver, np.ones(1000, "float32"))
    compiled["axpy"](2.0, source.tensor(), target.tensor())
    (launch,) = driver.launches()
    assert (launch.kernel, launch.grid, launch.block) == ("saxpy", (4, 1, 1), (256, 1, 1))
    np.testing.assert_array_equal(target.host, 2 * source.host + 1)


@pytest.mark.parametrize("name", ["cuda13-sm_90.cubin", "cuda12-sm_90a.ptx", "none.fatbin"])
def test_each_kind_of_image(driver: FakeDriver, name: str):
    run_on_the_fake(driver, wrap_image(image(name), "saxpy", SIGNATURE, **LAUNCH))


def test_ptx_as_text(driver: FakeDriver):
    text = (IMAGES / "cuda12-sm_90a.ptx").read_text().rstrip("\0")
    run_on_the_fake(driver, wrap_image(text, "saxpy", SIGNATURE, **LAUNCH))


COMPILE = """
import sys
from ffi_builder import cuda
sys.stdout.buffer.write(cuda.compile_cuda(sys.argv[1], arch="sm_90"))
"""


@needs_nvrtc
def test_cuda_cpp(driver: FakeDriver):
    # In a process without the fake driver: NVRTC looks whether there is a driver, and uses it.
    cubin = subprocess.run(
        [sys.executable, "-c", COMPILE, SAXPY],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=120,
    ).stdout
    run_on_the_fake(driver, wrap_image(cubin, "saxpy", SIGNATURE, **LAUNCH))


def scaled(driver: FakeDriver, kernel_image: str | bytes) -> None:
    def scale(running: Running) -> None:
        address, count, factor = running.values(["handle", "int32", "float32"])
        memory = running.memory(address, count, "float32")
        memory *= factor

    driver.kernel("scale", scale)
    signature = spec.Signature("scale", [x, a])
    compiled = wrap_image(
        kernel_image, "scale", signature, grid=spec.ceildiv(n, 256), block=256, args=[x, n, a]
    )
    data = device_array(driver, np.arange(300, dtype="float32"))
    compiled["scale"](data.tensor(), 0.5)
    np.testing.assert_array_equal(data.host, np.arange(300) / 2)


def test_mlir_to_ptx(driver: FakeDriver):
    scaled(driver, cuda.lower_to_ptx(SCALE, arch="sm_90"))


@needs_nvjitlink
def test_mlir_to_a_cubin(driver: FakeDriver):
    scaled(driver, cuda.assemble(cuda.lower_to_ptx(SCALE, arch="sm_90"), arch="sm_90"))


def test_wrong_arguments_launch_nothing(driver: FakeDriver):
    axpy = wrap_image(IMAGE, "saxpy", SIGNATURE, **LAUNCH)["axpy"]
    short = device_array(driver, np.zeros(3, "float32")).tensor()
    longer = device_array(driver, np.zeros(4, "float32")).tensor()
    with pytest.raises(ValueError, match=r"Mismatched y.shape\[0\] on argument #2"):
        axpy(1.0, short, longer)
    assert driver.calls() == []


def test_every_option_of_the_launch_arrives(driver: FakeDriver):
    streams = [spec.Stream("s"), spec.Stream("other")]
    signature = spec.Signature("go", [spec.DataPointer("x"), *streams, n])
    compiled = wrap_image(
        image("cuda13-sm_90a.cubin"),
        "ranked",
        signature,
        grid=(n, 2),
        block=(32, 2),
        args=["x"],
        cluster=(1, 2),
        dynamic_smem_bytes=n * 4,
        attributes=["cooperative"],
        stream="s",
    )
    handle = driver.new_stream()
    compiled["go"](0, handle, driver.new_stream(), 6)
    (launch,) = driver.launches()
    assert (launch.grid, launch.block, launch.cluster) == ((6, 2, 1), (32, 2, 1), (1, 2, 1))
    assert (launch.shared, launch.stream) == (24, handle)
    assert len(launch.attributes) == 2


def test_its_options_are_the_providers() -> None:
    """With the same defaults, so that what one takes the other does."""
    mine = inspect.signature(Launch).parameters
    theirs = dict(inspect.signature(CudaLaunchCallProvider).parameters)
    for name in ("image", "kernel", "args"):
        del theirs[name]
    assert list(mine) == list(theirs)
    for name in {*mine} - {"block"}:  # which a kernel of Triton's says itself
        assert mine[name].default == theirs[name].default


def test_an_exported_library_has_the_image_inside(driver: FakeDriver, tmp_path: Path):
    compiled = wrap_image(IMAGE, "saxpy", SIGNATURE, **LAUNCH)
    compiled.export_library(tmp_path / "axpy.so")
    del compiled
    run_on_the_fake(driver, runtime.load(tmp_path / "axpy.so"))


def test_a_cache_keeps_the_code(tmp_path: Path):
    for _ in range(2):
        wrap_image(IMAGE, "saxpy", SIGNATURE, **LAUNCH, cache_dir=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    wrap_image(IMAGE, "saxpy", SIGNATURE, **LAUNCH, cache_dir=tmp_path, opt_level=0)
    assert len(list(tmp_path.iterdir())) == 2


WITHOUT = f"""
from ffi_builder import Launch, wrap
image = {str(IMAGES / "cuda13-sm_90a.cubin")!r}
compiled = wrap(image, "go()", function="nothing", launch=Launch(grid=1, block=1))
try:
    compiled["go"]()
except RuntimeError as error:
    print(error)
"""


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_without_a_driver_it_compiles_and_a_call_says_what_is_missing():
    done = run_child(WITHOUT, env=environment(no_driver()))
    assert "libcuda.so.1" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"kernel": "saxpi"}, SpecError, "No kernel 'saxpi' .* did you mean 'saxpy'"),
        ({"kernel": 3}, TypeError, r"wrap: function= is a name, but got 3"),
        ({"image": IMAGE[:100]}, SpecError, "The cubin is truncated or damaged"),
        ({"image": SAXPY}, SpecError, "but it is CUDA C++; ffi_builder.cuda.compile_cuda makes"),
        ({"image": LLVM_IR}, SpecError, "but it is LLVM IR; ffi_builder.cuda.lower_to_ptx makes"),
        ({"image": None}, TypeError, "wrap: expected MLIR, LLVM IR, .* but got NoneType"),
        ({"args": [x, y]}, BuildError, r"the kernel 'saxpy' takes \(.*\), but the arguments of 'axpy'"),
        ({"args": [a, x]}, BuildError, r"the kernel 'saxpy' takes \(.*\), but the arguments of 'axpy'"),
        ({"args": None}, BuildError, r"the kernel 'saxpy' takes \(.*\), but the arguments of 'axpy'"),
        ({"block": 2048}, SpecError, "block.x: expected 1 to 1024 but got 2048"),
        ({"grid": spec.Var("q", "int32")}, BuildError, "q"),
        ({"signature": [a, x, y]}, SpecError, r"expected a Signature but got .*spec.Signature\(name, p"),
        ({"signature": None}, SpecError, "wrap: expected a Signature but got None$"),
        ({"opt_level": 7}, ValueError, "Expected opt_level 0, 1, 2 or 3, but got 7"),
    ],
)  # fmt: skip
def test_mistakes(changed: dict[str, Any], error: type[Exception], words: str):
    given: dict[str, Any] = {"image": IMAGE, "kernel": "saxpy", "signature": SIGNATURE}
    given |= LAUNCH | changed
    with pytest.raises(error, match=words.replace("C++", r"C\+\+")):
        wrap_image(**given)
