"""Signatures of compiled functions, and sizes that are computed from them while a call is traced.

Sizes are ints, or the symbols that a framework has for those of many shapes. The arithmetic is the
same for both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from ffi_builder import spec
from ffi_builder.errors import SpecError
from ffi_builder.plan import check_signature
from ffi_builder.runtime.metadata import EMPTY, Info, Parameter, Unwritable
from ffi_builder.testing.evaluate import OPERATORS

Size: TypeAlias = Any
"""An int, or a framework's symbolic one."""
Operator: TypeAlias = Callable[[Size, Size], Size]


def signature_of(info: Info) -> spec.Signature:
    """Return the signature of a function, with its defaults, keyword-only marks and documentation.

    A default that could not be written into the code is left out.
    """
    parsed = spec.Signature.parse(info.signature)
    given = {param.name: param for param in info.parameters}
    params = [_described(param, given) for param in parsed.params]
    return replace(parsed, params=params, doc=info.doc)


def signature_for(what: str, own: Info | None, given: spec.Signature | None) -> spec.Signature:
    """Return the signature of a function that says `own` of itself; one that is given goes first.

    Raises:
        SpecError: nothing is known, or the given signature differs in more than `intent`.
    """
    if given is None:
        if own is None:
            raise SpecError(f"{what}: the function does not know its signature: give signature=")
        return signature_of(own)
    check_signature("signature: ", given)
    if own is not None:
        known = spec.Signature.parse(own.signature)
        if _without_intents(known) != _without_intents(given):
            raise SpecError(
                f"signature: the function has another one: {own.signature}; it may differ in "
                f"intent alone"
            )
    return given


def _without_intents(signature: spec.Signature) -> spec.Signature:
    return replace(signature, params=[_without_intent(p) for p in signature.params])


def _without_intent(param: spec.Param) -> spec.Param:
    match param:
        case spec.Optional():
            inner = _without_intent(param.param)
            return replace(param, param=inner)
        case spec.Tensor():
            return replace(param, intent=None)
        case _:
            return param


def _described(param: spec.Param, given: Mapping[str, Parameter]) -> spec.Param:
    """Add what the text of a signature leaves out."""
    found = given.get(param.name)
    if found is None:  # an EnvStream or a Workspace
        return param
    unknown = found.default is EMPTY or isinstance(found.default, Unwritable)
    default = spec.MISSING if unknown else found.default
    return replace(param, default=default, kw_only=found.kw_only, doc=found.doc)


def evaluate(
    dim: spec.Dim,
    value_of: Callable[[spec.Var], Size | None],
    operators: Mapping[str, Operator] = OPERATORS,
) -> Size | None:
    """Return the value of an int, a symbol or an expression; None if a symbol of it has none."""
    match dim:
        case int():
            return dim
        case spec.Var():
            return value_of(dim)
        case spec.Expr(op, left, right):
            lhs, rhs = (evaluate(side, value_of, operators) for side in (left, right))
            return None if lhs is None or rhs is None else operators[op](lhs, rhs)


def contiguous(shape: Sequence[Size], order: str = "C") -> list[Size]:
    """Return the strides of a contiguous array, in elements, in C's or Fortran's order."""
    strides: list[Size] = []
    stride: Size = 1
    for size in reversed(shape) if order == "C" else shape:
        strides.append(stride)
        stride = stride * size
    return strides[::-1] if order == "C" else strides
