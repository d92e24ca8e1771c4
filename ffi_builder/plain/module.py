"""Plain modules: functions, blocks, values and globals without MLIR.

The classes have those members of MLIR's bindings that :mod:`ffi_builder.ir` and call providers use.
An operation is its own result, as an instruction is in LLVM. It checks its operands and writes its
line of LLVM IR when it is made, so that a mistake is told where it is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from ffi_builder import BuildError
from ffi_builder.extending import TERMINATORS
from ffi_builder.plain.attributes import Attribute, StringAttr, TypeAttr, symbol
from ffi_builder.plain.constants import Constant, spelled
from ffi_builder.plain.instructions import WRITERS
from ffi_builder.plain.text import HEADS, TOP_LEVEL, body_text, module_text
from ffi_builder.plain.types import Type, function_type, given_type


class Context:
    """What plain modules have instead of an MLIR context: it holds nothing."""

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    @staticmethod
    def is_dialect_loaded(name: str) -> bool:
        """Tell whether operations of a dialect can be made."""
        return name == "llvm"

    @staticmethod
    def is_registered_operation(name: str) -> bool:
        """Tell whether operations of this name can be made."""
        return name in WRITERS or name in TOP_LEVEL


CONTEXT: Final = Context()
Type.context = Attribute.context = CONTEXT


class Location:
    """No place: plain modules have no debug information."""

    context = CONTEXT
    current = None

    def __str__(self) -> str:
        return "loc(unknown)"

    @classmethod
    def unknown(cls, context: object = None) -> Location:
        """Return no place."""
        return cls()

    @classmethod
    def name(cls, name: str, location: Location, context: object = None) -> Location:
        """Return a place; names are only for readers of MLIR."""
        return location


class Value:
    """A value: an argument of a block, or an operation.

    Attributes:
        type: its type; None for an operation without a result.
        block: where it is defined.
        text: how LLVM IR writes it where it is used.
        known: its value if it is a constant, else None.
    """

    __slots__ = ("block", "known", "text", "type")

    type: Any
    block: Block
    text: str
    known: Constant | None

    @property
    def owner(self) -> Any:
        """The block or the operation that defines it."""
        return self.block

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.text}: {self.type}>"


class Operation(Value):
    """An instruction or a constant of a function; or a function, a global or a list of functions.

    Attributes:
        line: the line of LLVM IR; empty for a constant.
    """

    __slots__ = ("attributes", "line", "name", "operands", "successors")

    name: str
    attributes: dict[str, Any]
    operands: Sequence[Value]
    successors: Sequence[Block]
    line: str
    context = CONTEXT
    location = Location()
    regions: tuple[Region, ...] = ()

    @staticmethod
    def create(
        name: str,
        results: Sequence[Type] = (),
        operands: Sequence[Value] = (),
        attributes: dict[str, Any] | None = None,
        successors: Sequence[Block] | None = None,
        regions: int = 0,
        loc: Any = None,
        ip: InsertionPoint | None = None,
    ) -> Operation:
        """Make an operation at a place.

        Raises:
            ValueError: plain modules have no such operation, or not with these operands, results
                and attributes.
        """
        assert ip is not None
        write = WRITERS.get(name)
        made = Operation() if write is not None else Symbol()
        made.block = block = ip.block
        made.name, made.attributes = name, attributes or _NONE
        made.operands, made.successors = operands, successors or ()
        made.text, made.known, made.line = "", None, ""
        if write is None:
            made.begin()
        else:
            made.type = results[0] if results else None
            region = block.region
            try:
                for operand in operands:
                    if operand.block.region is not region:
                        raise ValueError(f"{operand!r} is a value of another function")
                write(made, *operands)
            except KeyError as error:
                raise ValueError(f"lacks the attribute {error}") from None
            except (AttributeError, IndexError, TypeError):
                given = ", ".join(str(getattr(each, "type", each)) for each in operands)
                raise ValueError(
                    f"takes other operands, attributes or blocks; got ({given})"
                ) from None
        if ip.at is None:
            block.operations.append(made)
        else:
            ip.insert(made)
        return made

    def begin(self) -> None:
        """Refuse to be a symbol of a module."""
        raise NotImplementedError

    @property
    def operation(self) -> Operation:
        """The operation."""
        return self

    @property
    def result(self) -> Operation:
        """The only result."""
        return self

    @property
    def results(self) -> tuple[Value, ...]:
        """The result, if there is one."""
        return () if self.type is None else (self,)

    @property
    def owner(self) -> Operation:
        """The operation."""
        return self

    def emit(self, text: str) -> None:
        """Become an instruction; ``text`` says what it computes or does."""
        if self.type is None:
            self.line = text
        else:
            region = self.block.region
            region.names = number = region.names + 1
            self.text = name = f"%v{number}"
            self.line = f"{name} = {text}"

    def fold(self, constant: Constant | None) -> bool:
        """Become a constant, unless there is None; return whether there is one."""
        if constant is not None:
            self.known, self.text = constant, spelled(self.type, constant)
        return constant is not None

    def alias(self, value: Value) -> None:
        """Become another value of the same type."""
        self.known, self.text = value.known, value.text

    def verify(self) -> bool:
        """Return True: operations are checked when they are made."""
        return True

    def erase(self) -> None:
        """Remove the operation from where it is."""
        self.block.operations.remove(self)

    def detach_from_parent(self) -> Operation:
        """Remove the operation, to insert it elsewhere."""
        self.erase()
        return self

    def __str__(self) -> str:
        return self.line or f"{self.type} {self.text}"


_NONE: Final[dict[str, Any]] = {}


class Symbol(Operation):
    """A function, a global or a list of functions."""

    __slots__ = ("regions",)

    def begin(self) -> None:
        """Get attributes that can be changed, and the region of a function."""
        if self.name not in TOP_LEVEL:
            raise ValueError("plain modules have no such operation")
        self.type, self.attributes = None, dict(self.attributes)
        self.regions = (Region(self),) if self.name == "llvm.func" else ()

    def verify(self) -> bool:
        """Check the attributes, and that each block ends in a terminator and has no other.

        Raises:
            BuildError: one does not, or an attribute is unknown.
        """
        try:
            HEADS.get(self.name, str)(self)
        except ValueError as error:
            raise BuildError(f"{self.name}: {error}") from None
        for region in self.regions:
            for block in () if region.text else region.blocks:
                names = [operation.name for operation in block.operations]
                if not names or names[-1] not in TERMINATORS:
                    raise BuildError(f"a block ends without a terminator, after {names[-3:]}")
                for name in names[:-1]:
                    if name in TERMINATORS:
                        raise BuildError(f"{name} is not at the end of its block")
        return True

    def clone(self, ip: InsertionPoint) -> Operation:
        """Copy the symbol to a module. The body of a function becomes text."""
        copy = Operation.create(self.name, attributes=self.attributes, ip=ip)
        copy.regions = tuple(region.copied(copy) for region in self.regions)
        return copy

    def erase(self) -> None:
        """Remove the symbol from its module."""
        super().erase()
        self.block.region.forget(self)

    def __str__(self) -> str:
        return TOP_LEVEL[self.name](self)


class Block:
    """A block: its arguments, its operations, and the branches to it."""

    __slots__ = ("arguments", "following", "incoming", "label", "operations", "region")

    def __init__(self, region: Region, types: Sequence[Type], label: str) -> None:
        self.region, self.label = region, label
        self.arguments: list[Value] = []
        self.operations: list[Operation] = []
        self.incoming: list[tuple[Block, Sequence[Value]]] = []
        """The blocks that branch here, with the values of the arguments."""
        self.following: Block | None = None
        for type_ in types:
            self.add_argument(type_)

    @property
    def owner(self) -> Any:
        """The function or module."""
        return self.region.owner

    def add_argument(self, type_: Type, location: object = None) -> Value:
        """Add an argument."""
        made = Value()
        made.type, made.block, made.known = type_, self, None
        made.text = self.region.new_name("%v")
        self.arguments.append(made)
        return made

    def create_after(self, *types: Type, arg_locs: object = None) -> Block:
        """Make a block after this one."""
        return self.region.add(types, self)

    def append(self, operation: Operation) -> None:
        """Insert an operation at the end."""
        InsertionPoint(self).insert(operation)


class Region:
    """The blocks of a function, or the only block of a module.

    Attributes:
        owner: the function or module.
        text: the body in LLVM IR if it is finished.
    """

    __slots__ = ("_count", "_symbols", "first", "last", "names", "owner", "text")

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.first: Block | None = None
        self.last: Block | None = None
        self.text: str | None = None
        self.names = self._count = 0
        self._symbols: dict[str, Operation] = {}

    def symbol(self, name: str) -> Operation | None:
        """Return the symbol of this name in a module; None if there is none."""
        known = self._symbols.get(name)
        if known is not None and known.attributes["sym_name"].value == name:
            return known
        for operation in reversed(self.blocks[0].operations):  # most were just added
            given = operation.attributes.get("sym_name")
            if given is not None and given.value == name:
                self._symbols[name] = operation
                return operation
        return None

    def forget(self, operation: Operation) -> None:
        """Note that an operation is no longer in a module."""
        name = operation.attributes.get("sym_name")
        if name is not None and self._symbols.get(name.value) is operation:
            del self._symbols[name.value]

    def new_name(self, prefix: str) -> str:
        """Return a name that no other value or block here has."""
        self.names += 1
        return f"{prefix}{self.names}"

    def add(self, types: Sequence[Type], before: Block | None = None) -> Block:
        """Make a block after another one, or the first."""
        made = Block(self, types, self.new_name("b"))
        self._count += 1
        if before is None:
            self.first = made
        else:
            made.following, before.following = before.following, made
        if before is self.last:
            self.last = made
        return made

    @property
    def blocks(self) -> Region:
        """The blocks in order, as a sequence."""
        return self

    def __iter__(self) -> Iterator[Block]:
        block = self.first
        while block is not None:
            yield block
            block = block.following

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Block:
        return self.first if not index and self.first is not None else list(self)[index]

    def append(self, *types: Type, arg_locs: object = None) -> Block:
        """Make a block at the end."""
        return self.add(types, self.last)

    def finished(self) -> str:
        """Return the body in LLVM IR; empty for a declaration."""
        if self.text is None:
            return body_text(self)
        return self.text

    def copied(self, owner: Operation) -> Region:
        """Return a copy that is finished: of the blocks it has only the arguments of the first."""
        copy = Region(owner)
        copy.text = self.finished()
        if self.first is not None:
            entry = copy.add([argument.type for argument in self.first.arguments])
            for argument, original in zip(entry.arguments, self.first.arguments, strict=True):
                argument.text = original.text
        return copy


class InsertionPoint:
    """A place in a block: its end, or its beginning."""

    __slots__ = ("at", "block")

    def __init__(self, block: Block) -> None:
        if not isinstance(block, Block):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"expected a block but got {block!r}")
        self.block = block
        self.at: int | None = None
        """The index of the next operation; None for the end."""

    @classmethod
    def at_block_begin(cls, block: Block) -> InsertionPoint:
        """Return the place before all operations that a block has now."""
        made = cls(block)
        made.at = 0
        return made

    def insert(self, operation: Operation) -> None:
        """Insert an operation; the next one comes after it."""
        operation.block = self.block
        if self.at is None:
            self.block.operations.append(operation)
        else:
            self.block.operations.insert(self.at, operation)
            self.at += 1


class _ModuleOperation:
    """What MLIR calls a module's operation."""

    location = Location()

    def __init__(self) -> None:
        self.attributes: dict[str, Any] = {}
        self.regions = (Region(self),)
        self.regions[0].add(())

    def verify(self) -> bool:
        """Verify all functions."""
        return all(operation.verify() for operation in self.regions[0].blocks[0].operations)


