"""Types of C, each read by ``wrap`` and proven by the C compiler."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from ffi_builder import CompileError
from ffi_builder.wrapping.c_types import CType
from tests.runtime.samples import needs_cc
from tests.wrapping.libraries import read
from tests.wrapping.witness import contradicted, is_true

pytest.importorskip("clang.native")
pytestmark = needs_cc
needs_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="is about x86-64")


def of_parameter(prototype: str) -> CType:
    """Return the type of the first parameter."""
    return read(prototype, None, "f").params[0][1]


CHAR = "uint8" if platform.machine() == "aarch64" else "int8"


@pytest.mark.parametrize(
    ("typedef", "expected"),
    [
        *(("int T", "int32"), ("unsigned T", "uint32"), ("long long T", "int64")),
        *(("int long unsigned T", "uint64"), ("short signed T", "int16"), ("char T", CHAR)),
        *(("signed char T", "int8"), ("unsigned char T", "uint8"), ("_Bool T", "bool")),
        *(("float T", "float32"), ("double T", "float64"), ("_Float16 T", "float16")),
        *(("enum { A } T", "uint32"), ("enum { A = -1 } T", "int32")),
        *(("enum { A = 0x100000000LL } T", "uint64"), ("enum { A = -1, B = 1L << 40 } T", "int64")),
        *(("enum __attribute__((packed)) { A } T", "uint8"), ("__SIZE_TYPE__ T", "uint64")),
        *(("int T __attribute__((mode(DI)))", "int64"), ("int bool; typedef bool T", "int32")),
        *(("int T __attribute__((mode(QI)))", "int8"), ("unsigned size_t; typedef size_t T", "uint32")),
        *(("__typeof__(1UL << 3) T", "uint64"), ("__typeof__(1.0f) T", "float32")),
        *(("float *T", "a pointer to float32"), ("const float *T", "a const pointer to float32")),
        *(("const double c; typedef c *T", "a const pointer to float64"), ("void *T", "a pointer")),
        *(("float const *const T", "a const pointer to float32"), ("_Bool *T", "a pointer to bool")),
        *(("float r[4]; typedef r *T", "a pointer to 4 x float32"),),
        *(("float r[4]; typedef const r *T", "a const pointer to 4 x float32"),),
        *(
            ("float (*T)[3][5]", "a pointer to 3 x 5 x float32"),
            ("_Float16 (*T)[4]", "a pointer to 4 x float16"),
            ("struct s *T", "a pointer to struct s"),
        ),
        *(("_Complex double *T", "a pointer to complex128"), ("double **T", "a pointer to a pointer")),
        *(("float _Complex *T", "a pointer to complex64"), ("union u *T", "a pointer to union u")),
        *(("float (*T)(float)", "a pointer to a function"), ("char ***T", "a pointer to a pointer")),
        *(("struct { int a; } s; typedef s *T", "a pointer to struct s"),),
        *(("long double *T", "a pointer to long double"), ("__int128 *T", "a pointer to __int128")),
        *(("__int128_t *T", "a pointer to __int128"), ("const volatile int *T", "a const pointer to int32")),
        *(("enum e { A } *T", "a pointer to uint32"),),
        ("enum __attribute__((packed)) e { A } *T", "a pointer to enum e"),
        ("float v __attribute__((vector_size(16))); typedef v *T", "a pointer to __attribute__"),
    ],
)  # fmt: skip
def test_what_a_type_is(typedef: str, expected: str) -> None:
    found = of_parameter(f"typedef {typedef}; void f(T x)")
    assert f"{found}".startswith(expected)
    assert contradicted(f"typedef {typedef};", [is_true(found, "T")]) == []


@pytest.mark.parametrize(
    ("typedef", "words"),
    [
        ("struct s T", "is a struct s, which is not passed by value, as its fields are not"),
        ("union { int a; } T", "is union T, whose field a is in a union, which is not passed"),
        ("float T __attribute__((vector_size(16)))", "is a __attribute__.*, which no parameter of a"),
        *(("long double T", "is a long double"), ("__int128 T", "is a __int128")),
        *(
            ("unsigned __int128 T", "is a unsigned __int128"),
            (
                "_Complex long double T",
                "is a _Complex long double, which no parameter of .*; let a",
            ),
            ("struct { int a : 2; } T", "is struct .*, whose field a is a bit field"),
        ),
        pytest.param("__float128 T", "is a __float128, which no parameter", marks=needs_x86),
        ("_Atomic int T", r"is a _Atomic\(int\), which no parameter"),
    ],
)  # fmt: skip
def test_types_that_no_parameter_is(typedef: str, words: str) -> None:
    with pytest.raises(CompileError, match=f"f: parameter x {words}"):
        read(f"typedef {typedef}; void f(T x)", None, "f")
    with pytest.raises(CompileError, match=f"f: the result {words}"):
        read(f"typedef {typedef}; T f(void)", None, "f")


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        *(("float x[]", "float32"), ("float x[3][5]", "5 x float32"), ("float x[][n]", "n x float32")),
        *(("float x[n][2 * n]", "2 * n x float32"), ("float (*x)[n]", "n x float32")),
        *(("float x[n][n][4]", "n x 4 x float32"), ("float (*x)[]", "? x float32")),
        *(("float x[restrict]", "float32"), ("float x[static restrict 4]", "float32")),
        *(("float x[__restrict 4]", "float32"), ("float *restrict x", "float32")),
        *(("float *__restrict__ x", "float32"), ("float *restrict *x", "a pointer")),
    ],
)  # fmt: skip
def test_arrays_as_parameters(parameter: str, expected: str) -> None:
    found = read(f"void f(long n, {parameter})", None, "f").params[1][1]
    assert f"{found}" == f"a pointer to {expected}"
    assert found.is_restrict == (
        "restrict" in parameter and "**" not in parameter.replace("restrict ", "")
    )
    assert found.first == (3 if "[3]" in parameter else 4 if " 4]" in parameter else 0)


def test_a_macro_for_restrict() -> None:
    params = "float x[R], float y[R 4], float z[R n], float *R w, float v[const]"
    for macro, expected in (("__restrict", True), ("", False)):
        text = f"#define R {macro}\nvoid f(int n, {params}, const float u[R])"
        _, x, *others, v, u = [type_.is_restrict for _, type_ in read(text, None, "f").params]
        assert others == [expected] * 3
        assert (x, v, u) == (True, False, False)


def test_alignments_of_typedefs() -> None:
    """What points to such a type is aligned as it is."""
    found = of_parameter("typedef float v __attribute__((aligned(32))); void f(v *x)")
    assert (f"{found}", found.align) == ("a pointer to float32", 32)


def test_the_sign_of_char_is_that_of_the_target() -> None:
    for target, sign in (("aarch64-linux-gnu", "u"), ("x86_64-linux-gnu", "")):
        found = read("void f(char c, signed char d)", None, "f", target=target)
        assert [f"{type_}" for _, type_ in found.params] == [f"{sign}int8", "int8"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("int f()", r"f is declared without parameters: write \(void\) if it has none"),
        ("typedef int g(); g f", "f is declared without parameters"),
        ("int f(int x, ...)", "a function with `...` cannot be called"),
        pytest.param(
            "__attribute__((ms_abi)) long f(long a)",
            r"f is not called as C is: long \(long\) __attribute__\(\(ms_abi\)\)",
            marks=needs_x86,
        ),
        pytest.param("__attribute__((preserve_most)) int f(int)", "not called as C", marks=needs_x86),
        ("__attribute__((no_callee_saved_registers)) int f(int)", "unknown attribute|not called as C"),
        ("int f(const float &x)", "parameter x is a float &|is a const float &"),
    ],
)  # fmt: skip
def test_functions_that_are_not_called(text: str, words: str) -> None:
    with pytest.raises(CompileError, match=words):
        read(text, None, "f")


@pytest.mark.parametrize(
    ("text", "params"),
    [
        ("int f(const float *x /* the values */, // not (yet\n long n); // how many", "x n"),
        ("int f(a, b) float a; char b; { return 0; }", "a b"),
        ("typedef int g(int, float *); extern g f", " "),
        ("void free(void *); __attribute__((malloc(free, 1))) int *f(int n);", "n"),
        ('extern "C" { int f(std::size_t n, const float *__restrict x) noexcept; }', "n x"),
        ('__attribute__((visibility("default"))) int f(int n) { return g(n); }', "n"),
        ("void f(float complex, int64_t n)", "complex n"),
        ("void f(int64_t n, float *complex)", "n complex"),
        ("void f(float complex *x, _Float64 y, uint_fast16_t z)", "x y z"),
        ("int f(int); int f(int n); int f(int m);", "m"),
        ("int f(); int f(int n);", "n"),
        ("static inline int g(int x) { return ({ x; }); } int f(int n);", "n"),
        ("[[nodiscard]] int f([[maybe_unused]] int n);", "n"),
        ("int f(int __x, double __y, int z);", "x y z"),
        ("int f(int __x, double x);", "__x x"),
        ("int f(int __1, int ___2);", "__1 ___2"),
        ("int f(int, int, int __x);", "  x"),
        ("int f(wchar_t x, intmax_t y, uintmax_t z);", "x y z"),
        ('_Static_assert(sizeof(int) == 4, ""); _Thread_local int g; int f(int n);', "n"),
    ],
)
def test_what_is_c_is_read(text: str, params: str) -> None:
    assert [name for name, _ in read(text, "f", "f").params] == params.split(" ")


def test_old_style_definitions_have_the_types_that_are_passed() -> None:
    found = read("int f(a, b) float a; char b; { return 0; }", None, "f")
    assert [f"{type_}" for _, type_ in found.params] == ["float64", "int32"]


@pytest.mark.parametrize("words", ['__asm__("g")', 'asm("g")', '__asm("g") __attribute__((pure))'])
def test_the_symbol_of_a_function(words: str) -> None:
    assert read(f"int f(int x) {words};", None, "f").name == "g"
    assert read(f"int f(int x) {words}; int f(int);", "f", "f").name == "g"


def test_errors_show_the_line(tmp_path: Path) -> None:
    header = tmp_path / "class std.h"
    header.write_text("int g(int);\n\tint f(int n, idx_t m);\n")
    with pytest.raises(CompileError) as caught:
        read(header, "f", "f")
    assert f"{caught.value}" == (
        f"prototype=: not read as C: {header}:2:15: unknown type name 'idx_t', which a header may "
        "declare, as in prototype='#include <…>\\n…'\n"
        "    \tint f(int n, idx_t m);\n"
        "    \t             ^"
    )


@pytest.mark.parametrize(
    "other",
    [
        *("int g(idx_t n);", "struct s { idx_t n; };", "typedef struct { idx_t n; } s;", "idx_t n;"),
        *("namespace a { class b; }", 'extern "C" int g(int n);', "template <class T> T g(T x);"),
        *("typedef idx_t unused;", "enum e { A = B };", '_Static_assert(0, "");'),
        *("static int g(void) { return undeclared; }", "int h(double); int h(float);"),
    ],
)  # fmt: skip
def test_errors_elsewhere_do_not_count(other: str) -> None:
    for text in (f"{other}\nint f(int n);", f"int f(int n);\n{other}"):
        assert [f"{type_}" for _, type_ in read(text, "f", "f").params] == ["int32"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("typedef idx_t n_t; int f(n_t n)", "unknown type name 'idx_t'"),
        ("typedef idx_t a[3]; typedef a *b; int f(b x)", "unknown type name 'idx_t'"),
        ("enum e { A = B }; int f(enum e x)", "undeclared identifier 'B'"),
        ("enum e { A = B }; int f(float x[][A])", "undeclared identifier 'B'"),
        ("typedef int t; typedef long t; int f(t n)", "typedef redefinition with different types"),
        ("int f(int n); int f(long n);", "conflicting types for 'f'"),
        ("API int f(int n)", "unknown type name 'API'"),
        ("API(3) int f(int n)", "expected"),
        ("int g(int n)\nint f(int n);", "expected ';' after top level declarator"),
        ("__declspec(dllexport) int f(int n)", "__declspec"),
        ("f(int n)", "type specifier missing"),
        ("int f(float *, n)", "unknown type name 'n'|type specifier missing"),
        ("int f(float x[N][M])", "undeclared identifier 'N'"),
        ("#define API word_t\nAPI f(int n);", "unknown type name 'word_t'"),
        ("#error configure first\nint f(int n);", "configure first"),
        ("#if defined(\nint f(int n);\n#endif", "missing|expected|unterminated"),
    ],
)
def test_errors_that_the_function_depends_on(text: str, words: str) -> None:
    with pytest.raises(
        CompileError, match=rf"prototype=: not read as C: prototype:\d+:\d+: .*({words})"
    ):
        read(text, "f", "f")
