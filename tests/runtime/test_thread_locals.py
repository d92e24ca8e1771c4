"""Thread-local variables of LLVM IR, MLIR and C."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import runtime
from tests.runtime.samples import (
    c_object,
    llvm_entry,
    mlir_entry,
    needs_cc,
)


@pytest.fixture(autouse=True)
def _quiet(capfd: pytest.CaptureFixture[str]) -> Any:  # pyright: ignore[reportUnusedFunction]
    yield
    assert capfd.readouterr().err == ""


COUNT = """
  %p = call ptr @llvm.threadlocal.address.p0(ptr @counter)
  %old = load i64, ptr %p
  %x = add i64 %old, %v
  store i64 %x, ptr %p
"""


@pytest.mark.parametrize("linkage", ["", "internal", "private"])
def test_thread_locals(linkage: str) -> None:
    text = (
        f"@counter = {linkage} thread_local global i64 7\n"
        "declare ptr @llvm.threadlocal.address.p0(ptr)\n" + llvm_entry("count", COUNT)
    )
    count = runtime.compile(text)["count"]
    assert [count(1), count(1)] == [8, 9]
    seen: list[int] = []

    def work(count: Any = count) -> None:
        seen.append(count(1))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [8]
    assert count(1) == 10
    again = runtime.compile(text)["count"]
    del count
    third = runtime.compile(text)["count"]
    assert [again(1), third(1)] == [8, 8]


def test_thread_locals_of_mlir() -> None:
    text = "llvm.mlir.global internal thread_local @counter(7 : i64) : i64" + mlir_entry(
        "count",
        """%p = llvm.mlir.addressof @counter : !llvm.ptr
        %old = llvm.load %p : !llvm.ptr -> i64
        %x = llvm.add %old, %v : i64
        llvm.store %x, %p : i64, !llvm.ptr""",
    )
    compiled = runtime.compile(text)
    assert [compiled["count"](1), compiled["count"](1)] == [8, 9]


@needs_cc
def test_thread_locals_of_c(tmp_path: Path) -> None:
    entry = "ENTRY(count) { RETURN(counter += args[1]); }"
    compiled = runtime.compile(c_object(tmp_path, f"__thread int64_t counter = 7; {entry}"))
    assert [compiled["count"](1), compiled["count"](1)] == [8, 9]


def test_threads_may_end_after_the_code_they_ran_was_dropped() -> None:
    """The runtime's thread-locals are freed by code in the library when their thread ends."""
    text = "@counter = thread_local global i64 7\ndeclare ptr @llvm.threadlocal.address.p0(ptr)\n"
    functions = [runtime.compile(text + llvm_entry("count", COUNT))["count"]]
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
