"""``package``: make a wheel of compiled kernels."""

from __future__ import annotations

import argparse
import re
import runpy
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from ffi_builder import BuildError
from ffi_builder.cli.output import print_note
from ffi_builder.packaging.choices import CPUS, FRAMEWORKS, LAYOUTS

if TYPE_CHECKING:
    from ffi_builder.packaging.project import Table

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
  ffi-builder package kernels.py --layout hub --backend cu128 -o my-kernels
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("file", type=Path, help="a Python file that assigns `modules`")
    parser.add_argument("-o", "--output", default="dist", help="folder of the wheel (dist)")
    parser.add_argument("--name", help="name of the wheel, instead of that in pyproject.toml")
    parser.add_argument("--version", help="version of the wheel, instead of that in pyproject.toml")
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
        "--layout",
        default=LAYOUTS[0],
        choices=LAYOUTS,
        help="hub: a build in the repository OUTPUT that Hugging Face's `kernels` loads",
    )
    parser.add_argument(
        "--backend", default="cpu", help="for the hub: cpu (the default), cu128, rocm63, …"
    )
    parser.add_argument(
        "--include",
        nargs="+",
        action="extend",
        default=[],
        metavar="[NAME=]FILE",
        help="more files of the package; torch.py=FILE replaces what --for torch makes",
    )
    parser.add_argument(
        "--external",
        nargs="+",
        action="extend",
        default=[],
        metavar="LIBRARY",
        help="libraries that stay outside of the wheel, as libgomp.so.1",
    )


def run(given: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    from ffi_builder.packaging.package import package

    if not given.file.is_file():
        raise BuildError(f"{given.file}: expected a Python file that assigns `modules`")
    project, modules = _project(given), _modules(given.file)
    pairs = (each.rpartition("=")[::2] for each in given.include)
    try:
        path = package(
            _located(given.file, modules) if isinstance(modules, FunctionType) else modules,
            given.output,
            project=project,
            frameworks=given.frameworks,
            cpus=given.cpus,
            include={name or Path(file).name: file for name, file in pairs},
            external=given.external,
            triple=given.triple,
            layout=given.layout,
            backend=given.backend,
        )
    except TypeError as error:  # modules of other types
        raise BuildError(f"{given.file}: {error}") from error
    print(path)
    if path.is_file() and (own := _own_requirement(path)):
        makers = ", ".join(_makers(path))
        why = [f"functions that make tensors ({makers})"] if makers else []
        why += [f"--for {each}" for each in given.frameworks]
        print_note(f"the wheel depends on {own}, for {', '.join(why) or 'what its project says'}")
    return 0


def _makers(wheel: Path) -> Iterable[str]:
    """Return the functions in a wheel that make tensors, for which it has an allocator."""
    from ffi_builder.packaging.wheel import Libraries
    from ffi_builder.runtime.extending import functions, read_metadata

    makers = dict[str, None]()
    with wheel.open("rb") as file:
        libraries = Libraries(file)
        for name in libraries.names:
            with libraries.unpacked(name) as library:
                texts = functions(library)
            infos = (read_metadata(each, text) for each, text in texts.items() if text)
            makers |= dict.fromkeys(info.name for info in infos if info and info.allocates)
    return makers


def _own_requirement(wheel: Path) -> str:
    """Return the requirement of `ffi_builder` in a wheel; empty if it has none."""
    with ZipFile(wheel) as file:
        about = next(each for each in file.namelist() if each.endswith(".dist-info/METADATA"))
        found = re.findall(r"(?m)^Requires-Dist: (ffi_builder[^;\n]*)$", file.read(about).decode())
    return found[-1] if found else ""


def _modules(file: Path) -> Any:
    sys.path.insert(0, str(file.absolute().parent))  # as if Python ran the file
    namespace = _located(file, runpy.run_path)(str(file.absolute()))
    if "modules" in namespace:
        return namespace["modules"]
    from ffi_builder.runtime import LoweredModule

    names = [name for name, value in namespace.items() if isinstance(value, LoweredModule)]
    hint = f": write modules = [{', '.join(names)}]" if names else ""
    raise BuildError(f"{file} assigns no `modules`{hint}")


def _located(file: Path, function: Callable[..., Any]) -> Callable[[str], Any]:
    """Return a function whose errors say in which line of a file they arose."""

    def located(argument: str) -> Any:
        try:
            return function(argument)
        except (Exception, SystemExit) as error:
            frames = traceback.extract_tb(error.__traceback__)
            lines = [frame.lineno for frame in frames if frame.filename == str(file.absolute())]
            at = f"{file}, line {lines[-1]}" if lines else str(file)
            raise BuildError(f"{at}: {type(error).__name__}: {error}") from error

    return located


def _project(given: argparse.Namespace) -> Table | dict[str, str]:
    """Return the table of the pyproject.toml beside the file, with what the options say."""
    from ffi_builder.packaging.project import Table, read_table

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
    table = read_table(path)
    fields = {**table.fields, **chosen}
    fields["dynamic"] = [each for each in fields.get("dynamic", ()) if each not in chosen]
    return Table(fields, table.folder)
