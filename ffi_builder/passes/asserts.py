"""Returns the failed asserts of a kernel as statuses.

MLIR lowers ``cf.assert`` to code that prints the message and ends the process::

      llvm.cond_br %fits, ^next, ^failed
    ^next:
      llvm.return
    ^failed:
      …                                           // call puts with the message
      llvm.call @abort() : () -> ()
      llvm.unreachable

Afterwards the function returns 0, or the number of the message::

    ^next:
      llvm.return %zero : i32
    ^failed:
      llvm.call @__ffi_builder_free_all(%list)    // free its allocations
      llvm.return %one : i32

So that memory can be freed, each ``malloc`` is replaced by ``__ffi_builder_allocate``, which
allocates 16 bytes more and stores the address of the previous allocation there. The kernel keeps
the address of the last allocation on its stack. A call of ``free`` looks the allocation up, since
the memory may come from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ffi_builder import BuildError
from ffi_builder.extending import (
    MEMREF_TYPES,
    MODULE_PREFIX,
    Builder,
    Operation,
    abi,
    describe,
    did_you_mean,
    function_parts,
    is_declaration,
    of_module,
)
from ffi_builder.ir import Module, Symbols, Types, Value

_ALLOCATE: Final = f"{MODULE_PREFIX}allocate"
_FREE: Final = f"{MODULE_PREFIX}free"
_FREE_ALL: Final = f"{MODULE_PREFIX}free_all"
_HEADER: Final = 16
"""The bytes of a header, which keep the alignment of malloc."""


def free_on_failure(symbols: Symbols, function: Operation, failures: Sequence[Any]) -> None:
    """Free a function's allocations in the blocks that return a failure."""
    operations: list[Any] = [o for block in function.regions[0].blocks for o in _operations(block)]
    allocations = [each for each in operations if _callee(each) == "malloc"]
    releases = [each for each in operations if _callee(each) == "free"]
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
    for release in releases:
        call(release, _FREE, [*release.operands, cell], [])
        release.erase()
    for block in failures:
        call(_operations(block)[-1], _FREE_ALL, [cell], [])


def _define(symbols: Symbols) -> None:
    """Define the three functions, unless the module has them."""
    if _ALLOCATE in symbols:
        return
    types = symbols.types
    symbols.declare("malloc", types.ptr, [types.i64])
    symbols.declare("free", types.void, [types.ptr])
    _define_allocate(Builder.define(symbols, _ALLOCATE, types.ptr, [types.i64, types.ptr]))
    _define_free(Builder.define(symbols, _FREE, types.void, [types.ptr, types.ptr]))
    _define_free_all(Builder.define(symbols, _FREE_ALL, types.void, [types.ptr]))


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
    search, where, node = _next(b, cell)
    with b.when(b.eq(node, b.null()), cold=True):
        b.call("free", [pointer], b.types.void)
        b.ret()
    with b.when(b.eq(b.offset(node, _HEADER), pointer)):
        b.store(b.load(b.types.ptr, node), where)
        b.call("free", [node], b.types.void)
        b.ret()
    b.br(search, node)


def _define_free_all(b: Builder) -> None:
    [cell] = b.entry.arguments
    search, where, node = _next(b, cell)
    with b.when(b.eq(node, b.null())):
        b.ret()
    b.store(b.load(b.types.ptr, node), where)
    b.call("free", [node], b.types.void)
    b.br(search, where)


def _next(b: Builder, cell: Value) -> tuple[Any, Value, Value]:
    """Begin a loop over the allocations; return its block, and an allocation's cell and address."""
    search = b.new_block(b.types.ptr)
    b.br(search, cell)
    b.block = search
    [where] = search.arguments
    return search, where, b.load(b.types.ptr, where)


_OF_A_FAILURE: Final = ("llvm.mlir.addressof", "llvm.getelementptr", "llvm.unreachable")
_CALLED_BY_A_FAILURE: Final = ("puts", "abort")
_HEADING: Final = "ERROR: Runtime op verification failed\n"
"""The line with which MLIR's generate-runtime-verification begins each of its messages."""


def return_asserts(module: Module, callee: str) -> dict[int, tuple[str, str]]:
    """Make a lowered kernel return a status where an assert would end the process.

    The kernel then returns an i32: 0, or the number of the assert that failed. Asserts with the
    same message have the same number. On a failure, memory that the kernel has allocated by
    ``malloc`` is freed. Call this after the passes that lower ``cf.assert``, and before attaching.

    Args:
        module: an ``ir.Module`` of any MLIR Python distribution; it is changed.
        callee: the symbol of the kernel: an ``llvm.func`` that returns nothing, that nothing in
            the module calls, and that frees all memory that it allocates.

    Returns:
        The class and the message of the error for each status, as ``CheckStatus`` takes them.

    Raises:
        BuildError: if there is no such function; or if it calls a function with asserts, which you
            can inline by MLIR's pass ``inline``. The module is then unchanged.

    Examples:
        >>> from ffi_builder import attach, providers, return_asserts, runtime, spec
        >>> KERNEL = '''
        ... func.func @positive(%x: i64) {
        ...   %zero = arith.constant 0 : i64
        ...   %fits = arith.cmpi sgt, %x, %zero : i64
        ...   cf.assert %fits, "x must be positive"
        ...   return
        ... }'''
        >>> def hook(module):
        ...     errors = return_asserts(module, "positive")
        ...     inner = providers.DirectCallProvider("positive")
        ...     provider = providers.CheckStatus(inner, errors=errors)
        ...     attach(module, spec.Signature.parse("positive(x: int64)"), provider)
        >>> passes = "builtin.module(convert-to-llvm,reconcile-unrealized-casts)"
        >>> compiled = runtime.compile(KERNEL, pipeline=passes, post_compile_hooks=[hook])
        >>> compiled["positive"](-1)
        Traceback (most recent call last):
        ...
        RuntimeError: x must be positive when calling: `positive(x: int64)`
    """
    types = Types(of_module(module).ir, module.context)
    function = _function(types, module, callee)
    symbols = Symbols(types, module, function.location)
    _check_calls(symbols, function, callee)
    _return_status(types, function)
    statuses: dict[str, int] = {}
    failures: list[Any] = []
    for block in function.regions[0].blocks:
        last = _operations(block)[-1]
        if last.name == "llvm.return":
            last.erase()
            _return(symbols, function, block, 0)
        elif _aborts(block):
            status = statuses.setdefault(_take_message(symbols, block), len(statuses) + 1)
            failures.append(block)
            _return(symbols, function, block, status)
    free_on_failure(symbols, function, failures)
    return {status: ("RuntimeError", message) for message, status in statuses.items()}


