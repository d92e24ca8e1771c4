"""Text that is far from a signature: no str, thousands of brackets, quoted words, Python."""

from __future__ import annotations

from typing import Any

import pytest

from ffi_builder import SpecError
from ffi_builder.spec import Signature


def test_no_text():
    not_text: Any = None
    with pytest.raises(SpecError, match=r"Signature\.parse: expected a str but got None"):
        Signature.parse(not_text)


@pytest.mark.parametrize("opening", ["(", "ceildiv(", "t: Tuple(", "t: Struct("])
def test_too_deep(opening: str):
    prefix = "f(" if opening.startswith("t") else "f(x: Tensor(["
    with pytest.raises(SpecError, match=r"^Signature\.parse: too deeply nested\n"):
        Signature.parse(prefix + opening * 5000)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("f('a b': int32)", "'a b'"),
        ("f(x: Tensor(['a b'], float32, device_type=cpu))", "'a b'"),
        ("f('a b': Stream)", "'a b'"),
        ("f('a b': Choice({'x': 1}))", "'a b'"),
        ("f(s: Struct('a b': Optional(int8)))", "'a b'"),
        ("f(s: 'Tens r'([n], int8))", "'Tens r'"),
        ("f(s: Tensor('...', int8))", "'...'"),
        ("f(s: Choice({'x': '1'}))", "'1'"),
        ("f(x: Literal['True'])", "'True'"),
        ("f(x: Literal['inf'])", "'inf'"),
        ("f(n: int64) where n % 4 == '0'", "'0'"),
    ],
)
def test_quoted_words_are_names_and_names_are_identifiers(text: str, place: str) -> None:
    with pytest.raises(SpecError) as caught:
        Signature.parse(text)
    line, carets = str(caught.value).splitlines()[-2:]
    start = carets.index("^")
    assert line[start : start + len(place)].startswith(place[: carets.count("^")])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "f(x: Tensor([n], uint8), *, a: float64, b: Optional(int32)) -> c: int32",
            "leave it out, and add with_params(a={'kw_only': True}, b={'kw_only': True})",
        ),
        ("f(n: int32, *)", "a text has no keyword-only parameters: leave it out"),
        ("f(*rest: int32)", "VarArgs 'rest': type: expected one of Any but got 'int32'"),
        (
            "f(x: Tensor([n], float32)) -> s: x.dtype",
            "a scalar has one type; `s: Tensor([], x.dtype)` has that dtype",
        ),
        (
            "f(alpha: x.dtype, x: Tensor([n], float32 | float64))",
            "a number has one dtype: write `alpha: float64`, and 'float32(alpha)' in args= of the "
            "Variant whose kernel takes float32",
        ),
    ],
)
def test_what_a_python_function_has(text: str, words: str) -> None:
    with pytest.raises(SpecError) as caught:
        Signature.parse(text, device="cpu")
    assert str(caught.value).splitlines()[0].replace('"', "'").endswith(words)


@pytest.mark.parametrize(
    ("where", "read"),
    [("(n <= m)", "n <= m"), ("((n <= m))", "n <= m"), ("(n + 1) <= m", "n + 1 <= m")],
)
def test_a_relation_may_be_in_brackets(where: str, read: str) -> None:
    parsed = Signature.parse(f"f(x: Tensor([n, m], float32)) where {where}", device="cpu")
    assert str(parsed).partition(" where ")[2] == read
    with pytest.raises(SpecError, match=r"expected '\)' but got the end"):
        Signature.parse("f(x: Tensor([n, m], float32)) where (n <= m", device="cpu")
