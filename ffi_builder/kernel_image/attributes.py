"""The attributes of ``.nv.info``, ``.nv.info.<kernel>`` and ``.nv.compat`` sections.

Each is a format byte, a number byte and two bytes that are either the value, or the size of a value
that follows. NVIDIA does not document them. The names, numbers and layouts are those that cuobjdump
shows for cubins of CUDA 11.8 to 13.5.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from ffi_builder.records import dataclass
from ffi_builder.view import View

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
"""An attribute of ``.nv.compat``: not 0 for an architecture with the suffix ``a``."""

_HEAD = struct.Struct("<BBH")
_SIZED: Final = 4
_FORMATS: Final = frozenset({1, 2, 3, _SIZED})
_WORD = struct.Struct("<I")
_KPARAM = struct.Struct("<IHHI")


@dataclass(frozen=True)
class Attribute:
    """One attribute: its number, the value in its head, and the bytes after the head."""

    number: int
    value: int
    content: bytes


def attributes(content: bytes, view: View, where: str) -> Iterator[Attribute]:
    """Yield the attributes of a section; ``where`` is its name in errors."""
    inner = View(content, view.what, view.error)
    at = 0
    while at < len(content):
        kind, number, value = inner.unpack(_HEAD, at, f"an attribute of {where}")
        if kind not in _FORMATS:
            view.damaged(f"an attribute of {where} is of format {kind}, which is unknown")
        at += _HEAD.size
        size = value if kind == _SIZED else 0
        yield Attribute(number, value, inner.slice(at, size, f"attribute {number:#04x} of {where}"))
        at += size


def words(attribute: Attribute, count: int, view: View, where: str) -> tuple[int, ...]:
    """Return the content, which must be this many 32-bit numbers."""
    if len(attribute.content) != count * _WORD.size:
        view.damaged(
            f"attribute {attribute.number:#04x} of {where} has {len(attribute.content)} bytes, "
            f"not {count * _WORD.size}"
        )
    return tuple(word for (word,) in _WORD.iter_unpack(attribute.content))


def parameter(attribute: Attribute, view: View, where: str) -> tuple[int, int, int]:
    """Return the ordinal, offset and size in a ``KPARAM_INFO``."""
    if len(attribute.content) != _KPARAM.size:
        view.damaged(
            f"a parameter of {where} is described by {len(attribute.content)} bytes, "
            f"not {_KPARAM.size}"
        )
    _, ordinal, offset, packed = _KPARAM.unpack(attribute.content)
    # The low bits have the pointee's alignment, the memory space and the bank.
    size = packed & 0xFFFF if attribute.number == KPARAM_INFO_V2 else packed >> 18
    return ordinal, offset, size
