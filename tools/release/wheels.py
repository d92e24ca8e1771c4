"""``make wheels``: build an sdist and the wheels, and pass the tests of calls with each Python.

    python -m tools.release.wheels

``PYTHONS`` lists the Pythons; left out, all that are here. Where the C compiler of another machine
is (Debian's gcc-aarch64-linux-gnu), its wheels are built, too, and tested in the system that ``make
test-aarch64`` has made, if it is there. The last wheel is made without a compiler. The exit status
is 1 if tests failed. The files are in ``dist``.
"""

from __future__ import annotations

import shutil
import sys
from functools import partial
from typing import Final

from tools.release import build, environments, pythons
from tools.release.report import ROOT, Report

WORK: Final = ROOT / "build" / "wheels"


def main() -> int:
    """Build and test everything; return the exit status."""
    report = Report()
    here = [python for python in pythons.look().values() if python is not None]
    shutil.rmtree(WORK, ignore_errors=True)
    source = build.sdist(WORK / "sdist")
    _own, *others = build.machines()
    wheels = build.wheels(here, source, WORK / "made")
    cross = {each: build.wheels(here, source, WORK / each, each) for each in others}
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir()
    for path in (source, *wheels, *(path for made in cross.values() for path in made)):
        print(shutil.copy(path, dist))
    for path, fitting in wheels.items():
        for python in fitting:
            folder = WORK / python.tag
            test = partial(environments.test_calls, python, path, folder, in_c=True)
            report.check(python.name, test)
    for machine, made in cross.items():
        for path in made:
            if environments.can_emulate(machine, path):
                test = partial(environments.test_emulated, path)
                report.check(f"{path.name.split('-')[2]} on {machine}", test)
            else:
                report.skip(path.name, "built, and not tested: no such machine")
    none = build.wheel(here[-1], source, WORK / "none" / "made", compiler="false")
    test = partial(environments.test_calls, here[-1], none, WORK / "none", in_c=False)
    report.check("without a compiler", test)
    return int(report.failures > 0)


if __name__ == "__main__":
    sys.exit(main())
