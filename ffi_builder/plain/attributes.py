"""Attributes of plain modules, and the words of LLVM IR that they stand for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

from ffi_builder.extending import split_at_commas
from ffi_builder.plain.types import Type

if TYPE_CHECKING:
    from typing_extensions import Self


class Attribute:
    """An attribute: a value, or the text of one that was parsed.

    Examples:
        >>> from ffi_builder.plain.attributes import Attribute, StringAttr
        >>> StringAttr.get("relu").value, str(Attribute.parse("#llvm.linkage<weak>"))
        ('relu', '#llvm.linkage<weak>')
    """

    __slots__ = ("value",)
    context: object = None

    def __init__(self, value: Any) -> None:
        self.value = value

    @staticmethod
    def parse(text: str, context: object = None) -> Attribute:
        """Return the attribute of a text, which the operation that gets it will read."""
        return Attribute(text)

    @classmethod
    def get(cls, value: Any, context: Any = None) -> Self:
        """Return the attribute of a value."""
        return cls(value)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.value == self.value  # pyright: ignore

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return str(self.value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"


class FlatSymbolRefAttr(Attribute):
    """The name of a symbol."""

    __slots__ = ()


class TypeAttr(Attribute):
    """A type."""

    __slots__ = ()


class IntegerAttr(Attribute):
    """An integer, kept without its type, which that of the operation repeats."""

    __slots__ = ()

    @classmethod
    def get(cls, value: Type, context: Any = None) -> Self:
        """Return the attribute of a type and an int."""
        return cls(context)


class StringAttr(Attribute):
    """Bytes, which are a str for :attr:`value` where they are UTF-8."""

    __slots__ = ("value_bytes",)

    def __init__(self, value: str | bytes) -> None:
        self.value_bytes = value.encode() if isinstance(value, str) else value
        self.value = value if isinstance(value, str) else value.decode(errors="replace")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StringAttr) and other.value_bytes == self.value_bytes

    def __hash__(self) -> int:
        return hash(self.value_bytes)


class ArrayAttr(Attribute):
    """Attributes or ints in order."""

    __slots__ = ()

    def __init__(self, value: Sequence[Any]) -> None:
        self.value = tuple(value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value)


DenseI32ArrayAttr = DenseI64ArrayAttr = ArrayAttr


# ---- what attributes say

LINKAGES: Final = (
    *("external", "internal", "private", "weak", "linkonce", "linkonce_odr", "weak_odr"),
    *("extern_weak", "available_externally", "common"),
)
_CONVENTIONS: Final = ("ccc", "fastcc", "coldcc", "preserve_mostcc", "preserve_allcc")
_TAIL_CALLS: Final = {"none": "", "tail": "tail ", "notail": "notail ", "musttail": "musttail "}
ORDERINGS: Final = {0: "", 2: "monotonic", 4: "acquire", 5: "release", 6: "acq_rel", 7: "seq_cst"}
FCMP: Final = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
_FLAGS: Final = frozenset(
    (
        *("alwaysinline", "cold", "hot", "inlinehint", "minsize", "mustprogress", "nobuiltin"),
        *("nocallback", "nofree", "noinline", "nomerge", "norecurse", "noreturn", "nosync"),
        *("nounwind", "optnone", "optsize", "returns_twice", "speculatable", "ssp", "sspreq"),
        *("sspstrong", "willreturn"),
    )
)
"""Function attributes of LLVM that have no value. Any other name is one of the author's own."""
_OF_PARAMETERS: Final = frozenset(
    (
        *("immarg", "inreg", "nest", "noalias", "nofree", "nonnull", "noundef", "readnone"),
        *("readonly", "returned", "signext", "writeonly", "zeroext"),
    )
)


def allow(operation: Any, *names: str) -> None:
    """Refuse an operation with other attributes than these."""
    for name in operation.attributes:
        if name not in names:
            raise ValueError(f"the attribute {name!r} is not known to plain modules")


