"""Types of functions in C, whatever they were read from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field
from typing import Final

from ffi_builder.extending import LLVM_TYPES, dataclass

_POINTER: Final = "ptr"
HALIDE_BUFFER: Final = "struct halide_buffer_t"
DLTENSOR: Final = "DLTensor"
POINTER: Final = "a pointer"
"""What a pointer to a pointer points to."""


@dataclass(frozen=True)
class CType:
    """The type of a parameter or result."""

    dtype: str | None
    """Of a number its dtype; of a pointer that of what it points to, None if nothing says it."""
    is_pointer: bool = False
    is_const: bool = False
    """Whether the function cannot write to what it points to."""
    has_const: bool = field(default=True, kw_only=True, compare=False)
    """Whether the source of the type says so where it holds; ctypes and cffi do not."""
    opaque: str | None = None
    """What a pointer points to that has no dtype: a struct, another pointer, a function."""
    is_restrict: bool = False
    """Whether the function writes to memory that nothing else reaches, as ``restrict`` says."""
    align: int = 1
    """The bytes that the address is a multiple of, as ``align`` of LLVM IR says."""
    rank: int | None = None
    """The number of dimensions of a ``halide_buffer_t``, if it is known."""
    first: int = 0
    """The size of the array, 3 of ``float x[3][5]``: it has at least so many elements."""
    row: tuple[int | str | None, ...] = ()
    """The sizes of the arrays or vectors to which it points, ``(5,)`` of ``float x[][5]``.

    A text is one that parameters give, as ``m`` of ``float x[n][m]``; None is any size.
    """
    pointee: str | None = None
    """The struct to which it points, or a pointer to which it points; None for anything else.

    A `typedef void CURL` names such a struct, too.
    """
    is_signless: bool = False
    """Whether an integer has either sign, as in LLVM IR."""
    is_char: bool = False
    """Whether it is a ``char *``, which is the address of a text."""
    layout: Layout | None = None
    """The struct to which it points, or that it is, where the fields are known."""
    pieces: tuple[tuple[int, str], ...] = ()
    """Of a struct by value: the offsets and LLVM types of what registers get; else its address."""
    attribute: str = ""
    """The attributes of the address of a struct by value, in MLIR's LLVM dialect."""
    enum: str = field(default="", compare=False)
    """The name in C of the enum that a number is; empty if it is none."""

    def target(self, *, by_address: bool = False, is_made: bool = False) -> str | None:
        """Return what a handle points to that is passed so, or None for anything.

        Kernels take any handle for a ``char *``; one that they have made points to chars alone.
        """
        is_double = self.opaque == POINTER
        if is_double and not by_address:
            return self.pointee and f"{self.pointee} *"
        number = is_made and is_double == by_address
        return self.pointee or (("char" if self.is_char else self.dtype) if number else None)

    @property
    def is_struct(self) -> bool:
        """Whether it is a struct, which is passed by value, and not a pointer to one."""
        return self.layout is not None and not self.is_pointer

    @property
    def is_out(self) -> bool:
        """Whether it is a pointer to numbers, or to one, which the function may write."""
        is_number = self.dtype is not None and self.opaque is None and not self.is_char
        return self.is_pointer and is_number and not (self.is_const or self.row or self.first > 1)

    @property
    def llvm(self) -> str:
        """The type, as in MLIR's LLVM dialect."""
        if self.is_pointer or self.is_struct:
            return _POINTER
        assert self.dtype is not None, "functions have no parameters of type void"
        return llvm_type(self.dtype)

    @property
    def passed_as(self) -> list[str]:
        """The types of the arguments, several for a struct by value."""
        return [text for _, text in self.pieces] or [self.llvm]

    @property
    def to(self) -> str | None:
        """What a pointer points to; None if nothing says it."""
        return self.opaque or self.dtype

    def __str__(self) -> str:
        if not self.is_pointer:
            return f"{self.opaque or self.dtype}"
        rows = "".join(f"{'?' if size is None else size} x " for size in self.row)
        to = f" to {rows}{self.to}" if self.to else ""
        if self.opaque == HALIDE_BUFFER and self.dtype:
            to += f" of rank {self.rank} and {self.dtype}"
        return f"a {'const ' if self.is_const else ''}pointer{to}"


