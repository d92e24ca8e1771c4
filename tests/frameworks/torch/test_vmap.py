# pyright: reportUnknownLambdaType=false
"""vmap and batched gradients of operators of PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import pytest

from ffi_builder.providers import DirectCallProvider
from ffi_builder.spec import Signature
from tests.frameworks.torch.functions import (
    AXPBY,
    axpby,
    both,
    compiled,
    differentiated,
    keep,
    leaf,
    operator,
    scale,
)

torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
pytestmark = [
    # torch's own use of it
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.mark.parametrize("in_dim", [0, 1])
def test_vmap_calls_a_functional_operator_for_each_example(in_dim: int) -> None:
    batch = torch.arange(6.0).reshape(2, 3)
    given = batch if in_dim == 0 else batch.T.contiguous()
    for call in both(operator(scale(), form="functional")):
        done = torch.vmap(partial(call, a=2.0), in_dims=in_dim)(given)
        assert torch.equal(done, batch * 2)
    update = operator(axpby(), form="functional")
    y = torch.ones(3)
    done = torch.vmap(lambda x: update(x, y, 2.0, 1.0), in_dims=in_dim)(given)
    assert torch.equal(done, batch * 2 + 1)
    twice = torch.vmap(torch.vmap(lambda x: update(x, y, 2.0, 1.0)))(batch.expand(4, 2, 3))
    assert torch.equal(twice, (batch * 2 + 1).expand(4, 2, 3))


def test_vmap_of_what_writes_its_arguments_is_refused() -> None:
    for call in both(operator(scale())):
        with pytest.raises(
            RuntimeError, match="writes its arguments and has no batching rule: giv"
        ):
            torch.vmap(partial(call, a=2.0))(torch.ones(2, 3), torch.ones(2, 3))


def test_vmap_by_a_rule() -> None:
    calls: list[int] = []

    def rule(info: Any, in_dims: Any, x: Any, a: float) -> Any:
        calls.append(info.batch_size)
        flat = x.movedim(in_dims[0], 0)
        return op(flat.reshape(-1), a).reshape(flat.shape), 0

    op = operator(scale(), form="functional", vmap=rule)
    for call in both(op):
        done = torch.vmap(partial(call, a=2.0))(torch.ones(5, 3))
        assert done.tolist() == [[2] * 3] * 5
    assert calls == [5, 5]


@pytest.mark.filterwarnings("ignore:Input #0 requires gradient and is not a double")
@pytest.mark.parametrize("inner", [differentiated, partial(operator, scale(), form="functional")])
def test_batched_gradients_of_a_derivative_that_calls_an_operator(inner: Any) -> None:
    called = inner()

    def backward(ctx: Any, grad: Any) -> Any:
        return called(grad.contiguous(), ctx.a), None

    op = operator(scale(), form="functional", backward=backward, setup_context=keep)
    for call in both(op):
        x = leaf()
        done = torch.autograd.functional.jacobian(partial(call, a=3.0), x, vectorize=True)
        assert torch.equal(done, 3 * torch.eye(3))
        given = torch.arange(6.0).reshape(2, 3)
        (grads,) = torch.autograd.grad(call(x, 3.0), x, given, is_grads_batched=True)
        assert torch.equal(grads, 3 * given)
        assert torch.autograd.gradcheck(
            partial(call, a=3.0), x, eps=1e-2, atol=1e-2, check_batched_grad=True
        )


def at_once(**options: Any) -> Any:
    """``a * x``, with its derivative, and a batching rule that calls the operator itself."""

    def rule(info: Any, in_dims: Any, x: Any, a: float) -> Any:
        batch = x.movedim(in_dims[0], 0).contiguous()
        return op(batch.flatten(), a).reshape(batch.shape), 0

    op = differentiated(vmap=rule, **options)
    return op


EITHER = pytest.mark.parametrize("made", [differentiated, at_once])
BATCH: Any = torch.arange(6.0).reshape(2, 3)


def squares(op: Any) -> Callable[..., Any]:
    """A function of a batch, and of one example: the sum of ``(3 * x) ** 2``."""

    def total(x: Any) -> Any:
        function = torch.vmap(op, in_dims=(0, None)) if x.ndim == 2 else op
        return function(x, 3.0).square().sum()

    return total


@EITHER
def test_torch_func_of_vmap_and_vmap_of_torch_func(made: Callable[..., Any]) -> None:
    func, x = torch.func, BATCH
    loss, op = squares(made()), made()
    batched = torch.vmap(op, in_dims=(0, None))
    assert torch.equal(func.grad(loss)(x), 18 * x)
    assert torch.equal(torch.vmap(func.grad(loss))(x), 18 * x)
    assert torch.equal(torch.vmap(func.grad(loss))(x.expand(4, 2, 3)), 18 * x.expand(4, 2, 3))
    assert torch.equal(func.vjp(lambda x: batched(x, 3.0), x)[1](x)[0], 3 * x)
    jacobian = func.jacrev(lambda x: batched(x, 3.0))(x)
    assert torch.equal(jacobian.reshape(6, 6), 3 * torch.eye(6))
    assert torch.equal(func.grad(lambda x: func.grad(loss)(x).sum())(x), torch.full((2, 3), 18.0))
    both_ways = func.grad(lambda x: torch.vmap(func.grad(loss))(x).square().sum())
    assert torch.equal(both_ways(x), 2 * 18 * 18 * x)
    needing = x.clone().requires_grad_()
    torch.vmap(func.grad(loss))(needing).sum().backward()
    assert torch.equal(needing.grad, torch.full((2, 3), 18.0))
    make_fx = import_module("torch.fx.experimental.proxy_tensor").make_fx
    assert torch.equal(make_fx(func.grad(loss))(x)(x), 18 * x)


@EITHER
def test_vmap_of_an_operator_with_a_derivative(made: Callable[..., Any]) -> None:
    for call in both(made()):
        x = BATCH.clone().requires_grad_()
        done = torch.vmap(call, in_dims=(1, None), out_dims=1)(x, 3.0)
        done.square().sum().backward()
        assert torch.equal(done, 3 * BATCH)
        assert torch.equal(x.grad, 18 * BATCH)
        twice = torch.vmap(torch.vmap(partial(call, a=3.0)))(BATCH.expand(4, 2, 3))
        assert torch.equal(twice, 3 * BATCH.expand(4, 2, 3))
        assert torch.equal(
            torch.func.functionalize(torch.vmap(partial(call, a=3.0)))(BATCH), twice[0]
        )


def test_a_derivative_by_torch_func_that_calls_an_operator_with_one() -> None:
    def keep_x(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])

    def backward(ctx: Any, grad: Any) -> Any:
        return grad * inner(*ctx.saved_tensors, 2.0), None

    inner = at_once()
    outer = operator(scale(), form="functional", backward=backward, setup_context=keep_x)
    x = torch.arange(3.0)
    total = torch.func.jacrev(torch.func.jacrev(lambda x: outer(x, 1.0).sum()))
    assert torch.equal(total(x), 2 * torch.eye(3))
    assert torch.equal(torch.vmap(total)(BATCH), 2 * torch.eye(3).expand(2, 3, 3))


@pytest.mark.slow
@EITHER
def test_vmap_of_an_operator_with_a_derivative_under_torch_compile(
    made: Callable[..., Any],
) -> None:
    for call in both(made()):
        compiled = torch.compile(
            torch.vmap(call, in_dims=(0, None)), fullgraph=True, backend="aot_eager"
        )
        x = BATCH.clone().requires_grad_()
        done = compiled(x, 3.0)
        done.square().sum().backward()
        assert torch.equal(done, 3 * BATCH)
        assert torch.equal(x.grad, 18 * BATCH)


class Batched(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        torch.nn.Module.__init__(self)
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [True, False])
@EITHER
def test_vmap_of_an_operator_with_a_derivative_in_a_program(
    made: Callable[..., Any], strict: bool
) -> None:
    for call in both(made()):
        module = Batched(torch.vmap(partial(call, a=3.0)))
        program = torch.export.export(module, (BATCH,), strict=strict)
        assert torch.equal(program.module()(BATCH), 3 * BATCH)
        assert torch.equal(program.run_decompositions().module()(BATCH), 3 * BATCH)


@pytest.mark.slow
@EITHER
def test_torch_func_of_vmap_is_refused_below_the_object(made: Callable[..., Any]) -> None:
    op = made()
    refused = (
        r"has no derivative for torch.func here: call what operator\(\) returned, not torch.op"
    )
    gradient = torch.func.grad(squares(op))
    with pytest.raises(RuntimeError, match=refused):
        torch.func.grad(squares(op.overload))(BATCH)
    with pytest.raises(RuntimeError, match=refused):
        torch.compile(gradient, fullgraph=True, backend="aot_eager")(BATCH)
    for strict in (True, False):
        with pytest.raises(RuntimeError, match=refused):
            torch.export.export(Batched(gradient), (BATCH,), strict=strict)
    # torch is as it was after an error in the middle of a transform.
    assert torch.equal(gradient(BATCH), 18 * BATCH)


def test_batched_gradients_of_a_derivative_that_writes() -> None:
    called = operator(scale())

    def backward(ctx: Any, grad: Any) -> Any:
        called(grad.contiguous(), result := torch.empty_like(grad), ctx.a)
        return result, None

    op = operator(scale(), form="functional", backward=backward, setup_context=keep)
    assert torch.autograd.functional.jacobian(partial(op, a=3.0), leaf()).diag().tolist() == [3] * 3
    with pytest.raises(RuntimeError, match="Batching rule not implemented for"):
        torch.autograd.functional.jacobian(partial(op, a=3.0), leaf(), vectorize=True)


def test_a_number_given_by_keyword_alone_before_an_output() -> None:
    """The output, which the caller does not pass, is not taken for the number."""
    text = "f(x: Tensor([n], float32, intent=in), a: float32, y: Tensor([n], float32, intent=out))"
    signature = Signature.parse(text, device="cpu")
    signature = signature.with_params(a={"kw_only": True, "default": 2.0})
    provider = DirectCallProvider("scale", args=["x", "y", "n", "a"])
    op = operator(compiled(signature, provider, AXPBY)["f"], form="functional")
    batch = torch.ones(2, 3)
    for call in both(op):
        assert torch.vmap(call)(batch).tolist() == [[2] * 3] * 2
        assert torch.vmap(lambda x, call=call: call(x, a=3.0))(batch).tolist() == [[3] * 3] * 2
    with pytest.raises(TypeError, match="a: expected float32 but got a tensor, whose gradient wou"):
        op(batch[0].requires_grad_(), a=torch.ones([]))
