"""Operators of functions that return numbers, which come back as tensors without dimensions."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from ffi_builder import SpecError, wrap
from tests.frameworks.torch.functions import in_python, operator, parsed
from tests.runtime.samples import c_object, needs_cc

torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
pytestmark = [needs_cc, pytest.mark.filterwarnings("ignore:.*torch.jit.script")]

SOURCE: Final = """
#include <stdbool.h>
#include <stdint.h>
double dot(const double *x, const double *y, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}
bool scan(const float *x, float *y, int64_t n, float *last, uint64_t *bits) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) y[i] = sum += x[i];
  *last = sum;
  *bits = UINT64_MAX - n;
  return sum > 2;
}
"""
DOT: Final = (
    "dot(x: Tensor([n], float64, intent=in), y: Tensor([n], float64, intent=in)) -> r: float64"
)
BIT: Final = 2**64 - 1


def made(folder: Path, signature: str, prototype: str, args: list[str]) -> Any:
    built = wrap(c_object(folder, SOURCE), signature, device="cpu", prototype=prototype, args=args)
    return built[signature.partition("(")[0]]


def dot(folder: Path) -> Any:
    return made(folder, DOT, "double dot(const double *, const double *, int64_t)", ["x", "y", "n"])


def scan(folder: Path) -> Any:
    """Return a function with an output, a tensor that it allocates, and three numbers."""
    return made(
        folder,
        "scan(x: Tensor([n], float32, intent=in)) -> "
        "(big: bool, y: Tensor([n], float32), last: float32, bits: uint64)",
        "bool scan(const float *, float *, int64_t, float *, uint64_t *)",
        ["x", "y", "n", "last", "bits"],
    )


def test_a_number(tmp_path: Path) -> None:
    op = operator(dot(tmp_path), results="tensors")
    assert op.schema.endswith("(Tensor x, Tensor y) -> Tensor")
    x = torch.arange(3.0, dtype=torch.float64)
    for call in (op, op.overload, torch.ops.ffi_builder_tests.__getattr__(op.__name__)):
        r = call(x, x + 1)
        assert (r.item(), r.shape, r.dtype, r.device.type) == (8, (), torch.float64, "cpu")
    empty = op(x.to("meta"), x.to("meta"))
    assert (empty.shape, empty.dtype, empty.device.type) == ((), torch.float64, "meta")
    with pytest.raises(ValueError, match=r"Mismatched y\.shape\[0\] on argument #1"):
        op(x, x[1:])


@pytest.mark.parametrize("form", ["mutating", "functional"])
def test_numbers_among_tensors(tmp_path: Path, form: str) -> None:
    op = operator(scan(tmp_path), results="tensors", form=form)
    assert op.schema.endswith("(Tensor x) -> (Tensor, Tensor, Tensor, Tensor)")
    for call in (op, op.overload):
        found = call(torch.ones(3))
        assert [each.tolist() for each in found] == [True, [1, 2, 3], 3, BIT - 3]
        assert [each.dtype for each in found] == [
            *(torch.bool, torch.float32, torch.float32, torch.uint64)
        ]
    torch.library.opcheck(op.overload, (torch.ones(3),))


def test_outputs_come_before_numbers(tmp_path: Path) -> None:
    function = made(
        tmp_path,
        "scan(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out)) -> "
        "(big: bool, last: float32, bits: uint64)",
        "bool scan(const float *, float *, int64_t, float *, uint64_t *)",
        ["x", "y", "n", "last", "bits"],
    )
    x, y = torch.ones(3), torch.zeros(3)
    functional = operator(function, form="functional", results="tensors")
    assert [each.tolist() for each in functional(x)] == [[1, 2, 3], True, 3, BIT - 3]
    mutating = operator(function, results="tensors")
    assert [each.item() for each in mutating(x, y)] == [True, 3, BIT - 3]
    assert y.tolist() == [1, 2, 3]


def test_graphs(tmp_path: Path) -> None:
    op = operator(dot(tmp_path), results="tensors")

    def step(x: Any, y: Any) -> Any:
        return x * op(x, y)

    x = torch.arange(3.0, dtype=torch.float64)
    compiled = torch.compile(step, fullgraph=True, dynamic=True, backend="aot_eager")
    for size in (3, 5):
        each = torch.arange(float(size), dtype=torch.float64)
        assert torch.equal(compiled(each, each + 1), step(each, each + 1))

    class Model(torch.nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return step(x, y)

    program = torch.export.export(Model(), (x, x + 1))
    assert torch.equal(program.module()(x, x + 1), step(x, x + 1))


def test_batches_and_derivatives(tmp_path: Path) -> None:
    function = dot(tmp_path)

    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    def backward(ctx: Any, grad: Any) -> Any:
        x, y = ctx.saved_tensors
        return grad * y, grad * x

    x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
    plain = operator(function, results="tensors")
    assert torch.vmap(plain)(x, x).tolist() == [5, 50]
    with pytest.raises(RuntimeError, match="has no derivative, but x, y require a gradient"):
        plain(x[0].requires_grad_(), x[1].requires_grad_())
    op = operator(
        function, results="tensors", form="functional", backward=backward, setup_context=keep
    )
    for call in (op, torch.compile(op, fullgraph=True, backend="aot_eager")):
        leaf = x[0].detach().clone().requires_grad_()
        call(leaf, x[1]).backward()
        assert leaf.grad.tolist() == x[1].tolist()
    assert torch.func.grad(op)(x[0].detach(), x[1].detach()).tolist() == x[1].tolist()


@pytest.mark.parametrize(
    ("results", "options", "words"),
    [
        ("s: int32", {}, "the result 's' is a number, which a compiled graph cannot know: give"),
        ("s: handle", {"results": "tensors"}, "the result 's' is a handle, which no tensor has"),
        ("s: String", {"results": "tensors"}, "the result 's' is a String, but operators of torch"),
        ("s: DType", {"results": "tensors"}, "the result 's' is a DType, but operators of torch"),
        ("s: Device", {"results": "tensors"}, "the result 's' is a Device, but operators of torch"),
    ],
)
def test_results_that_are_refused(results: str, options: Any, words: str) -> None:
    function = in_python(parsed(f"f(x: Tensor([n], float32, intent=in)) -> {results}"))
    with pytest.raises(SpecError, match=words):
        operator(function, **options)


def test_an_unknown_form_of_results(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="results: expected 'tensors' or None but got 'tensor', d"):
        operator(dot(tmp_path), results="tensor")
