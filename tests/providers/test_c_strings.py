"""Strs and bytes by their parts: the address, the length as any integer, a text that ends in NUL."""

from __future__ import annotations

import ctypes
import resource
import struct

import pytest

from ffi_builder.abi import TypeIndex
from ffi_builder.errors import SpecError
from ffi_builder.providers import (
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    Variant,
    VariantsCallProvider,
)
from ffi_builder.spec import Bytes, Field, Optional, String, Tensor, Var, dims
from tests.differential.description import NONE, Plain, Value, array, of_int
from tests.providers.arriving import packed, recorded
from tests.support.raw import byte_array, bytes_, char_pointer, moved, object_, small, str_
from tests.support.recording import Recording
from tests.support.wrapping import refused, wrap_raw

POINTER = "!llvm.ptr"
S, B = String("s"), Bytes("s")
EQUAL = """
llvm.func @strlen(!llvm.ptr) -> i64
llvm.func @read(%s: !llvm.ptr, %data: !llvm.ptr, %out: !llvm.ptr) {
  %n = llvm.call @strlen(%s) : (!llvm.ptr) -> i64
  %same = llvm.icmp "eq" %s, %data : !llvm.ptr
  %wide = llvm.zext %same : i1 to i64
  %next = llvm.getelementptr %out[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %n, %out : i64, !llvm.ptr
  llvm.store %wide, %next : i64, !llvm.ptr
  llvm.return
}"""
"""Writes the length of a text in C, and whether it is where the bytes of the argument are."""
OUT = Var("out", "handle")


def read(
    param: String | Bytes | Optional, *given: Value
) -> list[tuple[str, str] | tuple[int, int]]:
    """Return for each argument the error, or the length in C and whether nothing was copied."""
    out = (ctypes.c_int64 * 2)()
    provider = DirectCallProvider("read", args=["s.c_str", "s.data", "out"])
    call = wrap_raw([param, OUT], provider, EQUAL)
    address = Plain(TypeIndex.OPAQUE_PTR, ctypes.addressof(out))
    return [call(each, address) or (out[0], out[1]) for each in given]


LONG = b"a text of more than seven bytes"


def test_a_text_is_copied_unless_its_kind_promises_a_nul() -> None:
    """A str of tvm-ffi has a NUL behind it, which another maker of one may have left out."""
    near = [small(b"abc"), small(b""), small(b"seven b"), char_pointer(LONG), str_(LONG + b"\0")]
    near[-1] = _shorter(near[-1])
    assert read(S, *near) == [(3, 1), (0, 1), (7, 1), (len(LONG), 1), (len(LONG), 1)]
    assert read(S, moved(str_(LONG)), _unterminated()) == [(len(LONG), 0), (3, 0)]
    assert read(B, byte_array(LONG), byte_array(b"")) == [(len(LONG), 0), (0, 0)]
    of_bytes = [small(b"abc", TypeIndex.SMALL_BYTES), _shorter(bytes_(LONG + b"\0"))]
    assert read(B, *of_bytes) == [(3, 1), (len(LONG), 1)]


def _shorter(text: Plain) -> Plain:
    """Return a str or bytes without its last byte, which is still there."""
    pointer, length = struct.unpack("<2Q", ctypes.string_at(text.payload + 24, 16))
    return object_(text.type_index, pointer, length - 1)


def _unterminated() -> Plain:
    """Return a small str behind which there is no NUL."""
    return small(b"abcxyzw", length=3)


def test_a_nul_inside() -> None:
    words = "s has a NUL at byte 2, where its text would end in C when calling: `f("
    for param, given in ((S, small(b"ab\0c")), (B, byte_array(b"ab\0")), (S, str_(b"ab\0" + LONG))):
        [error] = read(param, given)
        assert error[0] == "ValueError"
        assert str(error[1]).startswith(words)


