"""The C functions that the benchmark compares with refuse what a wrapper refuses, and nothing else."""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ffi_builder import abi
from ffi_builder.spec import Signature
from tests.differential.memory import Memory
from tests.differential.strategies import calls_of
from tests.oracle.judge import Accepted, judge
from tests.support.wrapping import SafeCall

BENCHMARKS: Final = Path(__file__).parents[2] / "benchmarks"
CC: Final = shlex.split(os.environ.get("CC", "cc"))[0]

pytestmark = pytest.mark.skipif(shutil.which(CC) is None, reason=f"needs a C compiler: no {CC}")


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """benchmarks/native.py, with handwritten.c compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
        return import_module("native").Native(tmp_path_factory.mktemp("benchmarks"))


def cases() -> dict[str, Signature]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
        module = import_module("signatures")
    made = [module.scalar(), module.matmul(), *map(module.eight_tensors, (False, True))]
    return {case.name: Signature("f", case.params) for case in made}


CASES: Final = cases()


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=150, derandomize=True, database=None)
@given(data=st.data())
def test_it_accepts_what_the_rules_accept(name: str, native: Any, data: st.DataObject) -> None:
    signature = CASES[name]
    function = SafeCall(native.address(f"hand_{name}"))
    arguments = data.draw(calls_of(signature))
    memory = Memory(slots=64)
    address = memory.place(arguments)
    result = ctypes.create_string_buffer(abi.ANY_SIZE)
    expected = judge(signature, address, arguments.count)
    status = function(None, address, arguments.count, ctypes.addressof(result))
    assert (status == 0) == isinstance(expected, Accepted), expected
