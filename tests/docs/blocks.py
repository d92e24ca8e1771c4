"""The code blocks of a Markdown file, and running those in Python, sh and C++.

The blocks of a file run one after the other, as a reader would paste them: Python in one namespace,
sh with Bash in the folder ``here`` of that namespace, and C++ is compiled there. A ``text`` block
right behind a block is what that prints, where a line ``…`` stands for any lines, and ``…`` within
a line for anything. If Python ends in an exception, the last line is its class and message; without
a ``text`` block it must not. A block
with ``<!-- needs a.module -->`` or ``<!-- needs a.module:name -->`` in the line above is left out if
there is no such module, or no such name in it, and one with ``<!-- not run: why -->`` always. One
with ``<!-- from a/file.py -->`` is an excerpt of this file, and is compared instead of run.

    python -m tests.docs.blocks README.md
    python -m tests.docs.blocks --all README.md     a module that a block needs must be there
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import linecache
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from tvm_ffi import libinfo

RUN = ("python", "sh", "cpp")
"""The languages of the blocks that :func:`run` runs or compiles."""
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"<!-- (needs|not run:|from) (.+) -->\n\n?$")
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
    """A module, or ``module:name``; ``""`` for a block that is never run."""
    source: str | None
    """The path of the file that it is an excerpt of."""

    @property
    def can_run(self) -> bool:
        """Whether its language is run, it is no excerpt, and the module that it needs is there."""
        return (
            self.language in RUN
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
        mark = MARK.search(text, 0, match.start())
        kind, value = (mark[1], mark[2]) if mark else ("", "")
        needs = {"needs": value, "not run:": ""}.get(kind)
        source = value if kind == "from" else None
        yield Block(match[1], match[2], line, output, needs, source)


def run(path: Path, *, everything: bool = False) -> None:
    """Run the blocks, or also those that need what is not there.

    Raises:
        AssertionError: a block fails, or prints something else than is written.
    """
    with tempfile.TemporaryDirectory() as here:
        _run(path, {"__name__": "__main__", "here": Path(here)}, everything)


def _run(path: Path, namespace: dict[str, object], everything: bool) -> None:
    for block in blocks(path):
        where = f"{path.name}:{block.line}"
        if everything and block.needs:
            assert _is_there(block.needs), f"{where}: {block.needs} is not here"
        if block.source is not None:
            assert block.code in (ROOT / block.source).read_text(), (
                f"{where}: this is not in {block.source}:\n{block.code}"
            )
        if block.can_run:
            if block.language == "python":
                printed = _printed(block, where, namespace)
            else:
                printed = _output(block, where, str(namespace["here"]))
            if block.output is not None:
                assert _pattern(block.output).fullmatch(_trimmed(printed)), (
                    f"{where}: it says\n{block.output}but the code prints\n{printed}"
                )


def _is_there(needed: str) -> bool:
    if not needed:
        return False
    module, _, name = needed.partition(":")
    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False
    return found and (not name or hasattr(importlib.import_module(module), name))


def _printed(block: Block, where: str, namespace: dict[str, object]) -> str:
    # As many empty lines in front as make tracebacks name the line of the Markdown file.
    text = "\n" * (block.line - 1) + block.code
    code = compile(text, where, "exec")
    # Triton reads the source of kernels.
    linecache.cache[where] = (len(text), None, text.splitlines(keepends=True), where)
    stdout = io.StringIO()
    with contextlib.redirect_stdout(stdout):
        try:
            exec(code, namespace)
        except Exception as error:
            if block.output is None:
                raise
            print(f"{type(error).__name__}: {error}")
    return stdout.getvalue()


def _output(block: Block, where: str, here: str) -> str:
    """Run a block in sh, or compile one in C++, in a folder."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "-euo", "pipefail", "-c", block.code]
    if block.language == "cpp":
        includes = [f"-I{folder}" for folder in (here, *libinfo.include_paths())]
        compiler = shlex.split(os.environ.get("CXX", "c++"))
        command = [*compiler, "-std=c++17", "-Wall", "-Werror", "-fsyntax-only", *includes]
        command += ["-xc++", "-"]
    done = subprocess.run(
        command,
        cwd=here,
        env={**os.environ, "PATH": path},
        input=block.code if block.language == "cpp" else "",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{where}: {done.stderr}{done.stdout}"
    return done.stdout


def _pattern(text: str) -> re.Pattern[str]:
    lines = (
        r"(.*\n)*?" if line == "…\n" else re.escape(line).replace("…", ".*")
        for line in _trimmed(text).splitlines(True)
    )
    return re.compile("".join(lines))


def _trimmed(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.rstrip().splitlines())


if __name__ == "__main__":
    run(Path(sys.argv[-1]), everything="--all" in sys.argv[1:-1])
