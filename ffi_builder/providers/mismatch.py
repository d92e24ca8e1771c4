"""Errors that say how a callee's parameters differ from the arguments that are passed.

Operations are emitted here to see what other providers would pass; attaching removes them again,
since an error follows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import function_parts, lowered, recorded_types
from ffi_builder.protocol import MEMREF_TYPES
from ffi_builder.providers.arguments import (
    Argument,
    Fixed,
    Item,
    PerItem,
    ResultPointer,
    conventions,
    path_of,
    plain,
)
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.results import value_results
from ffi_builder.records import dataclass

_PTR: Final = "!llvm.ptr"
_OF_MEMREFS: Final = "MemRefCallProvider"
_OF_POINTERS: Final = "DirectCallProvider"
C_INTERFACE: Final = "_mlir_ciface_"
"""The prefix of C interfaces in MLIR's conversion to the LLVM dialect."""
_MOST_SHOWN: Final = 4
"""Differences that one error lists."""
_MOST_REORDERED: Final = 6
"""The most entries of which every order is tried: 720 orders."""


@dataclass(frozen=True)
class Group:
    """One entry of ``args=`` and the LLVM types of its arguments, or none if it shares them."""

    item: Item
    name: str
    types: tuple[str, ...]

    @property
    def ndim(self) -> int | None:
        """The number of dimensions of a tensor; None for other items and tensors of any rank."""
        tensor = plain(self.item)
        if isinstance(tensor, spec.Tensor) and not tensor.any_rank:
            return tensor.ndim
        return None


def describe_mismatch(
    provider: str,
    context: CallContext,
    callee: str,
    arguments: Sequence[Argument],
    taken: tuple[str, ...],
) -> BuildError:
    """Return the error for a callee that takes arguments of other LLVM types, ``taken``."""
    passed = [str(argument.value.type) for argument in arguments]
    groups = groups_of(context, arguments)
    if len(taken) != len(passed):
        takes = "1 argument" if len(taken) == 1 else f"{len(taken)} arguments"
        are = "is" if len(passed) == 1 else "are"
        what = f"takes {takes}, but {len(passed)} {are} passed for {context.fn_name!r}"
    else:
        what = f"takes arguments of other types than {context.fn_name!r} passes"
    words = f"{provider}: the callee @{callee} {what}"
    differences = list(_ranks_that_differ(provider, groups, taken))
    hint = "Change the shape, or the callee"
    if not differences:
        other = _other_provider(provider, context, callee, groups, taken)
        if other:
            return BuildError(f"{words}. {other}")
        names = [_name(context, argument) for argument in arguments]
        differences = list(_differences(context, names, passed, taken))
        hint = "Choose and order them with args=, or change the callee"
    hint = _args_that_fit(context, groups, taken) or hint
    return BuildError(f"{words}: {_listed(differences)}. {hint}")


