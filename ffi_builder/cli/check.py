"""``check``: print the functions of a library and their parameters."""

from __future__ import annotations

import argparse
import json
import re
import textwrap
from collections.abc import Sequence
from typing import Any

from ffi_builder.cli.output import print_error

HELP = "print what a library exports and expects"
DESCRIPTION = """\
Load a library and print the names of its TVM-FFI functions. For functions that describe themselves,
also print the signature, documentation and defaults. The exit status is 1 if the library cannot be
loaded or has no functions.
"""
EXAMPLES = """\
examples:
  ffi-builder check ./add_one.so
  ffi-builder check --json ./add_one.so
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("library", help="path of a shared library")
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def run(given: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    from ffi_builder import runtime

    library = runtime.load(given.library)
    functions = [_described(library, name) for name in library.functions]
    if given.json:
        print(json.dumps(functions, indent=2))
    else:
        print("\n\n".join(map(_text, functions)))
    if not functions:
        print_error(f"{given.library} has no TVM-FFI functions (symbols `__tvm_ffi_*`)")
        return 1
    return 0


def _described(library: Any, name: str) -> dict[str, Any]:
    info = library.info(name)
    if info is None:
        doc = _launch_helper(name, library.functions)
        return {"name": name, "doc": doc} if doc else {"name": name}
    params = [
        {"name": p.name, "type": p.type, "kw_only": p.kw_only, "doc": p.doc} | _default(p)
        for p in info.parameters
    ]
    about = {"signature": info.signature, "doc": info.doc, "returns": info.returns or None}
    return {"name": name, **about, "params": params}


def _launch_helper(name: str, functions: Sequence[str]) -> str:
    """Describe the helper (preload, release) of a function that launches a CUDA kernel.

    Return an empty string for any other function.
    """
    found = re.fullmatch(r"_cuda_(preload|release)\d*_(.+)", name)
    if found is None or found[2] not in functions:
        return ""
    if found[1] == "preload":
        return f"loads the CUDA kernel of {found[2]} ahead of calls, on the device with this id"
    return f"unloads the CUDA kernel of {found[2]}"


def _default(param: Any) -> dict[str, str]:
    return {"default": repr(param.default)} if param.has_default else {}


def _text(function: dict[str, Any]) -> str:
    if "signature" not in function:
        return f"{function['name']}\n    {function.get('doc', 'says nothing of its parameters')}"
    lines = [f"{function['name']}", f"    {function['signature']}"]
    if function["doc"]:
        lines += ["", textwrap.indent(function["doc"], "    ")]
    for param in function["params"]:
        default = f" = {param['default']}" if "default" in param else ""
        kw_only = " (keyword only)" if param["kw_only"] else ""
        if default or kw_only or param["doc"]:
            doc = f": {param['doc']}" if param["doc"] else ""
            lines.append(f"    {param['name']}{default}{kw_only}{doc}")
    return "\n".join(lines)
