"""Print the lines of each room of the package: code, docstrings, comments and blank lines.

python benchmarks/lines.py [the root of another checkout]
"""

from __future__ import annotations

import ast
import io
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


def count(text: str) -> Counter[str]:
    """Count the lines of a module by kind."""
    docstrings = set(_docstring_lines(ast.parse(text)))
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
        elif token.type == tokenize.COMMENT:
            comments.add(token.start[0])
    code -= docstrings
    found = Counter(code=len(code), docstrings=len(docstrings), comments=len(comments - code))
    found["blank"] = len(text.splitlines()) - found.total()
    return found


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of strings that stand alone: docstrings, and those after attributes."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
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


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    found = rooms(root)
    found["all"] = sum(found.values(), Counter[str]())
    print(f"| room | {' | '.join(KINDS)} | sum |\n| --- |{' ---: |' * (len(KINDS) + 1)}")
    for room, lines in found.items():
        numbers = [lines[kind] for kind in KINDS]
        print(f"| {room} | {' | '.join(f'{number:,}' for number in [*numbers, sum(numbers)])} |")


if __name__ == "__main__":
    main()
