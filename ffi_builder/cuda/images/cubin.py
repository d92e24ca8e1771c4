"""Reads a cubin: an ELF file for `EM_CUDA`.

A kernel is a function symbol with the entry bit in ``st_other``. The section ``.nv.info.<kernel>``
has its parameters and launch bounds, ``.nv.info`` its registers, ``.nv.shared.<kernel>`` its static
shared memory. ``e_flags`` has the architecture; LLVM's ELF.h defines its bits for both versions of
the ABI (7, and 8 for Blackwell and all of CUDA 13).

The sections ``.nv.info``, ``.nv.info.<kernel>`` and ``.nv.compat`` are lists of attributes. An
attribute is a format byte, a number byte and two bytes that hold either the value, or the size of a
value that follows. NVIDIA does not document them. The names, numbers and layouts are those that
cuobjdump shows for cubins of CUDA 11.8 to 13.5.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from ffi_builder import SpecError
from ffi_builder.cuda.images.image import Image, Kernel, Parameter
from ffi_builder.extending import dataclass, elf

EM_CUDA: Final = 190
_STO_CUDA_ENTRY: Final = 0x10
_ABI_8: Final = 8
_ACCELERATED_7, _ACCELERATED_8 = 0x800, 0x8
_RESERVED_SHARED: Final = 1024
"""Bytes that the system reserves at the start of a linked kernel's shared memory, from sm_90 on."""
_RESERVED_FROM: Final = 90
_NO_OFFSET: Final = 0xFFFF
"""The offset of texture and surface references."""
_TILE: Final = "___NV_TILE_LAUNCH_META_DATA___"
"""The symbol of what the driver reads to launch tile kernels, for which there are no others."""
_FAMILY = re.compile(rb"-arch[ =]sm_(\d+)f\b")


def read_cubin(data: bytes) -> Image:
    """Read a cubin; see `ffi_builder.cuda.images.kernels`."""
    file = elf.Elf(data, "cubin", SpecError)
    if not file.header.is_64_little:
        file.damaged("it is not 64-bit and little-endian, as all cubins are")
    number, architecture = _architecture(file)
    registers = _registers(file)
    kernels: dict[str, Kernel] = {}
    has_tiles = False
    names, symbols = file.symbol_table(elf.SHT_SYMTAB)
    for index, (name_at, info, other, *_) in enumerate(symbols):
        name = file.text(names, name_at)
        has_tiles = has_tiles or name == _TILE
        if info & 15 == elf.STT_FUNC and other & _STO_CUDA_ENTRY:
            shared = _static_shared(file, name, number)
            kernels[name] = _kernel(file, name, registers.get(index), shared)
    if has_tiles:
        own: dict[str, Any] = {
            "block": (1, 1, 1),
            "max_threads": 1,
            "cluster": None,
            "static_shared_bytes": None,
        }
        kernels = {name: replace(each, tile=True, **own) for name, each in kernels.items()}
    return Image("cubin", (architecture,), kernels)


def _architecture(file: elf.Elf) -> tuple[int, str]:
    """Return the architecture as a number (90) and as a name (``sm_90a``)."""
    if file.header.abi_version < _ABI_8:
        number = file.header.flags & 0xFF
        accelerated = bool(file.header.flags & _ACCELERATED_7)
    else:
        number = file.header.flags >> 8 & 0xFF
        accelerated = bool(file.header.flags & _ACCELERATED_8) or _accelerator_target(file)
    if not number:
        file.damaged(f"its flags {file.header.flags:#x} name no architecture")
    suffix = "a" if accelerated else "f" if _for_family(file, number) else ""
    return number, f"sm_{number}{suffix}"


def _accelerator_target(file: elf.Elf) -> bool:
    """Return whether a section says that the suffix is ``a``: CUDA 13 does not set the flag."""
    return any(
        attribute.number == _Number.COMPAT_ACCELERATOR_TARGET and attribute.value
        for attribute in _attributes(file, ".nv.compat")
    )


def _for_family(file: elf.Elf, number: int) -> bool:
    """Return whether a note says that ptxas compiled it for a family, such as ``sm_100f``."""
    section = file.by_name.get(".note.nv.tkinfo")
    given = _FAMILY.search(file.content(section)) if section is not None else None
    return given is not None and given[1] == str(number).encode()


def _registers(file: elf.Elf) -> Mapping[int, int]:
    """Return the number of registers of a thread, by the index of the function's symbol."""
    counts: dict[int, int] = {}
    for attribute in _attributes(file, ".nv.info"):
        if attribute.number == _Number.REGCOUNT:
            symbol, count = _fields(attribute, _PAIR, file)
            counts[symbol] = count
    return counts


def _static_shared(file: elf.Elf, name: str, architecture: int) -> int:
    section = file.by_name.get(f".nv.shared.{name}")
    if section is None:
        return 0
    # Linking adds the reserved bytes, so a relocatable file does not have them yet.
    reserved = architecture >= _RESERVED_FROM and file.header.type != elf.ET_REL
    return max(0, section.size - _RESERVED_SHARED * reserved)


