"""Requests to child processes: interrupts, time limits, threads, and the end of either process."""

from __future__ import annotations

import hashlib
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ffi_builder import runtime
from ffi_builder.errors import CompileError
from ffi_builder.runtime.codegen.emit import Steps
from ffi_builder.runtime.compiler import compile as compiler
from ffi_builder.runtime.isolate import worker
from ffi_builder.runtime.sources.modules import Source
from tests.runtime.samples import by_assembly, llvm_entry, mlir_entry, run_child
from tests.support.drawn import drawn
from tests.support.threads import together

pytestmark = pytest.mark.slow

INTERRUPTS = int(os.environ.get("FFI_BUILDER_INTERRUPTS") or drawn(300))

SLOW = r".rept 3000000\0Anop\0A.endr"


def guarded(number: int, before: str = "") -> str:
    """LLVM IR with inline assembly, which a child compiles; slow with SLOW in front."""
    return llvm_entry("f", by_assembly(number, before))


def plain(number: int) -> str:
    """LLVM IR that needs no child."""
    return llvm_entry("f", f"%x = add i64 %v, {number}")


def translated(number: int, slow: bool) -> str:
    """MLIR that a child translates; with `slow` the child never ends."""
    never = "%n = llvm.mlir.constant(1 : i64) : i64\n%s = llvm.alloca %n x !llvm.void : (i64) -> !llvm.ptr"
    return mlir_entry(
        "f",
        f"""{never if slow else ""}
        %c = llvm.mlir.constant({number} : i65) : i65
        %z = llvm.zext %v : i64 to i65
        %s2 = llvm.or %z, %c : i65
        %x = llvm.trunc %s2 : i65 to i64""",
    )


class Alarm:
    """Raises KeyboardInterrupt in the main thread once, some seconds from now."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        self.before = signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)


def interrupted(module: str, **options: Any) -> None:
    with pytest.raises(KeyboardInterrupt), Alarm(0.5):
        runtime.compile(module, **options)


def test_what_follows_an_interrupted_compile_is_right() -> None:
    interrupted(guarded(111, SLOW))
    for number in (222, 333):
        assert runtime.compile(guarded(number))["f"](0) == number


def test_what_follows_an_interrupted_translation_is_right() -> None:
    interrupted(translated(111, slow=True))
    for number in (222, 333):
        assert runtime.compile(translated(number, slow=False))["f"](0) == number


def test_the_cache_keeps_nothing_of_an_interrupted_compile(tmp_path: Path) -> None:
    interrupted(guarded(111, SLOW), cache_dir=tmp_path)
    assert not list(tmp_path.iterdir())
    assert runtime.compile(guarded(222), cache_dir=tmp_path)["f"](0) == 222
    done = run_child(f"""
        from ffi_builder import runtime
        from tests.runtime.test_worker import guarded
        for number in (222, 333):
            print(runtime.compile(guarded(number), cache_dir={str(tmp_path)!r})["f"](0))
        """)
    assert done.stdout.split() == ["222", "333"], done.stderr


def test_a_module_that_changes_while_it_is_compiled_is_not_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook that keeps the module may change it from another thread."""
    kept: list[Any] = []
    emit = compiler.objects

    def changing(source: Source, level: int, ir: Any = None) -> Steps[list[bytes]]:
        made = yield from emit(source, level, ir)
        first = kept[0].body.operations[0].operation
        first.attributes["odd.mark"] = first.attributes["sym_name"]
        return made

    monkeypatch.setattr(compiler, "objects", changing)
    with pytest.raises(CompileError, match="changed while it was compiled"):
        runtime.compile(mlir_entry("f"), post_compile_hooks=[kept.append], cache_dir=tmp_path)
    assert not list(tmp_path.iterdir())


# The interpreter drops an interrupt that arrives in a destructor, with a warning.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_interrupts_at_any_point_leave_nothing_wrong(tmp_path: Path) -> None:
    """Every compile after an interrupted one gives its own code, cached or not."""
    random = Random(0)
    finished = 0
    for number in range(INTERRUPTS):
        in_child = number % 5 == 0
        make = guarded if in_child else plain
        cache = tmp_path if number % 3 == 0 else None
        try:
            with Alarm(random.uniform(0.0005, 0.4 if in_child else 0.008)):
                compiled = runtime.compile(make(number), cache_dir=cache)
        except KeyboardInterrupt:
            pass
        else:
            finished += 1
            assert compiled["f"](0) == number
        other = INTERRUPTS + number
        assert runtime.compile(make(other), cache_dir=cache)["f"](0) == other
        if number % 3 == 0:
            assert runtime.compile(make(number), cache_dir=cache)["f"](0) == number
    assert 0 < finished < INTERRUPTS

    def work(number: int) -> None:
        """No lock is held by the thread that was interrupted."""
        assert runtime.compile(plain(number))["f"](0) == number
        assert runtime.compile(guarded(number))["f"](0) == number

    together(work, 4)


