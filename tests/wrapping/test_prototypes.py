"""``prototype=``: the types that an object lacks, and what they are compared with."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffi_builder import BuildError, CompileError, providers, spec, wrap
from tests.runtime.samples import c_object, needs_cc, needs_cxx
from tests.wrapping.kernels import ARGS, GEMV, PROTOTYPE, SOURCE, check_gemv

NOTHING = "define void @f() {\n  ret void\n}"

pytest.importorskip("clang.native")
pytestmark = needs_cc


def test_a_header(tmp_path: Path) -> None:
    data = c_object(tmp_path, SOURCE)
    header = tmp_path / "gemv.h"
    header.write_text(
        f"#include <stdint.h>\n#include <stdio.h>\n#include <math.h>\n"
        f'#define API __attribute__((visibility("default")))\n'
        f"typedef struct {{ int64_t n; }} sizes;\nstatic inline int other(sizes *s) {{ return 0; }}\n"
        f"API {PROTOTYPE};\n"
    )
    for given in (header, str(header)):
        check_gemv(wrap(data, GEMV, device="cpu", prototype=given, args=ARGS))
    with pytest.raises(CompileError, match=r"gemv.h declares no function 'gemm'.*did you mean"):
        wrap(data, GEMV, device="cpu", function="gemm", prototype=header, args=ARGS)
    header.write_text("#include <no_such_header.h>\n")
    with pytest.raises(CompileError, match=r"no_such_header.h' file not found; name its fol"):
        wrap(data, GEMV, device="cpu", prototype=header, args=ARGS)


@needs_cc
def test_parameters_of_equal_names_bind_by_themselves(tmp_path: Path) -> None:
    data = c_object(
        tmp_path,
        "void f(float *y, int n, const float *x, float a)"
        "{ for (int i = 0; i < n; i++) y[i] = a * x[i]; }",
    )
    signature = "f(x: Tensor([n], float32), a: float32, y: Tensor([n], float32))"
    f = wrap(
        data, signature, device="cpu", prototype="void f(float *y, int n, const float *x, float a)"
    )["f"]
    x, y = np.arange(3, dtype="float32"), np.zeros(3, "float32")
    f(x, 2.0, y)
    np.testing.assert_array_equal(y, [0, 2, 4])
    assert "n: int32" in str(f.__doc__)


def test_a_macro_of_a_header(tmp_path: Path) -> None:
    header = tmp_path / "gemv.h"
    header.write_text("#define gemv(m) gemv_(m, 1)\nint gemv_(int m, int n); int other(int m);")
    words = "gemv.h declares no function 'gemv': it is a macro, `gemv(m) gemv_(m, 1)`; let a funct"
    with pytest.raises(CompileError, match=re.escape(words)):
        wrap(c_object(tmp_path, SOURCE), "gemv(m: int32) -> r: int32", prototype=header)


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return an object with functions whose types nothing says."""
    more = "".join(f"void {name}(void) {{ }} " for name in ("f", "g", "k", "p", "mean_of"))
    return c_object(tmp_path_factory.mktemp("functions"), SOURCE + more)