@dataclass(frozen=True)
class Member:
    """A field of a struct; one in a struct or array inside of it has a name such as ``a.b[0]``.

    ``lacks`` says what it is if no entry of ``args=`` can be it, such as a bit field.
    """

    name: str
    type_: CType
    offset: int
    lacks: str = ""
    is_shared: bool = False
    """Whether others may be in the same memory, as it is in a union."""


@dataclass(frozen=True)
class Layout:
    """What a struct has in memory: fields at their offsets, and its size and alignment in bytes."""

    name: str
    members: tuple[Member, ...]
    size: int
    align: int


def llvm_type(dtype: str) -> str:
    """Return the type of a number in MLIR's LLVM dialect."""
    return LLVM_TYPES.get(dtype, dtype)


@dataclass(frozen=True)
class Prototype:
    """The parameters of a function by name, where they have one, and its result."""

    name: str
    params: tuple[tuple[str, CType], ...]
    result: CType | None
    hidden: tuple[tuple[CType, int | None], ...] = ()
    """Parameters behind the others, and what each always gets, as Cython's functions have them."""

    def declaration(self) -> tuple[str, str, list[str]]:
        """Return what :meth:`~ffi_builder.ir.PlainModule.declare` takes."""
        types = [*(type_ for _, type_ in self.params), *(type_ for type_, _ in self.hidden)]
        passed = [text for type_ in types for text in type_.passed_as]
        if self.result is None or not self.result.is_struct:
            return self.name, "void" if self.result is None else self.result.llvm, passed
        match self.result.passed_as:
            case [text] if self.result.pieces:
                return self.name, text, passed
            case [address] if not self.result.pieces:
                return self.name, "void", [address, *passed]
            case several:
                return self.name, f"struct<({', '.join(several)})>", passed


def added_to_args(
    prototype: Prototype, lacking: Sequence[str], unused: Sequence[str], results: Sequence[str]
) -> str:
    """Return the names of parameters that get nothing yet, and how ``args=`` gives them it.

    ``unused`` has what the signature may call them, ``results`` what it says of its results.
    """
    shown = ", ".join(name or "one without a name" for name in lacking)
    has_pointer = any(type_.is_pointer for name, type_ in prototype.params if name in lacking)
    null = "; None passes NULL" if has_pointer else ""
    written = {
        name: f"{name}: {type_.dtype}"
        for name, type_ in prototype.params
        if name in lacking and type_.is_out and not unused
    }
    made, each = ", ".join([*results, *written.values()]), "each of " * (len(written) > 1)
    declared = f"({made})" if len(results) + len(written) > 1 else made
    to = f"{each}{', '.join(written)}"
    cure = f"if the kernel writes one number to {to}, declare `-> {declared}`; else "
    cure = cure if written else ""
    if all(lacking):
        is_one = len(lacking) == len(unused) == 1
        entry = repr(unused[0]) if is_one else "…"
        others = ", ".join(f"`{name}`" for name in unused)
        go = "goes nowhere: did you mean that?" if len(unused) == 1 else "go nowhere"
        return (
            f"{shown}; {cure}add them to the signature, or to args=, as in "
            f"args={{{lacking[0]!r}: {entry}}}{null}"
            f"{f'; {others} of the signature {go}' if unused else ''}"
        )
    return (
        f"{shown}; name them all in prototype=, in a declaration of your own behind the #include, "
        f"or list what each parameter gets, args=[…]{null}"
    )


def first_of(names: Collection[str]) -> str:
    """Return the first names, for an error; those that C++ and Rust mangle only if all are."""
    plain = [name for name in names if not name.startswith(("_Z", "_R"))]
    shown = (plain or [*names])[:8]
    return ", ".join([*shown, *["…"] * (len(shown) < len(names))])


def mangled_hint(name: str) -> str:
    """Return how to wrap a function whose name C++ has mangled."""
    return (
        f'declare it extern "C", or give the mangled name in the prototype, too, as in '
        f'prototype="int {name}(…)"'
    )
