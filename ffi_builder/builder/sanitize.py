"""Lets the kernel work on copies of tensors, and checks what it has done to them.

:mod:`ffi_builder.plan.sanitize` says what is checked. Around the provider's code, this is emitted::

    %copied = llvm.call @copy_tensor(%object, %copy, %guard, %alignment, %poison)
    llvm.cond_br %copied, …, ^no_memory
    …                                                       // the provider's call
    %fine = llvm.call @check_outside(%copy)
    llvm.cond_br %fine, …, ^writes_outside
    …                                                       // the other checks
    llvm.call @give_copy_back(%object, %copy, %every)
    llvm.call @free_copy(%copy)

The helpers are in :mod:`ffi_builder.builder.helpers.copies`. Every error frees the copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ffi_builder import spec
from ffi_builder.builder.fast_path.context import FastPath
from ffi_builder.builder.fast_path.state import Position
from ffi_builder.builder.helpers import call_shared, run_shared
from ffi_builder.builder.helpers import copies as layout
from ffi_builder.builder.helpers.elements import TEXT_SIZE
from ffi_builder.builder.values import DecodedValues
from ffi_builder.errors import BuildError
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.packed.anys import unless
from ffi_builder.plan import sanitize as words
from ffi_builder.plan.sanitize import Sanitize, Watched, watched
from ffi_builder.providers.provider import CallProvider, Members
from ffi_builder.records import dataclass

_PAGE: Final = 4096
"""A copy lies as far behind a multiple of this as the tensor, in bytes: it is aligned alike."""


@dataclass(frozen=True)
class _Copy:
    """A tensor and the address of its ``Copy``."""

    of: Watched
    given: Value
    """The object of the tensor that came; NULL if it is absent."""
    record: Value


class Copies:
    """The copies that the kernel of one wrapper works on while the wrapper is being emitted."""

    def __init__(
        self, fast: FastPath, b: CheckingBuilder, decoded: DecodedValues, tensors: Sequence[Watched]
    ) -> None:
        self.fast, self.b = fast, b
        self._positions = {place.path: place.position for _, place in decoded.places}
        self._tensors = [tensor for tensor in tensors if tensor.may_be_copied]
        self._copies: list[_Copy] = []
        self._texts: list[Value] = []
        """Room for the index of an element and two values, which all errors share."""

    # ---- before the call

    def make(self) -> None:
        """Copy the tensors, and let providers find the copies in their place."""
        b = self.b
        for tensor in self._tensors:
            record = b.alloca(b.types.i64, layout.COPY_WORDS)
            b.store(b.null(), b.offset(record, layout.MEMORY))
            given = self.fast.object_at(self._positions[tensor.path])
            self._copies.append(_Copy(tensor, given, record))
        if self._copies:
            self._texts = [b.alloca(b.types.i8, TEXT_SIZE) for _ in range(3)]
            self._emit_cleanup()
        for number, copy in enumerate(self._copies):
            self._make(copy, self._positions[copy.of.path], number % layout.SALTS)

    def _make(self, copy: _Copy, position: Position, salt: int) -> None:
        b, t, fast = self.b, self.b.types, self.fast
        alignment = max(_PAGE, copy.of.tensor.data_alignment or 1)
        numbers = [b.i64(n) for n in (copy.of.options.guard_bytes, alignment, salt)]
        operands = [copy.given, copy.record, *numbers, b.i1(copy.of.poisoned)]
        made = call_shared(b, "copy_tensor", operands, t.i1)
        b.check(made, "MemoryError", words.NO_MEMORY.format(path=copy.of.path))
        fast.state.records[position] = replace(
            fast.tensor(position),
            object=b.field(t.ptr, copy.record, layout.OBJECT),
            data=b.field(t.ptr, copy.record, layout.COPIED_DATA),
        )

    def _emit_cleanup(self) -> None:
        """Let all later errors free the copies."""
        b = self.b
        here, status = b.block, b.new_block(b.types.i32, cold=True)
        b.block = status
        self.free()
        b.ret(status.arguments[0])
        b.block, b.cleanup = here, status

    # ---- after the call

    def free(self) -> None:
        """Free the copies. Strs that are returned may be in them until they are stored."""
        for copy in self._copies:
            run_shared(self.b, "free_copy", [copy.record])

    def check(self) -> None:
        """Check the copies, and write to the tensors what the kernel wrote."""
        for copy in self._copies:
            if copy.of.options.guard_bytes:
                with self.b.when(self._exists(copy)):
                    self._check_outside(copy)
        for copy in self._copies:
            with self.b.when(self._exists(copy)):
                self._check_elements(copy)
        for copy in self._copies:
            if copy.of.given_back:
                every = self.b.i1(copy.of.poisoned)
                run_shared(self.b, "give_copy_back", [copy.given, copy.record, every])

    def _exists(self, copy: _Copy) -> Value:
        """Return whether the tensor was copied: it may be absent, or on another device."""
        b = self.b
        return b.ne(b.field(b.types.ptr, copy.record, layout.MEMORY), b.null())

    def _check_outside(self, copy: _Copy) -> None:
        b, t = self.b, self.b.types
        fine = call_shared(b, "check_outside", [copy.record], t.i1)
        fields = (layout.MISPLACED, layout.FOREIGN, layout.SPAN, layout.ORIGIN)
        with unless(b, fine):
            found = [b.field(t.i64, copy.record, field) for field in fields]
            b.fail(words.ERROR, words.OUTSIDE.format(path=copy.of.path), *found)

    def _check_elements(self, copy: _Copy) -> None:
        if copy.of.must_not_change:
            self._check(copy, "changed_element", words.CHANGED, [1, 0])
        if copy.of.must_be_written:
            message = words.UNWRITTEN_RESULT if copy.of.is_result else words.UNWRITTEN
            self._check(copy, "unwritten_element", message, [0])
        if copy.of.must_not_be_computed_from_poison:
            self._check(copy, "poisonous_element", words.COMPUTED, [])
        if copy.of.must_not_be_nan:
            self._check(copy, "nan_element", words.NAN, [])

    def _check(self, copy: _Copy, helper: str, message: str, regions: Sequence[int]) -> None:
        """Fail if a helper finds an element; show its index, and its values in these regions."""
        b, t = self.b, self.b.types
        number = call_shared(b, helper, [copy.record], t.i64)
        with unless(b, b.eq(number, b.i64(-1))):
            texts = self._texts[: 1 + len(regions)]
            run_shared(b, "element_index", [copy.record, number, texts[0]])
            for region, text in zip(regions, texts[1:], strict=True):
                operands = [copy.record, number, b.i64(region), text]
                run_shared(b, "element_value", operands)
            b.fail(words.ERROR, message.format(path=copy.of.path), *texts)


def tensors_to_watch(
    signature: spec.Signature, options: Sanitize | None, provider: CallProvider
) -> list[Watched]:
    """Return the tensors that are to be copied, and what is checked of each.

    Raises:
        BuildError: nothing can be checked, or the kernel may keep a tensor.
    """
    if options is None:
        return []
    tensors = watched(signature, options)
    if not any(tensor.may_be_copied for tensor in tensors):
        if options.copies or not signature.no_overlap:
            raise BuildError(
                f"sanitize: {signature.name!r} has nothing that could be checked; guard zones, "
                f"poison, inputs and NaN are for tensors on the CPU (device_type 'cpu' or 'any'), "
                f"and overlap for two tensors of which one has intent='out' or 'inout'"
            )
        return []
    if not Members(provider).borrows_tensors:
        raise BuildError(
            f"sanitize: {type(provider).__name__} may hand over the caller's own tensors, and the "
            f"kernel has to work on copies that end with the call; a provider whose kernel sees "
            f"data, shape and strides alone has borrows_tensors = True (or set guard_bytes=0, "
            f"inputs=False, poison=False)"
        )
    return tensors
