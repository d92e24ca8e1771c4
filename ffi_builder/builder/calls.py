"""Calls of functions of the TVM-FFI C ABI from any place in a function.

``call_packed(operation, packed.GlobalFunction("my.log"), [n], result="int64")`` adds::

      …                                           // the operations before `operation`
      llvm.store %none, %result                   // two TVMFFIAny on the stack
      llvm.store %int, %args
      llvm.store %n, %payload
      …                                           // ^call(%function): found once, and kept
      %status = llvm.call @TVMFFIFunctionCall(%function, %args, %one, %result)
      llvm.cond_br %fine, ^next, ^failed          // ^failed: llvm.return %status
    ^next:
      …                                           // an error if the result is no Int
      llvm.br ^rest
    ^rest:
      …                                           // `operation`, and the rest
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Final

from ffi_builder.builder.names import backtrace
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, CheckingBuilder, Symbols, Types, Value
from ffi_builder.ir.builder import Builder, call_extern
from ffi_builder.ir.contained import contain_support
from ffi_builder.ir.distribution import is_plain, named, root_of
from ffi_builder.ir.protocols import Operation
from ffi_builder.ir.symbols import function_parts
from ffi_builder.packed import anys, arguments, callees
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class _Module:
    """The members of a module that :class:`~ffi_builder.ir.Symbols` needs, for its operation."""

    operation: Any

    @property
    def context(self) -> Any:
        return self.operation.context

    @property
    def body(self) -> Any:
        return self.operation.regions[0].blocks[0]


class Place:
    """A place in a function where operations are inserted."""

    def __init__(
        self,
        who: str,
        types: Types,
        function: Operation,
        block: Any,
        before: Any = None,
        given: Builder | None = None,
    ) -> None:
        self._who, self.types, self._function = who, types, function
        self._block, self._before, self._given = block, before, given
        self.end: Any = None
        """The block in which the code continues, once the builder is done."""

    @classmethod
    def of(cls, who: str, where: Any) -> Place:
        """Find the function and the block.

        Raises:
            BuildError: if ``where`` is not a place in an ``llvm.func`` of a module.
        """
        if isinstance(where, Builder):
            return cls(who, where.types, where.function, where.block, given=where)
        where = where.operation if hasattr(where, "operation") else where
        root = root_of(where)
        if is_plain(where):
            raise BuildError(
                f"{who}: calls can be placed in functions of MLIR modules alone; in a plain module "
                f"a call provider passes its builder"
            )
        if root is None:
            raise _not_a_place(who, where)
        ir = named(root).ir
        before: Any = None
        if isinstance(where, ir.InsertionPoint):
            before = None if where.ref_operation is None else where.ref_operation.operation
            block = where.block
        elif isinstance(where, ir.Operation) and where.parent is not None:
            # An operation without a parent has no block, and asking for it ends the process.
            block, before = where.block, where
        elif isinstance(where, ir.Block):
            block = where
        else:
            raise _not_a_place(who, where)
        function = block.owner.operation
        if function.parent is None:
            raise BuildError(f"{who}: the place is in {function.name}, which is in no module")
        if function.name != "llvm.func":
            raise BuildError(
                f"{who}: the place is in {function.name}, not directly in an llvm.func; lower the "
                f"module to the LLVM dialect first"
            )
        named(root).load_llvm(function.context)
        if before is None and Builder.terminated(block):
            raise BuildError(
                f"{who}: the block ends already; give the operation before which to call, such as "
                f"its last one"
            )
        return cls(who, Types(ir, function.context), function, block, before)

    @property
    def _name(self) -> str:
        return self._function.attributes["sym_name"].value

    def error_edge(self, on_error: Any) -> Any:
        """Check the block that errors branch to.

        Raises:
            BuildError: if ``on_error`` is no block of this function, or has other arguments than a
                single i32 or none; if it is None, and the function does not return an i32.
        """
        types = self.types
        if on_error is None:
            result, _ = function_parts(self._function)
            if result != "i32":
                raise BuildError(
                    f"{self._who}: @{self._name} returns {result}, so it cannot return the status "
                    f"of a failed call, an i32; pass on_error=, a block to branch to"
                )
            return None
        if not isinstance(on_error, types.ir.Block):
            raise BuildError(f"{self._who}: on_error: expected a block but got {on_error!r}")
        block: Any = on_error
        if block.owner.operation != self._function:
            raise BuildError(f"{self._who}: on_error: expected a block of @{self._name}")
        given = [str(argument.type) for argument in block.arguments]
        if given not in ([], ["i32"]):
            raise BuildError(
                f"{self._who}: on_error: expected a block with one argument, the status as an i32, "
                f"or none, but its arguments are {', '.join(given)}"
            )
        return block

    @contextmanager
    def builder(self) -> Generator[CheckingBuilder]:
        """Build at this place, and then continue with the operations that follow."""
        given = self._given
        if isinstance(given, CheckingBuilder):
            yield given
            self.end = given.block
            return
        places = (given, self._before, self._function)
        location = next(each for each in places if each is not None).location
        symbols = self.symbols
        rest = None if self._before is None else _split(self.types, self._block, self._before)
        b = CheckingBuilder(
            symbols,
            self._function,
            self._block,
            location,
            suffix=f" when calling it in `{self._name}`",
            backtrace=backtrace(location, self._name),
        )
        yield b
        if given is not None:
            given.block = b.block
        if rest is not None:
            b.br(rest)
        self.end = b.block if rest is None else rest

    @cached_property
    def symbols(self) -> Symbols:
        """The symbols of the module."""
        if self._given is not None:
            return self._given.symbols
        module: Any = self._function
        while module.parent is not None:
            module = module.parent
        unknown = self.types.ir.Location.unknown(self.types.context)
        return Symbols(self.types, _Module(module.operation), unknown)


def _split(types: Types, block: Any, before: Any) -> Any:
    """Move an operation and all that follow it into a new block after this one."""
    rest = block.create_after()
    moved = [view.operation for view in block.operations]
    for operation in moved[moved.index(before) :]:
        # Nothing can be appended to a block behind its terminator, the last operation here.
        types.ir.InsertionPoint(rest).insert(operation.detach_from_parent())
    return rest


def _not_a_place(who: str, where: object) -> BuildError:
    return BuildError(
        f"{who}: expected an operation, an insertion point, a block or a builder to insert at but "
        f"got {where!r}"
    )


_WHO: Final = "call_packed"


@dataclass(frozen=True)
class PackedCall:
    """A call that was emitted.

    Attributes:
        value: the result, or None if it was dropped.
        block: the block in which the code continues.

    Example: see :func:`~ffi_builder.call_packed`.
    """

    value: Value | None
    block: Block


def call_packed(
    where: Any,
    callee: callees.Callee,
    args: Sequence[arguments.Argument] = (),
    *,
    result: str | None = None,
    on_error: Block | None = None,
    self_contained: bool = False,
) -> PackedCall:
    """Emit a call of a function of the TVM-FFI C ABI.

    Args:
        where: an ``ir.Operation`` of the LLVM dialect, or an ``ir.InsertionPoint`` before one: the
            call is emitted before it, and the operation and all that follow move into a new block.
            Or an ``ir.Block`` that has no terminator yet, or an ``ir.InsertionPoint`` at its end.
            Or a builder: ``context.builder`` in a call provider. It continues after the call.
        callee: one of the callees of :mod:`ffi_builder.packed`.
        args: the arguments: see :mod:`ffi_builder.packed`. They are borrowed.
        result: what to convert the result to: ``int8`` to ``uint64``, ``bool``, ``float16`` to
            ``float64`` or ``bfloat16``, which must be of that kind and fit; ``handle``, an opaque
            pointer, NULL for None; ``object``, a ``TVMFFIObject*``, NULL for None; or ``any``, the
            address of a ``TVMFFIAny`` on the stack, which the same call overwrites when it runs
            again. The caller owns an ``object`` or ``any``, and releases it by
            :func:`release_packed`. If left out, the result is released.
        on_error: the block of the same function to branch to when an error is set; it has one
            argument, the status as an i32, or none. If left out, the status is returned, so the
            function must return an i32.
        self_contained: as for :func:`attach_ffi_func`.

    Returns:
        The result, and the block in which the code continues.

    Raises:
        BuildError: if an argument, the place or the error edge does not fit. The module is then
            unchanged.

    The error of a callee is passed on as it is. If a function is not found, the error is a
    RuntimeError; if its result is of another kind than ``result``, a TypeError.

    Examples:
        A function of the ABI that calls a function registered in Python:

        >>> import tvm_ffi
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, call_packed, packed, runtime, spec
        >>> @tvm_ffi.register_global_func("example.tile", override=True)
        ... def tile(kernel, size):
        ...     return min(size, 128)
        >>> n = spec.Var("n", "int64")
        >>> def provider(current_block, context):
        ...     b, tile = context.builder, packed.GlobalFunction("example.tile")
        ...     call = call_packed(b, tile, ["softmax", context.value(n)], result="int64")
        ...     context.results = [call.value]
        ...     return call.block
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("tile", [n], spec.Var("tile", "int64")), provider)
        >>> runtime.compile(module)["tile"](1000)
        128
    """
    _check_callee(callee)
    anys.check_result(_WHO, result)
    place = Place.of(_WHO, where)
    arguments.check_arguments(_WHO, place.types, args)
    _check_function_object(place.types, callee)
    edge = place.error_edge(on_error)
    if isinstance(callee, callees.Symbol):
        callees.declare(place.symbols, callee)  # fail early if the module has it with another type
    with place.builder() as b, _errors_to(b, edge):
        value = _emit(b, callee, args, result)
    if self_contained:
        contain_support(place.symbols)
    return PackedCall(value, place.end)


def release_packed(where: Any, value: Value, result: str = anys.OBJECT) -> Block:
    """Release an ``object`` or ``any`` that :func:`call_packed` returned.

    Args:
        where: as for :func:`call_packed`.
        value: the result; nothing is done for a NULL object.
        result: ``object`` or ``any``.

    Returns:
        The block in which the code continues.

    Raises:
        BuildError: if the place, the value or the kind of the result does not fit.

    Examples:
        A kernel gets an object and releases it before its end:

        >>> from torch_mlir import ir
        >>> from ffi_builder import call_packed, packed, release_packed
        >>> KERNEL = '''
        ... llvm.func @warm_up() -> i32 {
        ...   %ok = llvm.mlir.constant(0 : i32) : i32
        ...   llvm.return %ok : i32
        ... }'''
        >>> module = ir.Module.parse(KERNEL, ir.Context())
        >>> entry = ir.SymbolTable(module.operation)["warm_up"].regions[0].blocks[0]
        >>> [*_, end] = entry.operations
        >>> make_plan = packed.GlobalFunction("example.make_plan")
        >>> call = call_packed(end.operation, make_plan, ["fft", 1024], result="object")
        >>> block = release_packed(end.operation, call.value, "object")
        >>> module.operation.verify()
        True
    """
    place = Place.of("release_packed", where)
    given: Any = value
    if result not in (anys.OBJECT, anys.ANY):
        raise BuildError(f"release_packed: expected a result 'object' or 'any' but got {result!r}")
    if not isinstance(given, place.types.ir.Value) or value.type != place.types.ptr:
        raise BuildError(f"release_packed: expected a pointer but got {given!r}")
    with place.builder() as b:
        if result == anys.ANY:
            anys.release_any(b, value)
        else:
            with b.when(b.ne(value, b.null())):
                call_extern(b, anys.DEC_REF, [value], b.types.i32)
    return place.end


def _emit(
    b: CheckingBuilder,
    callee: callees.Callee,
    args: Sequence[arguments.Argument],
    result: str | None,
) -> Value | None:
    array, result_cell = arguments.array_of(b, len(args)), anys.empty_any(b)
    cells = [arguments.cell_of(b, array, index) for index in range(len(args))]
    owned = [
        cell for arg, cell in zip(args, cells, strict=True) if arguments.is_owned(b.types, arg)
    ]
    with _released(b, owned):
        for arg, cell in zip(args, cells, strict=True):
            arguments.store_argument(b, arg, cell)
        anys.return_failure(b, callees.call(b, callee, array, b.i32(len(args)), result_cell))
    return anys.take(b, result, f"by {callees.shown(callee)}", result_cell)


@contextmanager
def _released(b: CheckingBuilder, cells: Sequence[Value]) -> Generator[None]:
    """Release what the body puts into these cells, also if the body ends with an error."""
    if not cells:
        yield
        return
    for cell in cells:
        b.store(b.i64(0), cell)

    def release() -> None:
        for cell in cells:
            anys.release_any(b, cell)

    def release_late() -> None:
        with b.out_of_line():
            release()

    with anys.cleaning(b, release_late):
        yield
    release()


@contextmanager
def _errors_to(b: CheckingBuilder, edge: Block | None) -> Generator[None]:
    """Make errors in the body branch to ``edge`` with their status; None changes nothing."""
    before = b.cleanup
    if edge is not None:
        b.cleanup = edge
        if not len(edge.arguments):
            here, b.block = b.block, b.new_block(b.types.i32, cold=True)
            b.cleanup = b.block
            b.br(edge)
            b.block = here
    yield
    b.cleanup = before


def _check_callee(callee: object) -> None:
    if not isinstance(callee, callees.CALLEES):
        hint = f", such as packed.GlobalFunction({callee!r})" if isinstance(callee, str) else ""
        raise BuildError(
            f"{_WHO}: expected a callee of ffi_builder.packed{hint} but got {callee!r}"
        )


def _check_function_object(types: Types, callee: callees.Callee) -> None:
    if not isinstance(callee, callees.FunctionObject):
        return
    value: Any = callee.value
    if not isinstance(value, types.ir.Value) or value.type != types.ptr:
        given = f"one of type {value.type}" if isinstance(value, types.ir.Value) else repr(value)
        raise BuildError(
            f"{_WHO}: FunctionObject: expected a pointer, the TVMFFIObject* of a function, but got "
            f"{given}"
        )
