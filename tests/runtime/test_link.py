"""Symbols between objects and the process, and what only a real linker does: constructors, unwinding."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import runtime
from ffi_builder.errors import CompileError, LinkError
from ffi_builder.runtime.files import object_files
from tests.runtime.samples import (
    c_object,
    llvm_entry,
    mlir_entry,
    needs_aarch64,
    needs_cc,
    needs_cxx,
    run_child,
)


@pytest.fixture(autouse=True)
def _quiet(capfd: pytest.CaptureFixture[str]) -> Any:  # pyright: ignore[reportUnusedFunction]
    yield
    assert capfd.readouterr().err == ""


MISSING = [
    # what is declared, what is done with it, and the error
    ("i64 @first(i64)\ndeclare i64 @second(i64)", "%a = call i64 @first(i64 %v)\n %x = call i64 @second(i64 %a)", r"define: `first`, `second`; pass .* link="),
    ("void @memrefCopy(i64, ptr, ptr)", "call void @memrefCopy(i64 0, ptr null, ptr null)\n%x = add i64 0, 0", "torch-mlir's pass refback-munge-memref-copy makes loops"),
    ("i64 @llvm.nosuch(i64)", "%x = call i64 @llvm.nosuch(i64 %v)", "`llvm.nosuch`; LLVM has no intrinsic of that name"),
]  # fmt: skip


@pytest.mark.parametrize(("declared", "body", "words"), MISSING)
def test_missing_symbols_are_named(declared: str, body: str, words: str) -> None:
    text = f"declare {declared}\n{llvm_entry('f', body)}"
    with pytest.raises(LinkError, match=words):
        runtime.compile(text)
    if "@first" in declared:
        with pytest.raises(LinkError, match=r"define: `second`;"):
            runtime.compile(text, link=["define i64 @first(i64 %v) { ret i64 %v }"])


def test_a_missing_symbol_of_mlir() -> None:
    text = "llvm.func @far(i64) -> i64" + mlir_entry("f", "%x = llvm.call @far(%v) : (i64) -> i64")
    with pytest.raises(LinkError, match="`far`"):
        runtime.compile(text)


def test_a_symbol_defined_twice_is_named() -> None:
    with pytest.raises(LinkError, match=r"Defined in more than one .*: `__tvm_ffi_f`$"):
        runtime.compile(llvm_entry("f"), link=[llvm_entry("f"), llvm_entry("g")])
    with pytest.raises(LinkError, match=r"`__tvm_ffi_g`"):
        runtime.compile(llvm_entry("f"), link=[llvm_entry("g"), llvm_entry("g")])


def test_weak_symbols_may_be_missing_or_defined_twice() -> None:
    maybe = "declare extern_weak i64 @maybe(i64)\n" + llvm_entry(
        "f", "%null = icmp eq ptr @maybe, null\n  %x = zext i1 %null to i64"
    )
    assert runtime.compile(maybe)["f"](5) == 1
    shared = "define weak i64 @shared(i64 %v) {\n ret i64 7\n}\n"
    f = shared + llvm_entry("f", "%x = call i64 @shared(i64 %v)")
    g = shared + llvm_entry("g", "%x = call i64 @shared(i64 %v)")
    compiled = runtime.compile(f, link=[g])
    assert (compiled["f"](0), compiled["g"](0)) == (7, 7)


OTHERS = {
    # what is declared, what is done with %v, and %x for 42 or -27
    "the process": ("i64 @labs(i64)", "%x = call i64 @labs(i64 %v)", -27, 27),
    "libtvm_ffi": ("i32 @TVMFFITypeKeyToIndex(ptr, ptr)", "%p = icmp ne ptr @TVMFFITypeKeyToIndex, null\n %x = zext i1 %p to i64", 42, 1),
    "a library": ("double @cbrt(double)", "%d = sitofp i64 %v to double\n %r = call double @cbrt(double %d)\n %x = fptosi double %r to i64", -27, -3),
    "i128": ("void @abort()", "%w = sext i64 %v to i128\n %q = sdiv i128 %w, %w\n %x = trunc i128 %q to i64", 42, 1),
    "half": ("void @abort()", "%h = sitofp i64 %v to half\n %g = fadd half %h, %h\n %x = fptosi half %g to i64", 42, 84),
    "fp128": ("void @abort()", "%h = sitofp i64 %v to fp128\n %g = fadd fp128 %h, %h\n %x = fptosi fp128 %g to i64", 42, 84),
}  # fmt: skip


@pytest.mark.parametrize("where", OTHERS)
def test_what_others_define_is_found(where: str) -> None:
    """The last three are the compiler's own helpers, which unoptimised code calls."""
    declared, body, given, expected = OTHERS[where]
    text = f"declare {declared}\n{llvm_entry('f', body)}"
    assert runtime.compile(text, opt_level=0)["f"](given) == expected


