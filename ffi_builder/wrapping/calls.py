"""How a kernel with a prototype is called, and what has to be checked before."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from ffi_builder import BuildError, spec
from ffi_builder.extending import (
    CONSTANTS,
    INT_RANGES,
    CStruct,
    Data,
    Result,
    did_you_mean,
    elements,
    parts_of,
    split_address,
    split_field,
    symbols_in,
)
from ffi_builder.providers import CallProvider, CheckStatus, DirectCallProvider, HalideCallProvider
from ffi_builder.wrapping import structs
from ffi_builder.wrapping.c_types import HALIDE_BUFFER, CType, Prototype, added_to_args, llvm_type
from ffi_builder.wrapping.comparison import ByAddress, Comparison, Converted, Passed
from ffi_builder.wrapping.elements import BITS, BYTES
from ffi_builder.wrapping.structs import Fields
from ffi_builder.wrapping.texts import Pairs, advice, check_returned, said
from ffi_builder.wrapping.unused import check_reached, mentions, unused

if TYPE_CHECKING:
    from ffi_builder.extending import Entry

_BY_POSITION: Final = (
    "The signature has none of the kernel's names, so arguments go by position; args=[…] lists "
    "them in another order"
)
_C_EXPRESSION: Final = r"[\w\s|&~()<+-]+"
_FUNCTIONS: Final = ("ceildiv", "max", "min")
"""The functions of expressions of a signature."""
Args: TypeAlias = "Sequence[Entry] | Mapping[str, Entry] | None"
"""The type of ``args=``: a list, or a dict by the names of the kernel's parameters."""
_UNWRITTEN: Final = ("cls", "default", "destroy", "doc", "kw_only", "pointee")
"""Fields of parameters that the text of a signature does not keep."""


def called(
    declared: Prototype, signature: spec.Signature, args: Args, free: str | None = None
) -> tuple[spec.Signature, CallProvider, Sequence[Passed]]:
    """Return a signature that checks what the prototype's types need, a provider, what is passed.

    An integer that the kernel returns is a status, unless it is a result of the signature. The
    function ``free`` frees a text that it returns.

    Raises:
        BuildError: as :func:`bound`; the kernel returns what nobody takes.
    """
    signature, args, passed = bound(declared, signature, args)
    buffers = any(type_.opaque == HALIDE_BUFFER for _, type_ in declared.params)
    make = HalideCallProvider if buffers else DirectCallProvider
    provider = make(declared.name, args=args, free=free)
    result, own = declared.result, returned(signature, args)
    if result is not None and result.is_struct:
        if free is not None or buffers:
            why = "and not a text that is freed" if free else "which Halide does not"
            raise BuildError(f"{declared.name} returns {result}, {why}")
        return signature, replace(provider, returns=structs.returned(declared, own)), passed
    match own:
        case [spec.String() | spec.Bytes() as text] if result:
            check_returned(declared.name, result, text)
        case [spec.Var(name, dtype)] if result and not _is_returned(dtype, result):
            raise BuildError(
                f"{declared.name} returns {result}, but the result {name!r} is {dtype}: declare "
                f"`-> {name}: {result.dtype or 'handle'}`"
            )
        case _:
            pass
    is_handle = isinstance(own[0] if len(own) == 1 else None, spec.Var)
    if is_handle and result and result.is_pointer and (to := result.target(is_made=True)):
        signature = signature.with_params(**{own[0].name: {"pointee": to}})
    if result is None or own:
        return signature, provider, passed
    if result.is_pointer or not re.match("u?int", result.dtype or ""):
        raise BuildError(
            f"{declared.name} returns {result}, which the signature lacks: "
            f"{'drop it by prototype=' + repr('void …') + ', or ' if result.is_pointer else ''}"
            f"add a result, as in `-> r: {_result_for(result)}`"
        )
    unsigned = f"{result.dtype}".startswith("u")
    checked = provider if buffers else CheckStatus(provider, unsigned=unsigned)
    return signature, checked, passed


