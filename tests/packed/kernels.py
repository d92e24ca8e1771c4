"""Kernels that call packed functions, as an author writes them: in a hook, after lowering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import pytest

from ffi_builder import BuildError, attach, call_packed, packed, runtime, spec
from ffi_builder.ir.distribution import named, of_module, root_of
from ffi_builder.packed.arguments import Argument
from ffi_builder.packed.callees import CALLEES, Callee
from ffi_builder.providers import CheckStatus, DirectCallProvider
from tests.support.wrapping import new_module

GLOBAL: Final = "ffib.tests.called"
"""The registered function that most tests call."""
FUNCTION: Final = packed.GlobalFunction("f")

Callees: TypeAlias = "Callee | Callable[[list[Any]], Callee]"
Arguments: TypeAlias = "Sequence[Argument] | Callable[[list[Any]], Sequence[Argument]]"

FORWARD: Final = """
llvm.func @__tvm_ffi_g(%handle: !llvm.ptr, %args: !llvm.ptr, %count: i32, %result: !llvm.ptr) -> i32 {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}
"""


def function(module: Any, name: str = "k") -> Any:
    """Return a function of a module."""
    views = [view.operation for view in module.body.operations]
    named = [op for op in views if "sym_name" in op.attributes]
    (found,) = (op for op in named if op.attributes["sym_name"].value == name)
    return found


def terminator(module: Any, name: str = "k") -> Any:
    """Return the last operation of a function's first block."""
    return list(function(module, name).regions[0].blocks[0].operations)[-1].operation


def empty_kernel(types: Sequence[str]) -> str:
    """Return an ``llvm.func @k`` of these parameters that returns 0."""
    parameters = ", ".join(f"%a{index}: {type_}" for index, type_ in enumerate(types))
    return f"""
    llvm.func @k({parameters}) -> i32 {{
      %zero = llvm.mlir.constant(0 : i32) : i32
      llvm.return %zero : i32
    }}
    """


def create(before: Any, name: str, operands: Sequence[Any], *results: Any) -> Any:
    """Insert an operation with the bindings' own means."""
    root = root_of(before)
    assert root is not None
    ir = named(root).ir
    location, point = ir.Location.unknown(before.context), ir.InsertionPoint(before)
    return ir.Operation.create(name, list(results), list(operands), loc=location, ip=point)


def define_forward(module: Any) -> None:
    """Let ``__tvm_ffi_g`` forward its first argument to the registered function."""
    ir, end = of_module(module).ir, terminator(module, "__tvm_ffi_g")
    _, args, _, result = function(module, "__tvm_ffi_g").regions[0].blocks[0].arguments
    called = packed.GlobalFunction(GLOBAL, keep=False)
    came = call_packed(end, called, [packed.AnyValue(args)], result="any").value
    both = ir.Type.parse("!llvm.array<2 x i64>", module.context)
    words = create(end, "llvm.load", [came], both).result
    create(end, "llvm.store", [words, result])


def kernel(
    signature: str,
    types: Sequence[str],
    callee: Callees,
    args: Arguments = (),
    result: str | None = None,
    *,
    passed: Sequence[str] | None = None,
    then: Callable[..., None] | None = None,
) -> Any:
    """Make a module with a kernel that calls a function, and a wrapper of the kernel.

    A kernel with a result stores it to its last parameter, a pointer. Callees and arguments may be
    functions of a list of the kernel's own arguments. With ``then(end, value, *arguments)``, that is called
    instead of storing the result, to insert more before the operation ``end``.
    """
    module = new_module(empty_kernel(types) + FORWARD)
    define_forward(module)
    arguments, end = list(function(module).regions[0].blocks[0].arguments), terminator(module)
    call = call_packed(
        end,
        callee if isinstance(callee, CALLEES) else callee(arguments),
        args(arguments) if callable(args) else args,
        result=result,
    )
    if then is not None:
        then(end, call.value, *arguments)
    elif result is not None:
        create(end, "llvm.store", [call.value, arguments[-1]])
    attach(
        module,
        spec.Signature.parse(signature, device="cpu"),
        CheckStatus(DirectCallProvider("k", args=passed), error=None),
    )
    assert module.operation.verify()
    return module


def compiled(
    signature: str,
    types: Sequence[str],
    callee: Callees,
    args: Arguments = (),
    result: str | None = None,
    *,
    passed: Sequence[str] | None = None,
    then: Callable[..., None] | None = None,
) -> Any:
    """Compile :func:`kernel`, and return its function."""
    module = kernel(signature, types, callee, args, result, passed=passed, then=then)
    return runtime.compile(module)["k"]


CALLED: Final[dict[str, Callees]] = {
    "a symbol": packed.Symbol("g"),
    "a global function": packed.GlobalFunction(GLOBAL),
    "a global function, not kept": packed.GlobalFunction(GLOBAL, keep=False),
    "a parameter": lambda a: packed.FunctionObject(a[0]),
    # Without imported modules, tvm-ffi looks for it among the registered functions.
    "an imported function": packed.ImportedFunction(GLOBAL),
}
"""Each kind of callee, all of which call the registered function."""


def refused(
    text: str,
    place: Callable[[Any], Any] = terminator,
    args: Arguments = (),
    *,
    callee: Any = None,
    result: Any = None,
    on_error: Callable[[Any], Any] = lambda module: None,
) -> str:
    """Return why a call is refused, which leaves the module as it was."""
    module = new_module(text)
    before = str(module)
    values = list(function(module).regions[0].blocks[0].arguments) if callable(args) else []
    given, edge = args(values) if callable(args) else args, on_error(module)
    with pytest.raises(BuildError) as raised:
        call_packed(place(module), callee or FUNCTION, given, result=result, on_error=edge)
    assert str(module) == before
    return str(raised.value)
