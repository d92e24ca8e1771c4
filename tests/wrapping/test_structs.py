"""Structs that a C function reads or writes by a pointer: what goes to which field, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, explain, spec, wrap
from tests.runtime.samples import c_object, needs_cc
from tests.wrapping.libraries import needs_header

pytest.importorskip("clang.native")
pytestmark = needs_cc

DATA: Final = """
#include <stdint.h>
#include <stddef.h>
enum mode { SUM, MEAN };
struct inner { short low, high; };
struct data {
  const float *in;
  float *out;
  size_t frames;
  enum mode mode;
  int flags : 3;
  struct inner range;
  union { int i; float f; } u;
  char name[40];
  double ratio;
  const char *text;
  int64_t made;
  void *context;
  int at[2];
  _Bool last;
};
"""
PROCESS: Final = """
#include <string.h>
int process(struct data *d) {
  if (d->flags || d->u.i || d->name[0] || d->name[39] || d->at[0]) return 7;
  float sum = 0;
  for (size_t i = 0; i < d->frames; i++) sum += d->in[i];
  for (size_t i = 0; i < d->frames; i++) d->out[i] = sum * d->ratio + d->mode;
  d->made = d->frames + d->range.low + (d->text ? strlen(d->text) : 0) + d->last;
  d->context = (void *)d->in;
  d->at[1] *= 2;
  return d->frames == 0 ? -1 : 0;
}
"""
PROCESS_IN_C: Final = f"{DATA} int process(struct data *d);"
TENSORS: Final = "x: Tensor([n], float32), y: Tensor([n], float32, intent=out)"
FIELDS: Final = {"in": "x", "out": "y.data", "frames": "n"}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the object of all functions here."""
    return c_object(tmp_path_factory.mktemp("structs"), DATA + PROCESS + APPLY)


def wrapped(compiled: bytes, params: str, fields: dict[str, Any]) -> Any:
    options: Any = {"args": [fields], "prototype": PROCESS_IN_C, "device": "cpu"}
    return wrap(compiled, f"process({TENSORS}{params}", **options)


def test_fields_of_all_kinds(compiled: bytes) -> None:
    """What no field gets is 0, and what the kernel writes to fields are results."""
    fields = {
        **FIELDS,
        "mode": "MEAN",
        "ratio": "ratio",
        "range.low": 100,
        "text": b"abcd",
        "last": "last",
        "made": "-> made",
        "context": "-> context",
        "at[1]": "n + 3 -> twice",
    }
    results = "(twice: int32, made: int64, context: handle)"
    f = wrapped(compiled, f", ratio: float64, last: bool) -> {results}", fields)
    x, y = np.arange(4, dtype="float32"), np.zeros(4, "float32")
    twice, made, context = f(x, y, 0.5, True)
    assert (twice, made, context.value, y.tolist()) == (14, 109, x.ctypes.data, [4.0] * 4)
    with pytest.raises(ValueError, match=r"Mismatched y.shape\[0\]"):
        f(x, y[1:], 0.5, True)
    with pytest.raises(RuntimeError, match="process failed with status -1"):
        f(x[:0], y[:0], 0.5, True)
    text = explain(f)
    assert "a pointer to struct data d" in text
    assert "float64 d.ratio" in text
    assert "gets n + 3 -> twice" in text


def test_texts_lists_and_expressions(compiled: bytes) -> None:
    fields = {**FIELDS, "text": "t.c_str", "made": "-> made", "range.low": "int16(n * k)"}
    f = wrapped(compiled, ", t: String, k: int64) -> made: int64", fields)
    x = np.zeros(2, "float32")
    assert f(x, np.zeros(2, "float32"), "abc", 8) == 21
    with pytest.raises(ValueError, match="t has a NUL at byte 1"):
        f(x, np.zeros(2, "float32"), "a\0c", 8)
    with pytest.raises(ValueError, match=r"n \* k is 40000, which does not fit|int16 is passed"):
        f(x, np.zeros(2, "float32"), "abc", 20000)


