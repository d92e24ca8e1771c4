"""examples/torch_fx: PyTorch programs through torch-mlir's fx importer, against eager PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from ffi_builder import LinkError, runtime
from ffi_builder.spec import Signature
from tests.frontends.support import example, grown, needs, refused
from tests.runtime.exporting import needed
from tests.runtime.samples import needs_cc, run_child

torch = needs("torch")
needs("torch_mlir.fx")
importer = example("torch_fx/importer")
signatures = example("torch_fx/signatures")

# torch 2.13 copies programs in a way that it has deprecated itself.
pytestmark = pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")

BATCHES = (0, 1, 2, 7, 64)
MLP = "`mlp(input: Tensor([batch, 16], float32), out0: Tensor([batch, 10], float32))`"


class Module(torch.nn.Module):
    """A function as a module; torch.export takes nothing else."""

    def __init__(self, function: Callable[..., Any]) -> None:
        torch.nn.Module.__init__(self)
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


Function = Callable[[Any], Any]


def export(model: Any, args: tuple[Any, ...], shapes: tuple[Any, ...] | None) -> Any:
    """The exported program; `shapes` has for each input which of its dimensions are symbols."""
    if isinstance(model, torch.nn.Module) and not isinstance(model, Module):
        return torch.export.export(model, args, dynamic_shapes=shapes)
    given = None if shapes is None else (shapes,)
    return torch.export.export(Module(model), args, dynamic_shapes=given)


def batched(count: int = 1, **limits: int) -> tuple[Any, ...]:
    """Make the first dimension of each of `count` inputs the same symbol."""
    batch = torch.export.Dim("batch", **limits)
    return tuple({0: batch} for _ in range(count))


def compiled(
    model: Any, args: tuple[Any, ...], shapes: tuple[Any, ...] | None = None, **options: Any
) -> Any:
    """The function of a model."""
    program = export(model, args, shapes)
    signature = signatures.signature_of("f", program)
    return importer.compile_program(program, signature, **options)["f"]


def check(model: Any, function: Any, *args: Any, **tolerance: float) -> None:
    """Check that the function does what eager PyTorch does, and leaves its inputs as they were."""
    given = [x.clone() for x in args]
    returned = model(*args)
    expected = cast("tuple[Any, ...]", returned if isinstance(returned, tuple) else (returned,))
    results = [torch.full_like(x, 7) for x in expected]
    function(*args, *results)
    for result, x in zip(results, expected, strict=True):
        torch.testing.assert_close(result, x.detach(), **tolerance)
    for x, before in zip(args, given, strict=True):
        assert torch.equal(x, before)


@pytest.fixture(scope="module")
def model() -> Any:
    torch.manual_seed(0)
    layers = torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10), torch.nn.Softmax(1)
    return torch.nn.Sequential(*layers).eval()


@pytest.fixture(scope="module")
def module(model: Any) -> runtime.CompiledModule:
    program = export(model, (torch.zeros(2, 16),), batched())
    return importer.compile_program(program, signatures.signature_of("mlp", program, ["batch"]))


# ---- numbers


@pytest.mark.parametrize("batch", BATCHES)
def test_every_batch_size(model: Any, module: runtime.CompiledModule, batch: int) -> None:
    check(model, module["mlp"], torch.randn(batch, 16))


def test_numpy_arrays_go_in_as_well(model: Any, module: runtime.CompiledModule) -> None:
    x, out = torch.randn(3, 16), np.zeros((3, 10), "float32")
    module["mlp"](x.numpy(), out)
    torch.testing.assert_close(torch.from_numpy(out), model(x).detach())


def test_weights_are_those_of_the_time_of_compiling(model: Any) -> None:
    linear = torch.nn.Linear(4, 2)
    function = compiled(linear, (torch.zeros(2, 4),), batched())
    x, out = torch.randn(3, 4), torch.empty(3, 2)
    expected = linear(x).detach()
    with torch.no_grad():
        linear.weight.zero_()
    function(x, out)
    torch.testing.assert_close(out, expected)


def test_weights_as_arguments() -> None:
    linear = torch.nn.functional.linear
    n, k, m = torch.export.dims("n", "k", "m")
    args = torch.zeros(2, 3), torch.zeros(5, 3), torch.zeros(5)
    program = export(linear, args, ({0: n, 1: k}, {0: m, 1: k}, {0: m}))
    signature = signatures.signature_of("linear", program, ["n", "k", "m"])
    names = [param.name for param in signature.params]
    shapes = [param.shape for param in signature.params]
    assert [str([str(d) for d in shape]) for shape in shapes] == [
        "['n', 'k']",
        "['m', 'k']",
        "['m']",
        "['n', 'm']",
    ]
    function = importer.compile_program(program, signature)["linear"]
    for sizes in ((1, 1, 1), (2, 3, 4), (7, 16, 5)):
        x, w, b = (torch.randn(*s) for s in ((sizes[0], sizes[1]), (sizes[2], sizes[1]), sizes[2:]))
        check(linear, function, x, w, b)
    kind, words = refused(lambda: function(x, w[:, :-1].clone(), b, torch.zeros(7, 5)))
    assert kind == "ValueError"
    assert f"Mismatched {names[1]}.shape[1] on argument #1" in words


MODELS: dict[str, tuple[Function, Any]] = {
    "padding": (
        torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.Flatten()).eval(),
        (3, 8, 8),
    ),
    "parts of parts": (lambda x: torch.cat([x[:, 1:] * 2, x[:, :2]], 1), (5,)),
    "functions of libm": (lambda x: torch.nn.functional.gelu(x) + torch.tanh(x), (5,)),
    "batch norm": (torch.nn.BatchNorm1d(5).eval(), (5,)),
    "several results": (lambda x: (x.relu(), x.sum(), x, x > 0, x.argmax(-1)), (4,)),
    "in place within": (lambda x: x.clone().mul_(2), (4,)),
    "would write to x": (lambda x: torch.slice_scatter(x, x[:, :2] * 0, 1, 1, 3), (4,)),
    "twice the size": (lambda x: (torch.cat([x, x]), x.reshape(-1, 2)), (4,)),
}


@pytest.mark.parametrize("name", MODELS)
def test_programs(name: str) -> None:
    model, shape = MODELS[name]
    function = compiled(model, (torch.zeros(2, *shape),), batched())
    for batch in (1, 3):
        check(model, function, torch.randn(batch, *shape))


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "int64", "int8"])
def test_dtypes(dtype: str) -> None:
    x = (torch.arange(12) - 6).reshape(3, 4).to(getattr(torch, dtype))
    double: Function = lambda x: x + x  # noqa: E731
    try:
        function = compiled(double, (x,), batched(), link=["-lgcc"])
    except LinkError as error:
        if "__truncsfbf2" not in str(error):
            raise
        pytest.skip("needs the libgcc of GCC 13, which rounds to bfloat16")
    check(double, function, x)


def test_results_may_be_returned(model: Any, module: runtime.CompiledModule) -> None:
    program = export(model, (torch.zeros(2, 16),), batched())
    given = signatures.signature_of("mlp", program, ["batch"])
    [x, out] = given.params
    mlp = importer.compile_program(program, Signature("mlp", [x], out))["mlp"]
    for batch in BATCHES:
        x = torch.randn(batch, 16)
        result = mlp(x)
        assert isinstance(result, torch.Tensor)
        torch.testing.assert_close(result, model(x).detach())


def test_a_result_may_be_written_over_an_input() -> None:
    softmax: Function = lambda x: torch.softmax(x, -1) + x.sum()  # noqa: E731
    x = torch.randn(5, 4)
    function = compiled(softmax, (x,), batched())
    expected = softmax(x)
    function(x, x)
    torch.testing.assert_close(x, expected)


@needs_cc
def test_an_exported_library_needs_no_torch(
    model: Any, module: runtime.CompiledModule, tmp_path: Path
) -> None:
    x = torch.randn(7, 16)
    np.save(tmp_path / "x.npy", x.numpy())
    np.save(tmp_path / "expected.npy", model(x).detach().numpy())
    module.export_library(tmp_path / "mlp.so")
    assert needed(tmp_path / "mlp.so") <= {"libtvm_ffi.so", "libc.so.6", "libm.so.6"}
    done = run_child(f"""
        import pathlib, sys
        sys.modules.update(torch=None, torch_mlir=None, llvmlite=None)  # none can be imported

        import numpy as np
        from ffi_builder import runtime

        here = pathlib.Path({str(tmp_path)!r})
        mlp = runtime.load(here / "mlp.so")["mlp"]
        out = np.zeros((7, 10), "float32")
        mlp(np.load(here / "x.npy"), out)
        np.testing.assert_allclose(out, np.load(here / "expected.npy"), rtol=1e-5)
        mlp(out, out)
        """)
    assert done.stderr.splitlines()[-1] == (
        f"ValueError: Mismatched input.shape[1] on argument #0 when calling: {MLP}, "
        "expected 16 but got 10"
    )


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_intermediate_results_are_freed(module: runtime.CompiledModule) -> None:
    x, out = torch.randn(2000, 16), torch.empty(2000, 10)
    # One of them is 256 kB; the calls have 200 of each.
    assert grown(lambda: module["mlp"](x, out), 200) < 4 << 20


# ---- errors


def test_the_signature(module: runtime.CompiledModule) -> None:
    assert str(module["mlp"]) == (
        "<function mlp(input: Tensor([batch, 16], float32, device_type=cpu), "
        "out0: Tensor([batch, 10], float32, device_type=cpu))>"
    )


X: Any = torch.zeros(3, 16)


def test_wrong_calls(module: runtime.CompiledModule) -> None:
    """The wrapper has the signature's checks and errors, all of which tests/rules has."""
    for args, words in (
        (
            (X, torch.zeros(2, 10)),
            "ValueError: Mismatched out0.shape[0] on argument #1 when calling: {}, expected 3 "
            "(batch = input.shape[0]) but got 2",
        ),
        (
            (torch.zeros(3, 17)[:, 1:], torch.zeros(3, 10)),
            "ValueError: Mismatched input.strides[0] on argument #0 when calling: {}, expected 16 "
            "(row-major contiguous) but got 17 (shape=[3, 16], strides=[17, 1])",
        ),
    ):
        assert ": ".join(refused(lambda args=args: module["mlp"](*args))) == words.format(MLP)


