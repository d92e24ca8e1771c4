"""The fake driver fails a broken provider for each rule that a provider can break."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ffi_builder.fakecuda.rules import RULES
from tests.cuda.broken.breakages import BREAKAGES, OF_THE_CALLER, RACE
from tests.cuda.broken.breaking import Breakage
from tests.fakecuda import FakeDriver, missing

SCENARIOS = list(dict.fromkeys(breakage.scenario for breakage in BREAKAGES))
IN_PROCESS = [breakage for breakage in BREAKAGES if breakage.name != RACE]
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_the_provider_passes(driver: FakeDriver, scenario: Callable[[FakeDriver], None]):
    scenario(driver)


@pytest.mark.parametrize("breakage", IN_PROCESS, ids=lambda breakage: breakage.name)
def test_a_broken_provider_fails(
    driver: FakeDriver, monkeypatch: pytest.MonkeyPatch, breakage: Breakage
):
    breakage.replace(monkeypatch)
    failure = ""
    try:
        breakage.scenario(driver)
    except Exception as error:
        failure = str(error)
    gc.collect()
    rules = [violation.rule for violation in driver.violations()]
    driver.clear_log()
    assert re.search(breakage.ends, failure) or breakage.ends in rules, (failure, rules)


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_a_bare_compare_and_swap_fails_or_crashes():
    command = [sys.executable, "-m", "tests.cuda.broken", RACE]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert done.returncode < 0 or "calls have failed" in done.stderr
    assert "passed" not in done.stdout


def test_each_rule_has_a_broken_provider():
    broken = {breakage.rule for breakage in BREAKAGES} - {""}
    assert broken | OF_THE_CALLER.keys() == RULES.keys()
    assert not broken & OF_THE_CALLER.keys()
