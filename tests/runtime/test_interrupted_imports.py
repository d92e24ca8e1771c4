"""Signals that come while a process imports what its first wrap needs."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from ffi_builder import importing
from ffi_builder.importing import Deferred
from tests.runtime.samples import run_child
from tests.support.drawn import drawn

FIRST_WRAP = """
    import os, signal, sys, threading, traceback

    def first():
        from ffi_builder import runtime, spec, testing, wrap
        {first}

    def child(at):
        # A shell starts what is in the background with SIGINT ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        count = 0

        def seen(event, args):
            nonlocal count
            if event == "import" and threading.current_thread() is threading.main_thread():
                count += 1
                if count == at:
                    signal.raise_signal(signal.SIGINT)

        sys.addaudithook(seen)
        try:
            first()
            said = "done"
        except KeyboardInterrupt:
            said = "interrupted"
        made, at = count, -1
        first()
        import numpy, tvm_ffi
        assert numpy.linalg and tvm_ffi.core
        return f"{{said}} {{made}}"

    def run(at):
        read, write = os.pipe()
        if os.fork() == 0:
            try:
                text = child(at)
            except BaseException as error:
                text = "".join(traceback.format_exception(error))
            os.write(write, text.encode())
            os._exit(0)
        os.close(write)
        os.wait()
        return os.read(read, 9999).decode()

    done, count = run(-1).split()
    print(done, *(run(int(count) * tenth // 10).rpartition(" ")[0] for tenth in {points}))
    """

LLVM = '"define i64 @f(i64 %x) {\\n ret i64 %x\\n}"'
MLIR = '"func.func @f(%x: i64) -> i64 { return %x : i64 }"'
CALLED = 'f(1); assert f["f"](1) == f.callable("f")(1) == 1'


@pytest.mark.slow
@pytest.mark.parametrize(
    "first",
    [
        f'f = wrap({LLVM}, "f(x: int64) -> y: int64"); {CALLED}',
        f'f = wrap({MLIR}, "f(x: int64) -> y: int64"); {CALLED}',
        'testing.check(spec.Signature.parse("f(x: int64)"), 1)',
    ],
    ids=["LLVM IR", "MLIR", "check"],
)
def test_an_interrupt_ends_no_import(first: str) -> None:
    """Whichever import it comes in, it is raised once the import is done, and the next wrap works."""
    points = [*range(1, 10)][:: 9 // drawn(9)]
    done = run_child(FIRST_WRAP.format(first=first, points=points))
    expected = ["done", *["interrupted"] * len(points)]
    assert done.stdout.split() == expected, done.stdout + done.stderr


@pytest.mark.slow
def test_no_other_thread_imports_anything() -> None:
    """It might have to wait for what the main thread imports, if an import calls `wrap`."""
    done = run_child(f"""
        import sys, threading
        main = threading.main_thread()
        def seen(event, args):
            if event == "import" and threading.current_thread() is not main:
                print(args[0])
        sys.addaudithook(seen)
        from ffi_builder import wrap
        f = wrap({LLVM}, "f(x: int64) -> y: int64")
        print(f["f"](1))
        """)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_wrap_in_an_import(tmp_path: Path) -> None:
    package = tmp_path / "wraps"
    package.mkdir()
    (package / "__init__.py").write_text(
        f'from ffi_builder import wrap\nf = wrap({LLVM}, "f(x: int64) -> y: int64")\n'
    )
    done = run_child(f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import wraps
        print(wraps.f(1))
        """)
    assert (done.stdout, done.stderr) == ("1\n", "")


# ---- the context


class Came(Exception):
    """Raised by a handler."""


def raising(number: int, frame: FrameType | None) -> None:
    raise Came(number)


@pytest.fixture
def handlers() -> Generator[None]:
    """Handlers of two signals that raise."""
    before = {n: signal.signal(n, raising) for n in (signal.SIGINT, signal.SIGUSR1)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def restored() -> bool:
    return signal.getsignal(signal.SIGINT) is signal.getsignal(signal.SIGUSR1) is raising


@pytest.mark.usefixtures("handlers")
def test_handlers_are_called_at_the_end() -> None:
    steps: list[str] = []
    with pytest.raises(Came) as caught, Deferred():  # noqa: PT012
        with Deferred():
            signal.raise_signal(signal.SIGINT)
            steps.append("inner")
        steps.append("outer")
    assert steps == ["inner", "outer"]
    assert caught.value.args == (signal.SIGINT,)
    assert restored()


@pytest.mark.usefixtures("handlers")
def test_each_handler_is_called() -> None:
    with pytest.raises(Came) as caught, Deferred():  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGUSR1)
    context: Any = caught.value.__context__
    assert {caught.value.args[0], context.args[0]} == {signal.SIGINT, signal.SIGUSR1}
    assert restored()


@pytest.mark.usefixtures("handlers")
def test_an_error_of_the_body_goes_on() -> None:
    with pytest.raises(ImportError, match=r"^lacking$"), Deferred():
        raise ImportError("lacking")
    assert restored()
    with pytest.raises(Came) as caught, Deferred():  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        raise ImportError("lacking")
    assert isinstance(caught.value.__context__, ImportError)


@pytest.mark.usefixtures("handlers")
def test_a_handler_that_the_body_sets_stays() -> None:
    """And it may call the one that it has found, which is that of the context."""
    found: list[Callable[..., Any]] = []

    def chained(number: int, frame: FrameType | None) -> None:
        found[0](number, frame)

    with Deferred():
        found.append(signal.signal(signal.SIGINT, chained))  # pyright: ignore
    assert signal.getsignal(signal.SIGINT) is chained
    with pytest.raises(Came):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("handlers")
def test_other_threads_change_no_handler() -> None:
    seen: list[bool] = []

    def work() -> None:
        with Deferred():
            seen.append(restored())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [True]
    assert restored()


def test_a_module_that_is_there_is_not_imported_again() -> None:
    assert importing.load("json") is sys.modules["json"]
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        importing.load("no_such_module")
