"""The support functions as assembly text, for modules that have to contain them.

The text is for LLVM's assembler. It consists of bytes and relocations instead of instructions, and
is equivalent to the objects.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache
from typing import Final

from ffi_builder.support.sections import Part, Relocation, parts_of

_RELOCATIONS: Final = {
    "x86_64": {
        1: "R_X86_64_64",
        2: "R_X86_64_PC32",
        4: "R_X86_64_PLT32",
        9: "R_X86_64_GOTPCREL",
        41: "R_X86_64_GOTPCRELX",
        42: "R_X86_64_REX_GOTPCRELX",
    },
    "aarch64": {
        257: "R_AARCH64_ABS64",
        261: "R_AARCH64_PREL32",
        275: "R_AARCH64_ADR_PREL_PG_HI21",
        277: "R_AARCH64_ADD_ABS_LO12_NC",
        278: "R_AARCH64_LDST8_ABS_LO12_NC",
        282: "R_AARCH64_JUMP26",
        283: "R_AARCH64_CALL26",
        284: "R_AARCH64_LDST16_ABS_LO12_NC",
        285: "R_AARCH64_LDST32_ABS_LO12_NC",
        286: "R_AARCH64_LDST64_ABS_LO12_NC",
        299: "R_AARCH64_LDST128_ABS_LO12_NC",
        311: "R_AARCH64_ADR_GOT_PAGE",
        312: "R_AARCH64_LD64_GOT_LO12_NC",
    },
}
"""Names of the relocations that clang uses in these objects, by number."""


@cache
def assembly(machine: str, names: tuple[str, ...]) -> str:
    """Return text that defines these functions and all support functions that they call.

    The symbols are local to the object that the text becomes part of.

    Args:
        machine: one of ``support.MACHINES``.
        names: the symbols, as :func:`ffi_builder.support.symbol` returns them.
    """
    lines = [line for part in parts_of(machine, names) for line in _lines(machine, part)]
    return "".join(f"{line}\n" for line in lines)


def _lines(machine: str, part: Part) -> Iterator[str]:
    name, flags = (".text.ffi_builder", "ax") if part.is_code else (".rodata.ffi_builder", "a")
    label = _label(part.name)
    # Another wrapper of the module may have defined the section already.
    yield f".ifndef {label}"
    yield f'.pushsection {name},"{flags}",@progbits'
    yield f".p2align {part.align.bit_length() - 1}"
    yield f"{label}:"
    whole = len(part.content) // 8 * 8
    for at in range(0, whole, 64):
        words = struct.iter_unpack("<Q", part.content[at : min(at + 64, whole)])
        yield ".quad " + ",".join(f"{word:#x}" for (word,) in words)
    if part.content[whole:]:
        yield ".byte " + ",".join(map(str, part.content[whole:]))
    for relocation in part.relocations:
        kind = _RELOCATIONS[machine][relocation.kind]
        yield f".reloc {label}+{relocation.offset},{kind},{_target(relocation)}"
    for symbol in part.functions:
        yield f".type {symbol.name},@function"
        yield f".set {symbol.name},{label}+{symbol.value}"
        yield f".size {symbol.name},{symbol.size}"
    yield ".popsection"
    yield ".endif"


def _target(relocation: Relocation) -> str:
    target, addend = relocation.target, relocation.addend
    if target.section:
        return f"{_label(target.section)}{target.value + addend:+d}"
    return f"{target.name}{addend:+d}"


def _label(part: str) -> str:
    return f".Lffi_builder_{part}"
