"""Objects of every kind: the JIT and a library run the same, or refuse the same in words."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ffi_builder import CompileError, LinkError, runtime
from ffi_builder.runtime.files import object_files
from tests.runtime.samples import c_library, c_object, llvm_entry, needs_cc, needs_cxx, needs_x86_64

pytestmark = [needs_cc, pytest.mark.slow]
X86_64 = platform.machine() == "x86_64"
CALLS = "declare i64 @kernel(i64)\n" + llvm_entry("f", "%x = call i64 @kernel(i64 %v)")
KERNEL = "int64_t kernel(int64_t n)"


class Kind(NamedTuple):
    """Sources that are compiled with the same flags, and linked."""

    source: str
    flags: tuple[str, ...] = ()
    other: str = ""
    words: str = ""
    """A pattern of the error, if it is refused."""
    machine: str = ""
    compiler: str = "gcc"
    library: str = ""
    """The source of a shared library."""


HIDDEN = '__attribute__((visibility("hidden")))'
TWO = "static __thread volatile int64_t a, b;"
COUNT = f"{KERNEL} {{ a++; b++; return n + (a == b); }}"
SHARED = f"extern __thread int64_t a; int64_t get(void); {KERNEL} {{ a = n + 1; return get(); }}"
GET = "__thread int64_t a = 5; int64_t get(void) { return a; }"
IFUNC = """static int64_t more(int64_t n) { return n + 1; }
    static void *pick(void) { return more; }"""
NESTED = f"""{KERNEL} {{
  int64_t more(int64_t m) {{ return m + n++ * 0 + 1; }}
  int64_t (*volatile f)(int64_t) = more;
  return f(n);
}}"""
NOTE = '__asm__(".section .note.GNU-stack,\\"x\\",%progbits\\n.text");'
SECTION = '__attribute__((section("{}"), used)) static void (*at)(void) = begin;'
BEGIN = "static int64_t one; void begin(void) { one = 1; }"
INLINE = "inline int64_t one = 1; int64_t *place();"
GLIBC = "GLIBC_2.2.5" if X86_64 else "GLIBC_2.17"

RUN: dict[str, Kind] = {
    "hidden": Kind(f"{HIDDEN} {KERNEL} {{ return n + 1; }}"),
    "hidden beside thread-locals": Kind(f"{TWO} {HIDDEN} {COUNT}"),
    "all hidden beside thread-locals": Kind(f"{TWO} {COUNT}", ("-fvisibility=hidden",)),
    "thread-locals": Kind(f"{TWO} {COUNT}"),
    "TLS descriptors": Kind(f"{TWO} {COUNT}", ("-mtls-dialect=gnu2",), machine="x86_64"),
    "TLS descriptors, optimised": Kind(
        f"{TWO} {COUNT}", ("-O2", "-mtls-dialect=gnu2"), machine="x86_64"
    ),
    "TLS descriptors of symbols": Kind(
        f"{TWO.replace('static', '')} {COUNT}", ("-mtls-dialect=gnu2",), machine="x86_64"
    ),
    "thread-locals without PLT": Kind(
        f"{TWO.replace('static', '')} {COUNT}", ("-fno-plt",), machine="x86_64"
    ),
    "thread-locals of the large model": Kind(
        f"{TWO.replace('static', '')} {COUNT}", ("-mcmodel=large",), machine="x86_64"
    ),
    "initial-exec": Kind(f"{TWO} {COUNT}", ("-ftls-model=initial-exec",)),
    "a thread-local of another object": Kind(SHARED, other=GET),
    "a thread-local of a library": Kind(SHARED, library=GET),
    "inline thread-locals of C++": Kind(
        f"inline thread_local int64_t a; int64_t get(); "
        f'extern "C" {KERNEL} {{ a = n + 1; return get(); }}',
        ("-std=c++17",),
        other="inline thread_local int64_t a; int64_t get() { return a; }",
        compiler="g++",
    ),
    "inline variables of C++": Kind(
        f'{INLINE} extern "C" {KERNEL} {{ return n + (place() == &one); }}',
        ("-std=c++17",),
        other=f"{INLINE} int64_t *place() {{ return &one; }}",
        compiler="g++",
    ),
    "a large code model": Kind(
        f"int64_t labs(int64_t); {KERNEL} {{ return labs(-n) + 1; }}",
        ("-mcmodel=large", "-fno-builtin"),
        machine="x86_64",
    ),
    "a static indirect function": Kind(
        f'{IFUNC} static int64_t g(int64_t) __attribute__((ifunc("pick")));'
        f"{KERNEL} {{ return g(n); }}"
    ),
    "an indirect kernel": Kind(f'{IFUNC} {KERNEL} __attribute__((ifunc("pick")));'),
    "internal visibility": Kind(
        '__attribute__((visibility("internal"), noinline)) int64_t more(int64_t n) { return n + 1; }'
        f"{KERNEL} {{ return more(n); }}"
    ),
    "a version of a symbol": Kind(
        f'__asm__(".symver old,labs@{GLIBC}"); int64_t old(int64_t);'
        f"{KERNEL} {{ return old(-n) + 1; }}"
    ),
    "the ends of a section": Kind(
        "extern int64_t __start_ones[], __stop_ones[];"
        '__attribute__((section("ones"), used)) static int64_t one = 1;'
        f"{KERNEL} {{ return n + (__stop_ones - __start_ones); }}"
    ),
    "an absolute symbol": Kind(
        f'{HIDDEN} extern int64_t one; __asm__(".data\\none: .quad number\\n.text");'
        f"{KERNEL} {{ return n + one; }}",
        other='__asm__(".globl number\\nnumber = 1");',
    ),
    ".init": Kind(
        f'{BEGIN} __asm__(".section .init,\\"ax\\",@progbits\\ncall begin@PLT\\n.text");'
        f"{KERNEL} {{ return n + one; }}",
        machine="x86_64",
    ),
    ".ctors": Kind(f"{BEGIN} {SECTION.format('.ctors')} {KERNEL} {{ return n + one; }}"),
    "common variables of two sizes": Kind(
        f"int64_t a[2], *get(void); {KERNEL} {{ return n + (get() == a); }}",
        ("-fcommon",),
        other="int64_t a[4]; int64_t *get(void) { return a; }",
    ),
    "a vector function of glibc": Kind(
        "double exp(double); __attribute__((noinline)) void all(double *a) { for (int i = 0; i < 64; i++) "
        f"a[i] = exp(a[i]); }} {KERNEL} {{ double a[64] = {{}}; all(a); return n + (a[7] == 1); }}",
        ("-O3", "-ffast-math"),
        machine="x86_64",
    ),
}
REFUSED: dict[str, Kind] = {
    "a nested function": Kind(
        NESTED, words="The object of `part.c` asks for an executable stack.*-ftrampoline-impl=heap"
    ),
    "a note about the stack": Kind(
        f"{KERNEL} {{ return n + 1; }} {NOTE}",
        words='executable stack.*note.GNU-stack,"",@progbits',
    ),
    "an executable stack beside thread-locals": Kind(
        f"{TWO} {COUNT} {NOTE}", words="executable stack"
    ),
    ".preinit_array": Kind(
        f"{BEGIN} {SECTION.format('.preinit_array')} {KERNEL} {{ return n + one; }}",
        words=r"\.preinit_array",
    ),
    "thread-locals of an executable": Kind(
        f"{TWO} {COUNT}",
        ("-fPIE", "-ftls-model=local-exec"),
        words="The object of `part.c` uses, for .*, thread-local variables as executables do: .* -fPIC",
    ),
}


def compiled(kind: Kind, folder: Path) -> list[Any]:
    """The objects and libraries of a kind. Skips the test if this machine has none."""
    if kind.machine not in ("", platform.machine()):
        pytest.skip(f"is about {kind.machine}")
    if shutil.which(kind.compiler) is None:
        pytest.skip(f"needs {kind.compiler}")
    found: list[Any] = [
        c_object(folder, source, *kind.flags, compiler=kind.compiler)
        for source in (kind.source, kind.other)
        if source
    ]
    if kind.library:
        found.append(c_library(folder, kind.library, "libother.so"))
    return found


def roads(link: list[Any], folder: Path) -> list[str]:
    """What the function returns, or the error, as the JIT loads it, and in a library."""
    return [_outcome(road, link, folder) for road in (_by_the_jit, _by_a_library)]


def _outcome(road: Callable[[list[Any], Path], Any], link: list[Any], folder: Path) -> str:
    try:
        f = road(link, folder)
    except (CompileError, LinkError) as error:
        return str(error)
    return str([f(6), f(41)])


def _by_the_jit(link: list[Any], folder: Path) -> Any:
    with warnings.catch_warnings():  # the C compiler may have linked it
        warnings.simplefilter("ignore", UserWarning)
        return runtime.compile(CALLS, link=link)["f"]


def _by_a_library(link: list[Any], folder: Path) -> Any:
    runtime.lower(CALLS, link=link).export_library(folder / "f.so")
    return runtime.load(folder / "f.so")["f"]


@pytest.mark.parametrize("kind", RUN)
def test_what_runs_both_ways(tmp_path: Path, kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert roads(compiled(RUN[kind], tmp_path), tmp_path) == ["[7, 42]", "[7, 42]"]
    assert capfd.readouterr().err == ""


def test_indirect_kernels_of_one_name(tmp_path: Path) -> None:
    """Each module calls its own, whichever the process has loaded first."""
    indirect = f'{IFUNC} {KERNEL} __attribute__((ifunc("pick")));'
    codes = [c_object(tmp_path, indirect.replace("n + 1", f"n + {at}")) for at in (1, 2)]
    functions = [_by_the_jit([code], tmp_path) for code in codes]
    assert [f(6) for f in functions] == [7, 8]


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("archived", [False, True])
def test_what_is_refused_both_ways(tmp_path: Path, kind: str, archived: bool) -> None:
    """No constructor has run then: none of these ends the process, as this one would."""
    fatal = "__attribute__((constructor)) static void fatal(void) { __builtin_trap(); }"
    case = REFUSED[kind]
    link = compiled(case._replace(source=f"{case.source} {fatal}"), tmp_path)
    if archived:
        subprocess.run(["ar", "rcs", "a.a", "part.o"], cwd=tmp_path, check=True)
        link = [tmp_path / "a.a"]
    for error in roads(link, tmp_path):
        assert re.search(case.words, error, re.DOTALL), error


def test_code_that_is_optimised_when_it_is_linked(tmp_path: Path) -> None:
    data = c_object(tmp_path, NESTED, "-flto")
    subprocess.run(["gcc-ar", "rcs", "a.a", "part.o"], cwd=tmp_path, check=True)
    errors = [*roads([data], tmp_path), roads([tmp_path / "a.a"], tmp_path)[1]]
    for error in errors:
        assert "Code that is optimised when it is linked asks for an executable stack" in error
    data = c_object(tmp_path, f"{KERNEL} {{ return n + 1; }}", "-flto")
    assert roads([data], tmp_path) == ["[7, 42]", "[7, 42]"]


TRAMPOLINE = """
declare void @llvm.init.trampoline(ptr, ptr, ptr)
declare ptr @llvm.adjust.trampoline(ptr)
define internal i64 @more(ptr nest %from, i64 %n) {
  %one = load i64, ptr %from
  %sum = add i64 %n, %one
  ret i64 %sum
}
define i64 @kernel(i64 %n) {
  %one = alloca i64
  store i64 1, ptr %one
  %code = alloca [32 x i8], align 16
  call void @llvm.init.trampoline(ptr %code, ptr @more, ptr %one)
  %place = alloca ptr
  %made = call ptr @llvm.adjust.trampoline(ptr %code)
  store volatile ptr %made, ptr %place
  %f = load volatile ptr, ptr %place
  %result = call i64 %f(i64 %n)
  ret i64 %result
}
"""


@needs_x86_64
def test_code_of_llvm_asks_for_an_executable_stack_without_words(tmp_path: Path) -> None:
    """As flang's code for internal procedures that are passed: LLVM leaves out the note."""
    for error in roads([TRAMPOLINE], tmp_path):
        assert "asks for an executable stack" in error


