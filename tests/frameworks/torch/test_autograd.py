# pyright: reportUnknownLambdaType=false
"""Derivatives, versions, vmap, modes and views: right or refused, never silently wrong."""

from __future__ import annotations

import weakref
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

import pytest

from ffi_builder.spec import Signature, Tensor, Var, dims
from tests.frameworks.torch.functions import (
    axpby,
    both,
    differentiated,
    in_python,
    keep,
    leaf,
    operator,
    scale,
    times,
)

torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
pytestmark = [
    # torch's own use of it
    pytest.mark.filterwarnings("ignore:.*torch.jit.script"),
]


def test_a_derivative() -> None:
    for call in both(differentiated()):
        x = leaf()
        call(x, 3.0).square().sum().backward()
        assert x.grad.tolist() == [0, 18, 36]


def seven_times(ctx: Any, grad: Any) -> Any:
    return grad * 7, None


def test_a_derivative_that_saves_nothing() -> None:
    op = operator(scale(), form="functional", backward=seven_times)
    x = leaf()
    op(x, 3.0).sum().backward()
    assert x.grad.tolist() == [7] * 3


def test_a_second_derivative_by_a_derivative_that_calls_operators() -> None:
    op = operator(scale(), form="functional", backward=times, setup_context=keep)
    x = leaf()
    (first,) = torch.autograd.grad(op(x, 3.0).pow(3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert torch.allclose(second, 6 * 27 * x.detach())


def keyword_only(seen: list[Any]) -> Any:
    """An operator whose derivative is `a`, which can be given by keyword alone."""
    (n,) = dims("n")
    params = [
        Tensor("x", [n], "float32", device_type="cpu", intent="in"),
        Tensor("w", [n], "float32", device_type="cpu", intent="in"),
        Var("a", "float32", default=0.5, kw_only=True),
    ]
    signature = Signature("f", params, Tensor("y", [n], "float32", device_type="cpu"))

    def keep_keyword(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
        ctx.a = keyword_only_inputs["a"]
        assert len(inputs) == 2

    def times_keyword(ctx: Any, grad: Any) -> Any:
        seen.append(ctx.needs_input_grad)
        return grad * ctx.a, None

    return operator(in_python(signature), backward=times_keyword, setup_context=keep_keyword)


def test_a_derivative_of_what_has_keyword_only_arguments() -> None:
    seen: list[Any] = []
    op = keyword_only(seen)
    w = torch.ones(3)
    calls = [*both(op), torch.compile(op, backend="aot_eager", fullgraph=True)]
    for call in calls:
        for given, a in (({}, 0.5), ({"a": 4.0}, 4.0)):
            x = leaf()
            call(x, w=w, **given).sum().backward()
            assert x.grad.tolist() == [a] * 3
    assert set(seen) == {(True, False)}
    gradient = torch.func.grad(lambda x, **given: op(x, w, **given).sum())
    assert gradient(torch.ones(3)).tolist() == [0.5] * 3
    assert gradient(torch.ones(3), a=4.0).tolist() == [4] * 3
    batch = torch.ones(2, 3, requires_grad=True)
    torch.vmap(lambda x: op(x, w, a=3.0))(batch).sum().backward()
    assert batch.grad.tolist() == [[3] * 3] * 2
    each = torch.vmap(torch.func.grad(lambda x: op(x, w, a=3.0).sum()))
    assert each(torch.ones(2, 3)).tolist() == [[3] * 3] * 2


def test_a_derivative_knows_what_is_needed_and_may_leave_it_out() -> None:
    seen: list[Any] = []

    def keep_both(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs[:2], output)

    def backward(ctx: Any, grad: Any) -> Any:
        x, y, output = ctx.saved_tensors
        seen.append(ctx.needs_input_grad)
        assert output.tolist() == (2 * x + 3 * y).tolist()
        return None, 3 * grad, None, None

    op = operator(axpby(), form="functional", backward=backward, setup_context=keep_both)
    for call in both(op):
        x, y = leaf(), leaf()
        call(torch.ones(3), y, a=2.0, b=3.0).sum().backward()
        call(x, y, 2.0, 3.0).sum().backward()
        assert x.grad is None
        assert y.grad.tolist() == [6] * 3
        loss = call(x, y, 2.0, 3.0).sum()
        with torch.no_grad():
            y += 1
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()
    assert seen == [(False, True, False, False), (True, True, False, False)] * 2


def test_what_a_derivative_saved_is_freed_with_the_result() -> None:
    def keep_x(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.a = inputs[1]

    op = operator(scale(), form="functional", backward=times, setup_context=keep_x)
    for call in both(op):
        x = leaf() * 1
        saved = weakref.ref(x)
        y = call(x, 2.0)
        del x
        y.sum().backward()
        del y
        assert saved() is None


def test_without_a_derivative_a_wanted_gradient_is_refused() -> None:
    functional, mutating = operator(scale(), form="functional"), operator(scale())
    for call in both(functional):
        with pytest.raises(RuntimeError, match=r"has no derivative, but x requires .*backward=…"):
            call(leaf(), 2.0)
    for call in both(mutating):
        with pytest.raises(
            RuntimeError, match=r"no derivative, but x .*form='functional' and back"
        ):
            call(leaf(), torch.zeros(3), 2.0)
        with pytest.raises(RuntimeError, match="writes y, which requires a gradient"):
            call(torch.ones(3), torch.nn.Parameter(torch.zeros(3)), 2.0)


def test_a_tensor_for_a_number_would_lose_its_gradient() -> None:
    factor = torch.nn.Parameter(torch.tensor(3.0))
    refused = r"^scale\(\): a: expected float32 but got a tensor, .* lost; pass a\.item\(\)$"
    for op, given in (
        (differentiated(), [leaf()]),
        (operator(scale(), form="functional"), [torch.ones(3)]),
        (operator(scale()), [torch.ones(3), torch.zeros(3)]),
    ):
        with pytest.raises(TypeError, match=refused):
            op(*given, factor)
        with pytest.raises(TypeError, match=refused):
            op(*given, a=factor)
        with pytest.raises(TypeError, match=refused):
            torch.func.grad(partial(op, *given))(torch.tensor(3.0))
        op(*given, factor.item())
        with torch.no_grad(), pytest.raises(TypeError, match=r"expected float but got ffi\.Tensor"):
            op(*given, factor)


def test_without_grad_mode_nothing_is_refused() -> None:
    functional, mutating = operator(scale(), form="functional"), operator(scale())
    for context in (torch.no_grad, torch.inference_mode):
        with context():
            for call in both(functional):
                assert call(leaf(), 2.0).tolist() == [0, 2, 4]
            for call in both(mutating):
                weight = torch.nn.Parameter(torch.zeros(3))
                call(leaf(), weight, 2.0)
                assert weight.tolist() == [0, 2, 4]


def test_tensors_of_inference_mode() -> None:
    with torch.inference_mode():
        x, y = torch.ones(3), torch.zeros(3)
    for call in both(operator(scale())):
        call(x, y, 2.0)
        assert y.tolist() == [2] * 3


def test_autograd_sees_that_what_it_saved_was_written() -> None:
    for call in both(operator(scale())):
        b = leaf() * 1.0
        loss = (b * b).sum()
        call(torch.ones(3), b.detach(), 2.0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


def test_forward_mode_is_refused() -> None:
    forward = torch.autograd.forward_ad
    for op, rest in (
        (differentiated(), {}),
        (operator(scale(), form="functional"), {}),
        (operator(scale()), {"y": torch.zeros(3)}),
    ):
        for call in both(op):
            with forward.dual_level():
                dual = forward.make_dual(torch.ones(3), torch.ones(3))
                with pytest.raises(RuntimeError, match="no derivative in forward mode: use rever"):
                    call(dual, a=2.0, **rest)
                call(torch.ones(3), a=2.0, **rest)
            with pytest.raises(RuntimeError, match="no derivative in forward mode"):
                torch.func.jvp(partial(call, a=2.0, **rest), (torch.ones(3),), (torch.ones(3),))


def test_torch_func_differentiates_the_object() -> None:
    op = differentiated()
    x = torch.arange(3.0)

    def loss(x: Any) -> Any:
        return op(x, 3.0).square().sum()

    assert torch.func.grad(loss)(x).tolist() == [0, 18, 36]
    batch = torch.stack([x, x + 1])
    assert torch.equal(torch.vmap(torch.func.grad(loss))(batch), 18 * batch)
    assert torch.equal(torch.func.jacrev(lambda x: op(x, 3.0))(x), 3 * torch.eye(3))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.func.grad(loss)(x).tolist() == [0, 18, 36]
    make_fx = import_module("torch.fx.experimental.proxy_tensor").make_fx
    assert make_fx(torch.func.grad(loss))(x)(x).tolist() == [0, 18, 36]
    with pytest.raises(RuntimeError, match=r"call what operator\(\) returned, not torch.ops"):
        torch.func.grad(lambda x: op.overload(x, 3.0).sum())(x)
    with pytest.raises(RuntimeError, match="has no derivative, but x"):
        torch.func.grad(lambda x: operator(scale(), form="functional")(x, 3.0).sum())(x)


def test_conjugate_and_negative_views_are_read_right() -> None:
    z = torch.tensor([1 + 2j, 3 + 4j]).conj()
    negative = z.imag
    assert negative.is_neg()
    functional, mutating = operator(scale(), form="functional"), operator(scale())
    for call in both(functional):
        # The wrapper asks for stride 1, which resolving the view gives it.
        assert call(negative, 2.0).tolist() == [-4, -8]
    for call in both(mutating):
        y = torch.zeros(2)
        call(negative, y, 1.0)
        assert y.tolist() == [-2, -4]


def test_autocast_changes_no_dtype() -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for call in both(operator(scale(), form="functional")):
            assert call(torch.ones(3), 2.0).dtype == torch.float32
            with pytest.raises(TypeError, match="expected float32 but got bfloat16"):
                call(torch.ones(3, 3) @ torch.ones(3), 2.0)


def test_an_autocast_rule_that_is_registered_later() -> None:
    op, functional = operator(scale()), operator(scale(), form="functional")
    half, y = torch.ones(3, dtype=torch.bfloat16), torch.zeros(3)
    for each in (op, functional):
        each(torch.ones(3), *([y] if each is op else []), 2.0)  # the rule comes after a first call
        torch.library.register_autocast(each.overload.name(), "cpu", torch.float32)
    with torch.no_grad():
        for call in both(functional):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                assert call(half, 3.0).tolist() == [3] * 3
                with (
                    torch.autocast("cpu", enabled=False),
                    pytest.raises(TypeError, match="float32"),
                ):
                    call(half, 3.0)
            with pytest.raises(TypeError, match="expected float32 but got bfloat16"):
                call(half, 3.0)
        for number, call in enumerate(both(op)):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                call(half, y, 4.0 + number)
            assert y.tolist() == [4 + number] * 3
            with pytest.raises(TypeError, match="expected float32 but got bfloat16"):
                call(half, y, 3.0)


def test_an_autocast_rule_and_a_dtype_that_is_right_without_it() -> None:
    text = "f(x: Tensor([n], float32 | bfloat16, intent=in), y: Tensor([n], x.dtype, intent=out))"
    op = operator(in_python(Signature.parse(text, device="cpu")), form="functional")
    torch.library.register_autocast(op.overload.name(), "cpu", torch.float32)
    half = torch.ones(3, dtype=torch.bfloat16)
    for call in [*both(op), torch.compile(op, backend="eager")]:
        assert call(half).dtype == torch.bfloat16
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert call(half).dtype == torch.float32


def one_kernel_alone(error: RuntimeError) -> NoReturn:
    """PyTorch 2.10 lets nobody register a second kernel."""
    if "already a kernel registered" not in str(error):
        raise error
    pytest.skip("this torch allows one kernel alone")


def hundred(*_: Any) -> Any:
    return torch.full((3,), 100.0)


@pytest.mark.filterwarnings("ignore:Warning only once for all operators:UserWarning")
def test_a_kernel_that_is_registered_later() -> None:
    op, x = differentiated(), torch.ones(3)
    try:
        torch.library.register_kernel(op.overload.name(), "cpu", hundred)
    except RuntimeError as error:
        one_kernel_alone(error)
    for call in both(op):
        assert call(x, 2.0).tolist() == [2] * 3  # as docs/torch.md says
        assert torch.compile(call, backend="aot_eager")(x, 2.0).tolist() == [100] * 3


def test_rules_that_are_registered_later() -> None:
    op, plain = differentiated(), operator(scale(), form="functional")
    try:
        torch.library.register_autograd(plain.overload.name(), times, setup_context=keep)
    except RuntimeError as error:
        one_kernel_alone(error)
    for call in both(plain):
        call(x := leaf(), 3.0).sum().backward()
        assert x.grad.tolist() == [3] * 3
    torch.library.register_vmap(plain.overload.name(), lambda info, dims, x, a: (hundred(), None))
    torch.library.register_vmap(op.overload.name(), lambda info, dims, x, a: (hundred(), None))
    for call in [*both(plain), *both(op)]:
        assert torch.vmap(partial(call, a=2.0))(torch.ones(2, 3)).tolist() == [[100] * 3] * 2
    gradient = torch.func.grad(lambda x: op(x, 2.0).square().sum())
    assert torch.vmap(gradient)(torch.ones(2, 3)).tolist() == [[8] * 3] * 2


def test_deterministic_mode() -> None:
    torch.use_deterministic_algorithms(True)
    try:
        for call in both(operator(scale(), form="functional")):
            assert call(torch.ones(3), 2.0).tolist() == [2] * 3
    finally:
        torch.use_deterministic_algorithms(False)


def test_modes_see_the_operator() -> None:
    seen: list[str] = []
    op, functional = operator(scale()), operator(scale(), form="functional")

    class Dispatch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    class Function(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    x, y = torch.ones(3), torch.zeros(3)
    for mode in (Dispatch, Function):
        with mode():
            op(x, y, 2.0)
            functional(x, 2.0)
        assert seen[0] == op.overload
        assert functional.overload in seen
        seen.clear()
    assert y.tolist() == [2] * 3


def test_subclasses_see_the_operator() -> None:
    TwoTensor: Any = import_module("torch.testing._internal.two_tensor").TwoTensor
    op = operator(scale(), form="functional")
    done = op(TwoTensor(torch.ones(3), torch.zeros(3)), 2.0)
    assert type(done) is TwoTensor
    assert (done.a.tolist(), done.b.tolist()) == ([2] * 3, [0] * 3)


def test_sparse_and_empty_tensors() -> None:
    op = operator(scale(), form="functional")
    for call in both(op):
        assert call(torch.ones(0), 2.0).shape == (0,)
        with pytest.raises((NotImplementedError, RuntimeError, ValueError)):
            call(torch.ones(3).to_sparse(), 2.0)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
@pytest.mark.parametrize("layout", ["strided", "jagged"])
def test_nested_tensors_are_refused(layout: str) -> None:
    x = torch.nested.nested_tensor([torch.ones(3)], layout=getattr(torch, layout))
    for call in (
        partial(operator(scale(), form="functional"), x, 2.0),
        partial(operator(scale()), x, torch.ones(3), 2.0),
    ):
        with pytest.raises(ValueError, match=r"Mismatched x .*a nested tensor.*x\.unbind\(\)"):
            call()


def test_a_symbolic_trace_of_torch_fx_has_the_operator_alone() -> None:
    op, functional = operator(scale()), operator(scale(), form="functional")

    def both_forms(x: Any, y: Any, a: Any) -> Any:
        op(x, y, a=a)
        return functional(x, 2.0) + y

    traced = torch.fx.symbolic_trace(both_forms)
    called = [node.target for node in traced.graph.nodes if node.op == "call_function"]
    assert called[:2] == [op.overload, functional.overload]
    assert len(called) == 3
    assert traced(torch.ones(3), torch.zeros(3), 5.0).tolist() == [7] * 3


@pytest.mark.filterwarnings("ignore:.*torch.jit")
def test_a_trace_of_torch_jit_has_the_operator() -> None:
    op, update = operator(scale(), form="functional"), operator(axpby())

    def step(x: Any, y: Any) -> Any:
        update(x, y, 1.0, 1.0)
        return op(y, 2.0)

    traced = torch.jit.trace(step, (torch.ones(2), torch.ones(2)), check_trace=False)
    assert traced(torch.ones(3), 2 * torch.ones(3)).tolist() == [6] * 3


def test_a_derivative_of_what_returns_its_result() -> None:
    text = "f(x: Tensor([n], float32, intent=in)) -> y: Tensor([n], float32)"
    function = in_python(Signature.parse(text, device="cpu"))

    def ones(ctx: Any, grad: Any) -> Any:
        return grad * 5

    op = operator(function, backward=ones)
    x = leaf()
    op(x).sum().backward()
    assert x.grad.tolist() == [5] * 3
    with pytest.raises(RuntimeError, match="has no derivative, but x"):
        operator(function)(leaf())


def test_outputs_of_ints_have_no_gradient() -> None:
    text = "f(x: Tensor([n], float32, intent=in)) -> y: Tensor([n], int32)"
    op = operator(in_python(Signature.parse(text, device="cpu")))
    for call in both(op):
        assert not call(leaf()).requires_grad


def test_a_derivative_gets_defaults_that_were_left_out() -> None:
    (n,) = dims("n")
    x_in = Tensor("x", [n], "float32", device_type="cpu", intent="in")
    result = Tensor("y", [n], "float32", device_type="cpu")
    signature = Signature("f", [x_in, Var("a", "float32", default=0.5)], result)

    def keep_default(ctx: Any, inputs: Any, output: Any) -> None:
        _, ctx.a = inputs

    op = operator(in_python(signature), backward=times, setup_context=keep_default)
    x = leaf()
    op(x).sum().backward()
    assert x.grad.tolist() == [0.5] * 3
    assert torch.func.grad(lambda x: op(x).sum())(torch.ones(2)).tolist() == [0.5, 0.5]
