"""Rare functions keep their caller's registers, as LLVM's preserve_most says."""

from __future__ import annotations

import ctypes
import platform
import shutil
import subprocess
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi  # noqa: F401 # pyright: ignore[reportUnusedImport] # with global symbols

from ffi_builder import abi, support
from ffi_builder.entry.layouts import DLTensor

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="is about x86-64"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc"),
]
KEPT: Final = ("rdx", "rcx", "r8", "r9", "r10", "rbx", "r12", "r13", "r14", "r15")
"""All but rax, which has results, r11, which callees may change, and those of the parameters."""
SET = "\n".join(f"movabs ${0x1234567800 + at}, %{name}" for at, name in enumerate(KEPT))
STORED = "\n".join(f"mov %{name}, {8 * at}(%rbp)" for at, name in enumerate(KEPT))
# probe(function, first, second, out[10])
PROBE = f"""
.globl probe
probe:
push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15; sub $8, %rsp
mov %rdi, %r11
mov %rsi, %rdi
mov %rdx, %rsi
mov %rcx, %rbp
{SET}
call *%r11
{STORED}
add $8, %rsp; pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp
ret
"""


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("probe")
    source, library = folder / "probe.s", folder / "probe.so"
    source.write_text(PROBE)
    subprocess.run(["gcc", "-shared", "-o", library, source], check=True)
    return ctypes.CDLL(str(library)).probe


class Tensor(ctypes.Structure):
    _fields_ = (("header", ctypes.c_char * abi.OBJECT_SIZE), ("tensor", DLTensor))


def tensor() -> tuple[Tensor, object]:
    array = np.zeros((3, 4, 5), "float32")[:, ::2]
    sizes = (ctypes.c_int64 * 6)(3, 2, 5, 20, 10, 1)
    found = Tensor()
    found.tensor.data, found.tensor.ndim = array.ctypes.data, 3
    found.tensor.device_type, found.tensor.code, found.tensor.bits = 1, 2, 32
    found.tensor.lanes = 1
    address = ctypes.addressof(sizes)
    found.tensor.shape, found.tensor.strides = address, address + 24
    return found, (array, sizes)


OF_A_TENSOR = [
    name
    for name, function in support.functions().items()
    if function.keeps_registers and function.parameters in {("ptr",), ("ptr", "ptr")}
    if name.split("_")[0]
    in {"is", "contiguous", "column", "numel", "has", "extent", "row", "apart"}
]


@pytest.mark.parametrize("name", OF_A_TENSOR)
def test_a_rare_function_keeps_registers(name: str, probe: Any) -> None:
    library = ctypes.CDLL(str(support.library()))
    given, kept = tensor()
    other, other_kept = tensor()
    second = other if name == "apart" else (ctypes.c_int64 * 8)()
    out = (ctypes.c_uint64 * len(KEPT))()
    function = ctypes.cast(library[support.symbol(name)], ctypes.c_void_p)
    probe(function, ctypes.byref(given), ctypes.byref(second), out)
    assert dict(zip(KEPT, out, strict=True)) == {
        register: 0x1234567800 + at for at, register in enumerate(KEPT)
    }
    del kept, other_kept


def test_enough_functions_are_tried() -> None:
    assert len(OF_A_TENSOR) > 6
