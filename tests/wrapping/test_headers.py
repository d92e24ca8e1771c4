"""Headers: every function in them as the C compiler has it, and what ``wrap`` does with them."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import pytest

from ffi_builder import BuildError, CompileError, wrap
from ffi_builder.wrapping import libclang
from tests.runtime.samples import c_object, needs_cc
from tests.wrapping.census import compared
from tests.wrapping.libraries import read
from tests.wrapping.witness import declared_by, symbols

pytest.importorskip("clang.native")
pytestmark = needs_cc

HEADERS = Path(__file__).with_name("headers")
EVERYWHERE = (
    *("complex", "ctype", "dirent", "dlfcn", "fcntl", "fenv", "inttypes", "locale", "malloc", "math"),
    *("net/if", "netdb", "poll", "pthread", "sched", "search", "semaphore", "setjmp", "signal"),
    *("spawn", "stdatomic", "stdio", "stdlib", "string", "sys/mman", "sys/socket", "sys/stat"),
    *("sys/uio", "time", "uchar", "unistd", "wchar", "wctype"),
)  # fmt: skip
"""Headers of C's library, the compiler's and Linux', which come with every compiler."""
ELSEWHERE = (
    *("omp", "quadmath", "immintrin", "arm_neon", "fftw3", "lapacke", "cblas", "jpeglib", "sleef"),
    *("flint/fmpz", "gsl/gsl_blas", "suitesparse/umfpack", "zlib", "zstd", "sqlite3", "curl/curl"),
    *("openssl/evp", "linux/fs", "linux/io_uring", "Python", "png", "gmp", "mpfr", "hdf5"),
)
"""Headers that some machines have."""
REFUSED = (
    *("cannot be called by a wrapper", "which no parameter of a signature is", "passed by value"),
    *("declared without parameters", "definition of builtin function", "conflicting types for"),
    "returns twice",
)


