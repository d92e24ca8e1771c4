"""Workspaces: what is accepted and refused, as objects and as text."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from ffi_builder import SpecError, spec
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


@pytest.mark.parametrize(
    ("workspace", "text"),
    [
        (scratch(n), "Workspace([n], float32, device_type=cpu)"),
        (scratch(n * 4, 2, dtype="x.dtype"), "Workspace([n * 4, 2], x.dtype, device_type=cpu)"),
        (scratch(zero=True), "Workspace([], float32, device_type=cpu, zero=True)"),
        (
            Workspace("w", "x.shape", "x.dtype", device_type="x.device_type", zero=True),
            "Workspace(x.shape, x.dtype, device_type=x.device_type, zero=True)",
        ),
        (
            scratch(n, device_type="cuda", device_id=n, data_alignment=128, zero=True),
            "Workspace([n], float32, device_type=cuda, device_id=n, data_alignment=128, zero=True)",
        ),
        (scratch(4, device_type="rocm"), "Workspace([4], float32, device_type=rocm)"),
    ],
)
def test_as_text_and_back(workspace: Workspace, text: str) -> None:
    made = Signature("f", [workspace, X])
    assert str(made) == f"f(w: {text}, x: Tensor([n], float32, device_type=cpu))"
    assert Signature.parse(str(made)) == made
    assert eval(repr(made), dict(vars(spec))) == made
    assert pickle.loads(pickle.dumps(made)) == made


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
