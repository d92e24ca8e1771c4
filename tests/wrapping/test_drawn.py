"""Drawn kernels with signatures that fit or are one step wrong: each gets what the caller passed.

What is wrong is refused, or the kernel gets exactly what was passed. 120 kernels;
``FFI_BUILDER_EXAMPLES`` asks for another number, divided by 25, and then every run draws others.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.runtime.samples import needs_cc
from tests.support.answering import Answering
from tests.support.drawn import drawn as examples
from tests.wrapping.drawn.cases import Case, described
from tests.wrapping.drawn.code import has_ctypes
from tests.wrapping.drawn.draw import drawn

pytest.importorskip("clang.native")
pytestmark = needs_cc

ROOT: Final = Path(__file__).parents[2]
EXAMPLES: Final = os.environ.get("FFI_BUILDER_EXAMPLES")
DRAWN: Final = int(EXAMPLES or examples(10_000)) // 25
BATCH: Final = 20
"""Kernels that the C compiler compiles at once."""


class Worker(Answering):
    """The process that runs cases."""

    def __init__(self) -> None:
        super().__init__("tests.wrapping.drawn.worker")

    def replies(self, cases: list[Case]) -> Iterator[tuple[str, str]]:
        done = 0
        while done < len(cases):
            to, back = self.pipes()
            try:
                pickle.dump(cases[done:], to)
                to.flush()
                for _ in cases[done:]:
                    yield pickle.load(back)
                    done += 1
            except (EOFError, OSError):
                yield "crash", self.crash()
                done += 1


def batch(seed: int) -> list[Case]:
    """Return the cases of a seed."""
    rng = Random(seed)
    cases = [drawn(rng, f"k{at}") for at in range(BATCH)]
    return [case for case in cases if case.door != "ctypes" or has_ctypes(case)]


@pytest.mark.slow
@pytest.mark.hypothesis
def test_drawn_kernels() -> None:
    worker, met = Worker(), Counter[str]()

    @settings(
        max_examples=max(1, DRAWN // BATCH),
        derandomize=EXAMPLES is None,
        database=None,
        deadline=None,
        phases=[Phase.generate],
    )
    @given(seed=st.integers(0, 2**32))
    def draw(seed: int) -> None:
        cases = batch(seed)
        wrong = list[str]()
        for case, (outcome, words) in zip(cases, worker.replies(cases), strict=True):
            met[outcome] += 1
            if words:
                wrong.append(f"{described(case)}\n  {outcome}: {words}")
        assert not wrong, "\n\n".join([f"seed {seed}", *wrong[:3]])

    try:
        draw()
    finally:
        worker.close()
    right = met["accepted"] + met["status"]
    assert right > sum(met.values()) / 5, met
    assert met["refused: BuildError"] > sum(met.values()) / 10, met


def main(first: int, count: int) -> None:
    """Show what is wrong for seeds, as ``python -m tests.wrapping.test_drawn 0 100``."""
    worker, met = Worker(), Counter[Any]()
    for seed in range(first, first + count):
        cases = batch(seed)
        for case, (outcome, words) in zip(cases, worker.replies(cases), strict=True):
            met[outcome] += 1
            if words:
                print(f"seed {seed} {described(case)}\n  {outcome}: {words}\n", flush=True)
    print(met)
    worker.close()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
