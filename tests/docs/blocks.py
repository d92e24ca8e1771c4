"""The code blocks of a Markdown file, and running those that are Python.

The blocks of a file run one after the other in one namespace, as a reader would paste them. A
``text`` block right behind a Python block is what that prints, where a line ``…`` stands for any
lines; if it ends in an exception, the last line is its class and message, and without a ``text``
block it must not. A block with ``<!-- needs a.module -->`` or ``<!-- needs a.module:name -->`` in the
line above is left out if there is no such module, or no such name in it. One with ``<!-- from
a/file.py -->`` there is an excerpt of this file, and is compared instead of run.

    python -m tests.docs.blocks README.md
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS = re.compile(r"<!-- needs ([\w.:]+) -->\n$")
FROM = re.compile(r"<!-- from ([\w./]+) -->\n$")
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Block:
    """``language`` is what stands behind the fence; ``line`` the number of the first code line."""

    language: str
    code: str
    line: int
    output: str | None
    """The text of the ``text`` block that follows, if one does."""
    needs: str | None
    """A module, or ``module:name``."""
    source: str | None
    """The path of the file that it is an excerpt of."""

    @property
    def can_run(self) -> bool:
        """Whether it is Python, no excerpt, and what it needs is there."""
        return (
            self.language == "python"
            and self.source is None
            and (self.needs is None or _is_there(self.needs))
        )


def blocks(path: Path) -> Iterator[Block]:
    text = path.read_text()
    found = list(FENCE.finditer(text))
    for match, following in zip_longest(found, found[1:]):
        output = None
        if following is not None and following[1] == "text":
            between = text[match.end() : following.start()]
            output = None if between.strip() else following[2]
        line = text.count("\n", 0, match.start()) + 2
        needs = NEEDS.search(text, 0, match.start())
        source = FROM.search(text, 0, match.start())
        yield Block(match[1], match[2], line, output, needs and needs[1], source and source[1])


def run(path: Path) -> None:
    """Run the Python blocks; AssertionError for what prints something else than is written."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(path):
        where = f"{path.name}:{block.line}"
        if block.source is not None:
            assert block.code in (ROOT / block.source).read_text(), (
                f"{where}: this is not in {block.source}:\n{block.code}"
            )
        if block.can_run:
            printed = _printed(block, where, namespace)
            if block.output is not None:
                assert _pattern(block.output).fullmatch(_trimmed(printed)), (
                    f"{where}: it says\n{block.output}but the code prints\n{printed}"
                )


def _is_there(needed: str) -> bool:
    module, _, name = needed.partition(":")
    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False
    return found and (not name or hasattr(importlib.import_module(module), name))


def _printed(block: Block, where: str, namespace: dict[str, object]) -> str:
    # As many empty lines in front as make tracebacks name the line of the Markdown file.
    code = compile("\n" * (block.line - 1) + block.code, where, "exec")
    stdout = io.StringIO()
    with contextlib.redirect_stdout(stdout):
        try:
            exec(code, namespace)
        except Exception as error:
            if block.output is None:
                raise
            print(f"{type(error).__name__}: {error}")
    return stdout.getvalue()


def _pattern(text: str) -> re.Pattern[str]:
    lines = (r"(.*\n)*?" if x == "…\n" else re.escape(x) for x in _trimmed(text).splitlines(True))
    return re.compile("".join(lines))


def _trimmed(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.rstrip().splitlines())


if __name__ == "__main__":
    run(Path(sys.argv[1]))
