"""A recursive-descent parser of signatures. The grammar is in docs/signatures.md.

The text is parsed twice. A scalar parameter or the ``where`` at the end may declare a symbol after
its first use, so the first pass only collects the declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from types import EllipsisType
from typing import Any, Final, NoReturn, TypeAlias, TypeVar, cast

from ffi_builder.errors import SpecError
from ffi_builder.spec import params as kinds
from ffi_builder.spec._check import identifier, one_of
from ffi_builder.spec.composite import PARAM_TYPES, Optional, Param, Struct, TupleParam
from ffi_builder.spec.dtypes import DataType, parse_dtype
from ffi_builder.spec.expr import Dim, Var
from ffi_builder.spec.lists import ELEMENTS, List
from ffi_builder.spec.numbers import INT_RANGES, VAR_DTYPES
from ffi_builder.spec.param import Named
from ffi_builder.spec.parsing.parse_where import WhereParser
from ffi_builder.spec.parsing.tokens import Token, Tokens
from ffi_builder.spec.results import Result
from ffi_builder.spec.tensors.devices import DEVICES, has_default
from ffi_builder.spec.tensors.tensor import INTENTS, LAYOUTS, Tensor
from ffi_builder.spec.tensors.tensor_list import TensorList
from ffi_builder.spec.tensors.workspace import Workspace
from ffi_builder.spec.variant import Variant
from ffi_builder.suggest import did_you_mean

Made = TypeVar("Made")
Returns: TypeAlias = "Result | list[Result] | None"

_NAMED: Final = {
    kind.type_name: cast("Callable[[str], Param]", kind)
    for kind in PARAM_TYPES
    if len(fields(kind)) == len(fields(Named)) and kind is not kinds.VarArgs
}
"""The kinds of parameters whose only fields are a name and metadata."""
_RESULTS: Final = (
    *("Tensor", "Shape", "Object", "String", "Bytes", "DType", "Device"),
    *("Function", "Array", "Map", "List", "TensorList", "Any", "Variant", "Optional"),
)
"""The words that the type of a result may begin with, beside dtypes."""
_PLACE: Final = ("device_type", "device_id", "data_alignment")
_OPTIONS: Final = {
    "Tensor": ("strides", *_PLACE, "storage_dtype", "intent"),
    "Workspace": (*_PLACE, "zero"),
    "TensorList": ("length", "each"),
}
_WORDS: Final = {
    "strides": ("strides such as [n, 1], or C, F or any,", LAYOUTS),
    "device_type": ("a device type such as cpu", DEVICES),
    "intent": ("in, out or inout", INTENTS),
    "zero": ("True or False", ("True", "False")),
}
"""The options whose values are words: the description for errors, and the words."""
_FLOATS: Final = ("nan", "inf")
_TYPES: Final = tuple(
    dict.fromkeys(kind.type_name for kind in PARAM_TYPES if kind not in (Var, kinds.VarArgs))
)
"""The words that a type may begin with, beside dtypes."""


def parse_signature(text: str, device: str | None, make: Callable[..., Made]) -> Made:
    """Parse a signature, and return ``make(name, params, returns, where=…, no_overlap=…)``.

    Args:
        text: the text.
        device: the device type of tensors without one in the text, or None.
        make: makes a :class:`~ffi_builder.spec.Signature`.

    Raises:
        SpecError: the text does not follow the grammar, or ``make`` raised. The message shows the
            line, with carets under the place.
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise SpecError(f"Signature.parse: expected a str but got {text!r} ({type(text).__name__})")
    if device is not None:
        one_of("Signature.parse: device", device, DEVICES)
    try:
        first = _Parser(Tokens(text), device, None)
        first.signature()
        symbols = dict[str, Var]()
        for name, declared in first.declarations.items():
            with first.tokens.at(declared.token):
                symbols[name] = Var(name, declared.dtype or "int64", **declared.limits)
        second = _Parser(Tokens(text), device, symbols)
        name, params, returns = second.signature()
        with first.tokens.at(name):
            where, no_overlap = second.conditions, second.no_overlap
            return make(name.text, params, returns, where=where, no_overlap=no_overlap)
    except SpecError as error:
        raise SpecError(f"Signature.parse: {error}") from None


