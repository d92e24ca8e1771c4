"""Places in functions of an author's own, where operations are inserted."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from ffi_builder.builder.location import backtrace
from ffi_builder.errors import BuildError
from ffi_builder.ir import (
    Builder,
    CheckingBuilder,
    Operation,
    Symbols,
    Types,
    function_parts,
    named,
    root_of,
)
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class _Module:
    """A module as :class:`~ffi_builder.ir.Symbols` needs it, found from within."""

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
            BuildError: if it is no such place, or not in an ``llvm.func`` of a module.
        """
        if isinstance(where, Builder):
            return cls(who, where.types, where.function, where.block, given=where)
        where = where.operation if hasattr(where, "operation") else where
        root = root_of(where)
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
        """Check where errors go.

        Raises:
            BuildError: if it is no block of this function, takes something else than an i32, or is
                left out in a function that returns something else.
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
        location = self._location if given is None else given.location
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

    @property
    def _location(self) -> Any:
        return (self._function if self._before is None else self._before).location

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
    """Move an operation and those behind it into a new block after this one."""
    rest = block.create_after()
    moved = [view.operation for view in block.operations]
    for operation in moved[moved.index(before) :]:
        # A block's end takes no operation behind a terminator, which is the last one here.
        types.ir.InsertionPoint(rest).insert(operation.detach_from_parent())
    return rest


def _not_a_place(who: str, where: object) -> BuildError:
    return BuildError(
        f"{who}: expected an operation, an insertion point, a block or a builder to insert at but "
        f"got {where!r}"
    )
