"""Reading a signature from text: a recursive descent over the grammar in docs/signatures.md.

The text is read twice. What a symbol is may be said anywhere, by a scalar parameter or in the
``where`` at the end, so the first reading only collects that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from ffi_builder import abi
from ffi_builder.errors import SpecError
from ffi_builder.spec._check import nearest, one_of
from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.spec.expr import VAR_DTYPES, Dim, Var
from ffi_builder.spec.params import (
    ConstBool,
    ConstFloat,
    ConstInt,
    ConstNone,
    DataPointer,
    EnvStream,
    Param,
    Shape,
    Stream,
    TupleParam,
)
from ffi_builder.spec.parse_dims import DimParser, Said
from ffi_builder.spec.tensor import INTENTS, Tensor
from ffi_builder.spec.tokens import Token, Tokens

Made = TypeVar("Made")

_NAMED: Final = {"None": ConstNone, "Stream": Stream, "EnvStream": EnvStream}
"""Parameters that are described by their name alone."""
_FLOATS: Final = ("nan", "inf")


def parse_signature(
    text: str, device: str | None, make: Callable[[str, list[Param]], Made]
) -> Made:
    """Read a signature, and make it of its name and parameters.

    ``device`` is that of tensors which do not say theirs.

    Raises:
        SpecError: the text is no signature; with the line, and carets under the place.
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise SpecError(f"Signature.parse: expected a str but got {text!r} ({type(text).__name__})")
    if device is not None:
        one_of("Signature.parse: device", device, abi.DEVICE_TYPES)
    try:
        first = _Parser(Tokens(text), device, None)
        first.signature()
        symbols = {name: _var(first.tokens, name, said) for name, said in first.said.items()}
        name, params = _Parser(Tokens(text), device, symbols).signature()
        with first.tokens.at(name):
            return make(name.text, params)
    except SpecError as error:
        raise SpecError(f"Signature.parse: {error}") from None


def _var(tokens: Tokens, name: str, said: Said) -> Var:
    with tokens.at(said.token):
        return Var(name, said.dtype or "int64", **said.limits)


