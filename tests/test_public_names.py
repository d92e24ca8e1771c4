"""The public surface: every name, where old ones went, and what importing does not load."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ffi_builder
from tests.support.absent import owner

WRAPPER = """
from torch_mlir import ir
from ffi_builder import attach_ffi_func, providers, runtime, spec
module = ir.Module.parse("", ir.Context())
attach_ffi_func(module, "f", [spec.Var("n", "int32")], providers.NopCallProvider())
runtime.compile(module)["f"](1)
"""
ROOT = Path(__file__).parents[1]
NAMES = (ROOT / "tests" / "public_names.txt").read_text()
LISTED = [name for name in re.findall(r"^[^\s(]+", NAMES, re.MULTILINE) if not owner(name)]
"""The names that users may rely on, each where it is imported from."""
CALLS = dict(re.findall(r"^([^\s(]+)(\(.*\))$", NAMES, re.MULTILINE))
"""The parameters of functions and of classes that users make; ``=`` follows what has a default."""
MEMBERS = {
    name: members.split()
    for name, members in re.findall(r"^([^\s(]+).*\n((?: .*\n)+)", NAMES, re.MULTILINE)
    if name in LISTED
}
"""The members of classes whose objects users get and do not make, or make in several ways."""
SHOWN = re.findall(
    r"^::: (\S+)$", "".join(p.read_text() for p in (ROOT / "docs" / "api").glob("*.md")), re.M
)
NEED_A_FRAMEWORK = {"ffi_builder.frameworks.jax": "jax", "ffi_builder.frameworks.torch": "torch"}
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
        "from ffi_builder import explain, spec; "
        "print(explain(spec.Signature('f', [spec.Var('n', 'int32')])))",
    ],
)
def test_importing_spec_and_plan_loads_no_mlir_and_no_llvm(code: str):
    assert not loaded_after(code).intersection(HEAVY)


def test_a_wrapper_loads_only_what_it_uses():
    loaded = modules_after(WRAPPER)
    assert "ffi_builder.runtime.compiler.compile" in loaded
    unused = ("compiler.cache", "export.files", "python.loaded", "python.allocator")
    assert not loaded.intersection(f"ffi_builder.runtime.{name}" for name in unused)
    unused = ("cuda", "memref", "packed", "packing", "status", "variants", "when")
    assert not loaded.intersection(f"ffi_builder.providers.{name}" for name in unused)
    unused = ("cli", "cuda", "frameworks", "sanitize", "testing", "builder.calls")
    assert not loaded.intersection(f"ffi_builder.{name}" for name in unused)


def test_a_submodule_is_an_attribute():
    assert not modules_after("import ffi_builder; ffi_builder.providers.status").isdisjoint(
        {"ffi_builder.providers.status"}
    )
    assert not modules_after("import ffi_builder; ffi_builder.plan.path").isdisjoint(
        {"ffi_builder.plan.path"}
    )
    assert not hasattr(ffi_builder, "__wrapped__")


def of_package(package: str) -> set[str]:
    """The names in ``__all__`` of a package that are no packages themselves."""
    module = import_module(package)
    return {
        f"{package}.{name}"
        for name in module.__all__
        if not isinstance(getattr(module, name), ModuleType)
    }


@pytest.mark.parametrize("package", sorted({name.rpartition(".")[0] for name in LISTED}))
def test_the_names_of_a_package_are_those_of_the_list(package: str):
    if package in NEED_A_FRAMEWORK:
        pytest.importorskip(NEED_A_FRAMEWORK[package])
    listed = {name for name in LISTED if name.rpartition(".")[0] == package}
    assert of_package(package) == listed
    assert {name.rpartition(".")[2] for name in listed} <= set(dir(import_module(package)))


def parameters_of(name: str) -> str | None:
    """How a name is called; None for types of annotations, errors and protocols."""
    package, _, last = name.rpartition(".")
    value: Any = getattr(import_module(package), last)
    is_called = inspect.isclass(value) or inspect.isfunction(value)
    is_error = Exception in getattr(value, "__mro__", ())
    if is_error or not is_called or getattr(value, "_is_protocol", inspect.isabstract(value)):
        return None
    shown: list[str] = []
    for parameter in inspect.signature(value).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not any(p.startswith("*") for p in shown):
            shown.append("*")
        star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        shown.append(f"{star}{parameter.name}{'' if parameter.default is parameter.empty else '='}")
    return f"({', '.join(shown)})"


@pytest.mark.parametrize("name", LISTED)
def test_the_list_shows_how_a_name_is_called(name: str) -> None:
    package = name.rpartition(".")[0]
    if package in NEED_A_FRAMEWORK:
        pytest.importorskip(NEED_A_FRAMEWORK[package])
    if name in CALLS or name not in MEMBERS:
        assert CALLS.get(name) == parameters_of(name)


@pytest.mark.parametrize("name", MEMBERS)
def test_the_members_of_a_class_are_those_of_the_list(name: str):
    package, _, last = name.rpartition(".")
    if package in NEED_A_FRAMEWORK:
        pytest.importorskip(NEED_A_FRAMEWORK[package])
    classes: tuple[type, ...] = getattr(import_module(package), last).__mro__
    found: set[str] = {
        member
        for each in classes
        if each.__module__.startswith("ffi_builder")
        for member in (*vars(each), *inspect.get_annotations(each))
    }
    assert sorted(member for member in found if not member.startswith("_")) == MEMBERS[name]


def test_there_are_few_names_and_each_has_one_place():
    assert sorted(set(LISTED)) == LISTED
    assert len(LISTED) <= 159
    assert sum(name.startswith("ffi_builder.spec.") for name in LISTED) <= 47
    found = [
        getattr(import_module(package), name)
        for package, _, name in (listed.rpartition(".") for listed in LISTED)
        if package not in NEED_A_FRAMEWORK
    ]
    assert len({id(value) for value in found}) == len(found)


def test_the_reference_shows_the_names_of_the_list():
    modules = {name for name in SHOWN if name == "ffi_builder.providers.when"}
    shown = {name for name in SHOWN if not owner(name)} - modules
    assert sorted(shown.union(*map(of_package, modules))) == LISTED


def test_unknown_name():
    with pytest.raises(AttributeError, match="module 'ffi_builder' has no attribute 'attach_fn'"):
        _ = ffi_builder.attach_fn  # pyright: ignore
    with pytest.raises(ImportError, match="cannot import name 'attach_fn'"):
        exec("from ffi_builder import attach_fn")
