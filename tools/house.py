"""Prints how the house is built: ``python -m tools.house``.

What is read: the add-ons of ``ffi_builder/addons.py`` are folders, ``runtime`` is a part by itself,
the rest is the core. Imports count wherever they stand: for type checkers alone, in functions, in
code for a child, and as names that ``importing.load`` is given. Left out are the packages' faces,
and ``addons.py``: names that are loaded when they are first used. A room is a package or module
directly in ``ffi_builder``; with inner rooms, a package within one counts by itself. What is
walked: ``wrap`` of a module in MLIR, once traced, after it has been run once.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final

from ffi_builder import extending
from ffi_builder.addons import ADD_ONS
from ffi_builder.runtime import extending as runtime_extending
from tools.lines import code_lines as lines_with_code
from tools.lines import count_c

ROOT: Final = Path(__file__).parent.parent
PACKAGE: Final = ROOT / "ffi_builder"
FACES: Final = ("ffi_builder.addons", "ffi_builder.extending", "ffi_builder.runtime.extending")
"""What authors of add-ons may import beside the public names."""
_BOTH: Final = (extending, runtime_extending)
_IN_TEXT: Final = re.compile(rf"^from ({PACKAGE.name}[\w.]*) import ([\w, ]+)", re.MULTILINE)

_MODULE: Final = """
module {
  func.func @NAME(%x: memref<?xf32>) attributes {llvm.emit_c_interface} { return }
}
"""


@dataclass(frozen=True)
class Import:
    """An import; ``name`` is empty where the module itself is imported."""

    by: str
    module: str
    name: str = ""

    @property
    def target(self) -> str:
        """The module that is imported, whether by itself or as a name of its package."""
        inner = f"{self.module}.{self.name}"
        return inner if self.name and inner in sources() else self.module


@cache
def sources() -> dict[str, Path]:
    """Return the files of all modules, by name."""
    found: dict[str, Path] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree(module: str) -> ast.Module:
    """Parse a module."""
    return ast.parse(sources()[module].read_text())


def part(module: str) -> str:
    """Return the part that a module is of: an add-on (the innermost), ``runtime`` or ``core``."""
    path = sources()[module].relative_to(PACKAGE).as_posix()
    owners = [a.name for a in ADD_ONS if path.startswith(f"{a.folder}/") or path in a.also]
    if owners:
        return owners[-1]
    if path.startswith("providers/variants/"):
        return "variants"
    return "runtime" if path.startswith("runtime/") else "core"


def imports(module: str) -> Iterator[Import]:
    """Yield all imports of modules of the package."""
    for node in ast.walk(tree(module)):
        match node:
            case ast.ImportFrom(module=str(name), names=names) if is_ours(name):
                yield from (Import(module, name, each.name) for each in names)
            case ast.Import(names=names):
                yield from (Import(module, each.name) for each in names if is_ours(each.name))
            case ast.Call(args=[ast.Constant(value=str(name)), *_]) if name in sources():
                yield Import(module, name)
            case ast.Constant(value=str(text)):  # code that a child runs
                for name, names in _IN_TEXT.findall(text):
                    yield from (Import(module, name, each.strip()) for each in names.split(","))
            case _:
                pass


def is_ours(name: str) -> bool:
    """Tell whether a module is of the package."""
    return name.partition(".")[0] == PACKAGE.name


def is_face(module: str) -> bool:
    """Tell whether a module only names what others have."""
    return sources()[module].name == "__init__.py" or module == f"{PACKAGE.name}.addons"


@cache
def graph() -> Mapping[str, Set[str]]:
    """Return the modules that each module imports; none of a face, which loads them later."""
    return {
        name: set[str]() if is_face(name) else {each.target for each in imports(name)} - {name}
        for name in sources()
    }


def circles(edges: Mapping[str, Set[str]]) -> list[set[str]]:
    """Return the groups that can reach each other."""
    far = {each: reached(each, edges) for each in edges}
    groups = [{b for b in far[a] if a in far[b]} for a in edges]
    return [group for at, group in enumerate(groups) if group and group not in groups[:at]]


def reached(start: str, edges: Mapping[str, Set[str]]) -> set[str]:
    """Return all that can be reached."""
    found: set[str] = set()
    left = list(edges[start])
    while left:
        each = left.pop()
        if each not in found:
            found.add(each)
            left += edges.get(each, ())
    return found


def room(module: str, depth: int = 1) -> str:
    """Return the room of a module; empty for the package's own face."""
    path = sources()[module].relative_to(PACKAGE).as_posix()
    moved = next((a.module("") for a in ADD_ONS if path in a.also), module)
    parts = moved.split(".")[1:]
    while len(parts) > 1 and (
        len(parts) > depth or sources()[".".join([PACKAGE.name, *parts])].name != "__init__.py"
    ):
        parts.pop()
    return ".".join(parts)


