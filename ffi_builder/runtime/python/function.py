"""Functions that know their signature. Importing this imports tvm-ffi."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, cast

import tvm_ffi
from tvm_ffi.utils import kwargs_wrapper

from ffi_builder.runtime.metadata import EMPTY, Info, Unwritable
from ffi_builder.runtime.python.arguments import adapter

if TYPE_CHECKING:
    from typing_extensions import Self

_Parameter = inspect.Parameter


class Described:
    """What a function shows of itself; the classes of functions have the fields."""

    __slots__ = ()
    if TYPE_CHECKING:
        _info: Info | None
        _name: str

    @property
    def __name__(self) -> str:
        """The name in the module."""
        return self._name

    @property
    def __signature__(self) -> inspect.Signature:
        """For `inspect.signature`: positional arguments alone."""
        if self._info is None:
            raise AttributeError(f"`{self._name}` says nothing of its parameters")
        return python_signature(self._info, positional=True)

    def __repr__(self) -> str:
        return f"<function {self._info.text if self._info else f'{self._name}(…)'}>"

    def __copy__(self) -> Self:
        """Itself, as Python's functions do."""
        return self

    def __deepcopy__(self, memo: object) -> Self:
        """Itself, as Python's functions do."""
        return self

    def __reduce__(self) -> NoReturn:
        """Raises TypeError: its code is in this process."""
        raise TypeError(
            f"cannot pickle {self!r}: its code is in this process; compile the module again, or "
            f"export it, where it is needed"
        )


# In the class body it would be the documentation of the class.
def _documentation_of(self: Described) -> str | None:
    info = self._info  # pyright: ignore[reportPrivateUsage]
    return documentation(info) if info else None


Described.__doc__ = property(_documentation_of)  # pyright: ignore[reportAttributeAccessIssue]


class WrappedFunction(Described, tvm_ffi.Function):
    """A `tvm_ffi.Function` that shows its signature; calling it costs what calling that one does.

    It takes positional arguments; defaults are not filled in: `CompiledModule.callable` does.
    """

    __slots__ = ("__weakref__", "_info", "_name")
    _info: Info | None
    _name: str


WrappedFunction.__doc__ = Described.__dict__["__doc__"]


def wrapped(function: tvm_ffi.Function, name: str, info: Info | None) -> WrappedFunction:
    """The same function, with its name and signature; `function` is empty afterwards."""
    result = WrappedFunction.__new__(WrappedFunction)
    result.__move_handle_from__(function)
    result._name, result._info = name, info  # pyright: ignore[reportPrivateUsage]
    return result


def documentation(info: Info) -> str:
    """What `help` shows: the author's words, the parameters that have some, the signature."""
    parts = [info.doc] if info.doc else []
    described = [f"    {p.name}: {p.doc}" for p in info.parameters if p.doc]
    if described:
        parts.append("\n".join(["Args:", *described]))
    return "\n\n".join([*parts, info.text])


class _TypeText(str):
    """An annotation that shows as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def python_signature(info: Info, *, positional: bool = False) -> inspect.Signature:
    """As Python writes it; types are the text of the signature."""
    params: list[inspect.Parameter] = []
    for name, param in zip(python_names(info), info.parameters, strict=True):
        default = _Parameter.empty if param.default is EMPTY or positional else param.default
        kind = _Parameter.KEYWORD_ONLY if param.kw_only else _Parameter.POSITIONAL_OR_KEYWORD
        if positional:
            kind = _Parameter.POSITIONAL_ONLY
        annotation = _TypeText(param.type)
        params.append(_Parameter(name, kind, default=default, annotation=annotation))
    # Python has keyword-only ones last, whatever the order of the arguments is.
    ordered = sorted(params, key=lambda param: param.kind)
    returns = info.returns
    empty = inspect.Signature.empty
    return inspect.Signature(ordered, return_annotation=_TypeText(returns) if returns else empty)


def python_names(info: Info) -> list[str]:
    """The parameters' names; those that no Python parameter can have get an underscore: `from_`."""
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


def with_keywords(function: tvm_ffi.Function, info: Info) -> Callable[..., Any]:
    """A Python function with the names, defaults and keyword-only marks of the signature.

    Raises TypeError for a default that could not travel with the code.
    """
    check_defaults(info)
    signature = python_signature(info)
    names = list(signature.parameters)
    order = [names.index(name) for name in python_names(info)]
    make = cast("Any", kwargs_wrapper).make_kwargs_wrapper_from_signature
    result = make(adapter(function, order, info), signature)
    result.__name__ = info.name
    # What `repr` shows, and what Python's own errors begin with. An object with a `__repr__` of its
    # own would cost a quarter of a call, and half of one with keywords.
    result.__qualname__ = f"{info.name}{signature}"
    result.__doc__ = documentation(info)
    result.__module__ = __name__
    result.__dict__["__signature__"] = signature
    result.__dict__["__wrapped__"] = function
    return result


def check_defaults(info: Info) -> None:
    """Raise TypeError for a default that could not travel with the code."""
    for param in info.parameters:
        if (found := _unwritable(param.default)) is not None:
            raise TypeError(
                f"The default of `{param.name}` in `{info.name}` is or has {found.shown}, which "
                f"cannot travel with the code: use None, bools, numbers, strs, bytes, enumerators, "
                f"and tuples, lists, dicts and dataclasses of these; or call `{info.name}` by "
                f"position"
            )


def _unwritable(value: object) -> Unwritable | None:
    match value:
        case Unwritable():
            return value
        case tuple() | list():
            items = cast("list[object]", value)
        case dict():
            items = [*cast("dict[object, object]", value).items()]
        case _:
            return None
    return next(filter(None, map(_unwritable, items)), None)
