"""Maps of numbers as specs: fields, texts, defaults, metadata."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ffi_builder import SpecError
from ffi_builder.spec import Map, Signature


@pytest.mark.parametrize(
    ("default", "words"),
    [
        ({1: 2, False: 0}, None),
        ({}, None),
        ([], "'m': default: expected a dict but got"),
        ({1: 2, "a": 3}, r"'m.keys\[1\]': default: expected an int but got 'a'"),
        ({1: 2, 3: 128}, r"'m.values\[1\]': default: 128 does not fit int8"),
    ],
)
def test_defaults(default: Any, words: str | None) -> None:
    made = Map("m", "int64", "int8", default=default)
    if words is None:
        assert Signature("f", [made]).params[0].default == default
        return
    with pytest.raises(SpecError, match=words):
        Signature("f", [made])


def test_metadata() -> None:
    found = json.loads(Signature("f", [Map("m", "int64", "float32")]).metadata())
    [schema] = found["type_schema"]["named_args"]["params"]
    assert schema == {"type": "ffi.Map", "args": [{"type": "int"}, {"type": "float"}]}
    [param] = found["ffi_builder"]["params"]
    assert param == {"name": "m", "type": "Map(int64, float32)", "kind": "Map"}