def upward() -> list[str]:
    """Return the imports against the order that those at the top of modules give the rooms."""
    below: dict[str, set[str]] = defaultdict(set)
    for module in sources():
        below[room(module)] |= {room(each.target) for each in run_time(module)} - {room(module), ""}
    far = {name: reached(name, below) for name in [*below]}
    return sorted(
        f"{module} → {target}"
        for module, targets in graph().items()
        for target in targets
        if room(module) in far[room(target)] and room(module) != room(target)
    )


def run_time(module: str) -> Iterator[Import]:
    """Yield the imports at the top of a module: those that always run."""
    for node in tree(module).body if not is_face(module) else ():
        match node:
            case ast.ImportFrom(module=str(name), names=names) if is_ours(name):
                yield from (Import(module, name, each.name) for each in names)
            case _:
                pass


def includes() -> dict[str, set[str]]:
    """Return the files of C that each file of C includes, by path."""
    files = {
        str(path.relative_to(PACKAGE)): path
        for path in sorted([*PACKAGE.rglob("*.c"), *PACKAGE.rglob("*.h")])
    }
    return {
        name: {
            str(other.relative_to(PACKAGE))
            for line in path.read_text().splitlines()
            if line.startswith('#include "')
            and (other := path.parent / line.split('"')[1]) in files.values()
        }
        for name, path in files.items()
    }


def classes() -> dict[str, list[str]]:
    """Return the names of classes that stand in two or more modules, with these."""
    found: dict[str, list[str]] = defaultdict(list)
    for module in sources():
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(module)
    return {name: where for name, where in sorted(found.items()) if len(set(where)) > 1}


def public() -> set[str]:
    """Return the names that users may rely on, and the packages that they are in."""
    text = (ROOT / "tests" / "public_names.txt").read_text()
    names = {line.partition("(")[0] for line in text.splitlines() if line[:1].strip()}
    names.add("ffi_builder.__version__")
    return names | {name.rpartition(".")[0] for name in names}


def crossing() -> list[str]:
    """Return the names of the core and the runtime that an add-on imports, and that are private."""
    known = public()
    return sorted(
        {
            f"{part(module)}: {name}"
            for module in sources()
            if part(module) not in ("core", "runtime", "variants")
            for name in taken(module)
            if name not in known
        }
    )


def taken(module: str) -> Iterator[str]:
    """Yield the names that a module takes from the core and the runtime, but for the faces."""
    for each in imports(module):
        if each.target not in sources() or each.target.startswith(FACES):
            continue
        if part(each.target) not in ("core", "runtime", "variants"):
            continue
        if each.name and each.target == each.module:
            yield f"{each.module}.{each.name}"
        else:  # a module: what is taken of it
            alias = each.name or each.module
            yield from (f"{each.target}.{name}" for name in attributes(module, alias))


def face_users() -> dict[str, set[str]]:
    """Return the add-ons that use each name of the two faces."""
    found = {f"{face.__name__}.{name}": set[str]() for face in _BOTH for name in face.__all__}
    for module in sources():
        if part(module) not in ("core", "runtime", "variants"):
            for each in imports(module):
                if (name := f"{each.module}.{each.name}") in found:
                    found[name].add(part(module))
    return found


def by_users(found: Mapping[str, Set[str]]) -> list[str]:
    """Say for how many add-ons the names of the faces are, in one line."""
    alone = Counter(next(iter(users)) for users in found.values() if len(users) == 1)
    shared = sum(len(users) > 1 for users in found.values())
    each = ", ".join(f"{name} {number}" for name, number in alone.most_common())
    return [f"for two add-ons or more {shared}; for one: {each}"]


def attributes(module: str, alias: str) -> set[str]:
    """Return the attributes that a module reads of another that it has imported."""
    return {
        node.attr
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == alias
    }


@dataclass(frozen=True)
class Walk:
    """The modules that a run calls functions in, and the calls from one room into another."""

    modules: Set[str]
    calls: Counter[tuple[str, str]]

    def rooms(self, depth: int) -> set[str]:
        """Return the rooms that were entered."""
        return {room(module, depth) for module in self.modules} - {""}

    def handed_over(self, depth: int) -> Counter[tuple[str, str]]:
        """Count the calls from one room into another."""
        found = Counter[tuple[str, str]]()
        for (caller, called), number in self.calls.items():
            pair = room(caller, depth), room(called, depth)
            if pair[0] != pair[1] and "" not in pair:
                found[pair] += number
        return found

    def both_ways(self, depth: int) -> list[str]:
        """Return the pairs of rooms that call each other."""
        pairs = self.handed_over(depth)
        return sorted(f"{a} ⇄ {b}" for a, b in pairs if a < b and (b, a) in pairs)


