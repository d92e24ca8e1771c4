"""The package's face: every public name, and what importing it does not load."""

from __future__ import annotations

import subprocess
import sys

import pytest

import ffi_builder

WRAPPER = """
from torch_mlir import ir
from ffi_builder import attach_ffi_func, providers, runtime, spec
module = ir.Module.parse("", ir.Context())
attach_ffi_func(module, "f", [spec.Var("n", "int32")], providers.NopCallProvider())
runtime.compile(module)["f"](1)
"""
HEAVY = ("mlir", "torch_mlir", "jaxlib", "llvmlite", "tvm_ffi", "numpy", "torch", "jax")


def loaded_after(code: str) -> set[str]:
    """The top-level modules of a fresh process that ran ``code``."""
    return {name.partition(".")[0] for name in modules_after(code)}


def modules_after(code: str) -> set[str]:
    """The modules of a fresh process that ran ``code``."""
    code += "\nimport sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import ffi_builder",
        "import ffi_builder.spec",
        "from ffi_builder import spec, SpecError",
        "from ffi_builder import explain, make_plan, plan, spec; "
        "print(explain(spec.Signature('f', [spec.Var('n', 'int32')])))",
    ],
)
def test_importing_spec_and_plan_loads_no_mlir_and_no_llvm(code: str):
    assert not loaded_after(code).intersection(HEAVY)


def test_a_wrapper_loads_only_what_it_uses():
    loaded = modules_after(WRAPPER)
    assert "ffi_builder.runtime.compiler" in loaded
    unused = ("cache.key", "cache.entry", "export.files", "loaded", "allocator")
    assert not loaded.intersection(f"ffi_builder.runtime.{name}" for name in unused)
    unused = ("cuda", "memref", "packed", "packing", "status", "variants", "when")
    assert not loaded.intersection(f"ffi_builder.providers.{name}" for name in unused)
    unused = ("cli", "cuda", "frameworks", "kernel_image", "testing", "builder.calls")
    assert not loaded.intersection(f"ffi_builder.{name}" for name in unused)


def test_a_submodule_is_an_attribute():
    assert not modules_after("import ffi_builder; ffi_builder.plan.path").isdisjoint(
        {"ffi_builder.plan.path"}
    )
    assert not hasattr(ffi_builder, "__wrapped__")


def test_every_public_name_loads():
    for name in ffi_builder.__all__:
        assert getattr(ffi_builder, name) is not None


def test_names_are_listed():
    assert set(ffi_builder.__all__) <= set(dir(ffi_builder))


def test_unknown_name():
    with pytest.raises(AttributeError, match="module 'ffi_builder' has no attribute 'attach_fn'"):
        _ = ffi_builder.attach_fn  # pyright: ignore
    with pytest.raises(ImportError, match="cannot import name 'attach_fn'"):
        exec("from ffi_builder import attach_fn")
