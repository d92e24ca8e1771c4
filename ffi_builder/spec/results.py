"""Results of functions: numbers, strs, dtypes, objects, and tensors that the wrapper makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias, Union, cast, get_args

from ffi_builder.errors import SpecError
from ffi_builder.spec import params as kinds
from ffi_builder.spec._check import listed
from ffi_builder.spec.composite import PARAM_TYPES, Optional, Param, required
from ffi_builder.spec.expr import Dim, Expr, Var
from ffi_builder.spec.functions import variables
from ffi_builder.spec.lists import List
from ffi_builder.spec.param import MISSING
from ffi_builder.spec.tensors.tensor import Tensor
from ffi_builder.spec.tensors.tensor_list import TensorList
from ffi_builder.spec.tensors.workspace import Workspace, check_allocated
from ffi_builder.spec.variant import Variant

HandedOver: TypeAlias = Union[
    Var,
    kinds.String,
    kinds.Bytes,
    kinds.DType,
    kinds.Device,
    kinds.Object,
    kinds.Function,
    kinds.Array,
    kinds.Map,
    List,
    TensorList,
    kinds.Any,
    Variant,
    Optional,
]
"""Results whose value the call provider supplies: all but tensors and shapes.

Examples:
    >>> from typing import get_args
    >>> from ffi_builder.spec.results import HandedOver
    >>> [kind.__name__ for kind in get_args(HandedOver)][:6]
    ['Var', 'String', 'Bytes', 'DType', 'Device', 'Object']
"""
Result: TypeAlias = Union[HandedOver, Tensor, kinds.Shape]
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
    every = listed(what, returns, f"None, one of {_NAMES}, or a list", PARAM_TYPES)
    results: list[Result] = []
    for index, result in enumerate(every):
        if not isinstance(result, _TYPES):
            raise SpecError(f"{what}[{index}]: expected one of {_NAMES} but got {result!r}")
        if any(result.name == other.name for other in results):
            raise SpecError(f"{what}: two results are named {result.name!r}; names must differ")
        _check_result(f"{what}: {result.name!r}", result)
        results.append(result)
    if not results:
        raise SpecError(f"{what}: expected at least one result but got {returns!r}; leave it out")
    return tuple(results)


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
    match result:
        case Tensor():
            _check_tensor(what, result)
        case Optional(param=inner):
            _check_optional(what, inner)
        case TensorList(tensor=tensor, length=length, each=each):
            if each:
                raise SpecError(f"{what}: each: a result binds no symbols; leave it out")
            _refuse(what, length=length)
            _check_handed_over(what, tensor)
        case List(length=length, element=element):
            _refuse(what, length=length)
            if isinstance(element, List):
                _check_result(what, element)
        case Variant():
            tensor = handed_over(result)
            if tensor is not None:
                _check_handed_over(what, tensor)
        case Var():
            _refuse(what, divisibility=result.divisibility, min=result.min, max=result.max)
        case _:
            pass


def _refuse(what: str, **limits: object) -> None:
    """Raise a SpecError for a limit that is given."""
    for name, limit in limits.items():
        if limit is not None:
            raise SpecError(f"{what}: a result is not checked, so it has no {name}; leave that out")


def _check_optional(what: str, inner: Param) -> None:
    is_handle = isinstance(inner, Var) and inner.dtype == "handle"  # of which NULL is None already
    if isinstance(inner, Tensor) and not isinstance(inner, Workspace):
        _check_handed_over(what, inner)
    elif not is_handle and isinstance(inner, cast("tuple[type, ...]", get_args(HandedOver))):
        _check_result(what, cast("Result", inner))
    else:
        raise SpecError(f"{what}: expected a result that may be None but got {inner!r}")


def _check_handed_over(what: str, tensor: Tensor) -> None:
    """Check a tensor that the callee makes: its dtype, shape and device type are compared."""
    if tensor.any_rank:
        raise SpecError(f"{what}: shape: expected a list of sizes but got ...")
    given: dict[str, object] = {
        "strides": None if tensor.order == "C" else tensor.strides,
        "device_id": tensor.device_id,
        "data_alignment": tensor.data_alignment,
        "storage_dtype": tensor.storage_dtype,
        "intent": tensor.intent,
        **tensor.references,
    }
    for name, field in given.items():
        if field is not None:
            raise SpecError(
                f"{what}: {name}: expected None for a tensor that the callee makes, whose dtype, "
                f"sizes and device type are compared, but got {field!r}"
            )


def _check_tensor(what: str, tensor: Tensor) -> None:
    check_allocated(what, tensor)
    if isinstance(tensor, Workspace):
        raise SpecError(f"{what}: a Workspace is a parameter; return a Tensor")
    if tensor.intent not in (None, "out"):
        raise SpecError(f"{what}: intent: expected None or 'out' but got {tensor.intent!r}")


def handed_over(result: Param) -> Tensor | None:
    """Return the tensor that the callee makes: that of a list, a Variant or an Optional.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.spec.results import handed_over
        >>> y = spec.Tensor("y", [4], "float32", device_type="cpu")
        >>> handed_over(spec.Optional(y)) == y, handed_over(y)
        (True, None)
    """
    inner = required(result)
    if isinstance(inner, TensorList):
        return inner.tensor
    if isinstance(inner, Variant):
        return next((each for each in inner.params if isinstance(each, Tensor)), None)
    return inner if isinstance(inner, Tensor) and inner is not result else None


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
    if isinstance(result, kinds.Shape):
        return [(f"{result.name}[{index}]", entry) for index, entry in enumerate(result.shape)]
    if not isinstance(result, Tensor) or "shape" in result.references:
        return []
    return [(f"{result.name}.shape[{axis}]", dim) for axis, dim in enumerate(result.dims)]


def needed(results: Sequence[Result]) -> list[tuple[str, object, Var]]:
    """Return the symbols that the wrapper needs to make these, as ``(path, entry, symbol)``."""
    mentions: list[tuple[str, object, Var]] = []
    for result in results:
        entries: list[tuple[str, object]] = [*sizes(result)]
        made = handed_over(result)
        if made is not None:
            entries += ((f"{made.name}.shape[{axis}]", dim) for axis, dim in enumerate(made.dims))
        if isinstance(result, Tensor):
            entries.append((f"{result.name}.device_id", result.device_id))
        for path, entry in entries:
            if isinstance(entry, (Var, Expr)):
                mentions += [(path, entry, var) for var in variables(entry)]
    return mentions
