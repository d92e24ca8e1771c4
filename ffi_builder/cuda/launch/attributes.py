"""The attributes of a launch beside its cluster: their values, checked, and their bytes.

Names are those of ``CUlaunchAttributeID`` in cuda.h 13.5, values those of
``CUlaunchAttributeValue``, which has 64 bytes. A value is made of words of 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar, Union, cast, get_args

from ffi_builder import SpecError, spec
from ffi_builder.cuda.launch import driver
from ffi_builder.cuda.launch.arguments import pointer_argument
from ffi_builder.cuda.launch.dimensions import (
    OneSize,
    checked_size,
    checked_sizes,
    emit_size,
    shown,
)
from ffi_builder.cuda.launch.driver import LaunchAttribute
from ffi_builder.cuda.launch.entries import PROVIDER
from ffi_builder.cuda.launch.maps import check_param
from ffi_builder.cuda.launch.states import Source
from ffi_builder.extending import dataclass, did_you_mean
from ffi_builder.ir import Value
from ffi_builder.providers import CallContext

Attributes: TypeAlias = Union[Sequence[str], Mapping[str, object]]
"""``attributes=``: the names of flags, or a value for each name."""

_T = TypeVar("_T")

_WORD: Final = (1 << 32) - 1
_MOST_WIDE: Final = 2**63 - 1


@dataclass(frozen=True)
class Number:
    """A number of one word, or of two."""

    what: str
    value: OneSize
    least: int
    most: int
    words: int = 1


@dataclass(frozen=True)
class Address:
    """A parameter that is a pointer. An event must not be NULL."""

    what: str
    entry: spec.Param | str
    is_event: bool


Part: TypeAlias = Union[int, Number, Address]
"""An int is a word that is known."""


@dataclass(frozen=True)
class Attribute:
    """An attribute, whose value was checked as far as it is known."""

    name: str
    parts: tuple[Part, ...]

    @property
    def number(self) -> int:
        """Its number in the driver API."""
        return LaunchAttribute[self.name.upper()]


def checked_attributes(given: object) -> tuple[Attribute, ...]:
    """Return the attributes in the order of their numbers; a flag that is False is left out.

    Raises:
        SpecError: a name is unknown or has another way, or a value is of another type or range.
    """
    if isinstance(given, str) or not isinstance(given, (Sequence, Mapping)):
        raise SpecError(
            f"{PROVIDER}: attributes: expected a list of names, or a dict of values by name, but "
            f"got {given!r}"
        )
    if isinstance(given, Mapping):
        pairs = list(cast("Mapping[object, object]", given).items())
    else:
        pairs = [(name, None) for name in cast("Sequence[object]", given)]
    by_name = {f"{name}": _attribute(name, value) for name, value in pairs}
    attributes = [Attribute(name, parts) for name, parts in by_name.items() if parts]
    return tuple(sorted(attributes, key=lambda attribute: attribute.number))


def find(attributes: Sequence[Attribute], name: str) -> Attribute | None:
    """Return the attribute of a name."""
    return next((each for each in attributes if each.name == name), None)


def emit_attribute(context: CallContext, source: Source, attribute: Attribute) -> list[int | Value]:
    """Return the words of an attribute: its number, nothing, and its value.

    An i64 stands for two words, with a 0 after it.
    """
    words: list[int | Value] = [attribute.number, 0]
    for part in attribute.parts:
        words += _words(context, source, part)
    return words if len(words) % 2 == 0 else [*words, 0]


def _words(context: CallContext, source: Source, part: Part) -> list[int | Value]:
    if isinstance(part, int):
        return [part]
    b = context.builder
    if isinstance(part, Address):
        address = pointer_argument(
            context, source.vendor, part.entry, part.what, is_event=part.is_event
        )
        if part.is_event:
            words = f"{part.what} of kernel {shown(source.shown)} is NULL; expected a CUevent"
            b.check(b.ne(address, b.null()), "ValueError", words)
        return [b.to_int(address), 0]
    value = emit_size(context, source, part.what, part.value, part.least, part.most)
    if part.words == 1:
        is_known = isinstance(value, int)
        return [value & _WORD if is_known else b.and_(value, b.i64(_WORD))]
    return [value & _WORD, value >> 32] if isinstance(value, int) else [value, 0]


# ---- values of each name


def _attribute(name: object, value: object) -> tuple[Part, ...]:
    """Read an attribute, whose value is None for a flag that was listed."""
    if isinstance(name, str) and name in _ELSEWHERE:
        raise SpecError(f"{PROVIDER}: attributes: {name}: {_ELSEWHERE[name]}")
    if not isinstance(name, str) or name not in _READERS:
        hint = did_you_mean(name, _READERS) if isinstance(name, str) else ""
        known = ", ".join(_READERS)
        raise SpecError(f"{PROVIDER}: attributes: expected {known} but got {name!r}{hint}")
    reader, what = _READERS[name], f"attributes: {name}"
    if value is None and reader is _flag:
        return (1,)
    if value is None:
        raise SpecError(f"{PROVIDER}: {what}: expected a value: attributes={{{name!r}: …}}")
    return reader(what, value)


def _wrong(what: str, expected: str, given: object) -> SpecError:
    return SpecError(f"{PROVIDER}: {what}: expected {expected} but got {given!r}")


def _flag(what: str, given: object) -> tuple[Part, ...]:
    if not isinstance(given, bool):
        raise _wrong(what, "True or False", given)
    return (1,) if given else ()


_Reader: TypeAlias = Callable[[str, object], "tuple[Part, ...]"]


def _choice(*names: str) -> _Reader:
    def read(what: str, given: object) -> tuple[Part, ...]:
        if not isinstance(given, str) or given not in names:
            raise _wrong(what, " or ".join(map(repr, names)), given)
        return (names.index(given),)

    return read


def _number(least: int, most: int) -> _Reader:
    def read(what: str, given: object) -> tuple[Part, ...]:
        return (Number(what, checked_size(f"{PROVIDER}: {what}", given, least, most), least, most),)

    return read


def _cluster(what: str, given: object) -> tuple[Part, ...]:
    most = driver.MAX_CLUSTER
    sizes = checked_sizes(f"{PROVIDER}: {what}", given, 1, (most,) * 3)
    pairs = zip("xyz", _full(sizes), strict=True)
    return tuple(Number(f"{what}.{axis}", size, 1, most) for axis, size in pairs)


def _fields(what: str, given: object, needed: Sequence[str], more: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a value that is a dict, which has those that are needed."""
    names = ", ".join([*needed, *(f"{name} (may be left out)" for name in more)])
    if not isinstance(given, Mapping):
        raise _wrong(what, f"a dict of {names}", given)
    fields = dict(cast("Mapping[str, Any]", given))
    if not set(needed) <= set(fields) <= {*needed, *more}:
        raise _wrong(what, f"a dict of {names}", fields)
    return fields


