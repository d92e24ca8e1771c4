"""Exported libraries: with a driver, with none, with an old one; from Python, from C; and leaving."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest
from tvm_ffi import libinfo

from ffi_builder import attach_ffi_func, runtime, spec
from ffi_builder.fakecuda.build import CC
from ffi_builder.fakecuda.records import Event, read_log
from tests.cuda.launching import provider
from tests.fakecuda import (
    Call,
    FakeDriver,
    KernelImage,
    Launch,
    Result,
    Violation,
    environment,
    library,
    missing,
    no_driver,
    older,
)
from tests.runtime.exporting import INCLUDES, needed, visible
from tests.support.wrapping import new_module

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

ROOT = Path(__file__).parents[2]
KERNEL = KernelImage("count", (4, 8))
"""``void count(int n, void *out)``."""

PYTHON = """
import ctypes, gc, sys
from ffi_builder import runtime
library = runtime.load({path!r})
f = library["f"]
def attempt():
    try:
        f(3, None, 0)
        print("launched")
    except RuntimeError as error:
        print(f"RuntimeError: {{error}}")
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shared library with a wrapper ``f(n, p, stream)``; it is made with no driver at hand."""
    module = new_module()
    params = [spec.Var("n", "int32"), spec.DataPointer("p"), spec.Stream("stream")]
    launch = provider(KERNEL, grid=spec.Var("n", "int32"), dynamic_smem_bytes=100_000)
    attach_ffi_func(module, "f", params, launch)
    path = tmp_path_factory.mktemp("built") / "kernels.so"
    lowered = runtime.compile(module)
    lowered.export_library(path, header=path.with_suffix(".h"), stub=path.with_suffix(".pyi"))
    lowered.export_object(path.with_suffix(".o"))
    lowered.export_object(path.with_name("arm.o"), triple="aarch64-linux-gnu")
    return path


def run(command: list[str], env: Mapping[str, str] | None = None) -> str:
    """Return the output of a process, which must succeed and print nothing on stderr."""
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def python(built: Path, code: str, env: Mapping[str, str] | None = None) -> list[str]:
    """The lines that a child prints, which has loaded the library."""
    text = PYTHON.format(path=str(built)) + textwrap.dedent(code)
    return run([sys.executable, "-W", "error", "-c", text], env).splitlines()


def logging(driver_file: Path, log: Path, **more: str) -> dict[str, str]:
    """The environment of a child that is to find this driver, and to write down what is called."""
    return {**environment(driver_file), "FAKE_CUDA_LOG": str(log), **more}


def calls(events: list[Event], name: str) -> list[Call]:
    return [event for event in events if isinstance(event, Call) and event.name == name]


# In Python.


def test_it_loads_and_says_so_when_there_is_no_driver(built: Path):
    env = environment(no_driver())
    lines = python(built, "print(library)\nattempt()\nattempt()\n", env)
    assert lines[0] == "<LoadedLibrary kernels.so: _cuda_preload_f, _cuda_release_f, f>"
    start = "RuntimeError: libcuda.so.1 could not be loaded to launch kernel 'count': "
    for line in lines[1:]:
        assert line.startswith(start)
        assert line.endswith(
            " (it comes with the NVIDIA driver) when calling: "
            "`f(n: int32, p: DataPointer, stream: Stream)`"
        )
    assert len(lines) == 3


def test_what_the_other_functions_are_for_is_said(built: Path):
    header = built.with_suffix(".h").read_text()
    assert "/* _cuda_preload_f: loads the kernel of f ahead of calls, on the GPU with t" in header
    assert "/* _cuda_release_f: unloads the kernel of f. */" in header
    shown = run([sys.executable, "-m", "ffi_builder", "inspect", str(built)])
    assert "_cuda_preload_f\n    loads the kernel of f ahead of calls, on the GPU" in shown
    assert "_cuda_release_f\n    unloads the kernel of f\n" in shown


def test_an_empty_grid_needs_no_driver(built: Path):
    assert python(built, "f(0, None, 0)\nprint('done')", environment(no_driver())) == ["done"]


@pytest.mark.parametrize(
    "symbol", ["cuLibraryLoadData", "cuLaunchKernelEx", "cuKernelSetAttribute"]
)
def test_an_old_driver_is_told_what_it_lacks(built: Path, symbol: str):
    env = {**environment(older(symbol)), "FAKE_CUDA_VERSION": "11080"}
    lines = python(built, "attempt()\nattempt()\n", env)
    words = (
        f"RuntimeError: libcuda.so.1 has no {symbol}, which launching kernel 'count' needs: the "
        "NVIDIA driver is of CUDA 11.8; update it to one of CUDA 12.0 or later when calling: "
        "`f(n: int32, p: DataPointer, stream: Stream)`"
    )
    assert lines == [words] * 2


def test_a_machine_with_no_gpu(built: Path):
    env = {**environment(library()), "FAKE_CUDA_DEVICES": "0"}
    [line] = python(built, "attempt()", env)
    assert line.startswith(
        "RuntimeError: cuInit failed: CUDA_ERROR_NO_DEVICE (100: no CUDA-capable device is detected)"
    )


def test_it_launches(built: Path, tmp_path: Path):
    log = tmp_path / "log"
    assert python(built, "attempt()\nattempt()", logging(library(), log)) == ["launched"] * 2
    events = read_log(log.read_text())
    launches = [event for event in events if isinstance(event, Launch)]
    assert [launch.arguments for launch in launches] == [(b"\3\0\0\0", bytes(8))] * 2
    assert launches[0].grid == (3, 1, 1)
    assert len(calls(events, "cuLibraryLoadData")) == 1
    assert not [event for event in events if isinstance(event, Violation)]


def test_an_injected_failure_is_retried(built: Path, tmp_path: Path):
    env = logging(library(), tmp_path / "log", FAKE_CUDA_FAIL="cuLibraryLoadData:1:2")
    failed, launched = python(built, "attempt()\nattempt()", env)
    assert "cuLibraryLoadData failed: CUDA_ERROR_OUT_OF_MEMORY (2: out of memory)" in failed
    assert launched == "launched"


def test_exit_with_the_library_loaded(built: Path, tmp_path: Path):
    """The interpreter's end is no time to call the driver, which may have gone."""
    log = tmp_path / "log"
    python(built, "attempt()", logging(library(), log))
    events = read_log(log.read_text())
    assert calls(events, "cuLibraryUnload") == []
    assert calls(events, "cuDevicePrimaryCtxRelease_v2") == []


