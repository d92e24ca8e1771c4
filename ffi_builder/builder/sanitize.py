"""Lets the add-on ``sanitize`` emit code around the call of the kernel.

The kernel works on copies of tensors. They take the places of the tensors in the records of the
fast path, where every provider finds them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Protocol, TypeAlias

from ffi_builder import abi, addons, spec
from ffi_builder.builder.fast_path.tensors import given_object
from ffi_builder.builder.values import DecodedValues
from ffi_builder.ir import Value
from ffi_builder.plan import Place
from ffi_builder.plan.sanitize import Watching
from ffi_builder.providers.provider import Members

_CELL: Final = f"!llvm.array<{abi.ANY_SIZE // 8} x i64>"


class GivenTensors:
    """The tensors of a call by their paths in errors, and how the kernel gets others instead."""

    def __init__(self, context: DecodedValues) -> None:
        self.builder = context.builder
        self._fast = context.fast
        self._positions = {place.path: place.position for _, place in context.placed}

    def object(self, path: str) -> Value:
        """Return the object of a tensor; NULL if it is absent."""
        return self._fast.object_at(self._positions[path])

    def exchange(self, path: str, object_: Value, data: Value) -> None:
        """Let the provider find another object and address of data."""
        position, records = self._positions[path], self._fast.state.records
        records[position] = replace(self._fast.tensor(position), object=object_, data=data)

    def length(self, path: str) -> Value:
        """Return the number of tensors in a list, as i64; 0 if it is absent."""
        return self._fast.tensor_list(self._positions[path]).length

    def element(self, path: str, index: Value) -> Value:
        """Load the object of a tensor in a list."""
        b, fast, position = self.builder, self._fast, self._positions[path]
        cells = b.field(b.types.ptr, fast.tensor_list(position).object, abi.CELL_DATA)
        inner = Place(position, path).each.position
        fast.elements[inner] = b.element(cells, index, _CELL)
        return given_object(fast, inner)

    def exchange_element(self, path: str, index: Value, data: Value) -> None:
        """Let the kernel find another address of the data of a tensor in a list."""
        pointers = self._fast.tensor_list(self._positions[path]).pointers
        self.builder.store(data, self.builder.element(pointers, index, "i64"))


class AroundCall(Protocol):
    """Emits code around the provider's, for one wrapper."""

    def make(self) -> None:
        """Exchange tensors before the provider's code; every later error undoes what this did."""
        ...

    def check(self) -> None:
        """Check behind the provider's code what the kernel has done."""
        ...

    def free(self) -> None:
        """Free all memory, once the results are stored, which may point into it."""
        ...


Watch: TypeAlias = Callable[[GivenTensors], AroundCall]


def watch(signature: spec.Signature, options: Watching, provider: Members) -> Watch | None:
    """Return what is registered as ``sanitize copies`` for a wrapper; None without copies.

    Raises:
        BuildError: nothing can be checked, or the kernel may keep a tensor.
    """
    registered = addons.find("sanitize", "copies")
    return registered(signature, options, provider.name, borrows=provider.borrows_tensors)
