"""Lays kernel parameters out in memory, as C structs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias, Union

from ffi_builder.errors import BuildError
from ffi_builder.ir import Builder, Value
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class Aligned:
    """A value that is a struct in C (DLDevice, DLDataType), with the alignment of its members."""

    value: Value
    align: int


Tree: TypeAlias = Union[Value, Aligned, Sequence["Tree"]]
"""A value, or the members of a struct."""

_SIZES: Final = {
    **{f"i{bits}": bits // 8 for bits in (8, 16, 32, 64)},
    "i1": 1,
    "f16": 2,
    "bf16": 2,
    "f32": 4,
    "f64": 8,
}


@dataclass(frozen=True)
class Leaf:
    """A value at an offset in bytes, which is a multiple of its alignment."""

    offset: int
    value: Value
    align: int


@dataclass(frozen=True)
class Layout:
    """The values of a struct, or a single one, at their offsets. Sizes are bytes."""

    size: int
    align: int
    leaves: tuple[Leaf, ...]

    @property
    def has_padding(self) -> bool:
        """Whether some bytes belong to no value."""
        return sum(size_of(leaf.value) for leaf in self.leaves) < self.size


def size_of(value: Value) -> int:
    """Return the bytes that a number or pointer takes in memory. A bool is a byte.

    Raises:
        BuildError: if the value has another type.
    """
    text = str(value.type)
    if text.startswith("!llvm.ptr"):
        return 8
    if text not in _SIZES:
        raise BuildError(
            f"CudaLaunchCallProvider: a member of a struct is {text}; expected a number or pointer"
        )
    return _SIZES[text]


def layout(tree: Tree) -> Layout:
    """Lay a struct out as C compilers do. The alignment of a number is its size.

    Raises:
        BuildError: if a value is neither a number nor a pointer.
    """
    if not isinstance(tree, Sequence):
        value = tree.value if isinstance(tree, Aligned) else tree
        size = size_of(value)
        align = tree.align if isinstance(tree, Aligned) else size
        return Layout(size, align, (Leaf(0, value, align),))
    at, align = 0, 1
    leaves: list[Leaf] = []
    for member in tree:
        inner = layout(member)
        at = -(-at // inner.align) * inner.align
        leaves += [Leaf(at + leaf.offset, leaf.value, leaf.align) for leaf in inner.leaves]
        at, align = at + inner.size, max(align, inner.align)
    return Layout(-(-at // align) * align, align, tuple(leaves))


def in_memory(b: Builder, found: Layout, align: int) -> Value:
    """Write the values to aligned stack space, and return its address; padding is zero."""
    t = b.types
    word = t.integer(8 * min(found.align, 8))
    space = b.alloca(word, max(found.size // min(found.align, 8), 1), align=align)
    if found.has_padding:
        zero = b.zero(word)
        for at in range(0, found.size, min(found.align, 8)):
            b.store(zero, b.offset(space, at))
    for leaf in found.leaves:
        stored = b.zext(leaf.value, t.i8) if leaf.value.type == t.i1 else leaf.value
        aligned = {"alignment": t.int_attribute(64, leaf.align)}
        b.op("llvm.store", (stored, b.offset(space, leaf.offset)), attributes=aligned)
    return space
