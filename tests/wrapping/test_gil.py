"""Kernels that use Python: the wrapper takes the GIL, and passes on what they raise."""

from __future__ import annotations

import ctypes
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import tvm_ffi

from ffi_builder import CompileError, addons, runtime, wrap
from tests.runtime.exporting import INCLUDES, LIBRARY, load_module, run
from tests.runtime.samples import c_object, needs_cc
from tests.support.threads import together

pytest.importorskip("clang.native")
pytestmark = needs_cc

KERNELS = """
typedef struct object object;
extern object *PyExc_ValueError, *PyExc_OverflowError, *PyExc_KeyboardInterrupt;
extern int PyGILState_Check(void);
extern void PyErr_SetString(object *class, const char *text), PyErr_SetObject(object *class, object *value);
extern object *PyImport_ImportModule(const char *name), *PyObject_GetAttrString(object *of, const char *name);
double held(double x) { return x + PyGILState_Check(); }
int32_t fail(int32_t kind) {
  if (kind == 1) PyErr_SetString(PyExc_ValueError, "negative");
  if (kind == 2) PyErr_SetString(PyExc_OverflowError, "too large");
  if (kind == 3) PyErr_SetString(PyExc_KeyboardInterrupt, "");
  if (kind == 4) {
    object *module = PyImport_ImportModule("tests.wrapping.test_gil");
    PyErr_SetObject(PyObject_GetAttrString(module, "OwnError"), module);
  }
  return kind < 0 ? kind : 0;
}
"""
HELD, FAIL = "held(x: float64) -> r: float64", "fail(kind: int32)"
PROTOTYPES = {"held": "double held(double x)", "fail": "int fail(int kind)"}


class OwnError(Exception):
    """An error that tvm-ffi does not know."""

    def __str__(self) -> str:
        raise RuntimeError("it has no text")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return c_object(tmp_path_factory.mktemp("kernels"), KERNELS)


@pytest.fixture(scope="module")
def fail(data: bytes) -> runtime.CompiledModule:
    return wrap(data, FAIL, prototype=PROTOTYPES["fail"], release_gil=False)


@pytest.fixture
def released(fail: runtime.CompiledModule) -> Any:
    """A function whose callers do not hold the GIL."""
    function = fail["fail"]
    function.release_gil = True
    return function


def of_a_capsule(data: bytes, folder: Path, name: str) -> Any:
    (folder / "k.o").write_bytes(data)
    run("gcc", "-shared", folder / "k.o", "-o", folder / "k.so")
    library = ctypes.CDLL(str(folder / "k.so"))
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    return make(ctypes.cast(library[name], ctypes.c_void_p), None, None)


def test_functions_of_python_hold_the_gil() -> None:
    check = ctypes.pythonapi.PyGILState_Check
    check.argtypes, check.restype = [], ctypes.c_int32
    text = "held() -> r: int32"
    held = wrap(check, text, prototype="int held(void)")
    assert held() == 1
    assert not held["held"].release_gil
    assert wrap(check, text, prototype="int held(void)", release_gil=True)() == 0
    typed = ctypes.PYFUNCTYPE(ctypes.c_int32)(("PyGILState_Check", ctypes.pythonapi))
    typed.argtypes = []
    assert wrap(typed, text)() == 1
    other = ctypes.CFUNCTYPE(ctypes.c_int32)(ctypes.cast(check, ctypes.c_void_p).value or 0)
    other.argtypes = []
    assert wrap(other, text)() == 0
    assert wrap(other, text, release_gil=False)() == 1


def test_capsules_hold_the_gil(data: bytes, tmp_path: Path) -> None:
    capsule = of_a_capsule(data, tmp_path, "held")
    assert wrap(capsule, HELD, prototype=PROTOTYPES["held"])(1.0) == 2
    assert wrap(capsule, HELD, prototype=PROTOTYPES["held"], release_gil=True)(1.0) == 1


def test_other_sources_hold_it_if_told(data: bytes) -> None:
    held = wrap(data, HELD, prototype=PROTOTYPES["held"], release_gil=False)
    assert held(1.0) == held["held"](1.0) == held.callable("held")(1.0) == 2
    assert wrap(data, HELD, prototype=PROTOTYPES["held"])(1.0) == 1
    function = held["held"]
    function.release_gil = True  # other threads run during the checks, not during the kernel

    def work(_: int) -> None:
        assert [function(1.0) for _ in range(1000)] == [2] * 1000

    together(work)
    text = (
        "declare i32 @PyGILState_Check()\ndefine i32 @held() {\n %h = call i32 @PyGILState_Check()"
    )
    assert wrap(f"{text}\n ret i32 %h\n}}", "held() -> r: int32", release_gil=False)() == 1
    mlir = """
      llvm.func @PyGILState_Check() -> i32
      llvm.func @held() -> i32 {
        %held = llvm.call @PyGILState_Check() : () -> i32
        llvm.return %held : i32
      }"""
    assert wrap(mlir, "held() -> r: int32", release_gil=False)() == 1


@pytest.mark.skipif(addons.absent("cuda") is not None, reason="needs the add-on cuda")
def test_it_does_not_go_with_images() -> None:
    ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry f() {\n ret;\n}\n"
    words = r"release_gil= goes with .* but the source is a kernel image"
    with pytest.raises(TypeError, match=words):
        wrap(ptx, "f()", release_gil=False)


def test_what_it_does_not_go_with(data: bytes) -> None:
    given: Any = 0
    with pytest.raises(TypeError, match="release_gil= is a bool, but got 0"):
        wrap(data, HELD, prototype=PROTOTYPES["held"], release_gil=given)