def test_what_torch_export_requires_of_dimensions_is_checked() -> None:
    half = torch.export.Dim("half", max=32)
    pairs: Function = lambda x: x.reshape(-1, 2, 4).sum(1)  # noqa: E731
    program = export(pairs, (torch.zeros(6, 4),), ({0: 2 * half},))
    signature = signatures.signature_of("pairs", program, ["half"])
    assert signature.canonical(device="cpu") == (
        "pairs(args_0: Tensor([2 * half, 4], float32), out0: Tensor([half, 4], float32)) "
        "where half <= 32"
    )
    function = importer.compile_program(program, signature)["pairs"]
    for rows in (0, 2, 64):
        check(pairs, function, torch.randn(rows, 4))
    _, words = refused(lambda: function(torch.zeros(3, 4), torch.zeros(1, 4)))
    assert words.endswith("expected 2 (2 * half with half = 1 from out0.shape[0]) but got 3")
    _, words = refused(lambda: function(torch.zeros(66, 4), torch.zeros(33, 4)))
    assert words.endswith("expected at most 32 (max of half) but got 33")


def test_a_range_of_a_dimension_is_checked() -> None:
    program = export(torch.relu, (torch.zeros(8, 4),), batched(min=4, max=9))
    assert str(signatures.signature_of("f", program, ["n"])).endswith("where 4 <= n <= 9")


