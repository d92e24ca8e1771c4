"""Writes a compiled module to files: an object or a shared library, a header, a stub.

Each file is written completely or not at all. The same holds for all files together, as far as a
file system allows.
"""

from __future__ import annotations

import errno
import os
import re
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from ffi_builder import __version__
from ffi_builder.errors import CompileError
from ffi_builder.records import dataclass
from ffi_builder.runtime.codegen import emit, llvm
from ffi_builder.runtime.codegen.constants import LlvmIr
from ffi_builder.runtime.codegen.targets import Target, target
from ffi_builder.runtime.export import header, linker, stub
from ffi_builder.runtime.export.function_info import (
    Described,
    described,
    symbols,
    with_descriptions,
)
from ffi_builder.runtime.export.linker import with_support
from ffi_builder.runtime.files import embedded_modules
from ffi_builder.runtime.files.embedded_modules import CustomModule
from ffi_builder.runtime.files.object_files import read_object
from ffi_builder.runtime.metadata import PREFIX
from ffi_builder.runtime.python.function_table import check_name
from ffi_builder.runtime.sources.links import AddressSource, Item, code_among, words_of
from ffi_builder.runtime.sources.modules import (
    LlvmSource,
    ObjectSource,
    Source,
    llvm_ir,
    metadata_of,
)

PathLike: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True)
class Options:
    """The checked arguments of an export."""

    target: Target
    only: tuple[str, ...] | None
    header: Path | None
    stub: Path | None
    modules: tuple[CustomModule, ...]


def options(
    cpu: object,
    triple: object,
    export_only: Iterable[str] | None,
    header: PathLike | None,
    stub: PathLike | None,
    modules: Iterable[object],
) -> Options:
    """Check arguments. Raises TypeError, ValueError, and CompileError for an unknown target."""
    if isinstance(export_only, (str, bytes)):
        raise TypeError(
            f"Expected names in export_only=, but got one, {export_only!r}: put it into a list"
        )
    only = None if export_only is None else tuple(dict.fromkeys(export_only))
    if only == ():
        raise ValueError("export_only= has no name: leave it out to export all functions")
    return Options(
        target(cpu, triple),
        only,
        None if header is None else Path(header),
        None if stub is None else Path(stub),
        tuple(map(embedded_modules.as_module, modules)),
    )


@dataclass(frozen=True)
class Exporter:
    """The parts of a compiled module that an export needs."""

    source: Source
    links: Sequence[Item]
    level: int
    own: tuple[str, ...]
    """The functions of `source`."""
    linked: tuple[str, ...]
    """The functions of `source` and `links`."""
    metadata: Callable[[str], str | None]
    """The metadata of a function, by its name."""

    def object(self, path: PathLike, options: Options) -> None:
        """Write an object, without what `link=` added.

        Raises UnknownFunctionError, CompileError and OSError.
        """
        self._check_no_address()
        names = _chosen(self.own, options)
        if options.modules and isinstance(self.source, ObjectSource):
            raise CompileError(
                "The module was given as an object, to which modules= cannot be added: use "
                "export_library"
            )
        data = self._object(self.source, options, options.modules)
        if not isinstance(self.source, ObjectSource):
            data = with_support(data, options.target.machine)
        if options.only is not None and isinstance(self.source, ObjectSource):
            _check_hidden(data, options)
        self._write(Output(Path(path), data), names, options)

    def library(self, path: PathLike, options: Options) -> None:
        """Write a shared library.

        Raises UnknownFunctionError, CompileError, LinkError and OSError.
        """
        path = Path(path)
        names = _chosen(self.linked, options)
        shown = [f"{PREFIX}*"]
        if options.only is not None:
            shown = [f'"{symbol}"' for symbol in (*symbols(names), *embedded_modules.SYMBOLS)]
        objects = self.objects(options)
        if options.modules:
            objects.append(self._object(LlvmSource(""), options, options.modules))
        if any(os.fspath(path.resolve()) == word for word in words_of(self.links)):
            raise ValueError(f"{path} is linked to the library, and would be replaced by it")
        data = linked(objects, words_of(self.links), shown, path, options)
        self._write(Output(path, data, executable=True), names, options)

    def objects(self, options: Options) -> list[bytes]:
        """Return the objects of the module and of what is linked to it.

        Raises CompileError.
        """
        self._check_no_address()
        linked = code_among(self.links)
        # Objects that are linked together find kernels by their names, so these stay visible.
        sees = replace(options, only=None) if linked else options
        return [self._object(each, sees) for each in (self.source, *linked)]

    def functions(self) -> list[Described]:
        """Return the functions of the module, and of what is linked to it."""
        return [described(name, self.metadata(name)) for name in self.linked]

    def _check_no_address(self) -> None:
        """Raise CompileError if a kernel is code of this process, which no file can contain."""
        for link in self.links:
            if isinstance(link, AddressSource):
                raise CompileError(
                    f"`{link.symbol}` is at an address of this process, which no file can contain: "
                    f"to export, wrap the object or the archive that it is linked from"
                )

    def _object(
        self, source: Source, options: Options, modules: Sequence[CustomModule] = ()
    ) -> bytes:
        """Compile `source`, with custom modules. A given object is returned unchanged."""
        if isinstance(source, ObjectSource):
            read_object(source.data, options.target.machine)
            return source.data
        ir = llvm_ir(source) or LlvmIr("")
        texts = metadata_of(source)
        if options.only is not None:
            texts = {name: data for name, data in texts.items() if name in options.only}
        constants = {**ir.constants, **embedded_modules.constants(modules)}
        ir = LlvmIr(with_descriptions(ir.text, texts), constants)
        if options.only is not None:
            ir = emit.internalised(ir, [*symbols(options.only), *embedded_modules.SYMBOLS])
        cpu, triple = options.target.cpu, options.target.triple
        signed = LlvmIr(_signed(ir.text, cpu), ir.constants)
        return emit.emit_object(signed, cpu, self.level, jit=False, triple=triple)

    def _write(self, main: Output, names: Sequence[str], options: Options) -> None:
        functions = [described(name, self.metadata(name)) for name in names]
        outputs = [main]
        for given in filter(None, (options.header, options.stub)):
            _check_own(given)
        if options.header is not None:
            text = header.text(functions, main.path.name, options.header.name)
            outputs.append(Output(options.header, text.encode()))
        if options.stub is not None:
            text = stub.text(functions, main.path.name)
            outputs.append(Output(options.stub, text.encode()))
        write_outputs(outputs)