@pytest.mark.parametrize(
    ("kind", "class_", "text"),
    [
        (1, ValueError, "negative"),
        (2, OverflowError, "too large"),
        (3, KeyboardInterrupt, ""),
        (-4, RuntimeError, "fail failed with status -4 when calling: `fail(kind: int32)`"),
    ],
)
def test_what_the_kernel_raises_is_raised(
    fail: runtime.CompiledModule, kind: int, class_: type[BaseException], text: str
) -> None:
    for function in (fail, fail["fail"], fail.callable("fail")):
        with pytest.raises(class_, match=rf"^{re.escape(text)}$"):
            function(kind)
        assert function(0) is None


def test_an_error_of_ones_own_is_the_same_object(fail: runtime.CompiledModule) -> None:
    with pytest.raises(OwnError) as caught:
        fail(4)
    assert caught.value.args == (sys.modules[__name__],)


@pytest.mark.parametrize(
    ("kind", "class_", "text"),
    [
        (1, ValueError, "negative"),
        (2, RuntimeError, "OverflowError: too large"),
        (3, KeyboardInterrupt, ""),
        (4, RuntimeError, "OwnError: "),
    ],
)
def test_a_caller_without_the_gil_gets_an_error_of_tvm_ffi(
    released: Any, kind: int, class_: type[BaseException], text: str
) -> None:
    with pytest.raises(class_, match=rf"^{re.escape(text)}$"):
        released(kind)
    assert not ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyErr_Occurred", ctypes.pythonapi))()


IN_A_THREAD = """
#include <pthread.h>
#include <tvm/ffi/c_api.h>
typedef struct { TVMFFISafeCallType code; int32_t status; char *text; } Call;
static void *work(void *given) {
  Call *call = given;
  TVMFFIAny argument = {.type_index = kTVMFFIInt, .v_int64 = call->status}, result;
  call->status = call->code(NULL, &argument, 1, &result);
  void *error = NULL;
  if (call->status != 0) TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) return NULL;
  const TVMFFIErrorCell *cell = (TVMFFIErrorCell *)((TVMFFIObject *)error + 1);
  snprintf(call->text, 80, "%s: %.*s", cell->kind.data, (int)cell->message.size, cell->message.data);
  return NULL;
}
int32_t in_a_thread(TVMFFISafeCallType code, int32_t kind, char *text) {
  Call call = {code, kind, text};
  pthread_t thread;
  pthread_create(&thread, NULL, work, &call);
  pthread_join(thread, NULL);
  return call.status;
}
"""


def test_a_thread_that_python_does_not_know(fail: runtime.CompiledModule, tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text("#include <stdio.h>\n" + IN_A_THREAD)
    flags = ("-shared", "-fPIC", "-pthread", *INCLUDES)
    run("gcc", *flags, tmp_path / "t.c", LIBRARY, "-o", tmp_path / "t.so")
    call: Any = ctypes.CDLL(str(tmp_path / "t.so")).in_a_thread
    text = ctypes.create_string_buffer(80)
    code = ctypes.c_void_p(fail.address("fail"))
    assert call(code, 0, text) == 0
    assert (call(code, 2, text), text.value) == (-1, b"RuntimeError: OverflowError: too large")
    assert (call(code, 1, text), text.value) == (-1, b"ValueError: negative")


# ---- exported


def test_a_library_takes_the_gil(fail: runtime.CompiledModule, tmp_path: Path) -> None:
    fail.export_library(tmp_path / "fail.so")
    ours = runtime.load(tmp_path / "fail.so")["fail"]
    assert not ours.release_gil
    with pytest.raises(OverflowError, match=r"^too large$"):
        ours(2)
    theirs: tvm_ffi.Function = load_module(str(tmp_path / "fail.so"))["fail"]
    assert theirs.release_gil
    with pytest.raises(RuntimeError, match=r"^OverflowError: too large$"):
        theirs(2)
    theirs.release_gil = False
    with pytest.raises(OverflowError, match=r"^too large$"):
        theirs(2)


def test_what_else_a_library_lacks_is_an_error(tmp_path: Path) -> None:
    source = "void PyErr_Clear(void); void other(void); void k(void) { PyErr_Clear(); other(); }"
    lowered = runtime.lower(c_object(tmp_path, source), opt_level=2)
    with pytest.raises(CompileError, match="`other`"):
        lowered.export_library(tmp_path / "k.so")


WITHOUT_PYTHON = """
#include <dlfcn.h>
#include <stdio.h>
#include <tvm/ffi/c_api.h>
int main(int count, char **words) {
  void *library = dlopen(words[1], RTLD_LAZY);
  if (library == NULL) return puts(dlerror()), 0;
  TVMFFISafeCallType code = (TVMFFISafeCallType)dlsym(library, "__tvm_ffi_held");
  TVMFFIAny result;
  void *error;
  printf("%d\\n", code(NULL, NULL, 0, &result));
  TVMFFIErrorMoveFromRaised(&error);
  printf("%s\\n", ((TVMFFIErrorCell *)((TVMFFIObject *)error + 1))->message.data);
  return 0;
}
"""


def test_where_no_python_runs(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(WITHOUT_PYTHON)
    rpath = f"-Wl,-rpath,{LIBRARY.parent}"
    out, library = tmp_path / "main", tmp_path / "held.so"
    run("gcc", *INCLUDES, tmp_path / "main.c", LIBRARY, rpath, "-ldl", "-o", out)
    kernel = "define i32 @held() {\n ret i32 1\n}"
    wrap(kernel, "held() -> r: int32", release_gil=False).export_library(library)
    words = "held needs Python, which does not run in this process when calling: `held()`"
    assert run(out, library).splitlines() == ["-1", words]
    held = wrap(data, HELD, prototype=PROTOTYPES["held"], release_gil=False)
    held.export_library(library)
    assert "undefined symbol: Py" in run(out, library)
