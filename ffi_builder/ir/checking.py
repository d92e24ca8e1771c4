"""The builder of call providers, which can also raise errors, and calls of support functions.

A module only declares the C functions of :mod:`ffi_builder.support`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ffi_builder import support
from ffi_builder.errors import BuildError
from ffi_builder.ir.builder import Builder
from ffi_builder.ir.protocols import Attribute, Block, Operation, Value
from ffi_builder.ir.symbols import Symbols
from ffi_builder.ir.types import Types
from ffi_builder.suggest import did_you_mean

_EXTENDED = ("i1", "i16")
"""Types that C passes in a whole register."""


def declare_support(symbols: Symbols, name: str) -> str:
    """Declare a function unless the module has it, and return its symbol.

    Raises:
        BuildError: the module has the symbol with another type.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import ir
        >>> from ffi_builder.ir.checking import declare_support
        >>> from ffi_builder.ir.distribution import of_module
        >>> module = mlir.Module.parse("", mlir.Context())
        >>> types = ir.Types(of_module(module).ir, module.context)
        >>> symbols = ir.Symbols(types, module, mlir.Location.unknown(module.context))
        >>> declare_support(symbols, "raise")
        '__ffi_builder_shared_raise_...'
    """
    symbol = support.symbol(name)
    if symbols.has_added(symbol):
        return symbol
    types, function = symbols.types, support.functions()[name]
    is_new = symbol not in symbols
    result = getattr(types, function.result)
    parameters = [getattr(types, letters) for letters in function.parameters]
    attributes = _convention(types, function)
    if any(letters in _EXTENDED for letters in function.parameters):
        extended = ["{llvm.zeroext}" if each in _EXTENDED else "{}" for each in function.parameters]
        attributes["arg_attrs"] = types.attribute(f"[{', '.join(extended)}]")
    operation = symbols.declare(symbol, result, parameters, attributes)
    if is_new:
        pass_through(types, operation, ("cold", "nounwind"))
    return symbol


def call_support(b: Builder, name: str, operands: Sequence[Value]) -> Value:
    """Call a function that returns a value.

    Args:
        b: emits the call.
        name: one of the names in ``ffi_builder/support/functions.txt``, or in that of an add-on.
        operands: values of the types that this file declares.

    Examples:
        >>> from ffi_builder.ir.checking import call_support
        >>> def provider(current_block, context):
        ...     b = context.builder
        ...     call_support(b, "big_uint64", [b.null(), b.null()])
        ...     return b.block
    """
    value = _call(b, name, operands)
    assert value is not None, f"{name} returns nothing"
    return value


def run_support(b: Builder, name: str, operands: Sequence[Value]) -> None:
    """Call a function that returns nothing; otherwise like :func:`call_support`.

    Examples:
        >>> from ffi_builder.ir.checking import run_support
        >>> def provider(current_block, context):
        ...     b = context.builder
        ...     run_support(b, "free_copy", [b.null()])
        ...     return b.block
    """
    _call(b, name, operands)


def _call(b: Builder, name: str, operands: Sequence[Value]) -> Value | None:
    types, function = b.types, support.functions()[name]
    symbol = declare_support(b.symbols, name)
    return b.call(symbol, operands, getattr(types, function.result), _convention(types, function))


def _convention(types: Types, function: support.Function) -> dict[str, Attribute]:
    if not function.keeps_registers:
        return {}
    return {"CConv": types.attribute("#llvm.cconv<preserve_mostcc>")}


def pass_through(
    types: Types,
    function: Operation,
    names: Sequence[str],
    values: Mapping[str, str] | None = None,
) -> None:
    """Set the LLVM attributes of a function: ``names`` without a value, and ``values``.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import ir
        >>> from ffi_builder.ir.checking import pass_through
        >>> from ffi_builder.ir.distribution import of_module
        >>> module = mlir.Module.parse("llvm.func @nop() { llvm.return }", mlir.Context())
        >>> types = ir.Types(of_module(module).ir, module.context)
        >>> function = module.body.operations[0]
        >>> pass_through(types, function, ["noinline"], {"frame-pointer": "all"})
        >>> print(function.attributes["passthrough"])
        ["noinline", ["frame-pointer", "all"]]
    """
    array = types.ir.ArrayAttr.get
    pairs = [
        array([types.string(name), types.string(value)], types.context)
        for name, value in (values or {}).items()
    ]
    flags = map(types.string, names)
    function.attributes["passthrough"] = array([*flags, *pairs], types.context)


ERROR_KINDS = (
    "RuntimeError",
    "ValueError",
    "TypeError",
    "AttributeError",
    "KeyError",
    "IndexError",
    "AssertionError",
    "MemoryError",
)
"""The error kinds that tvm-ffi raises as the Python exception of that name.

Examples:
    >>> from ffi_builder.ir.checking import ERROR_KINDS
    >>> "ValueError" in ERROR_KINDS, "OSError" in ERROR_KINDS
    (True, False)
"""

OS_ERROR = "OSError"
"""Python raises this kind as the class of its errno, such as FileNotFoundError, if the package
is imported, and otherwise as a RuntimeError.

Examples:
    >>> from ffi_builder.ir.checking import OS_ERROR
    >>> issubclass(FileNotFoundError, OSError), OS_ERROR
    (True, 'OSError')