@cache
def _inside(text: str, what: str) -> str:
    match = re.fullmatch(rf"#llvm\.{what}<(\w+)>", text)
    if match is None:
        raise ValueError(f"expected #llvm.{what}<…> but got {text}")
    return match[1]


def _word(attribute: Attribute | None, what: str, known: Collection[str], noun: str) -> str:
    """Return the word of an attribute, which is the first known one if there is none."""
    word = next(iter(known)) if attribute is None else _inside(attribute.value, what)
    if word not in known:
        raise ValueError(f"unknown {noun} {word}")
    return word


def linkage(attribute: Attribute | None) -> str:
    """Return the linkage, ``external`` if there is none."""
    return _word(attribute, "linkage", LINKAGES, "linkage")


def convention(attribute: Attribute | None) -> str:
    """Return the calling convention with a space, or nothing for C's."""
    word = _word(attribute, "cconv", _CONVENTIONS, "calling convention")
    return "" if word == "ccc" else f"{word} "


def tail_call(attribute: Attribute | None) -> str:
    """Return the word before a tail call, with a space."""
    return _TAIL_CALLS[_word(attribute, "tailcallkind", _TAIL_CALLS, "kind of tail call")]


def of_parameters(attribute: Attribute | None, count: int) -> Sequence[str]:
    """Return the attributes of each parameter, each with a space before it."""
    if attribute is None:
        return [""] * count
    texts = _of_parameters(attribute.value)
    if len(texts) != count:
        raise ValueError(f"{len(texts)} attributes of parameters are given for {count}")
    return texts


@cache
def _of_parameters(text: str) -> tuple[str, ...]:
    return tuple(
        "".join(map(_of_parameter, split_at_commas(entry[1:-1])))
        for entry in split_at_commas(text[1:-1])
    )


def _of_parameter(text: str) -> str:
    match = re.fullmatch(r"llvm\.(\w+)(?: = (.*))?", text)
    name, value = (match[1], match[2]) if match else (text, None)
    if match and value is None and name in _OF_PARAMETERS:
        return f" {name}"
    if value is not None and name in ("byval", "sret"):
        return f" {name}({Type.parse(value).llvm})"
    if value is not None and name in ("align", "dereferenceable"):
        number = int(value.partition(" ")[0])
        return f" align {number}" if name == "align" else f" dereferenceable({number})"
    raise ValueError(f"unknown attribute {text!r} of a parameter")


def of_function(attribute: Attribute | None) -> str:
    """Return the attributes of a function, each with a space before it."""
    words: list[str] = []
    for entry in () if attribute is None else attribute.value:
        name, *value = (entry.value,) if isinstance(entry, StringAttr) else map(str, entry.value)
        if value:
            words.append(f" {quoted(name)}={quoted(*value)}")
        else:
            words.append(f" {name}" if name in _FLAGS else f" {quoted(name)}")
    return "".join(words)


_PLAIN: Final = re.compile(r"[A-Za-z$._-][\w$.-]*", re.ASCII)
_ODD: Final = re.compile(rb"[^ !#-\[\]-~]")


def quoted(text: str) -> str:
    """Return a string of LLVM IR."""
    if text.isascii() and text.isprintable():  # the metadata, which is long
        return '"' + text.replace("\\", "\\5C").replace('"', "\\22") + '"'
    escaped = _ODD.sub(lambda match: b"\\%02X" % match[0][0], text.encode())
    return f'"{escaped.decode()}"'


@lru_cache(4096)  # there is no end to the names of functions
def symbol(name: str) -> str:
    """Return a symbol in LLVM IR, quoted if it must be.

    Examples:
        >>> from ffi_builder.plain.attributes import symbol
        >>> symbol("relu"), symbol("relu 2")
        ('@relu', '@"relu 2"')
    """
    return f"@{name if _PLAIN.fullmatch(name) else quoted(name)}"


def visibility(attribute: Attribute | None) -> str:
    """Return the visibility with a space, or nothing for the default."""
    return ("", "hidden ", "protected ")[0 if attribute is None else attribute.value]
