"""Install wheels in clean environments, and use them there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tools.release.pythons import Python
from tools.release.report import ROOT, Failed, run

CALLS = ("tests/entry", "tests/arrays")
"""Tests of calls from Python, of which each wheel has its own code."""
SELF_TEST = "tests/test_project.py tests/spec tests/plan tests/abi tests/entry"
"""Tests that an unpacked sdist runs; all tests would take ten minutes."""


def extras() -> list[str]:
    """Return the extras that pyproject.toml declares."""
    text = (ROOT / "pyproject.toml").read_text()
    section = text.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    return re.findall(r"^(\w+) = \[", section, re.MULTILINE)


def install(python: Python, wheel: Path, extra: str, folder: Path, *more: str) -> Path:
    """Install a wheel with an extra (or none, ``""``) in a new environment; return its Python."""
    shutil.rmtree(folder, ignore_errors=True)
    run(python.executable, "-m", "venv", folder)
    made = folder / "bin" / "python"
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    run(made, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted, *more)
    return made


def try_wheel(python: Python, wheel: Path, extra: str, folder: Path) -> str:
    """Install a wheel with an extra, and use it; with ``demo``, run all of the README."""
    made = install(python, wheel, extra, folder / "env")
    done = ["installed", "pip check"]
    run(made, "-m", "pip", "check")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    where = run(made, "-c", "import ffi_builder; print(ffi_builder.__file__)", cwd=elsewhere)
    if "site-packages" not in where:
        raise Failed(f"the package is imported from {where}")
    command = folder / "env" / "bin" / "ffi-builder"
    shown = run(command, "explain", "--signature", "f(n: int32)", cwd=elsewhere)
    if not shown.startswith("f(n: int32)\n"):
        raise Failed(shown)
    if extra == "demo":
        shutil.copy(ROOT / "README.md", elsewhere)
        shutil.copytree(ROOT / "tests" / "docs", elsewhere / "tests" / "docs")
        run(command, "doctor", cwd=elsewhere)
        blocks = ["-W", "error", "-m", "tests.docs.blocks", "README.md"]
        run(made, *blocks, cwd=elsewhere)
        done += ["doctor", "README.md"]
    shutil.rmtree(folder)
    return ", ".join(done)


def test_calls(python: Python, wheel: Path, folder: Path, *, in_c: bool) -> str:
    """Run the tests of calls with an installed wheel, which reads calls in C or does not."""
    tools = ("pytest>=9,<10", "hypothesis>=6.130,<7")
    made = install(python, wheel, "demo", folder / "env", *tools)
    # A copy, without the package beside it: what is installed is tested.
    for name in ("pyproject.toml", "tests"):
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name)
    code = (
        "from tests.support.entries import READ_IN_C; import ffi_builder, sys; "
        f"sys.exit(READ_IN_C is not {in_c} or 'site-packages' not in ffi_builder.__file__)"
    )
    run(made, "-c", code, cwd=folder)
    return run(made, "-m", "pytest", "-q", *CALLS, cwd=folder).splitlines()[-1]


def test_sdist(python: Python, sdist: Path, folder: Path) -> str:
    """Unpack an sdist, and let it test itself."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.unpack_archive(sdist, folder)
    (tree,) = folder.iterdir()
    make = ["make", "--no-print-directory", f"PYTHON={python.executable}"]
    last = run(*make, "test", f"TESTS={SELF_TEST} -m 'not slow'", cwd=tree).splitlines()[-1]
    shutil.rmtree(folder)
    return last
