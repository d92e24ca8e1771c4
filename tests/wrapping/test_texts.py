"""Strs and bytes for functions in C: pointers, lengths of any integer type, and texts with a NUL."""

from __future__ import annotations

import ctypes
import os
import zlib
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import BuildError, wrap
from tests.runtime.samples import c_object, needs_cc
from tests.wrapping.libraries import needs_header, shared

pytest.importorskip("clang.native")
pytestmark = needs_cc

SOURCE = """
int64_t count(const char *s, unsigned char n) { return 0; }
int64_t reverse(signed char n, const void *s) { return 0; }
int64_t both(const char *first, const void *second, int n) { return 0; }
void mark(char *s) { }
void take(const int *s) { }
"""


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return c_object(tmp_path_factory.mktemp("texts"), SOURCE)


COUNT = "int64_t count(const char *s, unsigned char n)"


@pytest.mark.parametrize(
    ("signature", "prototype", "args", "words"),
    [
        (*("count(s: String) -> r: int64", COUNT, None), r"has parameters that the signature lacks: n; .*'s\.data' and 's\.length' are its bytes"),
        (*("count(s: String) -> r: int64", COUNT, {}), r"neither the signature nor args= has: n; .* 's\.c_str' is text that ends in a NUL"),
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
        *(
            (f"mark(s: {kind})", "void mark(char *s, long n)", args, "to which the kernel may write, but 's' is only read: .* let callers pass an array")
            for kind, args in (("String", ["s"]), ("Bytes", ["s"]), ("Bytes", ["s.data", "s.length"]))
        ),
        ("mark(n: int64)", "void mark(char *s, long n)", [b"abc", "n"], "to which the kernel may write, but b'abc' is only"),
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
)  # fmt: skip
def test_mistakes(signature: str, prototype: str, args: Any, words: str, code: bytes) -> None:
    with pytest.raises(BuildError, match=words):
        wrap(code, signature, prototype=prototype, args=args)


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


RETURNS = """
#include <stdlib.h>
#include <string.h>
static int freed;
int count_freed(void) { return freed; }
void give(void *text) { freed++; free(text); }
void (*let_go)(void *) = give;
const char *name(int at) { return 0; }
char *repeat(int n) {
  char *text = malloc(n + 1);
  if (text) { memset(text, 'x', n); text[n] = 0; }
  return text;
}
const void *unknown(void) { return "abc"; }
const float *number(void) { return 0; }
"""


@pytest.fixture(scope="module")
def returning(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return c_object(tmp_path_factory.mktemp("returning"), RETURNS)


def test_text_that_a_function_frees(returning: bytes) -> None:
    signatures = ["repeat(n: int32) -> r: String", "count_freed() -> r: int32"]
    prototypes = "char *repeat(int n); int count_freed(void);"
    with pytest.raises(BuildError, match="free='give' goes with one result, a String or Bytes"):
        wrap(returning, signatures[1], prototype=prototypes, free="give")
    for declared in (f"{prototypes} extern void (*let_go)(void *);", prototypes):
        with pytest.raises(BuildError, match="free='let_go' is a variable in C, and no function"):
            wrap(returning, signatures[0], prototype=declared, free="let_go")
    repeat = wrap(returning, signatures[0], prototype=prototypes, free="give")
    assert [repeat(n) for n in (0, 3, 100)] == ["", "xxx", "x" * 100]


def test_how_often_text_is_freed(tmp_path: Path) -> None:
    """Once for each call, by the library of both."""
    path = shared(tmp_path, RETURNS)
    repeat = wrap(
        path, "repeat(n: int32) -> r: Bytes", prototype="char *repeat(int n)", free="give"
    )
    freed = wrap(path, "count_freed() -> r: int32", prototype="int count_freed(void)")
    before = freed()
    for n in range(5):
        assert repeat(n) == b"x" * n
    assert freed() - before == 5


@pytest.mark.parametrize(
    ("signature", "prototype", "words"),
    [
        ("unknown() -> r: String", "const void *unknown(void)", "say in prototype= that it returns"),
        ("number() -> r: Bytes", "const float *number(void)", "'r' is a Bytes, text that ends in a"),
        ("count_freed() -> r: String", "int count_freed(void)", "`const char .` is: declare `-> r: in"),
        (
            "count_freed(n: int32) -> r: Optional(String)",
            "void count_freed(int n, char **r)",
            "r is a pointer to a pointer, but no text is written there: declare `-> r: handle`",
        ),
        ("name(at: int32)", "const char *name(int at)", "or add a result, as in `-> r: String`"),
        (*("name(at: int32) -> r: float64", "const char *name(int at)"), "returns a const pointer to int8, but the result 'r' is float64"),
    ],
)  # fmt: skip
def test_results_that_are_no_text(
    signature: str, prototype: str, words: str, returning: bytes
) -> None:
    with pytest.raises(BuildError, match=words):
        wrap(returning, signature, prototype=prototype)


def test_text_of_ctypes_and_libc() -> None:
    strerror = ctypes.CDLL(None).strerror
    strerror.argtypes, strerror.restype = [ctypes.c_int], ctypes.c_char_p
    assert wrap(strerror, "strerror(number: int32) -> r: String")(2) == os.strerror(2)
    getenv = wrap(
        "-lc", "getenv(name: String) -> r: String", prototype="char *getenv(const char *)"
    )
    assert getenv("PATH")
    with pytest.raises(ValueError, match="getenv returned NULL for r"):
        getenv("FFI_BUILDER_NO_SUCH_VARIABLE")


@needs_header("zlib.h")
def test_zlib() -> None:
    header = "#include <zlib.h>"
    args = {"len": "buf.length"}
    crc32 = wrap("-lz", "crc32(crc: uint64, buf: Bytes) -> r: uint64", prototype=header, args=args)
    assert crc32(0, b"banana" * 9) == zlib.crc32(b"banana" * 9)
    version = wrap("-lz", "zlibVersion() -> v: String", prototype=header)
    assert version() == zlib.ZLIB_RUNTIME_VERSION


@needs_header("sqlite3.h")
def test_sqlite() -> None:
    header = "#include <sqlite3.h>"
    version = wrap("-lsqlite3", "sqlite3_libversion() -> v: String", prototype=header)
    assert version().startswith("3.")
    signature = "sqlite3_compileoption_used(zOptName: String) -> r: int32"
    used = wrap("-lsqlite3", signature, prototype=header)
    assert [used("NO_SUCH_OPTION"), used("THREADSAFE")] == [0, 1]
