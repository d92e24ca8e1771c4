"""Reads the `[project]` table of a wheel, and writes its metadata."""

from __future__ import annotations

import keyword
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Final

from ffi_builder import BuildError, __version__
from ffi_builder.extending import dataclass, install

OWN: Final = "ffi_builder"
TVM_FFI: Final = "apache-tvm-ffi"
_USED: Final = ("apache_tvm_ffi", OWN, "jax", "numpy", "torch", "tvm_ffi")
"""Modules that packages use, whose names they cannot have."""


@dataclass(frozen=True)
class Project:
    """The name, the version and the metadata of a wheel."""

    name: str
    """The name of the package, and of the distribution as files have it: `my_kernels`."""
    version: str
    summary: str
    license: str
    """The expression of SPDX; "" if there is none."""
    about: Mapping[str, bytes]
    """The files of `.dist-info` that come from the project: METADATA, licences, entry points."""


@dataclass(frozen=True)
class Table:
    """A `[project]` table."""

    fields: Mapping[str, Any]
    folder: Path
    """The folder of the files that it names, such as a readme."""

    @property
    def needs_own(self) -> bool:
        """Whether `ffi_builder` is among its dependencies."""
        wanted = map(str, self.fields.get("dependencies", ()))
        return any(re.match(r"(?i)ffi[-_.]builder(?![\w.-])", each) for each in wanted)


def read_table(given: Table | Mapping[str, object] | str | os.PathLike[str]) -> Table:
    """Read a pyproject.toml, or take its fields, or a table that was read.

    Raises BuildError if the file has no such table, and OSError.
    """
    if isinstance(given, Table):
        return given
    if isinstance(given, Mapping):
        return Table(given, Path())
    path = Path(given)
    # Python 3.10 has no tomllib; the extra installs its origin there.
    toml = _reader("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        return Table(toml.loads(path.read_text())["project"], path.parent)
    except toml.TOMLDecodeError as error:
        raise BuildError(f"{path}: {error}") from None
    except KeyError:
        raise BuildError(f"{path} has no table [project]") from None


def read_project(table: Table, frameworks: Iterable[str], *, needs_own: bool) -> Project:
    """Check a table, and add what the wheel depends on.

    Args:
        table: the fields, as in pyproject.toml.
        frameworks: `torch` and `jax`; each becomes an extra that installs it.
        needs_own: whether the wheel needs `ffi_builder`, or apache-tvm-ffi alone.

    Raises:
        BuildError: a field is missing or wrong, or pyproject-metadata is not installed.
    """
    reader = _reader("pyproject_metadata")
    given = dict(table.fields)
    given.setdefault("requires-python", metadata.metadata(OWN)["Requires-Python"])
    below = _next_breaking(__version__)
    requirements = [_required_tvm_ffi()]
    frameworks = tuple(frameworks)
    if needs_own:
        # A function of JAX compiles code that reorders its arguments, if XLA passes them otherwise.
        extra = "[jit]" if "jax" in frameworks else ""
        requirements.append(f"{OWN}{extra}>={__version__},<{below}")
    given["dependencies"] = [*given.get("dependencies", ()), *requirements]
    extras = dict(given.get("optional-dependencies", {}))
    for each in frameworks:
        extras[each] = [*extras.get(each, ()), f"{OWN}[{each}]>={__version__},<{below}"]
    given["optional-dependencies"] = extras
    try:
        project: Any = reader.StandardMetadata.from_pyproject({"project": given}, table.folder)
        about = {"METADATA": bytes(project.as_rfc822())}
    except reader.ConfigurationError as error:
        raise BuildError(f"package: project: {error}") from None
    name = project.canonical_name.replace("-", "_")
    if not given.get("name") or not name.isidentifier() or keyword.iskeyword(name):
        raise BuildError(
            f"package: project: name: {project.name!r} becomes {name!r}, which Python cannot import"
        )
    if name in sys.stdlib_module_names or name in _USED:
        raise BuildError(f"package: project: name: {name!r} would hide another module: change it")
    if project.version is None:
        raise BuildError("package: project: version: it is missing (--version)")
    for path in project.license_files or ():
        about[f"licenses/{path.as_posix()}"] = (table.folder / path).read_bytes()
    groups = {"console_scripts": project.scripts, "gui_scripts": project.gui_scripts}
    groups |= project.entrypoints
    if any(groups.values()):
        about["entry_points.txt"] = "".join(_entry_points(groups)).encode()
    license_ = project.license if isinstance(project.license, str) else ""
    return Project(name, str(project.version), project.description or "", license_, about)


def _entry_points(groups: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for group, names in groups.items():
        if names:
            yield f"[{group}]\n"
            yield from (f"{name} = {target}\n" for name, target in names.items())


def _reader(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise BuildError(f"package: {error}: {install('package')}") from None


def _required_tvm_ffi() -> str:
    """Return the requirement of `ffi_builder` itself."""
    pattern = rf"{TVM_FFI}([<>=.,\d]+)"
    matches = (re.fullmatch(pattern, each) for each in metadata.requires(OWN) or [])
    bounds = next(filter(None, matches))[1]
    return TVM_FFI + ",".join(sorted(bounds.split(","), reverse=True))


def _next_breaking(version: str) -> str:
    """Return the next version that may break users: 0.3 after 0.2.1, 2 after 1.4."""
    major, minor = map(int, version.split(".")[:2])
    return str(major + 1) if major else f"0.{minor + 1}"
