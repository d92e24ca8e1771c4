"""Finds the compiled function that a framework's function calls, and its signature."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ffi_builder import SpecError, spec
from ffi_builder.extending import check_signature
from ffi_builder.runtime.extending import EMPTY, Info, Parameter, Unwritable

if TYPE_CHECKING:
    import tvm_ffi


def function_and_signature(
    what: str, given: Any, signature: spec.Signature | None
) -> tuple[tvm_ffi.Function, Info | None, spec.Signature]:
    """Return the function of a callable, its metadata, and its signature.

    A given signature takes precedence. `what` begins errors.

    Raises:
        TypeError: `given` is not a TVM-FFI function.
        SpecError: no signature is known, or the given one differs in more than `intent`.
    """
    import tvm_ffi

    from ffi_builder.runtime.extending import FunctionTable, info_of

    names = given.functions if isinstance(given, FunctionTable) else ()
    if isinstance(given, FunctionTable):
        given = given.only or given
    function = getattr(given, "__wrapped__", given)
    if not isinstance(function, tvm_ffi.Function):
        raise TypeError(
            f"{what}: expected one function of a compiled module or loaded library, as "
            f"in {what}(compiled[{next(iter(names), 'f')!r}]), but got {given!r}"
        )
    own = info_of(function)
    if signature is None:
        if own is None:
            raise SpecError(f"{what}: the function does not know its signature: give signature=")
        return function, own, signature_of(own)
    check_signature("signature: ", signature)
    if own is not None:
        known = _parsed(own.signature)
        if _without_intents(known) != _without_intents(signature):
            raise SpecError(
                f"signature: the function has another one: {own.signature}; it may differ in "
                f"intent alone"
            )
    return function, own, signature


def signature_of(info: Info) -> spec.Signature:
    """Return the signature of a function, with its defaults, keyword-only marks and documentation.

    A default that could not be written into the metadata is left out.
    """
    parsed = _parsed(info.signature)
    given = {param.name: param for param in info.parameters}
    params = [_described(param, given) for param in parsed.params]
    if not info.doc and all(map(operator.is_, params, parsed.params)):
        return parsed
    return replace(parsed, params=params, doc=info.doc)


@lru_cache(maxsize=64)
def _parsed(text: str) -> spec.Signature:
    """Parse a text, which says the devices. Many operators may have one function."""
    return spec.Signature.parse(text)


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
    """Add to a parameter what the text of a signature leaves out."""
    parameter = given.get(param.name)
    if parameter is None:  # an EnvStream or a Workspace
        return param
    unknown = parameter.default is EMPTY or isinstance(parameter.default, Unwritable)
    default = spec.MISSING if unknown else parameter.default
    if default is spec.MISSING and not parameter.kw_only and not parameter.doc:
        return param
    return replace(param, default=default, kw_only=parameter.kw_only, doc=parameter.doc)
