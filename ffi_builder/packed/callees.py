"""Callees of the TVM-FFI C ABI, and the operations that call each of them.

The code for a :class:`GlobalFunction` with ``keep=True``::

    %known = llvm.load %slot acquire              // a variable of the module, NULL at first
    llvm.cond_br %is_known, ^call(%known), ^find  // ^find looks it up, and stores it there
  ^call(%function: !llvm.ptr):
    %status = llvm.call @TVMFFIFunctionCall(%function, %args, %count, %result)

The function is looked up once, and kept until the code of the module is unloaded:

==================================== ========================================================
``__ffi_builder_kept_…``             the slot: an internal pointer, NULL at first
``__ffi_builder_forget_…``           a destructor of the module, which releases the object
==================================== ========================================================

No lock is held during the look-up, which may run foreign code. Two threads may both find the
object; then one of them stores its reference, and the other releases its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import field
from typing import Final, TypeAlias, Union

from typing_extensions import assert_never

from ffi_builder import abi
from ffi_builder.errors import BuildError
from ffi_builder.ir import CheckingBuilder, Symbols, Value
from ffi_builder.ir.builder import Builder, call_extern, exchange_null, load_acquire
from ffi_builder.ir.checking import pass_through
from ffi_builder.packed.anys import DEC_REF, INC_REF, byte_array, return_failure
from ffi_builder.protocol import PREFIX
from ffi_builder.records import dataclass

_DEINIT: Final = "TVMFFIHandleDeinitOnce"
_IS_INITIALIZED: Final = "Py_IsInitialized"


def kept(b: CheckingBuilder, key: str, find: Callable[[], Value]) -> Value:
    """Return an object that all calls of a module share.

    Args:
        b: emits the look-up; its cursor moves on.
        key: identifies the object in the module.
        find: emits code that returns a reference, or ends the function with an error.
    """
    t = b.types
    b.symbols.declare(DEC_REF, t.i32, [t.ptr])
    slot = b.address_of(_slot(b, hashlib.sha256(key.encode()).hexdigest()[:16]))
    known = load_acquire(b, t.ptr, slot, size=8)
    following = b.new_block(t.ptr)
    missing, lost = b.new_block(cold=True), b.new_block(cold=True)
    b.cond_br(b.ne(known, b.null()), following, missing, [known], likely=True)
    b.block = missing
    with b.out_of_line():
        reference = find()
        before = exchange_null(b, slot, reference)
        b.cond_br(b.is_null(before), following, lost, [reference])
    b.block = lost
    b.call(DEC_REF, [reference], t.i32)
    b.br(following, before)
    b.block = following
    return following.arguments[0]


def _slot(b: Builder, digest: str) -> str:
    """Return the name of a slot; add it and its destructor if the module has none."""
    t, symbols = b.types, b.symbols
    slot, forget = f"{PREFIX}kept_{digest}", f"{PREFIX}forget_{digest}"
    if slot in symbols:
        return slot
    symbols.variable(slot, bytes(8), align=8)
    f = Builder.define(symbols, forget, t.void, [])
    _forget(f, slot)
    pass_through(t, f.function, ("cold", "minsize", "nounwind"))
    symbols.destructor(forget)
    return slot


def _forget(f: Builder, slot: str) -> None:
    """Release the object in a slot, unless Python has ended: Python's functions are gone then.

    At the end of a process, libraries run their destructors after Python has ended.
    """
    t, symbols = f.types, f.symbols
    weak = {"linkage": t.attribute("#llvm.linkage<extern_weak>")}
    symbols.declare(_IS_INITIALIZED, t.i32, [], weak)
    has_python = f.ne(f.address_of(_IS_INITIALIZED), f.null())
    with f.when(has_python), f.when(f.eq(f.call_value(_IS_INITIALIZED, [], t.i32), f.i32(0))):
        f.ret()
    call_extern(f, _DEINIT, [f.address_of(slot), f.address_of(DEC_REF)], t.i32)
    f.ret()


_GET_GLOBAL: Final = "TVMFFIFunctionGetGlobal"
_GET_IMPORTED: Final = "TVMFFIEnvModLookupFromImports"
_CALL: Final = "TVMFFIFunctionCall"


@dataclass(frozen=True)
class Symbol:
    """The function ``__tvm_ffi_<name>``, which is in the module or linked with it.

    Raises:
        BuildError: if the name is empty, or has the prefix or an ``@``.

    Examples:
        A function that passes its arguments on to another function of its module:

        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, packed, providers, runtime, spec
        >>> module = ir.Module.parse("", ir.Context())
        >>> hypot = spec.Signature.parse("hypot(x: float64, y: float64) -> r: float64")
        >>> attach(module, hypot, providers.DirectCallProvider("hypot"))
        >>> norm = spec.Signature.parse("norm(x: float64, y: float64) -> r: float64")
        >>> attach(module, norm, providers.PackedCallProvider(packed.Symbol("hypot")))
        >>> runtime.compile(module)["norm"](3.0, 4.0)
        5.0
    """

    name: str

    def __post_init__(self) -> None:
        check_symbol("Symbol", self.name)

    @property
    def symbol(self) -> str:
        """The name with its prefix."""
        return abi.PREFIX + self.name


@dataclass(frozen=True)
class GlobalFunction:
    """A function that is registered with tvm-ffi under this name.

    The first call of the module that needs the function looks it up, and keeps it until the code is
    unloaded: a function that is registered later under the same name is not seen. If no function
    has the name, the call raises a RuntimeError, and the next call looks again. With
    ``keep=False``, each call looks the function up.

    Raises:
        BuildError: if the name is not valid.

    Examples:
        >>> import tvm_ffi
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, packed, providers, runtime, spec
        >>> @tvm_ffi.register_global_func("example.tiles", override=True)
        ... def tiles(n):
        ...     return -(-n // 128)
        >>> module = ir.Module.parse("", ir.Context())
        >>> signature = spec.Signature.parse("tiles(n: int64) -> count: int64")
        >>> callee = packed.GlobalFunction("example.tiles")
        >>> attach(module, signature, providers.PackedCallProvider(callee))
        >>> runtime.compile(module)["tiles"](1000)
        8
    """

    name: str
    keep: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        check_global_name("GlobalFunction", self.name)


@dataclass(frozen=True)
class FunctionObject:
    """An ``ffi.Function``: a ``TVMFFIObject*``, borrowed and not NULL.

    A provider gets the pointer of a ``spec.Function`` by ``context.scalar(callback)``.

    Examples:
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, call_packed, packed, runtime, spec
        >>> n, on_step = spec.Var("n", "int64"), spec.Function("on_step")
        >>> def provider(current_block, context):
        ...     callee = packed.FunctionObject(context.scalar(on_step))
        ...     return call_packed(context.builder, callee, ["step", context.value(n)]).block
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("train", [n, on_step]), provider)
        >>> runtime.compile(module)["train"](3, print)
        step 3
    """

    value: Value


@dataclass(frozen=True)
class ImportedFunction:
    """A function of the modules that the library imports, such as those of ``modules=``.

    The first call of the library that needs the function looks it up, and keeps it until the code
    is unloaded. Imported modules are searched first, in order, then the registered functions. The
    library must have been loaded by tvm-ffi (``runtime.load``, ``tvm_ffi.load_module``,
    ``tvm::ffi::Module::LoadFromFile``), which makes the modules; else the call raises a
    RuntimeError.

    Raises:
        BuildError: if the name is not valid.

    Examples:
        A module to export with ``modules=``, one of which has a function ``forward``:

        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, packed, providers, spec
        >>> module = ir.Module.parse("", ir.Context())
        >>> signature = spec.Signature.parse("forward(x: int64) -> y: int64")
        >>> callee = packed.ImportedFunction("forward")
        >>> attach(module, signature, providers.PackedCallProvider(callee))
        >>> module.operation.verify()
        True
    """

    name: str

    def __post_init__(self) -> None:
        check_global_name("ImportedFunction", self.name)


Callee: TypeAlias = Union[Symbol, GlobalFunction, FunctionObject, ImportedFunction]
"""A callee of :func:`ffi_builder.call_packed` and of a ``PackedCallProvider``."""
CALLEES: Final = (Symbol, GlobalFunction, FunctionObject, ImportedFunction)


def check_name(who: str, callee: str) -> str:
    """Return the name of a symbol.

    Raises:
        BuildError: if it is not a str, or is empty or begins with ``@``.
    """
    if not isinstance(callee, str) or not callee or callee.startswith("@"):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BuildError(f"{who}: expected the callee's name, without '@', but got {callee!r}")
    return callee


def check_symbol(who: str, name: str) -> None:
    """Check the name of a function of the ABI, without its prefix.

    Raises:
        BuildError: as :func:`check_name`, or if the name has the prefix.
    """
    if check_name(who, name).startswith(abi.PREFIX):
        raise BuildError(f"{who}: give {name!r} without the prefix {abi.PREFIX!r}")


def check_global_name(who: str, name: str) -> None:
    """Check the name of a registered function.

    Raises:
        BuildError: if the name is not a str of printable characters, or has ``{}``, which stands
            for values in the words of errors.
    """
    if not isinstance(name, str) or not name.isprintable() or not name or "{}" in name:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BuildError(f"{who}: expected a name such as 'my.function' but got {name!r}")


def shown(callee: Callee) -> str:
    """Return the callee's name in errors."""
    return "the function" if isinstance(callee, FunctionObject) else callee.name


