"""A second reader of code objects, which shares nothing with the first.

It finds the note by its section instead of its segment, and unpacks it with PyPI's msgpack.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Final

import msgpack as _untyped

from ffi_builder.cuda.images import Kernel

msgpack: Final[Any] = _untyped


def facts(data: bytes) -> dict[str, tuple[Any, ...]]:
    """What a launch needs to know of each kernel."""
    metadata = msgpack.unpackb(_note(data))
    return {kernel[".name"]: tuple(_facts(kernel)) for kernel in metadata["amdhsa.kernels"]}


def facts_read(kernel: Kernel) -> tuple[Any, ...]:
    """The same of a kernel that the first reader has read."""
    parameters = kernel.parameters or ()
    return (
        [(each.offset, each.size, each.kind, each.name) for each in parameters],
        [each.is_pointer for each in parameters],
        kernel.max_threads,
        kernel.block,
        kernel.wave_size,
        kernel.static_shared_bytes,
        kernel.private_bytes,
        kernel.registers,
    )


def _facts(kernel: dict[str, Any]) -> Iterator[Any]:
    given = [each for each in kernel[".args"] if not each[".value_kind"].startswith("hidden")]
    yield [(arg[".offset"], arg[".size"], arg[".value_kind"], arg.get(".name")) for arg in given]
    yield [arg.get(".address_space") == "global" for arg in given]
    yield kernel[".max_flat_workgroup_size"]
    block = kernel.get(".reqd_workgroup_size")
    yield None if block is None else tuple(block)
    yield kernel[".wavefront_size"]
    yield kernel[".group_segment_fixed_size"]
    yield kernel[".private_segment_fixed_size"]
    yield kernel[".vgpr_count"]


def _note(data: bytes) -> bytes:
    (sections,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    (strings,) = struct.unpack_from("<Q", data, sections + size * names + 24)
    for at in range(sections, sections + size * count, size):
        name, _, _, _, offset = struct.unpack_from("<IIQQQ", data, at)
        if data[strings + name :].startswith(b".note\0"):
            owner, length, kind = struct.unpack_from("<III", data, offset)
            assert (owner, kind) == (7, 32)
            return data[offset + 20 : offset + 20 + length]
    raise AssertionError("no section .note")
