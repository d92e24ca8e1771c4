"""How long code lives, and what is freed, in whatever order and wherever things are dropped."""

from __future__ import annotations

import ctypes
import gc
import itertools
import os
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import attach, runtime
from ffi_builder.errors import CompileError
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Signature, Tensor, Var, dims
from tests.runtime.samples import (
    ADD_ONE,
    by_assembly,
    c_object,
    llvm_entry,
    mlir_entry,
    needs_cc,
    parse,
)
from tests.support.threads import together
from tests.support.wrapping import new_module

pytestmark = pytest.mark.slow

SOAK = int(os.environ.get("FFI_BUILDER_CYCLES", "1000"))
"""How often the longest tests compile and drop; `make soak` says 10,000."""


class Log:
    """Memory in which constructors and destructors write their numbers, in order."""

    def __init__(self) -> None:
        self._memory = (ctypes.c_int64 * 64)()

    @property
    def said(self) -> list[int]:
        return list(self._memory[1 : 1 + self._memory[0]])

    def note(self, symbol: str, number: int) -> str:
        """LLVM IR of a function that writes down a number."""
        return f"""
            define internal void @{symbol}() {{
              %p = inttoptr i64 {ctypes.addressof(self._memory)} to ptr
              %n = load i64, ptr %p
              %m = add i64 %n, 1
              store i64 %m, ptr %p
              %q = getelementptr i64, ptr %p, i64 %m
              store i64 {number}, ptr %q
              ret void
            }}"""

    def note_mlir(self, symbol: str, number: int) -> str:
        """The same in MLIR."""
        return f"""
            llvm.func @{symbol}() {{
              %base = llvm.mlir.constant({ctypes.addressof(self._memory)} : i64) : i64
              %one = llvm.mlir.constant(1 : i64) : i64
              %number = llvm.mlir.constant({number} : i64) : i64
              %p = llvm.inttoptr %base : i64 to !llvm.ptr
              %n = llvm.load %p : !llvm.ptr -> i64
              %m = llvm.add %n, %one : i64
              llvm.store %m, %p : i64, !llvm.ptr
              %q = llvm.getelementptr %p[%m] : (!llvm.ptr, i64) -> !llvm.ptr, i64
              llvm.store %number, %q : i64, !llvm.ptr
              llvm.return
            }}"""


def listed(kind: str, *entries: tuple[int, str]) -> str:
    """LLVM's list of constructors or destructors, with their priorities."""
    type_ = "{ i32, ptr, ptr }"
    items = ", ".join(f"{type_} {{ i32 {at}, ptr @{name}, ptr null }}" for at, name in entries)
    return f"\n@llvm.global_{kind} = appending global [{len(entries)} x {type_}] [{items}]\n"


def ending(log: Log, number: int = 0) -> str:
    """A part of a module that writes down when it is dropped."""
    return log.note(f"end{number}", number) + listed("dtors", (65535, f"end{number}"))


# ---- in any order


def test_a_compiled_module_is_freed_when_dropped() -> None:
    compiled = runtime.compile(ADD_ONE)
    alive = weakref.ref(compiled)
    f = compiled["add_one"]
    del compiled
    assert alive() is None
    assert f(41) == 42


def wrapper() -> Any:
    """A module with a wrapper of one int."""
    module = new_module()
    attach(module, Signature("f", [Var("a", "int32", default=1)]), NopCallProvider())
    return module


def owners(log: Log) -> dict[str, Callable[[], object]]:
    """Things that keep the code of one module alive, each with a way to use it."""
    compiled = runtime.compile(wrapper(), link=[ending(log)], opt_level=0)
    return {
        "module": lambda: compiled["f"](1),
        "function": _calling(compiled["f"], 1),
        "another": _calling(compiled["f"], 1),
        "callable": _calling(compiled.callable("f")),
        "by address": _address_of(compiled),
    }


def _calling(function: Callable[..., object], *args: object) -> Callable[[], object]:
    return lambda: function(*args)


def _address_of(compiled: runtime.CompiledModule) -> Callable[[], object]:
    owner = compiled["f"]
    function = runtime.function_at(compiled.address("f"), owner=owner)
    return lambda: function(1)


@pytest.mark.parametrize("first", ["module", "function", "another", "callable", "by address"])
def test_every_order_of_deletion(first: str) -> None:
    log = Log()
    names = [name for name in owners(log) if name != first]
    for order in itertools.permutations(names):
        log = Log()
        alive = owners(log)
        for name in (first, *order):
            assert [use() for use in alive.values()] == [None] * len(alive)
            assert log.said == []
            del alive[name]
        assert log.said == [0], order


