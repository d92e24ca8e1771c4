"""The doors to a kernel: ``wrap``, ``ffi-builder wrap`` and wheels mean the same by the same words.

Each row is one source with its options. A right one gives the same numbers through each door, and
leaves the same memory behind. A wrong one is refused in the same words, in which the command line
writes its own options. A new source or option is a new row.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import io
import itertools
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import pytest

from ffi_builder import Launch, package, providers, runtime, testing, wrap
from ffi_builder.cli.main import main
from ffi_builder.cli.output import as_options
from tests.cuda.images.images import IMAGES
from tests.fakecuda.test_fake_cuda import missing
from tests.runtime.samples import c_object, needs_cc
from tests.wrapping.test_halide import BLEND
from tests.wrapping.test_sources import LLVM, TWICE

pytestmark = needs_cc

# A name of its own: a loaded library takes a function from the first library of the process that has
# it among the global ones, whatever it was linked with.
SCALE: Final = """
int scale_at_door(float *x, int64_t n, float factor, _Bool twice, void *ctx) {
  if (ctx) return 7;
  if (n > 5) return 22;
  for (int64_t i = 0; i < n; i++) x[i] *= twice ? 2 * factor : factor;
  return 0;
}
double half(double x) { return x / 2; }
void *grown(long size) { return (char *)0 + 16 * size; }
int shrunk(void *at) { return at != (void *)48; }
int fill_(float *x, const int *n, float *value, unsigned long *room) {
  if (*room < *n) return 5;
  for (int i = 0; i < *n; i++) x[i] = *value;
  *room -= *n, *value = -1;
  return 0;
}
char *strdup(const char *);
extern int *__errno_location(void);
int missing(int n) { *__errno_location() = n; return n ? -1 : 5; }
char *copy(const char *s) { return strdup(s); }
"""
NEEDS: Final = """
extern int other(int n);
int needs_other(int n) { return other(n); }
"""
SCALE_IN_C: Final = "int scale_at_door(float *x, int64_t n, float factor, _Bool twice, void *ctx)"
HEADERS: Final = Path(__file__).with_name("headers")
X: Final = "x: Tensor([n], float32)"
SIGNATURE: Final = f"scale_at_door({X}, factor: float32)"
ARGS: Final = {"twice": True, "ctx": None}
MEMREF: Final = """
func.func @add(%x: memref<?xf32>, %y: memref<?xf32>) {
  linalg.add ins(%x, %x : memref<?xf32>, memref<?xf32>) outs(%y : memref<?xf32>)
  return
}
func.func @status(%x: memref<?xf32>) -> i32 {
  %c = arith.constant 22 : i32
  return %c : i32
}
llvm.func @sub(%a: i64, %b: i64) -> i64 {
  %c = llvm.sub %a, %b : i64
  llvm.return %c : i64
}
"""
HELD: Final = """
declare i32 @PyGILState_Check()
define i32 @held() {
  %held = call i32 @PyGILState_Check()
  ret i32 %held
}
"""
TENSOR: Final = """
func.func @add1(%x: tensor<?xf32>) -> tensor<?xf32> {
  %one = arith.constant 1.0 : f32
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : tensor<?xf32>) {
  ^bb0(%a: f32):
    %b = arith.addf %a, %one : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}
"""
PTX: Final = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x) { ret; }
"""
AXPY: Final = "saxpy(a: float32, x: Tensor([n], float32), y: Tensor([n], float32)) where n: int32"
LAUNCH: Final = Launch(grid="ceildiv(n, 256)", block=256)


def ones(count: int = 3) -> Any:
    return np.ones(count, "float32")


@dataclass(frozen=True)
class Right:
    """A source, its options, and calls: of each function its arguments, and the end of all."""

    source: str
    """A key of :data:`SOURCES`."""
    signature: str | list[str]
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    calls: tuple[tuple[Any, ...], ...] = ()
    expected: list[Any] | tuple[type[Exception], str] = field(default_factory=list[Any])
    """The results, then the arguments of all calls afterwards; or an error's class and words."""


