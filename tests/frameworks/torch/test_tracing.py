# pyright: reportUnknownLambdaType=false
"""Operators under torch.compile, torch.export, make_fx and AOTInductor."""

from __future__ import annotations

import copy
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Signature
from tests.frameworks.torch.functions import axpby, compiled, operator, scale

torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
pytestmark = [
    pytest.mark.slow,
    # torch's own, while it traces
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
BACKENDS = ["aot_eager", "inductor"]


def differentiated() -> Any:
    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.a = inputs[1]

    def times(ctx: Any, grad: Any) -> Any:
        return grad * ctx.a, None

    return operator(
        scale(),
        form="functional",
        backward=times,
        setup_context=keep,
    )


@pytest.fixture(autouse=True)
def nothing_compiled() -> None:
    torch._dynamo.reset()


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_written_is_seen_behind_it(backend: str) -> None:
    op, update = operator(scale()), operator(axpby())

    def step(x: Any, y: Any) -> Any:
        op(x + 1, y, 2.0)
        z = y * 2
        update(x, z, 1.0, 3.0)
        return y + z

    x, y = torch.arange(4.0), torch.zeros(4)
    given = y.clone()
    done = torch.compile(step, fullgraph=True, backend=backend)(x, given)
    assert torch.allclose(done, step(x, y))
    assert torch.equal(given, y)


@pytest.mark.parametrize("backend", BACKENDS)
def test_views_and_aliases(backend: str) -> None:
    op = operator(scale())

    def step(buffer: Any) -> Any:
        before = buffer.sum()
        row = buffer[1]
        op(buffer[0], row, 3.0)
        op(row[:1], buffer.view(-1)[5:], 2.0)
        return before, row.clone(), buffer * 1

    given, expected = torch.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(2, 3)
    done = torch.compile(step, fullgraph=True, backend=backend)(given)
    for left, right in zip(done, step(expected), strict=True):
        assert torch.equal(left, right)
    assert torch.equal(given, expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_training(backend: str) -> None:
    op = differentiated()
    model = torch.compile(
        lambda x, w: op(x * w, 3.0).square().sum(), fullgraph=True, backend=backend
    )
    x, w = torch.arange(4.0), torch.ones(4, requires_grad=True)
    model(x, w).backward()
    assert torch.allclose(w.grad, 18 * x * x)


@pytest.mark.parametrize("backend", BACKENDS)
def test_dynamic_sizes_are_traced_once(backend: str) -> None:
    op = operator(scale(), form="functional")
    traced: list[Any] = []

    def backend_of(graph: Any, inputs: Any) -> Any:
        traced.append(graph)
        return torch._dynamo.lookup_backend(backend)(graph, inputs)

    model = torch.compile(
        lambda x: op(x, 2.0) + 1, fullgraph=True, dynamic=True, backend=backend_of
    )
    for size in (4, 5, 100, 7):
        assert model(torch.ones(size)).tolist() == [3] * size
    assert len(traced) == 1


def test_no_needless_guard_restricts_a_size() -> None:
    text = "f(x: Tensor([n, m], float32, intent=in), y: Tensor([m, n], float32, intent=out)) where n: int32, m % 4 == 0, 2 <= n"
    function = compiled(Signature.parse(text, device="cpu"), NopCallProvider())["f"]
    op = operator(function, form="functional")
    shapes: Any = import_module("torch.fx.experimental.symbolic_shapes")
    env = shapes.ShapeEnv()
    with import_module("torch._subclasses").FakeTensorMode(shape_env=env) as mode:
        sizes = shapes.StatelessSymbolicContext(dynamic_sizes=[shapes.DimDynamic.DYNAMIC] * 2)
        x = mode.from_tensor(torch.ones(6, 8), symbolic_context=sizes)
        y = op(x)
        assert y.shape == (x.shape[1], x.shape[0])
    assert [str(guard.expr) for guard in env.guards] == []


def test_sizes_that_only_a_run_tells() -> None:
    op = operator(scale(), form="functional")

    def chosen(x: Any) -> Any:
        return op(x[x > 0], 2.0)

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        model = torch.compile(chosen, fullgraph=True, backend="aot_eager")
        assert model(torch.tensor([1.0, -1, 3])).tolist() == [2, 6]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_errors_are_those_of_the_wrapper(backend: str) -> None:
    op = operator(scale())
    words = r"Mismatched y\.shape\[0\] on argument #1 .*expected 3 \(n = x\.shape\[0\]\) but got 4"
    with pytest.raises(Exception, match=words):
        torch.compile(lambda x, y: op(x, y, 1.0), fullgraph=True, backend=backend)(
            torch.ones(3), torch.ones(4)
        )
    functional = operator(scale(), form="functional")
    with pytest.raises(Exception, match="has no derivative, but x requires a gradient"):
        torch.compile(lambda x: functional(x, 1.0), fullgraph=True, backend=backend)(
            torch.ones(3).requires_grad_()
        )


def test_an_operator_as_it_is_under_another_trace() -> None:
    """make_fx with plain tensors, symbolic ones, and functionalization."""
    make_fx: Any = import_module("torch.fx.experimental.proxy_tensor").make_fx
    op = operator(axpby())

    def step(x: Any, y: Any) -> Any:
        op(x, y, 2.0, 1.0)
        return y * 2

    for mode in ("real", "fake", "symbolic"):
        graph = make_fx(step, tracing_mode=mode)(torch.ones(3), torch.ones(3))
        assert [n.target for n in graph.graph.nodes].count(op.overload) == 1
        x, y = torch.ones(3), torch.ones(3)
        assert graph(x, y).tolist() == [6] * 3
        assert y.tolist() == [3] * 3


class Model(torch.nn.Module):
    def __init__(self) -> None:
        torch.nn.Module.__init__(self)
        self.op, self.update = operator(scale(), form="functional"), operator(axpby())

    def forward(self, x: Any) -> Any:
        y = self.op(x, 2.0)
        self.update(x, y, 1.0, 3.0)
        return y + 1


@pytest.mark.parametrize("strict", [True, False])
def test_export(strict: bool, tmp_path: Path) -> None:
    model = Model()
    x = torch.arange(4.0)
    size = torch.export.Dim("size", min=2)
    program = torch.export.export(model, (x,), dynamic_shapes=({0: size},), strict=strict)
    names = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    assert str(model.op.overload) in names
    for made in (program, program.run_decompositions()):
        for length in (4, 9):
            x = torch.arange(float(length))
            assert torch.equal(made.module()(x), model(x))
    torch.export.save(program, tmp_path / "program.pt2")
    again = torch.export.load(tmp_path / "program.pt2")
    assert torch.equal(again.module()(x), model(x))


def test_aot_inductor(tmp_path: Path) -> None:
    model = Model()
    x = torch.arange(4.0)
    with torch.no_grad():
        program = torch.export.export(
            model, (x,), dynamic_shapes=({0: torch.export.Dim("size", min=2)},)
        )
        package = torch._inductor.aoti_compile_and_package(
            program, package_path=str(tmp_path / "model.pt2")
        )
    loaded = torch._inductor.aoti_load_package(package)
    for length in (4, 9):
        x = torch.arange(float(length))
        assert torch.equal(loaded(x), model(x))


def test_an_operator_in_a_module_that_is_copied() -> None:
    model = copy.deepcopy(Model())
    x = torch.ones(3)
    assert torch.equal(torch.compile(model, fullgraph=True, backend="aot_eager")(x), model(x))


def test_a_graph_for_all_sizes_is_checked_when_it_runs() -> None:
    """No check became a guard, so `torch.export` takes sizes that the signature compares."""
    op = operator(scale())

    class Model(torch.nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            op(x, y, 2.0)
            return y + 1

    sizes = [{0: torch.export.Dim(name, min=2, max=99)} for name in "ab"]
    args = (torch.ones(3), torch.zeros(3))
    program = torch.export.export(Model(), args, dynamic_shapes=tuple(sizes)).module()
    assert program(torch.ones(4), torch.zeros(4)).tolist() == [3] * 4
    with pytest.raises(ValueError, match=r"expected 4 \(n = x\.shape\[0\]\) but got 5"):
        program(torch.ones(4), torch.zeros(5))
