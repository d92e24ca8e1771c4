"""The schema of an operator, as torch writes it: ``scale(Tensor x, Tensor(a0!) y) -> ()``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from ffi_builder import spec
from ffi_builder.errors import SpecError
from ffi_builder.frameworks.torch.interface import Argument, Interface, has_default


def schema(interface: Interface, name: str) -> str:
    """Return the schema of an operator with that name.

    Raises:
        SpecError: torch has no type for a parameter.
    """
    return f"{name}({', '.join(_arguments(interface))}) -> {_results(interface)}"


def _arguments(interface: Interface) -> Iterator[str]:
    by_position = True
    for argument in interface.given:
        if argument.kw_only and by_position:
            by_position = False
            yield "*"
        alias = f"(a{argument.number}!)" if argument in interface.mutated else ""
        optional = "?" if argument.optional else ""
        kind = _type(interface.what, argument)
        base, bracket, rest = kind.partition("[")
        default = f"={_literal(kind, argument.default)}" if has_default(argument) else ""
        yield f"{base}{alias}{bracket}{rest}{optional} {argument.name}{default}"


def _type(what: str, argument: Argument) -> str:
    match argument.inner:
        case spec.Tensor():
            return "Tensor"
        case spec.Var(dtype="bool") | spec.ConstBool():
            return "bool"
        case spec.Var(dtype=dtype) as var if var.is_integer or dtype in spec.FLOAT_DTYPES:
            return "SymInt" if var.is_integer else "float"
        case spec.ConstInt():
            return "SymInt"
        case spec.ConstFloat():
            return "float"
        case spec.String() | spec.Choice():
            return "str"
        case spec.Shape():
            return "SymInt[]"
        case _:
            raise SpecError(
                f"{what}: the parameter {argument.param.name!r} is a {_kind(argument.inner)}, "
                f"which operators of torch cannot take{_instead(argument.inner)}"
            )


def _kind(param: spec.Plain) -> str:
    return f"{param.dtype} Var" if isinstance(param, spec.Var) else type(param).__name__


def _instead(param: spec.Plain) -> str:
    match param:
        case spec.TupleParam() | spec.Struct():
            return "; make its elements parameters of their own"
        case spec.TensorList():
            return "; register a torch.library.custom_op that calls it (docs/torch.md)"
        case spec.Stream():
            return "; an EnvStream is torch's current stream"
        case _:
            return ""


_CONVERTED: Final[dict[str, Callable[[Any], object]]] = {
    "SymInt": int,
    "float": float,
    "bool": bool,
    "SymInt[]": list,
    "str": json.dumps,
}


def _literal(kind: str, value: object) -> str:
    if value is None:
        return "None"
    converted = _CONVERTED[kind](value)
    return converted if isinstance(converted, str) else repr(converted)


def _results(interface: Interface) -> str:
    count = len(interface.signature.results)
    if interface.functional:
        count += len(interface.written)
    if count == 1:
        return "Tensor"
    return f"({', '.join(['Tensor'] * count)})"
