"""Strs and bytes for functions in C: pointers, lengths of any integer type, and texts with a NUL."""

from __future__ import annotations

import ctypes
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffi_builder import BuildError, wrap
from ffi_builder.providers import DirectCallProvider
from tests.runtime.samples import c_object, needs_cc
from tests.wrapping.libraries import needs_header

pytest.importorskip("clang.native")
pytestmark = needs_cc

SOURCE = """
#include <string.h>
int64_t size(const char *s) { return s ? (int64_t)strlen(s) : -1; }
int64_t count(const char *s, unsigned char n) {
  int64_t found = 0;
  for (int at = 0; at < n; at++) found += s[at] == 'a';
  return found;
}
int64_t reverse(signed char n, const void *s) { return n ? ((const char *)s)[n - 1] : -1; }
int64_t both(const char *first, const void *second, int n) {
  return 1000 * strlen(first) + n + (n ? ((const char *)second)[0] : 0);
}
void mark(char *s) { s[0] = 'x'; }
void take(const int *s) { }
"""


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return c_object(tmp_path_factory.mktemp("texts"), SOURCE)


COUNT = "int64_t count(const char *s, unsigned char n)"
BOTH = "int64_t both(const char *first, const void *second, int n)"


@pytest.mark.parametrize(
    ("args", "prototype"),
    [
        (["s"], COUNT),
        ({"n": "s.length"}, COUNT),
        (["s.data", "s.length"], COUNT),
        (None, "int64_t count(const char *, unsigned char)"),
    ],
)
def test_a_length_of_a_byte(args: Any, prototype: str, code: bytes) -> None:
    count = wrap(code, "count(s: Bytes) -> r: int64", prototype=prototype, args=args)
    assert [count(text) for text in (b"", b"banana", b"a" * 255)] == [0, 3, 255]
    with pytest.raises(ValueError, match=r"s\.length is 256, which does not fit uint8 \(0 to 255"):
        count(b"a" * 256)


def test_a_length_alone_and_in_another_order(code: bytes) -> None:
    prototype = "int64_t reverse(signed char n, const void *s)"
    reverse = wrap(
        code, "reverse(s: Bytes) -> r: int64", prototype=prototype, args={"n": "s.length"}
    )
    assert [reverse(b""), reverse(b"abc")] == [-1, ord("c")]
    with pytest.raises(ValueError, match=r"does not fit int8 \(-128 to 127\)"):
        reverse(b"a" * 128)
    options: dict[str, Any] = {"prototype": prototype, "args": ["s.length", None]}
    assert wrap(code, "reverse(s: String) -> r: int64", **options)("") == -1


def test_text_that_ends_in_a_nul(code: bytes) -> None:
    for prototype in ("int64_t size(const char *s)", "int64_t size(const char *)"):
        size = wrap(code, "size(s: String) -> r: int64", prototype=prototype)
        assert [size(text) for text in ("", "abc", "\u00e9" * 100)] == [0, 3, 200]
        with pytest.raises(ValueError, match="s has a NUL at byte 1, where its text would end in"):
            size("a\0bc")
    absent = wrap(code, "size(s: Optional(Bytes)) -> r: int64", prototype=prototype)
    assert [absent(None), absent(b"ab")] == [-1, 2]
    provider = DirectCallProvider("size", args=["s.c_str"])
    assert wrap(code, "size(s: Bytes) -> r: int64", provider=provider)(b"four") == 4


def test_one_with_its_length_and_one_without(code: bytes) -> None:
    signature = "both(first: String, second: Bytes) -> r: int64"
    both = wrap(code, signature, prototype=BOTH, args={"n": "second.length"})
    assert [both("ab", b""), both("ab", b"\0\0")] == [2000, 2002]
    nested = "both(two: Struct(first: String, second: Bytes)) -> r: int64"
    args = ["two.first.c_str", "two.second"]
    for given in (args, ["two.first", "two.second.data", "two.second.length"]):
        assert wrap(code, nested, prototype=BOTH, args=given)(("ab", b"a")) == 2000 + 1 + ord("a")


@pytest.mark.parametrize(
    ("signature", "prototype", "args", "words"),
    [
        (
            *("count(s: String) -> r: int64", COUNT, None),
            r"has parameters that the signature lacks: n; .*'s\.data' and 's\.length' are its bytes",
        ),
        (
            *("count(s: String) -> r: int64", COUNT, {}),
            r"neither the signature nor args= has: n; .* 's\.c_str' is text that ends in a NUL",
        ),
        (
            *("reverse(s: String, n: int8) -> r: int64",),
            *("int64_t reverse(signed char n, const void *s)", None),
            r"s is a const pointer, and nothing says where the bytes of 's' end: .*'s\.c_str' if th",
        ),
        (
            *("both(a: String, b: String) -> r: int64",),
            *("int64_t both(const char *, const char *, int)", None),
            r"3 parameters .* but 4 are passed .*; of a, 'a\.c_str' is text that ends in a NUL",
        ),
        ("mark(s: String)", "void mark(char *s)", None, "to which the kernel may write, but 's.c"),
        ("take(s: String)", "void take(const int *s)", None, "but 's.c_str' is passed as the addr"),
        (
            *("count(s: String) -> r: int64", "int64_t count(const char *s, double n)", ["s"]),
            "parameter n is float64, but 's.length' is passed as the number of bytes",
        ),
        (
            *("count(s: String) -> r: int64", "int64_t count(long s, long n)", ["s"]),
            "parameter s is int64, but 's' is passed as the address of bytes",
        ),
    ],
)
def test_mistakes(signature: str, prototype: str, args: Any, words: str, code: bytes) -> None:
    with pytest.raises(BuildError, match=words):
        wrap(code, signature, prototype=prototype, args=args)


def test_a_list_whose_length_is_an_int(tmp_path: Path) -> None:
    source = "int64_t f(const float **xs, unsigned char n) { return n; }"
    code = c_object(tmp_path, source)
    f = wrap(
        code,
        "f(xs: TensorList(Tensor([n], float32))) -> r: int64",
        device="cpu",
        prototype="int64_t f(const float **xs, unsigned char n)",
        args=["xs.pointers", "xs.length"],
    )
    assert f([]) == 0
    with pytest.raises(ValueError, match=r"xs\.length is 256, which does not fit uint8"):
        f([np.zeros(1, "float32")] * 256)


def test_char_pointers_of_ctypes_and_cffi() -> None:
    library = ctypes.CDLL(None)
    strlen, strnlen = library.strlen, library.strnlen
    strlen.restype = strnlen.restype = ctypes.c_size_t
    strlen.argtypes, strnlen.argtypes = [ctypes.c_char_p], [ctypes.c_char_p, ctypes.c_size_t]
    assert wrap(strlen, "strlen(s: String) -> r: uint64")("four") == 4
    assert wrap(strnlen, "strnlen(s: Bytes) -> r: uint64")(b"a\0b") == 1
    ffi = pytest.importorskip("cffi").FFI()
    ffi.cdef("size_t strlen(const char *);")
    found = ffi.addressof(ffi.dlopen(None), "strlen")
    assert wrap(found, "strlen(s: String) -> r: uint64")("four") == 4


@needs_header("zlib.h")
def test_zlib() -> None:
    signatures = ["crc32(crc: uint64, buf: Bytes) -> r: uint64"]
    args = {"len": "buf.length"}
    crc32 = wrap("-lz", signatures, prototype="#include <zlib.h>", args=args)
    assert crc32(0, b"banana" * 9) == zlib.crc32(b"banana" * 9)
