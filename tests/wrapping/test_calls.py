"""Functions in C with signatures of all kinds: what a call returns, and what is refused when.

Each row is a function, of which all that stands before its body is the prototype unless
``prototype=`` gives another; a text that begins with ``define`` is LLVM IR. The C compiler compiles
the others together, so each has a name of its own.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Final, cast

import numpy as np
import pytest

from ffi_builder import BuildError, providers, wrap
from tests.runtime.samples import c_object, needs_cc

pytest.importorskip("clang.native")
pytestmark = needs_cc

DIRECT: Final = providers.DirectCallProvider
ONES: Final = np.ones(3, "float32")
READ_ONLY: Final = np.zeros(3, "float32")
READ_ONLY.flags.writeable = False
X: Final = "x: Tensor([n], float32)"
EXTENDED: Final = "define zeroext i8 @extended(i8 zeroext %x) {\n  ret i8 %x\n}"
PLAIN: Final = EXTENDED.replace("zeroext ", "").replace("i8", "i32")
ADDED: Final = "define i32 @added(i32 %a, i8 %b) {\n  %w = zext i8 %b to i32\n  %r = add i32 %a, %w\n ret i32 %r\n}"
SAME: Final = "define i64 @same_in_ir(i64 %n) {\n  ret i64 %n\n}"
DOTTED: Final = 'define i64 @"twice.1"(i64 %n) { %m = mul i64 %n, 2 ret i64 %m }'
BUFFER: Final = "int rank_of(const void *x) { return ((const int *)x)[9] - 2; }"
OF_BUFFER: Final = "struct halide_buffer_t; int rank_of(struct halide_buffer_t *x);"
SIZE: Final = "double of_size(size_t n) { return n; }"
WIDE: Final = "int64_t of_ctx(void *ctx, int64_t n, float *x) { return ctx ? 0 : n; }"
NORM: Final = "int norm(int64_t n, const double *x, double *r) { *r = n; return n > 5 ? 22 : 0; }"
OF_NORM: Final = "norm(x: Tensor([n], float64)) -> r: float64"
CONSTANTS: Final = (
    "double constants(float a, short n, const char *s, double *p) { return p ? 0 : a * n * s[0]; }"
)
SIGNS: Final = "int signs(unsigned a, signed char b, double *r) { *r = a + b; return 0; }"
BYTES: Final = "long of_bytes(signed char n, unsigned long m) { return n + m; }"
STRIDE: Final = "long stride(long s, const float *x) { return s; }"
OF_STRIDE: Final = "stride(x: Tensor([n], float32, strides=[s])) -> r: int64"
TEXT: Final = "float of_text(const char *s, int64_t size, const float *x) { return x[0] + size + s[0] - 'a'; }"
OF_TEXT: Final = "of_text(mode: String, x: Tensor([1], float32)) -> r: float32"
MEAN: Final = "int mean_of(int64_t n, const double *x, double *mean) { *mean = (x[0] + x[n - 1]) / 2; return 0; }"
UNSIGNED: Final = "unsigned large(void) { return 3000000000u; }"
NARROW: Final = "int64_t narrow(int8_t n, const void *x) { return n; }"
SUM: Final = "double sum_of(const int *a, const double *b, double c) { return *a + *b + c; }"
MAYBE: Final = "double maybe(const double *a) { return a ? *a : -1; }"
RATE: Final = "double rate_of(double rate, int64_t count) { return rate * count; }"
POINTED: Final = "int64_t pointed(const float *x, int64_t n) { return x ? n : -1; }"
TEXT_SIZE: Final = (
    "int64_t text_size(const char *s) { int64_t n = 0; while (s && s[n]) n++; return s ? n : -1; }"
)
COUNT: Final = "int64_t count_a(const char *s, unsigned char n) { int64_t r = 0; while (n--) r += s[n] == 'a'; return r; }"
LAST: Final = (
    "int64_t last_of(signed char n, const void *s) { return n ? ((const char *)s)[n - 1] : -1; }"
)
BOTH: Final = "int64_t both_of(const char *a, const void *b, int n) { return 1000 * a[0] + n + (n ? ((const char *)b)[0] : 0); }"
NAME: Final = 'const char *name_of(int at) { static const char *names[] = {0, "", "short", "a name of more than seven bytes", "caf\\xe9"}; return names[at]; }'
TAIL: Final = "const unsigned char *tail_of(const char *s, int c) { while (*s && *s != c) s++; return *s ? (const unsigned char *)s : 0; }"
LISTED: Final = "int64_t listed(const float **xs, unsigned char n) { return n; }"
LONG: Final = b"a longer text = b" * 100
ROWS: Final[dict[str, tuple[str, str, dict[str, Any], list[tuple[Any, Any]] | str]]] = {
    # source, signature, options; calls and what comes of them, or the words of a BuildError
    "a narrow size": (NARROW, "narrow(x: Tensor([n], int8)) -> r: int64", {}, [((np.zeros(100, "int8"),), 100), ((np.zeros(128, "int8"),), (ValueError, r"a value that fits int8 \(-128 to 127\) but got 128"))]),
    "a narrow size with a condition": (NARROW, "narrow(x: Tensor([n], int8)) -> r: int64 where n % 2 == 0", {}, [((np.zeros(128, "int8"),), (ValueError, "a value that fits int8"))]),
    "constants of all kinds": (CONSTANTS, "constants() -> r: float64", {"args": [2.5, 4, b"A", None]}, [((), 650)]),
    "a provider of a kernel without types": ("int64_t direct(int64_t n) { return n; }", "direct(n: int64) -> r: int64", {"provider": DIRECT, "prototype": None}, [((3,), 3)]),
    "a provider that is made": ("int64_t made(int64_t n) { return n; }", "made(n: int64) -> r: int64", {"provider": DIRECT("made", args=["n"]), "prototype": None}, [((3,), 3)]),
    "a provider drops what the kernel returns": ("double dropped(double x) { return x; }", "dropped(x: float64)", {"provider": DIRECT, "prototype": None}, [((1.0,), None)]),
    **{f"a status beside a result, args={args}": (NORM, OF_NORM, {"args": args}, [((np.ones(3),), 3), ((np.ones(9),), (RuntimeError, "norm failed with status 22"))]) for args in (None, ["n", "x", "r"])},
    # The int is the number of dimensions, less 2.
    "a Halide buffer, by its name": (BUFFER, "rank_of(x: Tensor([n, m], float32))", {"prototype": OF_BUFFER}, [((np.ones((2, 2), "float32"),), None)]),
    "a Halide buffer of another rank": (BUFFER, f"rank_of({X})", {"prototype": OF_BUFFER}, [((ONES,), (RuntimeError, "rank_of failed with status -1"))]),
    "an unsigned constant": (SIGNS, f"signs({X}) -> r: float64", {"args": ["n - 2", -1, "r"]}, [((ONES,), 0)]),
    "an unsigned constant that is negative": (SIGNS, f"signs({X}) -> r: float64", {"args": ["n - 5", -1, "r"]}, [((ONES,), (ValueError, "n - 5"))]),
    "a number that is written": (MEAN, "mean_of(x: Tensor([n], float64)) -> mean: float64", {}, [((np.array([1.0, 2.0, 4.0]),), 2.5)]),
    "a name that C has not": (DOTTED, "twice(n: int64) -> m: int64", {"function": "twice.1", "prototype": "int64_t twice(int64_t n)"}, [((4,), 8)]),
    # Numbers whose sign decides what the kernel gets.
    "an int64 for an unsigned size": (SIZE, "of_size(n: int64) -> r: float64", {}, [((3,), 3), ((-1,), (ValueError, "expected at least 0 .* but got -1"))]),
    "a size of which the signature says more": (SIZE, "of_size(n: int64) -> r: float64 where n >= 2", {}, [((2,), 2)]),
    "a size of which the signature says less": (SIZE, "of_size(n: int64) -> r: float64 where n >= -2", {}, "n is uint64, but 'n' is int64: declare `n: uint64`"),
    "a uint32 for an int": ("double of_int(int n) { return n; }", "of_int(n: uint32) -> r: float64", {}, [((2**31 - 1,), 2**31 - 1), ((2**31,), (ValueError, "2147483648"))]),
    "an unsigned result": (UNSIGNED, "large() -> r: uint32", {}, [((), 3000000000)]),
    "an unsigned result as another": (UNSIGNED, "large() -> r: int32", {}, "large returns uint32, but the result 'r' is int32: declare"),
    **{f"LLVM IR has no signs: {dtype}": (SAME, f"same_in_ir(n: {dtype}) -> r: {dtype}", {}, [((3,), 3)]) for dtype in ("int64", "uint64")},
    # An extension to a C int says the sign of a narrow integer.
    "an extended integer": (EXTENDED, "extended(x: uint8) -> r: uint8", {}, [((200,), 200)]),
    "an extended integer of another sign": (EXTENDED, "extended(x: uint8) -> r: int8", {}, "extended returns uint8, but the result 'r' is int8"),
    "an integer of either sign": (PLAIN, "extended(x: uint32) -> r: uint32", {}, [((2**31,), 2**31)]),
    "an integer of either sign, negative": (PLAIN, "extended(x: int32) -> r: int32", {}, [((-1,), -1)]),
    **{f"constants of either sign: {a}, {b}": (ADDED, "added() -> r: uint32", {"args": [a, b]}, [((), expected)]) for a, b, expected in ((2**31, 200, 2**31 + 200), (1, -56, 201), (-1, 0, 2**32 - 1))},
    "a constant that no byte holds": (ADDED, "added() -> r: uint32", {"args": [0, 256]}, "b is int8, which is not 256"),
    # What is passed for parameters.
    "constants as text": (BYTES, "of_bytes() -> r: int64", {"args": ["-1", "4"]}, [((), 3)]),
    "a text that no byte holds": (BYTES, "of_bytes() -> r: int64", {"args": ["200", "4"]}, "n is int8, which is not 200"),
    "a text that is negative": (BYTES, "of_bytes() -> r: int64", {"args": ["0", "-1"]}, "which is not -1"),
    "a negative stride": (STRIDE, OF_STRIDE, {}, [((ONES[::-1],), -1)]),
    "a stride for an unsigned": (STRIDE, OF_STRIDE, {"prototype": "long stride(size_t s, float *x)"}, [((ONES,), 1), ((ONES[::-1],), (ValueError, r"Mismatched x.strides\[0\] .* expected at least 0"))]),
    "a text among others": (TEXT, OF_TEXT, {"args": ["mode", "x"]}, [(("bcd", ONES[:1]), 5)]),
    "a text of another type": (TEXT, OF_TEXT, {"args": ["mode", "x"], "prototype": "float of_text(const float *s, int64_t size, float *x)"}, "s is a const pointer to float32, but 'mode' is passed as"),
    "an optional tensor that is only read": (POINTED, f"pointed(x: Optional({X[3:]})) -> r: int64", {}, [((READ_ONLY,), 3), ((None,), -1)]),
    "one parameter by name": (WIDE, f"of_ctx({X}) -> r: int64", {"args": {"ctx": None}}, [((ONES,), 3)]),
    "two parameters by name": (WIDE, f"of_ctx({X}) -> r: int64", {"args": {"ctx": None, "n": "n * 2"}}, [((ONES,), 6)]),
    "a parameter that is not there": (WIDE, f"of_ctx({X}) -> r: int64", {"args": {"ctxt": None}}, r"args= has 'ctxt', but of_ctx has no such .* mean 'ctx'\?"),
    "elements of a struct by address": (SUM, "sum_of(p: Struct(a: int32, b: float64, c: float64)) -> r: float64", {"prototype": "double sum_of(const int *, const double *, double)"}, [(((1, 0.5, 8.0),), 9.5)]),
    "an optional number is NULL": (MAYBE, "maybe(a: Optional(float64)) -> r: float64", {}, [((2.0,), 2.0), ((None,), -1.0)]),
    "the elements of a struct": (RATE, "rate_of(step: Struct(rate: float64, count: int64)) -> r: float64", {}, [(((0.5, 2),), 1)]),
    # Texts, and their lengths.
    **{f"a length of a byte, args={args}": (COUNT, "count_a(s: Bytes) -> r: int64", {"args": args}, [((b"",), 0), ((b"banana",), 3), ((b"a" * 255,), 255), ((b"a" * 256,), (ValueError, r"s\.length is 256, which does not fit uint8 \(0 to 255"))]) for args in (["s"], {"n": "s.length"}, ["s.data", "s.length"])},
    "a length of no name": (COUNT, "count_a(s: Bytes) -> r: int64", {"prototype": "int64_t count_a(const char *, unsigned char)"}, [((b"banana",), 3)]),
    "a length before its text": (LAST, "last_of(s: Bytes) -> r: int64", {"args": {"n": "s.length"}}, [((b"",), -1), ((b"abc",), ord("c")), ((b"a" * 128,), (ValueError, r"does not fit int8 \(-128 to 127\)"))]),
    "a length alone": (LAST, "last_of(s: String) -> r: int64", {"args": ["s.length", None]}, [(("",), -1)]),
    **{f"a text that ends in a NUL, {name}": (TEXT_SIZE, "text_size(s: String) -> r: int64", {"prototype": f"int64_t text_size(const char *{name})"}, [(("",), 0), (("abc",), 3), (("\u00e9" * 100,), 200), (("a\0bc",), (ValueError, "s has a NUL at byte 1, where its text would end in"))]) for name in ("s", "")},
    "a text that is absent": (TEXT_SIZE, "text_size(s: Optional(Bytes)) -> r: int64", {}, [((None,), -1), ((b"ab",), 2)]),
    "a text by a provider": (TEXT_SIZE, "text_size(s: Bytes) -> r: int64", {"provider": DIRECT("text_size", args=["s.c_str"]), "prototype": None}, [((b"four",), 4)]),
    "a text with its length and one without": (BOTH, "both_of(a: String, b: Bytes) -> r: int64", {"args": {"n": "b.length"}}, [(("\2b", b""), 2000), (("\2b", b"\0\0"), 2002)]),
    **{f"texts of a struct, {args}": (BOTH, "both_of(two: Struct(a: String, b: Bytes)) -> r: int64", {"args": args}, [((("\2b", b"a"),), 2001 + ord("a"))]) for args in (["two.a.c_str", "two.b"], ["two.a", "two.b.data", "two.b.length"])},
    "a list whose length is a byte": (LISTED, "listed(xs: TensorList(Tensor([n], float32))) -> r: int64", {"args": ["xs.pointers", "xs.length"]}, [(([],), 0), (([ONES] * 256,), (ValueError, r"xs\.length is 256, which does not fit uint8"))]),
    "a text that is returned": (NAME, "name_of(at: int32) -> r: String", {}, [((1,), ""), ((2,), "short"), ((3,), "a name of more than seven bytes"), ((0,), (ValueError, "name_of returned NULL for r when calling: `name")), ((4,), (UnicodeDecodeError, "codec"))]),
    "bytes that are returned": (NAME, "name_of(at: int32) -> r: Bytes", {}, [((1,), b""), ((2,), b"short"), ((4,), b"caf\xe9")]),
    # It is copied before the copy of the argument is freed.
    "a text within an argument": (TAIL, "tail_of(s: Bytes, c: int32) -> r: Bytes", {}, [((b"a=b", ord("=")), b"=b"), ((LONG, ord("=")), LONG[LONG.index(b"=") :]), ((b"abc", ord("=")), (ValueError, "tail_of returned NULL for r"))]),
    **{
        f"a status of {type_}": (f"{type_} of_{status}(void) {{ return {status}ul; }}", f"of_{status}()", {"errors": errors}, [((), (error, words))])
        for type_, status in (("unsigned char", 200), ("uint16_t", 65535), ("unsigned", 2**32 - 1), ("size_t", 2**64 - 1))
        for errors, error, words in (({status: ("ValueError", "full")}, ValueError, "full when calling"),)
    },
    **{f"an unsigned status of {type_} without errors=": (f"{type_} off_{bits}(void) {{ return -1; }}", f"off_{bits}()", {}, [((), (RuntimeError, f"off_{bits} failed with status {2**bits - 1} when"))]) for type_, bits in (("unsigned char", 8), ("uint16_t", 16), ("unsigned", 32), ("size_t", 64))},
}  # fmt: skip


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """All functions that are C, compiled at once."""
    sources = dict.fromkeys(row[0] for row in ROWS.values() if not row[0].startswith("define"))
    return c_object(tmp_path_factory.mktemp("calls"), "#include <stddef.h>\n" + "\n".join(sources))


@pytest.mark.parametrize("name", ROWS)
def test_calls(name: str, code: bytes) -> None:
    source, signature, more, calls = ROWS[name]
    options: dict[str, Any] = {"device": "cpu", **more}
    if not source.startswith("define"):
        options.setdefault("prototype", source.partition(" {")[0])
    kernel = source if source.startswith("define") else code
    if isinstance(calls, str):
        with pytest.raises(BuildError, match=calls):
            wrap(kernel, signature, **options)
        return
    call = wrap(kernel, signature, **options)
    for given, expected in calls:
        error, words = (
            cast("tuple[Any, str]", expected) if isinstance(expected, tuple) else (None, "")
        )
        with pytest.raises(error, match=words) if error else nullcontext():
            assert call(*given) == expected
