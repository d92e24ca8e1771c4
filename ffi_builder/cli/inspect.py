"""``inspect``: print what a library, a wheel or an image of kernels has."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from ffi_builder import BuildError, LinkError, SpecError
from ffi_builder.cli.output import print_error, printable
from ffi_builder.extending import addons, helper_doc

HELP = "print the functions, target and compilers of a library or a wheel, or an image's kernels"
DESCRIPTION = """\
Print the functions of libraries and objects, with signatures, documentation and defaults, the
machine and CPU that they are for, the compilers that made them, and the libraries that they need.
Files are read and not loaded: their code does not run, and they may be for another machine. The
exit status is 1 if a file, or one in a wheel, cannot be read, or if there are no functions.

Print the kernels of an image for a GPU (a cubin, a fatbin, PTX, an AMD code object, an offload
bundle), with their parameters, and the architectures that it is for.
"""
EXAMPLES = """\
examples:
  ffi-builder inspect ./add_one.so
  ffi-builder inspect ./kernels.hsaco
  ffi-builder inspect --json my_kernels-1.0-py3-none-manylinux_2_17_x86_64.whl
"""
_BEGINNING: Final = 4096
"""The bytes that tell an image."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("file", help="path of a library, an object, a wheel, or an image")
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def run(given: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    # This is an error on systems that it does not support.
    import ffi_builder.runtime  # noqa: F401  # pyright: ignore[reportUnusedImport]

    path = Path(given.file)
    if path.exists() and not path.is_file():
        raise BuildError(f"{path}: expected a library, an object or a wheel, but it is no file")
    with path.open("rb") as file:
        if (image := _image(path, file)) is not None:
            shown = [{"file": path.name, **asdict(image)}]
            print(json.dumps(shown, indent=2) if given.json else printable(str(image), "\n"))
            return 0
        read = {name: _read(name, opened) for name, opened in _parts(path, file)}
    failed = {name: words for name, words in read.items() if isinstance(words, str)}
    for name, words in failed.items():
        where = path if name == path.name else f"{path}: {name}"
        print_error(printable(f"{where}: {words}"))
    libraries = [each for each in read.values() if not isinstance(each, str)]
    if any(each["functions"] for each in libraries):
        print(json.dumps(libraries, indent=2) if given.json else "\n\n".join(map(_text, libraries)))
    elif not failed:
        raise BuildError(f"{path} has no TVM-FFI functions (symbols `__tvm_ffi_*`)")
    return 1 if failed else 0


def _image(path: Path, file: BinaryIO) -> Any:
    """Read an image of kernels; None for all else.

    Raises:
        BuildError: it is damaged.
    """
    beginning = file.read(_BEGINNING)
    file.seek(0)
    for reader in addons.registered("image").values():
        if reader.is_image(beginning):
            try:
                return reader.kernels(file.read())
            except SpecError as error:
                raise BuildError(printable(f"{path}: {error}")) from error
    return None


def _parts(path: Path, file: BinaryIO) -> Iterable[tuple[str, AbstractContextManager[BinaryIO]]]:
    """Return the file, or the libraries and objects of a wheel, by name."""
    from ffi_builder.packaging.wheel import Libraries

    if path.suffix != ".whl":
        return [(path.name, nullcontext(file))]
    try:
        libraries = Libraries(file)
    except BuildError as error:
        raise BuildError(printable(f"{path}: {error}")) from error
    return [(name, libraries.unpacked(name)) for name in libraries.names]


def _read(name: str, opened: AbstractContextManager[BinaryIO]) -> dict[str, Any] | str:
    """Return what a library or an object says; or why it cannot be read."""
    from ffi_builder.runtime.extending import functions, inspected, own_symbols

    try:
        with opened as file:
            inspection, texts = inspected(file), functions(file)
            launches = _launches(texts, [*own_symbols(file)])
    except (BuildError, LinkError) as error:
        return str(error)
    return {
        "file": name,
        "machine": inspection.machine,
        "made_by": inspection.compilers,
        "needs": inspection.needs,
        "versions": inspection.versions,
        "functions": [each | launches.get(each["name"], {}) for each in _functions(texts)],
    }


def _launches(functions: Collection[str], symbols: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """Describe the kernels that each function launches; those of a damaged image are left out."""
    described: dict[str, dict[str, Any]] = {}
    for reader in addons.registered("image").values():
        for data, launches in reader.launched(symbols):
            if not reader.is_image(data[:_BEGINNING]):
                continue
            with suppress(SpecError):
                image = reader.kernels(data)
                about = {"format": image.format, "architectures": image.architectures}
                for each in launches:
                    name = each.function
                    name = name if name in functions else name.rpartition("_")[0]
                    described.setdefault(name, {"launches": []})["launches"] += [
                        {**about, "kernel": asdict(kernel), "text": f"{kernel}"}
                        for kernel in image.kernels.values()
                        if each.is_of(kernel.name)
                    ]
    return described


def _functions(texts: Mapping[str, str | None]) -> Iterator[dict[str, Any]]:
    from ffi_builder.runtime.extending import read_metadata as read

    for name, text in texts.items():
        info = None if text is None else read(name, text)
        if not info:
            doc = helper_doc(name, texts)
            yield {"name": name, "doc": doc} if doc else {"name": name}
            continue
        params = [
            {"name": p.name, "type": p.type, "kw_only": p.kw_only, "doc": p.doc}
            | ({"default": repr(p.default)} if p.has_default else {})
            for p in info.parameters
        ]
        about = {"signature": info.signature, "doc": info.doc, "returns": info.returns or None}
        yield {"name": name, **about, "params": params}


def _printable(value: Any, key: str = "") -> Any:
    """Make all texts printable. Only documentation has several lines."""
    match value:
        case str():
            return printable(value, "\n\t" if key == "doc" else "")
        case list() | tuple():
            return [_printable(each) for each in cast("list[Any]", value)]
        case dict():
            return {
                key: _printable(each, key) for key, each in cast("dict[str, Any]", value).items()
            }
        case _:
            return value


def _text(given: Mapping[str, Any]) -> str:
    shown = _printable(given)
    head = f"{shown['file']}, for {shown['machine']}"
    made = [f"    {words}" for words in shown["made_by"]]
    needs = ", ".join((*shown["needs"], *shown["versions"]))
    lines = [head, "  made by", *made] if made else [head]
    lines += ["  needs", *textwrap.wrap(needs, 96, initial_indent="    ", subsequent_indent="    ")]
    if not needs:
        lines.pop()
    return "\n\n".join(["\n".join(lines), *map(_function_text, shown["functions"])])


def _function_text(function: Mapping[str, Any]) -> str:
    if "signature" not in function:
        return f"{function['name']}\n    {function.get('doc', 'says nothing of its parameters')}"
    lines = [f"{function['name']}", f"    {function['signature']}"]
    if function["doc"]:
        lines += ["", textwrap.indent(function["doc"], "    ")]
    for each in function.get("launches", ()):
        image = f"{each['format']} for {', '.join(each['architectures'])}"
        lines.append(f"    launches, from the {image}: {each['text']}")
    for param in function["params"]:
        default = f" = {param['default']}" if "default" in param else ""
        kw_only = " (keyword only)" if param["kw_only"] else ""
        if default or kw_only or param["doc"]:
            doc = f": {param['doc']}" if param["doc"] else ""
            lines.append(f"    {param['name']}{default}{kw_only}{doc}")
    return "\n".join(lines)
