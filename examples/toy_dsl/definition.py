"""Reads a kernel's annotations, and makes its functions: the wrapper, and calls of it.

    n, d = axes("n d")

    def softmax(x: Array[n, d]) -> Array[n, d]:
        e = exp(x - x.max(d))
        return e / e.sum(d)

Called with expressions instead of arrays, such a function returns the expression of its result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

from expressions import Array, Expression, Number

DTYPES = ("float32", "float64")


@dataclass(frozen=True)
class Variant:
    """A function that a kernel becomes: for one dtype, and for the parameters that are given."""

    symbol: str
    dtype: str
    given: list[str]


class Definition:
    """A kernel: its parameters are arrays and numbers, and its result is the array `out`."""

    def __init__(self, function: Callable[..., Expression]) -> None:
        self.name, self.function = function.__name__, function
        signature = inspect.signature(function, eval_str=True)
        given = signature.parameters.values()
        annotations = {p.name: p.annotation for p in given} | {"out": signature.return_annotation}
        for name, annotation in annotations.items():
            if annotation is not float and not isinstance(annotation, Array):
                raise TypeError(f"{self.name}: the annotation of {name} must be Array[…] or float")
        self.arrays = {
            name: replace(annotation, name=name)
            for name, annotation in annotations.items()
            if isinstance(annotation, Array)
        }
        self.params = {p.name: self.arrays.get(p.name, Number(p.name)) for p in given}
        self.defaults = {p.name: p.default for p in given if p.default is not p.empty}

    def variants(self) -> list[Variant]:
        """Return the functions that this becomes. The first one is given all parameters."""
        optional = [name for name, array in self.arrays.items() if array.optional]
        return [
            Variant(
                "_".join([self.name, dtype, *(f"no_{name}" for name in absent)]),
                dtype,
                [name for name in self.params if name not in absent],
            )
            for dtype in DTYPES
            for count in range(len(optional) + 1)
            for absent in combinations(optional, count)
        ]

    def trace(self, variant: Variant) -> Expression:
        """Call the kernel, and return the expression of its result."""
        params = self.params.items()
        return self.function(**{name: p if name in variant.given else None for name, p in params})
