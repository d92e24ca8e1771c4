"""Fixtures of the tests of one distribution."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ffi_builder.ir.distribution import Distribution, named
from tests.distributions import known
from tests.support.wrapping import new_module

Note = Callable[[str, str], None]


@pytest.fixture(scope="session")
def root() -> str:
    """The package of this process's distribution."""
    return known.root()


@pytest.fixture(scope="session")
def distribution(root: str) -> Distribution:
    return named(root)


@pytest.fixture(scope="session")
def note() -> Iterator[Note]:
    """Writes down what a column of the matrix says of this distribution."""
    notes: dict[str, str] = {}
    yield notes.__setitem__
    if known.REPORT in os.environ:
        Path(os.environ[known.REPORT]).write_text(json.dumps(notes))


@pytest.fixture
def parse(root: str) -> Callable[[str], Any]:
    """Makes a module of operations as text, in a context of its own."""
    return lambda text: new_module(text, root)