"""

_DIGITS = 20
"""The most characters of an int64 in decimal, with its sign."""
_TEXT = 64
"""The most bytes of a C string in an error."""


class CheckingBuilder(Builder):
    """A :class:`Builder` with :meth:`check` and :meth:`fail`.

    Args:
        symbols: as for :class:`Builder`, like the next three.
        function: the function that is built.
        block: the block to begin in.
        location: the location of the operations.
        suffix: ends every message.
        backtrace: the frames of every error, as lines ``  File "f", line 1, in g``.

    Examples:
        The builder of a call provider:

        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, runtime, spec
        >>> tile = spec.Var("tile", "int64")
        >>> def provider(current_block, context):
        ...     b, value = context.builder, context.value(tile)
        ...     known = b.or_(b.eq(value, b.i64(64)), b.eq(value, b.i64(128)))
        ...     b.check(known, "ValueError", "expected a tile of 64 or 128 but got {}", value)
        ...     return b.block
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("launch", [tile]), provider)
        >>> runtime.compile(module)["launch"](96)
        Traceback (most recent call last):
        ...
        ValueError: expected a tile of 64 or 128 but got 96 when calling: `...`
    """

    def __init__(
        self,
        symbols: Symbols,
        function: Operation,
        block: Block,
        location: Any,
        *,
        suffix: str,
        backtrace: str = "",
    ) -> None:
        super().__init__(symbols, function, block, location)
        self.suffix = suffix
        self.backtrace = backtrace.encode()
        self.cleanup: Block | None = None
        """A block that releases resources; :meth:`ret` branches to it with its value, if set."""

    @property
    def raiser(self) -> str:
        """The symbol of the function that sets an error. Reading it declares it."""
        return declare_support(self.symbols, "raise")

    def ret(self, *value: Value) -> None:
        """Release the resources, then return a status (-1 if an error is set)."""
        if self.cleanup is None:
            super().ret(*value)
        else:
            self.br(self.cleanup, *value)

    def check(self, condition: Value, kind: str, words: str, *values: Value) -> None:
        """Continue if ``condition``, an i1, holds; otherwise :meth:`fail`.

        Raises:
            BuildError: as :meth:`fail`.
        """
        _check_words("check", kind, words, values)
        following, failed = self.new_block(), self.new_block(cold=True)
        self.cond_br(condition, following, failed)
        self.block = failed
        self.fail(kind, words, *values)
        self.block = following

    def fail(self, kind: str, words: str, *values: Value, unsigned: bool = False) -> None:
        """End the wrapper with an error.

        Args:
            kind: one of :data:`ERROR_KINDS`, or :data:`OS_ERROR` for words as ``[Errno 2] …``.
            words: the message. The signature is appended to it.
            values: a value for each ``{}`` in the words: an integer of up to 64 bits, shown as
                signed decimal, or a pointer to a C string, of which up to 64 bytes are shown.
            unsigned: whether integers are unsigned.

        Raises:
            BuildError: the kind is unknown, or the number of values and ``{}`` differ.
        """
        _check_words("fail", kind, words, values)
        message, length = self._message(words + self.suffix, values, unsigned)
        kind_text = self.text_constant(kind.encode())
        backtrace = self.text_constant(self.backtrace) if self.backtrace else kind_text
        extent = self.i64(len(self.backtrace))
        self.ret(
            self.call_value(
                self.raiser,
                [kind_text, self.i64(len(kind)), message, length, backtrace, extent],
                self.types.i32,
            )
        )

    def _message(self, words: str, values: Sequence[Value], unsigned: bool) -> tuple[Value, Value]:
        if not values:
            data = words.encode()
            return self.text_constant(data), self.i64(len(data))
        t = self.types
        number, extend = ("%llu", self.zext) if unsigned else ("%lld", self.sext)
        shown = [f"%.{_TEXT}s" if value.type == t.ptr else number for value in values]
        texts = words.replace("%", "%%").split("{}")
        # The signature, which follows the words, may contain braces.
        texts = [*texts[: len(values)], "{}".join(texts[len(values) :])]
        format_ = "".join(map("".join, zip(texts, [*shown, ""], strict=True))).encode() + b"\0"
        size = len(format_) + sum(_TEXT if value.type == t.ptr else _DIGITS for value in values)
        space = self.alloca(t.i8, size)
        wide = [v if v.type in (t.i64, t.ptr) else extend(v, t.i64) for v in values]
        length = self.call_variadic(
            "snprintf", [space, self.i64(size), self.text_constant(format_)], wide, t.i32
        )
        return space, self.sext(length, t.i64)


def _check_words(what: str, kind: str, words: str, values: Sequence[Value]) -> None:
    if kind not in ERROR_KINDS and (what, kind) != ("fail", OS_ERROR):
        meant = did_you_mean(kind, ERROR_KINDS)
        raise BuildError(
            f"{what}: expected one of {', '.join(ERROR_KINDS)} but got {kind!r}{meant}"
        )
    if words.count("{}") != len(values):
        raise BuildError(
            f"{what}: {words!r} has {words.count('{}')} places for values, but {len(values)} "
            f"values are given"
        )
