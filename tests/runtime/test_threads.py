"""Compiling and calling in many threads, and what belongs to each of them."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from ffi_builder import attach, runtime
from ffi_builder.errors import CompileError
from ffi_builder.providers import DirectCallProvider
from ffi_builder.spec import Signature, Tensor, Var, dims
from tests.runtime.callables import checking
from tests.runtime.samples import (
    ADD_ONE,
    by_assembly,
    c_object,
    llvm_entry,
    mlir_entry,
    needs_cc,
    parse,
)
from tests.support.threads import THREADS, together
from tests.support.wrapping import new_module


def test_threads_compile_and_call_side_by_side() -> None:
    shared = parse(ADD_ONE)

    def work(seed: int) -> None:
        for step in range(4):
            number = seed * 100 + step
            text = mlir_entry(
                "f", f"%c = llvm.mlir.constant({number} : i64) : i64\n%x = llvm.add %v, %c : i64"
            )
            assert runtime.compile(text)["f"](1) == number + 1
            assert (
                runtime.compile(llvm_entry("f", f"%x = add i64 %v, {number}"))["f"](1) == number + 1
            )
            assert runtime.compile(shared, opt_level=step % 4)["add_one"](1) == 2
            if step == 2:
                assert runtime.compile(llvm_entry("f", by_assembly(number)))["f"](0) == number

    together(work)


KERNEL = """
llvm.func @kernel(%x: !llvm.ptr, %n: i64, %a: i32) {{
  %k = llvm.mlir.constant({number} : i32) : i32
  %sum = llvm.add %a, %k : i32
  llvm.store %sum, %x : i32, !llvm.ptr
  llvm.return
}}
"""


def test_threads_attach_compile_and_call_wrappers() -> None:
    """Each with values of its own, right and wrong, by position and by keyword."""
    (n,) = dims("n")
    params = [Tensor("x", [n], "int32", device_type="cpu"), Var("a", "int32", default=5)]

    def work(seed: int) -> None:
        for step in range(3):
            number = seed * 100 + step
            module = new_module(KERNEL.format(number=number))
            attach(
                module,
                Signature(f"f{seed}", params),
                DirectCallProvider("kernel", args=["x", "n", "a"]),
            )
            compiled = runtime.compile(module, opt_level=step)
            f, call = compiled[f"f{seed}"], compiled.callable(f"f{seed}")
            x = np.zeros(2, "int32")
            for value in range(50):
                f(x, value)
                assert x[0] == number + value
                call(x)
                assert x[0] == number + 5
                with pytest.raises(TypeError, match=rf"x on argument #0 .* `f{seed}\(x: Tensor"):
                    f(value, value)

    together(work)


def test_threads_share_a_compiled_module() -> None:
    """Also what is made when it is first asked for: signatures, texts, the JIT's own tables."""
    for _ in range(5):
        compiled = checking(Var("a", "int32", default=1), doc="words")
        expected = repr(checking(Var("a", "int32", default=1))["f"])

        def work(
            index: int, compiled: runtime.CompiledModule = compiled, expected: str = expected
        ) -> None:
            assert repr(compiled["f"]) == expected
            compiled.callable("f")(a=index)
            assert str(compiled["f"].__doc__).startswith("words")
            assert "__tvm_ffi_f" in str((compiled.mlir, compiled.llvm_ir)[index % 2])
            assert compiled.address("f")

        together(work)


def test_threads_do_not_suffer_from_each_others_failures() -> None:
    """A child process that ends on one thread's module is there again for the next."""
    outcomes: list[str] = []

    def work(seed: int) -> None:
        for step in range(4):
            bad = (seed + step) % 2
            text = llvm_entry("f", by_assembly(42, "bogus" if bad else ""))
            try:
                assert runtime.compile(text)["f"](0) == 42
                outcomes.append("right" if not bad else "wrong")
            except CompileError as error:
                outcomes.append("right" if bad and "bogus" in str(error) else "wrong")

    together(work, 4)
    assert outcomes == ["right"] * 16


def test_a_function_is_called_by_many_threads() -> None:
    f = runtime.compile(ADD_ONE)["add_one"]
    sums = [0] * THREADS

    def work(index: int) -> None:
        sums[index] = sum(f(value) for value in range(1000))

    together(work)
    assert sums == [sum(range(1, 1001))] * THREADS


def test_errors_stay_with_the_thread_that_called() -> None:
    call = checking(Var("a", "int32", max=10)).callable("f")

    def work(index: int) -> None:
        for step in range(200):
            value = 11 + index * 1000 + step
            with pytest.raises(ValueError, match=f"but got {value}$"):
                call(a=value)

    together(work)


COUNT = """
  %p = call ptr @llvm.threadlocal.address.p0(ptr @counter)
  %old = load i64, ptr %p
  %x = add i64 %old, %v
  store i64 %x, ptr %p
"""
COUNT_MLIR = """%p = llvm.mlir.addressof @counter : !llvm.ptr
  %old = llvm.load %p : !llvm.ptr -> i64
  %x = llvm.add %old, %v : i64
  llvm.store %x, %p : i64, !llvm.ptr"""


def counting(linkage: str = "") -> str:
    """LLVM IR of a function that adds to a thread-local variable."""
    declared = "declare ptr @llvm.threadlocal.address.p0(ptr)\n" + llvm_entry("count", COUNT)
    return f"@counter = {linkage} thread_local global i64 7\n{declared}"


COUNTING = {
    **{linkage: partial(counting, linkage) for linkage in ("", "internal", "private")},
    "mlir": lambda: (
        "llvm.mlir.global internal thread_local @counter(7 : i64) : i64"
        + mlir_entry("count", COUNT_MLIR)
    ),
}


@needs_cc
@pytest.mark.parametrize("kind", [*COUNTING, "C"])
def test_thread_local_variables_are_each_threads_own(kind: str, tmp_path: Path) -> None:
    if kind == "C":
        text = "__thread int64_t counter = 7; ENTRY(count) { RETURN(counter += args[1]); }"
        source: object = c_object(tmp_path, text)
    else:
        source = COUNTING[kind]()
    count, other = (runtime.compile(source)["count"] for _ in range(2))

    def work(index: int) -> None:
        for step in range(1, 200):
            assert count(index) == 7 + index * step
            assert other(1) == 7 + step  # another library has variables of its own

    together(work)
    assert count(1) == 8


def test_threads_may_end_after_the_code_they_ran_was_dropped() -> None:
    """The runtime's thread-locals are freed by code in the library when their thread ends."""
    functions = [runtime.compile(counting())["count"]]
    dropped = threading.Event()
    called = threading.Event()

    def work() -> None:
        assert functions.pop()(1) == 8
        called.set()
        dropped.wait()

    thread = threading.Thread(target=work)
    thread.start()
    called.wait()
    for _ in range(20):
        runtime.compile(llvm_entry("f"))
    dropped.set()
    thread.join()
