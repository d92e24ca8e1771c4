"""The contents of a kernel image as data: `Image`, `Kernel` and `Parameter`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from ffi_builder import SpecError
from ffi_builder.extending import NoKernelError, dataclass, did_you_mean

Value = TypeVar("Value")

_ADDRESS = 8
_MOST_NAMES = 12
"""The most kernels that an error lists."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel.

    Example: see :class:`Kernel`.
    """

    index: int
    """Its position, from 0."""
    offset: int | None
    """Its offset from the start of the parameters, in bytes.

    None in PTX, which is not assembled, and in a fatbin if it differs between architectures (sm_90
    aligns addresses instead of offsets, for instance).
    """
    size: int
    """Its size in bytes; 0 for a texture or surface reference, which launches do not pass."""
    type: str | None = None
    """Its type in PTX, such as ``f32``, ``u64`` or ``b8[128]``; None in a cubin. In AMD's code of
    OpenCL a number has it, too, and others have OpenCL's, such as ``float*``."""
    align: int | None = None
    """The bytes of PTX's ``.align``, such as 64 for a CUtensorMap; None if it has none."""
    name: str | None = None
    """Its name, if an image for AMD GPUs has it."""
    kind: str | None = None
    """The kind of value, in words of AMD's metadata: ``by_value``, ``global_buffer``,
    ``dynamic_shared_pointer``, ``sampler`` and others. None in images for NVIDIA's GPUs."""

    @property
    def is_pointer(self) -> bool | None:
        """Whether it is the address of global memory; None if the image does not say."""
        known = self.kind is not None
        return self.kind == "global_buffer" and self.size == _ADDRESS if known else None

    def __str__(self) -> str:
        size = f"{self.size} byte{'' if self.size == 1 else 's'}"
        text = self.type or ("pointer" if self.is_pointer else size)
        return text if self.name is None else f"{self.name}: {text}"


@dataclass(frozen=True)
class Kernel:
    """One kernel of an image. A field is None if the image does not say.

    Examples:
        >>> from ffi_builder import cuda
        >>> KERNEL = '''
        ... gpu.module @kernels {
        ...   gpu.func @fill(%x: !llvm.ptr, %n: i32, %value: f32) kernel
        ...       attributes {known_block_size = array<i32: 256, 1, 1>} {
        ...     gpu.return
        ...   }
        ... }'''
        >>> fill = cuda.kernels(cuda.lower_to_ptx(KERNEL, arch="sm_90")).kernels["fill"]
        >>> [parameter.size for parameter in fill.parameters], fill.max_threads
        ([8, 4, 4], 256)
        >>> fill.registers is None  # until it is assembled
        True
    """

    name: str
    """The name that the driver knows: for C++ without ``extern "C"``, the mangled name."""
    parameters: tuple[Parameter, ...] | None
    max_threads: int | None = None
    """The most threads of a block, from ``__launch_bounds__``, ``.maxntid`` or ``.reqntid``."""
    block: tuple[int, int, int] | None = None
    """The only block size with which it can be launched, from ``.reqntid``."""
    registers: int | None = None
    """Registers of a thread."""
    static_shared_bytes: int | None = None
    """Static shared memory of a block, without the 1 KiB that the system reserves from sm_90 on.

    The size is rounded up to its alignment; None in PTX.
    """
    cluster: tuple[int, int, int] | None = None
    """The cluster size that it was compiled for: ``__cluster_dims__`` or ``.reqnctapercluster``."""
    max_cluster_rank: int | None = None
    """The most blocks of a cluster, from the third argument of ``__launch_bounds__``."""
    architectures: tuple[str, ...] = ()
    """The architectures of the entries that have it, in a fatbin or an offload bundle. The driver
    chooses one entry."""
    contradiction: str | None = None
    """The parameters of each entry, as text, if they differ.

    A kernel whose parameters differ cannot be launched.
    """
    tile: bool = False
    """Whether it is a tile kernel, as of cuTile. Its block is one thread for those who launch it:
    the driver chooses threads, cluster and shared memory."""
    private_bytes: int | None = None
    """Private memory of a thread, in images for AMD GPUs."""
    wave_size: int | None = None
    """The threads of a wave, 64 or 32, in images for AMD GPUs."""

    def __str__(self) -> str:
        if self.parameters is None:
            differ = self.contradiction
            return f"{self.name}(…)" + (f"  [its parameters differ: {differ}]" if differ else "")
        text = f"{self.name}({', '.join(str(parameter) for parameter in self.parameters)})"
        facts = [
            f"{words} {_shown(value)}"
            for words, value in (
                ("block", None if self.tile else self.block),
                ("threads <=", self.max_threads if self.block is None else None),
                ("cluster", self.cluster),
                ("blocks of a cluster <=", self.max_cluster_rank),
                ("registers", self.registers),
                ("static shared bytes", self.static_shared_bytes or None),
                ("private bytes", self.private_bytes or None),
                ("waves of", self.wave_size),
            )
            if value is not None
        ]
        facts = ["tiles", *facts] if self.tile else facts
        return f"{text}  [{'; '.join(facts)}]" if facts else text


