"""examples/cute_dsl with CuTe DSL itself: `make test-cute`."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
# No future annotations: CuTe DSL reads those of a dataclass as they stand.
import dataclasses
import importlib
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import runtime
from tests.examples.cute import CC, FOLDER, NEEDS_CC, STUB, hook
from tests.examples.running import differences, run, sections
from tests.support.wrapping import set_stream

pytest.importorskip("cutlass", reason="needs nvidia-cutlass-dsl: `make test-cute`")

import cutlass
import numpy as np
from cutlass import cute
from cutlass.cute import runtime as fakes

pytestmark = NEEDS_CC

VECTOR = "Tensor([n0], float32, strides=[1])"
SCALE = f"scale(x: {VECTOR}, y: {VECTOR}, factor: float32)"
BLOCK = (
    "block(x: Tensor([n0, n1], int32, strides=[n1, 1]), size: Shape([n2, n3]), start: int32, "
    "stream: Stream)"
)
COMBINE = (
    f"combine(inputs: Tuple(inputs_0: Tuple(inputs_0_0: {VECTOR}, inputs_0_1: {VECTOR}), "
    f"inputs_1: float32), out: {VECTOR})"
)
WRONG_CALLS = [
    f"ValueError: Mismatched y.shape[0] on argument #1 when calling: `{SCALE}`, "
    "expected 5 (n0 = x.shape[0]) but got 4",
    "ValueError: Mismatched x.ndim on argument #0 when calling: `row_sums(x: Tensor([n0, n1], "
    f"float32, strides=[s0, s1]), sums: {VECTOR})`, expected 2 but got 1",
    "ValueError: Mismatched x.shape[0] on argument #0 when calling: `transpose(x: Tensor([3, 5], "
    "float64, strides=[5, 1]), y: Tensor([5, 3], float64, strides=[3, 1]))`, expected 3 but got 5",
    f"TypeError: Mismatched type of inputs[0][1] on argument #0 when calling: `{COMBINE}`, "
    "expected Tensor but got str",
    f"ValueError: Mismatched x.shape[1] on argument #0 when calling: `{BLOCK}`, "
    "expected a multiple of 4 (divisibility of n1) but got 2",
    f"ValueError: Mismatched x.strides[0] on argument #0 when calling: `{BLOCK}`, "
    "expected 4 (n1 = x.shape[1]) but got 8 (shape=[2, 4], strides=[8, 1])",
    f"ValueError: Mismatched start on argument #2 when calling: `{BLOCK}`, "
    "expected a value that fits int32 (-2147483648 to 2147483647) but got 2147483648",
]


def test_host_functions(tmp_path: Path):
    printed = sections(run("cute_dsl/host.py", str(tmp_path)))
    for heading, count in (("Called", 7), ("Compiled by ffi_builder", 7), ("Exported", 1)):
        found = differences(printed[heading])
        assert len(found) == count, printed[heading]
        assert max(found) < 1e-5
    assert printed["Called wrongly"].strip().splitlines() == WRONG_CALLS
    assert b"libtvm_ffi.so" in (tmp_path / "scale.so").read_bytes()
    assert b"libcute_dsl_runtime" not in (tmp_path / "scale.so").read_bytes()


def example(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module(name)


def test_gpu_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    lines = run("cute_dsl/gpu.py", str(tmp_path)).splitlines()
    for name, (called, wrong) in zip(("compiled", "exported"), (lines[:2], lines[2:]), strict=True):
        if example("on_gpu", monkeypatch).HAS_GPU:
            [difference] = differences(called)
            assert difference < 1e-5
        else:
            assert re.match(rf"{name}: RuntimeError: .*\bcudaError[A-Z]\w+", called)
        assert wrong == (
            f"{name}: ValueError: Mismatched y.shape[0] on argument #1 when calling: `{SCALE}`, "
            "expected 1000 (n0 = x.shape[0]) but got 999"
        )


def test_what_a_gpu_function_launches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The exported object, linked with a stub in the place of CUDA."""
    import ctypes

    gpu = example("gpu", monkeypatch)
    gpu.compile_scale().export_to_c(str(tmp_path / "scale.o"), function_name="scale")
    command = [CC, "-shared", "-fPIC", "-Wl,-Bsymbolic", "-o", tmp_path / "scale.so", STUB]
    ffi = importlib.import_module("tvm_ffi.libinfo").find_libtvm_ffi()
    subprocess.run([*command, tmp_path / "scale.o", ffi], check=True)
    log = ctypes.create_string_buffer(4096)
    ctypes.CDLL(str(tmp_path / "scale.so")).stub_log(log)
    x = gpu.OnGpu(np.zeros(1000, "float32"))
    set_stream("cuda", 0, 119)
    runtime.load(tmp_path / "scale.so")["scale"](x, x, 2)
    set_stream("cuda", 0, 0)
    assert log.value.decode().splitlines() == [
        "load",
        "device 0",
        "launch 8 of 128 on stream 119, device 0",
        "device 0",
    ]