CONSTANTS = "double f(float a, short n, const char *s, double *p)"
SIGNS = "int f(unsigned a, signed char b, double *r)"
MEAN = "int mean_of(int64_t n, const double *x, {})"
OF_X, OF_K = "f(x: Tensor([n], float32))", "k(x: Tensor([m], float32, intent=out), n: int64)"
TYPES = "typedef struct { int n; } handle; struct s; union u; void f("
NO_STRUCT = "is a struct s, which is not passed by value, as its fields"
UNUSED: list[tuple[str, str, Any]] = [
    ("alpha: float32", "alpha", None),
    ("alpha: float32", "alpha", {"n": "n"}),
    ("Y: Tensor([n], float32)", "Y", None),
    ("mode: String", "mode", None),
    ("k: Optional(int32)", "k", None),
]
REFUSED: list[tuple[str, str, Any, type[Exception], str]] = [
    # signature, prototype, args, and the error
    (GEMV, "int gemv(std::vector<int> x)", None, CompileError, "prototype=: not read as C: prototype:1:"),
    (GEMV, "int gemv(int m\nint n)", None, CompileError, "prototype:2:"),
    (GEMV, "pub extern fn gemv(m: i32)", None, CompileError, "it is Rust: write the declaration in C, as cbindgen does"),
    (GEMV, "struct s gemv(int m)", None, CompileError, f"the result {NO_STRUCT}"),
    (GEMV, "int gemv(struct s x)", None, CompileError, f"parameter x {NO_STRUCT}"),
    (GEMV, "int gemv(int m, ...)", None, CompileError, r"a function with `\.\.\.` cannot be called by a wrapper; let one"),
    (GEMV, "int setjmp(long *gemv)", None, CompileError, "setjmp returns twice, so only"),
    (GEMV, "int gemv(long double m)", None, CompileError, "parameter m is a long double, which no parameter of a sig"),
    (GEMV, "int gemv(long double _Complex m)", None, CompileError, "_Complex"),
    (GEMV, "int other(int m); int more(int n);", None, CompileError, "the prototype declares no function 'gemv'; it has"),
    (GEMV, "int gemv(void *ctx, idx_t m)", None, CompileError, "unknown type name 'idx_t', which a header may declare"),
    (GEMV, "", None, CompileError, "the prototype declares no function 'gemv'; it has none"),
    (GEMV, f'#include "no_such.h"\n{PROTOTYPE};', None, CompileError, r"prototype:1:10: 'no_such.h' file not found"),
    ("f(n: int64)", "void f(int64_t n, int *a, float *b)", None, BuildError, r"a, b; if the kernel writes one number to each of a, b, declare `-> \(a: int32, b: float32\)`; else"),
    ("f(n: int64) -> a: int32", "void f(int64_t n, int *a, float *b)", None, BuildError, r"b; if the kernel writes one number to b, declare `-> \(a: int32, b: float32\)`; else"),
    ("f(n: int64) -> s: int32", "int f(int64_t size, int *a)", {"size": "n"}, BuildError, r"number to a, declare `-> \(s: int32, a: int32\)`; else"),
    ("f(n: int64)", "void f(int64_t n, int *info)", None, BuildError, r"info; if the kernel writes one number to info, declare `-> info: int32`; else add them to the signature, or to args=, as in args={'info': …}; None passes NULL$"),
    (OF_X.replace("n]", "len]"), "void f(float *x, int n)", None, BuildError, r"n; add them to the signature, or to args=, as in args={'n': 'len'}; `len` of the signature goes nowhere: did you mean that\?$"),
    (OF_X.replace("n]", "a, b]"), "void f(float *x, int n)", None, BuildError, r"as in args={'n': …}$"),
    (OF_X.replace("n]", "len]"), "void f(float *x, void *ctx)", None, BuildError, r"as in args={'ctx': …}; None passes NULL$"),
    (GEMV, "int gemv(void *ctx, int64_t m)", None, BuildError, "has parameters that the signature lacks: ctx; add"),
    ("f(epsilon: float64, n: int64)", "void f(double eps, int64_t n)", None, BuildError, r"eps; add them to the signature, or to args=, as in args={'eps': 'epsilon'}; `epsilon` of the signature goes nowhere: did you mean that\?$"),
    ("f(a: float64, b: float64, n: int64)", "void f(double *p, int64_t n)", None, BuildError, r"{'p': …}; None passes NULL; `a`, `b` of the signature go nowhere$"),
    ("f(epsilon: float64, n: int64)", "void f(double eps, int64_t n, int64_t k)", {"k": "n"}, BuildError, r"neither the signature nor args= has: eps; .*{'eps': 'epsilon'}; `epsilon` of the sig"),
    ("f(epsilon: float64, n: int64)", "void f(double eps, int64_t n, int64_t k)", {"k": "epsilon"}, BuildError, r"as in args={'eps': …}$"),
    *((f"k(x: Tensor([n], float32), {more})", "void k(int64_t n, float *x)", args, BuildError, f"k gets nothing of `{name}` of the signature: leave it out, or list what each") for more, name, args in UNUSED),
    (GEMV.replace("float32), x", "float64), x"), PROTOTYPE, ARGS, BuildError, "A is a const pointer to float32, but the elements of 'A' are float64"),
    (GEMV.replace("float32), x", "float32, intent=out), x"), PROTOTYPE, ARGS, BuildError, "A is a const pointer to float32, so the kernel does not write"),
    (GEMV, PROTOTYPE, [None, "m", "n", "m", "x", "y"], BuildError, "A is a const pointer to float32, but 'm' is a number; None passes"),
    (GEMV, PROTOTYPE, ARGS[1:], BuildError, r"gemv takes 6 parameters \(ctx: a pointer, m: int64, .*\), but 5 are passed \(m, n, A, x, y\): .*; None passes NULL"),
    ("p(x: Tensor([n], float32))", "int p(int64_t n, float *x); int p(float *x, int n);", None, CompileError, "prototype:1:33: conflicting types for 'p'"),
    # What constants, scalars and results are.
    ("f() -> r: float64", CONSTANTS, [1e300, 4, b"A", None], BuildError, r"args= has 1e[+]300, but argument #0 .* does not hold it"),
    ("f() -> r: float64", CONSTANTS, [1.0, 70000, b"A", None], BuildError, "parameter n is int16, which is not 70000: write a number of"),
    ("f() -> r: float64", CONSTANTS, [1.0, 4, b"A", 2], BuildError, r"argument #3 .*ptr|NULL|takes"),
    *((f"{OF_X} -> r: float64", SIGNS, [*args, "r"], BuildError, r"is u?int.*, which is not .*: write a number of that") for args in ((-1, 0), (0, 200), (1.5, 0))),
    ("f(alpha: float32)", "void f(double alpha)", None, BuildError, "parameter alpha is float64, but 'alpha' is float32: declare `alpha: float64`"),
    ("f(alpha: float32, n: int32)", "void f(int n, float alpha)", ["alpha", "n"], BuildError, "parameter n is int32, but 'alpha' is float32: declare `alpha: int32`; or is the order another: the kernel takes n, alpha$"),
    ("f(alpha: float32, n: int32)", "void f(int n, double alpha)", ["n", "alpha"], BuildError, r"declare `alpha: float64`, or pass 'float64\(alpha\)'$"),
    ("f(x: Tensor([n], int8), y: Tensor([n], float32))", "void f(float *y, char *x)", ["x.data", "y.data"], BuildError, r"declare `x: Tensor.*, or change the kernel; or is the order another: the kernel takes y, x$"),
    ("f(x: float64)", "double f(double x)", None, BuildError, "f returns float64, which the signature lacks: add a res"),
    ("g(x: float64)", "char *g(double x)", None, BuildError, r"g returns a pointer to u?int8, which the signature lacks"),
    ("k(x: float64) -> r: float32", "double k(double x)", None, BuildError, "the result 'r' is float32: declare `-> r: float64`"),
    *((f"mean_of(x: Tensor([n], float64)) -> mean: {result}", MEAN.format("double *mean"), None, BuildError, f"parameter mean is a pointer to float64, but the result 'mean' is {result}: declare `-> mean: float64`") for result in ("float32", "int64", "bool")),
    *(("mean_of(x: Tensor([n], float64)) -> mean: float64", MEAN.format(mean), None, BuildError, "the kernel writes the result 'mean' by a pointer") for mean in ("const double *mean", "double mean", "double mean[2][2]")),
    # What pointers point to.
    *((OF_X, f"{TYPES}{type_});", None, BuildError, f"parameter x is {shown}.*, but 'x' is passed as the addr") for type_, shown in [
        ("struct s *x", "a pointer to struct s"),
        ("const union u *x", "a const pointer to union u"),
        ("float **x", "a pointer to a pointer"),
        ("long double *x", "a pointer to long double"),
        ("handle *x", "a pointer to struct"),
    ]),
    # Without names, arguments go by position, and are compared as by name.
    *((OF_K, f"struct s; void k({params})", None, BuildError, words) for params, words in [
        ("double *, int64_t", "x is a pointer to float64, but the elements of 'x' are float32: decl"),
        ("double *a, int64_t b", r"declare `x: Tensor\(\[…\], float64\)`, or change the kernel"),
        ("struct s *, int64_t", "x is a pointer to struct s, but 'x' is passed as the address"),
        ("const float *, int64_t", "x is a const pointer to float32, so the kernel does not write"),
        ("float *, int", "n is int32, but 'n' is int64: declare `n: int32`"),
        ("float *, int64_t *", "n is a pointer to int64, but 'n' is a number"),
        ("float, int64_t", "x is float32, but 'x' is a tensor"),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("signature", "prototype", "args", "error", "words"), REFUSED, ids=[f"{row[1][:40]}-{row[4][:20]}" for row in REFUSED])  # fmt: skip
def test_what_is_refused(
    functions: bytes, signature: str, prototype: str, args: Any, error: Any, words: str
) -> None:
    with pytest.raises(error, match=words):
        wrap(functions, signature, device="cpu", prototype=prototype, args=args)


def test_without_types(tmp_path: Path) -> None:
    data = c_object(tmp_path, "int64_t f(int64_t n) { return n; }")
    words = r'which arguments `f` takes.*: give prototype="int f\(…\)"'
    with pytest.raises(BuildError, match=words):
        wrap(data, "f(n: int64) -> r: int64")
    provider = providers.DirectCallProvider("f", args=["n"])
    with pytest.raises(TypeError, match="args= goes with a class in provider="):
        wrap(data, "f(n: int64) -> r: int64", provider=provider, args=["n"])


def test_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts and headers that include no others need none."""
    data = c_object(tmp_path, "int64_t f(int64_t n) { return n; }")
    monkeypatch.setenv("CC", "no-such-compiler")
    text = "#define API\nAPI int64_t f(int64_t n);"
    (tmp_path / "f.h").write_text(text)
    for prototype in (text, tmp_path / "f.h"):
        assert wrap(data, "f(n: int64) -> r: int64", prototype=prototype)(3) == 3
    (tmp_path / "f.h").write_text(f"#include <stdint.h>\n{text}")
    with pytest.raises(CompileError, match=r"'stdint.h' file not found; .* or a compiler that has"):
        wrap(data, "f(n: int64) -> r: int64", prototype=tmp_path / "f.h")


def test_what_gcc_makes_of_headers_is_read(tmp_path: Path) -> None:
    """All of C's standard library, as glibc declares it."""
    names = ("stdio", "stdlib", "string", "math", "stdint", "stddef", "time", "unistd", "pthread")
    header = tmp_path / "all.h"
    header.write_text("".join(f"#include <{name}.h>\n" for name in names) + "int f(int n);\n")
    data = c_object(tmp_path, "int f(int n) { return n - 1; }")
    assert subprocess.run(["gcc", "-E", header], check=True, capture_output=True).stdout
    f = wrap(data, "f(n: int32)", prototype=header)["f"]
    assert f(1) is None
    with pytest.raises(RuntimeError, match="f failed with status 2"):
        f(3)


P = "p({}: Tensor([n], float32))"
FITS: list[tuple[str, str, Any]] = [
    # signature, prototype, args
    *((f"f(x: Tensor([n], {dtype}))", f"typedef float real; void f({type_})", None) for type_, dtype in [
        *(("float x[4]", "float32"), ("uint16_t *x", "bfloat16"), ("uint16_t *x", "float16")),
        *(("float _Complex *x", "complex64"), ("void *x", "float64"), ("unsigned char *x", "bool")),
        *(("enum e { A } *x", "uint32"), ("real *x", "float32"), ("real x[restrict 4]", "float32")),
        *((f"{words} x", "complex64") for words in ("float complex *", "float _Complex *__restrict__", "const float _Complex *__restrict")),
    ]),
    ("f(n: int64)", "void f(int_fast32_t n)", None),
    # Parameters that the kernel does not get: args= leaves one out, a size or a condition needs it.
    ("k(x: Tensor([n], float32), alpha: float32)", "void k(int64_t n, float *x)", ["n", "x"]),
    ("k(x: Tensor([n], float32), n: int32)", "void k(float *x)", None),
    ("k(x: Tensor([n], float32), most: int32) where n <= most", "void k(int64_t n, float *x)", None),
    ("k(like: Tensor([n], float32)) -> x: Tensor([n], float32)", "void k(int64_t n, float *x)", None),
    (P.format("x"), "int p(int64_t n, float *x); int p(int64_t, float *);", None),
    # The one of an own text, after that of a header.
    (P.format("y"), "int p(int64_t n, float *x); int p(int64_t count, float *y);", {"count": "n"}),
    ("k(x: Tensor([m], float32, intent=out), n: int64)", "void k(float *, int64_t)", None),
    ("k(x: float64) -> r: float64", "double k(double x)", None),
    *(("f(n: int64) -> r: int64", text, None) for text in (
        'extern "C" std::int64_t f(std::int64_t n)',
        'extern "C" std::int64_t f(std::int64_t n) noexcept',
        '__attribute__((visibility("default"))) int64_t f(int64_t n)',
    )),
]  # fmt: skip


@pytest.mark.parametrize(("signature", "prototype", "args"), FITS, ids=[row[1] for row in FITS])
def test_what_fits(functions: bytes, signature: str, prototype: str, args: Any) -> None:
    wrap(functions, signature, device="cpu", prototype=prototype, args=args)


def test_a_tensor_that_is_read_and_written(functions: bytes) -> None:
    prototype = "void k(const float *x, float *y)"
    text = "k(x: Tensor([m], float32))"
    compiled = wrap(functions, text, device="cpu", prototype=prototype, args=["x", "x"])
    assert "intent" not in str(compiled["k"].__doc__)


def test_a_symbol_that_the_kernel_lacks(tmp_path: Path) -> None:
    data = c_object(tmp_path, SOURCE)
    prototype = PROTOTYPE.replace("gemv", "gemvv")
    words = r"an object defines no function 'gemvv', did you mean 'gemv'\?; it has gemv; say which"
    with pytest.raises(CompileError, match=words):
        wrap(data, GEMV, device="cpu", prototype=prototype, args=ARGS)
    subprocess.run(["ar", "rcs", tmp_path / "l.a", tmp_path / "part.o"], check=True)
    subprocess.run(["gcc", "-shared", tmp_path / "part.o", "-o", tmp_path / "l.so"], check=True)
    for name, what in (("l.a", "an archive"), ("l.so", "a shared library")):
        with pytest.raises(CompileError, match=f"{what} defines no function 'gemvv', did you mean"):
            wrap(tmp_path / name, GEMV, device="cpu", prototype=prototype, args=ARGS)

    with pytest.raises(CompileError, match=rf"^{tmp_path}/l.a: an archive defines no function"):
        wrap(tmp_path / "l.a", GEMV, device="cpu", prototype=prototype, args=ARGS)


def test_names_of_which_there_are_many(tmp_path: Path) -> None:
    many = "".join(f"int f{at}(int n) {{ return n; }}" for at in range(9))
    with pytest.raises(CompileError, match="it has f0, f1, f2, f3, f4, f5, f6, f7, …; say which"):
        wrap(c_object(tmp_path, many), "g(n: int32)", prototype="int g(int n)")
    with pytest.raises(CompileError, match="it has f0, f1, f2, f3, f4, f5, f6, f7, …; say which"):
        wrap(c_object(tmp_path, many), "g(n: int32)", prototype=many)


@needs_cxx
def test_a_symbol_of_cpp(tmp_path: Path) -> None:
    text = """
    int gemv(int n) { return n; }
    namespace k { int cppf(const double *, long n) { return 0; } }
    extern "C" int plain(int n) { return n; }
    """
    data = c_object(tmp_path, text, compiler="g++")
    words = (
        r"`_Z4gemvi`, which is C\+\+: declare it extern \"C\", or .*\(…\)\"; it has plain, …; say"
    )
    with pytest.raises(CompileError, match=words):
        wrap(data, "gemv(n: int32)", prototype="int gemv(int n)")
    signature, mangled = "cppf(x: Tensor([n], float64))", "_ZN1k4cppfEPKdl"
    prototype = "int cppf(const double *x, long n)"
    words = rf'or give the mangled name in the prototype, too, as in prototype="int {mangled}\(…\)'
    for function in (None, mangled):
        with pytest.raises(CompileError, match=words):
            wrap(data, signature, prototype=prototype, function=function, device="cpu")
    for function in (None, mangled):  # as that error says
        prototype = f"int {mangled}(const double *x, long n)"
        f = wrap(data, signature, prototype=prototype, function=function, device="cpu")
        assert f(np.ones(2)) is None


def test_a_header_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="prototype=: there is no header "):
        wrap(NOTHING, "f()", prototype=tmp_path / "f.h")
    (tmp_path / "f.h").write_text("#pragma once\n#include <none.h>\n")
    words = r"f.h:2:10: 'none\.h' file not found; name its folder with include="
    with pytest.raises(CompileError, match=words):
        wrap(NOTHING, "f()", prototype=tmp_path / "f.h")
    with pytest.raises(TypeError, match="prototype= is C as text or the path of a header, but g"):
        wrap(NOTHING, "f()", prototype=b"int f(void)")  # pyright: ignore


def test_variables_are_not_called(tmp_path: Path) -> None:
    data = c_object(tmp_path, "int glob = 3; static int f(void) { return 0; } int (*g)(void) = f;")
    subprocess.run(["ar", "rcs", tmp_path / "l.a", tmp_path / "part.o"], check=True)
    subprocess.run(["gcc", "-shared", tmp_path / "part.o", "-o", tmp_path / "l.so"], check=True)
    for source in (data, tmp_path / "l.a", tmp_path / "l.so"):
        with pytest.raises(CompileError, match="defines 'glob' as a variable"):
            wrap(source, "glob(n: int32)", prototype="int glob(int n)")


def test_hidden_functions_of_objects_are_called(tmp_path: Path) -> None:
    data = c_object(tmp_path, "int64_t f(int64_t n) { return n; }", "-fvisibility=hidden")
    assert wrap(data, "f(n: int64) -> r: int64", prototype="int64_t f(int64_t n)")["f"](3) == 3


def test_what_const_says(tmp_path: Path) -> None:
    """Python callers may pass read-only arrays to what the kernel only reads."""
    compiled = wrap(c_object(tmp_path, SOURCE), GEMV, device="cpu", prototype=PROTOTYPE, args=ARGS)
    params = [each.split(": ")[0] for each in str(compiled["gemv"].__doc__).split("intent=in")[:-1]]
    assert len(params) == 2
    a = np.ones((2, 3), "float32")
    a.flags.writeable = False
    y = np.zeros(2, "float32")
    compiled["gemv"](a, np.ones(3, "float32"), y)
    assert y.tolist() == [3, 3]
    y.flags.writeable = False
    with pytest.raises(ValueError, match="expected an array that can be written"):
        compiled["gemv"](a, np.ones(3, "float32"), y)


def test_an_object_without_functions(tmp_path: Path) -> None:
    data = c_object(tmp_path, "int x; static void k(void) {}")
    words = r"no function 'k'; it has none: export it \(no `static`"
    with pytest.raises(CompileError, match=words):
        wrap(data, "k()", prototype="void k(void)")


def test_directives_in_a_prototype(functions: bytes) -> None:
    text = f"#include <stdint.h>\n{PROTOTYPE};"
    check_gemv(wrap(functions, GEMV, device="cpu", prototype=text, args=ARGS))


@pytest.mark.parametrize("line", ["#include <vector>", "#include <cstdint>"])
def test_a_header_of_cxx(line: str, tmp_path: Path) -> None:
    data = c_object(tmp_path, SOURCE)
    header = tmp_path / "gemv.h"
    header.write_text(f"#include <stdint.h>\n{line}\n{PROTOTYPE};")
    words = r"it is C\+\+: guard that by `#ifdef __cplusplus`, or give the declaration as text"
    with pytest.raises(CompileError, match=words):
        wrap(data, GEMV, device="cpu", prototype=header, args=ARGS)
    header.write_text(f"#include <stdint.h>\n#ifdef __cplusplus\n{line}\n#endif\n{PROTOTYPE};")
    check_gemv(wrap(data, GEMV, device="cpu", prototype=header, args=ARGS))


def test_a_pointer_that_is_dropped() -> None:
    """Numba's LLVM IR returns one from a function without a result."""
    text = "define ptr @k(i64 %n) {\n  ret ptr null\n}"
    words = "drop it by prototype='void …', or add a result, as in `-> r: handle`"
    with pytest.raises(BuildError, match=words):
        wrap(text, "k(n: int64)")
    assert wrap(text, "k(n: int64)", prototype="void k(int64_t n)")(3) is None


@dataclass
class Config:
    alpha: float


def test_what_the_text_of_a_signature_lacks_is_kept(tmp_path: Path) -> None:
    """Sizes that the kernel takes as ints change the signature; nothing else changes."""
    source = "int f(int n, const float *x, double a, double b, int c, double *r)"
    data = c_object(tmp_path, source + " { *r = a + b + c + n; return 0; }")
    n = spec.Var("n", "int64")
    fields = [spec.Var("alpha", "float64")]
    signature = spec.Signature(
        "f",
        [
            spec.Tensor("x", [n], "float32", device_type="cpu", doc="the input"),
            spec.Struct("config", fields, Config),
            spec.Var("b", "float64", default=0.5),
            spec.Choice("act", {"relu": 3}, "int32", kw_only=True),
        ],
        returns=spec.Var("r", "float64"),
        doc="Adds numbers.",
    )
    args = ["n", "x", "config.alpha", "b", "act", "r"]
    f = wrap(data, signature, prototype=source, args=args).callable("f")
    assert f(np.ones(3, "float32"), Config(0.25), act="relu") == 6.75
    assert "Adds numbers." in str(f.__doc__)
    assert "the input" in str(f.__doc__)
    assert "n: int32" in str(f.__doc__)


STATUS = "define i32 @k(i64 %n) {\n  %s = trunc i64 %n to i32\n  ret i32 %s\n}"


def test_statuses_have_errors_of_their_own() -> None:
    errors = {2: ("ValueError", "the array is too small")}
    mlir = (
        "llvm.func @k(%n: i64) -> i32 {\n %s = llvm.trunc %n : i64 to i32\n llvm.return %s : i32\n}"
    )
    for source, prototype in ((STATUS, "int k(int64_t n)"), (STATUS, None), (mlir, None)):
        k = wrap(source, "k(n: int64)", errors=errors, prototype=prototype)
        k(0)
        with pytest.raises(ValueError, match="the array is too small when calling"):
            k(2)
        with pytest.raises(RuntimeError, match="k failed with status 3"):
            k(3)


def test_errors_need_a_status() -> None:
    errors = {2: ("ValueError", "the array is too small")}
    nothing = "llvm.func @k(%n: i64) {\n llvm.return\n}"
    lacks = "`k` returns none$"
    is_result = "the signature has it as the result 's' of `k`: leave that out"
    for source, signature, words in (
        (STATUS, "k(n: int64) -> s: int32", is_result),
        (nothing, "k(n: int64)", lacks),
    ):
        with pytest.raises(BuildError, match=f"errors= needs a status, but {words}"):
            wrap(source, signature, errors=errors)
    is_written = "'s' is a result that it writes by a pointer; check it in Python, or in a function"
    writes = "define void @k(i64 %n, ptr %s) {\n  ret void\n}"
    with pytest.raises(BuildError, match=is_written):
        wrap(writes, "k(n: int64) -> s: int32", errors=errors)


@pytest.mark.parametrize(
    "options", [{"prototype": "int k(int64_t n)"}, {"errors": {2: ("ValueError", "small")}}]
)
def test_what_a_provider_would_ignore_is_refused(options: dict[str, Any]) -> None:
    provider_of_k = providers.CheckStatus(providers.DirectCallProvider("k"))
    for provider in (providers.DirectCallProvider, provider_of_k):
        with pytest.raises(TypeError, match="prototype= and errors= go without provider="):
            wrap(STATUS, "k(n: int64)", provider=provider, **options)
    k = wrap(STATUS, "k(n: int64)", provider=provider_of_k)
    with pytest.raises(RuntimeError, match="status 3"):
        k(3)
