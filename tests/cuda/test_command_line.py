"""``ffi-builder wrap`` with a kernel in a CUDA image: a library, from one command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ffi_builder.fakecuda.records import read_log
from tests.fakecuda import (
    KernelImage,
    Launch,
    Violation,
    environment,
    library,
    make_cubin,
    make_ptx,
    missing,
)
from tests.support.commands import ffi_builder

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

KERNEL = KernelImage("count", (4, 8))
"""``void count(int n, void *out)``."""
SIGNATURE = "count(n: int32, p: DataPointer, stream: Stream)"
CALL = """
import sys
from ffi_builder import runtime
runtime.load(sys.argv[1])["count"](300, None, 0)
"""


def wrap(kernel: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    given = ("wrap", kernel, "--signature", SIGNATURE, "-o", kernel.with_suffix(".so"))
    return ffi_builder(*given, *options)


def refused(kernel: Path, *options: str) -> str:
    """Return the message on stderr; nothing is written."""
    done = wrap(kernel, *options)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" not in done.stderr
    assert not kernel.with_suffix(".so").exists()
    return done.stderr.removeprefix("error: ")


@pytest.fixture
def image(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    suffix: str = getattr(request, "param", ".cubin")
    path = tmp_path / f"kernel{suffix}"
    path.write_bytes(make_ptx([KERNEL]) if suffix.lower() == ".ptx" else make_cubin([KERNEL]))
    return path


@pytest.mark.parametrize("image", [".cubin", ".ptx", ".PTX"], indirect=True)
def test_it_launches(image: Path, tmp_path: Path) -> None:
    sizes = ("--grid", "ceildiv(n, 128), 2", "--block", "128", "--shared-memory", "n * 4")
    if image.suffix == ".cubin":  # in a process of its own, which imports what it needs
        command = [sys.executable, "-m", "ffi_builder", "wrap", str(image), *sizes]
        command += ["--signature", SIGNATURE, "-o", str(image.with_suffix(".so"))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    else:
        done = wrap(image, *sizes)
    assert (done.returncode, done.stderr) == (0, "")
    log = tmp_path / "log"
    env = {**environment(library()), "FAKE_CUDA_LOG": str(log)}
    command = [sys.executable, "-W", "error", "-c", CALL, str(image.with_suffix(".so"))]
    subprocess.run(command, env=env, check=True, cwd=Path(__file__).parents[2])
    events = read_log(log.read_text())
    [launch] = [event for event in events if isinstance(event, Launch)]
    assert (launch.grid, launch.block, launch.shared) == ((3, 2, 1), (128, 1, 1), 1200)
    assert launch.arguments == ((300).to_bytes(4, "little"), bytes(8))
    assert not [event for event in events if isinstance(event, Violation)]


def test_an_object_has_the_image_within(image: Path) -> None:
    made = image.with_suffix(".o")
    options = ("--args", "n, p", "--grid", "1", "--block", "1", "--cluster", "1", "-o", made)
    done = wrap(image, *options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert image.read_bytes() in made.read_bytes()


BOTH = ("--grid", "1", "--block", "1")
MISTAKES: list[tuple[tuple[str, ...], str]] = [
    ((), "a CUDA image needs --grid and --block, as in --grid 'ceildiv(n, 128)' --block 128\n"),
    (("--grid", "1"), "--block is needed: the image does not say how many threads\n"),
    (("--block", "1"), "--block goes with --grid, for a kernel that is launched\n"),
    ((*BOTH, "--convention", "direct"), "--convention goes with MLIR or LLVM IR or an object or an archive or"),
    (("--grid", "n,,1", "--block", "1"), "--grid 'n,,1': an entry is empty\n"),
    ((*BOTH, "--shared-memory", ""), "--shared-memory: expected an int, a symbol"),
    (("--grid", "n +", "--block", "1"), "--grid.x: expected an int, a symbol or an expr"),
    (("--grid", "q", "--block", "1"), "--grid.x: there is no symbol 'q', but n\n"),
    ((*BOTH, "--args", "n"), "the kernel 'count' takes (#0 4 bytes at 0, #1 8 bytes at 8), but"),
    ((*BOTH, "--callee", "other"), "No kernel 'other' in the cubin for sm_90, which has 'count'; say which with --function\n"),
]  # fmt: skip


def test_mistakes(image: Path) -> None:
    for options, words in MISTAKES:
        assert refused(image, *options).startswith(words)


def test_sizes_of_what_is_not_launched(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.mlir"
    kernel.write_text("llvm.func @count()")
    words = refused(kernel, "--convention", "direct", "--shared-memory", "4")
    assert words == "--shared-memory goes with --grid, for a kernel that is launched\n"
    words = refused(kernel, "--convention", "direct", "--grid", "4")
    assert words == "--grid goes with a kernel image, but the source is MLIR\n"
