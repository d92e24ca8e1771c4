"""What a kernel takes and returns, as its annotations say, and the functions that it becomes.

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
    """A kernel. Parameters whose annotation is not an Array are numbers."""

    def __init__(self, function: Callable[..., Expression]) -> None:
        signature = inspect.signature(function, eval_str=True)
        self.name, self.function = function.__name__, function
        self.params: dict[str, Array | Number] = {}
        self.defaults: dict[str, object] = {}
        for name, param in signature.parameters.items():
            is_array = isinstance(param.annotation, Array)
            self.params[name] = replace(param.annotation, name=name) if is_array else Number(name)
            if param.default is not param.empty:
                self.defaults[name] = param.default
        self.arrays = {
            name: param for name, param in self.params.items() if isinstance(param, Array)
        }
        self.arrays["out"] = signature.return_annotation

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
