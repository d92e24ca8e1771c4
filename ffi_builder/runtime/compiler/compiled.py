"""`LoweredModule`, a module to inspect or export, and `CompiledModule`, a loaded module."""

from __future__ import annotations

import functools
import os
import platform
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from ffi_builder.runtime.codegen import emit
from ffi_builder.runtime.codegen.constants import LlvmIr
from ffi_builder.runtime.files.embedded_modules import CustomModule
from ffi_builder.runtime.files.object_files import read_object
from ffi_builder.runtime.jit.link import Library, functions_among
from ffi_builder.runtime.python.copies import OfThisProcess
from ffi_builder.runtime.python.function_table import FunctionTable
from ffi_builder.runtime.sources.links import Item, code_among
from ffi_builder.runtime.sources.modules import (
    ObjectSource,
    Source,
    llvm_ir,
    metadata_of,
    mlir_text,
)

if TYPE_CHECKING:
    import tvm_ffi

    from ffi_builder.runtime.export.files import Exporter
    from ffi_builder.runtime.protocols import Report


class LoweredModule(OfThisProcess):
    """A module in the LLVM dialect, LLVM IR or an object: its texts, and its exports.

    Nothing is loaded into this process. So the module may be for another machine, and may need
    symbols that are linked later.

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

    _instead = "lower the module again, or export it, where it is needed"

    def __init__(self, source: Source, level: int, links: tuple[Item, ...] = ()) -> None:
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

        It declares the functions of `ffi_builder.support` that wrappers call. It has all values:
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
        return _with_support(data)

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
        """Write a relocatable ELF object to `path`. If any file cannot be written, none is.

        The object does not contain the objects and LLVM IR of `link=`: link them separately. A
        module that was given as an object is written unchanged.

        Args:
            path: the path of the object.
            cpu: `baseline` for every CPU of the architecture, `host` for the CPU of this machine,
                or LLVM's name of a CPU.
            triple: `x86_64-linux-gnu` or `aarch64-linux-gnu`; by default this machine's.
            export_only: the functions that other objects see. Everything else that the module
                defines becomes internal, also the kernel. By default all symbols stay as they are.
            header: the path of a header for C and C++ to write as well.
            stub: the path of a `.pyi` to write as well.
            modules: custom modules, `(kind, bytes)`, which tvm-ffi makes and imports when it loads
                the library (see CustomModule).

        Raises:
            UnknownFunctionError: a KeyError; `export_only` names no function of the module.
            CompileError: the CPU or target is unknown, or the module does not compile for it.
            OSError: a file cannot be written.
            TypeError, ValueError: an invalid argument.

        Examples:
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = Path(folder, "hypot.o")
            ...     lowered.export_object(path, triple="aarch64-linux-gnu")
            ...     path.read_bytes()[1:4]
            b'ELF'
        """
        from ffi_builder.runtime.export import files

        options = files.options(cpu, triple, export_only, header, stub, modules)
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
        """Write a shared library to `path`. If any file cannot be written, none is.

        The library contains the objects and LLVM IR of `link=`, needs libtvm_ffi and libc, and
        exports only its functions. The arguments are those of `export_object`; with `export_only`
        the library exports only these functions. The linker is that of the C compiler in `$CC`, or
        of cc, gcc or clang.

        Raises:
            CompileError: there is no linker. Also every error of `export_object`.
            LinkError: the linker fails; the error has its message.

        Examples:
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = Path(folder, "hypot.so")
            ...     lowered.export_library(path, header=path.with_suffix(".h"))
            ...     runtime.load(path)["hypot"](3.0, 4.0)
            5.0
        """
        from ffi_builder.runtime.export import files

        options = files.options(cpu, triple, export_only, header, stub, modules)
        self._exporter.library(path, options)

    @functools.cached_property
    def _ir(self) -> LlvmIr | None:
        """Unoptimised LLVM IR."""
        return llvm_ir(self._source)

    def _metadata(self, name: str) -> str | None:
        """Return the metadata of the function `name`."""
        return self._metadata_by_name.get(name)

    @functools.cached_property
    def _metadata_by_name(self) -> dict[str, str]:
        sources = (*code_among(self._links), self._source)
        return {name: text for source in sources for name, text in metadata_of(source).items()}

    def _own_objects(self) -> tuple[bytes, ...]:
        """Return the objects that define the symbols of the source."""
        return (self.object,)

    def _every_function(self) -> tuple[str, ...]:
        """Return the names of the module's functions, and of those of `link=`."""
        linked = [LoweredModule(item, self._level).object for item in code_among(self._links)]
        return _names((*self._own_objects(), *linked))

    @property
    def _exporter(self) -> Exporter:
        """Writes the module to files."""
        from ffi_builder.runtime.export.files import Exporter

        return Exporter(
            self._source,
            self._links,
            self._level,
            _names(self._own_objects()),
            self._every_function(),
            self._metadata,
        )


