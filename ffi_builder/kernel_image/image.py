"""What a kernel image has, as data: `Image`, `Kernel`, `Parameter`, and how a kernel is found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from ffi_builder.errors import SpecError
from ffi_builder.kernel_image.names import plain_name
from ffi_builder.suggest import nearest

Value = TypeVar("Value")

_MOST_NAMES = 12
"""How many kernels an error lists."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel, which the driver copies from the address it is given."""

    index: int
    """Its position, from 0."""
    offset: int | None
    """Where the assembler has put it, in bytes from the start of the parameters.

    None in PTX, which is not assembled, and in a fatbin whose code for several architectures
    differs in it: sm_90 aligns addresses and not offsets, for instance.
    """
    size: int
    """In bytes; 0 for a texture or surface reference, which is no argument of a launch."""
    type: str | None = None
    """PTX's type, such as ``f32``, ``u64`` or ``b8[128]``; None in a cubin, which has no types."""
    align: int | None = None
    """What PTX's ``.align`` says, in bytes: 64 for a CUtensorMap, for instance."""

    def __str__(self) -> str:
        return self.type or f"{self.size} byte{'' if self.size == 1 else 's'}"


@dataclass(frozen=True)
class Kernel:
    """What an image says about one kernel. None is what it does not say."""

    name: str
    """As the driver knows it: for C++ without ``extern "C"`` the mangled name."""
    parameters: tuple[Parameter, ...] | None
    max_threads: int | None = None
    """The most threads of a block, by ``__launch_bounds__``, ``.maxntid`` or ``.reqntid``."""
    block: tuple[int, int, int] | None = None
    """The block that it needs, by ``.reqntid``."""
    registers: int | None = None
    """Registers of a thread."""
    static_shared_bytes: int | None = None
    """Static shared memory of a block, without the 1 KiB that the system keeps from sm_90 on.

    Rounded up to its alignment, and not said by PTX.
    """
    cluster: tuple[int, int, int] | None = None
    """The cluster that it was compiled for, by ``__cluster_dims__`` or ``.reqnctapercluster``."""
    max_cluster_rank: int | None = None
    """The most blocks of a cluster, by the third of the ``__launch_bounds__``."""
    architectures: tuple[str, ...] = ()
    """Of a fatbin, the parts that have it: a driver looks in the one that it has chosen alone."""
    contradiction: str | None = None
    """Of a fatbin whose parts have other parameters each: what they say. It cannot be launched."""

    def __str__(self) -> str:
        if self.parameters is None:
            differ = self.contradiction
            return f"{self.name}(…)" + (f"  [its parameters differ: {differ}]" if differ else "")
        text = f"{self.name}({', '.join(str(parameter) for parameter in self.parameters)})"
        facts = [
            f"{words} {_shown(value)}"
            for words, value in (
                ("block", self.block),
                ("threads <=", self.max_threads if self.block is None else None),
                ("cluster", self.cluster),
                ("blocks of a cluster <=", self.max_cluster_rank),
                ("registers", self.registers),
                ("static shared bytes", self.static_shared_bytes or None),
            )
            if value is not None
        ]
        return f"{text}  [{'; '.join(facts)}]" if facts else text


@dataclass(frozen=True)
class Image:
    """What a cubin, a fatbin or PTX has. ``str`` of it is a list for people."""

    format: Literal["cubin", "fatbin", "ptx"]
    architectures: tuple[str, ...]
    """``sm_90a`` for code of this architecture, ``compute_90`` for PTX; each once, as they come."""
    kernels: Mapping[str, Kernel]
    """By name, in the image's order. In a fatbin what its parts agree on."""
    unread: tuple[str, ...] = ()
    """What of a fatbin could not be read, and why. Kernels may be in there that are not here."""

    def __str__(self) -> str:
        lines = [f"{self.format} for {', '.join(self.architectures) or 'nothing'}"]
        lines += [f"  {kernel}" for kernel in self.kernels.values()]
        lines += [f"  not read: {words}" for words in self.unread]
        return "\n".join(lines)


