"""What `wrap` says of its comparisons: the repr of what it made, and explain."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import SpecError, explain, ir, providers, runtime, wrap
from tests.runtime.samples import c_object, needs_cc

LLVM = "define i32 @k(i64 %n, ptr %x) {\n  ret i32 0\n}"
SIGNATURE = "k(x: Tensor([n], float32))"


def test_llvm_ir() -> None:
    f = wrap(LLVM, SIGNATURE, device="cpu")
    assert repr(f) == (
        "<CompiledModule k: compared with the types that the LLVM IR defines, "
        "but not x (what the pointer points to)>"
    )
    *plan, compared, n, x = explain(f).splitlines()
    assert plan[0] == "k(x: Tensor([n], float32))"
    assert (
        compared == "The kernel's arguments are compared with the types that the LLVM IR defines."
    )
    assert n == "  int64 n      gets n"
    assert x == "  a pointer x  gets x; not compared: what the pointer points to"
    how: dict[str, Any] = {"provider": providers.DirectCallProvider, "args": ["n", "x"]}
    f = wrap(LLVM, SIGNATURE, device="cpu", **how)
    words = "compared with the LLVM IR, which says of a pointer not what it points to"
    assert repr(f) == f"<CompiledModule k: {words}>"


@needs_cc
@pytest.mark.parametrize(
    ("prototype", "signature", "words"),
    [
        ("void k(float *x, int64_t n)", SIGNATURE, ""),
        ("void k(void *x, int64_t n)", SIGNATURE, ", but not x (what the pointer points to)"),
        ("void k(char *x, int64_t n)", SIGNATURE, ", but not x (of bytes, which elements they are)"),
        ("void k(float *x, int n)", "k(x: handle, n: int32)", ", but not x (what the handle points to)"),
        ("void k(float *, int *, char *)", "k(a: handle, b: Tensor([], int32), c: Tensor([], int8))", ", but not a (what the handle points to)"),
        # C often lacks const: the kernel may write to what is only read.
        ("void k(float *x, int64_t n)", "k(x: Tensor([n], float32, intent=in))", ", but not x (whether it is written)"),
        ("void k(const float *x, int64_t n)", "k(x: Tensor([n], float32, intent=in))", ""),
        ("void k(float *x, int64_t n)", "k(x: Tensor([n], float32, intent=out))", ""),
        # Each call compares the struct that a handle points to.
        ("void k(const float *x, const float *y, float *z)", "k(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=in), z: handle)", ", but not z (what the handle points to)"),
        ("void k(float *x, float *y, float *z)", "k(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=in), z: handle)", ", but not x, y (whether it is written); z (what the handle points to)"),
        ("struct s; void k(struct s *x, int n)", "k(x: handle, n: int32)", ""),
        ("void k(void *x, int n)", "k(n: int32)", ""),
    ],
)  # fmt: skip
def test_prototypes(prototype: str, signature: str, words: str, tmp_path: Path) -> None:
    pytest.importorskip("clang.native")
    data = c_object(tmp_path, "void k(void) { }")
    args = {"x": None} if "x:" not in signature and "x" in prototype else None
    f = wrap(data, signature, device="cpu", prototype=prototype, args=args)
    assert repr(f) == (f"<CompiledModule k: compared with prototype=, which nothing proves{words}>")
    assert ("gets NULL" in explain(f)) == (args is not None)


@needs_cc
def test_what_is_only_read_by_a_pointer_without_const(tmp_path: Path) -> None:
    pytest.importorskip("clang.native")
    data = c_object(tmp_path, "void k(float *x, void *y, int64_t n) { }")
    signature = "k(x: Tensor([n], float32, intent=in), y: Tensor([n], int8, intent=in))"
    prototype = "void k(float *x, void *y, int64_t n)"
    x, y = explain(wrap(data, signature, device="cpu", prototype=prototype)).splitlines()[-3:-1]
    assert x.endswith("gets x; not compared: whether it is written")
    assert y.endswith("not compared: what the pointer points to, and whether it is written")


@needs_cc
def test_handles_that_nothing_destroys(tmp_path: Path) -> None:
    pytest.importorskip("clang.native")
    data = c_object(tmp_path, "void *make(void) { return 0; } void drop(void *made) { }")
    signatures = ["make() -> made: handle", "drop(made: handle)"]
    prototype = "struct s; struct s *make(void); void drop(struct s *made);"
    words = "Nothing destroys what made points to, as no destroy= says how."
    assert words in explain(wrap(data, signatures, prototype=prototype)).splitlines()
    assert words not in explain(wrap(data, signatures, prototype=prototype, destroy="drop"))


@needs_cc
def test_nothing_says_types(tmp_path: Path) -> None:
    data = c_object(tmp_path, "void k(float *x) { }")
    f = wrap(data, SIGNATURE, device="cpu", provider=providers.DirectCallProvider)
    assert repr(f) == "<CompiledModule k: compared with nothing>"


def test_several_functions() -> None:
    both = LLVM + LLVM.replace("@k", "@j")
    f = wrap(both, [SIGNATURE, SIGNATURE.replace("k(", "j(")], device="cpu")
    words = "compared with the types that the LLVM IR defines"
    assert repr(f) == f"<CompiledModule k (not x), j (not x): {words}>"
    other = "define void @i(i64 %n) {\n  ret void\n}\n"
    g = wrap(both + other, [SIGNATURE, "i(n: int64)"], device="cpu")
    assert repr(g) == f"<CompiledModule k (not x), i: {words}>"
    assert explain(f).count("The kernel's arguments are compared") == 2


@needs_cc
def test_several_functions_with_a_prototype(tmp_path: Path) -> None:
    pytest.importorskip("clang.native")
    data = c_object(tmp_path, "void k(void) { } void j(void) { }")
    prototype = "void k(float *x, int64_t n); void j(void *x, int64_t n);"
    signatures = [SIGNATURE, SIGNATURE.replace("k(", "j(")]
    f = wrap(data, signatures, device="cpu", prototype=prototype)
    words = "compared with prototype=, which nothing proves"
    assert repr(f) == f"<CompiledModule k, j (not x): {words}>"
    assert explain(f).count("arguments are compared with prototype=") == 2
    assert explain(f).count("which nothing proves") == 1


def test_an_address() -> None:
    sqrt = ctypes.CDLL("libm.so.6").sqrt
    sqrt.argtypes, sqrt.restype = [ctypes.c_double], ctypes.c_double
    f = wrap(sqrt, "sqrt(x: float64) -> r: float64")
    assert repr(f) == "<CompiledModule sqrt: compared with the types that ctypes has>"


def test_what_wrap_did_not_make() -> None:
    f = runtime.compile(ir.PlainModule())
    with pytest.raises(ValueError, match=r"`wrap` did not make it; ffi_builder\.explain"):
        explain(f)
    provider: Any = providers.VariantsCallProvider  # has an `explain` of its own
    with pytest.raises(SpecError, match="explain: expected a Signature"):
        explain(provider)
