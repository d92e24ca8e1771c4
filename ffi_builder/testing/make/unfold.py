"""Turns lists of tensors into tuples, which the other modules here can make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias, Union, cast

from ffi_builder import spec
from ffi_builder.records import dataclass
from ffi_builder.testing.check import Scalar
from ffi_builder.testing.evaluate import OPERATORS

Dims: TypeAlias = Mapping[str, Union[Scalar, list[int], tuple[int, ...]]]
"""Values of symbols by name; of one with a value for each element of a list, a list of them."""
Lengths: TypeAlias = Mapping[str, int]
"""The number of elements by the path of the list."""

USUAL: Final = 2
"""The number of elements, unless the signature or the caller says otherwise."""


@dataclass(frozen=True)
class Unfolded:
    """A signature whose lists are tuples, and the symbols that it has in place of others.

    A symbol ``m`` with a value for each element is ``m_0``, ``m_1`` and so on.
    """

    signature: spec.Signature
    elements: Mapping[str, tuple[str, ...]]
    """The names of the symbols by the name of the one that they stand for."""
    lengths: Mapping[str, int]
    """The values of symbols that are lengths, by their names."""
    gone: frozenset[str]
    """The names of symbols that only empty lists have."""

    def dims(self, given: Dims) -> dict[str, Scalar]:
        """Return the values of this signature's symbols, with the lengths.

        Raises:
            ValueError: there is not a value for each element.
        """
        entries = [entry for _, entry in spec.occurrences(self.signature.params)]
        known = {var.name for entry in entries for var in spec.variables(entry)}
        found: dict[str, Scalar] = {n: v for n, v in self.lengths.items() if n in known}
        for name, value in given.items():
            if name in self.elements:
                found.update(self._of_elements(name, value))
            elif name in self.gone:
                raise ValueError(
                    f"make_args: {name} = {value!r} is asked for, but only empty lists have {name}"
                )
            elif name not in self.lengths:
                found[name] = cast("Scalar", value)  # a list is refused as any other value is
        return found

    def _of_elements(
        self, name: str, value: Scalar | list[int] | tuple[int, ...]
    ) -> dict[str, Scalar]:
        names = self.elements[name]
        values = list(value) if isinstance(value, (list, tuple)) else [value] * len(names)
        if len(values) != len(names):
            raise ValueError(
                f"make_args: {name} = {value!r}: expected {len(names)} values, one for each "
                f"element, but got {len(values)}"
            )
        return dict(zip(names, values, strict=True))


def lists_of(signature: spec.Signature) -> dict[str, spec.TensorList]:
    """Return the lists of tensors by path."""
    found = ((path, spec.required(p)) for path, p in spec.with_paths(signature.params))
    return {path: param for path, param in found if isinstance(param, spec.TensorList)}


def lengths(signature: spec.Signature, dims: Dims) -> dict[str, int]:
    """Choose the number of elements of each list: a given one, or else a small one that fits.

    Raises:
        ValueError: the signature does not accept a given length.
    """
    given = given_lengths(signature, dims)
    found: dict[str, int] = {}
    for path, tensors in lists_of(signature).items():
        usual = fitting(tensors.length, USUAL) if isinstance(tensors.length, spec.Var) else USUAL
        found[path] = given.get(path, usual)
    return found


def given_lengths(signature: spec.Signature, dims: Dims) -> dict[str, int]:
    """Return the lengths of lists that the signature or ``dims`` gives.

    Raises:
        ValueError: the signature does not accept a given length.
    """
    lists = lists_of(signature)
    of_symbols: dict[str, int] = {}
    found: dict[str, int] = {}
    for path, tensors in lists.items():
        values = (dims.get(var.name) for var in tensors.each)
        counts = [len(each) for each in values if isinstance(each, (list, tuple))]
        match tensors.length:
            case int() as number:
                found[path] = number
            case spec.Var() as length if length.name in dims:
                of_symbols[length.name] = _given(path, length, dims[length.name])
            case spec.Var() as length if counts:
                of_symbols.setdefault(length.name, _given(path, length, counts[0]))
            case None if counts:
                found[path] = counts[0]
            case _:
                pass
    for path, tensors in lists.items():
        if isinstance(tensors.length, spec.Var) and tensors.length.name in of_symbols:
            found[path] = of_symbols[tensors.length.name]
    return found


def _given(path: str, length: spec.Var, value: Any) -> int:
    if not hasattr(value, "__index__"):
        raise ValueError(f"make_args: {length.name} = {value!r} is no int, but a length of {path}")
    number = int(value)
    if number < 0 or number != fitting(length, number):
        raise ValueError(f"make_args: {length.name} = {number} cannot be the length of {path}")
    return number


def fitting(length: spec.Var, wanted: int) -> int:
    """Return the length that is nearest to the wanted one and fits the symbol."""
    step, low = length.divisibility or 1, max(length.min or 0, 0)
    greatest = spec.MOST_ELEMENTS if length.max is None else length.max
    number = min(max(wanted, low), greatest)
    return number // step * step if number // step * step >= low else -(-number // step) * step


def unfold(signature: spec.Signature, lengths: Lengths) -> Unfolded:
    """Return the signature with a tuple in place of each list.

    It allows overlaps, since each array that is made has memory of its own.
    """
    lists = lists_of(signature)
    taken = {var.name for _, e in spec.occurrences(signature.params) for var in spec.variables(e)}
    most: dict[spec.Var, int] = {}
    for path, tensors in lists.items():
        for var in tensors.each:
            most[var] = lengths[path]
    own = {var: _elements_of(var, count, taken) for var, count in most.items()}
    values = {
        tensors.length.name: lengths[path]
        for path, tensors in lists.items()
        if isinstance(tensors.length, spec.Var)
    }

    def unfolded(path: str, param: spec.Param) -> spec.Param:
        match param:
            case spec.Optional(param=inner):
                return replace(param, param=cast("Any", unfolded(path, inner)))
            case spec.TupleParam():
                inner = [unfolded(*each) for each in spec.elements(param, path)]
                return replace(param, params=inner)
            case spec.Struct():
                inner = [unfolded(*each) for each in spec.elements(param, path)]
                return replace(param, fields=inner)
            case spec.TensorList():
                tensors = [_element(param, own, index) for index in range(lengths[path])]
                return spec.TupleParam(param.name, tensors, kw_only=param.kw_only)
            case _:
                return param

    if not lists:
        return Unfolded(signature, {}, {}, frozenset())
    params = [unfolded(param.name, param) for param in signature.params]
    if unbound := _unbound(params, values):
        params = [_with_values(param, unbound) for param in params]
    names = {var.name: tuple(each.name for each in found) for var, found in own.items()}
    left = {var.name for _, e in spec.occurrences(params) for var in spec.variables(e)}
    gone = frozenset(taken - left - {*names, *values})
    return Unfolded(_without(signature, params, values), names, values, gone)


def _unbound(
    params: Sequence[spec.Param], lengths: Mapping[str, int]
) -> dict[spec.Var, Union[int, None]]:
    """Return the symbols of expressions that only lists bound: lengths, and None for others.

    Where a symbol of an empty list is missing, the wrapper checks nothing.
    """
    entries = [entry for _, entry in spec.occurrences(params)]
    bound = [e if isinstance(e, spec.Var) else _solved(e) for e in entries]
    found = (var for entry in entries for var in spec.variables(entry))
    return {var: lengths.get(var.name) for var in found if var not in bound}


def _solved(entry: object) -> spec.Var | None:
    found = spec.linear(entry) if isinstance(entry, spec.Expr) else None
    return None if found is None else found[1]


def _with_values(param: Any, values: Mapping[spec.Var, Union[int, None]]) -> Any:
    """Return a parameter with ints in place of some symbols, or with None for any value."""
    match param:
        case spec.Optional(param=inner):
            return replace(param, param=_with_values(inner, values))
        case spec.TupleParam():
            return replace(param, params=[_with_values(each, values) for each in param.params])
        case spec.Struct():
            return replace(param, fields=[_with_values(each, values) for each in param.fields])
        case spec.Tensor() if isinstance(param.shape, tuple):
            changed = {"shape": [_substituted(dim, values) for dim in param.shape]}
            if param.stride_entries is not None and param.strides != "any":
                changed["strides"] = [_substituted(each, values) for each in param.stride_entries]
            return param.changed(device_id=_substituted(param.device_id, values), **changed)
        case spec.Shape():
            found = [_substituted(entry, values) for entry in param.shape]
            return replace(param, shape=[0 if entry is None else entry for entry in found])
        case _:
            return param


def _without(
    signature: spec.Signature, params: Sequence[spec.Param], lengths: Mapping[str, int]
) -> spec.Signature:
    """Return the signature with these parameters, which may not have all of its symbols.

    Lengths that no parameter has any more are ints in what is allocated. Relations of such symbols
    are left out.
    """
    known = {var for _, entry in spec.occurrences(params) for var in spec.variables(entry)}
    fixed = {
        var: lengths[var.name]
        for _, entry in spec.occurrences(signature.params)
        for var in spec.variables(entry)
        if var.name in lengths and var not in known
    }

    def made(result: Any) -> Any:
        match result:
            case spec.Tensor() if isinstance(result, spec.Workspace) or result not in params:
                shape = result.shape
                if isinstance(shape, tuple):
                    shape = [_substituted(dim, fixed) for dim in shape]
                return replace(result, shape=shape, device_id=_substituted(result.device_id, fixed))
            case spec.Shape() if result not in params:
                return replace(result, shape=[_substituted(dim, fixed) for dim in result.shape])
            case _:
                return result

    returns: Any = signature.returns
    if returns is not None:
        several = isinstance(returns, Sequence)
        returns = [*map(made, signature.results)] if several else made(returns)
    where = [each for each in signature.where if {*spec.variables(each)} <= known]
    workspaces = [made(p) if isinstance(p, spec.Workspace) else p for p in params]
    return replace(signature, params=workspaces, returns=returns, where=where, no_overlap=())


def _substituted(entry: Any, values: Mapping[spec.Var, Any]) -> Any:
    """Return an entry with other symbols or ints for some; None if one of them may be anything."""
    match entry:
        case spec.Var():
            return values.get(entry, entry)
        case spec.Expr(op, lhs, rhs):
            left, right = _substituted(lhs, values), _substituted(rhs, values)
            if left is None or right is None:
                return None
            if isinstance(left, int) and isinstance(right, int):
                return OPERATORS[op](left, right)
            return spec.Expr(op, left, right)
        case _:
            return entry


def _elements_of(var: spec.Var, count: int, taken: set[str]) -> list[spec.Var]:
    """Return a symbol for each element, with names of their own."""
    prefix = f"{var.name}_"
    while any(name.startswith(prefix) for name in taken):
        prefix += "_"
    return [replace(var, name=f"{prefix}{index}") for index in range(count)]


def _element(
    tensors: spec.TensorList, own: Mapping[spec.Var, Sequence[spec.Var]], index: int
) -> spec.Tensor:
    """Return the tensor at this index."""
    tensor = tensors.tensor
    renamed = {var: own[var][index] for var in tensors.each}
    strides = tensor.strides
    if strides is not None and not isinstance(strides, str):
        strides = [_substituted(stride, renamed) for stride in strides]
    return replace(
        tensor,
        name=f"{tensor.name}_{index}",
        shape=[_substituted(dim, renamed) for dim in tensor.dims],
        strides=strides,
        device_id=_substituted(tensor.device_id, renamed),
        default=spec.MISSING,
        kw_only=False,
        doc="",
    )
