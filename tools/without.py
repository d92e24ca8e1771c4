"""Runs the tests in a copy of the project that lacks an add-on: ``make test-without WITHOUT=cli``.

    python -m tools.without                            # the add-ons, one a line
    python -m tools.without cli [what pytest takes]    # the tests that are not slow

The copy is what git has, with what was compiled. The add-on's folder goes from it, those of the
add-ons that stand on it, their tests, and the pages and examples that their READMEs link to.
Tests elsewhere that use one of these are skipped ("needs the add-on cli"): few, or it fails.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final

from ffi_builder.addons import ADD_ONS, AddOn

ROOT: Final = Path(__file__).parent.parent
COPIES: Final = ROOT / "build" / "without"
MOST_SKIPPED: Final = 0.25
"""Of the tests and modules of tests that are left."""

_LINK: Final = re.compile(r"\]\(((?:\.\./)+(?:docs|examples)/[^)#]+)\)")
_PASSED: Final = re.compile(r"\b(\d+) passed|^(\d+)(?:/\d+)? tests collected", re.MULTILINE)
_SKIPPED: Final = re.compile(
    r"^SKIPPED \[(\d+)\] .*?: (?:Skipped: )?needs the add-on (\w+).*$", re.M
)


def main() -> int:
    """Return the exit status of pytest; 1 if too much was skipped."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", nargs="?", choices=[each.name for each in ADD_ONS])
    parser.add_argument("pytest", nargs=argparse.REMAINDER, help="what pytest takes")
    options = parser.parse_args()
    if options.name is None:
        print(*(each.name for each in ADD_ONS), sep="\n")
        return 0
    gone = with_what_stands_on(options.name)
    copy = COPIES / options.name
    copy_project(copy)
    for path in sorted({path for each in gone for path in paths(each)}):
        print(f"deleted {path}")
        delete(copy / path)
    return test(copy, options.pytest)


def with_what_stands_on(name: str) -> list[AddOn]:
    """Return an add-on, and all that stand on it."""
    names = {name}
    for _ in ADD_ONS:  # as often as the longest way could be
        names |= {each.name for each in ADD_ONS if names.intersection(each.stands_on)}
    return [each for each in ADD_ONS if each.name in names]


def copy_project(copy: Path) -> None:
    """Copy what git has, or would take, and the extensions."""
    shutil.rmtree(copy, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    built = (str(path.relative_to(ROOT)) for path in (ROOT / "ffi_builder").rglob("*.so"))
    for name in (*filter(None, listed.stdout.split("\0")), *built):
        if (ROOT / name).is_file():  # git still lists what was deleted
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)


def paths(each: AddOn) -> list[Path]:
    """Return what goes with an add-on, relative to the project."""
    folder = Path("ffi_builder", each.folder)
    linked = [(ROOT / folder / link).resolve() for link in _LINK.findall(readme(each))]
    return [
        folder,
        Path("tests", each.folder),
        *(Path("ffi_builder", file) for file in each.also),
        *(path.relative_to(ROOT) for path in linked),
    ]


def readme(each: AddOn) -> str:
    """Return the README of an add-on."""
    return (ROOT / "ffi_builder" / each.folder / "README.md").read_text()


def delete(path: Path) -> None:
    """Delete a file or folder, which may have gone with another."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def test(copy: Path, arguments: list[str]) -> int:
    """Run the tests of a copy, and say how many were skipped for want of an add-on."""
    command = [sys.executable, "-m", "pytest", "-m", "not slow"]
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    running = subprocess.Popen(
        [*command, *arguments], cwd=copy, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    text = ""
    for line in running.stdout:
        text += line
        print(line, end="", flush=True)
    status = running.wait()
    passed = sum(int(ran or found) for ran, found in _PASSED.findall(text))
    skipped = Counter[str]()
    for count, name in _SKIPPED.findall(text):
        skipped[name] += int(count)
    share = skipped.total() / max(1, passed + skipped.total())
    print(f"{passed} passed; skipped for want of an add-on: {skipped.total()} ({share:.0%})")
    if share > MOST_SKIPPED:
        print(f"more than {MOST_SKIPPED:.0%} are skipped: too much is tested through the add-on")
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
