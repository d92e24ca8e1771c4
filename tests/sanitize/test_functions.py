"""The functions in C for copies, compiled for sanitizers and called from another process."""

from __future__ import annotations

from pathlib import Path

import pytest

from ffi_builder.sanitize import support
from tests.sanitize.copied import CHECKS
from tests.support_code import test_functions

sanitizer = test_functions.sanitizer


@pytest.fixture(scope="module")
def library(sanitizer: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert sanitizer
    folder = Path(support.__file__).parent
    return test_functions.compiled(folder, tmp_path_factory.mktemp("support") / "support.so")


@pytest.mark.slow
@pytest.mark.hypothesis  # `make fuzz` draws all
@pytest.mark.parametrize("name", CHECKS)
def test_as_the_model(name: str, library: Path, sanitizer: str) -> None:
    test_functions.check("tests.sanitize.copied", name, library, sanitizer)
