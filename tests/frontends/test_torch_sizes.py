"""examples/torch_fx: sizes and indices that torch-mlir assumes are right, or an error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.frontends.support import ROOT, grown, needs, refused

torch = needs("torch")
needs("torch_mlir.fx")
torch_models: Any = pytest.importorskip("tests.frontends.torch_models")
importer, signatures = torch_models.importer, torch_models.signatures

# torch 2.13 copies programs in a way that it has deprecated itself.
pytestmark = pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")

STATIC_LIST = "aten.as_strided.default `size` must be a static int list"
NOT_MADE = {("group norm", 1): STATIC_LIST, ("group norm", 2): STATIC_LIST}
BOTH_REFUSE_NO_T = ("conv1d", "conv2d", "max pool", "average pool", "statistics")
"""Models that PyTorch refuses if t is 0."""


@pytest.fixture(scope="module")
def outcomes() -> dict[Any, Any]:
    """What became of the calls of each model, in a process with freed memory overwritten."""
    tunables = "glibc.malloc.perturb=165:glibc.malloc.tcache_count=0"
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "tests.frontends.torch_models"],
        cwd=ROOT,
        env={**os.environ, "GLIBC_TUNABLES": tunables},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    found = {(line["name"], line["count"]): line for line in lines}
    return {None: f"ended with status {done.returncode}: {done.stderr[-2000:]}", **found}


@pytest.mark.parametrize(("name", "count"), torch_models.CASES)
def test_a_call_does_as_pytorch(outcomes: dict[Any, Any], name: str, count: int) -> None:
    """In particular, where PyTorch raises, the call raises."""
    assert (name, count) in outcomes, outcomes[None]
    found = outcomes[name, count]
    assert found["made"] == NOT_MADE.get((name, count))
    if found["made"] is not None:
        return
    assert {(b, t): outcome for b, t, outcome in found["calls"]} == {
        (b, t): expected(name, count, b, t) for b, t in torch_models.sizes(count)
    }


def expected(name: str, count: int, b: int, t: int) -> str:
    if name in BOTH_REFUSE_NO_T and t == 0:
        return torch_models.BOTH_REFUSE
    if name == "the rest of a view" and b == 0:  # with t known, the size is too
        return torch_models.EMPTY if count == 1 else torch_models.BOTH_REFUSE
    if name == "repeated" and b == 0:  # torch-mlir divides by it, to find a size
        return torch_models.REFUSED
    return torch_models.RIGHT


# ---- what the importer assumes, without what the example does about it


def exported(function: Any, *args: Any, dims: Any = None) -> Any:
    dims = dims or {0: torch.export.Dim("b"), 1: torch.export.Dim("t")}
    model = function if isinstance(function, torch.nn.Module) else torch_models.Function(function)
    return torch.export.export(model, args, dynamic_shapes=(dims,))


def compiled(function: Any, *args: Any, dims: Any = None) -> Any:
    program = exported(function, *args, dims=dims)
    return importer.compile_program(program, signatures.signature_of("f", program))["f"]


def unchanged(module: Any) -> None:
    assert module.operation.verify()


def test_a_cast_that_is_wrong_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch-mlir takes t for 1 in views. Without the check, Linear wrote outside of its memory."""
    monkeypatch.setattr(importer, "flatten_views", unchanged)
    linear = torch.nn.Linear(4, 3)
    function = compiled(linear, torch.zeros(2, 3, 4))
    x = torch.randn(2, 1, 4)
    out = torch.empty(2, 1, 3)
    function(x, out)
    torch.testing.assert_close(out, linear(x).detach())
    kind, words = refused(lambda: function(torch.zeros(2, 3, 4), torch.empty(2, 3, 3)))
    assert kind == "RuntimeError"
    assert words.startswith("size mismatch of dim 1; Location: ")
    assert ")) when calling: `f(" in words or ") when calling: `f(" in words
    # It divides by b * t, to find a size that is known.
    kind, words = refused(lambda: function(torch.zeros(0, 1, 4), torch.empty(0, 1, 3)))
    assert (kind, words.partition(" when")[0]) == ("RuntimeError", "division by zero")


RESHAPE = """
func.func @f(%x: tensor<?xf32>, %sizes: tensor<2xi64>) -> tensor<?x?xf32> {
  %y = tensor.reshape %x(%sizes) : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}"""
EXPAND = """
func.func @f(%x: tensor<?xf32>, %n: index) -> tensor<?x?xf32> {
  %y = tensor.expand_shape %x [[0, 1]] output_shape [%n, %n] : tensor<?xf32> into tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}"""


def test_a_reshape_has_an_assert_of_its_sizes() -> None:
    with importer.ir.Context() as context:
        module = importer.ir.Module.parse(RESHAPE, context)
        importer.add_asserts(module)
    assert module.operation.verify()
    text = str(module)
    assert text.count('"a size is negative"') == 2
    assert text.count('"a view has another number of elements"') == 1


