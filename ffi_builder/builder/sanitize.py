"""Makes the kernel work on copies of tensors, and checks what it has done to the copies.

:mod:`ffi_builder.plan.sanitize` describes the checks. The code around the provider's::

    %copied = llvm.call @copy_tensor(%object, %copy, %guard, %alignment, %poison)
    llvm.cond_br %copied, …, ^no_memory
    …                                                       // the provider's call
    %fine = llvm.call @check_outside(%copy)
    llvm.cond_br %fine, …, ^writes_outside
    …                                                       // the other checks
    llvm.call @give_copy_back(%object, %copy, %every)
    llvm.call @free_copy(%copy)

The functions are in ``ffi_builder/support/copies.c``. Every error frees the copies. For a list of
tensors each element is copied, and loops go through an array with a ``Copy`` of each element.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from ffi_builder import abi, spec
from ffi_builder.builder.fast_path import tensors as fast_tensors
from ffi_builder.builder.fast_path.state import ListValues, Position
from ffi_builder.builder.values import DecodedValues
from ffi_builder.errors import BuildError
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.ir.checking import call_support, run_support
from ffi_builder.packed.anys import unless
from ffi_builder.plan import Place
from ffi_builder.plan import sanitize as words
from ffi_builder.plan.sanitize import Sanitize, Watched, watched
from ffi_builder.providers.provider import Members
from ffi_builder.records import dataclass

# Offsets of the fields of a ``Copy``. ffi_builder/support/copies.c asserts them.
COPY_WORDS: Final = 20
"""The size of a ``Copy``, in i64s."""
OBJECT: Final = 0
COPIED_DATA: Final = 8
MEMORY: Final = 16
SPAN: Final = 48
MISPLACED: Final = 80
FOREIGN: Final = 88
ORIGIN: Final = 96
IS_CERTAIN: Final = 104
SALTS: Final = 16
"""The number of patterns."""
TEXT_SIZE: Final = 96
"""Bytes of the text of an index or value."""


_PAGE: Final = 4096
"""A copy has the same address as its tensor modulo this number of bytes, so it is aligned alike."""


@dataclass(frozen=True)
class _Copy:
    """A tensor and the address of its ``Copy``."""

    of: Watched
    given: Value
    """The object of the given tensor; NULL if it is absent."""
    record: Value
    index: tuple[Value, ...] = ()
    """The index of the tensor in its list."""


@dataclass(frozen=True)
class _One:
    """A parameter that is one tensor."""

    copy: _Copy

    @property
    def of(self) -> Watched:
        """The tensor, and its checks."""
        return self.copy.of

    @contextmanager
    def each(self, b: CheckingBuilder) -> Generator[_Copy]:
        """Emit the body once."""
        del b
        yield self.copy

    def free(self, b: CheckingBuilder) -> None:
        """Free the copy."""
        run_support(b, "free_copy", [self.copy.record])


@dataclass(frozen=True)
class _All:
    """A parameter that is a list of tensors."""

    of: Watched
    values: ListValues
    memory: Value
    """Stack slot with the address of one ``_RECORD`` for each element; NULL until then."""

    @contextmanager
    def each(self, b: CheckingBuilder) -> Generator[_Copy]:
        """Emit the body in a loop."""
        records = b.load(b.types.ptr, self.memory)
        with b.loop(self.values.length) as index:
            record = b.element(records, index, _RECORD)
            given = b.field(b.types.ptr, record, _GIVEN)
            yield _Copy(self.of, given, record, (index,))

    def free(self, b: CheckingBuilder) -> None:
        """Free the copies, and the memory of their records."""
        t = b.types
        records = b.load(t.ptr, self.memory)
        with b.when(b.ne(records, b.null())):
            with self.each(b) as copy:
                run_support(b, "free_copy", [copy.record])
            b.symbols.declare("free", t.void, [t.ptr])
            b.call("free", [records], t.void)


_GIVEN: Final = 8 * COPY_WORDS
_SIZE: Final = _GIVEN + 8
_RECORD: Final = f"!llvm.array<{_SIZE // 8} x i64>"
"""A ``Copy`` of an element, then the object of the given tensor."""
_CELL: Final = f"!llvm.array<{abi.ANY_SIZE // 8} x i64>"


class Copies:
    """The copies that the kernel of one wrapper works on while the wrapper is being emitted."""

    def __init__(self, context: DecodedValues, tensors: Sequence[Watched]) -> None:
        self.fast, self.b = context.fast, context.builder
        self._positions = {place.path: place.position for _, place in context.placed}
        self._tensors = [tensor for tensor in tensors if tensor.may_be_copied]
        self._copies: list[_One | _All] = []
        self._texts: list[Value] = []
        """Room for the index of an element and two values, which all errors share."""

    # ---- before the call

    def make(self) -> None:
        """Copy the tensors, and give providers the copies in place of the tensors."""
        b = self.b
        for tensor in self._tensors:
            position = self._positions[tensor.path]
            if tensor.is_list:
                memory = b.alloca(b.types.ptr)
                b.store(b.null(), memory)
                self._copies.append(_All(tensor, self.fast.tensor_list(position), memory))
                continue
            record = b.alloca(b.types.i64, COPY_WORDS)
            b.store(b.null(), b.offset(record, MEMORY))
            given = self.fast.object_at(position)
            self._copies.append(_One(_Copy(tensor, given, record)))
        if self._copies:
            self._texts = [b.alloca(b.types.i8, TEXT_SIZE) for _ in range(3)]
            self._emit_cleanup()
        for number, each in enumerate(self._copies):
            position = self._positions[each.of.path]
            if isinstance(each, _All):
                self._make_all(each, position, number)
            else:
                self._make_one(each.copy, position, b.i64(number % SALTS))

    def _make(self, copy: _Copy, salt: Value) -> None:
        b = self.b
        alignment = max(_PAGE, copy.of.tensor.data_alignment or 1)
        numbers = [b.i64(copy.of.options.guard_bytes), b.i64(alignment), salt]
        operands = [copy.given, copy.record, *numbers, b.i1(copy.of.poisoned)]
        made = call_support(b, "copy_tensor", operands)
        message, values = words.worded(words.NO_MEMORY, copy.of.path, copy.index, [])
        b.check(made, "MemoryError", message, *values)

    def _make_all(self, every: _All, position: Position, number: int) -> None:
        """Copy the elements of a list, and write the copies' addresses to the kernel's array."""
        b, t, fast, own = self.b, self.b.types, self.fast, every.values
        size = b.mul(own.length, b.i64(_SIZE))
        with b.when(b.ne(own.length, b.i64(0))):
            b.symbols.declare("malloc", t.ptr, [t.i64])
            records = b.call_value("malloc", [size], t.ptr)
            message = words.NO_MEMORY.format(path=every.of.path)
            b.check(b.ne(records, b.null()), "MemoryError", message)
            with b.loop(own.length) as index:
                b.store(b.null(), b.offset(b.element(records, index, _RECORD), MEMORY))
            b.store(records, every.memory)
        place = Place(position, every.of.path).each
        with every.each(b) as copy:
            (index,) = copy.index
            cells = b.field(t.ptr, own.object, abi.CELL_DATA)
            fast.elements[place.position] = b.element(cells, index, _CELL)
            given = fast_tensors.given_object(fast, place.position)
            b.store(given, b.offset(copy.record, _GIVEN))
            salt = b.and_(b.add(index, b.i64(number)), b.i64(SALTS - 1))
            self._make(replace(copy, given=given), salt)
            data = b.field(t.ptr, copy.record, COPIED_DATA)
            b.store(data, b.element(own.pointers, index, "i64"))

    def _make_one(self, copy: _Copy, position: Position, salt: Value) -> None:
        b, t, fast = self.b, self.b.types, self.fast
        self._make(copy, salt)
        fast.state.records[position] = replace(
            fast.tensor(position),
            object=b.field(t.ptr, copy.record, OBJECT),
            data=b.field(t.ptr, copy.record, COPIED_DATA),
        )

    def _emit_cleanup(self) -> None:
        """Make all later errors free the copies."""
        b = self.b
        here, status = b.block, b.new_block(b.types.i32, cold=True)
        b.block = status
        self.free()
        b.ret(status.arguments[0])
        b.block, b.cleanup = here, status

    # ---- after the call

    def free(self) -> None:
        """Free the copies, once returned strs, which may point into them, are stored."""
        for each in self._copies:
            each.free(self.b)

    def check(self) -> None:
        """Check the copies, and copy what the kernel wrote to the tensors."""
        b = self.b
        for each in self._copies:
            if each.of.options.guard_bytes:
                with each.each(b) as copy, b.when(self._exists(copy)):
                    self._check_outside(copy)
        for each in self._copies:
            with each.each(b) as copy, b.when(self._exists(copy)):
                self._check_elements(copy)
        for each in self._copies:
            if each.of.given_back:
                with each.each(b) as copy:
                    every = b.i1(copy.of.poisoned)
                    run_support(b, "give_copy_back", [copy.given, copy.record, every])

    def _exists(self, copy: _Copy) -> Value:
        """Return whether the tensor was copied; it was not if absent, or on another device."""
        b = self.b
        return b.ne(b.field(b.types.ptr, copy.record, MEMORY), b.null())

    def _check_outside(self, copy: _Copy) -> None:
        b, t = self.b, self.b.types
        fine = call_support(b, "check_outside", [copy.record])
        fields = (MISPLACED, FOREIGN, SPAN, ORIGIN)
        with unless(b, fine):
            found = [b.field(t.i64, copy.record, field) for field in fields]
            self._fail(copy, words.OUTSIDE, found)

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
        """Fail if the C code finds an element; show its index, and its values in these regions."""
        b, t = self.b, self.b.types
        number = call_support(b, helper, [copy.record])
        with unless(b, b.eq(number, b.i64(-1))):
            texts = self._texts[: 1 + len(regions)]
            run_support(b, "element_index", [copy.record, number, texts[0]])
            for region, text in zip(regions, texts[1:], strict=True):
                operands = [copy.record, number, b.i64(region), text]
                run_support(b, "element_value", operands)
            if helper == "unwritten_element":
                is_certain = b.ne(b.field(t.i64, copy.record, IS_CERTAIN), b.i64(0))
                with unless(b, is_certain):
                    self._fail(copy, words.possibly(message), texts)
            self._fail(copy, message, texts)

    def _fail(self, copy: _Copy, message: str, found: Sequence[Value]) -> None:
        shown, values = words.worded(message, copy.of.path, copy.index, found)
        self.b.fail(words.ERROR, shown, *values)


def tensors_to_watch(
    signature: spec.Signature, options: Sanitize, provider: Members
) -> list[Watched]:
    """Return the tensors to copy, with the checks of each.

    Raises:
        BuildError: nothing can be checked, or the kernel may keep a tensor.
    """
    tensors = watched(signature, options)
    if not any(tensor.may_be_copied for tensor in tensors):
        if options.copies or not signature.no_overlap:
            raise BuildError(
                f"sanitize: {signature.name!r} has nothing that could be checked; guard zones, "
                f"poison, inputs and NaN are for tensors on the CPU (device_type 'cpu' or 'any'), "
                f"and overlap for two tensors of which one has intent='out' or 'inout'"
            )
        return []
    if not provider.borrows_tensors:
        raise BuildError(
            f"sanitize: {provider.name} may hand over the caller's own tensors, and the "
            f"kernel has to work on copies that end with the call; a provider whose kernel sees "
            f"data, shape and strides alone has borrows_tensors = True (or set guard_bytes=0, "
            f"inputs=False, poison=False)"
        )
    return tensors
