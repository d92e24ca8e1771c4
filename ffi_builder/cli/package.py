"""``package``: make a wheel of compiled kernels."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path
from typing import Any

from ffi_builder.errors import BuildError
from ffi_builder.packaging.choices import CPUS, FRAMEWORKS

HELP = "make a wheel of compiled kernels"
DESCRIPTION = """\
Run a Python file that compiles kernels, and make a wheel of them: a library, type stubs, a header
for C and C++, and on request operators of PyTorch and functions of JAX. The file assigns the
compiled or lowered modules to `modules`, as a list, or as a function of the CPU that returns them.
A pyproject.toml beside it describes the wheel in its table [project]. The wheel is imported once
before it is written.
"""
EXAMPLES = """\
examples:
  ffi-builder package kernels.py --name my-kernels --version 1.0
  ffi-builder package kernels.py --for torch jax --cpu x86-64-v2 x86-64-v3 -o dist
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("file", type=Path, help="a Python file that assigns `modules`")
    parser.add_argument("-o", "--output", default="dist", help="folder of the wheel (dist)")
    parser.add_argument("--name", help="name of the wheel, if no pyproject.toml has it")
    parser.add_argument("--version", help="its version")
    parser.add_argument(
        *("--for", "--frameworks"),
        nargs="+",
        default=[],
        choices=FRAMEWORKS,
        dest="frameworks",
        help="also make operators of PyTorch, functions of JAX",
    )
    parser.add_argument(
        "--cpu",
        nargs="+",
        default=[CPUS[0]],
        choices=CPUS,
        dest="cpus",
        help="the CPUs to make a library for (baseline: one that runs everywhere)",
    )
    parser.add_argument("--triple", help="another machine, as aarch64-linux-gnu")
    parser.add_argument(
        "--include",
        nargs="+",
        default=[],
        type=Path,
        metavar="FILE",
        help="more files of the package; a torch.py replaces the one that --for torch makes",
    )


def run(given: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    from ffi_builder.packaging.package import package

    path = package(
        _modules(given.file),
        given.output,
        project=_project(given),
        frameworks=given.frameworks,
        cpus=given.cpus,
        include={path.name: path for path in given.include},
        triple=given.triple,
    )
    print(path)
    return 0


def _modules(file: Path) -> Any:
    sys.path.insert(0, str(file.parent))  # as if Python ran the file
    found = runpy.run_path(str(file))
    if "modules" in found:
        return found["modules"]
    from ffi_builder.runtime import LoweredModule

    names = [name for name, value in found.items() if isinstance(value, LoweredModule)]
    hint = f": write modules = [{', '.join(names)}]" if names else ""
    raise BuildError(f"{file} assigns no `modules`{hint}")


def _project(given: argparse.Namespace) -> Path | dict[str, str]:
    """Return the pyproject.toml beside the file, or what the options say."""
    path: Path = given.file.with_name("pyproject.toml")
    named = {"name": given.name, "version": given.version}
    chosen = {key: value for key, value in named.items() if value is not None}
    if not path.exists():
        if len(chosen) < len(named):
            raise BuildError(
                f"the wheel has no name or no version: give --name and --version, or write a "
                f"table [project] into {path}"
            )
        return chosen
    if chosen:
        raise BuildError(f"{path} names the wheel: leave out --name and --version")
    return path
