"""`CompiledModule`: the result of `compile`."""

from __future__ import annotations

import functools
import platform
from typing import TYPE_CHECKING, Final

from ffi_builder.runtime.export.support import with_support
from ffi_builder.runtime.inputs import LlvmSource, ObjectSource, Source
from ffi_builder.runtime.jit.link import Library
from ffi_builder.runtime.lowered import LoweredModule
from ffi_builder.runtime.python.table import FunctionTable

if TYPE_CHECKING:
    import tvm_ffi

_MOST_KEPT: Final = 1 << 20
"""Bytes: larger objects, which have large constants, are made again when they are asked for."""


class CompiledModule(LoweredModule, FunctionTable):
    """A loaded module: its functions, by their names without the `__tvm_ffi_` prefix.

    `compiled["matmul"]` is a `tvm_ffi.Function`, `compiled.callable("matmul")` a Python function
    with keywords and defaults. Each keeps the code that it runs alive; the compiled module may be
    dropped.

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

    def __init__(
        self,
        source: Source,
        library: Library,
        objects: tuple[bytes, ...],
        level: int,
        links: tuple[LlvmSource | ObjectSource, ...] = (),
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
        """The address of the machine code of `name`.

        It is valid as long as the compiled module, or a function of it, is alive.

        Raises:
            UnknownFunctionError: a KeyError; there is no such function.
        """
        self._check(name)
        return self._library.address(name)

    def __repr__(self) -> str:
        return f"<CompiledModule {', '.join(self.functions) or 'without functions'}>"

    @functools.cached_property
    def object(self) -> bytes:
        """A relocatable object for this CPU, without what `link=` added."""
        if len(self._objects) != 1:
            return super().object
        return with_support(self._objects[0], platform.machine())

    def _function(self, name: str) -> tvm_ffi.Function:
        return self._library.function(name)

    def _metadata(self, name: str) -> str | None:
        found = super()._metadata(name)
        return found if found is not None else self._library.metadata(name)

    def _own_objects(self) -> tuple[bytes, ...]:
        return self._objects or (self.object,)

    def _every_function(self) -> tuple[str, ...]:
        return self.functions
