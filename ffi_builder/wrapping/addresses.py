"""Functions at an address of this process: where their code is, and the types that they have."""

from __future__ import annotations

import ctypes
import inspect
import platform
from _ctypes import FUNCFLAG_PYTHONAPI
from numbers import Integral
from typing import Any, Final, cast

from ffi_builder import BuildError, CompileError
from ffi_builder.extending import importing
from ffi_builder.runtime.extending import mappings
from ffi_builder.wrapping.c_types import POINTER, CType, Prototype
from ffi_builder.wrapping.capsules import address_in, declared_in, is_capsule

_C_FUNCTION: Final = ctypes.CFUNCTYPE(None).__mro__[1]
"""The class of all functions of ctypes, which has a private name."""
_CTYPES: Final = {
    ctypes.c_bool: "bool",
    ctypes.c_char: "uint8" if platform.machine() == "aarch64" else "int8",
    ctypes.c_float: "float32",
    ctypes.c_double: "float64",
    **{getattr(ctypes, f"c_int{bits}"): f"int{bits}" for bits in (8, 16, 32, 64)},
    **{getattr(ctypes, f"c_uint{bits}"): f"uint{bits}" for bits in (8, 16, 32, 64)},
}
"""The dtypes of numbers of ctypes. Its other numbers are these under other names."""
_CFFI: Final = {
    "float": "float32",
    "double": "float64",
    "long double": None,
    "_Bool": "bool",
    "char": _CTYPES[ctypes.c_char],
}
"""The dtypes of numbers of cffi that are no integers, or that are cast otherwise."""
_POINTER: Final = ctypes.POINTER(ctypes.c_int).__mro__[1]
"""The class of all typed pointers of ctypes, which has a private name."""


def callable_in(source: Any) -> object:
    """Return the function in a ``LowLevelCallable`` of SciPy; any other source as it is.

    Raises:
        TypeError: it has user data, which it passes itself.
    """
    if type(source).__name__ != "LowLevelCallable":
        return source
    if source.user_data is not None:
        raise TypeError(
            "wrap: the LowLevelCallable has user_data, which SciPy passes: give its .function, and "
            "pass the data as a handle of the signature"
        )
    return source.function


def address_of(source: object) -> int | None:
    """Return the address of code that a source stands for; None if it stands for none.

    Raises:
        TypeError: a pointer of cffi to data.
    """
    if isinstance(source, bool):
        return None
    if isinstance(source, Integral):  # NumPy's too
        return int(source)
    if isinstance(source, (_C_FUNCTION, ctypes.c_void_p)):
        return ctypes.cast(cast("Any", source), ctypes.c_void_p).value or 0
    if is_capsule(source):
        return address_in(source)
    if _is_cffi(source):
        kind = _ffi().typeof(source)
        if kind.kind == "array" or (kind.kind == "pointer" and kind.item.kind != "void"):
            raise TypeError(
                f"wrap: expected the address of a function, but got {source!r}, which is data"
            )
        return int(_ffi().cast("uintptr_t", source))
    address = getattr(source, "address", None)  # a @cfunc of Numba
    return address if isinstance(address, int) and not isinstance(address, bool) else None


def needs_gil(source: object) -> bool:
    """Return whether a source is called with Python's GIL held: capsules, functions of a PyDLL.

    Functions of Python are PyDLL's. A capsule does not say whether its function uses Python, and
    most that Cython makes do.
    """
    if isinstance(source, _C_FUNCTION):
        return bool(getattr(type(source), "_flags_", FUNCFLAG_PYTHONAPI) & FUNCFLAG_PYTHONAPI)
    return is_capsule(source)


def is_code(address: int) -> bool:
    """Return whether this process can execute what is at an address.

    Where the system does not say what the process has mapped, all but NULL is believed to be code.
    """
    mapped = mappings()
    if not mapped:
        return address != 0
    for line in mapped:
        places, rights, *_ = line.split()
        start, _, end = places.partition("-")
        if int(start, 16) <= address < int(end, 16):
            return "x" in rights
    return False


