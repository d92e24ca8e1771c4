"""Functions in capsules, as Cython and SciPy have them: their names say types of C."""

from __future__ import annotations

import ctypes
import subprocess
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, wrap
from tests.runtime.samples import needs_cc

pytest.importorskip("clang.native")
pytestmark = needs_cc

SOURCE: Final = """
double half(double x) { return x / 2; }
void scale(double *x, const int *n, double by) { for (int i = 0; i < *n; ++i) x[i] *= by; }
long skipped(long x, int skip, const void *more) { return skip == 0 && more == 0 ? x : -1; }
"""
NEW: Final = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("capsules") / "kernels.so"
    command = ["gcc", "-O1", "-fPIC", "-shared", "-xc", "-", "-o", path]
    subprocess.run(command, input=SOURCE, text=True, check=True)
    return ctypes.CDLL(str(path))


def capsule(library: ctypes.CDLL, function: str, name: bytes | None) -> Any:
    """Return a capsule. It keeps its name's address only, so the name has to live on."""
    KEPT.append(name)
    return NEW(ctypes.cast(library[function], ctypes.c_void_p), name, None)


KEPT: list[bytes | None] = []
HALF: Final = "half(x: float64) -> r: float64"
SCALE: Final = "scale(x: Tensor([k], float64), n: Tensor([], int32), by: float64)"


def test_the_name_is_the_prototype(library: ctypes.CDLL) -> None:
    assert wrap(capsule(library, "half", b"double (double)"), HALF)["half"](3.0) == 1.5
    with pytest.raises(BuildError, match="half: parameter x is float64, but 'x' is float32"):
        wrap(capsule(library, "half", b"double (double)"), "half(x: float32) -> r: float64")
    named = capsule(library, "half", b"double (double, double)")
    with pytest.raises(BuildError, match="takes 2 parameters"):
        wrap(named, HALF)


@pytest.mark.parametrize(
    ("prototype", "words"),
    [
        ("float half(float x)", r"half: prototype= says \(float32\) -> float32, but its capsule has"),
        ("double half(void)", r"has 0 parameters, but its capsule is a `double \(double\)`"),
        ("double half(double *x)", r"says \(a pointer to float64\)"),
        ("void half(double x)", r"says \(float64\) -> void, but its capsule has \(float64\) -> fl"),
    ],
)  # fmt: skip
def test_a_prototype_that_differs(prototype: str, words: str, library: ctypes.CDLL) -> None:
    named = capsule(library, "half", b"double (double)")
    with pytest.raises(BuildError, match=words):
        wrap(named, HALF, prototype=prototype)
    assert wrap(named, HALF, prototype="double half(double v)", args=["x"])["half"](1.0) == 0.5


WORDS: Final = b"void (__pyx_t_4math_real *, int *, __pyx_t_4math_real)"


def test_words_that_are_not_of_c(library: ctypes.CDLL) -> None:
    named = capsule(library, "scale", WORDS)
    with pytest.raises(BuildError, match=r"`__pyx_t_4math_real \*` is no type of C: give proto"):
        wrap(named, SCALE, device="cpu")
    f = wrap(named, SCALE, device="cpu", prototype="void scale(double *x, const int *n, double by)")
    x = np.ones(3)
    f["scale"](x, np.array(2, "int32"), 4.0)
    assert x.tolist() == [4, 4, 1]


@pytest.mark.parametrize(
    ("prototype", "words"),
    [
        ("void scale(double x, int *n, double by)", "has float64 for `__pyx_t_4math_real "),
        ("void scale(double *x, int *n, double *by)", "a pointer to float64 for `__pyx_t_4math_re"),
        ("void scale(double *x, long *n, double by)", "says .*, but its capsule has"),
        ("void scale(double *x, double by)", "has 2 parameters, but its capsule is a `void "),
        ("int scale(double *x, int *n, double by)", "says .* -> int32, but its capsule has"),
    ],
)
def test_the_shape_of_words_that_are_not_of_c(
    prototype: str, words: str, library: ctypes.CDLL
) -> None:
    with pytest.raises(BuildError, match=words):
        wrap(capsule(library, "scale", WORDS), SCALE, device="cpu", prototype=prototype)


def test_parameters_that_cython_adds(library: ctypes.CDLL) -> None:
    """A cpdef function gets them from its callers: no attribute is looked up, and no default."""
    name = b"long (long, int __pyx_skip_dispatch, struct __pyx_opt_args_f *__pyx_optional_args)"
    named = capsule(library, "skipped", name)
    assert wrap(named, "skipped(x: int64) -> r: int64")["skipped"](7) == 7
    prototype = "long skipped(long x)"
    given = wrap(named, "skipped(x: int64) -> r: int64", prototype=prototype)
    assert given["skipped"](8) == 8
    with pytest.raises(BuildError, match="of which 2 are passed by themselves"):
        wrap(named, "skipped(x: int64) -> r: int64", prototype="long skipped(long x, int skip)")


@pytest.mark.parametrize("name", [None, b"", b"scipy.half", b"()"])
def test_a_name_that_is_no_type(name: bytes | None, library: ctypes.CDLL) -> None:
    named = capsule(library, "half", name)
    with pytest.raises(BuildError, match="nothing says which arguments `half` takes"):
        wrap(named, HALF)
    assert wrap(named, HALF, prototype="double half(double x)")["half"](1.0) == 0.5


def test_a_low_level_callable(library: ctypes.CDLL) -> None:
    scipy = pytest.importorskip("scipy")
    special = pytest.importorskip("scipy.special.cython_special")
    function = scipy.LowLevelCallable.from_cython(special, "j1")
    j1 = wrap(function, "j1(x: float64) -> r: float64")
    assert j1["j1"](1.0) == pytest.approx(0.4400505857449335)
    with pytest.raises(BuildError, match="j1: parameter x is float64, but 'x' is float32"):
        wrap(function, "j1(x: float32) -> r: float64")
    half = library.half
    half.argtypes, half.restype = [ctypes.c_double], ctypes.c_double
    assert wrap(scipy.LowLevelCallable(half), HALF)["half"](3.0) == 1.5
    data = ctypes.cast(ctypes.create_string_buffer(8), ctypes.c_void_p)
    with pytest.raises(TypeError, match=r"has user_data, which SciPy passes: give its \.function"):
        wrap(scipy.LowLevelCallable(half, data), HALF)