def test_an_absent_text_is_null() -> None:
    args = ["s.c_str", "s.data", Field(Optional(B), "length", "uint8"), "s.present"]
    provider = DirectCallProvider("callee", args=args)
    call, recording = recorded([Optional(B)], "ptr ptr i8 i1", provider)
    assert call(NONE) is None
    assert recording.values == [0, 0, 0, 0]
    assert call(byte_array(b"ab")) is None
    text, data, *rest = recording.values
    assert rest == [2, 1]
    assert text != data


@pytest.mark.parametrize("make", [DirectCallProvider, MemRefCallProvider])
@pytest.mark.parametrize(
    ("dtype", "type_", "most"),
    [("int8", "i8", 127), ("uint8", "i8", 255), ("uint16", "i16", 2**16 - 1)],
)
def test_a_length_of_another_type(
    make: type[DirectCallProvider], dtype: str, type_: str, most: int
) -> None:
    provider = make("callee", args=[Field(B, "length", dtype), "s.data"])
    call, recording = recorded([B], [type_, "ptr"], provider)
    size = int(type_[1:]) // 8
    for length in (0, most):
        assert call(byte_array(b"x" * length)) is None
        assert recording.unsigned(0, size) == length
    error = call(byte_array(b"x" * (most + 1)))
    assert error is not None
    low = -most - 1 if dtype == "int8" else 0
    words = f"s.length is {most + 1}, which does not fit {dtype} ({low} to {most}) when calling: "
    assert error[1].startswith(words)


def test_parts_in_a_struct_and_by_pack() -> None:
    provider = DynamicParamPackCallProvider("ffib_test_pack", args=["cfg.name.length", "cfg.k"])
    call = packed("cfg: Struct(name: String, k: int8)", provider)
    assert call("q b", array(small(b"abc"), of_int(7))) == [(3,), (7,)]


def test_the_text_of_a_variant() -> None:
    """What one variant copies is freed behind it, whichever is called."""
    recordings = [Recording(name, [POINTER]) for name in ("first", "second")]
    n = Var("n", "int64")
    provider = VariantsCallProvider(
        [
            Variant(DirectCallProvider("first", args=["s.c_str"]), when=n > 3),
            Variant(DirectCallProvider("second", args=["s.c_str"])),
        ]
    )
    call = wrap_raw([n, B], provider, "\n".join(each.text for each in recordings))
    for at, number in enumerate((5, 1)):
        assert call(of_int(number), byte_array(b"abc")) is None
        assert recordings[at].unsigned(0) != 0


def test_copies_are_freed() -> None:
    args = ["s.c_str", Field(Bytes("t"), "length", "uint8")]
    provider = DirectCallProvider("callee", args=args)
    call, recording = recorded([B, Bytes("t")], "ptr i8", provider)
    large, right, wrong = byte_array(b"x" * 2**20), byte_array(b"y"), byte_array(b"y" * 256)
    assert call(large, right) is None
    assert recording.values[1] == 1
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(200):
        assert call(large, right) is None
        error = call(large, wrong)  # behind the copy
        assert error is not None
        assert error[1].startswith("t.length is 256")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


X = Tensor("x", [*dims("n")], "float32", device_type="cpu")


@pytest.mark.parametrize(
    ("param", "part", "dtype", "words"),
    [
        (
            S,
            "size",
            "int64",
            "String 's': part: expected one of data, length, c_str but got 'size'",
        ),
        (S, "length", "float32", "String 's': dtype: expected one of int8"),
        (S, "data", "int32", "dtype: only a length is passed as another integer, but the part is"),
        (X, "ndim", "int64_t", "dtype: expected one of int8"),
    ],
)
def test_fields_that_cannot_be(param: String | Tensor, part: str, dtype: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        Field(param, part, dtype)


def test_a_misspelt_part() -> None:
    said = refused("f(s: String)", DirectCallProvider("f", args=["s.c_st"]))
    assert "the parts of s, a String, are " in said
    assert said.endswith("did you mean 'c_str'?")
