"""Types of plain modules: one object for each type, with its text in MLIR and in LLVM IR."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ffi_builder import BuildError
from ffi_builder.extending import aggregate_members, split_function_type

_FLOATS: Final = {"f16": ("half", 16), "bf16": ("bfloat", 16), "f32": ("float", 32)} | {
    "f64": ("double", 64)
}
_WIDEST: Final = 1 << 23
"""The most bits of an integer in LLVM."""
_WORD: Final = re.compile(r"(?:!llvm\.)?(ptr|void)(?:<(\d{1,8})>)?")
_INTEGER: Final = re.compile(r"i([1-9]\d{0,7})")
_ARRAY: Final = re.compile(r"(?:!llvm\.)?array<(\d{1,18}) x (.*)>", re.DOTALL)
_STRUCT: Final = re.compile(r"(?:!llvm\.)?struct<(?:packed )?\(.*\)>", re.DOTALL)
_FUNCTION: Final = re.compile(r"!llvm\.func<.*>", re.DOTALL)


class Type:
    """A type. Equal types are one object.

    Examples:
        >>> from ffi_builder.plain.types import Type
        >>> type_ = Type.parse("!llvm.struct<(!llvm.ptr, i64)>")
        >>> print(type_, "is", type_.llvm)
        !llvm.struct<(ptr, i64)> is { ptr, i64 }
    """

    __slots__ = ("bits", "kind", "llvm", "members", "text")

    context: object = None
    """Types belong to no context: it is that of any module."""

    def __init__(
        self, text: str, llvm: str, kind: str, bits: int = 0, members: tuple[Type, ...] = ()
    ) -> None:
        self.text, self.llvm = text, llvm
        self.kind = kind
        """``int``, ``float``, ``ptr``, ``void``, ``struct``, ``array`` or ``func``."""
        self.bits = bits
        """The width of a number, the address space of a pointer, the length of an array, or 1 for a
        function that is variadic."""
        self.members = members
        """Of a struct or array; of a function its result and parameters."""

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Type({self.text})"

    @staticmethod
    def parse(text: str, context: object = None) -> Type:
        """Return the type of a text.

        Raises:
            ValueError: the text is not a type, or one that plain modules do not have.
        """
        known = _known.get(text)
        if known is None:
            made = _read(text)
            known = _known[text] = _known.setdefault(made.text, made)
        return known

    def member(self, index: int) -> Type:
        """Return the type of a member of a struct or array.

        Raises:
            ValueError: there is no such member.
        """
        count = self.bits if self.kind == "array" else len(self.members)
        if self.kind not in ("array", "struct") or not 0 <= index < count:
            raise ValueError(f"{self} has no member {index}")
        return self.members[0 if self.kind == "array" else index]


_known: Final[dict[str, Type]] = {}


def _read(text: str) -> Type:
    if text in _FLOATS:
        return Type(text, _FLOATS[text][0], "float", _FLOATS[text][1])
    integer = _INTEGER.fullmatch(text)
    if integer is not None and int(integer[1]) <= _WIDEST:
        return Type(text, text, "int", int(integer[1]))
    word = _WORD.fullmatch(text)
    if word is not None:
        return _pointer_or_void(word[1], int(word[2] or 0))
    array = _ARRAY.fullmatch(text)
    if array is not None:
        inner = Type.parse(array[2])
        short = f"array<{array[1]} x {_short(inner)}>"
        return Type(
            f"!llvm.{short}", f"[{array[1]} x {inner.llvm}]", "array", int(array[1]), (inner,)
        )
    if _STRUCT.fullmatch(text):
        return _struct(text if text.startswith("!") else f"!llvm.{text}")
    if _FUNCTION.fullmatch(text):
        result, parameters = split_function_type(text)
        fixed = [Type.parse(each) for each in parameters if each != "..."]
        return function_type(Type.parse(result), fixed, variadic=len(fixed) < len(parameters))
    raise ValueError(
        "expected iN, f16, bf16, f32, f64, or ptr, struct<…>, array<…> or func<…> of the LLVM "
        "dialect"
    )


def _pointer_or_void(word: str, space: int) -> Type:
    if word == "void":
        return Type("!llvm.void", "void", "void")
    shown, place = (f"<{space}>", f" addrspace({space})") if space else ("", "")
    return Type(f"!llvm.ptr{shown}", f"ptr{place}", "ptr", space)


def _struct(text: str) -> Type:
    members = tuple(map(Type.parse, aggregate_members(text) or ()))
    packed = text.startswith("!llvm.struct<packed")
    words = ", ".join(map(_short, members))
    inner = ", ".join(member.llvm for member in members)
    inner = f"{{ {inner} }}" if inner else "{}"
    return Type(
        f"!llvm.struct<{'packed ' if packed else ''}({words})>",
        f"<{inner}>" if packed else inner,
        "struct",
        members=members,
    )


def _short(type_: Type) -> str:
    return type_.text.removeprefix("!llvm.")


def function_type(result: Type, parameters: Sequence[Type], *, variadic: bool = False) -> Type:
    """Return the type of functions with this result and these parameters."""
    short = [*map(_short, parameters), *(["..."] if variadic else [])]
    inner = [*(each.llvm for each in parameters), *(["..."] if variadic else [])]
    made = Type(
        f"!llvm.func<{_short(result)} ({', '.join(short)})>",
        f"{result.llvm} ({', '.join(inner)})",
        "func",
        int(variadic),
        (result, *parameters),
    )
    return _known.setdefault(made.text, made)


def given_type(what: str, given: object) -> Type:
    """Return the type that an author has written, such as ``"ptr"``.

    Raises:
        BuildError: it is not the text of a type.
    """
    if isinstance(given, Type):
        return given
    if not isinstance(given, str):
        raise BuildError(f"{what}: expected the text of a type, such as 'ptr', but got {given!r}")
    try:
        return Type.parse(given)
    except ValueError as error:
        raise BuildError(f"{what}: {given!r} is not a type: {error}") from None
