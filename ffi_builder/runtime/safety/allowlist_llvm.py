"""Decide which LLVM IR this process may generate code for.

LLVM answers what it cannot generate with `LLVM ERROR` and abort(), with an assertion, or by running
out of stack; faults in inline assembly end in exit(1). Nothing in llvmlite's API can stop that. So
this process takes only text in which every word is known to be harmless, and every type is of a
usual size: the wrappers of this package, and what lowering passes and compilers usually make. All
other text goes to a child process (see `safety.worker`), which costs some tenths of a second once.

The text is read as LLVM's lexer reads it: strings and comments are taken out first, the rest falls
into words. Lines that differ in the numbers of values alone are looked at once, as each rule but
those for nesting, long lines and allocations is about one line, and takes all numbers of values
alike. tests/runtime/test_allowlists.py and test_unusual.py try the words with each other.
"""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from ffi_builder.runtime.safety import allowlist_aarch64, allowlist_attributes, distinct
from ffi_builder.runtime.safety.allowlist_words import (
    HARMLESS,
    INSTRUCTIONS,
    INTRINSICS,
    KNOWN_METADATA,
    TOP_LEVEL,
    TYPES,
)
from ffi_builder.runtime.safety.nesting import is_deeper
from ffi_builder.runtime.safety.tables import words

# Words in the line of a global, besides names and numbers. Of constant expressions only
# `getelementptr` is known to become a relocation.
_GLOBAL: Final = (
    TYPES
    | (TOP_LEVEL - words("source_filename target datalayout triple define declare attributes type"))
    | words("x null undef poison zeroinitializer true false getelementptr inbounds nuw nusw weak")
)
_APPENDING: Final = ("@llvm.global_ctors ", "@llvm.global_dtors ", "@llvm.used ", "@llvm.compiler.")

_MACHINE: Final = platform.machine()
_LINE_END: Final = re.compile(r"[\n\r]")
_SPACES: Final = str.maketrans(dict.fromkeys("()[]{}<>,=*", " "))

# LLVM's parser crashes on the two largest numbers of 32 bits: it keeps values in a DenseMap, where
# they mean free places.
_ID: Final = rf"[0-9]{{1,{distinct.MOST_DIGITS}}}"
# Words that are not in a table. Each string has been replaced by one quote.
_OTHER_WORDS: Final = re.compile(
    rf"""(?:(?:
      [%@](?:{_ID}|[-a-zA-Z$._][-\w$.]*|")           # values, types and symbols
    | \#{_ID} | !(?:{_ID}|"|DI[A-Z]\w*)? | c?"        # attributes, metadata and strings
    | [-+]?\d+(?:\.\d*(?:[eE][-+]?\d+)?)? | 0x[HR]?[0-9A-Fa-f]+
    | {_ID}: | (?![0-9]+:)[-\w$.]+:                 # labels, and fields of metadata
    | DW_\w+ | DI(?:SP)?Flag\w+ | \| | \.\.\.
    )[ ])*""",
    re.VERBOSE,
)
_INTRINSIC_TYPES: Final = r"(?:\.(?:v(\d+))?(?:i(?:1|8|16|32|64|128)|b?f16|f32|f64|p\d{1,2}))*"
_INTRINSIC: Final = re.compile(rf"@llvm\.([a-z0-9_.]+?)({_INTRINSIC_TYPES})")

_INTRINSIC_NAME: Final = re.compile(r"@llvm\.\S*")

_ALIGNMENT: Final = re.compile(r" align[ (](\d+)")
# Before LLVM 22 it is the operand after the pointer, which the verifier does not look at.
_MASKED: Final = re.compile(r"@llvm\.masked\.[^\n]*?\bptr [^,\n]+, i32 ([^,\s]+),")
_ADDRESS_SPACE: Final = re.compile(r" addrspace\((\d+)\)")
_POINTER: Final = r"ptr(?:[ ]addrspace\(\d+\))?"
_ATOMICS: Final = words("atomicrmw cmpxchg atomic")
_ATOMIC: Final = re.compile(
    rf"""(?<![-\w$.%@!#])(?:
        (?:load|store)[ ]atomic[ ](?:volatile[ ])?
      | atomicrmw[ ](?:volatile[ ])?\w+[ ]{_POINTER}[ ][^\s,]+,[ ]
      | cmpxchg[ ](?:weak[ ])?(?:volatile[ ])?{_POINTER}[ ][^\s,]+,[ ]
    )(?:i8|i16|i32|i64|ptr|float|double)\b""",
    re.VERBOSE,
)