def c_code(folder: Path, name: str, *more: str) -> Path:
    c_object(folder, SCALE)
    path = folder / name
    if name != "part.o":
        subprocess.run([*more, path, folder / "part.o"], check=True)
    return path


SOURCES: Final[dict[str, Callable[[Path], Path | str]]] = {
    "object": lambda folder: c_code(folder, "part.o"),
    "archive": lambda folder: c_code(folder, "libpart.a", "ar", "rcs"),
    "library": lambda folder: c_code(folder, "libpart.so", "gcc", "-shared", "-Wl,-soname,libpart.so", "-o"),
    "needing": lambda folder: (c_object(folder, NEEDS), folder / "part.o")[1],
    "libm": lambda folder: "-lm",
    "halide": lambda folder: (c_object(folder, BLEND, "-DVERSION=1"), folder / "part.o")[1],
    "llvm": lambda folder: written(folder / "k.ll", LLVM),
    "python": lambda folder: written(folder / "k.ll", HELD),
    "memref": lambda folder: written(folder / "k.mlir", MEMREF),
    "tensor": lambda folder: written(folder / "k.mlir", TENSOR),
    "ptx": lambda folder: written(folder / "k.ptx", PTX),
    "cubin": lambda folder: IMAGES / "cuda13-sm_90.cubin",
    "c": lambda folder: written(folder / "k.c", "int f(void) { return 0; }"),
    "nothing": lambda folder: folder / "nothing.o",
}  # fmt: skip


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


