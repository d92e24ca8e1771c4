"""The types that functions of ctypes, cffi and Numba have, which `wrap` needs no prototype for."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, CompileError, wrap

HYPOT = "hypot(x: float64, y: float64) -> r: float64"


def of_ctypes(name: str, restype: Any, *argtypes: Any) -> Any:
    function = ctypes.CDLL("libm.so.6")[name]
    function.argtypes, function.restype = argtypes, restype
    return function


def of_cffi(declaration: str) -> Any:
    ffi = pytest.importorskip("cffi").FFI()
    ffi.cdef(f"struct s; {declaration};")
    return getattr(ffi.dlopen(None), declaration.partition("(")[0].split()[-1].lstrip("*"))


def test_a_function_of_ctypes() -> None:
    hypot = of_ctypes("hypot", ctypes.c_double, ctypes.c_double, ctypes.c_double)
    assert wrap(hypot, HYPOT)(3.0, 4.0) == 5


def test_a_closure_of_ctypes() -> None:
    seen: list[object] = []

    def kernel(x: Any, n: int, scale: float) -> int:
        seen.append([x[i] * scale for i in range(n)])
        return 0

    type_ = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.POINTER(ctypes.c_float), ctypes.c_int64, ctypes.c_float
    )
    text = "f(x: Tensor([3], float32), n: int64, scale: float32)"
    wrap(type_(kernel), text, device="cpu")(np.arange(3, dtype="float32"), 3, 2.0)
    assert seen == [[0, 2, 4]]


def test_a_result_that_ctypes_was_not_told() -> None:
    hypot = of_ctypes("hypot", ctypes.c_int, ctypes.c_double, ctypes.c_double)
    assert wrap(hypot, HYPOT, prototype="double hypot(double x, double y)")(3.0, 4.0) == 5
    closure = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(abs)
    assert wrap(closure, "f(n: int32) -> r: int32")(-4) == 4  # here c_int was written


def test_a_function_without_types_needs_a_prototype() -> None:
    function = ctypes.CDLL("libm.so.6").hypot
    assert wrap(function, HYPOT, prototype="double hypot(double, double)")(3.0, 4.0) == 5


class Point(ctypes.Structure):
    """A struct."""


POINTERS: Final = ctypes.POINTER(ctypes.POINTER(ctypes.c_double))


DOUBLE, POINTER, X = ctypes.c_double, ctypes.POINTER, "f(x: Tensor([n], float32))"
TYPES: Final[list[tuple[str, Any, list[Any], str, str | None, type[Exception], str]]] = [
    # function, types of ctypes, signature, prototype, and the error
    ("hypot", ctypes.c_int, [DOUBLE, DOUBLE], HYPOT, None, BuildError, "nothing says what `hypot` returns, as ctypes says c_int"),
    ("hypot", DOUBLE, [DOUBLE, DOUBLE], HYPOT, "float hypot(float, float)", BuildError, r"says \(float32, float32\) -> float32, but ctypes has \(float64, float64\) -> float"),
    ("abs", ctypes.c_int, [ctypes.c_int], "abs(n: uint32) -> r: int32", "int abs(unsigned n)", BuildError, r"says \(uint32\) -> int32, but ctypes has \(int32\) ->"),
    ("fabs", None, [POINTER(DOUBLE)], X, "void f(float *x)", BuildError, r"a pointer to float32\) -> void, but ctypes has"),
    ("fabs", None, [POINTER(DOUBLE)], X, None, BuildError, "elements of 'x' are float"),
    ("fabs", None, [POINTER(Point)], X, None, BuildError, "x is a pointer to Point, but 'x'"),
    ("fabs", None, [ctypes.c_int64], X, None, BuildError, "x is int64, but 'x' is a tensor"),
    ("fabs", None, [POINTERS, *[ctypes.c_void_p] * 2, ctypes.c_int64], "f(x: TensorList(Tensor([n], float32)))", None, BuildError, "is a pointer to a pointer to float64, but the elements of 'x' are float32"),
    ("fabs", None, [POINTER(ctypes.c_float), ctypes.c_int64], X, None, BuildError, r"takes 2 parameters \(arg1: a pointer to float32, arg2: int64\), but 1 are passed \(x\).*so arguments go by position"),
    ("fabs", None, [ctypes.c_void_p], "f(n: int64)", None, BuildError, "n is a pointer, but 'n' is a number"),
    ("fabs", None, [ctypes.c_int32], "f(n: int64)", None, BuildError, "n is int32, but 'n' is int64"),
    *(("fabs", None, [type_], "f(x: float64)", None, CompileError, f"fabs: parameter .*{shown}.*, which no parameter of a") for type_, shown in ((ctypes.py_object, "#0 is a py_object"), (Point, "#0 is a Point"), (ctypes.c_wchar, "c_wch"))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "restype", "argtypes", "text", "prototype", "error", "words"), TYPES, ids=[row[-1][:40] for row in TYPES])  # fmt: skip
def test_types_that_differ(
    name: str, restype: Any, argtypes: list[Any], text: str, prototype: Any, error: Any, words: str
) -> None:
    function = of_ctypes(name, restype, *argtypes)
    options: Any = {"function": "fabs"} if name == "fabs" and prototype is None else {}
    with pytest.raises(error, match=words):
        wrap(function, text, device="cpu", prototype=prototype, **options)


def test_a_function_of_which_nothing_is_known() -> None:
    with pytest.raises(BuildError, match="nothing says which arguments `hypot` takes"):
        wrap(ctypes.CDLL("libm.so.6").hypot, HYPOT)


def test_pointers_of_ctypes_that_fit() -> None:
    for pointer in (
        *(ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_float)),
        *(ctypes.POINTER(ctypes.c_uint8), np.ctypeslib.ndpointer("float32")),
    ):
        function = of_ctypes("fabs", None, pointer)
        wrap(function, "f(x: Tensor([n], float32))", device="cpu", function="fabs")


def test_functions_of_cffi() -> None:
    assert wrap(of_cffi("int abs(int n)"), "abs(n: int32) -> r: int32")(-4) == 4
    assert wrap(of_cffi("long labs(long n)"), "f(n: int64) -> r: int64")(-4) == 4
    with pytest.raises(BuildError, match="abs: parameter n is int32, but 'n' is int64"):
        wrap(of_cffi("int abs(int n)"), "abs(n: int64) -> r: int32")
    with pytest.raises(BuildError, match=r"says \(int64\) -> int32, but .* has \(int32\) -> int32"):
        wrap(of_cffi("int abs(int n)"), "abs(n: int64) -> r: int32", prototype="int abs(int64_t n)")


@pytest.mark.parametrize(
    ("type_", "dtype"),
    [
        *(("unsigned char", "uint8"), ("size_t", "uint64"), ("short", "int16"), ("_Bool", "bool")),
        *(("enum e", "uint32"), ("enum n", "int32"), ("float", "float32")),
    ],
)
def test_numbers_of_cffi(type_: str, dtype: str) -> None:
    ffi: Any = pytest.importorskip("cffi").FFI()
    ffi.cdef("enum e { A }; enum n { B = -1 };")

    def kernel(number: Any) -> Any:
        return number

    function = ffi.callback(f"{type_}({type_})", kernel)
    f = wrap(function, f"f(n: {dtype}) -> r: {dtype}")
    assert f(1) == 1
    other = "float64" if dtype == "float32" else "float32"
    with pytest.raises(BuildError, match=f"f: parameter n is {dtype}, but 'n' is {other}"):
        wrap(function, f"f(n: {other}) -> r: {dtype}")
    with pytest.raises(BuildError, match=f"f returns {dtype}, but the result 'r' is {other}"):
        wrap(function, f"f(n: {dtype}) -> r: {other}")


def test_lists_of_cffi() -> None:
    ffi: Any = pytest.importorskip("cffi").FFI()

    def kernel(*_: Any) -> None:
        pass

    function = ffi.callback("void(double **, int64_t *, int64_t *, int64_t)", kernel)
    wrap(function, "f(xs: TensorList(Tensor([n], float64)))", device="cpu")
    with pytest.raises(BuildError, match="to float64, but the elements of 'xs' are float32"):
        wrap(function, "f(xs: TensorList(Tensor([n], float32)))", device="cpu")


def test_pointers_to_pointers_are_those_of_a_prototype() -> None:
    def kernel(*_: Any) -> int:
        return 0

    ffi: Any = pytest.importorskip("cffi").FFI()
    function = ffi.callback("int(float **, float _Complex *)", kernel)
    f = wrap(function, "f(x: handle, y: handle)", prototype="int f(float **, float _Complex *)")
    assert f(None, None) is None
    closure = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.POINTER(ctypes.c_float)))
    assert wrap(closure(kernel), "f(x: handle)", prototype="int f(float **)")(None) is None


def test_sizes_go_by_no_position() -> None:
    function = of_ctypes("fabs", None, ctypes.POINTER(ctypes.c_float), ctypes.c_int64)
    assert wrap(function, X, device="cpu", function="fabs", args=["x", "n"])


def test_functions_of_cffi_that_are_not_called() -> None:
    printf = of_cffi("int printf(const char *, ...)")
    with pytest.raises(CompileError, match=r"printf: a function with `\.\.\.` cannot be called"):
        wrap(printf, "printf(n: int64)")
    fgetc = of_cffi("int fgetc(struct s *)")
    with pytest.raises(BuildError, match="x is a pointer to struct s, but 'x' is passed as the"):
        wrap(fgetc, "fgetc(x: Tensor([n], float32)) -> r: int32", device="cpu")


def test_an_address_of_data() -> None:
    data, prototype = np.ones(4), "double hypot(double, double)"
    for address in (data.ctypes.data, 12345, ctypes.c_void_p(data.ctypes.data)):
        shown = f"but got {address:#x}, " if isinstance(address, int) else ""
        with pytest.raises(ValueError, match=f"{shown}where this process has no cod"):
            wrap(address, HYPOT, prototype=prototype, owner=data)
    ffi = pytest.importorskip("cffi").FFI()
    for cdata in (ffi.new("int *"), ffi.new("int[3]")):
        with pytest.raises(TypeError, match=r"expected the address of a function, but got <cdata"):
            wrap(cdata, HYPOT, prototype=prototype)


NO_PROC = """
import ctypes
from ffi_builder import wrap
sqrt = ctypes.CDLL("libm.so.6").sqrt
sqrt.argtypes, sqrt.restype = [ctypes.c_double], ctypes.c_double
print(wrap(sqrt, "sqrt(x: float64) -> r: float64")(9.0))
try:
    wrap(0, "sqrt(x: float64) -> r: float64", prototype="double sqrt(double x)", owner=None)
