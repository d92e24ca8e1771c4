"""Malformed arguments, written by hand and drawn, passed by a C program, and under valgrind."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from tvm_ffi import libinfo

from ffi_builder import attach, runtime
from ffi_builder.abi import PREFIX
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Signature
from tests.malformed import drawn
from tests.support.drawn import FAST
from tests.support.wrapping import new_module

BY_HAND: Final = Path(__file__).with_name("by_hand.txt")
CC: Final = shlex.split(os.environ.get("CC", "cc"))
VALGRIND: Final = shlex.split(
    "valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite"
)

pytestmark = pytest.mark.skipif(shutil.which(CC[0]) is None, reason=f"needs a C compiler: {CC[0]}")


class Harness(NamedTuple):
    """The program, with the wrappers linked in, what it reads, and what it prints if all is well."""

    program: Path
    calls: Path
    expected: str


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Harness:
    """The wrappers are exported for any x86-64 (or other) CPU."""
    folder = tmp_path_factory.mktemp("malformed")
    text = BY_HAND.read_text()
    if not FAST:  # drawing takes seconds
        text += "".join(f"{line}\n" for line in drawn.lines())
    (folder / "calls.txt").write_text(text)
    module, names = new_module(), list[str]()
    for name, signature in re.findall(r"^# (\w+) (f\(.*)$", text, re.MULTILINE):
        attach(module, Signature.parse(signature), NopCallProvider(), symbol_name=name)
        names.append(name)
    runtime.compile(module).export_object(folder / "wrappers.o")
    (folder / "functions.inc").write_text("".join(f"FUNCTION({PREFIX}{name})\n" for name in names))
    library = Path(libinfo.find_libtvm_ffi())
    subprocess.run(
        [*CC, "-std=c11", "-g", "-O1", "-Wall", "-Werror", f"-I{folder}"]
        + [f"-I{path}" for path in libinfo.include_paths()]
        + [str(Path(__file__).with_name("harness.c")), str(folder / "wrappers.o"), str(library)]
        + [f"-Wl,-rpath,{library.parent}", "-o", str(folder / "harness")],
        check=True,
    )
    calls = len(re.findall("^call ", text, re.MULTILINE))
    return Harness(folder / "harness", folder / "calls.txt", f"{calls} calls, 0 wrong\n")


def test_every_call_raises_what_it_must(harness: Harness):
    found = subprocess.run([*harness[:2]], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, harness.expected), found.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
def test_nothing_is_read_that_was_not_given(harness: Harness):
    found = subprocess.run([*VALGRIND, *harness[:2]], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, harness.expected), found.stderr
