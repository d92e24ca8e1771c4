"""Blocks and control flow. Each construct terminates the blocks that it opens.

Hot blocks stand in the order in which they are made; blocks made with ``cold=True`` go to the end
of the function, so that printed IR reads from top to bottom.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from ffi_builder.errors import BuildError
from ffi_builder.ir.arithmetic import Arithmetic
from ffi_builder.ir.protocols import Block, Operation, Type, Value
from ffi_builder.ir.types import Types

TERMINATORS = frozenset(
    ("llvm.br", "llvm.cond_br", "llvm.switch", "llvm.return", "llvm.unreachable")
)


class Flow(Arithmetic):
    """Branches and blocks."""

    def __init__(self, types: Types, function: Operation, block: Block, location: Any) -> None:
        super().__init__(types, function, block, location)
        self._last_hot: Any = block
        self._last_cold: Block | None = None

    def new_block(self, *arguments: Type, cold: bool = False) -> Any:
        """Make a block after the last hot one or, if ``cold``, at the end of the function."""
        locations = [self.location] * len(arguments)
        if cold:
            self._last_cold = self.function.regions[0].blocks.append(*arguments, arg_locs=locations)
            return self._last_cold
        self._last_hot = self._last_hot.create_after(*arguments, arg_locs=locations)
        return self._last_hot

    def new_argument(self, block: Any, type_: Type) -> Value:
        """Add an argument to a block that nothing branches to yet."""
        return block.add_argument(type_, self.location)

    def new_block_after(self, block: Any) -> Any:
        """Make a block right after another one, for a side path whose end exists already."""
        return block.create_after()

    def continue_at_end(self) -> None:
        """Append later hot blocks after all existing blocks, including the cold ones.

        This keeps a cold block near its hot block in a long function. LLVM's register allocation
        visits all blocks between the two.
        """
        if self._last_cold is not None:
            self._last_hot, self._last_cold = self._last_cold, None

    @contextmanager
    def out_of_line(self) -> Generator[None]:
        """Put the blocks that the body makes right after the current one, a cold block."""
        hot, self._last_hot = self._last_hot, self.block
        yield
        self._last_hot = hot

    # ---- terminators

    def br(self, target: Block, *arguments: Value) -> None:
        """Branch to a block."""
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
        """Branch to one of two blocks; ``likely`` if it is nearly always the first."""
        self.op(
            "llvm.cond_br",
            (condition, *then_arguments, *otherwise_arguments),
            attributes=self.types.of_branch(
                len(then_arguments), len(otherwise_arguments), likely=likely
            ),
            successors=(then, otherwise),
        )

    def switch(self, value: Value, default: Block, cases: dict[int, Block]) -> None:
        """Branch to the block whose ``i32`` key equals ``value``, or to the default."""
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
        """Continue in a new hot block if the condition holds, else branch to ``otherwise``."""
        following = self.new_block()
        self.cond_br(condition, following, otherwise)
        self.block = following

    @contextmanager
    def when(self, condition: Value, *, cold: bool = False) -> Generator[None]:
        """Run the body if the condition holds, then continue. The body may return or branch."""
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
        """Run the body for each ``i64`` index in ``range(count)``; ``count`` is signed.

        Raises:
            BuildError: the body terminates its block.
        """
        types = self.types
        head = self.new_block(types.i64)
        body = self.new_block()
        self.br(head, self.i64(0))
        self.block = body
        index = head.arguments[0]
        yield index
        if self.terminated(self.block):
            raise BuildError("the body of a loop must not terminate its block itself")
        self.br(head, self.add(index, self.i64(1)))
        following = self.new_block()
        self.block = head
        self.cond_br(self.slt(index, count), body, following)
        self.block = following

    @staticmethod
    def terminated(block: Any) -> bool:
        """Return whether a block ends in a terminator."""
        operations = block.operations
        return len(operations) > 0 and operations[len(operations) - 1].operation.name in TERMINATORS