class _Parser(WhereParser):
    """One pass over a signature: parameters, results and constraints."""

    def __init__(self, tokens: Tokens, device: str | None, symbols: dict[str, Var] | None) -> None:
        super().__init__(tokens, device, symbols)
        self._in_element = False
        """Whether a number is no symbol, as it is what each element is."""
        self._readers: dict[str, Callable[[Token, Token], Param]] = {
            "Tensor": self._tensor,
            "Workspace": self._tensor,
            "Shape": self._shape,
            "Tuple": self._elements,
            "Struct": self._elements,
            "Optional": self._optional,
            "TensorList": self._tensor_list,
            "List": self._list,
            "Variant": self._variant,
            "Choice": self._choice,
            "Literal": self._literal,
            "DataPointer": self._data_pointer,
            "Object": self._object,
            "Map": self._map,
            "Array": self._array,
            "Function": self._function,
        }
        """The parsers of types that have something in brackets."""

    def signature(self) -> tuple[Token, list[Param], Returns]:
        """Parse a whole signature: its name, its parameters and its results."""
        t = self.tokens
        name = t.name("the name of the function")
        t.expect("(")
        params = t.list_of(")", self._param)
        returns = self._returns() if t.accept("->") else None
        separator = "'where'" if returns is not None else "'->', 'where'"
        if t.accept("where"):
            separator = "','"
            self.where(params)
        if t.next.kind != "end":
            is_another = t.next.kind == "name" and [each.text for each in t.item()[1:2]] == ["("]
            hint = ": a text has one signature" if is_another else ""
            if returns is not None and separator == "'where'" and t.next.text == ",":
                hint = ": several results are in parentheses, as in `-> (x: int32, y: float32)`"
            raise t.error(t.next, f"expected {separator} or the end but got {t.next.shown}{hint}")
        return name, params, returns

    def _name(self, what: str, example: str, types: Sequence[str]) -> Token:
        """Parse a name, and the colon after it."""
        t = self.tokens
        name = t.name(f"the name of a {what}")
        if t.next.text != ":" and name.text in (*types, *VAR_DTYPES):
            raise t.error(name, f"a {what} needs a name before its type: `{example}: {name.text}`")
        t.expect(":")
        with t.at(name):
            identifier(f"name of a {what}", name.text)
        return name

    # ---- results

    def _returns(self) -> Returns:
        """Parse one result, or several in brackets."""
        if self.tokens.accept("("):
            return self.tokens.list_of(")", self._result)
        return self._result()

    def _result(self) -> Result:
        t = self.tokens
        if t.sees("None") and t.second.text != ":":
            raise t.error(t.next, "a function that returns nothing has no `->` in its signature")
        name = self._name("result", "-> y", _RESULTS)
        if t.sees_reference("dtype"):
            words = (
                f"a scalar has one type; `{name.text}: Tensor([], {t.next.text})` has that dtype"
            )
            raise t.error(t.next, words)
        return self._type_of_result(name)

    def _type_of_result(self, name: Token) -> Result:
        t = self.tokens
        kind = t.name("a type such as Tensor or float32")
        if kind.text == "Optional":
            with self.deeper(kind):
                return self._optional(name, kind, self._type_of_result)
        if kind.text in _RESULTS:
            return cast("Result", self._typed(name, kind))
        if kind.text not in VAR_DTYPES:
            raise t.error(
                kind,
                f"expected the type of a result: {', '.join(_RESULTS)}, or one of "
                f"{', '.join(VAR_DTYPES)}, but got {kind.text!r}"
                f"{did_you_mean(kind.text, (*_RESULTS, *VAR_DTYPES))}",
            )
        # A result is no symbol: no other part of the text can refer to it.
        with t.at(name):
            return Var(name.text, kind.text)

    # ---- parameters

    def _param(self) -> Param:
        t = self.tokens
        if t.sees("*"):
            star = t.advance()
            return self._varargs() if t.next.kind == "name" else self._no_keywords(star)
        name = self._name("parameter", "x", _TYPES)
        param = self._type(name)
        if t.sees("="):
            words = f'leave it out: Signature.parse(text).with_params({name.text}={{"default": …}})'
            raise t.error(t.next, f"a text has no defaults: {words}")
        return param

    def _varargs(self) -> kinds.VarArgs:
        """Parse ``rest: Any`` behind a ``*``."""
        t = self.tokens
        name = t.name("the name of a parameter")
        t.expect(":")
        t.one_of("the type", f"VarArgs {name.text!r}: type", ("Any",))
        with t.at(name):
            return kinds.VarArgs(name.text)

    def _no_keywords(self, star: Token) -> NoReturn:
        """Refuse a ``*`` alone, and name the parameters behind it."""
        t, hint = self.tokens, "leave it out"
        if t.accept(","):
            names = (param.name for param in t.list_of(")", self._param))
            fields = ", ".join(f'{name}={{"kw_only": True}}' for name in names)
            hint += f", and add with_params({fields})" if fields else ""
        raise t.error(star, f"a text has no keyword-only parameters: {hint}")

    def _type(self, name: Token) -> Param:
        t = self.tokens
        if t.sees_reference("dtype"):
            words = (
                f'a number has one dtype: write `{name.text}: float64`, and "float32({name.text})" '
                f"in args= of the Variant whose kernel takes float32"
            )
            raise t.error(t.next, words)
        kind = t.name("a type such as Tensor or float32")
        with self.deeper(kind):
            return self._typed(name, kind)

    def _typed(self, name: Token, kind: Token) -> Param:
        with self.tokens.at(kind):
            if kind.text in _NAMED and kind.text not in self._readers:
                return _NAMED[kind.text](name.text)
            return self._readers.get(kind.text, self._scalar)(name, kind)

    def _shape(self, name: Token, kind: Token) -> kinds.Shape:
        self.tokens.expect("(")
        entries = self.entries()
        self.tokens.close()
        return kinds.Shape(name.text, entries)  # pyright: ignore[reportArgumentType]

    def _elements(self, name: Token, kind: Token) -> TupleParam | Struct:
        self.tokens.expect("(")
        params = self.tokens.list_of(")", self._param)
        make = TupleParam if kind.text == "Tuple" else Struct
        return make(name.text, params)

    def _optional(
        self, name: Token, kind: Token, read: Callable[[Token], Param] | None = None
    ) -> Optional:
        t = self.tokens
        t.expect("(")
        inner = t.next
        param = (read or self._type)(name)
        t.close()
        with t.at(inner):
            return Optional(param)

    def _tensor_list(self, name: Token, kind: Token) -> TensorList:
        """Parse ``(Tensor([m, k], float16), length=g, each=[m])``."""
        t = self.tokens
        t.expect("(")
        inner = t.name("a Tensor")
        with t.at(inner):
            one_of("the elements of a TensorList", inner.text, ("Tensor",))
        tensor: Any = self._typed(name, inner)
        options: dict[str, Any] = {}
        for option in self._options("TensorList", options):
            if option == "length":
                options[option] = self._int_or_symbol("a length")
            else:
                t.expect("[")
                options[option] = t.list_of("]", lambda: self.symbol(t.name("a symbol")))
        return TensorList(tensor, **options)

    def _list(self, name: Token, kind: Token) -> List:
        """Parse ``(int64, n + 1)``; without a length, the list may have any number of elements."""
        t = self.tokens
        t.expect("(")
        if t.sees("Tensor", "Tuple", "Struct", "Optional"):
            words = (
                f"a List has numbers, strs, bytes or lists, and a TensorList has tensors, but got "
                f"{t.next.text!r}"
            )
            raise t.error(t.next, words)
        dtype: Any
        if t.sees("List"):
            dtype = self._typed(name, t.advance())
        else:
            dtype = t.one_of("a dtype such as int64", f"List {name.text!r}: dtype", ELEMENTS)
        length, mutable = None, False
        while t.accept(",") and not t.sees(")"):
            if t.sees("mutable"):
                mutable = self._mutable()
            elif length is None:
                length = self._entry()
            else:
                break
        t.close()
        return List(name.text, dtype, length, mutable=mutable)

    def _mutable(self) -> bool:
        t = self.tokens
        t.advance()
        t.expect("=")
        return t.one_of("True or False", "mutable", ("True", "False")) == "True"

    def _element(self, name: Token) -> Any:
        """Parse what each element is; a number is no symbol."""
        outer, self._in_element = self._in_element, True
        try:
            return self._type(name)
        finally:
            self._in_element = outer

    def _array(self, name: Token, kind: Token) -> kinds.Array:
        """Parse ``(Optional(int64))``; without it, the Array may have anything."""
        t, of = self.tokens, None
        if t.accept("("):
            of = self._element(name)
            t.close()
        return kinds.Array(name.text, of)

    def _function(self, name: Token, kind: Token) -> kinds.Function:
        """Parse ``([int64, float32], int64)``; without it, the function may take anything."""
        t = self.tokens
        if not t.accept("("):
            return kinds.Function(name.text)
        t.expect("[")
        params = t.list_of("]", lambda: self._element(name))
        returns = self._element(name) if t.accept(",") and not t.sees(")") else None
        t.close()
        return kinds.Function(name.text, params, returns)

    def _variant(self, name: Token, kind: Token) -> Variant:
        """Parse ``(float64, Tensor([n], float32))``; a number is no symbol."""
        t = self.tokens

        def alternative() -> Any:
            word = t.name("a type such as float64")
            if word.text in VAR_DTYPES:
                return Var(name.text, word.text)
            with self.deeper(word):
                return self._typed(name, word)

        t.expect("(")
        params = t.list_of(")", alternative)
        return Variant(params)

    def _map(self, name: Token, kind: Token) -> kinds.Map:
        """Parse ``(int64, float32)``; without it, the Map may have anything."""
        t, items, mutable = self.tokens, [None, None], False
        if t.accept("("):
            if not t.sees("mutable"):
                key = self._element(name)
                t.expect(",")
                items = [key, self._element(name)]
                t.accept(",")
            if t.sees("mutable"):
                mutable = self._mutable()
            t.close()
        return kinds.Map(name.text, *items, mutable=mutable)

    def _scalar(self, name: Token, kind: Token) -> Var:
        if kind.text not in VAR_DTYPES:
            raise self.tokens.error(
                kind,
                f"expected a type: {', '.join(_TYPES)}, or one of {', '.join(VAR_DTYPES)}, "
                f"but got {kind.text!r}{did_you_mean(kind.text, (*_TYPES, *VAR_DTYPES))}",
            )
        if self._in_element:
            return Var(name.text, kind.text)
        declared = self.declaration(name)
        if declared.scalar and declared.dtype != kind.text:
            raise self.tokens.error(
                kind, f"symbol {name.text!r} is {declared.dtype} before, and {kind.text} here"
            )
        declared.dtype, declared.scalar = kind.text, True
        if self.symbols is not None:
            return self.symbols[name.text]
        with self.tokens.at(name):
            return Var(name.text, kind.text)

    # ---- tensors

    def _options(self, kind: str, given: Mapping[str, Any]) -> Iterator[str]:
        """Parse ``, strides=`` up to the closing bracket; the caller parses the values."""
        t, known = self.tokens, _OPTIONS[kind]
        while t.accept(",") and not t.sees(")"):
            option = t.name(f"an option such as {known[0]}")
            with t.at(option):
                one_of(f"option of a {kind}", option.text, known)
            if option.text in given:
                raise t.error(option, f"{option.text} is given twice")
            t.expect("=")
            yield option.text
        t.close()

    def _tensor(self, name: Token, kind: Token) -> Tensor:
        """Parse ``([n, 4], float32 | float16, strides=F)``, and make a Tensor or Workspace."""
        t, is_workspace = self.tokens, kind.text == "Workspace"
        t.expect("(")
        if t.next.text in VAR_DTYPES:
            order = f"{kind.text}([…], {t.next.text})"
            raise t.error(t.next, f"expected the shape, which is before the dtype: {order}")
        shape = self._shape_of_tensor()
        t.expect(",")
        dtypes = self._dtypes()
        options: dict[str, Any] = {}
        for option in self._options(kind.text, options):
            options[option] = self._option(option)
        options.setdefault("device_type", self.device)
        if options["device_type"] is None and not has_default():
            words = (
                f"{kind.text} {name.text!r}: no device_type given. Say device_type=cpu (or cuda, "
                f"…) in its brackets, or device='cpu' for all tensors that do not say theirs"
            )
            raise t.error(kind, words)
        return (Workspace if is_workspace else Tensor)(name.text, shape, dtypes, **options)

    def _option(self, name: str) -> Any:
        """Parse the value of an option of a tensor."""
        t = self.tokens
        match name:
            case "strides" if t.sees("["):
                return self.entries()
            case "device_type" if t.sees_reference("device_type"):
                return t.advance().text
            case "device_id":
                return self._int_or_symbol("a device id")
            case "data_alignment":
                return t.integer("an alignment in bytes")
            case "storage_dtype":
                return self._dtype()
            case _:
                what, allowed = _WORDS[name]
                word = t.one_of(what, name, allowed)
                return word == "True" if name == "zero" else word

    def _shape_of_tensor(self) -> list[Dim | None] | EllipsisType | str:
        """Parse ``[n, 4]``, ``...`` or ``x.shape``."""
        t = self.tokens
        if t.sees_reference("shape"):
            return t.advance().text
        return ... if t.accept("...") else self.entries()

    def _dtypes(self) -> list[str] | str:
        """Parse ``float16 | float32``, or ``x.dtype``.

        ``float32`` and ``float32x1`` are the same dtype.
        """
        if self.tokens.sees_reference("dtype"):
            return self.tokens.advance().text
        names: dict[DataType, str] = {}
        while True:
            token = self.tokens.next
            name = self._dtype()
            dtype = parse_dtype(name)
            if dtype in names:
                raise self.tokens.error(token, f"{name} is given twice")
            names[dtype] = name
            if not self.tokens.accept("|"):
                return list(names.values())

    def _dtype(self) -> str:
        token = self.tokens.name("a dtype such as float32")
        if token.text in ("torch", "np", "numpy", "jnp") and self.tokens.accept("."):
            last = self.tokens.next.text
            meant = did_you_mean(last, VAR_DTYPES) or ", write the name of a dtype alone"
            raise self.tokens.error(token, f"unexpected '{token.text}.{last}'{meant}")
        with self.tokens.at(token):
            parse_dtype(token.text)
        return token.text

    def _int_or_symbol(self, what: str) -> int | Var:
        """Parse an int, or the name of an integer symbol; ``what`` is for errors."""
        if self.tokens.next.kind in ("name", "quoted"):
            return self.symbol(self.tokens.advance())
        return self.tokens.integer(f"{what} or a symbol")

    # ---- values

    def _literal(self, name: Token, kind: Token) -> kinds.Constant:
        """Parse ``[3]``, ``[-0.5]``, ``[inf]`` or ``[True]``."""
        t = self.tokens
        t.expect("[")
        first = t.next
        if first.kind == "int" or (t.sees("-") and t.second.kind == "int"):
            number = t.integer("an int")
            with t.at(t.since(first)):
                made = kinds.ConstInt(name.text, number)
            t.expect("]")
            return made
        minus = t.accept("-")
        token = t.advance()
        word = token.text if token.kind == "name" else ""
        if word in ("True", "False") and not minus:
            t.expect("]")
            return kinds.ConstBool(name.text, token.text == "True")
        if token.kind != "float" and word not in _FLOATS:
            raise t.error(
                token, f"expected an int, a float, nan, inf, True or False but got {token.shown}"
            )
        t.expect("]")
        return kinds.ConstFloat(name.text, -float(token.text) if minus else float(token.text))

    def _choice(self, name: Token, kind: Token) -> kinds.Choice:
        """Parse ``({'relu': 1, 'gelu': 2}, int8)``; the dtype may be left out."""
        t = self.tokens
        t.expect("(")
        if t.next.kind == "name":
            why = "only `wrap` with prototype= reads the enums of C"
            raise t.error(t.next, f"expected '{{' but got {t.next.shown}: {why}")
        t.expect("{")
        given = t.list_of("}", self._choice_entry)
        dtype = "int32"
        if t.accept(",") and not t.sees(")"):
            dtype = t.one_of("a dtype such as int8", f"Choice {name.text!r}: dtype", INT_RANGES)
        t.close()
        choices: dict[str, int] = {}
        for choice, number, value in given:
            if choice.text in choices:
                raise t.error(choice, f"choice {choice.text!r} is given twice")
            # Checking each entry in a separate Choice tells where an error is.
            with t.at(choice):
                kinds.Choice(name.text, {choice.text: 0}, dtype)
            with t.at(number):
                kinds.Choice(name.text, {choice.text: value}, dtype)
            choices[choice.text] = value
        return kinds.Choice(name.text, choices, dtype)

    def _choice_entry(self) -> tuple[Token, Token, int]:
        t = self.tokens
        choice = t.name("a choice such as 'relu'")
        t.expect(":")
        first = t.next
        value = t.integer("the int of the choice")
        return choice, t.since(first), value

    def _object(self, name: Token, kind: Token) -> kinds.Object:
        """Parse ``('ffi.Module')``, or nothing, which means any object."""
        t = self.tokens
        if not t.accept("("):
            return kinds.Object(name.text)
        key = t.name("a type key such as 'ffi.Module'")
        with t.at(key):
            made = kinds.Object(name.text, key.text)
        t.close()
        return made

    def _data_pointer(self, name: Token, kind: Token) -> kinds.DataPointer:
        """Parse ``(address_space=3)``, or nothing."""
        t = self.tokens
        space = None
        if t.accept("("):
            t.expect("address_space")
            t.expect("=")
            space = t.integer("an address space")
            t.close()
        return kinds.DataPointer(name.text, address_space=space)
