"""What ``link=`` takes besides LLVM IR and objects: archives and shared libraries."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path
from typing import Any

import pytest
import tvm_ffi

from ffi_builder import CompileError, LinkError, runtime, wrap
from tests.runtime.samples import c_library, c_object, llvm_entry, needs_cc, needs_cxx, run_child

pytestmark = needs_cc
CALLS = "declare i64 @scaled(i64)\n" + llvm_entry("f", "%x = call i64 @scaled(i64 %v)")


def archive(folder: Path, *sources: str) -> Path:
    path = folder / "libparts.a"
    for index, source in enumerate(sources):
        c_object(folder, source)
        member = (folder / "part.o").rename(folder / f"a-member-with-a-long-name-{index}.o")
        subprocess.run(["ar", "rcs", path, member], check=True)
    return path


def both_ways(module: str, link: list[object], folder: Path) -> list[int]:
    """Call it as the JIT loads it, and as a library."""
    compiled = runtime.compile(module, link=link)  # pyright: ignore[reportArgumentType]
    compiled.export_library(folder / "f.so")
    return [compiled["f"](7), runtime.load(folder / "f.so")["f"](7)]


def test_the_objects_of_an_archive_that_are_needed(tmp_path: Path) -> None:
    path = archive(
        tmp_path,
        "int64_t by(void); int64_t scaled(int64_t n) { return n * by(); }",
        "int64_t by(void) { return 6; }",
        "int64_t nowhere(void); int64_t other(void) { return nowhere(); }",
    )
    assert both_ways(CALLS, [path], tmp_path) == [42, 42]
    assert both_ways(CALLS, [path.read_bytes()], tmp_path) == [42, 42]


def test_archives_need_each_other(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = archive(
        tmp_path / "a", "int64_t by(void); int64_t scaled(int64_t n) { return n * by(); }"
    )
    second = archive(tmp_path / "b", "int64_t by(void) { return 6; }")
    assert both_ways(CALLS, [second, first], tmp_path) == [42, 42]


def test_a_shared_library(tmp_path: Path) -> None:
    source = "int64_t by = 6; int64_t scaled(int64_t n) { return n * by; }"
    path = c_library(tmp_path, source, "libscaled.so")
    assert both_ways(CALLS, [path], tmp_path) == [42, 42]
    assert both_ways(CALLS, [str(path)], tmp_path) == [42, 42]


def test_a_variable_of_a_shared_library(tmp_path: Path) -> None:
    path = c_library(tmp_path, "int64_t factor_of_a_library = 6;", "libfactor.so")
    text = "@factor_of_a_library = external global i64\n" + llvm_entry(
        "f", "%by = load i64, ptr @factor_of_a_library\n%x = mul i64 %v, %by"
    )
    assert both_ways(text, [path], tmp_path) == [42, 42]


def test_two_libraries_with_functions_of_one_name(tmp_path: Path) -> None:
    """Each module calls its own: what a library has is not made global for that."""
    found: list[runtime.CompiledModule] = []
    for number in (2, 3):
        source = f"int64_t scaled(int64_t n) {{ return n * {number}; }}"
        path = c_library(tmp_path, source, f"libscaled{number}.so")
        found.append(runtime.compile(CALLS, link=[path]))
    assert [compiled["f"](7) for compiled in found] == [14, 21]


BY = "@by = external global i64\n" + llvm_entry("f", "%b = load i64, ptr @by\n%x = mul i64 %v, %b")


def test_two_libraries_with_variables_of_one_name(tmp_path: Path) -> None:
    """Each module reads its own, also if the other's library needs the one that defines it."""
    calls: list[runtime.CompiledModule] = []
    for number in (2, 3):
        library = c_library(tmp_path, f"int64_t by = {number};", f"libby{number}.so")
        needs = c_library(tmp_path, "", f"libneeds{number}.so", "-Wl,--no-as-needed", library)
        calls += [runtime.compile(BY, link=[item]) for item in (library, needs)]
    assert [compiled["f"](7) for compiled in calls] == [14, 14, 21, 21]


