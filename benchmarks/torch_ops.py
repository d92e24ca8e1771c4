# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
"""Measure operators of PyTorch that do nothing with three tensors: eager, and in a compiled graph.

    python -m benchmarks.torch_ops [--quick]

All of it on the CPU, in one process, one after the other, round after round. In a graph it is what
one more call costs in a function that torch.compile (Inductor) compiled: the difference of 21 calls
and 1, by 20. The last table has functions with a derivative, called eagerly with a tensor that
requires a gradient: each allocates its result, calls the compiled function and saves its inputs.
The gradient is computed in the last two columns alone. It needs torch and a C++ compiler.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from benchmarks.calling.peers import by_torch
from ffi_builder import attach, runtime, spec
from ffi_builder.frameworks import torch as ffi_torch
from ffi_builder.ir.distribution import named
from ffi_builder.providers import NopCallProvider

SIGNATURE = spec.Signature.parse(
    "three(a: Tensor([n], float32, intent=in), b: Tensor([n], float32, intent=in), "
    "c: Tensor([n], float32, intent=out))",
    device="cpu",
)
NAMESPACE = "ffi_builder_bench"
MORE = 20
"""Calls in a compiled graph beyond the first."""
CHOICES = (min, statistics.median)


def compiled() -> Any:
    """A wrapper that only checks its tensors."""
    distribution = named("torch_mlir")
    context = distribution.ir.Context()
    distribution.load_llvm(context)
    module = distribution.ir.Module.parse("", context)
    attach(module, SIGNATURE, NopCallProvider())
    return runtime.compile(module)["three"]


def custom_op() -> Any:
    """The operator that torch's documentation makes of a Python function."""

    @torch.library.custom_op("ffi_builder_bench::custom", mutates_args={"c"})
    def custom(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
        pass

    return custom


def library_in_python() -> Any:
    """An operator of a Library whose kernel is a Python function."""
    library = torch.library.Library("ffi_builder_bench", "FRAGMENT")
    library.define("python(Tensor a, Tensor b, Tensor(c!) c) -> ()")
    library.impl("python", lambda a, b, c: None, "CPU")
    torch.library.register_fake("ffi_builder_bench::python", lambda a, b, c: None, lib=library)
    _libraries.append(library)
    return torch.ops.ffi_builder_bench.python.default


_libraries: list[Any] = []


def library_in_cpp() -> Any:
    """An operator in C++."""
    with tempfile.TemporaryDirectory() as folder:
        return by_torch(Path(folder))["torch3"]


def ways() -> dict[str, tuple[Callable[..., Any], bool, bool]]:
    """A function, and whether it is measured eagerly and in a compiled graph."""
    entry = compiled()
    entry.release_gil = False
    mutating = ffi_torch.operator(entry, namespace="ffi_builder_bench")
    functional = ffi_torch.operator(
        entry, namespace="ffi_builder_bench", name="functional", form="functional"
    )
    return {
        "compiled function": (entry, True, False),
        "operator()": (mutating, True, True),
        "operator(form='functional')": (lambda a, b, c: functional(a, b), True, True),
        "torch.ops, of operator()": (mutating.overload, True, True),
        "torch.library.custom_op": (custom_op(), True, True),
        "torch.library.Library, in Python": (library_in_python(), True, True),
        "TORCH_LIBRARY, in C++": (library_in_cpp(), True, True),
    }


def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """Save the inputs for the derivative."""
    ctx.save_for_backward(*inputs)


def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return gradients of a and b."""
    return grad, grad


def differentiable() -> dict[str, Callable[..., Any]]:
    """Functions of a and b with a derivative, which return c."""
    entry = compiled()
    entry.release_gil = False
    ours = ffi_torch.operator(
        entry,
        namespace="ffi_builder_bench",
        name="differentiable",
        form="functional",
        backward=backward,
        setup_context=setup_context,
    )

    class WithContext(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            c = torch.empty_like(a)
            entry(a, b, c)
            ctx.save_for_backward(a, b)
            return c

        backward = staticmethod(backward)  # pyright: ignore[reportAssignmentType]  # torch says *grads

    class WithSetup(torch.autograd.Function):
        @staticmethod
        def forward(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            c = torch.empty_like(a)
            entry(a, b, c)
            return c

        setup_context = staticmethod(setup_context)
        backward = staticmethod(backward)  # pyright: ignore[reportAssignmentType]  # torch says *grads

    @torch.library.custom_op("ffi_builder_bench::differentiable_custom", mutates_args=())
    def custom(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        c = torch.empty_like(a)
        entry(a, b, c)
        return c

    custom.register_autograd(backward, setup_context=setup_context)
    return {
        "operator(form='functional', backward=…)": lambda a, b, c: ours(a, b),
        "torch.autograd.Function, forward(ctx, …)": lambda a, b, c: WithContext.apply(a, b),
        "torch.autograd.Function, setup_context": lambda a, b, c: WithSetup.apply(a, b),
        "torch.library.custom_op, register_autograd": lambda a, b, c: custom(a, b),
    }


def seconds_a_call(
    function: Callable[..., Any], count: int, *, requires_grad: bool = False
) -> float:
    """The time of a call."""
    a, b, c = (torch.ones(8) for _ in range(3))
    a.requires_grad = requires_grad
    start = time.perf_counter()
    for _ in range(count):
        function(a, b, c)
    return (time.perf_counter() - start) / count


def with_backward(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, and the computation of its gradient."""
    grad = torch.ones(8)
    return lambda a, b, c: function(a, b, c).backward(grad)


def graphs(function: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The function once, and many times more, in compiled graphs."""

    def calling(times: int) -> Any:
        def called(a: Any, b: Any, c: Any) -> Any:
            for _ in range(times):
                a = result if (result := function(a, b, c)) is not None else a
            return a + c

        return torch.compile(called, fullgraph=True)

    return calling(1), calling(1 + MORE)


def main() -> None:
    """Measure, and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")  # torch's own
    torch._dynamo.config.recompile_limit = 100  # each function is compiled from the same code
    rounds, count = (5, 200) if quick else (40, 1000)
    every = ways()
    eager: dict[str, list[float]] = {name: [] for name, (_, on, _) in every.items() if on}
    few: dict[str, list[float]] = {name: [] for name, (_, _, on) in every.items() if on}
    many: dict[str, list[float]] = {name: [] for name in few}
    with torch.no_grad():
        compiled = {name: graphs(every[name][0]) for name in few}
        for once, often in compiled.values():
            seconds_a_call(once, 20)
            seconds_a_call(often, 20)
        for _ in range(rounds):
            for name in random.sample(list(eager), len(eager)):
                eager[name].append(1e9 * seconds_a_call(every[name][0], count))
            for name in random.sample(list(few), len(few)):
                for made, times in zip(compiled[name], (few, many), strict=True):
                    times[name].append(1e9 * seconds_a_call(made, count // 5))

    def more(name: str, choose: Callable[[list[float]], float]) -> float:
        return (choose(many[name]) - choose(few[name])) / MORE

    print("| ns a call | eager: least | median | one more in a graph: least | median |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in every:
        cells = [
            *(f"{choose(eager[name]):,.0f}" if name in eager else "" for choose in CHOICES),
            *(f"{more(name, choose):,.0f}" if name in few else "" for choose in CHOICES),
        ]
        print(f"| {name} | {' | '.join(cells)} |")

    derivatives = differentiable()
    wanted: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in derivatives}
    for _ in range(5 * rounds):
        for name in random.sample(list(wanted), len(wanted)):
            called = (derivatives[name], with_backward(derivatives[name]))
            for function, times in zip(called, wanted[name], strict=True):
                seconds = seconds_a_call(function, count // 10, requires_grad=True)
                times.append(1e9 * seconds)
    print(
        "\n| ns a call, a gradient is wanted | eager: least | median | computed: least | median |"
    )
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, found in wanted.items():
        cells = [f"{choose(times):,.0f}" for times in found for choose in CHOICES]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