@dataclass(frozen=True)
class Image:
    """The contents of a cubin, a fatbin or PTX, or of AMD's. ``str(image)`` is a readable list.

    Examples:
        >>> from ffi_builder import cuda
        >>> KERNEL = '''
        ... gpu.module @kernels {
        ...   gpu.func @fill(%x: !llvm.ptr, %n: i32, %value: f32) kernel
        ...       attributes {known_block_size = array<i32: 256, 1, 1>} {
        ...     gpu.return
        ...   }
        ... }'''
        >>> image = cuda.kernels(cuda.lower_to_ptx(KERNEL, arch="sm_90"))
        >>> image.format, image.architectures
        ('ptx', ('compute_90',))
        >>> print(image)
        ptx for compute_90
          fill(u64, u32, f32)  [threads <= 256]
    """

    format: Literal["cubin", "fatbin", "ptx", "code object", "offload bundle"]
    architectures: tuple[str, ...]
    """``sm_90a`` for code, ``compute_90`` for PTX, ``gfx90a:sramecc+:xnack-`` for AMD's code, with
    the settings that it needs. Each occurs once, in the image's order."""
    kernels: Mapping[str, Kernel]
    """The kernels by name, in the image's order. A fact on which entries differ is None."""
    unread: tuple[str, ...] = ()
    """The entries that could not be read, with reasons. They may have other kernels."""

    def __getitem__(self, name: str) -> Kernel:
        """Return the kernel of that name.

        A kernel that is not found may be in an entry of a fatbin that could not be read. If there
        is such an entry, the result is a `Kernel` with nothing but a name.

        Raises:
            SpecError: if there is no such kernel (the message lists the others), or if the entries
                of a fatbin disagree about its parameters.
            TypeError: if the name is not a str.

        Examples:
            >>> from ffi_builder import cuda
            >>> KERNEL = "gpu.module @k { gpu.func @fill(%x: !llvm.ptr) kernel { gpu.return } }"
            >>> image = cuda.kernels(cuda.lower_to_ptx(KERNEL, arch="sm_90"))
            >>> print(image["fill"])
            fill(u64)
            >>> image["fil"]
            Traceback (most recent call last):
            ...
            ffi_builder.errors.NoKernelError: No kernel 'fil' in the ptx for compute_90, which has
                'fill', did you mean 'fill'?
        """
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"kernel: expected a name but got {name!r} ({type(name).__name__})")
        if name in self.kernels:
            kernel = self.kernels[name]
            if kernel.contradiction is not None:
                raise SpecError(
                    f"The kernel {name!r} has different parameters in the entries of the "
                    f"{self.format}, so no launch fits all of them: {kernel.contradiction}. "
                    f"Compile all entries from one source, or pass a single entry"
                )
            return kernel
        if self.unread:
            return Kernel(name, None)
        where = f"the {self.format} for {', '.join(self.architectures)}"
        if not self.architectures:
            raise SpecError(f"No kernel {name!r} in the {self.format}, which is empty")
        if not self.kernels:
            raise SpecError(
                f"No kernel {name!r} in {where}: it has no kernels at all. A kernel that is a "
                f"static function or a template that nothing instantiates is left out by the "
                f'compiler; mark it `extern "C" __global__`'
            )
        raise NoKernelError(
            f"No kernel {name!r} in {where}, which has {_listed(self)}{_hint(self, name)}"
        )

    def __str__(self) -> str:
        lines = [f"{self.format} for {', '.join(self.architectures) or 'nothing'}"]
        lines += [f"  {kernel}" for kernel in self.kernels.values()]
        lines += [f"  not read: {words}" for words in self.unread]
        return "\n".join(lines)


