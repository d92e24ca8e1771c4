"""What is refused: specs, in refused_calls.txt, and texts of signatures, in refused_texts.txt.

Errors of texts show the line, with carets under the place.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ffi_builder import SpecError
from ffi_builder.spec import DefaultConfig, Signature
from tests.spec.tables import NAMES, rows


@pytest.mark.parametrize(("call", "words"), rows("refused_calls.txt", 2))
def test_what_is_refused(call: str, words: str) -> None:
    with DefaultConfig(device_type="cpu"), pytest.raises(SpecError) as caught:
        eval(call, NAMES)
    assert str(caught.value) == words.strip()


def message(text: str, device: str | None = "cpu") -> str:
    with pytest.raises(SpecError) as error:
        Signature.parse(text, device=device)
    assert error.value.__cause__ is None
    return str(error.value)


@pytest.mark.parametrize(("words", "text", "carets"), rows("refused_texts.txt", 3))
def test_errors_point_at_the_place(words: str, text: str, carets: str):
    assert message(text) == f"Signature.parse: {words}\n    {text}\n    {carets}"


def test_only_the_line_is_shown():
    words = message("f(\n  n: int64,\n\tx: Tnsor([n]),\n)")
    assert words.endswith("\n    \tx: Tnsor([n]),\n    \t   ^^^^^")


def test_no_device():
    words = message("f(x: Tensor([n], float32))", device=None)
    assert "Tensor 'x': no device_type given. Say device_type=cpu (or cuda, …) in its " in words
    assert words.endswith("\n    f(x: Tensor([n], float32))\n         ^^^^^^")
    with pytest.raises(SpecError, match=r"Signature\.parse: device: expected one of cpu, .* 'gpu'"):
        Signature.parse("f()", device="gpu")


def test_the_grammar_names_every_word():
    """docs/signatures.md has every option and kind that the text may have."""
    page = (Path(__file__).parents[2] / "docs/signatures.md").read_text()
    grammar = page.partition("```ebnf")[2].partition("```")[0]
    words = {"strides", "device_type", "device_id", "data_alignment", "storage_dtype", "intent"}
    words |= {"address_space", "where", "ceildiv", "max", "min", "in", "...", "C", "F", "any"}
    types = message("f(x: Tnsor)").partition("a type: ")[2].partition(", or ")[0]
    words |= set(types.split(", "))
    assert {word for word in words if f'"{word}"' not in grammar} == set()
