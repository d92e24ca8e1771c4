"""Workspaces: what is accepted and refused, as objects and as text."""

from __future__ import annotations

from typing import Any

import pytest

from ffi_builder import SpecError
from ffi_builder.spec import (
    DefaultConfig,
    Signature,
    Stream,
    Struct,
    Tensor,
    Workspace,
    dims,
    outline,
)

(n,) = dims("n")
X = Tensor("x", [n], "float32", device_type="cpu")


def scratch(*entries: Any, **fields: Any) -> Workspace:
    fields.setdefault("device_type", "cpu")
    return Workspace("w", entries, fields.pop("dtype", "float32"), **fields)


def test_callers_do_not_see_it() -> None:
    made = Signature("f", [scratch(n), X])
    assert made.arguments == (X,)
    assert made.workspaces == [scratch(n)]
    assert outline(made) == "f(x: Tensor([n], float32))"


def test_the_fields_that_make_it() -> None:
    assert scratch(n) != scratch(n, zero=True)
    with DefaultConfig(device_type="cuda"):
        assert Workspace("w", [4], "int8").device == "cuda"
    made = Signature("f", [scratch(n), X]).with_params(w={"zero": True})
    assert made.workspaces == [scratch(n, zero=True)]


def test_it_knows_where_its_fields_come_from() -> None:
    x = Tensor("x", [n, None], ["float16", "float32"], device_type="any")
    given = Workspace("w", "cfg.x.shape", "cfg.x.dtype", device_type="cfg.x.device_type")
    [w] = Signature("f", [Struct("cfg", [x]), given]).workspaces
    assert (w.dims, w.dtypes, w.device, w.ndim) == ((n, None), ("float16", "float32"), "any", 2)
    assert w == given
    with pytest.raises(SpecError, match=r"Workspace 'w': shape is cfg\.x\.shape, which only a Sig"):
        _ = given.dims


def test_a_stream_is_allowed_beside_memory_of_the_cpu() -> None:
    assert Signature("f", [scratch(2), Stream("s")]).workspaces == [scratch(2)]