def test_llvm_is_never_called_where_interrupts_arrive(tmp_path: Path) -> None:
    """An interrupt in llvmlite leaves its lock locked, or frees a string twice."""
    done = run_child(f"""
        import threading
        from llvmlite.binding import ffi
        from ffi_builder import runtime
        from tests.runtime.test_worker import guarded, plain
        called = []
        ffi.register_lock_callback(lambda: called.append(threading.current_thread()), lambda: None)
        compiled = runtime.compile(plain(1))
        compiled.export_object({str(tmp_path / "f.o")!r})
        runtime.compile(guarded(2))["f"](0)
        print(len(called) > 9, threading.main_thread() in called)
        """)
    assert done.stdout.split() == ["True", "False"], done.stderr


def test_an_answer_to_another_request_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "running", {})
    assert runtime.compile(guarded(1))["f"](0) == 1
    (child,) = worker.running["llvm"]
    # As if this request had been given up, and the child kept.
    lost = pickle.dumps(("emit_object", guarded(111), "host", 2, True, True, None))
    digest = hashlib.sha256(lost).digest()
    child.connection.send_bytes(worker.IDENTITY.pack(0, digest) + lost)
    with pytest.raises(CompileError, match="answered another request"):
        runtime.compile(guarded(222))
    assert not worker.running["llvm"]
    assert runtime.compile(guarded(333))["f"](0) == 333
    worker.kill_children()


def test_time_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FFI_BUILDER_CHILD_SECONDS", "1")
    for module in (guarded(1, SLOW * 9), translated(1, slow=True)):
        with pytest.raises(
            CompileError, match=r"did not end within 1 s \(FFI_BUILDER_CHILD_SECONDS sets"
        ):
            runtime.compile(module)
    monkeypatch.setenv("FFI_BUILDER_CHILD_SECONDS", "60")
    assert runtime.compile(guarded(2))["f"](0) == 2


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", "inf"])
def test_time_limits_that_are_none(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FFI_BUILDER_CHILD_SECONDS", text)
    with pytest.raises(ValueError, match=f"in FFI_BUILDER_CHILD_SECONDS, but it is `{text}`"):
        runtime.compile(guarded(1))


def test_threads_have_a_child_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many requests are served side by side as there may be children."""
    monkeypatch.setattr(worker, "most_children", lambda: 3)
    most = 0

    def work(number: int) -> None:
        nonlocal most
        for step in range(3):
            expected = 10 * number + step
            assert (
                runtime.compile(guarded(expected, SLOW.replace("3000000", "30000")))["f"](0)
                == expected
            )
            most = max(most, len(worker.running["llvm"]))

    together(work, 5)
    assert most == 3


OWNER = """
import os, sys, threading, time
from ffi_builder import runtime
from ffi_builder.runtime.compiler import compile as compiler
from ffi_builder.runtime.isolate import worker
from ffi_builder.runtime.sources.modules import Source
from tests.runtime.test_worker import SLOW, guarded, translated

def work():
    runtime.compile({module})

def children():
    return [child.process.pid for kind in worker.running.values() for child in kind]

thread = threading.Thread(target=work, daemon=True)
thread.start()
while not children():
    time.sleep(0.01)
time.sleep(0.7)
print(*children(), flush=True)
{then}
"""

MODULES = {"code generation": "guarded(1, SLOW * 99)", "translation": "translated(1, slow=True)"}


def started(module: str, then: str) -> tuple[subprocess.Popen[str], list[int]]:
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER.format(module=MODULES[module], then=then)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, [int(word) for word in process.stdout.readline().split()]


def gone(pid: int, seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("module", MODULES)
def test_a_child_ends_with_an_owner_that_is_killed(module: str) -> None:
    """Also while LLVM or MLIR runs, which may hold the child's interpreter lock."""
    owner, children = started(module, "time.sleep(60)")
    assert children
    assert not gone(children[0], 0.1)
    owner.kill()
    owner.communicate()
    assert all(gone(pid) for pid in children)


@pytest.mark.parametrize("how", ["sys.exit(0)", "os._exit(0)", "raise KeyboardInterrupt"])
def test_a_child_never_keeps_its_owner(how: str) -> None:
    owner, children = started("code generation", how)
    owner.communicate(timeout=20)
    assert owner.returncode in (0, 1, -signal.SIGINT)
    assert all(gone(pid) for pid in children)