def _listed(differences: Sequence[str]) -> str:
    more = len(differences) - _MOST_SHOWN
    return "; ".join(differences[:_MOST_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def groups_of(context: CallContext, arguments: Sequence[Argument]) -> list[Group]:
    """Return the entries with the types of their arguments; none if they share one argument."""
    found: list[Group] = []
    for _, group in itertools.groupby(arguments, key=lambda argument: id(argument.of)):
        of, types = zip(*((each.of, str(each.value.type)) for each in group), strict=True)
        alone = len(of[0]) == 1
        found += [Group(item, shown(context, item), types if alone else ()) for item in of[0]]
    return found


def _name(context: CallContext, argument: Argument) -> str:
    """Return the name of an argument in errors: its own, or its only entry's."""
    return argument.name or shown(context, argument.of[0])


def shown(context: CallContext, item: Item) -> str:
    """Return the name of an entry in errors: ``x``, ``cfg.alpha``, ``x.data``, ``n * 2``."""
    if isinstance(item, (spec.Data, spec.Field, spec.Var, spec.Expr, int)):
        return str(item)
    if isinstance(item, ResultPointer):
        return item.result.name
    return path_of(context, spec.required(item))


# ---- differences


def _differences(
    context: CallContext, names: Sequence[str], passed: Sequence[str], taken: Sequence[str]
) -> Iterator[str]:
    """Yield the pairs that differ, or the fewest changes if the lengths differ."""
    from difflib import SequenceMatcher  # only an error needs it

    changes = SequenceMatcher(None, passed, taken, autojunk=False).get_opcodes()
    if len(passed) == len(taken):
        pairs = enumerate(zip(passed, taken, strict=True))
        changes = [("replace", i, i + 1, i, i + 1) for i, (ours, theirs) in pairs if ours != theirs]
    for kind, i, i_end, j, j_end in changes:
        if kind == "equal":
            continue
        both = min(i_end - i, j_end - j)
        for index in range(both):
            yield (
                f"{names[i + index]} is passed as {_short(passed[i + index])}, but argument "
                f"#{j + index} is {_short(taken[j + index])}"
            )
        left = zip(names[i + both : i_end], passed[i + both : i_end], strict=True)
        for name, group in itertools.groupby(left, key=lambda pair: pair[0]):
            types = ", ".join(_short(type_) for _, type_ in group)
            yield f"{name} ({types}) is passed, but no argument takes it"
        if j + both < j_end:
            where = range(j + both, j_end)
            yield f"nothing is passed for {_missing(context, names, taken, where)}"


def _missing(context: CallContext, names: Sequence[str], taken: Sequence[str], where: range) -> str:
    """Describe arguments for which nothing is passed, with the other symbols of their type."""
    types = [taken[index] for index in where]
    symbols = [
        name for name, type_ in _symbols(context) if {type_} == {*types} and name not in names
    ]
    shown = ", ".join(map(_short, types))
    if symbols:
        shown += f", the type of {', '.join(symbols)}"
    elif types[:3] == [_PTR, _PTR, "i64"] and {*types[3:]} <= {"i64"} and len(types) % 2:
        shown += f": a memref of rank {len(types) // 2 - 1}"
    if len(types) == 1:
        return f"argument #{where[0]} ({shown})"
    return f"arguments #{where[0]} to #{where[-1]} ({shown})"


def _symbols(context: CallContext) -> list[tuple[str, str]]:
    """Return the symbols that are not parameters, such as sizes, with their types."""
    parameters = {spec.required(param) for _, param in spec.with_paths(context.params)}
    scalar = context.builder.types.scalar
    return [
        (var.name, str(scalar(var.dtype)))
        for var in context.matched_var_binding
        if var not in parameters
    ]


def _results(context: CallContext) -> list[tuple[str, str]]:
    """Return the results to which no pointers are passed, with the types of pointers to them."""
    return [(r.name, _PTR) for r in value_results(context) if r.name not in context.places]


def _short(type_: str) -> str:
    return type_.removeprefix("!llvm.")


def _ranks_that_differ(
    provider: str, groups: Sequence[Group], taken: tuple[str, ...]
) -> Iterator[str]:
    """Yield the tensors whose rank differs from the callee's memref, if nothing else differs."""
    if provider != _OF_MEMREFS:
        return
    ranks = _ranks(groups, taken)
    for group, rank in zip(groups, ranks or (), strict=bool(ranks)):
        if rank != group.ndim:
            dimensions = "1 dimension" if group.ndim == 1 else f"{group.ndim} dimensions"
            yield f"{group.name} has {dimensions}, but the callee takes a memref of rank {rank}"


def _ranks(groups: Sequence[Group], taken: tuple[str, ...]) -> list[int | None] | None:
    """Return the rank of the callee's memref for each entry, or None if the types do not fit.

    The rank is None for an entry that is not a tensor.
    """

    @cache
    def fit(index: int, at: int) -> list[int | None] | None:
        if index == len(groups):
            return [] if at == len(taken) else None
        group = groups[index]
        if group.ndim is None:
            end = at + len(group.types)
            rest = fit(index + 1, end) if taken[at:end] == group.types else None
            return None if rest is None else [None, *rest]
        if taken[at : at + 3] != (_PTR, _PTR, "i64"):
            return None
        ints = len(list(itertools.takewhile(lambda type_: type_ == "i64", taken[at + 3 :])))
        own = group.ndim
        for rank in sorted(range(ints // 2 + 1), key=lambda rank: abs(rank - own)):
            rest = fit(index + 1, at + 3 + 2 * rank)
            if rest is not None:
                return [rank, *rest]
        return None

    return fit(0, 0)


# ---- hints


def _recorded_types(context: CallContext, callee: str) -> str:
    """Return the types of the callee before it was lowered, as text; empty if unknown."""
    function = context.symbols.find(callee)
    if function is None or MEMREF_TYPES not in function.attributes:
        return ""
    return str(function.attributes[MEMREF_TYPES])


def _other_provider(
    provider: str,
    context: CallContext,
    callee: str,
    groups: Sequence[Group],
    taken: tuple[str, ...],
) -> str:
    """Name a ready-made provider that passes what the callee takes; empty if none does."""
    types = _recorded_types(context, callee)
    if "memref<*" in types:
        return "No provider passes a memref without a rank: give the kernel memrefs that have one"
    of_memrefs = "memref<" in types
    only = _OF_MEMREFS if of_memrefs else ""
    if of_memrefs and _takes_bare_pointers(context, callee):
        only = _OF_POINTERS
    known = conventions()
    fixed = next((c for c in known if isinstance(c, Fixed) and c.types == taken), None)
    if fixed is not None and not of_memrefs:
        options = fixed.options or (fixed.plainly if fixed.provider == provider else "")
        return f"{fixed.provider}{options} passes what it takes"
    for convention in known:
        if isinstance(convention, Fixed):
            continue
        name = convention.provider
        if name == provider or (only and name != only):
            continue
        theirs = _converted(context, convention, groups)
        if theirs is None:
            continue
        if _types(theirs) == taken:
            return f"{name} passes what it takes"
        ways = _with_symbols(context, theirs, taken)
        if len(ways) == 1:
            return f"{name} passes what it takes, with args={[*ways[0]]}"
        if ways:
            return f"{name} passes what it takes, in several orders; say which with args="
    tensors = any(group.ndim is not None for group in groups)
    looks_like_memrefs = provider != _OF_MEMREFS and tensors and _has_memref(taken)
    if looks_like_memrefs and not _with_symbols(context, groups, taken):
        return (
            "It looks like a function lowered from memrefs (pointer, pointer, offset, sizes, "
            "strides), which MemRefCallProvider calls"
        )
    return ""


def _takes_bare_pointers(context: CallContext, callee: str) -> bool:
    """Return whether each memref was lowered to one pointer: use-bare-ptr-memref-call-conv."""
    function = context.symbols.find(callee)
    if function is None or callee.startswith(C_INTERFACE):
        return False
    record = recorded_types(context.builder.types, function)
    return record is not None and lowered(record, c_interface=True) == function_parts(function)


def _converted(
    context: CallContext, convention: PerItem, groups: Sequence[Group]
) -> list[Group] | None:
    """Return what another provider would pass, or None if it refuses these parameters."""
    found: list[Group] = []
    for group in groups:
        try:
            arguments = convention.arguments_of(context, group.item)
        except BuildError:
            return None
        types = tuple(str(argument.value.type) for argument in arguments)
        found.append(Group(group.item, group.name, types))
    return found


def _types(groups: Sequence[Group]) -> tuple[str, ...]:
    return tuple(itertools.chain.from_iterable(group.types for group in groups))


def _has_memref(taken: tuple[str, ...]) -> bool:
    """Tell whether types look like a memref of rank 1 or more; rank 0 is too short to tell."""
    wanted = (_PTR, _PTR, "i64", "i64", "i64")
    return any(taken[at : at + len(wanted)] == wanted for at in range(len(taken)))


def _args_that_fit(context: CallContext, groups: Sequence[Group], taken: tuple[str, ...]) -> str:
    """Suggest an ``args=`` that adds symbols or changes the order; empty if none fits."""
    ways = _with_symbols(context, groups, taken) if all(group.types for group in groups) else []
    if len(ways) == 1:
        return f"The types fit with args={[*ways[0]]}"
    if ways:
        return "Add what is missing with args=; the types fit in several orders"
    return order_hint(list(orders(groups, taken)))


def orders(groups: Sequence[Group], taken: tuple[str, ...]) -> Iterator[Sequence[Group]]:
    """Yield the orders of a few entries in which they have the types that a callee takes."""
    if all(group.types for group in groups) and len(groups) <= _MOST_REORDERED:
        yield from (order for order in itertools.permutations(groups) if _types(order) == taken)


def order_hint(fitting: Sequence[Sequence[Group]]) -> str:
    """Suggest the order that fits; empty if there is none."""
    if len(fitting) == 1:
        return f"The types fit with args={[group.name for group in fitting[0]]}"
    return "The types fit in another order; say which with args=" if fitting else ""


def _with_symbols(
    context: CallContext, groups: Sequence[Group], taken: tuple[str, ...]
) -> list[tuple[str, ...]]:
    """Return ways to add what is missing, at most two: to know whether one is the only one.

    The entries keep their order, and symbols that of the signature, since kernels usually take
    sizes in this order. Pointers to results come behind the other pointers.
    """
    symbols, results = _symbols(context), _results(context)
    given = {group.name for group in groups}
    places = {name: place for place, (name, _) in enumerate(symbols)}
    pointers = max((i + 1 for i, group in enumerate(groups) if _PTR in group.types), default=0)

    @cache
    def ways(at: int, index: int, symbol: int, result: int) -> list[tuple[str, ...]]:
        """Return the ends of such ways: what is passed for the arguments from ``at`` on.

        ``index``, ``symbol`` and ``result`` are where the rest of the groups, symbols and results
        begins.
        """
        if at == len(taken) and index == len(groups):
            return [()]
        found: list[tuple[str, ...]] = []
        if index < len(groups):
            name, types = groups[index].name, groups[index].types
            place, end = places.get(name, symbol), at + len(types)
            if place >= symbol and taken[at:end] == types:
                after = place + (name in places)
                found += [(name, *rest) for rest in ways(end, index + 1, after, result)]
        for place, (name, type_) in enumerate(symbols[symbol:], symbol):
            if name not in given and taken[at : at + 1] == (type_,):
                found += [(name, *rest) for rest in ways(at + 1, index, place + 1, result)]
        for place, (name, type_) in enumerate(results[result:], result):
            if index >= pointers and taken[at : at + 1] == (type_,):
                found += [(name, *rest) for rest in ways(at + 1, index, symbol, place + 1)]
        return found[:2]

    return [way for way in ways(0, 0, 0, 0) if len(way) > len(groups)]
