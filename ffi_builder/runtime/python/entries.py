"""A callable for a function: an entry where the extension is used, else what tvm-ffi offers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import tvm_ffi

from ffi_builder.runtime.entry import available
from ffi_builder.runtime.entry.available import Extension
from ffi_builder.runtime.metadata import EMPTY, Info, Parameter
from ffi_builder.runtime.python.function import (
    Described,
    check_defaults,
    with_keywords,
    wrapped,
)
from ffi_builder.runtime.python.signature import python_names, python_signature

_GENERAL, _SCALAR, _TENSOR, _TENSOR_IN, _KEPT = range(5)
"""Kinds of parameters, as in `_entry.c`."""

_SCALARS: Final = frozenset(
    [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
    + ["float16", "bfloat16", "float32", "float64", "bool"]
    + ["Literal", "String", "Choice", "Stream"]
)
"""Kinds of parameters that take ints, floats, bools and strs as tvm-ffi converts them."""


class Shown(Described):
    """The attributes and the repr of an entry."""

    __slots__ = ()
    if TYPE_CHECKING:
        _lenient: bool

    @property
    def __signature__(self) -> inspect.Signature:
        """For `inspect.signature`, with defaults and keyword-only ones."""
        assert self._info is not None
        return python_signature(self._info)

    def __repr__(self) -> str:
        """As that of a `WrappedFunction`, or of the function in Python."""
        if self._lenient:
            return super().__repr__()
        return f"<function {self._name}{self.__signature__} at {id(self):#x}>"


Shown.__doc__ = Described.__dict__["__doc__"]


def extension() -> available.Extension | available.Part:
    """The extension, set up for the frameworks that are imported; or why there is none."""
    found = available.extension((Shown, tvm_ffi.Function))
    if isinstance(found, Extension):
        available.use_frameworks(found.module)
    return found


def made(function: tvm_ffi.Function, name: str, info: Info | None) -> Any:
    """The same function, with its name and signature; `function` is empty afterwards.

    Positional calls that the extension does not read are tvm-ffi's, with its errors.
    """
    found = extension()
    if info is None or not isinstance(found, Extension):
        return wrapped(function, name, info)
    return _entry(found, function, name, info, lenient=True)


def made_callable(function: tvm_ffi.Function, name: str, info: Info) -> Callable[..., Any]:
    """The same with what only the adapter in Python converts; keyword-only ones are such.

    Raises TypeError for a default that could not travel with the code.
    """
    check_defaults(info)
    found = extension()
    if not isinstance(found, Extension):
        return with_keywords(wrapped(function, name, info), info)
    return _entry(found, function, name, info, lenient=False)


def made_careful(
    function: tvm_ffi.Function, info: Info, otherwise: Callable[[Callable[..., Any]], Any]
) -> Callable[..., Any]:
    """The same, but a call that is not read in C goes to what `otherwise` makes.

    `otherwise` is called with the function in Python, which takes keywords and defaults.
    """
    found = extension()
    if not isinstance(found, Extension):
        return otherwise(with_keywords(function, info))

    def make(general: tvm_ffi.Function, info: Info) -> Callable[..., Any]:
        return otherwise(with_keywords(general, info))

    return _entry(found, function, info.name, info, lenient=False, make_python=make)


def made_operator(
    function: tvm_ffi.Function,
    info: Info,
    otherwise: Callable[[Callable[..., Any]], Any],
    face: type,
) -> Any:
    """The same as `made_careful` for an operator of torch; None where that cannot be read in C.

    What is made is a `face`, whose `__call__` only tools see; the same for all operators. While a
    mode of torch is on, calls are not read.
    """
    found = extension()
    maker = available.operators((face, tvm_ffi.Function))
    if not isinstance(found, Extension) or maker is None:
        return None

    def make(general: tvm_ffi.Function, info: Info) -> Callable[..., Any]:
        return otherwise(with_keywords(general, info))

    result = _entry(
        Extension(found.module, maker), function, info.name, info, lenient=False, make_python=make
    )
    found.module.ask_for_modes(result)
    documentation = Described.__dict__["__doc__"]  # that of each, instead of that of the class
    if type(result).__dict__["__doc__"] is not documentation:
        type(result).__doc__ = documentation
    return result


def reads_arrays(info: Info) -> bool:
    """Whether calls with nothing but plain arguments are read in C, all of them."""
    found = extension()
    if not isinstance(found, Extension):
        return False
    parameters, _ = _parameters(info, lenient=True, most=found.module.MAX_ARGS)
    kinds = [parameter[1] for parameter in parameters or ()]
    return parameters is not None and _GENERAL not in kinds and _KEPT not in kinds


def _entry(
    found: Extension,
    function: tvm_ffi.Function,
    name: str,
    info: Info,
    *,
    lenient: bool,
    make_python: Callable[[tvm_ffi.Function, Info], object] = with_keywords,
) -> Any:
    """Make an entry; `make_python` makes what it calls if it does not read the arguments itself."""
    result: Any = found.make()
    result.release_gil = function.release_gil
    result.__move_handle_from__(function)
    parameters, positional = _parameters(info, lenient=lenient, most=found.module.MAX_ARGS)
    found.module.describe(result, name, info, make_python, lenient, positional, parameters)
    return result


def _parameters(
    info: Info, *, lenient: bool, most: int
) -> tuple[tuple[tuple[Any, ...], ...] | None, int]:
    """Return the parameters for `_entry.describe`, or None; and how many are positional."""
    if len(info.parameters) > most:
        return None, 0
    names = python_names(info)
    # By position: all, in order; or those that are not keyword-only, which stand anywhere.
    order = [at for at, param in enumerate(info.parameters) if lenient or not param.kw_only]
    at_position = [*order, *[0] * (len(names) - len(order))]
    kinds = _kinds(info)
    return tuple(
        (name, kind, at, *(() if param.default is EMPTY else (param.default,)))
        for name, kind, at, param in zip(names, kinds, at_position, info.parameters, strict=True)
    ), len(order)


def _kinds(info: Info) -> list[int]:
    borrows = _borrows(info)
    return [
        _tensor(param, borrows)
        if param.kind == "Tensor"
        else _SCALAR
        if param.kind in _SCALARS
        else _GENERAL
        for param in info.parameters
    ]


def _tensor(param: Parameter, borrows: bool) -> int:
    if not borrows:
        return _KEPT
    return _TENSOR_IN if param.intent == "in" else _TENSOR


def _borrows(info: Info) -> bool:
    """Whether a tensor may be passed without a reference to it.

    A callback may change or drop what the arrays are of. Results are made by the framework whose
    tensors came, which the general way finds out.
    """
    callbacks = any(param.kind in ("Function", "Object") for param in info.parameters)
    return info.borrows and not info.returns and not callbacks