_PROPERTIES: Final = ("normal", "streaming", "persisting")


def _window(what: str, given: object) -> tuple[Part, ...]:
    needed = ("base_ptr", "num_bytes", "hit_ratio", "hit_prop", "miss_prop")
    fields = _fields(what, given, needed, ())
    ratio, where = fields["hit_ratio"], f"{what}.hit_ratio"
    if isinstance(ratio, bool) or not isinstance(ratio, (int, float)) or not 0 <= ratio <= 1:
        raise _wrong(where, "a number from 0 to 1", ratio)
    size = checked_size(f"{PROVIDER}: {what}.num_bytes", fields["num_bytes"], 0, _MOST_WIDE)
    return (
        _address(f"{what}.base_ptr", fields["base_ptr"], is_event=False),
        Number(f"{what}.num_bytes", size, 0, _MOST_WIDE, words=2),
        driver.float_bits(float(ratio)),
        *_choice(*_PROPERTIES)(f"{what}.hit_prop", fields["hit_prop"]),
        # cuda.h: "Must be either NORMAL or STREAMING".
        *_choice(*_PROPERTIES[:2])(f"{what}.miss_prop", fields["miss_prop"]),
    )


def _address(what: str, given: object, *, is_event: bool) -> Address:
    check_param(f"{PROVIDER}: {what}", given)
    return Address(what, cast("spec.Param | str", given), is_event)


def _programmatic_event(what: str, given: object) -> tuple[Part, ...]:
    more = "trigger_at_block_start"
    given = {"event": given} if isinstance(given, (str, *get_args(spec.Param))) else given
    fields = _fields(what, given, ["event"], [more])
    triggers = _flag(f"{what}.{more}", fields.get(more, False))
    # The second word has the flags of a record, of which none is allowed here.
    return (_address(f"{what}.event", fields["event"], is_event=True), 0, *(triggers or (0,)))


def _completion_event(what: str, given: object) -> tuple[Part, ...]:
    return (_address(what, given, is_event=True), 0)


def _domain_map(what: str, given: object) -> tuple[Part, ...]:
    fields = _fields(what, given, ["default", "remote"], ())
    for name in ("default", "remote"):
        number = fields[name]
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= 255:
            raise _wrong(f"{what}.{name}", "an int from 0 to 255", number)
    return (fields["default"] | fields["remote"] << 8,)


