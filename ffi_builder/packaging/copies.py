"""Copies shared libraries into a wheel, beside the library that needs them.

The loader takes the first library of a name that the process has. So a copy gets a name from its
content, and loses its SONAME, by which the loader would know it as well. Only if another copy needs
it, it keeps both. It also loses the folders of this machine in which it would look for others.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ffi_builder import BuildError, LinkError
from ffi_builder.extending import dataclass, elf
from ffi_builder.packaging.manylinux import is_everywhere
from ffi_builder.runtime.extending import (
    Exporter,
    Inspected,
    Item,
    LibrarySource,
    inspected,
    libraries_among,
    movable,
)


@dataclass(frozen=True)
class Copy:
    """A copy of a shared library, which is linked."""

    source: LibrarySource
    """With the path of the copy."""
    inside: bool
    """Whether it is in the wheel."""
    inspection: Inspected

    @property
    def path(self) -> Path:
        """The path of the copy."""
        return Path(self.source.copy)


@dataclass(frozen=True)
class Linked:
    """A library of the wheel, and the copies that lie beside it."""

    path: Path
    inspection: Inspected
    copies: Sequence[Copy]

    @property
    def files(self) -> Iterator[Path]:
        """Yield the library, and its copies that the wheel contains."""
        yield self.path
        yield from (copy.path for copy in self.copies if copy.inside)

    @property
    def parts(self) -> Iterator[tuple[str, Inspected]]:
        """Yield the parts of the wheel, each with its name for errors."""
        yield self.path.name, self.inspection
        yield from ((copy.source.given, copy.inspection) for copy in self.copies if copy.inside)

    @property
    def outside(self) -> Iterator[tuple[str, str]]:
        """The names of libraries that are not in the wheel, each with the library that needs it."""
        inside = {path.name for path in self.files}
        yield from ((n, by) for by, part in self.parts for n in part.needs if n not in inside)


def copied(
    links: Sequence[Item], beside: Path, machine: str, external: Collection[str]
) -> list[Copy]:
    """Copy libraries that were given by paths.

    Args:
        links: the libraries, among other items.
        beside: the path of the library that needs them, which will be linked.
        machine: what they must be for.
        external: the names of libraries that stay outside of the wheel.

    Raises:
        BuildError: a library is damaged or for another machine, or must keep a name that another
            one has.
        OSError: a library cannot be read.
    """
    sources = dict.fromkeys(libraries_among(links))
    read = {each: _read(each.given, machine) for each in sources}
    needed = {name for _, inspection in read.values() for name in inspection.needs}
    copies: list[Copy] = []
    for source, (data, inspection) in read.items():
        name = inspection.soname or Path(source.given).name
        inside = not is_everywhere(name) and name not in external
        dropped = set[int]() if external else {elf.DT_RPATH, elf.DT_RUNPATH}
        if inside and name not in needed:
            stem = re.sub(r"[^\w.+-]", "_", Path(name).name.partition(".so")[0])
            name = f"{stem}.so.{hashlib.sha256(data).hexdigest()[:8]}"
            dropped.add(elf.DT_SONAME)
        content = movable(data, dropped)
        path = beside.with_name(Path(name).name)
        if path == beside or (path.exists() and path.read_bytes() != content):
            raise BuildError(
                f"package: {source.given} keeps its name, {path.name}, and another library of the "
                f"wheel has this name: build it with another SONAME, or rename the project"
            )
        path.write_bytes(content)
        copies.append(Copy(replace(source, copy=str(path)), inside, inspection))
    return copies


def with_copies(exporter: Exporter, copies: Sequence[Copy]) -> Exporter:
    """Return the exporter with copies in the place of what was copied."""
    sources = {copy.source.given: copy.source for copy in copies}
    links = [
        sources.get(item.given, item) if isinstance(item, LibrarySource) else item
        for item in exporter.links
    ]
    return replace(exporter, links=links)


def _read(path: str, machine: str) -> tuple[bytes, Inspected]:
    try:
        data = movable(Path(path).read_bytes())
        inspection = inspected(io.BytesIO(data))
    except LinkError as error:
        raise BuildError(f"package: {path}: {error}") from None
    if inspection.machine != machine:
        raise BuildError(
            f"package: {path} is for {inspection.machine}, and the wheel for {machine}"
        )
    return data, inspection
