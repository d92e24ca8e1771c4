"""The syntax of the tables in :mod:`ffi_builder.ptx.forms`: which instructions there are.

A form is ``form("add[.sat].<u32|s32>  =$1 $1 $1", "add_u32")``: the opcode, its operands, and the
function ``OP(add_u32)`` in C that executes it. In an opcode, ``[.a|.b]`` is one of these or
nothing, ``[.a|.b]*`` any of them in any order, and ``<a|b>`` one of them, which ``$1`` stands for
(``$2`` the second) in operands and in the function's name. An operand is

========== ======================================================================================
``u32``    a register, number or special register of this size; ``u32+``: or a larger register
``=u32``   a register that is written; ``_`` is taken too
``=u32|``  the same, and perhaps a predicate behind ``|``: two operands for C
``pred``   a predicate; ``!pred``: which may be negated
``@``      ``[address]``: two operands for C, see ``ADDRESS``
``@*3``    ``[map, {a, b, c}]``: as ``@``, and then three registers of 32 bits
``=u32*4`` ``{a, b, c, d}``, each of them written; ``u32*4``: read. With ``*v``, as ``.v2`` says
           (``u32*8/2``: half as many, ``u32*8*2``: twice as many)
``#``      a number, as C gets it
``b64?``   may be left out, at the end only: row 0 for C
``_``      nothing in PTX; row 0 for C, as ``_`` is
``label``  where to branch
========== ======================================================================================

Modifiers of :data:`FIELDS` become fields of the instruction in C. ``size`` and ``sign`` are those
of the last type in the opcode, ``dsize`` is the size of the first register, and ``count`` that of
``.v2`` or of the first vector. ``extra`` has bytes of the form's own: a number, ``"#1"`` (the place
of ``$1`` among its alternatives, from 0 on), ``"size 1"`` or ``"sign 1"`` (of ``$1`` as a type).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ffi_builder.ptx.text import SIZES

SPACES: Final = {
    "global": 1,
    "shared": 2,
    "shared::cta": 2,
    "local": 3,
    "const": 4,
    "param": 5,
    "param::entry": 5,
    "param::func": 5,
    "shared::cluster": 6,
}
_ROUNDS: Final = {"rn": 0, "rz": 1, "rm": 2, "rp": 3, "rna": 4, "rs": 5}
_COMPARES: Final = (
    *(("eq",), ("ne",), ("lt", "lo"), ("le", "ls"), ("gt", "hi"), ("ge", "hs")),
    *(("equ",), ("neu",), ("ltu",), ("leu",), ("gtu",), ("geu",), ("num",), ("nan",)),
)
_FLAGS: Final = {
    "ftz": 1,
    "sat": 2,
    "relu": 4,
    "NaN": 8,
    "xorsign": 16,
    "satfinite": 32,
    "approx": 64,
    "hi": 128,
}
FIELDS: Final[dict[str, tuple[str, int]]] = {
    **{name: ("space", number) for name, number in SPACES.items()},
    **{name: ("round", number) for name, number in _ROUNDS.items()},
    **{f"{name}i": ("round", number) for name, number in _ROUNDS.items()},
    **{name: ("compare", at) for at, names in enumerate(_COMPARES) for name in names},
    **{name: ("combine", at) for at, name in enumerate(("and", "or", "xor"), 1)},
    **{f"v{count}": ("count", count) for count in (2, 4, 8)},
}
"""What modifiers mean in C: a field of the instruction, and its value."""


@dataclass(frozen=True, slots=True)
class Operand:
    """What a form expects at one place."""

    kind: str
    """``register``, ``written``, ``pair``, ``address``, ``number``, ``label`` or ``absent``."""
    type: str = ""
    count: int = 0
    """Elements in braces; 0: no braces; -1: as the vector of the opcode says."""
    wider: bool = False
    negated: bool = False
    optional: bool = False

    def takes(self, text: str) -> bool:
        """Whether the text looks like one."""
        first = text[0]
        if self.kind == "address":
            return first == "[" and ("{" in text) == (self.count > 0)
        if self.count > 1 and first == "{":
            return text.count(",") + 1 == self.count
        return (first == "{") == (self.count > 1) or self.count in (-1, 1)


@dataclass(frozen=True, slots=True)
class Form:
    """A row of a table."""

    text: str
    handler: str
    extra: tuple[int | str, ...]
    opcode: re.Pattern[str]
    alternatives: tuple[tuple[str, ...], ...]
    operands: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """What the opcode may begin with, up to its first modifier."""
        if self.text[0] == "<":
            return self.alternatives[0]
        return (re.split(r"[.\[ ]", self.text, maxsplit=1)[0],)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A form, with all that an opcode says."""

    handler: str
    operands: tuple[Operand, ...]
    fields: dict[str, int]
    extra: bytes

    def takes(self, given: list[str]) -> bool:
        """Whether operands look like those of this form."""
        expected = [each for each in self.operands if each.kind != "absent"]
        least = sum(not each.optional for each in expected)
        return least <= len(given) <= len(expected) and all(
            operand.takes(text) for operand, text in zip(expected, given, strict=False)
        )


