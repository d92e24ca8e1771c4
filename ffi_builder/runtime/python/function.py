"""Functions that know their signature. Importing this imports tvm-ffi."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, cast

import tvm_ffi
from tvm_ffi.utils import kwargs_wrapper

from ffi_builder.runtime.metadata import EMPTY, Info, Unwritable
from ffi_builder.runtime.python.arguments import adapter
from ffi_builder.runtime.python.signature import documentation, python_names, python_signature

if TYPE_CHECKING:
    from typing_extensions import Self

# Ctrl-C within a callback: tvm-ffi passes on the exceptions that it knows, others as RuntimeError.
tvm_ffi.register_error("KeyboardInterrupt", KeyboardInterrupt)


class Described:
    """The attributes of functions that show a signature; subclasses have the fields."""

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
        """The signature for `inspect.signature`: positional arguments alone."""
        if self._info is None:
            raise AttributeError(f"`{self._name}` says nothing of its parameters")
        return python_signature(self._info, positional=True)

    def __repr__(self) -> str:
        return f"<function {self._info.text if self._info else f'{self._name}(…)'}>"

    def __copy__(self) -> Self:
        """Return itself, as Python's functions do."""
        return self

    def __deepcopy__(self, memo: object) -> Self:
        """Return itself, as Python's functions do."""
        return self

    def __reduce__(self) -> NoReturn:
        """Raise TypeError: the code is in this process."""
        raise TypeError(
            f"cannot pickle {self!r}: its code is in this process; compile the module again, or "
            f"export it, where it is needed"
        )


# In the class body it would be the documentation of the class.
def _documentation(self: Described) -> str | None:
    info = self._info  # pyright: ignore[reportPrivateUsage]
    return info.documentation if info else None


Described.__doc__ = property(_documentation)  # pyright: ignore[reportAttributeAccessIssue]


class WrappedFunction(Described, tvm_ffi.Function):
    """A `tvm_ffi.Function` that shows its signature; calls cost the same.

    It takes positional arguments and fills in no defaults; `CompiledModule.callable` does.
    """

    __slots__ = ("__weakref__", "_info", "_name")
    _info: Info | None
    _name: str


WrappedFunction.__doc__ = Described.__dict__["__doc__"]


def wrapped(function: tvm_ffi.Function, name: str, info: Info | None) -> WrappedFunction:
    """Move `function` into one with a name and a signature; it is empty afterwards."""
    result = WrappedFunction.__new__(WrappedFunction)
    result.release_gil = function.release_gil
    result.__move_handle_from__(function)
    result._name, result._info = name, info  # pyright: ignore[reportPrivateUsage]
    return result


def info_of(function: object) -> Info | None:
    """Return what a function of a compiled module or loaded library says of itself, if it does."""
    return getattr(function, "_info", None)


def with_keywords(function: tvm_ffi.Function, info: Info) -> Callable[..., Any]:
    """Make a Python function with the names, defaults and keyword-only marks of the signature.

    Raises TypeError for a default that could not travel with the code.
    """
    check_defaults(info)
    signature = python_signature(info)
    names = list(signature.parameters)
    order = [names.index(name) for name in python_names(info)]
    make = cast("Any", kwargs_wrapper).make_kwargs_wrapper_from_signature
    result = make(adapter(function, order, info), signature)
    # `repr` shows the signature only of the extension's objects: here, an object with a `__repr__`
    # of its own would cost a quarter of a call, and half of one with keywords.
    result.__name__ = result.__qualname__ = info.name
    result.__doc__ = documentation(info)
    result.__module__ = __name__
    result.__dict__["__signature__"] = signature
    result.__dict__["__wrapped__"] = function
    return result


def by_position(function: tvm_ffi.Function, info: Info) -> Callable[..., Any]:
    """Make a Python function that takes all arguments by position, or else names and defaults.

    It converts none, but keeps the rules of arrays. A wrong number is for `function` to refuse; its
    error then says how many arguments can be left out.
    """
    names = python_names(info)
    checked = adapter(function, range(len(names)), info, converts=False)
    defaults = {
        name: param.default
        for name, param in zip(names, info.parameters, strict=True)
        if param.default is not EMPTY and unwritable(param.default) is None
    }

    most = least = len(names)
    while least and names[least - 1] in defaults:
        least -= 1

    def call(*args: Any, **keywords: Any) -> Any:
        rest = names[len(args) :]
        given = {**defaults, **keywords}
        if len(args) <= most and keywords.keys() <= set(rest) <= given.keys():
            return checked(*args, *(given[name] for name in rest))
        if keywords:
            return with_keywords(function, info)(*args, **keywords)
        try:
            return function(*args)
        except TypeError as error:
            if least < most:  # the wrapper does not know of defaults
                words = str(error).replace(
                    f"expected {most} but", f"expected {least} to {most} but"
                )
                error.args = (words,)
            raise

    return call


def check_defaults(info: Info) -> None:
    """Raise TypeError for a default that could not travel with the code."""
    for param in info.parameters:
        if (found := unwritable(param.default)) is not None:
            raise TypeError(
                f"The default of `{param.name}` in `{info.name}` is or has {found.shown}, which "
                f"cannot travel with the code: use None, bools, numbers, strs, bytes, enumerators, "
                f"and tuples, lists, dicts and dataclasses of these; or call `{info.name}` by "
                f"position"
            )


def unwritable(value: object) -> Unwritable | None:
    """Return what in a default could not travel with the code, if there is something."""
    match value:
        case Unwritable():
            return value
        case tuple() | list():
            items = cast("list[object]", value)
        case dict():
            items = [*cast("dict[object, object]", value).items()]
        case _:
            return None
    return next(filter(None, map(unwritable, items)), None)