_SPLAT: Final = re.compile(
    r"(?<![-\w$.%@!#])splat[ ]\((?:i\d+|half|bfloat|float|double)[ ][-+.\w]+\)"
)

_Chains: TypeAlias = list[tuple[str, str]]
# `[4 x [8 x `, and how the type of the elements begins.
_SIZES: Final = re.compile(r"((?:[\[<]\d+ x )+)(.)")
_TYPE: Final = r"[^()=!]+?"
_IN_MEMORY: Final = re.compile(
    rf"""\s*%\S+[ ]=[ ](?:
        alloca[ ]{_TYPE}(?:,[ ]i\d+[ ][^\s,]+)?(?:,[ ]align[ ]\d+)?(?:,[ ]addrspace\(\d+\))?
      | getelementptr[ ](?:(?:inbounds|nuw|nusw)[ ])*{_TYPE},[ ]{_POINTER}[ ][^\s,]+
        (?:,[ ]i\d+[ ][^\s,]+)*
    )(?:,[ ]!dbg[ ]!\d+)?""",
    re.VERBOSE,
)
_NAMED_ELEMENT: Final = re.compile(r"\{[^{}]*%|x %")

# A line that is not one whole statement, as LLVM and llvmlite print it: something could hide there.
_ODD_LINE: Final = re.compile(
    r"""^(?![ \t\r]*(?:
        [@%]\S+[ ]=[ ]+[^\s] | ![^\s=]+[ ]=[ ] | (?:attributes|define|declare|target)[ ]
      | source_filename[ ] | (?:store|br|ret|fence|switch)[ ] | unreachable\b
      | (?:(?:tail|notail)[ ])?call[ ] | [-\w$."]+: | i\d+[ ]\S+,[ ]label[ ]
      | [{}][ \t\r]*$ | \] | $
    )).*""",
    re.VERBOSE | re.MULTILINE,
)

_LONG_NUMBER: Final = re.compile(r"\d{4000}")  # Python reads no more than 4,300 digits
_LANES: Final = re.compile(r"<(\d+)")
_VECTOR: Final = re.compile(r"<\d+ x ")
_WIDE_LANES: Final = re.compile(r"x\s+i128\s*>")  # LLVM makes no vectors of halves of these
_COUNTED: Final = re.compile(r" = alloca [^\n]*, i\d+ ([%\w-][^\s,]*)")
_FIELDS: Final = re.compile(r"\{[^{}]*")

_MOST_LANES: Final = 256
_LANES_OF_A_VALUE: Final = 16
_MOST_VALUES: Final = 512
"""The most values in the types of one line: the code generator makes one of each field and
element, and takes 20 s for 3,000."""
_MOST_ELEMENTS: Final = 1 << 24
"""Elements of an array in memory that a function allocates or points into."""
_MOST_GLOBAL_ELEMENTS: Final = 1 << 31
_MOST_ALIGNED: Final = 4096
_MOST_ADDRESS_SPACE: Final = 255
"""Larger ones are segments and pointers of other sizes on x86-64."""
_MOST_LEVELS: Final = 64
"""Levels of types, constants and metadata in one another."""
_LONGEST_LINE: Final = 100_000
"""Characters of a line in a function: an instruction of some ten thousand operands."""


