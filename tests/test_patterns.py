"""Regular expressions that are compiled when they are first used."""

from __future__ import annotations

import re

import pytest

from ffi_builder.patterns import pattern


def test_it_is_compiled_when_it_is_used(monkeypatch: pytest.MonkeyPatch):
    compiled: list[tuple[object, ...]] = []
    compile_ = re.compile

    def noting(*given: object) -> re.Pattern[str]:
        compiled.append(given)
        return compile_(*given)  # pyright: ignore[reportCallIssue, reportArgumentType, reportUnknownVariableType]

    monkeypatch.setattr(re, "compile", noting)
    letters = pattern("[a-c]+", re.IGNORECASE)
    assert compiled == []
    found = letters.fullmatch("aBc")
    assert found is not None
    assert found[0] == "aBc"
    assert letters.fullmatch("d") is None
    assert compiled == [("[a-c]+", re.IGNORECASE)]
    assert letters.pattern == "[a-c]+"


def test_a_mistake_is_an_error_when_it_is_used():
    wrong = pattern("(")
    with pytest.raises(re.error, match="missing"):
        wrong.match("")
    with pytest.raises(AttributeError, match="no attribute 'matches'"):
        _ = pattern("a").matches  # pyright: ignore
