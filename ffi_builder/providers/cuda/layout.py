"""Values as they stand in memory: structs of C, for kernel parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, Union

from ffi_builder.errors import BuildError
from ffi_builder.ir import Builder, Value

Tree: TypeAlias = Union[Value, Sequence["Tree"]]
"""A value, or a struct of such."""

_SIZES: Final = {
    **{f"i{bits}": bits // 8 for bits in (8, 16, 32, 64)},
    "i1": 1,
    "f16": 2,
    "bf16": 2,
    "f32": 4,
    "f64": 8,
}


@dataclass(frozen=True)
class Layout:
    """Values at their offsets from the beginning. All numbers are bytes."""

    size: int
    align: int
    leaves: tuple[tuple[int, Value], ...]

    @property
    def has_padding(self) -> bool:
        """Whether there are bytes that belong to no value."""
        return sum(size_of(value) for _, value in self.leaves) < self.size


def size_of(value: Value) -> int:
    """Of a number or pointer in memory; it is its alignment too. A bool is a byte.

    Raises:
        BuildError: if it is something else.
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
    """As a C compiler lays it out: each member at its natural alignment."""
    if not isinstance(tree, Sequence):
        size = size_of(tree)
        return Layout(size, size, ((0, tree),))
    at, align = 0, 1
    leaves: list[tuple[int, Value]] = []
    for member in tree:
        inner = layout(member)
        at = -(-at // inner.align) * inner.align
        leaves += [(at + offset, value) for offset, value in inner.leaves]
        at, align = at + inner.size, max(align, inner.align)
    return Layout(-(-at // align) * align, align, tuple(leaves))


def in_memory(b: Builder, found: Layout) -> Value:
    """The address of stack space with the values; padding is zero."""
    t = b.types
    word = t.integer(8 * min(found.align, 8))
    space = b.alloca(word, max(found.size // min(found.align, 8), 1), align=found.align)
    if found.has_padding:
        zero = b.zero(word)
        for at in range(0, found.size, min(found.align, 8)):
            b.store(zero, b.offset(space, at))
    for at, value in found.leaves:
        stored = b.zext(value, t.i8) if value.type == t.i1 else value
        b.store(stored, b.offset(space, at))
    return space