def _result_for(result: CType) -> str:
    return "String" if result.is_char else "handle" if result.is_pointer else f"{result.dtype}"


def returned(signature: spec.Signature, args: Sequence[Entry] | None) -> list[Result]:
    """Return the results that a kernel returns itself, as no argument of it points to them."""
    passed = [name for entry in args or () for name in _written(entry)]
    passed += [tensor.name for tensor in signature.result_tensors]
    return [each for each in signature.results if each.name not in passed]


def _written(entry: Entry) -> Iterator[object]:
    """Yield the results that a kernel writes over what it gets by address; any other as it is."""
    if isinstance(entry, CStruct):
        for each in entry.fields:
            yield from (each.result, *_written_to_field(each.item))
    elif isinstance(entry, Mapping):
        for each in entry.values():
            yield from _written_to_field(each)
    else:
        address = split_address(f"args= has {entry!r}", entry)
        yield entry if address is None else address[2]


def _written_to_field(entry: object) -> Iterator[object]:
    result = split_field("args=", entry)[2]
    yield from [result] if result is not None else _written(cast("Entry", entry))


def with_constants(
    signature: spec.Signature,
    args: Args,
    evaluate: Callable[[Sequence[str], Sequence[str]], Mapping[str, int]],
) -> Args:
    """Return ``args`` with numbers for the constants of C that the signature does not name.

    Args:
        signature: whose names come first.
        args: the entries.
        evaluate: returns the numbers of texts; it also gets the names of the signature.
    """
    entries: Sequence[Entry] = [*args.values()] if isinstance(args, Mapping) else args or ()
    known = [path for path, _ in spec.with_paths(signature.params)]
    known += [*symbols(signature), *(result.name for result in signature.results)]
    texts = [
        entry
        for entry in _with_fields(entries)
        if isinstance(entry, str)
        and re.fullmatch(_C_EXPRESSION, entry)
        and not entry.startswith("&")  # an address
        and split_field("args=", entry)[1] is None
        and (words := re.findall(r"[A-Za-z_]\w*", entry))
        and not {*words} & {*known, *_FUNCTIONS}
    ]
    if not texts:
        return args
    values = evaluate(texts, known)
    if isinstance(args, Mapping):
        return {name: _number(entry, values) for name, entry in args.items()}
    return [_number(entry, values) for entry in entries]


