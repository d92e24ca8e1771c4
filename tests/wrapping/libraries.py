"""Libraries of the system, which tests wrap where they are installed."""

from __future__ import annotations

import shutil
import subprocess

import pytest


def needs_header(name: str) -> pytest.MarkDecorator:
    """Skip a test where the C compiler finds no such header."""
    found = (
        shutil.which("cc")
        and not subprocess.run(
            ["cc", "-E", "-xc", "-", "-o", "/dev/null"],
            input=f"#include <{name}>\n",
            text=True,
            check=False,
            stderr=subprocess.DEVNULL,
        ).returncode
    )
    return pytest.mark.skipif(not found, reason=f"needs {name}")
