"""examples/triton_rocm.py with Triton itself (`make test-rocm`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples.running import run

pytest.importorskip("triton", reason="needs triton: `make test-rocm` installs it")


@pytest.mark.parametrize(("arch", "threads"), [("gfx942", 256), ("gfx1100", 128)])
def test_what_it_prints(arch: str, threads: int, tmp_path: Path):
    library = tmp_path / "add.so"
    lines = run("triton_rocm.py", arch, str(library)).splitlines()
    head, kernel, refused, launched, written = lines
    assert head == f"code object for {arch}"
    assert kernel.startswith("  add(pointer, pointer, pointer, 4 bytes, pointer, pointer)  [")
    assert f"threads <= {threads}" in kernel
    assert refused.startswith("Mismatched y.shape[0] on argument #1 when calling: `add(")
    assert refused.endswith("expected 1000 (n = x.shape[0]) but got 999")
    assert launched == f"launched add: grid (4, 1, 1), block ({threads}, 1, 1)"
    assert written.startswith("wrote add.so")
    assert library.stat().st_size > 10_000
