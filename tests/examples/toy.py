"""The files of examples/toy_dsl as modules, and the kernels of its main.py."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parents[2] / "examples" / "toy_dsl"

# The scripts import each other by name: the folder of a script is on Python's path.
sys.path.insert(0, str(FOLDER))
expressions: Final[Any] = importlib.import_module("expressions")
definition: Final[Any] = importlib.import_module("definition")
codegen: Final[Any] = importlib.import_module("codegen")
kernel: Final[Any] = importlib.import_module("kernel")
main: Final[Any] = importlib.import_module("main")
sys.path.remove(str(FOLDER))
kernel.allocator.remove()  # other tests have none
