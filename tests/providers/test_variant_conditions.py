"""Conditions of variants before a call: their text, what is refused, and the order of tests."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest

from ffi_builder import BuildError, SpecError, spec
from ffi_builder.providers import (
    CallProvider,
    CudaLaunchCallProvider,
    DirectCallProvider,
    MemRefCallProvider,
    NopCallProvider,
    PackedCallProvider,
    Variant,
    VariantsCallProvider,
    when,
)
from ffi_builder.spec.expr import Condition, Relation
from tests.providers.variants import variants
from tests.support.wrapping import attached

N, M = spec.dims("n m")
with spec.DefaultConfig(device_type="cpu"):
    X: Final = spec.Tensor("x", [N], ("float16", "float32"))
    Y: Final = spec.Tensor("y", [N], "float32")
    R: Final = spec.Tensor("r", ..., "float32")
ACT: Final = spec.Choice("act", {"relu": 1, "gelu": 2})
FLAG: Final = spec.Var("flag", "bool")
MASK: Final = spec.Optional(spec.Tensor("mask", [N], "int8", device_type="cpu"))
HALF: Final = when.dtype(X) == "float16"
FALSE: Final = bool(N % 16 == 0)  # pyright: ignore[reportUnnecessaryComparison] # the mistake
ANYTHING: Final[Any] = when
"""Without types, for mistakes that type checkers find too."""
SIXTEENTH: Final = when.divisible(N, 16)


# ---- text


SAME: Final = spec.Choice("same", {"relu": 1, "relu6": 1, "gelu": 2})
TEXTS: Final[list[tuple[Condition, str]]] = [
    (HALF, "x.dtype == float16"),
    (when.dtype(X) != "float16", "x.dtype != float16"),
    (when.ndim(R) >= 2, "r.ndim >= 2"),
    (when.aligned(X, 16), "x.data % 16 == 0"),
    (when.aligned(spec.DataPointer("p"), 8), "p % 8 == 0"),
    (SIXTEENTH, "n % 16 == 0"),
    (when.divisible(N + M, 16), "(n + m) % 16 == 0"),
    (when.value(N) < 3, "n < 3"),
    (when.value(spec.ceildiv(N, 4)) <= 3, "ceildiv(n, 4) <= 3"),
    (when.value(N * 2) <= M, "n * 2 <= m"),
    (when.value(N) == when.value(M), "n == m"),
    (N > 4, "n > 4"),
    (N >= 128, "n >= 128"),
    (spec.one_of(N, [128, 64]) & (M < N), "n in {64, 128} and m < n"),
    (when.value(ACT) == "relu", "act == 'relu'"),
    (when.value(SAME) == "relu6", "same == 'relu6'"),
    (when.value(FLAG) == True, "flag"),  # noqa: E712
    (when.value(FLAG) != True, "not flag"),  # noqa: E712
    (when.value(FLAG) == False, "not flag"),  # noqa: E712
    (when.present(MASK), "mask.present"),
    (~when.present(MASK), "not mask.present"),
    (HALF & SIXTEENTH & (when.value(N) > 1), "x.dtype == float16 and n % 16 == 0 and n > 1"),
    (HALF & (SIXTEENTH | when.present(MASK)), "x.dtype == float16 and (n % 16 == 0 or mask.present)"),
    (HALF & SIXTEENTH | when.present(MASK), "x.dtype == float16 and n % 16 == 0 or mask.present"),
    (~(HALF | SIXTEENTH), "not (x.dtype == float16 or n % 16 == 0)"),
    (~~HALF, "not (not x.dtype == float16)"),
    (when.all_of(HALF), "x.dtype == float16"),
    (when.any_of(HALF, SIXTEENTH), "x.dtype == float16 or n % 16 == 0"),
]  # fmt: skip
W: Final = spec.Tensor("w", [N], "x.dtype", device_type="cpu")
EVERYTHING: Final = spec.Signature(
    "f", [X, Y, R, ACT, SAME, FLAG, MASK, M, spec.DataPointer("p"), W]
)


@pytest.mark.parametrize(("condition", "text"), TEXTS)
def test_text(condition: Condition, text: str) -> None:
    assert str(condition) == text
    if not isinstance(condition, Relation):  # whose repr makes it
        assert repr(condition) == f"<{text}>"


@pytest.mark.parametrize(("condition", "text"), TEXTS)
def test_texts_are_parsed(condition: Condition, text: str) -> None:
    assert when.parse(text, EVERYTHING) == condition


def test_parsed_parts_of_a_struct() -> None:
    signature = spec.Signature("f", [spec.TupleParam("t", [spec.Struct("cfg", [X, ACT])])])
    found = when.parse("t[0].x.dtype == 'float16' and t[0].act != 'relu'", signature)
    assert found == HALF & (when.value(ACT) != "relu")


def test_a_parsed_capability() -> None:
    from ffi_builder.providers.cuda import capability

    parsed = when.parse("capability >= (8, 0) and not capability == (8, 6)", EVERYTHING)
    assert parsed == (capability() >= (8, 0)) & ~(capability() == (8, 6))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("n >", "expected an int, a symbol or an expression but got the end"),
        ("x.dtype", "expected a comparison such as n >= 8, a bool symbol or x.present"),
        ("n", "expected a comparison such as n >= 8, a bool symbol or x.present"),
        ("flag and n", "expected a comparison such as n >= 8, a bool symbol or x.present"),
        ("flags", "expected one of x.dtype, x.ndim, x.data, x.contiguous, y.dtype, y.ndim, y"),
        ("1 <= n <= 8", "expected an operator or the end but got '<='"),
        ("x.dtyp == float16", "or an expression of symbols, did you mean 'x.dtype'?"),
        ("z.dtype == float16", "expected one of x.dtype, x.ndim, x.data, x.contiguous, y.dtype"),
        ("k * 2 > 1", "or an expression of symbols"),
        ("x.data == 0", "expected x.data % 16 == 0, or another alignment, but got x.data"),
        ("x.dtype % 4 == 0", "expected an int, a symbol or an expression but got x.dtype"),
        ("n < (n == 1)", "expected an int, a symbol or an expression but got n == 1"),
        ("n == 'a'", "expected one of x.dtype, "),
        ("3 == 3", "relation 3 == 3: expected at least one Var"),
        ("act in ('relu', 'gelu')", "expected an int but got 'relu'"),
        ("f(x) == 1", "expected ceildiv, max, min before"),
        ("(" * 300 + "flag" + ")" * 300, "too deeply nested"),
        (3, "condition: expected a str but got 3 (int)"),
    ],
)  # fmt: skip
def test_texts_that_are_refused(text: Any, words: str) -> None:
    with pytest.raises(SpecError, match=re.escape(words)):
        when.parse(text, EVERYTHING)


def test_a_remainder_that_is_zero_is_a_divisor() -> None:
    assert (when.value(N % 16) == 0) == SIXTEENTH
    assert str(when.value(N % 16) != 0) == "n % 16 != 0"


def test_equal_conditions() -> None:
    assert (when.dtype(X) == "float16") is not HALF
    assert {HALF, when.dtype(X) == "float16", SIXTEENTH} == {HALF, SIXTEENTH}
    assert hash(HALF & SIXTEENTH) == hash(when.all_of(HALF, SIXTEENTH))


def test_frameworks_dtypes() -> None:
    import numpy as np

    assert {when.dtype(X) == np.float16} == {HALF}


# ---- what is refused when a condition is made


def refused(make: Any) -> str:
    with pytest.raises(SpecError) as raised:
        make()
    return str(raised.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: when.dtype(X) == "float64", "x.dtype: expected one of float16, float32, which the tensor declares, but got 'float64'"),
        (
            lambda: when.dtype(X) == "float61",
            "x.dtype: expected one of float16, float32, which the tensor declares, but got "
            "'float61', did you mean 'float16'?",
        ),
        (lambda: when.dtype(X) < "float16", "x.dtype has no order: expected == or != but got '<'"),
        (lambda: when.value(ACT) >= "relu", "act has no order: expected == or != but got '>='"),
        (lambda: when.value(FLAG) > False, "flag has no order: expected == or != but got '>'"),
        (lambda: when.dtype(N), "dtype: expected a Tensor but got Var('n', 'int64')"),
        (lambda: when.ndim(ACT), "ndim: expected a Tensor but got Choice("),
        (lambda: when.ndim(R) == 2.0, "r.ndim: expected an int but got 2.0 (float)"),
        (lambda: when.value(N) == True, "operand of '==': expected an int, a Var or an expression"),  # noqa: E712
        (lambda: when.value(FLAG) == 1, "flag: expected one of True, False but got 1"),
        (lambda: when.value(ACT) == "rely", "act: expected one of 'relu', 'gelu' but got 'rely', did you mean 'relu'?"),
        (lambda: when.value(ACT) == 1, "act: expected one of 'relu', 'gelu' but got 1"),
        (lambda: when.value(spec.Var("a", "float32")), "value: expected an integer or bool symbol but 'a' is a float32"),
        (lambda: when.value(X), "value: expected a Var, an expression or a Choice but got Tensor("),
        (lambda: when.divisible(N, 0), "divisor of '%': expected a positive int but got 0"),
        (lambda: when.divisible(FLAG, 2), "operand of '%': 'flag' is a bool symbol"),
        (lambda: when.divisible(X, 2), "divisible: expected a Var or an expression but got Tensor("),
        (lambda: when.aligned(X, 12), "alignment of x.data: expected a power of two, up to "),
        (lambda: when.aligned(X, 0), "alignment of x.data: expected a power of two, up to "),
        (lambda: when.aligned(X, True), "alignment of x.data: expected an int but got True (bool)"),
        (lambda: when.aligned(N, 16), "aligned: expected a Tensor or a DataPointer but got Var("),
        (lambda: ANYTHING.present(X), "present: expected an Optional, a handle or a DataPointer, which may be None, but got Tens"),
        (
            lambda: ANYTHING.present("bias"),
            "present: expected an Optional, a handle or a DataPointer, which may be None, but got 'bias'; when.parse('bias.pres",
        ),
        (lambda: when.dtype(W) == "float16", "w.dtype is x.dtype; compare that one, which settles both"),
        (lambda: when.all_of(), "all_of: expected at least one condition"),
        (lambda: ANYTHING.any_of(HALF, FALSE), "expected a condition but got False; == compares "),
        (lambda: HALF & ANYTHING.dtype(X), "expected a condition but got <x.dtype>; compare it with"),
        (lambda: HALF and SIXTEENTH, "x.dtype == float16 holds or not in a call, not before; put it"),
        (lambda: 1 <= when.value(N) <= 3, "n >= 1 holds or not in a call, not before; give limits to the Var"),
        (lambda: bool(when.value(N)), "<n> is a value of a call, not known before; compare it"),
    ],
)  # fmt: skip
def test_refused(make: Any, words: str) -> None:
    assert refused(make).startswith(words)


# ---- variants


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        (DirectCallProvider("k"), "k"),
        (MemRefCallProvider("mm", c_interface=True), "mm"),
        (PackedCallProvider("f"), "__tvm_ffi_f"),
        (PackedCallProvider(global_function="my.f"), "my.f"),
        (NopCallProvider(), "NopCallProvider"),
        (VariantsCallProvider([Variant(DirectCallProvider("k"))]), "k"),
    ],
)
def test_names(provider: CallProvider, name: str) -> None:
    assert Variant(provider).name == name
    assert Variant(provider, name="mine").name == "mine"


def test_the_name_of_a_cuda_kernel() -> None:
    from tests.fakecuda.image import KernelImage, make_cubin

    launch = CudaLaunchCallProvider(make_cubin([KernelImage("k")]), "k", grid=1, block=1)
    assert Variant(launch).name == "k"


def test_what_is_no_variant() -> None:
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: Variant("k"), BuildError, "Variant: expected a call provider, such as "),  # pyright: ignore
        (lambda: Variant(NopCallProvider), BuildError, "Variant: expected a call provider, such"),  # pyright: ignore
        (
            lambda: Variant(NopCallProvider(), when=N % 2 == 0),  # pyright: ignore
            SpecError,
            "Variant 'NopCallProvider': when: expected a condition but got False; == compares",
        ),
        (lambda: Variant(NopCallProvider(), name="a\nb"), SpecError, "Variant: name: expected a"),
        (lambda: Variant(NopCallProvider(), name=3), SpecError, "Variant: name: expected a print"),  # pyright: ignore
        (lambda: VariantsCallProvider([]), BuildError, "VariantsCallProvider: expected a list of"),
        (lambda: VariantsCallProvider("k"), BuildError, "VariantsCallProvider: expected a list "),  # pyright: ignore
        (
            lambda: VariantsCallProvider([NopCallProvider()]),  # pyright: ignore
            BuildError,
            "VariantsCallProvider: expected a Variant, such as Variant(provider, when=condition), ",
        ),
    ]
    for make, kind, words in cases:
        with pytest.raises(kind) as raised:
            make()
        assert str(raised.value).startswith(words)


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ([HALF, None, SIXTEENTH], "'k2' can never be chosen: 'k1' before it has no condition"),
        ([None, None], "'k1' can never be chosen: 'k0' before it has no condition, and takes ever"),
        ([HALF, HALF & SIXTEENTH], "'k1' can never be chosen: its condition, x.dtype == float16 a"),
        ([when.divisible(N, 4), SIXTEENTH], "'k1' can never be chosen: its condition, n % 16 == 0"),
        ([when.value(N) > 3, when.value(N) == 5], "'k1' can never be chosen"),
        ([when.value(spec.Var("v", "int8")) > 200], "'k0' can never be chosen: its condition, v >"),
        ([when.ndim(Y) == 2], "'k0' can never be chosen: its condition, y.ndim == 2, never holds"),
    ],
)
def test_variants_that_are_never_chosen(conditions: list[Condition | None], words: str) -> None:
    with pytest.raises(BuildError, match=re.escape(f"variant {words}")):
        variants(*conditions)


@pytest.mark.slow
def test_too_many() -> None:
    with pytest.raises(BuildError, match="at most 256 variants and comparisons but got 300 and 29"):
        variants(*(when.value(N) == number for number in range(299)), None)
    attached([N], variants(*(when.value(N) == number for number in range(255)), None))


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (
            when.dtype(Y) == "float32",
            "Tensor('y', [Var('n', 'int64')], 'float32', device_type='cpu') is not a parameter or symbol of 'f', which has x, n",
        ),
        (when.value(M) == 1, "Var('m', 'int64') is not a parameter or symbol of 'f', which has x, n"),
        (when.value(spec.Var("n", "int32")) == 1, "which has x, n: its 'n' is Var('n', 'int64')"),
        (when.value(N * M) == 1, "Var('m', 'int64') is not a parameter or symbol"),
        (when.present(MASK), "which has x, n"),
    ],
)  # fmt: skip
def test_parameters_that_the_signature_lacks(condition: Condition, words: str) -> None:
    provider = variants(condition, None)
    with pytest.raises(BuildError, match=re.escape(words)) as raised:
        attached([X], provider)
    assert str(raised.value).startswith(
        f"VariantsCallProvider: variant 'k0' needs {condition}, but"
    )
    with pytest.raises(BuildError, match=re.escape(words)):
        provider.explain(spec.Signature("f", [X]))


def test_no_variant_for_a_signature() -> None:
    """Without an Optional, one of the dtypes has come."""
    neither = (when.dtype(X) != "float16") & (when.dtype(X) != "float32")
    with pytest.raises(BuildError, match="VariantsCallProvider: no variant can be chosen in 'f'"):
        attached([X], variants(neither))
    attached([spec.Optional(X)], variants(neither))


# ---- the order of tests


def test_explain() -> None:
    provider = variants(HALF & SIXTEENTH, HALF, when.value(ACT) == "gelu", None)
    signature = spec.Signature("f", [spec.Struct("cfg", [X, ACT])])
    assert provider.explain(signature) == "\n".join(
        [
            "variants, in order:",
            "  k0: cfg.x.dtype == float16 and n % 16 == 0 (cfg.x: Tensor([n], float16))",
            "  k1: cfg.x.dtype == float16 (cfg.x: Tensor([n], float16))",
            "  k2: cfg.act == 'gelu' (cfg.x: Tensor([n], float32))",
            "  k3: otherwise (cfg.x: Tensor([n], float32))",
            "tests:",
            "  1: cfg.x.dtype == float16? yes: test 2; no: test 3",
            "  2: n % 16 == 0? yes: k0; no: k1",
            "  3: cfg.act == 'gelu'? yes: k2; no: k3",
        ]
    )
    assert variants(None).explain(signature) == "variants, in order:\n  k0: otherwise\ntests:\n  k0"
    explained = variants(SIXTEENTH).explain(signature)
    assert explained.endswith("1: n % 16 == 0? yes: k0; no: no variant fits")


def test_nothing_is_tested_twice() -> None:
    """Eight variants of three properties take three tests each way."""
    aligned = when.aligned(X, 16)
    conditions = [
        (when.dtype(X) == dtype) & part
        for dtype in X.dtypes
        for part in (SIXTEENTH & aligned, SIXTEENTH & ~aligned, ~SIXTEENTH & aligned, ~SIXTEENTH)
    ]
    lines = variants(*conditions).explain(spec.Signature("f", [X])).partition("tests:\n")[2]
    assert len(lines.splitlines()) == 7


def test_a_text_is_parsed_for_a_signature():
    with pytest.raises(SpecError, match=r"when\.parse: expected a Signature but got \["):
        when.parse("n > 1", [N])  # pyright: ignore[reportArgumentType]


def test_the_name_of_a_symbol_is_no_symbol() -> None:
    words = r"expected a Var or an expression but got 'n': spec.Var\('n', 'int64'\) is a symbol"
    with pytest.raises(SpecError, match=words):
        when.divisible("n", 16)  # pyright: ignore