HOST = {"memspace": cutlass.AddressSpace.generic}


@dataclasses.dataclass
class Config:
    x: cute.Tensor
    k: cutlass.Int32
    mode: cutlass.Constexpr[int] = 3


@cute.jit
def kinds(
    cfg: Config,
    bias: cute.Tensor | None,
    out: cute.Tensor,
    n0: cutlass.Int64,
    flag: cutlass.Boolean,
    wide: cutlass.Float64,
    byte: cutlass.Uint8,
    data: cute.Pointer,
):
    out[0] = cutlass.Float64(cfg.x[1]) + cfg.k * 10
    out[1] = cutlass.Float64(n0)
    out[2] = wide if flag else cutlass.Float64(byte)


def compiled(function: Any, *arguments: Any) -> Any:
    with hook.ffi_builder_wrappers():
        return cute.compile(function, *arguments, options="--enable-tvm-ffi")


def test_other_parameters():
    x = fakes.make_fake_compact_tensor(cutlass.Float16, (cute.sym_int(),), **HOST)
    out = fakes.make_fake_compact_tensor(cutlass.Float64, (3,), **HOST)
    pointer = fakes.make_ptr(cutlass.Float32, 16, mem_space=cutlass.AddressSpace.gmem)
    numbers = (cutlass.Int64(0), cutlass.Boolean(True), cutlass.Float64(0), cutlass.Uint8(0))
    f = compiled(kinds, Config(x, cutlass.Int32(0)), None, out, *numbers, pointer)
    given, result = np.array([0, 0.5], "float16"), np.zeros(3)
    f((given, -4, 3), None, result, 2**40, True, 1.25, 200, 0)
    assert result.tolist() == [-39.5, 2.0**40, 1.25]
    f((given, 1, 3), None, result, -1, False, 1.25, 200, None)
    assert result.tolist() == [10.5, -1, 200]
    with pytest.raises(ValueError, match=r"^Mismatched cfg\.mode on argument #0 .* expected 3 but"):
        f((given, 1, 4), None, result, 0, True, 1, 0, 0)
    with pytest.raises(
        TypeError, match=r"^Mismatched type of bias on argument #1 .* expected None"
    ):
        f((given, 1, 3), given, result, 0, True, 1, 0, 0)


@cute.jit
def sizes(packed: cute.Tensor, plain: cute.Tensor, out: cute.Tensor):
    for i in cutlass.range_constexpr(2):
        out[i] = cutlass.Int64(packed.shape[i])
        out[2 + i] = cutlass.Int64(packed.stride[i])


def test_4_bit_floats_are_seen_one_by_one():
    tvm_ffi = importlib.import_module("tvm_ffi")
    n, k = cute.sym_int(), cute.sym_int(divisibility=32)
    arguments = [
        fakes.make_fake_compact_tensor(dtype, (n, k), stride_order=(1, 0), **HOST)
        for dtype in (cutlass.Float4E2M1FN, cutlass.Float16)
    ]
    out = fakes.make_fake_compact_tensor(cutlass.Int64, (4,), **HOST)
    f = compiled(sizes, *arguments, out)
    packed = tvm_ffi.from_dlpack(Packed(np.zeros((3, 32), "uint8")))
    result = np.zeros(4, "int64")
    f(packed, np.zeros((3, 64), "float16"), result)
    assert result.tolist() == [3, 64, 64, 1]
    with pytest.raises(ValueError, match=r"expected 64 \(n1 = packed.shape\[1\]\) but got 32"):
        f(packed, np.zeros((3, 32), "float16"), result)


class Packed:
    """A uint8 array whose elements are called pairs of 4-bit floats."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **_: object) -> Any:
        import ctypes

        capsule = self.array.__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        dtype = ctypes.c_uint8.from_address(pointer(capsule, b"dltensor") + 20)
        ctypes.memmove(ctypes.addressof(dtype), bytes([17, 4, 2, 0]), 4)
        return capsule


@cute.jit
def tf32(x: cutlass.TFloat32):
    pass


def test_what_the_hook_does_not_know_is_said_when_compiling():
    with pytest.raises(Exception, match="which this hook does not know"):
        compiled(tf32, cutlass.TFloat32(1))


def test_their_own_function_is_put_back():
    theirs = importlib.import_module("cutlass.base_dsl.tvm_ffi_builder")
    before = theirs.attach_ffi_func
    with hook.ffi_builder_wrappers():
        assert theirs.attach_ffi_func is hook.attach
    assert theirs.attach_ffi_func is before
