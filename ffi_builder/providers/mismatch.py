"""Errors that compare a callee's parameters with the arguments that are passed.

A hint names another provider whose types fit. Operations are emitted here to see what it would
pass; attaching removes them again, since an error follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby, zip_longest
from typing import Final, TypeAlias

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir.kernel import lowered, recorded_types
from ffi_builder.ir.symbols import function_parts
from ffi_builder.ir.types import LLVM_TYPES
from ffi_builder.protocol import MEMREF_TYPES
from ffi_builder.providers.arguments import Argument, Convert, plain, shown
from ffi_builder.providers.by_address import converts, declared
from ffi_builder.providers.call import MismatchError
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.items import Item
from ffi_builder.providers.memref import C_INTERFACE, MemRefCallProvider
from ffi_builder.providers.packing import DynamicParamPackCallProvider, NestedTensorCallProvider
from ffi_builder.providers.results import value_results
from ffi_builder.providers.simple import DirectCallProvider

_PTR: Final = "!llvm.ptr"
_OF_MEMREFS: Final = "MemRefCallProvider"
_OF_POINTERS: Final = "DirectCallProvider"
_PACKING: Final = "DynamicParamPackCallProvider"
_PACKED: Final = "PackedCallProvider"
_FIXED: Final[dict[tuple[str, ...], str]] = {
    (_PTR,): _PACKING,
    (_PTR, "i32"): f"{_PACKING} with include_num_args=True",
    (_PTR, _PTR, "i32", _PTR): _PACKED,
}
"""Providers that pass arguments of the same types for all parameters. One pointer may be anything
else, too: a tensor, a struct."""
_PER_ITEM: Final[dict[str, Convert]] = {
    _OF_MEMREFS: MemRefCallProvider("").arguments_of,
    _OF_POINTERS: DirectCallProvider("").arguments_of,
    "NestedTensorCallProvider": NestedTensorCallProvider("").arguments_of,
    f"{_PACKING} with struct_call=True": DynamicParamPackCallProvider("").arguments_of,
}
"""Providers that pass each item as separate arguments; errors propose the first that fits."""
_DTYPES: Final = {type_: dtype for dtype, type_ in LLVM_TYPES.items() if dtype[0] in "ibf"}
_MOST_SHOWN: Final = 12
"""The most rows that an error shows."""
_CHOOSE: Final = "Choose and order them with args=, or change the signature or the callee"
_Entries: TypeAlias = "list[tuple[str, tuple[str, ...]]]"
"""The entries of ``args=``, each with the LLVM types of its arguments."""


def describe_mismatch(mismatch: MismatchError) -> BuildError:
    """Return the error that compares what is taken with what is passed, and says what to change."""
    made, taken = mismatch.call, len(mismatch.taken)
    passed, function = len(made.arguments), made.context.fn_name
    what = f"takes arguments of other types than {function!r} passes"
    if taken != passed:
        takes = "1 argument" if taken == 1 else f"{taken} arguments"
        are = "is" if passed == 1 else "are"
        what = f"takes {takes}, but {passed} {are} passed for {function!r}"
    words = f"{made.provider}: the callee @{made.callee} {what}"
    return BuildError(f"{words}:\n{_table(mismatch)}\n{_hint(mismatch)}")


# ---- the difference


def _table(mismatch: MismatchError) -> str:
    """Return the arguments side by side from the last before a difference, and mark differences."""
    rows = list(_rows(mismatch))
    start = max(0, next(i for i, (mark, *_) in enumerate(rows) if mark) - 1)
    more = len(rows) - start - _MOST_SHOWN
    table = [("", "", "expected", "passed"), *rows[start : start + _MOST_SHOWN]]
    wide = max(len(expected) for _, _, expected, _ in table)
    lines = [
        f"{mark:1} {at:>3}  {expected:<{wide}}  {words}" for mark, at, expected, words in table
    ]
    return "\n".join([*lines, *([f"  … and {more} more"] if more > 0 else [])])


def _rows(mismatch: MismatchError) -> Iterator[tuple[str, str, str, str]]:
    """Yield a mark if there is a difference, the number of an argument, its type, what is passed.

    If the lengths differ, these are the fewest differences.
    """
    context, arguments, taken = mismatch.call.context, mismatch.call.arguments, mismatch.taken
    passed = [str(argument.value.type) for argument in arguments]
    changes = [("", 0, len(passed), 0, len(taken))]
    if len(passed) != len(taken):
        changes = SequenceMatcher(None, passed, taken, autojunk=False).get_opcodes()
    is_exchanged = sorted(passed) == sorted(taken)
    names = [each.name or shown(context, each.of[0]) for each in arguments]
    addable = _addable(context)
    fitting = [
        plain(each.of[0])
        for each, ours, theirs in zip(arguments, passed, taken, strict=False)
        if each.of and ours == theirs
    ]
    for _, i, i_end, j, j_end in changes:
        for ours, theirs in zip_longest(range(i, i_end), range(j, j_end)):
            at, expected = ("", "nothing") if theirs is None else (f"#{theirs}", taken[theirs])
            words = "nothing"
            if ours is not None:
                of, given = arguments[ours].of, passed[ours]
                cure = "" if is_exchanged or not of else _declared(of[0], given, expected, fitting)
                words, differs = f"{_short(given)} ({names[ours]}){cure}", given != expected
            else:
                fits = [n for n, type_ in addable.items() if type_ == expected and n not in names]
                words, differs = f"nothing; {', '.join(fits)} would fit" if fits else words, True
            yield ">" if differs else "", at, _short(expected), words


def _declared(item: Item, ours: str, theirs: str, fitting: Sequence[Item]) -> str:
    """Return the cure for a number where the callee takes another one of the same kind.

    It is a declaration or an entry of ``args=``, for a number that fits another argument as it is
    the latter.
    """
    of = plain(item)
    is_same = {ours, theirs} <= _DTYPES.keys() and ours.startswith("i") == theirs.startswith("i")
    if not isinstance(of, spec.Var) or not is_same or ours == theirs:
        return ""
    dtype = _DTYPES[theirs]
    if of in fitting and converts(of.dtype, dtype):
        return f": pass '{dtype}({of.name})'"
    return f": {declared(of.name, of.dtype, dtype)}"


def _short(type_: str) -> str:
    return type_.removeprefix("!llvm.")


def _addable(context: CallContext) -> dict[str, str]:
    """Return the entries that ``args=`` may add, with types: symbols and pointers to results."""
    params = {spec.required(param) for _, param in spec.with_paths(context.params)}
    symbols = [var for var in context.matched_var_binding if var not in params]
    types = {var.name: str(context.builder.types.scalar(var.dtype)) for var in symbols}
    return types | {result.name: _PTR for result in value_results(context)}


# ---- the hint


def _hint(mismatch: MismatchError) -> str:
    """Return which provider or ``args=`` would fit, if one does."""
    made, taken = mismatch.call, mismatch.taken
    provider, context = made.provider, made.context
    record, only = _record(context, made.callee)
    if "memref<*" in record:
        return "No provider passes a memref without a rank: give the kernel memrefs that have one"
    fixed = "" if only else _FIXED.get(taken, "")
    if fixed and (provider in (_PACKED, _PACKING) or fixed == _PACKED):
        return f"{fixed}{' without other options' * (fixed == provider)} passes what it takes"
    groups = [[*group] for _, group in groupby(made.arguments, lambda each: id(each.of))]
    items = [item for group in groups for item in group[0].of]
    for name, arguments_of in _PER_ITEM.items():
        if name != provider and only in ("", name):
            fitting = _fitting(context, _converted(context, items, arguments_of), taken)
            if fitting is not None:
                return f"{name} passes what it takes{fitting and f', with {fitting}'}"
    if provider in (_OF_MEMREFS, _PACKING):
        fitting = None
    else:
        own = [(shown(context, group[0].of[0]), _types(group)) for group in groups]
        fitting = _fitting(context, own, taken)
    if fitting:
        return f"The types fit with {fitting}"
    also = f". {fixed} calls it if that is an array of pointers to its parameters" if fixed else ""
    return f"{_CHOOSE}{also}"


def _types(arguments: Sequence[Argument]) -> tuple[str, ...]:
    return tuple(str(argument.value.type) for argument in arguments)


def _converted(context: CallContext, items: Sequence[Item], arguments_of: Convert) -> _Entries:
    """Return what another provider would pass; nothing if it refuses these parameters."""
    try:
        return [(shown(context, item), _types(arguments_of(context, item))) for item in items]
    except BuildError:
        return []


def _fitting(context: CallContext, entries: _Entries, taken: tuple[str, ...]) -> str | None:
    """Return ``args=`` with entries added so that the types fit; empty if they fit as they are.

    Symbols are added in the order of the signature, since kernels usually take sizes in this order.
    The choice is not certain if a number of the same type is passed, or if more could be added.

    Returns:
        None if they do not fit, or if this is not certain.
    """
    addable, rest, names = _addable(context), list(entries), list[str]()
    order, added, at = [*addable], set[str](), 0
    left = {name: type_ for name, type_ in addable.items() if name not in dict(entries)}
    while at < len(taken):
        name, types = rest[0] if rest else ("", ())
        more = next((name for name, type_ in left.items() if type_ == taken[at]), None)
        fits = types != () and taken[at : at + len(types)] == types
        if fits and more is not None and taken[at] != _PTR:
            if name not in order:
                return None
            fits = order.index(name) < order.index(more)
        if fits:
            rest.pop(0)
        elif more is not None:
            name, types = more, (left.pop(more),)
            added.update(types)
        else:
            return None
        names.append(name)
        at += len(types)
    if rest or added & {*left.values()}:
        return None
    is_alike = len({*taken}) < len(taken)
    order_counts = ", if those of one type come in this order" if is_alike else ""
    return f"args={names}{order_counts}" if added else ""


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
