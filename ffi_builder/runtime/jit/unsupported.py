"""Tells what the JIT cannot load, before it tries: it would write to stderr, crash or go wrong."""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from typing import Final

from ffi_builder.errors import LinkError
from ffi_builder.records import dataclass
from ffi_builder.runtime.files.object_files import (
    ObjectFile,
    Reach,
    Relocation,
    relocated,
    source_file,
)
from ffi_builder.runtime.files.oddities import Oddity
from ffi_builder.runtime.jit.origins import listed

# GCC adds this symbol to objects compiled with `-flto` and without `-ffat-lto-objects`.
_LTO_ONLY: Final = "__gnu_lto_slim"

EXECUTABLE_STACK: Final = (
    "asks for an executable stack, as nested functions of C and Fortran do that are passed as "
    "pointers: compile it with -ftrampoline-impl=heap (GCC 14), or pass what they use as "
    'arguments; in assembly, write .section .note.GNU-stack,"",@progbits'
)


class UnsupportedError(LinkError):
    """The JIT cannot load an object that the system's linker may know."""

    def __init__(self, words: str, data: bytes) -> None:
        super().__init__(words)
        self.data = data
        """The object."""


def check_refused(file: ObjectFile) -> None:
    """Raise LinkError for an object that goes into no library either."""
    if Oddity.STACK in file.oddities:
        raise LinkError(f"{_the_object(file)} {EXECUTABLE_STACK}")
    # Linkers do not refuse all of them, and the variables would be those of the executable.
    if any(each.type in _LOCAL_EXEC for each in file.relocations):
        names = relocated(file.data, _LOCAL_EXEC, file.machine)
        raise LinkError(
            f"{_the_object(file)} uses, for {listed(names)}, thread-local variables as executables "
            f"do: {_PIC} and no -ftls-model"
        )


def check_code(file: ObjectFile) -> None:
    """Raise UnsupportedError for an object that GCC made only for link-time optimisation."""
    if any(symbol.name == _LTO_ONLY for symbol in file.symbols):
        words = (
            f"{_the_object(file)} has no code, only what GCC needs for link-time "
            f"optimisation: compile it without -flto, or with -ffat-lto-objects"
        )
        raise UnsupportedError(words, file.data)


_OF_SECTION: Final = re.compile("__(start|stop)_(.+)")


def is_of_linker(symbol: str) -> bool:
    """Return whether only a linker defines a symbol: the ends of a section, or with a version."""
    return bool(_OF_SECTION.match(symbol)) or "@" in symbol or symbol == "_TLS_MODULE_BASE_"


def check_supported(files: Sequence[ObjectFile]) -> None:
    """Raise UnsupportedError for an object that the JIT cannot load beside the others."""
    seen = Counter(s.name for file in files for s in file.symbols if s.thread_local)
    sections = frozenset[str]().union(*(file.sections for file in files))
    for file in files:
        for words in _reasons(file, seen, sections):
            raise UnsupportedError(f"{_the_object(file)} {words}", file.data)


def _reasons(file: ObjectFile, seen: Mapping[str, int], sections: Collection[str]) -> Iterator[str]:
    """Yield what the JIT does not know of an object.

    `seen` counts the objects that name a thread-local variable; `sections` are those of all.
    """
    refusal = unsupported_relocation(file.relocations)
    if refusal is not None:
        yield f"uses, for {listed(relocated(file.data, refusal.types))}, {refusal.words}"
    for oddity, words in _ODDITIES.items():
        if oddity in file.oddities:
            yield f"has {words}: {listed(file.oddities[oddity])}"
    variables = (s for s in file.symbols if s.thread_local)
    shared = [s.name for s in variables if seen[s.name] > 1 or not s.defined]
    if shared:
        yield (
            f"shares thread-local variables with others, of which each would have its own in the "
            f"JIT: {listed(shared)}; use them in one object alone{_TLS_EXPORT}"
        )
    undefined = (s for s in file.symbols if not s.defined and is_of_linker(s.name))
    for_linker = [s.name for s in undefined if not (s.weak and _is_null(s.name, sections))]
    if for_linker:
        yield f"needs what only a linker defines: {listed(for_linker)}"


def _is_null(symbol: str, sections: Collection[str]) -> bool:
    """Return whether a symbol is of a section that no object has."""
    match = _OF_SECTION.match(symbol)
    return match is not None and match[2] not in sections


def _the_object(file: ObjectFile) -> str:
    name = source_file(file.data, file.machine)
    return "An object" if name is None else f"The object of `{name}`"


_ODDITIES: Final = {
    Oddity.INDIRECT: "indirect functions (`ifunc`), which the JIT does not know",
    Oddity.ABSOLUTE: "absolute symbols, which the JIT does not know",
    Oddity.INTERNAL: "symbols of internal visibility, which the JIT does not know",
    Oddity.STARTING: "sections whose code the JIT does not run",
    Oddity.RELOCATING: "relocations of a kind that the JIT does not know",
}