NO: Final = dict[str, Any]()
C: Final[dict[str, Any]] = {"prototype": SCALE_IN_C, "args": ARGS}
RIGHT: Final[dict[str, Right]] = {
    "an object": Right("object", SIGNATURE, C, ((ones(), 2.0),), [None, [4, 4, 4]]),
    "an archive": Right("archive", SIGNATURE, C, ((ones(), 2.0),), [None, [4, 4, 4]]),
    "a shared library": Right("library", SIGNATURE, C, ((ones(), 2.0),), [None, [4, 4, 4]]),
    "a library of the system": Right(
        *("libm", "hypot(x: float64, y: float64) -> r: float64"),
        *({"prototype": "double hypot(double x, double y)"}, ((3.0, 4.0),), [5.0]),
    ),
    "a header of another folder": Right(
        *("object", "half(x: float64) -> r: float64"),
        {"prototype": "#include <half.h>", "include": [HEADERS / "types", HEADERS]},
        *(((3.0,),), [1.5]),
    ),
    "another name": Right("object", f"f({X}, factor: float32)", {**C, "function": "scale_at_door"}, ((ones(), 2.0),), [None, [4, 4, 4]]),
    "arguments in order": Right("object", f"scale_at_door({X})", {**C, "args": ["x", "n", 0.5, False, None]}, ((ones(),),), [None, [0.5, 0.5, 0.5]]),
    "a choice of an enum": Right(
        *("object", "missing(n: Choice(number)) -> r: int32"),
        {"prototype": "enum number { NONE, ONE }; int missing(enum number n)"},
        *((("NONE",), ), [5, "NONE"]),
    ),
    "a status": Right("object", SIGNATURE, C, ((ones(6), 2.0),), (RuntimeError, "scale_at_door failed with status 22")),
    "a text that is freed": Right(
        *("object", "copy(s: String) -> r: String"),
        {"prototype": "char *copy(const char *s)", "free": "free"},
        *((("seven bytes and more",),), ["seven bytes and more"] * 2),
    ),
    "an error for a status": Right(
        *("object", SIGNATURE, {**C, "errors": {22: ("ValueError", "too long")}}),
        *(((ones(6), 2.0),), (ValueError, "too long when calling")),
    ),
    "another success": Right("object", SIGNATURE, {**C, "success": [0, 22]}, ((ones(6), 2.0),), [None, [1] * 6]),
    "errno": Right(
        *("object", "missing(n: int32) -> r: int32"),
        {"prototype": "int missing(int n)", "errno": True},
        *(((2,),), (OSError, "No such file or directory when calling")),
    ),
    "a chosen convention": Right("object", "half(x: float64) -> r: float64", {"provider": providers.DirectCallProvider}, ((3.0,),), [1.5]),
    "numbers by address, and a result over one": Right(
        *("object", f"fill_({X}, value: float32, room: int32) -> left: uint64"),
        {
            "prototype": "int fill_(float *x, const int *n, float *value, unsigned long *room)",
            "args": ["x", "n", "&value", "&room -> left"],
        },
        *(((ones(), 2.0, 5),), [2, [2, 2, 2]]),
    ),
    "a handle that is destroyed": Right(
        *("object", "grown(size: int64) -> at: handle"),
        {"prototype": "void *grown(long size); int shrunk(void *at);", "destroy": "shrunk"},
        *(((0,),), [None]),
    ),
    "only checks": Right(
        *("object", f"scale_at_door({X})", {"provider": providers.NopCallProvider()}),
        *(((ones().reshape(3, 1),),), (ValueError, r"Mismatched x\.ndim")),
    ),
    "several functions": Right(
        *("object", ["half(x: float64) -> r: float64", "g(x: float64) -> r: float64"]),
        *({"prototype": "double half(double x)"}, ((3.0,), (5.0,)), [1.5, 2.5]),
    ),
    "what it needs": Right("needing", "needs_other(n: int32) -> r: int32", {"prototype": "int needs_other(int n)"}, ((20,),), [21]),
    "a kernel that is watched": Right(
        *("object", f"scale_at_door({X}, m: int64)"),
        {**C, "args": ["x", "m", 0.5, False, None], "sanitize": True},
        *(((ones(), 4),), (AssertionError, "outside of the elements of x: ")),
    ),
    "a kernel that uses Python": Right("python", "held() -> r: int32", {"release_gil": False}, ((),), [1]),
    "Halide": Right(
        *("halide", "blend(out: Tensor([n], float32), k: float32, a: Tensor([n], float32))"),
        *(NO, ((ones() * 0, 2.0, ones()),), [None, [2, 2, 2], [1, 1, 1]]),
    ),
    "LLVM IR": Right("llvm", TWICE, {}, ((ones(),),), [None, [2, 1, 1]]),
    "memrefs": Right("memref", f"add({X}, y: Tensor([n], float32))", NO, ((ones(), ones() * 0),), [None, [1, 1, 1], [2, 2, 2]]),
    "a status of a kernel on memrefs": Right("memref", f"status({X})", {}, ((ones(),),), (RuntimeError, "status failed with status 22")),
    "plain C in MLIR": Right("memref", "sub(a: int64, b: int64) -> r: int64", {"args": ["ceildiv(b * 2, 2)", "a"]}, ((3, 5),), [2]),
    "passes": Right(
        *("memref", f"add({X}, y: Tensor([n], float32))"),
        {"pipeline": "builtin.module(convert-linalg-to-loops,convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)"},
        *(((ones(), ones() * 0),), [None, [1, 1, 1], [2, 2, 2]]),
    ),
    "tensors": Right("tensor", f"add1({X}) -> y: Tensor([n], float32)", NO, ((ones(),),), [[2, 2, 2], [1, 1, 1]]),
    "a private name": Right(
        *("object", "_half(x: float64) -> r: float64"),
        *({"function": "half", "prototype": "double half(double x)"}, ((3.0,),), [1.5]),
    ),
}  # fmt: skip

