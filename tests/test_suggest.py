"""Which name was meant."""

from __future__ import annotations

import pytest

from ffi_builder.suggest import did_you_mean, nearest

DTYPES = ["int8", "int32", "int64", "uint8", "float16", "float32", "float64", "bool"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("flaot32", "float32"),
        ("FLOAT32", "float32"),
        (" float32 ", "float32"),
        ("fp32", "float32"),
        ("f16", "float16"),
        ("i8", "int8"),
        ("double", "float64"),
        ("torch.half", "float16"),
        (float, "float32"),
        (int, "int32"),
        (bool, "bool"),
        ("handle", None),
        ("str", None),
        ("", None),
        (None, None),
        (7, None),
        ([], None),
    ],
)
def test_nearest(given: object, expected: str | None) -> None:
    assert nearest(given, DTYPES) == expected


def test_an_alias_is_given_only_where_it_is_allowed() -> None:
    assert nearest("gpu", ["cpu", "cuda"]) == "cuda"
    assert nearest("gpu", ["metal", "vulkan"]) is None
    assert nearest(None, ["oneapi", "cpu"]) is None  # which are alike, as words


def test_how_it_is_shown() -> None:
    assert did_you_mean("sqare", ["square"]) == ", did you mean 'square'?"
    assert did_you_mean("sqare", ["square"], "@{}") == ", did you mean @square?"
    assert did_you_mean("other", ["square"]) == ""
