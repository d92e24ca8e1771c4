"""Results that are numbers, which a framework's function returns as tensors: `results="tensors"`.

A compiled function returns a number of Python, which a compiled graph cannot know while it is
traced. A tensor without dimensions has the number when the graph runs.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from ffi_builder import SpecError, spec
from ffi_builder.extending import did_you_mean

Results: TypeAlias = Literal["tensors"]
_RESULTS: Final = ("tensors",)


def check_option(results: object) -> None:
    """Raise ValueError unless `results=` is one that there is."""
    if results is None or results in _RESULTS:
        return
    hint = did_you_mean(results, _RESULTS) if isinstance(results, str) else ""
    raise ValueError(f"results: expected 'tensors' or None but got {results!r}{hint}")


def check_number(what: str, result: spec.Var, results: Results | None) -> None:
    """Raise SpecError for a number that a function of the framework does not return."""
    named = f"{what}: the result {result.name!r} is"
    if result.dtype == "handle":
        raise SpecError(f"{named} a handle, which no tensor has; make a function without it")
    if results is None:
        raise SpecError(
            f"{named} a number, which a compiled graph cannot know: give results='tensors', which "
            f"returns it as a tensor without dimensions, or write it into a tensor of one element"
        )
