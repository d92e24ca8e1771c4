"""LLVM types and attributes of a context, each made once.

Errors for refused operands say more than those of the bindings, which list their own signatures.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final, cast

from ffi_builder.errors import BuildError
from ffi_builder.ir.distribution import Distribution
from ffi_builder.ir.protocols import Attribute, Type


def wrong_operation(
    ir: Any,
    name: object,
    operands: Any,
    results: Any,
    attributes: Any,
    successors: Any,
    error: Exception,
) -> BuildError:
    """Return the error for arguments that ``Operation.create`` refused.

    ``error`` is the exception that was raised; it does not say which argument was wrong.
    """
    if not isinstance(name, str):
        return BuildError(f"operation: expected a name, such as 'llvm.add', but got {name!r}")
    lists = {"operands": operands, "results": results, "successors": successors or ()}
    for what, given in lists.items():
        if not isinstance(given, (list, tuple)):
            return BuildError(f"{name}: {what}: expected a list but got {given!r}")
    if attributes is not None and not isinstance(attributes, dict):
        return BuildError(f"{name}: attributes: expected a dict of them but got {attributes!r}")
    for index, operand in enumerate(operands):
        if not isinstance(operand, ir.Value):
            return not_a_value(f"{name}: operand {index}", operand)
    for result in results:
        if not isinstance(result, ir.Type):
            return _not_a_type(name, result)
    for successor in successors or ():
        if not isinstance(successor, ir.Block):
            return BuildError(
                f"{name}: expected a block to go to, such as builder.new_block() makes, but got "
                f"{successor!r}"
            )
    for key, attribute in cast("dict[object, object]", attributes or {}).items():
        if not isinstance(attribute, ir.Attribute):
            return BuildError(
                f"{name}: attribute {key!r}: expected an ir.Attribute, such as "
                f"builder.types.attribute(text) makes, but got {attribute!r}"
            )
    return BuildError(f"{name}: {error}")


def not_a_value(where: str, given: object) -> BuildError:
    """Return the error for an object that is not an ``ir.Value``."""
    if isinstance(given, bool):
        hint = f"; builder.i1({given}) makes one of a bool"
    elif isinstance(given, int):
        hint = f"; builder.i64({given}) makes one of an int"
    elif isinstance(given, (str, bytes)):
        hint = "; builder.text_constant(bytes) makes an address of bytes"
    else:
        hint = "; a call provider asks its context for the values of symbols and parameters"
    return BuildError(f"{where}: expected a value (an ir.Value) but got {given!r}{hint}")


def not_values(where: str, given: object) -> BuildError:
    """Return the error for an object that is not a list of values."""
    return BuildError(f"{where}: expected a list of values but got {given!r}")


def _not_a_type(name: str, given: object) -> BuildError:
    hint = f"; builder.types.parse({given!r}) makes one of a text" if isinstance(given, str) else ""
    if given is None:
        hint = "; builder.types.void is the type of no result"
    return BuildError(f"{name}: result: expected a type (an ir.Type) but got {given!r}{hint}")


def not_text(what: str, given: object) -> BuildError:
    """Return the error for an object that is not a str."""
    return BuildError(f"{what}: expected a str but got {given!r}")


def not_an_int(what: str, given: object, hint: str = "") -> BuildError:
    """Return the error for an object that is not a Python int."""
    return BuildError(f"{what}: expected an int but got {given!r}{hint}")


PREDICATES = {
    name: number
    for number, name in enumerate(
        ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
    )
}
"""``llvm.icmp`` predicates: the numbers of the LLVM dialect's ICmpPredicate."""
FLOAT_PREDICATES = {"oeq": 1, "olt": 4, "uno": 14}
"""``llvm.fcmp`` predicates: the numbers of the LLVM dialect's FCmpPredicate."""

_DYNAMIC_INDEX = -(2**31)
"""Marks an index that is an operand among a getelementptr's constant indices."""
_LIKELY = (2000, 1)
"""The branch weights that clang emits for ``__builtin_expect``."""