def _with_fields(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield entries of ``args=``, and what the fields of structs get."""
    for entry in entries:
        yield from _with_fields(entry.values()) if isinstance(entry, Mapping) else (entry,)


def _number(entry: Entry, values: Mapping[str, int]) -> Entry:
    if isinstance(entry, Mapping):
        return {name: _number(each, values) for name, each in entry.items()}
    return values.get(entry, entry) if isinstance(entry, str) else entry


def listed(declared: Prototype, signature: spec.Signature, args: Args) -> Sequence[Entry] | None:
    """Return what each parameter gets: what a dict has for it, or else its own name.

    A list stays as it is. None does, too, if the signature has none of the names: then the order
    counts.

    Raises:
        BuildError: the dict has other names; neither it nor the signature has one of the kernel's.
    """
    if args is not None and not isinstance(args, Mapping):
        return args
    names, given = [name for name, _ in declared.params], args or {}
    for name in given:
        if name not in names:
            own = ", ".join(each or "one without a name" for each in names)
            raise BuildError(
                f"args= has {name!r}, but {declared.name} has no such parameter"
                f"{did_you_mean(name, names)}; it has {own}"
            )
    params = dict(spec.with_paths(signature.params))
    known = {*params, *symbols(signature), *(result.name for result in signature.results)}
    lacking = [name for name in names if name not in known and name not in given]
    if args is None and len(lacking) == len(names):
        return None
    if lacking:
        more = _unused(declared, signature, given), _declared_results(signature)
        has_not = "the signature lacks" if args is None else "neither the signature nor args= has"
        raise BuildError(
            f"{declared.name} has parameters that {has_not}: "
            f"{added_to_args(declared, lacking, *more)}{advice(params)}"
        )
    return [given[name] if name in given else _by_name(name, params) for name in names]


def _unused(declared: Prototype, signature: spec.Signature, args: Mapping[str, Entry]) -> list[str]:
    """Return the numbers, tensors and texts of a signature that no parameter gets.

    If there are none, and the kernel takes a number of another name, the one size that none gets.
    """
    params = {each.name: spec.required(each) for each in signature.params}
    used = [*(name for name, _ in declared.params)]
    used += [name for entry in args.values() for name in _names(entry, params)]
    if rest := unused(signature, used):
        return rest
    sizes, words = symbols(signature), re.findall(r"\w+", " ".join(used))
    lacks_number = any(
        type_.dtype in INT_RANGES and (type_.is_const or not type_.is_pointer)
        for name, type_ in declared.params
        if name not in {*params, *sizes, *args}
    )
    rest = [name for name in sizes if name not in words]
    return rest if lacks_number and len(rest) == 1 else []


def _declared_results(signature: spec.Signature) -> list[str]:
    """Return the results as the signature declares them; of tensors and texts the names."""
    return [
        f"{each.name}: {each.dtype if isinstance(each, spec.Var) else '…'}"
        for each in signature.results
    ]


def _by_name(name: str, params: Mapping[str, spec.Param]) -> str:
    """Return what a parameter of the kernel gets of the parameter of its name.

    Its length is a parameter of another name.
    """
    items = spec.required(params[name]) if name in params else None
    is_map = isinstance(items, spec.Map) and items.key is not None
    if items is None or not (is_map or isinstance(items, spec.List)):
        return name
    return f"{name}.{parts_of(items)[0]}"


def _is_returned(dtype: str, result: CType) -> bool:
    """Return whether a kernel that returns a type returns numbers of a dtype, or a handle."""
    is_passed = ("ptr" if dtype == "handle" else llvm_type(dtype)) == result.llvm
    return is_passed and (result.is_pointer or result.is_signless or dtype == result.dtype)


def check_same(given: Prototype, known: Prototype, who: str) -> None:
    """Raise BuildError if a prototype differs from the types that are known otherwise.

    A pointer may be dropped: Numba's LLVM IR returns one from functions without a result.
    """
    by_value = [each for _, each in given.params if each.is_struct]
    by_value += [given.result] if given.result and given.result.is_struct else []
    if by_value:
        raise BuildError(
            f"{given.name}: prototype= has {by_value[0]} by value, which is compared with nothing "
            f"that {who}: give its object, library or address alone"
        )
    drops = given.result is None and known.result is not None and known.result.is_pointer
    of_given = [*(type_ for _, type_ in given.params), given.result]
    of_known = [*(type_ for _, type_ in known.params), None if drops else known.result]
    if len(of_given) != len(of_known) or not all(map(_fit, of_given, of_known)):
        says, defines = (
            f"({', '.join(map(str, types[:-1]))}) -> {types[-1] or 'void'}"
            for types in (of_given, of_known)
        )
        raise BuildError(f"{given.name}: prototype= says {says}, but {who} {defines}")


def with_promises(given: Prototype, known: Prototype) -> Prototype:
    """Return a prototype with what LLVM IR says of its pointers: alignments, ``noalias``."""
    params = [
        (name, replace(type_, is_restrict=type_.is_restrict or more.is_restrict, align=align))
        for (name, type_), (_, more) in zip(given.params, known.params, strict=True)
        for align in [max(type_.align, more.align)]
    ]
    return replace(given, params=tuple(params), hidden=known.hidden)


def _fit(first: CType | None, second: CType | None) -> bool:
    """Return whether two types are passed alike, with a sign, and not known to point to others."""
    if first is None or second is None or first.llvm != second.llvm:
        return first is second
    if not first.is_pointer:
        return first.dtype == second.dtype or first.is_signless or second.is_signless
    if first.opaque != second.opaque and None not in (first.to, second.to):
        return False
    dtypes = {each.dtype for each in (first, second) if each.dtype not in (None, *BYTES)}
    return len(dtypes) < 2 or any(BITS.get(f"{d}") for d in dtypes)


def bound(
    declared: Prototype,
    signature: spec.Signature,
    args: Args,
    extra: tuple[type[spec.Param], ...] = (),
    elsewhere: str = "",
) -> tuple[spec.Signature, Sequence[Entry] | None, Sequence[Passed]]:
    """Return a signature that checks what the prototype's types need, ``args``, and what is passed.

    Parameters of the kernel get the parameter, symbol or result of their name. A size that the
    kernel takes as a narrower integer gets that integer's range. Parameters of the kinds ``extra``
    are not passed to the kernel unless ``args`` has them. What has a name in the text ``elsewhere``
    need not reach the kernel.

    Raises:
        BuildError: the prototype's types differ from those of the signature; the signature lacks
            some of its names, or has parameters that ``args`` does not name and nothing uses.
    """
    is_said = isinstance(args, Sequence)
    args = listed(declared, signature, args)
    wholes = dict(spec.with_paths(signature.params))
    params = {path: spec.required(param) for path, param in wholes.items()}
    sizes = symbols(signature)
    known = {**sizes, **params, **{each.name: each for each in signature.result_tensors}}
    made = (spec.Tensor, spec.Shape)
    handed = {each.name: each for each in signature.results if not isinstance(each, made)}
    inner = [each for each in signature.params if not isinstance(spec.required(each), extra)]
    entries = [each.name for each in inner] if args is None else list(args)
    names = [name for entry in entries for name in _names(entry, known)]
    results = [each.name for each in signature.result_tensors if not mentions(names, each.name)]
    entries, names = [*entries, *results], [*names, *results]
    by_position = args is None
    try:

        def find(entry: object) -> list[tuple[object, object]]:
            return [*_passed(_part(entry, wholes), known)]

        groups = [find(entry) for entry in entries]
        if (
            whole := structs.said(declared, [*zip(entries, groups, strict=True)], wholes)
        ) != entries:
            args = entries = whole
            groups = [find(entry) for entry in entries]
        if not extra and (parts := said(declared, [*zip(entries, groups, strict=True)])) != entries:
            args = entries = parts
            groups = [find(entry) for entry in entries]
        passed = [each for group in groups for each in group]
        _check_count(declared, passed, advice(params))
        _check_outputs(declared, names, signature)
        if not is_said:
            check_reached(declared.name, signature, names, elsewhere)
        own = [name for name, _ in declared.params]
        texts = [item.text if isinstance(item, Converted) else f"{entry}" for entry, item in passed]
        if by_position:
            _check_positions(declared.name, own, texts)
        checks = Comparison(declared.name, params, handed, dict(zip(own, texts, strict=True)))
        addresses = dict[int, "Entry"]()
        for at, (name, type_), (entry, item) in zip(count(), declared.params, passed, strict=False):
            if isinstance(item, Fields):
                addresses[at] = structs.passed(checks, name, type_, item, find)
                continue
            address = checks.check(name, type_, entry, item)
            if address is not None:
                addresses[at] = address
        for result in signature.result_tensors:
            if result.name in checks.read - checks.written:
                raise BuildError(
                    f"{declared.name} gets the result {result.name!r} by a const pointer, so it "
                    f"does not write it"
                )
    except BuildError as error:
        raise (error if not by_position else BuildError(f"{error}. {_BY_POSITION}")) from None
    if addresses:
        args = [*_with_addresses(entries, groups, known, addresses)]
    if args is not None:  # the prototype says which numbers are bools
        args = [int(entry) if isinstance(entry, bool) else entry for entry in args]
    if declared.hidden:
        args = [*(entries if args is None else args), *(value for _, value in declared.hidden)]
    signature = signature.with_params(**checks.only_read(signature))
    signature = with_conditions(signature, checks.conditions() + checks.not_null(signature))
    signature = with_alignments(signature, checks.aligned)
    signature = signature.with_params(**checks.pointees(signature))
    alone = dict.fromkeys([*signature.no_overlap, *checks.no_overlap(signature)])
    return replace(signature, no_overlap=tuple(alone)), args, checks.seen


def _with_addresses(
    entries: Sequence[Entry],
    groups: Sequence[Pairs],
    known: Mapping[str, spec.Param],
    addresses: Mapping[int, Entry],
) -> Iterator[Entry]:
    """Yield ``args=`` with the numbers of certain positions passed by their addresses.

    A struct of which one element is passed so becomes its elements.
    """
    at = 0
    for entry, group in zip(entries, groups, strict=True):
        here = range(at, at + len(group))
        at += len(group)
        if not addresses.keys() & {*here}:
            yield entry
            continue
        for index, (path, item) in zip(here, group, strict=True):
            if item is not None:  # a length, which goes with its text
                yield addresses.get(index) or (f"{path}" if path in known else f"{item}")


def _named(entry: object, known: Mapping[str, spec.Param]) -> str:
    """Return the path of an entry of ``args=``, or of what it is a part of; a text as it is."""
    if isinstance(entry, str):
        return entry
    whole = entry.param if isinstance(entry, spec.Field) else getattr(entry, "tensor", entry)
    param = whole.param if isinstance(whole, spec.Optional) else whole
    return next((path for path, each in known.items() if each is param), "")


def _names(entry: object, known: Mapping[str, spec.Param]) -> Iterator[str]:
    """Yield the paths of an entry of ``args=``; of a struct those of what its fields get."""
    for each in _with_fields([cast("Entry", entry)]):
        address = split_address(f"args= has {each!r}", each) if f"{each}"[:1] == "&" else None
        yield _named((address or split_field("args=", each))[0], known)


def _part(entry: object, wholes: Mapping[str, spec.Param]) -> object:
    """Return the part of a parameter that a text names, as ``x.data``; any other entry as it is."""
    if not isinstance(entry, str):
        return entry
    path, _, part = entry.rpartition(".")
    whole = None if entry in wholes else wholes.get(path)
    tensor = None if whole is None else spec.required(whole)
    if isinstance(tensor, spec.Tensor) and part == "data":
        return tensor.data
    return entry if whole is None or part not in parts_of(whole) else spec.Field(whole, part)


def _passed(entry: object, known: Mapping[str, spec.Param]) -> Iterator[tuple[object, object]]:
    """Yield the C arguments of an entry of ``args=``, each as a name and what is passed.

    That is a parameter, a part of one, a number, or the entry itself if it is another text.
    """
    if isinstance(entry, Fields):
        yield f"{entry}", entry
        return
    if isinstance(entry, (Data, spec.Field)):
        part = "data" if isinstance(entry, Data) else entry.part
        yield f"{_named(entry, known)}.{part}", entry
        return
    where = f"args= has {entry!r}"
    address = split_address(where, entry)
    value, dtype, result = address or split_field(where, entry)
    if address is not None or dtype is not None:
        of = known.get(value, value) if isinstance(value, str) else value
        of = int(value) if isinstance(of, str) and re.fullmatch(r"-?\d+", of) else of
        by_address = ByAddress(f"{value}", of, dtype, result)
        yield entry, by_address if address else Converted(f"{value}", of, f"{dtype}")
        return
    item = known.get(entry, entry) if isinstance(entry, str) else entry
    path = entry if isinstance(entry, str) else getattr(entry, "name", entry)
    match spec.required(item) if isinstance(item, spec.Optional) else item:
        case spec.TupleParam() | spec.Struct() as composite:
            for inner, element in elements(composite, str(path)):
                yield from _passed(inner, {inner: element})
        case spec.Variant(parts=parts) as variant:
            yield f"{path}.which", spec.Field(variant, "which")
            for part, each in parts.items():
                inner = f"{path}.{part}"
                if isinstance(each, spec.Var):
                    yield inner, spec.Field(variant, part)
                else:
                    yield from _passed(inner, {inner: each})
        case spec.String() | spec.Bytes() as text:
            yield from ((path, text), (f"{path}'s length", None))  # as texts.said expects
        case spec.TensorList() | spec.List() | spec.Map(key=str()) as items:
            parts = (part for part in parts_of(items) if part != "c_str")
            yield from ((f"{path}.{part}", spec.Field(items, part)) for part in parts)
        case spec.Shape(shape=sizes):
            yield from (
                (f"{path}[{at}]", each)
                for at, each in enumerate(sizes)
                if not isinstance(each, int)
            )
        case plain if not isinstance(plain, CONSTANTS):
            yield path, plain
        case _:
            return


def _check_count(declared: Prototype, passed: Pairs, about_texts: str) -> None:
    """Raise BuildError for another number of arguments."""
    count = len(declared.params)
    if len(passed) == count:
        return
    numbered = enumerate(declared.params, 1)
    params = ", ".join(f"{name or f'arg{at}'}: {type_}" for at, (name, type_) in numbered)
    names = ", ".join(f"{name}" for name, _ in passed)
    is_struct = any(type_.to and type_.to.startswith("struct ") for _, type_ in declared.params)
    raise BuildError(
        f"{declared.name} takes {count} parameters ({params}), but {len(passed)} are passed "
        f"({names}): "
        + (
            "the fields of a Struct are passed one by one, and as a struct where the kernel only "
            "reads it; '&cfg' in args= passes the address of a struct with the fields of cfg"
            if is_struct and count < len(passed)
            else "write args=[…] with an entry for each, which may be a size; None passes NULL"
            f"{about_texts}"
        )
    )


def _check_positions(function: str, own: Sequence[str], entries: Sequence[str]) -> None:
    """Raise BuildError for names that are those of the kernel but for case and underscores."""
    words = ([re.sub(r"_|\.(data|c_str)$", "", each) for each in names] for names in (own, entries))
    like, given = ([each.lower() for each in names] for names in words)
    for at, name in enumerate(like):
        if name in given and given[at] != name:
            raise BuildError(
                f"{function}: parameter {own[at]} would get {entries[at]!r}, and not "
                f"{entries[given.index(name)]!r}: write args=[…] in the order of {', '.join(own)}"
            )


def _check_outputs(declared: Prototype, names: Sequence[str], signature: spec.Signature) -> None:
    """Raise BuildError for a tensor that the kernel is said to write, and does not get."""
    for path, param in spec.with_paths(signature.params):
        tensor = spec.required(param)
        is_written = isinstance(tensor, spec.Tensor) and tensor.intent in ("out", "inout")
        outer = re.split(r"[.[]", path)[0]
        if is_written and not mentions(names, path) and outer not in names:
            raise BuildError(
                f"{declared.name} gets no pointer to {path!r}, of which the signature says that it "
                f"is written: pass it, or leave it out of the signature"
            )


def symbols(signature: spec.Signature) -> dict[str, spec.Var]:
    """Return the sizes and strides in a signature, by their names."""
    return {each.name: each for each in symbols_in(signature.params)}


def with_conditions(signature: spec.Signature, conditions: Sequence[str]) -> spec.Signature:
    """Return the signature with more conditions, and dtypes of symbols, as text."""
    if not conditions:
        return signature
    separator = ", " if signature.constraints else " where "
    parsed = spec.Signature.parse(f"{signature}{separator}{', '.join(conditions)}")
    unwritten = {
        each.name: {field: getattr(each, field) for field in _UNWRITTEN if hasattr(each, field)}
        for each in (*signature.params, *signature.results)
    }
    return replace(parsed.with_params(**unwritten), doc=signature.doc)


def with_alignments(signature: spec.Signature, alignments: Mapping[str, int]) -> spec.Signature:
    """Return the signature with a check that tensors are aligned to so many bytes.

    It is a condition, and of a tensor that the wrapper allocates the ``data_alignment``, which is
    compared with what the allocator gives.
    """
    allocated = {each.name for each in (*signature.result_tensors, *signature.workspaces)}
    own = {name: {"data_alignment": n} for name, n in alignments.items() if name in allocated}
    rest = [f"{path}.data % {n} == 0" for path, n in alignments.items() if path not in allocated]
    return with_conditions(signature, rest).with_params(**own)
