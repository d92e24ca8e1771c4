# pyright: reportUnknownLambdaType=false
"""vmap and batched gradients of operators of PyTorch."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.frameworks.torch_functions import (
    axpby,
    both,
    differentiated,
    keep,
    leaf,
    operator,
    scale,
)

torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
pytestmark = [
    # torch's own use of it
    pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning"),
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


def test_batched_gradients_of_a_derivative_that_writes() -> None:
    called = operator(scale())

    def backward(ctx: Any, grad: Any) -> Any:
        called(grad.contiguous(), result := torch.empty_like(grad), ctx.a)
        return result, None

    op = operator(scale(), form="functional", backward=backward, setup_context=keep)
    assert torch.autograd.functional.jacobian(partial(op, a=3.0), leaf()).diag().tolist() == [3] * 3
    with pytest.raises(RuntimeError, match="Batching rule not implemented for"):
        torch.autograd.functional.jacobian(partial(op, a=3.0), leaf(), vectorize=True)
