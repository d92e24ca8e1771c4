"""Every name of the reference has an example in its docstring, and every example runs."""

from __future__ import annotations

import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.docstrings import Docstring, docstrings, groups, run

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "ffi_builder"
API = ROOT / "docs" / "api"
PAGES = sorted(path.name for path in API.glob("*.md"))
FILES = sorted(path for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text())


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_examples_run_and_print_what_is_written(path: Path) -> None:
    wrong = "".join(run(group) for group in groups(path).values())
    assert not wrong, wrong


@pytest.mark.parametrize("page", PAGES)
def test_every_name_of_the_reference_has_an_example(page: str) -> None:
    if page == "frameworks.md":
        pytest.importorskip("torch")
        pytest.importorskip("jax_tvm_ffi")
    names = re.findall(r"^::: (\S+)$", (API / page).read_text(), re.MULTILINE)
    assert names
    assert [name for name in names if not has_example(documented(name))] == []


def test_a_wrong_output_is_reported(tmp_path: Path) -> None:
    page = tmp_path / "sizes.py"
    page.write_text('"""Sizes.\n\nExamples:\n    >>> 2 + 2\n    5\n"""\n')
    (group,) = groups(page).values()
    assert re.search(r'File ".*sizes\.py", line 4.*Expected:\n    5\nGot:\n    4', run(group), re.S)


def test_the_examples_of_a_class_and_its_members_share_a_namespace(tmp_path: Path) -> None:
    page = tmp_path / "sizes.py"
    first = 'class Size:\n    """A size.\n\n    Examples:\n        >>> size = 4\n    """\n'
    page.write_text(
        f'{first}    bits = 8\n    """Bits.\n\n    Examples:\n        >>> size\n        4\n    """\n'
    )
    (group,) = groups(page).values()
    assert [docstring.name for docstring in group] == ["Size", "Size.bits"]
    assert run(group) == ""
    assert "NameError" in run(group[1:])


def test_what_an_example_needs_must_be_known(tmp_path: Path) -> None:
    page = tmp_path / "sizes.py"
    page.write_text(
        '"""Sizes.\n\nExamples:\n    Needs a quantum computer:\n\n    >>> 1\n    1\n"""\n'
    )
    (group,) = groups(page).values()
    with pytest.raises(KeyError, match="a quantum computer"):
        run(group)


def test_a_link_counts_if_there_is_an_example_at_its_end() -> None:
    def docstring(text: str) -> list[Docstring]:
        return [Docstring(PACKAGE / "spec" / "x.py", "x", 1, text)]

    assert not has_example(docstring("A size."))
    assert has_example(docstring("A size.\n\nExample: see :func:`~ffi_builder.spec.dims`."))
    assert not has_example(docstring("A size.\n\nExample: see :func:`~ffi_builder.spec.mids`."))


def has_example(found: list[Docstring]) -> bool:
    return any(
        docstring.examples
        or any(
            link == name or link.endswith(f".{name}")
            for link in docstring.links
            for name in shown()
        )
        for docstring in found
    )


def documented(name: str) -> list[Docstring]:
    """Return the docstring of a name; of a constant, where its package has one of that name."""
    package, _, last = name.rpartition(".")
    value = getattr(import_module(package), last)
    if isinstance(value, ModuleType):
        return [one for one in docstrings(source(value)) if not one.name]
    inner = inspect.unwrap(value) if callable(value) else value
    if inspect.isclass(inner) or inspect.isfunction(inner):
        path = source(import_module(inner.__module__))
        return [one for one in docstrings(path) if one.name == inner.__qualname__]
    folder = source(import_module(package)).parent
    return [one for path in folder.glob("*.py") for one in docstrings(path) if one.name == last]


def source(module: ModuleType) -> Path:
    assert module.__file__ is not None
    return Path(module.__file__)


@cache
def shown() -> set[str]:
    """Return the names in the package that have examples."""
    return {one.name for path in FILES for one in docstrings(path) if one.name and one.examples}