def _function(types: Types, module: Module, name: str) -> Operation:
    table = types.ir.SymbolTable(module.operation)
    if name not in table:
        names = [
            view.operation.attributes["sym_name"].value
            for view in module.body.operations
            if view.operation.name == "llvm.func" and not is_declaration(view.operation)
        ]
        raise BuildError(
            f"the module has no function {name!r}; it has {', '.join(names) or 'none'}"
            f"{did_you_mean(name, names)}"
        )
    function: Operation = table[name].operation
    if function.name != "llvm.func" or is_declaration(function):
        raise BuildError(
            f"@{name} is {describe(function)}; expected an llvm.func with a body: call "
            f"return_asserts after the passes that lower to LLVM, as in a hook of runtime.compile"
        )
    result, _ = function_parts(function)
    if result != "!llvm.void":
        raise BuildError(
            f"@{name} returns {result}, and cannot return a status as well: let it write its "
            f"result to an argument, as MLIR's pass "
            f"buffer-results-to-out-params{{modify-public-functions=1}} does for memrefs"
        )
    return function


def _check_calls(symbols: Symbols, function: Operation, name: str) -> None:
    """Check that nothing calls the function, and that no function it calls can abort."""
    for view in symbols.module.body.operations:
        if view.operation.name == "llvm.func" and name in _callees(view.operation):
            caller = view.operation.attributes["sym_name"].value
            instead = (
                "call return_asserts before attach"
                if caller.startswith(abi.PREFIX)
                else f"give @{caller} as the callee, and inline @{name}"
            )
            raise BuildError(
                f"@{caller} calls @{name}, which would return a status that it does not expect: "
                f"{instead}"
            )
    seen, left = {name}, [function]
    while left:
        for callee in _callees(left.pop()) - seen:
            seen.add(callee)
            called = symbols.find(callee)
            if called is None or called.name != "llvm.func" or is_declaration(called):
                continue
            if any(map(_aborts, called.regions[0].blocks)):
                raise BuildError(
                    f"@{name} calls @{callee}, which has asserts: inline it before lowering, by "
                    f"MLIR's pass inline"
                )
            left.append(called)


def _callees(function: Operation) -> set[str]:
    called = (
        _callee(operation)
        for block in function.regions[0].blocks
        for operation in _operations(block)
    )
    return {name for name in called if name is not None}


def _callee(operation: Operation) -> str | None:
    """Return the symbol that an operation calls; None if it is not a direct call."""
    if operation.name != "llvm.call" or "callee" not in operation.attributes:
        return None
    return operation.attributes["callee"].value


def _operations(block: Any) -> list[Operation]:
    return [view.operation for view in block.operations]


def _aborts(block: Any) -> bool:
    operations = _operations(block)
    return operations[-1].name == "llvm.unreachable" and "abort" in map(_callee, operations)


def _return_status(types: Types, function: Operation) -> None:
    """Change the result type to i32, also in the record of the types before lowering."""
    _, parameters = function_parts(function)
    type_ = types.function(types.i32, [types.parse(text) for text in parameters])
    function.attributes["function_type"] = types.type_attribute(str(type_))
    if MEMREF_TYPES in function.attributes:
        recorded = function.attributes[MEMREF_TYPES].value.removesuffix("()") + "i32"
        function.attributes[MEMREF_TYPES] = types.string(recorded)


def _return(symbols: Symbols, function: Operation, block: Any, status: int) -> None:
    b = Builder(symbols, function, block, function.location)
    b.ret(b.i32(status))


def _take_message(symbols: Symbols, block: Any) -> str:
    """Erase the operations that print the message and abort, and return the message."""
    message = "an assert of {callee} failed"
    for operation in _of_a_failure(block):
        if operation.name == "llvm.mlir.addressof":
            variable = symbols.find(operation.attributes["global_name"].value)
            if variable is not None and "value" in variable.attributes:
                message = _words(variable.attributes["value"])
        operation.erase()
    return message


def _of_a_failure(block: Any) -> Iterator[Operation]:
    """Yield the operations at the end of a block that only serve to abort, in reverse order."""
    for operation in reversed(_operations(block)):
        if operation.name not in _OF_A_FAILURE and _callee(operation) not in _CALLED_BY_A_FAILURE:
            return
        yield operation


def _words(value: Any) -> str:
    """Return the message in a constant: a string, or a tensor of bytes."""
    text = getattr(value, "value_bytes", None)
    data = bytes(byte & 0xFF for byte in value) if text is None else text
    words = data.rstrip(b"\0").decode("utf-8", "replace").removeprefix(_HEADING)
    lines = (line.removeprefix("^ ") for line in words.splitlines())
    return "; ".join(lines).replace("{}", "{ }").replace("{", "{{").replace("}", "}}")
