"""Signatures of compiled functions, read from what their code says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ffi_builder import spec
from ffi_builder.errors import SpecError
from ffi_builder.plan import check_signature
from ffi_builder.runtime.metadata import EMPTY, Info, Parameter, Unwritable


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