def existing(names: tuple[str, ...]) -> list[str]:
    """Return those that the compiler finds, and accepts alone."""
    script = 'for name; do echo "#include <stdio.h>\n#include <$name.h>" | gcc -w -fsyntax-only -xc - && echo "$name"; done'
    done = subprocess.run(["sh", "-c", script, "sh", *names], capture_output=True, text=True)
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize("names", [EVERYWHERE, ELSEWHERE])
def test_functions_of_headers_are_as_the_compiler_has_them(names: tuple[str, ...]) -> None:
    """Their types, and the symbols that are called; of thousands that are alike, a part."""
    for header in existing(names):
        text = f"#define _GNU_SOURCE\n#include <stdio.h>\n#include <{header}.h>\n"
        declared = declared_by(text)
        some = [*declared][:: len(declared) // 80 + 1]
        found = compared(text, {name: declared[name] for name in some})
        assert found.differences == [], header
        for error in found.refused.values():
            assert any(words in error for words in REFUSED), error


def test_odd_declarations_are_as_the_compiler_has_them() -> None:
    """Those that no kernel may have are refused."""
    text = f'#include "{HEADERS / "odd.h"}"\n'
    functions = declared_by(text)
    found = compared(text, functions)
    assert found.differences == []
    own = set(functions) - set(declared_by("#include <complex.h>"))
    assert len(own) > 60
    assert {name for name in own if name.startswith("no_")} == own & found.refused.keys()
    for name in ("no_prototype", "no_prototypes"):  # GCC does not list them
        with pytest.raises(CompileError, match="declared without parameters"):
            read(text, name, name)


def test_the_symbol_of_a_function_of_a_header() -> None:
    """POSIX's strerror_r has another symbol than GNU's."""
    text = "#define _POSIX_C_SOURCE 200809L\n#include <string.h>"
    found = read(text, "strerror_r", "strerror_r")
    assert {"strerror_r": found.name} == symbols(text, ["strerror_r"])
    assert found.name != "strerror_r"


def test_a_function_with_another_symbol_is_called(tmp_path: Path) -> None:
    data = c_object(tmp_path, "int f(int x) { return x + 1; } int g(int x) { return x + 100; }")
    (tmp_path / "f.h").write_text('#pragma once\nint f(int x) __asm__("g");\n')
    for function in (None, "f"):
        f = wrap(data, "f(x: int32) -> r: int32", prototype=tmp_path / "f.h", function=function)
        assert f(1) == 101


def test_names_of_glibc_bind(tmp_path: Path) -> None:
    code = ctypes.CDLL("libm.so.6").atan2
    for signature in (
        "atan2(x: float64, y: float64) -> r: float64",
        "atan2(y: float64, x: float64) -> r: float64",
    ):
        atan2 = wrap(code, signature, prototype="#include <math.h>")
        assert atan2(x=1.0, y=0.0) == 0
    data = c_object(tmp_path, "double f(double a, double b) { return a - b; }")
    for names in ("_a, double _b", "A, double B", "a_, double b_"):
        prototype = f"double f(double {names})"
        assert wrap(data, "f(a: float64, b: float64) -> r: float64", prototype=prototype)(3, 1) == 2
        words = "f: parameter .* would get 'b', and not 'a': write args="
        with pytest.raises(BuildError, match=words):
            wrap(data, "f(b: float64, a: float64) -> r: float64", prototype=prototype)
        f = wrap(
            data, "f(b: float64, a: float64) -> r: float64", prototype=prototype, args=["a", "b"]
        )
        assert f(1, 3) == 2


def test_folders_to_include(tmp_path: Path) -> None:
    data = c_object(tmp_path, "int64_t f(int64_t n) { return n; }")
    folder = tmp_path / "-include"
    folder.mkdir()
    (folder / "types.h").write_text("typedef long my_int;\n")
    (folder / "-f.h").write_text('#include "types.h"\n#include <types.h>\nmy_int f(my_int n);\n')
    signature = "f(n: int64) -> r: int64"
    assert wrap(data, signature, prototype=folder / "-f.h", include=[folder])(3) == 3
    assert wrap(data, signature, prototype="#include <-f.h>", include=[str(folder)])(3) == 3
    with pytest.raises(CompileError, match=r"-f.h:2:10: 'types.h' file not found"):
        wrap(data, signature, prototype=folder / "-f.h")
    for options, words in (
        ({"prototype": folder / "-f.h", "include": "."}, r"folders: write include=\['\.'\]"),
        ({"prototype": folder / "-f.h", "include": folder}, r"of folders: write include=\['/"),
        ({"prototype": folder / "-f.h", "include": 3}, "include= is a list of folders, but got 3"),
        ({"include": [folder]}, "include= has folders of headers, and goes with prototype="),
    ):
        given: dict[str, Any] = options
        with pytest.raises(TypeError, match=words):
            wrap(data, signature, **given)


def test_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = c_object(tmp_path, "int64_t f(int64_t n) { return n; }")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.c").write_text("#include <stdint.h>\nint64_t f(int64_t n) { return n; }\n")
    (tmp_path / "-f.h").write_text("long f(long n);\n")
    for path in ("f.c", "./f.c", "-f.h", Path("-f.h"), tmp_path / "f.c"):
        assert wrap(data, "f(n: int64) -> r: int64", prototype=path)(3) == 3
    with pytest.raises(CompileError, match=r"there is no header g\.c"):
        wrap(data, "f(n: int64) -> r: int64", prototype="g.c")


def test_a_header_that_has_changed_is_read_again(tmp_path: Path) -> None:
    """Whichever of its files has."""
    (tmp_path / "f.h").write_text('#include "types.h"\nvoid f(my_int *n);\n')
    for c, dtype in (("int", "int32"), ("long", "int64"), ("short", "int16")):
        (tmp_path / "types.h").write_text(f"typedef {c} my_int; /* {dtype} */\n")
        assert read(tmp_path / "f.h", None, "f").params[0][1].dtype == dtype
    (tmp_path / "types.h").rename(tmp_path / "others.h")
    with pytest.raises(CompileError, match=r"types\.h' file not found"):
        read(tmp_path / "f.h", None, "f")
    (tmp_path / "others.h").rename(tmp_path / "types.h")
    assert read(tmp_path / "f.h", None, "f").params[0][1].dtype == "int16"


def test_the_second_function_of_a_header_is_there_already(tmp_path: Path) -> None:
    lines = (f"int f{at}(int layout, double *a, const float *b, long n);\n" for at in range(5000))
    (tmp_path / "f.h").write_text("".join(lines))
    read(tmp_path / "f.h", "f0", "f0")
    before = time.process_time()
    assert len(read(tmp_path / "f.h", "f4999", "f4999").params) == 4
    assert time.process_time() - before < 0.1


def test_the_compiler_says_how_headers_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its arguments, and by a script's."""
    script = tmp_path / "cc23"
    script.write_text('#!/bin/sh\nexec gcc -std=gnu2x -DWIDE=long "$@"\n')
    script.chmod(0o755)
    (tmp_path / "f.h").write_text(
        "#if __STDC_VERSION__ > 201710L\ntypedef __typeof__(nullptr) nullptr_t;\n#endif\n"
        "#ifndef __clang__\nvoid f(WIDE n, char c);\n#endif\n"
    )
    for compiler, dtypes in (
        ("gcc -DWIDE=int -funsigned-char", ["int32", "uint8"]),
        (f"'{script}' -fsigned-char", ["int64", "int8"]),
    ):
        monkeypatch.setenv("CC", compiler)
        found = read(tmp_path / "f.h", None, "f")
        assert [type_.dtype for _, type_ in found.params] == dtypes
    monkeypatch.setenv("CC", "gcc --no-such-option")
    with pytest.raises(CompileError, match=r"gcc, as which headers are read: .*no-such-option"):
        read(tmp_path / "f.h", None, "f")


def test_names_that_need_no_header_are_known_beside_headers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for standard in ("gnu11", "gnu2x"):
        monkeypatch.setenv("CC", f"gcc -std={standard}")
        found = read("#include <ctype.h>\nint f(bool x, int64_t y, wchar_t z);", "f", "f")
        assert [type_.dtype for _, type_ in found.params][:2] == ["bool", "int64"]


def test_headers_for_another_machine_need_its_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, only the machine's own macros are known."""
    arm, x86 = "aarch64-linux-gnu", "x86_64-linux-gnu"
    text = """
    #if defined(__aarch64__)
    void f(long n, char c);
    #elif defined(__x86_64__)
    void f(int n, char c);
    #endif
    """
    for target, dtypes in ((arm, ["int64", "uint8"]), (x86, ["int32", "int8"])):
        found = read(text, None, "f", target=target)
        assert [type_.dtype for _, type_ in found.params] == dtypes
    other = arm if platform.machine() == "x86_64" else x86
    text = "#include <stdint.h>\nvoid f(int64_t n, char c);"
    with pytest.raises(CompileError, match=r"'stdint.h' file not found; .* compiler that has it"):
        read(text, None, "f", target=other)
    if which(compiler := f"{other}-gcc") is not None:
        monkeypatch.setenv("CC", compiler)
        char = read(text, None, "f", target=other).params[1][1].dtype
        assert char == ("uint8" if other == arm else "int8")


def test_what_is_no_header_or_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = c_object(tmp_path, "int64_t f(int64_t n) { return n; }")
    (tmp_path / "f").write_text("long f(long n);")
    (tmp_path / "f.so").write_bytes(b"\x7fELF\xff\xfe\x00")
    (tmp_path / "folder").mkdir()
    signature = "f(n: int64) -> r: int64"
    for header in (Path("f"), "f", str(tmp_path / "f")):  # such as those of C++, without a suffix
        assert wrap(data, signature, prototype=header)(3) == 3
    for prototype, include, words in (
        (tmp_path, [], "there is no header /.*: it is a folder; name the header in it"),
        ("folder", [], "there is no header folder: it is a folder; name the header in it"),
        ("g.h", [], r"there is no header g\.h$"),
        ("f.so", [], r"prototype=: f\.so is no text in UTF-8: give a header"),
        ("long f(long n);", ["folder", "gone"], "include= has gone, which is no folder"),
        ("long f(long n);", [tmp_path / "f"], "include= has /.*/f, which is no folder"),
        ("/* none */", [], "the prototype declares no function 'f'; it has none$"),
    ):
        with pytest.raises(CompileError, match=words):
            wrap(data, signature, prototype=prototype, include=include)
    assert wrap(data, signature, prototype="long f(long n);", include=["folder"])(3) == 3


def test_without_libclang(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(package: str) -> None:
        raise libclang.PackageNotFoundError(package)

    monkeypatch.setattr(libclang, "distribution", none)
    libclang.bindings.cache_clear()
    with pytest.raises(
        CompileError,
        match=r"prototype= needs libclang: install it, as the extra ffi_builder\[prototype\] does",
    ):
        read("void f(long n)", None, "f", include=["."])
    libclang.bindings.cache_clear()


def test_bindings_of_others(tmp_path: Path) -> None:
    """Another package's ``clang`` neither breaks the reader, nor is it changed or loaded."""
    (tmp_path / "clang").mkdir()
    (tmp_path / "clang" / "__init__.py").write_text("")
    (tmp_path / "clang" / "cindex.py").write_text("raise ImportError('another clang')")
    script = """
    import sys
    from ffi_builder.wrapping.prototype import Header
    if {real}:
        from clang import cindex
        cindex.Config.set_library_file("/no/libclang.so")
    assert Header("int f(long n)").read(None, "f").params[0][1].dtype == "int64"
    if {real}:
        assert cindex.Config.library_file == "/no/libclang.so" and not cindex.Config.loaded
    else:
        assert not [name for name in sys.modules if name.split(".")[0] == "clang"]
    """
    for real, path in ((True, ""), (False, f"{tmp_path}")):
        command = [sys.executable, "-c", textwrap.dedent(script.format(real=real))]
        environment: dict[str, Any] = {**os.environ, "PYTHONPATH": path}
        subprocess.run(command, check=True, env=environment)


def test_memory_for_vectors_is_aligned(tmp_path: Path) -> None:
    data = c_object(tmp_path, "void k(void) { }")
    prototype = "typedef float v __attribute__((aligned(32))); void k(v *x)"
    k = wrap(data, "k(x: Tensor([n], float32))", device="cpu", prototype=prototype)
    memory: Any = np.zeros(256, "uint8")
    start = -memory.ctypes.data % 32
    k(memory[start : start + 32].view("float32"))
    with pytest.raises(ValueError, match=r"x\.data"):
        k(memory[start + 4 : start + 36].view("float32"))
