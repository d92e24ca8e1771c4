"""The examples as modules, and what tests of both ask."""

from __future__ import annotations

import gc
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = "needs {}: `make test-frameworks` installs it"


def needs(name: str) -> Any:
    """A package that only `make test-frameworks` installs; skips the tests where it is not."""
    return pytest.importorskip(name, reason=NEEDED.format(name))


def example(name: str) -> Any:
    """``examples/<name>.py`` as a module, so that its functions are tested as a reader has them."""
    path = ROOT / f"examples/{name}.py"
    found = importlib.util.spec_from_file_location(f"{path.stem}_example", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    # The files of an example import each other by name: the folder of a script is on Python's path.
    sys.path.insert(0, str(path.parent))
    found.loader.exec_module(module)
    sys.path.remove(str(path.parent))
    return module


def refused(call: Callable[[], object]) -> tuple[str, str]:
    """The class and the words of the error that a call raises."""
    with pytest.raises(Exception) as raised:  # noqa: PT011 - the caller compares all of it
        call()
    return type(raised.value).__name__, str(raised.value)


def grown(call: Callable[[], object], times: int) -> int:
    """Bytes by which this process has grown after so many calls."""
    for _ in range(times // 10):
        call()
    before = _resident()
    for _ in range(times):
        call()
    return _resident() - before


def _resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
