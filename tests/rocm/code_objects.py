"""Writes code objects that have metadata and no code: which is all that a fake reads of them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

FLAGS: Final = {"gfx90a": 0x3F, "gfx942": 0x4C, "gfx950": 0x4F, "gfx1100": 0x41}
POINTER: Final = "global_buffer"


@dataclass(frozen=True)
class CodeKernel:
    """A kernel: a size for each parameter, or a pair of size and kind."""

    name: str
    parameters: Sequence[int | tuple[int, str]] = ()
    max_threads: int = 256
    block: tuple[int, int, int] | None = None
    lds: int = 0
    hidden: int = 2
    """How many hidden arguments follow."""

    def offsets(self) -> list[int]:
        """Where the parameters are: each is aligned to its size, or to 8."""
        at, found = 0, list[int]()
        for size in self.sizes():
            align = min(size & -size, 8)
            at = -(-at // align) * align
            found.append(at)
            at += size
        return found

    def sizes(self) -> list[int]:
        return [each if isinstance(each, int) else each[0] for each in self.parameters]

    def metadata(self) -> dict[str, Any]:
        kinds = ["by_value" if isinstance(each, int) else each[1] for each in self.parameters]
        arguments: list[dict[str, Any]] = [
            {".offset": offset, ".size": size, ".value_kind": kind}
            for offset, size, kind in zip(self.offsets(), self.sizes(), kinds, strict=True)
        ]
        end = max(map(sum, zip(self.offsets(), self.sizes(), strict=True)), default=0)
        hidden = [
            {".offset": -(-end // 8) * 8 + 4 * index, ".size": 4, ".value_kind": "hidden_block"}
            for index in range(self.hidden)
        ]
        facts: dict[str, Any] = {
            ".name": self.name,
            ".symbol": f"{self.name}.kd",
            ".args": arguments + hidden,
            ".kernarg_segment_size": 288,
            ".kernarg_segment_align": 8,
            ".group_segment_fixed_size": self.lds,
            ".private_segment_fixed_size": 0,
            ".max_flat_workgroup_size": self.max_threads,
            ".wavefront_size": 64,
            ".sgpr_count": 16,
            ".vgpr_count": 8,
        }
        if self.block is not None:
            facts[".reqd_workgroup_size"] = list(self.block)
        return facts


def code_object(*kernels: CodeKernel, target: str = "gfx942", flags: int = 0) -> bytes:
    """A code object; ``flags`` are the settings of the target."""
    root = {"amdhsa.kernels": [kernel.metadata() for kernel in kernels], "amdhsa.version": [1, 2]}
    content = packed(root)
    note = struct.pack("<III8s", 7, len(content), 32, b"AMDGPU\0") + content
    note += bytes(-len(note) % 4)
    ident = b"\x7fELF\x02\x01\x01\x40\x03" + bytes(7)
    header = struct.pack(
        "<HHIQQQIHHHHHH", 3, 224, 1, 0, 64, 0, FLAGS[target] | flags, 64, 56, 1, 64, 0, 0
    )
    segment = struct.pack("<IIQQQQQQ", 4, 4, 120, 0, 0, len(note), len(note), 4)
    return ident + header + segment + note


def bundle(*entries: tuple[str, bytes]) -> bytes:
    """An offload bundle that is not compressed, of pairs of target and code object."""
    names = [f"hipv4-amdgcn-amd-amdhsa--{target}".encode() for target, _ in entries]
    table, at = b"", 4096
    for name, (_, data) in zip(names, entries, strict=True):
        table += struct.pack("<QQQ", at, len(data), len(name)) + name
        at += -(-len(data) // 4096) * 4096
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries)) + table
    made = head.ljust(4096, b"\0")
    for _, data in entries:
        made += data.ljust(-(-len(data) // 4096) * 4096, b"\0")
    return made


def packed(value: Any) -> bytes:
    """MessagePack of texts, numbers, lists and dicts."""
    match value:
        case str():
            return b"\xd9" + bytes([len(value)]) + value.encode()
        case int():
            return b"\xce" + struct.pack(">I", value)
        case list():
            inner = b"".join(packed(each) for each in value)  # pyright: ignore[reportUnknownVariableType]
            return b"\xdc" + struct.pack(">H", len(value)) + inner  # pyright: ignore[reportUnknownArgumentType]
        case dict():
            inner = b"".join(packed(part) for pair in value.items() for part in pair)  # pyright: ignore[reportUnknownVariableType]
            return b"\xde" + struct.pack(">H", len(value)) + inner  # pyright: ignore[reportUnknownArgumentType]
        case _:
            raise TypeError(value)
