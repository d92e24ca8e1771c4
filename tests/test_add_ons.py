"""The table of add-ons, their READMEs, and what the core does where one is absent."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import grimp
import pytest

from ffi_builder import BuildError, SpecError, addons, attach, explain, extending, spec
from ffi_builder.addons import ADD_ONS, AddOn
from ffi_builder.providers import NopCallProvider
from ffi_builder.runtime import extending as runtime_extending
from tests.support.absent import ABSENT, installed, needed, owner, whole
from tests.support.wrapping import new_module
from tools.without import paths, with_what_stands_on

ROOT = Path(__file__).parents[1]
HERE = [each for each in ADD_ONS if each.is_here]
WHERE_THEY_ARE = {("cuda", "wrapping"), ("rocm", "wrapping"), ("cli", "testing")}
"""Imports of what an add-on does not stand on: only wrapping loads how images are wrapped, and an
option of a command needs testing, as its error says."""


@whole
def test_there_are_eleven_with_names_of_their_own():
    assert len({each.name for each in ADD_ONS}) == len(ADD_ONS) >= 11


@pytest.mark.parametrize("each", HERE, ids=lambda each: each.name)
def test_a_readme_says_what_it_is(each: AddOn):
    text = (ROOT / "ffi_builder" / each.folder / "README.md").read_text()
    assert len(text.splitlines()) <= 15
    found = re.search(r"- May import: .+?\n- Stands on: (.+?)\n- Called by: .+\n", text, re.S)
    assert found is not None
    names = set(re.findall(r"`(\w+)`", found[1].partition(". ")[0]))
    assert names == set(each.stands_on)
    assert f"- Tests: `tests/{each.folder}`." in text
    assert [path for path in paths(each) if not (ROOT / path).exists() and not ABSENT] == []


@whole
def test_the_table_has_what_an_add_on_imports_of_others():
    graph = grimp.build_graph("ffi_builder", cache_dir=None, exclude_type_checking_imports=True)
    found: set[tuple[str, str]] = set()
    for name in graph.modules:
        own = of_add_on(name)
        others = {of_add_on(each) for each in graph.find_modules_directly_imported_by(name)}
        found |= {(own, other) for other in others - {own, ""} if own}
    listed = {(each.name, name) for each in ADD_ONS for name in each.stands_on}
    assert found == listed | WHERE_THEY_ARE


def of_add_on(module: str) -> str:
    """The add-on of a module, the innermost; empty for the core and the runtime."""
    owners = [each.name for each in ADD_ONS if f"{module}.".startswith(f"{each.module('')}.")]
    return owners[-1] if owners else ""


@whole
def test_what_stands_on_an_add_on_goes_with_it():
    assert [each.name for each in with_what_stands_on("plain")] == ["plain", "wrapping", "cli"]
    assert [each.name for each in with_what_stands_on("jax")] == ["jax"]
    assert {str(path) for path in paths(ADD_ONS[-1])} == {
        *("ffi_builder/frameworks/jax", "tests/frameworks/jax"),
        *("docs/jax.md", "examples/jax_softmax"),
    }


def test_memory_that_no_add_on_fills(monkeypatch: pytest.MonkeyPatch):
    def find(kind: str, name: str) -> None:
        """Find nothing, as if cuda were absent."""

    monkeypatch.setattr(addons, "find", find)
    signature = spec.Signature.parse(
        "f(x: Tensor([n], float32, device_type=cuda), "
        "w: Workspace([n], float32, device_type=cuda, zero=True))"
    )
    words = r"'?w'?: zero: what fills cuda memory is of the add-on cuda, which is not installed"
    with pytest.raises(BuildError, match=words):
        attach(new_module(), signature, NopCallProvider())
    assert "no add-on has registered 'x' as 'zeros'" in addons.lacking("zeros", "x")


def test_a_kernel_that_no_add_on_watches(monkeypatch: pytest.MonkeyPatch):
    def find(kind: str, name: str) -> None:
        """Find nothing, as if sanitize were absent."""

    monkeypatch.setattr(addons, "find", find)
    signature, module = spec.Signature.parse("f(n: int32)"), new_module()
    words = r"^sanitize: what watches kernels is of the add-on sanitize, which is not installed$"
    with pytest.raises(SpecError, match=words):
        attach(module, signature, NopCallProvider(), sanitize=True)
    with pytest.raises(SpecError, match=words):
        explain(signature, sanitize=True)
    attach(module, signature, NopCallProvider(), sanitize=False)
    assert explain(signature, sanitize=False)


def test_errors_about_what_is_here_skip_no_test():
    assert needed("No module named 'ffi_builder.spec.nothing'") == ""
    assert needed("No module named 'numpy'") == ""
    for each in ABSENT:
        assert each.name in needed(f"No module named '{each.module('x')}'")
        assert owner(each.module("")) == each.name


@whole
def test_a_whole_project_keeps_all_contracts():
    text = (ROOT / "pyproject.toml").read_text()
    assert installed(text) == text


@pytest.mark.parametrize("face", [extending, runtime_extending], ids=lambda face: face.__name__)
def test_a_face_has_types(face: ModuleType):
    stub = Path(face.__file__ or "").with_suffix(".pyi").read_text()
    typed = set(
        re.findall(r"^(?:from \S+ import \w+ as )?([A-Za-z]\w*)(?: = .*)?$", stub, re.MULTILINE)
    )
    assert typed == set(face.__all__)
    assert all(getattr(face, name) is not None for name in face.__all__)


def test_what_is_registered_twice():
    addons.register("tests", "one", test_what_is_registered_twice)
    addons.register("tests", "one", test_what_is_registered_twice)
    assert addons.registered("tests") == {"one": test_what_is_registered_twice}
    with pytest.raises(ValueError, match="tests 'one' is registered already"):
        addons.register("tests", "one", 1)
    assert addons.find("tests", "two") is None
