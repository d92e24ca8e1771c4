"""Errors that say how a callee's parameters differ from the arguments that are passed.

Operations are emitted here to see what other providers would pass; attaching removes them again,
since an error follows.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir.kernel import lowered, recorded_types
from ffi_builder.ir.symbols import function_parts
from ffi_builder.protocol import MEMREF_TYPES
from ffi_builder.providers.arguments import Argument, Convert, plain, shown
from ffi_builder.providers.call import MismatchError
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.items import Item
from ffi_builder.providers.memref import C_INTERFACE, MemRefCallProvider
from ffi_builder.providers.packing import (
    DynamicParamPackCallProvider,
    NestedTensorCallProvider,
)
from ffi_builder.providers.results import value_results
from ffi_builder.providers.simple import DirectCallProvider
from ffi_builder.records import dataclass

_PTR: Final = "!llvm.ptr"
_OF_MEMREFS: Final = "MemRefCallProvider"
_OF_POINTERS: Final = "DirectCallProvider"
_PACKING: Final = "DynamicParamPackCallProvider"
_FIXED: Final[dict[tuple[str, ...], str]] = {
    (_PTR,): _PACKING,
    (_PTR, "i32"): f"{_PACKING} with include_num_args=True",
    (_PTR, _PTR, "i32", _PTR): "PackedCallProvider",
}
"""Providers that pass arguments of the same types for all parameters. One pointer may be anything
else, too: a tensor, a struct."""
_DTYPES: Final = {
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
}
_PER_ITEM: Final[dict[str, Convert]] = {
    _OF_MEMREFS: MemRefCallProvider("").arguments_of,
    _OF_POINTERS: DirectCallProvider("").arguments_of,
    "NestedTensorCallProvider": NestedTensorCallProvider("").arguments_of,
    f"{_PACKING} with struct_call=True": DynamicParamPackCallProvider("").arguments_of,
}
"""Providers that pass each item as separate arguments; errors propose the first that fits."""
_MOST_SHOWN: Final = 4
"""The most differences that an error lists."""


@dataclass(frozen=True)
class _Passed:
    """An entry of ``args=`` and the LLVM types of its arguments; no types if these are shared."""

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


def describe_mismatch(found: MismatchError) -> BuildError:
    """Return the error that says which arguments the callee takes instead, and what to change."""
    provider, context, callee = found.provider, found.context, found.callee
    arguments, taken = found.arguments, found.taken
    groups = _groups(context, arguments)
    what = f"takes arguments of other types than {context.fn_name!r} passes"
    if len(taken) != len(arguments):
        takes = "1 argument" if len(taken) == 1 else f"{len(taken)} arguments"
        are = "is" if len(arguments) == 1 else "are"
        what = f"takes {takes}, but {len(arguments)} {are} passed for {context.fn_name!r}"
    words = f"{provider}: the callee @{callee} {what}"
    ranks = list(_ranks_that_differ(groups, taken)) if provider == _OF_MEMREFS else []
    if ranks:
        return BuildError(f"{words}: {_listed(ranks)}. Change the shape, or the callee")
    other = _other_provider(provider, context, callee, groups, taken)
    if other:
        return BuildError(f"{words}. {other}")
    fitting = _with_missing(context, groups, taken)
    hint = f"The types fit with {fitting}" if fitting else _CHOOSE
    if taken in _FIXED and not fitting and not _record(context, callee)[1]:
        hint += f". {_FIXED[taken]} calls it if that is an array of pointers to its parameters"
    return BuildError(f"{words}: {_listed(list(_differences(context, arguments, taken)))}. {hint}")


_CHOOSE: Final = "Choose and order them with args=, or change the callee"


def _listed(differences: Sequence[str]) -> str:
    more = len(differences) - _MOST_SHOWN
    return "; ".join(differences[:_MOST_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def _groups(context: CallContext, arguments: Sequence[Argument]) -> list[_Passed]:
    """Return the entries with the types of their arguments; no types if entries share one."""
    found: list[_Passed] = []
    for _, group in itertools.groupby(arguments, key=lambda argument: id(argument.of)):
        of, types = zip(*((each.of, str(each.value.type)) for each in group), strict=True)
        alone = len(of[0]) == 1
        found += [_Passed(item, shown(context, item), types if alone else ()) for item in of[0]]
    return found


# ---- differences


def _differences(
    context: CallContext, arguments: Sequence[Argument], taken: Sequence[str]
) -> Iterator[str]:
    """Yield the pairs that differ; if the lengths differ, yield the fewest changes."""
    names = [argument.name or shown(context, argument.of[0]) for argument in arguments]
    passed = [str(argument.value.type) for argument in arguments]
    exchanged = sorted(passed) == sorted(taken)
    changes = SequenceMatcher(None, passed, taken, autojunk=False).get_opcodes()
    if len(passed) == len(taken):
        pairs = enumerate(zip(passed, taken, strict=True))
        changes = [("replace", i, i + 1, i, i + 1) for i, (ours, theirs) in pairs if ours != theirs]
    for kind, i, i_end, j, j_end in changes:
        if kind == "equal":
            continue
        both = min(i_end - i, j_end - j)
        for index in range(both):
            ours, theirs = _short(passed[i + index]), _short(taken[j + index])
            cure = "" if exchanged else _declared(arguments[i + index].of[0], ours, theirs)
            name = names[i + index]
            yield f"{name} is passed as {ours}, but argument #{j + index} is {theirs}{cure}"
        left = zip(names[i + both : i_end], passed[i + both : i_end], strict=True)
        for name, group in itertools.groupby(left, key=lambda pair: pair[0]):
            types = ", ".join(_short(type_) for _, type_ in group)
            yield f"{name} ({types}) is passed, but no argument takes it"
        if j + both < j_end:
            yield f"nothing is passed for {_missing(context, names, taken, range(j + both, j_end))}"


def _declared(item: Item, ours: str, theirs: str) -> str:
    """Return how to declare a number for which the callee takes another one of the same kind."""
    of = plain(item)
    is_same = {ours, theirs} <= _DTYPES.keys() and ours.startswith("i") == theirs.startswith("i")
    return (
        f" (declare `{of.name}: {_DTYPES[theirs]}`)" if isinstance(of, spec.Var) and is_same else ""
    )


def _missing(context: CallContext, names: Sequence[str], taken: Sequence[str], where: range) -> str:
    """Describe arguments for which nothing is passed, and name symbols of their type."""
    types = [taken[index] for index in where]
    symbols = [name for name, type_ in _addable(context, names).items() if {type_} == {*types}]
    shown = ", ".join(map(_short, types))
    if symbols:
        shown += f", the type of {', '.join(symbols)}"
    if len(types) == 1:
        return f"argument #{where[0]} ({shown})"
    return f"arguments #{where[0]} to #{where[-1]} ({shown})"


def _addable(context: CallContext, given: Sequence[str]) -> dict[str, str]:
    """Return the entries that ``args=`` may add, with types: symbols and pointers to results."""
    params = {spec.required(param) for _, param in spec.with_paths(context.params)}
    symbols = [var for var in context.matched_var_binding if var not in params]
    found = {var.name: str(context.builder.types.scalar(var.dtype)) for var in symbols}
    found |= {result.name: _PTR for result in value_results(context)}
    return {name: type_ for name, type_ in found.items() if name not in given}


def _short(type_: str) -> str:
    return type_.removeprefix("!llvm.")


def _ranks_that_differ(groups: Sequence[_Passed], taken: tuple[str, ...]) -> Iterator[str]:
    """Describe each tensor whose rank differs from the callee's memref, if nothing else differs."""
    memref = re.escape(_text((_PTR, _PTR, "i64")))
    pair = re.escape(_text(("i64", "i64")))
    tensors = [group for group in groups if group.ndim is not None]
    pattern = "".join(
        re.escape(_text(group.types)) if group.ndim is None else f"{memref}((?:{pair})*)"
        for group in groups
    )
    found = re.fullmatch(pattern, _text(taken))
    for group, sizes in zip(tensors, found.groups() if found else (), strict=found is not None):
        rank = sizes.count("i64") // 2
        if rank != group.ndim:
            dimensions = "1 dimension" if group.ndim == 1 else f"{group.ndim} dimensions"
            yield f"{group.name} has {dimensions}, but the callee takes a memref of rank {rank}"


