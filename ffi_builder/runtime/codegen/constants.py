"""LLVM IR without the values of its large constants, which stay bytes.

As text, 16 million floats take LLVM 20 seconds and gigabytes. So the text only declares a large
constant, LLVM compiles that, and the object gets a section with the bytes::

    @w = internal constant [1048576 x float] [float 1.000000e+00, …], align 4
    ─►  @w = external dso_local constant [1048576 x float], align 64

LLVM does not fold loads from it, and reaches it as it reaches a constant of the same object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from ffi_builder.runtime.codegen import arrays, floats
from ffi_builder.runtime.elf import Constant

SMALLEST: Final = 4096
"""Bytes of the smallest constant that is kept apart: LLVM folds loads from smaller ones."""
ALIGN: Final = 64
"""Bytes: at least this alignment lets vector code load whole cache lines."""
NAME: Final = r"[A-Za-z$._-][\w$.-]*"
"""A name that LLVM IR, assembly and objects write alike."""

_DECLARED: Final = (
    rf"(?am)^@({NAME}) = external (?:dso_local )?((?:local_)?(?:unnamed_addr )?)"
    r"(?:constant|global) [^\n]*, align \d+([^\n]*)$"
)
_DEFINED: Final = (
    rf"(?a)@({NAME}) = (private |internal )?(dso_local )?((?:local_)?unnamed_addr )?"
    r"(constant|global) (\[[^\"]*?\]) (?=\[|c\")"
)
_AFTER: Final = r"(?:, align (\d+))?((?:, ![^\n]*)?)\s*"
_LONGEST_END: Final = 1000
_PER_LINE: Final = 1024


class LlvmIr(NamedTuple):
    """LLVM IR text, and the constants that it only declares."""

    text: str
    constants: Mapping[str, Constant] = MappingProxyType({})

    def complete(self) -> str:
        """The text with all values: constants are strings of bytes."""
        # LLVM removes declarations that nothing uses, but others may use what they declare.
        unused = {name: each for name, each in self.constants.items() if not each.local}

        def defined(found: re.Match[str]) -> str:
            name, address, rest = found.groups()
            unused.pop(name, None)
            constant = self.constants.get(name)
            return found[0] if constant is None else _definition(name, constant, address, rest)

        text = re.sub(_DECLARED, defined, self.text) if self.constants else self.text
        more = [f"\n{_definition(name, constant)}\n" for name, constant in unused.items()]
        return "".join([text, *more]) if more else text

    def only_visible(self, text: str, visible: frozenset[str]) -> LlvmIr:
        """The same constants with other text, local but for those in `visible`."""
        constants = {
            name: constant._replace(local=constant.local or name not in visible)
            for name, constant in self.constants.items()
        }
        return LlvmIr(text, constants)

    def in_assembly(self, assembly: str) -> str:
        """The assembly that the text became, with all constants."""
        if not self.constants:
            return assembly
        return "".join([assembly, *self._directives(assembly)])

    def _directives(self, assembly: str) -> Iterator[str]:
        for name, constant in self.constants.items():
            used = re.search(rf"(?<![\w$.-]){re.escape(name)}(?![\w$.-])", assembly)
            if constant.local and used is None:
                continue
            section = '.data.variable,"aw"' if constant.writable else '.rodata.constant,"a"'
            yield f"\t.section\t{section},@progbits\n"
            yield "" if constant.local else f"\t.globl\t{name}\n"
            yield f"\t.balign\t{constant.align}\n\t.type\t{name},@object\n{name}:\n"
            for at in range(0, len(constant.data), _PER_LINE):
                escaped = constant.data[at : at + _PER_LINE].hex("\\").replace("\\", "\\x")
                yield f'\t.ascii\t"\\x{escaped}"\n'
            yield f"\t.size\t{name}, {len(constant.data)}\n"


def _definition(name: str, constant: Constant, address: str = "", rest: str = "") -> str:
    linkage = "internal " if constant.local else ""
    kind = "global" if constant.writable else "constant"
    escaped = "\\" + constant.data.hex("\\")
    value = f'[{len(constant.data)} x i8] c"{escaped}"'
    return f"@{name} = {linkage}{address}{kind} {value}, align {constant.align}{rest}"


def read(text: str) -> LlvmIr:
    """Read LLVM IR: large arrays as bytes, and the rest so that LLVM 22 reads it."""
    constants: dict[str, Constant] = {}
    pieces: list[str] = []
    last = 0
    for start, end in _long_lines(text):
        found = _defined(text, start, end)
        if found is not None and " alias " not in text:  # LLVM has none of what is only declared
            name, line, constants[name] = found
            pieces += text[last:start], line
            last = end
    rest = "".join([*pieces, text[last:]]) if pieces else text
    return LlvmIr(floats.readable(rest), constants)


def _long_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the long lines about variables are."""
    start = 0 if text.startswith("@") else text.find("\n@") + 1
    while start or text.startswith("@"):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if end - start >= SMALLEST:
            yield start, end
        start = text.find("\n@", end) + 1
        if not start:
            return


def _defined(text: str, start: int, end: int) -> tuple[str, str, Constant] | None:
    """The name, the declaration and the value of a large constant; None if it is another line."""
    found = re.compile(_DEFINED).match(text, start, end)
    if found is None:
        return None
    name, linkage, own, address, kind, written = found.groups()
    type_ = arrays.type_of(written)
    quoted = text[found.end()] == "c"
    close = text.rfind('"' if quoted else "]", start, end)
    after = re.fullmatch(_AFTER, text[close + 1 : end]) if end - close < _LONGEST_END else None
    if type_ is None or after is None or type_.size < SMALLEST:
        return None
    try:
        data = (
            arrays.of_string(text, found.end() + 2, close)
            if quoted
            else arrays.of_elements(text, found.end() + 1, close, type_)
        )
    except ValueError:
        return None
    if len(data) != type_.size:
        return None
    constant = Constant(data, max(ALIGN, int(after[1] or 1)), linkage is not None, kind == "global")
    place = "external dso_local" if linkage or own else "external"
    line = f"@{name} = {place} {address or ''}{kind} {written}, align {constant.align}{after[2]}"
    return name, line, constant
