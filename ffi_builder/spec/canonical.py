"""Signatures as text: the canonical text, and the outline that errors show.

:mod:`ffi_builder.spec.parsing.parse` reads both back. The grammar is in docs/signatures.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ffi_builder.spec.composite import Param, params_text, required, with_paths
from ffi_builder.spec.expr import Condition, Var
from ffi_builder.spec.functions import variables
from ffi_builder.spec.places import own_occurrences
from ffi_builder.spec.results import Result
from ffi_builder.spec.tensors.tensor import Tensor


def canonical_text(
    name: str,
    params: Sequence[Param],
    returns: Result | Sequence[Result] | None,
    constraints: str,
    device: str | None,
) -> str:
    """Return the canonical text; tensors on ``device`` do not show their device type."""
    results = "" if returns is None else f" -> {_results_text(returns, device)}"
    where = f" where {constraints}" if constraints else ""
    return f"{name}({params_text(params, device)}){results}{where}"


def constraints_text(
    params: Sequence[Param], conditions: Sequence[Condition], no_overlap: Sequence[str]
) -> str:
    """Return all constraints: ``n % 2 == 0, m <= 8, n <= m, no_overlap(y)``; empty if none."""
    scalars = {item for _, param in with_paths(params) if isinstance(item := required(param), Var)}
    symbols = dict.fromkeys(var for entry in _entries_of(params) for var in variables(entry))
    texts = [text for var in symbols for text in _constraints(var, var not in scalars)]
    texts += map(str, conditions)
    if no_overlap:
        texts.append(f"no_overlap({', '.join(no_overlap)})")
    return ", ".join(texts)


def results_text(returns: Result | Sequence[Result] | None) -> str:
    """Return the results as errors show them: ``t: int32`` or ``(y: Tensor([n], float32), …)``."""
    return "None" if returns is None else _results_text(returns, outline=True)


def _results_text(
    returns: Result | Sequence[Result], device: str | None = None, *, outline: bool = False
) -> str:
    if not isinstance(returns, Sequence):
        return params_text([returns], device, outline=outline)
    return f"({params_text(returns, device, outline=outline)})"


def _constraints(var: Var, tell_dtype: bool) -> Iterator[str]:
    if tell_dtype and var.dtype != "int64":
        yield f"{var.name}: {var.dtype}"
    yield from var.constraints()


def _entries_of(params: Sequence[Param]) -> Iterator[object]:
    """Yield everything that may mention a symbol, in the order of the text."""
    for path, param in with_paths(params):
        inner = required(param)
        entries = [entry for _, entry in own_occurrences(path, inner)]
        yield from (*entries[1:], *entries[:1]) if isinstance(inner, Tensor) else entries
