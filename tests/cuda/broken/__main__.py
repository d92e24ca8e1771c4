"""Use a broken provider in this process: ``python -m tests.cuda.broken NAME``."""

from __future__ import annotations

import sys

import pytest

from tests.cuda.broken.breakages import BREAKAGES
from tests.fakecuda import FakeDriver, library

[breakage] = [each for each in BREAKAGES if each.name == sys.argv[1]]
with pytest.MonkeyPatch.context() as patch:
    breakage.replace(patch)
    breakage.scenario(FakeDriver(library()))
print("passed")
