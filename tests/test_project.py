"""What the project's own files say of each other."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
NEEDS = re.compile(r'(?:importorskip|needs)\(\s*f?"(?:torch|jax|numba)(?:\.numpy|\.fx)?"')


def test_tests_that_need_a_framework_run_in_test_frameworks() -> None:
    makefile = (ROOT / "Makefile").read_text()
    listed = re.search(r"^FRAMEWORK_TESTS := ((?:.*\\\n)*.*)$", makefile, re.MULTILINE)
    assert listed is not None
    paths = [ROOT / path for path in listed[1].replace("\\\n", " ").split()]
    assert [path for path in paths if not path.exists()] == []
    needing = [path for path in (ROOT / "tests").rglob("*.py") if NEEDS.search(path.read_text())]
    assert needing
    left_out = [p for p in needing if not any(q == p or q in p.parents for q in paths)]
    assert left_out == []