def test_modules_are_dropped_apart_from_each_other() -> None:
    """They share one session, and the code of their helpers."""
    for order in itertools.permutations(range(3)):
        log = Log()
        kept = {i: runtime.compile(wrapper(), link=[ending(log, i)], opt_level=0) for i in order}
        for ended, index in enumerate(reversed(order), 1):
            del kept[index]
            assert log.said == list(reversed(order))[:ended]
            for compiled in kept.values():
                compiled["f"](1)
                with pytest.raises(TypeError, match="Mismatched type of a"):
                    compiled["f"]("1")
            compiled = None


def test_an_error_outlives_the_code_that_raised_it() -> None:
    log = Log()
    compiled = runtime.compile(wrapper(), link=[ending(log)])
    with pytest.raises(TypeError) as raised:
        compiled["f"]("x")
    del compiled
    gc.collect()
    assert "Mismatched type of a on argument #0" in str(raised.value)


def test_cycles_are_collected() -> None:
    log = Log()
    compiled = runtime.compile(wrapper(), link=[ending(log)], opt_level=0)
    f, call = compiled["f"], compiled.callable("f")
    cycle: list[object] = [compiled, f, call]
    cycle.append(cycle)
    f.__dict__["of_its_own"], call.__dict__["me"] = cycle, call
    del compiled, cycle, f, call
    gc.collect()
    assert log.said == [0]


def test_the_last_reference_is_dropped_in_another_thread() -> None:
    for name in ("module", "function", "callable", "by address"):
        log = Log()
        kept = {name: owners(log)[name]}
        assert log.said == []

        def work(_: int, kept: dict[str, Callable[[], object]] = kept, name: str = name) -> None:
            kept[name]()
            del kept[name]

        together(work, 1)
        assert log.said == [0]


def test_many_threads_drop_what_others_call() -> None:
    log = Log()
    compiled = runtime.compile(wrapper(), link=[ending(log)], opt_level=0)
    functions = [compiled["f"] for _ in range(64)]
    functions += [compiled.callable("f") for _ in range(64)]  # pyright: ignore[reportArgumentType]
    del compiled

    def work(_: int) -> None:
        with suppress(IndexError):  # another thread was faster
            while functions:
                f = functions.pop()
                for value in range(50):
                    assert f(value) is None

    together(work)
    assert log.said == [0]


# ---- constructors and destructors of authors


def test_constructors_and_destructors_run_by_priority() -> None:
    log = Log()
    parts = [log.note(name, number) for name, number in (("a", 1), ("b", 2), ("c", 3), ("d", 4))]
    text = llvm_entry("f") + "".join(parts)
    text += listed("ctors", (65535, "a"), (200, "b")) + listed("dtors", (65535, "c"), (200, "d"))
    compiled = runtime.compile(text)
    assert log.said == [2, 1]
    f = compiled["f"]
    del compiled
    assert f(1) == 2
    assert log.said == [2, 1]
    del f
    assert log.said == [2, 1, 3, 4]


def test_constructors_and_destructors_of_mlir() -> None:
    log = Log()
    text = "".join(log.note_mlir(*entry) for entry in (("a", 1), ("b", 2), ("c", 3), ("d", 4)))
    for kind, names in (("ctors", "@a, @b"), ("dtors", "@c, @d")):
        text += f"""llvm.mlir.global_{kind} {kind} = [{names}], priorities = [65535 : i32, 200 : i32],
                        data = [#llvm.zero, #llvm.zero]\n"""
    f = runtime.compile(text + ADD_ONE)["add_one"]
    assert log.said == [2, 1]
    del f
    assert log.said == [2, 1, 3, 4]


@pytest.mark.parametrize("level", [0, 2])
def test_destructors_without_constructors(level: int) -> None:
    """The JIT alone forgets them; optimised, a constructor of constants is gone too."""
    log = Log()
    begin = (
        "@s = internal global i64 0\ndefine void @begin() {\n  store i64 1, ptr @s\n ret void\n}\n"
    )
    text = llvm_entry("f", "%s = load i64, ptr @s\n  %x = add i64 %s, %v")
    text += begin + listed("ctors", (65535, "begin")) + ending(log)
    for source in (text, llvm_entry("f", "%x = add i64 %v, 1") + ending(log)):
        f = runtime.compile(source, opt_level=level)["f"]
        assert f(41) == 42
        before = len(log.said)
        del f
        assert len(log.said) == before + 1


