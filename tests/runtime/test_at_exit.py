"""What objects give to `atexit` and its like runs before their code goes, or when the process ends."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from ffi_builder import runtime
from tests.runtime.samples import c_object, needs_cc, needs_cxx, needs_x86_64, run_child
from tests.support.forking import COMPILING, Forking

Run: TypeAlias = Callable[[str], subprocess.CompletedProcess[str]]

pytestmark = [pytest.mark.slow, needs_cc]

SAY = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void say(const char *word) { if (write(1, word, strlen(word)) < 0) abort(); }
#define SAYS(name) static void name(void) { say(#name " "); }
"""
SOURCE = (
    SAY
    + """
SAYS(first) SAYS(second) SAYS(quick) SAYS(forked) SAYS(destroyed)
__attribute__((constructor)) static void begin(void) { atexit(first); }
__attribute__((destructor)) static void end(void) { destroyed(); }
VARIABLE long calls;
ENTRY(f) {
  calls++;
  RETURN(atexit(second) + at_quick_exit(quick) + pthread_atfork(forked, 0, 0));
}"""
)

HOW = {
    "kept": ("", "second first "),
    "dropped": ("del f; say('dropped')", "second first dropped "),
    "dropped in a thread": (
        "kept = [f]; del f; t = threading.Thread(target=kept.clear); t.start(); t.join(); "
        "say('dropped')",
        "second first dropped ",
    ),
    "never dropped": ("ctypes.pythonapi.Py_IncRef(ctypes.py_object(f))", "second first "),
    "forked": (
        "pid = os.fork(); pid and os.waitpid(pid, 0); say('parent' if pid else 'child')",
        "forked child second first parent second first ",
    ),
    "forked once dropped": (
        "del f; say('dropped'); pid = os.fork(); pid and os.waitpid(pid, 0)",
        "second first dropped ",
    ),
    "quick_exit": ("ctypes.CDLL(None).quick_exit(0)", "quick "),
}


@pytest.fixture(scope="module")
def forking() -> Iterator[Forking]:
    server = Forking(COMPILING)
    yield server
    server.close()


def said(path: Path, how: str, run: Run, load: str = "compile") -> str:
    """What a child says that loads code, calls it, and does something."""
    given = f"Path({str(path)!r})" + (".read_bytes()" if load == "compile" else "")
    done = run(f"""
        import ctypes, os, threading
        from pathlib import Path
        from ffi_builder import runtime

        def say(word):
            os.write(1, f"{{word}} ".encode())

        f = runtime.{load}({given})["f"]
        assert f(0) == 0
        {how}
        """)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("how", HOW)
def test_functions_run_as_those_of_a_library(tmp_path: Path, how: str, forking: Forking) -> None:
    c_object(tmp_path, SOURCE, "-DVARIABLE=static")
    statement, expected = HOW[how]
    # Two are processes that are no forks.
    run = run_child if how in ("kept", "dropped") else forking.run
    assert said(tmp_path / "part.o", statement, run).replace("destroyed ", "") == expected


def test_with_thread_local_variables_they_run_when_the_process_ends(
    tmp_path: Path, forking: Forking
) -> None:
    """The module stays loaded, and its destructors do not run."""
    c_object(tmp_path, SOURCE, "-DVARIABLE=__thread")
    assert said(tmp_path / "part.o", HOW["dropped"][0], forking.run) == "dropped second first "


@pytest.mark.parametrize("how", ["kept", "never dropped", "forked", "quick_exit"])
def test_a_library_says_the_same(tmp_path: Path, how: str, forking: Forking) -> None:
    c_object(tmp_path, SOURCE, "-DVARIABLE=static")
    runtime.compile((tmp_path / "part.o").read_bytes()).export_library(tmp_path / "f.so")
    statement, expected = HOW[how]
    assert (
        said(tmp_path / "f.so", statement, forking.run, "load").replace("destroyed ", "")
        == expected
    )


@needs_x86_64  # elsewhere the JIT may have the library's handle too far away
@needs_cxx
def test_static_variables_of_cxx_end_in_their_turn(tmp_path: Path, forking: Forking) -> None:
    """All of them, also of an object with nothing else: what was made last ends first."""
    source = f"""
        {SAY}
        struct Named {{
          const char *name;
          Named(const char *name) : name(name) {{}}
          ~Named() {{ say(name); }}
        }};
        static Named global("global ");
        SAYS(last)
        extern "C" ENTRY(f) {{ static Named local("local "); RETURN(atexit(last)); }}"""
    c_object(tmp_path, source, compiler="g++")
    assert (
        said(tmp_path / "part.o", "del f; say('dropped')", forking.run)
        == "last local global dropped "
    )
    kept = "ctypes.pythonapi.Py_IncRef(ctypes.py_object(f))"
    assert said(tmp_path / "part.o", kept, forking.run) == "last local global "


def test_functions_that_belong_to_no_library(tmp_path: Path, forking: Forking) -> None:
    source = f"""
        {SAY}
        int __cxa_atexit(void (*)(void *), void *, void *);
        static void with(void *word) {{ say(word); }}
        ENTRY(f) {{ RETURN(__cxa_atexit(with, "ended ", 0)); }}"""
    c_object(tmp_path, source)
    assert said(tmp_path / "part.o", "del f; say('dropped')", forking.run) == "ended dropped "


@needs_x86_64
@pytest.mark.parametrize(
    "register",
    [
        "on_exit((void (*)(int, void *))(void *)ended, 0)",
        "__cxa_thread_atexit_impl((void (*)(void *))(void *)ended, 0, &__dso_handle)",
    ],
)
def test_functions_that_nothing_takes_back_keep_their_code(
    tmp_path: Path, register: str, forking: Forking
) -> None:
    source = f"""
        #define _DEFAULT_SOURCE
        {SAY}
        int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);
        extern void *__dso_handle __attribute__((visibility("hidden")));
        SAYS(ended)
        ENTRY(f) {{ RETURN({register}); }}"""
    c_object(tmp_path, source)
    again = f"runtime.compile(Path({str(tmp_path / 'part.o')!r}).read_bytes())"
    assert (
        said(tmp_path / "part.o", f"del f; say('dropped'); f = {again}", forking.run)
        == "dropped ended "
    )


@pytest.mark.skipif(shutil.which("ar") is None, reason="needs ar")
def test_in_an_archive(tmp_path: Path, forking: Forking) -> None:
    c_object(tmp_path, SAY + "SAYS(ended) int64_t run(void) { return atexit(ended); }")
    subprocess.run(["ar", "rcs", "a.a", "part.o"], cwd=tmp_path, check=True)
    done = forking.run(f"""
        from ffi_builder import wrap
        f = wrap({str(tmp_path / "a.a")!r}, "run() -> r: int64", prototype="long run(void)")
        assert f() == 0
        """)
    assert (done.returncode, done.stdout) == (0, "ended ")
