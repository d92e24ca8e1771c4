"""Makes small changes to the functions that commits changed, and prints those that no test notices.

    python -m tools.changed [--since COMMIT] [--most 20] [--seconds 60]

Tests of the nearest folders run once, to see which reach these functions; then for each change
those which do, quick ones first. All runs are forks of one process that has collected the tests,
and a change gives a function other code. It is not noticed where code runs on import, before the
fork, or in a child process. mutants.md says how to try all changes of a package.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import faulthandler
import gc
import importlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from types import CodeType, FunctionType
from typing import IO, Any, Final, cast

import pytest

from tools.mutants import NEAREST

ROOT: Final = Path(__file__).parent.parent
FILES: Final = 12
"""How many files of tests are collected."""
LIMIT: Final = 10.0
"""Seconds for the tests of one change; one that takes longer is noticed."""
_PAIRS: Final = "Lt LtE, Gt GtE, Eq NotEq, Is IsNot, In NotIn, Add Sub, Mult FloorDiv, And Or"
_INSTEAD: Final = {
    one: getattr(ast, other)
    for pair in _PAIRS.split(", ")
    for one, other in (pair.split(), pair.split()[::-1])
}
"""What each operator is changed to, by its name."""


@dataclass
class Function:
    """A function or method, with what is nested in it."""

    path: Path
    tree: ast.Module
    node: ast.FunctionDef | ast.AsyncFunctionDef
    tests: list[int] = field(default_factory=list[int])
    """The numbers of the tests that reach it, quick ones first."""

    def code(self) -> CodeType:
        """Its code, of the tree as it is now."""
        codes = [compile(ast.fix_missing_locations(self.tree), str(self.path), "exec")]
        first = min((each.lineno for each in self.node.decorator_list), default=self.node.lineno)
        for code in codes:
            if (code.co_name, code.co_firstlineno) == (self.node.name, first):
                return code
            codes += [each for each in code.co_consts if isinstance(each, CodeType)]
        raise AssertionError(self.node.name)

    def change(self, change: Callable[[], object]) -> None:
        """Change the tree, and let the function have the code of what is there then."""
        old = self.code()
        change()
        new = self.code()
        for each in gc.get_objects():
            if isinstance(each, FunctionType) and each.__code__ == old:
                each.__code__ = new

    def changes(self) -> Iterator[tuple[Function, ast.AST, ast.AST]]:
        """Nodes, and what may stand there instead."""
        for node in walk(self.node.body):
            if (changed := instead(node)) is not None:
                yield self, node, changed

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}: {self.node.name}"


def walk(nodes: list[Any]) -> Iterator[ast.AST]:
    """All nodes, without those of annotations, docstrings and formats."""
    for node in nodes:
        if isinstance(node, ast.AST) and not (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            yield node
            for name, value in ast.iter_fields(node):
                if name not in ("annotation", "returns", "format_spec"):
                    yield from walk(
                        cast("list[Any]", value) if isinstance(value, list) else [value]
                    )


def instead(node: ast.AST) -> ast.AST | None:
    """What a statement or an expression is changed to, if it is one that is changed."""
    match node:
        case ast.Compare(left, [op], right) if type(op).__name__ in _INSTEAD:
            return ast.Compare(left, [_INSTEAD[type(op).__name__]()], right)
        case ast.BinOp(left, op, right) if type(op).__name__ in _INSTEAD:
            return ast.BinOp(left, _INSTEAD[type(op).__name__](), right)
        case ast.BoolOp(op, values):
            return ast.BoolOp(_INSTEAD[type(op).__name__](), values)
        case ast.UnaryOp(ast.Not(), operand):
            return ast.Call(ast.Name("bool", ast.Load()), [operand], [])
        case ast.Constant(bool(value)):
            return ast.Constant(not value)
        case ast.Constant(int(value)):
            return ast.Constant(value + 1)
        case ast.If(test, body, orelse):
            return ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Return(ast.expr()):
            return ast.Return(ast.Constant(None))
        case ast.Expr(ast.Call()):
            return ast.Pass()
        case ast.Call(function, [first, *others], keywords) if not isinstance(first, ast.Starred):
            return ast.Call(function, [ast.Constant(None), *others], keywords)
        case _:
            return None


def replace(node: ast.AST, changed: ast.AST) -> None:
    """Let a node be another, where it is."""
    ast.copy_location(changed, node)
    vars(node).clear()
    node.__class__ = type(changed)
    vars(node).update(vars(changed))


def changed_functions(since: str) -> Iterator[Function]:
    """Functions of the package that have a line which a commit has not."""
    command = ["git", "diff", "-U0", since, "--", "ffi_builder/*.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    for part in re.split(r"^diff ", done.stdout, flags=re.MULTILINE):
        name = re.search(r"^\+\+\+ b/(.*)", part, re.MULTILINE)
        if name is None:
            continue
        hunks = re.findall(r"^@@ \S+ \+(\d+)(?:,(\d+))? @@", part, re.MULTILINE)
        lines = {int(first) + more for first, count in hunks for more in range(int(count or 1))}
        tree = ast.parse((ROOT / name[1]).read_text(encoding="utf-8"))
        for outer in [tree, *(each for each in tree.body if isinstance(each, ast.ClassDef))]:
            for node in outer.body:
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (
                    lines.intersection(range(node.lineno, (node.end_lineno or 0) + 1))
                ):
                    yield Function(ROOT / name[1], tree, node)


def where_it_began() -> str:
    """Where the branch left origin/main, or ten commits ago if it is there."""
    command = ["git", "merge-base", "HEAD", "origin/main"]
    base = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return base if base not in ("", head.stdout.strip()) else "HEAD~10"


def nearest(functions: list[Function]) -> list[str]:
    """The files of tests in the nearest folders that say most of the names."""
    rooms = {each.path.relative_to(ROOT / "ffi_builder").parts[0] for each in functions}
    folders = {folder for room in rooms for folder in NEAREST.get(room, (f"tests/{room}",))}
    names = {each.node.name for each in functions} | {each.path.stem for each in functions}

    def missing(path: Path) -> int:
        text = path.read_text(encoding="utf-8")
        return sum(name not in text for name in names)

    files = sorted(path for folder in folders for path in (ROOT / folder).rglob("test_*.py"))
    return [str(path) for path in sorted(files, key=missing)[:FILES]]


@dataclass
class Trials:
    """A plugin of pytest that runs what was collected in forks, again and again."""

    functions: list[Function]
    most: int
    seconds: float
    noticed: int = 0
    tried: int = 0

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests once, and then for each change those that reach it."""
        gc.unfreeze()
        # Slow ones last: in some folders all tests are.
        session.items.sort(key=lambda item: len(list(item.iter_markers("slow"))))
        end = time.monotonic() + self.seconds
        with tempfile.TemporaryFile("w+") as log:
            fork(lambda: self.record(session, log), self.seconds / 2)
            log.seek(0)
            lines = sorted((line.split() for line in log), key=lambda line: float(line[0]))
        for _, number, *reached in lines:
            for index in map(int, reached):
                self.functions[index].tests.append(int(number))
        each = [function.changes() for function in self.functions if function.tests]
        for function, node, changed in (c for some in zip_longest(*each) for c in some if c):
            if self.tried == self.most or time.monotonic() > end:
                break
            self.tried += 1
            if fork(lambda: self.passes(session, function, node, changed), LIMIT):  # noqa: B023
                line = getattr(node, "lineno", function.node.lineno)
                print(f"{function}, line {line}: {ast.unparse(node)} to {ast.unparse(changed)}")
            else:
                self.noticed += 1
        return True

    def record(self, session: pytest.Session, log: IO[str]) -> bool:
        """Write for each test how long it takes, its number, and which functions it reaches."""
        reached: set[int] = set()
        setattr(builtins, "__reached__", reached.add)  # noqa: B010 # no attribute that it declares
        for index, function in enumerate(self.functions):
            call = ast.parse(f"__reached__({index})").body
            function.change(lambda: function.node.body.__setitem__(slice(0, 0), call))  # noqa: B023
        for number in range(len(session.items)):
            reached.clear()
            begin = time.monotonic()
            if not run(session, [number]):
                session.testsfailed = 0
                continue
            print(time.monotonic() - begin, number, *sorted(reached), file=log, flush=True)
        return True

    def passes(
        self, session: pytest.Session, function: Function, node: ast.AST, changed: ast.AST
    ) -> bool:
        """Whether no test that reaches the function notices the change."""
        function.change(lambda: replace(node, changed))
        return run(session, function.tests)