def test_a_function_of_what_a_library_needs(tmp_path: Path) -> None:
    source = "int64_t scaled(int64_t n) { return n * 6; }"
    needs = c_library(
        tmp_path,
        "",
        "libneeds.so",
        "-Wl,--no-as-needed",
        c_library(tmp_path, source, "libscaled.so"),
    )
    assert runtime.compile(CALLS, link=[needs])["f"](7) == 42


def test_a_constant_with_the_address_of_a_variable(tmp_path: Path) -> None:
    """The process finds the variable, so there can be one of that name."""
    source = "extern int64_t by_constant; int64_t *at = &by_constant;\n"
    code = c_object(tmp_path, f"{source}int64_t scaled(int64_t n) {{ return n * *at; }}")
    paths = [c_library(tmp_path, f"int64_t by_constant = {n};", f"lib{n}.so") for n in (6, 7)]
    for _ in range(2):
        assert runtime.compile(CALLS, link=[code, paths[0]])["f"](7) == 42
    with pytest.raises(
        LinkError, match=r"`by_constant` of .*lib7\.so is hidden by one of that name"
    ):
        runtime.compile(CALLS, link=[code, paths[1]])


def test_a_library_of_the_system(tmp_path: Path) -> None:
    text = "declare i64 @labs(i64)\n" + llvm_entry("f", "%x = call i64 @labs(i64 %v)")
    assert both_ways(text, ["-lm", "-lc"], tmp_path) == [7, 7]
    with pytest.raises(
        LinkError, match=r"-lnone_of_that_name: .* as '\./libnone_of_that_name\.so'$"
    ):
        runtime.compile(text, link=["-lnone_of_that_name"])


# The JIT does not know the usual model of x86-64, and knows that of AArch64.
MODEL = "" if platform.machine() == "x86_64" else '__attribute__((tls_model("initial-exec")))'
THREAD_LOCAL = f"static __thread int64_t c {MODEL}; int64_t scaled(int64_t n) {{ return c += n; }}"


def test_what_the_jit_cannot_load_goes_through_the_linker(tmp_path: Path) -> None:
    words = (
        "^The C compiler has linked what the JIT cannot load to a shared library, which stays "
        "loaded; the functions work. {}. A shared library as source avoids this step$"
    )
    data = c_object(tmp_path, THREAD_LOCAL)
    model = r"uses, for `[.\w]+`, a thread-local model that the JIT does not know"
    with pytest.warns(UserWarning, match=words.format(f"The object of `part.c` {model}")):
        compiled = runtime.compile(CALLS, link=[data])
    assert [compiled["f"](7), compiled["f"](7)] == [7, 14]
    with pytest.warns(UserWarning, match="The C compiler has linked"):
        assert both_ways(CALLS, [archive(tmp_path, THREAD_LOCAL)], tmp_path) == [7, 7]


@pytest.mark.parametrize("is_one", [False, True])
def test_functions_beside_what_the_jit_cannot_load(tmp_path: Path, *, is_one: bool) -> None:
    other = llvm_entry("g", "%x = add i64 %v, 1")
    linked: list[Any] = [c_object(tmp_path, THREAD_LOCAL), runtime.lower(other).object]
    if is_one:
        (tmp_path / "g.o").write_bytes(linked[1])
        parts = [tmp_path / "part.o", tmp_path / "g.o"]
        subprocess.run(["gcc", "-r", "-nostdlib", *parts, "-o", tmp_path / "one.o"], check=True)
        linked = [tmp_path / "one.o"]
    with pytest.warns(UserWarning, match="The C compiler has linked"):
        compiled = runtime.compile(CALLS, link=linked)
    assert compiled.functions == ("f", "g")
    assert [compiled["f"](7), compiled["g"](7), compiled["f"](7)] == [7, 8, 14]


