"""Makes the header ``plan.h``, from which the support code in C knows tables and messages.

Numbers are enumerators, named after the Python enum and its member, ``OP_DIM``, or after a check,
``WORDS_CHECK_NDIM``. Texts are in one array and are referred to by their positions, so that nothing
is relocated. A *template* is a text in which a byte below 32 stands for the placeholder
with that number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Final

from ffi_builder import abi
from ffi_builder.diagnosis import table
from ffi_builder.plan import Part, messages, path
from ffi_builder.plan.decode import MOVABLE
from ffi_builder.plan.steps import named_operations, named_words

_ENUMS: Final[tuple[type[IntEnum], ...]] = (
    *(table.Head, table.Source, table.Code, table.Style),
    *(table.Rounding, table.Accepted, Part),
)
_NUMBERS: Final = {
    "NO_INDEX": table.NO_INDEX,
    "LATER": table.LATER,
    "OBJECT_BITS": table.OBJECT_BITS,
    "MOVABLE_TYPES": table.type_mask(MOVABLE),
    "SLOT_SIZE": table.SLOT_SIZE,
    "STACK_DEPTH": table.STACK_DEPTH,
    "SIGNATURE_LIMIT": messages.SIGNATURE_LIMIT,
    "SHOWN_ENTRIES": messages.SHOWN_ENTRIES,
    "LONGEST_TYPE_KEY": messages.LONGEST_TYPE_KEY,
    "LONGEST_NEAREST": messages.LONGEST_NEAREST,
}
PLACEHOLDERS: Final = (
    "expected",
    "got",
    "symbol",
    "origin",
    "text",
    "bindings",
    "path",
    "type",
    "dtype",
    "device",
    "expected_dtype",
    "expected_device",
    "range",
    "shape",
    "strides",
    "address",
    "offset",
    "alignment",
    "subject",
    "argument",
    "signature",
    "wanted",
    "actual",
    "bound",
    "or_none",
    "string",
    "nearest",
    "bytes",
    "other_bytes",
)
"""Every placeholder. Encoded templates refer to it by its position here, plus one."""
_SHOWN: Final = {
    "MEMORY_ERROR": "MemoryError",
    "NO_MEMORY": "There is no memory to say what is wrong with an argument",
    "RUNTIME_ERROR": "RuntimeError",
    "TO": " to ",
    "IN": " in ",
    "COMMA": ", ",
    "ELLIPSIS": "...",
    "BEFORE_ARGUMENT": "..., ",
    "BEHIND_ARGUMENT": ", ...",
    "HEX": "0x",
    "NOT_A_NUMBER": "nan",
    "NO_POINTER": "NULL",
    "NONE": "None",
    "TRUE": "True",
    "FALSE": "False",
    "BIG_INT": "an int beyond 64 bits",
    "DEVICE_TYPE": "device type ",
    "TYPE_INDEX": "type index ",
    "DTYPE_CODE": "dtype(code=",
    "DTYPE_BITS": ", bits=",
    "DTYPE_LANES": ", lanes=",
}
"""Texts from which the C code composes errors."""


def text() -> str:
    """Return the header."""
    return "\n".join(
        [
            "// Made by `make support` from tools/plan_header.py. Do not edit.",
            "",
            "#ifndef FFI_BUILDER_PLAN_H",
            "#define FFI_BUILDER_PLAN_H",
            "",
            "#include <stdint.h>",
            "",
            *_numbers(),
            *_texts(),
            "#endif",
            "",
        ]
    )


# ---- numbers


def _numbers() -> Iterable[str]:
    for names in _ENUMS:
        prefix = names.__name__.upper()
        yield from _enum((f"{prefix}_{name}", int(it)) for name, it in names.__members__.items())
    yield from _operations()
    yield from _enum((f"WORDS_{name}", table.WORDS[it]) for name, it in named_words().items())
    # 0 is the end of a template.
    yield from _enum((f"PUT_{name.upper()}", number) for number, name in enumerate(PLACEHOLDERS, 1))
    yield from _enum(_NUMBERS.items())
    fixed = [abi.FIXED_BITS.get(name, 0) for name in _by_code(abi.DTYPE_CODES)]
    fixed[abi.DTYPE_CODES["bool"]] = 8
    yield "// Bits of the dtypes whose name implies them, by code; 0 for the others."
    yield from _array("uint8_t FIXED_BITS", fixed)


def _operations() -> Iterable[str]:
    """Yield the instructions; that of a check names the class, which declares the operands."""
    checks = named_operations()
    yield "enum {"
    for name, number in table.OPERATIONS.items():
        behind = f" // {checks[name].__name__}" if name in checks else ""
        yield f"  OP_{name} = {number},{behind}"
    yield from ("};", "")


def _enum(members: Iterable[tuple[str, int]]) -> Iterable[str]:
    yield "enum {"
    yield from (f"  {name} = {value}," for name, value in members)
    yield from ("};", "")


def _array(declaration: str, numbers: Iterable[int]) -> Iterable[str]:
    yield f"static const {declaration}[] = {{"
    yield from (f"    {number}," for number in numbers)
    yield from ("};", "")


def _by_code(codes: Mapping[str, int]) -> Sequence[str]:
    names = {code: name for name, code in codes.items()}
    return [names[code] for code in range(len(codes))]


# ---- texts


def template_parts(template: str) -> list[tuple[str, str | None]]:
    """Split ``"at least {expected}!"`` into ``[("at least ", "expected"), ("!", None)]``."""
    pieces = re.split(r"\{(\w+)\}", template)
    names: list[str | None] = [*pieces[1::2], None]
    return list(zip(pieces[0::2], names, strict=True))


def _template(template: str) -> str:
    """Put one character for each placeholder."""
    pieces = (
        words + ("" if name is None else chr(PLACEHOLDERS.index(name) + 1))
        for words, name in template_parts(template)
    )
    return "".join(pieces)


def _texts() -> Iterable[str]:
    """Yield an array with all texts, and the positions of the texts."""
    before, behind = messages.NEAREST.split("{nearest}")
    singles = {
        "FRAME": messages.FRAME,
        "FRAME_WITHOUT_ARGUMENT": messages.FRAME_WITHOUT_ARGUMENT,
        "BINDING": messages.BINDING,
        "PROPERTY": messages.PROPERTY,
        "UNDECIDED": messages.UNDECIDED,
        "OR_NONE": messages.OR_NONE,
        "BEFORE_NEAREST": before,
        "BEHIND_NEAREST": behind,
        "LENGTH_OF": path.LENGTH_OF,
        **_SHOWN,
    }
    names = {
        "TYPE_NAMES": messages.TYPE_NAMES,
        "DTYPE_NAMES": dict(enumerate(_by_code(abi.DTYPE_CODES))),
        "DEVICE_NAMES": {code: device for device, code in abi.DEVICE_TYPES.items()},
        "SUFFIXES": {int(part): suffix for part, suffix in path.SUFFIXES.items()},
    }
    rows = [(row.kind, *map(_template, (row.prefix, row.expected, row.got))) for row in table.WORDS]
    named = {name: _template(it) for name, it in singles.items()}
    for name, numbers in names.items():
        named[name] = "".join(f"{chr(number)}{one}\0" for number, one in numbers.items()) + "\0"
    positions: dict[str, int] = {}
    at = 0
    columns = (one for column in zip(*rows, strict=True) for one in column)
    for one in dict.fromkeys((*columns, *named.values())):
        positions[one] = at
        at += len(one.encode()) + 1
    yield "// Texts and templates of errors, each ending in NUL. Names of numbers are one text: the"
    yield "// number as a byte, the name and NUL, for each."
    yield "static const char TEXTS[] ="
    *others, last = (f"{one}\0" for one in positions)
    yield from (f"    {_literal(one)}" for one in others)
    yield from (f"    {_literal(last)};", "")
    yield "// Where they are."
    yield from _enum((name, positions[one]) for name, one in named.items())
    yield "// Where the texts of an error are: the class, the place's prefix, expected, got."
    yield "typedef struct {"
    yield "  uint8_t kind, prefix;"
    yield "  uint16_t expected, got;"
    yield "} Row;"
    yield ""
    yield "static const Row WORDS[] = {"
    yield from (f"    {{{', '.join(str(positions[one]) for one in row)}}}," for row in rows)
    yield from ("};", "")


def _literal(string: str) -> str:
    """Write a string as a C literal."""
    known = {ord("\\"): "\\\\", ord('"'): '\\"'}
    shown = (
        known.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
        for byte in string.encode()
    )
    return f'"{"".join(shown)}"'
