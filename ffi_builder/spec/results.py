"""Results of functions: numbers, strs, dtypes, objects, and tensors that the wrapper makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias, Union, cast, get_args

from ffi_builder.errors import SpecError
from ffi_builder.spec.composite import Param, is_param
from ffi_builder.spec.expr import Dim, Expr, Var
from ffi_builder.spec.functions import variables
from ffi_builder.spec.param import MISSING
from ffi_builder.spec.params import (
    Array,
    Bytes,
    Device,
    DType,
    Function,
    Map,
    Object,
    Shape,
    String,
)
from ffi_builder.spec.tensors.tensor import Tensor
from ffi_builder.spec.tensors.workspace import Workspace, check_allocated

HandedOver: TypeAlias = Union[Var, String, Bytes, DType, Device, Object, Function, Array, Map]
"""Results whose value the call provider supplies: all but tensors and shapes.

Examples:
    >>> from typing import get_args
    >>> from ffi_builder.spec.results import HandedOver
    >>> [kind.__name__ for kind in get_args(HandedOver)]
    ['Var', 'String', 'Bytes', 'DType', 'Device', 'Object', 'Function', 'Array', 'Map']
"""
Result: TypeAlias = Union[HandedOver, Tensor, Shape]
"""A result. The wrapper itself makes a Tensor, whose data the kernel writes, and a Shape.

Examples:
    >>> from ffi_builder import spec
    >>> from ffi_builder.spec.results import Result
    >>> x = spec.Tensor("x", [1024], "float32", device_type="cpu")
    >>> total: Result = spec.Var("total", "float64")
    >>> print(spec.Signature("sum", [x], returns=total))
    sum(x: Tensor([1024], float32, device_type=cpu)) -> total: float64
"""

_TYPES: Final = cast("tuple[type[Result], ...]", get_args(Result))
_NAMES: Final = ", ".join(kind.type_name if kind is not Var else "Var" for kind in _TYPES)


def check_results(what: str, returns: object) -> Result | tuple[Result, ...] | None:
    """Return the ``returns`` of a signature, checked: None, one result, or a tuple of them.

    Raises:
        SpecError: another type, an empty list, two results of the same name, or a result with a
            field that only arguments have.
    """
    if returns is None:
        return None
    if isinstance(returns, _TYPES):
        _check_result(f"{what}: {returns.name!r}", returns)
        return returns
    if isinstance(returns, str) or is_param(returns) or not isinstance(returns, Sequence):
        raise SpecError(f"{what}: expected None, one of {_NAMES}, or a list but got {returns!r}")
    found: list[Result] = []
    for index, result in enumerate(cast("Sequence[object]", returns)):
        if not isinstance(result, _TYPES):
            raise SpecError(f"{what}[{index}]: expected one of {_NAMES} but got {result!r}")
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
    if isinstance(result, Map) and result.key is not None:
        raise SpecError(f"{what}: a result that is a Map is an object of any types: write Map")
    if not isinstance(result, Var):
        return
    for limit in ("divisibility", "min", "max"):
        if getattr(result, limit) is not None:
            raise SpecError(
                f"{what}: a result is not checked, so it has no {limit}; leave that out"
            )


def _check_tensor(what: str, tensor: Tensor) -> None:
    check_allocated(what, tensor)
    if isinstance(tensor, Workspace):
        raise SpecError(f"{what}: a Workspace is a parameter; return a Tensor")
    if tensor.intent not in (None, "out"):
        raise SpecError(f"{what}: intent: expected None or 'out' but got {tensor.intent!r}")


def sizes(result: Result) -> list[tuple[str, Dim | None]]:
    """Return the sizes that the wrapper computes for a result or Workspace, with their paths.

    A shape that is taken from an argument is not included.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.spec.results import sizes
        >>> n = spec.Var("n", "int64")
        >>> pairs = spec.Tensor("pairs", [spec.ceildiv(n, 2), 2], "float32", device_type="cpu")
        >>> sizes(pairs)
        [('pairs.shape[0]', ceildiv(Var('n', 'int64'), 2)), ('pairs.shape[1]', 2)]
    """
    if isinstance(result, Shape):
        return [(f"{result.name}[{index}]", entry) for index, entry in enumerate(result.shape)]
    if not isinstance(result, Tensor) or "shape" in result.references:
        return []
    return [(f"{result.name}.shape[{axis}]", dim) for axis, dim in enumerate(result.dims)]


def needed(results: Sequence[Result]) -> list[tuple[str, object, Var]]:
    """Return the symbols that the wrapper needs to make these, as ``(path, entry, symbol)``."""
    found: list[tuple[str, object, Var]] = []
    for result in results:
        entries: list[tuple[str, object]] = [*sizes(result)]
        if isinstance(result, Tensor):
            entries.append((f"{result.name}.device_id", result.device_id))
        for path, entry in entries:
            if isinstance(entry, (Var, Expr)):
                found += [(path, entry, var) for var in variables(entry)]
    return found
