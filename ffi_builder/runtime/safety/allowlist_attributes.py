"""Decide which attributes and which metadata of LLVM IR are harmless.

String attributes choose what the code generator may use: without SSE, for example, it cannot
return floats. LLVM's verifier does not look at all nodes of metadata, and the passes that use those
take their form for granted.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator, Set
from typing import Final

from ffi_builder import protocol
from ffi_builder.runtime import metadata
from ffi_builder.runtime.safety.tables import words

_ATTRIBUTE_VALUES: Final[dict[str, re.Pattern[str]]] = {
    metadata.ATTRIBUTE: re.compile('[^"]*'),
    "frame-pointer": re.compile("all|non-leaf|none"),
    **{
        key: re.compile("true|false")
        for key in words(
            """
            approx-func-fp-math less-precise-fpmad no-infs-fp-math no-nans-fp-math
            no-signed-zeros-fp-math no-trapping-math unsafe-fp-math use-soft-float
            """
        )
    },
    **{
        key: re.compile(r"\d{1,4}")
        for key in ("min-legal-vector-width", "prefer-vector-width", "stack-protector-buffer-size")
    },
}
_TRUSTED: Final = re.compile(rf"{protocol.TRUSTED}[0-9a-f]{{8}}")
_CPU_KEYS: Final = ("target-cpu", "tune-cpu")
_GENERIC_CPUS: Final = words(
    "generic x86-64 x86-64-v2 x86-64-v3 x86-64-v4"
    if platform.machine() == "x86_64"
    else "generic"  # LLVM warns on stderr of a CPU that it does not know
)
_SECTION: Final = '".text"'  # cold functions of this package ask for it
_HEADERS: Final = ("source_filename =", "datalayout =", "triple =")
_NAME_MARKS: Final = frozenset("@%!c$")

_KNOWN_FLAGS: Final = frozenset(
    {
        *("Debug Info Version", "Dwarf Version", "PIC Level", "PIE Level", "frame-pointer"),
        *("uwtable", "wchar_size"),
    }
)
# Kinds of metadata in whose nodes passes do not expect a null.
_WITHOUT_NULL: Final = words("alias.scope llvm.loop noalias tbaa", "!")
_NULL: Final = re.compile(r"^!\d+ = (?:distinct )?!\{[^\n]*\bnull\b", re.MULTILINE)
# The forms of loop properties that passes take for granted.
_LOOP_PROPERTY: Final = re.compile(
    r"""!\d+\ =\ (?:distinct\ )?!\{!"llvm\.loop\.(?:
        (?:mustprogress|unroll\.(?:disable|enable|full|runtime\.disable)|disable_nonforced)"
      | (?:vectorize\.(?:enable|width)|interleave\.count|unroll\.count|isvectorized)",
        \ i(?:1|32)\ (?:true|false|\d{1,9})
    )\}""",
    re.VERBOSE,
)
_FLAG: Final = re.compile(r'^!\d+ = !\{i32 \d+, !"([^"]*)"', re.MULTILINE)


def hazards(text: str, strings: list[tuple[int, int]], cpu: str, features: str) -> Iterator[str]:
    """Look at the strings in `text` that are attributes of functions.

    `strings` are the places of all strings: names, data and metadata too.
    """
    last, key = 0, ""
    for start, end in strings:
        before, string = text[last:start].rstrip(), text[start:end]
        last = end
        if text[start - 1 : start] in _NAME_MARKS or before.endswith(_HEADERS):
            key = ""
        elif before.endswith("section"):
            if string != _SECTION:
                yield f"section {string}"
            key = ""
        elif before == "=" and key:
            if not _attribute_known(key, string[1:-1], cpu, features):
                yield f'"{key}"={string}'
            key = ""
        else:
            key = string[1:-1]
            has_value = text[end : end + 1] == "="
            if not has_value and _TRUSTED.fullmatch(key) is None:
                yield string


def _attribute_known(key: str, value: str, cpu: str, features: str) -> bool:
    if key in _CPU_KEYS:
        return value == cpu or value in _GENERIC_CPUS
    if key == "target-features":
        return _features_known(value, features)
    known = _ATTRIBUTE_VALUES.get(key)
    return known is not None and known.fullmatch(value) is not None


def _features_known(wanted: str, host: str) -> bool:
    """Tell whether `wanted` only adds features of this architecture."""
    names = {f"+{feature[1:]}" for feature in host.split(",")}
    return names.issuperset(feature for feature in wanted.split(",") if feature)


def metadata_hazards(text: str, found: Set[str]) -> Iterator[str]:
    """Look at the nodes in `text`, in which the words `found` are."""
    # LLVM prints nodes last, so there is little to search.
    nodes = text[f"\n{text}".find("\n!") :]
    if found & _WITHOUT_NULL:
        yield from (node[0] for node in _NULL.finditer(nodes))
    if '!"llvm.loop.' in text:
        for line in text.split("\n"):
            if '!"llvm.loop.' in line and _LOOP_PROPERTY.fullmatch(line.rstrip()) is None:
                yield line[:60]
    if "!llvm.module.flags" in text:
        yield from (flag for flag in _FLAG.findall(nodes) if flag not in _KNOWN_FLAGS)