def _with_support(data: bytes) -> bytes:
    from ffi_builder.runtime.export.linker import with_support

    return with_support(data, platform.machine())


def _names(objects: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(functions_among(s for data in objects for s in read_object(data).symbols))


_MOST_KEPT: Final = 1 << 20
"""The largest object to keep, in bytes. Larger ones, with large constants, are made on request."""


class CompiledModule(LoweredModule, FunctionTable):
    """A loaded module: its functions, by their names without the `__tvm_ffi_` prefix.

    `compiled["matmul"]` is a `tvm_ffi.Function`, and the fastest to call. It takes keywords and
    defaults, too. `compiled.callable("matmul")` also takes dataclasses, enumerators and streams of
    any framework. Each function keeps its code alive, so the compiled module may be dropped.

    Examples:
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> x, y = spec.Var("x", "float64"), spec.Var("y", "float64", default=0.0)
        >>> signature = spec.Signature("hypot", [x, y], spec.Var("r", "float64"))
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, signature, providers.DirectCallProvider("hypot"))
        >>> compiled = runtime.compile(module)
        >>> compiled.functions
        ('hypot',)
        >>> compiled["hypot"](3.0, 4.0)
        5.0
        >>> compiled.callable("hypot")(x=3.0)
        3.0
    """

    _instead = FunctionTable._instead
    report: Report | None = None
    """Says what `wrap` compared with the kernels; None if it did not make the module."""

    def __init__(
        self,
        source: Source,
        library: Library,
        objects: tuple[bytes, ...],
        level: int,
        links: tuple[Item, ...] = (),
    ) -> None:
        """Made by `compile`; `objects` are the source's own, `links` what is linked to them."""
        super().__init__(source, level, links)
        self._library = library
        self._objects = objects if sum(map(len, objects)) <= _MOST_KEPT else ()

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of all functions, in the order of their definition."""
        return self._library.functions

    def address(self, name: str) -> int:
        """Return the address of the machine code of `name`.

        The address is valid as long as the compiled module or one of its functions is alive.

        Raises:
            UnknownFunctionError: a KeyError; there is no such function.
        """
        self._check(name)
        return self._library.address(name)

    def __repr__(self) -> str:
        names = self.functions
        joined = ", ".join(names) if self.report is None else self.report.shown(names)
        return f"<CompiledModule {joined or 'without functions'}>"

    def explain(self) -> str:
        """Return what calls check, and what `wrap` compared with the kernel, of each function.

        Raises:
            ValueError: `wrap` did not make the module, so it does not know the signatures.
        """
        if self.report is None:
            raise ValueError(
                f"{self!r}: `wrap` did not make it; ffi_builder.explain(signature) shows the checks"
            )
        return self.report.explain()

    @functools.cached_property
    def object(self) -> bytes:
        """A relocatable object for this CPU, without what `link=` added."""
        if len(self._objects) != 1:
            return super().object
        return _with_support(self._objects[0])

    def _function(self, name: str) -> tvm_ffi.Function:
        return self._library.function(name)

    def _metadata(self, name: str) -> str | None:
        text = super()._metadata(name)
        return text if text is not None else self._library.metadata(name)

    def _own_objects(self) -> tuple[bytes, ...]:
        return self._objects or (self.object,)

    def _every_function(self) -> tuple[str, ...]:
        return self.functions