WRONG: Final[dict[str, tuple[str, Any, dict[str, Any], str]]] = {
    "a prototype that LLVM IR contradicts": (
        *("llvm", TWICE, {"prototype": "void twice(float *x, int64_t n)"}),
        r"prototype= says \(a pointer to float32, int64\) -> void, but the LLVM IR defines",
    ),
    "a provider that LLVM IR contradicts": ("llvm", TWICE, {"provider": providers.DirectCallProvider, "args": ["x"]}, "the callee @twice takes"),
    "a prototype that Halide contradicts": ("halide", f"blend({X})", {"prototype": "int blend(float *x)"}, "but Halide's metadata have"),
    "a header that is nowhere": (
        *("object", "half(x: float64) -> r: float64", {"prototype": "#include <half.h>"}),
        "'half.h' file not found; name its folder with include=, or a compiler that has it",
    ),
    "folders without a prototype": (
        *("object", SIGNATURE, {"include": [HEADERS]}),
        "include= has folders of headers, and goes with prototype=",
    ),
    "a number that the kernel may write": (
        *("object", f"fill_({X}, value: float32)"),
        {
            "prototype": "void fill_(float *x, const int *n, float *value)",
            "args": {"value": "value"},
        },
        "'value' is a number; None passes NULL, '&value' the address of a copy",
    ),
    "a constant that is nowhere": (
        *("object", "missing() -> r: int32"),
        {"prototype": "enum { ONE = 1 }; int missing(int n)", "args": {"n": "ONNE"}},
        "ONNE is neither in the signature nor a constant that prototype= declares, did you mean 'ONE'",
    ),
    "no types": ("object", SIGNATURE, {}, "nothing says which arguments `scale_at_door` takes"),
    "no such function": ("object", f"other({X})", {"prototype": "void other(float *x)"}, "an object defines no function 'other'"),
    "no such function in MLIR": ("memref", f"ad({X})", {}, r"the module has no @ad, did you mean 'add'\?; it has add, status"),
    "no such kernel": ("ptx", f"other({X})", {"launch": LAUNCH}, "kernel 'other'"),
    "a missing constant": ("object", SIGNATURE, {**C, "args": {"ctx": None}}, "has parameters that neither the signature nor args= has: twice"),
    "an image without a launch": ("ptx", f"k({X})", {}, "a CUDA image needs launch="),
    "a launch without blocks": ("ptx", f"k({X})", {"launch": Launch(grid=1)}, "needs block="),
    "a launch of MLIR": ("memref", f"add({X})", {"launch": LAUNCH}, "launch= goes with a kernel image"),
    "passes of an object": ("object", SIGNATURE, {**C, "pipeline": "x"}, "pipeline= goes with MLIR"),
    "a prototype of MLIR": ("memref", f"add({X})", {"prototype": SCALE_IN_C}, "prototype= goes with"),
    "a prototype and a provider": (
        *("object", SIGNATURE, {"prototype": SCALE_IN_C, "provider": providers.DirectCallProvider}),
        "prototype= and errors= go without provider=",
    ),
    "errors of what returns none": (
        *("object", "half(x: float64) -> r: float64"),
        {"prototype": "double half(double x)", "errors": {1: ("ValueError", "no")}},
        "errors= needs a status, but `half` returns none",
    ),
    "a success of what returns none": (
        *("object", "half(x: float64) -> r: float64"),
        {"prototype": "double half(double x)", "success": 1},
        "success= needs a status, but `half` returns none",
    ),
    "errno of a float": (
        *("object", "half(x: float64) -> r: float64"),
        {"prototype": "double half(double x)", "errno": True},
        "errno=True goes with an integer or pointer, but @half returns f64",
    ),
    "a success and a provider": (
        *("object", SIGNATURE, {"success": 1, "provider": providers.DirectCallProvider}),
        r"success= and errno= go without provider=",
    ),
    "errors of no class": ("object", SIGNATURE, {**C, "errors": {22: ("ValueEror", "no")}}, "did you mean"),
    "a text that is freed and is none": (
        *("object", "half(x: float64) -> r: float64"),
        {"prototype": "double half(double x)", "free": "free"},
        "free='free' goes with one result, a String or Bytes for which the callee @half returns a po",
    ),
    "a text that is freed of a provider": (
        *("object", "half(x: float64) -> r: float64"),
        {"provider": providers.DirectCallProvider, "free": "free"},
        "free= goes without provider=: give it to the provider",
    ),
    "one name for two functions": (
        *("object", [SIGNATURE, SIGNATURE], {**C, "function": "scale_at_door"}),
        "function= goes with one signature; name the others after their kernels",
    ),
    "a result that tensors lack": ("tensor", f"add1({X})", {}, "which the signature lacks: add"),
    "a signature that is none": ("object", "scale_at_door(x: Tensro([n], float32))", C, "did you mean 'Ten"),
    "source code": ("c", "f()", {"prototype": "int f(void)"}, r"k\.c is C: compile it, and give the"),
    "no file": ("nothing", "f()", {"prototype": "int f(void)"}, "No such file or directory"),
}  # fmt: skip
DEVICES: Final = {"ptx": "cuda", "cubin": "cuda"}