def test_parameters_of_functions_beside_what_the_jit_cannot_load(tmp_path: Path) -> None:
    prototype = "int64_t g(int64_t n)"
    kernel = c_object(tmp_path, f"{prototype} {{ return n + 1; }}")
    path = tmp_path / "g_entry.o"
    wrap(kernel, "g(n: int64) -> r: int64", prototype=prototype).export_object(path)
    with pytest.warns(UserWarning, match="The C compiler has linked"):
        compiled = runtime.compile(CALLS, link=[c_object(tmp_path, THREAD_LOCAL), path, kernel])
    assert compiled.callable("g")(n=7) == 8


@needs_cxx
def test_thread_local_objects_of_cpp(tmp_path: Path) -> None:
    """No flag of the compiler makes these variables ones that the JIT loads."""
    source = """
    #include <string>
    static thread_local std::string first, second, third;
    extern "C" int64_t scaled(int64_t n) {
      first += "a"; second += "b"; third += "c";
      return n + first.size() + second.size();
    }
    """
    data = c_object(tmp_path, source, compiler="g++")
    model = "a thread-local model|the distance to what another object or the process defines"
    words = rf"work. The object of `part.cc` uses, for `\w+`, …, ({model})"
    with pytest.warns(UserWarning, match=words):
        compiled = runtime.compile(CALLS, link=[data, "-lstdc++"])
    assert [compiled["f"](7), compiled["f"](7)] == [9, 11]


def test_without_a_linker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = c_object(tmp_path, THREAD_LOCAL)
    monkeypatch.setenv("CC", "no-such-compiler")
    words = r"uses, for `[.\w]+`, a thread-local model .*Nor can the system's linker: .*no-such-compiler"
    with pytest.raises(LinkError, match=words):
        runtime.compile(CALLS, link=[data])


@pytest.mark.slow
def test_a_cache_keeps_code_that_calls_libraries(tmp_path: Path) -> None:
    """Their functions are elsewhere in another process."""
    path = c_library(tmp_path, "int64_t scaled(int64_t n) { return n * 6; }", "libscaled6.so")
    code = f"""
    from ffi_builder import runtime
    text = {CALLS!r}
    print(runtime.compile(text, link=[{str(path)!r}], cache_dir={str(tmp_path / "cache")!r})["f"](7))
    """
    assert [run_child(code).stdout for _ in "ab"] == ["42\n", "42\n"]
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_a_library_that_needs_the_one_of_tvm_ffi(tmp_path: Path) -> None:
    """It is loaded in a process that has not imported tvm_ffi."""
    source = """
    int TVMFFIGetVersion(void *version);
    int64_t scaled(int64_t n) { return n < 0 ? TVMFFIGetVersion(0) : 2 * n; }
    """
    folder = Path(tvm_ffi.__file__).parent / "lib"
    path = c_library(tmp_path, source, "libneeding.so", f"-L{folder}", "-ltvm_ffi")
    code = f"""
    from ffi_builder import wrap
    from ffi_builder.providers import DirectCallProvider
    provider = DirectCallProvider("scaled", args=["n"])
    print(wrap({str(path)!r}, "scaled(n: int64) -> r: int64", provider=provider)["scaled"](21))
    """
    assert run_child(code).stdout == "42\n"


def test_damaged_items(tmp_path: Path) -> None:
    path = archive(tmp_path, "int64_t scaled(int64_t n) { return n; }")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(
        CompileError, match=r"libparts.a: the archive is truncated or damaged at byte"
    ):
        runtime.compile(CALLS, link=[path])
    (tmp_path / "k.c").write_text("int f;")
    with pytest.raises(CompileError, match=r"k.c: .*; compile the source code to an object"):
        runtime.compile(CALLS, link=[tmp_path / "k.c"])
    path = c_library(tmp_path, "int64_t scaled(int64_t n) { return n; }", "libdamaged.so")
    data = path.read_bytes()
    path.write_bytes(data[:18] + b"\xf3\0" + data[20:])
    with pytest.raises(LinkError, match="this machine is"):
        runtime.compile(CALLS, link=[path])