def walk() -> Walk:
    """Trace one run of ``wrap`` of a module in MLIR."""
    from ffi_builder import wrap

    names = {str(path): module for module, path in sources().items()}
    modules: set[str] = set()
    calls = Counter[tuple[str, str]]()

    def trace(frame: FrameType, event: str, argument: Any) -> None:
        module = names.get(frame.f_code.co_filename)
        if event != "call" or module is None:
            return
        modules.add(module)
        caller = frame.f_back
        while caller is not None and caller.f_code.co_filename not in names:
            caller = caller.f_back
        if caller is not None:
            calls[names[caller.f_code.co_filename], module] += 1

    signature = "(x: Tensor([n], float32, device_type=cpu))"
    wrap(_MODULE.replace("NAME", "first"), f"first{signature}")
    sys.setprofile(trace)
    try:
        wrap(_MODULE.replace("NAME", "second"), f"second{signature}")
    finally:
        sys.setprofile(None)
    return Walk(modules, calls)


@cache
def code(module: str) -> int:
    """Count the lines of code in Python of a module."""
    return len(lines_with_code(sources()[module].read_text()))


def code_lines() -> Counter[str]:
    """Count the lines of code in Python of each part."""
    found = Counter[str]()
    for module in sources():
        found[part(module)] += code(module)
    return found


def core_rooms() -> list[str]:
    """Say how many lines of code each room of the core has, in one line."""
    found = Counter[str]()
    for module in sources():
        if part(module) == "core":
            found[room(module) or "the face"] += code(module)
    return [", ".join(f"{name} {number:,}" for name, number in found.most_common())]


def c_lines() -> Counter[str]:
    """Count the lines of C that people write, by folder."""
    found = Counter[str]()
    for name in includes():
        text = (PACKAGE / name).read_text()
        if "Do not edit" not in text.partition("\n")[0]:
            found[str(Path(name).parent)] += count_c(text)["code"]
    return found


def main() -> None:
    """Print the figures, each with what it should be."""
    lines, in_c, twice, walked = code_lines(), c_lines(), classes(), walk()
    flat = [path.name for path in (PACKAGE / "runtime").glob("*.py") if path.name[0] != "_"]
    cuda = [name for name in sources() if name.endswith(".cuda")]
    private = [name for name in twice if name.startswith("_")]
    show("Python of the core", lines["core"], "≤ 16,000 lines", core_rooms())
    show("Python of variants", lines["variants"], "≤ 816 lines")
    show("C of the core (support)", in_c["support"], "≤ 2,300 lines")
    show("circles of modules", len(found := circles(graph())), "0", map(sorted, found))
    show("circles in C", len(found := circles(includes())), "0", map(sorted, found))
    show("arrows that run back up", len(up := upward()), "≤ 5", up)
    for depth, words in ((1, "rooms"), (2, "rooms, with inner ones")):
        show(f"wrap of MLIR: {words}", len(walked.rooms(depth)), "≤ 14", [walked.rooms(depth)])
        pairs = walked.both_ways(depth)
        show(f"wrap of MLIR: pairs of {words}, that call each other", len(pairs), "0", pairs)
    show("wrap of MLIR: modules", len(walked.modules), "")
    show("wrap of MLIR: calls into another room", walked.handed_over(2).total(), "")
    show("private class names in two modules", len(private), "0", private)
    show("class names in two modules", len(twice), "", [" ".join(twice)])
    show("rooms called cuda", len(cuda), "1", cuda)
    show("flat modules of runtime", len(flat), "0", [" ".join(sorted(flat))])
    show("private names that cross into add-ons", len(found := crossing()), "0", found)
    show("names of the faces", len(all_of_faces := face_users()), "some 80", by_users(all_of_faces))
    print("\nPython of the other parts, and C:", dict(lines), dict(in_c))


def show(what: str, number: int, limit: str, details: Any = ()) -> None:
    """Print a figure, and what it is made of."""
    print(f"{number:>6,}  {what}{f' ({limit})' if limit else ''}")
    for each in details:
        print(f"        {each if isinstance(each, str) else ' '.join(sorted(each))}")


if __name__ == "__main__":
    main()
