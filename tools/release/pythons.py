"""Find the Pythons that wheels are built and tested with."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.release.report import ROOT


@dataclass(frozen=True)
class Python:
    """A Python of this machine."""

    executable: Path
    name: str
    """``python3.12``."""

    @property
    def tag(self) -> str:
        """The tag of wheels for this version: ``cp312``."""
        return "cp" + self.name.removeprefix("python").replace(".", "")


def supported() -> list[str]:
    """Return the versions that the classifiers name, as ``python3.12``."""
    found = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    return [f"python{version}" for version in found]


def look() -> dict[str, Python | None]:
    """Look for the Pythons that ``PYTHONS`` lists, or those of the classifiers; None: not here."""
    names = os.environ.get("PYTHONS", "").split() or supported()
    return {name: _find(name) for name in names}


def _find(name: str) -> Python | None:
    if shutil.which(name) is None:
        return None
    # A Python without venv cannot install anything. A shim of pyenv may lead to no Python.
    code = "import sys, venv; print(sys.executable, 'python%d.%d' % sys.version_info[:2])"
    done = subprocess.run(
        [name, "-c", code], capture_output=True, text=True, check=False, env=_environment()
    )
    if done.returncode:
        return None
    executable, version = done.stdout.split()
    return Python(Path(executable), version)


@cache
def _environment() -> dict[str, str]:
    """Let pyenv's commands find all of its Pythons."""
    if "PYENV_VERSION" in os.environ or shutil.which("pyenv") is None:
        return dict(os.environ)
    listed = subprocess.run(
        ["pyenv", "versions", "--bare"], capture_output=True, text=True, check=True
    )
    return {**os.environ, "PYENV_VERSION": ":".join(listed.stdout.split())}
