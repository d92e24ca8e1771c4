"""The files of examples/cute_dsl as modules: those that need nothing of CuTe DSL."""

from __future__ import annotations

import importlib
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any, Final

import pytest

FOLDER: Final = Path(__file__).parents[2] / "examples" / "cute_dsl"
STUB: Final = Path(__file__).parent / "cuda_stub.c"
CC: Final = shlex.split(os.environ.get("CC", "cc"))[0]
NEEDS_CC: Final = pytest.mark.skipif(shutil.which(CC) is None, reason="needs a C compiler")

# The scripts import each other by name: the folder of a script is on Python's path.
sys.path.insert(0, str(FOLDER))
convert: Final[Any] = importlib.import_module("convert")
provider: Final[Any] = importlib.import_module("provider")
hook: Final[Any] = importlib.import_module("hook")
sys.path.remove(str(FOLDER))
