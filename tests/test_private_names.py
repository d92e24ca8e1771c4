"""docs/private-names.md has the names of other libraries that the package touches, and no others."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.support.absent import whole

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "private-names.md").read_text()
SOURCES = [path.read_text() for path in sorted((ROOT / "ffi_builder").rglob("*.py"))]
IN_C = [path.read_text() for path in sorted((ROOT / "ffi_builder").rglob("support/*.c"))]
PRIVATE = re.compile(r"_[A-Za-z]\w*")
QUOTED = re.compile(r"(?:\w+\.)*_[A-Za-z]\w*(?:\.\w+)*")
OURS = {
    # parts of symbols and of names of the package
    *("_Array", "_cuda_", "_doc_", "_lib", "_library_", "_library_ctx", "_metadata_", "_unit"),
    "_with_maps",
    *("_defaults", "_depth", "_runs_once"),
    # which Python documents, of libraries, of named tuples, and of pointers and arrays of ctypes
    *("_length_", "_name", "_replace", "_type_"),
    # of C
    *("_Bool", "_Float16", "_Float32", "_Float32x", "_Float64", "_Float64x", "_Float128"),
    *("_Complex", "_Noreturn", "_t"),
    # of ELF, C++, LLVM and tvm-ffi, in whose formats they are documented
    *("_GLOBAL_OFFSET_TABLE_", "_GLOBAL__N_", "_TLS_MODULE_BASE_", "_Z", "_R", "_import_tree"),
    "_mlir_ciface_",
}


def touched() -> set[str]:
    """The names of others: attributes, and what is looked up by its name."""
    defined: set[str] = set()
    found: set[str] = set()
    for node in (node for source in SOURCES for node in ast.walk(ast.parse(source))):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                defined.add(name)
            case ast.Attribute(attr=name, ctx=ast.Store()) | ast.Name(id=name, ctx=ast.Store()):
                defined.add(name)
            case ast.ImportFrom(names=names):
                defined.update(alias.name for alias in names)
            case ast.Assign(targets=[ast.Name(id="__slots__")], value=ast.Tuple(elts=items)):
                defined.update(ast.literal_eval(item) for item in items)
            case ast.Attribute(attr=name, ctx=ast.Load()) if PRIVATE.fullmatch(name):
                found.add(name)
            case ast.Constant(value=str(text)) if QUOTED.fullmatch(text.lstrip(".")):
                found.update(part for part in text.split(".") if PRIVATE.fullmatch(part))
            case _:
                pass
    found.update(name for source in IN_C for name in re.findall(r'"(_[A-Za-z]\w*)"', source))
    return found - defined - OURS


def listed() -> set[str]:
    """The private names in the first columns of the page."""
    rows = re.findall(r"^\| ([^|]*`[^|]*) \|", PAGE, re.MULTILINE)
    quoted = [name for row in rows for name in re.findall(r"`([^`…]+)`", row)]
    return {part for name in quoted for part in name.split(".") if PRIVATE.fullmatch(part)}


@whole
@pytest.mark.slow
def test_the_page_lists_every_name() -> None:
    found = touched()
    assert len(found) > 25
    assert sorted(found - listed()) == []


@whole
def test_every_name_on_the_page_is_touched() -> None:
    words = {word for source in [*SOURCES, *IN_C] for word in re.findall(r"\w+", source)}
    assert sorted(listed() - words) == []
