"""Reads PTX text: functions with their statements, and variables. Nothing is decoded here."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from ffi_builder.ptx.errors import PtxError

SIZES: Final = {
    **{f"{kind}{bits}": bits // 8 for kind in "bus" for bits in (8, 16, 32, 64)},
    "b128": 16,
    "f16": 2,
    "bf16": 2,
    "f32": 4,
    "f64": 8,
    "tf32": 4,
    "pred": 1,
    "f16x2": 4,
    "bf16x2": 4,
    "s16x2": 4,
    "u16x2": 4,
    "f32x2": 8,
    "texref": 8,
    "samplerref": 8,
    "surfref": 8,
}
"""Bytes of each type."""


@dataclass(frozen=True, slots=True)
class Statement:
    """An instruction, a label (``name:``), a directive, or a brace of a scope."""

    text: str
    line: int
    source: tuple[int, int]
    """The number of a file and a line, of the ``.loc`` before; zeros: none."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, or a parameter."""

    name: str
    space: str
    """``global``, ``const``, ``shared``, ``local`` or ``param``."""
    size: int
    """0: what a launch gives it, or what another module has."""
    align: int
    type: str
    initial: str
    """What is behind the ``=``."""
    external: bool
    line: int

    @property
    def element(self) -> int:
        """Bytes of an element."""
        return SIZES[self.type]


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel, or a function of the device."""

    name: str
    is_kernel: bool
    params: tuple[Variable, ...]
    results: tuple[Variable, ...]
    body: tuple[Statement, ...] | None
    """None: it is declared only."""
    line: int


@dataclass(slots=True)
class Module:
    """What a PTX text has."""

    functions: dict[str, Function] = field(default_factory=dict[str, Function])
    variables: dict[str, Variable] = field(default_factory=dict[str, Variable])
    files: dict[int, str] = field(default_factory=dict[int, str])
    target: int = 0
    """90 for sm_90a."""


_COMMENT: Final = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
_SPACE: Final = re.compile(r"\s*")
_BRACES: Final = r"\{(?:[^{};]|\{(?:[^{};]|\{[^{};]*\})*\})*\}"
_REST: Final = rf'[^;"{{}}]*(?:(?:{_BRACES}|"(?:[^"\\\n]|\\.)*")[^;"{{}}]*)*'
_LINE: Final = re.compile(r"\.(?:loc|file|version|target|address_size)\b[^\n]*")
_LABEL: Final = re.compile(r"([A-Za-z_$%][\w$]*)\s*:(?!:)")
_STATEMENT: Final = re.compile(_REST + ";")
_SECTION: Final = re.compile(r"\.section\s+[^{]*\{[^}]*\}")
_FUNCTION: Final = re.compile(
    r"(?:\.(?:visible|weak|extern|common)\s+)*\.(entry|func)\b([^{;]*)(;|\{)", re.DOTALL
)
_VARIABLE: Final = re.compile(
    r"(?P<link>(?:\.(?:visible|weak|extern|common)\s+)*)\.(?P<space>global|const|shared|local|param)"
    r"(?P<words>(?:\s*\.[\w:]+(?:\s*\([^)]*\))?(?:\s+\d+)?)*?)\s*\.(?P<type>[a-z]+\d*(?:x2)?)"
    r"(?P<ptr>\s*\.ptr(?:\s*\.(?:global|const|shared|local|param))?(?:\s*\.align\s+\d+)?)?"
    r"\s+(?P<name>[A-Za-z_$%][\w$]*)(?P<dims>(?:\s*\[[^\]]*\])*)\s*(?:=\s*(?P<initial>.*?))?\s*;?",
    re.DOTALL,
)
_HEAD: Final = re.compile(
    r"\s*(?:\.attribute\s*\([^)]*\)\s*)?(?:\((?P<results>[^)]*)\)\s*)?(?P<name>[A-Za-z_$%][\w$]*)"
    r"\s*(?:\((?P<params>[^)]*)\))?(?P<directives>.*)",
    re.DOTALL,
)


def _without_comments(text: str) -> str:
    def blank(match: re.Match[str]) -> str:
        words = match[0]
        return words if words[0] == '"' else " " + "\n" * words.count("\n")

    return _COMMENT.sub(blank, text)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = _without_comments(text)
        self.at = 0
        self.line = 1
        self._counted = 0
        self.module = Module()

    def skip(self) -> None:
        match = _SPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def count(self) -> int:
        """Return the line of what comes."""
        self.line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self.line

    def fail(self, what: str) -> PtxError:
        return PtxError(f"PTX cannot be read: {what}", self.count())

    def read(self) -> Module:
        while self.skip() or self.at < len(self.text):
            self.count()
            if match := _SECTION.match(self.text, self.at):
                self.at = match.end()
            elif match := _LINE.match(self.text, self.at):
                self._of_line(match[0])
                self.at = match.end()
            elif match := _FUNCTION.match(self.text, self.at):
                self._function(match)
            elif match := _STATEMENT.match(self.text, self.at):
                self._declared(match[0])
                self.at = match.end()
            else:
                raise self.fail("a statement has no end")
        return self.module

    def _of_line(self, words: str) -> None:
        if match := re.match(r'\.file\s+(\d+)\s+"([^"]*)"', words):
            self.module.files[int(match[1])] = match[2]
        elif match := re.match(r"\.target\s+(?:sm|compute)_(\d+)", words):
            self.module.target = int(match[1])

    def _declared(self, words: str) -> None:
        if re.match(r"\.(pragma|alias|callprototype)\b", words):
            return
        made = variable(words, self.line)
        self.module.variables[made.name] = made

    def _function(self, match: re.Match[str]) -> None:
        head = _HEAD.fullmatch(match[2])
        if head is None:
            raise self.fail("the head of a function")
        line = self.line
        params = _variables(head["params"] or "", line)
        results = _variables(head["results"] or "", line)
        self.at = match.end()
        body = None if match[3] == ";" else self._body()
        name = head["name"]
        before = self.module.functions.get(name)
        if before is None or before.body is None:
            made = Function(name, match[1] == "entry", params, results, body, line)
            self.module.functions[name] = made

    def _body(self) -> tuple[Statement, ...]:
        """Return the statements up to the closing brace, without it."""
        statements: list[Statement] = []
        source, depth, text = (0, 0), 0, self.text
        while True:
            self.skip()
            line = self.count()
            if self.at >= len(text):
                raise self.fail("the body of a function has no end")
            first = text[self.at]
            if first in "{}":
                self.at += 1
                depth += 1 if first == "{" else -1
                if depth < 0:
                    return tuple(statements)
                statements.append(Statement(first, line, source))
            elif label := _LABEL.match(text, self.at):
                self.at = label.end()
                statements.append(Statement(f"{label[1]}:", line, source))
            elif words := _LINE.match(text, self.at):
                self.at = words.end()
                if loc := re.match(r"\.loc\s+(\d+)\s+(\d+)", words[0]):
                    source = int(loc[1]), int(loc[2])
            elif words := _STATEMENT.match(text, self.at):
                self.at = words.end()
                inside = words[0][:-1].strip()
                if inside:
                    statements.append(Statement(inside, line, source))
            else:
                raise self.fail("an instruction has no end")


def _variables(words: str, line: int) -> tuple[Variable, ...]:
    parts = (part.strip() for part in re.split(r",(?![^\[]*\])", words))
    return tuple(variable(part, line) for part in parts if part and part != "_")


def variable(words: str, line: int) -> Variable:
    """Read the declaration of a variable or parameter.

    Raises:
        PtxError: it is none.
    """
    if match := re.match(r"\.reg\s*\.(\w+)\s+([\w$%]+)$", words.strip()):  # a register as parameter
        return Variable(match[2], "reg", SIZES.get(match[1], 0), 1, match[1], "", False, line)
    match = _VARIABLE.fullmatch(words.strip())
    if match is None or match["type"] not in SIZES:
        raise PtxError(f"PTX cannot be read: the declaration {words.strip()[:80]!r}", line)
    size = SIZES[match["type"]]
    vector = re.search(r"\.v([248])\b", match["words"])
    size *= int(vector[1]) if vector else 1
    given = re.search(r"\.align\s+(\d+)", match["words"])
    align = int(given[1]) if given else size
    count, initial = 1, match["initial"] or ""
    for dim in re.findall(r"\[([^\]]*)\]", match["dims"]):
        if dim.strip():
            if not re.fullmatch(r"\s*(?:0[xX][\da-fA-F]{1,16}|\d{1,16})\s*", dim):
                raise PtxError(f"PTX cannot be read: the size [{dim}]", line)
            count *= int(dim.strip(), 16 if "x" in dim.lower() else 10)
        else:
            count *= 0 if not initial else initial.count(",") + 1
    link = match["link"]
    return Variable(
        *(match["name"], match["space"], size * count, align, match["type"]),
        *(initial, ".extern" in link, line),
    )


@lru_cache(maxsize=64)
def read(text: str) -> Module:
    """Read a PTX text.

    Raises:
        PtxError: it cannot be read.
    """
    return _Reader(text).read()
