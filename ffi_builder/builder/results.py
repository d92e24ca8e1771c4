"""Returns the results of a wrapper, and owns what it allocates for a call.

Each result, and each workspace, becomes a ``TVMFFIAny``. Tensors are allocated before the call
(:mod:`ffi_builder.builder.allocation`). From then on the wrapper owns them, so every error branches
to a block that releases those that exist. After the call a single result is moved to the caller,
several become an ``ffi.Array``, and the workspaces are released.
"""

from __future__ import annotations

from typing import Any, Final

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.allocation import Allocation
from ffi_builder.builder.fast_path.context import FastPath
from ffi_builder.builder.values import DecodedValues
from ffi_builder.builder.workspaces import fill_with_zeros
from ffi_builder.errors import BuildError
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.plan import Place
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.globals import any_head, call_global, return_failure

_BIG_INT: Final = "TVMFFIBigIntFromByteArray"
_MAKE_ARRAY: Final = "ffi.Array"


class Results:
    """The results and workspaces of one wrapper while it is being emitted."""

    def __init__(
        self, fast: FastPath, b: CheckingBuilder, decoded: DecodedValues, signature: spec.Signature
    ) -> None:
        self.b, self.signature = b, signature
        self.allocation = Allocation(fast, b, decoded)
        self.results = signature.results
        self.scalars = [result for result in self.results if isinstance(result, spec.Var)]
        self.cells: list[Value] = []
        """The addresses of the ``TVMFFIAny``s of the results; empty for a single scalar."""
        self.scratch: list[Value] = []
        """The addresses of those of the workspaces."""

    @property
    def is_tuple(self) -> bool:
        """Whether an array is returned."""
        return isinstance(self.signature.returns, tuple)

    # ---- before the call

    def allocate(self) -> None:
        """Allocate the result tensors, then the workspaces; all later errors release them."""
        workspaces = self.signature.workspaces
        if self.is_tuple or self.signature.result_tensors:
            self.cells = self._new_cells(len(self.results))
        if workspaces:
            self.scratch = self._new_cells(len(workspaces))
        owned = self._owned()
        if not self.cells and not owned:
            return
        for cell in owned:
            self.allocation.new_cell(cell)
        self._emit_cleanup()
        first = len(self.signature.arguments)
        tensors = [*zip(self.results, self.cells, strict=False)]
        tensors += [*zip(workspaces, self.scratch, strict=True)]
        for position, (result, cell) in enumerate(tensors, start=first):
            if isinstance(result, spec.Tensor):
                self.allocation.allocate(result, cell, Place((position,), result.name))
            if isinstance(result, spec.Workspace) and result.zero:
                fill_with_zeros(self.allocation, result, (position,))

    def _new_cells(self, count: int) -> list[Value]:
        b = self.b
        space = b.alloca(b.types.i64, count * abi.ANY_SIZE // 8)
        return [b.offset(space, i * abi.ANY_SIZE) for i in range(count)]

    def _owned(self) -> list[Value]:
        """Return the cells that may hold an object."""
        results = zip(self.results, self.cells, strict=False)
        return [*(cell for result, cell in results if _may_be_object(result)), *self.scratch]

    def _emit_cleanup(self) -> None:
        b = self.b
        here, status = b.block, b.new_block(b.types.i32, cold=True)
        b.block = status
        for cell in self._owned():
            self.allocation.release(cell)
        b.ret(status.arguments[0])
        b.block, b.cleanup = here, status

    # ---- after the call

    def store(self, context: CallContext, provider: str) -> None:
        """Move the results to the caller's ``TVMFFIAny``, and release the workspaces.

        Raises:
            BuildError: if the provider has not set ``context.results`` as the signature requires.
        """
        self._store(context, provider)
        for cell in self.scratch:
            self.allocation.release_tensor(cell)
        self.b.cleanup = None

    def _store(self, context: CallContext, provider: str) -> None:
        values = iter(self._values(context, provider))
        if not self.results:
            return
        b, target = self.b, context.raw_result
        if not self.cells:
            self._store_scalar(self.scalars[0], next(values), target)
            return
        for result, cell in zip(self.results, self.cells, strict=True):
            if isinstance(result, spec.Var):
                self._store_scalar(result, next(values), cell)
        if not self.is_tuple:
            b.store(any_head(b, TypeIndex.TENSOR), target)
            b.store(
                b.field(b.types.i64, self.cells[0], abi.ANY_PAYLOAD),
                b.offset(target, abi.ANY_PAYLOAD),
            )
        else:
            count = b.i32(len(self.cells))
            return_failure(b, call_global(b, _MAKE_ARRAY, self.cells[0], count, target))
            for result, cell in zip(self.results, self.cells, strict=True):
                if _may_be_object(result):
                    self.allocation.release(cell)

    def _values(self, context: CallContext, provider: str) -> list[Value]:
        """Return the provider's values, one for each scalar, after checking their types."""
        types = self.b.types
        wanted = [types.scalar(scalar.dtype) for scalar in self.scalars]
        values = list(context.results or ())
        given: list[Any] = [value.type for value in values]
        if given != wanted:
            pairs = zip(self.scalars, wanted, strict=True)
            expected = ", ".join(f"{scalar.name}: {type_}" for scalar, type_ in pairs)
            returns = spec.results_text(self.signature.returns)
            raise BuildError(
                f"{provider}: {self.signature.name!r} returns {returns}, so context.results needs "
                f"a value for each result that is not a tensor ({expected or 'there is none'}), "
                f"but it has {', '.join(map(str, given)) or 'none'}"
            )
        return values

    def _store_scalar(self, result: spec.Var, value: Value, cell: Value) -> None:
        b, t = self.b, self.b.types
        payload = b.offset(cell, abi.ANY_PAYLOAD)
        if result.dtype == "bool":
            index, type_, extend = TypeIndex.BOOL, t.i64, "zext"
        elif result.dtype in spec.FLOAT_DTYPES:
            index, type_, extend = TypeIndex.FLOAT, t.f64, "fpext"
        elif result.dtype == "handle":
            index, type_, extend = TypeIndex.OPAQUE_PTR, t.ptr, ""
        else:
            sign = "zext" if result.dtype.startswith("u") else "sext"
            index, type_, extend = TypeIndex.INT, t.i64, sign
        wide = value if value.type == type_ else b.cast(extend, value, type_)
        b.store(any_head(b, index), cell)
        b.store(wide, payload)
        if result.dtype == "uint64":
            self._store_large(wide, cell)

    def _store_large(self, value: Value, cell: Value) -> None:
        """Return a uint64 that does not fit int64 as a BigInt."""
        b, t = self.b, self.b.types
        following, large = b.new_block(), b.new_block(cold=True)
        b.cond_br(b.sge(value, b.i64(0)), following, large, likely=True)
        b.block = large
        words, array = b.alloca(t.i64, 2), b.alloca(t.i64, abi.BYTE_ARRAY_SIZE // 8)
        b.store(value, words)
        b.store(b.i64(0), b.offset(words, 8))
        b.store(words, b.offset(array, abi.BYTE_ARRAY_DATA))
        b.store(b.i64(16), b.offset(array, abi.BYTE_ARRAY_LENGTH))
        b.symbols.declare(_BIG_INT, t.i32, [t.ptr, t.ptr])
        return_failure(b, b.call_value(_BIG_INT, [array, cell], t.i32))
        b.br(following)
        b.block = following


def _may_be_object(result: spec.Result) -> bool:
    return isinstance(result, spec.Tensor) or result.dtype == "uint64"