def find_kernel(image: Image, name: str) -> Kernel:
    """The kernel of that name.

    If parts of the image could not be read, a kernel that is not in the others may be in those:
    then what comes back is a `Kernel` of which nothing but its name is known.

    Raises:
        SpecError: there is none; it lists those that are there. Or parts of a fatbin disagree about
            its parameters.
        TypeError: the name is no str.
    """
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"kernel: expected a name but got {name!r} ({type(name).__name__})")
    if name in image.kernels:
        found = image.kernels[name]
        if found.contradiction is not None:
            raise SpecError(
                f"The kernel {name!r} has other parameters in each part of the fatbin, so no "
                f"launch fits all of them: {found.contradiction}. Compile all parts of one source, "
                "or give one part alone"
            )
        return found
    if image.unread:
        return Kernel(name, None)
    where = f"the {image.format} for {', '.join(image.architectures)}"
    if not image.architectures:
        raise SpecError(f"No kernel {name!r} in the {image.format}, which is empty")
    if not image.kernels:
        raise SpecError(
            f"No kernel {name!r} in {where}: it has no kernels at all. A kernel that is a static "
            "function or a template that nothing instantiates is left out by the compiler; mark it "
            '`extern "C" __global__`'
        )
    raise SpecError(
        f"No kernel {name!r} in {where}, which has {_listed(image)}{_hint(image, name)}"
    )


def merged(parts: Sequence[tuple[str, Kernel]]) -> Kernel:
    """One kernel of several architectures, with their names: what they agree on.

    What one of them does not know of its parameters the others may.
    """
    kernels = [kernel for _, kernel in parts]
    first = kernels[0]
    known = [(where, k.parameters) for where, k in parts if k.parameters is not None]
    sizes = {tuple(parameter.size for parameter in table) for _, table in known}
    # PTX says nothing of these: it is not assembled yet.
    assembled = [kernel for kernel in kernels if kernel.registers is not None] or kernels
    return Kernel(
        first.name,
        _merged_parameters([table for _, table in known]) if len(sizes) == 1 else None,
        _agreed(kernel.max_threads for kernel in kernels),
        _agreed(kernel.block for kernel in kernels),
        _agreed(kernel.registers for kernel in assembled),
        _agreed(kernel.static_shared_bytes for kernel in assembled),
        _agreed(kernel.cluster for kernel in kernels),
        _agreed(kernel.max_cluster_rank for kernel in kernels),
        tuple(dict.fromkeys(where for where, _ in parts)),
        _contradiction(known) if len(sizes) > 1 else None,
    )


def _contradiction(known: Sequence[tuple[str, tuple[Parameter, ...]]]) -> str:
    return ", ".join(
        f"{where} has ({', '.join(str(parameter) for parameter in table)})"
        for where, table in known
    )


def _merged_parameters(tables: Sequence[tuple[Parameter, ...]]) -> tuple[Parameter, ...]:
    """Of the same sizes."""
    return tuple(
        replace(
            same[0],
            offset=_agreed(each.offset for each in same if each.type is None),
            type=_agreed(each.type for each in same if each.type is not None),
            align=max((each.align for each in same if each.align is not None), default=None),
        )
        for same in zip(*tables, strict=True)
    )


def _agreed(values: Iterable[Value | None]) -> Value | None:
    """The value, if all are the same."""
    different = set(values)
    return different.pop() if len(different) == 1 else None


def _listed(image: Image) -> str:
    names = list(image.kernels)
    more = len(names) - _MOST_NAMES
    shown = ", ".join(f"'{name}'" for name in names[:_MOST_NAMES])
    return shown + (f" and {more} more" if more > 0 else "")


def _hint(image: Image, name: str) -> str:
    """That it is there by its mangled name, or what is called nearly so."""
    plain = {mangled: plain_name(mangled) for mangled in image.kernels}
    wanted = name.partition("<")[0].removeprefix("::")
    found = [
        mangled
        for mangled, words in plain.items()
        if words is not None and (words == wanted or words.rpartition("::")[2] == wanted)
    ]
    if found:
        which = " or ".join(f"'{mangled}'" for mangled in found[:_MOST_NAMES])
        return (
            f". In C++ {plain[found[0]]!r} is compiled to a mangled name: ask for {which}, or "
            'declare it `extern "C" __global__`'
        )
    near = nearest(name, [*image.kernels, *(words for words in plain.values() if words)])
    mangled = [name for name, words in plain.items() if words == near]
    if near is None:
        return ""
    return f", did you mean {mangled[0] if mangled else near!r}?"


def _shown(value: int | tuple[int, int, int]) -> str:
    return str(value) if isinstance(value, int) else " x ".join(str(each) for each in value)
