"""The layers of the design, and the isolation of the oracle: the contracts of pyproject.toml."""

from __future__ import annotations

from pathlib import Path

import pytest
from importlinter.cli import lint_imports

from tests.support.absent import installed

ROOT = Path(__file__).parent.parent


def test_import_contracts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    config = tmp_path / "pyproject.toml"
    config.write_text(installed((ROOT / "pyproject.toml").read_text()))
    monkeypatch.chdir(ROOT)
    status = lint_imports(config_filename=str(config), no_cache=True)
    assert status == 0, capsys.readouterr().out
