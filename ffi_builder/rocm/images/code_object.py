"""Reads an AMD code object: a shared library for `EM_AMDGPU`, linked by ``ld.lld``.

A note has what the runtime needs to launch its kernels, in MessagePack:

    amdhsa.kernels:
      - .name: saxpy
        .symbol: saxpy.kd
        .kernarg_segment_size: 280
        .max_flat_workgroup_size: 256
        .wavefront_size: 64
        .args:
          - {.name: y, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
          - {.name: n, .offset: 8, .size: 4, .value_kind: by_value}
          - {.offset: 16, .size: 4, .value_kind: hidden_block_count_x}

LLVM's "User Guide for AMDGPU Backend" defines it. The runtime fills hidden arguments.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final, cast

from ffi_builder import SpecError
from ffi_builder.cuda.images.image import Image, Kernel, Parameter
from ffi_builder.extending import dataclass, elf
from ffi_builder.rocm.images.msgpack import unpack
from ffi_builder.rocm.images.targets import target_of

_WHAT: Final = "AMD code object"
_HSA: Final = 64
_SYSTEMS: Final = {65: "AMD's PAL, of Vulkan", 66: "Mesa"}
_ABIS: Final = {2: "V4", 3: "V5", 4: "V6"}
"""The versions of code objects by that of the ABI in the header."""
_PT_NOTE: Final = 4
_NOTE: Final = struct.Struct("<III")
_OWNER: Final = b"AMDGPU\0"
_METADATA: Final = 32
_HIDDEN: Final = "hidden_"
_NUMBERS: Final = {
    "half": "f16",
    "float": "f32",
    "double": "f64",
    "char": "s8",
    "short": "s16",
    "int": "s32",
    "long": "s64",
    "uchar": "u8",
    "ushort": "u16",
    "uint": "u32",
    "ulong": "u64",
}
"""OpenCL's numbers as PTX calls them, with which launches compare what they pass."""


def read_code_object(data: bytes) -> Image:
    """Read a code object; see `ffi_builder.rocm.images.kernels`."""
    file = elf.Elf(data, _WHAT, SpecError)
    target = _target(file)
    metadata = next(_metadata(file), None)
    if metadata is None:
        file.damaged("no note of it has metadata")
    root = _fields(unpack(metadata, "metadata of the AMD code object"), "the metadata", file)
    kernels: dict[str, Kernel] = {}
    for fields in root.maps("amdhsa.kernels", "kernel"):
        if fields.text(".kind", "normal") != "normal":
            continue  # constructors and destructors, which the runtime launches
        kernel = _kernel(fields)
        if kernel.name in kernels:
            file.damaged(f"kernel {kernel.name!r} is there twice")
        kernels[kernel.name] = kernel
    return Image("code object", (target,), kernels)


def _target(file: elf.Elf) -> str:
    header = file.header
    if not header.is_64_little:
        file.damaged("it is not 64-bit and little-endian, as all code objects are")
    system = header.ident[7]
    if system != _HSA:
        name = _SYSTEMS.get(system, f"system {system}")
        raise SpecError(f"The AMD code object is for {name}, not for HIP (amdgcn-amd-amdhsa)")
    if header.abi_version not in _ABIS:
        raise SpecError(
            f"The AMD code object has version {header.abi_version} of the ABI; expected "
            f"{', '.join(f'{number} ({name})' for number, name in _ABIS.items())}: compile it with "
            f"-mcode-object-version=5"
        )
    if header.type != elf.ET_DYN:
        raise SpecError(
            "The AMD code object is not linked, so it cannot be loaded: link it with "
            "`ld.lld -shared`"
        )
    target = target_of(header.flags)
    if target is None:
        file.damaged(f"its flags {header.flags:#x} name no processor")
    return target


def _metadata(file: elf.Elf) -> Iterator[bytes]:
    """Yield the content of each note with metadata, as the runtime finds them: by segment."""
    header = file.header
    if header.segment_header_size != elf.PHDR.size:
        size = header.segment_header_size
        file.damaged(f"a program header would have {size} bytes, not {elf.PHDR.size}")
    size = header.segment_count * elf.PHDR.size
    table = file.slice(header.segments_at, size, "the program headers")
    for kind, _, offset, _, _, size, _, _ in elf.PHDR.iter_unpack(table):
        if kind == _PT_NOTE:
            yield from _notes(file, file.slice(offset, size, "a segment of notes"))


