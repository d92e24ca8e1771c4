"""Results of functions: numbers, pointers, and tensors that the wrapper allocates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias, Union, cast

from ffi_builder.errors import SpecError
from ffi_builder.spec.composite import Param, is_param
from ffi_builder.spec.expr import Expr, Var, variables
from ffi_builder.spec.param import MISSING, pasteable
from ffi_builder.spec.tensor import ANY, Tensor

Result: TypeAlias = Union[Var, Tensor]
"""A scalar, or a tensor that the wrapper allocates."""

_TYPES: Final = (Var, Tensor)


def check_results(what: str, returns: object) -> Result | tuple[Result, ...] | None:
    """Return the ``returns`` of a signature, checked: None, one result, or a tuple of them.

    Raises:
        SpecError: another type, an empty list, two results with one name, or a result with a field
            that only arguments have.
    """
    if returns is None:
        return None
    if isinstance(returns, _TYPES):
        _check_result(f"{what}: {returns.name!r}", returns)
        return returns
    if isinstance(returns, str) or is_param(returns) or not isinstance(returns, Sequence):
        raise SpecError(f"{what}: expected None, a Var, a Tensor or a list but got {returns!r}")
    found: list[Result] = []
    for index, result in enumerate(cast("Sequence[object]", returns)):
        if not isinstance(result, _TYPES):
            raise SpecError(f"{what}[{index}]: expected a Var or a Tensor but got {result!r}")
        if any(result.name == other.name for other in found):
            raise SpecError(f"{what}: two results are named {result.name!r}; names must differ")
        _check_result(f"{what}: {result.name!r}", result)
        found.append(result)
    if not found:
        raise SpecError(f"{what}: expected at least one result but got {returns!r}; leave it out")
    return tuple(found)


def check_names(
    what: str, results: Sequence[Result], params: Sequence[Param], symbols: Sequence[Var]
) -> None:
    """Check that no result has the name of a parameter or symbol.

    ``args=`` of call providers refers to all of them by name.
    """
    parameters = {param.name for param in params}
    names = {var.name for var in symbols}
    for result in results:
        if result.name in parameters or result.name in names:
            kind = "parameter" if result.name in parameters else "symbol"
            raise SpecError(
                f"{what}: the {kind} {result.name!r} has that name already; a result needs a name "
                f"of its own"
            )


def _check_result(what: str, result: Result) -> None:
    if result.default is not MISSING or result.kw_only:
        raise SpecError(f"{what}: a result has no default and is not kw_only")
    if isinstance(result, Tensor):
        _check_tensor(what, result)
        return
    for limit in ("divisibility", "min", "max"):
        if getattr(result, limit) is not None:
            raise SpecError(
                f"{what}: a result is not checked, so it has no {limit}; leave that out"
            )


def _check_tensor(what: str, tensor: Tensor) -> None:
    """Check that a tensor says everything that its allocation needs."""
    wrong: str | None = None
    if tensor.any_rank:
        wrong = "shape: expected a list of sizes but got ..."
    elif None in tensor.dims:
        wrong = f"shape[{tensor.dims.index(None)}]: expected the size to allocate but got None"
    elif len(tensor.dtypes) > 1:
        wrong = f"dtype: expected one but got {', '.join(tensor.dtypes)}"
    elif tensor.storage_dtype is not None:
        wrong = "storage_dtype: expected None; give what is allocated as dtype"
    elif tensor.order != "C":
        shown = tensor.strides if isinstance(tensor.strides, str) else tensor.stride_entries
        wrong = f"strides: expected None (contiguous) but got {pasteable(shown)}"
    elif tensor.device == ANY:
        wrong = "device_type: expected the one to allocate on but got 'any'"
    elif tensor.intent not in (None, "out"):
        wrong = f"intent: expected None or 'out' but got {tensor.intent!r}"
    if wrong is not None:
        raise SpecError(f"{what}: {wrong}")


def needed(results: Sequence[Result]) -> list[tuple[str, object, Var]]:
    """Return the symbols that the parameters must bind, each as ``(path, entry, symbol)``."""
    found: list[tuple[str, object, Var]] = []
    for result in results:
        if isinstance(result, Tensor):
            entries: list[tuple[str, object]] = [
                (f"{result.name}.shape[{axis}]", dim) for axis, dim in enumerate(result.dims)
            ]
            entries.append((f"{result.name}.device_id", result.device_id))
            for path, entry in entries:
                if isinstance(entry, (Var, Expr)):
                    found += [(path, entry, var) for var in variables(entry)]
    return found
