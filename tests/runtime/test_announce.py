"""JIT code is announced to `perf` and gdb, if that is asked for."""

from __future__ import annotations

import ctypes
import gc
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import runtime
from ffi_builder.errors import CompileError, LinkError
from ffi_builder.runtime import jit
from ffi_builder.runtime.files.object_files import functions_at
from ffi_builder.runtime.jit import announce
from tests.runtime.samples import ADD_ONE, c_object, llvm_entry, needs_cc, run_child
from tests.support.threads import together

VARIABLE = "FFI_BUILDER_JIT_SYMBOLS"

# `@kernel` is in no other object's sight. The function returns where it is called from in there.
WITH_KERNEL = """
declare ptr @llvm.returnaddress(i32)

define internal i64 @kernel() noinline {
  %at = call ptr @llvm.returnaddress(i32 0)
  %n = ptrtoint ptr %at to i64
  ret i64 %n
}
""" + llvm_entry("caller", "%x = call i64 @kernel()")
WITH_ADDRESS = """
define internal i64 @kernel(i64 %x) noinline {
  %n = add i64 %x, 1
  ret i64 %n
}
""" + llvm_entry(
    "where",
    "%one = call i64 @kernel(i64 0)\n  %at = ptrtoint ptr @kernel to i64\n  %x = mul i64 %at, %one",
)