def _text(types: Sequence[str]) -> str:
    return "".join(f"{type_};" for type_ in types)


# ---- hints


def _other_provider(
    provider: str,
    context: CallContext,
    callee: str,
    groups: Sequence[_Passed],
    taken: tuple[str, ...],
) -> str:
    """Return advice to use a ready-made provider that fits the callee; empty if none does."""
    record, only = _record(context, callee)
    if "memref<*" in record:
        return "No provider passes a memref without a rank: give the kernel memrefs that have one"
    is_packing = provider in ("PackedCallProvider", _PACKING) or len(taken) == 4
    if taken in _FIXED and is_packing and not only:
        others = " without other options" if _FIXED[taken] == provider else ""
        return f"{_FIXED[taken]}{others} passes what it takes"
    for name, arguments_of in _PER_ITEM.items():
        if name == provider or only not in ("", name):
            continue
        theirs = _converted(context, arguments_of, groups)
        if theirs and tuple(itertools.chain(*(group.types for group in theirs))) == taken:
            return f"{name} passes what it takes"
        fitting = _with_missing(context, theirs, taken)
        if fitting:
            return f"{name} passes what it takes, with {fitting}"
    of_rank_1 = _text((_PTR, _PTR, "i64", "i64", "i64"))
    tensors = any(group.ndim is not None for group in groups)
    looks_like_memrefs = provider != _OF_MEMREFS and tensors and of_rank_1 in _text(taken)
    if looks_like_memrefs and not _with_missing(context, groups, taken):
        return (
            "It looks like a function lowered from memrefs (pointer, pointer, offset, sizes, "
            "strides), which MemRefCallProvider calls"
        )
    return ""


