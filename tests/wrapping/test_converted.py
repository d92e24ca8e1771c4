"""``"float32(alpha)"`` for a kernel with a prototype, and prototypes of variants."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, CompileError, LinkError, explain, spec, wrap
from ffi_builder.providers import (
    CheckStatus,
    DirectCallProvider,
    NopCallProvider,
    Variant,
    VariantsCallProvider,
    when,
)
from tests.runtime.samples import c_object, needs_cc

pytest.importorskip("clang.native")
pytestmark = needs_cc

BLAS: Final = """
int saxpy(int n, float a, const float *x, float *y) {
  for (int i = 0; i < n; i++) y[i] += a * x[i];
  return n == 9;
}
int daxpy(int n, double a, const double *x, double *y) {
  for (int i = 0; i < n; i++) y[i] += a * x[i];
  return n == 9;
}
double scaled(const float *a, double b) { return *a * b; }
struct pair { float a; int n; };
double of_pair(const struct pair *p) { return p->a * p->n; }
double row(int m, const float x[][m], float a) { return x[1][0] * a; }
"""
IN_C: Final = """
int saxpy(int n, float a, const float *x, float *y);
int daxpy(int n, double a, const double *x, double *y);
double scaled(const float *a, double b);
struct pair { float a; int n; };
double of_pair(const struct pair *p);
double row(int m, const float x[][m], float a);
"""
SAXPY: Final = "saxpy(a: float64, x: Tensor([n], float32), y: Tensor([n], float32))"
AXPY: Final = (
    "axpy(a: float64, x: Tensor([n], float32 | float64), y: Tensor([n], x.dtype)) where n: int32"
)


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return c_object(tmp_path_factory.mktemp("converted"), BLAS)


@pytest.mark.parametrize(
    ("signature", "args", "given", "expected"),
    [
        ("scaled(a: float64, b: float32)", {"a": "float32(a)", "b": "float64(b)"}, (0.5, 3.0), 1.5),
        ("scaled(a: float64, n: int64)", ["&float32(a)", "float64(n * 2)"], (0.5, 3), 3.0),
        ("scaled(a: int8)", ["float32(a)", 3.0], (2,), 6.0),
        ("of_pair(a: float64, n: int64)", [{"a": "float32(a)", "n": "int32(n)"}], (0.5, 3), 1.5),
        ("row(x: Tensor([2, m], float32), a: float64)", ["int32(m)", "x", "float32(a)"], (np.ones((2, 3), "float32"), 0.5), 0.5),
    ],
)  # fmt: skip
def test_what_is_converted(
    code: bytes, signature: str, args: Any, given: tuple[Any, ...], expected: float
) -> None:
    text = f"{signature} -> r: float64"
    f = wrap(code, text, prototype=IN_C, args=args, device="cpu")
    assert f[signature.partition("(")[0]](*given) == expected


def test_explain_shows_what_a_parameter_gets(code: bytes) -> None:
    args = {"a": "float32(a)"}
    f = wrap(code, SAXPY, prototype=IN_C, args=args, device="cpu")
    assert "\n  float32 a                     gets float32(a)\n" in explain(f)
    y = np.ones(2, "float32")
    f["saxpy"](1e300, np.ones(2, "float32"), y)
    assert np.isinf(y).all()


def test_llvm_ir_has_no_signs() -> None:
    text = "define i32 @k(i32 %n, float %a) {\n ret i32 %n\n}"
    for dtype in ("int32", "uint32"):
        args = {"n": f"{dtype}(n)", "a": "float32(n)"}
        k = wrap(text, "k(n: int64) -> r: int32", args=args)["k"]
        assert k(7) == 7
    with pytest.raises(BuildError, match=r"parameter n is int32, but 'int16\(n\)' is passed"):
        wrap(text, "k(n: int64) -> r: int32", args={"n": "int16(n)", "a": "float32(n)"})


@pytest.mark.parametrize(
    ("signature", "args", "words"),
    [
        (SAXPY, None, r"parameter a is float32, but 'a' is float64: declare `a: float32`, or pass 'float32\(a\)'"),
        (SAXPY, {"a": "float64(a)"}, r"parameter a is float32, but 'float64\(a\)' is passed"),
        (SAXPY, ["n", "n * 2", "x", "y"], r"parameter a is float32, but 'n \* 2' is an integer: pass 'float32\(n \* 2\)'"),
        (SAXPY, ["n", "float32(a)", "x", "float32(a)"], r"'float32\(a\)' is a number; None passes NULL, '&float32\(a\)' the"),
        (SAXPY, {"n": "uint32(n)"}, r"parameter n is int32, but 'uint32\(n\)' is passed"),
        (SAXPY, ["int32(a)", "float32(a)", "x", "y"], "but a is float64, and int32 is passed: declare `a: int32`"),
        ("scaled(a: float64, b: float64) -> r: float64", {"a": "float64(a)"}, r"but float64\(a\) is passed by address"),
        ("scaled(a: float64, n: int64) -> r: float64", ["&float32(a)", "&n"], "and not a pointer"),
        ("scaled(n: int64, b: float64) -> r: float64", ["&n * 2", "b"], r"'n \* 2' is an integer: pass 'float32\(n \* 2\)'"),
        ("of_pair(a: float64, n: int32) -> r: float64", [{"a": "float64(a)", "n": "n"}], r"field a of struct pair is float32, but 'float64\(a\)' is passed"),
        ("of_pair(n: int32) -> r: float64", [{"a": "n", "n": "n"}], "'n' is int32: declare `n: float32`, or pass 'float32"),
    ],
)  # fmt: skip
def test_what_the_prototype_contradicts(code: bytes, signature: str, args: Any, words: str) -> None:
    with pytest.raises(BuildError, match=words):
        wrap(code, signature, prototype=IN_C, args=args, device="cpu")


# ---- variants


def axpy(code: bytes, single: Any, double: Any, text: str = AXPY, prototype: str = IN_C) -> Any:
    signature = spec.Signature.parse(text, device="cpu")
    condition = when.parse("x.dtype == float32", signature)
    provider = VariantsCallProvider([Variant(single, when=condition), Variant(double)])
    return wrap(code, signature, provider=provider, prototype=prototype)


S: Final = DirectCallProvider("saxpy", args=["n", "float32(a)", "x", "y"])
D: Final = DirectCallProvider("daxpy")


@pytest.mark.parametrize("double", [D, CheckStatus(D, error="ValueError", message="nine")])
def test_variants_are_compared_with_their_prototypes(code: bytes, double: Any) -> None:
    """Without ``args=``, they get what has the names, and an int is a status."""
    wrapped = axpy(code, S, double)
    assert repr(wrapped) == "<CompiledModule axpy: compared with prototype=, which nothing proves>"
    rows = explain(wrapped).splitlines()[-8:]
    assert rows[1].split() == ["float32", "a", "of", "saxpy", "gets", "float32(a)"]
    assert rows[5].split() == ["float64", "a", "of", "daxpy", "gets", "a"]
    for dtype in ("float32", "float64"):
        y = np.ones(3, dtype)
        wrapped["axpy"](0.5, np.arange(3, dtype=dtype), y)
        assert y.tolist() == [1.0, 1.5, 2.0]
    with pytest.raises(RuntimeError, match="saxpy failed with status 1"):
        wrapped["axpy"](0.5, np.ones(9, "float32"), np.ones(9, "float32"))
    error, words = (RuntimeError, "daxpy failed") if double is D else (ValueError, "nine")
    with pytest.raises(error, match=words):
        wrapped["axpy"](0.5, np.ones(9), np.ones(9))


def test_variants_of_what_may_be_absent(code: bytes) -> None:
    text = AXPY.replace("x: Tensor([n], float32 | float64)", "x: Optional(Tensor([n], float32 | float64))")  # fmt: skip
    text = text.replace("y: Tensor([n], x.dtype)", "y: Tensor([n], float32)")
    with pytest.raises(BuildError, match="daxpy: parameter y is a pointer to float64"):
        axpy(code, S, D, text)
    with pytest.raises(BuildError, match="parameter x is a const pointer to float64, but the el"):
        axpy(code, DirectCallProvider("daxpy"), S, text)


def test_kernels_of_one_dtype_each(code: bytes) -> None:
    text = AXPY.replace("axpy(a: float64", "saxpy(a: float32")
    with pytest.raises(BuildError, match=", or wrap a kernel for each dtype, with VariantsCall"):
        wrap(code, text, prototype=IN_C, device="cpu")


def test_statuses_are_checked_within_variants(code: bytes) -> None:
    """Around all of them, nothing would say which prototype has the status."""
    provider = CheckStatus(VariantsCallProvider([Variant(D)]))
    with pytest.raises(TypeError, match="put CheckStatus around the provider of each, as in Vari"):
        wrap(code, AXPY, provider=provider, prototype=IN_C, device="cpu")


@pytest.mark.parametrize(
    ("single", "double", "text", "prototype", "words"),
    [
        (DirectCallProvider("saxpy"), D, AXPY, IN_C, r"saxpy: .*declare `a: float32`, or pass 'float32\(a\)'"),
        (D, S, AXPY, IN_C, "daxpy: parameter x is a const pointer to float64, but the elements of 'x' are float32"),
        (S, D, AXPY.replace(" where n: int32", ""), IN_C, "saxpy: its prototype relies on .*: `where n: int32`"),
        (S, D, AXPY, IN_C.replace("double *y", "double *restrict y"), r"daxpy: .*does not say: `where n: int32, no_overlap\(y\)`"),
        (S, NopCallProvider(), AXPY, IN_C, "but 'NopCallProvider' is a NopCallProvider"),
        (S, CheckStatus(NopCallProvider()), AXPY, IN_C, "is a NopCallProvider"),
        (S, CheckStatus(D), AXPY, IN_C.replace("int daxpy", "void daxpy"), "@daxpy returns nothing"),
    ],
)  # fmt: skip
def test_variants_that_their_prototypes_contradict(
    code: bytes, single: Any, double: Any, text: str, prototype: str, words: str
) -> None:
    with pytest.raises(BuildError, match=words):
        axpy(code, single, double, text, prototype)


def test_variants_that_are_not_there(code: bytes) -> None:
    with pytest.raises(CompileError, match="declares no function 'daxpi', did you mean 'daxpy'"):
        axpy(code, S, DirectCallProvider("daxpi"))
    with pytest.raises(CompileError, match="an object defines no function 'caxpy'"):
        axpy(code, S, DirectCallProvider("caxpy"), prototype=IN_C + "int caxpy(int n);")


def test_an_address_is_no_variant() -> None:
    provider, labs = VariantsCallProvider([Variant(D)]), ctypes.CDLL(None).labs
    with pytest.raises(TypeError, match="prototype= and errors= go without provider="):
        wrap(labs, AXPY, provider=provider, prototype=IN_C, device="cpu")


IR: Final = "define void @{name}({of}* %x, {of}* %y, {of} %a, i64 %n) {{ ret void }}\n"
"""As llvmlite writes it."""


def of_ir(
    kernel: str, *link: str, args: Sequence[str] = ("float32(a)", "a"), rest: Any = None
) -> Any:
    text = "f(a: float64, x: Tensor([n], float32 | float64), y: Tensor([n], x.dtype))"
    signature = spec.Signature.parse(text, device="cpu")
    single, double = (
        DirectCallProvider(name, args=["x", "y", a, "n"])
        for name, a in zip(("single", "double"), args, strict=True)
    )
    first = Variant(single, when=when.parse("x.dtype == float32", signature))
    provider = VariantsCallProvider([first, Variant(rest or double)])
    return wrap(kernel, signature, provider=provider, link=link)


def test_variants_in_llvm_ir() -> None:
    single, double = (
        IR.format(name=n, of=of) for n, of in (("single", "float"), ("double", "double"))
    )
    for wrapped in (of_ir(single + double), of_ir(single, double)):
        assert repr(wrapped).endswith("f: compared with the types that the LLVM IR defines>")
    with pytest.raises(BuildError, match=r"single: parameter a is float32, but 'a' is float64"):
        of_ir(single, double, args=("a", "a"))
    with pytest.raises(
        BuildError, match=r"double: parameter x is a pointer to float32, but the el"
    ):
        of_ir(single, IR.format(name="double", of="float"))
    with pytest.raises(LinkError, match=r"`double` is what the call provider of `f` calls"):
        of_ir(single)  # it might be in a library, which has no types
    with pytest.raises(
        CompileError, match=r"`single` takes \(ptr, ptr, float, i64\) in the LLVM IR"
    ):
        of_ir(double, single, args=("a", "a"), rest=NopCallProvider())
