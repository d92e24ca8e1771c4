"""Places of symbols in lists of parameters, and what must be true of them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ffi_builder.errors import SpecError
from ffi_builder.spec.composite import (
    HIDDEN,
    Optional,
    Param,
    Struct,
    TupleParam,
    required,
    with_paths,
)
from ffi_builder.spec.expr import Expr, Var
from ffi_builder.spec.functions import linear, variables
from ffi_builder.spec.list_symbols import always_bound
from ffi_builder.spec.params import Shape
from ffi_builder.spec.tensor import Tensor
from ffi_builder.spec.tensor_list import TensorList
from ffi_builder.spec.workspace import Workspace


def device_tensors(params: Sequence[Param]) -> list[tuple[str, Tensor]]:
    """Return the tensors that may be on another device than the CPU, with their paths in errors.

    Includes those in tuples, structs and Optionals; a list of tensors stands for its first one. An
    :class:`EnvStream` is the current stream of the first of them that is present and not on the
    CPU.

    Examples:
        >>> from ffi_builder import spec
        >>> with spec.DefaultConfig(device_type="cuda"):
        ...     x, y = (spec.Tensor(name, [64], "float32") for name in "xy")
        >>> sizes = spec.Tensor("sizes", [2], "int32", device_type="cpu")
        >>> params = [sizes, x, spec.TupleParam("rest", [y])]
        >>> [path for path, _ in spec.device_tensors(params)]
        ['x', 'rest[0]']
    """
    arguments = [param for param in params if not isinstance(param, HIDDEN)]
    found = [(path, required(param)) for path, param in with_paths(arguments)]
    tensors = [(path, t.tensor if isinstance(t, TensorList) else t) for path, t in found]
    return [(p, t) for p, t in tensors if isinstance(t, Tensor) and t.device != "cpu"]


def occurrences(params: Sequence[Param], *, elements: bool = True) -> Iterator[tuple[str, object]]:
    """Yield ``("A.shape[0]", n)`` for every place of a symbol, in the order of the checks.

    Of a list of tensors it is that of each element, ``As[i].shape[0]``, unless ``elements`` is
    False.

    Examples:
        >>> from ffi_builder import spec
        >>> matvec = spec.Signature.parse(
        ...     "matvec(A: Tensor([n, k], float32), x: Tensor([k], float32))", device="cpu"
        ... )
        >>> for path, value in spec.occurrences(matvec.params):
        ...     if isinstance(value, spec.Var):
        ...         print(path, value.name)
        A.shape[0] n
        A.shape[1] k
        x.shape[0] k
    """
    for path, param in with_paths(params):
        match required(param):
            case Var() as var:
                yield path, var
            case Workspace():
                pass
            case Tensor() as tensor:
                yield f"{path}.device_id", tensor.device_id
                yield from _entries(f"{path}.shape", tensor.dims)
                yield from _entries(f"{path}.strides", tensor.stride_entries or ())
            case TensorList(length=length) as tensors:
                yield f"length of {path}", length
                if elements:
                    yield from ((f"{path}{place}", entry) for place, entry in tensors.entries)
            case Shape(shape=shape):
                yield from _entries(path, shape)
            case _:
                pass


def _entries(path: str, entries: Sequence[object]) -> Iterator[tuple[str, object]]:
    return ((f"{path}[{axis}]", entry) for axis, entry in enumerate(entries))


def refuse_references(what: str, params: Sequence[Param]) -> None:
    """Refuse arguments that take a shape or a device from others: only what is allocated may.

    Arguments may take a dtype.
    """
    for path, param in with_paths(params):
        tensor = required(param)
        if isinstance(tensor, Tensor) and not isinstance(tensor, Workspace):
            for name in (name for name in tensor.references if name != "dtype"):
                raise SpecError(
                    f"{what}: {path}: {name}: {getattr(tensor, name)} is for results and "
                    f"Workspaces, and this is an argument, which may take a dtype only"
                )


def check_one_meaning(
    what: str, occurrences: Sequence[tuple[str, object]]
) -> dict[str, tuple[str, Var]]:
    """Check that each name is one symbol; return them by name, with their first places."""
    first: dict[str, tuple[str, Var]] = {}
    for path, value in occurrences:
        for var in variables(value):
            before_path, before = first.setdefault(var.name, (path, var))
            if before != var:
                raise SpecError(
                    f"{what}: symbol {var.name!r} has two meanings: {before!r} at {before_path} "
                    f"and {var!r} at {path}; use another name, or the same fields"
                )
    return first


def bound_symbols(occurrences: Iterable[tuple[str, object]]) -> set[Var]:
    """Return the symbols that stand alone, or in a linear expression that is solved for them."""
    bound: set[Var] = set()
    for _, value in occurrences:
        form = linear(value) if isinstance(value, Expr) else None
        if form is not None:
            bound.add(form[1])
        elif isinstance(value, Var):
            bound.add(value)
    return bound


def _not_optional(params: Iterable[Param]) -> Iterator[Param]:
    """Yield the parameters that are always present, with tuples replaced by their elements."""
    for param in params:
        if isinstance(param, (TupleParam, Struct)):
            yield from _not_optional(param.params)
        elif not isinstance(param, Optional):
            yield param


def always_there(params: Iterable[Param]) -> Iterator[tuple[str, object]]:
    """Yield the places of symbols that every call has, as :func:`occurrences` does."""
    for param in _not_optional(params):
        yield from always_bound(param) if isinstance(param, TensorList) else occurrences([param])


def check_bound(what: str, occurrences: Sequence[tuple[str, object]]) -> None:
    """Check that every symbol is bound."""
    bound = bound_symbols(occurrences)
    for path, value in occurrences:
        for var in variables(value):
            if var not in bound:
                raise SpecError(
                    f"{what}: nothing binds symbol {var.name!r}, which {path} = {value} needs; it "
                    f"must stand alone as a dimension, stride or scalar parameter, or in an "
                    f"expression a * {var.name} + b of ints that fit int64"
                )