class Buffered(torch.nn.Module):
    """Counts its calls."""

    def __init__(self) -> None:
        torch.nn.Module.__init__(self)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Any) -> Any:
        self.calls.add_(1)
        return x * self.calls


WRITES = "The program writes to its inputs or buffers: is it in eval mode?"
TENSORS = "Expected tensors as inputs and results, but got {}"
REFUSED: dict[str, tuple[Function | Callable[[Any, Any], Any], tuple[Any, ...], str]] = {
    "writes to a buffer": (Buffered(), (X,), WRITES),
    "writes to an input": (lambda x: x.add_(1), (X,), WRITES),
    "an int": (lambda x, n: x * n, (X, 3), TENSORS.format(3)),
    "None": (lambda x: (x * 2, None), (X,), TENSORS.format(None)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_programs(name: str) -> None:
    model, args, words = REFUSED[name]
    program = export(model, args, None)
    assert refused(lambda: signatures.signature_of("f", program)) == ("BuildError", words)


def test_a_result_that_is_returned_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the option, MLIR's pass leaves the function as it is: it would return memory."""
    option = "{modify-public-functions=1}"
    monkeypatch.setattr(importer, "LOWERING", importer.LOWERING.replace(option, ""))
    kind, words = refused(lambda: compiled(torch.relu, (X,)))
    assert kind == "BuildError"
    assert words.startswith("@f_kernel returns !llvm.struct<(ptr, ptr, i64, ")
    assert "modify-public-functions=1" in words
