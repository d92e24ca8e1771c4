"""How long code lives, what is freed, and compiling in several threads."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from pathlib import Path

import pytest

from ffi_builder import runtime
from ffi_builder.errors import CompileError
from tests.runtime.samples import ADD_ONE, llvm_entry, mlir_entry, parse


def test_a_function_keeps_its_code() -> None:
    functions = [runtime.compile(llvm_entry("f", f"%x = add i64 %v, {i}"))["f"] for i in range(50)]
    gc.collect()
    assert [f(100) for f in functions] == [100 + i for i in range(50)]


def test_a_compiled_module_is_freed_when_dropped() -> None:
    compiled = runtime.compile(ADD_ONE)
    alive = weakref.ref(compiled)
    f = compiled["add_one"]
    del compiled
    assert alive() is None
    assert f(41) == 42


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
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
    assert resident() - before < 4 << 20  # one module more than it should be is 4 KiB


def test_threads_compile_and_call_side_by_side() -> None:
    shared = parse(ADD_ONE)
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for step in range(10):
                number = seed * 100 + step
                text = mlir_entry(
                    "f",
                    f"%c = llvm.mlir.constant({number} : i64) : i64\n%x = llvm.add %v, %c : i64",
                )
                assert runtime.compile(text)["f"](1) == number + 1
                assert (
                    runtime.compile(llvm_entry("f", f"%x = add i64 %v, {number}"))["f"](1)
                    == number + 1
                )
                assert runtime.compile(shared, opt_level=step % 4)["add_one"](1) == 2
                if step == 5:
                    asm = f'%x = call i64 asm sideeffect "movq $${number}, $0", "=r"()'
                    assert runtime.compile(llvm_entry("f", asm))["f"](0) == number
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_threads_do_not_suffer_from_each_others_failures() -> None:
    """A child process that ends on one thread's module is there again for the next."""
    outcomes: list[str] = []

    def work(seed: int) -> None:
        for step in range(4):
            bad = (seed + step) % 2
            word = "bogus" if bad else "movq"
            asm = f'%x = call i64 asm sideeffect "{word} $$42, $0", "=r"()'
            try:
                assert runtime.compile(llvm_entry("f", asm))["f"](0) == 42
                outcomes.append("right" if not bad else "wrong")
            except CompileError as error:
                outcomes.append("right" if bad and "bogus" in str(error) else "wrong")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == ["right"] * 16


def test_a_function_is_called_by_many_threads() -> None:
    f = runtime.compile(ADD_ONE)["add_one"]
    sums = [0] * 4

    def work(index: int) -> None:
        sums[index] = sum(f(value) for value in range(1000))

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == [sum(range(1, 1001))] * 4
