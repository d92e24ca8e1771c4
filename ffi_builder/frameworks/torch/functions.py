"""The compiled function of an operator, and its signature."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import tvm_ffi

from ffi_builder import spec
from ffi_builder.errors import SpecError
from ffi_builder.plan import check_signature
from ffi_builder.runtime.metadata import Info, read
from ffi_builder.runtime.python.functions import info_of


def function_and_info(given: Any) -> tuple[tvm_ffi.Function, Info | None]:
    """Return the function of a callable, and what it knows of itself.

    Raises:
        TypeError: it is no function of TVM-FFI.
    """
    function = getattr(given, "__wrapped__", given)
    if not isinstance(function, tvm_ffi.Function):
        raise TypeError(
            f"function: expected a function of a compiled module or loaded library, such as "
            f"compiled['f'], but got {given!r}"
        )
    return function, info_of(function)


def described(own: Info | None, signature: spec.Signature | None) -> Info:
    """Return what is known of a function, whose signature may be given.

    Raises:
        SpecError: nothing is known, or the given signature differs in more than `intent`.
    """
    if signature is None:
        if own is None:
            raise SpecError("operator: the function does not know its signature: give signature=")
        return own
    check_signature("signature: ", signature)
    made = read(signature.name, signature.metadata())
    assert made is not None
    if own is None:
        return made
    if _without_intents(spec.Signature.parse(own.signature)) != _without_intents(signature):
        raise SpecError(
            f"signature: the function has another one: {own.signature}; it may differ in intent "
            f"alone"
        )
    return dataclasses.replace(made, name=own.name, borrows=own.borrows)


def _without_intents(signature: spec.Signature) -> spec.Signature:
    return dataclasses.replace(signature, params=[_without_intent(p) for p in signature.params])


def _without_intent(param: spec.Param) -> spec.Param:
    match param:
        case spec.Optional():
            inner = _without_intent(param.param)
            return dataclasses.replace(param, param=inner)
        case spec.Tensor():
            return dataclasses.replace(param, intent=None)
        case _:
            return param


def same_function(function: tvm_ffi.Function) -> tvm_ffi.Function:
    """Return another function object of the same code."""
    same: Any = cast("Any", tvm_ffi.Array([function]))[0]
    same.release_gil = function.release_gil
    return same
