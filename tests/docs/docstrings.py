"""The docstrings of a source file, and running the examples in them.

An example is a ``>>>`` block of a section ``Examples:``. The examples of a class and its members,
or of a function, run one after the other in one namespace, which is empty at first: a reader can
paste them. ``...`` in an output stands for any text, and any space for a line break. What follows a
line ``Needs PyTorch:``, to the end of its docstring, runs only where that is there.

Docstrings are read from the file, so constants have theirs, and nothing has to be imported.
"""

from __future__ import annotations

import ast
import doctest
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NEEDS = re.compile(r"^ *Needs (.+):$", re.MULTILINE)
LINK = re.compile(r"^ *Examples?: see (.+)\.$", re.MULTILINE)
REFERENCE = re.compile(r":\w+:`~?([\w.]+)`")


@dataclass(frozen=True)
class Docstring:
    """``name`` is ``Signature.parse``, or empty for that of the module."""

    path: Path
    name: str
    line: int
    text: str

    @property
    def examples(self) -> list[doctest.Example]:
        return doctest.DocTestParser().get_examples(self.text)

    @property
    def that_can_run(self) -> list[doctest.Example]:
        """The examples, up to the first ``Needs …:`` of something that is not there."""
        for found in NEEDS.finditer(self.text):
            if not all(AVAILABLE[name]() for name in found[1].split(" and ")):
                line = self.text.count("\n", 0, found.start())
                return [example for example in self.examples if example.lineno < line]
        return self.examples

    @property
    def links(self) -> list[str]:
        """The names of ``Example: see :func:`x`.``, which has the example of this one too."""
        return [name for match in LINK.finditer(self.text) for name in REFERENCE.findall(match[1])]


def docstrings(path: Path) -> Iterator[Docstring]:
    """Yield the docstrings of a file: of modules, classes, functions, and behind assignments."""
    tree = ast.parse(path.read_text())
    yield from _of(path, "", tree)
    yield from _inside(path, "", tree)


def groups(path: Path) -> dict[str, list[Docstring]]:
    """Return those with examples, of each thing at the top of a file with its members."""
    found: dict[str, list[Docstring]] = {}
    for docstring in docstrings(path):
        if docstring.examples:
            found.setdefault(docstring.name.partition(".")[0], []).append(docstring)
    return found


def run(group: list[Docstring]) -> str:
    """Run the examples, and return the report of the failures; empty if there are none."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
    for docstring in group:
        path, name = docstring.path, docstring.name or docstring.path.stem
        examples = docstring.that_can_run
        test = doctest.DocTest(examples, {}, name, str(path), docstring.line, None)
        test.globs = namespace  # which DocTest copies
        runner.run(test, out=report.append, clear_globs=False)
    namespace.clear()
    return "".join(report)


def _of(path: Path, name: str, node: ast.AST) -> Iterator[Docstring]:
    if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
        text = ast.get_docstring(node)
        if text is not None:
            yield Docstring(path, name, node.body[0].lineno - 1, text)


def _inside(path: Path, prefix: str, node: ast.Module | ast.ClassDef) -> Iterator[Docstring]:
    for child, following in zip(node.body, [*node.body[1:], None], strict=True):
        match child, following:
            case ((ast.ClassDef(name=name) | ast.FunctionDef(name=name)), _):
                yield from _of(path, prefix + name, child)
                if isinstance(child, ast.ClassDef):
                    yield from _inside(path, f"{prefix}{name}.", child)
            case (
                (ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)])),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield Docstring(path, prefix + name, following.lineno - 1, inspect.cleandoc(text))
            case _:
                pass


def _module(name: str) -> Callable[[], bool]:
    def is_there() -> bool:
        try:
            return importlib.util.find_spec(name) is not None
        except ModuleNotFoundError:
            return False

    return is_there


def _has_gpu() -> bool:
    """Return whether PyTorch has a GPU that can run PTX for sm_90."""
    if importlib.util.find_spec("torch") is None:
        return False
    cuda: Any = importlib.import_module("torch").cuda
    return cuda.is_available() and cuda.get_device_capability() >= (9, 0)


AVAILABLE: dict[str, Callable[[], bool]] = {
    "PyTorch": _module("torch"),
    "JAX": _module("jax_tvm_ffi"),
    "NVRTC": _module("cuda.bindings.nvrtc"),
    "nvJitLink": _module("cuda.bindings.nvjitlink"),
    "TileLang": _module("tilelang"),
    "cuTile": _module("cuda.tile"),
    "Triton": _module("triton"),
    "a GPU of sm_90 or later": _has_gpu,
}
"""The names after ``Needs``, each with whether it is installed."""
