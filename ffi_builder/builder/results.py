"""Returns the results of a wrapper, and owns what the wrapper allocates for a call.

Each result, and each workspace, becomes a ``TVMFFIAny``. Tensors are allocated before the call
(:mod:`ffi_builder.builder.allocation`). From then on the wrapper owns them, so every error branches
to a block that releases those allocated so far. After the call a single result is moved to the
caller, several results become an ``ffi.Array``, and the workspaces are released.

The code for a ``String``, whose value is a pointer and a length::

    llvm.store %pointer, %array : !llvm.ptr                 // a TVMFFIByteArray
    llvm.store %length, %array_length : i64
    %status = llvm.call @TVMFFIStringFromByteArray(%array, %cell)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from ffi_builder import abi, spec
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.allocation import Allocation, fill_with_zeros
from ffi_builder.builder.fast_path.lists import CELL
from ffi_builder.builder.returned import check_returned
from ffi_builder.builder.values import DecodedValues
from ffi_builder.errors import BuildError
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.ir.builder import call_extern
from ffi_builder.packed import anys, arguments
from ffi_builder.packed.callees import GlobalFunction, call
from ffi_builder.plan import Place
from ffi_builder.providers.context import OwnedAny
from ffi_builder.providers.results import loaded, storage, value_results, value_type
from ffi_builder.spec.canonical import results_text
from ffi_builder.spec.numbers import INT_RANGES
from ffi_builder.spec.results import Result

_MAKE_SHAPE: Final = GlobalFunction("ffi.Shape", keep=False)
_OBJECTS: Final = (
    *(spec.Object, spec.Function, spec.Array, spec.Map),
    *(spec.TensorList, spec.Tensor, spec.Any, spec.Variant),
)
_NUMBERS: Final = (spec.Var, spec.DType, spec.Device)
_MARKS: Final[dict[object, Callable[[Value], arguments.Argument]]] = {
    spec.DType: arguments.DType,
    spec.Device: arguments.Device,
    "handle": arguments.Pointer,
    **{dtype: arguments.Unsigned for dtype in INT_RANGES if dtype.startswith("u")},
}
"""Marks that say how a result is stored, for results whose value alone does not say it."""
_MOST: Final = (1 << 31) - 1
"""The most arguments of a TVM-FFI function, such as the one that makes an Array."""


def may_be_object(result: Result) -> bool:
    """Return whether the ``TVMFFIAny`` of a result may own an object."""
    inner = spec.required(result)
    if isinstance(inner, spec.Var):
        return inner.dtype == "uint64"
    return not isinstance(inner, _NUMBERS)


def store_handed_over(b: CheckingBuilder, value: Value, cell: Value) -> None:
    """Write an object or ``TVMFFIAny`` that the provider owned; NULL is None. This cannot fail."""
    t = b.types
    if value.type == t.ptr:
        anys.store_object(b, value, cell)
    else:
        anys.store_any(b, b.extract(value, 0, t.i64), b.extract(value, 1, t.i64), cell)


def is_object(result: Result) -> bool:
    """Return whether the value of a result is an object, which the provider hands over."""
    return isinstance(spec.required(result), _OBJECTS)


def store_value(b: CheckingBuilder, result: spec.Param, value: Value, cell: Value) -> None:
    """Write a number, dtype, device, str, bytes or list. This may fail if it makes an object."""
    match result:
        case spec.Optional(param=inner):
            _store_optional(b, inner, value, cell)
        case spec.List():
            _store_list(b, result, value, cell)
        case spec.Var() | spec.DType() | spec.Device():
            mark = _MARKS.get(result.dtype if isinstance(result, spec.Var) else type(result))
            arguments.store_argument(b, value if mark is None else mark(value), cell)
        case _:
            _store_text(b, result, value, cell)


def store_shape(b: CheckingBuilder, sizes: Sequence[Value], cell: Value) -> None:
    """Make an ``ffi.Shape`` of these entries."""
    array = arguments.array_of(b, len(sizes))
    for index, size in enumerate(sizes):
        anys.store_as(b, TypeIndex.INT, size, arguments.cell_of(b, array, index))
    anys.store_none(b, cell)
    anys.return_failure(b, call(b, _MAKE_SHAPE, array, b.i32(len(sizes)), cell))


def _store_optional(b: CheckingBuilder, inner: spec.Param, value: Value, cell: Value) -> None:
    """Write None if there is NULL instead of a str, bytes, a list or the address of a number."""
    is_number = isinstance(inner, _NUMBERS)
    pointer = value if is_number else b.extract(value, 0, b.types.ptr)
    anys.store_none(b, cell)
    with b.when(b.ne(pointer, b.null())):
        own = loaded(b, inner, pointer) if is_number else value
        store_value(b, inner, own, cell)


def _span(b: CheckingBuilder, name: str, value: Value, unit: str, most: int) -> tuple[Value, Value]:
    """Return pointer and length of a str, bytes or list, once they are checked."""
    t = b.types
    pointer, length = b.extract(value, 0, t.ptr), b.extract(value, 1, t.i64)
    words = f"The length of the result {name} would be {{}}"
    b.check(b.ule(length, b.i64(most)), "RuntimeError", words, length)
    there = b.or_(b.ne(pointer, b.null()), b.eq(length, b.i64(0)))
    words = f"The result {name} of {{}} {unit} is at NULL"
    b.check(there, "RuntimeError", words, length)
    return pointer, length


def _store_list(b: CheckingBuilder, result: spec.List, value: Value, cell: Value) -> None:
    """Make an ``ffi.Array`` or ``ffi.List`` of elements: numbers, or pointers and lengths."""
    t, element = b.types, result.element
    pointer, length = _span(b, result.name, value, "elements", _MOST)
    count = b.add(length, b.i64(1))  # calloc may return NULL for nothing
    cells = call_extern(b, "calloc", [count, b.i64(abi.ANY_SIZE)], t.ptr)
    there = b.ne(cells, b.null())
    b.check(there, "MemoryError", f"There is no memory for the result {result.name}")
    with anys.cleaning(b, lambda: _drop(b, cells, length)):
        with b.loop(length) as index:
            place = b.element(pointer, index, str(storage(t, element)))
            at = b.element(cells, index, CELL)
            store_value(b, element, loaded(b, element, place), at)
        make = _MAKE_LIST if result.mutable else _MAKE_ARRAY
        anys.return_failure(b, call(b, make, cells, b.trunc(length, t.i32), cell))
    _drop(b, cells, length)


def _drop(b: CheckingBuilder, cells: Value, length: Value) -> None:
    """Free an array of ``TVMFFIAny``s, and release the objects in it."""
    with b.loop(length) as index:
        anys.release_any(b, b.element(cells, index, CELL))
    call_extern(b, "free", [cells], b.types.void)


def _store_text(b: CheckingBuilder, result: spec.Param, value: Value, cell: Value) -> None:
    pointer, length = _span(b, result.name, value, "bytes", (1 << 63) - 1)
    binary = isinstance(result, spec.Bytes)
    anys.return_failure(b, anys.store_text(b, pointer, length, cell, binary=binary))


_MAKE_ARRAY: Final = GlobalFunction("ffi.Array", keep=False)
_MAKE_LIST: Final = GlobalFunction("ffi.List", keep=False)


class Results:
    """The results and workspaces of one wrapper while it is being emitted."""

    def __init__(self, context: DecodedValues, provider: str) -> None:
        """Begin without cells; errors call the provider ``provider``."""
        self.context, self.provider = context, provider
        self.b, self.signature = context.builder, context.signature
        self.allocation = Allocation(context)
        self.results = self.signature.results
        self.handed_over = value_results(context)
        self.sizes: dict[str, list[Value]] = {}
        """The entries of the Shapes, by their names."""
        self.cells: list[Value] = []
        """The addresses of the results' ``TVMFFIAny``s; empty if the only result is no tensor."""
        self.scratch: list[Value] = []
        """The addresses of the ``TVMFFIAny``s of the workspaces."""

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
        if self.cells or self.scratch:
            owned = self._owned()
            for cell in owned:
                self.b.store(self.b.i64(0), cell)  # None, until there is something to release
            anys.on_error(self.b, lambda: [anys.release_any(self.b, cell) for cell in owned])
        cells = [*(self.cells or [None] * len(self.results)), *self.scratch]
        every = zip((*self.results, *workspaces), cells, strict=True)
        for position, (result, cell) in enumerate(every, start=len(self.signature.arguments)):
            self._make(result, cell, position)

    def _make(self, result: Result, cell: Value | None, position: int) -> None:
        """Allocate a tensor, or check the entries of a Shape."""
        allocation = self.allocation
        if isinstance(result, spec.Shape):
            sizes = allocation.sizes(result)
            self.sizes[result.name] = [allocation.fast.value(size) for size in sizes]
        if not isinstance(result, spec.Tensor):
            return
        assert cell is not None
        allocation.allocate(result, cell, Place((position,), result.name))
        if isinstance(result, spec.Workspace) and result.zero:
            fill_with_zeros(allocation, result, (position,))

    def _new_cells(self, count: int) -> list[Value]:
        b = self.b
        space = b.alloca(b.types.i64, count * abi.ANY_SIZE // 8)
        return [b.offset(space, i * abi.ANY_SIZE) for i in range(count)]

    def _owned(self) -> list[Value]:
        """Return the cells that may hold an object."""
        results = zip(self.results, self.cells, strict=False)
        return [*(cell for result, cell in results if may_be_object(result)), *self.scratch]

    # ---- after the call

    @contextmanager
    def releasing(self) -> Generator[None]:
        """Make errors in the body release the objects that the provider has handed over.

        Raises:
            BuildError: as :meth:`store` does.
        """
        values = zip(self.handed_over, self._values(), strict=True)
        owned = [v for r, v in values if isinstance(v, OwnedAny) or is_object(r)]
        if not owned:
            yield
            return
        with anys.cleaning(self.b, lambda: [self._release(value) for value in owned]):
            yield

    def _release(self, value: Value | OwnedAny) -> None:
        if isinstance(value, OwnedAny):
            anys.release_any(self.b, value.address)
            return
        (cell,) = self._new_cells(1)
        store_handed_over(self.b, value, cell)
        anys.release_any(self.b, cell)

    def store(self) -> None:
        """Move the results to the caller's ``TVMFFIAny``, and release the workspaces.

        Raises:
            BuildError: if the provider has not set ``context.results`` as the signature requires.
        """
        self._store()
        for cell in self.scratch:
            anys.release_object(self.b, cell)
        self.b.cleanup = None

    def _store(self) -> None:
        values = self._values()
        if not self.results:
            return
        b, target = self.b, self.context.raw_result
        pairs = list(zip(self.handed_over, values, strict=True))
        checked = [
            (result, value)
            for result, value in pairs
            if isinstance(value, OwnedAny) and not isinstance(result, spec.Any)
        ]
        if checked:
            with self.releasing():
                for result, value in checked:
                    check_returned(self.context, result, result.name, value.address)
        self._store_each(values, self.cells or [target])
        if not self.cells:
            return
        if not self.is_tuple:
            b.store(anys.any_head(b, TypeIndex.TENSOR), target)
            b.store(
                b.field(b.types.i64, self.cells[0], abi.ANY_PAYLOAD),
                b.offset(target, abi.ANY_PAYLOAD),
            )
        else:
            count = b.i32(len(self.cells))
            anys.return_failure(b, call(b, _MAKE_ARRAY, self.cells[0], count, target))
            for result, cell in zip(self.results, self.cells, strict=True):
                if may_be_object(result):
                    anys.release_any(b, cell)

    def _store_each(self, values: Sequence[Value | OwnedAny], cells: Sequence[Value]) -> None:
        """Write the results that are not tensors to these cells.

        Objects come first, since the wrapper has to release them if another result fails.
        """
        b = self.b
        given = {r.name: value for r, value in zip(self.handed_over, values, strict=True)}
        pairs = list(zip(self.results, cells, strict=True))
        for result, cell in pairs:
            value = given.get(result.name)
            if isinstance(value, OwnedAny):
                anys.copy_any(b, value.address, cell)
            elif value is not None and is_object(result):
                store_handed_over(b, value, cell)
        for result, cell in pairs:
            value = given.get(result.name)
            if isinstance(result, spec.Shape):
                store_shape(b, self.sizes[result.name], cell)
            elif value is not None and not isinstance(value, OwnedAny) and not is_object(result):
                store_value(b, result, value, cell)

    def _values(self) -> list[Value | OwnedAny]:
        """Return the provider's values, one for each result, after checking their types."""
        wanted: list[Any] = [value_type(self.b.types, result) for result in self.handed_over]
        values = list(self.context.results or ())
        given = [self._type_of(value, index, wanted) for index, value in enumerate(values)]
        if given != wanted:
            pairs = zip(self.handed_over, wanted, strict=True)
            expected = ", ".join(f"{result.name}: {type_}" for result, type_ in pairs)
            returns = results_text(self.signature.returns)
            raise BuildError(
                f"{self.provider}: {self.signature.name!r} returns {returns}, so context.results "
                f"needs a value for each result that is not a tensor ("
                f"{expected or 'there is none'}), but it has {', '.join(map(str, given)) or 'none'}"
            )
        return values

    def _type_of(self, value: Value | OwnedAny, index: int, wanted: Sequence[Any]) -> Any:
        """Return the type of a value; an OwnedAny is valid for any result but a number."""
        if not isinstance(value, OwnedAny):
            return value.type
        is_number = index >= len(wanted) or isinstance(self.handed_over[index], spec.Var)
        return "OwnedAny" if is_number else wanted[index]
