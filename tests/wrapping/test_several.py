"""Options of ``wrap`` for a list of signatures: each goes to the functions that it fits."""

from __future__ import annotations

import errno
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, explain, wrap
from tests.runtime.samples import c_object, needs_cc

pytest.importorskip("clang.native")
pytestmark = needs_cc

SOURCE: Final = """
#include <errno.h>
#include <stdlib.h>
#include <string.h>
struct pen { int width; };
struct pen *pen_new(int width, unsigned flags) {
  struct pen *made = malloc(sizeof *made);
  made->width = width + flags;
  return made;
}
int pen_width(const struct pen *pen, int *width) { *width = pen->width; return 1; }
int pen_set(struct pen *pen, int width) { pen->width = width; return width < 0 ? 7 : 1; }
int pen_free(struct pen *pen) { int width = pen->width; free(pen); return width == 9 ? 5 : 1; }
struct pen *pen_drop(struct pen *pen) { free(pen); return NULL; }
int64_t total(const int32_t *x, int64_t size) {
  int64_t sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += x[i];
  return sum;
}
struct pen *pen_open(int width, int *err) {
  *err = width < 0 ? 7 : 0;
  return *err ? NULL : pen_new(width, 0);
}
int open_pen(int width, struct pen **made) {
  int err;
  *made = pen_open(width, &err);
  return err;
}
int64_t twice(int64_t size) { return size < 0 ? (errno = EDOM, -1) : 2 * size; }
double half(double x) { return x / 2; }
char *name(int pen) { return strdup(pen ? "pen" : "none"); }
"""
PROTOTYPES: Final = """
#include <stdint.h>
#define SHINY 2
struct pen *pen_new(int width, unsigned flags);
int pen_width(const struct pen *pen, int *width);
int pen_set(struct pen *pen, int width);
int pen_free(struct pen *pen);
struct pen *pen_drop(struct pen *pen);
struct pen *pen_open(int width, int *err);
int open_pen(int width, struct pen **made);
int64_t total(const int32_t *x, int64_t size);
int64_t twice(int64_t size);
double half(double x);
char *name(int pen);
"""
PENS: Final = [
    "pen_new(width: int32) -> made: handle",
    "pen_set(pen: handle, width: int32) where pen.present",
    "pen_width(pen: handle) -> width: int32 where pen.present",
]


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return c_object(tmp_path_factory.mktemp("several"), SOURCE)


def test_one_wrap_for_a_library(code: bytes) -> None:
    """An entry of `args=` is for the functions that have the parameter, `success=` for statuses."""
    pens = wrap(
        code,
        PENS,
        prototype=PROTOTYPES,
        args={"flags": "SHINY"},
        success=1,
        errors={7: ("ValueError", "no pen is that thin")},
        destroy="pen_free",
    )
    with pens["pen_new"](3) as pen:
        assert pens["pen_width"](pen) == 5
        pens["pen_set"](pen, 4)
        assert pens["pen_width"](pen) == 4
        with pytest.raises(ValueError, match="no pen is that thin when calling: `pen_set"):
            pens["pen_set"](pen, -1)
        pens["pen_set"](pen, 9)
        with pytest.raises(RuntimeError, match="pen_free failed with status 5"):
            pen.close()


def test_success_of_a_destroyer_alone(code: bytes) -> None:
    """The function itself returns no status, and its destroyer 1 for success, as BIO_free does."""
    make = wrap(
        code, PENS[0], prototype=PROTOTYPES, args={"flags": 0}, success=1, destroy="pen_free"
    )
    make(3).close()


def test_a_destroyer_that_returns_a_pointer(code: bytes) -> None:
    """It is dropped, as the NULL of libsamplerate's src_delete."""
    make = wrap(code, PENS[0], prototype=PROTOTYPES, args={"flags": 0}, destroy="pen_drop")
    pen = make(3)
    pen.close()
    assert pen.closed


def test_entries_beside_names_of_the_signature(code: bytes) -> None:
    """`size` is a part of one signature, and what an entry says in another one."""
    both = wrap(
        code,
        ["total(x: Tensor([n], int32)) -> sum: int64", "twice(size: int64) -> doubled: int64"],
        prototype=PROTOTYPES,
        args={"size": "n"},
        device="cpu",
    )
    assert both["total"](np.arange(4, dtype="int32")) == 6
    assert both["twice"](21) == 42
    counted = wrap(
        code,
        [
            "twice(size: int64, n: int64) -> doubled: int64 where size < n",
            "half(x: float64) -> r: float64",
        ],
        prototype=PROTOTYPES,
        args={"size": "n"},
    )
    assert counted["twice"](1, 21) == 42  # an entry with names of the signature wins, as for one


