"""Functions in C for kernels to call."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory


def loaded(source: str, *flags: str) -> ctypes.CDLL:
    """Compile and load functions, so that modules that are compiled later find them."""
    with TemporaryDirectory() as folder:
        text, library = Path(folder, "functions.c"), Path(folder, "libfunctions.so")
        text.write_text(source)
        command = ["cc", "-O1", "-w", "-shared", "-fPIC", *flags, str(text), "-o", str(library)]
        subprocess.run(command, check=True, timeout=60)
        return ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
