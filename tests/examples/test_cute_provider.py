"""examples/cute_dsl: the call of a GPU entry, with a stub in the place of CUDA."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import types
from pathlib import Path
from typing import Any, Final

import pytest

from ffi_builder import attach_ffi_func, runtime, spec
from ffi_builder.providers import DirectCallProvider
from ffi_builder.spec import DataPointer, Tensor, TupleParam, Var
from tests.differential.description import DLTensor, Value, array, of_int, of_pointer, tensor
from tests.examples.cute import CC, NEEDS_CC, STUB, hook, provider
from tests.support.wrapping import RawWrapper, new_module, wrap

pytestmark = NEEDS_CC

LOAD, GET_DEVICE, SET_DEVICE = 1, 2, 3
"""Steps of cuda_stub.c that can be made to fail."""

GPU_CODE: Final = """
llvm.func @stub_note(i32)
llvm.func @stub_status(i32) -> i32
llvm.func @cuda_init(%libraries: !llvm.ptr) -> i32 {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}
llvm.func @cuda_load_to_device(%library: !llvm.ptr, %device: i32) -> i32 {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}
llvm.func @entry(%x: !llvm.struct<(ptr<1>, struct<(i32, struct<()>)>)>, %code: i32) -> i32 {
  llvm.call @stub_note(%code) : (i32) -> ()
  llvm.return %code : i32
}
llvm.func @no_tensors(%p: !llvm.ptr<1>, %code: i32) -> i32 {
  llvm.call @stub_note(%code) : (i32) -> ()
  llvm.return %code : i32
}
"""
CODE: Final = Var("code", "int32")
X: Final = Tensor("x", [Var("n", "int32")], "float32", device_type="cuda", strides=[1])
SHOWN: Final = "`f(x: Tensor([n], float32, strides=[1]), code: int32)`"


class Stubbed:
    """A module with the entries above, two wrappers of the first and one of the other."""

    def __init__(self, folder: Path) -> None:
        subprocess.run([CC, "-O1", "-fPIC", "-c", STUB, "-o", folder / "stub.o"], check=True)
        module = new_module(GPU_CODE)
        attach_ffi_func(module, "f", [X, CODE], provider.CuteCallProvider("entry"))
        within: list[spec.Param] = [TupleParam("t", [X, CODE])]
        attach_ffi_func(module, "within", within, provider.CuteCallProvider("entry"))
        pointer = [DataPointer("p", address_space=1), CODE]
        attach_ffi_func(module, "no_tensors", pointer, provider.CuteCallProvider("no_tensors"))
        attach_ffi_func(module, "log", [DataPointer("p")], DirectCallProvider("stub_log"))
        attach_ffi_func(module, "fail", [CODE], DirectCallProvider("stub_fail"))
        self.compiled = runtime.compile(module, link=[folder / "stub.o"])
        self.buffer = ctypes.create_string_buffer(4096)
        self.compiled["log"](ctypes.addressof(self.buffer))

    def call(self, *arguments: Value, name: str = "f") -> tuple[str, str] | None:
        return RawWrapper(self.compiled, name)(*arguments)

    def log(self) -> list[str]:
        """Return the events since the last call of this."""
        lines = self.buffer.value.decode().splitlines()
        self.compiled["log"](ctypes.addressof(self.buffer))
        return lines


@pytest.fixture
def stubbed(tmp_path: Path) -> Stubbed:
    return Stubbed(tmp_path)


def on_device(number: int) -> Value:
    return tensor(DLTensor((5,), None, 0x1000, device_type=2, device_id=number))


def test_the_gpu_code_is_loaded_once_a_module(stubbed: Stubbed):
    assert stubbed.call(on_device(0), of_int(0)) is None
    assert stubbed.log() == ["load", "device 0", "entry 0 on device 0", "device 0"]
    assert stubbed.call(on_device(0), of_int(0)) is None
    assert stubbed.call(array(on_device(0), of_int(0)), name="within") is None
    assert stubbed.call(of_pointer(0x10), of_int(0), name="no_tensors") is None
    assert "load" not in stubbed.log()


def test_the_call_is_made_on_the_device_of_the_tensor(stubbed: Stubbed):
    assert stubbed.call(on_device(3), of_int(0)) is None
    assert stubbed.log() == ["load", "device 3", "entry 0 on device 3", "device 0"]
    assert stubbed.call(array(on_device(2), of_int(0)), name="within") is None
    assert stubbed.log() == ["device 2", "entry 0 on device 2", "device 0"]


def test_without_tensors_the_device_stays(stubbed: Stubbed):
    assert stubbed.call(of_pointer(0x10), of_int(0), name="no_tensors") is None
    assert stubbed.log() == ["load", "entry 0 on device 0"]


def test_checks_come_first(stubbed: Stubbed):
    fault = stubbed.call(on_device(3), of_int(2**31))
    assert fault is not None
    assert fault[0] == "ValueError"
    assert stubbed.log() == []


def test_an_error_of_the_entry(stubbed: Stubbed):
    kind, message = stubbed.call(on_device(3), of_int(719)) or ("", "")
    assert (kind, message) == (
        "RuntimeError",
        f"f failed with CUDA error 719 (cudaErrorLaunchFailure) when calling: {SHOWN}",
    )
    assert stubbed.log() == ["load", "device 3", "entry 719 on device 3", "device 0"]


def test_code_that_cannot_be_loaded_is_tried_again(stubbed: Stubbed):
    stubbed.compiled["fail"](LOAD)
    for _ in range(2):
        assert stubbed.call(on_device(3), of_int(0)) == ("RuntimeError", "cannot load")
        assert stubbed.log() == ["load"]
    stubbed.compiled["fail"](0)
    assert stubbed.call(on_device(0), of_int(0)) is None
    assert stubbed.log()[0] == "load"


@pytest.mark.parametrize("step", [GET_DEVICE, SET_DEVICE])
def test_a_device_that_cannot_be_chosen(stubbed: Stubbed, step: int):
    stubbed.compiled["fail"](step)
    assert stubbed.call(on_device(9), of_int(0)) == (
        "RuntimeError",
        "f: the device cannot be chosen with CUDA error 101 (cudaErrorInvalidDevice) when "
        f"calling: {SHOWN}",
    )
    assert stubbed.log() == ["load"]


def test_the_gpu_code_is_unloaded_with_the_module(stubbed: Stubbed):
    assert stubbed.call(on_device(0), of_int(0)) is None
    stubbed.log()
    del stubbed.compiled
    gc.collect()
    assert stubbed.buffer.value == b"unload 7\n"


def test_an_entry_of_the_host_needs_nothing_of_cuda():
    entry = "llvm.func @entry(%code: i32) -> i32 { llvm.return %code : i32 }"
    f = wrap([CODE], provider.CuteCallProvider("entry"), entry)
    f(0)
    with pytest.raises(RuntimeError) as raised:
        f(-3)
    assert str(raised.value) == "f failed with status -3 when calling: `f(code: int32)`"


class Theirs:
    """Their call provider, as far as the hook reads it."""

    target_func = "entry"


def test_what_the_dsl_calls_is_exchanged(monkeypatch: pytest.MonkeyPatch):
    package: Any = types.ModuleType("cutlass.base_dsl.tvm_ffi_builder")
    before: Any = object()
    package.attach_ffi_func = before
    for name in ("cutlass", "cutlass.base_dsl"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, package.__name__, package)
    module = new_module("llvm.func @entry() -> i32")
    with hook.ffi_builder_wrappers():
        package.attach_ffi_func(module, "f", [], Theirs(), fn_display_name="shown")
    assert package.attach_ffi_func is before
    assert "@__tvm_ffi_f(" in str(module)
    assert "shown" in str(module)
    with pytest.raises(ZeroDivisionError), hook.ffi_builder_wrappers():
        _ = 1 // 0
    assert package.attach_ffi_func is before