def _notes(view: elf.View, content: bytes) -> Iterator[bytes]:
    inner = elf.View(content, view.what, view.error)
    at = 0
    while at < len(content):
        name_size, size, kind = inner.unpack(_NOTE, at, "a note")
        at += _NOTE.size
        name = inner.slice(at, name_size, "the name of a note")
        at += _padded(name_size)
        descriptor = inner.slice(at, size, "the content of a note")
        at += _padded(size)
        if name == _OWNER and kind == _METADATA:
            yield descriptor


def _padded(size: int) -> int:
    return size + -size % 4


def _kernel(fields: _Fields) -> Kernel:
    name = fields.text(".name")
    fields = _Fields(fields.values, f"kernel {name!r}", fields.view)
    threads = fields.triple(".reqd_workgroup_size")
    return Kernel(
        name,
        tuple(_parameters(fields)),
        fields.number(".max_flat_workgroup_size") if threads is None else math.prod(threads),
        threads,
        fields.number(".vgpr_count", 0),
        fields.number(".group_segment_fixed_size"),
        fields.triple(".cluster_dims"),
        private_bytes=fields.number(".private_segment_fixed_size"),
        wave_size=fields.number(".wavefront_size"),
    )


def _parameters(kernel: _Fields) -> Iterator[Parameter]:
    """Yield the parameters that a launch passes, which do not overlap."""
    size = kernel.number(".kernarg_segment_size")
    taken: list[tuple[int, int]] = []
    index = 0
    for fields in kernel.maps(".args", "argument", ()):
        kind = fields.text(".value_kind")
        at, length = fields.number(".offset"), fields.number(".size")
        if at + length > size or not length:
            end = at + length
            kernel.view.damaged(f"{fields.where} would be bytes {at} to {end} of {size}")
        taken.append((at, at + length))
        if not kind.startswith(_HIDDEN):
            type_, name = fields.text(".type_name", ""), fields.text(".name", "")
            type_ = _NUMBERS.get(type_, type_)
            yield Parameter(index, at, length, type_ or None, name=name or None, kind=kind)
            index += 1
    for (_, end), (at, _) in pairwise(sorted(taken)):
        if at < end:
            kernel.view.damaged(
                f"an argument of {kernel.where} would begin in another at byte {at}"
            )


@dataclass(frozen=True)
class _Fields:
    """A map of the metadata, whose values may be anything, and its name in errors."""

    values: dict[str, Any]
    where: str
    view: elf.View

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text, or the default if there is none."""
        value = self.values.get(key, default)
        return value if isinstance(value, str) else self._wrong(key, value, "a text")

    def number(self, key: str, default: int | None = None) -> int:
        """Return a number from 0 on, or the default if there is none."""
        value = self.values.get(key, default)
        return value if _is_number(value) else self._wrong(key, value, "a number")

    def triple(self, key: str) -> tuple[int, int, int] | None:
        """Return three numbers from 1 on; None if there is no such key."""
        if key not in self.values:
            return None
        match self.values[key]:
            case [x, y, z] if all(_is_number(each) and each for each in (x, y, z)):
                return x, y, z
            case value:
                return self._wrong(key, value, "three numbers")

    def maps(self, key: str, name: str, default: object = None) -> Iterator[_Fields]:
        """Yield the maps of a list; ``name`` is that of one in errors."""
        value = self.values.get(key, default)
        if not isinstance(value, list | tuple):
            self._wrong(key, value, "a list")
        for index, each in enumerate(cast("list[Any]", value)):
            yield _fields(each, f"{name} {index} of {self.where}", self.view)

    def _wrong(self, key: str, value: object, expected: str) -> Any:
        given = "nothing" if value is None else repr(value)[:_SHOWN]
        self.view.damaged(f"{self.where} has {given} as {key}, not {expected}")


def _fields(values: object, where: str, view: elf.View) -> _Fields:
    if not isinstance(values, dict):
        view.damaged(f"{where} is {str(values)[:_SHOWN]!r}, not a map")
    return _Fields(cast("dict[str, Any]", values), where, view)


_SHOWN: Final = 60
"""The most characters of a value that an error shows."""


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