def test_fields_of_structs_are_names_of_the_signature(code: bytes) -> None:
    pens = wrap(
        code,
        ["pen_width(pen: int32) -> width: int32", "half(x: float64) -> r: float64"],
        prototype=f"struct pen {{ int width; }};{PROTOTYPES}",
        args={"pen": {"width": "pen"}},
        success=1,
    )
    assert pens["pen_width"](3) == 3


def test_functions_that_wrappers_call_themselves() -> None:
    """Texts are copied to memory of `malloc`, and `free` frees it."""
    memory = wrap(
        "-lc",
        ["malloc(size: uint64) -> made: handle", "strlen(s: Bytes) -> length: uint64"],
        prototype="#include <stdlib.h>\n#include <string.h>",
        destroy="free",
    )
    with memory["malloc"](8) as made:
        assert made.value
    assert memory["strlen"](bytearray(b"banana")) == 6


def test_errno_and_free(code: bytes) -> None:
    """`errno=` is for integers and pointers, `free=` for texts."""
    functions = wrap(
        code,
        [
            "twice(size: int64) -> doubled: int64",
            "half(x: float64) -> r: float64",
            "name(pen: int32) -> name: String",
        ],
        prototype=PROTOTYPES,
        errno=True,
        free="free",
    )
    assert functions["half"](3) == 1.5
    assert functions["name"](1) == "pen"
    with pytest.raises(OSError, match="Numerical argument out of domain") as caught:
        functions["twice"](-1)
    assert caught.value.errno == errno.EDOM


def test_sanitize_goes_to_the_functions_with_tensors(code: bytes) -> None:
    total, new = "total(x: Tensor([n], int32, intent=in)) -> sum: int64", PENS[0]
    options: Any = {"prototype": PROTOTYPES, "device": "cpu", "sanitize": True}
    args = {"size": "n", "flags": 0}
    both = wrap(code, [total, new], args=args, success=1, destroy="pen_free", **options)
    assert both["total"](np.arange(4, dtype="int32")) == 6
    both["pen_new"](3).close()
    assert "elements of x" in explain(both)
    with pytest.raises(BuildError, match="'pen_new' has nothing that could be checked"):
        wrap(code, [new], args={"flags": 0}, **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"success": 1}, "success= needs a status, but none of `twice`, `half` returns one"),
        ({"errors": {7: None}}, "errors= needs a status, but none of `twice`, `half` returns one$"),
        ({"free": "free"}, "free= needs a text as result, but none of `twice`, `half` returns one"),
        ({"args": {"sizes": 3}}, "args= has 'sizes', but none of `twice`, `half` has such a parameter, did you mean 'si"),
    ],
)  # fmt: skip
def test_options_that_fit_no_function(code: bytes, options: Any, words: str) -> None:
    signatures = ["twice(size: int64) -> doubled: int64", "half(x: float64) -> r: float64"]
    with pytest.raises(BuildError, match=words):
        wrap(code, signatures, prototype=PROTOTYPES, **options)


def test_a_status_that_is_written_by_a_pointer(code: bytes) -> None:
    """A function in C returns it, and writes the handle by a pointer."""
    signatures = [
        "pen_open(width: int32) -> (pen: handle, err: int32)",
        "half(x: float64) -> r: float64",
    ]
    options: Any = {"prototype": PROTOTYPES, "errors": {7: ("ValueError", "no pen is that thin")}}
    words = (
        r"none of `pen_open`, `half` returns one; if `pen_open` writes its status to `err`, let a "
        r"function in C around it return that, as `int call\(…, T \*\*made\)`$"
    )
    with pytest.raises(BuildError, match=words):
        wrap(code, signatures, **options)
    open_pen = wrap(code, "open_pen(width: int32) -> made: handle", destroy="pen_drop", **options)
    open_pen(3).close()
    with pytest.raises(ValueError, match="no pen is that thin"):
        open_pen(-1)
