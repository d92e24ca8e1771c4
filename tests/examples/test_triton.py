# pyright: basic, reportMissingImports=false
"""examples/triton_aot.py with Triton itself (`make test-cuda`), and the library that it writes."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from ffi_builder import cuda
from tests.examples.running import EXAMPLES, ROOT, differences, run
from tests.fakecuda import environment, library, missing

pytest.importorskip("triton", reason="needs triton: `make test-cuda` installs it")

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

SHOWN: Final = (
    "softmax(x: Tensor([rows, cols], float32, strides=[x_pitch, 1]), "
    "y: Tensor([rows, cols], float32, strides=[y_pitch, 1]))"
)
TOO_WIDE: Final = (
    f"ValueError: Mismatched x.shape[1] on argument #0 when calling: `{SHOWN}`, "
    "expected at most 1024 (max of cols) but got 2048"
)

WITHOUT_TRITON: Final = """
import json, sys
sys.modules["triton"] = None
import numpy as np
from ffi_builder import runtime
from tests.fakecuda import FakeDriver, device_array
from tests.fakecuda.memory import tensor_at
from tests.cuda.gpu.emulation import emulate, softmax

driver = FakeDriver("libcuda.so.1")
emulate(driver)
function = runtime.load(sys.argv[1])["softmax"]
values = np.random.default_rng(0).standard_normal((3, 1008), "float32")
x, y = device_array(driver, values), device_array(driver, np.zeros((3, 512), "float32"))
driver.clear_log()
given = [tensor_at(a.address, (3, 500), "float32", 0, [a.shape[1], 1]) for a in (x, y)]
function(*given)
np.testing.assert_allclose(y.host[:, :500], softmax(values[:, :500]), rtol=1e-6)
assert not y.host[:, 500:].any()
assert driver.violations() == []
(launch,) = driver.launches()
found = {"addresses": [x.address, y.address], "grid": launch.grid, "block": launch.block}
found |= {"shared": launch.shared, "bytes": [each.hex() for each in launch.arguments]}
found["refused"] = []
for more, strides in (4, [1008, 1]), (0, [1000, 1]), (0, [1, 1008]):
    try:
        function(tensor_at(x.address + more, (3, 500), "float32", 0, strides), given[1])
    except ValueError as error:
        expected, _, _ = str(error).partition("`, ")[2].partition(" but got ")
        found["refused"].append(expected)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The library, and what the example printed."""
    path = tmp_path_factory.mktemp("triton") / "softmax.so"
    return path, run("triton_aot.py", str(path))


def test_what_it_prints_where_it_is(written: tuple[Path, str]):
    kernel, where, refused, called = written[1].splitlines()
    assert kernel.startswith(
        "softmax(8 bytes, 8 bytes, 8 bytes, 8 bytes, 4 bytes, 8 bytes, 8 bytes)"
    )
    assert refused == TOO_WIDE
    if where.startswith("called on no GPU: "):
        assert called.startswith(
            "RuntimeError: libcuda.so.1 could not be loaded to launch kernel 'softmax': "
        )
    else:
        assert where.startswith("called on a GPU, sm_")
        assert differences(called)[0] < 1e-6


def test_it_computes_on_the_fake_driver(tmp_path: Path):
    lines = run("triton_aot.py", "--fake", str(tmp_path / "softmax.so")).splitlines()
    assert lines[1:3] == ["called on the fake driver, sm_90", TOO_WIDE]
    assert differences(lines[3])[0] < 1e-6


def test_the_library_launches_as_triton_does_and_needs_no_triton(written: tuple[Path, str]):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT_TRITON, str(written[0])],
        cwd=ROOT,
        env=environment(library()),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    refused = [
        "expected an address aligned to 16 bytes (data_alignment of x)",
        *["expected a multiple of 16 (divisibility of x_pitch)"] * 2,
    ]
    pointers = [struct.pack("<Q", address).hex() for address in found.pop("addresses")]
    pitches = [struct.pack("<q", pitch).hex() for pitch in (1008, 512)]
    scratch = [bytes(8).hex()] * 2
    assert found == {
        "grid": [3, 1, 1],
        "block": [128, 1, 1],
        "shared": 16,
        "bytes": [*pointers, *pitches, struct.pack("<i", 500).hex(), *scratch],
        "refused": refused,
    }


def test_triton_makes_what_is_saved_for_gpus_without_it():
    """This version makes the same kernel; kernels of others may be launched differently."""
    from tests.cuda.gpu.triton.case import CUBIN, LAUNCH
    from tests.cuda.gpu.triton.make import compile_softmax

    cubin, launch = compile_softmax()
    kernels = [cuda.kernels(each).kernels["softmax"] for each in (cubin, CUBIN)]
    assert kernels[0].parameters == kernels[1].parameters
    assert launch.pop("triton_version")
    assert launch == {name: value for name, value in LAUNCH.items() if name != "triton_version"}


def test_triton_makes_what_the_example_without_a_gpu_has_saved(tmp_path: Path):
    run("ci_without_gpu/triton_kernel.py", str(tmp_path))
    folders = (tmp_path, EXAMPLES / "ci_without_gpu")
    made, saved = (cuda.kernels((folder / "axpy.ptx").read_bytes()) for folder in folders)
    assert made.kernels["axpy"].parameters == saved.kernels["axpy"].parameters
    made, saved = (json.loads((folder / "axpy.json").read_text()) for folder in folders)
    assert made == saved


def test_the_signature_that_triton_knows():
    types = {"x": "*bf16", "SIZE": "constexpr", "y": "*fp32", "n": "i32", "m": "u64", "b": "i1"}
    promises = {(0,): [["tt.divisibility", 16]], (3,): [["tt.divisibility", 16]]}
    source = ASTSource(copy_some, types, {(1,): 32}, promises)
    options = {"num_warps": 4, "enable_fp_fusion": True}
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
    known = cuda.triton_signature(compiled)
    assert known == cuda.triton_signature(source)
    assert str(known) == (
        "copy_some(x: Tensor(..., bfloat16, strides=any, device_type=cuda, data_alignment=16), "
        "y: Tensor(..., float32, strides=any, device_type=cuda), n: int32, m: uint64, b: bool) "
        "where n % 16 == 0"
    )
    kernel = cuda.kernels(compiled.asm["cubin"]).kernels["copy_some"]
    # Triton appends two pointers to scratch memory.
    assert [parameter.size for parameter in kernel.parameters or ()] == [8, 8, 4, 8, 1, 8, 8]


@triton.jit
def copy_some(x, SIZE: tl.constexpr, y, n, m, b):  # type: ignore
    at = tl.arange(0, SIZE)
    tl.store(y + at, tl.load(x + at, mask=at < n + m, other=0) + b, mask=at < n)