@pytest.mark.parametrize(
    ("params", "fields", "words"),
    [
        (")", {"ratio": "n"}, "field ratio of struct data is float64, but 'n' is int64: declare `n: float64`"),
        (", made: int32)", {"made": "made"}, "field made of struct data is int64, but 'made' is int32: declare"),
        (")", {"ratoi": 1.0}, "has no field 'ratoi', did you mean 'ratio'.; it has in, out, frames, mode, fl"),
        (")", {"range": 1}, "has no field 'range'; write 'range.low' and so on"),
        (")", {"at": 1}, r"has no field 'at'; write 'at\[0\]' and so on"),
        (")", {"flags": 1}, "whose field flags is a bit field, which no entry of args= is: leave it out"),
        (")", {"u": 1}, "has no field 'u'; write 'u.i' and so on"),
        (")", {"u.f": 1}, "field u.f of struct data is float32, which is not 1: write a number of that"),
        (")", {"name": b"x"}, "whose field name is an array, which no"),
        (")", {"in": 4}, "field in of struct data is a const pointer to float32, but 4 is a number; None passes NULL"),
        (", z: Tensor([n], float64))", {"in": "z"}, "but the elements of 'z' are float64: declare `z: Tensor"),
        (")", {"in": "y"}, "so the kernel does not write to it, but intent='out' of 'y'"),
        (", t: String)", {"text": "t"}, "'t' is not one number or pointer: write 't.c_str', 't.data' or 't.length'"),
        (", t: List(int64))", {"text": "t"}, "but 't' is not one number or pointer"),
        (")", {"made": "-> made"}, "'made' is no result that is a number or handle: declare `-> made: int64`"),
        (") -> made: int32", {"made": "-> made"}, "the result 'made' is int32: declare `-> made: int64`"),
        (") -> made: int64", {"context": "-> made"}, "the result 'made' is int64: declare `-> made: handle`"),
        (") -> made: int64", {"made": "made"}, "field made of struct data is int64, and 'made' is a result: write '-> made'$"),
        (") -> made: int64", {"made": "int64(n) -> made"}, "the result 'made' says the dtype: drop int64"),
        (") -> made: int64", {"made": "->"}, "expected the value of a field, as in 'n', 'int32"),
        (")", {"made": "int32(n)"}, r"field made of struct data is int64, but 'int32\(n\)' is passed"),
        (")", {"mode": "MEDIAN"}, "MEDIAN is neither in the signature nor a constant that prototype="),
        (")", {"mode": -1}, "which is not -1: write a number of that type"),
        (")", {"made": "m"}, "'m'"),
        (")", {"context": {"a": 1}}, "but a struct is passed: let a function in C fill that field"),
    ],
)  # fmt: skip
def test_what_does_not_fit(
    compiled: bytes, params: str, fields: dict[str, Any], words: str
) -> None:
    with pytest.raises(BuildError, match=words):
        wrapped(compiled, params, {**FIELDS, **fields})


def test_a_tensor_that_no_field_gets(compiled: bytes) -> None:
    with pytest.raises(BuildError, match="process gets no pointer to 'y'"):
        wrapped(compiled, ")", {"in": "x", "frames": "n"})


def test_a_struct_of_texts_alone(compiled: bytes) -> None:
    """No dict describes it, but a `void *` takes memory for it."""
    signature = "apply(b: Tensor([65], uint8), by: float64) -> r: float64"
    texts = "struct names { char host[65]; }; double apply(struct names *b, double by);"
    with pytest.raises(BuildError, match=r"a `void .`, in a prototype of your own, takes the elem"):
        wrap(compiled, signature, prototype=texts, device="cpu")


# ---- structs of the signature

CONFIG: Final = "struct config { double gain; int taps; };"
APPLY: Final = f"""
{CONFIG}
double apply(const struct config *c, double by) {{ return c ? c->gain * by + c->taps : -1; }}
double change(struct config *c) {{ c->taps *= 2; c->gain = -c->gain; return c->gain; }}
"""
APPLY_IN_C: Final = f"{CONFIG} double apply(const struct config *c, double by);"
CHANGE_IN_C: Final = f"{CONFIG} double change(struct config *c);"


@dataclass
class Config:
    """A struct of callers."""

    gain: float
    taps: int


@pytest.mark.parametrize("fields", ["taps: int32, gain: float64", "gain: float64, taps: int32"])
def test_a_struct_that_the_kernel_reads(compiled: bytes, fields: str) -> None:
    """Its elements are the fields of their names, in whatever order."""
    signature = f"apply(c: Struct({fields}), by: float64) -> r: float64"
    f = wrap(compiled, signature, prototype=APPLY_IN_C)
    first, second = (3, 0.5) if fields.startswith("taps") else (0.5, 3)
    assert f["apply"]((first, second), 4.0) == 5.0


