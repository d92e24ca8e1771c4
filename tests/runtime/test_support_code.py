"""How compiled wrappers come to the functions in C, and what is said where they do not."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tvm_ffi import libinfo

from ffi_builder import LinkError, attach, runtime, spec, support
from ffi_builder.diagnosis import native
from ffi_builder.diagnosis.encode import encode
from ffi_builder.errors import BuildError
from ffi_builder.plan import make_plan
from ffi_builder.providers import DirectCallProvider, NopCallProvider
from tests.runtime.exporting import load_module, scaling
from tests.runtime.samples import c_library, c_object, needs_cc
from tests.support.bundles import no_library as no_library
from tests.support.wrapping import new_module

_ARGUMENT = (
    r"on argument #0 when calling: `scale\(x: Tensor\(\[n\], float32\), factor: float32\)`, "
    "expected Tensor but got int"
)
OLD = "__ffi_builder_shared_raise_00000000"


@pytest.mark.usefixtures("no_library")
def test_without_the_library_the_object_is_linked() -> None:
    scale = runtime.compile(scaling(weight=3.0))["scale"]
    x = np.ones(2, np.float32)
    scale(x)
    np.testing.assert_array_equal(x, 6)
    with pytest.raises(TypeError, match=_ARGUMENT):
        scale(1)


def test_a_kernel_named_as_a_function_that_checks_call(tmp_path: Path) -> None:
    """Checks in the same object would call the kernel instead of libc's function."""
    kernel = "llvm.func {}@strlen(%p: !llvm.ptr, %n: i64) {{ llvm.return }}"
    text = "f(x: Tensor([n], float32))"
    for linkage in ("", "internal "):
        module = new_module(kernel.format(linkage))
        provider = DirectCallProvider("strlen", args=["x", "n"])
        attach(module, spec.Signature.parse(text, device="cpu"), provider)
        compiled = runtime.compile(module)
        with pytest.raises(ValueError, match="expected 1 but got 2"):
            compiled["f"](np.zeros((1, 1), "float32"))
        if linkage:
            compiled.export_object(tmp_path / "f.o")
            continue
        with pytest.raises(LinkError, match="'strlen': the checks call this function of libc or"):
            compiled.export_object(tmp_path / "f.o")


def test_functions_of_another_version_are_named() -> None:
    text = f"llvm.func @{OLD}()\nllvm.func @__tvm_ffi_f() {{ llvm.call @{OLD}() : () -> ()\n"
    with pytest.raises(LinkError, match="of another version of ffi_builder: compile the module"):
        runtime.compile(new_module(text + "llvm.return }"))


@needs_cc
def test_a_library_of_another_version_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stale = c_library(tmp_path, "void other(void) {}", "_library.so")
    monkeypatch.setattr(support, "library", lambda: stale)
    native._find.cache_clear()  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(BuildError, match="got those of another; install ffi_builder again"):
        native.diagnose(encode(make_plan(spec.Signature("f", []))), "f", 0, 0)


@needs_cc
@pytest.mark.parametrize("order", [("plain.o", "sanitized.o"), ("sanitized.o", "plain.o")])
def test_objects_that_need_different_functions(order: tuple[str, str], tmp_path: Path) -> None:
    """Each finds its own constants, which are at different places."""
    plain = new_module()
    scalar = spec.Signature.parse("plain(n: int32)")
    attach(plain, scalar, NopCallProvider())
    runtime.compile(plain).export_object(tmp_path / "plain.o")
    sanitized = new_module("llvm.func @kernel(%p: !llvm.ptr) { llvm.return }")
    out = spec.Signature.parse("sanitized(y: Tensor([n], float32, intent=out))", device="cpu")
    attach(sanitized, out, DirectCallProvider("kernel"), sanitize=True)
    runtime.compile(sanitized).export_object(tmp_path / "sanitized.o")
    tvm_ffi = libinfo.find_libtvm_ffi()
    subprocess.run(["gcc", "-shared", *order, tvm_ffi, "-o", "both.so"], check=True, cwd=tmp_path)
    both = load_module(str(tmp_path / "both.so"))
    with pytest.raises(TypeError, match="expected int but got float"):
        both["plain"](1.5)
    with pytest.raises(AssertionError, match="which still holds the poison nan"):
        both["sanitized"](np.zeros(3, "float32"))


@pytest.mark.parametrize("machine", support.MACHINES)
def test_the_object_of_one_wrapper_is_small(machine: str, tmp_path: Path) -> None:
    text = "mm(a: Tensor([n, k], float32), b: Tensor([k, m], float32), c: Tensor([n, m], float32))"
    module = new_module()
    attach(module, spec.Signature.parse(text, device="cpu"), NopCallProvider())
    runtime.lower(module).export_object(tmp_path / "mm.o", triple=f"{machine}-linux-gnu")
    assert (tmp_path / "mm.o").stat().st_size <= 22_100


@needs_cc
def test_a_linked_object_may_need_them(tmp_path: Path) -> None:
    """An object of `link=` gets them, as one that was compiled by a JIT of one's own needs."""
    symbol = support.symbol("is_empty")
    source = f"_Bool {symbol}(void *); _Bool ask(void *p) {{ return {symbol}(p); }}"
    linked = c_object(tmp_path, source)
    compiled = runtime.compile(scaling(), link=[linked])
    compiled.export_library(tmp_path / "a.so")
    library = ctypes.CDLL(str(tmp_path / "a.so"))
    assert library.__tvm_ffi_scale
