"""What `compile` gives back."""

from __future__ import annotations

import functools
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ffi_builder.runtime import codegen, llvm
from ffi_builder.runtime.link import PREFIX, Library
from ffi_builder.runtime.source import ObjectSource, Source, llvm_ir, mlir_text

if TYPE_CHECKING:
    import tvm_ffi


class UnknownFunctionError(KeyError):
    """A compiled module has no function of that name."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show the repr


class CompiledModule:
    """The functions of a compiled module, by their names without the `__tvm_ffi_` prefix.

    `compiled["matmul"]` is a `tvm_ffi.Function`. It keeps the code that it runs alive; the compiled
    module may be dropped.
    """

    def __init__(
        self, source: Source, library: Library, objects: tuple[bytes, ...], level: int
    ) -> None:
        """For `compile`; `objects` are the source's own."""
        self._source = source
        self._library = library
        self._objects = objects
        self._level = level

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of all functions, in the order of their definition."""
        return self._library.functions

    def __getitem__(self, name: str) -> tvm_ffi.Function:
        """The function `name`, taking positional arguments.

        Raises UnknownFunctionError, a KeyError.
        """
        self._check(name)
        return self._library.function(name)

    def address(self, name: str) -> int:
        """The address of the machine code of `name`. Raises UnknownFunctionError, a KeyError.

        It is valid as long as the compiled module, or a function of it, is alive.
        """
        self._check(name)
        return self._library.address(name)

    def __contains__(self, name: object) -> bool:
        return name in self.functions

    def __iter__(self) -> Iterator[str]:
        return iter(self.functions)

    def __len__(self) -> int:
        return len(self.functions)

    def __repr__(self) -> str:
        return f"<CompiledModule {', '.join(self.functions) or 'without functions'}>"

    @functools.cached_property
    def mlir(self) -> str | None:
        """The lowered MLIR module, or None if what was compiled was no MLIR."""
        return mlir_text(self._source)

    @functools.cached_property
    def llvm_ir(self) -> str | None:
        """The optimised LLVM IR, with every helper in it, or None if an object was compiled."""
        return None if self._text is None else llvm.optimised(self._text, "host", self._level)

    @functools.cached_property
    def assembly(self) -> str | None:
        """The assembly that `llvm_ir` becomes on this CPU, or None if an object was compiled."""
        text = self._text
        return None if text is None else codegen.emit_assembly(text, "host", self._level)

    @functools.cached_property
    def object(self) -> bytes:
        """A relocatable object for this CPU, with every helper in it and nothing of `link=`."""
        if len(self._objects) == 1 or self._text is None:
            return self._objects[0]
        return codegen.emit_object(self._text, "host", self._level)

    def export_object(self, path: str | os.PathLike[str]) -> None:
        """Write a relocatable object for every CPU of this architecture to `path`, or nothing.

        A module that was given as an object is written as it is. What `link=` added is not in it:
        link that beside it. Raises CompileError and OSError.
        """
        if isinstance(self._source, ObjectSource) or self._text is None:
            data = self.object
        else:
            data = codegen.emit_object(self._text, "baseline", self._level, jit=False)
        _write_atomically(Path(path), data)

    @functools.cached_property
    def _text(self) -> str | None:
        """Unoptimised LLVM IR with all helpers."""
        return llvm_ir(self._source)

    def _check(self, name: str) -> None:
        if name not in self.functions:
            known = ", ".join(self.functions) or f"none: it defines no `{PREFIX}*`"
            raise UnknownFunctionError(
                f"No function `{name}` in the compiled module, which has: {known}"
            )


def _write_atomically(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{uuid.uuid4().hex}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
