"""The interface of an operator: the function's description of itself, and torch's schema.

A schema is `scale(Tensor x, Tensor(a0!) y) -> ()`.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from ffi_builder import SpecError, spec
from ffi_builder.extending import (
    ANY,
    FLOAT_DTYPES,
    Comparison,
    Condition,
    Plain,
    dataclass,
    symbols_in,
    variables,
)
from ffi_builder.frameworks.numbers import Results, check_number
from ffi_builder.frameworks.torch import _torch
from ffi_builder.runtime.extending import Info, Parameter
from ffi_builder.runtime.extending import read_metadata as read

Form: TypeAlias = Literal["mutating", "functional", "out"]
FORMS: Final = ("mutating", "functional", "out")


@dataclass(frozen=True)
class Argument:
    """An argument of the compiled function."""

    number: int
    name: str
    """The name in Python and the schema: ``from_`` for ``from``."""
    param: spec.Param
    parameter: Parameter
    """The parameter as the metadata describes it, with its default."""
    given: bool
    """Whether the operator takes it."""

    @cached_property
    def inner(self) -> Plain:
        """The parameter, without its Optional if it has one."""
        return spec.required(self.param)

    @cached_property
    def tensor(self) -> spec.Tensor | None:
        """The tensor, if it is one."""
        return self.inner if isinstance(self.inner, spec.Tensor) else None

    @cached_property
    def described(self) -> spec.Tensor | None:
        """The tensor, or what describes each tensor of a list."""
        return self.inner.tensor if isinstance(self.inner, spec.TensorList) else self.tensor

    @property
    def optional(self) -> bool:
        """Whether the argument may be None."""
        return isinstance(self.param, spec.Optional)

    @property
    def written(self) -> bool:
        """Whether the function writes it."""
        return self.described is not None and self.described.intent in ("out", "inout")

    @property
    def kw_only(self) -> bool:
        """Whether the argument is keyword-only."""
        return self.parameter.kw_only


@dataclass(frozen=True)
class Interface:
    """The arguments and results of an operator, checked.

    Raises:
        SpecError: torch's operators cannot have a parameter or result of the signature, the
            signature does not say which tensors are written, or the functional form does not know
            a size.
    """

    signature: spec.Signature
    info: Info
    form: Form
    results: Results | None = None
    """How numbers are returned."""

    def __post_init__(self) -> None:
        for argument in self.arguments:
            _check(self.what, argument)
        for result in self.signature.results:
            if isinstance(result, spec.Var):
                check_number(self.what, result, self.results)
                continue
            if not isinstance(result, spec.Tensor):
                raise SpecError(
                    f"{self.what}: the result {result.name!r} is a {type(result).__name__}, but "
                    f"operators of torch return tensors alone; make a function without it"
                )
            _check_dtypes(self.what, result)
        if not self.written and not self.signature.results:
            raise SpecError(
                f"{self.what}: it writes no tensor and returns nothing, so torch would leave its "
                f"calls out of graphs; give intent='out' or 'inout' to what it writes"
            )
        if self.functional:
            for argument in self.written:
                if argument.optional:
                    raise SpecError(
                        f"{self.what}: form='functional' returns {argument.name!r}, so it cannot "
                        f"be Optional; use form='mutating'"
                    )
                if argument.tensor is None:
                    raise SpecError(
                        f"{self.what}: form='functional' returns {argument.name!r}, so it cannot "
                        f"be a list; use form='mutating'"
                    )
        _ = self.checked, self.dispatch_keys

    @property
    def what(self) -> str:
        """The prefix of errors."""
        return f"operator {self.signature.name!r}"

    @property
    def functional(self) -> bool:
        """Whether the operator returns what the function writes, and writes no argument."""
        return self.form == "functional"

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The arguments of the compiled function, in order."""
        return tuple(
            Argument(number, name, param, parameter, not self._is_allocated(param))
            for number, (name, param, parameter) in enumerate(
                zip(
                    self.info.python_names,
                    self.signature.arguments,
                    self.info.parameters,
                    strict=True,
                )
            )
        )

    @cached_property
    def given(self) -> tuple[Argument, ...]:
        """The arguments of the operator: positional ones, then keyword-only ones."""
        given = [argument for argument in self.arguments if argument.given]
        return tuple(sorted(given, key=lambda argument: argument.kw_only))

    @cached_property
    def written(self) -> tuple[Argument, ...]:
        """The arguments that the function writes. The functional form returns them first."""
        return tuple(argument for argument in self.arguments if argument.written)

    @property
    def outputs(self) -> list[str]:
        """The names of the arguments that are outputs, which callers of `form="out"` leave out.

        Raises:
            SpecError: there is none, something is read and written, or an input is called `out`.
        """
        for argument in self.arguments:
            if argument.described is not None and argument.described.intent == "inout":
                raise SpecError(
                    f"{self.what}: form='out' is for outputs, which the kernel does not read, but "
                    f"{argument.name!r} is inout; use form='mutating' or 'functional'"
                )
            if argument.name == "out" and not argument.written:
                raise SpecError(
                    f"{self.what}: form='out' takes outputs as out=, but 'out' is an input; rename "
                    f"it, or use form='mutating' or 'functional'"
                )
        if not self.written:
            raise SpecError(f"{self.what}: form='out': no tensor has intent='out'")
        return [argument.name for argument in self.written]

    @property
    def mutated(self) -> tuple[Argument, ...]:
        """The arguments that the operator writes in place."""
        return () if self.functional else self.written

    @property
    def numbers(self) -> list[spec.Var]:
        """The results that are numbers, which the operator returns as tensors."""
        return [result for result in self.signature.results if isinstance(result, spec.Var)]

    @property
    def has_keywords(self) -> bool:
        """Whether some arguments are keyword-only."""
        return any(argument.kw_only for argument in self.arguments)

    @cached_property
    def keywords(self) -> tuple[str, ...]:
        """The names of the operator's keyword-only arguments."""
        return tuple(argument.name for argument in self.given if argument.kw_only)

    def split(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return positional and keyword-only arguments, of all arguments in order."""
        if not self.keywords:
            return args, {}
        count = len(args) - len(self.keywords)
        return args[:count], dict(zip(self.keywords, args[count:], strict=True))

    @property
    def has_keyword_tensors(self) -> bool:
        """Whether some tensors of the operator are keyword-only."""
        return any(argument.described and argument.kw_only for argument in self.given)

    @property
    def has_lists(self) -> bool:
        """Whether some arguments are lists of tensors."""
        return any(argument.described and not argument.tensor for argument in self.given)

    @cached_property
    def checked(self) -> spec.Signature:
        """The signature of the operator's arguments alone, in the order of the function.

        If the operator allocates outputs, it has no `no_overlap`: traced tensors have no memory.
        """
        given = [argument.param for argument in self.arguments if argument.given]
        allocated = [argument.name for argument in self.arguments if not argument.given]
        if not allocated:
            return self.signature
        known = {*symbols_in(given)}
        where = [
            each
            for each in self.signature.where
            if known.issuperset(variables(each))
            if not any(_is_about(atom, allocated) for atom in each.atoms())
        ]
        try:
            return spec.Signature(self.signature.name, given, self.signature.returns, where=where)
        except SpecError as error:
            raise SpecError(
                f"{self.what}: form='functional' allocates {', '.join(allocated)}, and the sizes "
                f"and checks of all else must not need them; use form='mutating' ({error})"
            ) from None

    @cached_property
    def differentiable(self) -> bool:
        """Whether a result or a written tensor could have a gradient."""
        written = [argument.described for argument in self.written]
        tensors = [*self.signature.result_tensors, *(tensor for tensor in written if tensor)]
        names = [name for tensor in tensors for name in tensor.element_dtypes]
        dtypes = [
            _torch.dtype_of(self.what, name)
            for name in (*names, *(number.dtype for number in self.numbers))
        ]
        return any(dtype.is_floating_point or dtype.is_complex for dtype in dtypes)

    @cached_property
    def dispatch_keys(self) -> tuple[str, ...]:
        """The dispatch keys under which the function is registered."""
        tensors = [argument.described for argument in self.given if argument.described]
        devices = dict.fromkeys(tensor.device for tensor in tensors)
        required = any(argument.tensor and not argument.optional for argument in self.given)
        if ANY in devices or not required:  # a call without tensors has no device's key
            return ("CompositeExplicitAutograd",)
        keys = (_torch.dispatch_key(self.what, device) for device in devices)
        return tuple(dict.fromkeys(keys))

    def _is_allocated(self, param: spec.Param) -> bool:
        inner = spec.required(param)
        return self.functional and isinstance(inner, spec.Tensor) and inner.intent == "out"


def _check(what: str, argument: Argument) -> None:
    if argument.described is not None:
        if argument.described.intent is None:
            raise SpecError(
                f"{what}: the tensor {argument.param.name!r} does not say whether it is written, "
                f"which torch must know; add intent='in', 'out' or 'inout' to it (in text: "
                f"Tensor(…, intent=in))"
            )
        _check_dtypes(what, argument.described)
    default = argument.parameter.default
    if isinstance(default, float) and not math.isfinite(default):
        raise SpecError(
            f"{what}: the default of {argument.param.name!r} is {default}, which a schema of torch "
            f"cannot have; use a finite one, or none"
        )
    inner = argument.inner
    of_bools = isinstance(inner, spec.List) and inner.dtype == "bool"
    if isinstance(default, (list, tuple)) and (of_bools or isinstance(inner, spec.TensorList)):
        raise SpecError(
            f"{what}: the list {argument.param.name!r} has a default, but schemas of torch have "
            f"defaults for lists of numbers alone; leave it out, or make it an Optional whose "
            f"default is None"
        )


def _check_dtypes(what: str, tensor: spec.Tensor) -> None:
    for dtype in tensor.element_dtypes:
        _torch.dtype_of(f"{what}: {tensor.name!r}", dtype)


# ---- functions


def described(own: Info | None, signature: spec.Signature) -> Info:
    """Return the metadata of a function with this signature; `own` is its own metadata, if any."""
    made = read(signature.name, signature.metadata())
    assert made is not None
    return made if own is None else dataclasses.replace(made, name=own.name, borrows=own.borrows)


# ---- schemas


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
        parameter = argument.parameter
        alias = f"(a{argument.number}!)" if argument in interface.mutated else ""
        optional = "?" if argument.optional else ""
        kind = _type(interface.what, argument)
        base, bracket, rest = kind.partition("[")
        default = f"={_literal(kind, parameter.default)}" if parameter.has_default else ""
        yield f"{base}{alias}{bracket}{rest}{optional} {argument.name}{default}"


def _type(what: str, argument: Argument) -> str:
    match argument.inner:
        case spec.Tensor():
            return "Tensor"
        case spec.TensorList():
            return "Tensor[]"
        case spec.Var(dtype="bool") | spec.ConstBool():
            return "bool"
        case spec.Var(dtype=dtype) as var if var.is_integer or dtype in FLOAT_DTYPES:
            return "SymInt" if var.is_integer else "float"
        case spec.ConstInt():
            return "SymInt"
        case spec.ConstFloat():
            return "float"
        case spec.String() | spec.Choice():
            return "str"
        case spec.Shape():
            return "SymInt[]"
        case spec.List(element=spec.Var() | spec.String() as element):
            return f"{_type(what, dataclasses.replace(argument, param=element))}[]"
        case _:
            raise SpecError(
                f"{what}: the parameter {argument.param.name!r} is a {_kind(argument.inner)}, "
                f"which operators of torch cannot take{_instead(argument.inner)}"
            )


def _kind(param: Plain) -> str:
    if isinstance(param, spec.List):
        return param.type_text()
    return f"{param.dtype} Var" if isinstance(param, spec.Var) else type(param).__name__


def _instead(param: Plain) -> str:
    match param:
        case spec.TupleParam() | spec.Struct():
            return "; make its elements parameters of their own"
        case spec.Variant():
            return "; register a function for each of its types"
        case spec.Stream():
            return "; an EnvStream is torch's current stream"
        case _:
            return ""


_LITERALS: Final[dict[str, Callable[[Any], object]]] = {
    "SymInt": int,
    "float": float,
    "bool": bool,
    **dict.fromkeys(("Tensor[]", "SymInt[]", "float[]", "bool[]"), list),
    **dict.fromkeys(("str", "str[]"), json.dumps),
}


def _literal(kind: str, value: object) -> str:
    if value is None:
        return "None"
    converted = _LITERALS[kind](value)
    return converted if isinstance(converted, str) else repr(converted)


def _results(interface: Interface) -> str:
    count = len(interface.signature.results)
    if interface.functional:
        count += len(interface.written)
    if count == 1:
        return "Tensor"
    return f"({', '.join(['Tensor'] * count)})"


def _is_about(atom: Condition, names: Collection[str]) -> bool:
    return isinstance(atom, Comparison) and atom.of.path in names
