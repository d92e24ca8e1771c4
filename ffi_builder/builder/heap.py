"""Frees what a function has allocated, where it returns early.

Each call of ``malloc`` in it becomes one of ``__ffi_builder_allocate``, which asks for 16 bytes
more, and keeps the address of the allocation before it there. The function has the address of the
last one on its stack. ``free`` looks the allocation up, since the memory may come from elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ffi_builder.ir import Builder, Operation, Symbols, Value
from ffi_builder.protocol import PREFIX

_ALLOCATE: Final = f"{PREFIX}allocate"
_FREE: Final = f"{PREFIX}free"
_FREE_ALL: Final = f"{PREFIX}free_all"
_HEADER: Final = 16
"""As much as keeps the alignment that malloc gives."""


def free_on_failure(symbols: Symbols, function: Operation, failures: Sequence[Any]) -> None:
    """Free what a function has allocated in those of its blocks that return with a failure."""
    calls = [
        (view.operation, view.operation.attributes["callee"].value)
        for block in function.regions[0].blocks
        for view in block.operations
        if view.operation.name == "llvm.call" and "callee" in view.operation.attributes
    ]
    allocations = [call for call, callee in calls if callee == "malloc"]
    if not failures or not allocations:
        return
    _define(symbols)
    types, create = symbols.types, symbols.types.ir.Operation.create
    at = types.ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0])

    def first(name: str, operands: list[Any], results: list[Any], **attributes: Any) -> Any:
        return create(name, results, operands, attributes, None, 0, function.location, at)

    one = first("llvm.mlir.constant", [], [types.i32], value=types.int_attribute(32, 1)).result
    of_pointer = types.type_attribute("!llvm.ptr")
    cell = first("llvm.alloca", [one], [types.ptr], elem_type=of_pointer).result
    first("llvm.store", [first("llvm.mlir.zero", [], [types.ptr]).result, cell], [])

    def call(before: Operation, callee: str, operands: list[Any], results: list[Any]) -> Any:
        attributes = {**types.of_call(len(operands)), "callee": types.symbol(callee)}
        place = types.ir.InsertionPoint(before)
        return create("llvm.call", results, operands, attributes, None, 0, before.location, place)

    for allocation in allocations:
        made = call(allocation, _ALLOCATE, [*allocation.operands, cell], [types.ptr])
        allocation.result.replace_all_uses_with(made.result)
        allocation.erase()
    for release, callee in calls:
        if callee == "free":
            call(release, _FREE, [*release.operands, cell], [])
            release.erase()
    for block in failures:
        call([view.operation for view in block.operations][-1], _FREE_ALL, [cell], [])


def _define(symbols: Symbols) -> None:
    """Define the three functions, unless the module has them."""
    if _ALLOCATE in symbols:
        return
    types = symbols.types
    symbols.declare("malloc", types.ptr, [types.i64])
    symbols.declare("free", types.void, [types.ptr])
    _define_allocate(_function(symbols, _ALLOCATE, types.ptr, types.i64, types.ptr))
    _define_free(_function(symbols, _FREE, types.void, types.ptr, types.ptr))
    _define_free_all(_function(symbols, _FREE_ALL, types.void, types.ptr))


def _function(symbols: Symbols, name: str, result: Any, *parameters: Any) -> Builder:
    internal = {"linkage": symbols.types.attribute("#llvm.linkage<internal>")}
    function = symbols.function(name, result, parameters, internal, body=True)
    return Builder(symbols, function, function.regions[0].blocks[0], symbols.location)


def _define_allocate(b: Builder) -> None:
    size, cell = b.entry.arguments
    made = b.call_value("malloc", [b.add(size, b.i64(_HEADER))], b.types.ptr)
    with b.when(b.eq(made, b.null()), cold=True):
        b.ret(made)
    b.store(b.load(b.types.ptr, cell), made)
    b.store(made, cell)
    b.ret(b.offset(made, _HEADER))


def _define_free(b: Builder) -> None:
    pointer, cell = b.entry.arguments
    search, where, found = _next(b, cell)
    with b.when(b.eq(found, b.null()), cold=True):
        b.call("free", [pointer], b.types.void)
        b.ret()
    with b.when(b.eq(b.offset(found, _HEADER), pointer)):
        b.store(b.load(b.types.ptr, found), where)
        b.call("free", [found], b.types.void)
        b.ret()
    b.br(search, found)


def _define_free_all(b: Builder) -> None:
    [cell] = b.entry.arguments
    search, where, found = _next(b, cell)
    with b.when(b.eq(found, b.null())):
        b.ret()
    b.store(b.load(b.types.ptr, found), where)
    b.call("free", [found], b.types.void)
    b.br(search, where)


def _next(b: Builder, cell: Value) -> tuple[Any, Value, Value]:
    """Begin a loop over the allocations; return its block, the cell of one, and its address."""
    search = b.new_block(b.types.ptr)
    b.br(search, cell)
    b.block = search
    [where] = search.arguments
    return search, where, b.load(b.types.ptr, where)
