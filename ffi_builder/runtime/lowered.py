"""`LoweredModule`: the result of `lower`, and the part of a CompiledModule that needs no JIT."""

from __future__ import annotations

import functools
import os
import platform
from collections.abc import Iterable

from ffi_builder.runtime import export
from ffi_builder.runtime.codegen import emit
from ffi_builder.runtime.codegen.constants import LlvmIr
from ffi_builder.runtime.elf import read_object
from ffi_builder.runtime.embedded_modules import CustomModule
from ffi_builder.runtime.export.support import with_support
from ffi_builder.runtime.inputs import (
    LlvmSource,
    ObjectSource,
    Source,
    llvm_ir,
    metadata_of,
    mlir_text,
)
from ffi_builder.runtime.jit.link import functions_among


class LoweredModule:
    """A module in the LLVM dialect, LLVM IR or an object: its texts, and its exports.

    Nothing is loaded into this process, so it may be for another machine, and need symbols that are
    linked later.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> module = ir.Module.parse("", ir.Context())
        >>> hypot = spec.Signature.parse("hypot(x: float64, y: float64) -> r: float64")
        >>> attach(module, hypot, providers.DirectCallProvider("hypot"))
        >>> lowered = runtime.lower(module)
        >>> "llvm.call @hypot" in lowered.mlir, "@hypot" in lowered.llvm_ir
        (True, True)
    """

    def __init__(
        self, source: Source, level: int, links: tuple[LlvmSource | ObjectSource, ...] = ()
    ) -> None:
        """Made by `lower`; `links` is what is linked to the module."""
        self._source = source
        self._level = level
        self._links = links

    @functools.cached_property
    def mlir(self) -> str | None:
        """The lowered MLIR module, or None if LLVM IR or an object was compiled."""
        return mlir_text(self._source)

    @functools.cached_property
    def llvm_ir(self) -> str | None:
        """The optimised LLVM IR, or None if an object was compiled.

        It declares the functions of `ffi_builder.support` that wrappers call, and has all values:
        constants of 4 KB and more are strings of bytes, `[4096 x i8] c"…"`.
        """
        ir = self._ir
        return None if ir is None else emit.optimised(ir, "host", self._level).complete()

    @functools.cached_property
    def assembly(self) -> str | None:
        """The assembly that `llvm_ir` becomes on this CPU, or None if an object was compiled."""
        ir = self._ir
        return None if ir is None else emit.emit_assembly(ir, "host", self._level)

    @functools.cached_property
    def object(self) -> bytes:
        """A relocatable object for this CPU, without what `link=` added."""
        if isinstance(self._source, ObjectSource):
            return self._source.data
        assert self._ir is not None
        data = emit.emit_object(self._ir, "host", self._level)
        return with_support(data, platform.machine())

    def export_object(
        self,
        path: str | os.PathLike[str],
        *,
        cpu: str = "baseline",
        triple: str | None = None,
        export_only: Iterable[str] | None = None,
        header: str | os.PathLike[str] | None = None,
        stub: str | os.PathLike[str] | None = None,
        modules: Iterable[CustomModule | tuple[str, bytes]] = (),
    ) -> None:
        """Write a relocatable ELF object to `path`: all files that are asked for, or none.

        What `link=` added is not in it: link that beside it. A module that was given as an object
        is written as it is.

        Args:
            path: the object.
            cpu: `baseline` for every CPU of the architecture, `host` for that of this machine, or
                LLVM's name of one.
            triple: `x86_64-linux-gnu`, `aarch64-linux-gnu`; left out, this machine's.
            export_only: the functions that other objects see; everything else that the module
                defines, the kernel too, is internal. Left out, all stays as it is.
            header: a header for C and C++ to write as well.
            stub: a `.pyi` to write as well.
            modules: custom modules, `(kind, bytes)`, which tvm-ffi makes and imports when it loads
                the library (see CustomModule).

        Raises:
            UnknownFunctionError: a KeyError; `export_only` names no function of the module.
            CompileError: there is no such CPU or target, or the module does not compile for it.
            OSError: a file cannot be written.
            TypeError, ValueError: an invalid argument.

        Examples:
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = Path(folder, "hypot.o")
            ...     lowered.export_object(path, triple="aarch64-linux-gnu")
            ...     path.read_bytes()[1:4]
            b'ELF'
        """
        options = export.files.options(cpu, triple, export_only, header, stub, modules)
        self._exporter.object(path, options)

    def export_library(
        self,
        path: str | os.PathLike[str],
        *,
        cpu: str = "baseline",
        triple: str | None = None,
        export_only: Iterable[str] | None = None,
        header: str | os.PathLike[str] | None = None,
        stub: str | os.PathLike[str] | None = None,
        modules: Iterable[CustomModule | tuple[str, bytes]] = (),
    ) -> None:
        """Write a shared library to `path`: all files that are asked for, or none.

        It has what `link=` added, needs libtvm_ffi and libc, and shows no symbol but its functions.
        The arguments are those of `export_object`; `export_only` leaves out functions. The linker
        is that of the C compiler in `$CC`, or of cc, gcc or clang.

        Raises:
            CompileError: there is no linker. Also what `export_object` raises.
            LinkError: the linker fails; with its message.

        Examples:
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = Path(folder, "hypot.so")
            ...     lowered.export_library(path, header=path.with_suffix(".h"))
            ...     runtime.load(path)["hypot"](3.0, 4.0)
            5.0
        """
        options = export.files.options(cpu, triple, export_only, header, stub, modules)
        self._exporter.library(path, options)

    @functools.cached_property
    def _ir(self) -> LlvmIr | None:
        """Unoptimised LLVM IR."""
        return llvm_ir(self._source)

    def _metadata(self, name: str) -> str | None:
        """The metadata of the function `name`."""
        return self._metadata_by_name.get(name)

    @functools.cached_property
    def _metadata_by_name(self) -> dict[str, str]:
        sources = (*self._links, self._source)
        return {name: text for source in sources for name, text in metadata_of(source).items()}

    def _own_objects(self) -> tuple[bytes, ...]:
        """Objects that define what the source does."""
        return (self.object,)

    def _every_function(self) -> tuple[str, ...]:
        """The names of its functions, and of those of `link=`."""
        linked = [LoweredModule(item, self._level).object for item in self._links]
        return _names((*self._own_objects(), *linked))

    @property
    def _exporter(self) -> export.files.Exporter:
        return export.files.Exporter(
            self._source,
            self._links,
            self._level,
            _names(self._own_objects()),
            self._every_function(),
            self._metadata,
        )


def _names(objects: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(functions_among(s for data in objects for s in read_object(data).symbols))
