"""Capsules, as Cython makes them: the function in one, and the types that its name says."""

from __future__ import annotations

import ctypes
import re
from typing import Final

from ffi_builder import BuildError, CompileError
from ffi_builder.extending import split_at_commas
from ffi_builder.wrapping.c_types import CType, Prototype
from ffi_builder.wrapping.prototype import Header

_FUNCTION: Final = r"\s*([^()]+?)\s*\((.*)\)\s*"
"""A type of C, as ``double (double, int)``: its result and its parameters."""
_HIDDEN: Final[dict[str, tuple[CType, int | None]]] = {
    "__pyx_skip_dispatch": (CType("int32"), 0),
    "__pyx_optional_args": (CType(None, is_pointer=True), None),
}
"""Parameters that Cython adds behind those of a ``cpdef`` function, and what calls pass."""
_API: Final = ctypes.pythonapi
_NAME: Final = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", _API))
_POINTER: Final = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _API)
)


def is_capsule(source: object) -> bool:
    """Return whether an object is a capsule, whose class has no public name."""
    return f"{type(source).__module__}.{type(source).__name__}" == "builtins.PyCapsule"


def address_in(capsule: object) -> int:
    """Return the address that a capsule contains."""
    return int(_POINTER(capsule, _NAME(capsule)))


def declared_in(capsule: object, function: str, given: Prototype | None) -> Prototype | None:
    """Return the types of a function in a capsule; None if its name says none.

    Cython names a capsule after the type of its function. Words that are not C's, as
    ``__pyx_t_4math_real``, stand for what the prototype has in their place; of these types, only
    whether they are pointers is known.

    Args:
        capsule: the capsule.
        function: the name of the function, for errors.
        given: the prototype that the user gave.

    Raises:
        BuildError: a type has words that are not C's, and there is no prototype; the prototype has
            another number of parameters, or a pointer in place of what is none.
    """
    text = (_NAME(capsule) or b"").decode(errors="replace")
    match = re.fullmatch(_FUNCTION, text, re.DOTALL)
    if match is None:
        return None
    every = [each for each in split_at_commas(match[2]) if each != "void"]
    hidden = [_HIDDEN[word] for each in every if (word := re.split(r"\W+", each)[-1]) in _HIDDEN]
    own = every[: len(every) - len(hidden)]
    said = [None] * len(every) if given is None else [type_ for _, type_ in given.params]
    what = f"{function}: prototype= has {{}}, but its capsule is a `{text}`"
    if given is None:
        what = (
            f"wrap: the capsule of `{function}` is a `{text}`, of which `{{}}` is no type of C: "
            f'give prototype="… {function}(…)" with the types of C'
        )
    elif len(said) != len(own):
        some = f", of which {len(hidden)} are passed by themselves" if hidden else ""
        raise BuildError(f"{what.format(f'{len(said)} parameters')}{some}")
    params = [_read(each, type_, what) for each, type_ in zip(own, said, strict=False)]
    returned = None if given is None else given.result or "void"
    result = None if match[1] == "void" else _read(match[1], returned, what)[1]
    return Prototype(function, tuple(params), result, tuple(hidden))


def _read(text: str, said: CType | str | None, what: str) -> tuple[str, CType]:
    """Return the name and the type of a parameter, or the type that a prototype says."""
    try:
        return Header(f"void f({text})").read("f", "f").params[0]
    except CompileError:
        if isinstance(said, CType) and said.is_pointer == ("*" in text):
            return "", said
        raise BuildError(what.format(text if said is None else f"{said} for `{text}`")) from None
