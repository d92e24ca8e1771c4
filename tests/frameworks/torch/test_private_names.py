"""Operators in a torch that lacks a name that it does not document: right, if slower."""

# Functions that torch calls are typed as Any.
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import ffi_builder
from tests.frameworks.torch.functions import NAMESPACE, SCALE, axpby, scale, unique

torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # torch's own, while it compiles
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
PACKAGE = "ffi_builder.frameworks.torch"
ALL = "all of them"


def hidden_names() -> list[str]:
    """What `_hidden` is called with."""
    source = Path(ffi_builder.__file__).parent / "frameworks" / "torch" / "_torch.py"
    calls = [
        node
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "_hidden"
    ]
    return [ast.literal_eval(call.args[0]) for call in calls]


def test_this_torch_has_all_names() -> None:
    """Else the names below would be taken away in vain."""
    assert len(hidden_names()) >= 8
    for name in hidden_names():
        attrgetter(name)(torch)


@pytest.fixture(params=[ALL, *hidden_names()])
def made(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """`operator`, of a package that was imported while torch lacked a name."""
    frameworks: Any = import_module("ffi_builder.frameworks")
    import_module(PACKAGE)
    loaded = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(PACKAGE)}
    with monkeypatch.context() as patch:
        for name in hidden_names() if request.param == ALL else [request.param]:
            owner, _, last = name.rpartition(".")
            patch.delattr(attrgetter(owner)(torch) if owner else torch, last)
        operator = import_module(PACKAGE).operator
    torch.compiler.reset()
    try:
        yield lambda function, **options: operator(  # pyright: ignore[reportUnknownArgumentType]
            function, namespace=NAMESPACE, name=unique("without"), **options
        )
    finally:
        for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
            del sys.modules[name]
        sys.modules.update(loaded)
        frameworks.torch = loaded[PACKAGE]


def double(ctx: Any, grad: Any) -> Any:
    return grad * ctx.a, None


