# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
"""Measure a forward of the small GPT of examples/gpt, with kernels of the toy DSL and without.

    python benchmarks/gpt.py [--quick]

All of it on one core, in one process, one after the other, round after round. The tiny model has
as many layers and calls, but its arrays have hardly any elements: its time is that of the calls.
It needs torch, jax and a C++ compiler.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

# The scripts import each other by name: the folder of a script is on Python's path.
sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "gpt"))
frameworks, gpt, ops = map(importlib.import_module, ("frameworks", "model", "ops"))

KERNELS = ("rms_norm", "rotate", "gelu")
PURE = {
    "PyTorch, kernels": "PyTorch",
    "PyTorch, kernels as operators": "PyTorch",
    "torch.compile, kernels": "torch.compile",
    "jax.jit, kernels": "jax.jit",
}


class Timed:
    """Times what functions take of a forward, in milliseconds."""

    def __init__(self, pure: Any) -> None:
        self.now = dict.fromkeys([field.name for field in fields(gpt.Ops)], 0.0)
        self.calls = dict.fromkeys(self.now, 0)
        self.rounds: list[dict[str, float]] = []
        timed = {name: partial(self.call, name, getattr(pure, name)) for name in self.now}
        self.ops = gpt.Ops(**timed)

    def call(self, name: str, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function."""
        start = time.perf_counter()
        result = function(*args)
        self.now[name] += 1e3 * (time.perf_counter() - start)
        self.calls[name] += 1
        return result

    def round(self, model: Callable[[], Any]) -> None:
        """Time a forward."""
        self.now, self.calls = dict.fromkeys(self.now, 0.0), dict.fromkeys(self.now, 0)
        whole = milliseconds(model)
        rest = whole - sum(self.now.values())
        self.rounds.append({**self.now, "matmuls and the rest": rest, "all": whole})

    def median(self, name: str) -> float:
        """Return the median over the rounds."""
        return median(one[name] for one in self.rounds)


def milliseconds(function: Callable[[], Any]) -> float:
    """Return the time of a call."""
    start = time.perf_counter()
    function()
    return 1e3 * (time.perf_counter() - start)


def models(sizes: Any) -> tuple[dict[str, Callable[[], Any]], dict[str, Timed]]:
    """Return forwards, each compiled and run a few times, and what is timed within some of them."""
    tokens = np.zeros((1, sizes.time), "int32")
    weights = gpt.weights(sizes)
    of_torch, of_jax = frameworks.on_torch(weights, tokens), frameworks.on_jax(weights, tokens)
    pure = ops.torch_ops()
    model = partial(partial, gpt.forward, sizes)  # with the functions of a framework

    made: dict[str, Callable[[], Any]] = {}
    for name, function in frameworks.torch_models(model).items():
        made[name] = partial(function, *of_torch)
    for name, function in frameworks.jax_models(model).items():
        made[name] = partial(lambda call: call(*of_jax).block_until_ready(), function)
    timed = {"PyTorch": Timed(pure), "kernels": Timed(ops.with_kernels(pure))}
    within = {name: partial(model(one.ops), *of_torch) for name, one in timed.items()}
    for function in (*made.values(), *within.values()):
        for _ in range(5):
            function()
    rounds = {f"within {name}": partial(timed[name].round, within[name]) for name in timed}
    return made | rounds, timed


def main() -> None:
    """Measure, and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2 layers, fewer rounds")
    quick = parser.parse_args().quick
    rounds, layers = (5, 2) if quick else (200, 12)
    sizes = gpt.Sizes(layers)
    tiny_sizes = gpt.Sizes(layers, width=2, heads=1, vocabulary=2, time=1)
    warnings.simplefilter("ignore")  # torch's own
    torch.set_num_threads(1)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # before XLA starts its threads
    torch._dynamo.config.recompile_limit = 100  # each model is compiled from the same code
    load = os.getloadavg()[0]
    with torch.no_grad():
        (large, timed), (tiny, tiny_timed) = models(sizes), models(tiny_sizes)
        of_large, of_tiny = ({name: [] for name in large} for _ in range(2))
        for _ in range(rounds):
            for which, spent in (large, of_large), (tiny, of_tiny):
                for name in random.sample(list(which), len(which)):
                    spent[name].append(1e3 * milliseconds(which[name]))

    calls = sum(timed["kernels"].calls[name] for name in KERNELS)
    print("| a forward | ms: least | median | tiny, µs: least | median | ns more for a kernel |")
    print("| -- | -: | -: | -: | -: | -: |")
    for name in [name for name in large if not name.startswith("within")]:
        whole, tiny_whole = [1e-3 * us for us in of_large[name]], of_tiny[name]
        more = median(tiny_whole) - median(of_tiny[PURE.get(name, name)])
        cells = [f"{choose(whole):.2f}" for choose in (min, median)]
        cells += [f"{choose(tiny_whole):,.0f}" for choose in (min, median)]
        cells += [f"{1e3 * more / calls:,.0f}" if name in PURE else ""]
        print(f"| {name} | {' | '.join(cells)} |")

    print("\n| medians, ms | calls | PyTorch | kernels | of these: calls | ns a call |")
    print("| -- | -: | -: | -: | -: | -: |")
    for name in timed["kernels"].rounds[0]:
        count = timed["kernels"].calls.get(name)
        overhead = tiny_timed["kernels"].median(name)
        cells = [f"{timed[way].median(name):.2f}" for way in ("PyTorch", "kernels")]
        each = f"{1e6 * overhead / count:,.0f}" if count else ""
        print(f"| {name} | {count or ''} | {' | '.join(cells)} | {overhead:.3f} | {each} |")
    after = os.getloadavg()[0]
    print(f"\n{rounds} rounds, load {load:.1f} to {after:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
