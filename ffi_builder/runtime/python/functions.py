"""Makes Python's function objects for compiled functions. Calls are read in C, or in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

import tvm_ffi
from tvm_ffi.utils import kwargs_wrapper

from ffi_builder.runtime.metadata import EMPTY, Info, Parameter, Unwritable
from ffi_builder.runtime.python import arguments
from ffi_builder.runtime.python.classes import (
    Described,
    EntryFunction,
    NumberedError,
    UndescribedFunction,
    WrappedFunction,
)
from ffi_builder.runtime.python.handles import Handle, with_handles
from ffi_builder.runtime.python.reading import Extension, Reading, reader

# For Ctrl-C within a callback: exceptions that tvm-ffi does not know become RuntimeError.
tvm_ffi.register_error("KeyboardInterrupt", KeyboardInterrupt)
# Wrappers raise it with the errno of C.
tvm_ffi.register_error("OSError", NumberedError)

Find: TypeAlias = Callable[[str], Callable[..., Any]]
"""Finds another function of the same code, by its name."""
MakeGeneral: TypeAlias = Callable[[], Callable[..., Any]]
"""Makes the function in Python of an entry, for the calls that the entry does not read."""


def wrapped(
    function: tvm_ffi.Function,
    name: str,
    info: Info | None,
    find: Find | None = None,
    *,
    converts: bool,
) -> UndescribedFunction | WrappedFunction:
    """Make a function with a name and a signature, whose calls are not read in C."""
    cls = UndescribedFunction if info is None else WrappedFunction
    made: Any = cls.__new__(cls)
    made._name, made._info = name, info
    if info is None:
        made.release_gil = function.release_gil
        made.__move_handle_from__(function)
    else:
        made.__move_handle_from__(same_function(function))
        made._by_position = not converts
        c_extension = extension() if find is not None and not info.takes_more else None
        if isinstance(c_extension, Extension):
            call = function = _entry(c_extension, function, name, info, converts=converts)
        elif info.takes_more:
            call = _with_more(function, info, converts=converts)
        else:
            call = (with_keywords if converts else by_position)(function, info)
        made._function = function
        function.release_gil = _releases(function, info)
        made._call = call if find is None else with_handles(call, info, find)
    return made


def same_function(function: tvm_ffi.Function) -> tvm_ffi.Function:
    """Return another function object for the same code."""
    same: Any = cast("Any", tvm_ffi.Array([function]))[0]
    same.release_gil = function.release_gil
    return same


def _releases(function: tvm_ffi.Function, info: Info | None) -> bool:
    """Return whether calls release the GIL: not if the wrapper would take it at once."""
    return function.release_gil and not (info is not None and info.holds_gil)


def info_of(function: object) -> Info | None:
    """Return the metadata of a function of a compiled module or loaded library, if it has any."""
    return getattr(function, "_info", None)


def with_keywords(function: tvm_ffi.Function, info: Info) -> Callable[..., Any]:
    """Make a Python function with the names, defaults and keyword-only marks of the signature.

    Raises TypeError for a default that could not travel with the code.
    """
    check_defaults(info)
    signature = info.python_signature
    names = list(signature.parameters)
    order = [names.index(name) for name in info.python_names]
    make = cast("Any", kwargs_wrapper).make_kwargs_wrapper_from_signature
    result = make(arguments.adapter(function, info, order), signature)
    result.__name__ = result.__qualname__ = info.name  # Python's errors show it
    pairs = zip(info.python_names, info.parameters, strict=True)
    reserved = {param.name: name for name, param in pairs if name != param.name}
    return _naming(result, reserved) if reserved else result


def _naming(call: Callable[..., Any], reserved: Mapping[str, str]) -> Callable[..., Any]:
    """Return a function whose error for a word that Python reserves says the name to use."""

    @functools.wraps(call)
    def named(*args: Any, **keywords: Any) -> Any:
        for name in filter(reserved.get, keywords):
            raise TypeError(
                f"{call.__name__}() got an unexpected keyword argument {name!r}, a word that "
                f"Python reserves: it is {reserved[name]!r}"
            )
        return call(*args, **keywords)

    return named


def by_position(function: tvm_ffi.Function, info: Info) -> Callable[..., Any]:
    """Make a Python function that is fast if all arguments are given by position.

    It takes keywords and defaults, too. It converts no arguments, but checks the rules of arrays.
    `function` refuses a wrong number of arguments; the error then counts defaults.
    """
    names = info.python_names
    checked = arguments.adapter(function, info, converts=False)
    defaults = {
        name: param.default
        for name, param in zip(names, info.parameters, strict=True)
        if param.default is not EMPTY and unwritable(param.default) is None
    }

    most = least = len(names)
    while least and names[least - 1] in defaults:
        least -= 1

    def call(*args: Any, **keywords: Any) -> Any:
        if len(args) == most and not keywords:
            return checked(*args)
        rest = names[len(args) :]
        given = {**defaults, **keywords}
        if len(args) <= most and keywords.keys() <= set(rest) <= given.keys():
            return checked(*args, *(given[name] for name in rest))
        if keywords:
            return with_keywords(function, info)(*args, **keywords)
        try:
            return function(*(None for _ in args))  # all that counts is how many there are
        except TypeError as error:
            if least < most:  # the wrapper does not know the defaults
                words = str(error).replace(
                    f"expected {most} but", f"expected {least} to {most} but"
                )
                error.args = (words,)
            raise

    return call


def _with_more(function: tvm_ffi.Function, info: Info, *, converts: bool) -> Callable[..., Any]:
    """Make a Python function that takes any number of arguments after those with names."""
    checked = arguments.adapter(function, info, converts=converts)
    signature, least = info.python_signature, len(info.parameters) - 1

    def call(*args: Any, **keywords: Any) -> Any:
        if keywords or (len(args) < least and info.parameters[len(args)].has_default):
            check_defaults(info)
            bound = signature.bind(*args, **keywords)
            bound.apply_defaults()
            return checked(*bound.args)
        if len(args) < least:
            function(*(None for _ in args))  # all that counts is how many there are
        return checked(*args)

    return call


def check_defaults(info: Info) -> None:
    """Raise TypeError if a default could not be stored in the code."""
    for param in info.parameters:
        if (part := unwritable(param.default)) is not None:
            raise TypeError(
                f"The default of `{param.name}` in `{info.name}` is or has {part.shown}, which "
                f"cannot travel with the code: use None, bools, numbers, strs, bytes, enumerators, "
                f"and tuples, lists, dicts and dataclasses of these; or call `{info.name}` by "
                f"position"
            )


def unwritable(value: object) -> Unwritable | None:
    """Return the first part of a default that could not be stored in the code, if any."""
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


# ---- entries

_GENERAL, _SCALAR, _TEXT, _BYTES, _KEPT_BYTES, _TENSOR, _TENSOR_IN = range(7)
_KEPT, _KEPT_IN, _ITEMS, _UNKNOWN, _HANDLE = range(7, 12)
_LISTS, _VARIANT, _ARRAYS, _READS = 16, 32, 64, 128
"""Kinds of parameters, and what may be added, as in `_entry.h`."""
_PLAIN: Final = {
    *arguments.SCALARS,
    *("List", "Shape", "Struct", "Tuple", "None", "handle", "Tensor", "TensorList"),
}
"""Kinds whose values C reads in lists and tuples."""


def extension() -> Extension | Reading:
    """Return the extension, set up for the imported frameworks, or why it is not used."""
    in_c = reader()
    if in_c is None:
        return Reading("calls", "the add-on entry is not installed")
    c_extension = in_c.extension((EntryFunction, tvm_ffi.Function), Handle)
    if isinstance(c_extension, Extension):
        in_c.use_frameworks(c_extension.module)
    return c_extension


def made(function: tvm_ffi.Function, name: str, info: Info | None, find: Find | None = None) -> Any:
    """Move `function` into an object with its name and signature; `function` is empty afterwards.

    tvm-ffi converts the arguments of calls that the extension does not read, and makes their
    errors. The rules of frameworks are always checked.
    """
    return _made(function, name, info, find, converts=False)


def _made(
    function: tvm_ffi.Function, name: str, info: Info | None, find: Find | None, *, converts: bool
) -> Any:
    # Calls with any number of arguments, and those that make handles, begin in Python.
    if info is not None and (info.takes_more or (find is not None and info.handles)):
        return wrapped(function, name, info, find, converts=converts)
    c_extension = extension()
    if info is None or not isinstance(c_extension, Extension):
        return wrapped(function, name, info, converts=converts)
    return _entry(c_extension, function, name, info, converts=converts)


def made_callable(
    function: tvm_ffi.Function, name: str, info: Info, find: Find | None = None
) -> Callable[..., Any]:
    """Do what `made` does, for a function that takes keywords and converts enumerators and records.

    Raises TypeError for a default that could not travel with the code.
    """
    check_defaults(info)
    return _made(function, name, info, find, converts=True)


def made_careful(
    function: tvm_ffi.Function, info: Info, otherwise: Callable[[MakeGeneral], Any]
) -> Callable[..., Any]:
    """Do what `made_callable` does, but calls that C cannot read go to the result of `otherwise`.

    `otherwise` gets what makes the function in Python, which takes keywords and defaults.
    """
    c_extension = extension()
    if not isinstance(c_extension, Extension):
        return otherwise(functools.partial(with_keywords, function, info))
    return _entry(c_extension, function, info.name, info, converts=True, otherwise=otherwise)


def made_operator(
    function: tvm_ffi.Function,
    info: Info,
    otherwise: Callable[[MakeGeneral], Any],
    face: type,
    *,
    autocast: bool,
) -> Any:
    """Do what `made_careful` does for an operator of torch; None if C cannot read its calls.

    The result is an instance of `face`, which must be the same class for all operators. Only tools
    see the `__call__` of this class. Calls are left to Python while a mode of torch is on, and with
    `autocast` also while autocast is on.
    """
    c_extension = extension()
    in_c = reader()
    maker = None if in_c is None else in_c.operators((face, tvm_ffi.Function))
    if not isinstance(c_extension, Extension) or maker is None:
        return None
    own = Extension(c_extension.module, maker)
    result = _entry(own, function, info.name, info, converts=True, otherwise=otherwise)
    c_extension.module.ask_for_modes(result, autocast)
    documentation = Described.__dict__["__doc__"]  # each operator's, instead of the class's
    if type(result).__dict__["__doc__"] is not documentation:
        type(result).__doc__ = documentation
    return result


def watcher() -> Callable[[], bool] | None:
    """Return a C function that tells whether a mode or autocast of torch is on, or None."""
    extension()
    in_c = reader()
    return None if in_c is None else in_c.watcher()


def reads_arrays(info: Info) -> bool:
    """Return whether C reads every call with plain arguments."""
    c_extension = extension()
    if not isinstance(c_extension, Extension) or len(info.parameters) > c_extension.module.MAX_ARGS:
        return False
    read = {_SCALAR, _TEXT, _BYTES, _TENSOR, _TENSOR_IN}
    kinds = _kinds(info, converts=True)
    return all(kind in read or kind & (_LISTS | _VARIANT) for kind in kinds)


def _entry(
    c_extension: Extension,
    function: tvm_ffi.Function,
    name: str,
    info: Info,
    *,
    converts: bool,
    otherwise: Callable[[MakeGeneral], Any] | None = None,
) -> Any:
    result: Any = c_extension.make()
    result.release_gil = _releases(function, info)
    result.__move_handle_from__(function)
    parameters, positional = _parameters(info, by_name=converts, most=c_extension.module.MAX_ARGS)
    makers = (arguments.adapter, with_keywords) if converts else (_checking, by_position)
    if otherwise is not None:
        makers = _careful(otherwise)
    returns = arguments.what_returns(info)
    c_extension.module.describe(
        result,
        name,
        info,
        (*makers, _returning, _refusing),
        not converts,
        returns,
        positional,
        parameters,
    )
    return result


def _careful(
    otherwise: Callable[[MakeGeneral], Any],
) -> tuple[Callable[[tvm_ffi.Function, Info], Any], Callable[[tvm_ffi.Function, Info], Any]]:
    """Return the makers for an entry that leaves other calls to the result of `otherwise`."""

    def as_given(general: tvm_ffi.Function, info: Info) -> Any:
        return otherwise(functools.partial(with_keywords, general, info))

    def in_order(general: tvm_ffi.Function, info: Info) -> Any:
        function = as_given(general, info)
        names = [
            name if param.kw_only else None
            for name, param in zip(info.python_names, info.parameters, strict=True)
        ]

        def call(*values: Any) -> Any:
            pairs = list(zip(names, values, strict=True))
            args = [value for name, value in pairs if name is None]
            return function(*args, **{name: value for name, value in pairs if name is not None})

        return call

    return in_order, as_given


_checking: Final = functools.partial(arguments.adapter, converts=False)
"""Makes the function that takes all arguments in order, and converts none."""


def _returning(general: tvm_ffi.Function, info: Info) -> Callable[..., Any]:
    """Make the function that converts the result of a call, given its arguments."""
    del general
    return arguments.returning(info)


def _refusing(general: tvm_ffi.Function, info: Info) -> Callable[..., Any]:
    """Make the function that names the argument which tvm-ffi did not convert."""
    del general
    return functools.partial(arguments.refused, info)


def _parameters(
    info: Info, *, by_name: bool, most: int
) -> tuple[tuple[tuple[Any, ...], ...] | None, int]:
    """Return the parameters for `_entry.describe`, or None, and the number of positional ones.

    With `by_name`, keyword-only parameters are taken by name alone.
    """
    if len(info.parameters) > most:
        return None, 0
    names = info.python_names
    # Positional parameters: all of them, or with `by_name` those that are not keyword-only, which
    # may be anywhere in the signature.
    order = [at for at, param in enumerate(info.parameters) if not (by_name and param.kw_only)]
    at_position = [*order, *[0] * (len(names) - len(order))]
    kinds = _kinds(info, converts=by_name)
    return tuple(
        (name, kind, at, param.pointee, *_default(param))
        for name, kind, at, param in zip(names, kinds, at_position, info.parameters, strict=True)
    ), len(order)


def _default(param: Parameter) -> tuple[Any, ...]:
    """Return the default, if the parameter has one that was stored in the code."""
    none = param.default is EMPTY or unwritable(param.default) is not None
    return () if none else (param.default,)


def _kinds(info: Info, *, converts: bool) -> list[int]:
    borrows = _borrows(info)
    return [_kind(param, borrows=borrows, converts=converts) for param in info.parameters]


def _kind(param: Parameter, *, borrows: bool, converts: bool) -> int:
    if param.kind == "Tensor":
        read_only = param.intent == "in"
        return (_TENSOR if borrows else _KEPT) + read_only
    if param.kind == "Bytes":
        return _BYTES if borrows else _KEPT_BYTES
    if borrows and param.kind in ("String", "Choice"):
        return _TEXT
    if param.kind in arguments.SCALARS:
        return _SCALAR
    if param.kind == "handle":
        return _HANDLE
    return _general(param, converts=converts) | (_borrowed(param) if borrows else 0)


def _general(param: Parameter, *, converts: bool) -> int:
    """Return what the general path does with a parameter that may be a container."""
    intents = [element.intent for _, element in arguments.array_paths(param.elements)]
    if "in" in (param.intent, *intents):
        return _UNKNOWN
    is_converted = converts and param.elements
    return _ITEMS if is_converted or arguments.has_arrays([param]) else _GENERAL


def _borrowed(param: Parameter) -> int:
    """Return what C may read of the value of such a parameter, if a function does not keep it."""
    if param.kind == "Variant":
        others = {*param.kinds} - {"Tensor"}
        is_read = len(others) < len(param.kinds) and others <= arguments.SCALARS.keys()
        return _VARIANT if is_read else 0
    if not _is_plain(param):
        return 0
    only_read = {array.intent == "in" for _, array in arguments.array_paths([param])}
    if not only_read:
        return _LISTS
    if len(only_read) == 2:  # C does not know which
        return 0
    return _LISTS | _ARRAYS | (_READS if True in only_read else 0)


def _is_plain(param: Parameter) -> bool:
    return param.kind in _PLAIN and all(map(_is_plain, param.elements))


def _borrows(info: Info) -> bool:
    """Return whether a tensor may be passed without a reference to it.

    A callback may change or drop the owners of arrays. If the wrapper allocates results or
    workspaces, the general path has to find out the framework of the arguments.
    """
    callbacks = any(param.kind in ("Function", "Object", "Any") for param in info.parameters)
    return info.borrows and not info.allocates and not callbacks
