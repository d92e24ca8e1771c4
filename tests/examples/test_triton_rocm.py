"""examples/triton_rocm.py with Triton itself (`make test-rocm`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples.running import run

pytest.importorskip("triton", reason="needs triton: `make test-rocm` installs it")


@pytest.mark.parametrize(("arch", "threads"), [("gfx942", 256), ("gfx1100", 128)])
def test_what_it_prints(arch: str, threads: int, tmp_path: Path):
    library = tmp_path / "add.so"
    head, kernel, signature, *rest = run("triton_rocm.py", arch, str(library)).splitlines()
    assert head == f"code object for {arch}"
    assert kernel.startswith("  add(pointer, pointer, pointer, 4 bytes, pointer, pointer)  [")
    assert f"threads <= {threads}" in kernel
    assert signature.endswith(
        " where n: int32, x.data % 16 == 0, y.data % 16 == 0, out.data % 16 == 0, 4 * n <= 2147483647"
    )
    assert rest[0].startswith("wrote add.so")
    assert library.stat().st_size > 10_000