def test_a_dataclass_and_a_tuple_by_position(compiled: bytes) -> None:
    params = spec.Signature.parse("f(gain: float64, taps: int32)").params
    signature = spec.Signature(
        "apply", [spec.Struct("c", params, Config), spec.Var("by", "float64")], spec.Var("r", "float64")
    )  # fmt: skip
    assert wrap(compiled, signature, prototype=APPLY_IN_C)(Config(0.5, 3), 4.0) == 5.0
    text = "apply(c: Tuple(a: float64, b: int32), by: float64) -> r: float64"
    assert wrap(compiled, text, prototype=APPLY_IN_C)["apply"]((0.5, 3), 4.0) == 5.0


def test_an_optional_struct_is_null(compiled: bytes) -> None:
    text = "apply(c: Optional(Struct(gain: float64, taps: int32)), by: float64) -> r: float64"
    f = wrap(compiled, text, prototype=APPLY_IN_C)["apply"]
    assert [f((0.5, 3), 4.0), f(None, 4.0)] == [5.0, -1.0]


def test_a_struct_that_the_kernel_writes(compiled: bytes) -> None:
    """It is passed by address where `args=` says so; what is written there may be results."""
    text = "change(c: Struct(gain: float64, taps: int32)) -> {}"
    with pytest.raises(BuildError, match="'&cfg' in args= passes the address of a struct with"):
        wrap(compiled, text.format("r: float64"), prototype=CHANGE_IN_C)
    f = wrap(compiled, text.format("r: float64"), prototype=CHANGE_IN_C, args=["&c"])
    assert f["change"]((0.5, 3)) == -0.5
    fields = {"gain": "c.gain -> g", "taps": "c.taps -> t"}
    results = "(t: int32, r: float64, g: float64)"
    f = wrap(compiled, text.format(results), prototype=CHANGE_IN_C, args=[fields])
    assert tuple(f["change"]((0.5, 3))) == (6, -0.5, -0.5)
    with pytest.raises(BuildError, match=r"write \{'field': 'c.field -> t', …\}"):
        wrap(compiled, text.format("t: int32"), prototype=CHANGE_IN_C, args=["&c -> t"])


@pytest.mark.parametrize(
    ("prototype", "params", "options", "words"),
    [
        (APPLY_IN_C, "c: Struct(gain: float32, taps: int32), by: float64", {}, "field gain of struct config is float64, but 'gain' is float32"),
        (APPLY_IN_C, "c: Struct(gain: float64), by: float64", {}, r"whose field taps 'c' lacks: add it there, or pass a dict, as in \{'gain': 'c.gain', …, 'taps': 0\}"),
        (APPLY_IN_C, "c: Struct(gain: float64), by: float64", {"args": ["&c", "by"]}, "whose field taps 'c' lacks"),
        (APPLY_IN_C, "c: Struct(gain: float64), by: float64", {"args": [{"gain": "c.gain", "taps": 0}, "by"]}, ""),
        (APPLY_IN_C, "c: Struct(a: float64), by: float64", {}, r"with 2 fields \(gain, taps\), but 'c' has 1 of other names: name them alike"),
        (APPLY_IN_C, "c: Struct(gain: float64, tabs: int32), by: float64", {}, "has no field 'tabs', did you mean 'taps'"),
        (APPLY_IN_C, "c: Tensor([n, 2], float64, device_type=cpu), by: float64", {}, r"a dict in args=, as in \{'gain': …, 'taps': …\}, is one struct; for an array of them, let prototype= say `const void \*`, and pass their bytes, uint8$"),
        ("struct point { double x, y; }; double apply(struct point *c, double by);", "c: Tensor([n, 2], float64, device_type=cpu), by: float64", {}, r"is one struct; for an array of them, let prototype= say `double \*`"),
        ("double apply(const double *c, double by);", "c: Tensor([n, 2], float64, device_type=cpu), by: float64", {}, ""),
        ("struct config; double apply(const struct config *c, double by);", "c: Struct(gain: float64, taps: int32), by: float64", {"args": ["&c", "by"]}, r"declare its fields in prototype=, as in `struct config \{ … \};`"),
        ("double apply(const double *c, double by);", "c: Struct(gain: float64, taps: int32), by: float64", {"args": ["&c", "by"]}, "c is a const pointer to float64, but &c is passed as a struct"),
        ("double apply(double c, double by);", "c: Struct(gain: float64, taps: int32), by: float64", {"args": ["&c", "by"]}, "c is float64, but &c is passed as a struct"),
        (f"{CONFIG} double apply(const struct config *c, double by);", "by: float64", {"args": [{"gain": "-> r"}, "by"]}, "which is only read, but 'r' is to be written to a field"),
        ("struct big { char a[70000]; int b; }; double apply(struct big *c, double by);", "by: float64", {"args": [{"b": 1}, "by"]}, "of 70004 bytes, aligned to 4, but memory of a call has at most 65536"),
        ("struct big { _Alignas(64) int b; }; double apply(struct big *c, double by);", "by: float64", {"args": [{"b": 1}, "by"]}, "aligned to 64"),
        ("struct c { idx_t i; int b; }; double apply(struct c *c, double by);", "by: float64", {"args": [{"b": 1}, "by"]}, "but {'b': 1} is passed as a struct; declare its fields"),
    ],
)  # fmt: skip
def test_a_struct_that_differs(
    compiled: bytes, prototype: str, params: str, options: dict[str, Any], words: str
) -> None:
    def made() -> object:
        text = f"apply({params}) -> r: float64"
        return wrap(compiled, text, prototype=prototype, **options)

    if not words:
        assert made()
        return
    with pytest.raises(BuildError, match=words):
        made()