def test_exit_with_a_jit_module_that_is_alive(tmp_path: Path):
    log = tmp_path / "log"
    code = """
        from tests.fakecuda.kernels import EMPTY
        from tests.cuda.launching import compiled
        module = compiled(EMPTY, [])
        module["f"]()
        gone = compiled(EMPTY, [])
        gone["f"]()
        del gone
        import gc
        gc.collect()
    """
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code)]
    run(command, logging(library(), log))
    events = read_log(log.read_text())
    # One of the two, which went before the interpreter did.
    assert [call.result for call in calls(events, "cuLibraryUnload")] == [0]
    assert [call.result for call in calls(events, "cuDevicePrimaryCtxRelease_v2")] == [0]


def test_a_driver_that_comes_later_is_found(built: Path):
    """With RTLD_GLOBAL before the first call, as tests of others would use the fake too."""
    code = f"""
        attempt()
        ctypes.CDLL({str(library())!r}, mode=ctypes.RTLD_GLOBAL)
        attempt()
    """
    first, second = python(built, code, environment(no_driver()))
    assert first.startswith("RuntimeError: libcuda.so.1 could not be loaded")
    assert second == "launched"


# In C.

MAIN = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tvm/ffi/c_api.h>

typedef int (*Function)(void *, const TVMFFIAny *, int32_t, TVMFFIAny *);
static Function f;
static pthread_barrier_t barrier;

static int call(void) {
  TVMFFIAny args[3] = {{.type_index = kTVMFFIInt, .v_int64 = 3},
                       {.type_index = kTVMFFINone},
                       {.type_index = kTVMFFINone}};
  TVMFFIAny result = {.type_index = kTVMFFINone};
  return f(NULL, args, 3, &result);
}

static void *work(void *unused) {
  (void)unused;
  pthread_barrier_wait(&barrier);
  return (void *)(intptr_t)call();
}

