"""Signatures of compiled functions, read from what their code says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ffi_builder import spec
from ffi_builder.runtime.metadata import EMPTY, Info, Parameter, Unwritable


def signature_of(info: Info) -> spec.Signature:
    """Return the signature of a function, with its defaults, keyword-only marks and documentation.

    A default that could not be written into the code is left out.
    """
    parsed = spec.Signature.parse(info.signature)
    given = {param.name: param for param in info.parameters}
    params = [_described(param, given) for param in parsed.params]
    return replace(parsed, params=params, doc=info.doc)


def _described(param: spec.Param, given: Mapping[str, Parameter]) -> spec.Param:
    """Add what the text of a signature leaves out."""
    found = given.get(param.name)
    if found is None:  # an EnvStream or a Workspace
        return param
    unknown = found.default is EMPTY or isinstance(found.default, Unwritable)
    default = spec.MISSING if unknown else found.default
    return replace(param, default=default, kw_only=found.kw_only, doc=found.doc)
