# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
"""Measure the first calls of a module with 50 operators with derivatives, beside custom_op.

    python -m benchmarks.torch_first [--quick]

Each operator is another, of the same compiled function. A fresh process with empty caches makes the
module, calls it, and calls it again within torch.compile (Inductor), each time with the backward
pass; the ways take turns. It needs torch and a C++ compiler, and takes minutes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch

from benchmarks.torch_ops import NAMESPACE, backward, compiled, setup_context
from ffi_builder.frameworks import torch as ffi_torch

COUNT = 50
STEPS = ("making the operators", "the first call", "the first call of torch.compile", "in all")


def by_operator(entry: Any, name: str) -> Callable[..., Any]:
    """Make an operator by `operator`."""
    return ffi_torch.operator(
        entry,
        namespace=NAMESPACE,
        name=name,
        form="functional",
        backward=backward,
        setup_context=setup_context,
    )


def by_custom_op(entry: Any, name: str) -> Callable[..., Any]:
    """Make an operator as torch's documentation does."""

    @torch.library.custom_op(f"{NAMESPACE}::{name}", mutates_args=())
    def custom(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        c = torch.empty_like(a)
        entry(a, b, c)
        return c

    custom.register_fake(lambda a, b: torch.empty_like(a))
    custom.register_autograd(backward, setup_context=setup_context)
    return custom


WAYS = {
    "operator(form='functional', backward=…)": by_operator,
    "torch.library.custom_op, register_autograd": by_custom_op,
}


class Layers(torch.nn.Module):
    """Calls each operator with the result of the one before and a weight."""

    def __init__(self, operators: list[Callable[..., Any]]) -> None:
        super().__init__()
        self.operators = operators
        self.weights = torch.nn.ParameterList(torch.ones(8) for _ in operators)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the result of the last."""
        for operator, weight in zip(self.operators, self.weights, strict=True):
            x = operator(x, weight)
        return x


def measure(way: str) -> None:
    """Print the seconds of each step in this process."""
    entry = compiled()
    torch.ones(8, requires_grad=True).sum().backward()  # starts the threads of autograd
    times = [time.perf_counter()]
    module = Layers([WAYS[way](entry, f"layer_{number}") for number in range(COUNT)])
    times.append(time.perf_counter())
    for make in (lambda: module, lambda: torch.compile(module, fullgraph=True)):
        make()(torch.ones(8)).sum().backward()
        times.append(time.perf_counter())
    print(*(after - before for before, after in pairwise(times)), times[-1] - times[0])


def in_fresh_process(way: str) -> list[float]:
    """The seconds of each step in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-W", "ignore", "-m", __spec__.name, "--way", way]
        environment = os.environ | {"TORCHINDUCTOR_CACHE_DIR": folder}
        found = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return [float(seconds) for seconds in found.stdout.split()]


def main() -> None:
    """Measure, and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--way", choices=WAYS, help="measure this one in this process")
    options = parser.parse_args()
    if options.way is not None:
        measure(options.way)
        return
    count = 2 if options.quick else 9
    rounds = [{way: in_fresh_process(way) for way in WAYS} for _ in range(count)]
    print(f"| ms, {COUNT} operators, the median of {len(rounds)} processes | {' | '.join(STEPS)} |")
    print(f"| --- |{' ---: |' * len(STEPS)}")
    for way in WAYS:
        steps = zip(*(each[way] for each in rounds), strict=True)
        medians = [f"{1e3 * statistics.median(seconds):,.0f}" for seconds in steps]
        print(f"| {way} | {' | '.join(medians)} |")


if __name__ == "__main__":
    main()
