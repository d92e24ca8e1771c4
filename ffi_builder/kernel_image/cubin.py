"""Reads a cubin: an ELF file for `EM_CUDA`.

A kernel is a function symbol with the entry bit in ``st_other``. The section ``.nv.info.<kernel>``
has its parameters and launch bounds, ``.nv.info`` its registers, ``.nv.shared.<kernel>`` its static
shared memory. ``e_flags`` has the architecture; LLVM's ELF.h defines its bits for both versions of
the ABI (7, and 8 for Blackwell and all of CUDA 13).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Final

from ffi_builder.elf import ET_REL, SHT_SYMTAB, STT_FUNC, Elf
from ffi_builder.errors import SpecError
from ffi_builder.kernel_image import attributes as nv
from ffi_builder.kernel_image.image import Image, Kernel, Parameter
from ffi_builder.view import View

EM_CUDA: Final = 190
_STO_CUDA_ENTRY: Final = 0x10
_ABI_8: Final = 8
_ACCELERATED_7, _ACCELERATED_8 = 0x800, 0x8
_RESERVED_SHARED: Final = 1024
"""Bytes at the start of a linked kernel's shared memory that the system keeps, from sm_90 on."""
_RESERVED_FROM: Final = 90
_NO_OFFSET: Final = 0xFFFF
"""The offset of texture and surface references."""
_FAMILY = re.compile(rb"-arch[ =]sm_(\d+)f\b")


def read_cubin(data: bytes) -> Image:
    """Read a cubin; see `ffi_builder.kernel_image.read_image`."""
    elf = Elf(View(data, "cubin", SpecError))
    if not elf.header.is_64_little:
        elf.view.damaged("it is not 64-bit and little-endian, as all cubins are")
    number, architecture = _architecture(elf)
    registers = _registers(elf)
    kernels: dict[str, Kernel] = {}
    table = elf.table(SHT_SYMTAB)
    names = b"" if table is None else elf.symbol_names(table)
    for index, (name_at, info, other, *_) in enumerate(elf.symbols(table) if table else ()):
        name = elf.text(names, name_at)
        if info & 15 == STT_FUNC and other & _STO_CUDA_ENTRY:
            shared = _static_shared(elf, name, number)
            kernels[name] = _kernel(elf, name, registers.get(index), shared)
    return Image("cubin", (architecture,), kernels)


def _architecture(elf: Elf) -> tuple[int, str]:
    """Return the architecture as a number, 90, and as a name, ``sm_90a``."""
    if elf.header.abi_version < _ABI_8:
        number = elf.header.flags & 0xFF
        accelerated = bool(elf.header.flags & _ACCELERATED_7)
    else:
        number = elf.header.flags >> 8 & 0xFF
        accelerated = bool(elf.header.flags & _ACCELERATED_8) or _accelerator_target(elf)
    if not number:
        elf.view.damaged(f"its flags {elf.header.flags:#x} name no architecture")
    suffix = "a" if accelerated else "f" if _for_family(elf, number) else ""
    return number, f"sm_{number}{suffix}"


def _accelerator_target(elf: Elf) -> bool:
    """Return whether a section marks the suffix ``a``: CUDA 13 does not set the flag."""
    section = elf.by_name.get(".nv.compat")
    return section is not None and any(
        attribute.number == nv.COMPAT_ACCELERATOR_TARGET and attribute.value
        for attribute in nv.attributes(elf.content(section), elf.view, elf.describe(section))
    )


def _for_family(elf: Elf, number: int) -> bool:
    """Return whether it was compiled for a family, ``sm_100f``: a note has ptxas's options."""
    section = elf.by_name.get(".note.nv.tkinfo")
    given = _FAMILY.search(elf.content(section)) if section is not None else None
    return given is not None and given[1] == str(number).encode()


def _registers(elf: Elf) -> Mapping[int, int]:
    """Return the registers of a thread, by the index of the function's symbol."""
    section = elf.by_name.get(".nv.info")
    found: dict[int, int] = {}
    if section is not None:
        for attribute in nv.attributes(elf.content(section), elf.view, elf.describe(section)):
            if attribute.number == nv.REGCOUNT:
                symbol, count = nv.words(attribute, 2, elf.view, elf.describe(section))
                found[symbol] = count
    return found


def _static_shared(elf: Elf, name: str, architecture: int) -> int:
    section = elf.by_name.get(f".nv.shared.{name}")
    if section is None:
        return 0
    # Linking adds the reserved part, so a relocatable file does not have it yet.
    reserved = architecture >= _RESERVED_FROM and elf.header.type != ET_REL
    return max(0, section.size - _RESERVED_SHARED * reserved)


def _kernel(elf: Elf, name: str, registers: int | None, shared: int) -> Kernel:
    section = elf.by_name.get(f".nv.info.{name}")
    if section is None:
        return Kernel(name, None, registers=registers, static_shared_bytes=shared)
    where = f"kernel {name!r}"
    parameters: dict[int, Parameter] = {}
    triples: dict[int, tuple[int, int, int]] = {}
    size, rank = None, None
    for attribute in nv.attributes(elf.content(section), elf.view, where):
        match attribute.number:
            case nv.KPARAM_INFO | nv.KPARAM_INFO_V2:
                ordinal, at, length = nv.parameter(attribute, elf.view, where)
                if ordinal in parameters:
                    elf.view.damaged(f"{where} has parameter {ordinal} twice")
                offset = None if at == _NO_OFFSET else at
                parameters[ordinal] = Parameter(ordinal, offset, length)
            case nv.MAX_THREADS | nv.REQNTID | nv.CTA_PER_CLUSTER:
                x, y, z = nv.words(attribute, 3, elf.view, where)
                triples[attribute.number] = (x, y, z)
            case nv.MAX_CLUSTER_RANK:
                (rank,) = nv.words(attribute, 1, elf.view, where)
            case nv.CBANK_PARAM_SIZE:
                size = attribute.value
            case _:
                pass
    block = triples.get(nv.REQNTID)
    bounds = block or triples.get(nv.MAX_THREADS)
    return Kernel(
        name,
        _ordered(parameters, size, elf.view, where),
        None if bounds is None else math.prod(bounds),
        block,
        registers,
        shared,
        triples.get(nv.CTA_PER_CLUSTER),
        rank,
    )


def _ordered(
    parameters: Mapping[int, Parameter], size: int | None, view: View, where: str
) -> tuple[Parameter, ...]:
    """Return the parameters in order, after checking that none is missing or after ``size``."""
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
