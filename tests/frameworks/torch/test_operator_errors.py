"""Errors of operators of PyTorch, in eager mode and while tracing, and options that are refused."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffi_builder import SpecError
from tests.frameworks.torch.functions import (
    SCALE,
    axpby,
    in_python,
    nop,
    operator,
    parsed,
    scale,
    unique,
)
from tests.support.tables import rows
from tests.support.threads import together

torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
# torch's own use of it
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script")


def test_errors_in_eager_mode_are_those_of_the_wrapper() -> None:
    op = operator(scale())
    for call in (op, op.overload):
        with pytest.raises(ValueError, match="Mismatched") as raised:
            call(torch.ones(3), torch.ones(4), 1.0)
        assert str(raised.value) == (
            f"Mismatched y.shape[0] on argument #1 when calling: {SCALE}, "
            "expected 3 (n = x.shape[0]) but got 4"
        )
        with pytest.raises(TypeError, match=r"Mismatched x\.dtype .* expected float32 but got"):
            call(torch.ones(3, dtype=torch.float64), torch.ones(3), 1.0)
    with pytest.raises(TypeError, match="Mismatched type of x on argument #0"):
        op("x", torch.ones(3), 1.0)
    with pytest.raises(TypeError, match=r"missing a required argument|missing 1 required"):
        operator(scale(), form="functional")(torch.ones(3))


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (None, "None"),
        ([[1.0]], "list"),
        (2.5, "float"),
        ("x", "str"),
    ],
)
def test_what_is_no_tensor_is_named_before_anything_is_allocated(wrong: Any, kind: str) -> None:
    words = f"Mismatched type of {{}} on argument #{{}} when calling: {{}}, expected Tensor but got {kind}"
    x = torch.ones(3)
    like, copied = operator(scale(), form="functional"), operator(axpby(), form="functional")
    sized_text = "f(x: Tensor([n], float32, intent=in), y: Tensor([n * 2], float32, intent=out))"
    sized = operator(nop(sized_text), form="functional")
    for call, name, number in (
        (lambda: like(wrong, 1.0), "x", 0),
        (lambda: copied(x, wrong, 1.0, 1.0), "y", 1),
        (lambda: sized(wrong), "x", 0),
    ):
        with pytest.raises(TypeError, match="Mismatched") as raised:
            call()
        signature = str(raised.value).split(": ", 1)[1].rpartition(", expected")[0]
        assert str(raised.value) == words.format(name, number, signature)
        assert raised.value.__suppress_context__
    with pytest.raises(TypeError) as mutating:
        operator(scale())(wrong, x, 1.0)
    with pytest.raises(TypeError) as functional:
        like(wrong, 1.0)
    assert str(functional.value) == str(mutating.value)


def test_the_functional_form_takes_no_array_of_numpy() -> None:
    op = operator(scale(), form="functional")
    with pytest.raises(TypeError, match=r"Mismatched type of x .*Tensor but got numpy\.ndarray$"):
        op(np.ones(3, "float32"), 1.0)


def test_what_sizes_are_read_from_is_named_if_it_is_wrong() -> None:
    text = (
        "f(k: int32, x: Tensor([n, m], float32, intent=in), y: Tensor([m, k], float32, intent=out))"
    )
    op = operator(nop(text), form="functional")
    assert op(2, torch.ones(3, 4)).shape == (4, 2)
    with pytest.raises(TypeError, match=r"Mismatched type of k on argument #0 .*int but got str"):
        op("2", torch.ones(3, 4))
    with pytest.raises(
        ValueError, match=r"Mismatched x\.ndim on argument #1 .*expected 2 but got 1"
    ):
        op(2, torch.ones(3))
    with pytest.raises(RuntimeError, match="negative dimension"):
        op(-2, torch.ones(3, 4))


def test_errors_while_tracing_are_those_of_the_wrapper() -> None:
    op = operator(scale())
    with pytest.raises(ValueError, match="Mismatched") as raised:
        op(torch.ones(3, device="meta"), torch.ones(4, device="meta"), 1.0)
    assert str(raised.value) == (
        f"Mismatched y.shape[0] on argument #1 when calling: {SCALE}, "
        "expected 3 (n = x.shape[0]) but got 4"
    )
    functional = operator(scale(), form="functional")
    with import_module("torch._subclasses.fake_tensor").FakeTensorMode():
        for call in (lambda: functional(None, 1.0), lambda: op(torch.ones(3), None, 1.0)):
            with pytest.raises(
                TypeError, match=r"Mismatched type of .*expected Tensor but got None"
            ):
                call()
    with pytest.raises(ValueError, match=r"Mismatched x\.strides\[0\] on argument #0 .*row-major"):
        functional(torch.ones(6, device="meta")[::2], 1.0)


@pytest.mark.parametrize(
    ("text", "form", "words"), rows(Path(__file__).with_name("refused.txt"), 3), ids=str
)
def test_signatures_that_are_refused(text: str, form: str, words: str) -> None:
    signature = parsed(text)
    function = in_python(signature) if "-> s" in text else nop(text)
    with pytest.raises(SpecError) as raised:
        operator(function, form=form.strip())
    assert str(raised.value) == words.strip()


def test_options_that_are_refused() -> None:
    f = scale()
    with pytest.raises(
        ValueError, match="expected 'mutating', 'functional' or 'out' but got 'functionl', did"
    ):
        operator(f, form="functionl")
    with pytest.raises(ValueError, match=r"backward: .*form='functional'"):
        operator(f, backward=len)
    with pytest.raises(ValueError, match="setup_context: it is called for backward="):
        operator(f, form="functional", setup_context=len)
    with pytest.raises(TypeError, match=r"as in operator\(compiled\['f'\]\), but got <built-in fu"):
        operator(len)
    with pytest.raises(ValueError, match="name: expected an identifier but got 'a-b'"):
        operator(f, name="a-b")
    op = operator(f)
    with pytest.raises(ValueError, match=f"{op.__name__} is taken; give another name="):
        operator(f, name=op.__name__)


@pytest.mark.filterwarnings("ignore:.*quantized tensor creation functions")
def test_quantised_tensors_are_refused() -> None:
    q = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)
    functional, mutating = operator(scale(), form="functional"), operator(scale())
    calls: dict[str, Any] = {
        "x": (
            lambda: functional(q, 2.0),
            lambda: functional.overload(q, 2.0),
            lambda: mutating(q, torch.ones(3), 2.0),
        ),
        "y": (lambda: mutating(torch.ones(3), q, 2.0),),
    }
    for name, several in calls.items():
        for call in several:
            words = rf"^Mismatched {name} .* got a quantised tensor, .* {name}\.dequantize\(\)"
            with pytest.raises(ValueError, match=words):
                call()


def test_threads_that_race_for_a_name_get_one_kind_of_error() -> None:
    f = scale()
    errors: list[Exception] = []
    for _ in range(10):
        name = unique("raced")

        def define(number: int, name: str = name) -> None:
            try:
                operator(f, name=name)
            except Exception as error:
                errors.append(error)

        together(define, 8)
    assert len(errors) == 70
    assert {type(error) for error in errors} == {ValueError}
    assert all(re.search(r"raced_\d+ is taken; give another name=", str(e)) for e in errors)


def test_a_meta_tensor_among_others() -> None:
    """Its result would be memory that nobody has written."""
    functional, mutating = operator(scale(), form="functional"), operator(axpby())
    x, meta = torch.ones(3), torch.ones(3, device="meta")
    for call in (mutating, mutating.overload, torch.compile(mutating, backend="aot_eager")):
        for args, words in (
            ((x, meta), "y is a meta tensor, which has no data, but x is on cpu: give y its data"),
            ((meta, x), "x is a meta tensor, which has no data, but y is on cpu: give x its data"),
        ):
            with pytest.raises(Exception, match=words):
                call(*args, 2.0, 1.0)
    assert functional(meta, 2.0).is_meta
    assert mutating(meta, meta.clone(), 2.0, 1.0) is None
