"""Every kind of parameter that operators take: in eager mode, graphs, exported programs, batches."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.frameworks.torch.functions import in_python, operator, parsed

torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
pytestmark = [
    # torch's own, while it traces
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
MASK: Final = torch.tensor([2.0, 3.0])
KINDS: Final[dict[str, tuple[str, list[Any]]]] = {
    "Tensor": ("Tensor([n], float32, intent=in)", [MASK]),
    "Tensor?": ("Optional(Tensor([n], float32, intent=in))", [MASK, None]),
    "Tensor[]": ("TensorList(Tensor([n], float32, intent=in))", [[MASK, 2 * MASK], (MASK,), []]),
    "Tensor[]?": ("Optional(TensorList(Tensor([n], float32, intent=in)))", [[MASK, MASK], None]),
    "SymInt": ("int64", [3]),
    "SymInt?": ("Optional(uint8)", [3, None]),
    "float": ("float32", [2.5, 3, True]),
    "float?": ("Optional(float64)", [2.5, 3, None]),
    "bool": ("bool", [True, False]),
    "bool?": ("Optional(bool)", [True, None]),
    "str": ("String", ["abc", ""]),
    "str?": ("Optional(Choice({up: 1, left: 2}))", ["left", None]),
    "SymInt[]": ("List(int32)", [[3, 4], (5,), []]),
    "SymInt[]?": ("Optional(Shape([n, k]))", [(2, 5), None]),
    "float[]": ("List(float32)", [[2.5, 3], [4], []]),
    "float[]?": ("Optional(List(float64))", [[2.5], None]),
    "bool[]": ("List(bool)", [[True, False], []]),
    "bool[]?": ("Optional(List(bool))", [[True], None]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_everywhere(kind: str) -> None:
    text, values = KINDS[kind]
    rest = "y: Tensor([n], float32, intent=out)"
    signature = parsed(f"f(x: Tensor([n], float32, intent=in), p: {text}, {rest})")
    op = operator(in_python(signature), form="functional")
    assert op.schema.endswith(f"(Tensor x, {kind} p) -> Tensor")
    x = torch.tensor([1.0, 4.0])

    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return op(x, given) + 1

    for given in values:
        right = 1 + op(x, given)
        assert torch.equal(1 + op.overload(x, given), right)
        torch._dynamo.reset()
        graph = torch.compile(Model(), fullgraph=True, backend="aot_eager")
        assert torch.equal(graph(x), right)
        program = torch.export.export(Model(), (x,)).module()
        assert torch.equal(program(x), right)
        rows = torch.stack([x, x])
        assert torch.equal(torch.vmap(Model())(rows), torch.stack([right, right]))
