"""The interesting parts of printed IR, and FileCheck on them."""

from __future__ import annotations

import inspect
import io
import re
from collections.abc import Iterable
from typing import Any

from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options
from filecheck.parser import Parser, pattern_for_opts


def operations(module: Any) -> list[Any]:
    """Return the operations of a module in order."""
    return [operation.operation for operation in module.body.operations]


def name_of(operation: Any) -> str:
    """Return the symbol that an operation defines, or ``""``."""
    attributes = operation.attributes
    return attributes["sym_name"].value if "sym_name" in attributes else ""


def symbol_names(module: Any) -> list[str]:
    """Return the symbols of a module in order."""
    return [name for operation in operations(module) if (name := name_of(operation))]


def printed(module: Any) -> str:
    """Print a module without the support functions, with digests, tables and metadata masked."""
    return _printed(o for o in operations(module) if "__ffi_builder_shared_" not in name_of(o))


def printed_wrapper(module: Any) -> str:
    """Print the wrappers of a module and their tables only, masked as in :func:`printed`."""
    mine = ("__tvm_ffi_", "__ffi_builder_table_")
    return _printed(o for o in operations(module) if name_of(o).startswith(mine))


def _printed(chosen: Iterable[Any]) -> str:
    text = "\n".join(map(str, chosen)) + "\n"
    text = re.sub(r"(@__ffi_builder_(?:shared_\w+|text)_)[0-9a-f]{8}\b", r"\1DIGEST", text)
    text = re.sub(r'(\["ffi-builder-metadata", )"[^"]*"', r'\1"JSON"', text)
    return re.sub(r'(@__ffi_builder_table_\w+)\(".*"\)', r'\1("TABLE")', text)


def filecheck(text: str, checks: str) -> None:
    """Compare text with CHECK lines, as LLVM's FileCheck does."""
    options = Options("checks")
    parser = Parser(options, io.StringIO(checks), *pattern_for_opts(options))
    if Matcher(options, FInput("text", text), parser).run():
        raise AssertionError(f"FileCheck failed, as shown above, on:\n{text}")


def check_comments(text: str) -> None:
    """Call :func:`filecheck` with the ``# CHECK`` comments of the calling function."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    source = inspect.getsource(frame.f_back.f_code)
    comments = re.findall(r"^\s*# (CHECK.*)$", source, re.MULTILINE)
    assert comments, "the calling function has no CHECK comments"
    filecheck(text, "\n".join(comments))