def test_the_tensors_of_a_struct(tmp_path: Path) -> None:
    source = "struct v { float *data; long n; }; void f(struct v *v) { v->data[v->n - 1] = 7; }"
    f = wrap(
        c_object(tmp_path, source),
        "f(v: Struct(data: Tensor([n], float32, intent=inout), n: int64))",
        prototype="struct v { float *data; long n; }; void f(struct v *v)",
        args=["&v"],
        device="cpu",
        sanitize=True,
    )
    x = np.zeros(3, "float32")
    f["f"]((x, 3))
    assert x.tolist() == [0, 0, 7]
    with pytest.raises(ValueError, match="n"):
        f["f"]((x, 4))


def test_a_pointer_to_anything(compiled: bytes) -> None:
    """Nothing is known of `void *`, so each field has the type of what it gets."""
    for args in (["&c", "by"], [{"gain": "c.gain", "taps": "int32(c.taps)"}, "by"]):
        text = "apply(c: Struct(gain: float64, taps: int32), by: float64) -> r: float64"
        f = wrap(compiled, text, prototype="double apply(const void *c, double by)", args=args)
        assert f["apply"]((0.5, 3), 4.0) == 5.0
        assert "but not c" in repr(f)


def test_structs_of_c_plus_plus(tmp_path: Path) -> None:
    """Bases have fields, too, which nothing lists."""
    data = c_object(tmp_path, "double f(void *p) { return 0; }")
    prototype = """
      struct base { int a; };
      struct own : base { int b; };
      extern "C" double f(const own *p);
    """
    with pytest.raises(BuildError, match="declare its fields"):
        wrap(data, "f(b: int32) -> r: float64", prototype=prototype, args=[{"b": "b"}])


# ---- libraries


def test_clock_gettime_and_nanosleep() -> None:
    """A struct that is written, and one that is read, with errno."""
    now = wrap(
        "-lc",
        "clock_gettime(clock_id: int32) -> (seconds: int64, nanoseconds: int64)",
        prototype="#include <time.h>",
        args={"tp": {"tv_sec": "-> seconds", "tv_nsec": "-> nanoseconds"}},
        errno=True,
    )
    sleep: Callable[..., None] = wrap(
        "-lc",
        "nanosleep(requested_time: Struct(tv_sec: int64, tv_nsec: int64))",
        prototype="#include <time.h>",
        args={"remaining": None},
        errno=True,
    )
    before = now(1)
    sleep((0, 2_000_000))
    after = now(1)
    elapsed = (after[0] - before[0]) * 10**9 + after[1] - before[1]
    assert elapsed >= 2_000_000
    with pytest.raises(OSError, match="Invalid argument"):
        sleep((0, -1))
    with pytest.raises(OSError, match="Invalid argument"):
        now(99)


