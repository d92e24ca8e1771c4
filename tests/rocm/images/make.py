"""Write the images of tests/rocm/images/images anew.

    .venv-rocm/bin/python -m tests.rocm.images.make

It needs what `make test-rocm` installs, and Debian's clang-19 and lld-19. The tests need none of
these.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from tests.rocm.images import compilers

IMAGES: Final = Path(__file__).parent / "images"
CODE: Final = (
    ("opencl", "gfx942"),
    ("triton", "gfx942"),
    ("triton", "gfx1100"),
    ("triton", "gfx1250"),
    ("iree", "gfx942"),
    ("iree", "gfx1100"),
    ("flydsl", "gfx942"),
)


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    for compiler, processor in CODE:
        with tempfile.TemporaryDirectory() as folder:
            data = compilers.COMPILERS[compiler](processor, Path(folder))
            (IMAGES / f"{compiler}-{processor}.hsaco").write_bytes(data)
    with tempfile.TemporaryDirectory() as folder:
        targets = "gfx90a:sramecc+:xnack-,gfx1100"
        for name, options in (("hip.hipfb", ()), ("hip.ccob", ("--offload-compress",))):
            (IMAGES / name).write_bytes(compilers.hip(targets, Path(folder), *options))
        data = compilers.opencl("gfx90a:xnack+", Path(folder), version=6)
        (IMAGES / "opencl-gfx90a.hsaco").write_bytes(data)


if __name__ == "__main__":
    main()