def test_objects_that_say_nothing_about_the_stack(tmp_path: Path) -> None:
    """As those of assembly: they run, and their library asks for no executable stack."""
    c_object(tmp_path, f"{KERNEL} {{ return n + 1; }}")
    subprocess.run(["objcopy", "-R", ".note.GNU-stack", "part.o"], cwd=tmp_path, check=True)
    assert roads([tmp_path / "part.o"], tmp_path) == ["[7, 42]", "[7, 42]"]
    shown = subprocess.run(
        ["readelf", "-lW", tmp_path / "f.so"], capture_output=True, text=True, check=True
    ).stdout
    assert "GNU_STACK" in shown
    assert " RWE " not in shown


def test_an_archive_may_have_members_that_are_refused(tmp_path: Path) -> None:
    """Only those that are needed matter."""
    c_object(tmp_path, NESTED.replace("kernel", "unused"))
    subprocess.run(["ar", "rcs", "a.a", "part.o"], cwd=tmp_path, check=True)
    data = c_object(tmp_path, f"{KERNEL} {{ return n + 1; }}")
    assert roads([data, tmp_path / "a.a"], tmp_path) == ["[7, 42]", "[7, 42]"]


@needs_cxx
def test_objects_of_linkers_have_what_the_jit_knows(tmp_path: Path) -> None:
    """What compilers usually make has no oddities, and goes to no linker."""
    for flags in ((), ("-g",), ("-O3", "-march=native"), ("-fstack-protector-all",)):
        source = f"{KERNEL} {{ return n + 1; }}"
        assert object_files.read_object(c_object(tmp_path, source, *flags)).oddities == {}
    data = c_object(tmp_path, "#include <iostream>\n", compiler="g++")
    assert object_files.read_object(data).oddities == {}
