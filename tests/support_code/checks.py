"""Compares the functions in C with what they should return: ``checks.py LIBRARY NAMES``.

It runs in a process of its own, with the library compiled for sanitizers, and needs ctypes alone.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import random
import struct
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

from ffi_builder.abi import TypeIndex as T
from tests.support.drawn import drawn as examples
from tests.support_code.memory import (
    Any_,
    Functions,
    Header,
    List,
    Tensor,
    at,
    row_major,
    whole_bytes,
    words,
)

MOST: Final = 2**64 - 1
EDGES: Final = (0, 1, 2, 3, 5, 2**31, 2**32, 2**62, 2**63 - 1)


# ---- tensors


def check_tensors(c: Functions) -> None:
    """Layouts, with dimensions and strides that may be anything."""
    generator = random.Random(1)
    for _ in range(examples(20_000)):
        rank = generator.randrange(5)
        shape = [generator.choice(EDGES[:5]) for _ in range(rank)]
        strides = generator.choice([row_major(shape), row_major(shape[::-1])[::-1]])
        if rank and generator.random() < 0.3:
            strides[generator.randrange(rank)] = generator.choice([0, -1, 7, 2**63 - 1])
        tensor = Tensor(shape, generator.choice([strides, strides, None]))
        assert c.is_empty(tensor) == (0 in shape)
        tensor.struct.data = generator.choice([0, 64])
        assert c.has_no_data(tensor) == (0 in shape and not tensor.struct.data)
        for axis, dim in enumerate(shape):
            assert c.free_stride(tensor, axis) == (dim == 1 or 0 in shape)
        assert c.column_major(tensor) == fits(tensor, row_major(shape[::-1])[::-1])
        if tensor.given_strides is not None:
            assert c.contiguous(tensor) == fits(tensor, row_major(shape))
        space = words([0] * rank)
        assert c.row_major_strides(tensor, space) == at(space)
        assert list(space)[:rank] == row_major(shape)
    for _ in range(examples(5_000)):
        shape = [generator.choice((*EDGES, -1)) for _ in range(generator.randrange(5))]
        product = 0 if 0 in shape else math.prod(shape)
        wanted = min(shape, default=1) >= 0 and product < 2**63
        assert c.numel_fits(Tensor(shape)) == wanted, shape
    check_values(c)


def fits(tensor: Tensor, wanted: Sequence[int]) -> bool:
    rows = zip(tensor.shape, tensor.strides, wanted, strict=True)
    return 0 in tensor.shape or all(dim == 1 or own == other for dim, own, other in rows)


def check_values(c: Functions) -> None:
    """Tensors as values: given, borrowed, moved, absent."""
    tensor, other = (Header(1, index, 0, 0) for index in (T.TENSOR, T.ARRAY))
    borrowed = Tensor([2])
    cases = [
        (T.TENSOR, at(tensor), at(tensor)),
        (T.TENSOR, 0, 0),
        (T.DL_TENSOR_PTR, at(borrowed.struct), borrowed.object),
        (T.DL_TENSOR_PTR, 0, 0),
        *((kind, at(other), 0) for kind in (T.NONE, T.INT, T.ARRAY)),
        (T.OBJECT_RVALUE_REF, 0, 0),
    ]
    for kind, payload, found in cases:
        assert c.tensor_object(Any_(kind, 0, payload)) == found
    for held, found in ((at(tensor), at(tensor)), (at(other), 0), (0, 0)):
        reference = ctypes.c_uint64(held)
        assert c.tensor_object(Any_(T.OBJECT_RVALUE_REF, 0, at(reference))) == found


# ---- overlap


def extent_of(tensor: Tensor | None) -> tuple[int, int] | None:
    """The first and last address of a tensor on a device of the unified address space."""
    if tensor is None or 0 in tensor.shape or tensor.device == "opencl":
        return None
    reach = [(dim - 1) * stride for dim, stride in zip(tensor.shape, tensor.strides, strict=True)]
    before, behind = (sum(r for r in reach if r * sign > 0) * sign for sign in (-1, 1))
    # Elements that int64 cannot number reach to the end of the address space.
    size_before = whole_bytes(before * tensor.bits) if before <= 2**63 else MOST
    size_behind = whole_bytes((behind + 1) * tensor.bits) if behind < 2**63 else MOST
    first, last = tensor.address - size_before, tensor.address + size_behind - 1
    return max(0, first), min(MOST, last)


def meet(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    return one is not None and other is not None and one[0] <= other[1] and other[0] <= one[1]


def drawn_tensor(generator: random.Random) -> Tensor:
    rank = generator.randrange(4)
    shape = [generator.choice((0, 1, 2, 3, 4, 5)) for _ in range(rank)]
    strides = [generator.randrange(-4, 9) for _ in range(rank)]
    if rank and generator.random() < 0.1:
        strides[0] = generator.choice((2**62, -(2**62), 2**63 - 1, -(2**63)))
        shape[0] = generator.choice((2, 3, 2**40))
    dtype = generator.choice(
        (("float", 32, 1), ("int", 8, 3), ("float4_e2m1fn", 4, 1), ("bool", 1, 1), ("int", 64, 4))
    )
    return Tensor(
        shape,
        generator.choice((strides, strides, None)) if max(shape, default=0) < 9 else strides,
        dtype,
        data=generator.choice((4096, 4096, 4100, 5000, 2**64 - 8)),
        device=generator.choice(("cpu", "cpu", "cpu", "cuda", "opencl")),
        byte_offset=generator.choice((0, 0, 4, 7)),
    )


def check_overlap(c: Functions) -> None:
    """Extents of tensors, also of those that leave the address space; tensors in lists."""
    generator = random.Random(2)
    for _ in range(examples(8_000)):
        tensors = [drawn_tensor(generator) for _ in range(2)]
        for tensor in tensors:
            ends = words([7, 7])
            assert c.extent(tensor, ends) == (extent_of(tensor) is not None)
            found = tuple(end % 2**64 for end in ends)
            assert found == (extent_of(tensor) or (MOST, 0)), (tensor.shape, tensor.strides)
        assert c.apart(*tensors) == (not meet(*map(extent_of, tensors)))
    one = drawn_tensor(generator)
    for nothing in (c.apart(0, one), c.apart(one, 0), c.list_apart(0, one)):
        assert nothing
    assert c.sort_extents(0, 0, 0) == 0
    for length in (*range(9), *(generator.randrange(300) for _ in range(examples(150)))):
        check_lists(c, generator, length)


def tensor_list(tensors: Sequence[Tensor]) -> List:
    return List([(T.DL_TENSOR_PTR, at(tensor.struct)) for tensor in tensors])


def check_lists(c: Functions, generator: random.Random, length: int) -> None:
    room = generator.choice((40, 4000, 4_000_000))
    in_order = generator.random() < 0.5  # and each behind the one before

    def draw(index: int) -> Tensor:
        start = 4096 + (16 * index if in_order else generator.randrange(room))
        return Tensor([generator.choice((0, 1, 1, 2))], None, data=start)

    tensors = [draw(index) for index in range(length)]
    others = [draw(generator.randrange(300)) for _ in range(generator.randrange(5))]
    memory: list[tuple[list[tuple[int, int]], tuple[object, int]]] = []
    for some in (tensors, others):
        own, space = tensor_list(some), words([0] * 4 * len(some))
        count = c.sort_extents(own, len(some), space)
        extents = [e for e in map(extent_of, some) if e is not None]
        found = list(zip(*[iter(list(space)[: 2 * count])] * 2, strict=True))
        assert sorted(found) == sorted(extents)
        assert [first for first, _ in found] == sorted(first for first, _ in extents)
        assert c.each_apart(space, count) == (
            not any(meet(a, b) for a, b in itertools.combinations(extents, 2))
        )
        memory.append((extents, (space, count)))
    (extents, one), (other_extents, other) = memory
    apart = not any(meet(a, b) for a in extents for b in other_extents)
    assert c.lists_apart(*one, *other) == c.lists_apart(*other, *one) == apart
    for tensor in others:
        wanted = not any(meet(extent_of(tensor), each) for each in extents)
        assert c.list_apart(tensor_list(tensors), tensor) == wanted


# ---- numbers


def nearest(value: float, fraction: int, bias: int) -> int:
    """The bits of the nearest value of a format of 16 bits, ties to even."""
    sign = 0x8000 if math.copysign(1, value) < 0 else 0
    infinity = 0x7FFF >> fraction << fraction
    if math.isnan(value):
        return sign | infinity | 1 << (fraction - 1)

    def decoded(bits: int) -> Fraction:
        exponent, rest = bits >> fraction, bits & ((1 << fraction) - 1)
        hidden = 1 << fraction if exponent else 0
        return Fraction(rest | hidden) * Fraction(2) ** (max(exponent, 1) - bias - fraction)

    low, high = 0, infinity
    if not math.isinf(value):
        exact = abs(Fraction(value))
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if decoded(middle) <= exact else (low, middle)
        # Infinity stands where the next value would be.
        below, above = exact - decoded(low), decoded(high) - exact
        high = low if below < above or (below == above and low % 2 == 0) else high
    return sign | high


def check_numbers(c: Functions) -> None:
    """BigInts of up to four words, and rounding of doubles of all kinds."""
    generator = random.Random(3)
    for count in range(5):
        for _ in range(300):
            number = [generator.choice((0, 1, -1, 2**63 - 1, -(2**63))) for _ in range(count)]
            big, found = words([1, 78, 0, count, *number]), ctypes.c_uint64(7)
            value = sum((word % 2**64) << 64 * i for i, word in enumerate(number))
            fits_ = value < 2**64 and (not count or number[-1] >= 0)
            assert c.big_uint64(big, found) == fits_
            assert found.value == value % 2**64
    for round_, fraction, bias in ((c.round_float16, 10, 15), (c.round_bfloat16, 7, 127)):
        for _ in range(examples(3_000)):
            value = drawn_double(generator, fraction, bias)
            assert round_(value) % 2**16 == nearest(value, fraction, bias), value.hex()


def drawn_double(generator: random.Random, fraction: int, bias: int) -> float:
    """A double of any bits, or one at, beside or between two values of the format."""
    if generator.random() < 0.2:
        return struct.unpack("<d", generator.randbytes(8))[0]
    exponent = generator.randrange(1020 - bias - fraction, 1030 + bias)
    upper = generator.getrandbits(fraction + 1) << (51 - fraction)
    bits = (exponent % 2047 << 52 | upper) + generator.choice((-1, 0, 0, 1))
    return struct.unpack("<d", struct.pack("<q", abs(bits)))[0] * generator.choice((1, -1))


# ---- objects


def check_objects(c: Functions) -> None:
    """Objects that were moved, sequences of ints, and types by their keys."""
    for kind in (*range(-1, 4), *range(63, 130)):
        held = Header(1, kind, 0, 0)
        reference = ctypes.c_uint64(at(held))
        moved = Any_(T.OBJECT_RVALUE_REF, 0, at(reference))
        for kinds in (0, 1, 2**63, MOST - 4, MOST, *(1 << bit for bit in range(64))):
            is_in = 64 <= kind < 128 and kinds >> (kind - 64) & 1
            wanted = kind >= 64 if kinds == MOST else is_in
            assert c.moved_object(kinds, moved) == (at(held) if wanted else 0)
        assert c.moved_object(MOST, Any_(kind, 0, at(held))) == 0
    assert c.moved_object(MOST, Any_(T.OBJECT_RVALUE_REF, 0, 0)) == 0
    nothing = ctypes.c_uint64(0)
    assert c.moved_object(MOST, Any_(T.OBJECT_RVALUE_REF, 0, at(nothing))) == 0
    check_integers(c)
    check_types(c)


def check_integers(c: Functions) -> None:
    for kind in (T.ARRAY, T.LIST):
        for cells, right in (
            ([], True),
            ([(T.INT, 5), (T.BOOL, 1)], True),
            *(([(T.INT, 5), (wrong, 0)], False) for wrong in (T.NONE, T.FLOAT, -1)),
        ):
            own = List(cells, kind)
            held = ctypes.c_uint64(own.object)
            for given in (Any_(kind, 0, own.object), Any_(T.OBJECT_RVALUE_REF, 0, at(held))):
                found = (at(own.cells) if cells else own.object) if right else 0
                assert c.integers(len(cells), given) == found
                assert c.integers(len(cells) + 1, given) == 0
    missing = words([1, T.ARRAY, 0, 0, 2, 2, 0])
    for given in (Any_(T.ARRAY, 0, 0), Any_(T.INT, 0, 2), Any_(T.ARRAY, 0, at(missing))):
        assert c.integers(2, given) == 0


def check_types(c: Functions) -> None:
    keys = [ctypes.create_string_buffer(f"support.{name}".encode()) for name in "ABC"]
    registered: list[int] = [64]
    for depth, key in enumerate(keys, 1):
        array = words([at(key), len(key) - 1])
        registered.append(_register(c)(at(array), -1, depth, 0, 1, registered[-1]))
    for number, index in enumerate(registered[1:]):
        held = Header(1, index, 0, 0)
        reference = ctypes.c_uint64(at(held))
        for given in (Any_(index, 0, at(held)), Any_(T.OBJECT_RVALUE_REF, 0, at(reference))):
            for ancestor, key in enumerate(keys):
                found = c.typed_object(given, key, len(key) - 1, 0)
                assert found == (at(held) if ancestor <= number else 0)
            assert c.typed_object(given, keys[0], len(keys[0]) - 2, 0) == 0
        # The type index of the argument is not the object's: nobody asks tvm-ffi about it.
        assert c.typed_object(Any_(10**6, 0, at(held)), keys[0], 9, 0) == 0
    shape = Header(1, 69, 0, 0)
    for static, found in ((69, at(shape)), (70, 0), (0, 0)):
        assert c.typed_object(Any_(69, 0, at(shape)), keys[0], 9, static) == found
    for given in (Any_(T.NONE, 0, 0), Any_(T.OBJECT_RVALUE_REF, 0, 0), Any_(registered[1], 0, 0)):
        assert c.typed_object(given, keys[0], 9, 0) == 0


def _register(c: Functions) -> Callable[..., int]:
    function = c.library.TVMFFITypeGetOrAllocIndex
    function.argtypes = (ctypes.c_uint64, *(ctypes.c_int32,) * 5)
    return function


# ---- texts


def check_texts(c: Functions) -> None:
    """Strs and bytes in all their forms, and choices among texts."""
    for text in (b"", b"a", b"1234567", b"longer than an Any", b"with \x00 inside"):
        data = ctypes.create_string_buffer(text)
        cell = words([1, 0, 0, at(data), len(text)])
        held = Header.from_buffer(cell)
        for binary, small, large in ((0, T.SMALL_STR, T.STR), (1, T.SMALL_BYTES, T.BYTES)):
            held.type_index = large
            reference = ctypes.c_uint64(at(held))
            given = [Any_(large, 0, at(held)), Any_(T.OBJECT_RVALUE_REF, 0, at(reference))]
            if len(text) <= 7:
                given.append(Any_(small, len(text), int.from_bytes(text, "little")))
            if binary:
                given.append(Any_(T.BYTE_ARRAY_PTR, 0, at(held) + ctypes.sizeof(Header)))
            elif 0 not in text:
                given.append(Any_(T.RAW_STR, 0, at(data)))
            for any_ in given:
                assert read(c, any_, binary) == text
                assert read(c, any_, 1 - binary) is None
            held.type_index = T.ARRAY
            assert read(c, given[1], binary) is None
            assert read(c, Any_(small, 8, 0), binary) is None
    for kind in (T.NONE, T.INT, T.RAW_STR, T.BYTE_ARRAY_PTR, T.STR, T.BYTES, T.OBJECT_RVALUE_REF):
        assert read(c, Any_(kind, 0, 0), 0) is None
        assert read(c, Any_(kind, 0, 0), 1) is None
    no_data = words([1, T.STR, 0, 0, 3])
    assert read(c, Any_(T.STR, 0, at(no_data)), 0) is None
    check_choices(c)


def read(c: Functions, any_: Any_, binary: int) -> bytes | None:
    out = words([7, 7])
    if not c.text(any_, binary, out):
        return None
    return ctypes.string_at(out[0], out[1])


def check_choices(c: Functions) -> None:
    choices = {b"none": 3, b"": -1, b"reduce": 2**63 - 1, b"redo": 0}
    entries = (struct.pack("<qq", value, len(key)) + key for key, value in choices.items())
    packed = struct.pack("<q", len(choices)) + b"".join(entries)
    table = (ctypes.c_char * len(packed))(*packed)
    for text in (*choices, b"other", b"redu", b"reducer"):
        data, found = ctypes.create_string_buffer(text), ctypes.c_int64(7)
        array = words([at(data) if text else 0, len(text)])
        assert c.choose(array, table, found) == (text in choices)
        assert found.value == choices.get(text, 7)


CHECKS: Final[dict[str, Callable[[Functions], None]]] = {
    "tensors": check_tensors,
    "overlap": check_overlap,
    "numbers": check_numbers,
    "objects": check_objects,
    "texts": check_texts,
}

if __name__ == "__main__":
    path, *names = sys.argv[1:]
    for name in names:
        CHECKS[name](Functions(path))
