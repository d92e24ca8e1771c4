"""Conditions from their texts: ``x.dtype == float16 and n % 16 == 0``. The syntax is Python's."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Final, NoReturn

from ffi_builder import spec
from ffi_builder.errors import SpecError
from ffi_builder.providers.variants.conditions import (
    AllOf,
    AnyOf,
    Comparable,
    Compare,
    Condition,
    Not,
    multiple_of,
)
from ffi_builder.providers.variants.subject import Subject
from ffi_builder.providers.variants.subjects import (
    Address,
    Chosen,
    Contiguous,
    DTypeOf,
    Ndim,
    Number,
    Present,
)
from ffi_builder.suggest import did_you_mean

_OPERATORS: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_CAPABILITY: Final = "capability"
_LONGEST: Final = 10_000


def parse_condition(text: object, signature: spec.Signature) -> Condition:
    """Implement :func:`ffi_builder.providers.when.parse`."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise SpecError(
            f"condition: expected a str of up to {_LONGEST} characters but got {text!r}"
        )
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SpecError(f"condition {text!r}: {error}") from None
    try:
        return _Parser(signature).condition(tree.body)
    except SpecError as error:
        raise SpecError(f"condition {text!r}: {error}") from None


class _Parser:
    def __init__(self, signature: spec.Signature) -> None:
        found = (spec.variables(entry) for _, entry in spec.occurrences(signature.params))
        self.symbols = [var for each in found for var in each]
        self.subjects = dict(_subjects(signature, self.symbols))
        self.taken = dict(_taken_dtypes(signature))

    def condition(self, node: ast.expr) -> Condition:
        match node:
            case ast.BoolOp(op=op, values=values):
                make = AllOf if isinstance(op, ast.And) else AnyOf
                return make(tuple(self.condition(value) for value in values))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Not(self.condition(operand))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
                return self._comparison(left, _OPERATORS[type(op)], right)
            case _:
                subject = self.subjects.get(ast.unparse(node))
                if subject is None or not subject.is_flag:
                    _fail(node, "a comparison such as n >= 8, a bool symbol or x.present")
                return Compare(subject, "==", 1)

    def _comparison(self, left: ast.expr, op: str, right: ast.expr) -> Condition:
        match left, right:
            case ast.BinOp(left=value, op=ast.Mod(), right=by), ast.Constant(value=0) if op == "==":
                return multiple_of(self._subject(value), _literal(by))
            case _:
                subject = self._subject(left)
        if isinstance(subject, Address):
            _fail(left, f"{ast.unparse(left)} % 16 == 0, or another alignment")
        is_name = isinstance(subject, DTypeOf) and isinstance(right, ast.Name)
        return Comparable(subject).compare(op, ast.unparse(right) if is_name else _literal(right))

    def _subject(self, node: ast.expr) -> Subject:
        text = ast.unparse(node)
        if text in self.subjects:
            return self.subjects[text]
        if text in self.taken:
            return DTypeOf(self.taken[text])  # which is refused
        if text == _CAPABILITY:
            # Load the modules for launches on first use, as ffi_builder.providers does.
            cuda: Any = import_module("ffi_builder.providers.cuda.capability")
            return cuda.Capability()
        try:
            found = spec.expression(text, self.symbols)
        except SpecError:
            hint = did_you_mean(text, self.subjects)
            known = ", ".join(self.subjects) or "none"
            _fail(node, f"one of {known}, or an expression of symbols{hint}")
        if isinstance(found, int):
            _fail(node, "a symbol on the left")
        return Number(found)


def _subjects(signature: spec.Signature, symbols: list[spec.Var]) -> Iterator[tuple[str, Subject]]:
    """Yield all subjects of a signature but expressions, with their texts."""
    for path, param in spec.with_paths(signature.params):
        if isinstance(param, spec.Optional):
            yield f"{path}.present", Present(param)
        match spec.required(param):
            case spec.Tensor() as tensor:
                if "dtype" not in tensor.references:
                    yield f"{path}.dtype", DTypeOf(tensor)
                yield f"{path}.ndim", Ndim(tensor)
                yield f"{path}.data", Address(tensor)
                yield f"{path}.contiguous", Contiguous(tensor)
            case spec.DataPointer() as pointer:
                yield path, Address(pointer)
            case spec.Choice() as choice:
                yield path, Chosen(choice)
            case _:
                pass
    for var in symbols:
        if var.is_integer or var.dtype == "bool":
            yield var.name, Number(var)


def _taken_dtypes(signature: spec.Signature) -> Iterator[tuple[str, spec.Tensor]]:
    """Yield the tensors that take their dtype from another one, with the text of that."""
    for path, param in spec.with_paths(signature.params):
        tensor = spec.required(param)
        if isinstance(tensor, spec.Tensor) and "dtype" in tensor.references:
            yield f"{path}.dtype", tensor


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        _fail(node, "an int, a str, True, False or a pair on the right")


def _fail(node: ast.expr, expected: str) -> NoReturn:
    raise SpecError(f"expected {expected}, but got {ast.unparse(node)}") from None
