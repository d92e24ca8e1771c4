"""What a C function takes or writes by address: numbers, in and out, pointers that it makes."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, explain, wrap
from tests.runtime.samples import c_object, needs_cc

pytest.importorskip("clang.native")
pytestmark = needs_cc

AXPY: Final = """
void axpy_(const int *n, const double *alpha, const double *x, const int *incx, double *y) {
  for (int i = 0; i < *n; i++) y[i] += *alpha * x[i * *incx];
}
"""
AXPY_IN_C: Final = (
    "void axpy_(const int *n, const double *alpha, const double *x, const int *incx, double *y)"
)
TENSORS: Final = "x: Tensor([n], float64), y: Tensor([n], float64)"
COPY: Final = """
int copy_(unsigned char *dest, unsigned long *length, const unsigned char *source, int *n) {
  if (*length < *n) return -5;
  for (int i = 0; i < *n; i++) dest[i] = source[i];
  *length = *n;
  *n = -1;
  return 0;
}
"""
COPY_IN_C: Final = (
    "int copy_(unsigned char *dest, unsigned long *length, const unsigned char *source, int *n)"
)
BYTES: Final = "dest: Tensor([room], uint8), source: Tensor([n], uint8)"
MAKE: Final = """
#include <stdlib.h>
struct context { int n; };
int context_new(int n, struct context **made, int *count) {
  if (n < 0) return 3;
  *made = n ? malloc(sizeof **made) : 0;
  if (n) (*made)->n = n;
  *count = n + 1;
  return 0;
}
int context_n(const struct context *of) { return of->n; }
void context_free(struct context **of) { free(*of); *of = NULL; }
"""
MAKE_IN_C: Final = "int context_new(int n, struct context **made, int *count)"


READ: Final = "double {}_of(const {} *a) {{ return *a; }}"
NUMBERS: Final = {type_: READ.format(type_.strip("_"), type_) for type_ in ("int", "long", "char", "_Bool", "float", "unsigned")}  # fmt: skip


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """All functions of this file."""
    sources = (MAKE, AXPY, COPY, *NUMBERS.values())
    return c_object(tmp_path_factory.mktemp("address"), "\n".join(sources))


def axpy(code: bytes, params: str = TENSORS, prototype: str = AXPY_IN_C, **options: Any) -> Any:
    return wrap(code, f"axpy_({params})", prototype=prototype, device="cpu", **options)


def test_numbers_by_const_pointers(code: bytes) -> None:
    """They are passed by address without a word, a size as the integer of the prototype."""
    wrapped = axpy(code, f"alpha: float64, {TENSORS}", args={"incx": 1})
    x, y = np.arange(3.0), np.ones(3)
    wrapped["axpy_"](2.0, x, y)
    assert y.tolist() == [1, 3, 5]
    assert "&n" in explain(wrapped)
    with pytest.raises(ValueError, match=r"Mismatched y.shape\[0\]"):
        wrapped["axpy_"](2.0, x, y[:2])


@pytest.mark.parametrize(
    ("params", "args", "expected"),
    [
        (TENSORS, ["n", 0.5, "x", 1, "y"], [0, 0.5, 1]),
        (TENSORS, ["n - 1", -1.0, "x", 1, "y"], [0, -1, 0]),
        (TENSORS, ["&n", "&0.5", "x", "&1", "y"], [0, 0.5, 1]),
        (f"{TENSORS}, m: int32", ["&int32(n - 1)", "&float64(2)", "x", "&m", "y"], [0, 2, 0]),
        (f"{TENSORS}, p: Struct(a: float64, inc: int32)", ["n", "p.a", "x", "p.inc", "y"], [0, 3, 6]),
    ],
)  # fmt: skip
def test_what_is_passed_by_address(
    code: bytes, params: str, args: list[Any], expected: list[float]
) -> None:
    y, more = np.zeros(3), [1] if "m:" in params else [(3.0, 1)] if "p:" in params else []
    axpy(code, params, args=args)["axpy_"](np.arange(3.0), y, *more)
    assert y.tolist() == expected


def test_by_position(code: bytes) -> None:
    prototype = "void axpy_(const int *, const double *, const double *, const int *, double *)"
    params = "m: int32, a: float64, v: Tensor([n], float64), i: int32, w: Tensor([n], float64)"
    w = np.zeros(2)
    axpy(code, params, prototype)["axpy_"](2, 2.0, np.ones(2), 1, w)
    assert w.tolist() == [2, 2]


def test_llvm_ir() -> None:
    """It says of a pointer neither what it points to nor that it is only read."""
    text = "define i32 @f(ptr %n) {\n %r = load i32, ptr %n\n ret i32 %r\n}"
    params = "x: Tensor([n], float32)) -> r: int32 where n: int32"
    f = wrap(text, f"f({params}", args=["&n"], device="cpu")
    assert f["f"](np.ones(3, "float32")) == 3
    words = "'n' is a number; None passes NULL, '&n' the address of a"
    with pytest.raises(BuildError, match=words):
        wrap(text, f"f({params}", device="cpu")


@pytest.mark.parametrize(
    ("params", "args", "words"),
    [
        (TENSORS, {"alpha": 1, "incx": 1}, "alpha is a const pointer to float64, but 1 is a number"),
        (TENSORS, {"alpha": "&1", "incx": 1}, "alpha is a const pointer to float64, which is not 1"),
        (TENSORS, {"alpha": 0.5, "incx": 2**31}, "incx is a const pointer to int32, which is not 21"),
        (TENSORS, {"alpha": 0.5, "incx": "&int64(n)"}, r"but int64\(n\) is passed by address"),
        (TENSORS, {"alpha": 0.5, "incx": "&x"}, "but x is not one number or handle"),
        (TENSORS, {"alpha": 0.5, "incx": "&"}, "expected the address of a value"),
        (f"alpha: float32, {TENSORS}", {"incx": 1}, "'alpha' is float32: declare `alpha: float64`"),
        (f"h: handle, {TENSORS}", {"alpha": 0.5, "incx": "&h"}, "'h', whose address is passed, is a h"),
        (f"incx: int64, {TENSORS}", {"alpha": 0.5}, "'incx' is int64: declare `incx: int32`"),
    ],
)  # fmt: skip
def test_what_the_prototype_contradicts(code: bytes, params: str, args: Any, words: str) -> None:
    with pytest.raises(BuildError, match=words):
        axpy(code, params, args=args)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("const int *n", "int *n", "n is a pointer to int32, but 'n' is a number; None passes NULL"),
        ("const int *n", "const void *n", "n is a const pointer, but 'n' is a number; None"),
        ("const int *n", "const int n[2]", "but 'n' is a number"),
        ("const int *n", "const int *const *n", "but 'n' is a number"),
        ("const int *n", "const struct { int n; } *n", "but 'n' is a number"),
    ],
)  # fmt: skip
def test_a_pointer_to_what_may_be_more(code: bytes, old: str, new: str, words: str) -> None:
    """Nothing is passed by address that the kernel may write to, or that may be several numbers."""
    with pytest.raises(BuildError, match=words):
        axpy(code, prototype=AXPY_IN_C.replace(old, new), args={"alpha": 0.5, "incx": 1})
    if "[" not in new and "struct" not in new and "*const" not in new:
        given = {"n": "&n" if "void" not in new else "&int32(n)", "alpha": 0.5, "incx": 1}
        y, prototype = np.zeros(2), AXPY_IN_C.replace(old, new)
        axpy(code, prototype=prototype, args=given)["axpy_"](np.ones(2), y)
        assert y.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("c", "params", "entry", "given", "expected"),
    [
        ("int", "x: Tensor([n], float64)", "x.ndim", (np.zeros(3),), 1),
        ("long", "x: Tensor([n], float64)", "x.ndim", (np.zeros(3),), "but 'x.ndim' is int32"),
        ("int", "a: Choice({'lo': -7, 'hi': 3}, int32)", "a", ("lo",), -7),
        ("int", "a: Choice({'lo': -7, 'hi': 3}, int64)", "a", ("lo",), "but 'a' is int64"),
        ("char", "a: int8", "a", (65,), 65),
        ("char", "a: int64", "a", (65,), "'a' is a number; None passes NULL, '&a' the"),
        ("char", "a: int64", "&a", (65,), 65),
        ("char", "a: int64", "&int8(a)", (65,), 65),
        ("char", "x: Tensor([n], float64)", "&n", (np.zeros(3),), 3),
        ("_Bool", "a: bool", "a", (True,), 1),
        ("float", "a: float32", "a", (0.5,), 0.5),
        ("float", "", 0.5, (), 0.5),
        ("int", "", True, (), 1),
        ("_Bool", "", True, (), 1),
        ("unsigned", "x: Tensor([n], float64)", "n - 1", (np.zeros(3),), 2),
        ("unsigned", "x: Tensor([n], float64)", "n - 4", (np.zeros(3),), "expected n - 4 >= 0"),
        ("unsigned", "a: int32", "a", (3,), 3),
        ("unsigned", "a: int32", "a", (-3,), "Mismatched a .*expected at least 0"),
    ],
)  # fmt: skip
def test_each_kind_of_number(
    code: bytes, c: str, params: str, entry: Any, given: tuple[Any, ...], expected: Any
) -> None:
    signature = f"{c.strip('_')}_of({params}) -> r: float64"
    prototype = NUMBERS[c].partition(" {")[0]
    fails = isinstance(expected, str)
    with pytest.raises((BuildError, ValueError), match=expected) if fails else nullcontext():
        f = wrap(code, signature, prototype=prototype, args=[entry], device="cpu")
        assert f(*given) == expected


# ---- in and out


def copy(code: bytes, results: str, args: Any) -> Any:
    signature = f"copy_({BYTES}) -> {results}"
    return wrap(code, signature, prototype=COPY_IN_C, args=args, device="cpu")["copy_"]


def test_a_size_in_and_out(code: bytes) -> None:
    args = {"length": "&room -> length", "n": "&n"}
    bounded = copy(code, "length: uint64", args)
    source, dest = np.arange(3, dtype="uint8"), np.zeros(5, "uint8")
    assert bounded(dest, source) == 3
    assert dest.tolist() == [0, 1, 2, 0, 0]
    with pytest.raises(RuntimeError, match="copy_ failed with status -5"):
        bounded(dest[:2], source)


def test_several_in_and_out_under_other_names(code: bytes) -> None:
    args = ["dest", "&room * 1 -> written", "source", "&n -> left"]
    both = copy(code, "(left: int32, written: uint64)", args)
    assert tuple(both(np.zeros(5, "uint8"), np.ones(3, "uint8"))) == (-1, 3)


@pytest.mark.parametrize(
    ("results", "start", "words"),
    [
        ("length: int64", "&room -> length", "the result 'length' is int64: declare `-> length: uint6"),
        ("length: uint64", "&room -> size", "'size' is no result that is a number or handle: declare"),
        ("length: uint64", "&0.5 -> length", "but 0.5 is float64, and uint64 is passed"),
        ("length: uint64", "&-1 -> length", "but uint64 holds 0 to 18446744073709551615"),
        ("length: uint64", "room -> length", "expected the address of a value, as in .*'&n -> written'"),
    ],
)  # fmt: skip
def test_a_start_that_the_prototype_contradicts(
    code: bytes, results: str, start: str, words: str
) -> None:
    with pytest.raises(BuildError, match=words):
        copy(code, results, {"length": start, "n": "&n"})


def test_a_start_at_what_is_only_read(code: bytes) -> None:
    prototype = COPY_IN_C.replace("unsigned long *length", "const unsigned long *length")
    words = "length is a const pointer to uint64, but the kernel writes"
    with pytest.raises(BuildError, match=words):
        wrap(
            code,
            f"copy_({BYTES}) -> length: uint64",
            prototype=prototype,
            args={"length": "&room -> length", "n": "&n"},
            device="cpu",
        )


# ---- pointers that are made


def test_a_pointer_to_a_pointer(code: bytes) -> None:
    new = wrap(code, "context_new(n: int32) -> (made: handle, count: int32)", prototype=MAKE_IN_C)
    of = wrap(
        code,
        "context_n(of: handle) -> n: int32 where of.present",
        prototype="int context_n(const struct context *of)",
    )
    free = wrap(
        code,
        "context_free(of: handle) -> left: handle",
        prototype="void context_free(struct context **of)",
        args=["&of -> left"],
    )
    made, count = new["context_new"](7)
    assert (count, of["context_n"](made)) == (8, 7)
    assert free["context_free"](made) is None
    nothing, _ = new["context_new"](0)
    with pytest.raises(ValueError, match="of"):
        of["context_n"](nothing)
    with pytest.raises(RuntimeError, match="failed with status 3"):
        new["context_new"](-1)
    assert repr(made) == "<Handle made of context_new>"


@pytest.mark.parametrize(
    ("result", "changed", "words"),
    [
        ("int64", "struct context **made", "is int64: declare `-> made: handle`"),
        ("handle", "struct context *made", "but the kernel writes the result 'made' by a pointer"),
        ("handle", "struct context *const *made", "the kernel writes the result 'made' by a pointer"),
        ("handle", "double *made", "the result 'made' is handle: declare `-> made: float64`"),
        ("handle", "int *made", "the result 'made' is handle: declare `-> made: int32`"),
    ],
)  # fmt: skip
def test_a_pointer_to_something_else(code: bytes, result: str, changed: str, words: str) -> None:
    signature = f"context_new(n: int32) -> (made: {result}, count: int32)"
    with pytest.raises(BuildError, match=words):
        wrap(
            code,
            signature,
            prototype=MAKE_IN_C.replace("struct context **made", changed),
        )


@pytest.mark.parametrize(
    "type_", ["void *made", "void **made", "unsigned long *made", "char *made"]
)
def test_other_types_of_an_address(code: bytes, type_: str) -> None:
    signature = "context_new(n: int32) -> (made: handle, count: int32)"
    prototype = MAKE_IN_C.replace("struct context **made", type_)
    made, _ = wrap(code, signature, prototype=prototype)["context_new"](0)
    assert made.value is None
