"""Print the lines of each room of the package: code, docstrings, comments and blank lines.

    python tools/lines.py [the root of another checkout]

The second table counts the C. Headers that a program has made are a row of their own. Tokens are
those of code: they change less than lines do when code is only set otherwise. The third table says
what the lines of Python code belong to.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

KINDS = ("code", "docstrings", "comments", "blank")
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_IN_C = re.compile(
    r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|[A-Za-z_]\w*|[\d.][\w.]*|[^\s\w]', re.DOTALL
)
"""Tokens and comments of C. Operators of two characters count twice."""


def count(text: str) -> Counter[str]:
    """Count the lines of a module by kind."""
    docstrings = set(_docstring_lines(ast.parse(text)))
    comments: set[int] = set()
    tokens = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            tokens += token.start[0] not in docstrings
        elif token.type == tokenize.COMMENT:
            comments.add(token.start[0])
    code = code_lines(text)
    found = Counter(code=len(code), docstrings=len(docstrings), comments=len(comments - code))
    found["blank"] = len(text.splitlines()) - found.total()
    found["tokens"] = tokens
    return found


def code_lines(text: str) -> set[int]:
    """Return the numbers of the lines of a module that have code."""
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    return code - set(_docstring_lines(ast.parse(text)))


def count_c(text: str) -> Counter[str]:
    """Count the lines of a file in C by kind."""
    code: set[int] = set()
    comments: set[int] = set()
    tokens = 0
    for found in _IN_C.finditer(text):
        first = text.count("\n", 0, found.start())
        is_comment = found[0].startswith(("//", "/*"))
        lines = comments if is_comment else code
        lines.update(range(first, first + found[0].count("\n") + 1))
        tokens += not is_comment
    counted = Counter(code=len(code), docstrings=0, comments=len(comments - code))
    counted["blank"] = len(text.splitlines()) - counted.total()
    counted["tokens"] = tokens
    return counted


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of strings that stand alone: docstrings, and those after attributes."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
            case _:
                pass


def parts(text: str) -> Counter[str]:
    """Count the lines of code of a module by what they belong to."""
    tree = ast.parse(text)
    found: dict[int, str] = {}
    for node in ast.walk(tree):
        for kind, first, last in _spans(node):
            found.update(dict.fromkeys(range(first, last + 1), kind))
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            found.update(dict.fromkeys(range(node.lineno, (node.end_lineno or 0) + 1), "tables"))
    return Counter(found.get(line, "statements") for line in code_lines(text))


def _spans(node: ast.AST) -> Iterator[tuple[str, int, int]]:
    """Yield the kind, the first and the last line of what is no statement of a function."""
    match node:
        case ast.Import() | ast.ImportFrom():
            yield "imports", node.lineno, node.end_lineno or 0
        case ast.Raise():
            yield "raising errors", node.lineno, node.end_lineno or 0
        case ast.FunctionDef():
            first = min(each.lineno for each in (node, *node.decorator_list))
            yield "headers of functions", first, node.body[0].lineno - 1
        case ast.ClassDef():
            first = min(each.lineno for each in (node, *node.decorator_list))
            yield "classes and their fields", first, node.lineno
            for each in node.body:
                if isinstance(each, (ast.Assign, ast.AnnAssign)):
                    yield "classes and their fields", each.lineno, each.end_lineno or 0
        case _:
            pass


def rooms(root: Path) -> dict[str, Counter[str]]:
    """Count the lines of each package in ``ffi_builder``, and of the modules directly in it."""
    package = root / "ffi_builder"
    found: dict[str, Counter[str]] = {}
    for path in sorted(package.rglob("*.py")):
        room = "/".join(path.parent.relative_to(package).parts) or "."
        found[room] = found.get(room, Counter()) + count(path.read_text())
    return found


def rooms_of_c(root: Path) -> dict[str, Counter[str]]:
    """Count the lines of C, and of headers that are made from Python by themselves."""
    package = root / "ffi_builder"
    found: dict[str, Counter[str]] = {}
    for path in sorted([*package.rglob("*.c"), *package.rglob("*.h")]):
        text = path.read_text()
        is_made = "Do not edit" in text.partition("\n")[0]
        room = "made from Python" if is_made else str(path.parent.relative_to(package))
        found[room] = found.get(room, Counter()) + count_c(text)
    return found


def show(found: dict[str, Counter[str]]) -> None:
    """Print a table of them, with their sum."""
    found = {**found, "all": sum(found.values(), Counter[str]())}
    print(f"| room | {' | '.join(KINDS)} | sum | tokens |\n| --- |{' ---: |' * (len(KINDS) + 2)}")
    for room, lines in found.items():
        numbers = [lines[kind] for kind in KINDS]
        numbers += [sum(numbers), lines["tokens"]]
        print(f"| {room} | {' | '.join(f'{number:,}' for number in numbers)} |")


def main() -> None:
    """Print the tables."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    show(rooms(root))
    print()
    show(rooms_of_c(root))
    texts = (path.read_text() for path in (root / "ffi_builder").rglob("*.py"))
    belonging = sum(map(parts, texts), Counter[str]())
    print("\n| code | lines |\n| --- | ---: |")
    for kind, number in belonging.most_common():
        print(f"| {kind} | {number:,} |")


if __name__ == "__main__":
    main()