def form(text: str, handler: str, *extra: int | str) -> Form:
    """Make a row of a table; the module says how it is written."""
    opcode, *operands = text.split()
    pattern, alternatives = "", list[tuple[str, ...]]()
    for part in re.findall(r"\[[^\]]*\]\*?|<[^>]*>|[^\[<]+", opcode):
        if part[0] == "[":
            many = part.endswith("*")
            inside = "|".join(map(re.escape, part.strip("[]*").split("|")))
            pattern += f"(?:{inside}){'*' if many else '?'}"
        elif part[0] == "<":
            words = tuple(part[1:-1].split("|"))
            alternatives.append(words)
            pattern += f"({'|'.join(map(re.escape, words))})"
        else:
            pattern += re.escape(part)
    return Form(text, handler, extra, re.compile(pattern), tuple(alternatives), tuple(operands))


def decoded(row: Form, opcode: str) -> Decoded | None:
    """Return what an opcode means by this form; None: it is another one."""
    match = row.opcode.fullmatch(opcode)
    if match is None:
        return None
    chosen = match.groups()

    def filled(text: str) -> str:
        return re.sub(r"\$(\d)", lambda number: chosen[int(number[1]) - 1], text)

    words = opcode.split(".")[1:]
    types = [word for word in words if word in SIZES]
    fields = dict(FIELDS[word] for word in words if word in FIELDS)
    flags = 0
    for word in words:
        flags |= _FLAGS.get(word, 0)
    fields["flags"] = flags
    fields["size"] = SIZES[types[-1]] if types else 0
    fields["sign"] = int(bool(types) and types[-1][0] == "s")
    operands = tuple(_operand(filled(each), fields.get("count", 1)) for each in row.operands)
    vectors = (each.count for each in operands if each.count)
    fields.setdefault("count", next(vectors, 1))
    extra = bytes(_extra(each, chosen, row.alternatives) for each in row.extra)
    return Decoded(filled(row.handler), operands, fields, extra)


def _extra(each: int | str, chosen: tuple[str, ...], among: tuple[tuple[str, ...], ...]) -> int:
    if isinstance(each, int):
        return each
    kind, number = (each[0], each[1:]) if each[0] == "#" else each.split()
    at = int(number) - 1
    if kind == "#":
        return among[at].index(chosen[at])
    return SIZES[chosen[at]] if kind == "size" else int(chosen[at][0] == "s")


_OPERAND: Final = re.compile(r"(=?)(!?)(\w+)(\+?)(?:\*(\w+)(?:([/*])(\d+))?)?(\|?)(\??)")


def _operand(text: str, vector: int) -> Operand:
    if text == "_":
        return Operand("absent")
    if text[0] == "@":
        return Operand("address", count=int(text[2:] or 0))
    if text == "#":
        return Operand("number")
    if text == "label":
        return Operand("label")
    match = _OPERAND.fullmatch(text)
    assert match is not None, text
    assert match[3] in SIZES, text
    count = 0 if match[5] is None else vector if match[5] == "v" else int(match[5])
    by = int(match[7] or 1)
    count = count // by if match[6] == "/" else count * by
    kind = "pair" if match[8] else "written" if match[1] else "register"
    return Operand(kind, match[3], count, bool(match[4]), bool(match[2]), bool(match[9]))
