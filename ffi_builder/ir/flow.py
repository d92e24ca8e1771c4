"""Blocks and control flow. Each construct ends the blocks it opens.

Hot blocks follow one another in the order they are made; blocks made with ``cold=True`` go to the
end of the function, so that printed IR reads top-down.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from ffi_builder.errors import BuildError
from ffi_builder.ir.core import Core
from ffi_builder.ir.protocols import Block, Operation, Type, Value
from ffi_builder.ir.types import Types

TERMINATORS = frozenset(
    ("llvm.br", "llvm.cond_br", "llvm.switch", "llvm.return", "llvm.unreachable")
)


class Flow(Core):
    """Branches, and the blocks they go to."""

    def __init__(self, types: Types, function: Operation, block: Block, location: Any) -> None:
        super().__init__(types, function, block, location)
        self._last_hot = block
        self._last_cold: Block | None = None

    def new_block(self, *arguments: Type, cold: bool = False) -> Any:
        """A block behind the last hot one, or with ``cold`` at the end of the function."""
        locations = [self.location] * len(arguments)
        if cold:
            self._last_cold = self.function.regions[0].blocks.append(*arguments, arg_locs=locations)
            return self._last_cold
        block = self._last_hot.create_after(*arguments, arg_locs=locations)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
        self._last_hot = block
        return block  # pyright: ignore[reportUnknownVariableType]

    def new_argument(self, block: Any, type_: Type) -> Value:
        """One more argument of a block that nothing goes to yet."""
        return block.add_argument(type_, self.location)

    def new_block_behind(self, block: Any) -> Any:
        """A block right behind another one, for a side way whose end is already there."""
        return block.create_after()

    def go_on_at_the_end(self) -> None:
        """Put the hot blocks that follow behind all that there are, the cold ones too.

        In a long function a cold block is then near the hot one that it belongs to: LLVM's register
        allocation goes through all blocks between the two.
        """
        if self._last_cold is not None:
            self._last_hot, self._last_cold = self._last_cold, None

    # ---- terminators

    def br(self, target: Block, *arguments: Value) -> None:
        """Go to a block."""
        self.op("llvm.br", arguments, successors=(target,))

    def cond_br(
        self,
        condition: Value,
        then: Block,
        otherwise: Block,
        then_arguments: Sequence[Value] = (),
        otherwise_arguments: Sequence[Value] = (),
        *,
        likely: bool = False,
    ) -> None:
        """Go to one of two blocks; ``likely`` says that it is nearly always the first."""
        self.op(
            "llvm.cond_br",
            (condition, *then_arguments, *otherwise_arguments),
            attributes=self.types.of_branch(
                len(then_arguments), len(otherwise_arguments), likely=likely
            ),
            successors=(then, otherwise),
        )

    def switch(self, value: Value, default: Block, cases: dict[int, Block]) -> None:
        """Go to the block of the ``i32`` that ``value`` is equal to, or to the default."""
        numbers = ", ".join(map(str, cases))
        none = ", ".join("0" for _ in cases)
        types = self.types
        self.op(
            "llvm.switch",
            (value,),
            attributes={
                "case_values": types.attribute(f"dense<[{numbers}]> : vector<{len(cases)}xi32>"),
                "case_operand_segments": types.attribute(f"array<i32: {none}>"),
                "operandSegmentSizes": types.i32_array(1, 0, 0),
            },
            successors=(default, *cases.values()),
        )

    def ret(self, *value: Value) -> None:
        """Return a value, or nothing."""
        self.op("llvm.return", value)

    # ---- structured flow

    def require(self, condition: Value, otherwise: Block) -> None:
        """Go on in a new hot block if the condition holds, else to ``otherwise``."""
        following = self.new_block()
        self.cond_br(condition, following, otherwise)
        self.block = following

    @contextmanager
    def when(self, condition: Value, *, cold: bool = False) -> Generator[None]:
        """``if condition:`` the body; then go on. The body may itself return or branch away."""
        body = self.new_block(cold=cold)
        start = self.block
        self.block = body
        yield
        end = self.block
        following = self.new_block()
        if not self.terminated(end):
            self.br(following)
        self.block = start
        self.cond_br(condition, body, following)
        self.block = following

    @contextmanager
    def loop(self, count: Value) -> Generator[Value]:
        """``for index in range(count):`` the body, with an ``i64`` index; ``count`` is signed."""
        types = self.types
        head = self.new_block(types.i64)
        body = self.new_block()
        self.br(head, self.i64(0))
        self.block = body
        index = head.arguments[0]
        yield index
        if self.terminated(self.block):
            raise BuildError("the body of a loop must not end its block itself")
        self.br(head, self.binary("add", index, self.i64(1)))  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
        following = self.new_block()
        self.block = head
        self.cond_br(self.slt(index, count), body, following)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
        self.block = following

    @staticmethod
    def terminated(block: Any) -> bool:
        """Whether a block already ends in a terminator."""
        operations = block.operations
        return len(operations) > 0 and operations[len(operations) - 1].operation.name in TERMINATORS
