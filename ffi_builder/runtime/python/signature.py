"""Signatures as Python writes them. Importing this does not import tvm-ffi."""

from __future__ import annotations

import inspect
import keyword

from ffi_builder.runtime.metadata import Info

_Parameter = inspect.Parameter


class _TypeText(str):
    """An annotation that is shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def python_signature(info: Info, *, positional: bool = False) -> inspect.Signature:
    """Return the signature as Python writes it, with the signature's texts of types."""
    params: list[_Parameter] = []
    for name, param in zip(python_names(info), info.parameters, strict=True):
        default = param.default if param.has_default and not positional else _Parameter.empty
        kind = _Parameter.KEYWORD_ONLY if param.kw_only else _Parameter.POSITIONAL_OR_KEYWORD
        if positional:
            kind = _Parameter.POSITIONAL_ONLY
        params.append(_Parameter(name, kind, default=default, annotation=_TypeText(param.type)))
    # In Python keyword-only parameters come last, whatever the order of the arguments is.
    ordered = sorted(params, key=lambda param: param.kind)
    returns = info.returns
    empty = inspect.Signature.empty
    return inspect.Signature(ordered, return_annotation=_TypeText(returns) if returns else empty)


def documentation(info: Info) -> str:
    """Return the documentation, whose signature is as Python writes it, with defaults.

    `help` shows no other signature of an entry, which it takes for data.
    """
    where = f" where {info.where}" if info.where else ""
    before = info.documentation.removesuffix(info.text)
    return f"{before}{info.name}{python_signature(info)}{where}"


def python_names(info: Info) -> list[str]:
    """Return the parameters' names, with an underscore if Python cannot have them: `from_`."""
    taken = {param.name for param in info.parameters}
    names: list[str] = []
    for param in info.parameters:
        name = param.name
        if keyword.iskeyword(name) or name == "__debug__" or name.startswith("__i_"):
            name = f"{name.removeprefix('__')}_"
            while name in taken:
                name += "_"
            taken.add(name)
        names.append(name)
    return names
