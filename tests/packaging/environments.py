"""Environments that have what a wheel's users have, and no compilers."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Final

from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

TVM_FFI: Final = ("apache-tvm-ffi", "typing-extensions", "numpy")
NO_COMPILERS: Final = {"PATH": "/nonexistent", "CC": "/nonexistent/cc"}


class Environment:
    """A virtual environment with links to installed distributions."""

    def __init__(self, folder: Path, distributions: Iterable[str] = TVM_FFI) -> None:
        """Make it in a folder, with distributions of this Python."""
        venv.create(folder, with_pip=False, symlinks=True)
        self.folder = folder
        names = {"base": str(folder), "platbase": str(folder)}
        self.site = Path(sysconfig.get_path("purelib", "venv", names))
        for name in distributions:
            files = metadata.distribution(name).files or []
            for top in {Path(file).parts[0] for file in files} - {"..", "__pycache__"}:
                if not (self.site / top).exists():
                    (self.site / top).symlink_to(
                        Path(str(metadata.distribution(name).locate_file(top)))
                    )

    @property
    def program(self) -> Path:
        """Its Python."""
        return self.folder / "bin" / "python"

    def pip(self, *arguments: str | Path) -> str:
        """Run the pip of this Python in it, without an index."""
        command = [sys.executable, "-m", "pip", "--python", self.program, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def install(self, wheel: Path) -> None:
        """Install a wheel. What it needs is there, or left out on purpose."""
        self.pip("install", "--quiet", "--no-index", "--no-deps", wheel)

    def unpack(self, wheel: Path) -> None:
        """Install a wheel whose files all go where modules are, without pip, which takes a second."""
        tags = parse_wheel_filename(wheel.name)[-1]
        assert not tags.isdisjoint(sys_tags()), f"pip would refuse {wheel.name}"
        with zipfile.ZipFile(wheel) as opened:
            assert not any(".data/" in name for name in opened.namelist())
            opened.extractall(self.site)

    def run(self, code: str) -> str:
        """Run code in it; return what it prints."""
        done = self.ran(code)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ran(self, code: str) -> subprocess.CompletedProcess[str]:
        """Run code in it."""
        return subprocess.run(
            [self.program, "-I", "-W", "error", "-c", code],
            cwd=self.folder,
            env=NO_COMPILERS,
            capture_output=True,
            text=True,
            check=False,
        )
