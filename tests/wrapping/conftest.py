"""The fake driver, for images."""

from __future__ import annotations

from tests.cuda.conftest import driver as driver
