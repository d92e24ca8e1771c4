"""Finds where symbols occur, which of them every call binds, and checks the symbols of lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec import composite
from ffi_builder.spec.composite import Param
from ffi_builder.spec.expr import Expr, Var, two_meanings
from ffi_builder.spec.functions import linear, variables
from ffi_builder.spec.lists import List
from ffi_builder.spec.overlap import tensors_of
from ffi_builder.spec.params import Shape
from ffi_builder.spec.tensors.tensor import Tensor
from ffi_builder.spec.tensors.tensor_list import TensorList
from ffi_builder.spec.tensors.workspace import Workspace
from ffi_builder.spec.variant import Variant


@dataclass(frozen=True)
class _Item:
    """A parameter or an element of a parameter, and whether it may be absent."""

    path: str
    param: composite.Plain
    optional: bool


def check_lists(what: str, params: Sequence[Param]) -> None:
    """Check the symbols of all lists of a signature.

    Raises:
        SpecError: a symbol with a value for each element of a list also occurs in a list that may
            have another length, or no dimension binds it; or an expression in a list needs a symbol
            that is not known by then.
    """
    items = list(every(params))
    lists = [(item, item.param) for item in items if isinstance(item.param, TensorList)]
    if not lists:
        return
    for var in dict.fromkeys(var for _, tensors in lists for var in tensors.each):
        having = [(item, tensors) for item, tensors in lists if var in tensors.each]
        _check_lengths(what, var, having)
        _check_binds(what, var, *having[0], alone=len(having) == 1)
    known = _Known()
    for item in items:
        known.pass_by(what, item)


def symbols_of_elements(params: Sequence[Param]) -> dict[Var, str]:
    """Return the symbols with a value for each element of a list, each with its first list.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.spec.places import symbols_of_elements
        >>> m, k = spec.dims("m k")
        >>> A = spec.Tensor("As", [m, k], "float16", device_type="cuda")
        >>> As = spec.TensorList(A, each=[m])
        >>> [(var.name, path) for var, path in symbols_of_elements([As]).items()]
        [('m', 'As')]
    """
    paths: dict[Var, str] = {}
    for item in every(params):
        if isinstance(item.param, TensorList):
            for var in item.param.each:
                paths.setdefault(var, item.path)
    return paths


def check_not_each(
    what: str, params: Sequence[Param], places: Iterable[tuple[str, object]]
) -> None:
    """Check that no symbol at these places has a value for each element of a list.

    Raises:
        SpecError: such a symbol is at one of the places.
    """
    paths = symbols_of_elements(params)
    for place, entry in places if paths else ():
        for var in variables(entry):
            if var in paths:
                raise SpecError(
                    f"{what}: {place} needs symbol {var.name!r}, which has a value for each "
                    f"element of {paths[var]} (each=[{var.name}]); only lists that have it in "
                    f"their each= know which"
                )


def shared_entries(params: Sequence[Param]) -> Iterator[tuple[str, object]]:
    """Yield the symbols in lists whose value is the same for all elements, with their places."""
    for item in every(params):
        if isinstance(item.param, TensorList):
            for place, entry in item.param.entries:
                shared = (var for var in variables(entry) if var not in item.param.each)
                yield from ((item.path + place, var) for var in shared)


def every(params: Iterable[Param]) -> Iterator[_Item]:
    """Yield every parameter in the order of the checks, with elements after their container."""
    for param in params:
        yield from _with_elements(param.name, param, optional=False)


def _with_elements(path: str, param: Param, *, optional: bool) -> Iterator[_Item]:
    absent = optional or isinstance(param, (composite.Optional, Variant))
    yield _Item(path, composite.required(param), absent)
    for inner, element in composite.elements(param, path):
        yield from _with_elements(inner, element, optional=absent)


def _check_lengths(what: str, var: Var, having: Sequence[tuple[_Item, TensorList]]) -> None:
    """Check that lists which share a symbol of each element have the same length."""
    if len(having) == 1:
        return
    names = " and ".join(item.path for item, _ in having)
    lengths = {tensors.length for _, tensors in having}
    shared = f"{what}: {names} share symbol {var.name!r} of each element"
    if None in lengths or len(lengths) > 1:
        raise SpecError(f"{shared}, so they need the same length=, such as length=g")
    if any(item.optional for item, _ in having):
        raise SpecError(f"{shared}, so none of them may be Optional")


def _check_binds(what: str, var: Var, item: _Item, tensors: TensorList, *, alone: bool) -> None:
    """Check that the first list binds the symbol: in a dimension, or where it is mentioned once."""
    if var in tensors.tensor.dims:
        return
    mentions = [entry for _, entry in tensors.entries for each in variables(entry) if each == var]
    if not (alone and mentions == [var]):
        raise SpecError(
            f"{what}: symbol {var.name!r} of each element must stand alone in the shape of "
            f"{item.path}, the first list that has it"
        )


@dataclass
class _Known:
    """The symbols that are certainly bound by the parameters so far."""

    bound: set[Var] = field(default_factory=set[Var])
    of_length: dict[object, set[Var]] = field(default_factory=dict[object, "set[Var]"])
    """Symbols that are bound if lists of this length have elements."""

    def pass_by(self, what: str, item: _Item) -> None:
        """Add the symbols that a parameter binds; check the expressions of a list."""
        match item.param:
            case Var() as var:
                symbols: set[Var] = {var}
            case Workspace():
                return
            case Tensor(device_id=device_id, dims=dims):
                symbols = _alone([device_id, *dims])
            case Shape(shape=shape):
                symbols = _alone(shape)
            case List(length=length):
                symbols = _alone([length])
            case TensorList() as tensors:
                symbols = self._pass_list(what, item, tensors)
            case _:
                return
        if not item.optional:
            self.bound |= symbols

    def _pass_list(self, what: str, item: _Item, tensors: TensorList) -> set[Var]:
        length = _alone([tensors.length])
        sizes = _alone([tensors.tensor.device_id, *tensors.tensor.dims])
        before = self.bound | length | self.of_length.get(tensors.length, set())
        for place, entry in tensors.entries:
            if isinstance(entry, Expr):
                self._check_expression(what, item.path + place, entry, before)
            elif isinstance(entry, Var) and entry in sizes:
                before.add(entry)
        if tensors.never_empty:
            return length | (sizes - set(tensors.each))
        if tensors.length is not None and not item.optional:
            # Include symbols of each element: an earlier list of this length binds them.
            self.of_length.setdefault(tensors.length, set()).update(sizes)
        return length

    def _check_expression(self, what: str, place: str, expr: Expr, known: set[Var]) -> None:
        for var in variables(expr):
            if var not in known:
                raise SpecError(
                    f"{what}: {place} = {expr} needs symbol {var.name!r}, which is not known yet "
                    f"when the elements are checked; let it stand alone before: in a dimension of "
                    f"the same tensor, a scalar, or the shape of an earlier parameter that is "
                    f"always there"
                )


def _alone(entries: Iterable[object]) -> set[Var]:
    """Return the entries that are symbols."""
    return {entry for entry in entries if isinstance(entry, Var)}


def device_tensors(params: Sequence[Param]) -> list[tuple[str, Tensor]]:
    """Return the tensors that may be on another device than the CPU, with their paths in errors.

    Tensors in tuples, structs and Optionals are included; a list of tensors counts as its first
    element. An :class:`EnvStream` is the current stream of the first of these tensors that is
    present and not on the CPU.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.spec.places import device_tensors
        >>> with spec.DefaultConfig(device_type="cuda"):
        ...     x, y = (spec.Tensor(name, [64], "float32") for name in "xy")
        >>> sizes = spec.Tensor("sizes", [2], "int32", device_type="cpu")
        >>> params = [sizes, x, spec.TupleParam("rest", [y])]
        >>> [path for path, _ in device_tensors(params)]
        ['x', 'rest[0]']
    """
    arguments = [param for param in params if not isinstance(param, composite.HIDDEN)]
    return [(p, tensor) for p, tensor in tensors_of(arguments).items() if tensor.device != "cpu"]


def occurrences(params: Sequence[Param], *, elements: bool = True) -> Iterator[tuple[str, object]]:
    """Yield ``("A.shape[0]", n)`` for every place of a symbol, in the order of the checks.

    A list of tensors has one place for all elements, ``As[i].shape[0]``; with ``elements=False``,
    only the length of the list is yielded.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.spec.places import occurrences
        >>> matvec = spec.Signature.parse(
        ...     "matvec(A: Tensor([n, k], float32), x: Tensor([k], float32))", device="cpu"
        ... )
        >>> for path, value in occurrences(matvec.params):
        ...     if isinstance(value, spec.Var):
        ...         print(path, value.name)
        A.shape[0] n
        A.shape[1] k
        x.shape[0] k
    """
    for path, param in composite.with_paths(params):
        yield from own_occurrences(path, composite.required(param), elements=elements)


def symbols_in(params: Sequence[Param]) -> list[Var]:
    """Return the symbols in parameters, each once, in the order of the checks."""
    return list(dict.fromkeys(var for _, at in occurrences(params) for var in variables(at)))


def own_occurrences(
    path: str, param: composite.Plain, *, elements: bool = True
) -> Iterator[tuple[str, object]]:
    """Yield the places of one parameter, without those of its elements."""
    match param:
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
        case List(length=length):
            yield f"length of {path}", length
        case Shape(shape=shape):
            yield from _entries(path, shape)
        case _:
            pass


def _entries(path: str, entries: Sequence[object]) -> Iterator[tuple[str, object]]:
    return ((f"{path}[{axis}]", entry) for axis, entry in enumerate(entries))


def refuse_references(what: str, params: Sequence[Param]) -> None:
    """Refuse arguments that take a shape or a device from another one; only a dtype is allowed.

    Results and Workspaces, which the wrapper allocates, may take all of these.
    """
    for path, param in composite.with_paths(params):
        tensor = composite.required(param)
        if isinstance(tensor, Tensor) and not isinstance(tensor, Workspace):
            for name in (name for name in tensor.references if name != "dtype"):
                cure = (
                    "; name the sizes of both, as in Tensor([n, m], …), or let the kernel compare "
                    "shapes of any rank"
                )
                raise SpecError(
                    f"{what}: {path}: {name}: {getattr(tensor, name)} is for results and "
                    f"Workspaces, and this is an argument, which may take a dtype only"
                    f"{cure if name == 'shape' else ''}"
                )


def check_one_meaning(
    what: str, occurrences: Sequence[tuple[str, object]]
) -> dict[str, tuple[str, Var]]:
    """Check that each name stands for one symbol; return the symbols by name, with first places."""
    first: dict[str, tuple[str, Var]] = {}
    for path, value in occurrences:
        for var in variables(value):
            before_path, before = first.setdefault(var.name, (path, var))
            if before != var:
                raise two_meanings(what, before, f"at {before_path}", var, f"at {path}")
    return first


def bound_symbols(occurrences: Iterable[tuple[str, object]]) -> set[Var]:
    """Return the symbols that stand alone or in a linear expression, which calls solve for them."""
    bound: set[Var] = set()
    for _, value in occurrences:
        form = linear(value) if isinstance(value, Expr) else None
        if form is not None:
            bound.add(form[1])
        elif isinstance(value, Var):
            bound.add(value)
    return bound


def always_there(params: Iterable[Param]) -> Iterator[tuple[str, object]]:
    """Yield the places of symbols that are present in every call; see :func:`occurrences`."""
    for item in every(params):
        if item.optional:
            continue
        if not isinstance(item.param, TensorList):
            yield from own_occurrences(item.path, item.param)
            continue
        yield "", item.param.length
        if item.param.never_empty:
            yield from (("", entry) for _, entry in item.param.entries)


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