def run(session: pytest.Session, numbers: list[int]) -> bool:
    """Run tests, up to the first that fails."""
    items = [session.items[number] for number in numbers]
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return False
    return True


def fork(call: Callable[[], bool], seconds: float) -> bool:
    """Whether a call in a fork returns true, in time; what it prints is dropped."""
    child = os.fork()
    if not child:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
            faulthandler.disable()  # a change may crash
            os._exit(not call())
        finally:
            os._exit(2)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def main() -> None:
    """Try changes of the functions that were changed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--since", default=where_it_began(), help="the commit to compare with")
    parser.add_argument("--most", type=int, default=20, help="how many changes")
    parser.add_argument("--seconds", type=float, default=60, help="when to begin no other")
    given = parser.parse_args()
    functions = list(changed_functions(given.since))
    if not functions:
        sys.exit(f"no function of the package has changed since {given.since}")
    functions = functions[:: -(-len(functions) // given.most)]  # evenly, and at most so many
    for function in functions:
        name = function.path.relative_to(ROOT).with_suffix("")
        importlib.import_module(".".join(name.parts).removesuffix(".__init__"))
    trials = Trials(functions, given.most, given.seconds)
    # Nothing is printed: by pytest's terminal, which the option -ra of pyproject.toml needs.
    options = ["-p", "no:terminal", "-o", "addopts=--import-mode=importlib"]
    options += ["-p", "no:cacheprovider"]
    pytest.main([*options, *nearest(functions)], plugins=[trials])
    unreached = [str(each) for each in functions if not each.tests]
    print(f"{trials.tried} changes since {given.since}, {trials.noticed} noticed;", end=" ")
    print(f"no test that was run reaches {len(unreached)} of {len(functions)} functions")


if __name__ == "__main__":
    main()