def keep(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.a = inputs[-1]


def derived(made: Any) -> Any:
    return made(scale(), form="functional", backward=double, setup_context=keep)


def test_calls(made: Any) -> None:
    x, y = torch.arange(3.0), torch.zeros(3)
    mutating, functional = made(scale()), made(scale(), form="functional")
    mutating(x, y, 2.0)
    assert y.tolist() == [0, 2, 4]
    assert functional(x, a=3.0).tolist() == [0, 3, 6]
    assert not functional(x, 3.0).is_inference()
    assert functional.overload(x, 4.0).tolist() == [0, 4, 8]
    version = y._version
    mutating.overload(x, y, 3.0)
    assert (y.tolist(), y._version) == ([0, 3, 6], version + 1)
    with torch.no_grad():
        mutating(x.requires_grad_(), y, 4.0)
    assert y.tolist() == [0, 4, 8]


def test_errors(made: Any) -> None:
    op, functional = made(scale()), made(scale(), form="functional")
    for call in (op, op.overload):
        with pytest.raises(ValueError, match=r"Mismatched y\.shape\[0\] on argument #1 .* got 4"):
            call(torch.ones(3), torch.ones(4), 1.0)
        with pytest.raises(TypeError, match=r"Mismatched x\.dtype .* got float64"):
            call(torch.ones(3, dtype=torch.float64), torch.ones(3), 1.0)
    with pytest.raises((TypeError, RuntimeError), match=SCALE_OR_SCHEMA):
        op("x", torch.ones(3), 1.0)
    with pytest.raises((TypeError, RuntimeError), match="missing"):
        functional(torch.ones(3))


SCALE_OR_SCHEMA = f"{re.escape(SCALE)}|Expected a value of type 'Tensor' for argument 'x'"


def test_gradients_and_tangents_are_not_lost(made: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    for refused in (made(scale(), form="functional"), made(axpby(), form="functional")):
        rest = (2.0,) if refused.schema.count("Tensor") == 2 else (torch.ones(3), 1.0, 1.0)
        for call in (refused, refused.overload):
            with pytest.raises(RuntimeError, match="has no derivative, but x requires a gradient"):
                call(x, *rest)
    with pytest.raises(RuntimeError, match="writes y, which requires a gradient"):
        made(scale())(torch.ones(3), x * 1, 2.0)
    for op in (made(scale(), form="functional"), derived(made)):
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(torch.ones(3), torch.ones(3))
            for call in (op, op.overload):
                with pytest.raises(RuntimeError, match="no derivative in forward mode"):
                    call(dual, 2.0)


def test_derivatives(made: Any) -> None:
    op = derived(made)

    def twice(call: Any, x: Any) -> Any:
        return call(call(x, 2.0), 3.0).sum()

    graph = torch.compile(partial(twice, op), backend="aot_eager", fullgraph=True)
    for loss in (partial(twice, op), partial(twice, op.overload), graph):
        x = torch.ones(3, requires_grad=True)
        loss(x).backward()
        assert x.grad.tolist() == [6] * 3
    x = torch.ones(2, 3, requires_grad=True)
    torch.vmap(lambda row: op(row, 2.0))(x).sum().backward()
    assert x.grad.tolist() == [[2] * 3] * 2


def test_torch_func(made: Any) -> None:
    op, x = derived(made), torch.ones(3)
    assert torch.func.grad(lambda x: op(op(x, 2.0), 3.0).sum())(x).tolist() == [6] * 3
    assert torch.func.jacrev(lambda x: op(x, 2.0))(x).tolist() == (2 * torch.eye(3)).tolist()
    rows = torch.ones(2, 3)
    assert torch.vmap(lambda row: op(row, 2.0))(rows).tolist() == [[2] * 3] * 2
    each = torch.vmap(torch.func.grad(lambda row: op(row, 2.0).sum()))
    assert each(rows).tolist() == [[2] * 3] * 2


def test_many_gradients_at_once(made: Any) -> None:
    op, inner = derived(made), made(scale(), form="functional")
    x = torch.ones(3, requires_grad=True)
    y = op(x, 2.0)
    (found,) = torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)
    assert found.tolist() == (2 * torch.eye(3)).tolist()

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return 2 * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return inner(grad.contiguous(), 2.0)

    (found,) = torch.autograd.grad(Doubled.apply(x), x, torch.eye(3), is_grads_batched=True)
    assert found.tolist() == (2 * torch.eye(3)).tolist()


def test_graphs(made: Any) -> None:
    mutating, functional = made(scale()), made(scale(), form="functional")

    def step(x: Any) -> Any:
        y = torch.empty_like(x)
        mutating(x, y, 2.0)
        return functional(x, 3.0) + y

    x = torch.ones(3)
    for graph in (
        torch.compile(step, backend="aot_eager", fullgraph=True, dynamic=True),
        import_module("torch.fx.experimental.proxy_tensor").make_fx(step)(x),
    ):
        assert graph(x).tolist() == [5] * 3
    traced = torch.fx.symbolic_trace(lambda x: functional(x, 3.0))
    called = [node.target for node in traced.graph.nodes if node.op == "call_function"]
    assert called == [functional.overload]
    assert torch.jit.trace(step, (x,), check_trace=False)(2 * x).tolist() == [10] * 3


def test_checks_while_sizes_are_symbols(made: Any) -> None:
    op, functional = made(scale()), made(axpby(), form="functional")
    traced = partial(
        import_module("torch.fx.experimental.proxy_tensor").make_fx, tracing_mode="symbolic"
    )
    with pytest.raises(ValueError, match=r"Mismatched y\.shape\[0\] on argument #1 .* but got"):
        traced(op)(torch.ones(3), torch.ones(4), 1.0)
    with pytest.raises(TypeError, match=r"Mismatched x\.dtype .* got int64"):
        traced(functional)(torch.ones(3, dtype=torch.int64), torch.ones(3), 2.0, 1.0)
    graph = traced(lambda x, y: functional(x, y, 2.0, 1.0))(torch.ones(3), torch.ones(3))
    assert graph(torch.ones(4), torch.ones(4)).tolist() == [3] * 4


def test_modes_see_operators(made: Any) -> None:
    mutating, functional = made(scale()), made(scale(), form="functional")
    seen: list[Any] = []

    class Function(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    class Dispatch(import_module("torch.utils._python_dispatch").TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    x, y = torch.ones(3), torch.ones(3)
    for mode in (Function, Dispatch):
        seen.clear()
        with mode():
            mutating(x, y, 2.0)
            functional(x, 3.0)
        assert {mutating.overload, functional.overload} <= set(seen)


def test_autocast_rules(made: Any) -> None:
    op = made(scale(), form="functional")
    name = f"{NAMESPACE}::{op.__name__}"
    torch.library.register_autocast(name, "cpu", torch.float32)
    x = torch.ones(3, dtype=torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert op(x, 2.0).tolist() == [2] * 3
