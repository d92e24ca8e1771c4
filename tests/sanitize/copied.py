"""What the functions in C should do with copies of tensors: ``copied.py LIBRARY NAME``.

As :mod:`tests.support_code.checks`, it runs in a process of its own, and needs ctypes alone.
"""

from __future__ import annotations

import ctypes
import math
import random
import struct
import sys
from collections.abc import Callable, Sequence
from ctypes import c_int64, c_uint64
from typing import Final

from tests.support.drawn import drawn as examples
from tests.support_code.memory import (
    BOOL,
    POINTER,
    DLTensor,
    Functions,
    Tensor,
    Types,
    at,
    row_major,
)

TYPES: Final[Types] = {
    "copy_tensor": (BOOL, (POINTER, POINTER, c_int64, c_int64, c_int64, BOOL)),
    "check_outside": (BOOL, (POINTER,)),
    "changed_element": (c_int64, (POINTER,)),
    "unwritten_element": (c_int64, (POINTER,)),
    "give_copy_back": (None, (POINTER, POINTER, BOOL)),
    "free_copy": (None, (POINTER,)),
    "nan_element": (c_int64, (POINTER,)),
    "poisonous_element": (c_int64, (POINTER,)),
    "element_index": (None, (POINTER, c_int64, POINTER)),
    "element_value": (None, (POINTER, c_int64, c_int64, POINTER)),
}
FLOATS: Final = {
    ("float", 16): (2, "e", 0x7D5A, 9),
    ("bfloat", 16): (2, "f", 0x7FA5, 6),
    ("float", 32): (4, "f", 0x7FA5A5A5, 22),
    ("float", 64): (8, "d", 0x7FF4A5A5A5A5A5A5, 51),
    ("complex", 32): (2, "e", 0x7D5A, 9),
    ("complex", 64): (4, "f", 0x7FA5A5A5, 22),
    ("complex", 128): (8, "d", 0x7FF4A5A5A5A5A5A5, 51),
}
"""The bytes of a number, its format, the pattern, and the bit that makes a NaN quiet."""
NANS: Final = {
    "float8_e3m4": {*range(0x71, 0x80), *range(0xF1, 0x100)},
    "float8_e4m3": {*range(0x79, 0x80), *range(0xF9, 0x100)},
    "float8_e5m2": {*range(0x7D, 0x80), *range(0xFD, 0x100)},
    "float8_e4m3fn": {0x7F, 0xFF},
    "float8_e4m3b11fnuz": {0x80},
    "float8_e4m3fnuz": {0x80},
    "float8_e5m2fnuz": {0x80},
    "float8_e8m0fnu": {0xFF},
}
BYTES: Final = (0x1BF2489E61D73CA5).to_bytes(8, "little")
DTYPES: Final = (
    *((code, bits, 1) for code, bits in FLOATS),
    *((code, bits, 1) for code in ("int", "uint") for bits in (8, 16, 32, 64)),
    *((("float", 32, 4), ("int", 8, 3), ("bool", 8, 1), ("bool", 1, 1), ("int", 4, 1))),
    *((("float4_e2m1fn", 4, 1), ("float4_e2m1fn", 4, 2), ("float8_e5m2", 8, 1), ("int", 12, 1))),
)


class Copy(ctypes.Structure):
    _fields_ = [
        *((name, c_uint64) for name in ("object", "data", "memory", "region")),
        *((name, c_int64) for name in ("size", "step", "span")),
        ("pattern", c_uint64),
        *((name, c_int64) for name in ("width", "count", "misplaced", "foreign", "origin")),
        *(("is_certain", c_int64), ("tensor", DLTensor)),
    ]