def declared_by(source: Any, name: str, given: Prototype | None) -> Prototype | None:
    """Return the types that a function of ctypes, cffi, Numba or a capsule has, if it has any.

    A function of ctypes has types if its ``argtypes`` are set. The ``restype`` of a function of a
    library is ``c_int`` if nothing was set; then only the ``given`` prototype says what it returns.

    Raises:
        BuildError: nothing says what it returns; a capsule and the prototype differ.
        CompileError: a type that is neither a number nor a pointer.
    """
    if is_capsule(source):
        return declared_in(source, name, given)
    if _is_cffi(source):
        type_ = _ffi().typeof(source)
        if type_.kind != "function":
            return None
        if type_.ellipsis:
            raise CompileError(f"{name}: a function with `...` cannot be called by a wrapper")
        params = [_of_cffi(f"{name}: parameter #{at}", t) for at, t in enumerate(type_.args)]
        return _prototype(name, [], params, _of_cffi(f"{name}: the result", type_.result))
    names = list(inspect.signature(source).parameters) if hasattr(source, "__wrapped__") else []
    function = getattr(source, "ctypes", source)  # a @cfunc of Numba has the types that ctypes has
    if not isinstance(function, _C_FUNCTION) or function.argtypes is None:
        return None
    params = [_of_ctypes(f"{name}: parameter #{at}", t) for at, t in enumerate(function.argtypes)]
    result = _of_ctypes(f"{name}: the result", function.restype)
    # The class of a function of a library has no types of its own; those of CFUNCTYPE have.
    if function.restype is ctypes.c_int and type(function)().argtypes is None:
        if given is None:
            raise BuildError(
                f"wrap: nothing says what `{name}` returns, as ctypes says c_int where nothing is "
                f'set: give prototype="int {name}(…)", or set its restype to another type or None'
            )
        result = given.result
    return _prototype(name, names, params, result)


def _prototype(
    name: str, names: list[str], params: list[CType | None], result: CType | None
) -> Prototype:
    """Return a prototype; the names are those of the first parameters."""
    known = [*names, *[""] * len(params)]
    typed = [(own, type_) for own, type_ in zip(known, params, strict=False) if type_ is not None]
    return Prototype(name, tuple(typed), result)


def _of_ctypes(what: str, type_: Any) -> CType | None:
    """Return the type that ctypes calls so; None for void."""
    if type_ is None:
        return None
    class_: type[Any] = type_ if isinstance(type_, type) else ctypes.c_int  # a Python function
    if class_ in _CTYPES:
        return CType(_CTYPES[class_])
    if issubclass(class_, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_wchar_p)):
        is_char = issubclass(class_, ctypes.c_char_p)
        return CType(None, is_pointer=True, is_char=is_char)  # NumPy's ndpointer is one
    if issubclass(class_, _C_FUNCTION):
        return CType(None, is_pointer=True, opaque="a function")
    if issubclass(class_, _POINTER):
        to = cast("type[Any]", class_._type_)
        if issubclass(to, (_POINTER, ctypes.c_void_p)):
            return CType(_CTYPES.get(getattr(to, "_type_", None)), is_pointer=True, opaque=POINTER)
        dtype = _CTYPES.get(to)
        named = None if dtype else to.__name__
        return CType(dtype, is_pointer=True, opaque=named, has_const=False)
    raise _not_passed(what, class_.__name__)


def _of_cffi(what: str, type_: Any) -> CType | None:
    """Return the type that cffi calls so; None for void."""
    match type_.kind:
        case "void":
            return None
        case "pointer" | "array":
            item = type_.item
            if item.kind == "void":
                return CType(None, is_pointer=True)
            if item.kind == "pointer":
                return CType(_dtype_of_cffi(item.item), is_pointer=True, opaque=POINTER)
            if item.cname == "char":  # const or not
                return CType(None, is_pointer=True, is_char=True)
            dtype = _dtype_of_cffi(item)
            named = None if dtype else item.cname
            return CType(dtype, is_pointer=True, opaque=named, has_const=False)
        case "function":
            return CType(None, is_pointer=True, opaque="a function")
        case _:
            dtype = _dtype_of_cffi(type_)
            if dtype is None or dtype.startswith("complex"):
                raise _not_passed(what, type_.cname)
            return CType(dtype)


def _dtype_of_cffi(type_: Any) -> str | None:
    """Return the dtype of a number; None for another type, or a number that no dtype is."""
    if type_.kind not in ("enum", "primitive"):
        return None
    if type_.cname in _CFFI:
        return _CFFI[type_.cname]
    try:
        is_signed = int(_ffi().cast(type_, -1)) < 0
    except TypeError:
        return f"complex{8 * _ffi().sizeof(type_)}"
    return f"{'' if is_signed else 'u'}int{8 * _ffi().sizeof(type_)}"


def _not_passed(what: str, type_: str) -> CompileError:
    return CompileError(f"{what} is a {type_}, which no parameter of a signature is")


def _is_cffi(source: object) -> bool:
    return "CData" in f"{type(source).__module__}.{type(source).__name__}"


def _ffi() -> Any:
    return importing.load("cffi").FFI()