_READERS: Final[Mapping[str, _Reader]] = {
    "cooperative": _flag,
    "programmatic_stream_serialization": _flag,
    "access_policy_window": _window,
    "cluster_scheduling_policy_preference": _choice(
        "default", "spread", "load_balancing", "rubin_dsmem_locality"
    ),
    "programmatic_event": _programmatic_event,
    "priority": _number(-(2**31), 2**31 - 1),
    "mem_sync_domain_map": _domain_map,
    "mem_sync_domain": _choice("default", "remote"),
    "preferred_cluster_dimension": _cluster,
    "launch_completion_event": _completion_event,
    "preferred_shared_memory_carveout": _number(0, 100),
    "nvlink_util_centric_scheduling": _flag,
    "portable_cluster_size_mode": _choice("default", "require_portable", "allow_non_portable"),
    "shared_memory_mode": _choice(
        "default",
        "require_portable",
        "allow_non_portable",
        "allow_oversized_shared_memory",
        "prefer_oversized_shared_memory",
    ),
}
_ELSEWHERE: Final = {
    "cluster_dimension": "say it with cluster=",
    "synchronization_policy": "it is an attribute of streams; set it on the stream",
    "device_updatable_kernel_node": (
        "the driver returns a handle for it, which a wrapper has no place for; launch such a "
        "kernel with code of your own"
    ),
    "ignore": "leave it out",
}
"""Attributes of cuda.h that are said in another way, or not at all."""


# ---- what goes together


def check_preferred(
    attributes: Sequence[Attribute], grid: Sequence[object], cluster: Sequence[object] | None
) -> None:
    """Check a preferred cluster against the grid and the cluster, as far as they are ints.

    Raises:
        SpecError: there is no cluster, or the sizes do not divide each other.
    """
    preferred = find(attributes, "preferred_cluster_dimension")
    if preferred is None:
        return
    if cluster is None:
        raise SpecError(
            f"{PROVIDER}: attributes: preferred_cluster_dimension: expected cluster= as well, "
            f"since each of its sizes is a multiple of the cluster's"
        )
    parts = cast("tuple[Number, ...]", preferred.parts)
    for axis, part, size, blocks in zip("xyz", parts, _full(cluster), _full(grid), strict=True):
        wanted = part.value
        if not isinstance(wanted, int):
            continue
        if isinstance(size, int) and (wanted % size or (axis == "z" and wanted != size)):
            expected = (
                f"cluster.z, {size}," if axis == "z" else f"a multiple of cluster.{axis}, {size},"
            )
            raise SpecError(f"{PROVIDER}: {part.what}: expected {expected} but got {wanted}")
        if isinstance(blocks, int) and blocks % wanted:
            raise SpecError(
                f"{PROVIDER}: grid.{axis}: expected a multiple of the preferred cluster's, "
                f"{wanted}, but got {blocks}"
            )


def emit_preferred(
    context: CallContext,
    source: Source,
    attributes: Sequence[Attribute],
    grid: Sequence[int | Value],
    cluster: Sequence[int | Value],
) -> None:
    """Check what :func:`check_preferred` could not, as some of the sizes are computed."""
    preferred = find(attributes, "preferred_cluster_dimension")
    if preferred is None:
        return
    b = context.builder
    parts = cast("tuple[Number, ...]", preferred.parts)
    for axis, part, size, blocks in zip("xyz", parts, cluster, grid, strict=True):
        wanted = emit_size(context, source, part.what, part.value, part.least, part.most)
        pairs = (
            (part.what, wanted, f"cluster.{axis}", size, axis == "z"),
            (f"grid.{axis}", blocks, part.what, wanted, False),
        )
        for what, large, of, small, is_same in pairs:
            if isinstance(large, int) and isinstance(small, int):
                continue
            one, other = (b.i64(v) if isinstance(v, int) else v for v in (large, small))
            fits = b.eq(one, other) if is_same else b.eq(b.urem(one, other), b.i64(0))
            wanted_words = f"{of}, {{}}" if is_same else f"a multiple of {of}, {{}}"
            words = f"{what} is {{}} for kernel {shown(source.shown)}; expected {wanted_words}"
            b.check(fits, "ValueError", words, one, other)


def check_portable(attributes: Sequence[Attribute], blocks: int | None) -> None:
    """Check that a cluster that has to be portable is.

    Raises:
        SpecError: it has too many blocks.
    """
    mode = find(attributes, "portable_cluster_size_mode")
    if mode is not None and mode.parts == (1,) and (blocks or 1) > driver.MAX_PORTABLE_CLUSTER:
        raise SpecError(
            f"{PROVIDER}: attributes: portable_cluster_size_mode: expected at most "
            f"{driver.MAX_PORTABLE_CLUSTER} blocks in a cluster for 'require_portable' but got "
            f"{blocks}"
        )


def _full(sizes: Sequence[_T]) -> tuple[_T | int, ...]:
    return (*sizes, 1, 1)[:3]
