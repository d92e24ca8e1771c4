"""Loads, stores, addresses and stack space."""

from __future__ import annotations

from ffi_builder.ir.core import Core
from ffi_builder.ir.protocols import Type, Value


class Memory(Core):
    """Operations on memory. Offsets and alignments are bytes."""

    def load(self, result: Type, pointer: Value, *, align: int | None = None) -> Value:
        """Load a value; give ``align`` only if it is less than the alignment of the type."""
        attributes = {"alignment": self.types.int_attribute(64, align)} if align else None
        return self.value("llvm.load", (pointer,), result, attributes)

    def store(self, value: Value, pointer: Value) -> None:
        """Store a value with the alignment of its type."""
        self.op("llvm.store", (value, pointer))

    def offset(self, pointer: Value, offset: int) -> Value:
        """``pointer + offset``."""
        if offset == 0:
            return pointer
        types = self.types
        return self.value("llvm.getelementptr", (pointer,), types.ptr, types.of_offset(offset))

    def element(self, pointer: Value, index: Value, element: str = "i8") -> Value:
        """Return the address of an array's element; ``element`` is the text of its type."""
        types = self.types
        return self.value(
            "llvm.getelementptr", (pointer, index), types.ptr, types.of_element(element)
        )

    def member(self, pointer: Value, struct: Type, index: int) -> Value:
        """Return the address of a member of a struct."""
        if index == 0:
            return pointer
        types = self.types
        attributes = types.of_member(types.text(struct), index)
        return self.value("llvm.getelementptr", (pointer,), types.ptr, attributes)

    def field(self, result: Type, pointer: Value, offset: int) -> Value:
        """Load a value ``offset`` bytes after a pointer."""
        return self.load(result, self.offset(pointer, offset))

    def alloca(self, type_: Type, count: int = 1, *, align: int | None = None) -> Value:
        """Reserve stack space for ``count`` values in the entry block, and so once per call."""
        here = self._ip
        self._ip = self._point.at_block_begin(self.entry)
        space = self.alloca_here(type_, self.i32(count), align=align)
        self._ip = here
        return space

    def alloca_here(self, type_: Type, count: Value, *, align: int | None = None) -> Value:
        """Reserve stack space at the cursor, for a number of values known only at run time."""
        types = self.types
        attributes = {"elem_type": types.type_attribute(types.text(type_))}
        if align:
            attributes["alignment"] = types.int_attribute(64, align)
        return self.value("llvm.alloca", (count,), types.ptr, attributes)