class _Parser(DimParser):
    """The parameters and constraints."""

    def signature(self) -> tuple[Token, list[Param]]:
        """The name and the parameters."""
        t = self.tokens
        name = t.name("the name of the function")
        t.need("(")
        params = self.list_of(")", self._param)
        separator = "'where'"
        if t.takes("where"):
            separator = "','"
            self._constraint()
            while t.takes(","):
                self._constraint()
        if t.next.kind != "end":
            raise t.wrong(t.next, f"expected {separator} or the end but got {t.next.shown}")
        return name, params

    # ---- parameters

    def _param(self) -> Param:
        t = self.tokens
        name = t.name("the name of a parameter")
        t.need(":")
        kind = t.name("a type such as Tensor or float32")
        with self.deeper(kind):
            return self._typed(name, kind)

    def _typed(self, name: Token, kind: Token) -> Param:
        t = self.tokens
        match kind.text:
            case "Tensor":
                return self._tensor(name, kind)
            case "Shape":
                t.need("(")
                shape = self.entries()
                self.close()
                with t.at(kind):
                    return Shape(name.text, shape)  # pyright: ignore[reportArgumentType]
            case "Tuple":
                t.need("(")
                params = self.list_of(")", self._param)
                with t.at(kind):
                    return TupleParam(name.text, params)
            case "Literal":
                return self._literal(name)
            case "DataPointer":
                space = self._address_space() if t.takes("(") else None
                with t.at(kind):
                    return DataPointer(name.text, address_space=space)
            case "None" | "Stream" | "EnvStream":
                with t.at(name):
                    return _NAMED[kind.text](name.text)
            case _:
                return self._scalar(name, kind)

    def _scalar(self, name: Token, kind: Token) -> Var:
        names = (*_NAMED, "Tensor", "Shape", "Tuple", "Literal", "DataPointer", *VAR_DTYPES)
        if kind.text not in VAR_DTYPES:
            raise self.tokens.wrong(
                kind,
                f"expected a type: Tensor, Shape, Tuple, Literal, None, Stream, EnvStream, "
                f"DataPointer, or one of {', '.join(VAR_DTYPES)}, but got {kind.text!r}"
                f"{nearest(kind.text, names)}",
            )
        said = self.mention(name)
        if said.scalar and said.dtype != kind.text:
            raise self.tokens.wrong(
                kind, f"symbol {name.text!r} is {said.dtype} before, and {kind.text} here"
            )
        said.dtype, said.scalar = kind.text, True
        if self.symbols is not None:
            return self.symbols[name.text]
        with self.tokens.at(name):
            return Var(name.text, kind.text)

    def _literal(self, name: Token) -> Param:
        t = self.tokens
        t.need("[")
        if t.next.kind == "int" or (t.sees("-") and t.second.kind == "int"):
            token, number = t.next, t.integer("an int")
            t.need("]")
            with t.at(token):
                return ConstInt(name.text, number)
        minus = t.takes("-")
        token = t.take()
        word = token.text if token.kind == "name" else ""
        if word in ("True", "False") and not minus:
            t.need("]")
            return ConstBool(name.text, token.text == "True")
        if token.kind != "float" and word not in _FLOATS:
            raise t.wrong(
                token, f"expected an int, a float, nan, inf, True or False but got {token.shown}"
            )
        t.need("]")
        return ConstFloat(name.text, -float(token.text) if minus else float(token.text))

    def _address_space(self) -> int:
        self.tokens.need("address_space")
        self.tokens.need("=")
        space = self.tokens.integer("an address space")
        self.close()
        return space

    def _tensor(self, name: Token, kind: Token) -> Tensor:
        t = self.tokens
        t.need("(")
        shape = self.entries()
        t.need(",")
        dtype = self._dtype()
        options: dict[str, Any] = {"device_type": self.device}
        seen: set[str] = set()
        while t.takes(",") and not t.sees(")"):
            option = t.name("an option such as strides or device_type")
            with t.at(option):
                one_of("option of a Tensor", option.text, _OPTIONS)
            if option.text in seen:
                raise t.wrong(option, f"{option.text} is given twice")
            seen.add(option.text)
            t.need("=")
            options[option.text] = _OPTIONS[option.text](self)
        self.close()
        with t.at(kind):
            return Tensor(name.text, shape, dtype, **options)

    def _dtype(self) -> str:
        token = self.tokens.name("a dtype such as float32")
        with self.tokens.at(token):
            parse_dtype(token.text)
        return token.text

    def _strides(self) -> str | list[Dim | None]:
        return self.tokens.take().text if self.tokens.next.text == "C" else self.entries()

    def _device_type(self) -> str:
        token = self.tokens.name("a device type such as cpu")
        with self.tokens.at(token):
            return one_of("device_type", token.text, abi.DEVICE_TYPES)

    def _device_id(self) -> int | Var:
        if self.tokens.next.kind in ("name", "quoted"):
            return self.symbol(self.tokens.take())
        return self.tokens.integer("a device id or a symbol")

    def _data_alignment(self) -> int:
        return self.tokens.integer("an alignment in bytes")

    def _intent(self) -> str:
        token = self.tokens.name("in, out or inout")
        with self.tokens.at(token):
            return one_of("intent", token.text, INTENTS)

    # ---- constraints

    def _constraint(self) -> None:
        """``n: int32``, ``n % 16 == 0``, ``1 <= n``, ``n <= 8``, ``1 <= n <= 8`` or ``n >= 1``."""
        t = self.tokens
        first = t.next
        least = None
        if first.kind == "int" or t.sees("-"):
            least = t.integer("a constraint")
            t.need("<=")
        said = self._constrained(t.name("a symbol"))
        if least is not None:
            self._limit(said, "min", least, first)
            if t.takes("<="):
                self._limit(said, "max", t.integer("an int"), first)
        elif t.takes(":"):
            self._declare(said, t.next)
        elif t.takes("%"):
            self._limit(said, "divisibility", t.integer("an int"), first)
            t.need("==")
            if t.next.kind != "int" or t.next.text != "0":
                raise t.wrong(t.next, f"expected '0' but got {t.next.shown}")
            t.take()
        elif t.takes("<="):
            self._limit(said, "max", t.integer("an int"), first)
        elif t.takes(">="):
            self._limit(said, "min", t.integer("an int"), first)
        else:
            raise t.wrong(t.next, f"expected ':', '%', '<=' or '>=' but got {t.next.shown}")

    def _constrained(self, token: Token) -> Said:
        found = self.said.get(token.text)
        if found is None:
            raise self.tokens.wrong(
                token,
                f"no parameter mentions a symbol {token.text!r}{nearest(token.text, self.said)}",
            )
        return found

    def _declare(self, said: Said, token: Token) -> None:
        t = self.tokens
        name = t.name("a dtype").text
        if said.scalar or said.dtype is not None:
            where = "its parameter" if said.scalar else "an earlier constraint"
            raise t.wrong(token, f"{where} says the dtype already: {said.dtype}")
        with t.at(token):
            said.dtype = one_of("dtype of a symbol", name, VAR_DTYPES)

    def _limit(self, said: Said, name: str, value: int, token: Token) -> None:
        if name in said.limits:
            raise self.tokens.wrong(token, f"the {name} of this symbol is given twice")
        said.limits[name], said.token = value, token


_OPTIONS: Final[dict[str, Callable[[_Parser], Any]]] = {
    "strides": _Parser._strides,  # pyright: ignore[reportPrivateUsage]
    "device_type": _Parser._device_type,  # pyright: ignore[reportPrivateUsage]
    "device_id": _Parser._device_id,  # pyright: ignore[reportPrivateUsage]
    "data_alignment": _Parser._data_alignment,  # pyright: ignore[reportPrivateUsage]
    "storage_dtype": _Parser._dtype,  # pyright: ignore[reportPrivateUsage]
    "intent": _Parser._intent,  # pyright: ignore[reportPrivateUsage]
}
"""How the value of each option of a Tensor is read."""
