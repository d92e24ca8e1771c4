"""Parsing parameters that need no symbols: literals, choices, objects and pointers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from ffi_builder.spec.numbers import INT_RANGES
from ffi_builder.spec.params import Constant, ConstBool, ConstFloat, ConstInt, DataPointer
from ffi_builder.spec.tokens import Token, Tokens
from ffi_builder.spec.values import Choice, Object, Value

_FLOATS: Final = ("nan", "inf")

_Reader: TypeAlias = Callable[[Tokens, Token, Token], Value | Constant | DataPointer]
"""Takes the tokens, which continue after the type, and the tokens of the parameter and the type."""


def _literal(t: Tokens, name: Token, kind: Token) -> ConstInt | ConstBool | ConstFloat:
    """Parse ``[3]``, ``[-0.5]``, ``[inf]`` or ``[True]``."""
    del kind
    t.expect("[")
    first = t.next
    if first.kind == "int" or (t.sees("-") and t.second.kind == "int"):
        number = t.integer("an int")
        with t.at(t.since(first)):
            made = ConstInt(name.text, number)
        t.expect("]")
        return made
    minus = t.accept("-")
    token = t.advance()
    word = token.text if token.kind == "name" else ""
    if word in ("True", "False") and not minus:
        t.expect("]")
        return ConstBool(name.text, token.text == "True")
    if token.kind != "float" and word not in _FLOATS:
        raise t.error(
            token, f"expected an int, a float, nan, inf, True or False but got {token.shown}"
        )
    t.expect("]")
    return ConstFloat(name.text, -float(token.text) if minus else float(token.text))


def _choice(t: Tokens, name: Token, kind: Token) -> Choice:
    """Parse ``({'relu': 1, 'gelu': 2}, int8)``; the dtype may be left out."""
    t.expect("(")
    t.expect("{")
    given = t.list_of("}", lambda: _choice_entry(t))
    dtype = "int32"
    if t.accept(",") and not t.sees(")"):
        dtype = t.one_of("a dtype such as int8", f"Choice {name.text!r}: dtype", INT_RANGES)
    t.close()
    choices: dict[str, int] = {}
    for choice, number, value in given:
        if choice.text in choices:
            raise t.error(choice, f"choice {choice.text!r} is given twice")
        # Checking each entry in a Choice of its own tells where an error is.
        with t.at(choice):
            Choice(name.text, {choice.text: 0}, dtype)
        with t.at(number):
            Choice(name.text, {choice.text: value}, dtype)
        choices[choice.text] = value
    with t.at(kind):
        return Choice(name.text, choices, dtype)


def _choice_entry(t: Tokens) -> tuple[Token, Token, int]:
    choice = t.name("a choice such as 'relu'")
    t.expect(":")
    first = t.next
    value = t.integer("the int of the choice")
    return choice, t.since(first), value


def _object(t: Tokens, name: Token, kind: Token) -> Object:
    """Parse ``('ffi.Module')``, or nothing: any object."""
    del kind
    if not t.accept("("):
        return Object(name.text)
    key = t.name("a type key such as 'ffi.Module'")
    with t.at(key):
        made = Object(name.text, key.text)
    t.close()
    return made


def _data_pointer(t: Tokens, name: Token, kind: Token) -> DataPointer:
    """Parse ``(address_space=3)``, or nothing."""
    space = None
    if t.accept("("):
        t.expect("address_space")
        t.expect("=")
        space = t.integer("an address space")
        t.close()
    with t.at(kind):
        return DataPointer(name.text, address_space=space)


READERS: Final[dict[str, _Reader]] = {
    Choice.type_name: _choice,
    ConstInt.type_name: _literal,
    DataPointer.type_name: _data_pointer,
    Object.type_name: _object,
}
"""The parsers of this module, by the names of the types."""
