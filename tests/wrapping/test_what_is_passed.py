"""Parameters of prototypes beside what the signature passes: objects, structs, rows, texts."""

from __future__ import annotations

import ctypes
import platform
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tvm_ffi.libinfo import include_paths

from ffi_builder import BuildError, spec, wrap
from tests.runtime.samples import c_object, needs_cc

pytest.importorskip("clang.native")
pytestmark = needs_cc

P = "struct p { int32_t i; float l; };"


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return an object with a function that is never called."""
    return c_object(tmp_path_factory.mktemp("nothing"), "void k(void) { }")


X = "x: Tensor([n], float32)"
C_API = "#include <tvm/ffi/c_api.h>\nvoid k({});"
LIST = "xs: TensorList(Tensor([n], float32))"
TWICE = ("float *b", "const float *b", "float *restrict b", "void *b")
ROWS: list[tuple[str, str, Any, str | None]] = [
    # parameters, the prototype, args, and the error if there is one
    ("f: Function", "float (*f)(float)", None, r"f is a pointer to a function, but 'f' is passed as an object of TVM-FFI, which is a `void \*` in C; declare `f: handle`"),
    ("f: Function", "float *f", None, "f is a pointer to float32, but 'f' is passed as an o"),
    ("a: Array", f"{P} void k(struct p *a)", None, "a is a pointer to struct p, but 'a' is passed as"),
    ("p: Struct(i: int32, l: float32)", f"{P} void k(struct p *p)", None, r"takes 1 parameters \(p: a pointer to struct p\), but 2 are passed \(p.i, p.l\): the fields of a Struct are passed one by one, and as a struct where the kernel only reads"),
    ("p: Tuple(i: int32, l: float32)", "int32_t i, double l", None, "parameter l is float64, but 'l' is float32: declare `l: float64`"),
    ("s: String", "char *s", None, "to which the kernel may write, but 's.c_str' is only re"),
    ("x: Tensor([n, 4], float32)", "int n, float x[][5]", None, "rows of 4 elements: decl"),
    ("x: Tensor([n, m], float32)", "int n, float (*x)[5]", None, r"Tensor\(\[…, 5\], float3"),
    ("x: Tensor([n, 2, 4], float32)", "int n, float x[n][2][5]", None, "x is a pointer to 2 x 5 x float32, but 'x' has rows of 2, 4 elements"),
    (X, "float x[][5]", None, "'x' has rows of n elements: decl"),
    ("x: Tensor([5], float32)", "float x[2][5]", None, "'x' has rows of 5 elements: decl"),
    ("x: Tensor([m, n], float32)", "int n, int m, float x[n][m]", None, r"Tensor\(\[…, m\]"),
    ("x: Tensor([n, 4], float32)", "int n, float x[n][n]", None, "rows of 4 elements: decl"),
    ("x: Tensor([n, 5], float32, strides=[s, 1])", "float x[][5]", None, "strides s, 1: decl"),
    ("x: Tensor([n, 5], float32, strides=F)", "float x[][5]", None, "has the strides F: decl"),
    ("x: Tensor([2, 3], float32)", "const float x[3][3]", None, "x is a const pointer to 3 x float32, written as an array of 3, but 'x' has 2"),
    ("x: Tensor([n, 4], float32)", "char x[][4]", None, "but 'x' has rows of float32"),
    ("x: Tensor([2, 3], float32)", "float x[16]", None, "an array of 16, but 'x' has 6"),
    ("x: Tensor([], float32)", "float x[4]", None, "an array of 4, but 'x' has 1"),
    ("x: Tensor([2], float32)", "char x[16]", None, "an array of 16, but 'x' has 8"),
    ("x: Tensor([q, n], float32)", "extern int n; void k(float x[][n])", None, "'x' has rows of n elements: declare"),
    ("x: Tensor([n], float32)) -> (y: Tensor([n], float32)", "const float *x, const float *y", None, "k gets the result 'y' by a const pointer, so it does not write it"),
    ("x: Tensor([n], float32), y: Tensor([n], float32, intent=out)", "int64_t n, const float *x", None, "k gets no pointer to 'y', of which the signature says that it is written: pass it, or"),
    (X, "const DLTensor *x", None, r"which a tensor of any rank is passed as: declare `x: Tensor\(\.\.\., float32\)`"),
    ("x: Tensor(..., float32)", "const float *x", None, "'x' may have any rank, so its DLTensor. is passed: pass 'x.data', or declare its sizes"),
    ("f: Function", "void *f", None, None),
    ("f: Function", "typedef struct TVMFFIObject TVMFFIObject; void k(TVMFFIObject *f)", None, None),
    ("p: Tuple(i: int32, l: float32)", "int32_t i, float l", None, None),
    ("x: Tensor([n, 5], float32)", "int64_t n, float x[][5]", None, None),
    ("x: Tensor([n, m, 5], float32)", "int64_t n, int64_t m, float x[n][m][5]", None, None),
    ("x: Tensor([n, 3], float32, strides=[5, 1])", "int64_t n, float x[][5]", None, None),
    ("x: Tensor([5], float32)", "float x[][5]", None, None),
    ("x: Tensor([n, 2 * n], float32)", "int64_t n, float x[n][2*n]", None, None),
    ("x: Tensor([n, 2, 5], float32, strides=[10, 5, 1])", "float x[][2][5]", None, None),
    ("x: Tensor([n, 4], float32)", "typedef float v[4]; void k(v *x)", None, None),
    ("x: Tensor([3, 3], float32)", "float x[3][3]", None, None),
    (X, "float x[16]", None, None),
    ("x: Tensor([4], float32)", "char x[16]", None, None),
    ("x: Tensor([n, 4], bool)", "char x[][4]", None, None),
    ("x: Tensor([q, 2 * (m + 1)], float32), y: Tensor([m], float32)", "int n, float x[][2*n]", ["m + 1", "x"], None),
    (X, "const float *restrict x, const float *y", ["x", "x"], None),
    ("x: Tensor([n], float32, intent=out)", "float *x", ["x.data"], None),
    ("s: Struct(x: Tensor([n], float32, intent=out))", "float *x", ["s"], None),
    ("s: Shape([n, 3, m])", "int64_t n, int64_t m", None, None),
    (LIST, "float **, int64_t *, int64_t *, long", None, None),
    (X, "double *v", ["x.data"], "but the elements of 'x' are float32: declare"),
    (X, "float v", ["x.data"], "but 'x' is a tensor, which is passed as a pointer"),
    (X, "DLTensor *v", ["x.data"], "declare `x: Tensor"),
    (X, "struct halide_buffer_t *v", ["x.data"], "'x' is passed as the address of its elements"),
    ("x: Tensor([n], float32, intent=out)", "const float *v", ["x.data"], "but intent='out' of 'x' says"),
    (X, "float *v", ["x.dltensor"], "but 'x.dltensor' is passed as a pointer to DLTensor"),
    (X, "float *v", ["x.ndim"], "but 'x.ndim' is passed as int32"),
    (X, "int64_t v", ["x.ndim"], "but 'x.ndim' is passed as int32"),
    ("x: Tensor(..., float32)", "double *v", ["x.data"], "the elements of 'x' are float32"),
    ("x: Tensor([n], float16 | float32)", "float *v", ["x"], "'x' are float16 or float32"),
    ("x: Tensor([n], float16 | float32)", "float *v", ["x.data"], "'x' are float16 or float32"),
    ("x: Optional(Tensor([n], float32))", "int v", ["x.present"], "'x.present' is passed as bool"),
    ("x: Optional(Tensor([n], float32))", "int *v", ["x.data"], "the elements of 'x' are float32"),
    (LIST.replace("xs", "x"), "double **v", ["x.pointers"], "elements of 'x' are"),
    (LIST.replace("xs", "x"), "float *v", ["x.pointers"], "a pointer to a pointer"),
    (LIST.replace("xs", "x"), "int32_t *v", ["x.shapes"], "a pointer to int64"),
    ("x: List(int64)", "const int32_t *v", ["x.data"], "'x.data' is passed as a pointer to int64"),
    ("x: List(bool)", "long v", ["x.data"], "'x.data' is passed as a pointer to bool"),
    ("x: List(float32)", "float **v", ["x.data"], "'x.data' is passed as a pointer to float32"),
    ("x: List(String)", "const char *v", ["x.data"], "the address and the size of each"),
    ("x: List(String)", "const char *v", ["x.c_str"], "a pointer to pointers to bytes"),
    ("x: List(float32)", "float v", ["x.length"], "'x.length' is passed as the number of elements"),
    ("x: Struct(t: Tensor([n], float32))", "double *v", ["x.t.data"], "of 't' are float32"),
    ("x: Choice({'a': -1})", "unsigned v", ["x"], "v is uint32, which is not -1"),
    (X, "float *v", ["x.data"], None),
    (X, "void *v", ["x.data"], None),
    (X, "const DLTensor *v", ["x.dltensor"], None),
    (X, "int v", ["x.ndim"], None),
    (X, "DLDataType v", ["x.dtype"], None),
    ("x: Tensor(..., float32)", "float *v", ["x.data"], None),
    ("x: Tensor([n], bfloat16 | float16)", "uint16_t *v", ["x.data"], None),
    ("x: Optional(Tensor([n], float32))", "bool v", ["x.present"], None),
    (LIST.replace("xs", "x"), "const float **v", ["x.pointers"], None),
    (LIST.replace("xs", "x"), "int64_t v", ["x.length"], None),
    ("x: List(int64)", "const long *v", ["x.data"], None),
    ("x: Optional(List(bfloat16))", "uint16_t *v", ["x.data"], None),
    ("x: List(bool)", "const bool *v", ["x.data"], None),
    ("x: List(uint8)", "void *v", ["x.data"], None),
    ("x: List(String)", "const void *v", ["x.data"], None),
    ("x: List(Bytes)", "const char **v", ["x.c_str"], None),
    ("x: List(uint8)", "size_t v", ["x.length"], None),
    ("x: List(uint8)", "int v", ["x.length"], None),
    (LIST.replace("xs", "x"), "short v", ["x.length"], None),
    ("x: Choice({'a': 1})", "unsigned v", ["x"], None),
    ("v: List(List(int64))", "const int32_t **x", ["v.pointers"], "to int32, but the elements of 'v' are int64"),
    ("v: List(List(int64))", "const int64_t *x", ["v.pointers"], "'v.pointers' is passed as a pointer to a pointer"),
    ("v: List(List(int64))", "const int32_t *x", ["v.lengths"], "'v.lengths' is passed as a pointer to int64"),
    ("v: List(List(int64))", "float x", ["v.length"], "'v.length' is passed as the number of elements"),
    ("v: List(List(int64))", "const int64_t *x", ["v.data"], "'v.data'"),
    ("v: Map(int64, int8)", "const int32_t *x", ["v.keys"], "'v.keys' is passed as a pointer to int64"),
    ("v: Map(int64, int8)", "long x", ["v.values"], "'v.values' is passed as a pointer to int8"),
    ("v: Map(int64, int8)", "float x", ["v.length"], "'v.length' is passed as the number of elements"),
    ("v: Map(int64, int8)", "const int64_t *x", ["v.data"], "'v.data'"),
    (") -> (t: DType", C_API.format("struct DLDataType *t"), None, None),
    (") -> (t: DType", C_API.format("float *t"), None, "a struct DLDataType, there"),
    (") -> (t: Device", C_API.format("struct DLDataType *t"), None, "a struct DLDevice, there"),
    (") -> (t: String", C_API.format("TVMFFIByteArray *t"), None, None),
    (") -> (t: Bytes", C_API.format("void *t"), None, None),
    (") -> (t: String", C_API.format("float *t"), None, "a struct TVMFFIByteArray, there"),
    (") -> (t: Object", C_API.format("void **t"), None, None),
    (") -> (t: Map", C_API.format("struct TVMFFIObject **t"), None, None),
    (") -> (t: Object", C_API.format("float **t"), None, "a pointer, there"),
    (") -> (t: Array", C_API.format("int64_t *t"), None, "a pointer, there"),
    (") -> (t: Array", C_API.format("void *const *t"), None, "a pointer, there"),
    *(("", f"struct s; void k({to})", [b"abc"], r"but b'abc' is passed as the address of bytes") for to in ("const double *b", "struct s *b", "const char b[][2]", "char **b")),
    (") -> (r: float64", "double (*r)[4]", None, "4 x float64, but the kernel writes the result 'r' by a"),
    *((X, f"float *restrict a, {b}", ["x", "x.data"], "'x' is passed twice, and once as `restrict`") for b in TWICE),
    *((X, f"{b}, float *restrict a", ["x", "x.data"], "'x' is passed twice, and once as `restrict`") for b in TWICE),
    (LIST, "float *x, int64_t *, int64_t *, long", None, "passed as a pointer to a pointer"),
    (LIST, "float **, float *, int64_t *, long", None, "passed as a pointer to int64"),
    (LIST, "float **, int64_t *, int64_t *, long *", None, "passed as the number of elements"),
    (LIST, "float **, int64_t (*)[2], int64_t *, long", None, "passed as a pointer to int64"),
]  # fmt: skip


@pytest.mark.parametrize(("params", "prototype", "args", "words"), ROWS)
def test_what_fits(
    params: str, prototype: str, args: Any, words: str | None, nothing: bytes
) -> None:
    given = prototype if " k(" in prototype else f"void k({prototype})"
    with nullcontext() if words is None else pytest.raises(BuildError, match=words):
        wrap(nothing, f"k({params})", device="cpu", prototype=given, args=args)


def test_a_size_as_two_types(tmp_path: Path) -> None:
    data = c_object(tmp_path, "long k(int n, unsigned m) { return n + m; }")
    for params in ("int n, unsigned m", "unsigned n, int m"):
        prototype = f"long k({params})"
        k = wrap(data, "k(x: Shape([n])) -> r: int64", prototype=prototype, args=["n", "n"])
        assert "n: int32" in str(k["k"].__doc__)


def test_entries_that_are_no_texts(nothing: bytes) -> None:
    n = spec.Var("n", "int64")
    x = spec.Tensor("x", [n], "float32", device_type="cpu", intent="out")
    pair, maybe = spec.Struct("pair", [x]), spec.Optional(x)
    for param, args in (
        (x, [x, n]),
        (x, [x.data, n]),
        (maybe, [maybe, n]),
        (pair, [pair, n]),
        (pair, [x, n]),
    ):
        signature = spec.Signature("k", [param])
        wrap(nothing, signature, prototype="void k(float *x, int64_t n)", args=args)
    y = spec.Tensor("y", [n], "float32", device_type="cpu")
    wrap(nothing, spec.Signature("k", [n], y), prototype="void k(float *, int64_t)", args=[y, n])


def test_alignment_of_an_address() -> None:
    """LLVM IR says it, also where ``x.data`` is passed."""
    text = "define void @k(ptr align 16 %x) {\n  ret void\n}"
    memory = np.zeros(9, "float32")
    start = -memory.ctypes.data // 4 % 4
    for entry in ("x", "x.data"):
        k = wrap(text, f"k({X})", device="cpu", args=[entry])
        k(memory[start : start + 4])
        with pytest.raises(ValueError, match=r"x\.data % 16 == 0"):
            k(memory[start + 1 : start + 5])


def test_restrict(tmp_path: Path) -> None:
    """What is written through such a pointer shares no memory with anything else."""
    loop = "{ for (int64_t i = 0; i < n; i++) y[i] = x[i] + 1; }"
    x, y = "x: Tensor([n], float32)", "y: Tensor([n], float32)"
    memory = np.zeros(4, "float32")
    for word in ("restrict", "__restrict", "__restrict__"):
        prototype = f"void k(int64_t n, const float *x, float *{word} y)"
        data = c_object(tmp_path, f"{prototype} {loop}")
        for given in (prototype, f"#include <math.h>\n{prototype}"):
            k = wrap(data, f"k({x}, {y})", device="cpu", prototype=given)
            k(memory[:2], memory[2:])
            with pytest.raises(ValueError, match=r"memory apart from that of x \(no_overlap\)"):
                k(memory[:-1], memory[1:])
    for prototype in (
        "void k(int64_t n, const float *restrict x, float *y)",
        "void k(int64_t n, float *y, float *x)",
    ):
        wrap(data, f"k({x}, {y})", device="cpu", prototype=prototype)(memory, memory)
    wrap(data, f"k({x})", device="cpu", prototype="void k(int64_t n, float *restrict x)")
    once = wrap(data, f"k({x}, {y}) where no_overlap(y)", device="cpu", prototype=given)
    assert str(once["k"].__doc__).count("no_overlap") == 1


def test_a_dict_for_a_kernel_without_names() -> None:
    with pytest.raises(TypeError, match="args= as a dict goes with prototype=, or with LLVM IR"):
        wrap("module {}", f"k({X}) -> r: int64", device="cpu", args={"ctx": None})


@pytest.mark.slow
def test_an_error_that_the_kernel_has_set(tmp_path: Path) -> None:
    source = """
    #include <tvm/ffi/c_api.h>
    int k(int64_t n) {
      if (n == 1) TVMFFIErrorSetRaisedFromCStr("IndexError", "there is no such column");
      return n == 0 ? 0 : n == 2 ? 2 : -1;
    }
    """
    data = c_object(tmp_path, source, *(f"-I{each}" for each in include_paths()))
    errors = {-1: None, 2: ("ValueError", "two")}
    k = wrap(data, "k(n: int64)", prototype="int k(int64_t n)", errors=errors)
    k(0)
    with pytest.raises(IndexError, match="there is no such column"):
        k(1)
    with pytest.raises(ValueError, match="two when calling"):
        k(2)
    with pytest.raises(RuntimeError, match="k returned -1, but has set no error"):
        k(3)


def test_headers_of_compilers(tmp_path: Path) -> None:
    """Inline functions in them have statements of GNU C; tvm-ffi's own headers are found."""
    header = tmp_path / "k.h"
    vectors = "#include <immintrin.h>\n" if platform.machine() == "x86_64" else ""
    header.write_text(
        f"#include <dlpack/dlpack.h>\n{vectors}"
        'static inline int f(int x) { if (x) { return ({ x + 1; }); } __asm__ volatile("nop"); }\n'
        "static inline int g(void) { return f('{') + *\"}\"; }\n"
        "void k(int64_t n, DLTensor *x);\n"
    )
    data = c_object(tmp_path, "void k(int64_t n, void *x) { }")
    signature = "k(n: int64, x: Tensor(..., float32))"
    wrap(data, signature, device="cpu", prototype=header)(3, np.zeros(2, "float32"))