def _kernel(file: elf.Elf, name: str, registers: int | None, shared: int) -> Kernel:
    if f".nv.info.{name}" not in file.by_name:
        return Kernel(name, None, registers=registers, static_shared_bytes=shared)
    where = f"kernel {name!r}"
    parameters: dict[int, Parameter] = {}
    triples: dict[int, tuple[int, int, int]] = {}
    size, rank = None, None
    for attribute in _attributes(file, f".nv.info.{name}", where):
        match attribute.number:
            case _Number.KPARAM_INFO | _Number.KPARAM_INFO_V2:
                _, ordinal, at, packed = _fields(attribute, _KPARAM, file)
                # The low bits have the pointee's alignment, the memory space and the bank.
                is_large = attribute.number == _Number.KPARAM_INFO_V2
                length = packed & 0xFFFF if is_large else packed >> 18
                if ordinal in parameters:
                    file.damaged(f"{where} has parameter {ordinal} twice")
                offset = None if at == _NO_OFFSET else at
                parameters[ordinal] = Parameter(ordinal, offset, length)
            case _Number.MAX_THREADS | _Number.REQNTID | _Number.CTA_PER_CLUSTER:
                x, y, z = _fields(attribute, _TRIPLE, file)
                triples[attribute.number] = (x, y, z)
            case _Number.MAX_CLUSTER_RANK:
                (rank,) = _fields(attribute, _WORD, file)
            case _Number.CBANK_PARAM_SIZE:
                size = attribute.value
            case _:
                pass
    block = triples.get(_Number.REQNTID)
    bounds = block or triples.get(_Number.MAX_THREADS)
    return Kernel(
        name,
        _ordered(parameters, size, file, where),
        None if bounds is None else math.prod(bounds),
        block,
        registers,
        shared,
        triples.get(_Number.CTA_PER_CLUSTER),
        rank,
    )


def _ordered(
    parameters: Mapping[int, Parameter], size: int | None, view: elf.View, where: str
) -> tuple[Parameter, ...]:
    """Return the parameters in order, checking that none is missing or ends after ``size``."""
    ordered = tuple(parameters[ordinal] for ordinal in sorted(parameters))
    if [parameter.index for parameter in ordered] != list(range(len(ordered))):
        view.damaged(f"{where} has parameters {sorted(parameters)}, some of which are missing")
    for parameter in ordered:
        end = (parameter.offset or 0) + parameter.size
        if size is not None and end > size:
            view.damaged(
                f"parameter {parameter.index} of {where} would end at byte {end} of {size}"
            )
    if size and not ordered:
        view.damaged(f"{where} has {size} bytes of parameters, but describes none")
    return ordered


# ---- attributes


class _Number:
    """Numbers of attributes."""

    REQNTID: Final = 0x10
    MAX_THREADS: Final = 0x05
    KPARAM_INFO: Final = 0x17
    CBANK_PARAM_SIZE: Final = 0x19
    REGCOUNT: Final = 0x2F
    CTA_PER_CLUSTER: Final = 0x3D
    MAX_CLUSTER_RANK: Final = 0x3F
    KPARAM_INFO_V2: Final = 0x45
    """``KPARAM_INFO`` for a parameter larger than 16,383 bytes."""
    COMPAT_ACCELERATOR_TARGET: Final = 0x09
    """An attribute of ``.nv.compat``. It is not 0 for an architecture with the suffix ``a``."""


_HEAD = struct.Struct("<BBH")
_SIZED: Final = 4
_FORMATS: Final = frozenset({1, 2, 3, _SIZED})
_WORD, _PAIR, _TRIPLE = (struct.Struct(f"<{count}I") for count in (1, 2, 3))
_KPARAM = struct.Struct("<IHHI")


@dataclass(frozen=True)
class _Attribute:
    """One attribute: its number, the value in its head, and the bytes after the head."""

    number: int
    value: int
    content: bytes
    where: str
    """The section or kernel that it is of, for errors."""


def _attributes(file: elf.Elf, name: str, where: str = "") -> Iterator[_Attribute]:
    """Yield the attributes of a section, if there is one; ``where`` is its name in errors."""
    section = file.by_name.get(name)
    if section is None:
        return
    where, content = where or file.describe(section), file.content(section)
    inner = elf.View(content, file.what, file.error)
    at = 0
    while at < len(content):
        kind, number, value = inner.unpack(_HEAD, at, f"an attribute of {where}")
        if kind not in _FORMATS:
            file.damaged(f"an attribute of {where} is of format {kind}, which is unknown")
        at += _HEAD.size
        size = value if kind == _SIZED else 0
        own = inner.slice(at, size, f"attribute {number:#04x} of {where}")
        yield _Attribute(number, value, own, where)
        at += size


def _fields(attribute: _Attribute, layout: struct.Struct, file: elf.Elf) -> tuple[int, ...]:
    """Return the numbers in an attribute's content, which must have this layout."""
    if len(attribute.content) != layout.size:
        file.damaged(
            f"attribute {attribute.number:#04x} of {attribute.where} has "
            f"{len(attribute.content)} bytes, not {layout.size}"
        )
    return layout.unpack(attribute.content)