def _signed(text: str, cpu: str) -> str:
    """Add a line to LLVM IR for the section `.comment`, as other compilers do."""
    version = ".".join(map(str, llvm.binding().llvm_version_info))
    words = f"ffi_builder: {__version__} (LLVM {version}, CPU {cpu})"
    number = 1 + max(map(int, re.findall(r"!(\d+)\s*=", text)), default=-1)
    return f'{text}\n!llvm.ident = !{{!{number}}}\n!{number} = !{{!"{words}"}}\n'


def linked(
    objects: Sequence[bytes],
    others: Sequence[str | bytes],
    shown: Sequence[str],
    path: Path,
    options: Options,
) -> bytes:
    """Link objects, which get the support functions that they need, to a shared library.

    `others` and `shown` are as for `link_library`. Raises CompileError and LinkError.
    """
    machine = options.target.machine
    ready = [with_support(each, machine) for each in objects]
    return linker.link_library(ready, shown, path.name, options.target, others)


def _chosen(known: tuple[str, ...], options: Options) -> tuple[str, ...]:
    if options.only is None:
        return known
    for name in options.only:
        check_name(name, known, "what is exported")
    return options.only


def _check_hidden(data: bytes, options: Options) -> None:
    """Raise CompileError if symbols have to be hidden in a given object, which is impossible."""
    shown = {*symbols(options.only or ()), *embedded_modules.SYMBOLS}
    others = [s.name for s in read_object(data, options.target.machine).symbols if s.defined]
    visible = sorted(set(others) - shown)
    if visible:
        raise CompileError(
            f"The module was given as an object, in which export_only= cannot hide "
            f"`{visible[0]}`: use export_library, or objcopy --keep-global-symbol"
        )


# ---- files

_OWN: Final = b"Written by ffi_builder."


@dataclass(frozen=True)
class Output:
    """A file to write."""

    path: Path
    data: bytes
    executable: bool = False


def _check_own(path: Path) -> None:
    """Raise FileExistsError for a file that somebody wrote, such as the header of a kernel."""
    if path.is_file() and _OWN not in path.read_bytes():
        words = "ffi_builder has not written the file that is there: choose another name"
        raise FileExistsError(errno.EEXIST, words, os.fspath(path))


def write_outputs(outputs: Sequence[Output]) -> None:
    """Write all files under temporary names in the same folders, then rename them.

    Raises OSError, and ValueError for a path that occurs twice. An error leaves the files as they
    were, unless renaming the second or a later one fails.
    """
    seen: set[Path] = set()
    for output in outputs:
        if output.path.absolute() in seen:
            raise ValueError(f"Two files are to be written to `{output.path}`")
        seen.add(output.path.absolute())
    temporary: list[Path] = []
    try:
        for output in outputs:
            name = f".{output.path.name}.{os.getpid()}.{uuid.uuid4().hex}"
            temporary.append(output.path.with_name(name))
            _write_new(temporary[-1], output)
        for output in outputs:
            if output.path.is_dir():  # renaming would fail too, but too late
                raise IsADirectoryError(
                    errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(output.path)
                )
        for path, output in zip(temporary, outputs, strict=True):
            path.replace(output.path)
    finally:
        for path in temporary:
            path.unlink(missing_ok=True)


def _write_new(path: Path, output: Output) -> None:
    mode = 0o777 if output.executable else 0o666  # the umask removes bits
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:
        error.filename = os.fspath(output.path)  # the name that the caller knows
        raise
    with os.fdopen(descriptor, "wb") as file:
        file.write(output.data)