class Copied:
    """A tensor with memory of its own, and its copy."""

    def __init__(
        self,
        c: Functions,
        shape: Sequence[int],
        strides: Sequence[int] | None,
        dtype: tuple[str, int, int],
        *,
        content: bytes | None = None,
        guard: int = 0,
        alignment: int = 64,
        salt: int = 0,
        poison: bool = False,
        byte_offset: int = 0,
    ) -> None:
        self.c, self.salt, self.guard, self.alignment = c, salt, guard, alignment
        self.tensor = Tensor(shape, strides, dtype, byte_offset=byte_offset)
        start, end = self.tensor.span()
        content = random.Random(7).randbytes(end - start) if content is None else content
        # As large as the elements, so that a sanitizer sees what is read beyond them.
        self.memory = (ctypes.c_ubyte * max(end - start, 1)).from_buffer_copy(content or b"\0")
        self.tensor.struct.data = at(self.memory) - start - byte_offset
        self.copy = Copy()
        options = (guard, alignment, salt, poison)
        assert c.copy_tensor(self.tensor, self.copy, *options)
        assert self.copy.memory

    def region(self, number: int = 0) -> bytes:
        return ctypes.string_at(self.copy.region + number * self.copy.step, self.copy.size)

    def bytes_of(self, place: int) -> bytes:
        """An element as the kernel sees it."""
        return ctypes.string_at(self.copy.data + place, self.copy.width)

    def write(self, place: int, value: bytes) -> None:
        """What a kernel does."""
        ctypes.memmove(self.copy.data + place, value, len(value))

    def given(self, place: int) -> bytes:
        """An element of the tensor that was copied."""
        return ctypes.string_at(self.tensor.address + place, self.copy.width)

    def pattern(self, start: int, size: int) -> bytes:
        """The pattern from a distance from the data on."""
        code, bits, _ = self.tensor.dtype
        if (code, bits) in FLOATS:
            size_of, _, number, _ = FLOATS[code, bits]
            repeated = (number ^ self.salt).to_bytes(size_of, "little") * (8 // size_of)
        else:
            repeated = bytes(byte ^ self.salt for byte in BYTES)
        return bytes(repeated[index % 8] for index in range(start, start + size))

    def free(self) -> None:
        self.c.free_copy(self.copy)


def drawn(c: Functions, generator: random.Random, *, poison: bool) -> Copied:
    """A copy of a tensor whose elements do not overlap, with any strides."""
    rank = generator.randrange(4)
    shape = [generator.choice((0, 1, 2, 2, 3, 4, 5)) for _ in range(rank)]
    order = generator.sample(range(rank), rank)
    strides, step = [0] * rank, 1
    for axis in order:
        strides[axis] = step * generator.choice((1, 1, -1))
        step *= max(shape[axis], 1) + generator.choice((0, 0, 1))
        if generator.random() < 0.15:
            strides[axis] = 0
    return Copied(
        c,
        shape,
        generator.choice((strides, strides, None)),
        generator.choice(DTYPES),
        guard=generator.choice((0, 8, 13, 64)),
        alignment=generator.choice((1, 64, 4096)),
        salt=generator.randrange(16),
        poison=poison,
        byte_offset=generator.choice((0, 0, 24)),
    )


def check_copies(c: Functions) -> None:
    """Copies, what a kernel writes inside and outside of them, and giving back."""
    generator = random.Random(4)
    for number in range(examples(4_000)):
        poison = number % 2 == 0
        copied = drawn(c, generator, poison=poison)
        check_fresh(copied, poison=poison)
        check_writing(c, generator, copied)
        copied.free()
    for tensor in (None, Tensor([2], data=64, device="cuda", byte_offset=4)):
        copy, one = Copy(memory=1), tensor.object if tensor else 0
        assert c.copy_tensor(one, copy, 8, 64, 0, True)
        assert (copy.object, copy.data, copy.memory) == (one, 68 if tensor else 0, 0)
        c.give_copy_back(one, copy, True)
        c.free_copy(copy)
    for stride in (2**54, -(2**54), 2**62, 2**63 - 1):
        wide = Tensor([2], [stride], data=2**62)
        assert not c.copy_tensor(wide, copy, 8, 64, 0, True)
    # From address 0 to the last one.
    whole = Tensor([2, 2], [2**62, -(2**62)], data=2**63)
    assert not c.copy_tensor(whole, copy, 8, 64, 0, True)


def check_fresh(copied: Copied, *, poison: bool) -> None:
    copy, tensor = copied.copy, copied.tensor
    start, end = tensor.span()
    guard = copied.guard
    assert (copy.span, copy.origin) == (end - start, start)
    assert (copy.size, copy.step) == (copy.span + 2 * guard, -(-copy.size // 8) * 8)
    assert copy.region + guard == copy.data + start
    assert (copy.data - tensor.address) % copied.alignment == 0
    assert copy.memory <= copy.region < copy.memory + copied.alignment
    assert copy.width == (1 if tensor.is_narrow else tensor.bits // 8)
    assert copy.count == len(tensor.places())
    assert copy.object == at(copy) + Copy.tensor.offset - 24
    assert (copy.tensor.data, copy.tensor.byte_offset) == (copy.data, 0)
    for field in ("device_type", "ndim", "code", "bits", "lanes", "shape", "strides"):
        assert getattr(copy.tensor, field) == getattr(tensor.struct, field)
    seen = bytearray(copied.pattern(start - guard, copy.size))
    if not poison:
        for place in tensor.places():
            distance = place - start + guard
            seen[distance : distance + copy.width] = copied.given(place)
    assert copied.region() == copied.region(1) == seen


def check_writing(c: Functions, generator: random.Random, copied: Copied) -> None:
    copy, tensor = copied.copy, copied.tensor
    places = tensor.places()
    assert c.check_outside(copy)
    assert c.changed_element(copy) == -1
    inside = {place + index for place in places for index in range(copy.width)}
    first = copy.region - copy.data
    outside = [at_ for at_ in range(first, first + copy.size) if at_ not in inside]
    written = generator.sample(outside, min(len(outside), generator.randrange(3)))
    before = {place: copied.given(place) for place in places}
    for at_ in written:
        copied.write(at_, bytes([copied.pattern(at_, 1)[0] ^ 1]))
    changed = sorted(generator.sample(range(len(places)), min(len(places), generator.randrange(3))))
    for index in changed:
        own = bytearray(copied.bytes_of(places[index]))
        own[generator.randrange(copy.width)] ^= 1 << generator.randrange(8)
        copied.write(places[index], bytes(own))
    region = copied.region()
    assert c.check_outside(copy) == (not written)
    if written:
        assert (copy.foreign, copy.misplaced) == (len(written), min(written))
    assert copied.region() == region
    assert c.changed_element(copy) == (changed[0] if changed else -1)
    c.give_copy_back(tensor, copy, False)
    for index, place in enumerate(places):
        wanted = copied.bytes_of(place) if index in changed else before[place]
        assert copied.given(place) == wanted
    c.give_copy_back(tensor, copy, True)
    assert all(copied.given(place) == copied.bytes_of(place) for place in places)


def check_unwritten(c: Functions) -> None:
    """Rows of elements that hold the pattern: none, possibly unwritten ones, and certain ones."""
    generator = random.Random(5)
    for _ in range(examples(3_000)):
        dtype = generator.choice(DTYPES)
        count = generator.randrange(1, 24)
        copied = Copied(c, [count], None, dtype, poison=True, salt=generator.randrange(16))
        places = copied.tensor.places()
        left = [generator.random() < 0.6 for _ in places]
        for place, is_left in zip(places, left, strict=True):
            if not is_left:
                own = copied.bytes_of(place)
                copied.write(place, bytes(byte ^ 0x80 for byte in own))
        is_alone = dtype[:2] in FLOATS or dtype[:2] == ("bool", 8)
        width = copied.copy.width
        possible, certain = (1 if is_alone else max(1, -(-n // width)) for n in (4, 8))
        found, is_certain = first_row(left, possible, certain)
        assert c.unwritten_element(copied.copy) == found, (dtype, left)
        if found >= 0:
            assert copied.copy.is_certain == is_certain
        copied.free()


def first_row(left: Sequence[bool], possible: int, certain: int) -> tuple[int, int]:
    """The first row that is long enough, and whether it is certain."""
    start = 0
    while start < len(left):
        end = start
        while end < len(left) and left[end]:
            end += 1
        if end - start >= possible:
            return start, int(end - start >= certain)
        start = end + 1
    return -1, 0


# ---- elements


def as_float(number: int, dtype: tuple[str, int]) -> float:
    size, format_, *_ = FLOATS[dtype]
    if dtype[0] == "bfloat":
        size, number = 4, number << 16
    return struct.unpack(f"<{format_}", number.to_bytes(size, "little"))[0]


def check_elements(c: Functions) -> None:
    """NaNs of every dtype, and poison, with every salt, that went through arithmetic."""
    for code, nans in NANS.items():
        for byte in range(256):
            copied = Copied(c, [2], None, (code, 8, 1), content=bytes([0x10, byte]))
            assert c.nan_element(copied.copy) == (1 if byte in nans else -1), (code, byte)
            assert c.poisonous_element(copied.copy) == -1
            copied.free()
    generator = random.Random(6)
    for dtype, (size, _, poison, quiet) in FLOATS.items():
        for _ in range(examples(700)):
            salted = poison ^ generator.randrange(16) ^ generator.choice((0, 1 << quiet))
            number = generator.choice(
                (
                    generator.getrandbits(8 * size),
                    salted ^ generator.choice((0, 1 << (8 * size - 1))),
                    poison ^ 1 << generator.randrange(4, 8 * size),
                    (1 << (8 * size - 1)) - (1 << quiet),  # a quiet NaN
                    (1 << (8 * size - 1)) - (1 << quiet + 1),  # infinity
                )
            )
            parts = dtype[1] // 8 // size
            element = [0] * 3 * parts
            element[2 * parts - 1] = number
            content = b"".join(part.to_bytes(size, "little") for part in element)
            copied = Copied(c, [3], None, (*dtype, 1), content=content)
            is_nan = math.isnan(as_float(number, dtype))
            assert c.nan_element(copied.copy) == (1 if is_nan else -1), hex(number)
            one = number & ~(1 << (8 * size - 1)) | 1 << quiet
            is_poison = any(one == (poison ^ salt) | 1 << quiet for salt in range(16))
            assert c.poisonous_element(copied.copy) == (1 if is_poison else -1), hex(number)
            copied.free()
    for dtype in (("int", 32, 1), ("bool", 8, 1), ("float4_e2m1fn", 4, 1)):
        copied = Copied(c, [4], None, dtype, poison=True)
        assert c.nan_element(copied.copy) == c.poisonous_element(copied.copy) == -1
        copied.free()


def check_shown(c: Functions) -> None:
    """Indices and values as they are written in errors."""
    generator = random.Random(8)
    for number in range(examples(3_000)):
        copied = drawn(c, generator, poison=number % 4 == 0)
        for index, place in enumerate(copied.tensor.places()):
            assert text_of(c.element_index, copied.copy, index) == index_text(copied, index)
            found = text_of(c.element_value, copied.copy, index, 0)
            assert found == value_text(copied, copied.bytes_of(place))
            before = text_of(c.element_value, copied.copy, index, 1)
            assert before == found
        copied.free()
    for shape in ([1] * 40, [2**40, *([1] * 18)], [1] * 20 + [10**6] * 3):
        tensor = Tensor(shape, dtype=("int", 8, 1))
        copy = Copy(width=1, count=math.prod(shape), tensor=tensor.struct)
        index = copy.count - 1 if copy.count > 0 else 12345
        written = text_of(c.element_index, copy, index)
        assert written == shown_index(shape, index)
        assert 64 <= len(written) < 96


def text_of(function: Callable[..., None], *operands: object) -> str:
    # As large as generated code makes it.
    text = ctypes.create_string_buffer(b"x" * 95, 96)
    function(*operands, text)
    return text.value.decode()


def index_text(copied: Copied, number: int) -> str:
    return (
        f", byte {number}" if copied.tensor.is_narrow else shown_index(copied.tensor.steps, number)
    )


def shown_index(steps: Sequence[int], number: int) -> str:
    """The index in brackets; nothing is appended to 64 characters or more."""
    text = ""
    for axis, (stride, dim) in enumerate(zip(row_major(steps), steps, strict=True)):
        for part in (", " if axis else "[", str(number // stride % dim)):
            text += part if len(text) < 64 else ""
    return text + ("]" if steps and len(text) < 64 else "")


def value_text(copied: Copied, data: bytes) -> str:
    code, bits, lanes = copied.tensor.dtype
    number = int.from_bytes(data[:8], "little")
    if lanes == 1 and bits == 8 * len(data) and code in ("int", "uint", "bool"):
        return str(int.from_bytes(data, "little", signed=code == "int"))
    if lanes == 1 and (code, bits) in FLOATS and code != "complex":
        value = as_float(number, (code, bits))
        sign = "-" if math.isnan(value) and math.copysign(1, value) < 0 else ""
        return sign + ("%.15g" if bits == 64 else "%.7g") % value
    return hex(number)


CHECKS: Final[dict[str, Callable[[Functions], None]]] = {
    "copies": check_copies,
    "unwritten": check_unwritten,
    "elements": check_elements,
    "shown": check_shown,
}

if __name__ == "__main__":
    path, name = sys.argv[1:]
    CHECKS[name](Functions(path, types=TYPES))
