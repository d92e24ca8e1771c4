"""Workspaces: what is accepted and refused, as objects and as text."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from ffi_builder import SpecError
from ffi_builder.spec import (
    DefaultConfig,
    EnvStream,
    Optional,
    Signature,
    Stream,
    Struct,
    Tensor,
    TupleParam,
    Var,
    Workspace,
    dims,
    outline,
)

n, m = dims("n m")
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
    assert eval(repr(made)) == made
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


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: scratch(None), "Workspace 'w': shape[0]: expected the size to allocate but got None"),
        (lambda: Workspace("w", ..., "int8", device_type="cpu"), "Workspace 'w': shape: expected a list of sizes but got ..."),
        (lambda: scratch(2, dtype=["int8", "int16"]), "Workspace 'w': dtype: expected one but got int8, int16"),
        (lambda: scratch(2, strides="F"), "Workspace 'w': strides: expected None (contiguous) but got 'F'"),
        (lambda: scratch(2, 3, strides="F"), "Workspace 'w': strides: expected None (contiguous) but got 'F'. The wrapper makes it row-major: declare [3, 2], whose transpose w.T is column-major"),
        (lambda: scratch(2, device_type="any"), "Workspace 'w': device_type: expected the one to allocate on but got 'any'"),
        (lambda: scratch(2, device_type="x.device_type", device_id=1), "Workspace 'w': device_id: expected None, as x.device_type takes it too"),
        (lambda: scratch(2, intent="in"), "Workspace 'w': intent: expected None but got 'in'"),
        (lambda: scratch(2, default=None), "Workspace 'w': it is not an argument, so has no default and no kw_only"),
        (lambda: scratch(2, zero=1), "Workspace 'w': zero: expected True or False but got 1"),
        (lambda: scratch(2, zero=True, device_type="vulkan"), "Workspace 'w': zero: expected False on 'vulkan', whose memory no add-on fills; let the kernel do it"),
        (lambda: scratch(2, data_alignment=3), "Workspace 'w': data_alignment: expected a power of two but got 3"),
        (lambda: scratch(2, storage_dtype="float32x2"), "Workspace 'w': storage_dtype: expected None; give what is allocated as dtype"),
        (lambda: Workspace("w", [2], "x.y.z.dtyp", device_type="cpu"), "Workspace 'w': dtype: expected a DLPack type name such as 'float32', 'bool' or 'float8_e4m3fn' but got 'x.y.z.dtyp'"),
        (lambda: Workspace("w", [2], "2x.dtype", device_type="cpu"), "Workspace 'w': dtype: expected the dtype of a parameter, such as 'x.dtype', but got '2x.dtype'"),
        (lambda: Optional(scratch(2)), "Optional 'w': a Workspace is not an argument"),
        (lambda: TupleParam("t", [scratch(2)]), "TupleParam 't': Workspace 'w' is not an argument, so it cannot be an element of a tuple; put it into the parameter list itself"),
        (lambda: Signature("f", [X], scratch(n)), "Signature 'f': returns: 'w': a Workspace is a parameter; return a Tensor"),
        (lambda: Signature("f", [scratch(m), X]), "Signature 'f': no parameter binds symbol 'm', which w.shape[0] = m of a workspace needs"),
        (lambda: Signature("f", [scratch(n), Optional(X)]), "Signature 'f': w.shape[0] = n of a workspace needs symbol 'n', which only Optionals bind, and would be 0 where they are None; bind it in a parameter that is always there too"),
        (lambda: Signature("f", [scratch(Var("n", "int32")), X]), "Signature 'f': symbol 'n' has two meanings: Var('n', 'int64') in the parameters and Var('n', 'int32') at w.shape[0]; use another name, or the same fields"),
        (lambda: Signature("f", [scratch(2, device_type="cuda"), TupleParam("t", [Stream("s")])]), "Signature 'f': Workspace 'w' is released for the framework's current stream, and Stream 't[0]' may be another one; use an EnvStream"),
        (lambda: Signature("f", [scratch(2, device_type="cuda"), EnvStream("s")]), "Signature 'f': EnvStream 's' is the current stream of a tensor's device, but no Tensor here is on another device than the CPU"),
        (lambda: Signature("f", [Tensor("x", [4], "int8", device_type="any"), scratch(2, device_type="x.device_type", zero=True)]), "Workspace 'w': zero: expected False on 'any', whose memory no add-on fills; let the kernel do it"),
    ],
)  # fmt: skip
def test_what_is_refused(make: Callable[[], object], words: str) -> None:
    with pytest.raises(SpecError) as raised:
        make()
    assert str(raised.value) == words


def test_a_stream_is_allowed_beside_memory_of_the_cpu() -> None:
    assert Signature("f", [scratch(2), Stream("s")]).workspaces == [scratch(2)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("f(w: Workspace([4], int8, strides=C))", "option of a Workspace: expected one of device_type, device_id, data_alignment, zero but got 'strides'"),
        ("f(w: Workspace([4], int8, zero=1))", "expected True or False but got '1'"),
        ("f(w: Workspace([4], int8, zero=yes))", "zero: expected one of True, False but got 'yes'"),
        ("f(x: Tensor([4], int8, zero=True))", "option of a Tensor: expected one of strides, device_type, device_id, data_alignment, storage_dtype, intent but got 'zero'"),
        ("f(w: Workspace([x.shape], int8))", "expected an int, a symbol or an expression but got 'x.shape'"),
        ("f(w: Workspace([4], x.shape))", "expected a dtype such as float32 but got 'x.shape'"),
    ],
)  # fmt: skip
def test_texts_that_are_refused(text: str, words: str) -> None:
    with pytest.raises(SpecError) as raised:
        Signature.parse(text, device="cpu")
    assert str(raised.value).startswith(f"Signature.parse: {words}\n    {text}\n")