def test_an_expansion_of_two_unknown_sizes_is_refused() -> None:
    with importer.ir.Context() as context:
        module = importer.ir.Module.parse(EXPAND, context)
        kind, words = refused(lambda: importer.add_asserts(module))
    assert kind == "BuildError"
    assert words.startswith("Nothing checks the sizes of %")


# ---- values


@pytest.fixture(scope="module")
def embedding() -> Any:
    """The function of an embedding, behind a layer that allocates 256 kB."""
    table, wide = torch.nn.Embedding(10, 4), torch.nn.Linear(4, 64)

    def function(x: Any) -> Any:
        return wide(table(x)).sum(-1) + table(x + 1).sum(-1)

    return function, compiled(function, torch.zeros(4, 5, dtype=torch.int64))


INDICES = {-2: "larger or equal to 0", -1: "larger or equal to 0", 9: "smaller than dim size"}


@pytest.mark.parametrize("index", INDICES)
def test_an_index_out_of_range_is_an_error(embedding: Any, index: int) -> None:
    function, embedded = embedding
    x, out = torch.randint(0, 9, (20, 50)), torch.empty(20, 50)
    embedded(x, out)
    torch.testing.assert_close(out, function(x).detach())
    x[19, 49] = index
    kind, words = refused(lambda: embedded(x, out))
    assert kind == "RuntimeError"
    assert words.startswith(f"index must be {INDICES[index]} when calling: `f(")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_a_failed_call_frees_what_it_allocated(embedding: Any) -> None:
    x, out = torch.full((20, 50), 9), torch.empty(20, 50)
    assert grown(lambda: refused(lambda: embedding[1](x, out)), 200) < 4 << 20


DIVIDED = [2**62 + 1, -(2**62), -7, 7, -8, 8, 0, 5]
BY = [3, 7, 2, -2, 3, -3, 5, -1]


@pytest.mark.parametrize("operator", ["floor_divide", "remainder", "trunc"])
def test_integers_are_divided_exactly(operator: str) -> None:
    def function(x: Any) -> Any:
        by = torch.tensor(BY)
        if operator == "trunc":
            return torch.div(x, by, rounding_mode="trunc")
        return getattr(torch, operator)(x, by)

    divide = compiled(
        function, torch.ones(3, 8, dtype=torch.int64), dims={0: torch.export.Dim("b")}
    )
    x = torch.tensor([DIVIDED])
    out = torch.empty_like(x)
    divide(x, out)
    assert torch.equal(out, function(x))


@pytest.mark.parametrize(("value", "by"), [(1, 0), (-(2**63), -1)])
def test_a_division_without_a_quotient_is_an_error(value: int, by: int) -> None:
    """Without the check, the processor raises SIGFPE."""

    def function(x: Any) -> Any:
        return x[0] % x[1]

    remainder = compiled(
        function, torch.ones(2, 3, dtype=torch.int64), dims={1: torch.export.Dim("n")}
    )
    kind, words = refused(
        lambda: remainder(torch.tensor([[value], [by]]), torch.empty(1, dtype=torch.int64))
    )
    assert kind == "RuntimeError"
    assert words.startswith("the quotient is too large" if value < 0 else "division by zero")


# ---- what torch.export assumes


HINTS = [torch.export.Dim.AUTO, torch.export.Dim.DYNAMIC]


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_a_program_for_some_sizes_only_is_refused(hint: Any) -> None:
    """torch.export takes one of the branches, and says so nowhere in the program's ranges."""

    def function(x: Any) -> Any:
        return x * 2 if x.shape[0] % 2 == 0 else x + 1

    program = exported(function, torch.zeros(4, 3), dims={0: hint})
    kind, words = refused(lambda: signatures.signature_of("f", program))
    assert kind == "BuildError"
    assert words.startswith("The program holds only if (L['x'].size()[0] % 2) == 0, which ")
    assert words.endswith("torch.export.Dim, not AUTO or DYNAMIC")


def added(pair: Any) -> Any:
    return pair[0] + pair[1]


def test_sizes_that_must_be_equal_are_in_the_signature() -> None:
    auto = torch.export.Dim.AUTO
    args = torch.zeros(4, 3), torch.zeros(4, 3)
    model = torch_models.of(added)
    program = torch.export.export(model, (args,), dynamic_shapes=(({0: auto}, {0: auto}),))
    signature = signatures.signature_of("f", program, ["n"])
    assert [str(param.shape[0]) for param in signature.params] == ["n", "n", "n"]
    assert str(signature).endswith("where 2 <= n")


def test_a_release_of_pytorch_without_guards_is_taken_as_it_is() -> None:
    """The attribute is private. Without it, programs with hints are not refused."""
    signatures.check_guards(SimpleNamespace())


def largest(x: Any) -> Any:
    return x.flatten().max()


def test_a_maximum_of_no_elements_is_refused_by_the_wrapper() -> None:
    function = compiled(largest, torch.zeros(2, 3))
    out = torch.empty(())
    function(torch.tensor([[1.0, 4.0]]), out)
    assert out == 4
    _, words = refused(lambda: function(torch.zeros(0, 3), out))
    assert "shape[1] on argument #0" in words or "shape[0] on argument #0" in words
    assert " >= 1 with " in words
