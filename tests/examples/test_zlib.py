"""zlib with strs and bytes, where it is installed."""

from __future__ import annotations

import pytest

from tests.examples.running import run
from tests.wrapping.libraries import needs_header

pytest.importorskip("clang.native")


@needs_header("zlib.h")
def test_zlib() -> None:
    *same, missing, with_nul = run("libraries/zlib_texts.py").splitlines()
    assert len(same) == 3
    assert all(line.endswith(": True") for line in same)
    assert missing.startswith("FileNotFoundError: [Errno 2] No such file or directory when")
    assert with_nul.startswith("ValueError: path has a NUL at byte 1, where its text would end in")
