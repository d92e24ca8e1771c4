"""tools/changed.py finds changed functions, and changes one thing at a time."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

from tools import changed
from tools.changed import Function, instead, replace, walk

TEXT = '''
def limit(x: int = 1) -> int:
    """A docstring."""
    if x < 3 and not done(x):
        note("x")
        return x + 1
    return 0
'''


def function() -> Function:
    tree = ast.parse(TEXT)
    node = tree.body[0]
    assert isinstance(node, ast.FunctionDef)
    return Function(changed.ROOT / "limit.py", tree, node)


def test_each_change_is_another() -> None:
    texts: set[str] = set()
    for number, (_, node, _) in enumerate(function().changes()):
        each = function()
        _, node, other = list(each.changes())[number]
        replace(node, other)
        compile(ast.fix_missing_locations(each.tree), "limit.py", "exec")
        texts.add(ast.unparse(each.tree))
    assert len(texts) == 13
    assert all('"""A docstring."""' in text and "x: int=1" in text for text in texts)
    for part in (
        "x <= 3",
        "x < 4",
        "x < 3 or",
        "not (x < 3",
        "pass",
        "note(None)",
        "x - 1",
        "return 1",
    ):
        assert any(part in text for text in texts), part


def test_what_is_not_changed() -> None:
    assert [node for node in walk(ast.parse("'text'\n'''more'''").body) if instead(node)] == []


def test_functions_with_a_changed_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*words: str) -> None:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)

    path = tmp_path / "ffi_builder" / "a.py"
    path.parent.mkdir()
    path.write_text(TEXT + TEXT.replace("limit", "other"))
    git("init")
    git("add", ".")
    git("commit", "-m", "a")
    monkeypatch.setattr(changed, "ROOT", tmp_path)
    assert list(changed.changed_functions("HEAD")) == []
    path.write_text(TEXT + TEXT.replace("limit", "other").replace("return 0", "return 2"))
    [found] = changed.changed_functions("HEAD")
    assert str(found) == "ffi_builder/a.py: other"