except ValueError as error:
    print(error)
"""


@pytest.mark.slow
def test_without_proc(tmp_path: Path) -> None:
    """In a sandbox without /proc, nothing says where code is."""
    hide = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if shutil.which("unshare") is None or subprocess.run([*hide, "true"], check=False).returncode:
        pytest.skip("needs the right to hide /proc: unshare -rm")
    command = [*hide, sys.executable, "-c", NO_PROC]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "3.0",
        "wrap: expected the address of a function but got 0x0, where this process has no code",
    ]


def test_a_cfunc_of_numba() -> None:
    numba: Any = pytest.importorskip("numba")
    types = numba.types

    def scale(n: int, factor: float, x: Any) -> None:
        for i in range(n):
            x[i] *= factor

    made = numba.cfunc(types.void(types.int64, types.float64, types.CPointer(types.float64)))
    x = np.arange(3.0)
    wrap(made(scale), "scale(x: Tensor([n], float64), factor: float64)", device="cpu")(x, 2.0)
    assert x.tolist() == [0, 2, 4]
    with pytest.raises(BuildError, match="x is a pointer to float64, but the elements of 'x' are"):
        wrap(made(scale), "scale(x: Tensor([n], float32), factor: float64)", device="cpu")
    with pytest.raises(BuildError, match=r"says \(int32, float64, a poi.* but numba has \(int64, "):
        wrap(
            made(scale),
            "scale(x: Tensor([n], float64), factor: float64)",
            device="cpu",
            prototype="void scale(int n, double factor, double *x)",
        )