# ---- relocations

_TLS_MODEL: Final = "a thread-local model that the JIT does not know: "
_PIC: Final = "compile it with -fPIC"
# TPOFF64 and TPOFF32 of x86-64, TLSLE of AArch64
_LOCAL_EXEC: Final = frozenset({18, 23, *range(544, 560), 570, 571})
_TLS_EXPORT: Final = "; or write a shared library with export_library, whose linker knows them"


@dataclass(frozen=True)
class _Refusal:
    """Relocations that are refused."""

    types: frozenset[int]
    words: str
    """Text after "The object uses"."""
    reach: Reach = Reach.SECTION
    """The nearest symbols that are refused. Those farther away are refused, too."""


# NONE, 64, PC32, PLT32, GOTPCREL, 32, 32S, 16, PC16, 8, PC8, TLSGD, PC64, GOTOFF64, GOTPC32, GOT64,
# GOTPCREL64, GOTPC64, SIZE32, SIZE64, GOTPCRELX, REX_GOTPCRELX
_X86_64_KNOWN: Final = frozenset(
    {0, 1, 2, 4, 9, 10, 11, 12, 13, 14, 15, 19, 24, 25, 26, 27, 28, 29, 32, 33, 41, 42}
)
# ABS64, PREL64, PREL32, MOVW_UABS_G0_NC to G3, LD_PREL_LO19, ADR_PREL_LO21, ADR_PREL_PG_HI21,
# ADD_ABS_LO12_NC, LDST…_ABS_LO12_NC, TSTBR14, CONDBR19, JUMP26, CALL26, ADR_GOT_PAGE,
# LD64_GOT_LO12_NC, LD64_GOTPAGE_LO15, TLSDESC_ADR_PAGE21 to TLSDESC_ADD_LO12, TLSDESC_CALL
_AARCH64_KNOWN: Final = frozenset(
    {
        *(257, 260, 261, 264, 266, 268, 269, 273, 274, 275, 277, 278, 279, 280, 282, 283),
        *(284, 285, 286, 299, 311, 312, 313, 562, 563, 564, 569),
    }
)

_REFUSALS: Final = {
    "x86_64": (
        _Refusal(
            # TLSLD, DTPOFF32, GOTTPOFF, TPOFF32, GOTPC32_TLSDESC and what goes with it
            frozenset({20, 21, 22, 23, 34, 35, 36, 44, 45, 50}),
            f"{_TLS_MODEL}thread-local variables must be neither static nor hidden, and compiled "
            f"with -fPIC and no other -ftls-model or -mtls-dialect{_TLS_EXPORT}",
        ),
        _Refusal(
            frozenset({41, 42}),  # which the JIT turns into calls that some CPUs cut to 16 bits
            f"{_TLS_MODEL}compile it without -fno-plt{_TLS_EXPORT}",
            Reach.THREAD,
        ),
        _Refusal(frozenset({10, 11}), f"absolute 32-bit addresses: {_PIC}"),  # 32, 32S
        _Refusal(
            frozenset(range(256)) - _X86_64_KNOWN,
            f"relocations that the JIT does not know: {_PIC} and no -mcmodel or -mapxf",
        ),
    ),
    "aarch64": (
        _Refusal(
            # TLSGD, TLSLD, TLSIE, TLSLE, and TLSDESC of the tiny and the large code model
            frozenset({*range(512, 562), *range(565, 569)}),
            f"{_TLS_MODEL}{_PIC} and no other -ftls-model, -mtls-dialect or -mcmodel{_TLS_EXPORT}",
        ),
        _Refusal(
            # LD_PREL_LO19, ADR_PREL_LO21, TSTBR14, CONDBR19: within 1 MiB
            frozenset({273, 274, 279, 280}),
            "addresses near its own that the JIT may put far away: compile it without "
            "-mcmodel=tiny; in assembly, use adrp and b for other sections",
            Reach.OBJECT,
        ),
        _Refusal(
            # PREL32, ADR_PREL_PG_HI21: within 2 and 4 GiB
            frozenset({261, 275}),
            f"the distance to what another object or the process defines: {_PIC}",
            Reach.ELSEWHERE,
        ),
        _Refusal(
            frozenset(range(257, 1024)) - _AARCH64_KNOWN,
            f"relocations that the JIT does not know: {_PIC} and no -mcmodel",
        ),
    ),
}


def unsupported_relocation(
    relocations: Set[Relocation], machine: str | None = None
) -> _Refusal | None:
    """Return what an object with these relocations uses that the JIT cannot link, if anything.

    `machine` is `x86_64` or `aarch64`, by default this one's.
    """
    for refusal in _REFUSALS.get(machine or platform.machine(), ()):
        if any(each.type in refusal.types and each.reach >= refusal.reach for each in relocations):
            return refusal
    return None