LLVM_TYPES = {
    **{f"{sign}int{bits}": f"i{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "bool": "i1",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "handle": "!llvm.ptr",
}
"""The LLVM type of a scalar, by dtype.

Examples:
    >>> from ffi_builder.ir.types import LLVM_TYPES
    >>> LLVM_TYPES["uint32"], LLVM_TYPES["bfloat16"], LLVM_TYPES["handle"]
    ('i32', 'bf16', '!llvm.ptr')
"""


def _parsed(text: str) -> cached_property[Type]:
    """Make a property of :class:`Types` that returns the type of this text."""

    def parse(types: Types) -> Type:
        return types.parse(text)

    return cached_property(parse)


class Types:
    """Types and attributes of a context, cached by the arguments that they are made from.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import ir
        >>> context = mlir.Context()
        >>> types = ir.Types(mlir, context)
        >>> print(types.struct([types.ptr, types.i64]), types.scalar("uint16"))
        !llvm.struct<(ptr, i64)> i16
    """

    def __init__(self, ir: Any, context: Any) -> None:
        self.ir = ir
        self.context = context
        self._types: dict[str, Type] = {}
        self._texts: dict[Type, str] = {}
        self._integers: dict[int, Type] = {}
        self._attributes: dict[str, Attribute] = {}
        self._of: dict[object, dict[str, Attribute]] = {}

    def named_location(self, name: str, location: Any) -> Any:
        """Return ``location`` with a name, which is printed with it."""
        return self.ir.Location.name(name, location, self.context)

    def parse(self, text: str) -> Type:
        """Parse a type: ``i64``, ``!llvm.ptr<1>``, ``!llvm.struct<(ptr, i64)>``.

        Raises:
            BuildError: the text is not a type.
        """
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise not_text("type", text)
        type_ = self._types.get(text)
        if type_ is None:
            try:
                type_ = self._types[text] = self.ir.Type.parse(text, self.context)
            except Exception as error:  # MLIRError, which old bindings do not have
                raise BuildError(f"{text!r} is not a type: {error}") from None
        return type_

    def text(self, type_: Type) -> str:
        """Return the text of a type, cached, since the bindings print it each time."""
        text = self._texts.get(type_)
        if text is None:
            text = self._texts[type_] = str(type_)
        return text

    def integer(self, bits: int) -> Type:
        """``i<bits>``."""
        type_ = self._integers.get(bits)
        if type_ is None:
            type_ = self._integers[bits] = self.parse(f"i{bits}")
        return type_

    i1 = _parsed("i1")
    i8 = _parsed("i8")
    i16 = _parsed("i16")
    i32 = _parsed("i32")
    i64 = _parsed("i64")
    f64 = _parsed("f64")
    ptr = _parsed("!llvm.ptr")
    void = _parsed("!llvm.void")

    def pointer(self, address_space: int | None = None) -> Type:
        """Return the pointer type of an address space; None and 0 mean the default."""
        return self.parse(f"!llvm.ptr<{address_space}>") if address_space else self.ptr

    def scalar(self, dtype: str) -> Type:
        """Return the type of a scalar: ``i32`` for int32 and uint32, ``f16`` for float16.

        Raises:
            BuildError: there is no such dtype.
        """
        if not isinstance(dtype, str) or dtype not in LLVM_TYPES:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BuildError(f"dtype: expected one of {', '.join(LLVM_TYPES)} but got {dtype!r}")
        return self.parse(LLVM_TYPES[dtype])

    def struct(self, members: Sequence[Type]) -> Type:
        """``!llvm.struct<(members)>``, not packed."""
        return self.parse(f"!llvm.struct<({', '.join(map(self.text, members))})>")

    def array(self, count: int, element: Type) -> Type:
        """``!llvm.array<count x element>``."""
        return self.parse(f"!llvm.array<{count} x {self.text(element)}>")

    def function(self, result: Type, parameters: Sequence[Type]) -> Type:
        """``!llvm.func<result (parameters)>``."""
        inner = self.text(result).removeprefix("!llvm.")
        return self.parse(f"!llvm.func<{inner} ({', '.join(map(self.text, parameters))})>")

    # ---- attributes

    def attribute(self, text: str) -> Attribute:
        """Parse an attribute: ``#llvm.linkage<internal>``."""
        attribute = self._attributes.get(text)
        if attribute is None:
            attribute = self._attributes[text] = self.ir.Attribute.parse(text, self.context)
        return attribute

    def int_attribute(self, bits: int, value: int) -> Attribute:
        """Return ``value : i<bits>``; the value may be signed or unsigned.

        Raises:
            BuildError: the value is no int, or does not fit.
        """
        if not isinstance(value, int):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise not_an_int(f"i{bits}", value)
        if not -(1 << (bits - 1)) <= value < 1 << bits:
            raise BuildError(f"an i{bits} cannot be {value}")
        # IntegerAttr takes signed values, but for i1 also 1.
        if bits > 1 and value >> (bits - 1) == 1:
            value -= 1 << bits
        return self.ir.IntegerAttr.get(self.integer(bits), value)

    def i32_array(self, *values: int) -> Attribute:
        """``array<i32: values>``."""
        return self.ir.DenseI32ArrayAttr.get(list(values), self.context)

    def string(self, data: str | bytes) -> Attribute:
        """Return a string attribute. Bytes are cheap at any length."""
        return self.ir.StringAttr.get(data, self.context)

    def symbol(self, name: str) -> Attribute:
        """Return a reference to a symbol.

        Raises:
            BuildError: the name is no str.
        """
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise not_text("symbol", name)
        return self.ir.FlatSymbolRefAttr.get(name, self.context)

    def type_attribute(self, text: str) -> Attribute:
        """Return the attribute of a type, given as text."""
        return self.ir.TypeAttr.get(self.parse(text), context=self.context)

    # ---- all attributes of an operation, as shared dictionaries that nothing may change

    def of_constant(self, bits: int, value: int) -> dict[str, Attribute]:
        """Attributes of an integer constant."""
        # The type is in the key, since 1.0 == 1.
        key = ("constant", bits, value, type(value))
        return self._of.get(key) or self._make(key, value=self.int_attribute(bits, value))

    def of_offset(self, offset: int) -> dict[str, Attribute]:
        """Attributes of a getelementptr that adds a number of bytes."""
        key = ("offset", offset)
        if not isinstance(offset, int):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise not_an_int("offset", offset, "; builder.element(pointer, index) adds a value")
        return self._of.get(key) or self._make(
            key, rawConstantIndices=self.i32_array(offset), elem_type=self.type_attribute("i8")
        )

    def of_element(self, element: str) -> dict[str, Attribute]:
        """Attributes of a getelementptr whose only index is an operand."""
        key = ("element", element)
        return self._of.get(key) or self._make(
            key,
            rawConstantIndices=self.i32_array(_DYNAMIC_INDEX),
            elem_type=self.type_attribute(element),
        )

    def of_member(self, struct: str, index: int) -> dict[str, Attribute]:
        """Attributes of a getelementptr to a member of a struct."""
        key = ("member", struct, index)
        return self._of.get(key) or self._make(
            key, rawConstantIndices=self.i32_array(0, index), elem_type=self.type_attribute(struct)
        )

    def of_compare(self, predicate: int) -> dict[str, Attribute]:
        """Attributes of an icmp or fcmp."""
        key = ("compare", predicate)
        return self._of.get(key) or self._make(key, predicate=self.int_attribute(64, predicate))

    def of_position(self, index: int) -> dict[str, Attribute]:
        """Attributes of an extractvalue or insertvalue."""
        key = ("position", index)
        position = self.ir.DenseI64ArrayAttr.get
        return self._of.get(key) or self._make(key, position=position([index], self.context))

    def of_branch(self, then: int, otherwise: int, *, likely: bool) -> dict[str, Attribute]:
        """Attributes of a cond_br, with the number of operands for each of its blocks."""
        key = ("branch", then, otherwise, likely)
        if key not in self._of:
            weights = {"branch_weights": self.i32_array(*_LIKELY)} if likely else {}
            self._make(key, operandSegmentSizes=self.i32_array(1, then, otherwise), **weights)
        return self._of[key]

    def of_call(self, operands: int) -> dict[str, Attribute]:
        """Attributes of a call with this number of operands, without the callee."""
        key = ("call", operands)
        return self._of.get(key) or self._make(
            key,
            operandSegmentSizes=self.i32_array(operands, 0),
            op_bundle_sizes=self.i32_array(),
        )

    def of_tail_call(self) -> dict[str, Attribute]:
        """Attributes of a tail call; none in MLIR before LLVM 20."""
        try:
            return {"TailCallKind": self.attribute("#llvm.tailcallkind<tail>")}
        except Exception:  # MLIRError, which old bindings do not have
            return {}

    def of_bytes(self, data: bytes) -> dict[str, Attribute]:
        """Attributes of a global with these bytes. They are not cached."""
        array = self.type_attribute(f"!llvm.array<{len(data)} x i8>")
        return {"global_type": array, "value": self.string(data)}

    def _make(self, key: object, **attributes: Attribute) -> dict[str, Attribute]:
        self._of[key] = attributes
        return attributes


_shared: Final[list[Types]] = []
"""The types of plain modules, at most one."""
_uses: Final = itertools.count()
_MOST_USES: Final = 256
"""They keep each constant, so new ones are made now and then."""


def types_of(distribution: Distribution, context: Any) -> Types:
    """Return types and attributes of a context. Plain modules, which have only one, share theirs.

    Examples:
        >>> from ffi_builder import ir
        >>> from ffi_builder.ir.distribution import of_module
        >>> from ffi_builder.ir.types import types_of
        >>> module = ir.PlainModule()
        >>> print(types_of(of_module(module), module.context).pointer(1))
        !llvm.ptr<1>
    """
    if not distribution.is_plain:
        return Types(distribution.ir, context)
    if next(_uses) % _MOST_USES == 0:
        _shared[:] = [Types(distribution.ir, context)]
    return _shared[0]
