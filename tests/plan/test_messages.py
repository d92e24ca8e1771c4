"""The words of errors: complete, and those of docs/checks.md."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import get_args

import pytest

from ffi_builder import abi
from ffi_builder.plan import Part, Place, Words
from ffi_builder.plan.messages import (
    BINDING,
    FRAME,
    FRAME_WITHOUT_ARGUMENT,
    NEAREST,
    OR_NONE,
    SIGNATURE_LIMIT,
    TYPE_NAMES,
    choices_text,
    float_text,
    signature_text,
)
from ffi_builder.plan.step import Check
from ffi_builder.plan.steps import (
    Alternative,
    AnyCheck,
    Bind,
    BindOrEqual,
    DecodeOptional,
    EachElement,
    EqualExpr,
    EqualInt,
    EqualSymbol,
    Kind,
    OpenMap,
    named_words,
)
from ffi_builder.spec import Var
from tools.plan_header import PLACEHOLDERS, template_parts

CHECKS = (Path(__file__).parents[2] / "docs" / "checks.md").read_text()
PROSE = re.sub(r"^```.*?^```$", "", CHECKS, flags=re.MULTILINE | re.DOTALL)
"""The page without its code block, whose fences would count as quotes."""
QUOTED = {quoted.replace("\n", " ") for quoted in re.findall(r"`([^`]+)`", PROSE)}
"""The texts in backticks, with the line breaks of the page as spaces."""
DYNAMIC = ("{got}", "{type}", "{dtype}", "{device}", "{shape}", "{expected}")


@pytest.mark.parametrize("words", dict.fromkeys(named_words().values()))
def test_every_row_is_complete(words: Words):
    assert words.kind in ("TypeError", "ValueError")
    assert words.prefix in ("", "type of ", "length of ")
    for template in (words.expected, words.got):
        names = re.findall(r"\{(.*?)\}", template)
        assert set(names) <= set(PLACEHOLDERS)
        # Braces stand for nothing else.
        assert "{" not in re.sub(r"\{\w+\}", "", template)


def test_every_placeholder_is_used():
    templates = (
        FRAME + BINDING + "".join(words.expected + words.got for words in named_words().values())
    )
    assert [name for name in PLACEHOLDERS if f"{{{name}}}" not in templates] == []


def test_every_check_but_four_can_fail_in_words():
    never = (Alternative, Bind, DecodeOptional, EachElement, OpenMap)
    for kind in get_args(AnyCheck):
        has_words = isinstance(getattr(kind, "words", None), Words) or kind.error is not Check.error
        assert has_words == (kind not in never), kind


def test_strides_show_the_layout():
    place, n = Place((0,), "A", Part.STRIDES, 0), Var("n", "int64")
    pairs = [
        (EqualInt(place, 4), EqualInt(place, 4, True)),
        (EqualSymbol(place, n), EqualSymbol(place, n, True)),
        (BindOrEqual(place, n), BindOrEqual(place, n, True)),
        (EqualExpr(place, n * 2), EqualExpr(place, n * 2, True)),
    ]
    for plain, stride in pairs:
        assert plain.error.expected == stride.error.expected
        assert plain.error.got == "{got}"
        assert stride.error.got == "{got} (shape={shape}, strides={strides})"


@pytest.mark.parametrize("words", dict.fromkeys(named_words().values()))
def test_the_documentation_has_every_row(words: Words):
    # The page documents separately what an Optional adds.
    expected = words.expected.replace("{or_none}", "")
    for template in {expected, words.got} - set(DYNAMIC):
        if template.strip("{}") in PLACEHOLDERS:
            continue  # a value alone
        pattern = "".join(
            re.escape(literal) + (".+" if name else "")
            for literal, name in template_parts(template)
        )
        found = [quoted for quoted in QUOTED if re.fullmatch(f".*{pattern}", quoted)]
        assert found, f"docs/checks.md has nothing like {template!r}"


def test_the_documentation_has_the_class_of_every_kind_check():
    for kind in Kind:
        expected = kind.words.expected.replace("{or_none}", "")
        assert f"`{expected}`" in CHECKS
        assert kind.words.kind == "TypeError"


def test_the_documentation_names_every_type_index():
    section = CHECKS[CHECKS.index("Kinds, by type index") :]
    listed = dict[int, str]()
    for numbers, name in re.findall(r"(\d+(?:\sand\s\d+)?)\s`([^`]+)`", section.split("\n\n")[0]):
        listed |= {int(number): name for number in re.findall(r"\d+", numbers)}
    assert listed == TYPE_NAMES
    assert set(TYPE_NAMES) == set(abi.TypeIndex)


def test_what_optionals_and_choices_add_is_documented():
    assert OR_NONE in QUOTED
    assert "'rleu'" + NEAREST.format(nearest="relu") in QUOTED
    assert f"one of {choices_text(['relu', 'gelu'])}" in QUOTED


def test_kinds_of_none_are_not_said_twice():
    """Parameters that take None already are never Optional."""
    for kind in (Kind.HANDLE, Kind.POINTER, Kind.STREAM, Kind.CONST_NONE):
        assert "or_none" not in kind.words.expected


def test_the_frame():
    assert FRAME.format(
        subject="B.shape[0]", argument=1, signature="f(…)", wanted="3", actual="4"
    ) == (
        "Mismatched B.shape[0] on argument #1 when calling: `f(…)`, expected 3 but got 4"
    )  # fmt: skip
    assert FRAME_WITHOUT_ARGUMENT.format(
        subject="number of arguments", signature="f()", wanted="0", actual="1"
    ) == ("Mismatched number of arguments when calling: `f()`, expected 0 but got 1")


class TestSignatureText:
    arguments = ("A: int64", "B: int64", "C: int64")
    long = tuple(f"{name}: {'x' * 150}" for name in "ABC")

    def test_short_ones_are_whole(self):
        for failing in (None, 0, 2):
            text = signature_text("f", list(self.arguments), failing)
            assert text == "f(A: int64, B: int64, C: int64)"

    def test_up_to_the_limit(self):
        padding = SIGNATURE_LIMIT - len("f(A: )")
        assert len(signature_text("f", [f"A: {'x' * padding}"], None)) == SIGNATURE_LIMIT
        assert signature_text("f", [f"A: {'x' * (padding + 1)}"], None) == "f(...)"

    @pytest.mark.parametrize(
        ("failing", "before", "after"), [(0, "", ", ..."), (1, "..., ", ", ..."), (2, "..., ", "")]
    )
    def test_long_ones_show_the_failing_argument(self, failing: int, before: str, after: str):
        text = signature_text("f", list(self.long), failing)
        assert text == f"f({before}{self.long[failing]}{after})"

    def test_an_only_argument(self):
        only = f"A: {'x' * 500}"
        assert signature_text("f", [only], 0) == f"f({only})"


@pytest.mark.parametrize(
    ("template", "parts"),
    [
        ("3", [("3", None)]),
        ("{got}", [("", "got"), ("", None)]),
        ("at least {expected}!", [("at least ", "expected"), ("!", None)]),
        ("{a}{b} c", [("", "a"), ("", "b"), (" c", None)]),
    ],
)
def test_template_parts(template: str, parts: list[tuple[str, str | None]]):
    assert template_parts(template) == parts


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (1.0, "1"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e300, "1e+300"),
        (-0.0, "-0"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
        (-math.nan, "nan"),
    ],
)
def test_float_text(value: float, text: str):
    assert float_text(value) == text
