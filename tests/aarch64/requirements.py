"""Print what the tests need on an aarch64 machine, as a requirements file for pip.

    python requirements.py 3.11

pip reads the markers of ``--platform`` downloads for the machine that it runs on.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import metadata

from packaging.requirements import Requirement

PACKAGE = "ffi_builder"


def requirements(extra: str, target: dict[str, str]) -> Iterator[str]:
    """Yield the requirements of the package with an extra, without their markers."""
    for text in metadata.requires(PACKAGE) or ():
        requirement = Requirement(text)
        marker = requirement.marker
        wanted = extra == "" if marker is None else marker.evaluate({**target, "extra": extra})
        if not wanted:
            continue
        if requirement.name == PACKAGE:
            for other in sorted(requirement.extras):
                yield from requirements(other, target)
        else:
            yield f"{requirement.name}{requirement.specifier}"


def main(version: str) -> None:
    """Print the requirements of the tests for a Python version, such as ``3.11``."""
    target = {
        "python_version": version,
        "python_full_version": f"{version}.0",
        "platform_machine": "aarch64",
        "sys_platform": "linux",
    }
    lines = ["setuptools", *requirements("", target), *requirements("test", target)]
    print("\n".join(sorted(set(lines))))


if __name__ == "__main__":
    main(sys.argv[1])