def test_stat_and_getrusage() -> None:
    """Fields of structs inside, and of unions without a name."""
    stat = wrap(
        "-lc",
        "stat(path: String) -> (size: int64, seconds: int64)",
        prototype="#include <sys/stat.h>",
        args=["path", {"st_size": "-> size", "st_mtim.tv_sec": "-> seconds"}],
        errno=True,
    )
    own = Path(__file__).stat()
    assert tuple(stat(__file__)) == (own.st_size, int(own.st_mtime))
    with pytest.raises(FileNotFoundError):
        stat("/no/such/file")
    usage = wrap(
        "-lc",
        "getrusage() -> most: int64",
        prototype="#include <sys/resource.h>",
        args=["RUSAGE_SELF", {"ru_maxrss": "-> most"}],
    )
    assert usage() > 1000


@needs_header("gsl/gsl_blas.h")
def test_gsl() -> None:
    """Vectors with strides, of which GSL has the size, and results with errors in a struct."""
    vector = {"size": "n", "stride": "{0}s", "data": "{0}"}
    x, y = ({key: text.format(name) for key, text in vector.items()} for name in "xy")
    ddot = wrap(
        "-lgsl",
        "ddot(x: Tensor([n], float64, strides=[xs]), y: Tensor([n], float64, strides=[ys])) -> r: float64"
        " where xs >= 1, ys >= 1",
        function="gsl_blas_ddot",
        prototype="#include <gsl/gsl_blas.h>",
        args={"X": x, "Y": y, "result": "r"},
        link=["-lgslcblas"],
        device="cpu",
    )
    a = np.arange(12.0)
    assert ddot(a[::2], a[6:]) == a[::2] @ a[6:]
    bessel = wrap(
        "-lgsl",
        "bessel(x: float64) -> (val: float64, err: float64)",
        function="gsl_sf_bessel_J0_e",
        prototype="#include <gsl/gsl_sf_bessel.h>",
        args={"result": {"val": "-> val", "err": "-> err"}},
        link=["-lgslcblas"],
    )
    value, error = bessel(0.0)
    assert (value, error >= 0) == (1.0, True)


@needs_header("samplerate.h")
def test_samplerate() -> None:
    resample = wrap(
        "-lsamplerate",
        """resample(x: Tensor([n, c], float32), y: Tensor([m, c], float32, intent=out), ratio: float64)
           -> (used: int64, made: int64) where c: int32""",
        function="src_simple",
        prototype="#include <samplerate.h>",
        args=[
            {
                "data_in": "x",
                "data_out": "y",
                "input_frames": "n",
                "output_frames": "m",
                "src_ratio": "ratio",
                "input_frames_used": "-> used",
                "output_frames_gen": "-> made",
            },
            "SRC_LINEAR",
            "c",
        ],
        device="cpu",
    )
    y = np.zeros((30, 2), "float32")
    used, made = resample(np.ones((10, 2), "float32"), y, 2.0)
    assert (used, 15 <= made <= 20) == (10, True)
    with pytest.raises(RuntimeError, match="status 6"):
        resample(np.ones((10, 2), "float32"), y, -1.0)


def test_an_entry_that_names_results_of_another_function(tmp_path: Path) -> None:
    """Where the signature has the parameter, its elements are no results of the same names."""
    header = "struct s { int a, b; }; int f(const struct s *p); int g(struct s *p);"
    code = c_object(
        tmp_path,
        "struct s { int a, b; };\n"
        "int f(const struct s *p) { return p->a + p->b == 3 ? 0 : 7; }\n"
        "int g(struct s *p) { p->a = 1; p->b = 2; return 0; }",
    )
    signatures = ["f(p: Struct(a: int32, b: int32))", "g() -> (a: int32, b: int32)"]
    both = wrap(code, signatures, prototype=header, args={"p": {"a": "-> a", "b": "-> b"}})
    assert both["g"]() == (1, 2)
    both["f"]((1, 2))
    with pytest.raises(RuntimeError, match="f failed with status 7"):
        both["f"]((2, 2))
    with pytest.raises(BuildError, match="and 'b' is a result: write '-> b'"):
        wrap(code, signatures, prototype=header, args={"p": {"a": "-> a", "b": "b"}})
