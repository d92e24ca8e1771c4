"""``prototype=``: the types that an object lacks, and what they are compared with."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffi_builder import BuildError, CompileError, providers, wrap
from tests.runtime.samples import c_object, needs_cc
from tests.wrapping.kernels import ARGS, GEMV, PROTOTYPE, SOURCE, check_gemv

pytest.importorskip("pycparser")
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
    with pytest.raises(CompileError, match=r"no_such_header.h: No such file"):
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


def test_a_narrow_size_is_checked(tmp_path: Path) -> None:
    data = c_object(tmp_path, "int64_t f(int8_t n, const void *x) { return n; }")
    prototype = "int64_t f(int8_t n, const void *x)"
    for signature in (
        "f(x: Tensor([n], int8)) -> r: int64",
        "f(x: Tensor([n], int8)) -> r: int64 where n % 2 == 0",
    ):
        f = wrap(data, signature, device="cpu", prototype=prototype)["f"]
        assert f(np.zeros(100, "int8")) == 100
        with pytest.raises(ValueError, match=r"a value that fits int8 \(-128 to 127\) but got 128"):
            f(np.zeros(128, "int8"))


def test_results_and_constants(tmp_path: Path) -> None:
    source = "double f(float a, short n, const char *s, double *p) { return p ? 0 : a * n * s[0]; }"
    data = c_object(tmp_path, source)
    prototype = "double f(float a, short n, const char *s, double *p)"
    compiled = wrap(data, "f() -> r: float64", prototype=prototype, args=[2.5, 4, b"A", None])
    assert compiled["f"]() == 650
    with pytest.raises(
        BuildError, match=r"args= has 1e[+]300, but argument #0 .* does not hold it"
    ):
        wrap(data, "f() -> r: float64", prototype=prototype, args=[1e300, 4, b"A", None])
    with pytest.raises(BuildError, match="args= has 70000, but argument #1 of the callee"):
        wrap(data, "f() -> r: float64", prototype=prototype, args=[1.0, 70000, b"A", None])
    with pytest.raises(BuildError, match=r"argument #3 .*ptr|NULL|takes"):
        wrap(data, "f() -> r: float64", prototype=prototype, args=[1.0, 4, b"A", 2])


@pytest.mark.parametrize(
    ("prototype", "words"),
    [
        ("int gemv(std::vector<int> x)", "prototype=: not read as C: prototype:1:13"),
        ("int gemv(int m\nint n)", "prototype:2:"),
        ("struct s gemv(int m)", "the result is a struct that is passed by value"),
        ("int gemv(struct s x)", "parameter x is a struct that is passed by value"),
        ("int gemv(int m, ...)", r"a function with `\.\.\.` cannot be called by a wrapper"),
        ("int gemv(long double m)", "parameter m is a long double, which no parameter of a sig"),
        ("int gemv(float _Complex m)", "_Complex"),
        ("int other(int m); int more(int n);", "the prototype declares no function 'gemv'; it has"),
        ("", "the prototype declares no function 'gemv'; it has none"),
        ("int gemv(void *ctx, int64_t m)", "has parameters that the signature lacks: ctx; write"),
    ],
)
def test_what_is_not_read(tmp_path: Path, prototype: str, words: str) -> None:
    data = c_object(tmp_path, SOURCE)
    with pytest.raises((CompileError, BuildError), match=words):
        wrap(data, GEMV, device="cpu", prototype=prototype)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("float32), x", "float64), x", "A points to float32, but the elements of 'A' are float64"),
        (
            "float32), x",
            "float32, intent=out), x",
            "A is const, so the kernel does not write to it",
        ),
    ],
)
def test_what_the_signature_contradicts(tmp_path: Path, old: str, new: str, words: str) -> None:
    data = c_object(tmp_path, SOURCE)
    with pytest.raises(BuildError, match=words):
        wrap(data, GEMV.replace(old, new), device="cpu", prototype=PROTOTYPE, args=ARGS)


def test_a_number_for_a_pointer(tmp_path: Path) -> None:
    data = c_object(tmp_path, SOURCE)
    args: list[Any] = [None, "m", "n", "m", "x", "y"]
    with pytest.raises(BuildError, match="argument #3"):
        wrap(data, GEMV, device="cpu", prototype=PROTOTYPE, args=args)


def test_without_types(tmp_path: Path) -> None:
    data = c_object(tmp_path, "int64_t f(int64_t n) { return n; }")
    with pytest.raises(
        BuildError, match=r'which arguments `f` takes.*: give prototype="int f\(…\)"'
    ):
        wrap(data, "f(n: int64) -> r: int64")
    f = wrap(data, "f(n: int64) -> r: int64", provider=providers.DirectCallProvider)["f"]
    assert f(3) == 3
    provider = providers.DirectCallProvider("f", args=["n"])
    assert wrap(data, "f(n: int64) -> r: int64", provider=provider)["f"](3) == 3
    with pytest.raises(TypeError, match="args= goes with a class in provider="):
        wrap(data, "f(n: int64) -> r: int64", provider=provider, args=["n"])


def test_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f.h").write_text("int f(void);")
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(CompileError, match=r"reading a header needs a C compiler \(\$CC, or cc\)"):
        wrap(b"", "f()", prototype=tmp_path / "f.h")


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