def codegen_hazard(text: str, cpu: str, features: str) -> str | None:
    """Return what in LLVM IR `text` is not known to be harmless, or None.

    `cpu` and `features` are those that code is generated for, as LLVM writes them (`+avx,-sse4a`).
    """
    code, strings = _without_strings(text)
    if is_deeper(code, _MOST_LEVELS):
        return "brackets nested too deep"
    whole, code = code, distinct.lines(code)
    found = code.translate(_SPACES).split()
    different = set(found)
    if max(map(len, different), default=0) > 4000 and _LONG_NUMBER.search(code) is not None:
        return "a number of thousands of digits"
    for hazards in (
        _words(different),
        allowlist_attributes.hazards(text, strings, cpu, features),
        _numbers(code, found, different),
        _lines(code),
        _types(code, found.count("x")),
        _long_lines(whole),
        _splats(code, found, different),
        _allocations(whole) if "alloca" in different else (),
        allowlist_attributes.metadata_hazards(text, different),
        _masked(code),
        allowlist_aarch64.hazards(code) if _MACHINE == "aarch64" else (),
    ):
        for hazard in hazards:
            return hazard
    return None


def _without_strings(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return `text` with one quote for each string and without comments; and where strings are.

    As LLVM's lexer finds them: there are no escaped quotes, and a carriage return ends a comment.
    """
    code: list[str] = []
    strings: list[tuple[int, int]] = []
    last = 0
    quote, comment = text.find('"'), text.find(";")  # a regular expression takes longer
    while quote >= 0 or comment >= 0:
        if comment < 0 or 0 <= quote < comment:
            start, end = quote, text.find('"', quote + 1) + 1
            if not end:  # it is not closed, and no other quote follows
                quote = -1
                continue
            code += text[last:start], '"'
            strings.append((start, end))
        else:
            found = _LINE_END.search(text, comment)
            start, end = comment, len(text) if found is None else found.start()
            code.append(text[last:start])
        last = end
        quote = text.find('"', end) if 0 <= quote < end else quote
        comment = text.find(";", end) if 0 <= comment < end else comment
    code.append(text[last:])
    return "".join(code), strings


def _words(found: set[str]) -> Iterator[str]:
    unknown = found - HARMLESS - KNOWN_METADATA
    joined = " ".join(unknown)
    for name in _INTRINSIC_NAME.findall(joined):
        if not _intrinsic_known(name):
            yield name[1:]
    if _OTHER_WORDS.fullmatch(f"{joined} ") is None:
        yield from (word for word in sorted(unknown) if _OTHER_WORDS.fullmatch(f"{word} ") is None)


def _intrinsic_known(name: str) -> bool:
    if f"{name} ".startswith(_APPENDING):
        return True
    found = _INTRINSIC.fullmatch(name)
    return (
        found is not None
        and found[1] in INTRINSICS
        and (found[1] != "powi" or found[2].endswith(".i32"))  # the type of the exponent
        and all(int(lanes) <= _MOST_LANES for lanes in re.findall(r"\.v(\d+)", found[2]))
    )


def _numbers(code: str, found: list[str], different: set[str]) -> Iterator[str]:
    """Look at alignments, address spaces and atomics, each in the form that LLVM prints."""
    for word, expression, most in (
        ("align", _ALIGNMENT, _MOST_ALIGNED),
        ("addrspace", _ADDRESS_SPACE, _MOST_ADDRESS_SPACE),
    ):
        if word in different:
            numbers = expression.findall(code)
            if len(numbers) != found.count(word):
                yield word
            yield from (f"{word} {number}" for number in set(numbers) if int(number) > most)
    atomics = different & _ATOMICS
    if atomics and sum(found.count(word) for word in atomics) != len(_ATOMIC.findall(code)):
        yield "an atomic operation"


def _lines(code: str) -> Iterator[str]:
    for line in _ODD_LINE.finditer(code):
        yield line[0].strip()[:60]


def _types(code: str, count: int) -> Iterator[str]:
    """Look at the sizes of types, of which there are `count`, and at what globals are made of."""
    marks = ("\n",) if " = type " in code else (" x ", "{", "alloca", "\n@")
    sizes = 0
    for line in _lines_with(f"\n{code}\n", marks):
        chains = _SIZES.findall(line)
        sizes += sum(chain.count("x") for chain, _ in chains)
        yield from _global(line, chains) if line[:1] == "@" else _value_sizes(line, chains)
    if sizes != count:
        yield "a type"


def _long_lines(code: str) -> Iterator[str]:
    start = 0
    while len(code) - start > _LONGEST_LINE:
        # The last line that begins within the limit is not far behind, if lines are short.
        after = code.rfind("\n", start, start + _LONGEST_LINE + 1) + 1
        if not after:
            if code[start] != "@":
                yield code[start : start + 40]
            after = code.find("\n", start) + 1 or len(code)
        start = after


def _splats(code: str, found: list[str], different: set[str]) -> Iterator[str]:
    """Look at vectors of equal elements, which must be numbers."""
    if "splat" in different and found.count("splat") != len(_SPLAT.findall(code)):
        yield "splat"


def _lines_with(code: str, marks: tuple[str, ...]) -> Iterable[str]:
    """Return the lines that have one of the `marks`; they are searched for, as most have none."""
    found: dict[int, str] = {}
    for mark in marks:
        at = code.find(mark)
        while 0 <= at < len(code) - 1:
            start = code.rfind("\n", 0, at + 1) + 1
            end = code.find("\n", max(at + 1, start))
            found[start] = code[start:end]
            at = code.find(mark, end)
    return found.values()


def _allocations(code: str) -> Iterator[str]:
    """Look at how often a type is allocated, which must not become a negative constant."""
    for found in _COUNTED.finditer(code):
        count = found[1]
        if count.startswith("%"):
            body = code[max(0, code.rfind("\ndefine ", 0, found.start())) : found.start()]
            known = any(f" {count} = zext i{bits} " in body for bits in (8, 16, 32))
        else:
            known = count.isdecimal() and int(count) <= _MOST_ELEMENTS
        if not known:
            yield found[0].strip(" =")


def _masked(code: str) -> Iterator[str]:
    """Look at the alignments of masked loads and stores that are operands."""
    for found in _MASKED.finditer(code):
        if not found[1].isdecimal() or int(found[1]).bit_count() != 1:
            yield found[0][1:]


def _value_sizes(line: str, chains: _Chains) -> Iterator[str]:
    where = f"`{line.strip()[:60]}`"
    lanes = [int(lanes) for chain, _ in chains for lanes in _LANES.findall(chain)]
    if chains and (max(lanes, default=0) > _MOST_LANES or _WIDE_LANES.search(line) is not None):
        yield f"a vector in {where}"
    if "alloca" in line or "getelementptr" in line:
        found = line.translate(_SPACES).split()
        one = sum(word in INSTRUCTIONS for word in found) == 1
        if one and _IN_MEMORY.fullmatch(line) is not None:
            if sum(_product(chain) for chain, _ in chains) > _MOST_ELEMENTS:
                yield f"the size of {where}"
            return
        if "alloca" in found:
            yield where
    fields = sum(fields.count(",") for fields in _FIELDS.findall(line))
    if fields + sum(_values(chain) for chain, _ in chains) > _MOST_VALUES:
        yield f"the size of a type in {where}"
    if _NAMED_ELEMENT.search(line) is not None or any(
        element == "{" and "[" in chain for chain, element in chains
    ):
        yield f"a type in {where}"


def _global(line: str, chains: _Chains) -> Iterator[str]:
    name = line.partition("=")[0]
    for word in sorted(set(line.translate(_SPACES).split()) - _GLOBAL):
        if _OTHER_WORDS.fullmatch(f"{word} ") is None:
            yield f"{word} in {name.strip()}"
    if "getelementptr" in line and _VECTOR.search(line) is not None:
        yield f"a vector of addresses in {name.strip()}"
    if "appending" in line and not name.startswith(_APPENDING):
        yield f"appending {name.strip()}"
    if sum(_product(chain) for chain, _ in chains) > _MOST_GLOBAL_ELEMENTS:
        yield f"the size of {name.strip()}"


def _values(chain: str) -> int:
    """Count the values that elements are held in: registers, in case of vectors."""
    lanes = math.prod(1 + int(lanes) // _LANES_OF_A_VALUE for lanes in _LANES.findall(chain))
    return lanes * math.prod(int(size) for size in re.findall(r"\[(\d+)", chain))


def _product(chain: str) -> int:
    return math.prod(int(size) for size in re.findall(r"\d+", chain))
