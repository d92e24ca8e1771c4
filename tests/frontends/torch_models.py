"""Small PyTorch models with 2 sizes that calls choose, some also with 0 or 1, beside eager PyTorch.

Run as a program, since a wrong size may end the process: prints a line of JSON for each model and
number of sizes, with what became of each call.
"""

from __future__ import annotations

import contextlib
import gc
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from ffi_builder.spec import Signature
from tests.frontends.support import example

# By name, since types are checked without PyTorch, too.
torch: Any = import_module("torch")
nn: Any = torch.nn
functional: Any = nn.functional
importer = example("torch_fx/importer")
signatures = example("torch_fx/signatures")

SIZES = (0, 1, 2, 7)
RIGHT, WRONG, REFUSED, BOTH_REFUSE = "right", "wrong", "refused", "refused, as by PyTorch"
EMPTY = "empty, where PyTorch refuses to guess a size"


class Function(nn.Module):
    """A function of `x` and maybe a layer, as a module; torch.export takes nothing else."""

    def __init__(self, function: Callable[..., Any], *layers: Any) -> None:
        nn.Module.__init__(self)
        self.function, self.layers = function, nn.ModuleList(layers)

    def forward(self, x: Any) -> Any:
        return self.function(x, *self.layers)


def of(function: Callable[[Any], Any]) -> Any:
    return Function(function)


def of_layer(function: Callable[[Any, Any], Any], layer: Any) -> Any:
    return Function(function, layer)


def attention(x: Any, project: Any, out: Any) -> Any:
    batch, time, _ = x.shape
    parts = project(x).chunk(3, -1)
    q, k, v = (y.view(batch, time, 2, 4).transpose(1, 2) for y in parts)
    y = torch.softmax(q @ k.transpose(-2, -1) / 2, -1) @ v
    return out(y.transpose(1, 2).reshape(batch, time, 8))


def embedding(x: Any, table: Any) -> Any:
    return table((x.sum(-1).abs() % 10).long())


def floor_division(x: Any) -> Any:
    return (x * 100).long() // 7


# All take [b, t, 8].
MODELS: dict[str, Any] = {
    "linear": nn.Linear(8, 3),
    "MLP": nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)),
    "attention": Function(attention, nn.Linear(8, 24), nn.Linear(8, 8)),
    "layer norm": nn.LayerNorm(8),
    "RMS norm": nn.RMSNorm(8),
    "group norm": of_layer(lambda x, norm: norm(x.transpose(1, 2)), nn.GroupNorm(2, 8)),
    "batch norm": of_layer(lambda x, norm: norm(x.transpose(1, 2)), nn.BatchNorm1d(8)),
    "conv1d": of_layer(lambda x, c: c(x.transpose(1, 2)), nn.Conv1d(8, 4, 3, padding=1)),
    "conv2d": of_layer(lambda x, c: c(x.unsqueeze(1)), nn.Conv2d(1, 4, 3, padding=1)),
    "max pool": of(lambda x: functional.max_pool1d(x, 2)),
    "average pool": of(lambda x: functional.avg_pool1d(x, 3, 2)),
    "embedding": of_layer(embedding, nn.Embedding(10, 4)),
    "softmax": of(lambda x: torch.softmax(x, 1)),
    "residual": of_layer(lambda x, inner: x + inner(x).relu(), nn.Linear(8, 8)),
    "GELU": of(lambda x: functional.gelu(x) * torch.sigmoid(x)),
    "matmul": of(lambda x: x @ x.transpose(1, 2)),
    "broadcasting": of(lambda x: x.unsqueeze(1) - x.unsqueeze(2) * x[:, :, :1].unsqueeze(1)),
    "statistics": of(lambda x: x.mean(1) + x.var(1) + x.amax(1)),
    "parts": of(lambda x: torch.cat([x[..., 3:], x], -1).flatten(1)),
    "repeated": of(lambda x: x.repeat(1, 2, 1)),
    "rows": of(lambda x: x.reshape(-1, 4)),
    "the rest of a view": of(lambda x: x.reshape(x.shape[0], -1)),
    "floor division": of(floor_division),
}

BY_COUNT = ("linear", "attention", "group norm", "max pool", "rows", "the rest of a view")
"""Models whose views, windows or limits depend on which sizes are constant."""

CASES = [(name, count) for name in MODELS for count in ((0, 1, 2) if name in BY_COUNT else (2,))]
"""Models, and how many of their sizes the calls choose. Each takes half a second to compile."""


def exported(model: Any, count: int) -> Any:
    names = ("b", "t")[:count]
    dims = {at: torch.export.Dim(name) for at, name in enumerate(names)}
    return torch.export.export(model, (torch.randn(3, 5, 8),), dynamic_shapes=(dims,))


def sizes(count: int) -> Iterator[tuple[int, int]]:
    for b in SIZES if count else (3,):
        for t in SIZES if count == 2 else (5,):
            yield b, t


def outcome(model: Any, function: Any, x: Any) -> str:
    """Say what became of a call, compared with PyTorch's."""
    expected = None
    with contextlib.suppress(RuntimeError, IndexError):
        expected = model(x).detach()
    try:
        given = function(x)
    except (RuntimeError, ValueError):
        return BOTH_REFUSE if expected is None else REFUSED
    if expected is None:
        return WRONG if given.numel() else EMPTY
    if given.shape != expected.shape:
        return WRONG
    same = torch.allclose(given, expected, atol=1e-5, equal_nan=True)
    return RIGHT if same and given.dtype == expected.dtype else WRONG


def tried(model: Any, count: int) -> dict[str, object]:
    program = exported(model, count)
    signature = signatures.signature_of("f", program, ["b", "t"])
    [x, out] = signature.params
    try:
        returning = Signature("f", [x], out, where=signature.where)
        function = importer.compile_program(program, returning, opt_level=0)
    except Exception as error:  # whatever PyTorch, torch-mlir or MLIR raises
        return {"made": str(error), "calls": []}
    calls = [(b, t, outcome(model, function["f"], torch.randn(b, t, 8))) for b, t in sizes(count)]
    return {"made": None, "calls": calls}


def main() -> None:
    gc.disable()  # otherwise a quarter of the time goes there
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    for name, count in CASES:
        line = {"name": name, "count": count, **tried(MODELS[name].eval(), count)}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    sys.exit(main())
