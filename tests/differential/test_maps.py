"""A Map is checked as the list of its keys and then the list of its values, which have an oracle."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import tvm_ffi
from hypothesis import given, settings
from hypothesis import strategies as st

from ffi_builder import attach, runtime, spec
from ffi_builder.ir import PlainModule
from ffi_builder.providers import NopCallProvider

INTS = [0, 1, -1, 127, 128, 2**31, 2**63 - 1, -(2**63), True, False]
NUMBERS = [*INTS, 0.5, 1e39, float("inf"), float("nan")]
OTHERS = ["", "a", "more than seven bytes", b"a", b"more than seven bytes", None, 2**64]
OBJECTS: list[Any] = [[1], {1: 2}, np.zeros(1), tvm_ffi.dtype("int32")]

KINDS = ["int64", "int8", "uint64", "bool", "float64", "float32"]
CHECKED = ["String", "Bytes", "int32", "Optional(int64)", "Any"]
"""Maps of these, and not only of numbers, are objects."""


def attached(*texts: str) -> list[Any]:
    module = PlainModule()
    for index, text in enumerate(texts):
        signature = spec.Signature.parse(f"f{index}({text})", device="cpu")
        attach(module, signature, NopCallProvider())
    compiled = runtime.compile(module)
    return [compiled[f"f{index}"] for index in range(len(texts))]


def outcome(function: Any, *args: Any) -> tuple[str, str]:
    """The class and the words of an error; empty if the call is accepted."""
    try:
        function(*args)
    except (TypeError, ValueError, MemoryError) as error:
        return type(error).__name__, re.sub(r"on argument #. when calling: `.*`", "", str(error))
    return "", ""


def named(outcome: tuple[str, str]) -> tuple[str, str]:
    kind, words = outcome
    return kind, re.sub(r"\b(keys|values)\[", r"m.\1[", words)


@pytest.mark.parametrize("kinds", [KINDS, CHECKED], ids=["numbers", "objects"])
def test_a_map_is_two_lists(kinds: list[str]) -> None:
    list_kind = "List" if kinds is KINDS else "Array"
    pairs = list(zip(kinds, [*kinds[2:], *kinds[:2]], strict=True))
    texts = [f"m: Map({key}, {value})" for key, value in pairs]
    texts += [f"keys: {list_kind}({key}), values: {list_kind}({value})" for key, value in pairs]
    functions = attached(*texts)
    seen: set[str] = set()

    @settings(max_examples=150, deadline=None)
    @given(
        st.integers(0, len(pairs) - 1),
        st.dictionaries(
            st.sampled_from([*NUMBERS, *OTHERS]),
            st.sampled_from([*NUMBERS, *OTHERS, *OBJECTS]),
            max_size=4,
        ),
    )
    def agree(index: int, given: dict[Any, Any]) -> None:
        try:
            made = tvm_ffi.Map(given)
        except (TypeError, OverflowError):
            return  # no object of tvm-ffi
        keys, values = tvm_ffi.Array(list(given)), tvm_ffi.Array(list(given.values()))
        two = named(outcome(functions[len(pairs) + index], keys, values))
        for each in (made, tvm_ffi.Dict(given), given):
            found = outcome(functions[index], each)
            assert found == two, (pairs[index], each)
        seen.add(two[0])

    agree()
    assert seen == {"", "TypeError", "ValueError"}
