"""Draw sentences of docstrings, comments and pages, for somebody who did not write them to judge.

    python tools/sentences.py [seed]

Rewrite a sentence that needs a second reading: who does what?
"""

from __future__ import annotations

import ast
import io
import random
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
DRAWN = 60


def texts() -> Iterator[tuple[str, str]]:
    """Yield each docstring, comment and paragraph, with its file."""
    for path in sorted((ROOT / "ffi_builder").rglob("*.py")):
        source, name = path.read_text(), str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Expr(value=ast.Constant(value=str() as text)):
                    yield name, re.sub(r"\n\s*(>>>|\.\.\.)[^\n]*", "\n\n", text)
                case _:
                    pass
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT and not re.match(r"# (noqa|pyright)", token.string):
                yield name, token.string.lstrip("# ")
    for path in sorted((ROOT / "docs").glob("*.md")):
        if path.name != "errors.md":
            yield from (
                (path.name, part) for part in re.split(r"```.*?```", path.read_text(), flags=re.S)
            )


def sentences() -> Iterator[tuple[str, str]]:
    """Yield the sentences of at least six words."""
    for name, text in texts():
        for paragraph in re.split(r"\n\s*\n|\n\s*[-|#*]\s|\n(?=\s+\w+: )", text):
            joined = " ".join(paragraph.split())
            for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`])", joined):
                if len(sentence.split()) >= 6 and sentence[-1:] in ".:":
                    yield name, sentence


def main() -> None:
    """Print the sentences that are drawn."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 29
    drawn = random.Random(seed).sample(sorted(set(sentences())), DRAWN)
    for number, (name, sentence) in enumerate(drawn, 1):
        print(f"{number}. [{name}] {sentence}")


if __name__ == "__main__":
    main()
