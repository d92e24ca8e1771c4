"""The saved corpus of malformed arguments, in C, and under valgrind."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from tvm_ffi import libinfo

from ffi_builder.abi import PREFIX
from tests.malformed.corpus import PATH, build, signatures

CC = shlex.split(os.environ.get("CC", "cc"))
VALGRIND = shlex.split(
    "valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite"
)

pytestmark = pytest.mark.skipif(shutil.which(CC[0]) is None, reason=f"needs a C compiler: {CC[0]}")


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, with all wrappers of the corpus linked in, for any x86-64 (or other) CPU."""
    folder = tmp_path_factory.mktemp("malformed")
    found = signatures()
    build(found).export_object(folder / "wrappers.o")
    (folder / "functions.inc").write_text("".join(f"FUNCTION({PREFIX}{name})\n" for name in found))
    library = Path(libinfo.find_libtvm_ffi())
    subprocess.run(
        [*CC, "-std=c11", "-g", "-O1", "-Wall", "-Werror", f"-I{folder}"]
        + [f"-I{path}" for path in libinfo.include_paths()]
        + [str(Path(__file__).with_name("harness.c")), str(folder / "wrappers.o"), str(library)]
        + [f"-Wl,-rpath,{library.parent}", "-o", str(folder / "harness")],
        check=True,
    )
    return folder / "harness"


def calls() -> int:
    return len(re.findall("^call ", PATH.read_text(), re.MULTILINE))


def test_every_call_raises_what_it_must(harness: Path):
    done = subprocess.run([harness, PATH], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{calls()} calls, 0 wrong\n"), done.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
def test_nothing_is_read_that_was_not_given(harness: Path):
    done = subprocess.run(
        [*VALGRIND, harness, PATH],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{calls()} calls, 0 wrong\n"
