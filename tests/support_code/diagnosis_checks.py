"""Checks of the diagnosis in C, for a process whose memory a sanitizer watches.

``python -m tests.support_code.diagnosis_checks LIBRARY CHECKS`` exits with an error if one fails.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import random
import re
import struct
import sys
from collections.abc import Callable, Sequence
from ctypes import c_char_p, c_int32, c_int64, c_uint64, c_void_p
from typing import Any, Final, NamedTuple

from hypothesis import given, settings
from tvm_ffi import libinfo

from ffi_builder import abi
from ffi_builder.diagnosis.encode import encode
from ffi_builder.diagnosis.table import SLOT_SIZE, Head
from ffi_builder.plan import make_plan
from ffi_builder.spec import Signature
from tests.differential.description import Arguments
from tests.differential.memory import Memory
from tests.differential.strategies import LARGE, Case, cases
from tests.differential.tricky import CASES
from tests.malformed import drawn as malformed
from tests.oracle import Rejected, judge
from tests.steps.samples import SAMPLES
from tests.support.drawn import drawn as examples

PASSED, NO_MEMORY = -1, -2
CALLS: Final = 10
DRAWN: Final = examples(90)
"""Signatures that are drawn."""
_libc: Final = ctypes.CDLL(None)
_libc.malloc.restype = c_void_p


class Error(NamedTuple):
    kind: str
    message: str


class Encoded(NamedTuple):
    """A table, and where it has overlaps."""

    data: bytes
    overlaps: int


class Diagnosis:
    """The functions of a library, called with tables."""

    def __init__(self, library: str) -> None:
        loaded = ctypes.CDLL(library)
        self._find: Any = loaded["__ffi_builder_shared_find_0"]
        self._find.restype = c_int64
        self._find.argtypes = [
            *(c_void_p, c_int32, c_void_p, c_int32),
            *(c_void_p, ctypes.POINTER(c_char_p), c_void_p, c_int64),
        ]
        self.diagnose: Any = loaded["__ffi_builder_shared_diagnose_0"]
        self.diagnose.argtypes = [c_void_p, c_int32, c_void_p]
        self.diagnose_overlaps: Any = loaded["__ffi_builder_shared_diagnose_overlaps_0"]
        self.diagnose_overlaps.argtypes = [c_void_p, c_int32, c_void_p, c_int32]

    def find(self, table: Encoded, args: int, num_args: int, room: int = 1 << 17) -> Error | int:
        """Return the error, or the number that says why there is none."""
        data, overlaps = table
        (slots,) = struct.unpack_from("<H", data, Head.SLOTS)
        kind = c_char_p()
        # A block each, of exactly their size.
        blocks = [_libc.malloc(c_uint64(size)) for size in (len(data), 8 * slots, room)]
        given, values, message = blocks
        ctypes.memmove(given, data, len(data))
        where = ctypes.byref(kind), message, room
        size = self._find(args, num_args, given, overlaps, values, *where)
        text = ctypes.string_at(message, max(size, 0))
        for block in blocks:
            _libc.free(c_void_p(block))
        if size < 0:
            return size
        assert kind.value is not None
        return Error(kind.value.decode(), text.decode())


def table_of(signature: Signature, backtrace: str = "") -> Encoded:
    table = encode(make_plan(signature))
    return Encoded(table.named(signature.name, backtrace), table.overlaps)


# ---- calls of every kind


class Blocks(Memory):
    """Arguments of which each part lies in a block of exactly its size, which sanitizers watch."""

    def __init__(self) -> None:
        super().__init__(slots=1)

    def place(self, arguments: Arguments) -> int:
        for address, _ in self.buffers:
            _libc.free(c_void_p(address))
        return super().place(arguments)

    def _put(self, content: bytes) -> int:
        address = _libc.malloc(c_uint64(len(content)))
        ctypes.memmove(address, content, len(content))
        self._used.append((address, len(content)))
        return address


def compare(diagnosis: Diagnosis, memory: Memory, case: Case) -> None:
    """Compare with the oracle."""
    table = table_of(case.signature)
    for arguments in case.calls:
        address = memory.place(arguments)
        verdict = judge(case.signature, address, arguments.count)
        expected = PASSED
        if isinstance(verdict, Rejected):
            expected = Error(verdict.kind, verdict.message)
        found = diagnosis.find(table, address, arguments.count)
        assert found == expected, (case.signature, arguments, expected, found)


def steps(diagnosis: Diagnosis) -> None:
    """Calls in which each step of a plan fails."""
    memory = Blocks()
    for text, values in SAMPLES.values():
        signature = Signature.parse(text, device="cpu")
        compare(diagnosis, memory, Case(signature, tuple(malformed.broken(signature, values))))


def tricky(diagnosis: Diagnosis) -> None:
    """What the sanitizers say: tests/differential compares the outcomes of the same calls."""
    memory = Blocks()
    for case in CASES.values():
        table = table_of(case.signature)
        for arguments in case.calls:
            diagnosis.find(table, memory.place(arguments), arguments.count)


def drawn(diagnosis: Diagnosis) -> None:
    memory = Blocks()

    @settings(max_examples=DRAWN, database=None, deadline=None, suppress_health_check=LARGE)
    @given(cases(CALLS))
    def run(case: Case) -> None:
        compare(diagnosis, memory, case)

    run()


# ---- overlaps


_ANY: Final = struct.Struct("<qq")
_TENSOR: Final = struct.Struct("<qiiiIqqq")
_LIST: Final = struct.Struct("<qqqqqqq")


class Lists:
    """Lists of vectors of bytes as arguments; each vector is its first address and its length."""

    def __init__(self, *lists: Sequence[tuple[int, int]]) -> None:
        # Not from malloc, of which a test lets large blocks fail.
        self._memory = mmap.mmap(-1, sum(map(len, lists)) * 72 + len(lists) * 72 + 1)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._used = 0
        placed = [(abi.TypeIndex.ARRAY, self._list(vectors)) for vectors in lists]
        self._args, self._count = self._put(_ANY, placed), len(placed)

    def _put(self, layout: struct.Struct, rows: Sequence[tuple[int, ...]]) -> int:
        """Put an array, and return its address."""
        address = self._base + self._used
        for row in rows:
            layout.pack_into(self._memory, self._used, *row)
            self._used += layout.size
        return address

    def _list(self, vectors: Sequence[tuple[int, int]]) -> int:
        dtype, cpu = abi.DTYPE_CODES["int"] | 8 << 8 | 1 << 16, abi.DEVICE_TYPES["cpu"]
        shapes = self._put(struct.Struct("<q"), [(length,) for _, length in vectors])
        tensors = self._put(
            _TENSOR,
            [
                (address, cpu, 0, 1, dtype, shapes + 8 * index, 0, 0)
                for index, (address, _) in enumerate(vectors)
            ],
        )
        places = (tensors + _TENSOR.size * index for index in range(len(vectors)))
        anys = self._put(_ANY, [(abi.TypeIndex.DL_TENSOR_PTR, place) for place in places])
        count = len(vectors)
        return self._put(_LIST, [(1, abi.TypeIndex.ARRAY, 0, anys, count, count, 0)])

    def checked(self, diagnosis: Diagnosis, table: Encoded) -> Error | int:
        """Pass them as arguments."""
        return diagnosis.find(table, self._args, self._count)

    def raised(self, diagnosis: Diagnosis, table: Encoded) -> tuple[str, ...]:
        """Pass them as arguments, and return the kind, message and backtrace of the error."""
        assert diagnosis.diagnose(self._args, self._count, table.data) == -1
        return raised()

    def overlapping(self, diagnosis: Diagnosis, table: Encoded) -> Error:
        """Pass them as arguments that have passed all checks but those of memory."""
        assert diagnosis.diagnose_overlaps(self._args, self._count, *table) == -1
        kind, message, _ = raised()
        return Error(kind, message)


EACH: Final = Signature.parse(
    "f(xs: TensorList(Tensor([None], int8))) where no_overlap(xs)", device="cpu"
)
BOTH: Final = Signature.parse(
    "f(xs: TensorList(Tensor([None], int8)), ys: TensorList(Tensor([None], int8))) "
    "where no_overlap(xs, ys)",
    device="cpu",
)


def first_overlap(vectors: Sequence[tuple[str, int, int]]) -> tuple[str, str] | None:
    """Return the first vector in the order of arguments that overlaps, and with which."""
    pairs = itertools.combinations([vector for vector in vectors if vector[2]], 2)
    for (one, start, length), (other, begin, size) in pairs:
        if start < begin + size and begin < start + length:
            return one, other
    return None


def overlaps(diagnosis: Diagnosis) -> None:
    """Compare drawn lists with a model that goes through all pairs."""
    draw = random.Random(1)
    table = table_of(BOTH)
    refused = 0
    for _ in range(examples(3000)):
        span = draw.choice((8, 200, 5000))
        lists = [
            [(1000 + draw.randrange(span), draw.randrange(5)) for _ in range(draw.randrange(8))]
            for _ in range(2)
        ]
        expected = first_overlap(
            [
                (f"{name}[{index}]", *vector)
                for name, vectors in zip(("xs", "ys"), lists, strict=True)
                for index, vector in enumerate(vectors)
            ]
        )
        given = Lists(*lists)
        found = given.checked(diagnosis, table)
        assert (found == PASSED) == (expected is None), (lists, expected, found)
        if expected is not None:
            refused += 1
            assert isinstance(found, Error)
            place = re.search(r"Mismatched (\S+) .* that of (\S+) \(no_overlap\)", found.message)
            assert place is not None
            assert place.groups() == expected, (lists, expected, found)
            assert given.overlapping(diagnosis, table) == found
    assert examples(300) < refused < examples(2700)


def long_lists(diagnosis: Diagnosis) -> None:
    """Refuse lists whose pairs would take minutes to go through."""
    count = 100_000
    vectors = [(1000 + 16 * index, 16) for index in range(count)]
    random.Random(1).shuffle(vectors)
    table = table_of(EACH)
    assert Lists(vectors).checked(diagnosis, table) == PASSED
    start, _ = vectors[-2]
    found = Lists([*vectors[:-1], (start, 16)]).checked(diagnosis, table)
    assert isinstance(found, Error)
    assert f"Mismatched xs[{count - 2}] on argument #0" in found.message
    assert f"memory apart from that of xs[{count - 1}] (no_overlap)" in found.message


# ---- limits


def room(diagnosis: Diagnosis) -> None:
    """Messages end where their memory does."""
    table = table_of(Signature.parse("f(n: int32, k: int32) where k >= 3", device="cpu"))
    args = (c_int64 * 4)(abi.TypeIndex.INT, 5, abi.TypeIndex.INT, 2)
    whole = diagnosis.find(table, ctypes.addressof(args), 2)
    assert isinstance(whole, Error)
    assert whole.message.endswith("expected at least 3 (min of k) but got 2")
    (slots,) = struct.unpack_from("<H", table.data, Head.SLOTS)
    for size in range(len(whole.message) + 2):
        small = bytearray(table.data)
        struct.pack_into("<I", small, Head.FRAME, SLOT_SIZE * slots + size)
        found = diagnosis.find(table._replace(data=bytes(small)), ctypes.addressof(args), 2)
        assert found == Error(whole.kind, whole.message[:size])
        assert diagnosis.find(table, ctypes.addressof(args), 2, size) == found


def no_memory(diagnosis: Diagnosis) -> None:
    """Where malloc fails, lists are compared pair by pair, and an error says that memory lacks."""
    vectors = [(1000, 16), *((1000 + 16 * index, 16) for index in range(80_000))]
    found = Lists(vectors).checked(diagnosis, table_of(EACH))
    assert isinstance(found, Error)
    assert "memory apart from that of xs[1] (no_overlap)" in found.message
    data = bytearray(table_of(EACH, "the backtrace").data)
    struct.pack_into("<I", data, Head.FRAME, 1 << 30)
    large = Encoded(bytes(data), 0)
    assert Lists([]).checked(diagnosis, large) == NO_MEMORY
    assert Lists([]).raised(diagnosis, large) == (
        *("MemoryError", "There is no memory to say what is wrong with an argument"),
        "the backtrace",
    )


def raising(diagnosis: Diagnosis) -> None:
    """What is raised is what is found, with the table's backtrace."""
    table = table_of(Signature.parse("f(n: int32)", device="cpu"), "the backtrace")
    args = (c_int64 * 2)(abi.TypeIndex.INT, 1 << 40)
    found = diagnosis.find(table, ctypes.addressof(args), 1)
    assert isinstance(found, Error)
    assert diagnosis.diagnose(ctypes.addressof(args), 1, table.data) == -1
    assert raised() == (*found, "the backtrace")
    args[1] = 1
    assert diagnosis.find(table, ctypes.addressof(args), 1) == PASSED
    assert diagnosis.diagnose(ctypes.addressof(args), 1, table.data) == -1
    kind, message, _ = raised()
    assert kind == "RuntimeError"
    assert "an argument changed while it was being checked" in message


def raised() -> tuple[str, ...]:
    """Take the error that was raised: its kind, message and backtrace."""
    tvm_ffi = ctypes.CDLL(libinfo.find_libtvm_ffi())
    error = c_void_p()
    tvm_ffi.TVMFFIErrorMoveFromRaised(ctypes.byref(error))
    assert error.value is not None
    cell = (c_uint64 * 6).from_address(error.value + abi.OBJECT_SIZE)
    texts = tuple(ctypes.string_at(cell[at], cell[at + 1]).decode() for at in (0, 2, 4))
    tvm_ffi.TVMFFIObjectDecRef(error)
    return texts


CHECKS: Final[dict[str, Callable[[Diagnosis], None]]] = {
    check.__name__: check for check in (steps, tricky, drawn, overlaps, long_lists, room, raising)
}

if __name__ == "__main__":
    path, *names = sys.argv[1:]
    for name in names:
        {**CHECKS, "no_memory": no_memory}[name](Diagnosis(path))
