"""The cursor of the builder, and the two functions that append operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ffi_builder.ir.operand_errors import not_a_value, wrong_operation
from ffi_builder.ir.protocols import Attribute, Block, Operation, Type, Value
from ffi_builder.ir.types import Types


class Core:
    """A cursor in a function: operations are appended at the end of :attr:`block`."""

    def __init__(self, types: Types, function: Operation, block: Block, location: Any) -> None:
        self.types = types
        self.function = function
        self.entry: Block = function.regions[0].blocks[0]
        self.location = location
        self._create = types.ir.Operation.create
        self._point = types.ir.InsertionPoint
        self.block = block
        self.made: list[str] = []
        """The names of the appended operations, for :func:`ffi_builder.ir.trusted.mark_trusted`."""

    @property
    def block(self) -> Block:
        """The block at whose end operations are appended; assign to it to move the cursor."""
        return self._block

    @block.setter
    def block(self, block: Block) -> None:
        self._block = block
        self._ip = self._point(block)

    def op(
        self,
        name: str,
        operands: Sequence[Value] = (),
        results: Sequence[Type] = (),
        attributes: dict[str, Attribute] | None = None,
        successors: Sequence[Block] | None = None,
    ) -> Operation:
        """Append any operation by its name.

        Raises:
            BuildError: the bindings refuse an operand, a result type, a successor or an attribute.
        """
        self.made.append(name)
        try:
            return self._create(
                name, results, operands, attributes, successors, 0, self.location, self._ip
            )
        except (TypeError, ValueError) as error:
            raise wrong_operation(
                self.types.ir, name, operands, results, attributes, successors, error
            ) from None

    def value(
        self,
        name: str,
        operands: Sequence[Value],
        result: Type,
        attributes: dict[str, Attribute] | None = None,
    ) -> Value:
        """Append an operation with one result, and return the result."""
        # Most operations come through here, so it does not take the way through op().
        self.made.append(name)
        try:
            return self._create(
                name, (result,), operands, attributes, None, 0, self.location, self._ip
            ).result
        except (TypeError, ValueError) as error:
            raise wrong_operation(
                self.types.ir, name, operands, (result,), attributes, None, error
            ) from None

    @staticmethod
    def type_of(where: str, value: Value) -> Type:
        """Return the type of a value; ``where`` begins the message of the error.

        Raises:
            BuildError: it is no value.
        """
        try:
            return value.type
        except AttributeError:
            raise not_a_value(where, value) from None

    # ---- constants

    def constant(self, bits: int, value: int) -> Value:
        """Make an integer constant of type ``i<bits>``; ``value`` may be signed or unsigned."""
        types = self.types
        return self.value(
            "llvm.mlir.constant", (), types.integer(bits), types.of_constant(bits, value)
        )

    def i1(self, value: bool) -> Value:
        """Make an ``i1`` constant."""
        return self.constant(1, int(bool(value)))

    def i8(self, value: int) -> Value:
        """Make an ``i8`` constant."""
        return self.constant(8, value)

    def i32(self, value: int) -> Value:
        """Make an ``i32`` constant."""
        return self.constant(32, value)

    def i64(self, value: int) -> Value:
        """Make an ``i64`` constant."""
        return self.constant(64, value)

    def null(self, address_space: int | None = None) -> Value:
        """Make a NULL pointer."""
        return self.zero(self.types.pointer(address_space))

    def zero(self, type_: Type) -> Value:
        """Make the zero of any type."""
        return self.value("llvm.mlir.zero", (), type_)