def options_of(source: str, given: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the options for `wrap`: with a device, and with what the C code needs."""
    device = {} if source in DEVICES else {"device": "cpu"}
    if source != "needing":
        return {**device, **given}
    c_object(folder, "int other(int n) { return n + 1; }")
    return {**device, **given, "link": [(folder / "part.o").rename(folder / "other.o"), "-lm"]}


# ---- options as words of the command line


def entry(value: object) -> str:
    return (
        "NULL" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    )


def args_words(args: Any) -> list[str]:
    if isinstance(args, dict):
        pairs = cast("dict[str, object]", args).items()
        return ["--args", ", ".join(f"{name}={entry(value)}" for name, value in pairs)]
    return ["--args", ", ".join(map(entry, args))]


CONVENTIONS: Final = {
    "MemRefCallProvider": "memref",
    "DirectCallProvider": "direct",
    "DynamicParamPackCallProvider": "pack",
    "NopCallProvider": "nop",
}


def provider_words(provider: Any) -> list[str]:
    class_ = provider if isinstance(provider, type) else type(provider)
    return ["--convention", CONVENTIONS[class_.__name__]]


def launch_words(launch: Launch) -> list[str]:
    words = ["--grid", str(launch.grid)]
    return words if launch.block is None else [*words, "--block", str(launch.block)]


def error_words(errors: dict[int, tuple[str, str]]) -> list[str]:
    pairs = ([f"{status}={name}: {words}"] for status, (name, words) in errors.items())
    return [word for pair in pairs for word in ("--error", *pair)]


WORDS: Final[dict[str, Callable[[Any], list[str]]]] = {
    **{
        name: lambda value, name=name: [f"--{name.replace('_', '-')}", str(value)]
        for name in ("device", "function", "prototype", "pipeline", "opt_level", "free")
    },
    "args": args_words,
    "provider": provider_words,
    "launch": launch_words,
    "errors": error_words,
    "destroy": lambda given: [
        word
        for name in ([given] if isinstance(given, str) else [f"{r}={d}" for r, d in given.items()])
        for word in ("--destroy", name)
    ],
    "success": lambda value: [f"--success={each}" for each in np.atleast_1d(value)],
    "errno": lambda value: ["--errno"],
    "link": lambda items: [f"--link={item}" for item in items],
    "include": lambda folders: [word for folder in folders for word in ("-I", str(folder))],
    "sanitize": lambda value: ["--sanitize"],
    "release_gil": lambda value: ["--release-gil" if value else "--no-release-gil"],
}
NOT_FOR_FILES: Final = {"source", "signature", "owner", "cache_dir"}
"""The first two are on each command line. No file has an address; nothing is loaded or kept."""


def test_each_option_of_wrap_is_one_of_the_command_line() -> None:
    assert {*inspect.signature(wrap).parameters} == {*WORDS} | NOT_FOR_FILES


def command(source: object, signature: str | list[str], options: dict[str, Any]) -> list[str]:
    signatures = [signature] if isinstance(signature, str) else signature
    words = [word for each in signatures for word in ("--signature", each)]
    words += [word for name, value in options.items() for word in WORDS[name](value)]
    return ["wrap", *words, "--", str(source)]


# ---- doors


def by_wrap(source: Any, signature: Any, options: dict[str, Any], folder: Path) -> Any:
    return wrap(source, signature, **options)


def by_command_line(source: Any, signature: Any, options: dict[str, Any], folder: Path) -> Any:
    made = folder / "out.so"
    words = command(source, signature, options)
    with redirect_stderr(io.StringIO()) as said:
        status = main(["wrap", "-o", str(made), *words[1:]])
    assert status == 0, said.getvalue()
    return runtime.load(made)


names = itertools.count()


def by_wheel(source: Any, signature: Any, options: dict[str, Any], folder: Path) -> Any:
    name = f"doors_{next(names)}"
    project = {"name": name, "version": "1.0", "dependencies": ["ffi_builder"]}
    wheel = package(wrap(source, signature, **options), folder, project=project)
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(folder / "wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(folder / "wheel"), *sys.path])
        # The fixture has installed one, and each thread of the process would keep that of a wheel.
        patch.setattr(runtime, "install_allocator", _installed)
        return importlib.import_module(name)._library


def _installed(*, every_thread: bool) -> None:
    assert every_thread


DOORS: Final = [by_wrap, by_command_line, pytest.param(by_wheel, marks=pytest.mark.slow)]
WHEELS: Final = {
    *("an object", "an archive", "a shared library", "a library of the system", "what it needs"),
    *("a choice of an enum", "a status", "a text that is freed", "an error for a status", "errno"),
    *("a handle that is destroyed", "only checks", "several functions", "Halide", "LLVM IR"),
    *("a kernel that is watched", "a kernel that uses Python", "memrefs", "tensors", "passes"),
}
"""Rows whose wheels differ: in the source, or in what a call does; `wrap` has read the options."""


@pytest.fixture(autouse=True)
def allocator() -> Iterator[None]:
    with runtime.install_allocator():
        yield


def outcome(functions: Any, calls: Any) -> list[object]:
    """Return the results of the functions, and what became of their arguments."""
    given = copy.deepcopy(calls)
    results = [
        functions[name](*args) for name, args in zip(functions.functions, given, strict=False)
    ]
    return [plain(each) for each in (*results, *(x for args in given for x in args))]


def plain(value: Any) -> object:
    return np.from_dlpack(value).tolist() if hasattr(value, "__dlpack__") else value


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str, door: Callable[..., Any], tmp_path: Path) -> None:
    row = RIGHT[name]
    if door is by_wheel and name not in WHEELS:
        pytest.skip("its wheel is that of another row")
    options = options_of(row.source, row.options, tmp_path)
    functions = door(SOURCES[row.source](tmp_path), row.signature, options, tmp_path)
    if isinstance(row.expected, tuple):
        error, words = row.expected
        with pytest.raises(error, match=words):
            outcome(functions, row.calls)
        return
    found = outcome(functions, row.calls)
    arrays = [each for each in found if not isinstance(each, float | int)]
    scalars = [each for each in found[: len(row.calls)] if isinstance(each, float | int)]
    assert [*scalars, *arrays] == row.expected


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, signature, given, words = WRONG[name]
    options = options_of(source, given, tmp_path)
    kernel = SOURCES[source](tmp_path)
    with pytest.raises(Exception, match=words) as caught:
        wrap(kernel, signature, **options)
    made = tmp_path / "out.so"
    line = command(kernel, signature, options)
    assert main(["wrap", "-o", str(made), *line[1:]]) == 1
    said = capsys.readouterr().err
    error = caught.value
    if not isinstance(error, OSError):
        assert said == f"error: {as_options(str(error))}\n"
    assert not made.exists()


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
@pytest.mark.parametrize("door", [by_wrap, by_command_line])
def test_a_launch(door: Callable[..., Any], tmp_path: Path) -> None:
    options = {"launch": LAUNCH, "args": ["a", "x", "y", "n"]}
    compiled = door(SOURCES["cubin"](tmp_path), AXPY, options, tmp_path)
    with testing.FakeCuda() as gpu:

        @gpu.kernel("saxpy", ["float32", "float32*", "float32*", "int32"])
        def _(_launch: Any, a: float, x: Any, y: Any, n: int) -> None:
            y[:n] += a * x[:n]

        x, y = (gpu.array(ones()) for _ in "xy")
        compiled["saxpy"](2.0, x, y)
        assert y.numpy().tolist() == [3, 3, 3]
