"""Install wheels in clean environments, and use them there."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from tools.release.pythons import Python
from tools.release.report import ROOT, Failed, run
from tools.release.uses import USES

CALLS = ("tests/entry", "tests/arrays")
"""Tests of calls from Python, of which each wheel has its own code."""
EMULATED = ROOT / ".venv-aarch64"
SELF_TEST = "tests/test_project.py tests/spec tests/plan tests/abi tests/entry"
"""Tests that an unpacked sdist runs; all tests would take ten minutes."""


def extras() -> list[str]:
    """Return the extras that pyproject.toml declares."""
    text = (ROOT / "pyproject.toml").read_text()
    section = text.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    return re.findall(r"^([\w-]+) = \[", section, re.MULTILINE)


def install(python: Python, wheel: Path, extras: Sequence[str], folder: Path, *more: str) -> Path:
    """Install a wheel with extras in a new environment; return the folder of its programs."""
    shutil.rmtree(folder, ignore_errors=True)
    run(python.executable, "-m", "venv", folder)
    programs = folder / "bin"
    wanted = f"{wheel}[{','.join(extras)}]" if extras else str(wheel)
    pip = [programs / "python", "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "install", "--quiet", wanted, *more)
    run(*pip, "check")
    return programs


def try_wheel(python: Python, wheel: Path, extra: str, folder: Path) -> str:
    """Install a wheel with an extra (or none, ``""``), and use it; return what was done."""
    use = USES[extra]
    extras = [*use.beside, *filter(None, [extra])]
    programs = install(python, wheel, extras, folder / "env")
    elsewhere = folder / "elsewhere"
    for name in ("pyproject.toml", "README.md", "docs", "examples", "tests/docs"):
        _copy(name, elsewhere)
    (elsewhere / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    # As after `source env/bin/activate`.
    env = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    code = "import ffi_builder; print(ffi_builder.__file__)"
    where = run("python", "-c", code, cwd=elsewhere, env=env)
    if "site-packages" not in where:
        raise Failed(f"the package is imported from {where}")
    blocks = ["python", "-W", "error", "-m", "tests.docs.blocks"]
    if python.name not in use.left_out_on:
        blocks.append("--all")
    for command in (*use.commands, *((*blocks, page) for page in use.pages)):
        run(*command, cwd=elsewhere, env=env)
    shutil.rmtree(folder)
    beside = [f"with {', '.join(use.beside)}"] if use.beside else []
    return ", ".join([*beside, "pip check", *use.programs, *use.pages])


def _copy(name: str, folder: Path) -> None:
    """Copy a file or a folder of the repository, without the package beside it."""
    source = ROOT / name
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)


def test_calls(python: Python, wheel: Path, folder: Path, *, in_c: bool) -> str:
    """Run the tests of calls with an installed wheel, which reads calls in C or does not."""
    tools = ("pytest>=9,<10", "hypothesis>=6.130,<7")
    made = install(python, wheel, ["demo"], folder / "env", *tools) / "python"
    for name in ("pyproject.toml", "tests"):
        _copy(name, folder)
    code = (
        "from tests.support.entries import READ_IN_C; import ffi_builder, sys; "
        f"sys.exit(READ_IN_C is not {in_c} or 'site-packages' not in ffi_builder.__file__)"
    )
    run(made, "-c", code, cwd=folder)
    return run(made, "-m", "pytest", "-q", *CALLS, cwd=folder).splitlines()[-1]


def can_emulate(machine: str, wheel: Path) -> bool:
    """Return whether the emulated system is here, and its Python is the one of a wheel."""
    return machine == "aarch64" and "-cp311-cp311-" in wheel.name and EMULATED.is_dir()


def test_emulated(wheel: Path) -> str:
    """Run the tests of calls with a wheel for AArch64 in the emulated system."""
    folder = EMULATED / "root" / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.unpack_archive(wheel, folder, "zip")
    code = (
        "import sys; sys.path[:0] = ['/wheel']; import ffi_builder, pytest; "
        "from tests.support.entries import READ_IN_C; "
        "assert READ_IN_C and ffi_builder.__file__.startswith('/wheel/'); "
        f"sys.exit(pytest.main(['-q', '-m', 'not slow', *{CALLS!r}]))"
    )
    shown = run(ROOT / "tests" / "aarch64" / "run.sh", EMULATED, "python3", "-c", code)
    return shown.splitlines()[-1]


def test_sdist(python: Python, sdist: Path, folder: Path) -> str:
    """Unpack an sdist, and let it test itself."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.unpack_archive(sdist, folder)
    (tree,) = folder.iterdir()
    make = ["make", "--no-print-directory", f"PYTHON={python.executable}"]
    last = run(*make, "test", f"TESTS={SELF_TEST} -m 'not slow'", cwd=tree).splitlines()[-1]
    shutil.rmtree(folder)
    return last
