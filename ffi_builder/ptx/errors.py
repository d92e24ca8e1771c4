"""What is raised: PTX that is not executed, and kernels that fail."""

from __future__ import annotations

from enum import IntEnum


class Fault(IntEnum):
    """How a kernel failed; engine.h has the same."""

    NONE = 0
    ILLEGAL = 1
    MISALIGNED = 2
    TRAP = 3
    ASSERT = 4
    STUCK = 5
    WRONG = 6


class PtxError(RuntimeError):
    """PTX that cannot be executed: it is damaged, or has an instruction that no table lists."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(f"{what} (line {line} of the PTX)" if line else what)
        self.line = line


class KernelFault(Exception):
    """A kernel that does what no kernel may, and where."""

    def __init__(
        self,
        kind: Fault,
        kernel: str,
        words: str,
        block: tuple[int, ...],
        thread: tuple[int, ...],
        line: int,
        source: str,
    ) -> None:
        where = f"{source}, line {line} of the PTX" if source else f"line {line} of the PTX"
        at = f"block ({', '.join(map(str, block))}), thread ({', '.join(map(str, thread))})"
        super().__init__(f"kernel {kernel!r}: {words}; {at}, {where}")
        self.kind, self.line, self.block, self.thread = kind, line, block, thread