Linked: TypeAlias = "Callable[[str], tuple[str, Sequence[str]] | None]"
"""Returns the types of a function that is linked later, as ``declare`` takes them, if it knows."""


class PlainModule:
    """A module without MLIR, for kernels that are objects, LLVM IR, addresses or kernel images.

    ``attach`` and call providers take it like an ``ir.Module``, and ``runtime.compile`` compiles
    it. Only llvmlite is needed for that.

    Examples:
        A kernel in LLVM IR, whose type the module has to know:

        >>> from ffi_builder import attach, ir, providers, runtime, spec
        >>> module = ir.PlainModule()
        >>> module.declare("twice", "i64", ["i64"])
        >>> twice = spec.Signature.parse("twice(x: int64) -> y: int64")
        >>> attach(module, twice, providers.DirectCallProvider("twice"))
        >>> KERNEL = '''
        ... define i64 @twice(i64 %x) {
        ...   %y = shl i64 %x, 1
        ...   ret i64 %y
        ... }'''
        >>> runtime.compile(module, link=[KERNEL])["twice"](21)
        42
    """

    context = CONTEXT
    operation: Any

    def __init__(self, linked: Linked | None = None) -> None:
        self.operation = _ModuleOperation()
        self.linked = linked
        self.triple: str | None = None

    @property
    def body(self) -> Block:
        """The block with the functions and globals."""
        return self.operation.regions[0].blocks[0]

    def declare(self, name: str, result: str, parameters: Sequence[str]) -> None:
        """Declare a function that is linked later.

        Args:
            name: its symbol.
            result: the text of its result type: ``void``, ``i32``, ``f64``, ``ptr``,
                ``struct<(i64, f32)>``, ….
            parameters: the texts of the types of its parameters.

        Raises:
            BuildError: the name is empty or taken, or a text is not a type.

        Examples:
            >>> from ffi_builder import ir
            >>> module = ir.PlainModule()
            >>> module.declare("saxpy", "void", ["i64", "f32", "ptr", "ptr"])
            >>> print(module.llvm_ir())
            declare void @saxpy(i64, float, ptr, ptr)
        """
        if not isinstance(name, str) or not name or "\0" in name:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BuildError(f"declare: expected the name of a symbol but got {name!r}")
        if name in SymbolTable(self.operation):
            raise BuildError(f"declare: the module has a symbol @{name} already")
        what = f"declare: @{name}"
        inputs = [given_type(what, parameter) for parameter in parameters]
        type_ = function_type(given_type(what, result), inputs)
        attributes = {"sym_name": StringAttr(name), "function_type": TypeAttr(type_)}
        Operation.create("llvm.func", attributes=attributes, ip=InsertionPoint(self.body))

    def llvm_ir(self) -> str:
        """Return the module as LLVM IR, which is for one machine alone if it has a triple."""
        head = "" if self.triple is None else f'target triple = "{self.triple}"\n\n'
        return head + module_text(self.body.operations)

    def __str__(self) -> str:
        return self.llvm_ir()

    def clone(self) -> PlainModule:
        """Return a copy that can be changed."""
        copy = PlainModule(self.linked)
        copy.triple = self.triple
        place = InsertionPoint(copy.body)
        for operation in self.body.operations:
            assert isinstance(operation, Symbol)
            operation.clone(place)
        return copy


class Module:
    """What the bindings of MLIR call ``ir.Module``: it makes modules."""

    @staticmethod
    def create(location: object) -> PlainModule:
        """Return an empty module."""
        return PlainModule()

    @staticmethod
    def parse(source: PlainModule, context: object = None) -> PlainModule:
        """Return a copy of a module: there is no other text of it than LLVM IR."""
        return source.clone()


class SymbolTable:
    """The symbols that a module has when this is made."""

    def __init__(self, module: Any) -> None:
        self._operations = {
            operation.attributes["sym_name"].value: operation
            for operation in module.regions[0].blocks[0].operations
            if "sym_name" in operation.attributes
        }

    def __contains__(self, name: object) -> bool:
        return name in self._operations

    def __getitem__(self, name: str) -> Operation:
        return self._operations[name]

    @staticmethod
    def replace_all_symbol_uses(old: str, new: str, module: Any) -> None:
        """Make the functions of a module use another symbol. They are finished then."""
        used = re.compile(re.escape(symbol(old)) + r"(?![\w.$-])")
        for operation in module.regions[0].blocks[0].operations:
            for region in operation.regions:
                region.text = used.sub(lambda _: symbol(new), region.finished())