def test_release_gil_is_that_of_a_function(tmp_path: Path) -> None:
    data = c_object(tmp_path, "void k(int64_t n) { }")
    k = wrap(data, "k(n: int64)", prototype="void k(int64_t n)")
    with pytest.raises(AttributeError, match="release_gil is an attribute of each function"):
        k.release_gil = False
    k["k"].release_gil = False


def test_structs_of_dlpack(tmp_path: Path) -> None:
    """They have their names without a header, and are the same with it."""
    source = """
    #include <dlpack/dlpack.h>
    int64_t k(const DLTensor *x, DLDataType dtype, DLDevice device) {
      return x->ndim * 100 + dtype.bits + device.device_type;
    }
    """
    include = include_paths()[0]
    data = c_object(tmp_path, source, f"-I{include}")
    prototype = "int64_t k(const DLTensor *x, DLDataType dtype, DLDevice device)"
    header = f'#include "{include}/dlpack/dlpack.h"\n'
    signature = "k(x: Tensor(..., float32), dtype: DType, device: Device) -> r: int64"
    import tvm_ffi

    for given in (prototype, header + prototype):
        k = wrap(data, signature, device="cpu", prototype=given, args=["x", "dtype", "device"])
        found = k(np.zeros((2, 2), "float32"), tvm_ffi.dtype("float64"), tvm_ffi.device("cpu", 0))
        assert found == 265


def test_a_pointer_to_a_function_is_a_handle(tmp_path: Path) -> None:
    data = c_object(tmp_path, "float k(float (*f)(float), float x) { return f(x); }")
    prototype = "float k(float (*f)(float), float x)"
    k = wrap(data, "k(f: handle, x: float32) -> r: float32", prototype=prototype)

    @ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float)
    def twice(x: float) -> float:
        return 2 * x

    assert k(ctypes.cast(twice, ctypes.c_void_p), 4) == 8


@dataclass
class Step:
    rate: float
    count: int = 2


def test_a_module_takes_dataclasses(tmp_path: Path) -> None:
    """A module is called as a callable of its function."""
    data = c_object(tmp_path, "double k(double rate, int64_t count) { return rate * count; }")
    signature = "k(step: Struct(rate: float64, count: int64)) -> r: float64"
    k = wrap(data, signature, prototype="double k(double rate, int64_t count)")
    assert k(Step(0.5)) == k(step=Step(0.5)) == k((0.5, 2)) == 1