def call(b: CheckingBuilder, callee: Callee, array: Value, count: Value, result: Value) -> Value:
    """Call a function with ``count`` arguments; return its status, an i32.

    ``result`` is the address of a ``TVMFFIAny`` that is None. If the callee is not found, the
    calling function returns an error.
    """
    match callee:
        case Symbol(symbol=symbol):
            declare(b.symbols, callee)
            return b.call_value(symbol, [b.null(), array, count, result], b.types.i32)
        case GlobalFunction(name, keep=True):
            function = kept(b, f"global_{name}", lambda: _find_global(b, name))
            return _call_object(b, function, array, count, result)
        case GlobalFunction(name):
            function = _find_global(b, name)
            status = _call_object(b, function, array, count, result)
            call_extern(b, DEC_REF, [function], b.types.i32)
            return status
        case FunctionObject(value):
            return _call_object(b, value, array, count, result)
        case ImportedFunction(name):
            function = kept(b, f"imported_{name}", lambda: _find_imported(b, name))
            return _call_object(b, function, array, count, result)
        case _:
            assert_never(callee)


def declare(symbols: Symbols, callee: Symbol) -> None:
    """Declare the function, if the module does not have it.

    Raises:
        BuildError: the module has it with another type.
    """
    t = symbols.types
    symbols.declare(callee.symbol, t.i32, [t.ptr, t.ptr, t.i32, t.ptr])