def image_of_entries(
    format_: Literal["fatbin", "offload bundle"], entries: Iterable[Image], unread: Sequence[str]
) -> Image:
    """Return the image that has these entries."""
    architectures: dict[str, None] = {}
    kernels: dict[str, list[tuple[str, Kernel]]] = {}
    for entry in entries:
        architectures.update(dict.fromkeys(entry.architectures))
        for name, kernel in entry.kernels.items():
            kernels.setdefault(name, []).append((entry.architectures[0], kernel))
    by_name = {name: merged(same) for name, same in kernels.items()}
    return Image(format_, tuple(architectures), by_name, tuple(unread))


def merged(parts: Sequence[tuple[str, Kernel]]) -> Kernel:
    """Merge one kernel's descriptions from several architectures: keep what they agree on.

    Each description comes with the name of its architecture. The parameters are taken from those
    descriptions that have them.
    """
    kernels = [kernel for _, kernel in parts]
    first = kernels[0]
    known = [(where, k.parameters) for where, k in parts if k.parameters is not None]
    sizes = {tuple(parameter.size for parameter in table) for _, table in known}
    # PTX does not describe registers and shared memory, as it is not assembled yet.
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
        all(kernel.tile for kernel in kernels),
        _agreed(kernel.private_bytes for kernel in kernels),
        _agreed(kernel.wave_size for kernel in kernels),
    )


def _contradiction(known: Sequence[tuple[str, tuple[Parameter, ...]]]) -> str:
    return ", ".join(
        f"{where} has ({', '.join(str(parameter) for parameter in table)})"
        for where, table in known
    )


def _merged_parameters(tables: Sequence[tuple[Parameter, ...]]) -> tuple[Parameter, ...]:
    """Merge tables of parameters that have the same sizes."""
    return tuple(
        replace(
            same[0],
            offset=_agreed(each.offset for each in same if each.offset is not None),
            type=_agreed(each.type for each in same if each.type is not None),
            align=max((each.align for each in same if each.align is not None), default=None),
            name=_agreed(each.name for each in same),
            kind=_agreed(each.kind for each in same),
        )
        for same in zip(*tables, strict=True)
    )


def _agreed(values: Iterable[Value | None]) -> Value | None:
    """Return the common value, or None if they differ."""
    different = set(values)
    return different.pop() if len(different) == 1 else None


def _listed(image: Image) -> str:
    names = list(image.kernels)
    more = len(names) - _MOST_NAMES
    shown = ", ".join(f"'{name}'" for name in names[:_MOST_NAMES])
    return shown + (f" and {more} more" if more > 0 else "")


def _hint(image: Image, name: str) -> str:
    """Suggest the mangled name of the kernel, or a similar name."""
    plain = name.partition("<")[0].rpartition("::")[2]
    # The Itanium C++ ABI writes the length before each name: `_Z6kernelPf`, `_ZN2ns6kernelEPf`.
    coded = f"{len(plain)}{re.escape(plain)}"
    mangled = re.compile(rf"_ZL?{coded}|_ZN.*?(?<!\d){coded}[EI]")
    candidates = [repr(kernel) for kernel in image.kernels if mangled.match(kernel)]
    if not candidates:
        return did_you_mean(name, image.kernels)
    return (
        f". C++ compiles it to a mangled name: ask for {' or '.join(candidates[:_MOST_NAMES])}, or "
        'declare it `extern "C" __global__`'
    )


def _shown(value: int | tuple[int, int, int]) -> str:
    return str(value) if isinstance(value, int) else " x ".join(str(each) for each in value)
