# Functions that torch calls are typed as Any.
# pyright: reportUnknownLambdaType=false
"""Operators whose outputs may be left out: `form="out"`."""

from __future__ import annotations

import inspect

import pytest

from ffi_builder import SpecError
from tests.frameworks.torch.functions import in_python, keep, nop, operator, parsed, scale, times

torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
pytestmark = [
    # torch's own, while it traces
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
TWO = (
    "f(out: Tensor([n], float32, intent=out), x: Tensor([n], float32, intent=in), "
    "lse: Tensor([2], int32, intent=out)) -> z: Tensor([1], float32)"
)


@pytest.mark.parametrize("compiled", [False, True])
def test_an_output_that_is_left_out_or_given(compiled: bool) -> None:
    op = operator(scale(), form="out")
    call = torch.compile(op, fullgraph=True, backend="aot_eager") if compiled else op
    x = torch.arange(3.0)
    assert call(x, a=2.0).tolist() == [0, 2, 4]
    assert call(x, out=None, y=None, a=2.0).tolist() == [0, 2, 4]
    for keywords in ({"out": torch.zeros(3)}, {"y": torch.zeros(3)}):
        (y,) = keywords.values()
        returned = call(x, 3.0, **keywords)
        assert y.tolist() == returned.tolist() == [0, 3, 6]
        assert compiled or returned is y
    y = torch.zeros(3)
    assert call(x, 4.0, y).tolist() == y.tolist() == [0, 4, 8]


def test_several_outputs_and_results() -> None:
    op = operator(in_python(parsed(TWO)), form="out")
    x, out, lse = torch.ones(2), torch.zeros(2), torch.zeros(2, dtype=torch.int32)
    allocated = op(x)
    assert [each.tolist() for each in allocated] == [[3, 3], [4, 4], [5]]
    for returned in (op(x, out=out, lse=lse), op(x, out, lse), op(x, out, lse=lse)):
        assert [each.tolist() for each in returned] == [[3, 3], [4, 4], [5]]
        assert returned[0] is out
        assert returned[1] is lse
    with pytest.raises(
        TypeError, match="expects each of its outputs once, or none: out, lse; out="
    ):
        op(x, out=out)
    renamed = operator(in_python(parsed(TWO.replace("out:", "y:", 1))), form="out")
    assert renamed(x, out=(out, lse))[0] is out
    for args, keywords in (
        ((x,), {"out": (out,)}),
        ((x,), {"out": out}),
        ((x,), {"out": (out, None)}),
        ((x,), {"out": (out, lse), "lse": lse}),
        ((x, out), {"y": out}),
    ):
        with pytest.raises(TypeError, match="expects each of its outputs once, or none: y, lse;"):
            renamed(*args, **keywords)


def test_what_it_says() -> None:
    op = operator(scale(), form="out", name="said")
    parameters = inspect.signature(op).parameters.values()
    assert [each.name for each in parameters] == ["x", "a", "y", "out"]
    assert [each.default for each in parameters][2:] == [None, None]
    assert repr(op) == "<operator ffi_builder_tests::said(Tensor x, float a) -> Tensor>"
    assert op.overload is torch.ops.ffi_builder_tests.said.default
    writing = torch.ops.ffi_builder_tests.said_out.default
    assert str(writing._schema).endswith("said_out(Tensor x, Tensor(a1!) y, float a) -> ()")


def test_errors() -> None:
    op = operator(scale(), form="out")
    x = torch.ones(3)
    with pytest.raises(ValueError, match=r"Mismatched y\.shape\[0\] on argument #1 .* but got 2"):
        op(x, 2.0, out=torch.ones(2))
    with pytest.raises(
        TypeError, match=r"takes at most 3 arguments by position \(x, a, y\), but g"
    ):
        op(x, 2.0, x, x)
    with pytest.raises(TypeError, match="missing"):
        op(out=x)
    with pytest.raises(TypeError, match="multiple values"):
        op(x, 2.0, a=2.0, out=x)


def test_derivatives() -> None:
    op = operator(scale(), form="out", backward=times, setup_context=keep)
    x = torch.ones(3, requires_grad=True)
    op(x, 2.0).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2] * 3
    with pytest.raises(RuntimeError, match="has no derivative, but x requires a gradient"):
        op(x, 2.0, out=torch.zeros(3))


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ("x: Tensor([n], float32, intent=inout)", "form='out' is for outputs, .* but 'x' is inout"),
        (
            "out: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out)",
            "takes outputs as out=, but 'out' is an input; rename it",
        ),
        ("y: Tensor([n], float32, intent=out)", "nothing that is given tells its size"),
    ],
)
def test_what_is_refused(params: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        operator(nop(f"f({params})"), form="out")


def test_no_output() -> None:
    text = "f(x: Tensor([n], float32, intent=in)) -> y: Tensor([n], float32)"
    with pytest.raises(SpecError, match="form='out': no tensor has intent='out'"):
        operator(in_python(parsed(text)), form="out")
