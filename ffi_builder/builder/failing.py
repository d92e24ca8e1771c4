"""Emits the blocks that the checks of a wrapper branch to when they fail.

For a function of two arguments, of which one is a list whose memory is compared::

  ^slow:                                          // any check
    llvm.br ^wrong(2)
  ^wrong(%given):                                 // the number of arguments
    %status = llvm.call tail @__ffi_builder_shared_diagnose(%args, %given, @table)
    llvm.return %status
  ^overlapping:                                   // memory, once all other checks have passed
    %status = llvm.call tail @__ffi_builder_shared_diagnose_overlaps(%args, 2, @table, …)
    llvm.return %status

If only tensors are compared, one such call serves all checks.
"""

from __future__ import annotations

from ffi_builder.builder.fast_path.context import FastPath
from ffi_builder.builder.fast_path.lists import release
from ffi_builder.diagnosis.writing import Table
from ffi_builder.ir import Block, Value, declare_support


def release_on_error(fast: FastPath) -> None:
    """Let errors behind the cursor free the memory of lists."""
    if not fast.memory:
        return
    b = fast.b
    here, failed = b.block, b.new_block(b.types.i32, cold=True)
    b.block = failed
    with b.out_of_line():
        release(fast)
    b.ret(failed.arguments[0])
    b.block, b.cleanup = here, failed


def emit_errors(fast: FastPath, arguments: int, table: Table, constant: str) -> None:
    """Let the diagnosis raise the errors of a function; the table is in this constant."""
    b, apart = fast.b, fast.overlapping is not fast.slow
    _release_in(fast, fast.slow)
    b.br(fast.wrong, b.i32(arguments))
    b.block = fast.wrong
    _return_error(fast, fast.wrong.arguments[0], constant, 0 if apart else table.overlaps)
    if apart:
        _release_in(fast, fast.overlapping)
        _return_error(fast, b.i32(arguments), constant, table.overlaps)


def _release_in(fast: FastPath, block: Block) -> None:
    fast.b.block = block
    with fast.b.out_of_line():
        release(fast)


def _return_error(fast: FastPath, given: Value, constant: str, overlaps: int) -> None:
    b, t = fast.b, fast.b.types
    operands = [fast.args, given, b.address_of(constant)]
    if overlaps:
        operands.append(b.i32(overlaps))
    callee = declare_support(b.symbols, "diagnose_overlaps" if overlaps else "diagnose")
    b.ret(b.call_value(callee, operands, t.i32, t.of_tail_call()))
