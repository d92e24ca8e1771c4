"""Structs that a kernel in C takes or returns: what each of their fields gets, compared with it.

An entry of ``args=`` for a struct is a dict, with an entry for each field, or a Struct or Tuple of
the signature, whose elements go to the fields of their names, or else in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from ffi_builder import BuildError, spec
from ffi_builder.extending import (
    INT_RANGES,
    CField,
    CStruct,
    Data,
    Result,
    dataclass,
    did_you_mean,
    dtype_of,
    elements,
    split_address,
    split_field,
)
from ffi_builder.wrapping.c_types import CType, Layout, Member, Prototype, llvm_type
from ffi_builder.wrapping.comparison import Comparison, Converted
from ffi_builder.wrapping.texts import Groups, Pairs

_COMPOSITES: Final = (spec.Struct, spec.TupleParam)
_MOST, _ALIGN = 1 << 16, 16
"""The most bytes of a struct on the stack, and to what it is aligned there."""
_SHOWN: Final = 8
"""The most fields that an error lists."""
Find = Callable[[object], Pairs]
"""Returns the names and items that are passed for an entry."""


@dataclass(frozen=True)
class Fields:
    """A struct as ``args=`` has it: an entry for each field.

    ``whole`` is the Struct or Tuple whose elements they are, and ``entry`` what ``args=`` has.
    """

    entries: Mapping[str, Any]
    entry: object
    whole: str = ""
    is_optional: bool = False

    def __str__(self) -> str:
        return f"{self.entry}"

    @property
    def is_said(self) -> bool:
        """Whether ``args=`` says that it is a struct, by a dict or by ``&``."""
        return self.entry != self.whole


def said(declared: Prototype, groups: Groups, params: Mapping[str, spec.Param]) -> list[Any]:
    """Return entries of ``args=``, where :class:`Fields` are what a kernel gets as a struct.

    A Struct or Tuple is one if the kernel takes a struct there by value, or only reads it.

    Args:
        declared: the kernel.
        groups: each entry, with the names and items that are passed for it.
        params: the parameters of the signature, and their elements, by path.
    """
    for each in (1, 2):  # the parameters that a str or bytes takes
        entries, at = list[Any](), 0
        for entry, pairs in groups:
            given = _fields(entry, params)
            type_ = declared.params[at][1] if at < len(declared.params) else None
            if given is not None and (given.is_said or _takes(type_)):
                entries.append(given)
                at += 1
            else:
                lengths = sum(item is None and "'s length" in f"{name}" for name, item in pairs)
                entries.append(entry)
                at += len(pairs) - lengths * (each == 1)
        if at == len(declared.params):
            return entries
    every = [(entry, _fields(entry, params)) for entry, _ in groups]
    return [given if given is not None and given.is_said else entry for entry, given in every]


def _takes(type_: CType | None) -> bool:
    """Return whether a struct goes there without a word: the kernel does not write to it."""
    if type_ is None or type_.layout is None:
        return False
    return type_.is_struct or (type_.is_const and not type_.row and type_.first < 2)


def _fields(entry: object, params: Mapping[str, spec.Param]) -> Fields | None:
    """Return the fields of a dict, of ``"&cfg"`` or of ``"cfg"``; None for another entry."""
    if isinstance(entry, Mapping):
        return Fields(entry, entry)  # pyright: ignore[reportUnknownArgumentType]
    address = split_address(f"args= has {entry!r}", entry)
    path = entry if address is None else address[0]
    if not isinstance(path, str):
        path = next((name for name, each in params.items() if each is path), "")
    param = params.get(path)
    if param is None or not isinstance(spec.required(param), _COMPOSITES):
        return None
    if address is not None and address[1:] != (None, None):
        raise BuildError(
            f"args= has {entry!r}: what the kernel writes to a struct is a result for each field: "
            f"write {{'field': '{path}.field -> {address[2] or 'result'}', …}}"
        )
    entries = {name.removeprefix(path).lstrip("."): name for name in _leaves(path, param)}
    return Fields(entries, entry if address else path, path, isinstance(param, spec.Optional))


def _leaves(path: str, param: spec.Param) -> Iterator[str]:
    """Yield the paths of the elements, of those within elements too."""
    for name, element in elements(param, path):
        if isinstance(element, _COMPOSITES):
            yield from _leaves(name, element)
        else:
            yield name


def passed(checks: Comparison, own: str, type_: CType, given: Fields, find: Find) -> Any:
    """Compare a struct with that of the kernel; return the entry of ``args=`` for it.

    Raises:
        BuildError: the kernel takes no struct there, or one with other fields.
    """
    what = f"{checks.function}: parameter {own or given} is {type_}"
    checks.note(own, type_, given, "" if type_.layout else "what the struct contains")
    if not type_.is_pointer and not type_.is_struct:
        raise BuildError(f"{what}, but {given} is passed as a struct")
    if type_.layout is None:
        return _not_known(checks, what, own, type_, given, find)
    if type_.layout.size > _MOST or type_.layout.align > _ALIGN:
        size = f"{type_.layout.size} bytes, aligned to {type_.layout.align}"
        raise BuildError(
            f"{what} of {size}, but memory of a call has at most {_MOST}, aligned to {_ALIGN}: let "
            f"a function in C make it, and pass its address as a handle"
        )
    if given.is_optional and type_.is_struct:
        raise BuildError(f"{what}, but {given.whole!r} may be absent")
    members = _members(what, type_.layout, given)
    fields = [
        _compared(checks, what, f"{own}.{name}" if own else name, type_, member, entry, find)
        for name, (member, entry) in members.items()
    ]
    return CStruct(
        tuple(fields),
        type_.layout.size,
        given.whole if given.is_optional else None,
        type_.pieces,
        type_.attribute,
    )


def _not_known(
    checks: Comparison, what: str, own: str, type_: CType, given: Fields, find: Find
) -> object:
    """Pass a struct by the types of what its fields get, to a pointer that may be to anything."""
    if type_.to is not None:
        is_struct = f"{type_.to}".startswith("struct ")
        cure = f"; declare its fields in prototype=, as in `{type_.to} {{ … }};`"
        raise BuildError(
            f"{what}, but {given} is passed as a struct{cure if is_struct and type_.opaque else ''}"
        )
    for name, entry in given.entries.items():
        for path, item in find(split_field(what, entry)[0]):
            if isinstance(item, (Data, spec.Tensor)):
                checks.check(f"{own}.{name}", CType(None, is_pointer=True), path, item)
    return given.entry


def _members(what: str, layout: Layout, given: Fields) -> dict[str, tuple[Member, object]]:
    """Return the fields of a struct that get something, and what."""
    known = {each.name: each for each in layout.members if each.name}
    entries = given.entries
    shown = ", ".join([*known][:_SHOWN]) + (", …" if len(known) > _SHOWN else "")
    if given.whole and not known.keys() & entries.keys():
        if len(known) != len(entries):
            raise BuildError(
                f"{what} with {len(known)} fields ({shown}), but {given.whole!r} has "
                f"{len(entries)} of other names: name them alike, or pass a dict, as in "
                f"{{{layout.members[0].name!r}: '{next(iter(entries.values()), given.whole)}'}}"
            )
        entries = dict(zip(known, entries.values(), strict=True))
    members = dict[str, tuple[Member, object]]()
    for name, entry in entries.items():
        if name not in known:
            whole = next((each for each in known if each.startswith((f"{name}.", f"{name}["))), "")
            meant = f"; write {whole!r} and so on" if whole else did_you_mean(name, known)
            raise BuildError(f"{what}, which has no field {name!r}{meant}; it has {shown}")
        if known[name].lacks:
            raise BuildError(
                f"{what}, whose field {name} is {known[name].lacks}, which no entry of args= is: "
                f"leave it out, and it is 0, or let a function in C fill the struct"
            )
        members[name] = known[name], entry
    rest = (each for each in layout.members if each.name and not (each.lacks or each.is_shared))
    absent = next((each.name for each in rest if each.name not in members), None)
    if given.whole and absent is not None:
        first = next((f"{name!r}: {entry!r}" for name, (_, entry) in members.items()), "…")
        raise BuildError(
            f"{what}, whose field {absent} {given.whole!r} lacks: add it there, or pass a dict, as "
            f"in {{{first}, …, {absent!r}: 0}}"
        )
    return members


def _compared(
    checks: Comparison, what: str, own: str, type_: CType, member: Member, entry: object, find: Find
) -> CField:
    """Compare what a field gets, and the result that the kernel writes there."""
    assert type_.layout is not None
    where = f"{checks.function}: field {member.name} of {type_.layout.name} is {member.type_}"
    kind = _kind(member)
    value, dtype, result = split_field(where, entry)
    if result is not None:
        if type_.is_const or type_.is_struct:
            why = "is only read" if type_.is_const else "is passed by value"
            raise BuildError(f"{what}, which {why}, but {result!r} is to be written to a field")
        _check_written(where, member, checks.results.get(result), result)
        if member.type_.is_pointer:
            checks.points_to(result, member.type_.target(is_made=True))
    if value is None:
        checks.note(own, member.type_, entry)
        return CField(member.name, entry, kind, member.offset)  # pyright: ignore[reportArgumentType]
    if not member.type_.is_pointer and f"{value}" in checks.results:
        raise BuildError(f"{where}, and {value!r} is a result: write '-> {value}'")
    pairs = [*find(value)]
    if isinstance(value, Mapping):
        raise BuildError(
            f"{where}, but a struct is passed: let a function in C fill that field, or pass the "
            f"address of one as a handle"
        )
    if len(pairs) != 1 or isinstance(pairs[0][1], Fields):
        raise BuildError(
            f"{where}, but {value!r} is not one number or pointer{_cure(value, pairs)}"
        )
    [(path, item)] = pairs
    if dtype not in (None, kind):
        raise BuildError(f"{where}, but {entry!r} is passed")
    item = item if dtype is None else Converted(f"{value}", item, dtype)
    address = checks.check(own, member.type_, path, item, where)
    if result is not None:
        checks.seen[-1] = checks.seen[-1]._replace(entry=f"{entry}")
    if dtype is None and item is not None and kind in INT_RANGES:
        number = dtype_of(item)
        if number in INT_RANGES and llvm_type(f"{number}") == llvm_type(kind):
            kind = f"{number}"  # conditions of the signature say what else is compared
    return CField(member.name, address or entry, kind, member.offset)  # pyright: ignore[reportArgumentType]


def _cure(value: object, pairs: Pairs) -> str:
    texts = any(isinstance(item, (spec.String, spec.Bytes)) for _, item in pairs)
    return f": write '{value}.c_str', '{value}.data' or '{value}.length'" if texts else ""


def _check_written(where: str, member: Member, result: Result | None, name: str) -> None:
    """Raise BuildError for a result that a field does not have."""
    kind = "handle" if member.type_.is_pointer else member.type_.dtype
    if not isinstance(result, spec.Var):
        raise BuildError(
            f"{where}, but {name!r} is no result that is a number or handle: declare "
            f"`-> {name}: {kind}`"
        )
    if result.dtype != kind:
        raise BuildError(
            f"{where}, but the result {name!r} is {result.dtype}: declare `-> {name}: {kind}`"
        )


def returned(declared: Prototype, results: Sequence[Result]) -> CStruct:
    """Return the struct that a kernel returns, with the results that its fields are.

    Raises:
        BuildError: the results are not fields of the struct.
    """
    type_ = declared.result
    assert type_ is not None
    layout, what = type_.layout, f"{declared.name} returns {type_}"
    assert layout is not None
    fits = (each for each in layout.members if not each.lacks)
    all_ = ", ".join(f"{each.name}: {_kind(each)}" for each in fits)
    cure = f"declare `-> ({all_})`" if len(layout.members) > 1 else f"declare `-> {all_}`"
    if not results:
        raise BuildError(f"{what}, which the signature lacks: {cure}")
    known = {each.name: each for each in layout.members}
    names = [each.name for each in results]
    if not known.keys() & {*names} and len(names) == len(known):
        names = [*known]
    fields = list[CField]()
    for name, result in zip(names, results, strict=True):
        member = known.get(name)
        if member is None:
            raise BuildError(f"{what}, which has no field {name!r}: {cure}")
        where = f"{what}, whose field {member.name} is {member.type_}"
        _check_written(where, member, result, result.name)
        fields.append(CField(member.name, None, _kind(member), member.offset, result.name))
    return CStruct(tuple(fields), layout.size, None, type_.pieces, type_.attribute)


def _kind(member: Member) -> str:
    return "handle" if member.type_.is_pointer else f"{member.type_.dtype}"