@pytest.mark.parametrize("attributes", ["", "noinline optnone "])
@pytest.mark.parametrize("level", [0, 2])
def test_a_variadic_function_of_c(level: int, attributes: str) -> None:
    """More integers and floats than there are registers for; machines and levels differ in how."""
    digits = "12345678912345678"
    ints, floats = digits[:14:2], digits[1:14:2] + digits[14:]
    pairs = [f"i32 {i}, double {f}.0" for i, f in zip(ints, floats, strict=False)]
    values = ", ".join([*pairs, *(f"double {f}.0" for f in digits[14:])])
    form = "%d%.0f" * 7 + "%.0f" * 3
    text = (
        f'@form = private constant [{len(form) + 1} x i8] c"{form}\\00"\n'
        "declare i32 @snprintf(ptr, i64, ptr, ...)\ndeclare i64 @atoll(ptr)\n"
    ) + llvm_entry(
        "f",
        "%to_read = alloca [32 x i8]\n"
        "  %n = call i32 (ptr, i64, ptr, ...) "
        f"@snprintf(ptr %to_read, i64 32, ptr @form, {values})\n"
        "  %x = call i64 @atoll(ptr %to_read)",
    ).replace("{", f"{attributes}{{", 1)
    assert runtime.compile(text, opt_level=level)["f"](0) == int(digits)


@needs_cc
def test_c_calls_llvm_and_back(tmp_path: Path) -> None:
    data = c_object(tmp_path, "int64_t twice(int64_t); ENTRY(f) { RETURN(twice(args[1])); }")
    twice = "define i64 @twice(i64 %v) {\n  %x = add i64 %v, %v\n  ret i64 %x\n}"
    assert runtime.compile(data, link=[twice])["f"](21) == 42


CTORS = """
@state = internal global i64 0
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @begin, ptr null }]
define internal void @begin() {
  store i64 40, ptr @state
  ret void
}
"""


@needs_aarch64
@needs_cc
@pytest.mark.parametrize("flags", [["-fpic"], ["-fPIE"], ["-fno-pic", "-mcmodel=large"]])
def test_code_models_that_the_jit_can_link(tmp_path: Path, flags: list[str]) -> None:
    source = """
        #include <stdlib.h>
        extern char **environ;
        static int64_t own[2] = {1, 40}; int64_t shared = 1;
        __attribute__((noinline)) static int64_t of(int64_t (*f)(int64_t), int64_t v) { return f(v); }
        ENTRY(f) { RETURN(own[args[1]] + of(labs, -args[1]) + (environ == 0) + (shared++ > 1)); }"""
    f = runtime.compile(c_object(tmp_path, source, *flags))["f"]
    assert [f(1), f(1)] == [41, 42]


ATOMICS = """
#define EACH(type) { \
  type v = (type)args[1], w = 3; \
  sum += __atomic_fetch_add(&v, 7, __ATOMIC_ACQ_REL); \
  sum = sum * 31 + __atomic_fetch_or(&v, 64, __ATOMIC_RELAXED); \
  sum = sum * 31 + __atomic_fetch_and(&v, 0xF5, __ATOMIC_ACQUIRE); \
  sum = sum * 31 + __atomic_fetch_xor(&v, 0x0F, __ATOMIC_RELEASE); \
  sum = sum * 31 + __sync_fetch_and_sub(&v, 9); \
  sum = sum * 31 + __atomic_exchange_n(&v, 200, __ATOMIC_SEQ_CST); \
  sum = sum * 31 + __atomic_compare_exchange_n(&v, &w, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED); \
  sum = sum * 31 + w + __sync_val_compare_and_swap(&v, (type)200, 5) + v; }
ENTRY(f) {
  uint64_t sum = 0;
  EACH(uint8_t) EACH(int16_t) EACH(uint32_t) EACH(int64_t)
  RETURN((int64_t)(sum & 0xFFFFFFFFFFFF));
}"""