def _record(context: CallContext, callee: str) -> tuple[str, str]:
    """Return the callee's types before lowering, and the only provider that can call it.

    The types are empty if unknown; the provider is empty if the callee took no memrefs. With
    use-bare-ptr-memref-call-conv, each memref was lowered to one pointer.
    """
    function = context.symbols.find(callee)
    if function is None or MEMREF_TYPES not in function.attributes:
        return "", ""
    text = str(function.attributes[MEMREF_TYPES])
    if "memref<" not in text:
        return text, ""
    record = recorded_types(context.builder.types, function)
    bare = record is not None and lowered(record, c_interface=True) == function_parts(function)
    return text, _OF_POINTERS if bare and not callee.startswith(C_INTERFACE) else _OF_MEMREFS


def _converted(
    context: CallContext, arguments_of: Convert, groups: Sequence[_Passed]
) -> list[_Passed]:
    """Return the arguments of another provider; an empty list if it refuses these parameters."""
    try:
        passed = [(group, arguments_of(context, group.item)) for group in groups]
    except BuildError:
        return []
    return [
        _Passed(group.item, group.name, tuple(str(argument.value.type) for argument in arguments))
        for group, arguments in passed
    ]


def _with_missing(context: CallContext, groups: Sequence[_Passed], taken: tuple[str, ...]) -> str:
    """Return ``args=`` with entries added so that the types fit; empty if not certain.

    Symbols are added in the order of the signature, since kernels usually take sizes in this order.
    The choice is not certain if a number of the same type is passed, or if more could be added.
    """
    given, names, rest = [group.name for group in groups], list[str](), list(groups)
    order = list(_addable(context, ()))
    left, added, at = _addable(context, given), set[str](), 0
    while at < len(taken) and all(group.types for group in rest):
        more = next((name for name, type_ in left.items() if type_ == taken[at]), None)
        fits = bool(rest) and taken[at : at + len(rest[0].types)] == rest[0].types
        if fits and more is not None and taken[at] != _PTR:
            if rest[0].name not in order:
                return ""
            fits = order.index(rest[0].name) < order.index(more)
        if fits:
            group = rest.pop(0)
            names.append(group.name)
            at += len(group.types)
        elif more is not None:
            names.append(more)
            added.add(left.pop(more))
            at += 1
        else:
            return ""
    certain = at == len(taken) and not rest and not added & {*left.values()}
    if not added or not certain:
        return ""
    is_alike = len({*taken}) < len(taken)
    return f"args={names}{', if those of one type come in this order' if is_alike else ''}"