@pytest.fixture
def perf(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """`perf` is asked for; yields the file that this process writes."""
    monkeypatch.setenv(VARIABLE, "perf")
    path = Path(announce.perf_map())
    yield path
    path.unlink(missing_ok=True)


def entries(path: Path) -> dict[str, range]:
    """The addresses of functions, by their names; the last line of a name counts."""
    lines = [line.split(" ", 2) for line in path.read_text().splitlines()]
    return {name: range(int(at, 16), int(at, 16) + int(size, 16)) for at, size, name in lines}


# ---- perf


def test_a_map_has_the_wrapper_at_its_address(perf: Path) -> None:
    compiled = runtime.compile(llvm_entry("mapped"))
    found = entries(perf)["__tvm_ffi_mapped"]
    assert found.start == compiled.address("mapped")
    assert 8 <= len(found) < 200


def test_a_map_has_functions_that_no_other_object_sees(perf: Path) -> None:
    where = runtime.compile(WITH_ADDRESS)["where"](0)
    assert entries(perf)["kernel"].start == where


def test_code_runs_inside_of_the_range_that_a_map_says(perf: Path) -> None:
    inside = runtime.compile(WITH_KERNEL)["caller"](0)
    found = entries(perf)
    assert inside in found["__tvm_ffi_caller"]
    assert inside not in found["kernel"]


@needs_cc
def test_a_map_has_the_functions_of_linked_objects(perf: Path, tmp_path: Path) -> None:
    source = """
        __attribute__((noinline)) static long helper(long x) { return x * x + 1; }
        __attribute__((section(".text.apart"))) long linked(long x) { return helper(x); }
    """
    data = c_object(tmp_path, source, "-O1", "-fPIC", "-c")
    text = "declare i64 @linked(i64)" + llvm_entry("f", "%x = call i64 @linked(i64 %v)")
    assert runtime.compile(text, link=[data])["f"](3) == 10
    assert {"__tvm_ffi_f", "linked", "helper"} <= set(entries(perf))


def test_code_from_the_compile_cache_is_in_the_map(perf: Path, tmp_path: Path) -> None:
    for _ in range(2):
        perf.unlink(missing_ok=True)
        compiled = runtime.compile(ADD_ONE, cache_dir=tmp_path)
        assert entries(perf)["__tvm_ffi_add_one"].start == compiled.address("add_one")


def test_threads_write_whole_lines(perf: Path) -> None:
    def work(index: int) -> None:
        runtime.compile(llvm_entry(f"thread_{index}"))

    together(work, 4)
    lines = perf.read_text().splitlines()
    assert all(re.fullmatch(r"[0-9a-f]+ [0-9a-f]+ \S+", line) for line in lines)
    assert {f"__tvm_ffi_thread_{index}" for index in range(4)} <= set(entries(perf))


@pytest.mark.slow
def test_a_forked_child_has_a_map_of_its_own_with_its_parents_code() -> None:
    child = run_child(f"""
        import os
        os.environ["{VARIABLE}"] = "perf"
        from ffi_builder import runtime
        from tests.runtime.samples import llvm_entry
        from tests.runtime.test_announce import entries
        from ffi_builder.runtime.jit import announce
        from pathlib import Path

        before = runtime.compile(llvm_entry("before"))
        pid = os.fork()
        after = runtime.compile(llvm_entry("after")) if pid == 0 else None
        if pid:
            os.waitpid(pid, 0)
        path = Path(announce.perf_map())
        print("child" if pid == 0 else "parent", *entries(path), flush=True)
        path.unlink()
        os._exit(0)
    """)
    assert child.stdout.splitlines() == [
        "child __tvm_ffi_before __tvm_ffi_after",
        "parent __tvm_ffi_before",
    ], child.stderr


def test_a_map_that_cannot_be_written_is_an_error(perf: Path) -> None:
    perf.symlink_to("/dev/null")  # whoever made it wants this process to write elsewhere
    with pytest.raises(OSError, match=re.escape(str(perf))):
        runtime.compile(llvm_entry("symlinked"))


# ---- gdb


class Entry(ctypes.Structure):
    """gdb's `struct jit_code_entry`."""


Entry._fields_ = [
    ("next", ctypes.POINTER(Entry)),
    ("previous", ctypes.POINTER(Entry)),
    ("address", ctypes.c_void_p),
    ("size", ctypes.c_uint64),
]


class Descriptor(ctypes.Structure):
    """gdb's `struct jit_descriptor`."""

    _fields_ = [
        ("version", ctypes.c_uint32),
        ("action", ctypes.c_uint32),
        ("relevant", ctypes.POINTER(Entry)),
        ("first", ctypes.POINTER(Entry)),
    ]


def listed() -> dict[str, int]:
    """The addresses of the functions in gdb's list, by their names."""
    from ffi_builder.runtime.jit import _gdb

    # From 3.15 on, Python has a list of its own, and the extension's names mean that one.
    process = ctypes.CDLL(None)
    pythons = hasattr(process, "__jit_debug_descriptor")
    library = process if pythons else ctypes.CDLL(str(_gdb.__file__))
    descriptor = Descriptor.in_dll(library, "__jit_debug_descriptor")
    assert (descriptor.version, descriptor.action) == (1, 0)
    assert hasattr(library, "__jit_debug_register_code")
    found: dict[str, int] = {}
    entry, before = descriptor.first, None
    while entry:
        previous = ctypes.addressof(entry.contents.previous[0]) if before else None
        assert previous == before
        data = ctypes.string_at(entry.contents.address or 0, entry.contents.size)
        found.update({name: at for at, _, name in functions_at(data, loaded_sections(data))})
        entry, before = entry.contents.next, ctypes.addressof(entry.contents)
    return found


def loaded_sections(data: bytes) -> dict[int, int]:
    from ffi_builder.formats.elf import Elf

    sections = Elf(data, "object", ValueError).sections
    return {number: section.address for number, section in enumerate(sections) if section.address}


@pytest.fixture
def gdb(monkeypatch: pytest.MonkeyPatch) -> None:
    """`gdb` is asked for."""
    pytest.importorskip("ffi_builder.runtime.jit._gdb")
    monkeypatch.setenv(VARIABLE, "gdb")


@pytest.mark.usefixtures("gdb")
def test_the_list_has_functions_at_their_addresses() -> None:
    compiled = runtime.compile(WITH_ADDRESS)
    found = listed()
    assert found["__tvm_ffi_where"] == compiled.address("where")
    assert found["kernel"] == compiled["where"](0)


@pytest.mark.usefixtures("gdb")
def test_the_list_keeps_code_as_long_as_a_function_does() -> None:
    function: Any = runtime.compile(llvm_entry("kept"))["kept"]
    other = runtime.compile(llvm_entry("other"))
    gc.collect()
    assert {"__tvm_ffi_kept", "__tvm_ffi_other"} <= set(listed())
    assert function(1) == 2
    del function
    gc.collect()
    assert "__tvm_ffi_kept" not in listed()
    assert listed()["__tvm_ffi_other"] == other.address("other")


@pytest.mark.usefixtures("gdb")
def test_code_that_does_not_link_is_not_listed() -> None:
    text = "declare i64 @no_such(i64)" + llvm_entry("unlinked", "%x = call i64 @no_such(i64 %v)")
    before = set(listed())
    with pytest.raises(LinkError, match="no_such"):
        runtime.compile(text)
    assert set(listed()) == before


@pytest.mark.usefixtures("gdb")
def test_threads_may_list_and_drop_code_together() -> None:
    gc.collect()
    before = listed()

    def work(index: int) -> None:
        for number in range(5):
            runtime.compile(llvm_entry(f"t_{index}_{number}"))

    together(work, 4)
    gc.collect()
    assert listed() == before


@pytest.mark.usefixtures("gdb")
@needs_cc
def test_destructors_of_the_code_run_all_the_same(tmp_path: Path) -> None:
    source = """
        static long *where;
        long remember(long x) { return *(where = (long *)x); }
        __attribute__((destructor)) static void at_end(void) { if (where) *where = 7; }
    """
    data = c_object(tmp_path, source, "-O1", "-fPIC", "-c")
    text = "declare i64 @remember(i64)" + llvm_entry("f", "%x = call i64 @remember(i64 %v)")
    value = ctypes.c_int64(3)
    assert runtime.compile(text, link=[data])["f"](ctypes.addressof(value)) == 3
    gc.collect()
    assert value.value == 7


# ---- asking


def test_nothing_is_written_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    path = Path(announce.perf_map())
    compiled = runtime.compile(llvm_entry("unasked"))
    assert compiled["unasked"](1) == 2
    assert not path.exists()
    monkeypatch.setenv(VARIABLE, "")
    runtime.compile(llvm_entry("unasked"))
    assert not path.exists()


def test_a_tool_that_is_not_known_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "perf, gbd")
    words = "`perf`, `gdb` or `perf,gdb` in FFI_BUILDER_JIT_SYMBOLS, got 'gbd', did you mean `gdb`"
    with pytest.raises(ValueError, match=words):
        runtime.compile(llvm_entry("unknown"))


def test_gdb_without_its_extension_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "gdb")
    monkeypatch.setitem(sys.modules, f"{jit.__name__}._gdb", None)
    monkeypatch.delattr(jit, "_gdb", raising=False)
    with pytest.raises(CompileError, match="an extension that was not built for this Python"):
        runtime.compile(llvm_entry("unlisted"))
