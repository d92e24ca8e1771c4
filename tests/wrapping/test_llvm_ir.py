"""Tests kernels in LLVM IR: LLVM reads their types, which calls by any provider have to fit."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from ffi_builder import BuildError, CompileError, providers, runtime, wrap
from ffi_builder.wrapping import llvm_ir

LLVM = "define i32 @k(i64 %n, i64 %m, ptr %x) {\n  ret i32 0\n}"
SIGNATURE = "k(x: Tensor([n, m], float32))"
ARGS = ["n", "m", "x"]
WAYS: list[dict[str, Any]] = [{}, {"provider": providers.DirectCallProvider}]


def test_a_prototype_that_llvm_ir_contradicts() -> None:
    words = (
        r"k: prototype= says \(int64, a pointer to float32\) -> int32, but the LLVM IR defines "
        r"\(int64, int64, a pointer\) -> int32"
    )
    with pytest.raises(BuildError, match=words):
        wrap(
            LLVM, "k(x: Tensor([n], float32))", device="cpu", prototype="int k(int64_t n, float *x)"
        )
    prototype = "int k(int64_t n, int64_t m, float *x)"
    wrap(LLVM.replace("%m", "%b"), SIGNATURE, device="cpu", prototype=prototype)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("define", "define internal", "internal or private in the LLVM IR, so nothing else"),
        ("define", "define fastcc", "`k` is fastcc, which C does not call: add a function to the"),
        ("define", "define cc 10", "`k` is ghccc, which C does not call"),
        ("define", "define preserve_mostcc", "`k` is preserve_mostcc, which C does not call"),
        ("define", "define win64cc", "`k` is win64cc, which C does not call"),
        ("ptr %x", "ptr byval([2 x i64]) %x", r"takes `ptr byval\(\[2 x i64\]\) %x`, which C does"),
        ("ptr %x", "ptr swiftself %x", "takes `ptr swiftself %x`, which C does not pass so"),
        ("ptr %x", "ptr nest %x", "takes `ptr nest %x`"),
        ("ptr %x)", "ptr %x, ...)", r"takes `\.\.\.`"),
        ("i64 %m", "<2 x i64> %m", "has the type <2 x i64>, which no wrapper passes"),
        ("i64 %m", "x86_fp80 %m", "has the type x86_fp80"),
        ("define", "declare void @other()\ndefine nothing", "The LLVM IR does not parse"),
        ("@k", "@other", "the LLVM IR defines no `k`; it has other"),
    ],
)
@pytest.mark.parametrize("way", WAYS)
def test_functions_that_c_does_not_call(
    way: dict[str, Any], old: str, new: str, words: str
) -> None:
    if way and "other" in new:
        pytest.skip("what the LLVM IR lacks may be linked")
    text = LLVM.replace(old, new)
    with pytest.raises(CompileError, match=words):
        wrap(text, SIGNATURE, device="cpu", args=ARGS, **way)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "text",
    [
        LLVM.replace(", ", ",\n  ").replace(" {", "\n  ; a comment (with i8 %more)\n{"),
        "\n" + LLVM.replace("define", "  define dso_local noundef range(i32 0, 2)"),
        LLVM.replace("ptr", "float*"),
        LLVM.replace("ptr", 'ptr noundef "a"=", ...) fastcc" align 4').replace("@k", '@"k"'),
        LLVM.replace("%n", '%"n"').replace("%m", '%"m"').replace("%x", '%"x"'),
        LLVM.replace("define", "define internal").replace("@k", "@other")
        + "\n@k = alias i32 (i64, i64, ptr), ptr @other",
    ],
)
def test_functions_as_llvm_reads_them(text: str, way: dict[str, Any]) -> None:
    f = wrap(text, SIGNATURE, device="cpu", args=ARGS, **way)
    f["k"](np.ones((2, 2), "float32"))
    with pytest.raises((BuildError, CompileError)):
        wrap(text, SIGNATURE, device="cpu", args=["n", "x"], **way)


@pytest.mark.parametrize("pointer", ["i8*", "float*", "float**", "i32*"])
def test_old_syntax_of_pointers(pointer: str) -> None:
    f = wrap(LLVM.replace("ptr", pointer), SIGNATURE, device="cpu", args=ARGS)
    f["k"](np.ones((2, 2), "float32"))


@pytest.mark.parametrize(("pointer", "dtype"), [("double*", "float64"), ("half*", "float16")])
def test_pointers_to_other_floats(pointer: str, dtype: str) -> None:
    words = f"parameter x is a pointer to {dtype}, but the elements of 'x' are float32"
    with pytest.raises(BuildError, match=words):
        wrap(LLVM.replace("ptr", pointer), SIGNATURE, device="cpu", args=ARGS)


def test_names_of_parameters() -> None:
    wrap(LLVM.replace("%x", '%"x"'), SIGNATURE, device="cpu")["k"](np.ones((2, 2), "float32"))


CALLS = {
    "a float for an i64": (["n", 2.0, "x"], r"#1\b.*i64"),
    "one less": (["n", "x"], "k takes 3 arguments|@k takes"),
    "one more": (["n", "m", "x", None], "@k takes"),
    "another order": (["x", "n", "m"], "@k takes arguments of other types"),
}


@pytest.mark.parametrize("what", CALLS)
@pytest.mark.parametrize("made", [False, True])
def test_a_provider_that_passes_something_else(what: str, made: bool) -> None:
    """The callee of a provider that is made already is found by its own name."""
    args, words = CALLS[what]
    provider: Any = providers.DirectCallProvider
    options: dict[str, Any] = {"provider": provider, "args": args}
    if made:
        options = {"provider": providers.CheckStatus(provider("k", args=args))}
    with pytest.raises(BuildError, match=words):
        wrap(LLVM, SIGNATURE, device="cpu", **options)


def test_numbers_of_a_provider_have_the_type_of_the_function() -> None:
    text = """define i32 @k(i32 %four, float %half, ptr %x) {
      %v = load i32, ptr %x
      %sum = add i32 %v, %four
      store i32 %sum, ptr %x
      ret i32 0
    }"""
    provider = providers.CheckStatus(providers.DirectCallProvider("k", args=[4, 0.5, "x"]))
    x = np.ones(1, "int32")
    wrap(text, "f(x: Tensor([n], int32)) where n >= 1", device="cpu", provider=provider)(x)
    assert x == 5


def test_another_address_space() -> None:
    text = LLVM.replace("ptr", "ptr addrspace(1)")
    for way in WAYS:
        with pytest.raises((BuildError, CompileError), match=r"ptr addrspace\(1\)|ptr<1>"):
            wrap(text, SIGNATURE, device="cpu", args=ARGS, **way)


@pytest.mark.parametrize(
    ("signature", "args", "words"),
    [
        ("k() -> r: int8", ["r"], "a pointer aligned to 4 bytes, but the result 'r' is to 1"),
        ("k() -> r: bool", ["r"], "a pointer aligned to 4 bytes, but the result 'r' is to 1"),
        ("k()", [b"abc"], "a pointer aligned to 4 bytes, but b'abc' is to 1"),
        ("k(s: String)", ["s"], "a pointer aligned to 4 bytes, but 's' is to 1"),
    ],
)
def test_alignments(signature: str, args: list[Any], words: str) -> None:
    more = ", i64 %n" if "String" in signature else ""
    text = f"define void @k(ptr align 4 %x{more}) {{\n  ret void\n}}"
    with pytest.raises(BuildError, match=words):
        wrap(text, signature, args=args)
    wrap(text.replace(" align 4", ""), signature, args=args)
    if "r: int8" in signature:
        wrap(text, signature.replace("int8", "int32"), args=args)


@pytest.mark.parametrize(("align", "fails"), [(32, False), (1 << 32, True)])
def test_the_alignment_of_a_result(align: int, fails: bool) -> None:
    text = f"define void @k(ptr align {align} %x, i64 %n) {{\n  ret void\n}}"
    k = wrap(text, "k(n: int64) -> x: Tensor([n], float32)", device="cpu")["k"]
    assert f"x: Tensor([n], float32, device_type=cpu, data_alignment={align})" in str(k.__doc__)
    with runtime.install_allocator(), pytest.raises(RuntimeError) if fails else nullcontext():
        k(3)


def test_conditions_that_two_parameters_need() -> None:
    text = "define void @k(ptr align 8 %a, ptr align 8 %b, i64 %n) {\n  ret void\n}"
    how: dict[str, Any] = {"device": "cpu", "args": ["x", "x", "n * 2"]}
    k = wrap(text, "k(x: Tensor([n], float32))", **how)
    assert str(k["k"].__doc__).count("x.data % 8 == 0") == 1
    prototype = "void k(float *a, float *b, unsigned long n)"
    wrap(text, "k(x: Tensor([n], float32))", prototype=prototype, **how)
    twice = text.replace("ptr align 8 %b", "i64 %b")
    k = wrap(
        twice,
        "k(x: int64)",
        args=[None, "x", "x"],
        prototype="void k(float *a, unsigned long b, unsigned long n)",
    )
    assert str(k["k"].__doc__).count("0 <= x") == 1


def test_many_functions_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = list[object]()
    headers = llvm_ir.headers
    monkeypatch.setattr(llvm_ir, "headers", lambda ir: reads.append(ir) or headers(ir))  # pyright: ignore
    text = "\n".join(f"define i32 @f{at}() {{\n  ret i32 {at}\n}}" for at in range(20))
    f = wrap(text, [f"f{at}() -> r: int32" for at in range(20)])
    assert f["f19"]() == 19
    assert len(reads) == 1
