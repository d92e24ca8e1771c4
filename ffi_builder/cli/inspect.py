"""``inspect``: print what a library or a wheel has: functions, target, compilers."""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import textwrap
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ffi_builder.cli.output import print_error

if TYPE_CHECKING:
    from ffi_builder.runtime.export.inspection import Inspected
    from ffi_builder.runtime.metadata import Info

HELP = "print the functions, target and compilers of a library or a wheel"
DESCRIPTION = """\
Print the functions of libraries and objects, with signatures, documentation and defaults, the
machine and CPU that they are for, the compilers that made them, and the libraries that they need.
Files are read and not loaded, so they may be for another machine. Only a library that says nothing
of its functions is loaded, if it is for this machine. The exit status is 1 if a file cannot be
read, or has no functions.
"""
EXAMPLES = """\
examples:
  ffi-builder inspect ./add_one.so
  ffi-builder inspect --json my_kernels-1.0-py3-none-manylinux_2_17_x86_64.whl
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("file", help="path of a shared library, an object, or a wheel")
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def run(given: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    path = Path(given.file)
    with tempfile.TemporaryDirectory(prefix="ffi_builder-") as folder:
        files = _unpacked(path, Path(folder)) if path.suffix == ".whl" else {path.name: path}
        found = [_described(name, file) for name, file in files.items()]
    if not any(each["functions"] for each in found):
        print_error(f"{path} has no TVM-FFI functions (symbols `__tvm_ffi_*`)")
        return 1
    print(json.dumps(found, indent=2) if given.json else "\n\n".join(map(_text, found)))
    return 0


def _unpacked(wheel: Path, folder: Path) -> dict[str, Path]:
    """Unpack the libraries of a wheel. Raises OSError, also if it is no wheel."""
    try:
        with zipfile.ZipFile(wheel) as opened:
            names = [name for name in opened.namelist() if name.endswith((".so", ".o"))]
            return {name: Path(opened.extract(name, folder)) for name in names}
    except zipfile.BadZipFile as error:
        raise OSError(f"{wheel} is not a wheel: {error}") from None


def _described(name: str, path: Path) -> dict[str, Any]:
    from ffi_builder.runtime.export.inspection import inspected

    found = inspected(path)
    return {
        "file": name,
        "machine": found.machine,
        "made_by": found.compilers,
        "needs": found.needs,
        "versions": found.versions,
        "functions": list(_functions(found)),
    }


def _functions(found: Inspected) -> Iterator[dict[str, Any]]:
    from ffi_builder.runtime.metadata import read

    texts = found.functions.items()
    infos = {name: None if text is None else read(name, text) for name, text in texts}
    if not any(infos.values()):
        infos |= _loaded(found.path)
    for name, info in infos.items():
        if not info:
            doc = _launch_helper(name, tuple(infos))
            yield {"name": name, "doc": doc} if doc else {"name": name}
            continue
        params = [
            {"name": p.name, "type": p.type, "kw_only": p.kw_only, "doc": p.doc} | _default(p)
            for p in info.parameters
        ]
        about = {"signature": info.signature, "doc": info.doc, "returns": info.returns or None}
        yield {"name": name, **about, "params": params}


def _loaded(path: Path) -> dict[str, Info | None]:
    """Return what the functions of a library say; nothing if it cannot be loaded."""
    from ffi_builder import runtime
    from ffi_builder.errors import LinkError

    try:
        library = runtime.load(path)
    except LinkError:  # for another machine, or an object
        return {}
    return {name: library.info(name) for name in library.functions}


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


def _text(found: Mapping[str, Any]) -> str:
    head = f"{found['file']}, for {found['machine']}"
    made = [f"    {words}" for words in found["made_by"]]
    needs = ", ".join((*found["needs"], *found["versions"]))
    lines = [head, "  made by", *made] if made else [head]
    lines += ["  needs", *textwrap.wrap(needs, 96, initial_indent="    ", subsequent_indent="    ")]
    if not needs:
        lines.pop()
    return "\n\n".join(["\n".join(lines), *map(_function_text, found["functions"])])


def _function_text(function: Mapping[str, Any]) -> str:
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
