"""docs/cutlass.md says what stands in for each public name of CUTLASS's builder."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

PAGE: Final = (Path(__file__).parents[2] / "docs/cutlass.md").read_text()
ROOT: Final = "cutlass.base_dsl.tvm_ffi_builder"
# The part of CuTe DSL that uses it, and the hooks.
OTHERS: Final = {
    "TVMFFICuteCallProvider": "cutlass.cutlass_dsl.tvm_ffi_provider",
    "TVMFFIJitCompiledFunction": "cutlass.cutlass_dsl.tvm_ffi_provider",
    "PostCompileHookContext": "cutlass.base_dsl.compiler",
}


def classes(module: ModuleType) -> Iterator[tuple[str, object]]:
    """Yield the public functions and classes of a module of the builder, and the others."""
    for name, value in vars(module).items():
        if not name.startswith("_") and getattr(value, "__module__", "").startswith(ROOT):
            yield name, value


def public_names() -> set[str]:
    modules = [ROOT, *(f"{ROOT}.{name}" for name in ("spec", "call_provider", "mlir_builder"))]
    found = [item for name in modules for item in classes(import_module(name))]
    found += [(name, getattr(import_module(at), name)) for name, at in OTHERS.items()]
    found += classes(import_module(f"{ROOT}.tvm_ffi_builder"))
    builders = [value for name, value in found if name.endswith(("Builder", "CallProvider"))]
    methods = {
        name
        for builder in builders
        for name, value in vars(builder).items()
        if inspect.isfunction(value) and not name.startswith("_")
    }
    return methods | {name for name, _ in found}


def test_the_page_has_every_public_name() -> None:
    pytest.importorskip("cutlass", reason="needs nvidia-cutlass-dsl: `make test-cute` installs it")
    named = set(re.findall(r"\w+\*?", " ".join(re.findall(r"`([^`\n]+)`", PAGE))))
    missing = {
        name for name in public_names() if not any(fnmatchcase(name, known) for known in named)
    }
    assert missing == set()