@needs_cc
@pytest.mark.parametrize("order", [*itertools.permutations(["BEGIN", "END", "ENTRY"])])
def test_those_of_linked_objects(tmp_path: Path, order: tuple[str, ...]) -> None:
    """Each has its own, none has, or two have some: all run, whichever object comes first."""
    log = Log()
    memory = ctypes.addressof(log._memory)  # pyright: ignore[reportPrivateUsage]
    note = f"#define NOTE(i) do {{ int64_t *p = (int64_t *){memory}L; p[++*p] = i; }} while (0)\n"
    sources = {
        "BEGIN": "__attribute__((constructor)) static void b(void) { NOTE(1); }",
        "END": "__attribute__((destructor)) static void e(void) { NOTE(2); }",
        "ENTRY": """__attribute__((constructor)) static void b(void) { NOTE(3); }
                    __attribute__((destructor)) static void e(void) { NOTE(4); }
                    ENTRY(f) { RETURN(args[1] + 1); }""",
    }
    first, *rest = (c_object(tmp_path, note + sources[name]) for name in order)
    f = runtime.compile(first, link=rest)["f"]
    assert f(41) == 42
    assert sorted(log.said) == [1, 3]
    del f
    assert sorted(log.said) == [1, 2, 3, 4]
    assert sorted(log.said[:2]) == [1, 3]


# ---- memory


def resident() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


needs_proc = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")


@needs_proc
@pytest.mark.parametrize("kind", ["module", "text", "llvm", "object"])
def test_compiling_and_dropping_does_not_leak(kind: str) -> None:
    module = parse(ADD_ONE)
    data = runtime.compile(ADD_ONE).object

    def compile_one(index: int) -> None:
        given = {
            "module": module,
            "text": mlir_entry(f"f{index}"),
            "llvm": f"%t{index} = type {{ i64 }}\n" + llvm_entry(f"f{index}"),
            "object": data,
        }[kind]
        compiled = runtime.compile(given, opt_level=1)
        assert compiled[compiled.functions[0]](41) == 42

    for index in range(150):
        compile_one(index)
    before = resident()
    for index in range(300):
        compile_one(index)
    # LLVM's pipelines leak 1.5 KiB each, which is limited: see below.
    assert resident() - before < 3 << 19


@needs_proc
def test_many_cycles_of_compiling_calling_and_dropping() -> None:
    """Wrappers with everything: tensors, errors, callables, constructors. 5 MB in 10,000 cycles."""
    (n,) = dims("n")
    x = Tensor("x", [n, 4], "float32", device_type="cpu")
    module = new_module()
    attach(module, Signature("f", [Var("a", "int32"), x], doc="words"), NopCallProvider())

    def cycle(count: int) -> None:
        for _ in range(count):
            log = Log()
            compiled = runtime.compile(module, link=[ending(log)], opt_level=0)
            f, call = compiled["f"], compiled.callable("f")
            del compiled
            for function in (f, call):
                with pytest.raises(TypeError, match="Mismatched type of x"):
                    function(1, None)
            assert "words" in str(call.__doc__)
            del f, call, function
            assert log.said == [0]

    cycle(200)
    before = resident()
    cycle(SOAK)
    # Some pages come and go, 1.8 MB of them in a process that has run few tests before.
    assert resident() - before < max((5 << 20) * SOAK // 10_000, 2 << 20)


def test_llvms_pipelines_are_run_elsewhere_before_they_leak_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ffi_builder.runtime.codegen.llvm.most_pipelines", 0)
    compiled = runtime.compile(ADD_ONE, link=[llvm_entry("g")])
    assert (compiled["add_one"](41), compiled["g"](1)) == (42, 2)
    assert "__tvm_ffi_add_one:" in str(compiled.assembly)
    assert "define" in str(compiled.llvm_ir)
    with pytest.raises(CompileError, match="verifier refuses the module"):
        runtime.compile(llvm_entry("h", "br label %a\na:\n  %x = add i64 %x, 1"))


def test_a_child_process_is_replaced_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ffi_builder.runtime.isolate.worker._MOST_REQUESTS", 2)
    for number in range(5):
        assert runtime.compile(llvm_entry("f", by_assembly(number)))["f"](0) == number
