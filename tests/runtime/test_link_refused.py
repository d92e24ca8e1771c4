"""Objects that the JIT cannot link, and their errors."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import runtime
from ffi_builder.errors import CompileError, LinkError
from tests.runtime.samples import c_object, llvm_entry, needs_aarch64, needs_cc


@pytest.fixture(autouse=True)
def _quiet(capfd: pytest.CaptureFixture[str]) -> Any:  # pyright: ignore[reportUnusedFunction]
    yield
    assert capfd.readouterr().err == ""


STATIC_THREAD_LOCAL = "static __thread int64_t c; ENTRY(f) { RETURN(c += args[1]); }"


@needs_aarch64
@needs_cc
def test_thread_locals_that_others_do_not_see(tmp_path: Path) -> None:
    f = runtime.compile(c_object(tmp_path, STATIC_THREAD_LOCAL))["f"]
    assert [f(1), f(1)] == [1, 2]


THREAD_LOCAL = "__thread int64_t c; ENTRY(f) { RETURN(++c); }"
ENVIRON = "extern char **environ; ENTRY(f) { RETURN((int64_t)environ); }"
IFUNC = """
static int one(void) { return 1; }
static int (*pick(void))(void) { return one; }
int g(void) __attribute__((ifunc("pick")));
ENTRY(f) { RETURN(g()); }
"""
CANNOT_LINK: dict[str, dict[str, tuple[str, list[str], str]]] = {
    "x86_64": {
        "tls": (THREAD_LOCAL, ["-mtls-dialect=gnu2"], "thread-local model"),
        "static-tls": (STATIC_THREAD_LOCAL, [], "thread-local model .* neither static nor hidden"),
        "absolute": ("int64_t a[2]; ENTRY(f) { RETURN((int64_t)a); }", ["-fno-pic", "-fno-pie"], "-fPIC"),
        "ifunc": (IFUNC, [], "`ifunc`.*`g`"),
    },
    "aarch64": {
        "general-dynamic": (THREAD_LOCAL, ["-mtls-dialect=trad"], "thread-local model .* no other .* -mtls-dialect"),
        "initial-exec": (THREAD_LOCAL, ["-ftls-model=initial-exec"], "thread-local model"),
        "local-exec": (STATIC_THREAD_LOCAL, ["-fPIE"], "as executables do: .* -fPIC"),
        "tiny": (ENVIRON, ["-fno-pic", "-mcmodel=tiny"], "without -mcmodel=tiny"),
        "tiny-pic": (ENVIRON, ["-mcmodel=tiny"], "does not know: .* no -mcmodel"),
        "direct": (ENVIRON, ["-fno-pic", "-fno-pie"], "another object or the process .* -fPIC"),
        "direct-function": ("#include <stdlib.h>\nENTRY(f) { RETURN((int64_t)labs); }", ["-fno-pic", "-fno-pie"], "another object or the process .* -fPIC"),
        "absolute-16": ('ENTRY(f) { RETURN(0); } __asm__(".data; .hword here; here:");', [], "relocations that the JIT does not know"),
        "ifunc": (IFUNC, [], "`ifunc`.*`g`"),
    },
}  # fmt: skip
HERE_CANNOT_LINK = CANNOT_LINK.get(platform.machine(), {})


@needs_cc
@pytest.mark.parametrize("case", HERE_CANNOT_LINK)
def test_what_the_jit_cannot_link(tmp_path: Path, case: str) -> None:
    source, flags, words = HERE_CANNOT_LINK[case]
    with pytest.raises(LinkError, match=words):
        runtime.compile(c_object(tmp_path, source, *flags))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="is about x86-64")
@needs_cc
def test_what_the_jit_cannot_link_is_named(tmp_path: Path) -> None:
    source = "static __thread int64_t c, d; int64_t f(int64_t n) { return (c += n) + (d -= n); }"
    source = f"ENTRY(g) {{ RETURN(0); }} {source}"
    with pytest.raises(LinkError) as raised:
        runtime.compile(c_object(tmp_path, source))
    assert type(raised.value) is LinkError
    assert str(raised.value).startswith("The object of `part.c` uses, for `c`, `d`, a thread-local")
    assert "or write a shared library with export_library" in str(raised.value)


@needs_cc
def test_objects_for_link_time_optimisation(tmp_path: Path) -> None:
    with pytest.raises(LinkError) as raised:
        runtime.compile(c_object(tmp_path, "ENTRY(f) { RETURN(args[1] + 1); }", "-flto"))
    assert str(raised.value) == (
        "The object of `part.c` has no code, only what GCC needs for link-time optimisation: "
        "compile it without -flto, or with -ffat-lto-objects"
    )
    flags = ("-flto", "-ffat-lto-objects")
    fat = c_object(tmp_path, "ENTRY(f) { RETURN(args[1] + 1); }", *flags)
    assert runtime.compile(fat)["f"](41) == 42


@needs_cc
@pytest.mark.parametrize(
    ("source", "flags"), [("static __thread int64_t c; ", ()), ("static int64_t c; ", ("-flto",))]
)
def test_a_library_links_what_the_jit_cannot(
    tmp_path: Path, source: str, flags: tuple[str, ...]
) -> None:
    add = "int64_t add(int64_t n) { return c += n; }"
    text = "declare i64 @add(i64)\n" + llvm_entry("f", "%x = call i64 @add(i64 %v)")
    lowered = runtime.lower(text, link=[c_object(tmp_path, source + add, *flags)])
    lowered.export_library(tmp_path / "f.so")
    f = runtime.load(tmp_path / "f.so")["f"]
    assert [f(1), f(1)] == [1, 2]


def test_damaged_llvm_bitcode() -> None:
    with pytest.raises(CompileError, match="Expected LLVM bitcode of LLVM 22 or earlier"):
        runtime.compile(llvm_entry("f"), link=[b"BC\xc0\xde5\x14\0\0"])