def _call_object(
    b: CheckingBuilder, function: Value, array: Value, count: Value, result: Value
) -> Value:
    return call_extern(b, _CALL, [function, array, count, result], b.types.i32)


def _find_global(b: CheckingBuilder, name: str) -> Value:
    """Return a reference to a registered function; the caller owns it."""
    t = b.types
    data = name.encode()
    text, slot = byte_array(b, b.text_constant(data), b.i64(len(data))), b.alloca(t.ptr)
    return_failure(b, call_extern(b, _GET_GLOBAL, [text, slot], t.i32))
    function = b.load(t.ptr, slot)
    words = f"No global function is registered as {name!r}"
    b.check(b.ne(function, b.null()), "RuntimeError", words)
    return function


def _find_imported(b: CheckingBuilder, name: str) -> Value:
    """Return a reference to a function of an imported module; the caller owns it.

    tvm-ffi stores the library's module in ``__tvm_ffi__library_ctx`` when it loads the library. The
    module keeps the functions that it finds, but the slot may outlive the module: if the same file
    is loaded twice, both modules share the variables.
    """
    t = b.types
    if abi.LIBRARY_CONTEXT not in b.symbols:
        b.symbols.shared_variable(abi.LIBRARY_CONTEXT, bytes(8), align=8)
    context = b.load(t.ptr, b.address_of(abi.LIBRARY_CONTEXT))
    words = f"{name!r} is a function of an imported module, but tvm-ffi has not loaded this library"
    b.check(b.ne(context, b.null()), "RuntimeError", words)
    slot = b.alloca(t.ptr)
    operands = [context, b.text_constant(name.encode() + b"\0"), slot]
    return_failure(b, call_extern(b, _GET_IMPORTED, operands, t.i32))
    function = b.load(t.ptr, slot)
    call_extern(b, INC_REF, [function], t.i32)
    return function
