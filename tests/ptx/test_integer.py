"""Each integer instruction against its meaning in NumPy."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest

from tests.ptx.running import Case

_WIDE: Final = {16: "32", 32: "64"}

CASES: Final = [
    *(
        Case(f"{name}.{kind}{size}", f"{kind}{size}: {kind}{size} {kind}{size}", meaning)
        for name, meaning in (
            ("add", lambda a, b: a + b),
            ("sub", lambda a, b: a - b),
            ("mul.lo", lambda a, b: a * b),
            ("min", np.minimum),
            ("max", np.maximum),
        )
        for kind in "us"
        for size in (16, 32, 64)
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.opcode)
def test_as_it_means(case: Case) -> None:
    case.check()
