"""``testing.check`` and ``explain`` say of results what the wrapper does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from ffi_builder import attach, explain, runtime, spec, testing
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import outline
from tests.support.wrapping import new_module

np = pytest.importorskip("numpy", reason="needs NumPy")

CASES: list[tuple[str, list[Any], str]] = [
    (
        "f(x: Optional(Tensor([n], float32)), n: int64) -> y: Tensor([n], float32)",
        [None, -5],
        "The size y.shape[0] = n of the result would be -5",
    ),
    (
        "f(x: Optional(Tensor([n], int8)), z: Tensor([m], int8, strides=[n])) -> y: Tensor([n], int8)",
        [None, np.zeros(4, "int8")[::-1]],
        "The size y.shape[0] = n of the result would be -1",
    ),
    (
        "f(x: Tensor([n], int8)) -> y: Tensor([n - 3], int8)",
        [np.zeros(1, "int8")],
        "The size y.shape[0] = n - 3 of the result would be -2",
    ),
    (
        "f(x: Tensor([n], int8)) -> (a: Tensor([n], int8), y: Tensor([2, n * n - 5], int8))",
        [np.zeros(2, "int8")],
        "The size y.shape[1] = n * n - 5 of the result would be -1",
    ),
    ("f(k: int32) -> y: Tensor([k], int8)", [-7], "The size y.shape[0] = k of the result would be"),
    (
        "f(k: int64) -> y: Tensor([k * k], int8)",
        [2**32],
        "The value of k * k does not fit int64",
    ),
    (
        "f(k: uint64) -> y: Tensor([k], int8)",
        [2**64 - 3],
        "The size y.shape[0] = k of the result would be -3",
    ),
    (
        "f(k: uint64) -> y: Tensor([k - 1], int8)",
        [2**64 - 3],
        "The value of k - 1 does not fit int64",
    ),
    (
        "f(d: int32) -> y: Tensor([1], int8, device_type=cuda, device_id=d)",
        [-1],
        "The device id d of the result y is out of range: -1",
    ),
    (
        "f(x: Tensor([n], int8, strides=[s])) -> y: Tensor([s], int8)",
        [np.zeros(4, "int8")[::-2]],
        "The size y.shape[0] = s of the result would be -2",
    ),
]


def wrapper(signature: spec.Signature) -> Callable[..., object]:
    module = new_module()
    attach(module, signature, NopCallProvider())
    return runtime.compile(module)["f"]


def error(function: Callable[..., object], *arguments: Any) -> str:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        function(*arguments)
    return str(caught.value)


@pytest.mark.parametrize(("text", "arguments", "words"), CASES, ids=[text for text, *_ in CASES])
def test_the_error_is_the_wrappers(text: str, arguments: list[Any], words: str) -> None:
    signature = spec.Signature.parse(text, device="cpu")
    with runtime.install_allocator():
        raised = error(wrapper(signature), *arguments)
    found = error(partial(testing.check, signature), *arguments)
    assert found == raised
    assert found.startswith(words)
    assert found.endswith(f" when calling: `{outline(signature)}`")
    if not words.startswith("The value"):
        subject = words.split(" of the result")[0].removeprefix("The size ").split(" = ")[0]
        assert subject.replace("The device id d", "y.device_id") in explain(signature)


def test_what_passes() -> None:
    text = (
        "f(x: Tensor([n], int8), d: int32) -> (y: Tensor([n - 3, 4], int8, device_id=d), t: int8)"
    )
    signature = spec.Signature.parse(text, device="cpu")
    assert testing.check(signature, np.zeros(3, "int8"), 0) == {"n": 3, "d": 0}


def test_explain_lists_what_can_fail() -> None:
    text = """f(x: Tensor([n, m], int8, strides=[s, 1]), k: int64, u: uint32) -> (
        y: Tensor([n, 4, s, k, u, n - m], int8, data_alignment=64), t: float32)
        where 0 <= k"""
    rows = explain(spec.Signature.parse(text, device="cpu")).splitlines()
    start = rows.index("then, of what is returned:")
    assert [row.split() for row in rows[start + 1 : start + 5]] == [
        ["y.shape[2]", "s,", "at", "least", "0", "ValueError"],
        ["y.shape[5]", "n", "-", "m,", "at", "least", "0", "ValueError"],
        ["y", "allocated", "RuntimeError,", "or", "the", "allocator's"],
        ["y.data", "aligned", "to", "64", "bytes", "by", "the", "allocator", "RuntimeError"],
    ]
    assert "of what is returned" not in explain(spec.Signature.parse("f() -> t: int8"))
