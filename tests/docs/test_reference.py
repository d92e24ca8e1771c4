"""docs/api, the reference that `make docs` writes from docstrings, has every public name."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

API = Path(__file__).parents[2] / "docs" / "api"
NAMED = set(
    re.findall(r"^::: (\S+)$", "\n".join(path.read_text() for path in API.glob("*.md")), re.M)
)
PACKAGES = (
    *("builder", "cuda", "ir", "packed", "plan", "providers", "providers.cuda", "runtime"),
    *("spec", "support", "testing"),
)


@pytest.mark.parametrize("package", ["ffi_builder", *(f"ffi_builder.{name}" for name in PACKAGES)])
def test_every_public_name_is_in_the_reference(package: str) -> None:
    module = import_module(package)
    public = {name for name in module.__all__ if not isinstance(getattr(module, name), ModuleType)}
    shown = {name.rpartition(".")[2] for name in NAMED}
    assert public - shown - {"__version__"} == set()


def test_each_name_of_the_reference_is_there() -> None:
    for name in NAMED:
        package, _, last = name.rpartition(".")
        if not package.startswith("ffi_builder.frameworks"):  # which needs PyTorch or JAX
            assert hasattr(import_module(package), last), name
