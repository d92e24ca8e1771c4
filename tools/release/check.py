"""``make release-check``: build a release, and print a line for each check of it.

    python -m tools.release.check

``PYTHONS`` lists Pythons, ``EXTRAS`` extras (``none`` is the wheel alone); left out, all that are
here. The exit status is 1 if a check failed. What was checked is in ``dist``.
"""

from __future__ import annotations

import os
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Final

from tools.release import build, contents, environments, pythons
from tools.release.report import ROOT, Report

WORK: Final = ROOT / "build" / "release"
NO_EXTRA: Final = "none"


def main() -> int:
    """Check everything; return the exit status."""
    extras = [NO_EXTRA, *environments.extras()]
    wanted = os.environ.get("EXTRAS", "").split() or extras
    if unknown := [extra for extra in wanted if extra not in extras]:
        sys.exit(f"EXTRAS: there is no extra {unknown[0]}, but {', '.join(extras)}")
    report = Report()
    found = pythons.look()
    here = [python for python in found.values() if python is not None]
    for name, python in found.items():
        if python is None:
            report.skip(name, "is not here")
    shutil.rmtree(WORK, ignore_errors=True)
    source = _sdist(report)
    if source is None or not here:
        return 1
    wheels: dict[Path, list[pythons.Python]] = {}

    def made() -> str:
        wheels.update(build.wheels(here, source, WORK / "wheels"))
        return f"{len(wheels)} for {len(here)} Pythons"

    if not report.check("wheels", made):
        return 1
    for wheel, fitting in wheels.items():
        _wheel(report, wheel, source, fitting[0])
    report.check("sdist tests itself", partial(_self_test, here[0], source))
    for wheel, fitting in wheels.items():
        for python in fitting:
            for extra in wanted:
                _environment(report, python, wheel, extra)
    if report.failures:
        print(f"{report.failures} checks failed")
        return 1
    _hand_over([source, *wheels])
    return 0


def _sdist(report: Report) -> Path | None:
    made: list[Path] = []

    def twice() -> str:
        made.extend(build.sdist(WORK / each / "sdist") for each in ("first", "second"))
        return contents.same(*made)

    if not report.check("sdist, built twice", twice):
        return None
    report.check("sdist's metadata", partial(contents.metadata, made[0]))
    return made[0]


def _wheel(report: Report, wheel: Path, source: Path, python: pythons.Python) -> None:
    tag = python.tag

    def twice() -> str:
        again = build.wheel(python, source, WORK / "again" / "elsewhere" / tag)
        return f"{wheel.name}, {contents.same(wheel, again)}"

    report.check(f"{tag}, built twice", twice)
    report.check(f"{tag}'s metadata", partial(contents.metadata, wheel))
    report.check(f"{tag}'s files", partial(contents.files, wheel))
    report.check(f"{tag}'s extensions", partial(contents.extensions, wheel))


def _self_test(python: pythons.Python, source: Path) -> str:
    return f"{python.name}: {environments.test_sdist(python, source, WORK / 'unpacked')}"


def _environment(report: Report, python: pythons.Python, wheel: Path, extra: str) -> None:
    folder = WORK / "environments" / f"{python.tag}-{extra}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    given = "" if extra == NO_EXTRA else extra
    what = f"{python.name} [{given}]" if given else python.name
    report.check(what, partial(environments.try_wheel, python, wheel, given, folder))


def _hand_over(made: list[Path]) -> None:
    """Put what was checked into ``dist``, alone."""
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir()
    for path in made:
        print(shutil.copy(path, dist))


if __name__ == "__main__":
    sys.exit(main())