/* main LIBRARY THREADS CLOSE: each thread calls once. */
int main(int argc, char **argv) {
  if (argc != 4) return 2;
  int threads = atoi(argv[2]), failed = 0;
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    puts(dlerror());
    return 3;
  }
  f = (Function)(intptr_t)dlsym(library, "__tvm_ffi_f");
  pthread_t *all = calloc((size_t)threads, sizeof(*all));
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  for (int i = 0; i < threads; ++i) pthread_create(&all[i], NULL, work, NULL);
  for (int i = 0; i < threads; ++i) {
    void *status;
    pthread_join(all[i], &status);
    failed += status != NULL;
  }
  printf("%d failed\n", failed);
  if (atoi(argv[3])) dlclose(library);
  return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    (folder / "main.c").write_text(MAIN)
    target = folder / "main"
    there = Path(libinfo.find_libtvm_ffi()).parent
    subprocess.run(
        [
            *(*CC, "-O1", "-Wall", *INCLUDES, str(folder / "main.c"), "-o", str(target)),
            *(f"-L{there}", "-Wl,--no-as-needed", "-ltvm_ffi", f"-Wl,-rpath,{there}"),
            *("-ldl", "-lpthread"),
        ],
        check=True,
    )
    return target


PROGRAMS = {
    # threads, whether the library is closed, and the result of unloading and of releasing
    "many threads": (16, 0, Result.DEINITIALIZED),
    # The destructor runs when the driver is gone, which is nobody's error.
    "one that ends": (1, 0, Result.DEINITIALIZED),
    "one that closes the library": (1, 1, Result.SUCCESS),
}


@pytest.mark.parametrize("which", PROGRAMS)
def test_a_program_without_python(built: Path, program: Path, tmp_path: Path, which: str):
    threads, closes, result = PROGRAMS[which]
    log = tmp_path / "log"
    env = logging(library(), log, FAKE_CUDA_DELAY="cuLibraryLoadData:2000")
    assert run([str(program), str(built), str(threads), str(closes)], env) == "0 failed\n"
    events = read_log(log.read_text())
    assert len([event for event in events if isinstance(event, Launch)]) == threads
    assert len(calls(events, "cuLibraryLoadData")) == 1
    for name in ("cuLibraryUnload", "cuDevicePrimaryCtxRelease_v2"):
        assert [call.result for call in calls(events, name)] == [result]


def test_a_program_without_a_driver(built: Path, program: Path):
    env = environment(no_driver())
    assert run([str(program), str(built), "2", "1"], env) == "2 failed\n"


# Check the files.


def test_what_the_library_needs(built: Path):
    names = needed(built)
    assert "libtvm_ffi.so" in names
    assert not [name for name in names if "cuda" in name or "python" in name]


def test_what_is_visible(built: Path):
    functions = {"f", "_cuda_preload_f", "_cuda_release_f"}
    names = {name for name in visible(built) if "metadata" not in name and "doc" not in name}
    assert names == {f"__tvm_ffi_{name}" for name in functions}


def test_the_header_and_the_stub_are_right(built: Path, tmp_path: Path):
    (tmp_path / "a.c").write_text('#include "kernels.h"\nint main(void) { return 0; }\n')
    command = [*CC, "-Wall", "-Werror", "-fsyntax-only", f"-I{built.parent}", *INCLUDES]
    subprocess.run([*command, str(tmp_path / "a.c")], check=True)
    compile(built.with_suffix(".pyi").read_text(), "kernels.pyi", "exec")


def test_an_exported_object_goes_back_into_the_jit(built: Path, driver: FakeDriver):
    module = runtime.compile(built.with_suffix(".o").read_bytes())
    module["f"](3, None, 0)
    assert [launch.grid for launch in driver.launches()] == [(3, 1, 1)]


def test_objects_of_several_modules_are_one_library(built: Path, tmp_path: Path):
    """All that is not a function is internal, so they do not clash."""
    module = new_module()
    attach_ffi_func(module, "g", [spec.Stream("stream")], provider(KernelImage("other")))
    runtime.compile(module).export_object(tmp_path / "g.o")
    target = tmp_path / "both.so"
    there = Path(libinfo.find_libtvm_ffi()).parent
    objects = [str(built.with_suffix(".o")), str(tmp_path / "g.o")]
    subprocess.run([*CC, "-shared", *objects, f"-L{there}", "-ltvm_ffi", "-o", target], check=True)
    log = tmp_path / "log"
    lines = python(target, "attempt()\nlibrary['g'](0)", logging(library(), log))
    assert lines == ["launched"]
    launches = [event for event in read_log(log.read_text()) if isinstance(event, Launch)]
    assert [launch.kernel for launch in launches] == ["count", "other"]


def test_an_object_for_another_machine(built: Path):
    assert (built.with_name("arm.o").read_bytes()[18:20]) == b"\xb7\0"  # EM_AARCH64