@needs_cc
@pytest.mark.parametrize("optimisation", ["-O0", "-O2"])
def test_atomic_operations_of_c(tmp_path: Path, optimisation: str) -> None:
    """gcc for AArch64 calls functions of libgcc.a for them, unless it is told not to."""
    given = c_object(tmp_path, ATOMICS, optimisation)
    inline = ["-mno-outline-atomics"] if platform.machine() == "aarch64" else []
    expected = runtime.compile(c_object(tmp_path, ATOMICS, optimisation, *inline))["f"]
    found = runtime.compile(given)["f"]
    numbers = (0, 1, 2, 100, 255, -1, -30000)
    assert [found(number) for number in numbers] == [expected(number) for number in numbers]


@needs_cxx
def test_counted_pointers_of_cxx(tmp_path: Path) -> None:
    source = """
        #include <memory>
        extern "C" ENTRY(f) {
          std::shared_ptr<int64_t> one = std::make_shared<int64_t>(args[1]), two = one;
          RETURN(*two * 10 + one.use_count());
        }"""
    assert runtime.compile(c_object(tmp_path, source, compiler="g++"))["f"](4) == 42


@needs_cxx
def test_cxx_exceptions_and_the_cxx_library(tmp_path: Path) -> None:
    source = """
        #include <stdexcept>
        #include <string>
        __attribute__((noinline)) static void fail(int64_t n) {
          throw std::runtime_error("failed at " + std::to_string(n));
        }
        extern "C" ENTRY(f) {
          try { fail(args[1]); } catch (const std::exception& error) {
            RETURN((int64_t)std::string(error.what()).size());
          }
          RETURN(0);
        }"""
    assert runtime.compile(c_object(tmp_path, source, compiler="g++"))["f"](42) == 12


@needs_cxx
def test_an_exception_passes_through_generated_code(tmp_path: Path) -> None:
    source = """
        extern "C" int64_t middle(int64_t);
        extern "C" int64_t thrower(int64_t n) { throw n; }
        extern "C" ENTRY(f) { try { middle(args[1]); } catch (int64_t n) { RETURN(n + 1); } RETURN(0); }
        """
    middle = """
        declare i64 @thrower(i64)
        define i64 @middle(i64 %n) noinline {
          %x = call i64 @thrower(i64 %n)
          %y = add i64 %x, 1
          ret i64 %y
        }"""
    compiled = runtime.compile(c_object(tmp_path, source, compiler="g++"), link=[middle])
    assert compiled["f"](41) == 42


def test_renaming_symbols() -> None:
    data = runtime.compile(llvm_entry("f")).object
    renamed = object_files.rename_symbols(data, {"__tvm_ffi_f": "__tvm_ffi_a_longer_name"})
    assert runtime.compile(renamed)["a_longer_name"](41) == 42
    assert [symbol.name for symbol in object_files.read_object(renamed).symbols] == [
        "__tvm_ffi_a_longer_name"
    ]


@needs_cc
@pytest.mark.parametrize(
    "flags",
    [("-g",), ("-g", "-gz"), ("-ffunction-sections", "-fdata-sections"), ("-O0",), ("-fcommon",)],
)
def test_objects_as_compilers_make_them(tmp_path: Path, flags: tuple[str, ...]) -> None:
    data = c_object(
        tmp_path, "int64_t one[1]; ENTRY(f) { one[0] = 1; RETURN(args[1] + one[0]); }", *flags
    )
    assert runtime.compile(data)["f"](41) == 42


def test_any_bytes_are_refused_in_words() -> None:
    data = runtime.compile(llvm_entry("f")).object
    for at in range(0, len(data), 7):
        for value in (0, 0xFF):
            damaged = data[:at] + bytes([value]) + data[at + 1 :]
            try:
                object_files.read_object(damaged)
            except CompileError:
                continue


@pytest.mark.slow
def test_a_process_ends_quietly_with_code_loaded() -> None:
    done = run_child("""
        import threading
        from ffi_builder import runtime
        from tests.runtime.test_link import CTORS
        from tests.runtime.test_threads import counting
        kept = runtime.compile(CTORS + counting("internal"))["count"]
        thread = threading.Thread(target=kept, args=(1,))
        thread.start()
        thread.join()
        print(kept(35), flush=True)
        """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "")
