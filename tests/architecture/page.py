"""The generated part of docs/design.md: a table of the package's rooms.

A room is a package or module directly in ``ffi_builder``. A package in a room is an inner room.
Names, floors and descriptions (the first line of a docstring) are read from the code.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Final

import grimp

from ffi_builder.addons import ADD_ONS

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "design.md"
PACKAGE: Final = "ffi_builder"
_GENERATED: Final = re.compile(r"(?<=<!-- rooms -->).*?(?=<!-- end of rooms -->)", re.DOTALL)

_OF_ADD_ONS: Final = {
    ".".join([PACKAGE, *Path(file).with_suffix("").parts]): f"{PACKAGE}.{each.folder}"
    for each in ADD_ONS
    for file in each.also
    if "/" in file
}
"""Modules that go with an add-on elsewhere, with that add-on."""

Imports = Mapping[str, Set[str]]
"""The rooms that each room imports from."""


def read_imports(depth: int) -> Imports:
    """Read the imports between rooms, without those that only type checkers follow.

    With a depth of 2, inner rooms stand beside what else is in their room.
    """
    graph = grimp.build_graph(PACKAGE, cache_dir=None, exclude_type_checking_imports=True)
    packages = {name for name in graph.modules if graph.find_children(name)}
    found: dict[str, set[str]] = defaultdict(set)
    for name in graph.modules:
        if not (room := room_of(name, packages, depth)):
            continue
        found[room] |= {
            other
            for imported in graph.find_modules_directly_imported_by(name)
            if (other := room_of(imported, packages, depth)) not in ("", room)
        }
    return found


def room_of(module: str, packages: Set[str], depth: int) -> str:
    """Return the room that a module is in; ``""`` for ``ffi_builder`` and ``__main__``."""
    parts = _OF_ADD_ONS.get(module, module).split(".")[1:]
    if not parts or parts[0].startswith("__"):
        return ""
    while len(parts) > 1 and (len(parts) > depth or ".".join([PACKAGE, *parts]) not in packages):
        parts.pop()
    return ".".join(parts)


def floors(imports: Imports) -> list[str]:
    """Return the rooms from the top floor down, each floor by name."""
    return sorted(imports, key=lambda room: (-height(room, imports), room))


def height(room: str, imports: Imports) -> int:
    """Return the number of floors below a room."""
    return max((1 + height(other, imports) for other in imports[room]), default=0)


def description(room: str) -> str:
    """Return the first line of a room's docstring, as Markdown."""
    path = ROOT.joinpath(PACKAGE, *room.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(source.read_text())) or ""
    return docstring.partition("\n")[0].replace("``", "`")


def table(imports: Imports) -> Iterator[str]:
    """Yield the lines of the table, from the top floor down."""
    yield "| room | what it does |"
    yield "| -- | -- |"
    yield from (f"| `{room}` | {description(room)} |" for room in floors(imports))


def updated(page: str, imports: Imports) -> str:
    """Return the page with the generated part made anew."""
    text = "\n".join(["\n", *table(imports), "\n"])
    new, count = _GENERATED.subn(lambda _: text, page)
    if count != 1:
        raise ValueError(f"{PAGE.name} needs the comments 'rooms' and 'end of rooms', once each")
    return new
