"""Makes the kernel work on copies of tensors, and checks what it has done to the copies.

:mod:`ffi_builder.sanitize.options` describes the checks. The code around the provider's::

    %copied = llvm.call @copy_tensor(%object, %copy, %guard, %alignment, %poison)
    llvm.cond_br %copied, …, ^no_memory
    …                                                       // the provider's call
    %fine = llvm.call @check_outside(%copy)
    llvm.cond_br %fine, …, ^writes_outside
    …                                                       // the other checks
    llvm.call @give_copy_back(%object, %copy, %every)
    llvm.call @free_copy(%copy)

The functions are in ``support``. Every error frees the copies. For a list of tensors each element
is copied, and loops go through an array with a ``Copy`` of each element.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from ffi_builder import BuildError, spec
from ffi_builder.extending import GivenTensors, call_support, dataclass, run_support, unless
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.sanitize import words
from ffi_builder.sanitize.options import Sanitize, Watched, watched

# Offsets of the fields of a ``Copy``. sanitize/support/copies.c asserts them.
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
    length: Value
    """The number of elements, as i64."""
    memory: Value
    """Stack slot with the address of one ``_RECORD`` for each element; NULL until then."""

    @contextmanager
    def each(self, b: CheckingBuilder) -> Generator[_Copy]:
        """Emit the body in a loop."""
        records = b.load(b.types.ptr, self.memory)
        with b.loop(self.length) as index:
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


class Copies:
    """The copies that the kernel of one wrapper works on while the wrapper is being emitted."""

    def __init__(self, given: GivenTensors, tensors: Sequence[Watched]) -> None:
        self.given, self.b = given, given.builder
        self._tensors = [tensor for tensor in tensors if tensor.may_be_copied]
        self._copies: list[_One | _All] = []
        self._texts: list[Value] = []
        """Room for the index of an element and two values, which all errors share."""

    # ---- before the call

    def make(self) -> None:
        """Copy the tensors, and give providers the copies in place of the tensors."""
        b = self.b
        for tensor in self._tensors:
            if tensor.is_list:
                memory = b.alloca(b.types.ptr)
                b.store(b.null(), memory)
                self._copies.append(_All(tensor, self.given.length(tensor.path), memory))
                continue
            record = b.alloca(b.types.i64, COPY_WORDS)
            b.store(b.null(), b.offset(record, MEMORY))
            self._copies.append(_One(_Copy(tensor, self.given.object(tensor.path), record)))
        if self._copies:
            self._texts = [b.alloca(b.types.i8, TEXT_SIZE) for _ in range(3)]
            self._emit_cleanup()
        for number, each in enumerate(self._copies):
            if isinstance(each, _All):
                self._make_all(each, number)
            else:
                self._make_one(each.copy, b.i64(number % SALTS))

    def _make(self, copy: _Copy, salt: Value) -> None:
        b = self.b
        alignment = max(_PAGE, copy.of.tensor.data_alignment or 1)
        numbers = [b.i64(copy.of.options.guard_bytes), b.i64(alignment), salt]
        operands = [copy.given, copy.record, *numbers, b.i1(copy.of.poisoned)]
        made = call_support(b, "copy_tensor", operands)
        message, values = words.worded(words.NO_MEMORY, copy.of.path, copy.index, [])
        b.check(made, "MemoryError", message, *values)

    def _make_all(self, every: _All, number: int) -> None:
        """Copy the elements of a list, and write the copies' addresses to the kernel's array."""
        b, t, path = self.b, self.b.types, every.of.path
        size = b.mul(every.length, b.i64(_SIZE))
        with b.when(b.ne(every.length, b.i64(0))):
            b.symbols.declare("malloc", t.ptr, [t.i64])
            records = b.call_value("malloc", [size], t.ptr)
            message = words.NO_MEMORY.format(path=path)
            b.check(b.ne(records, b.null()), "MemoryError", message)
            with b.loop(every.length) as index:
                b.store(b.null(), b.offset(b.element(records, index, _RECORD), MEMORY))
            b.store(records, every.memory)
        with every.each(b) as copy:
            (index,) = copy.index
            given = self.given.element(path, index)
            b.store(given, b.offset(copy.record, _GIVEN))
            salt = b.and_(b.add(index, b.i64(number)), b.i64(SALTS - 1))
            self._make(replace(copy, given=given), salt)
            data = b.field(t.ptr, copy.record, COPIED_DATA)
            self.given.exchange_element(path, index, data)

    def _make_one(self, copy: _Copy, salt: Value) -> None:
        b, t = self.b, self.b.types
        self._make(copy, salt)
        object_ = b.field(t.ptr, copy.record, OBJECT)
        self.given.exchange(copy.of.path, object_, b.field(t.ptr, copy.record, COPIED_DATA))

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
            values = [b.field(t.i64, copy.record, field) for field in fields]
            self._fail(copy, words.OUTSIDE, values)

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

    def _fail(self, copy: _Copy, message: str, values: Sequence[Value]) -> None:
        shown, operands = words.worded(message, copy.of.path, copy.index, values)
        self.b.fail(words.ERROR, shown, *operands)


def copies_for(
    signature: spec.Signature, options: Sanitize, provider: str, *, borrows: bool
) -> Callable[[GivenTensors], Copies] | None:
    """Return what makes the copies for a wrapper; None if it has none.

    Args:
        signature: the signature, with what the options add.
        options: the checks.
        provider: the provider's name in errors.
        borrows: whether the kernel sees tensors during the call only.

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
        return None
    if not borrows:
        raise BuildError(
            f"sanitize: {provider} may hand over the caller's own tensors, and the "
            f"kernel has to work on copies that end with the call; a provider whose kernel sees "
            f"data, shape and strides alone has borrows_tensors = True (or set guard_bytes=0, "
            f"inputs=False, poison=False)"
        )
    return lambda given: Copies(given, tensors)
